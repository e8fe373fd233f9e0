package site_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp/kb"

	"github.com/streamgauge/streamgauge/internal/browser"
)

// shown holds for an element that a reader sees.
const shown = `e => e.checkVisibility({visibilityProperty: true, contentVisibilityAuto: false})`

// TestKeyboardInBrowser reads pages without a mouse: Tab reaches everything that
// can be used, in view and marked, and Enter uses it.
func TestKeyboardInBrowser(t *testing.T) {
	b := look(t, build(t, inputs(t, three()...)), "/x/y/")
	b.Prefer("prefers-reduced-motion", "reduce")
	const usable = `[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')].filter(e => !e.disabled && e.getClientRects().length && (` + shown + `)(e))`
	for _, tt := range []struct {
		path  string
		width int64
	}{{"", 1280}, {"", 390}, {"pair/estuary/birch/", 1280}, {"compare/", 390}} {
		b.Screen(tt.width, 844)
		b.Visit(tt.path)
		n := browser.Value[int](b, usable+".length")
		b.Run(`window.met = []
			document.addEventListener('focusin', e => {
				const box = e.target.getBoundingClientRect(), style = getComputedStyle(e.target)
				met.push({
					what: e.target.outerHTML.slice(0, 120),
					marked: style.outlineStyle != 'none' && parseFloat(style.outlineWidth) >= 2,
					seen: box.bottom > 0 && box.top < innerHeight && box.width > 0,
				})
			})`)
		for range n + 2 { // one is lost where a script moves what follows while the key is down
			b.Press(kb.Tab)
		}
		type stop struct {
			What         string
			Marked, Seen bool
		}
		stops := browser.Value[[]stop](b, "met")
		if len(stops) < n || n < 20 {
			t.Errorf("%q at %d: Tab stops at %d of %d things that can be used", tt.path, tt.width, len(stops), n)
		}
		for _, s := range stops {
			if !s.Marked || !s.Seen {
				t.Errorf("%q at %d: the focus is marked %t and in view %t on %s", tt.path, tt.width, s.Marked, s.Seen, s.What)
			}
		}
	}

	// The first stop leads past the navigation.
	b.Screen(1280, 900)
	b.Visit("")
	b.Press(kb.Tab, kb.Enter)
	b.Wait(`location.hash == '#main'`)
	// A column is sorted by Enter, and the other way round by Space.
	b.Run(`document.querySelector('th[data-sort=name] button').focus()`)
	b.Press(kb.Enter)
	b.Wait(`document.querySelector('th[data-sort=name]').ariaSort == 'ascending'`)
	b.Press(" ")
	b.Wait(`document.querySelector('th[data-sort=name]').ariaSort == 'descending'`)
	// On a phone the menu opens and leads on.
	b.Screen(390, 844)
	b.Visit("")
	b.Run(`document.querySelector('.menu summary').focus()`)
	b.Press(kb.Enter)
	b.Wait(`document.querySelector('.menu').open`)
	b.Press(kb.Tab, kb.Tab)
	if got := browser.Value[string](b, `document.activeElement.textContent`); got != "Compare" {
		t.Errorf("two steps into the menu the focus is on %q; want Compare", got)
	}
	b.Clean("")
}

// TestMenuInBrowser looks for the navigation, which is folded on a phone alone,
// with scripts and without.
func TestMenuInBrowser(t *testing.T) {
	b := look(t, build(t, inputs(t, three()...)), "/")
	for _, scripts := range []bool{true, false} {
		b.Scripts(scripts)
		for _, tt := range []struct {
			width int64
			links bool
		}{{1280, true}, {720, true}, {719, false}, {390, false}} {
			b.Screen(tt.width, 844)
			b.Visit("")
			links := browser.Value[int](b, `[...document.querySelectorAll('.menu a')].filter(`+shown+`).length`)
			all := browser.Value[int](b, `document.querySelectorAll('.menu a').length`)
			folded := browser.Value[int](b, `[document.querySelector('.menu summary')].filter(`+shown+`).length`) == 1
			if tt.links && (links != all || folded) || !tt.links && (links != 0 || !folded) || all < 12 {
				t.Errorf("at %d, scripts %t: %d of %d links are shown, the menu is folded: %t", tt.width, scripts, links, all, folded)
			}
		}
	}
	b.Click(".menu summary")
	if n := browser.Value[int](b, `[...document.querySelectorAll('.menu a')].filter(`+shown+`).length`); n < 12 {
		t.Errorf("without scripts the menu opens on %d links", n)
	}
	if n := browser.Value[int](b, `[...document.querySelectorAll('input[name=q], .sortbar select, .tools')].filter(`+shown+`).length`); n != 0 {
		t.Errorf("without scripts the board shows %d things that do nothing", n)
	}
}

// TestPrintInBrowser prints the board as a reader who prefers dark screens: ink
// on white paper, the whole table, and nothing that paper cannot do.
func TestPrintInBrowser(t *testing.T) {
	b := look(t, build(t, inputs(t, many(14, 6*time.Hour, 10)...)), "/")
	b.Prefer("prefers-color-scheme", "dark")
	b.Visit("")
	names := browser.Value[[]string](b, shownNames)
	pdf := b.Print()
	if !bytes.HasPrefix(pdf, []byte("%PDF-")) {
		t.Fatalf("the print begins with %.20q", pdf)
	}
	if got := browser.Value[string](b, "getComputedStyle(document.body).backgroundColor"); got != "rgb(255, 255, 255)" {
		t.Errorf("the paper is %s", got)
	}
	if got := browser.Value[string](b, "getComputedStyle(document.body).color"); got != "rgb(19, 32, 43)" {
		t.Errorf("the ink is %s", got)
	}
	for _, gone := range []string{".top nav", ".controls", "input[name=q]", ".sortbar", ".skip"} {
		if n := browser.Value[int](b, `[...document.querySelectorAll('`+gone+`')].filter(`+shown+`).length`); n != 0 {
			t.Errorf("%s is printed", gone)
		}
	}
	if n := browser.Value[int](b, `[...document.querySelectorAll('table.board tbody tr')].filter(`+shown+`).length`); n < len(names) || len(names) != 14 {
		t.Errorf("%d rows are printed of %d", n, len(names))
	}
	reader, err := exec.LookPath("pdftotext")
	if err != nil {
		t.Log("pdftotext is not installed: the words of the print are not looked at")
		return
	}
	file := filepath.Join(t.TempDir(), "board.pdf")
	if err := os.WriteFile(file, pdf, 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(reader, "-raw", file, "-").Output()
	if err != nil {
		t.Fatal(err)
	}
	// A long name may be broken between lines, and pdftotext drops a hyphen there.
	whole := func(s string) string { return strings.ReplaceAll(strings.Join(strings.Fields(s), ""), "-", "") }
	words := whole(string(out))
	for _, name := range names {
		if !strings.Contains(words, whole(name)) {
			t.Errorf("the print lacks %s", name)
		}
	}
	for _, bad := range []string{"Estimate", "Menu", "Filter"} {
		if strings.Contains(words, bad) {
			t.Errorf("the print has %q, which leads nowhere on paper", bad)
		}
	}
}

// TestHostileInBrowser opens pages of names that try to be something else: none
// runs, none breaks out of its place, none is wider than a phone.
func TestHostileInBrowser(t *testing.T) {
	b := look(t, build(t, hostileInputs(t)), "/x/y/")
	b.Visit("")
	pair := browser.Value[string](b, `[...document.querySelectorAll('.name a')].find(a => a.textContent.includes('__f__')).getAttribute('href')`)
	for _, path := range []string{"", "compare/", "race/", "estimate/", "reliability/", "price/", "provider/", "changes/", pair} {
		for _, width := range []int64{1280, 390} {
			b.Screen(width, 844)
			b.Visit(path)
			b.Clean(path)
			if w := browser.Value[int64](b, "document.documentElement.scrollWidth"); w > width {
				t.Errorf("%s is %d pixels wide on a screen of %d", path, w, width)
			}
		}
	}
	b.Click(`.tools button`)
	b.Wait(`document.querySelector('.explore.on .live svg path') !== null`)
	b.Clean(pair)
}
