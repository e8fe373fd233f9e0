package site

import (
	"cmp"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
	"github.com/streamgauge/streamgauge/site/svg"
)

// A BoardPage is a leaderboard: one window, ranked by one metric.
type BoardPage struct {
	Page
	Heading string
	State   BoardState

	Subject    string // "Decode speed"
	Endpoints  string // "20 endpoints"
	Window     string // "7 days"
	Confidence string // "95"
	Newest     string // when the newest sample was taken, "4 min ago"; empty if there is none
	Missing    string // days a young board still needs, "two more days"
	Note       string // what the reader must know of this metric, may be empty

	Windows, Metrics []Choice
	Providers, Sizes []Option
	HasOpenWeights   bool
	Filters          bool // enough rows to be worth more than a search

	Ranked    int
	Table     BoardTable
	CSV, JSON string
	Query     string // link to the query behind the board
}

// A BoardTable is endpoints, one a row, on axes that they share.
type BoardTable struct {
	Caption       string
	First, Second BoardColumn
	PhoneAxis     template.HTML
	Rows          []BoardRow
	Spread        bool        // p10 and p90 are drawn
	Unranked      string      // how many are listed without a rank and why, may be empty
	Ranks         *RankOrigin // nil where no row has a rank
	HasPrice      bool
}

// A RankOrigin is where the ranks of a table come from.
type RankOrigin struct {
	Text   string
	Method string // link to how ranks are made
	Query  string // link to the query for the days they are made of
}

// manyRows is from how many rows on a board offers more filters than a search.
const manyRows = 13

// A BoardState is what a board can say.
type BoardState string

// The states of a board.
const (
	BoardRanked BoardState = "ranked"
	BoardDay    BoardState = "day"   // one day cannot rank
	BoardYear   BoardState = "year"  // nor can a year, in which models change
	BoardYoung  BoardState = "young" // not enough days yet
	BoardNone   BoardState = "none"  // enough days, but no row may be ranked
	BoardEmpty  BoardState = "empty" // nothing was measured
)

// A BoardColumn is the header of a metric's two columns: its values and their axis.
type BoardColumn struct {
	Name, Unit, Better string
	Down               bool // sorted from high to low first
	Axis               template.HTML
}

// An Option is an entry of a select.
type Option struct{ Value, Text string }

// A BoardRow is one endpoint on a board.
type BoardRow struct {
	Class          string // lead, step, thin
	Rank           Number
	Rule           string // ends of the interval that ranks go by, "57.1 62.3", for a filter to count anew; empty without a rank
	Href           string
	Name, Provider string // Provider may be empty
	Why            string // why it has no rank, empty if it has or if no row has one
	Words          string // what the filter looks at
	ProviderKey    string
	Size           string
	Open           bool

	First, Second Cell
	Success       Number
	SuccessRange  string // its 95 % interval: no rate of success stands alone
	Strip, Trend  template.HTML
	Price         Number
	Runs          Number
	Age           Number
}

// A Cell is a metric's value with its drawing.
type Cell struct {
	Number
	Spread string // range of the runs, where they are too few for a median
	Label  string // on a phone
	Unit   string // on a phone, empty if the text has one
	Range  template.HTML
	Href   string // the entry that it is a door to
}

const (
	speedWidth = 180 // of a column's drawings, in pixels
	waitWidth  = 130
)

// boardPath returns a board's folder. The default window of the default metric
// is the front page.
func (e *edition) boardPath(w rollup.Window, m rollup.Metric) string {
	path := ""
	if m != e.in.Config.RankBy {
		path = faceOf(m).slug + "/"
	}
	if w != rollup.Window7d {
		path += string(w) + "/"
	}
	return path
}

func (e *edition) boardFiles() ([]file, error) {
	var files []file
	for _, w := range rollup.Windows() {
		for _, m := range rollup.BoardMetrics() {
			path := e.boardPath(w, m)
			files = append(files,
				e.html(path+"index.html", "board", func() (any, error) { return e.boardPage(w, m), nil }),
				file{path + boardCSV, func() ([]byte, error) { return e.boardCells(w, m) }},
			)
		}
	}
	return files, nil
}

// companion returns the metric shown beside the one a board is ranked by.
func companion(m rollup.Metric) rollup.Metric {
	switch m {
	case rollup.DecodeTPS, rollup.HybridTPS:
		return rollup.TTFT
	}
	return rollup.DecodeTPS
}

func (e *edition) boardPage(w rollup.Window, m rollup.Metric) BoardPage {
	b := e.boards[w][m]
	f := faceOf(m)
	path := e.boardPath(w, m)
	p := BoardPage{
		State: e.stateOf(b), Subject: f.name, Endpoints: plural(len(b.Rows), "endpoint"), Window: windowWords(w),
		Confidence: strconv.Itoa(whole(b.Confidence)), Ranked: b.Ranked, CSV: boardCSV,
	}
	p.Heading = e.boardHeading(b, p.State)
	p.Page = e.page(path, "", p.Heading, fmt.Sprintf("%s of %s over the last %s, measured on a schedule, with intervals, success rates and ages.", f.name, p.Endpoints, p.Window), "leaderboard.js")
	if path != "" {
		p.Title += " · " + f.name + ", " + windowName(w)
	}
	p.JSON, p.Query = p.Root+apiBoardPath(w, m), queryLink(p.Root, e.boardQuery(w))
	p.Windows, p.Metrics = e.boardChoices(p.Page, w, m)
	p.Missing = moreDays(b.DaysMissing())
	p.Newest = e.newest()
	if m == rollup.HybridTPS {
		p.Note = "This ranking uses the published hybrid rule as it stands, which favours answers that arrive in bursts."
	}
	e.fillBoard(&p, b, w, m)
	return p
}

// stateOf says what a board can say.
func (e *edition) stateOf(b *boardIndex) BoardState {
	measured := false
	for _, r := range b.Rows {
		measured = measured || r.Summary.Runs > 0
	}
	switch {
	case !measured:
		return BoardEmpty
	case b.Ranked > 0:
		return BoardRanked
	case b.Window == rollup.Window24h:
		return BoardDay
	case b.Window == rollup.Window1y:
		return BoardYear
	case b.DaysMissing() > 0:
		return BoardYoung
	}
	return BoardNone
}

// boardHeading is the board's answer in one sentence.
func (e *edition) boardHeading(b *boardIndex, state BoardState) string {
	f := faceOf(b.Metric)
	switch state {
	case BoardEmpty:
		if len(b.Rows) == 0 {
			return "Nothing has been measured yet."
		}
		return "Nothing was measured in the last " + windowWords(b.Window) + "."
	case BoardDay:
		return "The last 24 hours, endpoint by endpoint."
	case BoardYear:
		return "A year of measurements, endpoint by endpoint."
	case BoardYoung:
		return "Too early to say which is fastest."
	case BoardNone:
		return "No endpoint can be ranked."
	}
	first := b.First()
	if len(first) == 1 {
		return e.bySeries[first[0].Series].title() + " " + f.single + "."
	}
	return capital(words(len(first))) + " endpoints are tied for " + f.winner + "."
}

// moreDays puts the days a young board needs in words.
func moreDays(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "one more day"
	}
	return words(n) + " more days"
}

// newest returns the age of the newest success of all endpoints.
func (e *edition) newest() string {
	var last time.Time
	for _, p := range e.endpoints {
		if at, ok := p.track.LastSuccess(); ok && at.After(last) {
			last = at
		}
	}
	if last.IsZero() {
		return ""
	}
	return ago(e.now.Sub(last))
}

// boardChoices returns the links to the other windows and metrics.
func (e *edition) boardChoices(p Page, w rollup.Window, m rollup.Metric) (windows, metrics []Choice) {
	for _, other := range rollup.Windows() {
		windows = append(windows, Choice{windowName(other), cmp.Or(p.Root+e.boardPath(other, m), p.Home), other == w})
	}
	order := rollup.BoardMetrics()
	slices.SortStableFunc(order, func(a, b rollup.Metric) int {
		return compareBool(b == e.in.Config.RankBy, a == e.in.Config.RankBy)
	})
	for _, other := range order {
		metrics = append(metrics, Choice{faceOf(other).short, cmp.Or(p.Root+e.boardPath(w, other), p.Home), other == m})
	}
	return windows, metrics
}

// fillBoard fills the table and what there is to filter it by.
func (e *edition) fillBoard(p *BoardPage, b *boardIndex, w rollup.Window, m rollup.Metric) {
	list := make([]*endpoint, len(b.Rows))
	for i := range b.Rows {
		list[i] = e.bySeries[b.Rows[i].Series]
	}
	p.Table = e.boardTable(p.Page, list, w, m)
	p.Table.Caption = fmt.Sprintf("%s by endpoint over the last %s", p.Subject, p.Window)
	p.Filters = len(list) >= manyRows
	sizes := map[string]bool{}
	for _, of := range list {
		p.HasOpenWeights = p.HasOpenWeights || of.model.OpenWeights
		if size := of.model.SizeClass; size != "" && !sizes[size] {
			sizes[size] = true
			p.Sizes = append(p.Sizes, Option{slug(size), display(size)})
		}
	}
	slices.SortFunc(p.Sizes, func(a, b Option) int { return strings.Compare(a.Text, b.Text) })
	for _, pr := range e.providers {
		if len(pr.endpoints) > 0 {
			p.Providers = append(p.Providers, Option{slug(pr.Name), pr.name})
		}
	}
	if b.Ranked > 0 && b.Ranked < len(b.Rows) {
		var reasons []string
		for _, u := range b.Unranked() {
			reasons = append(reasons, fmt.Sprintf("%s (%s)", because(u.Why), count(u.N)))
		}
		p.Table.Unranked = plural(len(b.Rows)-b.Ranked, "endpoint") + " listed without a rank: " + strings.Join(reasons, ", ") + "."
	}
}

// boardTable returns the rows of endpoints, in the order of the board.
func (e *edition) boardTable(p Page, list []*endpoint, w rollup.Window, m rollup.Metric) BoardTable {
	b, m2 := e.boards[w][m], companion(m)
	list = slices.Clone(list)
	slices.SortFunc(list, func(x, y *endpoint) int { return b.row[x.series] - b.row[y.series] })
	firsts, seconds := make([]level, len(list)), make([]level, len(list))
	for i, of := range list {
		firsts[i], seconds[i] = e.level(of, w, m), e.level(of, w, m2)
	}
	axis, axis2 := axisOf(m, speedWidth, firsts), axisOf(m2, waitWidth, seconds)
	t := BoardTable{First: column(m, axis), Second: column(m2, axis2), Ranks: e.ranksOf(p, b)}
	phone := axis
	phone.W, phone.Text, phone.H = 358, 12, 18
	t.PhoneAxis = phone.SVG()
	for i, of := range list {
		row := e.boardRow(p, b, of, w)
		row.First, row.Second = cellOf(m, firsts[i], axis), cellOf(m2, seconds[i], axis2)
		row.First.Href, row.Second.Href = row.Href+"#"+ofLevel(m), row.Href+"#"+ofLevel(m2)
		row.Runs = number(count(firsts[i].n), float64(firsts[i].n))
		if firsts[i].n < stats.MinRankRuns {
			row.Class = strings.TrimSpace(row.Class + " thin")
		}
		t.Spread = t.Spread || !math.IsNaN(firsts[i].p10)
		t.HasPrice = t.HasPrice || row.Price.Why == ""
		t.Rows = append(t.Rows, row)
	}
	return t
}

// ranksOf says where the ranks of a board come from, if it has any.
func (e *edition) ranksOf(p Page, b *boardIndex) *RankOrigin {
	if b.Ranked == 0 {
		return nil
	}
	return &RankOrigin{
		Text: fmt.Sprintf("Rank: 1 and the rows whose whole interval, at %d %%, is better; by %s, among %s.",
			whole(b.Confidence), lowerFirst(faceOf(b.Metric).name), plural(b.Ranked, "ranked endpoint")),
		Method: p.Root + "methodology/#rank", Query: queryLink(p.Root, e.boardQuery(b.Window)),
	}
}

// boardRow fills what a row says besides its two metrics.
func (e *edition) boardRow(p Page, b *boardIndex, of *endpoint, w rollup.Window) BoardRow {
	i := b.row[of.series]
	r := &b.Rows[i]
	row := BoardRow{
		Href: p.Root + of.windowPath(w), Name: of.name, Provider: of.provider.name,
		ProviderKey: slug(of.provider.Name), Open: of.model.OpenWeights,
		Success: shareNumber(r.Summary.Reliability.SuccessRate), SuccessRange: shareInterval(r.Summary.Reliability.SuccessRate),
		Strip: stripOf(of.strip), Trend: trendOf(of.strip),
		Price: priceNumber(of.model.PriceOut),
		Age:   missing(rollup.NoRuns), Rank: Number{Text: absent},
	}
	if of.model.SizeClass != "" {
		row.Size = slug(of.model.SizeClass)
	}
	words := []string{row.Name, row.Provider, display(of.model.SizeClass)}
	if row.Open {
		words = append(words, "open weights")
	}
	row.Words = strings.ToLower(strings.Join(words, " "))
	switch {
	case r.Ranked:
		row.Rank = Number{Text: rankRange(r), Sort: strconv.Itoa(i + 1)}
		row.Rule = fmt.Sprintf("%.6g %.6g", r.Rule.Lo, r.Rule.Hi)
		if r.Best == 1 {
			row.Class = "lead"
		} else if r.Best == i+1 {
			row.Class = "step"
		}
	case b.Ranked > 0:
		row.Why = because(r.Why)
		if i == b.Ranked {
			row.Class = "step"
		}
	}
	if last := r.Summary.LastSuccess; !last.IsZero() {
		row.Age = number(age(e.now.Sub(last)), math.Round(e.now.Sub(last).Minutes()))
	}
	return row
}

// rankRange formats the ranks a row may hold.
func rankRange(r *rollup.Row) string {
	if r.Best == r.Worst {
		return count(r.Best)
	}
	return count(r.Best) + "–" + count(r.Worst)
}

// axisOf returns the axis that the levels of a column share.
func axisOf(m rollup.Metric, width float64, levels []level) svg.Axis {
	var values []float64
	for _, l := range levels {
		values = append(values, l.value, l.lo, l.hi, l.p10, l.p90)
	}
	return svg.Axis{Scale: svg.LogOver(values...), W: width, Format: tickOf(m)}.Ruled()
}

func column(m rollup.Metric, axis svg.Axis) BoardColumn {
	c := BoardColumn{Name: faceOf(m).name, Unit: m.Unit(), Better: "lower is better ↓", Axis: axis.SVG()}
	if m.Better() == stats.HigherIsBetter {
		c.Better, c.Down = "higher is better ↑", true
	}
	return c
}

// cellOf returns the cell of a level.
func cellOf(m rollup.Metric, l level, axis svg.Axis) Cell {
	c := Cell{Number: l.Number, Spread: l.spread, Label: faceOf(m).phone, Unit: m.Unit()}
	if strings.HasSuffix(c.Text, " s") || c.Text == absent {
		c.Unit = ""
	}
	if !math.IsNaN(l.value) {
		c.Range = svg.Range{Axis: axis, Hue: hueOf(m), P50: l.value, P10: l.p10, P90: l.p90, Lo: l.lo, Hi: l.hi}.SVG()
	}
	return c
}

// shareNumber formats a proportion in percent.
func shareNumber(s rollup.Share) Number {
	if !s.OK() {
		return missing(s.Why)
	}
	return number(percent(s.Value), s.Value*100)
}

// priceNumber formats dollars per million tokens.
func priceNumber(usd *float64) Number {
	if usd == nil {
		return Number{Text: absent, Why: "not published"}
	}
	return number(price(*usd), *usd)
}

// stripOf draws the reliability strip.
func stripOf(days []rollup.StripDay) template.HTML {
	strip := svg.Strip{States: make([]svg.State, len(days))}
	for i, d := range days {
		switch d.State {
		case rollup.DayOK:
			strip.States[i] = svg.OK
		case rollup.DayDegraded:
			strip.States[i] = svg.Degraded
		case rollup.DayFailed:
			strip.States[i] = svg.Failed
		}
	}
	return strip.SVG()
}

// trendOf draws the daily medians of the decode rate.
func trendOf(days []rollup.StripDay) template.HTML {
	spark := svg.Spark{Values: make([]float64, len(days))}
	for i, d := range days {
		spark.Values[i] = valueOr(d.Decode)
	}
	return spark.SVG()
}
