package site

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site/svg"
)

// A ModelPage holds one model at several providers against each other.
type ModelPage struct {
	Page
	Name    string
	Heading string
	Table   BoardTable
	Lines   []*Figure
	Pairs   *Table // differences, each with its interval
	Note    string
	Query   string // link to the query behind the page; may be empty
}

// maxCompared is how many endpoints of a model are compared two by two.
const maxCompared = 6

// modelPath returns the folder of a model's page.
func modelPath(name string) string { return "model/" + slug(name) + "/" }

// shared returns the endpoints of models that several providers offer under one
// name, by that name.
func (e *edition) shared() map[string][]*endpoint {
	byName := map[string][]*endpoint{}
	for _, p := range e.endpoints {
		byName[p.series.Model] = append(byName[p.series.Model], p)
	}
	for name, list := range byName {
		if !slices.ContainsFunc(list, func(p *endpoint) bool { return p.provider != list[0].provider }) {
			delete(byName, name)
		}
	}
	return byName
}

func (e *edition) modelFiles() ([]file, error) {
	var files []file
	for name, list := range e.shared() {
		files = append(files, e.html(modelPath(name)+"index.html", "model", func() (any, error) { return e.modelPage(name, list), nil }))
	}
	return files, nil
}

func (e *edition) modelPage(name string, list []*endpoint) ModelPage {
	page := ModelPage{Name: display(list[0].model.label())}
	providers := map[*provider]bool{}
	for _, p := range list {
		providers[p.provider] = true
	}
	page.Page = e.page(modelPath(name), noSection, page.Name, page.Name+" at several providers: speed, first token and reliability side by side.", "explore.js")
	page.Table = e.boardTable(page.Page, list, listWindow, rollup.DecodeTPS)
	page.Table.Caption = page.Name + " by provider over the last " + windowWords(listWindow) + "; ranks are among all endpoints"
	b := e.boards[listWindow][rollup.DecodeTPS]
	ordered := slices.Clone(list)
	slices.SortFunc(ordered, func(x, y *endpoint) int { return b.row[x.series] - b.row[y.series] })
	page.Lines = e.modelLines(page.Root, ordered, func(p *endpoint) string { return p.provider.name })
	alike := false
	page.Pairs, alike = e.differences(page.Root, ordered[:min(len(ordered), maxCompared)])
	page.Heading = fmt.Sprintf("%s at %s providers.", page.Name, words(len(providers)))
	if alike && len(ordered) <= maxCompared {
		page.Heading = fmt.Sprintf("%s at %s providers: no clear difference in speed.", page.Name, words(len(providers)))
	}
	page.Query = queryLink(page.Root, e.modelQuery(listWindow, name))
	page.Note = "The same name does not promise the same weights, quantisation or limits: providers decide what they serve under it."
	return page
}

// modelLines draws the endpoints' daily medians in one chart for each metric,
// each line under the name that tells it from the others.
func (e *edition) modelLines(root string, list []*endpoint, name func(*endpoint) string) []*Figure {
	var figures []*Figure
	for _, m := range lineMetrics() {
		chart := svg.Line{Format: tickOf(m), Log: hueOf(m) == svg.Wait}
		span := rollup.Window30d.Span(e.now)
		chart.From, chart.To = span.From, span.To
		t := &Table{Caption: "Daily medians, newest first", Head: []Head{{"Day, UTC", false}}}
		byDay := map[string][]string{}
		for i, p := range list[:min(len(list), maxCompared)] {
			s := svg.Series{Name: name(p), Hue: svg.Entity(i), MaxGap: 3 * rollup.Day / 2}
			t.Head = append(t.Head, Head{name(p), true})
			for _, d := range p.track.Score(m, span).Days {
				s.Points = append(s.Points, svg.Point{At: d.Day.Add(rollup.Day / 2), Y: d.Median, Lo: math.NaN(), Hi: math.NaN()})
				key := d.Day.Format("2006-01-02")
				for len(byDay[key]) < i {
					byDay[key] = append(byDay[key], absent)
				}
				byDay[key] = append(byDay[key], bare(m, d.Median))
			}
			chart.Series = append(chart.Series, s)
		}
		var days []string
		for key := range byDay {
			days = append(days, key)
		}
		slices.SortFunc(days, func(a, b string) int { return strings.Compare(b, a) })
		for _, key := range days {
			row := append([]string{key}, byDay[key]...)
			for len(row) < len(t.Head) {
				row = append(row, absent)
			}
			t.Rows = append(t.Rows, row)
		}
		t.Query = queryLink(root, e.mediansQuery(list[:min(len(list), maxCompared)], m, span))
		if len(days) == 0 {
			continue
		}
		f := faceOf(m)
		fig := &Figure{ID: f.slug, Title: f.name + " over 30 days", Text: "Daily medians. A gap is a gap.", Label: f.name + " over 30 days, one line for each endpoint", Table: t}
		chart.Label = fig.Label
		fig.Wide, fig.Phone = drawing(func(s svg.Size) template.HTML {
			chart.Size = s
			return chart.SVG()
		}, svg.Wide(240), svg.Phone(220))
		figures = append(figures, fig)
	}
	return figures
}

// differences compares endpoints two by two over 30 days. Alike reports whether
// each could be compared with each and no difference is clear.
func (e *edition) differences(root string, list []*endpoint) (t *Table, alike bool) {
	n := len(list) * (len(list) - 1) / 2
	if n == 0 {
		return nil, false
	}
	alike = true
	t = &Table{Caption: "Decode speed over 30 days, day against day", Head: []Head{{"Compared", false}, {"Difference", false}, {"Interval", true}, {"Days", true}}}
	for i, a := range list {
		for _, b := range list[i+1:] {
			c := rollup.Compare(a.track, b.track, rollup.DecodeTPS, rollup.Window30d, e.now, n)
			what := a.provider.name + " against " + b.provider.name
			t.Doors = append(t.Doors, doors(queryLink(root, e.pairedQuery(a, b, rollup.DecodeTPS, rollup.Window30d)), len(t.Head)))
			alike = alike && c.Verdict == rollup.NoClearDifference
			switch c.Verdict {
			case rollup.NotComparable:
				t.Rows = append(t.Rows, []string{what, "not comparable: " + because(c.Why), absent, count(c.Days)})
				continue
			case rollup.NoClearDifference:
				t.Rows = append(t.Rows, []string{what, "no clear difference", ratioInterval(c), count(c.Days)})
				continue
			}
			sense := "faster"
			if c.Ratio < 1 {
				sense = "slower"
			}
			text := significant(math.Abs(c.Ratio-1)*100, 2) + " % " + sense
			if c.HasCrossover {
				text += fmt.Sprintf("; which is done first turns at %s tokens", count(int(math.Round(c.Crossover))))
			}
			t.Rows = append(t.Rows, []string{what, text, ratioInterval(c), count(c.Days)})
		}
	}
	return t, alike
}

func ratioInterval(c rollup.Comparison) string {
	return signedPercent(c.Interval.Lo-1) + " to " + signedPercent(c.Interval.Hi-1)
}
