package site_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/site"
)

var update = flag.Bool("update", false, "rewrite testdata/*/want")

// TestGolden builds the site that testdata/CASE/in describes and compares it
// with testdata/CASE/want: files.txt lists every file there must be, and the
// other files are compared byte for byte. To compare one more file, put an empty
// one there; to accept a change, run with -update.
func TestGolden(t *testing.T) {
	cases, err := filepath.Glob("testdata/*/in")
	if err != nil || len(cases) == 0 {
		t.Fatalf("found no cases: %v", err)
	}
	for _, in := range cases {
		t.Run(filepath.Base(filepath.Dir(in)), func(t *testing.T) {
			site := goldenInputs(t, in)
			dir := build(t, site)
			want := filepath.Join(filepath.Dir(in), "want")
			compared := 0
			err := filepath.WalkDir(want, func(name string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				rel, _ := filepath.Rel(want, name)
				got := []byte(listing(t, dir))
				if rel != "files.txt" {
					if got, err = os.ReadFile(filepath.Join(dir, rel)); err != nil {
						return err
					}
				}
				compared++
				if *update {
					return os.WriteFile(name, got, 0o666)
				}
				old, err := os.ReadFile(name)
				if err != nil {
					return err
				}
				if diff := cmp.Diff(strings.Split(string(old), "\n"), strings.Split(string(got), "\n")); diff != "" {
					t.Errorf("%s differs (-want +got):\n%.4000s", rel, diff)
				}
				return nil
			})
			if err != nil || compared == 0 {
				t.Fatalf("compared %d files: %v", compared, err)
			}
		})
	}
}

// goldenInputs reads a case: one series a line, as provider, model, what it
// behaves like, cadence and days. Assets and prose are stand-ins, so that a new
// colour or sentence changes no golden file.
func goldenInputs(t *testing.T, dir string) site.Inputs {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "series.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var pasts []past
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var p past
		var every string
		if _, err := fmt.Sscan(lines.Text(), &p.provider, &p.model, &p.like, &every, &p.days); err != nil {
			t.Fatalf("%s: %q: %v", dir, lines.Text(), err)
		}
		if p.every, err = time.ParseDuration(every); err != nil {
			t.Fatal(err)
		}
		pasts = append(pasts, p)
	}
	in := inputs(t, pasts...)
	plain := fstest.MapFS{}
	names, err := fs.Glob(in.Templates, "*.tmpl")
	if err != nil || len(names) == 0 {
		t.Fatalf("found no templates: %v", err)
	}
	for _, name := range names {
		data, err := fs.ReadFile(in.Templates, name)
		if err != nil {
			t.Fatal(err)
		}
		plain[name] = &fstest.MapFile{Data: data}
	}
	for _, name := range []string{"style.css", "icon.svg", "leaderboard.js", "copy.js", "explore.js", "stale.js", "echarts.min.js", "compare.css", "embed.css", "compare.js", "query.css"} {
		plain["assets/"+name] = &fstest.MapFile{}
	}
	in.Templates = plain
	prose := fstest.MapFS{}
	for _, name := range []string{"about", "changelog", "dataset", "methodology", "guide-reading", "guide-fork", "threat-model"} {
		prose[name+".md"] = &fstest.MapFile{Data: []byte("---\ntitle: The " + name + " page\nsummary: A stand-in.\n---\n\n## Numbers {#numbers}\n\n## Hybrid {#hybrid}\n\n## Rank {#rank}\n\n## Changes {#changes}\n\nMethod {{.Method}}.\n")}
	}
	in.Content = prose
	return in
}

// listing returns the paths of all files of a site.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range paths(t, dir) {
		b.WriteString(name + "\n")
	}
	return b.String()
}

func paths(t testing.TB, dir string) []string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, name)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// TestIdentical builds equal inputs, given in another order, twice: the bytes
// must be the same, and the second build into one folder must change nothing.
func TestIdentical(t *testing.T) {
	in := inputs(t, three()...)
	first := build(t, in)
	slices.Reverse(in.Histories)
	slices.Reverse(in.Providers)
	second := build(t, in)
	if diff := cmp.Diff(listing(t, first), listing(t, second)); diff != "" {
		t.Fatalf("files differ:\n%s", diff)
	}
	for _, name := range paths(t, first) {
		a, b := readFile(t, first, name), readFile(t, second, name)
		if !bytes.Equal(a, b) {
			t.Errorf("%s differs", name)
		}
	}
	report, err := site.Build(t.Context(), first, in, nil)
	if err != nil {
		t.Fatal(err)
	}
	if report.Changed != 0 {
		t.Errorf("an unchanged site had %d files changed", report.Changed)
	}
	if report.Files != len(paths(t, first)) {
		t.Errorf("reported %d files; there are %d", report.Files, len(paths(t, first)))
	}
}

// TestStale removes a page whose series is gone, and leaves foreign folders alone.
func TestStale(t *testing.T) {
	in := inputs(t, three()...)
	dir := build(t, in)
	gone := filepath.Join(dir, "pair", "northwind", "aspen", "index.html")
	if _, err := os.Stat(gone); err != nil {
		t.Fatal(err)
	}
	in.Histories = in.Histories[:2]
	if _, err := site.Build(t.Context(), dir, in, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(gone); !os.IsNotExist(err) {
		t.Errorf("a stale page is still there: %v", err)
	}
	mustCrawl(t, dir)

	foreign := t.TempDir()
	if err := os.WriteFile(filepath.Join(foreign, "thesis.doc"), nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := site.Build(t.Context(), foreign, in, nil); err == nil {
		t.Error("built into a folder of somebody else")
	}
}

// TestProgress counts every file once.
func TestProgress(t *testing.T) {
	var calls, last, total int
	_, err := site.Build(t.Context(), t.TempDir(), inputs(t), func(done, all int) {
		calls++
		last, total = max(last, done), all
	})
	if err != nil || calls == 0 || calls != total || last != total {
		t.Errorf("%d calls up to %d of %d, %v", calls, last, total, err)
	}
}

// TestBadInputs names what is wrong.
func TestBadInputs(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		change     func(*site.Inputs)
	}{
		{"retention", "RawRetention", func(in *site.Inputs) { in.RawRetention = 0 }},
		{"base", "base URL", func(in *site.Inputs) { in.Config.BaseURL = "gauge.example" }},
		{"base scheme", "base URL", func(in *site.Inputs) { in.Config.BaseURL = "javascript://x/" }},
		{"metric", "rank by", func(in *site.Inputs) { in.Config.RankBy = "beauty" }},
		{"template", "parse the templates", func(in *site.Inputs) { in.Templates = fstest.MapFS{"a.tmpl": {Data: []byte("{{")}} }},
		{"fact", "Unknown", func(in *site.Inputs) { in.Content = withProse(t, in.Content, "about", "{{.Unknown}}") }},
		{"link", "which is no page", func(in *site.Inputs) { in.Content = withProse(t, in.Content, "about", "[x](gone.md)") }},
		{"prose", "methodology.md is missing", func(in *site.Inputs) {
			in.Content = fstest.MapFS{"about.md": {Data: []byte("---\ntitle: x\n---\n")}, "changelog.md": {Data: []byte("---\ntitle: x\n---\n")}, "dataset.md": {Data: []byte("---\ntitle: x\n---\n")}}
		}},
		{"download", "not a file name", func(in *site.Inputs) { in.Dataset = []site.File{{Name: "../x"}} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := inputs(t)
			tt.change(&in)
			if _, err := site.Build(t.Context(), t.TempDir(), in, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v; want one with %q", err, tt.want)
			}
		})
	}
}

// withProse returns content in which one page has another body.
func withProse(t *testing.T, content fs.FS, name, body string) fs.FS {
	t.Helper()
	changed := fstest.MapFS{}
	files, err := fs.Glob(content, "*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := fs.ReadFile(content, f)
		if err != nil {
			t.Fatal(err)
		}
		changed[f] = &fstest.MapFile{Data: data}
	}
	changed[name+".md"] = &fstest.MapFile{Data: []byte("---\ntitle: " + name + "\n---\n" + body)}
	return changed
}

// TestDownload copies the dataset, prints its sum, and refuses one that is not
// what the page says.
func TestDownload(t *testing.T) {
	in := inputs(t)
	source := filepath.Join(t.TempDir(), "source")
	text := []byte("SQLite format 3\x00")
	if err := os.WriteFile(source, text, 0o666); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	f := site.File{Name: "gauge.sqlite", Note: "All of it.", Bytes: int64(len(text)), SHA256: hex.EncodeToString(sum[:]), Source: source}
	in.Dataset = []site.File{f}
	dir := build(t, in)
	mustCrawl(t, dir)
	if got := readFile(t, dir, "dataset/gauge.sqlite"); !bytes.Equal(got, text) {
		t.Errorf("the download holds %q", got)
	}
	if page := string(readFile(t, dir, "dataset/index.html")); !strings.Contains(page, f.SHA256) || !strings.Contains(page, "16 B") {
		t.Error("the page does not print sum and size")
	}
	in.Dataset[0].SHA256 = strings.Repeat("0", 64)
	if _, err := site.Build(t.Context(), dir, in, nil); err == nil {
		t.Error("a download with another sum was published")
	}
}

func readFile(t testing.TB, dir, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestBudget weighs what a first view loads: 60 rows on the leaderboard, and a
// pair measured every ten minutes, each with stylesheet and scripts.
func TestBudget(t *testing.T) {
	pasts := many(60, 6*time.Hour, 32)
	pasts[0].every, pasts[0].like = 10*time.Minute, "jittery-80"
	dir := build(t, inputs(t, pasts...))
	for _, tt := range []struct {
		page string
		most int // bytes, compressed
	}{
		{"index.html", 30_000},
		{"pair/northwind/aspen-mini/index.html", 40_000},
		{"pair/northwind/aspen-mini/24h/index.html", 40_000},
		{"pair/northwind/aspen-mini/30d/index.html", 40_000},
		{"pair/northwind/aspen-mini/1y/index.html", 40_000},
	} {
		page := readFile(t, dir, tt.page)
		got, requests := gzipped(t, page), 1
		for _, name := range loaded(string(page)) {
			got += gzipped(t, readFile(t, dir, filepath.Join(filepath.Dir(tt.page), name)))
			requests++
		}
		t.Logf("%s: %d bytes in %d requests", tt.page, got, requests)
		if got > tt.most {
			t.Errorf("%s weighs %d bytes; want at most %d", tt.page, got, tt.most)
		}
		if requests > 6 {
			t.Errorf("%s needs %d requests; want at most 6", tt.page, requests)
		}
	}
	if got := gzipped(t, readFile(t, dir, "pair/northwind/aspen-mini/speed.json")); got > 12_000 {
		t.Errorf("explorer data weighs %d bytes; want at most 12000", got)
	}
}

// loaded returns the scripts, styles and icons that a page loads.
func loaded(page string) []string {
	var names []string
	for _, before := range []string{`<script src="`, `<link rel="stylesheet" href="`, `<link rel="icon" type="image/svg+xml" href="`} {
		for rest := page; ; {
			_, after, ok := strings.Cut(rest, before)
			if !ok {
				break
			}
			name, tail, _ := strings.Cut(after, `"`)
			names, rest = append(names, name), tail
		}
	}
	return names
}

func gzipped(t testing.TB, data []byte) int {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b) // the level servers use
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Len()
}
