package site_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/streamgauge/streamgauge/internal/browser"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// look opens a tab on a built site, served below a path.
func look(t *testing.T, dir, prefix string) *browser.Tab {
	t.Helper()
	return browser.Open(t, http.FileServer(http.Dir(dir)), prefix)
}

const shownNames = `[...document.querySelectorAll('table.board tbody tr')].filter(r => !r.hidden && r.querySelector('.name')).map(r => r.querySelector('.name a').textContent)`

// TestBoardInBrowser sorts and filters, and follows the address there and back.
func TestBoardInBrowser(t *testing.T) {
	dir := build(t, inputs(t, many(14, 6*time.Hour, 10)...))
	b := look(t, dir, "/x/y/")
	b.Visit("")
	served := browser.Value[[]string](b, shownNames)
	if len(served) != 14 {
		t.Fatalf("%d rows; want 14", len(served))
	}
	b.Click(`th[data-sort=name] button`)
	byName := browser.Value[[]string](b, shownNames)
	if !sorted(byName) || same(byName, served) {
		t.Errorf("sorted by name: %q", byName)
	}
	if got := browser.Value[string](b, "location.search"); got != "?sort=name" {
		t.Errorf("address says %q; want ?sort=name", got)
	}
	b.Do(chromedp.SendKeys(chromedp.CSS(`input[name=q]`), "birch"))
	for _, name := range browser.Value[[]string](b, shownNames) {
		if !strings.Contains(name, "birch") {
			t.Errorf("filtered for birch, and %q is there", name)
		}
	}
	if got := browser.Value[string](b, "document.querySelector('[data-status]').textContent"); !strings.HasPrefix(got, "2 of 14") {
		t.Errorf("status is %q; want 2 of 14", got)
	}
	// Ranks are counted anew among the two, by the intervals that the cells bear.
	const shownRanks = `[...document.querySelectorAll('table.board tbody tr')].filter(r => !r.hidden && r.querySelector('.rank')?.dataset.i)
		.map(r => r.querySelector('.rank').dataset.i + ' ' + r.querySelector('.rank').textContent)`
	ranks := browser.Value[[]string](b, shownRanks)
	var rows []stats.Row
	for _, text := range ranks {
		f := strings.Fields(text)
		lo, errLo := strconv.ParseFloat(f[0], 64)
		hi, errHi := strconv.ParseFloat(f[1], 64)
		if errLo != nil || errHi != nil {
			t.Fatalf("interval of a rank: %q", text)
		}
		rows = append(rows, stats.Row{Name: text, Score: lo, Interval: stats.Interval{Lo: lo, Hi: hi}, Eligible: true})
	}
	if len(rows) != 2 {
		t.Errorf("%d ranked rows are shown; want 2", len(rows))
	}
	for _, s := range stats.Rank(rows, stats.HigherIsBetter) {
		want := strconv.Itoa(s.Best)
		if s.Worst != s.Best {
			want += "–" + strconv.Itoa(s.Worst)
		}
		if got := strings.Fields(s.Name)[2]; got != want {
			t.Errorf("rank of %q among those shown is %s; want %s", s.Name, got, want)
		}
	}
	// The address alone brings the same view.
	b.Do(chromedp.Reload())
	if got := browser.Value[[]string](b, shownNames); len(got) != 2 {
		t.Errorf("after a reload %q is shown; want two rows", got)
	}
	if got := browser.Value[string](b, "location.search"); got != "?q=birch&sort=name" {
		t.Errorf("address says %q", got)
	}
	for range 2 {
		_ = browser.Value[any](b, "(history.back(), null)")
		b.Wait("true")
	}
	b.Wait("location.search == ''")
	if got := browser.Value[[]string](b, shownNames); !same(got, served) {
		t.Errorf("after going back %q is shown; want %q", got, served)
	}
	b.Clean("board")

	b.Scripts(false)
	b.Visit("?q=birch&sort=name")
	if got := browser.Value[[]string](b, shownNames); !same(got, served) {
		t.Errorf("without scripts %q is shown; want %q", got, served)
	}
	if n := browser.Value[int](b, "document.querySelectorAll('table.board button').length"); n != 0 {
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
		b := look(t, build(t, in), prefix)
		paths := []string{
			"", "24h/", "1y/", "first-token/", "2000-tokens/30d/", "pair/estuary/aspen/", "pair/estuary/birch/24h/", "pair/northwind/aspen/1y/",
			"model/aspen/", "provider/", "provider/estuary/", "changes/", "dataset/", "methodology/", "guides/", "guides/reading/", "guides/fork/", "about/", "changelog/", "404.html", "embed/estuary/aspen/",
		}
		for _, path := range paths {
			b.Screen(1280, 900)
			b.Visit(path)
			b.Clean(path)
			for _, scheme := range []string{"light", "dark"} {
				b.Screen(390, 844)
				b.Prefer("prefers-color-scheme", scheme)
				if w := browser.Value[int](b, "document.documentElement.scrollWidth"); w > 390 {
					t.Errorf("%s is %d pixels wide on a phone of 390", path, w)
				}
				dark := browser.Value[string](b, "getComputedStyle(document.body).backgroundColor") == "rgb(13, 21, 27)"
				if dark != (scheme == "dark") {
					t.Errorf("%s: %s scheme has the wrong background", path, scheme)
				}
			}
			if prefix == "/" && !strings.Contains(browser.Value[string](b, "document.querySelector('.banner.demo')?.textContent ?? ''"), "Simulated data") {
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
	b := look(t, dir, "/")
	var path string
	for _, name := range paths(t, dir) {
		if strings.HasPrefix(name, "pair/estuary/script-") && strings.HasSuffix(name, "/30d/index.html") {
			path = strings.TrimSuffix(name, "index.html")
		}
	}
	if path == "" {
		t.Fatal("the pair has no page")
	}
	b.Visit(path)
	if browser.Value[bool](b, "!!globalThis.echarts") {
		t.Error("ECharts is there before anybody asked")
	}
	height := browser.Value[float64](b, "document.querySelector('.explore').getBoundingClientRect().height")
	b.Click(`.tools button`)
	b.Wait(`document.querySelector('.explore.on .live svg path') !== null`)
	if got := browser.Value[float64](b, "document.querySelector('.explore').getBoundingClientRect().height"); got != height {
		t.Errorf("the chart is %v pixels high, the drawing was %v", got, height)
	}
	b.Clean(path)
	b.Click(`.tools button:nth-of-type(2)`)
	b.Wait(`document.querySelector('.explore.on') === null`)
	if title := browser.Value[string](b, "document.title"); !strings.HasPrefix(title, "</script><script>alert(1)</script>") {
		t.Errorf("the title is %q", title)
	}
}

// TestStaleInBrowser shows the banner on a real site that has not been built
// for long, and not on one of simulated data.
func TestStaleInBrowser(t *testing.T) {
	in := inputs(t)
	in.Simulated = false
	b := look(t, build(t, in), "/")
	b.Visit("")
	b.Wait(`document.querySelector('[data-stale]').hidden === false`)
	if text := browser.Value[string](b, "document.querySelector('[data-stale]').textContent"); !strings.Contains(text, "day") {
		t.Errorf("the banner says %q", text)
	}
}

// TestFoldedInBrowser comes to an entry of the folded table of origins, by its
// address and by a door, with and without scripts.
func TestFoldedInBrowser(t *testing.T) {
	b := look(t, build(t, inputs(t, three()...)), "/x/y/")
	const (
		shown = `document.getElementById('of-speed').checkVisibility({ contentVisibilityAuto: true })`
		door  = `document.querySelector('.facts a[href="#of-speed"]')`
	)
	for _, scripts := range []bool{true, false} {
		b.Scripts(scripts)
		b.Visit("pair/estuary/birch/")
		if browser.Value[bool](b, shown) {
			t.Errorf("scripts %t: the table is open before anybody asked", scripts)
		}
		_ = browser.Value[any](b, "("+door+".focus(), null)")
		b.Press("\r")
		b.Wait(shown)
		b.Visit("pair/estuary/birch/24h/#of-speed")
		b.Wait(shown)
	}
	// A browser that does not open what it comes to: the script does.
	b.Scripts(true)
	b.Visit("pair/estuary/birch/#of-speed")
	b.Wait(shown)
	_ = browser.Value[any](b, `(document.querySelector('#origin details').open = false, dispatchEvent(new Event('hashchange')), null)`)
	b.Wait(shown)
	b.Clean("pair with a fragment")
}
