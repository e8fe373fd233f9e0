package rollup

import (
	"testing"

	"github.com/streamgauge/streamgauge/rollup/stats"
)

func TestMetrics(t *testing.T) {
	// 50 tokens a second after 400 ms.
	r, _ := newRun(new(success(alder, today, 50, 400)))
	for _, tt := range []struct {
		m      Metric
		unit   string
		better stats.Direction
		want   float64
	}{
		{DecodeTPS, "tok/s", stats.HigherIsBetter, 50},
		{HybridTPS, "tok/s", stats.HigherIsBetter, 300 / (299 / 50.0)},
		{StallFreeTPS, "tok/s", stats.HigherIsBetter, 50},
		{EndToEndTPS, "tok/s", stats.HigherIsBetter, 300 / (0.4 + 299/50.0)},
		{TTFT, "ms", stats.LowerIsBetter, 400},
		{TTFO, "ms", stats.LowerIsBetter, 400},
		{TTFTCold, "ms", stats.LowerIsBetter, 400},
		{TTLT, "ms", stats.LowerIsBetter, 400 + 299*20},
		{E2E, "ms", stats.LowerIsBetter, 400 + 299*20},
		{TimeTo20, "s", stats.LowerIsBetter, 0.4 + 19*0.02},
		{TimeTo100, "s", stats.LowerIsBetter, 0.4 + 99*0.02},
		{TimeTo500, "s", stats.LowerIsBetter, 0.4 + 499*0.02},
		{TimeTo2000, "s", stats.LowerIsBetter, 0.4 + 1999*0.02},
	} {
		if tt.m.Unit() != tt.unit || tt.m.Better() != tt.better {
			t.Errorf("%s: %s, %v; want %s, %v", tt.m, tt.m.Unit(), tt.m.Better(), tt.unit, tt.better)
		}
		got, ok := tt.m.of(&r)
		if !ok {
			t.Errorf("%s: absent", tt.m)
		}
		near(t, string(tt.m), got, tt.want, 1e-8)
		if v, ok := tt.m.of(&run{}); ok {
			t.Errorf("%s of nothing = %v", tt.m, v)
		}
	}
	for _, m := range BoardMetrics() {
		if _, ok := m.of(&r); !ok {
			t.Errorf("%s: no value", m)
		}
	}
}
