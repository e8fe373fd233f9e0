package rollup

import (
	"math"
	"slices"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// Why a number of a window or a row is absent, beside the reasons of a sample.
const (
	NoRuns     bench.Reason = "no_runs"      // nothing was measured
	TooFewRuns bench.Reason = "too_few_runs" // under the least n at which it is printed: show the range and n
	TimedOut   bench.Reason = "timed_out"    // it falls among runs cut off by the time limit, which have no rate
	NotKept    bench.Reason = "not_kept"     // raw samples of that age are gone, and their buckets do not hold it
	OwnFault   bench.Reason = "own_fault"    // every run failed on our side, which says nothing of the provider
	Throttled  bench.Reason = "throttled"    // every run that was not our own failure was refused for the rate, which says nothing either
)

// An Estimate is one published number, or the reason why there is none.
type Estimate struct {
	Value float64
	Why   bench.Reason // why Value means nothing; empty if it stands
	Above bool         // the number is above Value, by how much is unknown: "> 120 s"

	// Interval holds the true value at 95 % where HasInterval. Quantiles have
	// one only within one day, where runs may be taken as independent; over days
	// see [Score].
	Interval    stats.Interval
	HasInterval bool
}

// OK reports whether the number stands.
func (e Estimate) OK() bool { return e.Why.OK() }

func absent(why bench.Reason) Estimate { return Estimate{Why: why} }

// Quantiles are the percentiles that windows print.
type Quantiles struct {
	P10, P50, P90, P95 Estimate
}

// A Distribution digests one metric over one window.
//
// The embedded Quantiles, Avg, Min and Max are of successful runs. A run that
// was cut off after [bench.RunTimeout] would have been the slowest of all, so
// leaving it out flatters a slow model: WithTimeouts ranks such runs last.
type Distribution struct {
	Metric Metric
	N      int // successful runs that have the number and were not disturbed by our machine
	Quantiles
	Avg, Min, Max float64 // meaningless with N = 0

	Timeouts     int       // runs cut off before they had the number
	Late         int       // runs cut off after it, which have it but did not succeed
	WithTimeouts Quantiles // of N + Late + Timeouts runs

	// Approximate is set where percentiles come from the histograms of buckets:
	// within 1 %. Buckets do not tell which timeouts came after the first text,
	// or before the limit, so WithTimeouts ranks all of them last.
	Approximate bool
}

// quantilesOf applies f to each of the printed quantiles.
func quantilesOf(f func(q float64) Estimate) Quantiles {
	return Quantiles{P10: f(0.10), P50: f(0.50), P90: f(0.90), P95: f(0.95)}
}

// newDistribution digests values of successful runs, and beside them the values
// that timed-out runs still had, and how many timed out without one. It sorts
// values. Intervals are given only for runs of one day.
func newDistribution(m Metric, values, ofTimeouts []float64, timeouts int, oneDay bool) Distribution {
	d := Distribution{Metric: m, N: len(values), Timeouts: timeouts, Late: len(ofTimeouts)}
	slices.Sort(values)
	if len(values) > 0 {
		d.Avg, d.Min, d.Max = mean(values), values[0], values[len(values)-1]
	}
	d.Quantiles = quantilesOf(func(q float64) Estimate { return quantile(values, q, oneDay) })
	d.WithTimeouts = d.Quantiles
	if timeouts > 0 || len(ofTimeouts) > 0 {
		all := values
		if len(ofTimeouts) > 0 {
			all = slices.Concat(values, ofTimeouts)
			slices.Sort(all)
		}
		d.WithTimeouts = quantilesOf(func(q float64) Estimate { return censored(m, all, timeouts, q) })
	}
	return d
}

// quantile returns the R-7 quantile of sorted, with its order-statistic interval
// if asked for and bounded on both sides.
func quantile(sorted []float64, q float64, withInterval bool) Estimate {
	if why := enough(len(sorted), q); !why.OK() {
		return absent(why)
	}
	v, _ := stats.QuantileSorted(sorted, q)
	e := Estimate{Value: v}
	if withInterval {
		if o, ok := stats.NewOrderInterval(len(sorted), q, 0.95); ok {
			lo, loOK := o.Lo(sorted)
			hi, hiOK := o.Hi(sorted)
			e.Interval, e.HasInterval = stats.Interval{Lo: lo, Hi: hi}, loOK && hiOK
		}
	}
	return e
}

// enough says why the q-quantile of n values is not printed, if it is not.
func enough(n int, q float64) bench.Reason {
	least, _ := stats.MinPrint(q)
	switch {
	case n == 0:
		return NoRuns
	case n < least:
		return TooFewRuns
	}
	return bench.Present
}

// censored returns the quantile of sorted values and some runs that timed out.
// Such a run took longer than any other: of a time it ranks last, of a rate
// first, and there it has no value at all.
func censored(m Metric, sorted []float64, timeouts int, q float64) Estimate {
	if why := enough(len(sorted)+timeouts, q); !why.OK() {
		return absent(why)
	}
	if m.Better() == stats.LowerIsBetter {
		c, _ := stats.CensoredQuantile(sorted, timeouts, m.limit(bench.RunTimeout), q)
		return Estimate{Value: c.Value, Above: c.Greater}
	}
	// Mirrored: negated, a rate without value ranks last as a long time does.
	negated := make([]float64, len(sorted))
	for i, v := range sorted {
		negated[len(sorted)-1-i] = -v
	}
	c, _ := stats.CensoredQuantile(negated, timeouts, 0, 1-q)
	if c.Greater {
		return absent(TimedOut)
	}
	return Estimate{Value: -c.Value}
}

// fromTotal digests what buckets keep of a metric. Without a histogram there are
// no percentiles.
func fromTotal(m Metric, r Range, hist *stats.Histogram, timeouts int) Distribution {
	d := Distribution{Metric: m, N: r.N, Avg: r.Avg, Min: r.Min, Max: r.Max, Timeouts: timeouts, Approximate: true}
	if hist == nil {
		d.Quantiles = quantilesOf(func(float64) Estimate { return absent(NotKept) })
		d.WithTimeouts = d.Quantiles
		return d
	}
	d.Quantiles = quantilesOf(func(q float64) Estimate { return histQuantile(m, r, hist, 0, q) })
	d.WithTimeouts = quantilesOf(func(q float64) Estimate { return histQuantile(m, r, hist, timeouts, q) })
	return d
}

// histQuantile returns the quantile of the values in hist and some runs that
// timed out, by the histogram's own rank rule. A bucket stands for values up to
// 1 % from it, so the exact extremes bound the result.
func histQuantile(m Metric, r Range, hist *stats.Histogram, timeouts int, q float64) Estimate {
	n := int(hist.N())
	if why := enough(n+timeouts, q); !why.OK() {
		return absent(why)
	}
	rank := int(q * float64(n+timeouts-1))
	if m.Better() == stats.HigherIsBetter {
		if rank -= timeouts; rank < 0 {
			return absent(TimedOut)
		}
	}
	if rank >= n {
		return Estimate{Value: m.limit(bench.RunTimeout), Above: true}
	}
	within := 0.0
	if n > 1 {
		// Aimed at the middle of the rank, so that rounding cannot miss it.
		within = math.Min(1, (float64(rank)+0.5)/float64(n-1))
	}
	v, _ := hist.Quantile(within)
	return Estimate{Value: min(max(v, r.Min), r.Max)}
}
