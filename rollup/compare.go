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
	return a.Side(m, w, now).Against(b.Side(m, w, now), comparisons)
}

// A Side is one track made ready to be compared with many others in one metric
// over one window: what [Compare] needs of it, computed once.
type Side struct {
	track  *Track
	metric Metric
	window Window
	score  Score
	speed  stats.Speed // of the typical answer
	paced  bool        // speed is known

	method, prompt int // of the newest run; meaningless if not ran
	ran            bool
}

// Side returns the track as one side of comparisons.
func (t *Track) Side(m Metric, w Window, now time.Time) Side {
	span := w.Span(now)
	runs := t.in(span)
	s := Side{track: t, metric: m, window: w, score: t.Score(m, span), ran: len(runs) > 0}
	s.method, s.prompt = t.newest(runs)
	s.speed, s.paced = typicalSpeed(runs)
	return s
}

// Against compares as [Compare] does. Both sides must be of one metric, window
// and instant; of others the result means nothing.
func (s Side) Against(other Side, comparisons int) Comparison {
	c := Comparison{A: s.track.Series, B: other.track.Series, Metric: s.metric, Confidence: 1 - 0.05/float64(max(1, comparisons))}
	if s.paced && other.paced {
		c.Crossover, c.HasCrossover = stats.Crossover(s.speed, other.speed)
	}
	ratios := s.score.ratios(other.score)
	c.Days = len(ratios)
	c.Why = s.unlike(other)
	score, ok := s.track.student.Score(ratios, c.Confidence)
	switch {
	case !c.Why.OK():
	case s.score.Why == Buffered || other.score.Why == Buffered:
		c.Why = Buffered
	case s.window.Days() == 0:
		c.Why = WithinDay
	case len(s.score.Days) == 0 || len(other.score.Days) == 0:
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
	case aHigher == bool(s.metric.Better()):
		c.Verdict = ABetter
	default:
		c.Verdict = BBetter
	}
	return c
}

// ratios returns, for each day that both scores are made of, the median of s over
// that of other.
func (s Score) ratios(other Score) []float64 {
	ratios := make([]float64, 0, min(len(s.Days), len(other.Days)))
	rest := other.Days
	for _, d := range s.Days {
		for len(rest) > 0 && rest[0].Day.Before(d.Day) {
			rest = rest[1:]
		}
		if len(rest) > 0 && rest[0].Day.Equal(d.Day) {
			ratios = append(ratios, d.Median/rest[0].Median)
		}
	}
	return ratios
}

// unlike returns why two sides measure different things, if they do.
func (s Side) unlike(other Side) bench.Reason {
	switch {
	case s.track.Series.Vantage != other.track.Series.Vantage:
		return OtherVantage
	case s.ran && other.ran && (s.method != other.method || s.prompt != other.prompt):
		return OtherMethod
	}
	return bench.Present
}

// typicalSpeed returns the median start and rate of runs, if they have both.
func typicalSpeed(runs []run) (stats.Speed, bool) {
	ttft := distributionOf(TTFT, runs, false).P50
	rate := distributionOf(DecodeTPS, runs, false).P50
	return stats.Speed{TTFTSeconds: ttft.Value / 1000, TokensPerSecond: rate.Value}, ttft.OK() && rate.OK()
}
