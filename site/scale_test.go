//go:build unix

package site_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/site"
)

// grown is a site of n pairs with a year of history each: twenty simulated pasts,
// measured every six hours, under n names.
func grown(tb testing.TB, n int) site.Inputs {
	tb.Helper()
	const pasts = 20
	in := inputs(tb, many(pasts, 6*time.Hour, 365)...)
	seeds := in.Histories
	in.Histories, in.Providers, in.Events = nil, nil, nil
	traces := in.Traces
	in.Traces = map[bench.Series]bench.Sample{}
	for i := range n {
		h := seeds[i%pasts]
		seed := h.Series
		h.Series.Pair = bench.Pair{Provider: fmt.Sprint("provider-", i/10), Model: fmt.Sprint(seed.Model, "-", i)}
		h.Samples, h.Days = slices.Clone(h.Samples), slices.Clone(h.Days)
		for j := range h.Samples {
			h.Samples[j].Pair = h.Series.Pair
		}
		for j := range h.Days {
			h.Days[j].Series = h.Series
		}
		if s, ok := traces[seed]; ok {
			s.Pair = h.Series.Pair
			in.Traces[h.Series] = s
		}
		in.Histories = append(in.Histories, h)
		if i%10 == 0 {
			in.Providers = append(in.Providers, site.Provider{Name: h.Series.Provider, Title: fmt.Sprint("Provider ", i/10)})
		}
		p := &in.Providers[len(in.Providers)-1]
		p.Models = append(p.Models, site.Model{Name: h.Series.Model, Every: h.Every})
	}
	in.Events = events(in.Histories[:min(n, 60)])
	return in
}

// heap returns the bytes of the heap that are in use, dead objects included.
func heap() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// processor returns the processor time that was used so far by this process, or
// by those that it started and that ended. Unlike the time that passed, it says
// the same on a machine that has much else to do.
func processor(b *testing.B, who int) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// perPage reports the time that passed and the processor time for each page.
func perPage(b *testing.B, pages int, used time.Duration) {
	each := float64(b.N) * float64(pages)
	b.ReportMetric(float64(pages), "pages")
	b.ReportMetric(float64(b.Elapsed().Microseconds())/each, "µs/page")
	b.ReportMetric(float64(used.Microseconds())/each, "cpu-µs/page")
}

// collect lets the heap grow as the command does that builds a site.
func collect() (restore func()) {
	before := debug.SetGCPercent(200)
	return func() { debug.SetGCPercent(before) }
}

// BenchmarkBuild builds whole sites, charts included, of pairs with a year of
// history. Growth is to be near linear: compare the time a page. The peak of the
// heap includes the inputs, whose samples a build is given in memory.
func BenchmarkBuild(b *testing.B) {
	defer collect()()
	for _, n := range []int{60, 250, 1000} {
		b.Run(fmt.Sprint(n, "pairs"), func(b *testing.B) {
			in := grown(b, n)
			b.ReportAllocs()
			var report site.Report
			var peak uint64
			var used time.Duration
			files := 0
			for b.Loop() {
				b.StopTimer()
				dir := b.TempDir()
				before := processor(b, syscall.RUSAGE_SELF)
				b.StartTimer()
				var err error
				report, err = site.Build(b.Context(), dir, in, func(int, int) {
					if files++; files%64 == 0 {
						peak = max(peak, heap())
					}
				})
				if err != nil {
					b.Fatal(err)
				}
				used += processor(b, syscall.RUSAGE_SELF) - before
			}
			b.ReportMetric(float64(report.Files), "files")
			b.ReportMetric(float64(report.Bytes)/1e6, "MB-site")
			b.ReportMetric(float64(peak)/1e6, "MB-heap")
			perPage(b, report.Pages, used)
		})
	}
}

// BenchmarkPages renders the pages of a site of 60 pairs, with their charts and
// with everything that has to be worked out for them, and in turn has Hugo render
// as many from the same numbers: the tables of each page, as parameters of a page
// of its own, and no chart. As both meet the same load, the ratio of their
// processor times holds on a busy machine too. Without hugo it measures ours alone.
func BenchmarkPages(b *testing.B) {
	defer collect()()
	in := grown(b, 60)
	whole := b.TempDir()
	report, err := site.Build(b.Context(), whole, in, nil)
	if err != nil {
		b.Fatal(err)
	}
	source := ""
	hugo, missing := exec.LookPath("hugo")
	if missing == nil {
		source = hugoSource(b, whole)
	}
	var ours, theirs time.Duration
	var wall, wallTheirs time.Duration
	for b.Loop() {
		from, before := time.Now(), processor(b, syscall.RUSAGE_SELF)
		pages, err := site.BuildPages(b.Context(), b.TempDir(), in)
		if err != nil {
			b.Fatal(err)
		}
		ours += processor(b, syscall.RUSAGE_SELF) - before
		wall += time.Since(from)
		if pages.Pages != report.Pages {
			b.Fatalf("rendered %d pages; want %d", pages.Pages, report.Pages)
		}
		if missing != nil {
			continue
		}
		out := b.TempDir()
		from, before = time.Now(), processor(b, syscall.RUSAGE_CHILDREN)
		if text, err := exec.CommandContext(b.Context(), hugo, "--source", source, "--destination", out, "--quiet").CombinedOutput(); err != nil {
			b.Fatalf("hugo: %v\n%s", err, text)
		}
		theirs += processor(b, syscall.RUSAGE_CHILDREN) - before
		wallTheirs += time.Since(from)
		if n := pagesIn(b, out); n < report.Pages {
			b.Fatalf("hugo rendered %d pages; want %d", n, report.Pages)
		}
	}
	b.ReportMetric(0, "ns/op") // of both together it says nothing
	b.ReportMetric(float64(report.Pages), "pages")
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / float64(b.N*report.Pages) }
	b.ReportMetric(each(ours), "cpu-µs/page")
	b.ReportMetric(each(wall), "µs/page")
	if missing == nil {
		b.ReportMetric(each(theirs), "hugo-cpu-µs/page")
		b.ReportMetric(each(wallTheirs), "hugo-µs/page")
		b.ReportMetric(theirs.Seconds()/ours.Seconds(), "×hugo")
	}
}

// pagesIn counts the pages in a folder.
func pagesIn(tb testing.TB, dir string) (n int) {
	tb.Helper()
	for _, name := range paths(tb, dir) {
		if strings.HasSuffix(name, ".html") {
			n++
		}
	}
	return n
}

// A cell is what a table says in one place, and where it leads.
type cell struct {
	Text string `json:"text"`
	Href string `json:"href,omitempty"`
}

// firstLink returns where the first link within an element leads, or "".
func firstLink(n *html.Node) string {
	for d := range n.Descendants() {
		if d.DataAtom == atom.A {
			return attribute(d, "href")
		}
	}
	return ""
}

// hugoSource writes the source of a Hugo site with the titles and tables of all
// pages of a built one, and the links of the tables.
func hugoSource(tb testing.TB, dir string) (source string) {
	tb.Helper()
	source = tb.TempDir()
	write := func(name, text string) {
		tb.Helper()
		file := filepath.Join(source, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	write("hugo.json", `{"baseURL": "https://gauge.example/", "title": "Streamgauge", "disableKinds": ["taxonomy", "term", "rss", "sitemap", "section", "home"]}`)
	write("layouts/_default/single.html", `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{{.Title}}</title><link rel="stylesheet" href="/style.css"></head><body><h1>{{.Title}}</h1>
{{range .Params.tables}}<table>{{range .}}<tr>{{range .}}<td>{{if .href}}<a href="{{.href}}">{{.text}}</a>{{else}}{{.text}}{{end}}</td>{{end}}</tr>{{end}}</table>{{end}}{{.Content}}</body></html>`)
	for i, name := range paths(tb, dir) {
		if !strings.HasSuffix(name, ".html") {
			continue
		}
		page := readFile(tb, dir, name)
		var tables [][][]cell
		for _, table := range elements(tb, page, atom.Table) {
			var rows [][]cell
			for n := range table.Descendants() {
				switch n.DataAtom {
				case atom.Tr:
					rows = append(rows, nil)
				case atom.Td, atom.Th:
					rows[len(rows)-1] = append(rows[len(rows)-1], cell{wordsOf(n), firstLink(n)})
				}
			}
			tables = append(tables, rows)
		}
		var front bytes.Buffer
		enc := json.NewEncoder(&front)
		enc.SetIndent("", " ") // a page's front matter in JSON begins and ends on lines of its own
		if err := enc.Encode(map[string]any{"title": name, "tables": tables}); err != nil {
			tb.Fatal(err)
		}
		write(fmt.Sprintf("content/page-%d.md", i), front.String()+"\n")
	}
	return source
}
