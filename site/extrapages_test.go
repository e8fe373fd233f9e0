package site_test

import (
	"encoding/csv"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/calibrate"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/site"
)

// TestCompared holds what the script of the comparison shows of two endpoints
// against the page of these two.
func TestCompared(t *testing.T) {
	dir := build(t, inputs(t, three()...))
	pages := 0
	for _, name := range paths(t, dir) {
		key, below := strings.CutPrefix(name, "compare/")
		key, page := strings.CutSuffix(key, "/index.html")
		if !below || !page {
			continue
		}
		parts := strings.Split(key, "/")
		a, b := strings.Join(parts[:2], "/"), strings.Join(parts[2:], "/")
		var said struct {
			Series  []string
			Against map[string]struct {
				Series      []string
				Speed, Wait [3][2]string
				Done        [3]string
			}
		}
		if err := json.Unmarshal(readFile(t, dir, "compared/"+a+".json"), &said); err != nil {
			t.Fatal(err)
		}
		if len(said.Against) != 2 {
			t.Errorf("%s is compared with %d endpoints; want the two others", a, len(said.Against))
		}
		text := string(readFile(t, dir, name))
		x := said.Against[b]
		for key, terms := range map[string][]string{a: said.Series, b: x.Series} {
			provider, model, _ := strings.Cut(key, "/")
			if want := []string{"provider = '" + provider + "'", "model = '" + model + "'"}; len(terms) != 4 || !slices.Equal(terms[:2], want) {
				t.Errorf("the days of %s are asked for by %q; want %q first", key, terms, want)
			}
		}
		for _, want := range []string{x.Speed[0][0], x.Speed[0][1], x.Wait[0][0], x.Wait[0][1], x.Done[0]} {
			if want == "" || !strings.Contains(strings.ReplaceAll(text, "&#43;", "+"), want) {
				t.Errorf("%s does not say %q, which the script does", name, want)
			}
		}
		if x.Speed[0][1] == x.Speed[2][1] {
			t.Errorf("%s against %s: the interval %q is no wider among four", a, b, x.Speed[0][1])
		}
		pages++
	}
	if pages == 0 {
		t.Fatal("no two endpoints have a page")
	}
	// smooth-60 streams at about 60 tokens/s, jittery-80 at about 80.
	page := string(readFile(t, dir, "compare/index.html"))
	if !strings.Contains(page, "differ clearly in speed") || !strings.Contains(page, "% faster") {
		t.Error("the page claims no difference between 60 and 80 tokens a second")
	}
}

// TestRaced holds the pace that is replayed against the trace it was made of.
func TestRaced(t *testing.T) {
	in := inputs(t, three()...)
	dir := build(t, in)
	if len(in.Traces) == 0 {
		t.Fatal("no series has a trace")
	}
	for series, s := range in.Traces {
		var pace struct {
			Facts string
			MS    []float64
			Chars []int
		}
		if err := json.Unmarshal(readFile(t, dir, "raced/"+series.Provider+"/"+series.Model+".json"), &pace); err != nil {
			t.Fatal(err)
		}
		ms, chars := 0.0, 0
		for i := range pace.MS {
			ms, chars = ms+pace.MS[i], chars+pace.Chars[i]
			if pace.MS[i] < 0 || pace.Chars[i] <= 0 {
				t.Errorf("%s: step %d takes %v ms and brings %d characters", series, i, pace.MS[i], pace.Chars[i])
			}
		}
		if want := float64(s.LastText) / 1e6; math.Abs(ms-want) > 0.06 {
			t.Errorf("%s: the replay ends after %v ms; the answer did after %v", series, ms, want)
		}
		if chars != s.Chars {
			t.Errorf("%s: the replay has %d characters; the answer had %d", series, chars, s.Chars)
		}
		if want := site.Latency(float64(s.FirstText) / 1e6); !strings.Contains(pace.Facts, "First text after "+want) {
			t.Errorf("%s: %q does not say %q", series, pace.Facts, want)
		}
	}
}

// TestThinking counts runs that spent their budget thinking apart, on the page
// and in its CSV.
func TestThinking(t *testing.T) {
	in := inputs(t, three()...)
	h := &in.Histories[0]
	changed := 0
	for i := len(h.Samples) - 60; i < len(h.Samples)-24 && changed < 7; i++ {
		if s := &h.Samples[i]; s.OK() {
			s.Kind, s.Detail, s.FirstReason = wire.KindMalformed, wire.DetailNoVisibleOutput, time.Second
			changed++
		}
	}
	h.Days = nil // the raw samples reach back as far
	dir := build(t, in)
	mustCrawl(t, dir)
	page := string(readFile(t, dir, "reliability/index.html"))
	if !strings.Contains(page, ": 7 of 720 runs") || !strings.Contains(page, "only thought") {
		t.Error("the page does not say 7 of 720 runs")
	}
	rows, err := csv.NewReader(strings.NewReader(string(readFile(t, dir, "reliability/reliability.csv")))).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("the CSV has %d rows: %v", len(rows), err)
	}
	column := slices.Index(rows[0], "no_answer_after_reasoning")
	for _, row := range rows[1:] {
		want := "0"
		if row[0] == h.Series.Provider && row[1] == h.Series.Model {
			want = "7"
		}
		if row[column] != want {
			t.Errorf("%s/%s: %s such runs; want %s", row[0], row[1], row[column], want)
		}
	}
}

// TestPrices names the states of the page, and the line through best offers.
func TestPrices(t *testing.T) {
	in := inputs(t, three()...)
	page := func() string { return string(readFile(t, build(t, in), "price/index.html")) }
	price := func(provider, model string, usd *float64) {
		for i := range in.Providers {
			for j := range in.Providers[i].Models {
				if m := &in.Providers[i].Models[j]; in.Providers[i].Name == provider && m.Name == model {
					m.PriceOut = usd
				}
			}
		}
	}
	one, two, three := 1.0, 2.0, 3.0
	// northwind/aspen streams at 60 tokens/s, estuary/birch at 80, estuary/aspen
	// at 50 or less.
	price("northwind", "aspen", &one)
	price("estuary", "birch", &two)
	price("estuary", "aspen", &three)
	got := page()
	if !strings.Contains(got, "<h1>Two endpoints are beaten by none on both price and speed.</h1>") {
		t.Errorf("the heading is %q", between(got, "<h1>", "</h1>"))
	}
	if n := strings.Count(got, "<td>on it</td>"); n != 2 {
		t.Errorf("%d rows are on the line; want 2", n)
	}
	if n := strings.Count(got, "<td>below it</td>"); n != 1 {
		t.Errorf("%d rows are below the line; want 1", n)
	}
	price("northwind", "aspen", nil)
	price("estuary", "birch", nil)
	price("estuary", "aspen", nil)
	if got := page(); !strings.Contains(got, "<h1>No price is known.</h1>") || strings.Contains(got, "<svg class=\"chart") {
		t.Errorf("without prices the heading is %q", between(got, "<h1>", "</h1>"))
	}
}

func between(text, from, to string) string {
	_, text, _ = strings.Cut(text, from)
	text, _, _ = strings.Cut(text, to)
	return text
}

// TestStatus prints the calibration that it is given, made harmless.
func TestStatus(t *testing.T) {
	in := inputs(t, three()...)
	if page := string(readFile(t, build(t, in), "status/index.html")); !strings.Contains(page, "None is kept with this record.") || !strings.Contains(page, "1.0 min") {
		t.Error("the page without a calibration does not say so, or not that runs came a minute late")
	}
	in.Calibration = &calibrate.Calibration{
		Format: calibrate.Format, Method: bench.MethodVersion, At: built, Machine: calibrate.Machine{OS: "<b>linux", Arch: "amd64", CPUs: 2},
		Gates: []calibrate.Gate{
			{Name: "kernel stamp, 5 ms", Unit: "ms", Limit: 0.05, Got: 0.04, Passed: true},
			{Name: "kernel stamp, 1 ms", Unit: "ms", Limit: 0.02, Got: 0.03},
		},
	}
	dir := build(t, in)
	mustCrawl(t, dir)
	page := string(readFile(t, dir, "status/index.html"))
	for _, want := range []string{"&lt;b&gt;linux/amd64 with 2 CPUs", "one of 2 limits are missed", "kernel stamp, 5 ms", "0.030"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

// TestExtraBudget weighs the pages beside the board with 60 endpoints.
func TestExtraBudget(t *testing.T) {
	dir := build(t, inputs(t, many(60, 6*time.Hour, 32)...))
	for _, page := range []string{"compare/", "race/", "reliability/", "price/", "estimate/", "status/"} {
		data := readFile(t, dir, page+"index.html")
		got, requests := gzipped(t, data), 1
		for _, name := range loaded(string(data)) {
			got += gzipped(t, readFile(t, dir, filepath.Join(page, name)))
			requests++
		}
		t.Logf("%s: %d bytes in %d requests", page, got, requests)
		if got > 40_000 || requests > 6 {
			t.Errorf("%s weighs %d bytes in %d requests; want at most 40000 in 6", page, got, requests)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "raced", "*", "*.json"))
	more, err2 := filepath.Glob(filepath.Join(dir, "compared", "*", "*.json"))
	if err != nil || err2 != nil || len(files) == 0 || len(more) == 0 {
		t.Fatalf("found %d and %d data files: %v, %v", len(files), len(more), err, err2)
	}
	for _, name := range append(files, more...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := gzipped(t, data); got > 12_000 {
			t.Errorf("%s weighs %d bytes; want at most 12000", name, got)
		}
	}
}
