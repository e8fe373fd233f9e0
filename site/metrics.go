package site

import (
	"math"
	"strings"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
	"github.com/streamgauge/streamgauge/site/svg"
)

// A face is how a metric is shown.
type face struct {
	slug   string // in addresses
	short  string // in a row of choices
	name   string // over a column
	phone  string // before a value on a phone
	winner string // "… are tied for" this
	single string // "… " this, of a single winner
}

func faceOf(m rollup.Metric) face {
	switch m {
	case rollup.DecodeTPS:
		return face{"speed", "speed", "Decode speed", "speed", "fastest", "is the fastest"}
	case rollup.HybridTPS:
		return face{"hybrid", "hybrid rule", "Hybrid rule", "hybrid", "fastest by the published hybrid rule", "is the fastest by the published hybrid rule"}
	case rollup.TTFT:
		return face{"first-token", "first token", "First token", "first token", "the quickest first token", "has the quickest first token"}
	}
	n := count(m.Tokens())
	tokens := n + " tokens"
	return face{strings.ReplaceAll(n, ",", "") + "-tokens", tokens, "Time to " + tokens, tokens, "the quickest " + tokens, "has the quickest " + tokens}
}

// windowName names a window in a row of choices.
func windowName(w rollup.Window) string {
	switch w {
	case rollup.Window24h:
		return "24 h"
	case rollup.Window7d:
		return "7 d"
	case rollup.Window28d:
		return "28 d"
	case rollup.Window30d:
		return "30 d"
	}
	return "1 y"
}

// windowWords names a window in a sentence: "over the last …".
func windowWords(w rollup.Window) string {
	switch w {
	case rollup.Window24h:
		return "24 hours"
	case rollup.Window1y:
		return "365 days"
	}
	return count(w.Days()) + " days"
}

// hueOf returns the colour of a metric: one for rates, one for times.
func hueOf(m rollup.Metric) svg.Hue {
	if m.Better() == stats.HigherIsBetter {
		return svg.Speed
	}
	return svg.Wait
}

// tickOf formats the ticks of a metric's axis.
func tickOf(m rollup.Metric) func(float64) string {
	switch m.Unit() {
	case "ms":
		return svg.Milliseconds
	case "s":
		return svg.Seconds
	}
	return svg.Plain
}

// bare formats a value of a metric whose unit stands in the column's header. A
// time of a second or more says so, as the header says milliseconds.
func bare(m rollup.Metric, v float64) string {
	if m.Unit() != "ms" {
		return significant(v, 3)
	}
	return strings.TrimSuffix(latency(v), " ms")
}

// full formats a value of a metric with its unit.
func full(m rollup.Metric, v float64) string {
	if m.Unit() == "ms" {
		return latency(v)
	}
	return significant(v, 3) + " " + m.Unit()
}

// A Number is one published number, or why there is none.
type Number struct {
	Text string // as formatted, "—" if absent
	Sort string // for sorting, empty if absent
	Why  string // in words, empty if present
}

func number(text string, v float64) Number { return Number{Text: text, Sort: sortKey(v)} }

func missing(why bench.Reason) Number { return Number{Text: absent, Why: because(why)} }

// sortKey formats a value for data-v, with more digits than are shown.
func sortKey(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return ""
	}
	return plain(v)
}

// estimate formats an estimate with format, and marks one that is only known to
// be larger.
func estimate(x rollup.Estimate, format func(float64) string) Number {
	if !x.OK() {
		return missing(x.Why)
	}
	text := format(x.Value)
	if x.Above {
		text = "> " + text
	}
	return number(text, x.Value)
}

// A level is what one row says of one metric, ready to be drawn and printed.
type level struct {
	Number
	value        float64 // NaN if absent
	lo, hi       float64 // interval at confidence, NaN if none
	confidence   float64
	p10, p90     float64 // NaN if absent
	n            int     // runs that the value is made of
	typical      bool    // value is the median of the runs, not a score over days
	spread       string
	min, max     float64
	distribution rollup.Distribution
}

// scored reports whether scores over days are what a window shows. A day has no
// error between days, and the days of a year are no repeats.
func scored(w rollup.Window) bool { return w != rollup.Window24h && w != rollup.Window1y }

// levelOf returns what a row of a board says of the board's metric: the score
// over days with the interval that ranks go by, else the median of its runs.
func levelOf(r *rollup.Row, w rollup.Window, confidence float64) level {
	nan := math.NaN()
	m := r.Score.Metric
	l := level{value: nan, lo: nan, hi: nan, p10: nan, p90: nan, n: r.N, min: r.Min, max: r.Max}
	l.distribution = r.Spread
	l.p10, l.p90 = valueOr(r.Spread.P10), valueOr(r.Spread.P90)
	format := func(v float64) string { return bare(m, v) }
	switch {
	case scored(w) && r.Score.OK():
		l.value, l.Number = r.Score.Value, number(format(r.Score.Value), r.Score.Value)
		l.n = r.Score.Runs
		l.lo, l.hi, l.confidence = r.Score.Interval.Lo, r.Score.Interval.Hi, 0.95
		if r.Ranked {
			l.lo, l.hi, l.confidence = r.Rule.Lo, r.Rule.Hi, confidence
		}
	case r.Typical.OK():
		l.typical = true
		l.value, l.Number = r.Typical.Value, estimate(r.Typical, format)
	case r.N > 0:
		l.Number = Number{Text: absent, Why: because(r.Typical.Why)}
		l.spread = format(r.Min)
		if r.N > 1 {
			l.spread += "–" + format(r.Max)
		}
	default:
		l.Number = missing(r.Typical.Why)
	}
	return l
}

// valueOr returns an estimate's value, NaN if it is absent or unbounded.
func valueOr(x rollup.Estimate) float64 {
	if !x.OK() || x.Above {
		return math.NaN()
	}
	return x.Value
}
