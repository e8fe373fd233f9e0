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
	Query   string // link to the query for Runs; may be empty
}

// A ProviderPage is one provider with its endpoints.
type ProviderPage struct {
	Page
	Name     string
	Heading  string
	Note     string
	Homepage string // empty, or an http(s) address
	Private  bool
	Table    BoardTable
	Missing  []string // models that are configured and have no sample yet
	Events   []EventItem
	JSON     string
	Query    string // link to the query behind the page; may be empty
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
		item.Query = queryLink(page.Root, e.providerRuns(listWindow, p.Name))
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
	page.JSON, page.Query = page.Root+"api/v1/providers.json", queryLink(page.Root, e.providerQuery(listWindow, p.Name))
	if e.base != nil {
		page.Alternates = append(page.Alternates, Alternate{"application/atom+xml", "What happens to " + p.name, e.base.String() + p.feedPath()})
	}
	page.Table = e.boardTable(page.Page, p.endpoints, listWindow, rollup.DecodeTPS)
	page.Table.Caption = "Endpoints of " + p.name + " over the last " + windowWords(listWindow) + "; ranks are among all endpoints"
	for i := range page.Table.Rows {
		page.Table.Rows[i].Provider = ""
	}
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

// webAddress returns an address if it is one of the web, else "".
func webAddress(s string) string {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	return u.String()
}
