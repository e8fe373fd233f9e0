package site_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// TestNumbers derives the boards anew from the samples and compares them with
// what the API and the pages print.
func TestNumbers(t *testing.T) {
	in := inputs(t, many(12, 2e9*3600, 12)...)
	thinDay(&in.Histories[0])
	dir := build(t, in)
	var tracks []*rollup.Track
	for _, h := range slices.Backward(in.Histories) {
		tracks = append(tracks, rollup.NewTrack(h, rollup.Faults{}))
	}
	checked := 0
	intervals := map[rollup.Window]int{} // of medians
	for _, w := range rollup.Windows() {
		entries := rollup.Entries(tracks, w, in.Generated)
		for _, m := range rollup.BoardMetrics() {
			board := rollup.NewBoard(entries, m)
			var api struct {
				Ranked int
				Rows   []struct {
					bench.Pair
					RankBest  *int         `json:"rank_best"`
					RankWorst *int         `json:"rank_worst"`
					Unranked  bench.Reason `json:"unranked_reason"`
					Metrics   map[rollup.Metric]struct {
						Value, Lo, Hi *float64
						N             int
						Reason        bench.Reason
						Runs          struct{ Intervals map[string][2]float64 }
					}
					SuccessRate struct{ Value, Lo, Hi *float64 } `json:"success_rate"`
				}
			}
			data := readFile(t, dir, "api/v1/leaderboard/"+string(w)+"/"+string(m)+".json")
			if err := json.Unmarshal(data, &api); err != nil {
				t.Fatal(err)
			}
			if len(api.Rows) != len(board.Rows) || api.Ranked != board.Ranked {
				t.Fatalf("%s %s: %d rows, %d ranked; want %d, %d", w, m, len(api.Rows), api.Ranked, len(board.Rows), board.Ranked)
			}
			for i, want := range board.Rows {
				got := api.Rows[i]
				if got.Pair != want.Series.Pair || got.Unranked != want.Why {
					t.Errorf("%s %s row %d is %v, %q; want %v, %q", w, m, i, got.Pair, got.Unranked, want.Series.Pair, want.Why)
				}
				if want.Ranked != (got.RankBest != nil) || want.Ranked && (*got.RankBest != want.Best || *got.RankWorst != want.Worst) {
					t.Errorf("%s %s: %v has another rank", w, m, got.Pair)
				}
				value, n := want.Typical.Value, want.N
				known := want.Typical.OK()
				if (w == rollup.Window7d || w == rollup.Window30d) && want.Score.OK() {
					value, n, known = want.Score.Value, want.Score.Runs, true
				}
				level := got.Metrics[m]
				if known != (level.Value != nil) || known && *level.Value != value {
					t.Errorf("%s %s: %v has another value than %v", w, m, got.Pair, value)
				}
				if level.N != n {
					t.Errorf("%s %s: %v has n %d; want %d", w, m, got.Pair, level.N, n)
				}
				if p50, ok := level.Runs.Intervals["p50"]; ok != want.Spread.P50.HasInterval || p50 != [2]float64{want.Spread.P50.Interval.Lo, want.Spread.P50.Interval.Hi} {
					t.Errorf("%s %s: %v has the interval %v of its median; want %+v", w, m, got.Pair, p50, want.Spread.P50)
				} else if ok {
					intervals[w]++
				}
				if !known && level.Reason == "" {
					t.Errorf("%s %s: %v lacks a value and a reason", w, m, got.Pair)
				}
				if want.Ranked && (*level.Lo != want.Rule.Lo || *level.Hi != want.Rule.Hi) {
					t.Errorf("%s %s: %v has another interval", w, m, got.Pair)
				}
				if share := want.Summary.Reliability.SuccessRate; share.OK() && *got.SuccessRate.Value != share.Value {
					t.Errorf("%s %s: %v has another success rate", w, m, got.Pair)
				}
				checked++
			}
		}
	}
	if checked == 0 {
		t.Fatal("nothing was compared")
	}
	if intervals[rollup.Window24h] == 0 || len(intervals) != 1 {
		t.Errorf("medians have intervals over %v; want them within one day alone", intervals)
	}
	for path, want := range map[string]bool{"pair/northwind/aspen-mini/24h/index.html": true, "pair/northwind/aspen-mini/index.html": false} {
		if got := strings.Contains(string(readFile(t, dir, path)), "95 % of p50"); got != want {
			t.Errorf("%s: intervals within the day: %v; want %v", path, got, want)
		}
	}

	rows := boardRows(t, readFile(t, dir, "index.html"))
	board := rollup.NewBoard(rollup.Entries(tracks, rollup.Window7d, in.Generated), rollup.DecodeTPS)
	if len(rows) != len(board.Rows) {
		t.Fatalf("the page has %d rows; want %d", len(rows), len(board.Rows))
	}
	thinned := false
	for i, want := range board.Rows {
		got := rows[i]
		if got["name"] != want.Series.Model {
			t.Errorf("row %d is %q; want %q", i, got["name"], want.Series.Model)
		}
		if want.Ranked {
			rank := strconv.Itoa(want.Best)
			if want.Worst != want.Best {
				rank += "–" + strconv.Itoa(want.Worst)
			}
			if got["rank"] != rank {
				t.Errorf("%s has rank %q; want %q", got["name"], got["rank"], rank)
			}
		}
		n := want.N
		if want.Score.OK() {
			sameNumber(t, got["name"], got["m1"], want.Score.Value)
			n = want.Score.Runs
		}
		thinned = thinned || n < want.N
		if share := want.Summary.Reliability.SuccessRate; share.OK() {
			sameNumber(t, got["name"]+" success", got["ok"], share.Value*100)
		}
		if got["count"] != strconv.Itoa(n) {
			t.Errorf("%s has n %s; want %d", got["name"], got["count"], n)
		}
	}
	if !thinned {
		t.Error("no score leaves a day of too few runs out")
	}
}

// thinDay leaves two runs of the third day before the sites are built: too few
// for the median of a day.
func thinDay(h *rollup.History) {
	day, left := built.Truncate(rollup.Day).Add(-3*rollup.Day), 2
	h.Samples = slices.DeleteFunc(h.Samples, func(s bench.Sample) bool {
		if !s.StartedAt.Truncate(rollup.Day).Equal(day) || !s.OK() {
			return false
		}
		left--
		return left < 0
	})
	h.Days, h.Samples = aged(*h)
}

// sameNumber checks that text is value to three significant digits or one
// decimal.
func sameNumber(t *testing.T, what, text string, value float64) {
	t.Helper()
	got, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	tolerance := max(0.0501, 0.501*math.Pow(10, math.Floor(math.Log10(value))-2))
	if err != nil || math.Abs(got-value) > tolerance {
		t.Errorf("%s prints %q; want %v", what, text, value)
	}
}

// boardRows returns the texts of a board's cells by class.
func boardRows(t *testing.T, page []byte) []map[string]string {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	var rows []map[string]string
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode || n.Data != "tr" || n.Parent.Data != "tbody" {
			continue
		}
		row := map[string]string{}
		for cell := range n.ChildNodes() {
			if cell.Type != html.ElementNode {
				continue
			}
			for _, a := range cell.Attr {
				if a.Key == "class" {
					for _, class := range strings.Fields(a.Val) {
						row[class] = textOf(cell)
					}
				}
			}
		}
		if _, ok := row["rank"]; ok {
			rows = append(rows, row)
		}
	}
	return rows
}

// textOf returns the text of the first element of a node that has some.
func textOf(n *html.Node) string {
	for d := range n.Descendants() {
		if text := strings.TrimSpace(d.Data); d.Type == html.TextNode && text != "" {
			return text
		}
	}
	return ""
}
