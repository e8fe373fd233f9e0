package site

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gorilla/feeds"

	"github.com/streamgauge/streamgauge/rollup"
)

// maxFeed is how many entries a feed has.
const maxFeed = 50

// methodProse is the content file whose sections are the versions of the method.
const methodProse = "changelog"

// methodFeed is where the feed of the method is.
const methodFeed = "changelog/feed.atom"

func (p *endpoint) feedPath() string { return p.path + "feed.atom" }
func (p *provider) feedPath() string { return p.path + "feed.atom" }

// feedFiles are a feed of every provider, of every endpoint and of the method.
// Entries have absolute addresses for names, so that a site without a known one
// has no feeds.
func (e *edition) feedFiles() ([]file, error) {
	if e.base == nil {
		return nil, nil
	}
	files := []file{{methodFeed, e.methodFeed}}
	for _, p := range e.providers {
		files = append(files, file{p.feedPath(), func() ([]byte, error) {
			var events []rollup.Event
			for _, ev := range e.events {
				if ev.Provider == p.Name {
					events = append(events, ev)
				}
			}
			return e.eventFeed(p.name, p.path, p.feedPath(), events,
				e.incidents(func(in *rollup.Incident) bool { return in.Provider == p.Name }))
		}})
	}
	for _, p := range e.endpoints {
		files = append(files, file{p.feedPath(), func() ([]byte, error) {
			return e.eventFeed(p.title(), p.path, p.feedPath(), p.events,
				e.incidents(func(in *rollup.Incident) bool { return concerns(in, p) }))
		}})
	}
	return files, nil
}

// newFeed begins a feed of a page, both given by their paths.
func (e *edition) newFeed(title, page, path string) *feeds.Feed {
	feed := &feeds.Feed{
		Title: e.in.Config.Name + ": " + title, Id: e.base.String() + path,
		Link: &feeds.Link{Href: e.base.String() + page}, Updated: time.Unix(0, 0).UTC(),
		Author: &feeds.Author{Name: e.in.Config.Name},
	}
	if e.in.Simulated {
		feed.Subtitle = "Simulated data"
	}
	return feed
}

// eventFeed returns events and incidents, each newest first, as Atom, in the
// order of their last news. What an entry is called does not depend on the feed
// it stands in, so that a reader of two sees it once.
func (e *edition) eventFeed(title, page, path string, events []rollup.Event, incidents []*rollup.Incident) ([]byte, error) {
	feed := e.newFeed(title, page, path)
	for i := range events[:min(len(events), maxFeed)] {
		ev := &events[i]
		item := e.eventItem(ev, e.base.String())
		link := item.Subject.Href
		if link == "" {
			link = e.base.String() + "changes/"
		}
		found := ev.Found.UTC()
		feed.Items = append(feed.Items, &feeds.Item{
			Id: e.base.String() + "changes/#" + item.ID, Title: item.Subject.Text + ": " + item.Head,
			Link: &feeds.Link{Href: link}, Description: item.Text, Created: found, Updated: found,
		})
	}
	for _, in := range incidents {
		feed.Items = append(feed.Items, e.incidentEntry(in))
	}
	slices.SortStableFunc(feed.Items, func(a, b *feeds.Item) int { return b.Updated.Compare(a.Updated) })
	feed.Items = feed.Items[:min(len(feed.Items), maxFeed)]
	for _, item := range feed.Items {
		feed.Updated = later(feed.Updated, item.Updated)
	}
	return atomOf(feed, path)
}

// methodFeed returns the versions of the method as Atom, each dated by the first
// note that a series went over to it. A version that no note tells of is as old
// as the record.
func (e *edition) methodFeed() ([]byte, error) {
	names, err := proseNames(e.in.Content)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	prose, err := e.prose(methodProse, known)
	if err != nil {
		return nil, err
	}
	began := time.Unix(0, 0).UTC()
	for i, h := range e.in.Histories {
		if first := firstRun(h); i == 0 || first.Before(began) {
			began = first.UTC()
		}
	}
	page := prosePath(methodProse)
	feed := e.newFeed("the method", page, methodFeed)
	for _, section := range prose.Contents {
		if !strings.HasPrefix(section.Text, "Method ") {
			continue // what changed beside the method
		}
		at, noted := e.methodSince(section.Text)
		if !noted {
			at = began
		}
		feed.Updated = later(feed.Updated, at)
		feed.Items = append(feed.Items, &feeds.Item{
			Id: e.base.String() + page + "#" + section.ID, Title: section.Text,
			Link: &feeds.Link{Href: e.base.String() + page + "#" + section.ID}, Description: prose.Summary, Created: at, Updated: at,
		})
	}
	return atomOf(feed, methodFeed)
}

// methodSince returns when measuring by the method of a heading began: "Method 2"
// is noted as a change of the method to 2.
func (e *edition) methodSince(heading string) (at time.Time, ok bool) {
	for i := range e.events { // newest first: the last found is the oldest
		ev := &e.events[i]
		if n := ev.Note; n != nil && n.What == rollup.NoteMethod && "Method "+n.To == heading {
			at, ok = ev.Onset.UTC(), true
		}
	}
	return at, ok
}

func atomOf(feed *feeds.Feed, path string) ([]byte, error) {
	atom := (&feeds.Atom{Feed: feed}).AtomFeed()
	atom.Id = feed.Id // else the library calls it by the page, which has no entries
	data, err := feeds.ToXML(atom)
	if err != nil {
		return nil, fmt.Errorf("write the feed %s: %w", path, err)
	}
	return []byte(data), nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
