package site

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/calibrate"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
	"github.com/streamgauge/streamgauge/site/svg"
)

// A StatusPage is about the instrument, not what it measures: does it run when
// it should, and how exact is its clock?
type StatusPage struct {
	Page
	Heading  string
	Query    string // link to what the table counts
	Facts    []Fact
	Lateness *Figure
	Rows     []StatusRow
	Figures  []*Table
	Verdict  string // of the calibration, empty if there is none
}

// A StatusRow is how one endpoint was measured.
type StatusRow struct {
	Link
	Cadence                              string
	Newest, Covered, Gaps, Typical, Late Number
	Kernel, Noisy, Runs                  Number
	LongestGap                           string
	Query                                string // link to its runs
}

// statusSpan is how far back the page looks.
const statusSpan = 7 * rollup.Day

// A duty is how an endpoint's slots were kept and its reads were stamped.
type duty struct {
	runs, kernel, user, noisy int
	newest                    time.Time
	slots, served, gaps       int
	longest                   time.Duration // gap
	late                      []float64     // seconds, ascending
}

// dutyOf reads an endpoint's raw samples of the last days.
func (e *edition) dutyOf(p *endpoint, samples []bench.Sample) duty {
	var d duty
	from := e.now.Add(-statusSpan)
	var starts []time.Time
	kept := map[time.Time]bool{}
	first := e.now
	for i := range samples {
		s := &samples[i]
		if s.StartedAt.After(d.newest) {
			d.newest = s.StartedAt
		}
		first = minTime(first, s.StartedAt)
		if s.StartedAt.Before(from) || s.StartedAt.After(e.now) {
			continue
		}
		d.runs++
		switch s.Env.Clock {
		case bench.ClockKernel:
			d.kernel++
		case bench.ClockUser:
			d.user++
		}
		if s.Noise.Noisy {
			d.noisy++
		}
		starts = append(starts, s.StartedAt)
		if !s.Scheduled.IsZero() {
			kept[s.Scheduled.UTC()] = true
			d.late = append(d.late, s.StartedAt.Sub(s.Scheduled).Seconds())
		}
	}
	slices.Sort(d.late)
	cadence := p.model.Cadence
	if cadence.IsZero() && p.model.Every > 0 {
		cadence = bench.Every(p.model.Every)
	}
	if len(kept) > 0 && !cadence.IsZero() {
		if first.After(from) { // measured since then
			from = first
		}
		c := cadence.Cover(p.series.Pair, starts, from, e.now)
		// A run says which slot it was for, which tells more than its instant.
		d.slots, d.served, d.gaps = c.Slots, min(len(kept), c.Slots), len(c.Gaps)
		for _, g := range c.Gaps {
			d.longest = max(d.longest, g.To.Sub(g.From))
		}
	}
	return d
}

func minTime(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func (e *edition) statusFiles() ([]file, error) {
	return []file{e.html(statusPath+"index.html", "status", func() (any, error) { return e.statusPage(), nil })}, nil
}

func (e *edition) statusPage() StatusPage {
	var all duty
	var page StatusPage
	page.Page = e.page(statusPath, noSection, "Status of the instrument", "Whether this gauge runs when it should, how late it comes, what stamps its reads, and how exact its clock is.")
	e.wear(&page.Page, "status.css")
	for i := range e.in.Histories {
		h := &e.in.Histories[i]
		p := e.bySeries[h.Series]
		d := e.dutyOf(p, h.Samples)
		all.runs, all.kernel, all.user, all.noisy = all.runs+d.runs, all.kernel+d.kernel, all.user+d.user, all.noisy+d.noisy
		all.slots, all.served, all.gaps = all.slots+d.slots, all.served+d.served, all.gaps+d.gaps
		all.late = append(all.late, d.late...)
		if d.newest.After(all.newest) {
			all.newest = d.newest
		}
		if d.runs > 0 || !p.model.Retired {
			row := e.statusRow(page.Root, p, d)
			row.Query = queryLink(page.Root, e.dutyQuery(p))
			page.Rows = append(page.Rows, row)
		}
	}
	slices.SortStableFunc(page.Rows, func(a, b StatusRow) int { return strings.Compare(strings.ToLower(a.Text), strings.ToLower(b.Text)) })
	slices.Sort(all.late)
	page.Heading = e.statusHeading(all)
	page.Facts = e.statusFacts(all)
	for i := range page.Facts {
		if page.Facts[i].Why == "" && len(page.Rows) > 0 {
			page.Facts[i].Href = "#endpoints"
		}
	}
	page.Query = queryLink(page.Root, e.dutiesQuery())
	page.Lateness = latenessFigure(all.late)
	page.Lateness = page.Lateness.sourced(queryLink(page.Root, e.latenessQuery()))
	page.calibrate(e.in.Calibration)
	return page
}

func (e *edition) statusHeading(d duty) string {
	switch {
	case d.newest.IsZero():
		return "The instrument has not measured anything yet."
	case d.slots > 0:
		return fmt.Sprintf("The instrument kept %s %% of its slots in the last %d days.", percent(float64(d.served)/float64(d.slots)), int(statusSpan/rollup.Day))
	}
	return "The instrument last ran " + sinceWords(e.now.Sub(d.newest)) + "."
}

// sinceWords formats how long ago something was, for the end of a sentence.
func sinceWords(d time.Duration) string {
	if text := age(d); text != "now" {
		return text + " before this page was built"
	}
	return "just before this page was built"
}

func (e *edition) statusFacts(d duty) []Fact {
	stamped := d.kernel + d.user
	facts := []Fact{
		{Name: "newest run", Number: Number{Text: absent, Why: because(rollup.NoRuns)}},
		{Name: "runs in 7 days", Number: number(count(d.runs), float64(d.runs))},
		{Name: "slots kept", Number: ratioNumber(d.served, d.slots, "no slot is recorded"), Unit: "%", Sub: plural(d.slots, "slot")},
		{Name: "late, median", Number: lateNumber(d.late, 0.5), Sub: "p95 " + lateNumber(d.late, 0.95).Text},
		{Name: "stamped by the kernel", Number: ratioNumber(d.kernel, stamped, "no clock is recorded"), Unit: "%", Sub: "of " + plural(stamped, "run")},
		{Name: "disturbed by our own machine", Number: ratioNumber(d.noisy, d.runs, because(rollup.NoRuns)), Unit: "%", Sub: "left out of speeds"},
	}
	if !d.newest.IsZero() {
		facts[0].Number = number(ago(e.now.Sub(d.newest)), e.now.Sub(d.newest).Minutes())
		facts[0].Sub = instant(d.newest)
	}
	for i := range facts {
		if facts[i].Why != "" {
			facts[i].Unit, facts[i].Sub = "", facts[i].Why
		}
	}
	return facts
}

// ratioNumber formats a part of a whole in percent.
func ratioNumber(part, whole int, why string) Number {
	if whole == 0 {
		return Number{Text: absent, Why: why}
	}
	share := float64(part) / float64(whole)
	return number(percent(share), share*100)
}

// lateNumber formats a quantile of lateness, if there are enough runs for it.
func lateNumber(late []float64, q float64) Number {
	if least, _ := stats.MinPrint(q); len(late) < least {
		return Number{Text: absent, Why: because(rollup.TooFewRuns)}
	}
	v, _ := stats.QuantileSorted(late, q)
	return number(lateWords(v), v)
}

// lateWords formats seconds of lateness.
func lateWords(seconds float64) string {
	switch {
	case seconds < 60:
		return significant(max(seconds, 0), 2) + " s"
	case seconds < 3600:
		return significant(seconds/60, 2) + " min"
	}
	return significant(seconds/3600, 2) + " h"
}

func (e *edition) statusRow(root string, p *endpoint, d duty) StatusRow {
	row := StatusRow{
		Link: Link{p.title(), root + p.path}, Cadence: "no longer measured",
		Newest: Number{Text: absent, Why: because(rollup.NoRuns)}, Runs: number(count(d.runs), float64(d.runs)),
		Covered: ratioNumber(d.served, d.slots, "no slot is recorded"), Gaps: Number{Text: absent, Why: "no slot is recorded"},
		Typical: lateNumber(d.late, 0.5), Late: lateNumber(d.late, 0.95),
		Kernel: ratioNumber(d.kernel, d.kernel+d.user, "no clock is recorded"), Noisy: ratioNumber(d.noisy, d.runs, because(rollup.NoRuns)),
	}
	switch {
	case p.model.Every > 0 && !p.model.Retired:
		row.Cadence = "every " + span(p.model.Every)
	case !p.model.Retired:
		row.Cadence = "not scheduled"
	}
	if !d.newest.IsZero() {
		row.Newest = number(age(e.now.Sub(d.newest)), e.now.Sub(d.newest).Minutes())
	}
	if d.slots > 0 {
		row.Gaps = number(count(d.gaps), float64(d.gaps))
		if d.gaps > 0 {
			row.LongestGap = age(d.longest)
		}
	}
	return row
}

// latenessFigure draws how late runs came.
func latenessFigure(late []float64) *Figure {
	if len(late) == 0 {
		return nil
	}
	fig := &Figure{
		ID: "lateness", Title: "How late runs came",
		Text:  fmt.Sprintf("From the slot to the start of the run, %s. A scheduled job is started when its host has room, so a run is late by minutes now and then; its sample says when it really ran.", plural(len(late), "run")),
		Label: "Distribution of lateness over " + plural(len(late), "run"),
		Table: &Table{Caption: "Runs by lateness", Head: []Head{{"From", false}, {"To", true}, {"Runs", true}}},
	}
	if worst := late[len(late)-1]; worst < promptSeconds {
		return &Figure{ID: fig.ID, Title: fig.Title, Text: fmt.Sprintf("All of %s began within %s of their slot.", plural(len(late), "run"), lateTick(promptSeconds))}
	}
	fig.Text += " What began within a second is in the first bar."
	hist := svg.Histogram{Label: fig.Label, Log: true, Format: lateTick}
	const perDecade = 5
	top := int(math.Ceil(math.Log10(max(late[len(late)-1], 10)) * perDecade))
	at := 0
	for i := range top {
		lo, hi := math.Pow(10, float64(i)/perDecade), math.Pow(10, float64(i+1)/perDecade)
		b := svg.Bin{Lo: lo, Hi: hi}
		for at < len(late) && (late[at] <= hi || i == top-1) {
			b.N++
			at++
		}
		hist.Bins = append(hist.Bins, b)
		if b.N > 0 {
			from := lateWords(lo)
			if i == 0 {
				from = "0 s"
			}
			fig.Table.Rows = append(fig.Table.Rows, []string{from, lateWords(hi), count(b.N)})
		}
	}
	for _, q := range []struct {
		name string
		at   float64
	}{{"p50", 0.5}, {"p95", 0.95}} {
		if x := lateNumber(late, q.at); x.Why == "" {
			v, _ := stats.QuantileSorted(late, q.at)
			hist.Marks = append(hist.Marks, svg.Quantile{At: max(v, 1), Label: q.name + " " + x.Text})
		}
	}
	fig.Wide, fig.Phone = drawing(func(s svg.Size) template.HTML {
		hist.Size = s
		return hist.SVG()
	}, svg.Wide(170), svg.Phone(160))
	return fig
}

// promptSeconds is the lateness under which a picture of it shows nothing.
const promptSeconds = 10

// lateTick formats a tick of the axis of lateness.
func lateTick(seconds float64) string {
	text := lateWords(seconds)
	return strings.Replace(text, ".0 ", " ", 1)
}

// calibrate fills what the last calibration of the clock found.
func (page *StatusPage) calibrate(c *calibrate.Calibration) {
	if c == nil {
		return
	}
	missed := 0
	for _, g := range c.Gates {
		if !g.Passed {
			missed++
		}
	}
	page.Verdict = fmt.Sprintf("Calibrated %s on %s/%s with %s, method %d: ", instant(c.At), display(c.Machine.OS), display(c.Machine.Arch), plural(c.Machine.CPUs, "CPU"), c.Method)
	switch {
	case len(c.Gates) == 0:
		page.Verdict += "no limit was judged."
	case missed == 0:
		page.Verdict += fmt.Sprintf("all %s are kept.", plural(len(c.Gates), "limit"))
	default:
		page.Verdict += fmt.Sprintf("%s of %s are missed, which on a busy machine they may be.", words(missed), plural(len(c.Gates), "limit"))
	}
	if c.Quick {
		page.Verdict += " It was a quick one, of one stream a kind."
	}
	for _, t := range c.Tables() {
		table := &Table{Caption: t.Title}
		for i, head := range t.Head {
			table.Head = append(table.Head, Head{head, i > 0})
		}
		table.Rows = t.Rows
		page.Figures = append(page.Figures, table)
	}
}
