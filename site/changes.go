package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamgauge/streamgauge/rollup"
)

// feedPath is where the feed of changes is.
const feedPath = "changes/feed.atom"

// A ChangesPage lists what changed, newest first.
type ChangesPage struct {
	Page
	Incidents []IncidentItem // the newest
	Events    []EventItem
	More      string // how many older events are not shown, empty if none
	Facts     Facts
}

// An EventItem is one event in a list.
type EventItem struct {
	ID       string // unique on a page
	Found    string // day, for people
	FoundISO string
	Onset    string
	Subject  Link   // the endpoint or provider
	Head     string // "14 % slower (11–17 %)"
	Text     string // evidence
	Worse    bool
	Note     bool // a known change, no alarm
}

// maxEvents is how many events the page of changes shows.
const maxEvents = 200

func (e *edition) changeFiles() ([]file, error) {
	return []file{e.html("changes/index.html", "changes", func() (any, error) {
		p := ChangesPage{Facts: e.facts}
		p.Page = e.page("changes/", "changes/", "Changes", "Lasting changes of speed, drops of availability and changes of method, with date, size and evidence.")
		for _, in := range e.newsworthy() {
			p.Incidents = append(p.Incidents, e.incidentItem(in, p.Root))
		}
		for i := range e.events[:min(len(e.events), maxEvents)] {
			p.Events = append(p.Events, e.eventItem(&e.events[i], p.Root))
		}
		if n := len(e.events) - maxEvents; n > 0 {
			p.More = plural(n, "older event")
		}
		return p, nil
	})}, nil
}

// eventItem puts an event in words.
func (e *edition) eventItem(ev *rollup.Event, root string) EventItem {
	item := EventItem{
		ID: "e-" + slug(ev.ID), Found: ev.Found.Format("2 Jan 2006"), FoundISO: ev.Found.Format("2006-01-02"), Onset: day(ev.Onset),
		Subject: e.subject(ev, root),
	}
	switch {
	case ev.Shift != nil:
		s := ev.Shift
		item.Worse = s.Worse()
		item.Head = faceName(s.Metric) + " " + shiftWords(s)
		item.Text = fmt.Sprintf("Since %s: %s, before %s. It rests on %s before and %s after; p = %s.",
			day(ev.Onset), full(s.Metric, s.After), full(s.Metric, s.Before), plural(s.DaysBefore, "day"), plural(s.DaysAfter, "day"), significant(s.P, 2))
		if s.P < 1e-6 {
			item.Text = strings.Replace(item.Text, "p = "+significant(s.P, 2), "p < 0.000001", 1)
		}
		if s.Split != nil {
			item.Text += " " + splitChange("", "", *s.Split).Text
		}
	case ev.Drop != nil:
		item.Worse = true
		item.Head = fmt.Sprintf("availability fell to %s %%", percent(ev.Drop.After.Value))
		item.Text = fmt.Sprintf("On %s it was %s–%s %% (95 %% interval), over the %d days before %s–%s %%.", day(ev.Onset),
			percent(ev.Drop.After.Interval.Lo), percent(ev.Drop.After.Interval.Hi), rollup.DropDays,
			percent(ev.Drop.Before.Interval.Lo), percent(ev.Drop.Before.Interval.Hi))
	case ev.Note != nil:
		item.Note = true
		item.Head = noteShort(ev.Note)
		item.Text = "From " + day(ev.Onset) + " on " + noteWords(ev.Note) + ". A known change is a note, not an alarm."
	default:
		item.Worse = slices.ContainsFunc(e.events, func(m rollup.Event) bool {
			return m.Shift != nil && m.Shift.Worse() && slices.Contains(ev.Members, m.ID)
		})
		item.Head = fmt.Sprintf("%s shifted together", plural(len(ev.Members), "model"))
		item.Text = "Found within " + span(rollup.IncidentSpan) + " of each other, beginning " + day(ev.Onset) + "."
	}
	return item
}

// subject links to what an event is about.
func (e *edition) subject(ev *rollup.Event, root string) Link {
	if p := e.bySeries[ev.Series]; p != nil {
		return Link{p.title(), root + p.path}
	}
	for _, p := range e.providers {
		if p.Name == ev.Provider {
			return Link{p.name, root + p.path}
		}
	}
	return Link{display(ev.Provider), ""}
}
