package site

import (
	"html/template"

	"github.com/streamgauge/streamgauge/templates"
)

// handwritten are the parts of pages that are written in Go, by name: those that
// a page has hundreds of. What they look like as templates, and that they are the
// same, is in markup_test.go.
func handwritten() template.FuncMap {
	return template.FuncMap{
		"tableof": tableMarkup, "scrolledof": scrolledMarkup, "numberof": numberMarkup, "factsof": factsMarkup,
		"metaof": metaMarkup, "choicesof": choicesMarkup, "figureof": figureMarkup, "linksof": linksMarkup, "originsof": originsMarkup, "rowsof": boardMarkup,
	}
}

// figureMarkup writes a chart: heading, drawing for each kind of screen, the
// numbers behind it. The empty paragraph keeps room for the buttons that the
// explorer adds.
func figureMarkup(f Figure) template.HTML {
	var m templates.Markup
	size := 512 + len(f.Wide) + len(f.Phone)
	if f.Table != nil {
		size += sizeOf(f.Table)
	}
	m.Grow(size)
	m.Raw(`<section class="fig" id="`).Text(f.ID).Raw(`"><h2>`).Text(f.Title).Raw(`</h2><p>`).Text(f.Text).Raw("</p>\n")
	if f.Explore != "" {
		m.Raw(`<div class="explore" data-explore="`).Text(f.Explore).Raw(`" data-format="`).Text(f.Format)
		m.Raw(`" data-name="`).Text(f.Label).Raw(`">`).HTML(f.Wide).HTML(f.Phone).Raw("</div><p class=\"tools\"></p>\n")
	} else {
		m.HTML(f.Wide).HTML(f.Phone).Raw("\n")
	}
	if t := f.Table; t != nil {
		m.Raw(`<details><summary>Table`)
		if t.CSV != "" {
			m.Raw(` and CSV`)
		}
		m.Raw(`</summary>`)
		addScrolled(&m, t)
		m.Raw("</details>\n")
	}
	return m.Raw("</section>\n").Done()
}

// tableMarkup writes a table of numbers with its caption.
func tableMarkup(t Table) template.HTML {
	var m templates.Markup
	m.Grow(sizeOf(&t))
	addTable(&m, &t)
	return m.Done()
}

// scrolledMarkup writes a table in a box that scrolls where the screen is narrow,
// and that the keyboard can reach.
func scrolledMarkup(t Table) template.HTML {
	var m templates.Markup
	m.Grow(sizeOf(&t))
	addScrolled(&m, &t)
	return m.Done()
}

func addScrolled(m *templates.Markup, t *Table) {
	m.Raw(`<div class="scroll" tabindex="0" role="group" aria-label="`).Text(t.Caption).Raw(`">`)
	addTable(m, t)
	m.Raw(`</div>`)
}

// sizeOf is about how many bytes a table takes.
func sizeOf(t *Table) int { return 512 + 40*len(t.Rows)*(len(t.Head)+1) }

func addTable(m *templates.Markup, t *Table) {
	m.Raw(`<table class="data"><caption>`).Text(t.Caption)
	if t.CSV != "" {
		m.Raw(`. <a href="`).URL(t.CSV).Raw(`">All of it as CSV</a>`)
	}
	if t.Query != "" {
		m.Raw(`. <a href="`).URL(t.Query).Raw(`">SQL</a>`)
	}
	m.Raw(`</caption><thead><tr>`)
	for _, h := range t.Head {
		m.Raw(`<th scope="col"`)
		if h.Numeric {
			m.Raw(` class="num"`)
		}
		m.Raw(`>`).Text(h.Text).Raw(`</th>`)
	}
	m.Raw("</tr></thead><tbody>\n")
	for r, row := range t.Rows {
		m.Raw(`<tr>`)
		for i, text := range row {
			if i == 0 {
				m.Raw(`<th scope="row">`).Text(text).Raw(`</th>`)
				continue
			}
			m.Raw(`<td`)
			if t.Head[i].Numeric {
				m.Raw(` class="num"`)
			}
			m.Raw(`>`)
			if door := t.Door(r, i); door != "" && text != "" {
				m.Raw(`<a href="`).URL(door).Raw(`">`).Text(text).Raw(`</a>`)
			} else {
				m.Text(text)
			}
			m.Raw(`</td>`)
		}
		m.Raw("</tr>\n")
	}
	m.Raw(`</tbody></table>`)
}

// numberMarkup writes a number, or a dash with the reason for it.
func numberMarkup(n Number) template.HTML {
	var m templates.Markup
	addNumber(&m, n)
	return m.Done()
}

func addNumber(m *templates.Markup, n Number) {
	if n.Why == "" {
		m.Text(n.Text)
		return
	}
	m.Raw(`<span title="`).Text(n.Why).Raw(`">`).Text(n.Text).Raw(`<span class="vh"> (`).Text(n.Why).Raw(`)</span></span>`)
}

// factsMarkup writes a row of large numbers.
func factsMarkup(facts []Fact) template.HTML {
	var m templates.Markup
	m.Grow(200 * (len(facts) + 1))
	m.Raw(`<dl class="facts">`)
	for _, f := range facts {
		m.Raw(`<div><dt>`).Text(f.Name).Raw(`</dt>`)
		if f.Sub != "" {
			m.Raw(`<dd class="sub">`).Text(f.Sub).Raw(`</dd>`)
		}
		m.Raw(`<dd>`)
		if f.Href != "" {
			m.Raw(`<a href="`).URL(f.Href).Raw(`">`)
		}
		addNumber(&m, f.Number)
		if f.Href != "" {
			m.Raw(`</a>`)
		}
		if f.Unit != "" {
			m.Raw(` <small>`).Text(f.Unit).Raw(`</small>`)
		}
		m.Raw(`</dd></div>`)
	}
	return m.Raw(`</dl>`).Done()
}

// choicesMarkup writes a row of links of which one may be to the page itself.
func choicesMarkup(list []Choice) template.HTML {
	var m templates.Markup
	for _, c := range list {
		m.Raw(`<a href="`).URL(c.Href).Raw(`"`)
		if c.Current {
			m.Raw(` aria-current="true"`)
		}
		m.Raw(`>`).Text(c.Text).Raw(`</a>`)
	}
	return m.Done()
}

// linksMarkup writes the navigation: groups of links, of which one may be to the
// section of the page itself.
func linksMarkup(groups []Group) template.HTML {
	var m templates.Markup
	m.Grow(1024)
	for _, g := range groups {
		m.Raw(`<ul aria-label="`).Text(g.Name).Raw(`">`)
		for _, l := range g.Links {
			m.Raw(`<li><a href="`).URL(l.Href).Raw(`"`)
			if l.Current {
				m.Raw(` aria-current="page"`)
			}
			m.Raw(`>`).Text(l.Text).Raw(`</a></li>`)
		}
		m.Raw("</ul>\n")
	}
	return m.Done()
}

// originsMarkup writes where each number of a page comes from, a row each.
func originsMarkup(root string, origins []Origin) template.HTML {
	var m templates.Markup
	m.Grow(900 * len(origins))
	for _, o := range origins {
		m.Raw(`<tr id="`).Text(o.ID).Raw(`"><th scope="row">`).Text(o.Name).Raw(`</th><td class="num nowrap">`).Text(o.Text)
		m.Raw(`</td><td><a href="`).URL(root).Raw(`methodology/#`).Fragment(o.Method).Raw(`">`).Text(o.Formula)
		m.Raw(`</a></td><td>`).Text(o.Taken).Raw(`</td><td class="num">`).Text(o.N).Raw(`</td><td>`)
		if o.Query != "" {
			m.Raw(`<a href="`).URL(o.Query).Raw(`">SQL</a>`)
		}
		m.Raw("</td></tr>\n")
	}
	return m.Done()
}
