// Package stats is the mathematics behind every published number. It works on
// plain numbers, knows no sample, reads no clock and draws no random number:
// equal input gives equal output.
//
// The values of one window become a [Quantile], with timeouts ranked last by
// [CensoredQuantile]; windows too long to keep their values merge a [Histogram]
// per day. How far a number can be trusted is an [OrderInterval] within one set
// of runs, [Wilson] or [NewHourBucket] for a proportion, and [NewScore] over
// days, the level at which measurements of one endpoint really repeat. [Rank]
// orders rows by those intervals and claims nothing they do not separate.
// [DailyLevels] and [Detector] look for lasting changes, and [Decompose] says
// whether answers grew longer or the model grew slower.
//
// A number that does not exist is reported by a false second result, never as
// NaN or a zero that could be mistaken for a measurement.
package stats

import (
	"math"
	"slices"
)

// Quantile returns the q-quantile of values by definition 7 of Hyndman and Fan
// (R's and NumPy's default, Excel's PERCENTILE.INC): with n sorted values it
// lies at the 0-based position h = q(n-1), linear between its two neighbours.
// The result has the unit of values and is never beyond them. The order of
// values does not matter and they are not changed.
//
// It reports false for no values, a NaN among them, or q outside [0, 1].
//
// Source: Hyndman and Fan, "Sample Quantiles in Statistical Packages", The
// American Statistician 50(4), 1996.
func Quantile(values []float64, q float64) (float64, bool) {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	return QuantileSorted(sorted, q)
}

// QuantileSorted is [Quantile] for values already in ascending order, as
// [slices.Sort] leaves them. Use it to take several quantiles of one set.
func QuantileSorted(sorted []float64, q float64) (float64, bool) {
	// slices.Sort puts NaN first, so one look finds any.
	if len(sorted) == 0 || !(q >= 0 && q <= 1) || math.IsNaN(sorted[0]) {
		return 0, false
	}
	below, above, fraction := neighbours(len(sorted), q)
	return between(sorted[below], sorted[above], fraction), true
}

// neighbours returns the 0-based ranks that the q-quantile of n values lies
// between, and how far it lies from the first towards the second.
func neighbours(n int, q float64) (below, above int, fraction float64) {
	h := q * float64(n-1)
	below = int(h)
	fraction = h - float64(below)
	if fraction == 0 {
		return below, below, 0
	}
	return below, below + 1, fraction
}

// between returns the point a fraction of the way from lo to hi.
func between(lo, hi, fraction float64) float64 {
	if fraction == 0 || lo == hi {
		return lo
	}
	// The conversion forbids a fused multiply-add, which would make the last
	// bit depend on the machine; min keeps rounding from leaving the data.
	return min(lo+float64(fraction*(hi-lo)), hi)
}

// Median is the 0.5-[Quantile].
func Median(values []float64) (float64, bool) {
	return Quantile(values, 0.5)
}

// A Censored quantile is a value, or only the bound it is known to exceed.
type Censored struct {
	Value   float64 // in the unit of the values
	Greater bool    // the quantile is greater than Value, by how much is unknown
}

// CensoredQuantile returns the q-[Quantile] of runs of which some timed out.
// A run cut off after limit took longer than limit, so it ranks after every run
// that finished. A quantile that touches such a run is only known to be greater
// than limit. Leaving timeouts out instead would report the quickest runs as if
// they were all.
//
// It reports false if there are no runs at all, for negative timeouts, or where
// [Quantile] does. Values and limit share one unit.
func CensoredQuantile(values []float64, timeouts int, limit, q float64) (Censored, bool) {
	n := len(values) + timeouts
	if timeouts < 0 || n == 0 || !(q >= 0 && q <= 1) {
		return Censored{}, false
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	if len(sorted) > 0 && math.IsNaN(sorted[0]) {
		return Censored{}, false
	}
	below, above, fraction := neighbours(n, q)
	if above >= len(sorted) {
		return Censored{Value: limit, Greater: true}, true
	}
	return Censored{Value: between(sorted[below], sorted[above], fraction)}, true
}

// MinPrint returns the least number of values at which the q-quantile is
// printed: 5 for the median, and for others the larger of 20 and 1/(1-q), or
// 1/q below the median, so that p99 needs 100. With fewer, show the range and
// the count. It reports false for q outside (0, 1).
func MinPrint(q float64) (n int, ok bool) {
	tail := min(q, 1-q)
	switch {
	case !(tail > 0):
		return 0, false
	case tail == 0.5:
		return 5, true
	}
	// 1/(1-0.99) comes out just under 100: rounding up is what is meant.
	return max(20, int(math.Ceil(1/tail-1e-9))), true
}

// MinInterval returns the least number of values at which the equal-tail
// [OrderInterval] of the q-quantile is bounded on both sides: the least n with
// max(q, 1-q)^n <= (1-confidence)/2. At 95 % that is 6 for the median, 36 for
// p90, 72 for p95 and 368 for p99. It reports false for q or confidence
// outside (0, 1).
func MinInterval(q, confidence float64) (n int, ok bool) {
	if !(q > 0 && q < 1 && confidence > 0 && confidence < 1) {
		return 0, false
	}
	return int(math.Ceil(math.Log((1-confidence)/2) / math.Log(max(q, 1-q)))), true
}

// Burstiness returns (sd-mean)/(sd+mean) of the gaps between arrivals, with the
// population sd: -1 for clockwork, 0 for a Poisson process, towards 1 for rare
// bursts. It has no unit. It reports false for fewer than two gaps, or if all
// are zero.
//
// Source: Goh and Barabasi, "Burstiness and memory in complex systems", EPL
// 81(4), 2008.
func Burstiness(gaps []float64) (float64, bool) {
	if len(gaps) < 2 {
		return 0, false
	}
	m := mean(gaps)
	sd := math.Sqrt(squares(gaps, m) / float64(len(gaps)))
	if !(sd+m > 0) || math.IsInf(sd+m, 0) {
		return 0, false
	}
	return (sd - m) / (sd + m), true
}

// mean returns the arithmetic mean of values, which must not be empty.
func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// squares returns the sum of squared deviations of values from centre.
func squares(values []float64, centre float64) float64 {
	var sum float64
	for _, v := range values {
		sum += float64((v - centre) * (v - centre))
	}
	return sum
}
