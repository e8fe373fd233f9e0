package site

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A PairPage is one endpoint over one window.
type PairPage struct {
	Page
	Name     string
	Provider Link
	Heading  string
	Private  bool

	FirstText string // "420 ms", empty if unknown
	FirstOf   string // the statistic that it is
	Rank      string // "8 to 10", empty if it has none
	RankOf    string
	Board     string // the board that ranks it
	Tied      []Link
	TiedMore  string // "three others"
	Unranked  string // why it has no rank
	Buffered  string // how its stream is known to be held back, may be empty
	Rivalry   *Rivalry
	Note      string
	Badges    []Badge

	Window  string // "7 days"
	Windows []Choice
	Facts   []Fact
	Change  *Change
	Mixed   []string

	Lines   []*Figure
	Arrival *Figure
	Halves  []*Figure
	Numbers Table
	Consts  Facts // what the text cites

	Reliability []Fact
	Outages     []string
	Faults      *Table
	Kinds       *Table
	Delivery    *Table

	Hybrid    string // median of the published hybrid rate, empty if absent
	Decode    string // and of the decode rate
	HybridWhy string

	Repeat    string
	Events    []EventItem
	Others    []Link // other series of the pair
	Foot      string
	Query     string // link to the query behind the page; may be empty
	Origins   *Provenance
	Reuse     *Reuse // nil where the site's address is not known
	PointsCSV string
	JSON      string
}

// A Badge is a short remark beside the lede.
type Badge struct {
	Text string
	Warn bool
}

// A Fact is one large number with its name.
type Fact struct {
	Name, Sub string
	Number
	Unit string
	Href string
}

// windowPath returns the folder of an endpoint's page over a window.
func (p *endpoint) windowPath(w rollup.Window) string {
	if w == rollup.Window7d {
		return p.path
	}
	return p.path + string(w) + "/"
}

// lineMetrics are the metrics drawn over time on a pair's page.
func lineMetrics() []rollup.Metric { return []rollup.Metric{rollup.DecodeTPS, rollup.TTFT} }

func (e *edition) pairFiles() ([]file, error) {
	var files []file
	for _, p := range e.endpoints {
		always := sync.OnceValue(func() timeless { return e.timeless(p) })
		for _, w := range rollup.Windows() {
			path := p.windowPath(w)
			files = append(files,
				e.html(path+"index.html", "pair", func() (any, error) { return e.pairPage(p, w, always()), nil }),
				file{path + "points.csv", func() ([]byte, error) { return e.pointsTable(p, w) }},
			)
			for _, m := range lineMetrics() {
				files = append(files, file{path + faceOf(m).slug + ".json", func() ([]byte, error) { return e.exploreLine(p, w, m) }})
			}
		}
	}
	return files, nil
}

// A timeless part of an endpoint's pages is the same on all of them but for the
// way to other pages, which is not in it.
type timeless struct {
	arrival, week *Figure
	rivalry       *Rivalry
}

func (e *edition) timeless(p *endpoint) timeless {
	return timeless{e.arrivalFigure(p), e.weekFigure(p), e.rivalry("", p)}
}

func (e *edition) pairPage(p *endpoint, w rollup.Window, always timeless) PairPage {
	s := p.summary[w]
	path := p.windowPath(w)
	r := e.rowOf(p, w, rollup.DecodeTPS)
	page := PairPage{
		Name: p.name, Private: p.provider.Private, Note: display(p.model.Note), Window: windowWords(w),
		Heading: e.pairHeading(p, w), Repeat: command(p.model.Repeat), PointsCSV: "points.csv",
	}
	if p.model.Note == "" {
		page.Note = ""
	}
	page.Page = e.page(path, noSection, p.title()+", "+windowWords(w), page.Heading+" Measured on a schedule, with intervals, reliability and every run's number.", "copy.js", "explore.js")
	page.Provider = Link{p.provider.name, page.Root + p.provider.path}
	page.JSON = page.Root + apiPairPath(p)
	e.picture(&page.Page, p)
	page.Alternates, page.Reuse = e.alternates(page.Root, p), e.reuse(page.Root, p)
	page.Origins = e.provenance(page.Root, p, w)
	for _, other := range rollup.Windows() {
		page.Windows = append(page.Windows, Choice{windowName(other), page.Root + p.windowPath(other), other == w})
	}
	for _, other := range p.provider.endpoints {
		if other.series.Pair == p.series.Pair && other != p {
			page.Others = append(page.Others, Link{other.name, page.Root + other.windowPath(w)})
		}
	}
	e.rankWords(&page, p, r, w)
	page.Badges = badgesOf(p, s, r)
	page.Change = e.changeOf(p, w)
	page.Mixed = mixedWords(s.Mixed)
	for _, m := range lineMetrics() {
		if f := e.lineFigure(p, w, m); f != nil {
			page.Lines = append(page.Lines, f)
		}
	}
	page.Facts = e.bigNumbers(p, w)
	page.Arrival = always.arrival.sourced(e.link(page.Root, e.newestQuery(p)))
	for _, x := range []struct {
		*Figure
		q question
	}{
		{always.week, e.hoursQuery(p)},
		{e.spreadFigure(p, w, rollup.TTFT), e.runsQuery(p, w, rollup.TTFT, s.TTFT.Approximate)},
		{e.spreadFigure(p, w, rollup.DecodeTPS), e.runsQuery(p, w, rollup.DecodeTPS, s.Decode.Approximate)},
	} {
		if x.Figure != nil {
			page.Halves = append(page.Halves, x.sourced(e.link(page.Root, x.q)))
		}
	}
	page.Numbers, page.Consts = numbersTable(s), e.facts
	fillReliability(&page, p, s)
	page.Delivery = deliveryTable(s.Delivery)
	fillHybrid(&page, s)
	if r := always.rivalry; r != nil {
		page.Rivalry = &Rivalry{Against: r.Against, Href: page.Root + r.Href, Text: r.Text}
	}
	if page.Buffered = p.bufferingText(); page.Buffered != "" {
		page.HybridWhy = "no rate is given, as the stream is buffered"
	}
	for i := range p.events {
		page.Events = append(page.Events, e.eventItem(&p.events[i], page.Root))
	}
	page.Foot, page.Query = footOf(s), queryLink(page.Root, e.seriesQuery(p, w))
	return page
}

// pairHeading says in one sentence how fast the endpoint is.
func (e *edition) pairHeading(p *endpoint, w rollup.Window) string {
	s := p.summary[w]
	l := e.level(p, w, rollup.DecodeTPS)
	name := p.title()
	switch {
	case p.track.Buffered() && s.OK > 0:
		return fmt.Sprintf("%s holds its answers back until they are made.", name)
	case !math.IsNaN(l.value):
		return fmt.Sprintf("%s writes about %s tokens a second.", name, rate(l.value))
	case s.Runs == 0:
		return fmt.Sprintf("%s was not measured in the last %s.", name, windowWords(w))
	case s.OK == 0:
		return fmt.Sprintf("%s gave no answer in the last %s.", name, windowWords(w))
	case 2*(s.Delivery.Buffered+s.Delivery.HeadBurst) > s.Delivery.N:
		return fmt.Sprintf("%s delivers its answers all at once.", name)
	case l.spread != "":
		return fmt.Sprintf("%s has been measured only %s so far.", name, times(l.n))
	}
	return fmt.Sprintf("%s has no decode rate: %s.", name, because(s.Decode.P50.Why))
}

// times returns "once", "twice", "three times".
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return words(n) + " times"
}

// rankWords fills what the lede says of the endpoint's place.
func (e *edition) rankWords(page *PairPage, p *endpoint, r *rollup.Row, w rollup.Window) {
	if wait := e.level(p, w, rollup.TTFT); wait.Why == "" {
		page.FirstText, page.FirstOf = latency(wait.value), wait.statistic()
		if wait.typical {
			page.FirstText = estimate(e.rowOf(p, w, rollup.TTFT).Typical, latency).Text
		}
	}
	if !r.Ranked {
		if p.summary[w].Runs > 0 {
			page.Unranked = because(r.Why)
		}
		return
	}
	b := e.boards[w][rollup.DecodeTPS]
	page.Rank, page.RankOf = strconv.Itoa(r.Best), count(b.Ranked)
	page.Board = page.Root + e.boardPath(w, rollup.DecodeTPS) + "#" + ofRank
	if r.Worst != r.Best {
		page.Rank += " to " + strconv.Itoa(r.Worst)
	}
	const most = 3
	for _, t := range b.Tied(b.row[p.series]) {
		if t.Series == p.series {
			continue
		}
		other := e.bySeries[t.Series]
		page.Tied = append(page.Tied, Link{other.title(), page.Root + other.windowPath(w)})
	}
	if n := len(page.Tied) - most; n > 1 {
		page.Tied, page.TiedMore = page.Tied[:most], words(n)+" others"
	}
}

// badgesOf returns remarks that the reader must not miss.
func badgesOf(p *endpoint, s *rollup.Summary, r *rollup.Row) []Badge {
	var badges []Badge
	if p.model.Retired {
		badges = append(badges, Badge{"no longer measured", true})
	}
	if s.Provisional {
		badges = append(badges, Badge{"measured since today", true})
	}
	if s.OK > 0 && r.N < stats.MinRankRuns && !p.track.Buffered() {
		badges = append(badges, Badge{fmt.Sprintf("n %d: thin", r.N), true})
	}
	switch s.Freshness {
	case stats.Stale:
		if s.Runs > 0 {
			badges = append(badges, Badge{"stale", true})
		}
	case stats.Aging:
		badges = append(badges, Badge{"aging", true})
	}
	if p.track.Buffered() {
		badges = append(badges, Badge{"buffered: no rate", true})
	}
	if p.series.Nonce {
		badges = append(badges, Badge{"with a nonce", false})
	}
	if p.model.OpenWeights {
		badges = append(badges, Badge{"open weights", false})
	}
	if p.track.Every > 0 && !p.model.Retired {
		badges = append(badges, Badge{"every " + span(p.track.Every), false})
	}
	return badges
}

// bigNumbers returns the row of large numbers, each a door to what it is made of.
func (e *edition) bigNumbers(p *endpoint, w rollup.Window) []Fact {
	s := p.summary[w]
	decode, hybrid, wait := e.level(p, w, rollup.DecodeTPS), e.level(p, w, rollup.HybridTPS), e.level(p, w, rollup.TTFT)
	avail := s.Reliability.Availability
	facts := []Fact{
		{Name: "decode speed" + typicalDay(decode), Number: decode.Number, Unit: "tok/s", Sub: levelSub(decode, rollup.DecodeTPS), Href: "#" + ofLevel(rollup.DecodeTPS)},
		{Name: "first token" + typicalDay(wait), Number: wait.Number, Sub: p95Sub(s.TTFT), Href: "#" + ofLevel(rollup.TTFT)},
		{Name: "published hybrid rule" + typicalDay(hybrid), Number: hybrid.Number, Unit: "tok/s", Sub: cmp.Or(hybrid.Why, "why it differs"), Href: "#" + ofLevel(rollup.HybridTPS)},
		{Name: "available", Number: shareNumber(avail), Unit: "%", Sub: availabilitySub(s), Href: "#" + ofAvail},
		{Name: "whole answer, end to end", Number: estimate(s.E2E.P50, latency), Sub: p95Sub(s.E2E), Href: "#" + ofRuns(rollup.E2E)},
	}
	if s.TTFO.P50.OK() && s.Delivery.Reasoned > 0 {
		facts = append(facts, Fact{Name: "first output, thinking included", Number: estimate(s.TTFO.P50, latency), Href: "#" + ofRuns(rollup.TTFO)})
	}
	for i := range facts {
		f := &facts[i]
		splitUnit(f)
		if f.Why != "" { // there is nothing behind the door
			f.Href = ""
		}
	}
	return facts
}

// typicalDay tells a score over days from the median of all runs, which stands
// on the same page.
func typicalDay(l level) string {
	if l.statistic() == "score" {
		return ", typical day"
	}
	return ""
}

// splitUnit sets the unit of a time apart from its digits.
func splitUnit(f *Fact) {
	if f.Why != "" {
		f.Unit = ""
		return
	}
	if f.Unit != "" {
		return
	}
	if i := strings.LastIndexByte(f.Text, ' '); i > 0 {
		f.Text, f.Unit = f.Text[:i], f.Text[i+1:]
	} else {
		f.Unit = "ms" // a bare time is in milliseconds
	}
}

// levelSub says how sure a level is.
func levelSub(l level, m rollup.Metric) string {
	switch {
	case l.Why != "" && l.spread != "":
		return "single runs: " + l.spread
	case l.Why != "":
		return l.Why
	case sortKey(l.lo) != "":
		return fmt.Sprintf("%d %% interval %s–%s", whole(l.confidence), bare(m, l.lo), bare(m, l.hi))
	case sortKey(l.p10) != "":
		return fmt.Sprintf("p10 to p90: %s–%s", bare(m, l.p10), bare(m, l.p90))
	}
	return "median of " + plural(l.n, "run")
}

func p95Sub(d rollup.Distribution) string {
	if x := d.WithTimeouts.P95; x.OK() && d.P50.OK() {
		if d.Timeouts+d.Late > 0 {
			return "p95 counting timeouts " + estimate(x, latency).Text
		}
		return "p95 " + estimate(x, latency).Text
	}
	if !d.P50.OK() {
		return because(d.P50.Why)
	}
	return "n " + count(d.N)
}

func availabilitySub(s *rollup.Summary) string {
	a := s.Reliability.Availability
	if !a.OK() {
		return because(a.Why)
	}
	outages := plural(len(s.Reliability.Outages), "outage")
	if since := s.Reliability.OutagesSince; !since.IsZero() {
		outages += " since " + day(since)
	}
	return fmt.Sprintf("%s–%s, %s", percent(a.Interval.Lo), percent(a.Interval.Hi), outages)
}

// changeOf says what changed lately: a detected shift with its parts, else the
// window against the one before.
func (e *edition) changeOf(p *endpoint, w rollup.Window) *Change {
	for i := range p.events {
		ev := &p.events[i]
		if ev.Shift == nil || e.now.Sub(ev.Onset) > recent {
			continue
		}
		head := shiftHead(ev)
		text := capital(faceName(ev.Shift.Metric)) + " is " + shiftWords(ev.Shift) + "."
		if ev.Shift.Split != nil {
			return splitChange(head, text, *ev.Shift.Split)
		}
		return &Change{Head: head, Text: text}
	}
	if w != rollup.Window7d && w != rollup.Window24h {
		return nil
	}
	d, ok := p.track.Split(w, e.now)
	if !ok {
		return nil
	}
	c := splitChange("No lasting change found", "Against the "+windowWords(w)+" before,", d)
	c.Figure = nil // ordinary variation deserves words, not a picture
	return c
}

// recent is how long a shift stands at the top of its page.
const recent = 30 * rollup.Day

func faceName(m rollup.Metric) string {
	if m == rollup.TTFT {
		return "first token"
	}
	return "decode speed"
}

// mixedWords says which conditions changed within a window.
func mixedWords(m rollup.Mixed) []string {
	var notes []string
	ints := func(what string, list []int) {
		if len(list) > 1 {
			var text []string
			for _, v := range list {
				text = append(text, strconv.Itoa(v))
			}
			notes = append(notes, what+" "+strings.Join(text, ", "))
		}
	}
	texts := func(what string, list []string) {
		if len(list) > 1 {
			const most = 6
			var text []string
			for _, v := range list[:min(len(list), most)] {
				text = append(text, display(v))
			}
			if len(list) > most {
				text = append(text, words(len(list)-most)+" more")
			}
			notes = append(notes, what+" "+strings.Join(text, ", "))
		}
	}
	ints("method versions", m.Methods)
	ints("prompt versions", m.Prompts)
	texts("wire formats", m.Protocols)
	texts("places", m.Regions)
	texts("served models", m.Served)
	texts("routes", m.Routes)
	ints("lanes", m.Lanes)
	return notes
}

// footOf says what the numbers rest on.
func footOf(s *rollup.Summary) string {
	parts := []string{"n " + count(s.Runs)}
	for _, v := range s.Mixed.Methods {
		parts = append(parts, "method "+strconv.Itoa(v))
	}
	for _, v := range s.Mixed.Prompts {
		parts = append(parts, "prompt "+strconv.Itoa(v))
	}
	parts = append(parts, "from "+display(cmp.Or(s.Series.Vantage, "an unnamed place")))
	if s.Series.Nonce {
		parts = append(parts, "with a nonce")
	}
	if s.Noisy > 0 {
		parts = append(parts, plural(s.Noisy, "run")+" left out as our own machine was busy")
	}
	if s.Bucketed {
		parts = append(parts, "partly from daily rollups, within 1 %")
	}
	return strings.Join(parts, " · ")
}
