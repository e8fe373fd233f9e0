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

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site/svg"
)

// A ReliabilityPage holds the endpoints' failures against each other.
type ReliabilityPage struct {
	Page
	Heading, Window string
	Rows            []ReliabilityRow
	Axis, PhoneAxis template.HTML
	Anatomy         *Figure
	Faults          *Table
	Outages         *Table
	More            string // older outages
	Thinkers        []Thinker
	Observer        string // runs that failed on our side, may be empty
	CSV             string
}

// A ReliabilityRow is one endpoint.
type ReliabilityRow struct {
	Path, Href     string // its page over the window, and the part of it about failures
	Name, Provider string
	Words          string // what the filter looks at
	Class          string

	Available, Success, Throttle Number
	Interval                     string // of Available
	SuccessInterval              string
	ThrottleInterval             string
	Range, Strip                 template.HTML
	Outages, Runs, Thought       Number
}

// Door makes a number of the row a door to an entry of the endpoint's page.
func (r ReliabilityRow) Door(n Number, entry string) made {
	return made{Number: n, Href: r.Path + "#" + ofPrefix + entry}
}

// A Thinker is an endpoint that spent a run's whole budget on thinking.
type Thinker struct {
	Link
	Runs string // "3 of 700 runs"
}

const (
	reliabilityWindow = rollup.Window30d
	reliabilityCSV    = "reliability.csv"
	maxOutages        = 40
	maxFaults         = 20
)

// thoughtAway reports whether a run used up its tokens before the answer began:
// it ended properly, with reasoning and without a visible word. It is a failure
// for who waits for an answer, and another one than a broken stream.
func thoughtAway(s *bench.Sample) bool {
	reasoned := s.FirstReason > 0 || s.Usage.Reasoning.Known && s.Usage.Reasoning.N > 0
	return s.Kind == wire.KindMalformed && s.Detail == wire.DetailNoVisibleOutput && reasoned
}

// thoughts counts such runs of an endpoint by UTC day.
func (e *edition) thoughts(p *endpoint, span rollup.Span) map[time.Time]int {
	byDay := map[time.Time]int{}
	for i := range e.in.Histories {
		h := &e.in.Histories[i]
		if h.Series != p.series {
			continue
		}
		for j := range h.Samples {
			if s := &h.Samples[j]; span.Contains(s.StartedAt) && thoughtAway(s) {
				byDay[s.StartedAt.UTC().Truncate(rollup.Day)]++
			}
		}
	}
	return byDay
}

func (e *edition) reliabilityFiles() ([]file, error) {
	return []file{
		e.html(reliabilityPath+"index.html", "reliability", func() (any, error) { return e.reliabilityPage(), nil }),
		{reliabilityPath + reliabilityCSV, e.reliabilityCells},
	}, nil
}

// byAvailability returns the endpoints that ran in the window, those first whose
// availability is at least the highest.
func (e *edition) byAvailability() []*endpoint {
	var list []*endpoint
	for _, p := range e.endpoints {
		if p.summary[reliabilityWindow].Runs > 0 {
			list = append(list, p)
		}
	}
	least := func(p *endpoint) float64 {
		if a := p.summary[reliabilityWindow].Reliability.Availability; a.OK() {
			return a.Interval.Lo
		}
		return -1
	}
	slices.SortStableFunc(list, func(a, b *endpoint) int { return cmp.Compare(least(b), least(a)) })
	return list
}

func (e *edition) reliabilityPage() ReliabilityPage {
	list := e.byAvailability()
	page := ReliabilityPage{Window: windowWords(reliabilityWindow), CSV: reliabilityCSV}
	page.Page = e.page(reliabilityPath, reliabilityPath, "Reliability", "Availability, success and throttling of every endpoint with intervals, outages, and what the failures were, day by day.", "leaderboard.js")
	e.wear(&page.Page, "reliability.css")
	axis := availabilityAxis(list)
	page.Axis = axis.SVG()
	phone := axis
	phone.W, phone.Text, phone.H = 358, 12, 18
	page.PhoneAxis = phone.SVG()
	calm, observer := 0, 0
	thought := map[*endpoint]map[time.Time]int{}
	for _, p := range list {
		thought[p] = e.thoughts(p, p.summary[reliabilityWindow].Span)
		row := reliabilityRow(page.Root, p, axis)
		n := 0
		for _, k := range thought[p] {
			n += k
		}
		row.Thought = number(count(n), float64(n))
		if n > 0 {
			page.Thinkers = append(page.Thinkers, Thinker{Link{p.title(), row.Href},
				fmt.Sprintf("%s of %s", count(n), plural(p.summary[reliabilityWindow].Runs, "run"))})
		}
		r := &p.summary[reliabilityWindow].Reliability
		if len(r.Outages) == 0 && r.Counts.Valid() > 0 {
			calm++
		}
		observer += r.Observer
		page.Rows = append(page.Rows, row)
	}
	page.Heading = "Nothing was measured in the last " + page.Window + "."
	if len(list) > 0 {
		page.Heading = fmt.Sprintf("%s of %s had no outage in %s.", capital(words(calm)), plural(len(list), "endpoint"), page.Window)
	}
	if observer > 0 {
		page.Observer = fmt.Sprintf("%s failed with most others at once: our own connection did. They are among the bars, and in no rate.", plural(observer, "run"))
	}
	page.Anatomy = e.anatomyFigure(list, thought)
	page.Anatomy = page.Anatomy.sourced(queryLink(page.Root, e.anatomyQuery(reliabilityWindow)))
	if page.Faults = e.faultsTable(list); page.Faults != nil {
		page.Faults.Query = e.link(page.Root, e.allFailuresQuery(reliabilityWindow))
	}
	page.Outages, page.More = outagesTable(page.Root, list)
	return page
}

// availabilityAxis returns the axis that all availabilities share, in percent.
// It ends at 90 at the latest, so that one dead endpoint does not press all
// others together; what lies below is drawn as an arrow.
func availabilityAxis(list []*endpoint) svg.Axis {
	low := 99.0
	for _, p := range list {
		if a := p.summary[reliabilityWindow].Reliability.Availability; a.OK() {
			low = min(low, a.Interval.Lo*100)
		}
	}
	return svg.Axis{Scale: svg.Linear(max(math.Floor(low), 90), 100), W: speedWidth}
}

func reliabilityRow(root string, p *endpoint, axis svg.Axis) ReliabilityRow {
	s := p.summary[reliabilityWindow]
	r := &s.Reliability
	row := ReliabilityRow{
		Path: root + p.windowPath(reliabilityWindow), Href: root + p.windowPath(reliabilityWindow) + "#reliability", Name: p.name, Provider: p.provider.name,
		Available: shareNumber(r.Availability), Success: shareNumber(r.SuccessRate), Throttle: shareNumber(r.Throttle),
		Interval: shareInterval(r.Availability), SuccessInterval: shareInterval(r.SuccessRate), ThrottleInterval: shareInterval(r.Throttle),
		Strip: stripOf(p.strip), Runs: number(count(s.Runs), float64(s.Runs)), Outages: number(count(len(r.Outages)), float64(len(r.Outages))),
	}
	row.Words = strings.ToLower(row.Name + " " + row.Provider)
	if a := r.Availability; a.OK() {
		nan := math.NaN()
		row.Range = svg.Range{Axis: axis, Hue: svg.Neutral, P50: a.Value * 100, P10: nan, P90: nan, Lo: a.Interval.Lo * 100, Hi: a.Interval.Hi * 100}.SVG()
	}
	if r.Counts.Valid() < stableRuns {
		row.Class = "thin"
	}
	return row
}

// stableRuns is the number of runs under which one failure moves a rate by more
// than a percent.
const stableRuns = 100

func shareInterval(s rollup.Share) string {
	if !s.OK() {
		return ""
	}
	return percent(s.Interval.Lo) + "–" + percent(s.Interval.Hi)
}

// A cause is a kind of failure as the page counts it: those of wire, and apart
// from them what was thought away.
type cause struct {
	name  string
	kind  wire.ErrorKind
	thunk bool
}

// causes are in the order in which they are stacked: theirs, the plan's, ours.
func causes() []cause {
	list := []cause{{name: "only thought", kind: wire.KindMalformed, thunk: true}}
	for _, k := range []wire.ErrorKind{wire.KindServer, wire.KindTimeout, wire.KindNetwork, wire.KindMalformed, wire.KindRateLimit, wire.KindAuth, wire.KindQuota} {
		list = append(list, cause{name: kindWords(k), kind: k})
	}
	return list
}

// anatomyFigure stacks the failures of all endpoints by what they were, a bar a
// day, as a share of the day's runs.
func (e *edition) anatomyFigure(list []*endpoint, thought map[*endpoint]map[time.Time]int) *Figure {
	span := reliabilityWindow.Span(e.now)
	days := reliabilityWindow.Days()
	all := causes()
	runs, counts := make([]int, days), make([][]int, len(all))
	for i := range counts {
		counts[i] = make([]int, days)
	}
	for _, p := range list {
		for i, d := range p.track.Anatomy(span).Days {
			away := thought[p][d.Day]
			runs[i] += d.Runs
			for k, c := range all {
				switch {
				case c.thunk:
					counts[k][i] += away
				case c.kind == wire.KindMalformed:
					counts[k][i] += max(d.Errors[c.kind]-away, 0)
				default:
					counts[k][i] += d.Errors[c.kind]
				}
			}
		}
	}
	total, failed := 0, 0
	for i, n := range runs {
		total += n
		for k := range all {
			failed += counts[k][i]
		}
	}
	if total == 0 {
		return nil
	}
	fig := &Figure{
		ID: "anatomy", Title: "What the failures were, day by day",
		Text:  fmt.Sprintf("%s of %s failed, of all endpoints. Each bar is a UTC day, as a share of its runs. Key and credit are our own fault, a rate limit is the plan's, the rest are theirs.", capital(plural(failed, "run")), count(total)),
		Label: "Failures of all endpoints by kind and day, in percent of the runs",
		Table: &Table{Caption: "Failures by UTC day, newest first", Head: []Head{{"Day", false}, {"Runs", true}}},
	}
	chart := svg.Stack{Label: fig.Label, From: span.From, Slot: rollup.Day, N: days, Format: svg.Percent, Top: 1}
	var shown []int
	for k, c := range all {
		layer := svg.Layer{Name: c.name, Hue: svg.Entity(k), Values: make([]float64, days)}
		sum := 0
		for i := range days {
			sum += counts[k][i]
			layer.Values[i] = math.NaN()
			if runs[i] > 0 {
				layer.Values[i] = 100 * float64(counts[k][i]) / float64(runs[i])
			}
		}
		if sum > 0 {
			chart.Layers = append(chart.Layers, layer)
			shown = append(shown, k)
			fig.Table.Head = append(fig.Table.Head, Head{capital(c.name), true})
		}
	}
	if len(shown) == 0 {
		fig.Text = "None of " + plural(total, "run") + " failed."
		return &Figure{ID: fig.ID, Title: fig.Title, Text: fig.Text}
	}
	for i := days - 1; i >= 0; i-- {
		row := []string{span.From.AddDate(0, 0, i).Format("2 Jan 2006"), count(runs[i])}
		for _, k := range shown {
			row = append(row, count(counts[k][i]))
		}
		fig.Table.Rows = append(fig.Table.Rows, row)
	}
	fig.Wide, fig.Phone = drawing(func(s svg.Size) template.HTML {
		chart.Size = s
		return chart.SVG()
	}, svg.Wide(240), svg.Phone(230))
	return fig
}

// faultsTable adds up what the failures of all endpoints were, of raw samples.
func (e *edition) faultsTable(list []*endpoint) *Table {
	sums := map[rollup.Fault]int{}
	for _, p := range list {
		for _, f := range p.track.Anatomy(reliabilityWindow.Span(e.now)).Faults {
			n := f.N
			f.N = 0
			sums[f] += n
		}
	}
	var faults []rollup.Fault
	for f, n := range sums {
		f.N = n
		faults = append(faults, f)
	}
	slices.SortFunc(faults, func(a, b rollup.Fault) int {
		return cmp.Or(b.N-a.N, cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Detail, b.Detail), cmp.Compare(a.Phase, b.Phase))
	})
	if len(faults) == 0 {
		return nil
	}
	t := &Table{Caption: "The commonest failures, of runs whose raw samples are kept", Head: []Head{{"Kind", false}, {"Whose", false}, {"Detail", false}, {"Failed while", false}, {"Runs", true}}}
	for _, f := range faults[:min(len(faults), maxFaults)] {
		t.Rows = append(t.Rows, []string{kindWords(f.Kind), kindOwner(f.Kind), codeWords(string(f.Detail)), phaseWords(f.Phase), count(f.N)})
	}
	return t
}

// outagesTable lists the newest outages of all endpoints.
func outagesTable(root string, list []*endpoint) (t *Table, more string) {
	type outage struct {
		rollup.Outage
		of *endpoint
	}
	var all []outage
	for _, p := range list {
		for _, o := range p.summary[reliabilityWindow].Reliability.Outages {
			all = append(all, outage{o, p})
		}
	}
	if len(all) == 0 {
		return nil, ""
	}
	slices.SortStableFunc(all, func(a, b outage) int { return b.From.Compare(a.From) })
	if n := len(all) - maxOutages; n > 0 {
		more = fmt.Sprintf("%s older are on the endpoints' own pages.", count(n))
		all = all[:maxOutages]
	}
	t = &Table{
		Caption: fmt.Sprintf("Newest first. An outage is %d failures of theirs in a row or more; it ends with the next success, so its length is known to a cadence.", rollup.MinOutageRuns),
		Head:    []Head{{"Began, UTC", false}, {"Endpoint", false}, {"Failures", true}, {"Until the next success", true}},
	}
	for _, o := range all {
		until := "none yet"
		if !o.Open {
			until = age(o.To.Sub(o.From))
		}
		t.Rows = append(t.Rows, []string{o.From.UTC().Format("2 Jan 2006 15:04"), o.of.title(), count(o.Runs), until})
		runs := root + o.of.windowPath(reliabilityWindow) + "#reliability"
		t.Doors = append(t.Doors, []string{"", "", runs, runs})
	}
	return t, more
}

// reliabilityCells returns the page's table as CSV.
func (e *edition) reliabilityCells() ([]byte, error) {
	t := table{header: []string{"provider", "model", "vantage", "nonce", "runs"}}
	for _, name := range []string{"availability", "success_rate", "throttle_rate"} {
		t.header = append(t.header, name, name+"_lo", name+"_hi")
	}
	t.header = append(t.header, "outages", "no_answer_after_reasoning", "observer_faults")
	for _, p := range e.byAvailability() {
		s := p.summary[reliabilityWindow]
		row := []string{cell(p.series.Provider), cell(p.series.Model), cell(p.series.Vantage), strconv.FormatBool(p.series.Nonce), strconv.Itoa(s.Runs)}
		for _, x := range []rollup.Share{s.Reliability.Availability, s.Reliability.SuccessRate, s.Reliability.Throttle} {
			row = append(row, shareCells(x)...)
		}
		thought := 0
		for _, n := range e.thoughts(p, s.Span) {
			thought += n
		}
		t.add(append(row, strconv.Itoa(len(s.Reliability.Outages)), strconv.Itoa(thought), strconv.Itoa(s.Reliability.Observer))...)
	}
	return t.encode()
}
