package site

import (
	"html/template"

	"github.com/streamgauge/streamgauge/templates"
)

// metaMarkup writes what the head of a page says of it: what it is about, to
// readers and to sites that it is shared on (https://ogp.me), its other forms,
// and what it loads.
func metaMarkup(p Page) template.HTML {
	var m templates.Markup
	m.Grow(3000)
	m.Raw(`<meta name="description" content="`).Text(p.Description).Raw("\">\n")
	if p.NoIndex {
		m.Raw(`<meta name="robots" content="noindex">`)
	}
	m.Raw("\n")
	if p.Canonical != "" {
		m.Raw(`<link rel="canonical" href="`).URL(p.Canonical).Raw(`">`)
		addShared(&m, &p)
	}
	m.Raw("\n")
	for _, a := range p.Alternates {
		m.Raw(`<link rel="alternate" type="`).Text(a.Type).Raw(`" title="`).Text(a.Title).Raw(`" href="`).URL(a.Href).Raw("\">\n")
	}
	if p.Feed != "" {
		m.Raw(`<link rel="alternate" type="application/atom+xml" title="Changes" href="`).URL(p.Feed).Raw(`">`)
	}
	m.Raw("\n" + `<link rel="stylesheet" href="`).URL(p.Style).Raw("\">\n")
	for _, sheet := range p.Styles {
		m.Raw(`<link rel="stylesheet" href="`).URL(sheet).Raw("\">\n")
	}
	m.Raw(`<link rel="icon" type="image/svg+xml" href="`).URL(p.Icon).Raw("\">\n")
	for _, s := range p.Scripts {
		m.Raw(`<script src="`).URL(s.Src).Raw(`" defer`).Attr(` data-echarts="`, s.ECharts).Raw("></script>\n")
	}
	return m.Done()
}

// addShared writes what other sites show where a page is shared.
func addShared(m *templates.Markup, p *Page) {
	m.Raw(`<meta property="og:type" content="website"><meta property="og:url" content="`).Text(p.Canonical)
	m.Raw(`"><meta property="og:title" content="`).Text(p.Title)
	m.Raw(`"><meta property="og:description" content="`).Text(p.Description)
	m.Raw(`"><meta property="og:site_name" content="`).Text(p.Site.Name).Raw(`">`)
	if p.Picture != "" {
		m.Raw(`<meta property="og:image" content="`).Text(p.Picture)
		m.Raw(`"><meta property="og:image:width" content="1200"><meta property="og:image:height" content="630"><meta property="og:image:alt" content="`)
		m.Text(p.PictureAlt).Raw(`"><meta name="twitter:card" content="summary_large_image">`)
	}
}
