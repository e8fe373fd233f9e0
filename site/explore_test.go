package site

import (
	"encoding/json"
	"math"
	"strconv"
	"testing"

	"github.com/go-echarts/go-echarts/v2/opts"
)

// TestTimeline writes the points of a series as go-echarts would.
func TestTimeline(t *testing.T) {
	var points timeline
	var want []opts.LineData
	check := func() {
		t.Helper()
		got, err := json.Marshal(map[string]any{"data": points})
		if err != nil {
			t.Fatal(err)
		}
		if theirs, err := json.Marshal(map[string]any{"data": want}); err != nil || string(got) != string(theirs) {
			t.Errorf("got  %s\nwant %s, %v", got, theirs, err)
		}
	}
	check() // of nothing
	for i, v := range []float64{0, 1, -2.5, 58.36499, 99.995, 123456.7, 1e-5, 412.0001, 86_400_000, math.NaN(), math.Inf(1)} {
		at := 1741953600000 + int64(i)
		points = append(points, timed{at, v})
		value := any("-")
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			short, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
			if err != nil {
				t.Fatal(err)
			}
			value = short
		}
		want = append(want, opts.LineData{Value: []any{at, value}})
	}
	check()
}
