package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/streamgauge/streamgauge/data"
)

var shots = flag.String("shots", "", "put screenshots of the query page into this folder")

// A reader is a tab of a real browser on a site.
type reader struct {
	t      *testing.T
	ctx    context.Context
	base   string // address of the site
	mu     sync.Mutex
	loaded []string // paths asked of the server
}

// openReader serves a site below a path, as it would be published, and opens a
// tab. The test is skipped where no browser is installed.
func openReader(t *testing.T, program, dir, prefix string) *reader {
	t.Helper()
	r := &reader{t: t}
	handler := http.StripPrefix(strings.TrimSuffix(prefix, "/"), siteHandler(dir))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.loaded = append(r.loaded, req.URL.Path)
		r.mu.Unlock()
		handler.ServeHTTP(w, req)
	}))
	t.Cleanup(server.Close)
	r.base = server.URL + prefix
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1280, 900))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil { // starts the browser, which lives as long as ctx
		t.Fatalf("start %s: %v", program, err)
	}
	r.ctx = ctx
	r.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: `
			window.faults = []
			document.addEventListener('securitypolicyviolation', e => faults.push('blocked: ' + e.violatedDirective + ' ' + e.blockedURI))
			window.addEventListener('error', e => faults.push('error: ' + e.message), true)
			window.addEventListener('unhandledrejection', e => faults.push('rejected: ' + e.reason))`})
		return err
	}))
	return r
}

func (r *reader) do(steps ...chromedp.Action[chromedp.Void]) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		r.t.Fatal(err)
	}
}

// see returns what an expression gives in the page.
func see[T any](r *reader, expression string) T {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, time.Minute)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("JSON.stringify("+expression+")"))
	if err != nil {
		r.t.Fatalf("%s: %v", expression, err)
	}
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		r.t.Fatalf("%s gives %q: %v", expression, text, err)
	}
	return v
}

func (r *reader) wait(expression string) {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](expression)); err != nil {
		r.t.Fatalf("waiting for %s: %v; the page says %q", expression, err, r.status())
	}
}

func (r *reader) status() string {
	return see[string](r, `document.querySelector('[data-status]').textContent`)
}

// write puts a query into the editor as typing would.
func (r *reader) write(query string) {
	r.t.Helper()
	text, _ := json.Marshal(query) // a string always marshals
	_ = see[any](r, `(document.querySelector('#sql').value = `+string(text)+`, null)`)
}

// settled holds when nothing is being loaded or run.
const settled = `document.querySelector('[data-cancel]').hidden && !document.querySelector('[data-run]').disabled`

// ask runs a query by the button and waits for what comes of it.
func (r *reader) ask(query string) (status string) {
	r.t.Helper()
	r.write(query)
	r.do(chromedp.Click(chromedp.CSS(`[data-run]`)))
	r.wait(settled)
	return r.status()
}

// table returns the cells of a table, its head first.
func (r *reader) table(selector string) [][]string {
	r.t.Helper()
	return see[[][]string](r, `[...document.querySelectorAll('`+selector+` tr')].map(tr => [...tr.cells].map(c => c.textContent))`)
}

// requests returns the paths asked of the server so far that contain a text.
func (r *reader) requests(part string) (found []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, path := range r.loaded {
		if strings.Contains(path, part) {
			found = append(found, path)
		}
	}
	return found
}

// clean fails the test for what the page's policy blocked, and for errors.
func (r *reader) clean() {
	r.t.Helper()
	for _, fault := range see[[]string](r, "window.faults") {
		r.t.Error(fault)
	}
	for _, from := range see[[]string](r, "performance.getEntriesByType('resource').map(r => r.name)") {
		if !strings.HasPrefix(from, r.base) {
			r.t.Errorf("loaded %s", from)
		}
	}
}

func (r *reader) shot(name string, width, height int64, scheme string) {
	r.t.Helper()
	if *shots == "" {
		return
	}
	r.do(chromedp.EmulateViewport(width, height), chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
	ctx, cancel := context.WithTimeout(r.ctx, time.Minute)
	defer cancel()
	image, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(*shots, fmt.Sprintf("%s-%d-%s.png", name, width, scheme)), image, 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// demoSite builds the site of a demo, unless there is no browser to look at it.
func demoSite(t *testing.T) (program, dir string) {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("no browser is installed")
	}
	out := t.TempDir()
	if _, log, err := runWith(t, "demo", "--once", "--history", "9d", "--speed", "50", "--out", out); err != nil {
		t.Fatalf("demo: %v\n%s", err, log)
	}
	return program, filepath.Join(out, "site")
}

const endless = `WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT max(i) FROM n`

// TestQueryPage opens the database of a demo in a browser and asks it.
func TestQueryPage(t *testing.T) {
	program, dir := demoSite(t)
	for _, prefix := range []string{"/", "/x/y/"} {
		t.Run(prefix, func(t *testing.T) { queryPage(t, program, dir, prefix) })
	}
	t.Run("another file", func(t *testing.T) { otherFile(t, program, dir) })
	t.Run("without scripts", func(t *testing.T) { noScripts(t, program, dir) })
}

func queryPage(t *testing.T, program, dir, prefix string) {
	r := openReader(t, program, dir, prefix)
	lite := filepath.Join(dir, "dataset", liteFile)

	// A query that came in the address is shown, and nothing is loaded or run.
	r.do(chromedp.Navigate(r.base + "query/?sql=" + url.QueryEscape("SELECT 'came with the link' AS x") + "#console"))
	if got := see[string](r, `document.querySelector('#sql').value`); got != "SELECT 'came with the link' AS x" {
		t.Errorf("the editor holds %q", got)
	}
	if got := r.status(); !strings.Contains(got, "has not been run") {
		t.Errorf("the page says %q of a query from the address", got)
	}
	r.shot("linked", 1280, 900, "light")
	for _, part := range []string{".wasm", "sqlite3.", "query-worker", ".gz"} {
		if got := r.requests(part); len(got) > 0 {
			t.Errorf("before a click it loaded %q", got)
		}
	}
	if got := see[string](r, `document.querySelector('[data-run]').textContent`); !strings.Contains(got, " MB and run") {
		t.Errorf("the button says %q; want the megabytes", got)
	}

	// Every question, put into the editor by its link and run by the keyboard,
	// has the answer that the page was built with.
	questions := see[[]string](r, `[...document.querySelectorAll('.asked')].map(s => s.id)`)
	if len(questions) != len(data.Questions()) {
		t.Errorf("%d questions; want %d", len(questions), len(data.Questions()))
	}
	for i, id := range questions {
		_ = see[any](r, `(document.querySelector('#`+id+` [data-put]').focus(), null)`)
		r.do(chromedp.KeyEvent(kb.Enter), chromedp.KeyEvent(kb.Enter, chromedp.KeyModifiers(chromedp.ModifierCtrl)))
		r.wait(settled)
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
			if w := see[int](r, "document.documentElement.scrollWidth"); *shots != "" && w > 390 {
				t.Errorf("%d pixels wide on a phone of 390", w)
			}
			r.do(chromedp.EmulateViewport(1280, 900))
		}
	}
	if got := r.requests(".gz"); len(got) != 1 {
		t.Errorf("the database was loaded as %q; want once", got)
	}

	// An own query, of the whole file this time, agrees with SQLite outside.
	own := `SELECT provider, count(*) AS n, sum(ttft_ms) AS s, NULL AS u FROM samples GROUP BY 1`
	r.do(chromedp.Click(chromedp.CSS(`[name=file][value="` + wholeFile + `"]`)))
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
	if got := see[string](r, "decodeURIComponent(location.search)"); got != "?sql="+own {
		t.Errorf("the address says %q", got)
	}
	if title := see[string](r, "document.title"); strings.Contains(title, "undefined") {
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
	if n := see[int](r, `document.querySelectorAll('[data-answer] img').length`); n != 0 {
		t.Error("an answer became markup")
	}
	if got := r.ask(`SELECT count(*) AS n FROM raw_samples`); !strings.Contains(got, "1 row in") {
		t.Errorf("after refused writes: %q", got)
	}

	// Too many rows: what was read is there, and it is said.
	if got := r.ask(`WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n`); !strings.Contains(got, "Stopped after 100,000 rows") {
		t.Errorf("an endless answer: %q", got)
	}
	if n := see[int](r, `document.querySelectorAll('[data-answer] tbody tr').length`); n != 200 {
		t.Errorf("%d rows are shown; want 200", n)
	}
	r.csv()

	// Cancel ends an endless query at once; the next one loads the file again.
	r.write(endless)
	r.do(chromedp.Click(chromedp.CSS(`[data-run]`)))
	r.wait(`document.querySelector('[data-status]').textContent == 'Running…'`)
	r.do(chromedp.Click(chromedp.CSS(`[data-cancel]`)))
	r.wait(settled)
	if got := r.status(); got != "Canceled." {
		t.Errorf("after Cancel the page says %q", got)
	}
	if got := r.ask(`SELECT 1`); !strings.Contains(got, "1 row in") {
		t.Errorf("after Cancel and another query: %q", got)
	}

	// Left alone, it ends by itself and the database stays open.
	before := len(r.requests(".gz"))
	if prefix == "/" {
		if got := r.ask(endless); !strings.Contains(got, "Stopped after 10 seconds") {
			t.Errorf("an endless query: %q", got)
		}
		if got := r.ask(`SELECT 1`); !strings.Contains(got, "1 row in") || len(r.requests(".gz")) != before {
			t.Errorf("after an endless query: %q", got)
		}
	}
	r.clean()

	// The link of a pair's page asks for that pair.
	pairs, err := filepath.Glob(filepath.Join(dir, "pair", "*", "*", "7d", "index.html"))
	if err == nil && len(pairs) == 0 {
		pairs, err = filepath.Glob(filepath.Join(dir, "pair", "*", "*", "index.html"))
	}
	if err != nil || len(pairs) == 0 {
		t.Fatalf("found no pages of pairs: %v", err)
	}
	rel, _ := filepath.Rel(dir, filepath.Dir(pairs[0]))
	r.do(chromedp.Navigate(r.base + filepath.ToSlash(rel) + "/"))
	r.do(chromedp.Navigate(see[string](r, `document.querySelector('.foot a[href*="query/?sql="]').href`)))
	r.wait(`document.querySelector('[data-status]')?.textContent.includes('came with the link')`)
	query := see[string](r, `document.querySelector('#sql').value`)
	if got, err := data.Query(t.Context(), lite, query, 1); err != nil || len(got.Rows) == 0 {
		t.Errorf("the pair's query gives %v, %v:\n%s", got, err, query)
	}
	r.clean()
}

// csv downloads the newest answer and looks at it.
func (r *reader) csv() {
	r.t.Helper()
	r.ask(`SELECT 1 AS "a,b", '=1+1' AS f, 'say "x"' AS q, NULL AS n, 0.5 AS h`)
	dir := r.t.TempDir()
	r.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir})
		return err
	}), chromedp.Click(chromedp.CSS(`[data-csv]`)))
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
func otherFile(t *testing.T, program, dir string) {
	r := openReader(t, program, dir, "/")
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
		r.do(chromedp.Navigate(r.base + "query/"))
		got := r.ask(`SELECT 1`)
		if !strings.Contains(got, tt.says) || (tt.says != "1 row in") == strings.Contains(got, "1 row in") {
			t.Errorf("%s: the page says %q; want %q", tt.name, got, tt.says)
		}
	}
	if err := os.Remove(lite); err != nil {
		t.Fatal(err)
	}
	r.do(chromedp.Navigate(r.base + "query/"))
	if got := r.ask(`SELECT 1`); !strings.Contains(got, "status 404") {
		t.Errorf("without a file: the page says %q", got)
	}
}

// noScripts reads the page with scripts switched off: questions and answers are
// there, and nothing that would do nothing.
func noScripts(t *testing.T, program, dir string) {
	r := openReader(t, program, dir, "/")
	r.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	r.do(chromedp.Navigate(r.base + "query/"))
	if n := see[int](r, `[...document.querySelectorAll('.asked table')].filter(t => t.rows.length > 1).length`); n < 8 {
		t.Errorf("%d answers; want at least 8", n)
	}
	if n := see[int](r, `[...document.querySelectorAll('button, textarea, .asked .btn')].filter(e => e.checkVisibility()).length`); n != 0 {
		t.Errorf("%d controls that do nothing are shown", n)
	}
	r.shot("plain", 1280, 900, "light")
}
