// Package browser looks at pages with a real browser. It is for tests alone: it
// serves a site on the loopback interface, opens a tab on it, and fails the test
// where a step does not succeed within a generous limit.
//
// Every page is watched from before its first script: what its content security
// policy blocks, errors, dialogs, requests to other hosts and shifts of the
// layout are kept, and [Tab.Clean] fails the test for them.
package browser

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
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
)

// patience is how long a step may take, on a machine that has much else to do.
const patience = time.Minute

// watch notes what a page must not do.
const watch = `
	window.faults = []
	window.shifts = []
	document.addEventListener('securitypolicyviolation', e => faults.push('blocked: ' + e.violatedDirective + ' ' + e.blockedURI))
	window.addEventListener('error', e => faults.push('error: ' + e.message), true)
	window.addEventListener('unhandledrejection', e => faults.push('rejected: ' + e.reason))
	window.alert = text => faults.push('alert: ' + text)
	new PerformanceObserver(list => { for (const e of list.getEntries()) if (!e.hadRecentInput) shifts.push(e.value) }).observe({type: 'layout-shift', buffered: true})`

// Program returns where a Chromium or Chrome is installed. The test is skipped
// where none is, and where tests are to be short.
func Program(tb testing.TB) string {
	tb.Helper()
	if testing.Short() {
		tb.Skip("a browser takes seconds")
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	tb.Skip("no browser is installed")
	return ""
}

// A Tab is a tab of a browser that looks at a site. Its methods are for one
// goroutine, that of the test.
type Tab struct {
	Base string // address of the site, with the slash at its end

	tb    testing.TB
	ctx   context.Context
	media map[string]string // what the reader prefers, by media feature

	mu    sync.Mutex // guards asked
	asked []string   // paths asked of the server, in order
}

// Open serves a site below a path and opens a tab of 1280 by 900 pixels, which
// is closed with the test. See [Program] for when the test is skipped.
func Open(tb testing.TB, site http.Handler, prefix string) *Tab {
	tb.Helper()
	program := Program(tb)
	t := &Tab{tb: tb, media: map[string]string{}}
	below := http.StripPrefix(strings.TrimSuffix(prefix, "/"), site)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.mu.Lock()
		t.asked = append(t.asked, r.URL.Path)
		t.mu.Unlock()
		below.ServeHTTP(w, r)
	}))
	tb.Cleanup(server.Close)
	t.Base = server.URL + prefix
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1280, 900))
	ctx, stop := chromedp.NewExecAllocator(tb.Context(), options...)
	tb.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	tb.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil { // starts the browser, which lives as long as ctx
		tb.Fatalf("start %s: %v", program, err)
	}
	t.ctx = ctx
	call(t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watch})
	return t
}

// call sends a command of the DevTools protocol to the tab.
func call[P, R any](t *Tab, command cdp.Command[P, R], params P) {
	t.tb.Helper()
	t.Do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, command, params)
		return err
	}))
}

// Do runs steps.
func (t *Tab) Do(steps ...chromedp.Action[chromedp.Void]) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.tb.Fatal(err)
	}
}

// Visit opens a page, by its path from the site's root, and waits until it is
// loaded.
func (t *Tab) Visit(path string) {
	t.tb.Helper()
	t.Do(chromedp.Navigate(t.Base + path))
}

// Click clicks on the first element that a CSS selector finds.
func (t *Tab) Click(selector string) {
	t.tb.Helper()
	t.Do(chromedp.Click(chromedp.CSS(selector)))
}

// Press presses keys, one after another, wherever the focus is.
func (t *Tab) Press(keys ...string) {
	t.tb.Helper()
	for _, key := range keys {
		t.Do(chromedp.KeyEvent(key))
	}
}

// Choose sets a form's field and says so, as a reader's choice does.
func (t *Tab) Choose(selector, value string) {
	t.tb.Helper()
	t.Run(fmt.Sprintf(`(e => { e.value = %q; for (const n of ['input', 'change']) e.dispatchEvent(new Event(n, {bubbles: true})) })(document.querySelector(%q))`, value, selector))
}

// Run runs a script in the page, beside the page's content security policy.
func (t *Tab) Run(script string) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[chromedp.Void](script)); err != nil {
		t.tb.Fatalf("%.200s: %v", script, err)
	}
}

// Value returns what a JavaScript expression gives in the page.
func Value[T any](t *Tab, expression string) T {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("JSON.stringify("+expression+")"))
	if err != nil {
		t.tb.Fatalf("%.1000s: %v", expression, err)
	}
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.tb.Fatalf("%.1000s gives %q: %v", expression, text, err)
	}
	return v
}

// Text returns the text of the first element that a CSS selector finds.
func (t *Tab) Text(selector string) string {
	t.tb.Helper()
	return Value[string](t, fmt.Sprintf("document.querySelector(%q).textContent", selector))
}

// Wait waits until an expression holds.
func (t *Tab) Wait(expression string) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](expression)); err != nil {
		t.tb.Fatalf("waiting for %s: %v", expression, err)
	}
}

// Screen sets the size of the viewport, in CSS pixels.
func (t *Tab) Screen(width, height int64) {
	t.tb.Helper()
	t.Do(chromedp.EmulateViewport(width, height))
}

// Prefer sets what the reader prefers, as media features have it:
// prefers-color-scheme, prefers-reduced-motion.
func (t *Tab) Prefer(feature, value string) {
	t.tb.Helper()
	t.media[feature] = value
	var all []*emulation.MediaFeature
	for name, v := range t.media {
		all = append(all, &emulation.MediaFeature{Name: name, Value: v})
	}
	call(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: all})
}

// Scripts switches the scripts of pages opened from now on off or on.
func (t *Tab) Scripts(on bool) {
	t.tb.Helper()
	call(t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
}

// Download lets pages save files, into a folder.
func (t *Tab) Download(dir string) {
	t.tb.Helper()
	call(t, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{Behavior: "allow", DownloadPath: dir})
}

// Print has the page shown as it is printed, and returns it as a PDF.
func (t *Tab) Print() []byte {
	t.tb.Helper()
	call(t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: "print"})
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	pdf, err := chromedp.Run(ctx, chromedp.PrintToPDF())
	if err != nil {
		t.tb.Fatal(err)
	}
	return pdf
}

// Shot writes a picture of what the viewport shows, or of the whole page, into
// a PNG file.
func (t *Tab) Shot(file string, whole bool) {
	t.tb.Helper()
	ctx, cancel := context.WithTimeout(t.ctx, patience)
	defer cancel()
	take := chromedp.CaptureScreenshot()
	if whole {
		take = chromedp.FullScreenshot(100)
	}
	image, err := chromedp.Run(ctx, take)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o755)
	}
	if err == nil {
		err = os.WriteFile(file, image, 0o644)
	}
	if err != nil {
		t.tb.Fatal(err)
	}
}

// Asked returns the paths asked of the server so far that contain a text.
func (t *Tab) Asked(part string) (found []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, path := range t.asked {
		if strings.Contains(path, part) {
			found = append(found, path)
		}
	}
	return found
}

// Clean fails the test for whatever the page did that none may do: also for what
// it left behind, by which a reader could be known again.
func (t *Tab) Clean(path string) {
	t.tb.Helper()
	for _, fault := range Value[[]string](t, "window.faults") {
		t.tb.Errorf("%s: %s", path, fault)
	}
	if kept := Value[string](t, "document.cookie + Object.keys(localStorage) + Object.keys(sessionStorage)"); kept != "" {
		t.tb.Errorf("%s: kept %q", path, kept)
	}
	for _, from := range Value[[]string](t, "performance.getEntriesByType('resource').map(r => r.name)") {
		if !strings.HasPrefix(from, t.Base) {
			t.tb.Errorf("%s: loaded %s", path, from)
		}
	}
}
