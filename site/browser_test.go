package site_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// A browser is a tab of a real browser that looks at a built site.
type browser struct {
	t    *testing.T
	ctx  context.Context
	base string // address of the site
}

// watch runs before the scripts of each page and notes what must not happen:
// what the content security policy blocks, errors, dialogs.
const watch = `
	window.faults = []
	document.addEventListener('securitypolicyviolation', e => faults.push('blocked: ' + e.violatedDirective + ' ' + e.blockedURI))
	window.addEventListener('error', e => faults.push('error: ' + e.message), true)
	window.addEventListener('unhandledrejection', e => faults.push('rejected: ' + e.reason))
	window.alert = text => faults.push('alert: ' + text)`

// openBrowser serves a folder below a path and opens a tab. The test is skipped
// where no browser is installed.
func openBrowser(t *testing.T, dir, prefix string) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes seconds")
	}
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Skip("no browser is installed")
	}
	server := httptest.NewServer(http.StripPrefix(strings.TrimSuffix(prefix, "/"), http.FileServer(http.Dir(dir))))
	t.Cleanup(server.Close)
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.WindowSize(1280, 900))
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, closeTab := chromedp.NewContext(ctx)
	t.Cleanup(closeTab)
	if err := chromedp.Do(ctx); err != nil { // starts the browser, which lives as long as ctx
		t.Fatalf("start %s: %v", path, err)
	}
	b := &browser{t: t, ctx: ctx, base: server.URL + prefix}
	b.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watch})
		return err
	}))
	return b
}

// do runs steps within a generous limit.
func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) open(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.base + path))
}

func (b *browser) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector)))
}

// eval returns what an expression gives in the page.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string]("JSON.stringify("+expression+")"))
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		b.t.Fatalf("%s gives %q: %v", expression, text, err)
	}
	return v
}

// wait waits until an expression holds.
func (b *browser) wait(expression string) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
	defer cancel()
	if _, err := chromedp.Run(ctx, chromedp.Poll[chromedp.Void](expression)); err != nil {
		b.t.Fatalf("waiting for %s: %v", expression, err)
	}
}

// colours sets the scheme that the reader prefers.
func (b *browser) colours(scheme string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	}))
}

// clean fails the test for whatever the page did that it must not.
func (b *browser) clean(path string) {
	b.t.Helper()
	for _, fault := range eval[[]string](b, "window.faults") {
		b.t.Errorf("%s: %s", path, fault)
	}
	for _, from := range eval[[]string](b, "performance.getEntriesByType('resource').map(r => r.name)") {
		if !strings.HasPrefix(from, b.base) {
			b.t.Errorf("%s: loaded %s", path, from)
		}
	}
}

const shownNames = `[...document.querySelectorAll('table.board tbody tr')].filter(r => !r.hidden && r.querySelector('.name')).map(r => r.querySelector('.name bdi').textContent)`

// TestBoardInBrowser sorts and filters, and follows the address there and back.
func TestBoardInBrowser(t *testing.T) {
	dir := build(t, inputs(t, many(14, 6*time.Hour, 10)...))
	b := openBrowser(t, dir, "/x/y/")
	b.open("")
	served := eval[[]string](b, shownNames)
	if len(served) != 14 {
		t.Fatalf("%d rows; want 14", len(served))
	}
	b.click(`th[data-sort=name] button`)
	byName := eval[[]string](b, shownNames)
	if !sorted(byName) || same(byName, served) {
		t.Errorf("sorted by name: %q", byName)
	}
	if got := eval[string](b, "location.search"); got != "?sort=name" {
		t.Errorf("address says %q; want ?sort=name", got)
	}
	b.do(chromedp.SendKeys(chromedp.CSS(`input[name=q]`), "birch"))
	for _, name := range eval[[]string](b, shownNames) {
		if !strings.Contains(name, "birch") {
			t.Errorf("filtered for birch, and %q is there", name)
		}
	}
	if got := eval[string](b, "document.querySelector('[data-status]').textContent"); !strings.HasPrefix(got, "2 of 14") {
		t.Errorf("status is %q; want 2 of 14", got)
	}
	// The address alone brings the same view.
	b.do(chromedp.Reload())
	if got := eval[[]string](b, shownNames); len(got) != 2 {
		t.Errorf("after a reload %q is shown; want two rows", got)
	}
	if got := eval[string](b, "location.search"); got != "?q=birch&sort=name" {
		t.Errorf("address says %q", got)
	}
	for range 2 {
		_ = eval[any](b, "(history.back(), null)")
		b.wait("true")
	}
	b.wait("location.search == ''")
	if got := eval[[]string](b, shownNames); !same(got, served) {
		t.Errorf("after going back %q is shown; want %q", got, served)
	}
	b.clean("board")

	b.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	}))
	b.open("?q=birch&sort=name")
	if got := eval[[]string](b, shownNames); !same(got, served) {
		t.Errorf("without scripts %q is shown; want %q", got, served)
	}
	if n := eval[int](b, "document.querySelectorAll('table.board button').length"); n != 0 {
		t.Errorf("without scripts there are %d buttons that do nothing", n)
	}
}

func sorted(names []string) bool {
	for i := range names[1:] {
		if names[i] > names[i+1] {
			return false
		}
	}
	return true
}

func same(a, b []string) bool { return strings.Join(a, "\n") == strings.Join(b, "\n") }

// TestPagesInBrowser opens one page of each type on a wide screen and on a phone,
// in light and dark, at two base paths: nothing may be blocked, fetched from
// elsewhere, broken, or wider than the screen.
func TestPagesInBrowser(t *testing.T) {
	in := inputs(t, three()...)
	for _, prefix := range []string{"/", "/x/y/"} {
		in.Config.BaseURL = "https://gauge.example" + prefix
		b := openBrowser(t, build(t, in), prefix)
		paths := []string{
			"", "24h/", "1y/", "first-token/", "2000-tokens/30d/", "pair/estuary/aspen/", "pair/estuary/birch/24h/", "pair/northwind/aspen/1y/",
			"model/aspen/", "provider/", "provider/estuary/", "changes/", "dataset/", "methodology/", "guides/", "guides/reading/", "guides/fork/", "about/", "changelog/", "404.html", "embed/estuary/aspen/",
		}
		for _, path := range paths {
			b.do(chromedp.EmulateViewport(1280, 900))
			b.open(path)
			b.clean(path)
			for _, scheme := range []string{"light", "dark"} {
				b.do(chromedp.EmulateViewport(390, 844))
				b.colours(scheme)
				if w := eval[int](b, "document.documentElement.scrollWidth"); w > 390 {
					t.Errorf("%s is %d pixels wide on a phone of 390", path, w)
				}
				dark := eval[string](b, "getComputedStyle(document.body).backgroundColor") == "rgb(13, 21, 27)"
				if dark != (scheme == "dark") {
					t.Errorf("%s: %s scheme has the wrong background", path, scheme)
				}
			}
			if prefix == "/" && !strings.Contains(eval[string](b, "document.querySelector('.banner.demo')?.textContent ?? ''"), "Simulated data") {
				t.Errorf("%s does not say that it is simulated", path)
			}
		}
	}
}

// TestExploreInBrowser lets ECharts take the place of a drawing and give it back.
func TestExploreInBrowser(t *testing.T) {
	in := inputs(t, three()...)
	in.Histories[0].Series.Model = hostile[0]
	for i := range in.Histories[0].Samples {
		in.Histories[0].Samples[i].Model = hostile[0]
	}
	for i := range in.Histories[0].Days {
		in.Histories[0].Days[i].Series.Model = hostile[0]
	}
	dir := build(t, in)
	b := openBrowser(t, dir, "/")
	var path string
	for _, name := range paths(t, dir) {
		if strings.HasPrefix(name, "pair/estuary/script-") && strings.HasSuffix(name, "/30d/index.html") {
			path = strings.TrimSuffix(name, "index.html")
		}
	}
	if path == "" {
		t.Fatal("the pair has no page")
	}
	b.open(path)
	if eval[bool](b, "!!globalThis.echarts") {
		t.Error("ECharts is there before anybody asked")
	}
	height := eval[float64](b, "document.querySelector('.explore').getBoundingClientRect().height")
	b.click(`.tools button`)
	b.wait(`document.querySelector('.explore.on .live svg path') !== null`)
	if got := eval[float64](b, "document.querySelector('.explore').getBoundingClientRect().height"); got != height {
		t.Errorf("the chart is %v pixels high, the drawing was %v", got, height)
	}
	b.clean(path)
	b.click(`.tools button:nth-of-type(2)`)
	b.wait(`document.querySelector('.explore.on') === null`)
	if title := eval[string](b, "document.title"); !strings.HasPrefix(title, "</script><script>alert(1)</script>") {
		t.Errorf("the title is %q", title)
	}
}

// TestStaleInBrowser shows the banner on a real site that has not been built
// for long, and not on one of simulated data.
func TestStaleInBrowser(t *testing.T) {
	in := inputs(t)
	in.Simulated = false
	b := openBrowser(t, build(t, in), "/")
	b.open("")
	b.wait(`document.querySelector('[data-stale]').hidden === false`)
	if text := eval[string](b, "document.querySelector('[data-stale]').textContent"); !strings.Contains(text, "day") {
		t.Errorf("the banner says %q", text)
	}
}
