package site

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A PTUTable says what provisioned throughput units carry. Such figures age.
type PTUTable struct {
	AsOf   string // the day it was taken down
	Source string // in words
	Models []PTUModel
}

// A PTUModel is one model of the table.
type PTUModel struct {
	Name string
	stats.PTUModel
}

// An EstimatePage says what a load needs and how long its answers take. It is
// served for one load; a script works it out for others.
type EstimatePage struct {
	Page
	Load   Load
	Result LoadResult
	PTU    []PTURow
	PTUOf  string // what the table is and how old, empty if there is none
	Rows   []EstimateRow
	Window string
	Cross  *Crossing
	Worked *Table
}

// A Load is requests a minute with mean tokens. Whole numbers, so that a page
// and a script round nothing differently.
type Load struct{ RPM, Input, Output int }

// A LoadResult is a load in tokens a minute.
type LoadResult struct{ Input, Output, Total string }

// A PTURow is the units of one model.
type PTURow struct {
	Name, Units, Raw              string
	InputTPM, Weight, Least, Step string // for the script
}

// An EstimateRow is one endpoint under the load.
type EstimateRow struct {
	Link
	Name, TTFT, Rate   string // for the script: seconds and tokens/s, exactly
	First, Speed       string
	Answer, Concurrent string
	Key                string
}

// A Crossing is two endpoints and the length at which they take equally long.
type Crossing struct{ A, B, Text string }

// defaultLoad is what `streamgauge estimate` begins with, too.
func defaultLoad() Load { return Load{RPM: 10, Input: 800, Output: 300} }

// A paced is an endpoint with its typical start and rate.
type paced struct {
	*endpoint
	stats.Speed
}

// pacedEndpoints returns the endpoints whose median start and rate are known
// over the window, in the order of the board.
func (e *edition) pacedEndpoints(w rollup.Window) []paced {
	var list []paced
	board := e.boards[w][rollup.DecodeTPS]
	for i := range board.Rows {
		p := e.bySeries[board.Rows[i].Series]
		start, rate := p.summary[w].TTFT.P50, p.summary[w].Decode.P50
		if start.OK() && rate.OK() {
			list = append(list, paced{p, stats.Speed{TTFTSeconds: start.Value / 1000, TokensPerSecond: rate.Value}})
		}
	}
	return list
}

func (e *edition) estimateFiles() ([]file, error) {
	return []file{e.html(estimatePath+"index.html", "estimate", func() (any, error) { return e.estimatePage(defaultLoad()), nil })}, nil
}

func (e *edition) estimatePage(load Load) EstimatePage {
	p := EstimatePage{Load: load, Window: windowWords(listWindow)}
	p.Page = e.page(estimatePath, estimatePath, "Estimate", "Tokens a minute, provisioned units, requests in flight and the time of a whole answer, for a load of your own.", "estimate.js")
	e.wear(&p.Page, "estimate.css")
	tokens := stats.NewTokenLoad(float64(load.Input), float64(load.Output), float64(load.RPM))
	p.Result = LoadResult{count(int(tokens.InputTPM)), count(int(tokens.OutputTPM)), count(int(tokens.TotalTPM()))}
	for _, m := range e.in.PTU.Models {
		raw, units, ok := m.PTU(tokens)
		if !ok {
			continue
		}
		p.PTU = append(p.PTU, PTURow{
			Name: display(m.Name), Units: count(units), Raw: significant(raw, 3),
			InputTPM: exact(m.InputTPM), Weight: exact(m.OutputWeight), Least: strconv.Itoa(m.Min), Step: strconv.Itoa(m.Step),
		})
	}
	if len(p.PTU) > 0 {
		p.PTUOf = fmt.Sprintf("Units by a table of %s (%s). Such tables age: look at the source before you buy.", display(e.in.PTU.AsOf), display(e.in.PTU.Source))
	}
	list := e.pacedEndpoints(listWindow)
	length := func(x paced) float64 {
		seconds, _ := x.TimeTo(float64(load.Output))
		return seconds
	}
	p.Cross = crossing(list)
	if p.Worked = workedTable(list); p.Worked != nil {
		p.Worked.lead("#formulas")
	}
	slices.SortStableFunc(list, func(a, b paced) int { return cmp.Compare(length(a), length(b)) })
	for _, x := range list {
		seconds := length(x)
		busy, _ := stats.Concurrency(float64(load.RPM), seconds)
		p.Rows = append(p.Rows, EstimateRow{
			Link: Link{x.title(), p.Root + x.path}, Key: x.key(), Name: x.title(), TTFT: exact(x.TTFTSeconds), Rate: exact(x.TokensPerSecond),
			First: latency(x.TTFTSeconds * 1000), Speed: rate(x.TokensPerSecond),
			Answer: latency(seconds * 1000), Concurrent: significant(busy, 3),
		})
	}
	return p
}

// exact formats a number so that a script reads back the very same one.
func exact(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// crossing takes the endpoint that starts soonest and the one that streams
// fastest; of a single champion, the next fastest.
func crossing(list []paced) *Crossing {
	if len(list) < 2 {
		return nil
	}
	soonest := slices.MinFunc(list, func(a, b paced) int { return cmp.Compare(a.TTFTSeconds, b.TTFTSeconds) })
	rest := slices.DeleteFunc(slices.Clone(list), func(x paced) bool { return x.endpoint == soonest.endpoint })
	fastest := slices.MaxFunc(rest, func(a, b paced) int { return cmp.Compare(a.TokensPerSecond, b.TokensPerSecond) })
	return &Crossing{soonest.key(), fastest.key(), crossingWords(soonest.title(), fastest.title(), soonest.Speed, fastest.Speed)}
}

// crossingWords says which of two answers is done first, at which length.
func crossingWords(nameA, nameB string, a, b stats.Speed) string {
	sooner, faster := nameA, nameA
	if b.TTFTSeconds < a.TTFTSeconds {
		sooner = nameB
	}
	if b.TokensPerSecond > a.TokensPerSecond {
		faster = nameB
	}
	tokens, ok := stats.Crossover(a, b)
	switch {
	case a == b:
		return "Both take the same time at every length."
	case a.TTFTSeconds == b.TTFTSeconds:
		return fmt.Sprintf("By their medians, %s is done first at every length.", faster)
	case ok && sooner != faster:
		return fmt.Sprintf("By their medians, %s is done first up to about %s tokens, %s from there on.", sooner, significant(tokens, 2), faster)
	}
	return fmt.Sprintf("By their medians, %s is done first at every length.", sooner)
}

// workedTable works the times of answers of the board's lengths out.
func workedTable(list []paced) *Table {
	if len(list) == 0 {
		return nil
	}
	t := &Table{Caption: "Median first token + (tokens − 1) ÷ median decode speed", Head: []Head{{"Endpoint", false}}}
	for _, m := range rollup.BoardMetrics() {
		if m.Tokens() > 0 {
			t.Head = append(t.Head, Head{count(m.Tokens()) + " tokens", true})
		}
	}
	for _, x := range list {
		row := []string{x.title()}
		for _, m := range rollup.BoardMetrics() {
			if n := m.Tokens(); n > 0 {
				seconds, ok := x.TimeTo(float64(n))
				if !ok {
					seconds = math.NaN()
				}
				row = append(row, latency(seconds*1000))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
