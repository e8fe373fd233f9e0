package rollup

import (
	"cmp"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// A glimpse is a run as a [watcher] sees it: it told of the provider.
type glimpse struct {
	at      time.Time
	bad     bool
	kind    wire.ErrorKind
	planned bool // in a maintenance window
}

// testimony gathers what runs of all series say of our own connection: when
// providers answered us, by vantage point, and when it was at fault.
func testimony(histories []History, now time.Time) (map[string][]answered, Faults) {
	witnesses := make(map[string][]answered)
	var attempts []Attempt
	for i := range histories {
		for j := range histories[i].Samples {
			s := &histories[i].Samples[j]
			if s.StartedAt.After(now) {
				continue
			}
			attempts = append(attempts, Attempt{At: s.StartedAt, Vantage: s.Env.Vantage, Provider: s.Provider, Kind: s.Kind})
			if s.Kind == wire.KindNone || s.HTTPStatus != 0 {
				witnesses[s.Env.Vantage] = append(witnesses[s.Env.Vantage], answered{s.StartedAt, s.Provider})
			}
		}
	}
	for _, of := range witnesses {
		slices.SortFunc(of, func(a, b answered) int { return a.at.Compare(b.at) })
	}
	return witnesses, FindFaults(attempts)
}

// An answered is a run in which a provider said anything at all.
type answered struct {
	at       time.Time
	provider string
}

// cleared reports whether another provider answered within WitnessWithin.
func cleared(witnesses []answered, provider string, at time.Time) bool {
	from, _ := slices.BinarySearchFunc(witnesses, at.Add(-WitnessWithin), func(w answered, t time.Time) int { return w.at.Compare(t) })
	for _, w := range witnesses[from:] {
		if w.at.After(at.Add(WitnessWithin)) {
			break
		}
		if w.provider != provider {
			return true
		}
	}
	return false
}

// runsToWatch returns the runs of a series that tell of the provider, in order
// of time, up to the first that cannot be judged yet.
func runsToWatch(h *History, policy *Policy, witnesses map[string][]answered, faults Faults, now time.Time) []glimpse {
	samples := make([]*bench.Sample, 0, len(h.Samples))
	for i := range h.Samples {
		if s := &h.Samples[i]; s.Series() == h.Series && !s.StartedAt.After(now) {
			samples = append(samples, s)
		}
	}
	slices.SortFunc(samples, func(a, b *bench.Sample) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail))
	})
	var runs []glimpse
	for _, s := range samples {
		tells, bad := testifies(s, policy)
		if bad && blamable(s.Kind) {
			if now.Sub(s.StartedAt) < FaultSpan {
				break
			}
			tells = !faults.Blame(s.Env.Vantage, s.StartedAt, s.Kind) &&
				(!perhapsOurs(s) || cleared(witnesses[s.Env.Vantage], s.Provider, s.StartedAt))
		}
		if tells {
			window, _ := policy.maintenance(s.Pair, s.StartedAt)
			runs = append(runs, glimpse{s.StartedAt.UTC(), bad, s.Kind, window != nil})
		}
	}
	return runs
}

// testifies reports whether a run by itself tells of the provider, and whether
// it tells of a failure.
func testifies(s *bench.Sample, policy *Policy) (tells, bad bool) {
	switch s.Kind {
	case wire.KindNone:
		return true, false
	case wire.KindAuth, wire.KindQuota:
		return false, false
	case wire.KindRateLimit:
		return policy.Throttling && !s.Noise.Noisy, true
	}
	switch s.Detail {
	case wire.DetailBlocked, wire.DetailBadRequest, wire.DetailStreamOptions, wire.DetailTooLarge, // what we sent, or where from
		bench.DetailUnsendable, bench.DetailProxy, bench.DetailAborted, // did not get as far
		wire.DetailRefusal, wire.DetailContentFilter, wire.DetailToolCall, wire.DetailNoVisibleOutput: // it answered
		return false, false
	}
	return !s.Noise.Noisy, true
}

// perhapsOurs reports whether our own network could have made a run fail so: it
// got no word from the other side.
func perhapsOurs(s *bench.Sample) bool {
	switch s.Detail {
	case bench.DetailDNS, bench.DetailUnreachable, bench.DetailConnection, bench.DetailDialTimeout:
		return true
	}
	return false
}

// A watcher follows one series, run by run.
type watcher struct {
	policy *Policy
	series bench.Series
	every  time.Duration
	proven time.Time   // of the first success that the record knows; zero if there is none
	drops  []time.Time // when a drop of availability was known, ascending

	recent []glimpse // telling runs since the last incident, at most MaxQuorum
	told   []time.Time
	open   *Incident
	worst  IncidentKind // of open
	until  time.Time    // of the maintenance that keeps open from being an alarm
	good   int          // runs of open that succeeded before the present streak
	streak int          // runs that succeeded since the last failed one
	back   time.Time    // the first of them

	found []Incident
}

func newWatcher(h *History, policy *Policy) *watcher {
	w := &watcher{policy: policy, series: h.Series, every: h.Every}
	for _, b := range h.Days {
		if b.OK > 0 && (w.proven.IsZero() || b.Start.Before(w.proven)) {
			w.proven = b.Start
		}
	}
	return w
}

// dropsOf returns when each drop of a series' availability was known: at the end
// of the day that showed it.
func dropsOf(events []Event, s bench.Series) []time.Time {
	var drops []time.Time
	for _, e := range events {
		if e.Kind == EventDrop && e.Series == s {
			drops = append(drops, e.Found.UTC().Add(Day))
		}
	}
	slices.SortFunc(drops, time.Time.Compare)
	return drops
}

// follow looks at all runs of the series.
func (w *watcher) follow(runs []glimpse, now time.Time) {
	for i := range runs {
		r := &runs[i]
		w.pass(r.at)
		w.told = append(w.told, r.at)
		if n := len(w.recent); n > 0 && r.at.Sub(w.recent[n-1].at) > max(ForgetAfter, UnseenRuns*w.every) {
			w.recent = nil
		}
		w.recent = append(w.recent, *r)
		w.recent = w.recent[max(0, len(w.recent)-MaxQuorum):]
		w.count(r)
		if r.bad {
			w.failed(r)
			continue
		}
		if w.proven.IsZero() || r.at.Before(w.proven) {
			w.proven, w.recent = r.at, w.recent[len(w.recent)-1:] // what failed before was being set up
		}
		w.succeeded(r)
	}
	w.pass(now)
	if w.open != nil {
		w.found = append(w.found, *w.open)
	}
}

// pass lets time go by up to t: what ends without a run ends here.
func (w *watcher) pass(t time.Time) {
	for len(w.drops) > 0 && !w.drops[0].After(t) {
		at := w.drops[0]
		w.drops = w.drops[1:]
		if least := w.policy.Degraded.Close; w.open == nil && w.unplanned(least.M) > least.M-least.N {
			w.begin(IncidentDegraded, least.M, at)
		}
	}
	if w.open == nil {
		return
	}
	if !w.until.IsZero() && !t.Before(w.until) {
		w.end(CloseMaintenance, w.until)
		return
	}
	last := w.told[len(w.told)-1]
	if limit := max(UnseenAfter, UnseenRuns*w.every); t.Sub(last) > limit {
		w.end(CloseUnseen, last.Add(limit))
	}
}

// count adds a run to what is known of the open incident.
func (w *watcher) count(r *glimpse) {
	if w.open != nil {
		w.open.Tally.add(r)
	}
	switch {
	case r.bad:
		w.good, w.streak = w.good+w.streak, 0
	case w.streak == 0:
		w.streak, w.back = 1, r.at
	default:
		w.streak++
	}
}

func (t *Tally) add(r *glimpse) {
	t.Runs++
	if r.bad {
		if t.Kinds == nil {
			t.Kinds = make(map[string]int)
		}
		t.Failed++
		t.Kinds[r.kind.String()]++
	}
}

// failed decides after a failed run.
func (w *watcher) failed(r *glimpse) {
	down, degraded := w.policy.Down.Open, w.policy.Degraded.Open
	switch {
	case w.proven.IsZero() || w.proven.After(r.at):
	case w.open == nil && w.failing(down, r):
		w.begin(IncidentDown, down.M, r.at)
	case w.open != nil && w.failing(down, r):
		if w.worst != IncidentDown {
			w.open.Worsened = r.at
		}
		w.open.Kind, w.worst = IncidentDown, IncidentDown
	case w.open == nil && w.failing(degraded, r):
		w.begin(IncidentDegraded, degraded.M, r.at)
	}
}

// succeeded decides after a run that succeeded.
func (w *watcher) succeeded(r *glimpse) {
	switch {
	case w.open == nil:
	case w.open.Kind == IncidentDegraded && w.well(w.policy.Degraded.Close):
		w.open.Ended = w.back
		w.end(CloseRecovered, r.at)
	case w.open.Kind == IncidentDown && w.well(w.policy.Down.Close):
		if t := &w.open.Tally; float64(w.good) >= Intermittent*float64(w.good+t.Failed) {
			// It came back before, and went again.
			w.open.Kind = IncidentDegraded
			return
		}
		w.open.Ended = w.back
		w.end(CloseRecovered, r.at)
	}
}

// well reports whether enough of the last runs succeeded.
func (w *watcher) well(q Quorum) bool {
	n := 0
	for _, r := range w.last(q.M) {
		if !r.bad {
			n++
		}
	}
	return n >= q.N
}

// failing reports whether enough of the last runs failed. What failed in a
// maintenance window is evidence only within one.
func (w *watcher) failing(q Quorum, newest *glimpse) bool {
	if !newest.planned {
		return w.unplanned(q.M) >= q.N
	}
	n := 0
	for _, r := range w.last(q.M) {
		if r.bad {
			n++
		}
	}
	return n >= q.N
}

// unplanned counts the last m runs that failed outside of maintenance windows.
func (w *watcher) unplanned(m int) int {
	n := 0
	for _, r := range w.last(m) {
		if r.bad && !r.planned {
			n++
		}
	}
	return n
}

func (w *watcher) last(m int) []glimpse { return w.recent[max(0, len(w.recent)-m):] }

// begin opens an incident over the last m runs.
func (w *watcher) begin(kind IncidentKind, m int, at time.Time) {
	window, until := w.policy.maintenance(w.series.Pair, at)
	runs := w.last(m)
	// There is one: enough of them to open an incident.
	runs = runs[slices.IndexFunc(runs, func(r glimpse) bool { return r.bad && (window != nil || !r.planned) }):]
	subject := availabilityOf(w.series)
	w.open = &Incident{
		ID: incidentID(subject, runs[0].at), Subject: subject, Kind: kind,
		Provider: w.series.Provider, Series: w.series, Began: runs[0].at, Opened: at,
	}
	if w.worst, w.until = kind, until; window != nil {
		w.open.Maintenance = window.String()
	}
	w.good, w.streak = 0, 0
	for i := range runs {
		w.count(&runs[i])
	}
}

// end closes the open incident. What led to it is no part of the next.
func (w *watcher) end(why CloseReason, at time.Time) {
	w.open.Why, w.open.Closed, w.open.Kind = why, at, w.worst
	w.found = append(w.found, *w.open)
	w.open, w.until, w.recent = nil, time.Time{}, nil
}

// measuredAt reports whether the series had told something shortly before t.
func (w *watcher) measuredAt(t time.Time) bool {
	i, _ := slices.BinarySearchFunc(w.told, t, func(a, b time.Time) int {
		if a.After(b) {
			return 1
		}
		return -1 // the first after t is looked for
	})
	return i > 0 && t.Sub(w.told[i-1]) <= max(WideMeasured, 2*w.every)
}
