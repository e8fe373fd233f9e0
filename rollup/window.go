package rollup

import (
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A Window is how far back a page looks.
type Window string

// The four published windows, and one for boards that need more days to tell
// rows apart.
const (
	Window24h Window = "24h" // rolling, up to now
	Window7d  Window = "7d"  // the last 7 whole UTC days
	Window28d Window = "28d" // boards only
	Window30d Window = "30d"
	Window1y  Window = "1y" // 365 whole UTC days
)

// Windows returns the four published windows, shortest first.
func Windows() []Window { return []Window{Window24h, Window7d, Window30d, Window1y} }

// Days returns the whole UTC days in the window, 0 for the rolling one.
func (w Window) Days() int {
	switch w {
	case Window7d:
		return 7
	case Window28d:
		return 28
	case Window30d:
		return 30
	case Window1y:
		return 365
	}
	return 0
}

// Span returns the time that the window covers at now: the last 24 hours, or the
// whole UTC days before today. Today is left out, as half a day would weigh like
// a whole one and favour pairs measured at the right hours.
func (w Window) Span(now time.Time) Span {
	if w.Days() == 0 {
		return Span{From: now.UTC().Add(-24 * time.Hour), To: now.UTC()}
	}
	today := now.UTC().Truncate(Day)
	return Span{From: today.AddDate(0, 0, -w.Days()), To: today}
}

// A Span is the time from From up to but not including To, in UTC.
type Span struct{ From, To time.Time }

// Contains reports whether at lies in the span.
func (s Span) Contains(at time.Time) bool { return !at.Before(s.From) && at.Before(s.To) }

// A Summary is everything a window says of one series.
type Summary struct {
	Series bench.Series
	Window Window
	Span   Span
	Now    time.Time

	// Provisional is set where the series began today, so that no whole day of
	// it exists: Span is then today so far, and nothing is ranked on it.
	Provisional bool
	// Bucketed is set where some of the window is older than the raw samples
	// and comes from daily buckets: see [Distribution.Approximate].
	Bucketed bool

	Runs  int // all of them
	OK    int
	Noisy int // successes left out of the distributions, as our own machine disturbed them
	Days  int // UTC days with a run

	Decode    Distribution // tokens/s; ranked
	Hybrid    Distribution // tokens/s; the published method
	StallFree Distribution // tokens/s
	EndToEnd  Distribution // tokens/s
	TTFT      Distribution // ms
	TTFO      Distribution // ms; differs from TTFT where a model reasons aloud
	TTFTCold  Distribution // ms
	E2E       Distribution // ms

	Delivery    Delivery
	Reliability Reliability
	Pace        stats.Pace // mean start, length and pace, for the three-part split
	HasPace     bool
	Mixed       Mixed

	Freshness   stats.Freshness
	LastSuccess time.Time // zero: none is kept
	Every       time.Duration
}

// Distribution returns the distribution of a metric, if the summary has it.
func (s *Summary) Distribution(m Metric) (Distribution, bool) {
	for _, d := range []*Distribution{&s.Decode, &s.Hybrid, &s.StallFree, &s.EndToEnd, &s.TTFT, &s.TTFO, &s.TTFTCold, &s.E2E} {
		if d.Metric == m {
			return *d, true
		}
	}
	return Distribution{}, false
}

// A Delivery is how answers of successful runs arrived. All are counts of runs
// but the estimates.
type Delivery struct {
	N                     int // successful runs
	Smooth, Chunky, Burst int // by shape
	Buffered, HeadBurst   int // runs without a decode rate for that reason
	Estimated             int // whose token count is a guess
	Reasoned              int // that showed reasoning before text

	InterToken, WallClock, Malformed int // the path of the published hybrid rule

	Burstiness Estimate // median of −1 clockwork .. 0 Poisson .. 1 bursts
	StallRatio Estimate // median share of the decode span that stood still
	Stalled    int      // runs with a stall
}

// Mixed says what changed within a window; each list is sorted. More than one
// entry means that the window mixes conditions, and the page says so.
type Mixed struct {
	Methods, Prompts                   []int
	Protocols, Regions, Served, Routes []string // empty strings, which are "not told", are left out
	Lanes                              []int
}

// Any reports whether method, prompt, wire format, place, served model or route
// changed within the window.
func (m Mixed) Any() bool {
	return len(m.Methods) > 1 || len(m.Prompts) > 1 || len(m.Protocols) > 1 ||
		len(m.Regions) > 1 || len(m.Served) > 1 || len(m.Routes) > 1
}

// Summarize digests one window of the track as seen at now. 24 h, 7 d and 30 d
// are exact, from raw samples; what is older than those comes from the daily
// buckets.
func (t *Track) Summarize(w Window, now time.Time) Summary {
	s := Summary{Series: t.Series, Window: w, Span: w.Span(now), Now: now.UTC(), Every: t.Every}
	if first, ok := t.First(); ok && w.Days() > 0 && !first.Before(s.Span.To) {
		s.Provisional = true
		s.Span = Span{From: s.Span.To, To: s.Now}
	}
	s.Freshness = t.Freshness(now)
	s.LastSuccess, _ = t.LastSuccess()

	runs := t.in(s.Span)
	old := t.bucketed(s.Span)
	s.Bucketed = len(old) > 0
	s.Mixed = t.mixed(runs)
	s.Delivery = t.delivery(runs)
	s.Reliability = t.reliability(runs, old)
	s.Pace, s.HasPace = paceOf(runs)

	oneDay := s.Span.To.Sub(s.Span.From) <= Day
	total := s.count(t, runs)
	digest := func(m Metric, kept Range, hist *stats.Histogram) Distribution {
		if s.Bucketed {
			return fromTotal(m, kept, hist, total.Errors[wire.KindTimeout])
		}
		return distributionOf(m, runs, oneDay)
	}
	s.Decode = digest(DecodeTPS, total.Decode, &total.DecodeHist)
	s.Hybrid = digest(HybridTPS, total.Hybrid, nil)
	s.TTFT = digest(TTFT, total.TTFT, &total.TTFTHist)
	for m, into := range map[Metric]*Distribution{
		StallFreeTPS: &s.StallFree, EndToEndTPS: &s.EndToEnd, TTFO: &s.TTFO, TTFTCold: &s.TTFTCold, E2E: &s.E2E,
	} {
		*into = digest(m, Range{}, nil)
	}
	if t.Buffered() {
		s.withhold()
	}
	return s
}

// count fills the summary's counts. Where the window has days without raw
// samples it returns the total of all its days.
func (s *Summary) count(t *Track, runs []run) Total {
	if s.Bucketed {
		var total Total
		for _, b := range t.buckets(s.Span, Day, t.bucketed(s.Span)) {
			total.Add(*b)
		}
		s.Runs, s.OK, s.Noisy, s.Days = total.Samples, total.OK, total.Noisy, total.Buckets
		return total
	}
	s.Runs, s.Days = len(runs), daysOf(runs)
	for i := range runs {
		if runs[i].ok() {
			s.OK++
			if runs[i].noisy {
				s.Noisy++
			}
		}
	}
	return Total{}
}

// bucketed returns the daily buckets of the span that lie before the first raw
// sample: days whose raw samples are gone. The slice is the track's own.
func (t *Track) bucketed(span Span) []Bucket {
	end := span.To
	if len(t.runs) > 0 {
		end = minTime(end, t.runs[0].time().Truncate(Day))
	}
	return within(t.days, Span{From: span.From, To: end})
}

// within returns those of buckets in order of time that start in a span.
func within(buckets []Bucket, span Span) []Bucket {
	find := func(at time.Time) int {
		i, _ := slices.BinarySearchFunc(buckets, at, func(b Bucket, at time.Time) int { return b.Start.Compare(at) })
		return i
	}
	from, to := find(span.From), find(span.To)
	return buckets[from:max(from, to)]
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// distributionOf digests a metric of runs.
func distributionOf(m Metric, runs []run, oneDay bool) Distribution {
	var values, ofTimeouts []float64
	timeouts := 0
	for i := range runs {
		r := &runs[i]
		v, ok := m.of(r)
		switch {
		case r.counts() && ok:
			values = append(values, v)
		case m.cutOff(r):
			timeouts++
		case r.ranOut && !r.observer:
			ofTimeouts = append(ofTimeouts, v)
		}
	}
	return newDistribution(m, values, ofTimeouts, timeouts, oneDay)
}

// cutOff reports whether the time limit ended a run before it had the metric, so
// that nothing is known of it but that it is longer. Of one that was cut off
// later, after its first text, the times to that stand. A connection that never
// came about, or a server that gave up by itself, is a failure like another:
// the limit had not passed.
func (m Metric) cutOff(r *run) bool {
	if !r.ranOut || r.observer {
		return false
	}
	switch m {
	case TTFT, TTFO, TTFTCold:
		_, seen := m.of(r)
		return !seen
	}
	return true
}

func (t *Track) delivery(runs []run) Delivery {
	var d Delivery
	var burstiness, stalls []float64
	for i := range runs {
		r := &runs[i]
		if !r.ok() {
			continue
		}
		d.N++
		o := t.outcomes[r.outcome]
		switch o.shape {
		case bench.ShapeSmooth:
			d.Smooth++
		case bench.ShapeChunky:
			d.Chunky++
		case bench.ShapeBurst:
			d.Burst++
		}
		switch o.noDecode {
		case bench.Buffered:
			d.Buffered++
		case bench.HeadBurst:
			d.HeadBurst++
		}
		switch o.path {
		case bench.PathInterToken:
			d.InterToken++
		case bench.PathWallClock:
			d.WallClock++
		case bench.PathMalformed:
			d.Malformed++
		}
		if r.estimated {
			d.Estimated++
		}
		if r.ttfo != 0 && r.ttfo < r.ttft {
			d.Reasoned++
		}
		if r.hasBurstiness && !r.noisy {
			burstiness = append(burstiness, r.burstiness)
		}
		if r.hasStalls && !r.noisy {
			stalls = append(stalls, r.stallRatio)
			if r.stallRatio > 0 {
				d.Stalled++
			}
		}
	}
	slices.Sort(burstiness)
	slices.Sort(stalls)
	d.Burstiness = quantile(burstiness, 0.5, false)
	d.StallRatio = quantile(stalls, 0.5, false)
	return d
}

// paceOf returns the mean start, length and pace of the successful runs whose
// tokens are known and that came as a stream.
func paceOf(runs []run) (stats.Pace, bool) {
	var answers []stats.Answer
	for i := range runs {
		if r := &runs[i]; r.counts() && r.decode != 0 && r.ttlt >= r.ttft {
			answers = append(answers, stats.Answer{TTFTMs: r.ttft, TTLTMs: r.ttlt, Tokens: int(r.tokens)})
		}
	}
	return stats.NewPace(answers)
}

// Split says where the change of the mean time to the last token came from,
// from the window before this one to this one: a later start, longer answers,
// slower tokens. The parts add up to the change. It reports false where raw
// samples do not hold answers of both windows, and where method or prompt
// changed in them: that change would be ours.
func (t *Track) Split(w Window, now time.Time) (stats.Decomposition, bool) {
	span := w.Span(now)
	earlier := Span{From: span.From.Add(-span.To.Sub(span.From)), To: span.From}
	if m := t.mixed(t.in(Span{From: earlier.From, To: span.To})); len(m.Methods) > 1 || len(m.Prompts) > 1 {
		return stats.Decomposition{}, false
	}
	after, okAfter := paceOf(t.in(span))
	before, okBefore := paceOf(t.in(earlier))
	if !okAfter || !okBefore {
		return stats.Decomposition{}, false
	}
	return stats.Decompose(before, after), true
}

// mixed lists the conditions of runs.
func (t *Track) mixed(runs []run) Mixed {
	seen := make([]bool, len(t.conds))
	for i := range runs {
		seen[runs[i].cond] = true
	}
	var m Mixed
	for i, c := range t.conds {
		if !seen[i] {
			continue
		}
		m.Methods = append(m.Methods, c.Method)
		m.Prompts = append(m.Prompts, c.Prompt)
		m.Lanes = append(m.Lanes, c.Lanes)
		m.Protocols = appendTold(m.Protocols, c.Protocol)
		m.Regions = appendTold(m.Regions, c.Region)
		m.Served = appendTold(m.Served, c.ServedBy)
		m.Routes = appendTold(m.Routes, c.Backend)
	}
	for _, list := range []*[]int{&m.Methods, &m.Prompts, &m.Lanes} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	for _, list := range []*[]string{&m.Protocols, &m.Regions, &m.Served, &m.Routes} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	return m
}

func appendTold(list []string, s string) []string {
	if s == "" {
		return list
	}
	return append(list, s)
}

// daysOf counts the UTC days of runs, which are in order of time.
func daysOf(runs []run) int {
	days, last := 0, int64(-1)
	for i := range runs {
		if day := dayOf(runs[i].at); day != last {
			days, last = days+1, day
		}
	}
	return days
}

// dayOf returns the UTC day of a Unix time in nanoseconds, in days since 1970.
func dayOf(at int64) int64 { return at / int64(Day) }

func dayStart(day int64) time.Time { return time.Unix(0, day*int64(Day)).UTC() }
