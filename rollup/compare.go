package rollup

import (
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A Verdict is what can be said of two series.
type Verdict string

// The verdicts. "Better" is by the metric's own direction.
const (
	NoClearDifference Verdict = "no_clear_difference" // the interval holds 1: measuring longer may tell
	ABetter           Verdict = "a_better"
	BBetter           Verdict = "b_better"
	NotComparable     Verdict = "not_comparable" // see Why
)

// A Comparison is the difference of two series in one metric over whole UTC days.
type Comparison struct {
	A, B    bench.Series
	Metric  Metric
	Verdict Verdict
	Why     bench.Reason // of NotComparable

	Days       int            // days on which both have a median
	Ratio      float64        // A ÷ B: geometric mean of the days' ratios
	Interval   stats.Interval // of Ratio, at Confidence
	Confidence float64        // 95 %, or stricter where several comparisons are made at once

	// Crossover is the length of answer, in tokens, from which the one that
	// streams faster is done sooner than the one that starts sooner. It exists
	// only between two series of which each wins one of the two.
	Crossover    float64
	HasCrossover bool
}

// Compare compares two tracks in a metric, day by day: on each day that both
// have a median, the ratio of the two, and over the days the geometric mean of
// the ratios with its t interval. What a day did to both cancels. A difference
// is claimed only if the interval leaves 1 out. Of several comparisons made at
// once, each is made at 1 − 0.05/comparisons (Bonferroni), so that the chance of
// any false claim among them stays under 5 %.
//
// Source: Kalibera and Jones, "Rigorous Benchmarking in Reasonable Time", ISMM
// 2013, on reporting ratios with intervals over the level that varies.
func Compare(a, b *Track, m Metric, w Window, now time.Time, comparisons int) Comparison {
	span := w.Span(now)
	c := Comparison{A: a.Series, B: b.Series, Metric: m, Confidence: 1 - 0.05/float64(max(1, comparisons))}
	c.Crossover, c.HasCrossover = crossover(a, b, span)

	sa, sb := a.Score(m, span), b.Score(m, span)
	onDay := make(map[time.Time]float64, len(sb.Days))
	for _, d := range sb.Days {
		onDay[d.Day] = d.Median
	}
	var ratios []float64
	for _, d := range sa.Days {
		if other, ok := onDay[d.Day]; ok {
			ratios = append(ratios, d.Median/other)
		}
	}
	c.Days = len(ratios)
	c.Why = a.unlike(b, span)
	score, ok := stats.NewScore(ratios, c.Confidence)
	switch {
	case !c.Why.OK():
	case w.Days() == 0:
		c.Why = WithinDay
	case len(sa.Days) == 0 || len(sb.Days) == 0:
		c.Why = NoRuns
	case !ok:
		c.Why = TooFewDays
	}
	if !c.Why.OK() {
		c.Verdict = NotComparable
		return c
	}
	c.Ratio, c.Interval = score.Value, score.Interval
	aHigher, bHigher := c.Interval.Lo > 1, c.Interval.Hi < 1
	switch {
	case !aHigher && !bHigher:
		c.Verdict = NoClearDifference
	case aHigher == bool(m.Better()):
		c.Verdict = ABetter
	default:
		c.Verdict = BBetter
	}
	return c
}

// unlike returns why two tracks measure different things, if they do.
func (t *Track) unlike(other *Track, span Span) bench.Reason {
	if t.Series.Vantage != other.Series.Vantage {
		return OtherVantage
	}
	a, b := t.in(span), other.in(span)
	if len(a) == 0 || len(b) == 0 {
		return bench.Present
	}
	methodA, promptA := t.newest(a)
	methodB, promptB := other.newest(b)
	if methodA != methodB || promptA != promptB {
		return OtherMethod
	}
	return bench.Present
}

// crossover returns where the two typical answers take the same time.
func crossover(a, b *Track, span Span) (tokens float64, ok bool) {
	speed := func(t *Track) (stats.Speed, bool) {
		runs := t.in(span)
		ttft := distributionOf(TTFT, runs, false).P50
		rate := distributionOf(DecodeTPS, runs, false).P50
		return stats.Speed{TTFTSeconds: ttft.Value / 1000, TokensPerSecond: rate.Value}, ttft.OK() && rate.OK()
	}
	sa, okA := speed(a)
	sb, okB := speed(b)
	if !okA || !okB {
		return 0, false
	}
	return stats.Crossover(sa, sb)
}
