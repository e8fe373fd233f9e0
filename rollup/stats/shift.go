package stats

import (
	"cmp"
	"math"
	"slices"
)

// An HourMedian is the median of the runs of one pair in one UTC hour.
type HourMedian struct {
	Hour  int64 // hours since the Unix epoch
	Value float64
}

// A DayLevel is what one UTC day says of a pair, as a natural logarithm.
type DayLevel struct {
	Day int64 // days since the Unix epoch
	Log float64
}

// ProfileDays is how many days the daily profile of [DailyLevels] is drawn from.
const ProfileDays = 21

// DailyLevels returns the level of each day that has an hour, in ascending
// order: the median of the logarithms of its hours, with the pair's own daily
// rhythm taken off so that a day with gaps is not mistaken for a change. The
// rhythm is read from the last [ProfileDays] days: each is centred on its own
// median, and the profile is the median by hour of day, centred again. An hour
// of day that those days do not have is left as it is.
//
// Pairs with a few runs a day have no profile to read; for them pass
// deseason=false and the runs themselves. It reports false if a value is not
// positive and finite.
func DailyLevels(hours []HourMedian, deseason bool) ([]DayLevel, bool) {
	byDay := make(map[int64][]hourLog)
	for _, h := range hours {
		if !(h.Value > 0) || math.IsInf(h.Value, 0) {
			return nil, false
		}
		day := floorDiv(h.Hour, 24)
		byDay[day] = append(byDay[day], hourLog{hour: int(h.Hour - 24*day), log: math.Log(h.Value)})
	}
	days := make([]int64, 0, len(byDay))
	for day := range byDay {
		days = append(days, day)
	}
	slices.Sort(days)

	var profile [24]float64
	if deseason && len(days) > 0 {
		profile = dailyProfile(byDay, days[len(days)-1])
	}
	levels := make([]DayLevel, len(days))
	for i, day := range days {
		residuals := make([]float64, len(byDay[day]))
		for j, h := range byDay[day] {
			residuals[j] = h.log - profile[h.hour]
		}
		m, _ := Median(residuals)
		levels[i] = DayLevel{Day: day, Log: m}
	}
	return levels, true
}

type hourLog struct {
	hour int // of day, 0..23
	log  float64
}

// dailyProfile returns how each hour of day differs from the typical one over
// the ProfileDays days that end with last; 0 for hours they do not have.
func dailyProfile(byDay map[int64][]hourLog, last int64) [24]float64 {
	var centred [24][]float64
	for day := last - ProfileDays + 1; day <= last; day++ {
		logs := make([]float64, len(byDay[day]))
		for i, h := range byDay[day] {
			logs[i] = h.log
		}
		level, _ := Median(logs)
		for _, h := range byDay[day] {
			centred[h.hour] = append(centred[h.hour], h.log-level)
		}
	}
	var profile [24]float64
	var known []float64
	for hour, values := range centred {
		if m, ok := Median(values); ok {
			profile[hour] = m
			known = append(known, m)
		}
	}
	centre, _ := Median(known)
	for hour, values := range centred {
		if len(values) > 0 {
			profile[hour] -= centre
		}
	}
	return profile
}

// floorDiv is a/b rounded down, for b > 0.
func floorDiv(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}

// The least change that is reported, as a share.
const (
	MinRateShift   = 0.08 // decode rate
	MinTTFTShift   = 0.20 // TTFT, whose tails are heavier
	MinSparseShift = 0.25 // pairs with a few runs a day, whose smaller changes are found too late
)

// A Detector finds lasting changes of level in a series of days. It is E-divisive
// with Student's t test in place of permutations, so it draws no random numbers.
//
// Source: Matteson and James, "A Nonparametric Approach for Multiple Change
// Point Analysis of Multivariate Data", JASA 109, 2014 (arXiv 1306.4933);
// Fleming et al., "Hunter: Using Change Point Detection to Hunt for Performance
// Regressions", ICPE 2023 (arXiv 2301.03034), for the t test, the weak points
// and the merging. Unlike Hunter's, the test pools the sample variances, and a
// missing day stays missing.
type Detector struct {
	P0        float64 // a change must have a smaller p
	MinChange float64 // and be at least this large, as a share of the level before
	Window    int     // days looked at, the last of the series
}

// NewDetector returns the published settings for a least change such as
// [MinRateShift]: p below 1e-4 in the last 50 days. They are made for daily
// levels; the hours of a day are not independent enough for the test.
func NewDetector(minChange float64) Detector {
	return Detector{P0: 1e-4, MinChange: minChange, Window: 50}
}

// A Shift is a lasting change of level between two stretches of a series.
type Shift struct {
	Index         int      // the first value of the new level
	From, To      int      // the old level is [From, Index), the new one [Index, To)
	P             float64  // of Student's two-sided pooled t test between them
	Change        float64  // exp(mean after - mean before) - 1, so -0.15 is 15 % less
	Interval      Interval // of Change, 95 %
	Before, After float64  // exp of the median of each, in the unit of the values
}

// Shifts returns the changes in a series of natural logarithms, one a day, in
// order. Indices are those of logs. Fewer than four values have none.
//
// It looks for a first cut tau and an end kappa that maximise
//
//	Q = nm/(n+m) [2 mean|x-y| - mean|x-x'| - mean|y-y'|]
//
// between the n values before tau and the m from tau to kappa, with means over
// distinct pairs. The cut is a weak point if the t test between everything
// before it and everything after it has p < 10 P0, and both sides are searched
// again. Then, with p and change taken between neighbouring stretches, the point
// of largest p is dropped while that is P0 or more, else the one of least change
// while that is under MinChange.
func (d Detector) Shifts(logs []float64) []Shift {
	start := max(0, len(logs)-d.Window)
	x := logs[start:]
	cuts := weakCuts(x, newDistances(x), 0, len(x), 10*d.P0)
	for {
		shifts := measure(x, cuts)
		drop := d.weakest(shifts)
		if drop < 0 {
			for i := range shifts {
				shifts[i].Index += start
				shifts[i].From += start
				shifts[i].To += start
			}
			return shifts
		}
		cuts = slices.Delete(cuts, drop, drop+1)
	}
}

// weakest returns the shift to be dropped next, or -1 if all may stay.
func (d Detector) weakest(shifts []Shift) int {
	if len(shifts) == 0 {
		return -1
	}
	unsure, small := 0, 0
	for i, s := range shifts {
		if s.P > shifts[unsure].P {
			unsure = i
		}
		if math.Abs(s.Change) < math.Abs(shifts[small].Change) {
			small = i
		}
	}
	switch {
	case shifts[unsure].P >= d.P0:
		return unsure
	case math.Abs(shifts[small].Change) < d.MinChange:
		return small
	}
	return -1
}

// measure returns the shift at each cut, between its neighbours.
func measure(x []float64, cuts []int) []Shift {
	shifts := make([]Shift, len(cuts))
	for i, cut := range cuts {
		from, to := 0, len(x)
		if i > 0 {
			from = cuts[i-1]
		}
		if i < len(cuts)-1 {
			to = cuts[i+1]
		}
		before, after := x[from:cut], x[cut:to]
		diff, half, p := compare(before, after)
		low, _ := Median(before)
		high, _ := Median(after)
		shifts[i] = Shift{
			Index: cut, From: from, To: to, P: p,
			Change:   math.Expm1(diff),
			Interval: Interval{Lo: math.Expm1(diff - half), Hi: math.Expm1(diff + half)},
			Before:   math.Exp(low), After: math.Exp(high),
		}
	}
	return shifts
}

// compare returns the difference of the means of y and x, half the width of its
// 95 % interval, and p of Student's two-sided test with pooled variance. Of two
// single values nothing can be said: p is 1 and the interval unbounded.
func compare(x, y []float64) (diff, half, p float64) {
	n, m := float64(len(x)), float64(len(y))
	df := len(x) + len(y) - 2
	mx, my := mean(x), mean(y)
	diff = my - mx
	if df < 1 {
		return diff, math.Inf(1), 1
	}
	se := math.Sqrt((squares(x, mx) + squares(y, my)) / float64(df) * (1/n + 1/m))
	switch {
	case se > 0:
		return diff, se * studentQuantile(0.95, df), studentTwoSided(diff/se, df)
	case diff == 0:
		return 0, 0, 1
	}
	return diff, 0, 0
}

// weakCuts returns the weak points of x in [a, b), in order.
func weakCuts(x []float64, d distances, a, b int, p0 float64) []int {
	if b-a < 4 {
		return nil
	}
	cut, best := 0, math.Inf(-1)
	for tau := a + 1; tau < b; tau++ {
		for kappa := tau + 1; kappa <= b; kappa++ {
			if q := d.divergence(a, tau, kappa); q > best {
				cut, best = tau, q
			}
		}
	}
	if _, _, p := compare(x[a:cut], x[cut:b]); !(p < p0) {
		return nil
	}
	return slices.Concat(weakCuts(x, d, a, cut, p0), []int{cut}, weakCuts(x, d, cut, b, p0))
}

// distances holds at [i][j] the sum of |x_k - x_l| over k < i and l < j, so that
// the sum over any block takes four look-ups.
type distances [][]float64

func newDistances(x []float64) distances {
	d := make(distances, len(x)+1)
	d[0] = make([]float64, len(x)+1)
	for i := range x {
		d[i+1] = make([]float64, len(x)+1)
		for j := range x {
			d[i+1][j+1] = d[i][j+1] + d[i+1][j] - d[i][j] + math.Abs(x[i]-x[j])
		}
	}
	return d
}

// sum returns the sum over rows [r0, r1) and columns [c0, c1).
func (d distances) sum(r0, r1, c0, c1 int) float64 {
	return d[r1][c1] - d[r0][c1] - d[r1][c0] + d[r0][c0]
}

// divergence returns Q of x[a:tau] against x[tau:kappa]. A single value is at
// distance 0 from itself.
func (d distances) divergence(a, tau, kappa int) float64 {
	n, m := float64(tau-a), float64(kappa-tau)
	q := 2 * d.sum(a, tau, tau, kappa) / (n * m)
	// Blocks on the diagonal hold each pair twice.
	if n > 1 {
		q -= d.sum(a, tau, a, tau) / (n * (n - 1))
	}
	if m > 1 {
		q -= d.sum(tau, kappa, tau, kappa) / (m * (m - 1))
	}
	return n * m / (n + m) * q
}

// When a shift raises an alarm, in days.
const (
	AlarmAgeDays     = 7 // it began no longer ago than this
	AlarmHistoryDays = 4 // the series began at least this long before it
	AlarmQuietDays   = 2 // it began more than this after the day of the last alarm
)

// Alarm runs the detector on levels, of which the last is today's, and returns
// the newest shift that is worth an alarm by [AlarmAgeDays], [AlarmHistoryDays],
// counted from the first day of the window, and [AlarmQuietDays]. LastAlarm is
// the day on which the last alarm was raised, nil if none was. Run it once per
// pair and UTC day. It reports false if there is none.
func (d Detector) Alarm(levels []DayLevel, lastAlarm *int64) (Shift, bool) {
	if len(levels) == 0 {
		return Shift{}, false
	}
	logs := make([]float64, len(levels))
	for i, l := range levels {
		logs[i] = l.Log
	}
	today := levels[len(levels)-1].Day
	first := levels[max(0, len(levels)-d.Window)].Day
	for _, s := range slices.Backward(d.Shifts(logs)) {
		onset := levels[s.Index].Day
		if today-onset <= AlarmAgeDays && onset-first >= AlarmHistoryDays && (lastAlarm == nil || onset > *lastAlarm+AlarmQuietDays) {
			return s, true
		}
	}
	return Shift{}, false
}

// AdjustFDR returns, for each p, the smallest false discovery rate at which
// Benjamini and Hochberg's procedure accepts it:
//
//	q_(i) = min over j >= i of min(1, m p_(j)/j)
//
// so that of the alarms with q <= 0.05 about one in twenty is false, however
// many pairs are watched. It reports false if a p is outside [0, 1].
//
// Source: Benjamini and Hochberg, "Controlling the False Discovery Rate", JRSS
// B 57(1), 1995.
func AdjustFDR(p []float64) ([]float64, bool) {
	order := make([]int, len(p))
	for i, v := range p {
		if !(v >= 0 && v <= 1) {
			return nil, false
		}
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(p[a], p[b]) })
	adjusted := make([]float64, len(p))
	least := 1.0
	for i, at := range slices.Backward(order) {
		least = min(least, p[at]*float64(len(p))/float64(i+1))
		adjusted[at] = least
	}
	return adjusted, true
}
