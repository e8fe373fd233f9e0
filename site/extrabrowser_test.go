package site_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/streamgauge/streamgauge/internal/browser"
	"github.com/streamgauge/streamgauge/rollup/stats"
	"github.com/streamgauge/streamgauge/site"
)

// TestExtraPagesInBrowser looks at the pages beside the board, on a wide screen
// and on a phone, in light and dark.
func TestExtraPagesInBrowser(t *testing.T) {
	in := inputs(t, three()...)
	b := look(t, build(t, in), "/x/y/")
	for _, path := range []string{"compare/", "compare/estuary/birch/northwind/aspen/", "race/", "reliability/", "price/", "estimate/", "status/"} {
		b.Screen(1280, 900)
		b.Visit(path)
		b.Clean(path)
		if w := browser.Value[int](b, "document.documentElement.scrollWidth"); w > 1280 {
			t.Errorf("%s is %d pixels wide on a screen of 1280", path, w)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.Screen(390, 844)
			b.Prefer("prefers-color-scheme", scheme)
			if w := browser.Value[int](b, "document.documentElement.scrollWidth"); w > 390 {
				t.Errorf("%s is %d pixels wide on a phone of 390", path, w)
			}
		}
	}
}

// TestCompareInBrowser chooses endpoints, comes back by the address alone, and
// looks at the page without scripts.
func TestCompareInBrowser(t *testing.T) {
	b := look(t, build(t, inputs(t, three()...)), "/x/y/")
	b.Visit("compare/")
	b.Wait(`document.querySelector('[data-ready]') !== null`)
	const rows = `[...document.querySelectorAll('[data-shown] .name a')].map(a => a.textContent + ' ' + a.closest('th').querySelector('.prov').textContent)`
	served := browser.Value[[]string](b, rows)
	if len(served) != 2 {
		t.Fatalf("%q are shown first; want two", served)
	}
	// What the script shows leads to the same days as what is served.
	const days = `[...document.querySelectorAll('#side-by-side .versus a.dim')].map(a => a.closest('td').dataset.l + ': ' + new URL(a.href).searchParams.get('sql') + a.hash)`
	asked := browser.Value[[]string](b, days)
	if len(asked) != 2 || !strings.Contains(asked[0], "a.decode_tps_p50 AS a") || !strings.Contains(asked[1], "b.model = '") {
		t.Errorf("the differences lead to %q; want the days of both metrics", asked)
	}
	b.Choose("[data-pick] label:nth-child(3) select", browser.Value[string](b, `[...document.querySelector('[data-pick] select').options].map(o => o.value).find(v => ![...document.querySelectorAll('[data-pick] select')].some(s => s.value == v))`))
	b.Wait(`document.querySelectorAll('#side-by-side .versus tbody tr').length == 3`)
	if got := browser.Value[[]string](b, rows); len(got) != 3 {
		t.Errorf("%q are shown; want three", got)
	}
	if got := browser.Value[string](b, `document.querySelector('[data-note]').textContent`); !strings.Contains(got, "99.2 %") || !strings.Contains(got, "six comparisons") {
		t.Errorf("three endpoints are compared with the note %q; want six comparisons at 99.2 %%", got)
	}
	address := browser.Value[string](b, "location.search")
	if strings.Count(address, "with=") != 3 {
		t.Errorf("the address says %q; want three endpoints", address)
	}
	b.Visit("compare/" + address)
	b.Wait(`document.querySelectorAll('[data-shown] tbody tr').length == 3`)
	b.Choose("[data-pick] label:nth-child(3) select", "")
	b.Wait(`document.querySelectorAll('[data-shown] tbody tr').length == 2`)
	b.Choose("[data-pick] label:nth-child(2) select", browser.Value[string](b, `document.querySelector('[data-pick] select').value`))
	if got := browser.Value[string](b, `document.querySelector('[data-said]').textContent`); !strings.Contains(got, "two different") {
		t.Errorf("of one endpoint twice the page says %q", got)
	}
	_ = browser.Value[any](b, "(history.back(), null)")
	b.Wait(`document.querySelectorAll('[data-shown] tbody tr').length == 2 && document.querySelector('[data-said]').textContent == ''`)
	b.Clean("compare/")

	// An address that names nothing known shows what is served.
	b.Visit("compare/?with=no/where&with=%3Cscript%3E/x")
	b.Wait(`document.querySelector('[data-ready]') !== null`)
	if got := browser.Value[[]string](b, rows); !same(got, served) {
		t.Errorf("with a bad address %q is shown; want %q", got, served)
	}
	b.Clean("compare/?with=")
	b.Scripts(false)
	b.Visit("compare/" + address)
	if got := browser.Value[[]string](b, days); !same(got, asked) {
		t.Errorf("without scripts the differences lead to %q; with them to %q", got, asked)
	}
	if got := browser.Value[[]string](b, rows); !same(got, served) || browser.Value[int](b, "document.querySelectorAll('#neighbours .versus tbody tr').length") == 0 {
		t.Errorf("without scripts %q is shown; want %q and the neighbours", got, served)
	}
}

// TestRaceInBrowser plays, pauses and replays by the keyboard, and shows who
// asks for less motion the finished curves.
func TestRaceInBrowser(t *testing.T) {
	b := look(t, build(t, inputs(t, three()...)), "/x/y/")
	b.Prefer("prefers-reduced-motion", "no-preference")
	b.Visit("race/")
	b.Wait(`document.querySelector('[data-ready]') !== null`)
	const (
		state = `document.querySelector('[data-race]').dataset.state`
		texts = `[...document.querySelectorAll('.lane output')].map(o => o.textContent.length)`
		words = `[...document.querySelectorAll('.lane .state')].map(o => o.textContent)`
	)
	full := browser.Value[[]int](b, texts)
	if len(full) != 3 || browser.Value[string](b, state) != "finished" {
		t.Fatalf("at first %v characters are shown, state %s; want three finished lanes", full, browser.Value[string](b, state))
	}
	_ = browser.Value[any](b, `(document.querySelector('[data-buttons] button').focus(), null)`)
	b.Press(" ")
	b.Wait(state + ` == 'running'`)
	b.Wait(texts + `.some(n => n > 0) && ` + texts + `.some((n, i) => n < ` + fmt.Sprint(full[0]) + `)`)
	b.Press(" ")
	b.Wait(state + ` != 'running'`)
	paused := browser.Value[[]int](b, texts)
	if got := browser.Value[[]int](b, texts); !equal(got, paused) {
		t.Errorf("while paused, %v became %v", paused, got)
	}
	b.Click(`[data-buttons] button:nth-of-type(2)`)
	b.Wait(state + ` == 'running'`)
	b.Wait(state + ` == 'finished'`)
	if got := browser.Value[[]int](b, texts); !equal(got, full) {
		t.Errorf("at the end %v characters are shown; want %v", got, full)
	}
	if got := browser.Value[[]string](b, words); !same(got, []string{"done", "done", "done"}) {
		t.Errorf("at the end the lanes say %q", got)
	}
	b.Choose("[data-pick] label:nth-child(3) select", "")
	b.Wait(`document.querySelectorAll('.lane').length == 2`)
	if got := browser.Value[string](b, "location.search"); strings.Count(got, "with=") != 2 {
		t.Errorf("the address says %q; want two endpoints", got)
	}
	b.Clean("race/")

	b.Prefer("prefers-reduced-motion", "reduce")
	b.Visit("race/")
	b.Wait(`document.querySelector('[data-ready]') !== null`)
	if got := browser.Value[[]int](b, texts); !equal(got, full) || browser.Value[int](b, `[...document.querySelectorAll('[data-buttons] button')].filter(e => !e.hidden).length`) != 0 {
		t.Errorf("with less motion %v characters are shown, or a button to move them; want %v and none", got, full)
	}
	if n := browser.Value[int](b, `[...document.querySelectorAll('.lane path')].filter(p => p.getAttribute('d').length > 50).length`); n != 3 {
		t.Errorf("with less motion %d curves are whole; want 3", n)
	}
	b.Scripts(false)
	b.Visit("race/")
	if n := browser.Value[int](b, "document.querySelectorAll('#curves svg path.ln').length"); n != 6 {
		t.Errorf("without scripts there are %d curves; want 3 for each kind of screen", n)
	}
}

func equal(a, b []int) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// TestEstimateInBrowser compares what the script works out with what the site's
// own formulas and formatters do.
func TestEstimateInBrowser(t *testing.T) {
	b := look(t, build(t, inputs(t, three()...)), "/x/y/")
	b.Visit("estimate/")
	type row struct {
		Name         string
		TTFT, Rate   float64
		Time, Flight string
	}
	const rows = `[...document.querySelectorAll('tr[data-ttft]')].map(r => ({Name: r.dataset.name, TTFT: +r.dataset.ttft, Rate: +r.dataset.rate, Time: r.querySelector('[data-answer]').textContent, Flight: r.querySelector('[data-flight]').textContent}))`
	text := func(selector string) string {
		return browser.Value[string](b, fmt.Sprintf("document.querySelector(%q).textContent", selector))
	}
	set := func(rpm, in, out int) {
		for name, v := range map[string]int{"rpm": rpm, "in": in, "out": out} {
			b.Choose("[data-load] [name="+name+"]", fmt.Sprint(v))
		}
	}
	check := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: the script says %q; the site %q", what, got, want)
		}
	}
	unit := stats.PTUModel{InputTPM: 37000, OutputWeight: 3, Min: 15, Step: 5}
	for _, load := range [][3]int{{10, 800, 300}, {1, 1, 1}, {0, 0, 1}, {7, 1234, 2000}, {33, 557, 17}, {3600, 12000, 4096}, {1000000, 10000000, 1000000}} {
		rpm, in, out := load[0], load[1], load[2]
		set(rpm, in, out)
		tokens := stats.NewTokenLoad(float64(in), float64(out), float64(rpm))
		check(fmt.Sprint(load, " input"), text("[data-result=input]"), site.Count(int(tokens.InputTPM)))
		check(fmt.Sprint(load, " output"), text("[data-result=output]"), site.Count(int(tokens.OutputTPM)))
		check(fmt.Sprint(load, " total"), text("[data-result=total]"), site.Count(int(tokens.TotalTPM())))
		raw, units, _ := unit.PTU(tokens)
		check(fmt.Sprint(load, " raw"), text("[data-raw]"), site.Significant(raw, 3))
		check(fmt.Sprint(load, " units"), text("[data-units]"), site.Count(units))
		got := browser.Value[[]row](b, rows)
		if len(got) != 3 {
			t.Fatalf("there are %d rows; want 3", len(got))
		}
		before := 0.0
		for _, r := range got {
			seconds, ok := stats.Speed{TTFTSeconds: r.TTFT, TokensPerSecond: r.Rate}.TimeTo(float64(out))
			busy, _ := stats.Concurrency(float64(rpm), seconds)
			if !ok || seconds < before {
				t.Errorf("%v: %s takes %v s and stands after one of %v s", load, r.Name, seconds, before)
			}
			before = seconds
			check(fmt.Sprint(load, " time of ", r.Name), r.Time, site.Latency(seconds*1000))
			check(fmt.Sprint(load, " in flight of ", r.Name), r.Flight, site.Significant(busy, 3))
		}
	}
	if got := browser.Value[string](b, "location.search"); got != "?rpm=1000000&in=10000000&out=1000000" {
		t.Errorf("the address says %q", got)
	}

	// Halves, powers of ten and thousands: one token a minute and unit of 1/v
	// makes the script format v.
	for _, v := range []float64{2.125, 2.375, 0.0625, 312.5, 313.5, 0.5, 9.995, 99.95, 999.5, 1000, 1e6, 123456.5, 0.001, 1.0005, 7. / 3, 1e-7} {
		_ = browser.Value[any](b, fmt.Sprintf(`(d => { d.tpm = 1; d.weight = %v; return null })(document.querySelector('[data-tpm]').dataset)`, v))
		set(1, 0, 1)
		check(fmt.Sprint(v), text("[data-raw]"), site.Significant(v, 3))
	}

	// The served sentence and the script's own are one.
	served := text("[data-cross]")
	b.Choose("[data-pick] label:nth-child(1) select", browser.Value[string](b, "document.querySelector('[data-pick]').dataset.a"))
	check("crossover", text("[data-cross]"), served)
	if !strings.Contains(served, "tokens") {
		t.Errorf("no endpoint overtakes another: %q", served)
	}

	set(10, 800, 300)
	b.Choose("[data-load] [name=rpm]", "-1")
	if got := text("[data-said]"); !strings.Contains(got, "whole number from 0 to 1,000,000") {
		t.Errorf("of −1 requests the page says %q", got)
	}
	b.Visit("estimate/?rpm=20&out=500")
	check("from the address", text("[data-result=input]"), "16,000")
	b.Clean("estimate/")
	b.Scripts(false)
	b.Visit("estimate/?rpm=20")
	check("without scripts", text("[data-result=input]"), "8,000")
	if browser.Value[float64](b, "document.querySelector('[data-load]').getBoundingClientRect().height") > 0 {
		t.Error("without scripts there is a form that does nothing")
	}
	if n := browser.Value[int](b, "document.querySelectorAll('#lengths tbody tr').length"); n != 3 {
		t.Errorf("without scripts %d endpoints are worked out; want 3", n)
	}
}
