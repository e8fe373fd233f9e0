package site

import (
	"html/template"

	"github.com/streamgauge/streamgauge/templates"
)

// boardMarkup writes the rows of a leaderboard.
func boardMarkup(t BoardTable) template.HTML {
	var m templates.Markup
	m.Grow(3000 * len(t.Rows))
	for i := range t.Rows {
		addBoardRow(&m, &t.Rows[i], t.HasPrice)
	}
	return m.Done()
}

func addBoardRow(m *templates.Markup, r *BoardRow, price bool) {
	m.Raw(`<tr`).Attr(` class="`, r.Class).Raw(` data-provider="`).Text(r.ProviderKey).Raw(`"`).Attr(` data-size="`, r.Size)
	if r.Open {
		m.Raw(` data-open="yes"`)
	}
	m.Raw(` data-q="`).Text(r.Words).Raw(`"><td class="rank" data-v="`).Text(r.Rank.Sort).Raw(`"`).Attr(` data-i="`, r.Rule).Raw(`>`)
	if r.Rank.Sort != "" {
		m.Raw(`<a href="#of-rank">`).Text(r.Rank.Text).Raw(`</a>`)
	} else {
		m.Text(r.Rank.Text)
	}
	m.Raw(`</td><th scope="row" class="name" data-v="`).Text(r.Name).Raw(`"><a href="`).URL(r.Href).Raw(`" dir="auto">`).Text(r.Name).Raw(`</a>`)
	addProvider(m, r.Provider, r.Why)
	m.Raw(`</th><td class="num m1" data-v="`).Text(r.First.Sort).Raw(`"`).Attr(` data-u="`, r.First.Unit).Raw(`>`)
	addCell(m, &r.First)
	m.Raw(`</td><td class="p1">`).HTML(r.First.Range)
	m.Raw(`</td><td class="num m2" data-v="`).Text(r.Second.Sort).Raw(`" data-l="`).Text(r.Second.Label).Raw(`"`).Attr(` data-u="`, r.Second.Unit).Raw(`>`)
	addCell(m, &r.Second)
	m.Raw(`</td><td class="p2">`).HTML(r.Second.Range)
	m.Raw(`</td><td class="num ok" data-v="`).Text(r.Success.Sort).Raw(`" data-u="% ok">`)
	addDoor(m, r.Success, r.Href, ofSuccess)
	if r.Success.Why == "" {
		m.Raw(` <span class="iv">`).Text(r.SuccessRange).Raw(`</span>`)
	}
	m.Raw(`</td><td class="days">`).HTML(r.Strip).Raw(`</td><td class="trend">`).HTML(r.Trend).Raw(`</td>`)
	if price {
		m.Raw(`<td class="num price" data-v="`).Text(r.Price.Sort).Raw(`"`)
		if r.Price.Sort != "" && r.Price.Text != "free" {
			m.Raw(` data-u="$/M"`)
		}
		m.Raw(`>`)
		addDoor(m, r.Price, r.Href, ofPrice)
		m.Raw(`</td>`)
	}
	m.Raw(`<td class="num dim count" data-v="`).Text(r.Runs.Sort).Raw(`"><a href="`).URL(r.First.Href).Raw(`">`).Text(r.Runs.Text)
	m.Raw(`</a></td><td class="num dim age" data-v="`).Text(r.Age.Sort).Raw(`">`)
	addDoor(m, r.Age, r.Href, ofAge)
	m.Raw("</td></tr>\n")
}

// addProvider writes who serves an endpoint, and why it has no rank. A direction of
// its own sets a name apart as bdi would, and where the name stands alone it needs
// no element for that: a board of sixty rows is to have few.
func addProvider(m *templates.Markup, provider, why string) {
	switch {
	case provider != "" && why != "":
		m.Raw(`<span class="prov"><bdi>`).Text(provider).Raw(`</bdi> · `).Text(why).Raw(`</span>`)
	case provider != "":
		m.Raw(`<span class="prov" dir="auto">`).Text(provider).Raw(`</span>`)
	case why != "":
		m.Raw(`<span class="prov">`).Text(why).Raw(`</span>`)
	}
}

// addCell writes the value of a metric as a door to its entry.
func addCell(m *templates.Markup, c *Cell) {
	switch {
	case c.Spread != "":
		m.Raw(`<a class="dim" href="`).URL(c.Href).Raw(`" title="`).Text(c.Why).Raw(`: the range of single runs">`).Text(c.Spread).Raw(`</a>`)
	case c.Why != "":
		addNumber(m, c.Number)
	default:
		m.Raw(`<a href="`).URL(c.Href).Raw(`">`).Text(c.Text).Raw(`</a>`)
	}
}

// addDoor writes a number as a door to an entry of the page at href, if there is
// a number.
func addDoor(m *templates.Markup, n Number, href, entry string) {
	if n.Why != "" {
		addNumber(m, n)
		return
	}
	m.Raw(`<a href="`).URL(href).Raw(`#`).Fragment(entry).Raw(`">`).Text(n.Text).Raw(`</a>`)
}
