package rollup

import (
	"time"

	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A Metric names one number of a run, as files and pages spell it.
type Metric string

// The metrics that windows digest. The formulas are those of [bench.Sample].
const (
	DecodeTPS    Metric = "decode_tps"            // tokens/s; the headline, ranked on
	HybridTPS    Metric = "tps_hybrid"            // tokens/s; the published method
	StallFreeTPS Metric = "decode_tps_stall_free" // tokens/s, stalls left out
	EndToEndTPS  Metric = "e2e_tps_visible"       // tokens/s over the whole run
	TTFT         Metric = "ttft_ms"               // ms to the first visible text
	TTFO         Metric = "ttfo_ms"               // ms to the first output, reasoning or visible
	TTFTCold     Metric = "ttft_cold_ms"          // ms, with DNS, connect and TLS before it
	TTLT         Metric = "ttlt_ms"               // ms to the last visible text
	E2E          Metric = "e2e_ms"                // ms to the end of the answer
	TimeTo20     Metric = "time_to_20_s"          // s to so many tokens, TTFT + (m-1)/decode rate
	TimeTo100    Metric = "time_to_100_s"
	TimeTo500    Metric = "time_to_500_s"
	TimeTo2000   Metric = "time_to_2000_s"
)

// BoardMetrics returns the metrics that a board can be ranked by, the headline
// first.
func BoardMetrics() []Metric {
	return []Metric{DecodeTPS, HybridTPS, TTFT, TimeTo20, TimeTo100, TimeTo500, TimeTo2000}
}

// Better says which end of the metric's scale wins.
func (m Metric) Better() stats.Direction {
	switch m {
	case DecodeTPS, HybridTPS, StallFreeTPS, EndToEndTPS:
		return stats.HigherIsBetter
	}
	return stats.LowerIsBetter
}

// Unit returns the metric's unit: "tok/s", "ms" or "s".
func (m Metric) Unit() string {
	switch {
	case m.Better() == stats.HigherIsBetter:
		return "tok/s"
	case m.Tokens() > 0:
		return "s"
	}
	return "ms"
}

// Tokens returns the length of answer that a time_to metric is about, else 0.
func (m Metric) Tokens() int {
	switch m {
	case TimeTo20:
		return 20
	case TimeTo100:
		return 100
	case TimeTo500:
		return 500
	case TimeTo2000:
		return 2000
	}
	return 0
}

// needsTokens reports whether the metric rests on the provider's token count.
func (m Metric) needsTokens() bool { return m.Better() == stats.HigherIsBetter || m.Tokens() > 0 }

// limit returns the bound that a timed-out run's value is known to exceed, in
// the metric's unit. A rate has none.
func (m Metric) limit(timeout time.Duration) float64 {
	if m.Unit() == "s" {
		return timeout.Seconds()
	}
	return milliseconds(timeout)
}

// of returns the metric of a run, whether or not the run succeeded.
func (m Metric) of(r *run) (v float64, ok bool) {
	switch m {
	case DecodeTPS:
		v = r.decode
	case HybridTPS:
		v = r.hybrid
	case StallFreeTPS:
		v = r.stallFree
	case EndToEndTPS:
		v = r.e2eTPS
	case TTFT:
		v = r.ttft
	case TTFO:
		v = r.ttfo
	case TTFTCold:
		v = r.cold
	case TTLT:
		v = r.ttlt
	case E2E:
		v = r.e2e
	default:
		if m.Tokens() == 0 || r.ttft == 0 || r.decode == 0 {
			return 0, false
		}
		return stats.Speed{TTFTSeconds: r.ttft / 1000, TokensPerSecond: r.decode}.TimeTo(float64(m.Tokens()))
	}
	return v, v != 0
}
