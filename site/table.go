package site

import (
	"bytes"
	"encoding/csv"
	"slices"
	"strconv"

	"github.com/streamgauge/streamgauge/rollup"
)

// boardCSV is the name of a board's table, beside its page.
const boardCSV = "leaderboard.csv"

// A table is the CSV beside a page. Text is made safe for spreadsheets;
// numbers have six digits; what is absent is empty.
type table struct {
	header []string
	rows   [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) encode() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	if err := w.Write(t.header); err != nil {
		return nil, err
	}
	if err := w.WriteAll(t.rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// boardCells returns a board as CSV.
func (e *edition) boardCells(w rollup.Window, m rollup.Metric) ([]byte, error) {
	b := e.boards[w][m]
	t := table{header: []string{"rank_best", "rank_worst", "unranked_reason", "provider", "model", "vantage", "nonce"}}
	for _, metric := range []string{string(m), string(companion(m))} {
		t.header = append(t.header, metric, metric+"_statistic", metric+"_lo", metric+"_hi", metric+"_confidence", metric+"_p10", metric+"_p90", metric+"_n")
	}
	t.header = append(t.header, "success_rate", "success_rate_lo", "success_rate_hi", "availability", "availability_lo", "availability_hi", "runs", "last_success", "usd_per_million_output_tokens")
	for i := range b.Rows {
		r := &b.Rows[i]
		best, worst := "", ""
		if r.Ranked {
			best, worst = strconv.Itoa(r.Best), strconv.Itoa(r.Worst)
		}
		s := r.Series
		row := []string{best, worst, string(r.Why), cell(s.Provider), cell(s.Model), cell(s.Vantage), strconv.FormatBool(s.Nonce)}
		row = append(row, levelCells(e.level(e.bySeries[s], w, m))...)
		row = append(row, levelCells(e.level(e.bySeries[s], w, companion(m)))...)
		last := ""
		if !r.Summary.LastSuccess.IsZero() {
			last = iso(r.Summary.LastSuccess)
		}
		row = append(row, slices.Concat(shareCells(r.Summary.Reliability.SuccessRate), shareCells(r.Summary.Reliability.Availability))...)
		row = append(row, strconv.Itoa(r.Summary.Runs), last, dollars(e.bySeries[s].model.PriceOut))
		t.add(row...)
	}
	return t.encode()
}

func levelCells(l level) []string {
	statistic, confidence := l.statistic(), ""
	if sortKey(l.lo) != "" {
		confidence = plain(l.confidence)
	}
	return []string{sortKey(l.value), statistic, sortKey(l.lo), sortKey(l.hi), confidence, sortKey(l.p10), sortKey(l.p90), strconv.Itoa(l.n)}
}

// statistic names what a level's value is.
func (l level) statistic() string {
	switch {
	case sortKey(l.value) == "":
		return ""
	case l.typical:
		return "median_of_runs"
	}
	return "score"
}

// shareCells are a proportion and the ends of its interval.
func shareCells(s rollup.Share) []string {
	if !s.OK() {
		return []string{"", "", ""}
	}
	return []string{plain(s.Value), plain(s.Interval.Lo), plain(s.Interval.Hi)}
}

func dollars(usd *float64) string {
	if usd == nil {
		return ""
	}
	return plain(*usd)
}

// pointsTable returns the points of an endpoint's lines as CSV, one row for
// each point of each metric.
func (e *edition) pointsTable(p *endpoint, w rollup.Window) ([]byte, error) {
	t := table{header: []string{"metric", "at", "runs", "failed", "value", "lo", "hi"}}
	for _, m := range []rollup.Metric{rollup.DecodeTPS, rollup.HybridTPS, rollup.TTFT} {
		line, ok := p.track.Line(m, w, e.now)
		if !ok {
			continue
		}
		for _, pt := range line.Points {
			value, lo, hi := "", "", ""
			if pt.N > 0 {
				value = plain(pt.Value)
				if line.Band != rollup.BandNone {
					lo, hi = plain(pt.Lo), plain(pt.Hi)
				}
			}
			t.add(string(m), iso(pt.At), strconv.Itoa(pt.N), strconv.Itoa(pt.Failed), value, lo, hi)
		}
	}
	return t.encode()
}
