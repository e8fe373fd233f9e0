package site

import (
	"slices"

	"github.com/streamgauge/streamgauge/rollup"
)

// A Rivalry says in words which of two endpoints is done first, by the length of
// the answer.
type Rivalry struct {
	Against string // what the other one is: "the first on the board"
	Href    string // of its page
	Text    string
}

// rivalOf returns the endpoint that a reader would take instead: the best one of
// the same model at another provider by the board of the decode rate over the
// window of comparisons, else the board's first, or for that one its second. It
// returns nil if there is none.
func (e *edition) rivalOf(p *endpoint) (rival *endpoint, what string) {
	b := e.boards[compareWindow][rollup.DecodeTPS]
	first := func(is func(*endpoint) bool) *endpoint {
		i := slices.IndexFunc(b.Rows, func(r rollup.Row) bool {
			other := e.bySeries[r.Series]
			return other != p && other.series.Vantage == p.series.Vantage && r.Score.OK() && is(other)
		})
		if i < 0 {
			return nil
		}
		return e.bySeries[b.Rows[i].Series]
	}
	same := func(o *endpoint) bool { return o.series.Model == p.series.Model && o.provider != p.provider }
	if rival = first(same); rival != nil {
		return rival, "the same model elsewhere"
	}
	if rival = first(func(*endpoint) bool { return true }); rival == nil {
		return nil, ""
	}
	if b.row[rival.series] > b.row[p.series] {
		return rival, "the next on the board"
	}
	return rival, "the first on the board"
}

// rivalry compares an endpoint with its rival, as far as the days of both allow.
func (e *edition) rivalry(root string, p *endpoint) *Rivalry {
	rival, what := e.rivalOf(p)
	if rival == nil {
		return nil
	}
	speed := rollup.Compare(p.track, rival.track, rollup.DecodeTPS, compareWindow, e.now, 2)
	wait := rollup.Compare(p.track, rival.track, rollup.TTFT, compareWindow, e.now, 2)
	text := doneFirst(p, rival, speed, wait)
	if text == "" {
		return nil
	}
	return &Rivalry{Against: what, Href: root + rival.path, Text: text}
}
