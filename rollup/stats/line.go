package stats

import (
	"math"
	"slices"
)

// A Line is y = Intercept + Slope·x through points of which some may be far off.
type Line struct {
	Slope, Intercept float64
	Interval         Interval // of the slope
	N                int
}

// At returns the line's height at x.
func (l Line) At(x float64) float64 { return l.Intercept + l.Slope*x }

// TheilSen returns the line whose slope is the median of the slopes between all
// pairs of points with different x, and that has as many points above as below.
// Latencies have tails on one side only, which would tilt a line of least
// squares; up to 29 % of the points may be anything here. The interval is Sen's,
// for z as [Z95], by the variance of Kendall's S with equal x grouped: nothing is
// assumed of the errors but that they are independent of each other and of x.
//
// It reports false for points of different number, fewer than [MinLinePoints],
// all at one x, or not finite, and for a z that is not positive and finite.
//
// Source: Sen, "Estimates of the regression coefficient based on Kendall's tau",
// JASA 63, 1968; the variance with ties: Kendall, "Rank correlation methods".
func TheilSen(x, y []float64, z float64) (Line, bool) {
	n := len(x)
	if len(y) != n || n < MinLinePoints || !(z > 0) || math.IsInf(z, 0) {
		return Line{}, false
	}
	for i := range x {
		if math.IsNaN(x[i]+y[i]) || math.IsInf(x[i]+y[i], 0) {
			return Line{}, false
		}
	}
	var slopes []float64
	for i := range x {
		for j := range i {
			if x[i] != x[j] {
				slopes = append(slopes, (y[i]-y[j])/(x[i]-x[j]))
			}
		}
	}
	if len(slopes) == 0 {
		return Line{}, false
	}
	slices.Sort(slopes)
	l := Line{N: n}
	l.Slope, _ = Median(slopes)
	rest := make([]float64, n)
	for i := range x {
		rest[i] = y[i] - l.Slope*x[i]
	}
	l.Intercept, _ = Median(rest)

	f := float64(n)
	variance := f * (f - 1) * (2*f + 5)
	sorted := slices.Sorted(slices.Values(x))
	for i := 0; i < n; {
		j := i
		for j < n && sorted[j] == sorted[i] {
			j++
		}
		t := float64(j - i)
		variance -= t * (t - 1) * (2*t + 5)
		i = j
	}
	half := z * math.Sqrt(variance/18) / 2
	middle := float64(len(slopes)) / 2
	// Ranks from 1: the largest not above the lower end, the least not below the upper.
	lo, hi := int(math.Floor(middle-half)), int(math.Ceil(middle+half))+1
	l.Interval = Interval{Lo: math.Inf(-1), Hi: math.Inf(1)}
	if lo >= 1 {
		l.Interval.Lo = slopes[lo-1]
	}
	if hi <= len(slopes) {
		l.Interval.Hi = slopes[hi-1]
	}
	return l, true
}

// MinLinePoints is how many points a line is drawn through at least.
const MinLinePoints = 6
