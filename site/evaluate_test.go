package site_test

import (
	"math"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/rollup"
)

// TestEvaluatePage derives what the page says of each endpoint anew.
func TestEvaluatePage(t *testing.T) {
	in := inputs(t, past{"northwind", "aspen", "smooth-60", time.Hour, 9}, past{"estuary", "birch", "limited-1-in-4", time.Hour, 9}, past{"estuary", "gone", "fails-auth", time.Hour, 9})
	page := string(readFile(t, build(t, in), "evaluate/index.html"))
	for _, want := range []string{"32 requests", "52,000 tokens of prompt", "6,112 of answers", "200, 1,000, 3,000 and 8,000", "streamgauge evaluate --url https://api.example/v1 --model", "of-throttled", "Without a pace"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, h := range in.Histories[:2] {
		f := rollup.NewTrack(h, rollup.Faults{}).Length(rollup.Window7d.Span(built))
		_, row, ok := strings.Cut(page, "<bdi>"+h.Series.Model)
		row, _, closed := strings.Cut(row, "</tr>")
		_, said, _ := strings.Cut(page, "<li><bdi>"+h.Series.Model)
		said, _, _ = strings.Cut(said, "</li>")
		row += said
		if !ok || !closed || !f.OK() {
			t.Fatalf("%s has no row", h.Series.Model)
		}
		ms, i := f.TTLTMS(500)
		for what, v := range map[string]float64{"start": f.Start.Value / 1000, "a token": f.PerToken.Value, "500 tokens": ms / 1000, "its least": i.Lo / 1000, "its most": i.Hi / 1000} {
			if !printsNumber(row, v) {
				t.Errorf("%s: the row lacks %s, %.4g:\n%s", h.Series.Model, what, v, row)
			}
		}
	}
	if _, hours, ok := strings.Cut(page, "Refused for the rate, of runs"); !ok || !strings.Contains(hours, "birch") || strings.Contains(hours[:strings.Index(hours, "</table>")], "aspen") {
		t.Error("refusals by hour are not those of the endpoint that refuses")
	}
}

// printsNumber reports whether one of the numbers of a text is v, or v thousandths, to
// three digits.
func printsNumber(text string, v float64) bool {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) }) {
		if got, err := strconv.ParseFloat(strings.Trim(word, "."), 64); err == nil && (math.Abs(got/v-1) < 0.006 || math.Abs(got/1000/v-1) < 0.006) {
			return true
		}
	}
	return false
}
