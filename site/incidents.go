package site

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gorilla/feeds"

	"github.com/streamgauge/streamgauge/rollup"
)

// maxIncidents is how many incidents the page of changes shows, if no more are
// open.
const maxIncidents = 15

// An IncidentItem is one incident in a list.
type IncidentItem struct {
	ID       string // unique on a page
	Began    string // for people
	BeganISO string
	Subject  Link
	Head     string // "is down"
	Text     string // evidence
	Badge    string // "open", "over", "maintenance"
	Open     bool   // and nobody expected it
}

// incidents returns the incidents of availability, newest first; those of speed
// are among the events. A nil choice takes all.
func (e *edition) incidents(choose func(*rollup.Incident) bool) []*rollup.Incident {
	var list []*rollup.Incident
	for i := range e.in.Incidents {
		if in := &e.in.Incidents[i]; in.Kind != rollup.IncidentSpeed && (choose == nil || choose(in)) {
			list = append(list, in)
		}
	}
	slices.SortStableFunc(list, func(a, b *rollup.Incident) int {
		return cmp.Or(b.Opened.Compare(a.Opened), strings.Compare(a.ID, b.ID))
	})
	return list
}

// newsworthy returns the incidents that the page of changes shows: those that are
// open, and the newest of the others.
func (e *edition) newsworthy() []*rollup.Incident {
	list := e.incidents(nil)
	slices.SortStableFunc(list, func(a, b *rollup.Incident) int {
		rank := map[bool]int{false: 1}
		return cmp.Compare(rank[a.Open()], rank[b.Open()])
	})
	open := 0
	for open < len(list) && list[open].Open() {
		open++
	}
	return list[:min(len(list), max(open, maxIncidents))]
}

// concerns reports whether an incident is of an endpoint, alone or among others.
func concerns(in *rollup.Incident, p *endpoint) bool {
	return in.Series == p.series || slices.ContainsFunc(in.Parts, func(part rollup.Incident) bool { return part.Series == p.series })
}

// incidentItem puts an incident in words.
func (e *edition) incidentItem(in *rollup.Incident, root string) IncidentItem {
	item := IncidentItem{
		ID: "i-" + in.ID, Began: instant(in.Began), BeganISO: iso(in.Began), Subject: e.subject(&rollup.Event{Provider: in.Provider, Series: in.Series}, root),
		Badge: "over", Head: "was " + string(in.Kind),
	}
	switch {
	case !in.Alarm():
		item.Badge = "maintenance"
	case in.Open():
		item.Badge, item.Open = "open", true
	}
	if in.Open() {
		item.Head = "is " + string(in.Kind)
	}
	item.Text = fmt.Sprintf("%s of %s failed%s from %s on", count(in.Tally.Failed), plural(in.Tally.Runs, "run"), failureKinds(in.Tally), instant(in.Began))
	if !in.Ended.IsZero() {
		item.Text += "; a run succeeded again at " + instant(in.Ended)
	}
	item.Text += "."
	if names := partNames(in); names != "" {
		item.Text += " Concerned: " + names + "."
	}
	switch {
	case in.Why == rollup.CloseUnseen:
		item.Text += " Nothing has been heard of it since, so that its end is not known."
	case in.Why == rollup.CloseMaintenance:
		item.Text += " It lasted beyond the window of maintenance, and what went on is listed anew."
	case !in.Alarm():
		item.Text += " It fell into a window of maintenance, " + in.Maintenance + "."
	}
	return item
}

// failureKinds says how many runs failed how: " (server 5, timeout 1)".
func failureKinds(t rollup.Tally) string {
	var parts []string
	for _, kind := range slices.SortedFunc(maps.Keys(t.Kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(t.Kinds[b], t.Kinds[a]), strings.Compare(a, b))
	}) {
		parts = append(parts, kind+" "+count(t.Kinds[kind]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// partNames names the models that a provider's incident concerns.
func partNames(in *rollup.Incident) string {
	const most = 12
	var names []string
	for i := range in.Parts {
		if name := display(in.Parts[i].Series.Model); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if n := len(names); n > most {
		names = append(names[:most], fmt.Sprintf("and %d more", n-most))
	}
	return strings.Join(names, ", ")
}

// incidentEntry is an incident as an entry of a feed. What it is called never
// changes; an update says that it got worse or is over.
func (e *edition) incidentEntry(in *rollup.Incident) *feeds.Item {
	item := e.incidentItem(in, e.base.String())
	updated := later(later(in.Opened, in.Worsened), in.Closed)
	for i := range in.Parts {
		updated = later(later(updated, in.Parts[i].Opened), in.Parts[i].Closed)
	}
	page := e.base.String() + "changes/#" + item.ID
	title := item.Subject.Text + " " + item.Head
	if !in.Alarm() {
		title += ", in maintenance"
	} else if !in.Open() {
		title += " (over)"
	}
	return &feeds.Item{
		Id: page, Title: title, Link: &feeds.Link{Href: page}, Description: item.Text,
		Created: in.Opened.UTC(), Updated: updated.UTC(),
	}
}
