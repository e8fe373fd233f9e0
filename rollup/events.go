package rollup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// An EventKind is what sort of thing happened.
type EventKind string

// The kinds of event.
const (
	EventShift    EventKind = "shift"    // a lasting change of speed: a possible change, as about one in a few pair-years is chance
	EventIncident EventKind = "incident" // several models of one provider shifted together
	EventDrop     EventKind = "drop"     // availability fell below what 28 days before it allow
	EventNote     EventKind = "note"     // we, or the provider openly, changed something: no alarm
)

// An Event is something that happened to a series or a provider. Events are
// stored when found, once, and never rewritten: what was published stays. Their
// JSON is the stored form.
type Event struct {
	ID    string    `json:"id"` // made of what the event is; equal for equal events
	Kind  EventKind `json:"kind"`
	Found time.Time `json:"found"` // the UTC day whose data showed it
	Onset time.Time `json:"onset"` // the UTC day on which it began

	Provider string       `json:"provider"`
	Series   bench.Series `json:"series,omitzero"` // zero for an incident

	Shift *Shift `json:"shift,omitempty"` // of EventShift
	Drop  *Drop  `json:"drop,omitempty"`  // of EventDrop
	Note  *Note  `json:"note,omitempty"`  // of EventNote
	// Members are the IDs of the shifts that an incident joins, in order.
	Members []string `json:"members,omitempty"`
}

// A Shift is a lasting change of one metric of one series.
type Shift struct {
	Metric     Metric         `json:"metric"` // DecodeTPS or TTFT
	Before     float64        `json:"before"` // typical level, in the metric's unit
	After      float64        `json:"after"`
	Change     float64        `json:"change"`      // share of the level before: -0.15 is 15 % less
	Interval   stats.Interval `json:"interval"`    // of Change, 95 %
	P          float64        `json:"p"`           // of the test that found it
	DaysBefore int            `json:"days_before"` // days of the level before and after that it rests on
	DaysAfter  int            `json:"days_after"`

	// Split says where a change of the mean time to the last token came from: a
	// later start, longer answers, slower tokens. It is nil if either side has
	// no answers to split.
	Split *stats.Decomposition `json:"split,omitempty"`
}

// Worse reports whether the shift is one for the worse.
func (s *Shift) Worse() bool { return (s.Change > 0) != bool(s.Metric.Better()) }

// A Drop is a day whose availability is below that of the DropDays before it,
// beyond the doubt of both, by intervals for [DropZ]. It says that the day was
// bad, not that the provider has changed.
type Drop struct {
	Before Share `json:"before"`
	After  Share `json:"after"`
}

// A Note is a known change of the conditions that a series is measured under.
type Note struct {
	What NoteKind `json:"what"`
	From string   `json:"from"`
	To   string   `json:"to"`
}

// A NoteKind is what changed.
type NoteKind string

// The conditions whose change is noted.
const (
	NoteMethod   NoteKind = "method"
	NotePrompt   NoteKind = "prompt"
	NoteProtocol NoteKind = "protocol"
	NoteServed   NoteKind = "served_by" // the model that the provider says it served
	NoteRoute    NoteKind = "backend"   // who served it, where told
	NoteName     NoteKind = "name"      // what the pair is called
)

// Limits of the detector, beside those of [stats.Detector].
const (
	SparseRuns     = 12                 // with fewer runs a day, hours are no profile: see stats.MinSparseShift
	IncidentModels = 3                  // so many models of one provider shifting together are one incident
	IncidentSpan   = 2 * 24 * time.Hour // found within so much of each other
	DropDays       = 28                 // what a day's availability is held against,
	DropZ          = 2.575829303548901  // by intervals of 99 %: with 95 % chance alone makes four drops per series and year, with 99 % one at most
	DropQuiet      = 2 * 24 * time.Hour // no drop of a series is told again so soon
	Settled        = 0.8                // a condition has changed once it holds for this share of a day's runs
	MaxChanges     = 3                  // one that changes more often in the detector's window is the provider's weather
	FDRSeries      = 300                // with more series searched in a day, false discoveries are controlled
	FDRLevel       = 0.05               // of a day's shifts then, so many may be chance
)

// Detect looks at the whole UTC day that begins at day and the days before it,
// and returns the events that day shows and previous does not hold, in order.
// Previous are all events found so far. Run it once for each day, in order of
// time; running it again for a day adds nothing.
//
// Decode rate and TTFT of each series are searched for shifts in both
// directions, after any known change of conditions: that is a note, and what it
// did to the numbers is no alarm. Where more than [FDRSeries] are searched, a
// shift must also pass Benjamini and Hochberg's procedure over the day's
// searches. Shifts of several models of one provider in the same sense are
// joined by an incident beside them. Availability is counted, not searched: see
// [Drop].
func Detect(previous []Event, tracks []*Track, day time.Time) []Event {
	day = day.UTC().Truncate(Day)
	known := make(map[string]bool, len(previous))
	for _, e := range previous {
		known[e.ID] = true
	}
	var found []Event
	add := func(e Event) {
		if e.Found = day; !known[e.ID] {
			known[e.ID] = true
			found = append(found, e)
		}
	}
	var searches []search
	for _, t := range tracks {
		notes := t.notes(day)
		for _, e := range notes {
			add(e)
		}
		since := time.Time{}
		for _, e := range notes {
			if e.Onset.After(since) {
				since = e.Onset
			}
		}
		for _, m := range []Metric{DecodeTPS, TTFT} {
			if s, ok := t.search(m, since, day, lastAlarm(previous, t.Series, m)); ok {
				searches = append(searches, s)
			}
		}
		if e, ok := t.drop(day, previous); ok {
			add(e)
		}
	}
	for _, e := range discoveries(searches) {
		add(e)
	}
	for _, e := range incidents(previous, found, day) {
		add(e)
	}
	slices.SortStableFunc(found, func(a, b Event) int { return cmp.Or(a.Onset.Compare(b.Onset), strings.Compare(a.ID, b.ID)) })
	return found
}

// lastAlarm returns the day of the last shift found in a metric of a series.
func lastAlarm(previous []Event, series bench.Series, m Metric) *int64 {
	var last *int64
	for _, e := range previous {
		if e.Kind == EventShift && e.Series == series && e.Shift.Metric == m {
			if day := dayOf(e.Found.UnixNano()); last == nil || day > *last {
				last = &day
			}
		}
	}
	return last
}

// A search is one metric of one series looked at for one day.
type search struct {
	series bench.Series
	p      float64 // of finding such a shift by chance, at most; 1 without one
	found  *Event
}

// discoveries returns the shifts that a day's searches found and that may be
// told. Each search errs now and then, so of many searches some always do: with
// over [FDRSeries] series, only shifts that keep the share of chance ones among
// those told under [FDRLevel] pass. One that does not may pass on a later day,
// when more days speak for it.
func discoveries(searches []search) []Event {
	p := make([]float64, len(searches))
	series := make(map[bench.Series]bool)
	for i, s := range searches {
		p[i] = s.p
		series[s.series] = true
	}
	q, ok := stats.AdjustFDR(p)
	var told []Event
	for i, s := range searches {
		if s.found != nil && (len(series) <= FDRSeries || ok && q[i] <= FDRLevel) {
			told = append(told, *s.found)
		}
	}
	return told
}

// search runs the detector on the days since a known change up to and with day.
// It reports false if that day has nothing to look at.
func (t *Track) search(m Metric, since, day time.Time, last *int64) (search, bool) {
	none := search{series: t.Series, p: 1}
	span := Span{From: day.Add(Day).AddDate(0, 0, -detectorDays()), To: day.Add(Day)}
	if since.After(span.From) {
		span.From = since
	}
	runs := t.in(span)
	least := stats.MinRateShift
	if m == TTFT {
		least = stats.MinTTFTShift
	}
	sparse := t.Every > Day/SparseRuns
	if sparse {
		least = max(least, stats.MinSparseShift)
	}
	levels, ok := stats.DailyLevels(hourMedians(m, runs, sparse), !sparse)
	if !ok || len(levels) == 0 || levels[len(levels)-1].Day != dayOf(day.UnixNano()) {
		return none, false
	}
	detector := stats.NewDetector(least)
	s, ok := detector.Alarm(levels, last)
	if !ok {
		return none, true
	}
	onset := dayStart(levels[s.Index].Day)
	shift := &Shift{
		Metric: m, Before: s.Before, After: s.After, Change: s.Change, Interval: s.Interval, P: s.P,
		DaysBefore: s.Index - s.From, DaysAfter: s.To - s.Index,
	}
	from, to := dayStart(levels[s.From].Day), dayStart(levels[s.To-1].Day).Add(Day)
	before, okBefore := paceOf(t.in(Span{From: from, To: onset}))
	after, okAfter := paceOf(t.in(Span{From: onset, To: to}))
	if okBefore && okAfter {
		split := stats.Decompose(before, after)
		shift.Split = &split
	}
	// The shift's own p is that of a day given beforehand. This one was the
	// best of as many as could begin a new level, and Bonferroni's bound pays for
	// the choice, without which the procedure would let four times too many pass.
	cuts := min(len(levels), detector.Window) - 1
	return search{series: t.Series, p: min(1, float64(cuts)*s.P), found: &Event{
		ID:   eventID(EventShift, seriesKey(t.Series), string(m), onset),
		Kind: EventShift, Onset: onset, Provider: t.Series.Provider, Series: t.Series, Shift: shift,
	}}, true
}

// detectorDays returns how far back the detector reads.
func detectorDays() int { return stats.NewDetector(stats.MinRateShift).Window }

// drop compares the availability of a day with that of the days before it.
func (t *Track) drop(day time.Time, previous []Event) (Event, bool) {
	for _, e := range previous {
		if e.Kind == EventDrop && e.Series == t.Series && day.Sub(e.Found) <= DropQuiet {
			return Event{}, false
		}
	}
	before := t.reliability(t.in(Span{From: day.AddDate(0, 0, -DropDays), To: day}), nil).Availability
	after := t.reliability(t.in(Span{From: day, To: day.Add(Day)}), nil).Availability
	if !before.OK() || !after.OK() || !after.at(DropZ).Below(before.at(DropZ)) {
		return Event{}, false
	}
	return Event{
		ID:   eventID(EventDrop, seriesKey(t.Series), "availability", day),
		Kind: EventDrop, Onset: day, Provider: t.Series.Provider, Series: t.Series, Drop: &Drop{Before: before, After: after},
	}, true
}

// hourMedians returns the median of a metric in each hour, or if sparse the runs
// themselves.
func hourMedians(m Metric, runs []run, sparse bool) []stats.HourMedian {
	var hours []stats.HourMedian
	var values []float64
	for i := range runs {
		r := &runs[i]
		hour := r.at / int64(Hour)
		if v, ok := m.of(r); ok && r.counts() {
			values = append(values, v)
		}
		if sparse || i == len(runs)-1 || runs[i+1].at/int64(Hour) != hour {
			if median, ok := stats.Median(values); ok {
				hours = append(hours, stats.HourMedian{Hour: hour, Value: median})
			}
			values = values[:0]
		}
	}
	return hours
}

// incidents joins shifts of one provider, all for the worse or all for the
// better, that were found within IncidentSpan and are of IncidentModels models
// or more. A shift joins one incident only.
func incidents(previous, found []Event, day time.Time) []Event {
	joined := make(map[string]bool)
	for _, e := range previous {
		for _, id := range e.Members {
			joined[id] = true
		}
	}
	type group struct {
		provider string
		worse    bool
	}
	groups := make(map[group][]Event)
	for _, e := range slices.Concat(previous, found) {
		recent := e.Found.After(day.Add(-IncidentSpan)) && !e.Found.After(day)
		if e.Kind == EventShift && recent && !joined[e.ID] {
			g := group{e.Provider, e.Shift.Worse()}
			groups[g] = append(groups[g], e)
		}
	}
	var list []Event
	for g, shifts := range groups {
		models := make(map[string]bool)
		onset := shifts[0].Onset
		var members []string
		for _, e := range shifts {
			models[e.Series.Model] = true
			members = append(members, e.ID)
			onset = minTime(onset, e.Onset)
		}
		if len(models) < IncidentModels {
			continue
		}
		slices.Sort(members)
		list = append(list, Event{
			ID:   eventID(EventIncident, g.provider, members[0], onset),
			Kind: EventIncident, Onset: onset, Provider: g.provider, Members: members,
		})
	}
	slices.SortFunc(list, func(a, b Event) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// eventID names an event by what it is, so that finding it again adds nothing.
func eventID(kind EventKind, subject, what string, onset time.Time) string {
	return fmt.Sprintf("%s %s %s %s", kind, onset.Format(time.DateOnly), strings.ReplaceAll(subject, "\x00", " "), what)
}
