package site

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A Provenance says of each large number of an endpoint's page what it is made
// of: enough to make it again.
type Provenance struct {
	Rows     []Origin
	From, To string // the window, UTC; to is exclusive
	Versions string // of method and prompt, empty if no run is in the window
}

// An Origin is where one number comes from.
type Origin struct {
	Name    string
	Text    string // with its unit, as the page has it; a dash if absent
	Formula string // of one run, in the symbols of the methodology
	Taken   string // how one number was made of many runs, or why there is none
	N       string
	Query   string // link to the query for what it is made of; may be empty
}

// provenance returns where the large numbers of an endpoint's page come from.
func (e *edition) provenance(root string, p *endpoint, w rollup.Window) *Provenance {
	s := p.summary[w]
	x := &Provenance{From: instant(s.Span.From), To: instant(s.Span.To)}
	for _, v := range []struct {
		what string
		list []int
	}{{"method", s.Mixed.Methods}, {"prompt", s.Mixed.Prompts}} {
		if len(v.list) > 0 {
			x.Versions += ", " + v.what + " " + strings.Trim(strings.ReplaceAll(fmt.Sprint(v.list), " ", ", "), "[]")
		}
	}
	hybrid := fmt.Sprintf("N ≥ %d and mean gap > %d ms: (n − 1) ÷ (t_N − t₁); else n ÷ (t_end − t₁)", bench.HybridMinChunks, bench.HybridMinGap.Milliseconds())
	for _, l := range []struct {
		metric        rollup.Metric
		name, formula string
	}{
		{rollup.DecodeTPS, "decode speed", "(n − n₁) ÷ (t_N − t₁)"},
		{rollup.TTFT, "first token", "t₁ − t₀"},
		{rollup.HybridTPS, "published hybrid rule", hybrid},
	} {
		x.Rows = append(x.Rows, e.levelOrigin(root, p, w, l.metric, l.name, l.formula))
	}
	x.Rows = append(x.Rows, e.availabilityOrigin(root, p, w), e.medianOrigin(root, p, w, s.E2E, "whole answer, end to end", "t_end − t₀"))
	if s.TTFO.P50.OK() && s.Delivery.Reasoned > 0 {
		x.Rows = append(x.Rows, e.medianOrigin(root, p, w, s.TTFO, "first output, thinking included", "min(r₁, t₁) − t₀"))
	}
	return x
}

// levelOrigin is the origin of a number that leaderboards show.
func (e *edition) levelOrigin(root string, p *endpoint, w rollup.Window, m rollup.Metric, name, formula string) Origin {
	l := e.level(p, w, m)
	o := Origin{Name: name, Formula: formula, N: count(l.n)}
	var ok bool
	if o.Text, ok = levelText(m, l); !ok {
		o.Text, o.Taken = absent, l.Why
	}
	days := e.rowOf(p, w, m).Score.Days
	if l.statistic() == "score" && len(days) > 0 {
		o.Taken = fmt.Sprintf("geometric mean of the medians of %s with %d or more runs; t interval of their logarithms at %d %%",
			plural(len(days), "UTC day"), stats.MinDayRuns, whole(l.confidence))
		o.Query = queryLink(root, e.daysQuery(p, m, days[0].Day, days[len(days)-1].Day.Add(rollup.Day)))
		return o
	}
	if ok {
		o.Taken = "median of all runs that have it"
	}
	o.Query = queryLink(root, e.runsQuery(p, w, m))
	return o
}

// medianOrigin is the origin of a number that is the median of runs.
func (e *edition) medianOrigin(root string, p *endpoint, w rollup.Window, d rollup.Distribution, name, formula string) Origin {
	o := Origin{Name: name, Text: absent, Formula: formula, Taken: because(d.P50.Why), N: count(d.N)}
	if d.P50.OK() {
		o.Text, o.Taken = estimate(d.P50, latency).Text, "median of successful runs"
	}
	if query := e.runsQuery(p, w, d.Metric); query != "" && d.Metric != "" {
		o.Query = queryLink(root, query)
	}
	return o
}

// availabilityOrigin is the origin of the availability.
func (e *edition) availabilityOrigin(root string, p *endpoint, w rollup.Window) Origin {
	s := p.summary[w]
	a := s.Reliability.Availability
	o := Origin{
		Name: "available", Text: absent, Formula: "successes ÷ (successes + failures of the provider), each run weighed by the time it stands for",
		Taken: because(a.Why), N: count(s.Runs),
	}
	if a.OK() {
		o.Text = fmt.Sprintf("%s %% (%s–%s)", percent(a.Value), percent(a.Interval.Lo), percent(a.Interval.Hi))
		o.Taken = "share over the window; 95 % interval"
	}
	what, from := "outcome, error_kind, count(*) AS runs", " GROUP BY outcome, error_kind"
	if w.Days() > 7 {
		what, from = "day, samples, ok, errors_auth, errors_quota, errors_rate_limit, errors_server, errors_timeout, errors_network, errors_malformed", " ORDER BY day"
	}
	o.Query = queryLink(root, "SELECT "+what+"\n"+e.fromSeries(p, w)+from)
	return o
}

// daysQuery asks for the days that a score is made of.
func (e *edition) daysQuery(p *endpoint, m rollup.Metric, from, to time.Time) string {
	return fmt.Sprintf("SELECT day, %s_n AS runs, %[1]s_p50 AS median\nFROM daily %s\n  AND day >= '%s' AND day < '%s' AND %[1]s_n >= %[5]d ORDER BY day",
		m, whereSeries(p), from.UTC().Format(time.DateOnly), to.UTC().Format(time.DateOnly), stats.MinDayRuns)
}

// runsQuery asks for the runs that a median is made of or, where the window is
// longer than what every file of the dataset holds, for the days. Days keep no
// more than the metrics of a leaderboard.
func (e *edition) runsQuery(p *endpoint, w rollup.Window, m rollup.Metric) string {
	if w.Days() > 7 && (m == rollup.DecodeTPS || m == rollup.TTFT || m == rollup.HybridTPS) {
		return fmt.Sprintf("SELECT day, %s_n AS runs, %[1]s_p50 AS median\n%s ORDER BY day", m, e.fromSeries(p, w))
	}
	if w.Days() > 7 {
		return ""
	}
	return fmt.Sprintf("SELECT started_at, %s\n%s\n  AND outcome = 'ok' AND client_noisy = 0 AND %[1]s IS NOT NULL ORDER BY %[1]s", m, e.fromSeries(p, w))
}

// fromSeries is the part of a query that names a series and a window: its runs
// over up to 7 days, which every file of the dataset holds, else its days.
func (e *edition) fromSeries(p *endpoint, w rollup.Window) string {
	span := w.Span(e.now)
	if w.Days() <= 7 {
		return fmt.Sprintf("FROM samples %s\n  AND started_at >= '%s' AND started_at < '%s'", whereSeries(p), span.From.UTC().Format(time.RFC3339), span.To.UTC().Format(time.RFC3339))
	}
	return fmt.Sprintf("FROM daily %s\n  AND day >= '%s' AND day < '%s'", whereSeries(p), span.From.UTC().Format(time.DateOnly), span.To.UTC().Format(time.DateOnly))
}

// whereSeries is the condition that names a series.
func whereSeries(p *endpoint) string {
	nonce := 0
	if p.series.Nonce {
		nonce = 1
	}
	return "WHERE provider = " + literal(p.series.Provider) + " AND model = " + literal(p.series.Model) +
		" AND vantage = " + literal(p.series.Vantage) + " AND nonce = " + strconv.Itoa(nonce)
}
