package rollup

import (
	"math"
	"slices"
	"testing"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// TestHistQuantile holds quantiles of a histogram against the values of the rank
// that its rule names, timeouts being the slowest of all.
func TestHistQuantile(t *testing.T) {
	tried := 0
	for n := 1; n <= 150; n++ {
		var hist stats.Histogram
		var values []float64
		for i := range n {
			v := 20 * math.Pow(1.05, float64(i)) // no two in one bucket
			values = append(values, v)
			hist.Add(v)
		}
		r := Range{N: n, Min: values[0], Max: values[n-1]}
		for _, timeouts := range []int{0, 1, 5, n / 2, 3 * n} {
			for _, q := range []float64{0.1, 0.5, 0.9, 0.95} {
				rank := int(q * float64(n+timeouts-1))
				late := histQuantile(TTFT, r, &hist, timeouts, q)
				slow := histQuantile(DecodeTPS, r, &hist, timeouts, q)
				if least, _ := stats.MinPrint(q); n+timeouts < least {
					if late.Why != TooFewRuns || slow.Why != TooFewRuns {
						t.Errorf("n %d+%d, q %v: %+v, %+v; want too few runs", n, timeouts, q, late, slow)
					}
					continue
				}
				tried++
				if rank >= n {
					if !late.OK() || !late.Above || late.Value != 120_000 {
						t.Errorf("time, n %d+%d, q %v: %+v; want above 120 s", n, timeouts, q, late)
					}
				} else if math.Abs(late.Value-values[rank]) > 0.01*values[rank] || late.Above {
					t.Errorf("time, n %d+%d, q %v: %+v; want %v", n, timeouts, q, late, values[rank])
				}
				if rank < timeouts {
					if slow.Why != TimedOut {
						t.Errorf("rate, n %d+%d, q %v: %+v; want timed out", n, timeouts, q, slow)
					}
				} else if math.Abs(slow.Value-values[rank-timeouts]) > 0.01*values[rank-timeouts] {
					t.Errorf("rate, n %d+%d, q %v: %+v; want %v", n, timeouts, q, slow, values[rank-timeouts])
				}
			}
		}
	}
	if tried < 1000 {
		t.Fatalf("only %d tried", tried)
	}
}

// TestDistributionBounds checks that quantiles ascend and stay within the data.
func TestDistributionBounds(t *testing.T) {
	values := []float64{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8, 4, 6}
	for timeouts := range 30 {
		d := newDistribution(DecodeTPS, slices.Clone(values), nil, timeouts, true)
		last := d.Min
		for _, e := range []Estimate{d.P10, d.P50, d.P90, d.P95} {
			if !e.OK() || e.Value < last || e.Value > d.Max {
				t.Fatalf("quantile %+v after %v, of %v..%v", e, last, d.Min, d.Max)
			}
			last = e.Value
			if e.HasInterval && !(e.Interval.Lo <= e.Value && e.Value <= e.Interval.Hi) {
				t.Errorf("%+v lies outside its interval", e)
			}
		}
		for _, pair := range [][2]Estimate{{d.P10, d.WithTimeouts.P10}, {d.P50, d.WithTimeouts.P50}, {d.P90, d.WithTimeouts.P90}} {
			if with := pair[1]; with.OK() && with.Value > pair[0].Value || !with.OK() && with.Why != TimedOut {
				t.Errorf("%d timeouts make %+v of %+v: faster", timeouts, with, pair[0])
			}
		}
	}
	if d := newDistribution(DecodeTPS, nil, nil, 0, false); d.P50.Why != NoRuns || d.N != 0 {
		t.Errorf("nothing = %+v", d)
	}
	if d := newDistribution(TTFT, nil, nil, 6, false); d.P50.Why != NoRuns || !d.WithTimeouts.P50.Above || d.WithTimeouts.P50.Value != float64(bench.RunTimeout.Milliseconds()) {
		t.Errorf("timeouts alone = %+v", d)
	}
}
