package site

import (
	"cmp"
	"context"
	"fmt"
	"html/template"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// An edition is one build's worth of derived numbers, which all pages share.
type edition struct {
	in        Inputs
	now       time.Time
	base      *url.URL // where the site will be; nil if unknown
	templates *template.Template
	assets    assets
	theme     palette
	logo      string // where the logo of a fork is published, empty if it has none
	facts     Facts

	drawer sync.Pool // of *bytes.Buffer: see scratch
	frames sync.Map  // frameKey → *Frame
	sides  sync.Map  // side → template.HTML

	endpoints []*endpoint // by provider, model, vantage, nonce
	bySeries  map[bench.Series]*endpoint
	providers []*provider                                     // by title
	boards    map[rollup.Window]map[rollup.Metric]*boardIndex // of every published window and board metric
	events    []rollup.Event                                  // newest first
}

// An endpoint is a series with what is published of it.
type endpoint struct {
	at       int // in edition.endpoints
	series   bench.Series
	track    *rollup.Track
	provider *provider
	model    *Model
	path     string // folder of its page, ending in a slash
	name     string // for people
	summary  map[rollup.Window]*rollup.Summary
	strip    []rollup.StripDay
	events   []rollup.Event // its own, newest first
}

// title names the endpoint in a sentence.
func (p *endpoint) title() string { return p.name + " on " + p.provider.name }

// A provider is a provider with its endpoints.
type provider struct {
	*Provider
	path      string
	name      string // for people
	endpoints []*endpoint
}

// A boardIndex is a board that can be asked for a series' row.
type boardIndex struct {
	rollup.Board
	row map[bench.Series]int
}

// stripDays is how many whole days the reliability strip shows, and today.
const stripDays = 30

func newEdition(ctx context.Context, in Inputs) (*edition, error) {
	in.Config = withDefaults(in.Config)
	e := &edition{in: in, now: in.Generated.UTC(), bySeries: map[bench.Series]*endpoint{}}
	if in.RawRetention <= 0 {
		return nil, fmt.Errorf("inputs: RawRetention is missing: pages say how long raw samples are kept")
	}
	if in.Config.BaseURL != "" {
		base, err := url.Parse(in.Config.BaseURL)
		if err != nil || base.Host == "" || base.Scheme != "https" && base.Scheme != "http" {
			return nil, fmt.Errorf("base URL %q: want http(s)://host/path/", in.Config.BaseURL)
		}
		base.Path = strings.TrimSuffix(base.Path, "/") + "/"
		base.RawQuery, base.Fragment = "", ""
		e.base = base
	}
	if !slices.Contains(rollup.BoardMetrics(), in.Config.RankBy) {
		return nil, fmt.Errorf("rank by %q: want one of %v", in.Config.RankBy, rollup.BoardMetrics())
	}
	var err error
	if e.templates, err = e.parseTemplates(in.Templates); err != nil {
		return nil, err
	}
	if e.assets, err = readAssets(in.Templates); err != nil {
		return nil, err
	}
	if err := e.newTheme(); err != nil {
		return nil, err
	}
	e.facts = newFacts(in)
	e.gather()
	if err := e.derive(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

func withDefaults(c Config) Config {
	c.Name = cmp.Or(c.Name, "Streamgauge")
	c.Repository = cmp.Or(c.Repository, "https://github.com/streamgauge/streamgauge")
	c.DataLicence = cmp.Or(c.DataLicence, "CC BY 4.0")
	c.RankBy = cmp.Or(c.RankBy, rollup.BoardMetrics()[0])
	c.StaleAfter = cmp.Or(c.StaleAfter, 6*time.Hour)
	return c
}

// gather makes endpoints and providers of the inputs, in a fixed order.
func (e *edition) gather() {
	histories := slices.Clone(e.in.Histories)
	slices.SortFunc(histories, func(a, b rollup.History) int { return compareSeries(a.Series, b.Series) })
	tracks := rollup.NewTracks(histories)

	byName := map[string]*provider{}
	for i := range e.in.Providers {
		p := &e.in.Providers[i]
		byName[p.Name] = &provider{Provider: p}
	}
	main := mainSeries(histories)
	for i, h := range histories {
		p := byName[h.Series.Provider]
		if p == nil { // its file is gone, its record is not
			p = &provider{Provider: &Provider{Name: h.Series.Provider}}
			byName[h.Series.Provider] = p
		}
		model := p.model(h.Series.Model)
		endpoint := &endpoint{
			at: i, series: h.Series, track: tracks[i], provider: p, model: model,
			path: pairPath(h.Series, main[h.Series.Pair] == h.Series),
			name: display(cmp.Or(model.Title, model.Name)),
		}
		if main[h.Series.Pair] != h.Series {
			endpoint.name += " (" + apart(h.Series) + ")"
		}
		e.endpoints = append(e.endpoints, endpoint)
		e.bySeries[h.Series] = endpoint
		p.endpoints = append(p.endpoints, endpoint)
	}
	for _, p := range byName {
		p.name = display(cmp.Or(p.Title, p.Name))
		p.path = "provider/" + slug(p.Name) + "/"
		e.providers = append(e.providers, p)
	}
	slices.SortFunc(e.providers, func(a, b *provider) int {
		return cmp.Or(strings.Compare(strings.ToLower(a.name), strings.ToLower(b.name)), strings.Compare(a.Name, b.Name))
	})
}

// model returns what is published of a model, or the little that is known of one
// which is no longer in the provider's file.
func (p *provider) model(name string) *Model {
	for i := range p.Models {
		if p.Models[i].Name == name {
			return &p.Models[i]
		}
	}
	return &Model{Name: name, Retired: true}
}

// mainSeries returns the series of each pair that was measured first. Rollups
// are kept for ever, so the answer does not change.
func mainSeries(histories []rollup.History) map[bench.Pair]bench.Series {
	main, began := map[bench.Pair]bench.Series{}, map[bench.Pair]time.Time{}
	for _, h := range histories {
		first := firstRun(h)
		if at, ok := began[h.Series.Pair]; !ok || first.Before(at) {
			main[h.Series.Pair], began[h.Series.Pair] = h.Series, first
		}
	}
	return main
}

func firstRun(h rollup.History) time.Time {
	first := time.Unix(1<<40, 0)
	for i := range h.Samples {
		if at := h.Samples[i].StartedAt; at.Before(first) {
			first = at
		}
	}
	for i := range h.Days {
		if at := h.Days[i].Start; at.Before(first) {
			first = at
		}
	}
	return first
}

// apart says what sets a series apart from its pair's main one.
func apart(s bench.Series) string {
	text := "from " + display(s.Vantage)
	if s.Nonce {
		text += ", with a nonce"
	}
	return text
}

func compareSeries(a, b bench.Series) int {
	return cmp.Or(
		strings.Compare(a.Provider, b.Provider), strings.Compare(a.Model, b.Model),
		strings.Compare(a.Vantage, b.Vantage), compareBool(a.Nonce, b.Nonce),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// derive computes summaries and boards of every window.
func (e *edition) derive(ctx context.Context) error {
	tracks := make([]*rollup.Track, len(e.endpoints))
	for i, p := range e.endpoints {
		tracks[i] = p.track
		p.summary = map[rollup.Window]*rollup.Summary{}
		p.strip = p.track.Strip(stripDays, e.now)
	}
	e.boards = map[rollup.Window]map[rollup.Metric]*boardIndex{}
	for _, w := range rollup.Windows() {
		entries := rollup.Entries(tracks, w, e.now)
		for i, p := range e.endpoints {
			p.summary[w] = &entries[i].Summary
		}
		e.boards[w] = map[rollup.Metric]*boardIndex{}
		for _, m := range rollup.BoardMetrics() {
			if err := ctx.Err(); err != nil {
				return err
			}
			b := &boardIndex{Board: rollup.NewBoard(entries, m), row: map[bench.Series]int{}}
			b.Window = w
			for i, r := range b.Rows {
				b.row[r.Series] = i
			}
			e.boards[w][m] = b
		}
	}
	e.events = slices.Clone(e.in.Events)
	slices.SortStableFunc(e.events, func(a, b rollup.Event) int {
		return cmp.Or(b.Found.Compare(a.Found), b.Onset.Compare(a.Onset), strings.Compare(a.ID, b.ID))
	})
	for _, ev := range e.events {
		if p := e.bySeries[ev.Series]; p != nil {
			p.events = append(p.events, ev)
		}
	}
	return nil
}

// rowOf returns a series' row on a board. Every series is on every board.
func (e *edition) rowOf(p *endpoint, w rollup.Window, m rollup.Metric) *rollup.Row {
	b := e.boards[w][m]
	return &b.Rows[b.row[p.series]]
}

// level returns what an endpoint says of a metric over a window.
func (e *edition) level(p *endpoint, w rollup.Window, m rollup.Metric) level {
	return levelOf(e.rowOf(p, w, m), w, e.boards[w][m].Confidence)
}

// sortedKeys returns the keys of a map in order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
