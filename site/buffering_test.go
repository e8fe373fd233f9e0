package site_test

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// TestBufferedPages marks one endpoint by its probes, and reads what the board,
// its page and its JSON say of it; the other endpoints keep their rates.
func TestBufferedPages(t *testing.T) {
	in := inputs(t, three()...)
	h := &in.Histories[0]
	day := ""
	for i := range h.Samples {
		s := &h.Samples[i]
		if !s.OK() || s.Chunks == 0 || s.Done == 0 {
			continue
		}
		s.FirstText = s.LastText - 200*time.Millisecond // kept back, and sent within a fifth of a second
		if date := s.StartedAt.Format(time.DateOnly); date != day {
			day = date
			env := s.Env
			env.Short = true
			h.Probes = append(h.Probes, bench.Sample{
				Pair: s.Pair, Env: env, StartedAt: s.StartedAt.Add(10 * time.Second), Chunks: 1, Chars: 60, FirstReadChars: 60,
				FirstText: 100 * time.Millisecond, LastText: 150 * time.Millisecond, Done: 150 * time.Millisecond,
				Usage: bench.Usage{Output: wire.Known(16), Visible: wire.Known(16)},
			})
		}
	}
	if len(h.Probes) < 14 {
		t.Fatalf("only %d days of probes", len(h.Probes))
	}
	dir := build(t, in)
	pair := h.Series.Pair.String()

	board := string(readFile(t, dir, "index.html"))
	row := regexp.MustCompile(`<a href="pair/` + pair + `/"[^>]*>.*?</tr>`).FindString(strings.ReplaceAll(board, "\n", " "))
	if !strings.Contains(row, "buffered: no rate") {
		t.Errorf("the board's row says %q", row)
	}
	page := string(readFile(t, dir, "pair/"+pair+"/index.html"))
	for _, want := range []string{"holds its answers back", "<b>Buffered: no rate.</b>", "In 14 of the newest 14 comparisons", `methodology/#buffering"`} {
		if !strings.Contains(page, want) {
			t.Errorf("its page lacks %q", want)
		}
	}
	var detail struct {
		Buffered  bool
		Buffering struct {
			Verdict string
			N       int `json:"comparisons"`
			Held    int `json:"held_back"`
		}
		Windows map[string]struct {
			Level map[string]struct {
				Value  *float64
				Reason string
			}
		}
	}
	if err := json.Unmarshal(readFile(t, dir, "api/v1/pair/"+pair+".json"), &detail); err != nil {
		t.Fatal(err)
	}
	if b := detail.Buffering; !detail.Buffered || b.Verdict != "buffered" || b.N != 14 || b.Held != 14 {
		t.Errorf("JSON says %v, %+v", detail.Buffered, b)
	}
	for w, window := range detail.Windows {
		for _, m := range []string{"decode_tps", "tps_hybrid", "time_to_100_s"} {
			if l := window.Level[m]; l.Value != nil || l.Reason != "buffered" {
				t.Errorf("%s, %s: value %v, reason %q", w, m, l.Value, l.Reason)
			}
		}
	}

	// Pages of the others say against whom they are done first.
	said := 0
	link := regexp.MustCompile(`<b>Against <a href="([^"]+)">[a-z ]+</a>:</b> ([^<]+)`)
	for i := range in.Histories[1:] {
		own := "pair/" + in.Histories[1+i].Series.Pair.String()
		m := link.FindStringSubmatch(string(readFile(t, dir, own+"/index.html")))
		if m == nil {
			continue
		}
		said++
		rival := path.Join(own, m[1])
		readFile(t, dir, rival+"/index.html")
		if rival == own || !strings.Contains(m[2], "done first") && !strings.Contains(m[2], "At no length") {
			t.Errorf("%s against %s: %s", own, rival, m[2])
		}
	}
	if said == 0 {
		t.Error("no page says who is done first")
	}
}

// TestSuccessStandsWithItsInterval looks at every rate of success on the boards
// and embedded pages: none is alone.
func TestSuccessStandsWithItsInterval(t *testing.T) {
	in := inputs(t, three()...)
	dir := build(t, in)
	cell := regexp.MustCompile(`<td class="num ok"[^>]*>(<a [^>]*>[\d.]+</a>[^/]*</span>)?`)
	alone := regexp.MustCompile(`<a [^>]*>[\d.]+</a> <span class="iv">[\d.]+–[\d.]+</span>`)
	for _, name := range []string{"index.html", "24h/index.html", "30d/index.html", "1y/index.html", "first-token/index.html"} {
		cells := cell.FindAllStringSubmatch(string(readFile(t, dir, name)), -1)
		if len(cells) == 0 {
			t.Errorf("%s has no rate of success", name)
		}
		for _, c := range cells {
			if !alone.MatchString(c[1]) {
				t.Errorf("%s: %s", name, c[0])
			}
		}
	}
	for _, h := range in.Histories {
		page := string(readFile(t, dir, "embed/"+h.Series.Pair.String()+"/index.html"))
		if !regexp.MustCompile(`<dt>success</dt><dd class="sub">95 % interval [\d.]+–[\d.]+</dd>`).MatchString(page) {
			t.Errorf("embedded page of %s: %s", h.Series.Pair, page[strings.Index(page, "<dl"):strings.Index(page, "</dl>")])
		}
	}
	csv := strings.SplitN(string(readFile(t, dir, "leaderboard.csv")), "\n", 2)[0]
	if !strings.Contains(csv, "success_rate,success_rate_lo,success_rate_hi,availability,availability_lo,availability_hi,") {
		t.Errorf("columns of the board's CSV: %s", csv)
	}
}
