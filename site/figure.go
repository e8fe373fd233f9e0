package site

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site/svg"
)

// A Figure is a chart with what belongs to it: one drawing for wide screens,
// one for phones, and the numbers behind both as a table.
type Figure struct {
	ID, Title, Text string
	Wide, Phone     template.HTML
	Table           *Table
	Explore         string // address of its ECharts option, empty if it has none
	Format          string // how the explorer writes its values
	Label           string // for who cannot see it
}

// A Table is a plain table of a page.
type Table struct {
	Caption string
	CSV     string // address of all its rows, may be empty
	Head    []Head
	Rows    [][]string // the first cell of each is its header
	Doors   [][]string // where the numbers of a row lead, cell by cell; may be shorter than Rows, and so may each
	Query   string     // link to the query that all of it comes from, may be empty
}

// Door returns where the number in a cell leads, "" if nowhere or if it is none.
func (t Table) Door(row, cell int) string {
	if row < len(t.Doors) && cell < len(t.Doors[row]) && t.Head[cell].Numeric {
		return t.Doors[row][cell]
	}
	return ""
}

// A Head is the header of a table's column.
type Head struct {
	Text    string
	Numeric bool
}

// sourced returns the figure, if there is one, with the query that the numbers
// behind it come from.
func (f *Figure) sourced(link string) *Figure {
	if f == nil || f.Table == nil {
		return f
	}
	figure, table := *f, *f.Table
	table.Query = link
	figure.Table = &table
	return &figure
}

// drawing is a chart of package svg that is drawn once for each kind of screen.
func drawing(draw func(svg.Size) template.HTML, wide, phone svg.Size) (w, p template.HTML) {
	return draw(wide), draw(phone)
}

// lineFigure draws a metric of an endpoint over a window.
func (e *edition) lineFigure(p *endpoint, w rollup.Window, m rollup.Metric) *Figure {
	line, ok := p.track.Line(m, w, e.now)
	if !ok || !slices.ContainsFunc(line.Points, func(pt rollup.Point) bool { return pt.N > 0 }) {
		return nil
	}
	series := svg.Series{Hue: hueOf(m), Points: make([]svg.Point, 0, len(line.Points))}
	nan := math.NaN()
	for _, pt := range line.Points {
		if pt.N == 0 {
			continue
		}
		point := svg.Point{At: pt.At.Add(line.Width / 2), Y: pt.Value, Lo: pt.Lo, Hi: pt.Hi}
		if line.Band == rollup.BandNone {
			point.Lo, point.Hi = nan, nan
		}
		if pt.Gap && len(series.Points) > 0 { // a hole in the line, not a value
			series.Points = append(series.Points, svg.Point{At: point.At.Add(-1), Y: nan, Lo: nan, Hi: nan})
		}
		series.Points = append(series.Points, point)
	}
	f := faceOf(m)
	fig := &Figure{
		ID: f.slug, Title: fmt.Sprintf("%s over %s", f.name, windowWords(w)),
		Text: lineWords(m, line), Format: exploreFormat(m),
		Label: fmt.Sprintf("%s of %s over the last %s", f.name, p.title(), windowWords(w)),
	}
	if !scored(w) {
		series.Name = f.short
	}
	if d, ok := p.summary[w].Distribution(m); ok && d.P50.OK() {
		series.Name = "p50 " + bare(m, d.P50.Value)
	}
	chart := svg.Line{
		Label: fig.Label, From: line.Span.From, To: line.Span.To,
		Format: tickOf(m), Series: []svg.Series{series}, Events: marksOf(p, m, line.Span), Log: hueOf(m) == svg.Wait,
	}
	chart.Size = svg.Wide(230)
	fig.Wide = chart.SVG()
	chart.Size, chart.Series[0].Points = svg.Phone(210), thin(series.Points, phonePoints)
	fig.Phone = chart.SVG()
	fig.Table = e.lineTable(p, w, m, line)
	fig.Explore = f.slug + ".json"
	return fig
}

// lineWords says what the points of a line are.
func lineWords(m rollup.Metric, line rollup.Line) string {
	what := "Tokens a second after the first read."
	if m == rollup.TTFT {
		what = "Dispatch to the first visible text."
	}
	switch line.Width {
	case rollup.Hour:
		return what + " Line: hourly median. Band: least to greatest of the hour. A gap is a gap."
	case rollup.Day:
		return what + " Line: daily median. Band: p10 to p90 of the day. A gap is a gap."
	}
	return what + " Each point of the line is one run. A gap is a gap."
}

// marksOf returns the events to draw on a metric's line.
func marksOf(p *endpoint, m rollup.Metric, span rollup.Span) []svg.Event {
	var marks []svg.Event
	for _, ev := range p.events {
		if !span.Contains(ev.Onset) {
			continue
		}
		switch {
		case ev.Shift != nil && ev.Shift.Metric == m:
			marks = append(marks, svg.Event{At: ev.Onset, Kind: svg.Shift, Label: ev.Onset.Format("2 Jan: ") + shiftWords(ev.Shift)})
		case ev.Note != nil:
			marks = append(marks, svg.Event{At: ev.Onset, Kind: svg.Method, Label: noteShort(ev.Note)})
		}
	}
	return marks
}

// maxTableRows is how many rows the table behind a chart has at most; the CSV
// has all.
const maxTableRows = 92

// lineTable lists the points of a line: runs of a day, days of longer windows.
func (e *edition) lineTable(p *endpoint, w rollup.Window, m rollup.Metric, line rollup.Line) *Table {
	t := &Table{CSV: "points.csv"}
	if w == rollup.Window24h {
		t.Caption = "Runs of the last 24 hours, newest first"
		t.Head = []Head{{"Started, UTC", false}, {faceOf(m).name + ", " + m.Unit(), true}}
		for i := len(line.Points) - 1; i >= 0 && len(t.Rows) < maxTableRows; i-- {
			pt := line.Points[i]
			value := "failed"
			if pt.N > 0 {
				value = bare(m, pt.Value)
			}
			t.Rows = append(t.Rows, []string{pt.At.Format("2 Jan 15:04"), value})
		}
		return t
	}
	t.Caption = "Medians of whole days with enough runs, newest first"
	t.Head = []Head{{"Day, UTC", false}, {"Median, " + m.Unit(), true}, {"Runs", true}}
	days := e.rowOf(p, w, m).Score.Days // which a board has worked out already, but of a young series
	if s := p.summary[w]; s.Provisional {
		days = p.track.Score(m, s.Span).Days
	}
	for i := len(days) - 1; i >= 0 && len(t.Rows) < maxTableRows; i-- {
		t.Rows = append(t.Rows, []string{days[i].Day.Format("2 Jan 2006"), bare(m, days[i].Median), count(days[i].N)})
	}
	if len(t.Rows) == 0 {
		t.Caption = "No whole day has enough runs yet; the CSV has each point"
	}
	return t
}

// arrivalFigure draws how the newest answer of an endpoint arrived.
func (e *edition) arrivalFigure(p *endpoint) *Figure {
	s, ok := e.in.Traces[p.series]
	if !ok || len(s.Trace) == 0 || s.Chunks == 0 {
		return nil
	}
	curve, unit := arrivalCurve(&s)
	if len(curve.Reads) == 0 {
		return nil
	}
	stalls := stallsOf(&s)
	fig := &Figure{
		ID: "arrival", Title: "How the newest answer arrived",
		Text: fmt.Sprintf("%s that had come by each instant after the dispatch, measured %s. Each tick is a read of the socket%s.",
			capital(unit), ago(e.now.Sub(s.StartedAt)), stampedBy(s.Env.Clock)),
		Label: fmt.Sprintf("Cumulative %s of the newest answer of %s: first text after %s, %s after %s", unit, p.title(),
			latency(milliseconds(s.FirstText)), curve.Name, latency(milliseconds(s.LastText))),
	}
	chart := svg.Arrival{Label: fig.Label, Curves: []svg.Curve{curve}, Stalls: stalls, Rug: true,
		First: svg.Span{To: s.FirstText, Label: "first text " + latency(milliseconds(s.FirstText))}}
	fig.Wide, fig.Phone = drawing(func(size svg.Size) template.HTML {
		chart.Size = size
		return chart.SVG()
	}, svg.Wide(220), svg.Phone(200))
	fig.Table = arrivalTable(curve, unit)
	return fig
}

func stampedBy(clock string) string {
	switch clock {
	case bench.ClockKernel:
		return ", stamped by the kernel"
	case bench.ClockUser:
		return ", stamped by the program"
	}
	return ""
}

// arrivalCurve adds up what each read brought: tokens where they were counted,
// shared out by characters within the answer, else characters.
func arrivalCurve(s *bench.Sample) (curve svg.Curve, unit string) {
	n, why := s.VisibleTokens()
	perChar := 1.0
	unit = "characters"
	if why.OK() && n > 0 && s.Chars > 0 {
		perChar, unit = float64(n)/float64(s.Chars), "tokens"
	}
	curve.Hue = svg.Speed
	sum, last := 0.0, -1
	for _, a := range s.Trace {
		if a.Mark != bench.MarkVisible {
			continue
		}
		if unit == "tokens" && a.Tokens > 0 {
			sum += float64(a.Tokens)
		} else {
			sum += float64(a.Chars) * perChar
		}
		if a.Read == last {
			curve.Reads[len(curve.Reads)-1].Tokens = sum
			continue
		}
		last = a.Read
		curve.Reads = append(curve.Reads, svg.Read{At: a.At, Tokens: sum})
	}
	curve.Name = count(int(math.Round(sum))) + " " + unit
	return curve, unit
}

// stallsOf finds the gaps that count as stalls, by the rule of [bench.Sample.Stall].
func stallsOf(s *bench.Sample) []svg.Span {
	if s.Chunks < bench.StallMinChunks {
		return nil
	}
	limit := max(bench.StallFloor, bench.StallFactor*s.Gaps.P50)
	var stalls []svg.Span
	var last time.Duration
	for _, a := range s.Trace {
		if a.Mark != bench.MarkVisible {
			continue
		}
		if last > 0 && a.At-last > limit {
			stalls = append(stalls, svg.Span{From: last, To: a.At, Label: "stall " + latency(milliseconds(a.At-last))})
		}
		last = a.At
	}
	return stalls
}

// arrivalTable gives the instants at which each tenth of the answer was there.
func arrivalTable(c svg.Curve, unit string) *Table {
	t := &Table{Caption: "When each tenth of it had arrived", Head: []Head{{capital(unit), false}, {"After", true}}}
	total := c.Reads[len(c.Reads)-1].Tokens
	i := 0
	for tenth := 1; tenth <= 10; tenth++ {
		want := total * float64(tenth) / 10
		for i < len(c.Reads)-1 && c.Reads[i].Tokens < want-1e-9 {
			i++
		}
		t.Rows = append(t.Rows, []string{count(int(math.Round(want))), latency(milliseconds(c.Reads[i].At))})
	}
	return t
}

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// weekFigure draws the median decode rate by hour of the week.
func (e *edition) weekFigure(p *endpoint) *Figure {
	week := p.track.HourOfWeek(rollup.DecodeTPS, e.now)
	chart := svg.Heatmap{Unit: rollup.DecodeTPS.Unit(), Better: svg.Higher}
	t := &Table{Caption: "Medians by hour of the week, UTC", Head: []Head{{"Hour", false}}}
	known := 0
	for _, name := range weekdays {
		t.Head = append(t.Head, Head{name, true})
	}
	for hour := range 24 {
		row := []string{fmt.Sprintf("%02d:00", hour)}
		for day := range weekdays {
			c := week[day][hour]
			if c.N == 0 {
				chart.Values[day][hour] = math.NaN()
				row = append(row, absent)
				continue
			}
			known++
			chart.Values[day][hour] = c.Median
			row = append(row, rate(c.Median))
		}
		t.Rows = append(t.Rows, row)
	}
	if known == 0 {
		return nil
	}
	fig := &Figure{
		ID: "hours", Title: "Hour of the week",
		Text:  fmt.Sprintf("Median decode speed by UTC hour over %d whole days. Dark is slow, hollow is no sample.", rollup.HourOfWeekDays),
		Label: "Median decode speed of " + p.title() + " by hour of the week", Table: t,
	}
	chart.Label = fig.Label
	fig.Wide, fig.Phone = drawing(func(s svg.Size) template.HTML {
		chart.Size = s
		return chart.SVG()
	}, svg.Half(210), svg.Phone(210))
	return fig
}

var weekdays = [...]string{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}

// spreadFigure draws how a metric's values spread over a window: a histogram,
// or each single value where there are too few for a shape.
func (e *edition) spreadFigure(p *endpoint, w rollup.Window, m rollup.Metric) *Figure {
	d, ok := p.summary[w].Distribution(m)
	if !ok || d.N == 0 {
		return nil
	}
	f := faceOf(m)
	fig := &Figure{
		ID: f.slug + "-spread", Title: "How " + lowerFirst(f.name) + " spreads",
		Text:  plural(d.N, "run") + " over " + windowWords(w) + ".",
		Label: "Distribution of " + lowerFirst(f.name) + " of " + p.title(),
	}
	var marks []svg.Quantile
	for _, q := range []struct {
		name string
		at   rollup.Estimate
	}{{"p50", d.P50}, {"p95", d.P95}} {
		if v := valueOr(q.at); !math.IsNaN(v) {
			marks = append(marks, svg.Quantile{At: v, Label: q.name + " " + bare(m, v)})
		}
	}
	if d.N < fewValues {
		if values := runValues(p, w, m, e.now); len(values) > 0 {
			fig.Text += " Each dot is one."
			dots := svg.Dots{Label: fig.Label, Hue: hueOf(m), Values: values, Format: tickOf(m), Marks: marks}
			fig.Wide, fig.Phone = drawing(func(s svg.Size) template.HTML {
				dots.Size = s
				return dots.SVG()
			}, svg.Half(120), svg.Phone(110))
			return fig
		}
	}
	spectrum := p.track.Spectrum(m, w, 32, e.now)
	if len(spectrum.Bins) == 0 {
		return nil
	}
	hist := svg.Histogram{Label: fig.Label, Hue: hueOf(m), Log: true, Format: tickOf(m), Marks: marks}
	t := &Table{Caption: "Runs in each bin", Head: []Head{{"From, " + m.Unit(), false}, {"To", true}, {"Runs", true}}}
	for _, b := range spectrum.Bins {
		hist.Bins = append(hist.Bins, svg.Bin(b))
		if b.N > 0 {
			t.Rows = append(t.Rows, []string{bare(m, b.Lo), bare(m, b.Hi), count(b.N)})
		}
	}
	if spectrum.Timeouts > 0 && hueOf(m) == svg.Wait {
		hist.Over, hist.OverLabel = spectrum.Timeouts, "> "+span(bench.RunTimeout)
		fig.Text += " " + capital(plural(spectrum.Timeouts, "timeout")) + " lie beyond the scale."
	}
	fig.Table = t
	fig.Wide, fig.Phone = drawing(func(s svg.Size) template.HTML {
		hist.Size = s
		return hist.SVG()
	}, svg.Half(210), svg.Phone(180))
	return fig
}

// fewValues is the number of runs under which each is drawn by itself.
const fewValues = 30

// runValues returns the single values of a window that has few.
func runValues(p *endpoint, w rollup.Window, m rollup.Metric, now time.Time) []float64 {
	if w == rollup.Window30d || w == rollup.Window1y {
		return nil
	}
	line, _ := p.track.Line(m, w, now)
	span := p.summary[w].Span
	var values []float64
	for _, pt := range line.Points {
		if pt.N > 0 && span.Contains(pt.At) {
			values = append(values, pt.Value)
		}
	}
	return values
}
