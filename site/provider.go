package site

import (
	"net/url"
	"slices"
	"strings"

	"github.com/streamgauge/streamgauge/rollup"
)

// A ProvidersPage lists the providers.
type ProvidersPage struct {
	Page
	Providers []ProviderItem
}

// A ProviderItem is a provider in the list.
type ProviderItem struct {
	Link
	Note     string
	Models   string // "3 models"
	Measured string // "every 10 min", "no longer measured", "not measured yet"
	Availability,
	Runs Number
	Private bool
}

// A ProviderPage is one provider with its endpoints.
type ProviderPage struct {
	Page
	Name     string
	Heading  string
	Note     string
	Homepage string // empty, or an http(s) address
	Private  bool
	Rows     []EndpointRow
	Missing  []string // models that are configured and have no sample yet
	Events   []EventItem
	JSON     string
}

// An EndpointRow is an endpoint in a plain table.
type EndpointRow struct {
	Link
	Under         string // what stands below the name
	Rank          string
	Speed, Wait   Cell
	Success, Open Number
	Price         Number
	Runs, Age     Number
}

// listWindow is the window of every table that has no choice of one.
const listWindow = rollup.Window7d

func (e *edition) providerFiles() ([]file, error) {
	files := []file{e.html("provider/index.html", "providers", func() (any, error) { return e.providersPage(), nil })}
	for _, p := range e.providers {
		files = append(files, e.html(p.path+"index.html", "provider", func() (any, error) { return e.providerPage(p), nil }))
	}
	return files, nil
}

func (e *edition) providersPage() ProvidersPage {
	page := ProvidersPage{Page: e.page("provider/", "provider/", "Providers", "Every provider that is measured, with its models and how often they are asked.")}
	for _, p := range e.providers {
		item := ProviderItem{Link: Link{p.name, page.Root + p.path}, Models: plural(max(len(p.Models), len(p.endpoints)), "model"), Private: p.Private}
		if p.Note != "" {
			item.Note = display(p.Note)
		}
		item.Measured = "not measured yet"
		runs := 0
		for _, q := range p.endpoints {
			runs += q.summary[listWindow].Runs
		}
		if len(p.endpoints) > 0 {
			item.Measured = cadences(p)
		}
		item.Runs = number(count(runs), float64(runs))
		page.Providers = append(page.Providers, item)
	}
	return page
}

// cadences says how often a provider's models are measured.
func cadences(p *provider) string {
	var list []string
	for _, m := range p.Models {
		if m.Every > 0 && !m.Retired {
			if text := "every " + span(m.Every); !slices.Contains(list, text) {
				list = append(list, text)
			}
		}
	}
	if len(list) == 0 {
		return "no longer measured"
	}
	return strings.Join(list, ", ")
}

func (e *edition) providerPage(p *provider) ProviderPage {
	page := ProviderPage{Name: p.name, Private: p.Private, Homepage: webAddress(p.Homepage)}
	if p.Note != "" {
		page.Note = display(p.Note)
	}
	page.Heading = p.name + ": " + plural(len(p.endpoints), "endpoint") + " measured."
	if len(p.endpoints) == 0 {
		page.Heading = p.name + " has not been measured yet."
	}
	page.Page = e.page(p.path, "provider/", p.name, page.Heading)
	page.JSON = page.Root + "api/v1/providers.json"
	page.Rows = e.endpointRows(page.Page, p.endpoints, func(q *endpoint) string { return q.name })
	for i := range p.Models {
		m := &p.Models[i]
		if !slices.ContainsFunc(p.endpoints, func(q *endpoint) bool { return q.series.Model == m.Name }) {
			page.Missing = append(page.Missing, display(m.label()))
		}
	}
	for i := range e.events {
		ev := &e.events[i]
		if ev.Provider == p.Name && len(page.Events) < 20 {
			page.Events = append(page.Events, e.eventItem(ev, page.Root))
		}
	}
	return page
}

// label is the name of a model for people, not yet made harmless.
func (m *Model) label() string {
	if m.Title != "" {
		return m.Title
	}
	return m.Name
}

// endpointRows lists endpoints in the order of the board, on axes they share.
func (e *edition) endpointRows(p Page, list []*endpoint, name func(*endpoint) string) []EndpointRow {
	b := e.boards[listWindow][rollup.DecodeTPS]
	list = slices.Clone(list)
	slices.SortFunc(list, func(x, y *endpoint) int { return b.row[x.series] - b.row[y.series] })
	speeds, waits := make([]level, len(list)), make([]level, len(list))
	for i, q := range list {
		speeds[i], waits[i] = e.level(q, listWindow, rollup.DecodeTPS), e.level(q, listWindow, rollup.TTFT)
	}
	speedAxis, waitAxis := axisOf(rollup.DecodeTPS, speedWidth, speeds), axisOf(rollup.TTFT, waitWidth, waits)
	var rows []EndpointRow
	for i, q := range list {
		r := e.rowOf(q, listWindow, rollup.DecodeTPS)
		row := EndpointRow{
			Link:  Link{name(q), p.Root + q.path},
			Speed: cellOf(rollup.DecodeTPS, speeds[i], speedAxis), Wait: cellOf(rollup.TTFT, waits[i], waitAxis),
			Success: shareNumber(r.Summary.Reliability.SuccessRate),
			Price:   priceNumber(q.model.PriceOut),
			Runs:    number(count(r.Summary.Runs), float64(r.Summary.Runs)),
			Age:     missing(rollup.NoRuns),
		}
		if r.Ranked {
			row.Rank = rankRange(r)
		} else {
			row.Under = because(r.Why)
		}
		if last := r.Summary.LastSuccess; !last.IsZero() {
			row.Age = number(age(e.now.Sub(last)), 0)
		}
		rows = append(rows, row)
	}
	return rows
}

// webAddress returns an address if it is one of the web, else "".
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
