package stats

import (
	"math"
	"slices"
	"sort"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"
)

// Z95 is the two-sided 95 % point of the normal distribution.
const Z95 = 1.959963984540054

// An Interval holds the true value with the confidence it was made for. Its
// ends belong to it and have the unit of the estimate.
type Interval struct{ Lo, Hi float64 }

// Below reports whether all of i lies below all of j. Touching intervals do
// not separate.
func (i Interval) Below(j Interval) bool { return i.Hi < j.Lo }

// An OrderInterval says between which of n sorted values a quantile of the
// population lies. Ranks are 1-based; rank 0 means that n is too small to bound
// the quantile on that side.
type OrderInterval struct {
	LoRank, HiRank int
	Coverage       float64 // exact probability that the interval holds the quantile, at least the confidence asked for
}

// NewOrderInterval returns the equal-tail interval of the q-quantile of n
// values. With B ~ Bin(n, q) and a = (1-confidence)/2 the lower rank is the
// largest l with P(B <= l-1) <= a and the upper one the smallest u with
// P(B <= u-1) >= 1-a. Nothing is assumed about the distribution, but the values
// must be independent: use it within one day or one set of runs, and [NewScore]
// across days. It reports false for n < 1, or q or confidence outside (0, 1).
//
// Source: Conover, "Practical Nonparametric Statistics", 3rd ed., section 3.2;
// the same idea serves golang.org/x/perf/benchmath.
func NewOrderInterval(n int, q, confidence float64) (OrderInterval, bool) {
	if n < 1 || !(q > 0 && q < 1 && confidence > 0 && confidence < 1) {
		return OrderInterval{}, false
	}
	tail := (1 - confidence) / 2
	below := func(rank int) float64 { // P(the quantile lies below the value of this rank)
		return distuv.Binomial{N: float64(n), P: q}.CDF(float64(rank - 1))
	}
	// sort.Search counts how many ranks come before the first that qualifies,
	// so with 1-based ranks that count is the last that does not.
	lo := sort.Search(n, func(i int) bool { return below(i+1) > tail })
	hi := sort.Search(n, func(i int) bool { return below(i+1) >= 1-tail }) + 1

	o := OrderInterval{LoRank: lo, Coverage: 1}
	if hi <= n {
		o.HiRank, o.Coverage = hi, below(hi)
	}
	if lo > 0 {
		o.Coverage -= below(lo)
	}
	return o, true
}

// Lo returns the lower end: the value of LoRank. Sorted must be the n values in
// ascending order. It reports false if that side is unbounded.
func (o OrderInterval) Lo(sorted []float64) (float64, bool) { return atRank(sorted, o.LoRank) }

// Hi returns the upper end, like [OrderInterval.Lo].
func (o OrderInterval) Hi(sorted []float64) (float64, bool) { return atRank(sorted, o.HiRank) }

func atRank(sorted []float64, rank int) (float64, bool) {
	if rank < 1 || rank > len(sorted) {
		return 0, false
	}
	return sorted[rank-1], true
}

// Wilson returns the score interval of the proportion k/n, for z as [Z95]:
//
//	(p + z²/2n ± z √(p(1-p)/n + z²/4n²)) / (1 + z²/n),  p = k/n
//
// It stays inside [0, 1] and has a width even at 0 and 100 %. k and n are real,
// since n may be an effective count (see [NewHourBucket]). It reports false for
// n <= 0 or k outside [0, n].
//
// Source: Wilson, "Probable inference, the law of succession, and statistical
// inference", JASA 22, 1927.
func Wilson(k, n, z float64) (Interval, bool) {
	if !(n > 0 && k >= 0 && k <= n && z >= 0) || math.IsInf(n, 0) || math.IsInf(z, 0) {
		return Interval{}, false
	}
	p, zz := k/n, z*z
	scale := 1 + zz/n
	centre := (p + zz/(2*n)) / scale
	half := z * math.Sqrt(p*(1-p)/n+zz/(4*n*n)) / scale
	i := Interval{Lo: max(0, centre-half), Hi: min(1, centre+half)}
	// These two ends are exact; subtraction would leave a crumb.
	if k == 0 {
		i.Lo = 0
	}
	if k == n {
		i.Hi = 1
	}
	return i, true
}

// An HourBucket is a proportion whose failures come in clusters, with the
// interval that allows for it.
type HourBucket struct {
	Rate     float64  // mean of the hourly rates
	Lag1     *float64 // autocorrelation of neighbouring hours; nil if all hours are alike
	NEff     float64  // number of independent runs that would know as much
	Interval Interval // Wilson's, on NEff
}

// NewHourBucket returns the success rate of a window from the rates of its
// hours in order of time, hours without runs left out, and the number n of runs
// in it. An outage fails many runs in a row, so they count for less than n:
//
//	var   = s²/m · max(1, (1+r)/(1-r))     s² of the m hours, r their lag-1 autocorrelation
//	n_eff = min(n, max(1, p(1-p)/var))     p their mean
//
// Hours that are all alike show no clustering, and n_eff is n. It reports false
// for fewer than two hours, a rate outside [0, 1], or n <= 0. With three
// outages or fewer in a window it is still optimistic: print their count beside
// it.
//
// Source: effective sample size for a first-order autoregression, e.g. von
// Storch and Zwiers, "Statistical Analysis in Climate Research", section 6.6.
func NewHourBucket(hourlyRates []float64, n, z float64) (HourBucket, bool) {
	m := len(hourlyRates)
	if m < 2 || !(n > 0) {
		return HourBucket{}, false
	}
	for _, rate := range hourlyRates {
		if !(rate >= 0 && rate <= 1) {
			return HourBucket{}, false
		}
	}
	p := min(1, mean(hourlyRates))
	b := HourBucket{Rate: p, NEff: n}
	if slices.Min(hourlyRates) < slices.Max(hourlyRates) {
		sum := squares(hourlyRates, p)
		var lagged float64
		for i := range m - 1 {
			lagged += (hourlyRates[i] - p) * (hourlyRates[i+1] - p)
		}
		r := lagged / sum
		variance := sum / float64(m-1) / float64(m) * max(1, (1+r)/(1-r))
		b.Lag1 = &r
		b.NEff = min(n, max(1, p*(1-p)/variance))
	}
	var ok bool
	b.Interval, ok = Wilson(p*b.NEff, b.NEff, z)
	return b, ok
}

// MinScoreDays is the least number of days a [Score] is made of.
const MinScoreDays = 5

// A Score is the typical value of a pair over whole UTC days.
type Score struct {
	Value    float64 // geometric mean of the daily medians, in their unit
	Interval Interval
	Days     int
}

// NewScore returns exp(mean ln m) of the daily medians m with the interval
// exp(mean ± t sd/√D), t of D-1 degrees of freedom at the given two-sided
// confidence. Runs of one day share its load and its weather, so the day and
// not the run is what is repeated: intervals that treat runs as independent
// hold the long-run median far less often than they say. Every day weighs the
// same, whatever the cadence. Days must not resemble the days before them: with
// a correlation of 0.2 between neighbours the interval of 95 % holds the median
// in 91 % of cases, with 0.4 in 84 %.
//
// It reports false for fewer than [MinScoreDays] days, a median that is not
// positive and finite, or a confidence outside (0, 1).
//
// Source: Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM
// 2013 (arXiv 2007.10899), on replicating where variance arises.
func NewScore(dailyMedians []float64, confidence float64) (Score, bool) {
	return new(Student).Score(dailyMedians, confidence)
}

// A Student remembers the quantiles of Student's t that scores are made with.
// Thousands of comparisons have a handful of lengths and confidences, and each
// quantile takes as long as two hundred scores. The zero Student knows none. It
// is safe for concurrent use.
type Student struct {
	known sync.Map // studentKey → float64
}

type studentKey struct {
	confidence float64
	df         int
}

// Score is [NewScore].
func (s *Student) Score(dailyMedians []float64, confidence float64) (Score, bool) {
	days := len(dailyMedians)
	if days < MinScoreDays || !(confidence > 0 && confidence < 1) {
		return Score{}, false
	}
	logs, ok := Logs(dailyMedians)
	if !ok {
		return Score{}, false
	}
	slices.Sort(logs) // rounding must not depend on the order of days
	m := mean(logs)
	sd := math.Sqrt(squares(logs, m) / float64(days-1))
	half := s.quantile(confidence, days-1) * sd / math.Sqrt(float64(days))
	return Score{
		Value:    math.Exp(m),
		Interval: Interval{Lo: math.Exp(m - half), Hi: math.Exp(m + half)},
		Days:     days,
	}, true
}

// quantile is [studentQuantile].
func (s *Student) quantile(confidence float64, df int) float64 {
	key := studentKey{confidence, df}
	if t, ok := s.known.Load(key); ok {
		return t.(float64)
	}
	t := studentQuantile(confidence, df)
	s.known.Store(key, t)
	return t
}

// Logs returns the natural logarithms of values. It reports false if one is not
// positive and finite.
func Logs(values []float64) ([]float64, bool) {
	logs := make([]float64, len(values))
	for i, v := range values {
		if !(v > 0) || math.IsInf(v, 0) {
			return nil, false
		}
		logs[i] = math.Log(v)
	}
	return logs, true
}

// studentQuantile returns the t that a Student variable of df degrees of
// freedom stays within, on both sides, with probability confidence.
func studentQuantile(confidence float64, df int) float64 {
	return distuv.StudentsT{Sigma: 1, Nu: float64(df)}.Quantile((1 + confidence) / 2)
}

// studentTwoSided returns the probability that a Student variable of df degrees
// of freedom is at least as far from 0 as t.
func studentTwoSided(t float64, df int) float64 {
	return 2 * distuv.StudentsT{Sigma: 1, Nu: float64(df)}.Survival(math.Abs(t))
}
