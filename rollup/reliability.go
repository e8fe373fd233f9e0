package rollup

import (
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// MinOutageRuns is how many valid runs in a row must fail to be called an
// outage; a single failure may be chance.
const MinOutageRuns = 2

// Reliability is what a window says of failures. Runs that failed by our own
// connection's fault (see [FindFaults]) are counted in Observer and are in
// nothing else here.
type Reliability struct {
	Counts   stats.Counts
	Observer int

	SuccessRate  Share // ok ÷ all: the published number, our own faults counted in
	Availability Share // share of the time in which valid runs succeeded; auth, quota and rate limits are left out
	Throttle     Share // rate limits ÷ runs that our key and credit let through
	OwnFault     Share // auth and quota ÷ all

	// Outages are what the intervals are made of: with three or fewer they are
	// still too narrow, so print their number beside them.
	Outages []Outage
	// OutagesSince is where the knowledge of outages begins, if that is after
	// the window's own beginning; else zero.
	OutagesSince time.Time
}

// A Share is a proportion, 0..1, with its 95 % interval, in which failures that
// come in clusters count for less than as many independent ones.
type Share struct {
	Value    float64        `json:"value"`
	Why      bench.Reason   `json:"reason,omitempty"` // why Value means nothing; empty if it stands
	Interval stats.Interval `json:"interval"`
	NEff     float64        `json:"n_eff"` // the number of independent runs that would know as much
}

// OK reports whether the share stands.
func (s Share) OK() bool { return s.Why.OK() }

// An Outage is MinOutageRuns or more valid runs in a row that failed by the
// provider's fault.
type Outage struct {
	From time.Time // the first failure
	To   time.Time // the next success; the last failure if Open
	Runs int       // failures
	Open bool      // no success has followed in the window
}

// reliability digests runs, and before them the daily buckets of days without
// raw samples.
func (t *Track) reliability(runs []run, old []Bucket) Reliability {
	var r Reliability
	var attempts []stats.Attempt
	for i := range runs {
		run := &runs[i]
		if run.observer {
			r.Observer++
			continue
		}
		r.Counts = r.Counts.Plus(countOf(run.kind, 1))
		if run.valid() {
			attempts = append(attempts, stats.Attempt{At: time.Duration(run.at), OK: run.ok()})
		}
	}
	r.Outages = outagesOf(runs)
	if len(old) > 0 {
		r.OutagesSince = old[len(old)-1].Start.Add(Day)
	}
	blocks := blocksOf(runs, old)
	for _, b := range old {
		r.Counts = r.Counts.Plus(countsOf(b))
	}

	success, ok := r.Counts.SuccessRate()
	r.SuccessRate = share(success, ok, r.Counts.OK, r.Counts.Total(), blocks, func(c stats.Counts) (int, int) { return c.OK, c.Total() })
	throttle, ok := r.Counts.ThrottleRate()
	r.Throttle = share(throttle, ok, r.Counts.RateLimit, through(r.Counts), blocks, func(c stats.Counts) (int, int) { return c.RateLimit, through(c) })
	own, ok := r.Counts.OwnFaultRate()
	r.OwnFault = share(own, ok, r.Counts.Auth+r.Counts.Quota, r.Counts.Total(), blocks, func(c stats.Counts) (int, int) { return c.Auth + c.Quota, c.Total() })

	available, ok := r.Counts.Availability()
	if len(old) > 0 {
		available, ok = meanOfDays(runs, old)
	} else if weighted, can := stats.TimeWeighted(attempts, stats.MaxGap(t.Every)); can {
		available = weighted
	}
	r.Availability = share(available, ok, r.Counts.OK, r.Counts.Valid(), blocks, func(c stats.Counts) (int, int) { return c.OK, c.Valid() })
	return r
}

// through counts the runs that our key and credit let through.
func through(c stats.Counts) int { return c.Total() - c.Auth - c.Quota }

// share puts the interval to a proportion: Wilson's, on the effective number of
// runs that the rates of the blocks allow.
func share(value float64, ok bool, k, n int, blocks []stats.Counts, part func(stats.Counts) (k, n int)) Share {
	if !ok {
		return Share{Why: untold(blocks)}
	}
	s := Share{Value: value, NEff: float64(n)}
	var rates []float64
	for _, b := range blocks {
		if k, n := part(b); n > 0 {
			rates = append(rates, float64(k)/float64(n))
		}
	}
	if b, ok := stats.NewHourBucket(rates, float64(n), stats.Z95); ok {
		s.NEff = b.NEff
	}
	s.Interval = s.at(stats.Z95)
	return s
}

// at returns the interval of a share that stands, for z as [stats.Z95].
func (s Share) at(z float64) stats.Interval {
	i, _ := stats.Wilson(min(s.Value, 1)*s.NEff, s.NEff, z)
	return i
}

// untold returns why runs, if there are any, tell nothing of the provider.
func untold(blocks []stats.Counts) bench.Reason {
	if len(blocks) == 0 {
		return NoRuns
	}
	for _, b := range blocks {
		if b.RateLimit > 0 {
			return Throttled
		}
	}
	return OwnFault
}

// blocksOf counts runs by the hour; where the window reaches back beyond the raw
// samples, all of it by the day.
func blocksOf(runs []run, old []Bucket) []stats.Counts {
	var blocks []stats.Counts
	width := int64(Hour)
	if len(old) > 0 {
		width = int64(Day)
		for _, b := range old {
			blocks = append(blocks, countsOf(b))
		}
	}
	last := int64(-1)
	for i := range runs {
		if runs[i].observer {
			continue
		}
		if block := runs[i].at / width; block != last {
			blocks, last = append(blocks, stats.Counts{}), block
		}
		end := &blocks[len(blocks)-1]
		*end = end.Plus(countOf(runs[i].kind, 1))
	}
	return blocks
}

// meanOfDays returns the mean of the days' availabilities. Every day weighs the
// same, which is as near to weighing by time as buckets allow.
func meanOfDays(runs []run, old []Bucket) (float64, bool) {
	var rates []float64
	for _, day := range blocksOf(runs, old) {
		if rate, ok := day.Availability(); ok {
			rates = append(rates, rate)
		}
	}
	if len(rates) == 0 {
		return 0, false
	}
	return min(1, mean(rates)), true
}

// countOf returns the counts of n runs that ended alike.
func countOf(kind wire.ErrorKind, n int) stats.Counts {
	switch kind {
	case wire.KindNone:
		return stats.Counts{OK: n}
	case wire.KindAuth:
		return stats.Counts{Auth: n}
	case wire.KindQuota:
		return stats.Counts{Quota: n}
	case wire.KindRateLimit:
		return stats.Counts{RateLimit: n}
	case wire.KindServer:
		return stats.Counts{Server: n}
	case wire.KindTimeout:
		return stats.Counts{Timeout: n}
	case wire.KindNetwork:
		return stats.Counts{Network: n}
	}
	return stats.Counts{Malformed: n}
}

// countsOf returns the counts of a bucket.
func countsOf(b Bucket) stats.Counts {
	c := stats.Counts{OK: b.OK}
	for kind := wire.KindAuth; kind <= wire.KindMalformed; kind++ {
		c = c.Plus(countOf(kind, b.Errors[kind]))
	}
	return c
}

// outagesOf finds the outages in runs, which are in order of time. Runs that say
// nothing of the provider neither end nor lengthen one.
func outagesOf(runs []run) []Outage {
	var outages []Outage
	var now Outage
	end := func() {
		if now.Runs >= MinOutageRuns {
			outages = append(outages, now)
		}
		now = Outage{}
	}
	for i := range runs {
		r := &runs[i]
		switch {
		case r.theirs():
			if now.Runs == 0 {
				now = Outage{From: r.time(), Open: true}
			}
			now.Runs++
			now.To = r.time()
		case r.ok() && now.Runs > 0:
			now.To, now.Open = r.time(), false
			end()
		}
	}
	end()
	return outages
}
