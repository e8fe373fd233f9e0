package site_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/streamgauge/streamgauge/site"
)

// build builds a site into a fresh folder.
func build(t testing.TB, in site.Inputs) string {
	t.Helper()
	dir := t.TempDir()
	if _, err := site.Build(t.Context(), dir, in, nil); err != nil {
		t.Fatal(err)
	}
	return dir
}

// mustCrawl fails the test for each thing that is wrong with a built site.
func mustCrawl(t testing.TB, dir string) {
	t.Helper()
	problems, err := site.Crawl(os.DirFS(dir))
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range problems {
		if i == 20 {
			t.Fatalf("and %d more", len(problems)-i)
		}
		t.Error(p)
	}
}

const goodHead = `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'"><title>t</title></head><body><h1>h</h1>`

// TestCrawlFinds gives the crawl one fault at a time.
func TestCrawlFinds(t *testing.T) {
	const end = `</body></html>`
	tests := []struct {
		name, page, want string // want is part of the only problem, "" for none
	}{
		{"good", goodHead + `<a href="./">home</a><a href="other/#x">other</a><p id="a"></p><a href="#a">a</a><a href="https://example.com/">out</a>` + end, ""},
		{"data image", goodHead + `<img alt="" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">` + end, ""},
		{"json in script", goodHead + `<script type="application/json">{}</script>` + end, ""},
		{"dead link", goodHead + `<a href="gone/">x</a>` + end, "does not exist"},
		{"dead fragment", goodHead + `<a href="other/#gone">x</a>` + end, "no such place"},
		{"own dead fragment", goodHead + `<a href="#gone">x</a>` + end, "no such place"},
		{"out of the site", goodHead + `<a href="../../etc/">x</a>` + end, "outside the site"},
		{"from the root", goodHead + `<a href="/other/">x</a>` + end, "works in one place only"},
		{"script link", goodHead + `<a href="javascript:alert(1)">x</a>` + end, "link to javascript:"},
		{"empty link", goodHead + `<a href="">x</a>` + end, "is no address"},
		{"two ids", goodHead + `<p id="a"></p><p id="a"></p>` + end, `id "a" twice`},
		{"style attribute", goodHead + `<p style="color:red"></p>` + end, "style attribute"},
		{"style element", goodHead + `<style>p{}</style>` + end, "inline style"},
		{"handler", goodHead + `<p onclick="x()"></p>` + end, "event handler"},
		{"inline script", goodHead + `<script>x()</script>` + end, "inline script"},
		{"foreign script", goodHead + `<script src="https://cdn.example/x.js"></script>` + end, "loads from elsewhere"},
		{"foreign image", goodHead + `<img alt="" src="//cdn.example/x.png">` + end, "loads from elsewhere"},
		{"base", goodHead + `<base href="other/">` + end, "base element"},
		{"no policy", strings.Replace(goodHead, "http-equiv", "data-x", 1) + end, "no content security policy"},
		{"weak policy", strings.Replace(goodHead, "'none'; script", "'none'; x y; script", 1) + end, "no content security policy"},
		{"late policy", strings.Replace(goodHead, `<meta charset="utf-8">`, `<script src="x.js"></script>`, 1) + end, "before the content security policy"},
		{"no title", strings.Replace(goodHead, "<title>t</title>", "", 1) + end, "0 titles"},
		{"two headings", goodHead + `<h1>h</h1>` + end, "2 first-level headings"},
		{"no language", strings.Replace(goodHead, ` lang="en"`, "", 1) + end, "no lang"},
		{"crossed tags", goodHead + `<b><i></b></i>` + end, "closes nothing"},
		{"open tag", goodHead + `<div>` + end, "closes nothing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			problems, err := site.Crawl(fstest.MapFS{
				"index.html":       {Data: []byte(tt.page)},
				"x.js":             {},
				"other/index.html": {Data: []byte(goodHead + `<p id="x"></p>` + end)},
			})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case tt.want == "" && len(problems) > 0:
				t.Errorf("found %v; want nothing", problems)
			case tt.want != "" && (len(problems) != 1 || !strings.Contains(problems[0].String(), tt.want)):
				t.Errorf("found %v; want one problem with %q", problems, tt.want)
			}
		})
	}
}

// TestCrawlSimulated finds the page that does not say so.
func TestCrawlSimulated(t *testing.T) {
	problems, err := site.Crawl(fstest.MapFS{
		"index.html":   {Data: []byte(goodHead + `<div class="banner demo">x</div></body></html>`)},
		"a/index.html": {Data: []byte(goodHead + `</body></html>`)},
	})
	if err != nil || len(problems) != 1 || problems[0].File != "a/index.html" {
		t.Errorf("found %v, %v; want one problem of a/index.html", problems, err)
	}
}

func TestCrawlNeedsPages(t *testing.T) {
	if problems, err := site.Crawl(fstest.MapFS{"x.txt": {}}); err == nil {
		t.Errorf("a site without pages passed: %v", problems)
	}
}

// TestCrawlBuilt crawls whole sites: full, young, empty, at the root of a host
// and below a folder, simulated and real.
func TestCrawlBuilt(t *testing.T) {
	young := inputs(t, past{"estuary", "aspen", "smooth-60", 30 * 60e9, 2})
	young.Simulated = false
	young.Config.BaseURL = ""
	bare := inputs(t, past{"estuary", "aspen", "smooth-60", 60 * 60e9, 8})
	bare.Config = site.Config{} // a fork that has said nothing
	failing := inputs(t, past{"estuary", "aspen", "fails-hang", 60 * 60e9, 8}, past{"estuary", "birch", "burst", 60 * 60e9, 8}, past{"estuary", "cedar", "no-usage-80", 60 * 60e9, 8})
	failing.Config.BaseURL = "https://gauge.example"
	for name, in := range map[string]site.Inputs{"three": inputs(t, three()...), "young": young, "failing": failing, "bare": bare, "empty": inputs(t)} {
		t.Run(name, func(t *testing.T) { mustCrawl(t, build(t, in)) })
	}
}

// TestLostPage checks that the page for unknown addresses works at any depth.
func TestLostPage(t *testing.T) {
	for base, want := range map[string]string{
		"":                          `href="/provider/"`,
		"https://gauge.example":     `href="/provider/"`,
		"https://gauge.example/x/y": `href="/x/y/provider/"`,
	} {
		in := inputs(t)
		in.Config.BaseURL = base
		page, err := os.ReadFile(filepath.Join(build(t, in), "404.html"))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(page), want) {
			t.Errorf("base %q: 404.html does not contain %s", base, want)
		}
	}
}
