package rollup

import (
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A DayMedian is what one UTC day says of a series.
type DayMedian struct {
	Day    time.Time
	N      int // runs with the number
	Median float64
}

// A Score is the typical value of one metric of one series over whole UTC days:
// the geometric mean of the days' medians, with an interval over days.
type Score struct {
	Metric Metric
	Days   []DayMedian  // the days it is made of, each of stats.MinDayRuns runs or more
	Runs   int          // runs in those days
	Value  float64      // in the metric's unit
	Why    bench.Reason // why Value means nothing: TooFewDays, NoRuns

	Interval stats.Interval // of Value, at 95 %
}

// OK reports whether the score stands.
func (s Score) OK() bool { return s.Why.OK() }

// At returns the score's interval at another confidence.
func (s Score) At(confidence float64) (stats.Interval, bool) {
	return s.at(confidence, new(stats.Student))
}

func (s Score) at(confidence float64, student *stats.Student) (stats.Interval, bool) {
	score, ok := student.Score(medians(s.Days), confidence)
	return score.Interval, ok
}

func medians(days []DayMedian) []float64 {
	values := make([]float64, len(days))
	for i, d := range days {
		values[i] = d.Median
	}
	return values
}

// Score returns the track's score over the whole UTC days of the span. It counts
// only runs under the method and prompt that were newest in the span, as those
// before are another experiment. Days without raw samples count by their bucket.
func (t *Track) Score(m Metric, span Span) Score {
	s := Score{Metric: m}
	if t.Buffered() && m.needsStream() {
		s.Why = Buffered
		return s
	}
	runs := t.in(span)
	method, prompt := t.newest(runs)
	old := t.bucketed(span)
	for i := range old {
		b := &old[i]
		if spread, ok := m.spread(b); ok && spread.N >= stats.MinDayRuns {
			s.Days = append(s.Days, DayMedian{Day: b.Start, N: spread.N, Median: spread.P50})
		}
	}
	var values []float64
	for i := range runs {
		r := &runs[i]
		if c := &t.conds[r.cond]; r.counts() && c.Method == method && c.Prompt == prompt {
			if v, ok := m.of(r); ok {
				values = append(values, v)
			}
		}
		if day := dayOf(r.at); i == len(runs)-1 || dayOf(runs[i+1].at) != day {
			if median, ok := stats.Median(values); ok && len(values) >= stats.MinDayRuns {
				s.Days = append(s.Days, DayMedian{Day: dayStart(day), N: len(values), Median: median})
			}
			values = values[:0]
		}
	}
	for _, d := range s.Days {
		s.Runs += d.N
	}
	score, ok := t.student.Score(medians(s.Days), 0.95)
	switch {
	case ok:
		s.Value, s.Interval = score.Value, score.Interval
	case len(s.Days) == 0:
		s.Why = NoRuns
	default:
		s.Why = TooFewDays
	}
	return s
}

// spread returns what a bucket keeps of the metric.
func (m Metric) spread(b *Bucket) (Spread, bool) {
	switch m {
	case DecodeTPS:
		return b.Decode, true
	case HybridTPS:
		return b.Hybrid, true
	case TTFT:
		return b.TTFT, true
	}
	return Spread{}, false
}

// newest returns the method and prompt of the newest run.
func (t *Track) newest(runs []run) (method, prompt int) {
	if len(runs) == 0 {
		return 0, 0
	}
	c := t.conds[runs[len(runs)-1].cond]
	return c.Method, c.Prompt
}
