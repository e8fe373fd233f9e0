package site

import (
	"fmt"
	"slices"
	"strings"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A Provenance says of each number of a page what it is made of: enough to make
// it again. Every number of an endpoint, on whatever page it stands, is a door to
// its entry on the endpoint's own page.
type Provenance struct {
	Rows     []Origin
	From, To string // the window, UTC; to is exclusive
	Versions string // of method and prompt, empty if no run is in the window
	Repeat   string // where the command that measures again stands, empty if there is none
}

// An Origin is where one number comes from.
type Origin struct {
	ID      string // fragment of its entry
	Name    string
	Text    string // with its unit, as the page has it; a dash if absent
	Formula string // of one run, in the symbols of the methodology
	Method  string // fragment of the methodology that defines it
	Taken   string // how one number was made of many runs, or why there is none
	N       string
	Query   string // link to the query for what it is made of; empty for what was not measured
}

// Fragments of the entries of an endpoint's page. A metric's is made of its
// face's slug for the level that boards show, of its name for its distribution.
const (
	ofPrefix   = "of-"
	ofSuccess  = ofPrefix + "success"
	ofAvail    = ofPrefix + "available"
	ofThrottle = ofPrefix + "throttled"
	ofOutcomes = ofPrefix + "outcomes"
	ofFailures = ofPrefix + "failures"
	ofDelivery = ofPrefix + "delivery"
	ofStalled  = ofPrefix + "stall_ratio"
	ofBurst    = ofPrefix + "burstiness"
	ofAge      = ofPrefix + "age"
	ofPrice    = ofPrefix + "price"
	ofRank     = ofPrefix + "rank" // of a board's page
)

// ofLevel is the fragment of the number that a board shows of a metric.
func ofLevel(m rollup.Metric) string { return ofPrefix + faceOf(m).slug }

// ofRuns is the fragment of the distribution of a metric over all runs.
func ofRuns(m rollup.Metric) string { return ofPrefix + string(m) }

// formulaOf returns the formula of one run and where the methodology has it.
func formulaOf(m rollup.Metric) (formula, anchor string) {
	switch m {
	case rollup.DecodeTPS:
		return "(n − n₁) ÷ (t_N − t₁)", "numbers"
	case rollup.HybridTPS:
		return fmt.Sprintf("N ≥ %d and mean gap > %d ms: (n − 1) ÷ (t_N − t₁); else n ÷ (t_end − t₁)", bench.HybridMinChunks, bench.HybridMinGap.Milliseconds()), "hybrid"
	case rollup.StallFreeTPS:
		return "(n − n₁) ÷ (t_N − t₁ − stalls)", "numbers"
	case rollup.EndToEndTPS:
		return "n ÷ (t_end − t₀)", "numbers"
	case rollup.TTFT:
		return "t₁ − t₀", "numbers"
	case rollup.TTFO:
		return "min(r₁, t₁) − t₀", "numbers"
	case rollup.TTFTCold:
		return "t₁ − t₀, with DNS, connect and TLS before it", "numbers"
	case rollup.E2E:
		return "t_end − t₀", "numbers"
	}
	return fmt.Sprintf("(t₁ − t₀) + (%d − 1) ÷ decode rate", m.Tokens()), "numbers"
}

// distributionName names a metric in the tables of an endpoint's page.
func distributionName(m rollup.Metric) string {
	switch m {
	case rollup.DecodeTPS:
		return "decode speed"
	case rollup.HybridTPS:
		return "published hybrid rule"
	case rollup.StallFreeTPS:
		return "decode speed, stalls left out"
	case rollup.EndToEndTPS:
		return "end-to-end speed"
	case rollup.TTFT:
		return "first token"
	case rollup.TTFO:
		return "first output"
	case rollup.TTFTCold:
		return "first token, connection included"
	case rollup.E2E:
		return "end to end"
	}
	return lowerFirst(faceOf(m).name)
}

// provenance returns where the numbers of an endpoint's page come from.
func (e *edition) provenance(root string, p *endpoint, w rollup.Window) *Provenance {
	s := p.summary[w]
	x := &Provenance{From: instant(s.Span.From), To: instant(s.Span.To), Versions: versionWords(s.Mixed)}
	if command(p.model.Repeat) != "" {
		x.Repeat = "#repeat"
	}
	for _, m := range rollup.BoardMetrics() {
		x.Rows = append(x.Rows, e.levelOrigin(root, p, w, m))
	}
	x.Rows = append(x.Rows, e.shareOrigins(root, p, w)...)
	for _, d := range []rollup.Distribution{s.Decode, s.Hybrid, s.StallFree, s.EndToEnd, s.TTFT, s.TTFO, s.TTFTCold, s.E2E} {
		if d.N > 0 || d.Timeouts > 0 {
			x.Rows = append(x.Rows, e.runsOrigin(root, p, w, d))
		}
	}
	return x
}

// versionWords names the versions that a window was measured under.
func versionWords(mixed rollup.Mixed) (text string) {
	for _, v := range []struct {
		what string
		list []int
	}{{"method", mixed.Methods}, {"prompt", mixed.Prompts}} {
		if len(v.list) > 0 {
			text += ", " + v.what + " " + strings.Trim(strings.ReplaceAll(fmt.Sprint(v.list), " ", ", "), "[]")
		}
	}
	return text
}

// levelOrigin is the origin of a number that leaderboards show.
func (e *edition) levelOrigin(root string, p *endpoint, w rollup.Window, m rollup.Metric) Origin {
	l := e.level(p, w, m)
	o := Origin{ID: ofLevel(m), Name: lowerFirst(faceOf(m).name), N: count(l.n)}
	o.Formula, o.Method = formulaOf(m)
	var ok bool
	if o.Text, ok = levelText(m, l); !ok {
		o.Text, o.Taken = absent, l.Why
	}
	if days := e.rowOf(p, w, m).Score.Days; l.statistic() == "score" && len(days) > 0 {
		o.Taken = fmt.Sprintf("geometric mean of the medians of %s with %d or more runs; t interval of their logarithms at %d %%",
			plural(len(days), "UTC day"), stats.MinDayRuns, whole(l.confidence))
		o.Query = e.link(root, e.daysQuery(p, w, m))
		return o
	}
	if ok {
		o.Taken = takenOf(l.distribution, "median")
	}
	o.Query = e.link(root, e.runsQuery(p, w, m, l.distribution.Approximate))
	return o
}

// takenOf says how a statistic was taken of a distribution.
func takenOf(d rollup.Distribution, what string) string {
	if d.Approximate {
		return what + " of the merged daily histograms, within 1 %"
	}
	return what + " of all runs that have it"
}

// runsOrigin is the origin of a row of the table of all numbers.
func (e *edition) runsOrigin(root string, p *endpoint, w rollup.Window, d rollup.Distribution) Origin {
	o := Origin{ID: ofRuns(d.Metric), Name: distributionName(d.Metric) + ", all runs", Text: absent, Taken: because(d.P50.Why), N: count(d.N)}
	o.Formula, o.Method = formulaOf(d.Metric)
	if d.P50.OK() {
		o.Text = estimate(d.P50, func(v float64) string { return full(d.Metric, v) }).Text
		o.Taken = takenOf(d, "median")
	}
	o.Query = e.link(root, e.runsQuery(p, w, d.Metric, d.Approximate))
	return o
}

// shareOrigins are the origins of what counts runs, and of what is no statistic.
func (e *edition) shareOrigins(root string, p *endpoint, w rollup.Window) []Origin {
	s := p.summary[w]
	rel := &s.Reliability
	share := func(id, name, formula string, x rollup.Share, n int, q question) Origin {
		o := Origin{ID: id, Name: name, Text: absent, Formula: formula, Method: "errors", Taken: because(x.Why), N: count(n), Query: e.link(root, q)}
		if x.OK() {
			o.Text = fmt.Sprintf("%s %% (%s–%s)", percent(x.Value), percent(x.Interval.Lo), percent(x.Interval.Hi))
			o.Taken = "share over the window; 95 % interval on an effective number of runs"
		}
		return o
	}
	c := rel.Counts
	list := []Origin{
		share(ofSuccess, "success rate", "successes ÷ all runs", rel.SuccessRate, c.Total(), e.successQuery(p, w)),
		share(ofAvail, "available", "successes ÷ (successes + failures of the provider), each run weighed by the time it stands for", rel.Availability, c.Valid(), e.availabilityQuery(p, w)),
		share(ofThrottle, "throttle rate", "refusals for the rate ÷ (all runs − our own faults)", rel.Throttle, c.Total()-c.Auth-c.Quota, e.throttleQuery(p, w)),
		{ID: ofOutcomes, Name: "outcomes", Text: plural(c.Total(), "run"), Formula: "the kind of its error, if it failed", Method: "errors", Taken: "counted", N: count(c.Total()), Query: e.link(root, e.outcomesQuery(p, w))},
		{ID: ofFailures, Name: "failures", Text: plural(c.Total()-c.OK, "failure"), Formula: "kind, detail and the phase it died in", Method: "errors", Taken: "counted, where raw samples are kept", N: count(c.Total() - c.OK), Query: e.link(root, e.failuresQuery(p, w))},
		{ID: ofDelivery, Name: "delivery", Text: plural(s.Delivery.N, "answer"), Formula: "the shape of its reads", Method: "numbers", Taken: "counted, where raw samples are kept", N: count(s.Delivery.N), Query: e.link(root, e.deliveryQuery(p, w))},
	}
	for _, x := range []struct {
		id, name, formula, column string
		value                     rollup.Estimate
		format                    func(float64) string
	}{
		{ofStalled, "time that stood still", "stalls ÷ (t_N − t₁)", "100 * stall_ratio", s.Delivery.StallRatio, func(v float64) string { return percent(v) + " %" }},
		{ofBurst, "burstiness", "(σ − μ) ÷ (σ + μ) of the gaps", "burstiness", s.Delivery.Burstiness, burstinessText},
	} {
		if x.value.OK() {
			list = append(list, Origin{ID: x.id, Name: x.name, Text: x.format(x.value.Value), Formula: x.formula, Method: "numbers", Taken: "median of successes that have it", N: absent, Query: e.link(root, e.columnQuery(p, w, x.column))})
		}
	}
	last := Origin{ID: ofAge, Name: "age", Text: absent, Formula: "when it began", Method: "schedule", Taken: "no success is kept", N: "0", Query: e.link(root, e.ageQuery(p))}
	if !s.LastSuccess.IsZero() {
		last.Text, last.Taken, last.N = instant(s.LastSuccess), "the newest success, up to when the site was built", "1"
	}
	price := Origin{ID: ofPrice, Name: "price", Text: absent, Formula: "US dollars per million output tokens", Method: "limits", Taken: "not published", N: "0"}
	if usd := p.model.PriceOut; usd != nil {
		price.Text, price.Taken = priceNumber(usd).Text, "the provider's list price, as this site's configuration or the catalogue has it: not measured"
	}
	return append(list, last, price)
}

// Few reports whether the entries are so few that they need not be folded.
func (p *Provenance) Few() bool { return len(p.Rows) < 5 }

// doors returns one door for each of n cells of a row but the first, which is
// its header.
func doors(href string, n int) []string {
	return append([]string{""}, slices.Repeat([]string{href}, n-1)...)
}

// lead makes each number of a table a door to one entry.
func (t *Table) lead(href string) {
	for range t.Rows {
		t.Doors = append(t.Doors, doors(href, len(t.Head)))
	}
}
