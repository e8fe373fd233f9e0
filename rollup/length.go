package rollup

import (
	"math"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A LengthFit is the time to last token against the length of the answer, as
// recorded answers have it:
//
//	TTLT = start + (tokens - 1) · per token
//
// Start and per token are the mean TTFT and the decode time over the gaps of a
// day, which add up to the mean TTLT exactly (see [stats.Pace]), and then the
// geometric means over days. No regression on the length is made: capped answers
// are nearly all of one length, which leaves the slope of one open.
type LengthFit struct {
	Runs     int                                      // answers that it rests on
	Days     int                                      // UTC days
	Start    Estimate                                 // ms
	PerToken Estimate                                 // ms
	Bounds   struct{ Start, PerToken stats.Interval } // at 95 %; meaningless if Why is not empty
	Why      bench.Reason                             // why there is no interval

	Least, Most int     // tokens: the 10th and the 90th percentile of the answers
	Misfit      float64 // median distance of TTLT from the line, as a share of TTLT
}

// OK reports whether the fit stands, be it without an interval.
func (f LengthFit) OK() bool { return f.Start.OK() && f.PerToken.OK() }

// TTLTMS returns the time to last token of an answer of n tokens, and the ends
// that the intervals give it: together they hold it more often than 95 %.
func (f LengthFit) TTLTMS(n int) (ms float64, i stats.Interval) {
	at := func(start, per float64) float64 {
		v, _ := stats.ExpectedTTLT(start, per, float64(n))
		return v
	}
	return at(f.Start.Value, f.PerToken.Value),
		stats.Interval{Lo: at(f.Bounds.Start.Lo, f.Bounds.PerToken.Lo), Hi: at(f.Bounds.Start.Hi, f.Bounds.PerToken.Hi)}
}

// Length fits the answers of a span that have a decode rate. Without
// [stats.MinScoreDays] days it has no interval, and is the pace of all of them.
func (t *Track) Length(span Span) LengthFit {
	var f LengthFit
	var all, today []stats.Answer
	var starts, paces, tokens []float64
	runs := t.in(span)
	for i := range runs {
		r := &runs[i]
		if r.counts() && r.decode != 0 && r.ttft != 0 && r.tokens > 1 {
			today = append(today, stats.Answer{TTFTMs: r.ttft, TTLTMs: r.ttlt, Tokens: int(r.tokens)})
			tokens = append(tokens, float64(r.tokens))
		}
		if i == len(runs)-1 || !runs[i+1].time().Truncate(Day).Equal(r.time().Truncate(Day)) {
			if pace, ok := stats.NewPace(today); ok && len(today) >= stats.MinDayRuns {
				starts, paces = append(starts, pace.TTFTMs), append(paces, pace.TBTMs)
			}
			all, today = append(all, today...), nil
		}
	}
	f.Runs, f.Days = len(all), len(starts)
	pace, ok := stats.NewPace(all)
	if !ok {
		f.Start, f.PerToken, f.Why = absent(NoRuns), absent(NoRuns), NoRuns
		return f
	}
	f.Start, f.PerToken, f.Why = Estimate{Value: pace.TTFTMs}, Estimate{Value: pace.TBTMs}, TooFewDays
	start, ok := stats.NewScore(starts, 0.95)
	per, ok2 := stats.NewScore(paces, 0.95)
	if ok && ok2 {
		f.Start.Value, f.PerToken.Value, f.Why = start.Value, per.Value, bench.Present
		f.Bounds.Start, f.Bounds.PerToken = start.Interval, per.Interval
	}
	slices.Sort(tokens)
	least, _ := stats.QuantileSorted(tokens, 0.1)
	most, _ := stats.QuantileSorted(tokens, 0.9)
	f.Least, f.Most = int(math.Round(least)), int(math.Round(most))
	var off []float64
	for _, a := range all {
		want, _ := f.TTLTMS(a.Tokens)
		off = append(off, math.Abs(want-a.TTLTMs)/a.TTLTMs)
	}
	f.Misfit, _ = stats.Median(off)
	return f
}

// An HourOfDay counts runs that began in one UTC hour.
type HourOfDay struct {
	Runs    int // that our key and credit let through
	Refused int // of those, for the rate
}

// RefusedByHour counts refusals for the rate by UTC hour.
func (t *Track) RefusedByHour(span Span) (hours [24]HourOfDay) {
	for _, r := range t.in(span) {
		if r.observer || r.kind == wire.KindAuth || r.kind == wire.KindQuota {
			continue
		}
		h := &hours[time.Unix(0, r.at).UTC().Hour()]
		h.Runs++
		if r.kind == wire.KindRateLimit {
			h.Refused++
		}
	}
	return hours
}
