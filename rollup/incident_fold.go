package rollup

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// foldProvider returns the incidents of one provider. From the moment at which
// so many of its models fail at once, they are one incident of the provider's,
// with all that are open then and all that open before the last of them closes.
func foldProvider(provider string, watches []*watcher) []Incident {
	var all, result []Incident
	for _, w := range watches {
		for _, i := range w.found {
			if i.Alarm() {
				all = append(all, i)
			} else {
				result = append(result, i)
			}
		}
	}
	slices.SortFunc(all, compareIncidents)
	var single []Incident // not joined, so far
	var wide *Incident
	for _, i := range all {
		if wide != nil && lasts(wide, i.Opened) {
			wide.join(i)
			continue
		}
		if wide != nil {
			result = append(result, *wide)
			wide = nil
		}
		single = append(single, i)
		if failing := modelsOf(single, i.Opened); failing < WideModels || failing < need(watches, i.Opened) {
			continue
		}
		subject := providerOutage(provider)
		wide = &Incident{Subject: subject, Provider: provider, Began: i.Began, Opened: i.Opened}
		single = slices.DeleteFunc(single, func(s Incident) bool {
			if !lasts(&s, i.Opened) {
				return false
			}
			wide.join(s)
			return true
		})
		wide.ID = incidentID(subject, wide.Opened)
	}
	if wide != nil {
		result = append(result, *wide)
	}
	return append(result, single...)
}

// lasts reports whether an incident is still open at t.
func lasts(i *Incident, t time.Time) bool { return i.Open() || i.Closed.After(t) }

// modelsOf counts the models that fail at t.
func modelsOf(incidents []Incident, t time.Time) int {
	models := make(map[string]bool)
	for i := range incidents {
		if lasts(&incidents[i], t) {
			models[incidents[i].Series.Model] = true
		}
	}
	return len(models)
}

// need returns how many models of those measured at t must fail to be the
// provider's incident.
func need(watches []*watcher, t time.Time) int {
	models := make(map[string]bool)
	for _, w := range watches {
		if w.measuredAt(t) {
			models[w.series.Model] = true
		}
	}
	return int(math.Ceil(WideShare * float64(len(models))))
}

// join adds an incident to a wider one and derives what that is from its parts.
func (i *Incident) join(part Incident) {
	i.Parts = append(i.Parts, part)
	slices.SortFunc(i.Parts, compareIncidents)
	i.Began = minTime(i.Began, part.Began)
	i.Kind, i.Tally, i.Why = "", Tally{}, ""
	i.Ended, i.Closed = time.Time{}, time.Time{}
	open := slices.ContainsFunc(i.Parts, func(p Incident) bool { return p.Open() })
	for k := range i.Parts {
		p := &i.Parts[k]
		i.Tally = i.Tally.plus(p.Tally)
		if open && !p.Open() {
			continue
		}
		if i.Kind != IncidentDown {
			i.Kind = p.Kind
		}
		if !open && !p.Closed.Before(i.Closed) {
			i.Ended, i.Closed, i.Why = p.Ended, p.Closed, p.Why
		}
	}
}

func (t Tally) plus(o Tally) Tally {
	sum := Tally{Runs: t.Runs + o.Runs, Failed: t.Failed + o.Failed}
	for _, kinds := range []map[string]int{t.Kinds, o.Kinds} {
		for kind, n := range kinds {
			if sum.Kinds == nil {
				sum.Kinds = make(map[string]int)
			}
			sum.Kinds[kind] += n
		}
	}
	return sum
}

// speedIncidents are the lasting changes of speed among events, those of several
// models of one provider joined as the events join them.
func speedIncidents(events []Event, policy *Policy, now time.Time) []Incident {
	if policy.Speed == SpeedOff {
		return nil
	}
	joined := make(map[string]*Incident) // by the shift's event
	var wide []*Incident
	for i := range events {
		if e := &events[i]; e.Kind == EventIncident && !knownAt(e).After(now) {
			subject := opaque("speed of all", e.Provider, strings.Join(e.Members, "\x00"))
			w := &Incident{
				ID: incidentID(subject, e.Onset), Subject: subject, Kind: IncidentSpeed,
				Provider: e.Provider, Began: e.Onset.UTC(), Opened: knownAt(e),
			}
			wide = append(wide, w)
			for _, id := range e.Members {
				joined[id] = w
			}
		}
	}
	var found []Incident
	for i := range events {
		e := &events[i]
		if e.Kind != EventShift || e.Shift == nil || knownAt(e).After(now) || policy.Speed == SpeedWorse && !e.Shift.Worse() {
			continue
		}
		one := speedIncident(e, events, policy, now)
		if w := joined[e.ID]; w != nil {
			w.join(one)
			w.Kind = IncidentSpeed
		} else {
			found = append(found, one)
		}
	}
	for _, w := range wide {
		if len(w.Parts) > 0 {
			found = append(found, *w)
		}
	}
	return found
}

// knownAt is when an event could be known: at the end of the day that showed it.
func knownAt(e *Event) time.Time { return e.Found.UTC().Add(Day) }

// speedIncident is a shift as an incident.
func speedIncident(e *Event, events []Event, policy *Policy, now time.Time) Incident {
	subject := speedOf(e.Series, e.Shift.Metric)
	i := Incident{
		ID: incidentID(subject, e.Onset), Subject: subject, Kind: IncidentSpeed,
		Provider: e.Provider, Series: e.Series, Began: e.Onset.UTC(), Opened: knownAt(e), Shift: e.Shift,
	}
	closed, why := i.Opened.AddDate(0, 0, policy.SpeedDays), CloseSettled
	if next := nextShift(e, events); next != nil && knownAt(next).Before(closed) {
		closed, why = knownAt(next), CloseRecovered
		if next.Shift.Worse() == e.Shift.Worse() {
			why = CloseSuperseded
		}
	}
	if !closed.After(now) {
		i.Closed, i.Why = closed, why
		if why == CloseRecovered {
			i.Ended = nextShift(e, events).Onset.UTC()
		}
	}
	return i
}

// nextShift returns the shift of the same metric of the same series that was
// found next; nil if there is none.
func nextShift(e *Event, events []Event) *Event {
	var next *Event
	for i := range events {
		n := &events[i]
		if n.Kind == EventShift && n.Shift != nil && n.Series == e.Series && n.Shift.Metric == e.Shift.Metric && n.Found.After(e.Found) &&
			(next == nil || cmp.Or(n.Found.Compare(next.Found), strings.Compare(n.ID, next.ID)) < 0) {
			next = n
		}
	}
	return next
}

// Title returns what it is about in a word: "provider/model", or the provider.
func (i *Incident) Title() string {
	if i.Series == (bench.Series{}) {
		return i.Provider
	}
	return i.Series.Pair.String()
}
