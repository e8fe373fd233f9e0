package site

import (
	"encoding/json"
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
	"github.com/streamgauge/streamgauge/site/svg"
)

// A ComparePage lets a reader choose endpoints to compare. Without scripts it
// compares the first two of the board, and each row with those below it.
type ComparePage struct {
	Page
	Heading, Lede string
	Shown         BoardTable // of All, the first two
	Versus        []Versus   // of those
	Note          string     // how sure Versus is
	Notes         []string   // the same for two, three and four endpoints
	Data          string     // folder of the files that scripts read
	SpeedQuery    string     // link to the days of a difference, where scripts fill in the series
	WaitQuery     string     // for {A} and {B}
	Neighbours    []Versus
	NearNote      string
	All           BoardTable
	More          string // endpoints that cannot be chosen here
}

// A DuelPage compares two endpoints.
type DuelPage struct {
	Page
	Heading, Lede string
	Table         BoardTable
	Versus        []Versus
	Note          string
	Drawn         []DrawnDifference
	Axis          template.HTML
	PhoneAxis     template.HTML
	Lengths       *Table
	Lines         []*Figure
	Choose        string // where more can be chosen
	Origins       *Provenance
}

// A Versus is one endpoint against another, seen from the first.
type Versus struct {
	A, B        Link
	Href        string // a page about the two, may be empty
	Speed, Wait Difference
	Done        string // which one is done first, at which length
}

// A Difference is what can be said of two endpoints in one metric.
type Difference struct {
	Text     string
	Clear    bool
	Interval string // with the days it rests on
	Href     string // the entry that it is a door to, empty if there is none
}

// A DrawnDifference is a difference with its interval on an axis of percent.
type DrawnDifference struct {
	Name, Text string
	Range      template.HTML
	Phone      template.HTML
}

const (
	// compareWindow has enough days to tell endpoints apart that a week cannot.
	compareWindow = rollup.Window30d

	// maxComparable bounds what a site of very many endpoints compares each with
	// each: the first so many of the board.
	maxComparable = 120

	// neighbourReach is how many rows below it each row of the board is held
	// against on a page of its own.
	neighbourReach = 2

	// maxChosen is how many endpoints a reader may choose at once.
	maxChosen = 4

	comparedPath = "compared/" // data for scripts, one file for each endpoint
)

// compareMetrics are what two endpoints are compared in; each is one comparison
// more that an interval is widened for.
func compareMetrics() []rollup.Metric { return []rollup.Metric{rollup.DecodeTPS, rollup.TTFT} }

// A field is the endpoints that can be compared, in the order of the board, with
// what comparing them needs.
type field struct {
	list  []*endpoint
	sides map[*endpoint][]rollup.Side // in the order of compareMetrics
	more  int                         // endpoints left out
}

// comparable returns the endpoints with a run in the window, at most maxComparable.
func (e *edition) comparable() *field {
	f := &field{sides: map[*endpoint][]rollup.Side{}}
	board := e.boards[listWindow][rollup.DecodeTPS]
	for i := range board.Rows {
		p := e.bySeries[board.Rows[i].Series]
		switch {
		case p.summary[compareWindow].Runs == 0:
		case len(f.list) == maxComparable:
			f.more++
		default:
			f.list = append(f.list, p)
			for _, m := range compareMetrics() {
				f.sides[p] = append(f.sides[p], p.track.Side(m, compareWindow, e.now))
			}
		}
	}
	return f
}

// compare compares two endpoints in all metrics, as one of so many pairs.
func (f *field) compare(a, b *endpoint, pairs int) []rollup.Comparison {
	comparisons := pairs * len(compareMetrics())
	var list []rollup.Comparison
	for i := range f.sides[a] {
		list = append(list, f.sides[a][i].Against(f.sides[b][i], comparisons))
	}
	return list
}

// duels returns the neighbours of the board that can be compared.
func (f *field) duels() [][2]*endpoint {
	var list [][2]*endpoint
	for i, a := range f.list {
		for _, b := range f.list[i+1 : min(i+1+neighbourReach, len(f.list))] {
			if f.compare(a, b, 1)[0].Verdict != rollup.NotComparable {
				list = append(list, [2]*endpoint{a, b})
			}
		}
	}
	return list
}

// key names an endpoint in the addresses of scripts: provider/model.
func (p *endpoint) key() string {
	return strings.TrimSuffix(strings.TrimPrefix(p.path, "pair/"), "/")
}

func duelPath(a, b *endpoint) string { return comparePath + a.key() + "/" + b.key() + "/" }

func (e *edition) compareFiles() ([]file, error) {
	f := e.comparable()
	duels := f.duels()
	files := []file{e.html(comparePath+"index.html", "compare", func() (any, error) { return e.comparePage(f, duels), nil })}
	for _, d := range duels {
		files = append(files, e.html(duelPath(d[0], d[1])+"index.html", "duel", func() (any, error) { return e.duelPage(f, d[0], d[1]), nil }))
	}
	for _, p := range f.list {
		files = append(files, file{comparedPath + p.key() + ".json", func() ([]byte, error) { return e.comparedJSON(f, p) }})
	}
	return files, nil
}

func (e *edition) comparePage(f *field, duels [][2]*endpoint) ComparePage {
	p := ComparePage{Heading: "Compare endpoints side by side."}
	if len(f.list) < 2 {
		p.Lede = "There is nothing to compare yet: it takes two endpoints that were measured in the last " + windowWords(compareWindow) + "."
	}
	clear := 0
	p.Page = e.page(comparePath, comparePath, "Compare", "Two to four endpoints side by side, with the differences between them and how sure they are.", "compare.js")
	e.wear(&p.Page, "compare.css")
	for _, d := range duels {
		v := e.versus(p.Root, d[0], d[1], f.compare(d[0], d[1], len(duels)))
		v.lead(p.Root + duelPath(d[0], d[1]))
		if v.Speed.Clear {
			clear++
		}
		p.Neighbours = append(p.Neighbours, v)
	}
	if n := len(duels); n > 0 {
		p.Heading = fmt.Sprintf("%s of %s neighbours on the board differ clearly in speed.", capital(words(clear)), words(n))
		if n == 1 {
			p.Heading = "The two neighbours on the board do not differ clearly in speed."
			if clear == 1 {
				p.Heading = "The two neighbours on the board differ clearly in speed."
			}
		}
		p.NearNote = fmt.Sprintf("Each row of the board against the %s below it. The intervals are at %s, widened for the %s made here at once; a page of two makes only two.",
			words(neighbourReach), confidenceWords(n*len(compareMetrics())), plural(n*len(compareMetrics()), "comparison"))
		p.Lede = "Over " + windowWords(compareWindow) + ", day against day: what a busy day did to both cancels. A difference is claimed only where its interval leaves out nought."
	} else if len(f.list) > 1 {
		p.Lede = "No two endpoints share enough days yet for a difference with an interval. Their medians stand side by side."
	}
	if f.more > 0 {
		p.More = fmt.Sprintf("The first %s of the board can be compared; %s are left out.", count(len(f.list)), count(f.more))
	}
	p.All = e.boardTable(p.Page, f.list, compareWindow, rollup.DecodeTPS)
	p.All.Caption = "All endpoints over the last " + windowWords(compareWindow)
	p.Data = p.Root + comparedPath
	for n := 2; n <= maxChosen; n++ {
		p.Notes = append(p.Notes, compareNote(n*(n-1)/2))
	}
	p.Note = p.Notes[0]
	if len(f.list) > 1 {
		p.Shown = p.All
		p.Shown.Caption = "Side by side, over the last " + windowWords(compareWindow)
		p.Shown.Rows, p.Shown.Unranked, p.Shown.Ranks = p.All.Rows[:2], "", nil // which stands below all
		rows := e.boards[compareWindow][rollup.DecodeTPS].row
		order := slices.SortedFunc(slices.Values(f.list), func(a, b *endpoint) int { return rows[a.series] - rows[b.series] })
		v := e.versus(p.Root, order[0], order[1], f.compare(order[0], order[1], 1))
		v.Speed.Href = queryLink(p.Root, e.pairedQuery(order[0], order[1], rollup.DecodeTPS, compareWindow))
		v.Wait.Href = queryLink(p.Root, e.pairedQuery(order[0], order[1], rollup.TTFT, compareWindow))
		p.Versus = []Versus{v}
		p.SpeedQuery = queryLink(p.Root, e.pairedOf("{A}", "{B}", rollup.DecodeTPS, compareWindow))
		p.WaitQuery = queryLink(p.Root, e.pairedOf("{A}", "{B}", rollup.TTFT, compareWindow))
	}
	return p
}

// lead makes the differences doors to their entries on the page of the two.
func (v *Versus) lead(page string) {
	v.Href = page
	v.Speed.Href, v.Wait.Href = page+"#"+ofDifference(rollup.DecodeTPS), page+"#"+ofDifference(rollup.TTFT)
}

// ofDifference is the fragment of a difference on the page of two endpoints.
func ofDifference(m rollup.Metric) string { return ofPrefix + "difference-" + faceOf(m).slug }

// compareNote says how sure the differences among so many pairs are.
func compareNote(pairs int) string {
	n := pairs * len(compareMetrics())
	return fmt.Sprintf("Intervals are at %s, widened for %s comparisons made at once.", confidenceWords(n), words(n))
}

// confidenceWords formats the confidence of each of so many comparisons with as
// many digits as keep it apart from certainty.
func confidenceWords(comparisons int) string {
	c := 100 * (1 - 0.05/float64(comparisons))
	for digits := 3; ; digits++ {
		if text := significant(c, digits); text[:3] != "100" {
			return text + " %"
		}
	}
}

// versus puts what two endpoints differ in into words.
func (e *edition) versus(root string, a, b *endpoint, c []rollup.Comparison) Versus {
	return Versus{
		A: Link{a.title(), root + a.windowPath(compareWindow)}, B: Link{b.title(), root + b.windowPath(compareWindow)},
		Speed: differenceOf(c[0]), Wait: differenceOf(c[1]), Done: doneFirst(a, b, c[0], c[1]),
	}
}

func differenceOf(c rollup.Comparison) Difference {
	switch c.Verdict {
	case rollup.NotComparable:
		return Difference{Text: "not comparable", Interval: because(c.Why)}
	case rollup.NoClearDifference:
		return Difference{Text: "no clear difference", Interval: intervalWords(c) + ", " + plural(c.Days, "day")}
	}
	return Difference{Text: ratioWords(c), Clear: true, Interval: intervalWords(c) + ", " + plural(c.Days, "day")}
}

// intervalWords formats the interval of a ratio in the unit of [ratioWords].
func intervalWords(c rollup.Comparison) string {
	if c.Ratio >= 2 {
		return significant(c.Interval.Lo, 2) + " to " + significant(c.Interval.Hi, 2) + " times"
	}
	return ratioInterval(c)
}

// ratioWords puts a clear ratio in words, as seen from the first.
func ratioWords(c rollup.Comparison) string {
	rate := c.Metric.Better() == stats.HigherIsBetter
	switch {
	case rate && c.Ratio >= 2:
		return significant(c.Ratio, 2) + " times as fast"
	case c.Ratio >= 2:
		return significant(c.Ratio, 2) + " times the wait"
	}
	sense := map[bool][2]string{true: {"slower", "faster"}, false: {"sooner", "later"}}[rate]
	word := sense[0]
	if c.Ratio > 1 {
		word = sense[1]
	}
	return significant(math.Abs(c.Ratio-1)*100, 2) + " % " + word
}

// doneFirst says which of two is done first, as far as their differences are
// clear: the crossover of two speeds that may be the same is no length at all.
func doneFirst(a, b *endpoint, speed, wait rollup.Comparison) string {
	if speed.Verdict == rollup.NotComparable || wait.Verdict == rollup.NotComparable {
		return ""
	}
	faster, sooner := winner(speed, a, b), winner(wait, a, b)
	switch {
	case faster == nil && sooner == nil:
		return "At no length is either clearly ahead."
	case faster == sooner:
		return fmt.Sprintf("%s starts sooner and streams faster: it is done first at every length.", faster.title())
	case sooner == nil:
		return fmt.Sprintf("%s streams faster, the starts cannot be told apart: it is done first once an answer is long.", faster.title())
	case faster == nil:
		return fmt.Sprintf("%s starts sooner, the speeds cannot be told apart: it is done first while an answer is short.", sooner.title())
	case speed.HasCrossover:
		return fmt.Sprintf("%s is done first up to about %s tokens, %s from there on.", sooner.title(), significant(speed.Crossover, 2), faster.title())
	}
	// Clear by days, yet the medians of all runs do not cross.
	return fmt.Sprintf("%s starts sooner, %s streams faster.", sooner.title(), faster.title())
}

// winner returns the better of two by a comparison, nil if that is not clear.
func winner(c rollup.Comparison, a, b *endpoint) *endpoint {
	switch c.Verdict {
	case rollup.ABetter:
		return a
	case rollup.BBetter:
		return b
	}
	return nil
}

func (e *edition) duelPage(f *field, a, b *endpoint) DuelPage {
	c := f.compare(a, b, 1)
	page := DuelPage{Note: compareNote(1)}
	switch winner(c[0], a, b) {
	case nil:
		page.Heading = fmt.Sprintf("%s and %s: no clear difference in speed.", a.title(), b.title())
	default:
		page.Heading = fmt.Sprintf("%s is %s as %s.", a.title(), ratioWords(c[0]), b.title())
		if c[0].Ratio < 2 {
			page.Heading = fmt.Sprintf("%s is %s than %s.", a.title(), ratioWords(c[0]), b.title())
		}
	}
	page.Page = e.page(duelPath(a, b), comparePath, a.title()+" against "+b.title(), page.Heading+" With intervals, first token and the length at which one overtakes the other.")
	e.wear(&page.Page, "compare.css")
	page.Versus = []Versus{e.versus(page.Root, a, b, c)}
	page.Lede = page.Versus[0].Done
	both := []*endpoint{a, b}
	page.Table = e.boardTable(page.Page, both, compareWindow, rollup.DecodeTPS)
	page.Table.Caption = "Side by side, over the last " + windowWords(compareWindow) + "; ranks are among all endpoints"
	page.Table.Unranked = ""
	page.draw(c)
	page.Lengths = e.lengthsTable(page.Root, both)
	page.Origins = e.differenceOrigins(page.Root, a, b, c)
	page.Versus[0].lead("")
	page.Lines = e.modelLines(page.Root, both, func(p *endpoint) string { // no longer than what tells them apart
		switch {
		case a.name != b.name:
			return p.name
		case a.provider.name != b.provider.name:
			return p.provider.name
		}
		return p.title()
	})
	page.Choose = page.Root + comparePath + "?with=" + a.key() + "&with=" + b.key()
	return page
}

// draw draws the differences on one axis of percent.
func (page *DuelPage) draw(c []rollup.Comparison) {
	percentOf := func(ratio float64) float64 { return (ratio - 1) * 100 }
	ends := []float64{0}
	for _, x := range c {
		if x.Verdict != rollup.NotComparable {
			ends = append(ends, percentOf(x.Interval.Lo), percentOf(x.Interval.Hi))
		}
	}
	wide := svg.Axis{Scale: svg.LinearOver(ends...), W: 560, Zero: true}
	phone := wide
	phone.W, phone.Text = 358, 12
	page.Axis, page.PhoneAxis = wide.SVG(), phone.SVG()
	nan := math.NaN()
	for i, x := range c {
		if x.Verdict == rollup.NotComparable {
			continue
		}
		m := compareMetrics()[i]
		d := DrawnDifference{Name: faceOf(m).name, Text: differenceOf(x).Text}
		r := svg.Range{Hue: hueOf(m), P50: percentOf(x.Ratio), P10: nan, P90: nan, Lo: percentOf(x.Interval.Lo), Hi: percentOf(x.Interval.Hi)}
		r.Axis = wide
		d.Range = r.SVG()
		r.Axis = phone
		d.Phone = r.SVG()
		page.Drawn = append(page.Drawn, d)
	}
}

// lengthsTable lists how long answers of several lengths take.
func (e *edition) lengthsTable(root string, list []*endpoint) *Table {
	t := &Table{Caption: "Until so many tokens have arrived, seconds, on the typical day", Head: []Head{{"Answer", false}}}
	for _, p := range list {
		t.Head = append(t.Head, Head{p.title(), true})
	}
	for _, m := range rollup.BoardMetrics() {
		if m.Tokens() == 0 {
			continue
		}
		row, to := []string{count(m.Tokens()) + " tokens"}, []string{""}
		for _, p := range list {
			to = append(to, root+p.windowPath(compareWindow)+"#"+ofLevel(m))
			row = append(row, e.level(p, compareWindow, m).Text)
		}
		t.Rows, t.Doors = append(t.Rows, row), append(t.Doors, to)
	}
	return t
}

// A comparedEndpoint is an endpoint against each other one, as the script shows it.
type comparedEndpoint struct {
	Series  []string                `json:"series"` // as [seriesTerms] has them; null where no link can hold them
	Against map[string]comparedPair `json:"against"`
}

// A comparedPair is one endpoint against another: texts for two, three and four
// endpoints chosen, which differ in how far intervals are widened.
type comparedPair struct {
	Series []string                 `json:"series"` // of the other
	Speed  [maxChosen - 1][2]string `json:"speed"`  // what, interval
	Wait   [maxChosen - 1][2]string `json:"wait"`
	Done   [maxChosen - 1]string    `json:"done"`
}

// comparedJSON returns what is said of an endpoint against each other one.
func (e *edition) comparedJSON(f *field, p *endpoint) ([]byte, error) {
	all := comparedEndpoint{Series: e.linkedTerms(p), Against: map[string]comparedPair{}}
	for _, other := range f.list {
		if other == p {
			continue
		}
		x := comparedPair{Series: e.linkedTerms(other)}
		for i := range x.Done {
			chosen := i + 2
			c := f.compare(p, other, chosen*(chosen-1)/2)
			speed, wait := differenceOf(c[0]), differenceOf(c[1])
			x.Speed[i], x.Wait[i] = [2]string{speed.Text, speed.Interval}, [2]string{wait.Text, wait.Interval}
			x.Done[i] = doneFirst(p, other, c[0], c[1])
		}
		all.Against[other.key()] = x
	}
	data, err := json.Marshal(all)
	if err != nil {
		return nil, fmt.Errorf("encode comparisons of %s: %w", strconv.Quote(p.key()), err)
	}
	return append(data, '\n'), nil
}

// linkedTerms returns the condition that names a series for a link that compares
// it, nil if a link cannot hold it twice.
func (e *edition) linkedTerms(p *endpoint) []string {
	if queryLink("", e.pairedQuery(p, p, rollup.DecodeTPS, compareWindow)) == "" {
		return nil
	}
	return seriesTerms(p, "")
}

// differenceOrigins says where the differences of two endpoints come from.
func (e *edition) differenceOrigins(root string, a, b *endpoint, c []rollup.Comparison) *Provenance {
	span := compareWindow.Span(e.now)
	x := &Provenance{From: instant(span.From), To: instant(span.To), Versions: versionWords(a.summary[compareWindow].Mixed)}
	if command(a.model.Repeat) != "" {
		x.Repeat = root + a.windowPath(compareWindow) + "#repeat"
	}
	for i, m := range compareMetrics() {
		o := Origin{
			ID: ofDifference(m), Name: lowerFirst(faceOf(m).name), Text: absent, Method: "rank", N: plural(c[i].Days, "day"),
			Formula: "of one day: the median of the first ÷ the median of the second", Taken: because(c[i].Why),
			Query: queryLink(root, e.pairedQuery(a, b, m, compareWindow)),
		}
		if c[i].Verdict != rollup.NotComparable {
			o.Text = significant(c[i].Ratio, 3)
			o.Taken = fmt.Sprintf("geometric mean over the days that both have; t interval of the logarithms at %s", confidenceWords(len(compareMetrics())))
		}
		x.Rows = append(x.Rows, o)
	}
	return x
}
