// Package rollup turns samples into everything that is published about a series.
// It is pure: no clock, network or database, and equal input gives equal output.
//
//   - [Summarize] digests an hour or a day into a [Bucket], which is kept for
//     ever; a [Total] adds buckets up.
//   - [FindFaults] finds when our own connection failed, among all series.
//   - A [Track] is one series made ready: [NewTrack] evaluates the per-sample
//     formulas once, so that its samples can be let go.
//   - [Track.Summarize] digests one [Window] of a track; [Track.Line],
//     [Track.Strip], [Track.HourOfWeek], [Track.Spectrum] and [Track.Anatomy]
//     are what its charts show.
//   - [NewBoard] ranks the summaries of many tracks by their [Score];
//     [Compare] holds two against each other.
//   - [Detect] finds what changed, once for each day.
//
// A number that cannot be given carries the reason instead; see [Estimate].
package rollup

import (
	"cmp"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A History is what the dataset holds of one series.
type History struct {
	Series bench.Series
	Every  time.Duration // cadence; 0 if it is no longer scheduled, and then read from the runs

	Samples []bench.Sample // raw, in any order; none is kept
	Probes  []bench.Sample // its buffering probes, in any order; they are in no number but Track.Buffering
	Hours   []Bucket       // hourly, any order; may be left out where raw samples cover 30 days
	Days    []Bucket       // daily, any order
}

// A Track is a series made ready for statistics: the per-sample formulas are
// evaluated once, and only their results are kept. It is safe for concurrent
// use: nothing changes it but what it remembers of Student's t.
type Track struct {
	Series    bench.Series
	Every     time.Duration   // cadence, as configured or else the typical gap between runs; 0 if neither is known
	Buffering stats.Buffering // what the probes say; see [Track.Buffered]

	runs     []run        // ascending
	conds    []Conditions // what run.cond points into
	outcomes []outcome    // what run.outcome points into
	hours    []Bucket     // ascending
	days     []Bucket     // ascending

	student *stats.Student // of all tracks that were made together
}

// Conditions are what a run happened under and could change between two runs of
// a series.
type Conditions struct {
	Method   int // version
	Prompt   int // version
	Protocol string
	Region   string // where the runner says it is
	ServedBy string // model the provider says it served
	Backend  string // who served it, where told
	Lanes    int    // requests that could run at once
}

// An outcome is what a run was like in words. Runs have few different ones.
type outcome struct {
	path     bench.HybridPath
	shape    bench.Shape
	noDecode bench.Reason // why there is no decode rate
	detail   wire.Detail
	phase    bench.Phase
}

// A run is a sample reduced to its numbers; it holds no pointer, as a track may
// hold very many. None of its times and rates can be zero when it exists, so
// zero is absent.
type run struct {
	at        int64 // StartedAt, Unix nanoseconds
	kind      wire.ErrorKind
	noisy     bool
	observer  bool  // failed with most others: our own connection's fault
	ranOut    bool  // the time limit cut it off: it would have taken longer than any
	estimated bool  // its token count is a guess
	tokens    int32 // visible
	cond      int32
	outcome   int32

	ttft, ttfo, cold, ttlt, e2e       float64 // ms
	decode, hybrid, stallFree, e2eTPS float64 // tokens/s
	burstiness, stallRatio            float64
	hasBurstiness, hasStalls          bool
}

func (r *run) time() time.Time { return time.Unix(0, r.at).UTC() }

// ok reports whether the run succeeded.
func (r *run) ok() bool { return r.kind == wire.KindNone }

// counts reports whether the run's numbers enter statistics: it succeeded, and
// our own machine did not disturb it.
func (r *run) counts() bool { return r.ok() && !r.noisy }

// theirs reports whether the run failed by the provider's fault.
func (r *run) theirs() bool {
	switch r.kind {
	case wire.KindServer, wire.KindTimeout, wire.KindNetwork, wire.KindMalformed:
		return !r.observer
	}
	return false
}

// valid reports whether the run tells of the provider's availability.
func (r *run) valid() bool { return r.ok() || r.theirs() }

// NewTrack makes a series ready for statistics. Samples of other series are the
// caller's mistake and are ignored. Of two samples with the same instant both
// count. Faults are the times at which our own connection was at fault.
func NewTrack(h History, faults Faults) *Track { return newTrack(h, faults, new(stats.Student)) }

func newTrack(h History, faults Faults, student *stats.Student) *Track {
	t := &Track{
		student: student,
		Series:  h.Series, Every: h.Every, Buffering: judgeBuffering(h.Samples, h.Probes),
		runs: make([]run, 0, len(h.Samples)),
	}
	conds, outcomes := make(map[Conditions]int32), make(map[outcome]int32)
	for i := range h.Samples {
		s := &h.Samples[i]
		if s.Series() != h.Series {
			continue
		}
		r, o := newRun(s)
		if t.Buffered() {
			r.withhold(&o)
		}
		r.cond = intern(conds, &t.conds, conditions(s))
		r.outcome = intern(outcomes, &t.outcomes, o)
		r.observer = faults.Blame(s.Env.Vantage, s.StartedAt, s.Kind)
		t.runs = append(t.runs, r)
	}
	if !slices.IsSortedFunc(t.runs, compareRuns) {
		slices.SortFunc(t.runs, compareRuns)
	}
	t.hours = sortedBuckets(h.Hours)
	t.days = sortedBuckets(h.Days)
	if t.Buffered() {
		for _, buckets := range [][]Bucket{t.hours, t.days} {
			for i := range buckets {
				buckets[i] = withheld(buckets[i])
			}
		}
	}
	if t.Every <= 0 {
		t.Every = t.typicalGap()
	}
	return t
}

// intern returns the place of v in list, where it is put if it is new.
func intern[T comparable](places map[T]int32, list *[]T, v T) int32 {
	at, known := places[v]
	if !known {
		at = int32(len(*list))
		places[v] = at
		*list = append(*list, v)
	}
	return at
}

// compareRuns orders by time. Runs of one instant are ordered by what they
// found, so that the order in which they came does not matter.
func compareRuns(a, b run) int {
	return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.kind, b.kind), cmp.Compare(a.ttft, b.ttft), cmp.Compare(a.decode, b.decode))
}

func sortedBuckets(buckets []Bucket) []Bucket {
	sorted := slices.Clone(buckets)
	slices.SortFunc(sorted, func(a, b Bucket) int { return a.Start.Compare(b.Start) })
	return sorted
}

func conditions(s *bench.Sample) Conditions {
	return Conditions{
		Method: s.Env.Method, Prompt: s.Env.Prompt, Protocol: s.Env.Protocol, Region: s.Env.Region,
		ServedBy: s.ServedBy, Backend: s.Backend, Lanes: s.Env.Lanes,
	}
}

// newRun evaluates the formulas of a sample.
func newRun(s *bench.Sample) (r run, o outcome) {
	r = run{at: s.StartedAt.UnixNano(), kind: s.Kind, noisy: s.Noise.Noisy, estimated: s.Usage.Estimated}
	o = outcome{shape: s.Shape(), detail: s.Detail, phase: s.FailedIn}
	if n, why := s.VisibleTokens(); why.OK() {
		r.tokens = int32(n)
	}
	r.ttft = msOrZero(s.TTFT())
	r.ttfo = msOrZero(s.TTFO())
	r.cold = msOrZero(s.TTFTCold())
	r.ttlt = msOrZero(s.TTLT())
	r.e2e = msOrZero(s.E2E())
	r.decode, o.noDecode = s.DecodeTPS()
	r.decode = orZero(r.decode, o.noDecode)
	r.stallFree = orZero(s.StallFreeTPS())
	r.e2eTPS = orZero(s.EndToEndTPS())
	if r.hybrid, o.path = s.HybridTPS(); o.path == bench.PathMalformed {
		r.hybrid = 0
	}
	r.ranOut = s.Kind == wire.KindTimeout && s.Detail != bench.DetailDialTimeout && s.Detail != wire.DetailProviderSlow
	var why bench.Reason
	r.burstiness, why = s.Burstiness()
	r.hasBurstiness = why.OK()
	r.stallRatio, why = s.StallRatio()
	r.hasStalls = why.OK()
	return r, o
}

func orZero(v float64, why bench.Reason) float64 {
	if !why.OK() {
		return 0
	}
	return v
}

func msOrZero(d time.Duration, why bench.Reason) float64 { return orZero(milliseconds(d), why) }

// typicalGap returns the median time between neighbouring runs, or 0.
func (t *Track) typicalGap() time.Duration {
	if len(t.runs) < 2 {
		return 0
	}
	gaps := make([]float64, len(t.runs)-1)
	for i := range gaps {
		gaps[i] = float64(t.runs[i+1].at - t.runs[i].at)
	}
	gap, _ := stats.Median(gaps)
	return time.Duration(gap)
}

// in returns the runs that started in the span. The slice is the track's own.
func (t *Track) in(span Span) []run {
	find := func(at time.Time) int {
		i, _ := slices.BinarySearchFunc(t.runs, at.UnixNano(), func(r run, at int64) int { return cmp.Compare(r.at, at) })
		return i
	}
	from, to := find(span.From), find(span.To)
	return t.runs[from:max(from, to)]
}

// First returns when the series was first measured, by what is still kept.
func (t *Track) First() (at time.Time, ok bool) {
	if len(t.days) > 0 {
		at, ok = t.days[0].Start, true
	}
	if len(t.runs) > 0 && (!ok || t.runs[0].time().Before(at)) {
		at, ok = t.runs[0].time(), true
	}
	return at, ok
}

// Last returns when the newest run started.
func (t *Track) Last() (at time.Time, ok bool) {
	if len(t.runs) == 0 {
		return time.Time{}, false
	}
	return t.runs[len(t.runs)-1].time(), true
}

// LastSuccess returns when the newest successful run started, by raw samples.
func (t *Track) LastSuccess() (at time.Time, ok bool) {
	for i := len(t.runs) - 1; i >= 0; i-- {
		if t.runs[i].ok() {
			return t.runs[i].time(), true
		}
	}
	return time.Time{}, false
}

// Freshness says how old the newest success is. Without one it is stale.
func (t *Track) Freshness(now time.Time) stats.Freshness {
	at, ok := t.LastSuccess()
	if !ok {
		return stats.Stale
	}
	return stats.FreshnessOf(now.Sub(at), t.Every)
}

// NewTracks makes all series of a dataset ready for statistics, in their order.
// The times at which our own connection was at fault are found over all of
// them: see [FindFaults].
func NewTracks(histories []History) []*Track {
	var attempts []Attempt
	for i := range histories {
		for j := range histories[i].Samples {
			s := &histories[i].Samples[j]
			attempts = append(attempts, Attempt{At: s.StartedAt, Vantage: s.Env.Vantage, Provider: s.Provider, Kind: s.Kind})
		}
	}
	faults := FindFaults(attempts)
	tracks, student := make([]*Track, len(histories)), new(stats.Student)
	for i := range histories {
		tracks[i] = newTrack(histories[i], faults, student)
	}
	return tracks
}
