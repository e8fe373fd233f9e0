package site_test

import (
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/streamgauge/streamgauge/internal/browser"
	"github.com/streamgauge/streamgauge/rollup"
)

// TestEvaluatePage derives what the page says of each endpoint anew.
func TestEvaluatePage(t *testing.T) {
	in := inputs(t, past{"northwind", "aspen", "smooth-60", time.Hour, 9}, past{"estuary", "birch", "limited-1-in-4", time.Hour, 9}, past{"estuary", "gone", "fails-auth", time.Hour, 9})
	page := string(readFile(t, build(t, in), "evaluate/index.html"))
	for _, want := range []string{"32 requests", "52,000 tokens of prompt", "6,112 of answers", "200, 1,000, 3,000 and 8,000", "streamgauge evaluate --url https://api.example/v1 --model", "of-throttled", "Without a pace"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	for _, h := range in.Histories[:2] {
		f := rollup.NewTrack(h, rollup.Faults{}).Length(rollup.Window7d.Span(built))
		_, row, ok := strings.Cut(page, "<bdi>"+h.Series.Model)
		row, _, closed := strings.Cut(row, "</tr>")
		_, said, _ := strings.Cut(page, "<li><bdi>"+h.Series.Model)
		said, _, _ = strings.Cut(said, "</li>")
		row += said
		if !ok || !closed || !f.OK() {
			t.Fatalf("%s has no row", h.Series.Model)
		}
		ms, i := f.TTLTMS(500)
		for what, v := range map[string]float64{"start": f.Start.Value / 1000, "a token": f.PerToken.Value, "500 tokens": ms / 1000, "its least": i.Lo / 1000, "its most": i.Hi / 1000} {
			if !printsNumber(row, v) {
				t.Errorf("%s: the row lacks %s, %.4g:\n%s", h.Series.Model, what, v, row)
			}
		}
	}
	if _, hours, ok := strings.Cut(page, "Refused for the rate, of runs"); !ok || !strings.Contains(hours, "birch") || strings.Contains(hours[:strings.Index(hours, "</table>")], "aspen") {
		t.Error("refusals by hour are not those of the endpoint that refuses")
	}
}

// printsNumber reports whether one of the numbers of a text is v, or v thousandths, to
// three digits.
func printsNumber(text string, v float64) bool {
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return !strings.ContainsRune("0123456789.", r) }) {
		if got, err := strconv.ParseFloat(strings.Trim(word, "."), 64); err == nil && (math.Abs(got/v-1) < 0.006 || math.Abs(got/1000/v-1) < 0.006) {
			return true
		}
	}
	return false
}

// TestEvaluationDrawing holds the drawn example against its own file: every
// request is a dot, and both lines pass through the middle of theirs.
func TestEvaluationDrawing(t *testing.T) {
	dir := build(t, inputs(t, three()...))
	page := string(readFile(t, dir, "evaluate/index.html"))
	var e struct {
		Verdict []string `json:"verdict"`
		Trials  []any    `json:"trials"`
	}
	if err := json.Unmarshal(readFile(t, dir, "evaluate/example.json"), &e); err != nil || len(e.Trials) != 32 || len(e.Verdict) != 4 {
		t.Fatalf("%d trials, %d sentences, %v", len(e.Trials), len(e.Verdict), err)
	}
	for _, line := range e.Verdict {
		if !strings.Contains(page, html.EscapeString(line)) {
			t.Errorf("the page does not say %q", line)
		}
	}
	dots := regexp.MustCompile(`<svg class="chart fit wide"[^>]*>.*?<path class="mark [a-z]+" d="([^"]+)"`).FindAllStringSubmatch(page, -1)
	if len(dots) != 2 {
		t.Fatalf("%d drawings; want two", len(dots))
	}
	for i, d := range dots {
		if n := strings.Count(d[1], "h0"); n != 16 {
			t.Errorf("drawing %d has %d dots; want 16", i, n)
		}
	}

	// Content of a fork may lack it, and must not be nonsense.
	in := inputs(t, three()...)
	in.Content = without(t, in.Content, "evaluation.json")
	dir = build(t, in)
	if page := string(readFile(t, dir, "evaluate/index.html")); strings.Contains(page, "data-read") || !strings.Contains(page, "streamgauge evaluate --url") {
		t.Error("without an example the page offers to draw one, or no command")
	}
}

// without returns files without one of them.
func without(t *testing.T, files fs.FS, name string) fs.FS {
	t.Helper()
	left := fstest.MapFS{}
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || path == name {
			return err
		}
		text, err := fs.ReadFile(files, path)
		left[path] = &fstest.MapFile{Data: text}
		return err
	})
	if err != nil || len(left) == 0 {
		t.Fatalf("%d files, %v", len(left), err)
	}
	return left
}

// TestEvaluateInBrowser gives the page the example's own file, which must look as
// the site has drawn it, and files that lie.
func TestEvaluateInBrowser(t *testing.T) {
	dir := build(t, inputs(t, three()...))
	example := string(readFile(t, dir, "evaluate/example.json"))
	b := look(t, dir, "/x/y/")
	b.Visit("evaluate/")
	give := func(text string) {
		t.Helper()
		_ = browser.Value[any](b, fmt.Sprintf(`(() => { const a = document.querySelector('[data-read] textarea'); a.value = %q; a.dispatchEvent(new Event('input', { bubbles: true })); return null })()`, text))
	}
	said := func() string { return browser.Value[string](b, `document.querySelector('[data-said]').textContent`) }

	give(example)
	if got := said(); got != "Drawn below." {
		t.Fatalf("of its own example the page says %q", got)
	}
	// Places as shares of the axes, which have the same ends.
	const drawn = `(part => [...document.querySelector(part).querySelectorAll('svg.fit')].map(svg => {
		const line = svg.querySelector('.ln')
		const ends = [0, line.getTotalLength()].map(n => line.getPointAtLength(n)).map(p => [p.x, p.y])
		return { Label: svg.getAttribute('aria-label'), Dots: svg.querySelector('.mark').getAttribute('d').split('h0').length - 1,
			Line: ends, Ticks: [...svg.querySelectorAll('text:not(.at)')].map(e => e.textContent), Class: svg.getAttribute('class') }
	}))`
	type drawing struct {
		Label, Class string
		Dots         int
		Line         [][2]float64
		Ticks        []string
	}
	want := browser.Value[[]drawing](b, drawn+`('[data-example]')`)
	got := browser.Value[[]drawing](b, drawn+`('[data-yours]')`)
	if len(want) != 4 || len(got) != 4 {
		t.Fatalf("%d drawings are served and %d drawn; want four of each", len(want), len(got))
	}
	for i := range want {
		if got[i].Dots != 16 || got[i].Dots != want[i].Dots || got[i].Class != want[i].Class || len(got[i].Line) != 2 || len(want[i].Line) != 2 {
			t.Errorf("drawn %+v; served %+v", got[i], want[i])
			continue
		}
		for end := range got[i].Line {
			if math.Abs(got[i].Line[end][1]-want[i].Line[end][1]) > 1 || math.Abs(got[i].Line[end][0]-want[i].Line[end][0]) > 12 {
				t.Errorf("%s: the line goes through %v; served through %v", got[i].Class, got[i].Line, want[i].Line)
			}
		}
	}
	const words = `[...document.querySelectorAll('%s [data-verdict] li')].map(e => e.textContent)`
	if got, want := browser.Value[[]string](b, fmt.Sprintf(words, "[data-yours]")), browser.Value[[]string](b, fmt.Sprintf(words, "[data-example]")); !same(got, want) {
		t.Errorf("the verdict drawn is %q; served %q", got, want)
	}
	if n := browser.Value[int](b, `document.querySelectorAll('[data-yours] tbody tr').length`); n != 8 {
		t.Errorf("the tables drawn have %d rows; want 8", n)
	}
	if n := browser.Value[int](b, `new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size - document.querySelectorAll('[id]').length`); n != 0 {
		t.Errorf("%d ids are there twice", -n)
	}
	b.Clean("evaluate/ with the example")

	for _, bad := range []string{"{", "null", "[]", `"x"`, `{"format":"streamgauge-evaluation/2","prompt":{},"answer":{},"trials":[]}`, strings.Repeat("[", 100000)} {
		give(bad)
		if got := said(); !strings.HasPrefix(got, "That is not what") {
			t.Errorf("of %.60q the page says %q", bad, got)
		}
	}
	if got := said(); browser.Value[int](b, `document.querySelector('[data-yours]').childElementCount`) != 0 {
		t.Errorf("after a bad file something is left, and the page says %q", got)
	}
	_ = browser.Value[any](b, `(() => { const a = document.querySelector('[data-read] textarea'); a.value = '"' + 'x'.repeat(5e6) + '"'; a.dispatchEvent(new Event('input')); return null })()`)
	if got := said(); got != "It is too large." {
		t.Errorf("of five million characters the page says %q", got)
	}
	give(" ")
	if got := said(); got != "" {
		t.Errorf("of nothing the page says %q", got)
	}

	// What is of the right form may still lie in every field.
	give(`{"format":"streamgauge-evaluation/1","provider":"<img src=x onerror=alert(1)>","model":"\u202ex\u0000` + strings.Repeat("y", 10000) + `","at":{},"ok":"1","requests":1e300,
		"prompt":{"aimed":"<b>","start_ms":"x","per_token":{"ms":1e308},"sizes":[null,{"tokens":"<i>","n":-1},` + strings.Repeat(`{},`, 5000) + `7]},
		"answer":{"streamed":7,"by_length":{"ms":{}},"lengths":"x"},"verdict":["</li><script>alert(1)</script>",5,{},null],
		"trials":[null,7,{"report":{"outcome":"ok","ttlt_ms":1e999,"visible_tokens":5}},{"output_tokens":32,"report":{"outcome":"ok","ttfo_ms":-5,"input_tokens":10,"noise":"x"}},
		{"report":{"outcome":"ok","ttlt_ms":1e-9,"visible_tokens":1e9}},{"report":{"outcome":"ok","ttlt_ms":"9","visible_tokens":"9"}}]}`)
	if got := said(); got != "Drawn below." {
		t.Errorf("of a file that lies the page says %q", got)
	}
	shown := browser.Value[string](b, `document.querySelector('[data-yours]').textContent`)
	if len(shown) > 3000 || !strings.Contains(shown, "<img src=x onerror=alert(1)>/xyyy") || strings.ContainsAny(shown, "\u202e\x00") || strings.Contains(shown, "NaN") || strings.Contains(shown, "Infinity") {
		t.Errorf("of a file that lies is shown %.3000q", shown)
	}
	if n := browser.Value[int](b, `document.querySelectorAll('[data-yours] :is(img,script,b i)').length`); n != 0 {
		t.Errorf("a file that lies made %d elements", n)
	}
	if d := browser.Value[string](b, `[...document.querySelectorAll('[data-yours] path')].map(p => p.getAttribute('d')).join(' ')`); strings.ContainsAny(d, "NI") {
		t.Errorf("a file that lies is drawn as %q", d)
	}
	b.Clean("evaluate/ with a file that lies")

	// A file may be dropped.
	b.Visit("evaluate/")
	_ = browser.Value[any](b, `(async () => {
		const text = await (await fetch('example.json')).text(), files = new DataTransfer()
		files.items.add(new File([text], 'e.json'))
		document.querySelector('[data-read]').dispatchEvent(new DragEvent('drop', { dataTransfer: files, bubbles: true, cancelable: true }))
	})()`)
	b.Wait(`document.querySelectorAll('[data-yours] svg').length == 4`)

	b.Screen(390, 844)
	b.Prefer("prefers-color-scheme", "dark")
	b.Visit("evaluate/")
	give(example)
	if w := browser.Value[int](b, "document.documentElement.scrollWidth"); w > 390 {
		t.Errorf("the page is %d pixels wide on a phone of 390", w)
	}
	b.Scripts(false)
	b.Visit("evaluate/")
	if browser.Value[float64](b, "document.querySelector('[data-read]').getBoundingClientRect().height") > 0 || browser.Value[int](b, "document.querySelectorAll('[data-example] svg').length") != 4 {
		t.Error("without scripts there is a form that does nothing, or no drawing")
	}
}
