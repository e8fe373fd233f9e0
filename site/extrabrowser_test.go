package site_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/streamgauge/streamgauge/rollup/stats"
	"github.com/streamgauge/streamgauge/site"
)

// motion sets whether the reader asks for less motion.
func (b *browser) motion(preference string) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-reduced-motion", Value: preference}},
		})
		return err
	}))
}

// scripts switches scripts on or off.
func (b *browser) scripts(on bool) {
	b.t.Helper()
	b.do(chromedp.Func(func(ctx context.Context, tab *chromedp.Target) error {
		_, err := cdp.Call(ctx, tab, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: !on})
		return err
	}))
}

// choose sets a form's field and says so, as a reader's choice does.
func (b *browser) choose(selector, value string) {
	b.t.Helper()
	_ = eval[any](b, fmt.Sprintf(`(e => { e.value = %q; for (const n of ['input', 'change']) e.dispatchEvent(new Event(n, {bubbles: true})); return null })(document.querySelector(%q))`, value, selector))
}

// TestExtraPagesInBrowser looks at the pages beside the board, on a wide screen
// and on a phone, in light and dark.
func TestExtraPagesInBrowser(t *testing.T) {
	in := inputs(t, three()...)
	b := openBrowser(t, build(t, in), "/x/y/")
	for _, path := range []string{"compare/", "compare/estuary/birch/northwind/aspen/", "race/", "reliability/", "price/", "estimate/", "status/"} {
		b.do(chromedp.EmulateViewport(1280, 900))
		b.open(path)
		b.clean(path)
		if w := eval[int](b, "document.documentElement.scrollWidth"); w > 1280 {
			t.Errorf("%s is %d pixels wide on a screen of 1280", path, w)
		}
		for _, scheme := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(390, 844))
			b.colours(scheme)
			if w := eval[int](b, "document.documentElement.scrollWidth"); w > 390 {
				t.Errorf("%s is %d pixels wide on a phone of 390", path, w)
			}
		}
	}
}

// TestCompareInBrowser chooses endpoints, comes back by the address alone, and
// looks at the page without scripts.
func TestCompareInBrowser(t *testing.T) {
	b := openBrowser(t, build(t, inputs(t, three()...)), "/x/y/")
	b.open("compare/")
	b.wait(`document.querySelector('[data-ready]') !== null`)
	const rows = `[...document.querySelectorAll('[data-shown] .name a')].map(a => a.textContent + ' ' + a.closest('th').querySelector('.prov').textContent)`
	served := eval[[]string](b, rows)
	if len(served) != 2 {
		t.Fatalf("%q are shown first; want two", served)
	}
	b.choose("[data-pick] label:nth-child(3) select", eval[string](b, `[...document.querySelector('[data-pick] select').options].map(o => o.value).find(v => ![...document.querySelectorAll('[data-pick] select')].some(s => s.value == v))`))
	b.wait(`document.querySelectorAll('#side-by-side .versus tbody tr').length == 3`)
	if got := eval[[]string](b, rows); len(got) != 3 {
		t.Errorf("%q are shown; want three", got)
	}
	if got := eval[string](b, `document.querySelector('[data-note]').textContent`); !strings.Contains(got, "99.2 %") || !strings.Contains(got, "six comparisons") {
		t.Errorf("three endpoints are compared with the note %q; want six comparisons at 99.2 %%", got)
	}
	address := eval[string](b, "location.search")
	if strings.Count(address, "with=") != 3 {
		t.Errorf("the address says %q; want three endpoints", address)
	}
	b.open("compare/" + address)
	b.wait(`document.querySelectorAll('[data-shown] tbody tr').length == 3`)
	b.choose("[data-pick] label:nth-child(3) select", "")
	b.wait(`document.querySelectorAll('[data-shown] tbody tr').length == 2`)
	b.choose("[data-pick] label:nth-child(2) select", eval[string](b, `document.querySelector('[data-pick] select').value`))
	if got := eval[string](b, `document.querySelector('[data-said]').textContent`); !strings.Contains(got, "two different") {
		t.Errorf("of one endpoint twice the page says %q", got)
	}
	_ = eval[any](b, "(history.back(), null)")
	b.wait(`document.querySelectorAll('[data-shown] tbody tr').length == 2 && document.querySelector('[data-said]').textContent == ''`)
	b.clean("compare/")

	// An address that names nothing known shows what is served.
	b.open("compare/?with=no/where&with=%3Cscript%3E/x")
	b.wait(`document.querySelector('[data-ready]') !== null`)
	if got := eval[[]string](b, rows); !same(got, served) {
		t.Errorf("with a bad address %q is shown; want %q", got, served)
	}
	b.clean("compare/?with=")
	b.scripts(false)
	b.open("compare/" + address)
	if got := eval[[]string](b, rows); !same(got, served) || eval[int](b, "document.querySelectorAll('#neighbours .versus tbody tr').length") == 0 {
		t.Errorf("without scripts %q is shown; want %q and the neighbours", got, served)
	}
}

// TestRaceInBrowser plays, pauses and replays by the keyboard, and shows who
// asks for less motion the finished curves.
func TestRaceInBrowser(t *testing.T) {
	b := openBrowser(t, build(t, inputs(t, three()...)), "/x/y/")
	b.motion("no-preference")
	b.open("race/")
	b.wait(`document.querySelector('[data-ready]') !== null`)
	const (
		state = `document.querySelector('[data-race]').dataset.state`
		texts = `[...document.querySelectorAll('.lane output')].map(o => o.textContent.length)`
		words = `[...document.querySelectorAll('.lane .state')].map(o => o.textContent)`
	)
	full := eval[[]int](b, texts)
	if len(full) != 3 || eval[string](b, state) != "finished" {
		t.Fatalf("at first %v characters are shown, state %s; want three finished lanes", full, eval[string](b, state))
	}
	_ = eval[any](b, `(document.querySelector('[data-buttons] button').focus(), null)`)
	b.do(chromedp.KeyEvent(" "))
	b.wait(state + ` == 'running'`)
	b.wait(texts + `.some(n => n > 0) && ` + texts + `.some((n, i) => n < ` + fmt.Sprint(full[0]) + `)`)
	b.do(chromedp.KeyEvent(" "))
	b.wait(state + ` != 'running'`)
	paused := eval[[]int](b, texts)
	if got := eval[[]int](b, texts); !equal(got, paused) {
		t.Errorf("while paused, %v became %v", paused, got)
	}
	b.click(`[data-buttons] button:nth-of-type(2)`)
	b.wait(state + ` == 'running'`)
	b.wait(state + ` == 'finished'`)
	if got := eval[[]int](b, texts); !equal(got, full) {
		t.Errorf("at the end %v characters are shown; want %v", got, full)
	}
	if got := eval[[]string](b, words); !same(got, []string{"done", "done", "done"}) {
		t.Errorf("at the end the lanes say %q", got)
	}
	b.choose("[data-pick] label:nth-child(3) select", "")
	b.wait(`document.querySelectorAll('.lane').length == 2`)
	if got := eval[string](b, "location.search"); strings.Count(got, "with=") != 2 {
		t.Errorf("the address says %q; want two endpoints", got)
	}
	b.clean("race/")

	b.motion("reduce")
	b.open("race/")
	b.wait(`document.querySelector('[data-ready]') !== null`)
	if got := eval[[]int](b, texts); !equal(got, full) || eval[int](b, `[...document.querySelectorAll('[data-buttons] button')].filter(e => !e.hidden).length`) != 0 {
		t.Errorf("with less motion %v characters are shown, or a button to move them; want %v and none", got, full)
	}
	if n := eval[int](b, `[...document.querySelectorAll('.lane path')].filter(p => p.getAttribute('d').length > 50).length`); n != 3 {
		t.Errorf("with less motion %d curves are whole; want 3", n)
	}
	b.scripts(false)
	b.open("race/")
	if n := eval[int](b, "document.querySelectorAll('#curves svg path.ln').length"); n != 6 {
		t.Errorf("without scripts there are %d curves; want 3 for each kind of screen", n)
	}
}

func equal(a, b []int) bool { return fmt.Sprint(a) == fmt.Sprint(b) }

// TestEstimateInBrowser compares what the script works out with what the site's
// own formulas and formatters do.
func TestEstimateInBrowser(t *testing.T) {
	b := openBrowser(t, build(t, inputs(t, three()...)), "/x/y/")
	b.open("estimate/")
	type row struct {
		Name         string
		TTFT, Rate   float64
		Time, Flight string
	}
	const rows = `[...document.querySelectorAll('tr[data-ttft]')].map(r => ({Name: r.dataset.name, TTFT: +r.dataset.ttft, Rate: +r.dataset.rate, Time: r.querySelector('[data-answer]').textContent, Flight: r.querySelector('[data-flight]').textContent}))`
	text := func(selector string) string {
		return eval[string](b, fmt.Sprintf("document.querySelector(%q).textContent", selector))
	}
	set := func(rpm, in, out int) {
		for name, v := range map[string]int{"rpm": rpm, "in": in, "out": out} {
			b.choose("[data-load] [name="+name+"]", fmt.Sprint(v))
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
		got := eval[[]row](b, rows)
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
	if got := eval[string](b, "location.search"); got != "?rpm=1000000&in=10000000&out=1000000" {
		t.Errorf("the address says %q", got)
	}

	// Halves, powers of ten and thousands: one token a minute and unit of 1/v
	// makes the script format v.
	for _, v := range []float64{2.125, 2.375, 0.0625, 312.5, 313.5, 0.5, 9.995, 99.95, 999.5, 1000, 1e6, 123456.5, 0.001, 1.0005, 7. / 3, 1e-7} {
		_ = eval[any](b, fmt.Sprintf(`(d => { d.tpm = 1; d.weight = %v; return null })(document.querySelector('[data-tpm]').dataset)`, v))
		set(1, 0, 1)
		check(fmt.Sprint(v), text("[data-raw]"), site.Significant(v, 3))
	}

	// The served sentence and the script's own are one.
	served := text("[data-cross]")
	b.choose("[data-pick] label:nth-child(1) select", eval[string](b, "document.querySelector('[data-pick]').dataset.a"))
	check("crossover", text("[data-cross]"), served)
	if !strings.Contains(served, "tokens") {
		t.Errorf("no endpoint overtakes another: %q", served)
	}

	set(10, 800, 300)
	b.choose("[data-load] [name=rpm]", "-1")
	if got := text("[data-said]"); !strings.Contains(got, "whole number from 0 to 1,000,000") {
		t.Errorf("of −1 requests the page says %q", got)
	}
	b.open("estimate/?rpm=20&out=500")
	check("from the address", text("[data-result=input]"), "16,000")
	b.clean("estimate/")
	b.scripts(false)
	b.open("estimate/?rpm=20")
	check("without scripts", text("[data-result=input]"), "8,000")
	if eval[float64](b, "document.querySelector('[data-load]').getBoundingClientRect().height") > 0 {
		t.Error("without scripts there is a form that does nothing")
	}
	if n := eval[int](b, "document.querySelectorAll('#lengths tbody tr').length"); n != 3 {
		t.Errorf("without scripts %d endpoints are worked out; want 3", n)
	}
}
