package bench

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// A Catalog is what is remembered of a provider's list between runs.
type Catalog struct {
	ETag   string             `json:"etag,omitempty"`
	Models map[string]Offered `json:"models"` // by id
}

// An Offered is a model that a provider lists or listed.
type Offered struct {
	FirstSeen time.Time `json:"first_seen"`
	LastSeen  time.Time `json:"last_seen"`
	Retired   bool      `json:"retired,omitempty"`
	Price     *Price    `json:"price,omitempty"`
}

// A CatalogEvent is a model that came or went.
type CatalogEvent struct {
	At    time.Time   `json:"at"`
	Model string      `json:"model"`
	Kind  CatalogKind `json:"kind"`
}

// A CatalogKind says what happened to a model.
type CatalogKind string

// What can happen to a model.
const (
	ModelNew      CatalogKind = "new"
	ModelRetired  CatalogKind = "retired"
	ModelReturned CatalogKind = "returned"
)

// Listing returns the models that count as offered: those of the list last
// read, and those that it lost less than RetiredAfter ago.
func (c Catalog) Listing() Listing {
	return c.listing(func(m Offered) bool { return !m.Retired })
}

// LastRead returns the list that was last read, to ask again with. It lacks the
// models that only count as offered still: an answer that nothing has changed
// is no sight of them.
func (c Catalog) LastRead() Listing {
	var last time.Time
	for _, m := range c.Models {
		last = latest(m.LastSeen, last)
	}
	return c.listing(func(m Offered) bool { return m.LastSeen.Equal(last) })
}

// listing returns the models that want says, in the order of their ids.
func (c Catalog) listing(want func(Offered) bool) Listing {
	l := Listing{ETag: c.ETag}
	for _, id := range slices.Sorted(maps.Keys(c.Models)) {
		if m := c.Models[id]; want(m) {
			l.Models = append(l.Models, ListedModel{ID: id, Price: m.Price})
		}
	}
	return l
}

// Update returns the catalogue after a list was read at now, and what changed,
// in the order of ids. The first list of all makes no events. A model absent
// for RetiredAfter is retired, as of when it was last seen.
func (c Catalog) Update(l Listing, now time.Time) (Catalog, []CatalogEvent) {
	now = now.UTC()
	next := Catalog{ETag: l.ETag, Models: maps.Clone(c.Models)}
	if next.Models == nil {
		next.Models = map[string]Offered{}
	}
	var events []CatalogEvent
	first := len(c.Models) == 0
	for _, m := range l.Models {
		o, known := next.Models[m.ID]
		switch {
		case !known:
			o.FirstSeen = now
			if !first {
				events = append(events, CatalogEvent{now, m.ID, ModelNew})
			}
		case o.Retired:
			o.Retired = false
			events = append(events, CatalogEvent{now, m.ID, ModelReturned})
		}
		o.LastSeen = now
		o.Price = m.Price
		next.Models[m.ID] = o
	}
	for _, id := range slices.Sorted(maps.Keys(next.Models)) {
		o := next.Models[id]
		if o.LastSeen.After(now) { // by a clock that was wrong, before this list
			o.LastSeen = now.Add(-1)
			next.Models[id] = o
		}
		if !o.Retired && now.Sub(o.LastSeen) >= RetiredAfter {
			o.Retired = true
			next.Models[id] = o
			events = append(events, CatalogEvent{o.LastSeen, id, ModelRetired})
		}
	}
	slices.SortStableFunc(events, func(a, b CatalogEvent) int { return cmp.Compare(a.Model, b.Model) })
	return next, events
}

// Offering returns the provider with the models it offers: those of its file,
// then those that its list has and its globs let through, in the order of
// their ids and at most Discover.Limit of them. Prices and wire formats that
// the file does not tell come from the list, then from the facts.
func (p Provider) Offering(list []ListedModel, facts Facts) Provider {
	models := slices.Clone(p.Models)
	if p.Discover != nil {
		taken := 0
		for _, l := range list {
			if taken == p.Discover.Limit {
				break
			}
			listed := func(m Model) bool { return m.ID == l.ID || m.Name == l.ID }
			if !p.Discover.Matches(l.ID) || slices.ContainsFunc(p.Models, listed) {
				continue
			}
			models = append(models, Model{ID: l.ID, Name: l.ID, Discovered: true})
			taken++
		}
	}
	prices := map[string]*Price{}
	for _, l := range list {
		prices[l.ID] = l.Price
	}
	for i := range models {
		m := &models[i]
		fact := facts[p.Catalog][m.ID]
		if m.Price == nil {
			m.Price = prices[m.ID]
		}
		if m.Price == nil {
			m.Price = fact.Price
			m.Unsaid = p.Private // it would tell which model it is
		}
		if m.OpenWeights == nil && !p.Private {
			m.OpenWeights = fact.OpenWeights
		}
		if m.Title == "" && !p.Private {
			m.Title = fact.Title
		}
		m.CatalogProtocol = fact.Protocol
	}
	p.Models = models
	return p
}
