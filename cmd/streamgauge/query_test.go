package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/internal/browser"
)

var shots = flag.String("shots", "", "put screenshots of the query page into this folder")

// A reader is a tab of a real browser on the query page of a site.
type reader struct {
	*browser.Tab
	t *testing.T
}

// openReader serves a site below a path, as it would be published, and opens a
// tab.
func openReader(t *testing.T, dir, prefix string) *reader {
	t.Helper()
	return &reader{browser.Open(t, siteHandler(dir), prefix), t}
}

func (r *reader) status() string {
	return browser.Value[string](r.Tab, `document.querySelector('[data-status]').textContent`)
}

// write puts a query into the editor as typing would.
func (r *reader) write(query string) {
	r.t.Helper()
	text, _ := json.Marshal(query) // a string always marshals
	_ = browser.Value[any](r.Tab, `(document.querySelector('#sql').value = `+string(text)+`, null)`)
}

// settled holds when nothing is being loaded or run.
const settled = `document.querySelector('[data-cancel]').hidden && !document.querySelector('[data-run]').disabled`

// ask runs a query by the button and waits for what comes of it.
func (r *reader) ask(query string) (status string) {
	r.t.Helper()
	r.write(query)
	r.Click(`[data-run]`)
	r.Wait(settled)
	return r.status()
}

// table returns the cells of a table, its head first.
func (r *reader) table(selector string) [][]string {
	r.t.Helper()
	return browser.Value[[][]string](r.Tab, `[...document.querySelectorAll('`+selector+` tr')].map(tr => [...tr.cells].map(c => c.textContent))`)
}

func (r *reader) shot(name string, width, height int64, scheme string) {
	r.t.Helper()
	if *shots == "" {
		return
	}
	r.Screen(width, height)
	r.Prefer("prefers-color-scheme", scheme)
	r.Shot(filepath.Join(*shots, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), false)
}

// demoSite builds the site of a demo, unless there is no browser to look at it.
func demoSite(t *testing.T) (dir string) {
	t.Helper()
	browser.Program(t)
	out := t.TempDir()
	if _, log, err := runWith(t, "demo", "--once", "--history", "9d", "--speed", "50", "--out", out); err != nil {
		t.Fatalf("demo: %v\n%s", err, log)
	}
	return filepath.Join(out, "site")
}

const endless = `WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n`

// TestQueryPage opens the database of a demo in a browser and asks it.
func TestQueryPage(t *testing.T) {
	dir := demoSite(t)
	for _, prefix := range []string{"/", "/x/y/"} {
		t.Run(prefix, func(t *testing.T) { queryPage(t, dir, prefix) })
	}
	t.Run("another file", func(t *testing.T) { otherFile(t, dir) })
	t.Run("without scripts", func(t *testing.T) { noScripts(t, dir) })
}

func queryPage(t *testing.T, dir, prefix string) {
	r := openReader(t, dir, prefix)
	lite := filepath.Join(dir, "dataset", liteFile)

	// A query that came in the address is shown, and nothing is loaded or run.
	r.Visit("query/?sql=" + url.QueryEscape("SELECT 'came with the link' AS x") + "#console")
	if got := browser.Value[string](r.Tab, `document.querySelector('#sql').value`); got != "SELECT 'came with the link' AS x" {
		t.Errorf("the editor holds %q", got)
	}
	if got := r.status(); !strings.Contains(got, "has not been run") {
		t.Errorf("the page says %q of a query from the address", got)
	}
	r.shot("linked", 1280, 900, "light")
	for _, part := range []string{".wasm", "sqlite3.", "query-worker", ".gz"} {
		if got := r.Asked(part); len(got) > 0 {
			t.Errorf("before a click it loaded %q", got)
		}
	}
	if got := browser.Value[string](r.Tab, `document.querySelector('[data-run]').textContent`); !strings.Contains(got, " MB and run") {
		t.Errorf("the button says %q; want the megabytes", got)
	}

	// Every question, put into the editor by its link and run by the keyboard,
	// has the answer that the page was built with.
	questions := browser.Value[[]string](r.Tab, `[...document.querySelectorAll('.asked')].map(s => s.id)`)
	if len(questions) != len(data.Questions()) {
		t.Errorf("%d questions; want %d", len(questions), len(data.Questions()))
	}
	for i, id := range questions {
		_ = browser.Value[any](r.Tab, `(document.querySelector('#`+id+` [data-put]').focus(), null)`)
		r.Do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		r.Wait(settled)
		if got := r.status(); !strings.Contains(got, " s, from "+liteFile) {
			t.Fatalf("%s: %q", id, got)
		}
		served, got := r.table("#"+id+" table"), r.table("[data-answer]")
		if a, b := fmt.Sprint(served), fmt.Sprint(got); a != b && len(got) > 1 {
			t.Errorf("%s: the browser answers\n%s\nthe page has\n%s", id, b, a)
		}
		if i == 1 {
			r.shot("answered", 1280, 900, "light")
			r.shot("answered", 1280, 900, "dark")
			r.shot("answered", 390, 844, "light")
			r.shot("answered", 390, 844, "dark")
			if w := browser.Value[int](r.Tab, "document.documentElement.scrollWidth"); *shots != "" && w > 390 {
				t.Errorf("%d pixels wide on a phone of 390", w)
			}
			r.Screen(1280, 900)
		}
	}
	if got := r.Asked(".gz"); len(got) != 1 {
		t.Errorf("the database was loaded as %q; want once", got)
	}

	// An own query, of the whole file this time, agrees with SQLite outside.
	own := `SELECT provider, count(*) AS n, sum(ttft_ms) AS s, NULL AS u FROM samples GROUP BY 1`
	r.Click(`[name=file][value="` + wholeFile + `"]`)
	if got := r.ask(own); !strings.Contains(got, "1 row in") || !strings.Contains(got, wholeFile) {
		t.Errorf("an own query: %q", got)
	}
	want, err := data.Query(t.Context(), filepath.Join(dir, "dataset", wholeFile), own, 10)
	if err != nil || len(want.Rows) != 1 {
		t.Fatal(want, err)
	}
	if got := r.table("[data-answer]"); len(got) != 2 || got[1][0] != want.Rows[0][0] || got[1][1] != fmt.Sprint(want.Rows[0][1]) || got[1][3] != "NULL" {
		t.Errorf("the browser answers %q, SQLite %v", got, want.Rows)
	}
	if got := browser.Value[string](r.Tab, "decodeURIComponent(location.search)"); got != "?sql="+own {
		t.Errorf("the address says %q", got)
	}
	if title := browser.Value[string](r.Tab, "document.title"); strings.Contains(title, "undefined") {
		t.Errorf("the title is %q", title)
	}

	// Writes are refused, and so are queries that make no sense.
	for query, says := range map[string]string{
		`DELETE FROM raw_samples`:                 "readonly",
		`UPDATE meta SET value = 'x'`:             "readonly",
		`CREATE TABLE t(x)`:                       "readonly",
		`ATTACH 'file:x.db' AS other`:             "too many attached",
		`SELECT missing FROM samples`:             "no such column",
		`SELECT length(zeroblob(50000000))`:       "too big",
		`SELECT '<img src=x onerror=alert(1)>' x`: "1 row in",
	} {
		if got := r.ask(query); !strings.Contains(got, says) {
			t.Errorf("%s: the page says %q; want %q", query, got, says)
		}
	}
	if n := browser.Value[int](r.Tab, `document.querySelectorAll('[data-answer] img').length`); n != 0 {
		t.Error("an answer became markup")
	}
	if got := r.ask(`SELECT count(*) AS n FROM raw_samples`); !strings.Contains(got, "1 row in") {
		t.Errorf("after refused writes: %q", got)
	}

	// Too many rows: what was read is there, and it is said.
	if got := r.ask(`WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n`); !strings.Contains(got, "Stopped after 100,000 rows") {
		t.Errorf("an endless answer: %q", got)
	}
	if n := browser.Value[int](r.Tab, `document.querySelectorAll('[data-answer] tbody tr').length`); n != 200 {
		t.Errorf("%d rows are shown; want 200", n)
	}
	r.csv()

	// Cancel ends an endless query at once; the next one loads the file again.
	r.write(endless)
	r.Click(`[data-run]`)
	r.Wait(`document.querySelector('[data-status]').textContent == 'Running…'`)
	r.Click(`[data-cancel]`)
	r.Wait(settled)
	if got := r.status(); got != "Canceled." {
		t.Errorf("after Cancel the page says %q", got)
	}
	if got := r.ask(`SELECT 1`); !strings.Contains(got, "1 row in") {
		t.Errorf("after Cancel and another query: %q", got)
	}

	// Left alone, it ends by itself and the database stays open.
	before := len(r.Asked(".gz"))
	if prefix == "/" {
		if got := r.ask(endless); !strings.Contains(got, "Stopped after 10 seconds") {
			t.Errorf("an endless query: %q", got)
		}
		if got := r.ask(`SELECT 1`); !strings.Contains(got, "1 row in") || len(r.Asked(".gz")) != before {
			t.Errorf("after an endless query: %q", got)
		}
	}
	r.Clean("query/")

	// The link of a pair's page asks for that pair.
	pairs, err := filepath.Glob(filepath.Join(dir, "pair", "*", "*", "7d", "index.html"))
	if err == nil && len(pairs) == 0 {
		pairs, err = filepath.Glob(filepath.Join(dir, "pair", "*", "*", "index.html"))
	}
	if err != nil || len(pairs) == 0 {
		t.Fatalf("found no pages of pairs: %v", err)
	}
	rel, _ := filepath.Rel(dir, filepath.Dir(pairs[0]))
	r.Visit(filepath.ToSlash(rel) + "/")
	r.Do(chromedp.Navigate(browser.Value[string](r.Tab, `document.querySelector('.foot a[href*="query/?sql="]').href`)))
	r.Wait(`document.querySelector('[data-status]')?.textContent.includes('came with the link')`)
	query := browser.Value[string](r.Tab, `document.querySelector('#sql').value`)
	if got, err := data.Query(t.Context(), lite, query, 1); err != nil || len(got.Rows) == 0 {
		t.Errorf("the pair's query gives %v, %v:\n%s", got, err, query)
	}
	r.Clean("query/")
}

// csv downloads the newest answer and looks at it.
func (r *reader) csv() {
	r.t.Helper()
	r.ask(`SELECT 1 AS "a,b", '=1+1' AS f, 'say "x"' AS q, NULL AS n, 0.5 AS h`)
	dir := r.t.TempDir()
	r.Download(dir)
	r.Click(`[data-csv]`)
	want := "\"a,b\",f,q,n,h\r\n1,'=1+1,\"say \"\"x\"\"\",,0.5\r\n"
	var got []byte
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got, _ = os.ReadFile(filepath.Join(dir, "query.csv")); len(got) > 0 {
			break
		}
	}
	if string(got) != want {
		r.t.Errorf("the CSV is %q; want %q", got, want)
	}
}

// otherFile serves a database that is not the one the page describes.
func otherFile(t *testing.T, dir string) {
	r := openReader(t, dir, "/")
	lite := filepath.Join(dir, "dataset", litePacked)
	right, err := os.ReadFile(lite)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.WriteFile(lite, right, 0o644); err != nil {
			t.Error(err)
		}
	})
	plain, err := os.ReadFile(filepath.Join(dir, "dataset", liteFile))
	if err != nil {
		t.Fatal(err)
	}
	changed := bytes.Clone(plain)
	changed[len(changed)-1] ^= 1
	for _, tt := range []struct {
		name string
		file []byte
		says string
	}{
		{"one bit", changed, "not the one this page describes"},
		{"longer", append(bytes.Clone(plain), 0), "more of it than this page says"},
		{"no file", nil, "not the one this page describes"},
		{"cut off", right[:len(right)/2], ""}, // whatever the browser calls it
		{"not compressed on the way", plain, "1 row in"},
	} {
		if err := os.WriteFile(lite, tt.file, 0o644); err != nil {
			t.Fatal(err)
		}
		r.Visit("query/")
		got := r.ask(`SELECT 1`)
		if !strings.Contains(got, tt.says) || (tt.says != "1 row in") == strings.Contains(got, "1 row in") {
			t.Errorf("%s: the page says %q; want %q", tt.name, got, tt.says)
		}
	}
	if err := os.Remove(lite); err != nil {
		t.Fatal(err)
	}
	r.Visit("query/")
	if got := r.ask(`SELECT 1`); !strings.Contains(got, "status 404") {
		t.Errorf("without a file: the page says %q", got)
	}
}

// noScripts reads the page with scripts switched off: questions and answers are
// there, and nothing that would do nothing.
func noScripts(t *testing.T, dir string) {
	r := openReader(t, dir, "/")
	r.Scripts(false)
	r.Visit("query/")
	if n := browser.Value[int](r.Tab, `[...document.querySelectorAll('.asked table')].filter(t => t.rows.length > 1).length`); n < 8 {
		t.Errorf("%d answers; want at least 8", n)
	}
	if n := browser.Value[int](r.Tab, `[...document.querySelectorAll('button, textarea, .asked .btn')].filter(e => e.checkVisibility()).length`); n != 0 {
		t.Errorf("%d controls that do nothing are shown", n)
	}
	r.shot("plain", 1280, 900, "light")
}
