package templates

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := fs.ReadFile(Files(), name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func gzipped(t *testing.T, b []byte) int {
	t.Helper()
	var buf bytes.Buffer
	w, err := gzip.NewWriterLevel(&buf, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Len()
}

// TestBudget holds what a first view and an explore view may weigh.
func TestBudget(t *testing.T) {
	if got := gzipped(t, read(t, "assets/style.css")); got > 6<<10 {
		t.Errorf("style.css is %d bytes gzipped; want at most %d", got, 6<<10)
	}
	if got := gzipped(t, read(t, "assets/echarts.min.js")); got > 240_000 {
		t.Errorf("echarts.min.js is %d bytes gzipped; want at most 240000", got)
	}
	scripts, err := fs.Glob(Files(), "assets/*.js")
	if err != nil || len(scripts) < 4 {
		t.Fatalf("found scripts %v, %v; want at least four", scripts, err)
	}
	total := 0
	alone := []string{"assets/compare.js", "assets/race.js", "assets/estimate.js", "assets/evaluate.js"} // of one page each
	for _, name := range scripts {
		if slices.Contains(alone, name) {
			if got := gzipped(t, read(t, name)); got > 3<<10 {
				t.Errorf("%s is %d bytes gzipped; want at most %d", name, got, 3<<10)
			}
			continue
		}
		if name != "assets/echarts.min.js" && name != "assets/sqlite3.min.js" && !strings.HasPrefix(name, "assets/query") {
			total += gzipped(t, read(t, name))
		}
	}
	if total > 8<<10 {
		t.Errorf("scripts are %d bytes gzipped; want at most %d", total, 8<<10)
	}
}

// TestSelfContained finds what would need another host or an exception in the
// content security policy.
func TestSelfContained(t *testing.T) {
	bad := regexp.MustCompile(`@import|@font-face|url\(|\beval\(|new Function|innerHTML|outerHTML|insertAdjacentHTML|document\.write|\.style\b|https?://`)
	namespace := regexp.MustCompile(`xmlns="http://www.w3.org/2000/svg"`)
	for _, pattern := range []string{"assets/*.css", "assets/*.js", "assets/*.svg"} {
		names, err := fs.Glob(Files(), pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: found no files: %v", pattern, err)
		}
		for _, name := range names {
			if name == "assets/echarts.min.js" || name == "assets/sqlite3.min.js" {
				continue
			}
			text := namespace.ReplaceAll(read(t, name), nil)
			if hit := bad.Find(text); hit != nil {
				t.Errorf("%s holds %q", name, hit)
			}
		}
	}
}

// TestEChartsNote compares the bundle with the sum written beside its recipe.
func TestEChartsNote(t *testing.T) {
	note, err := os.ReadFile("assets/echarts/README.md")
	if err != nil {
		t.Fatal(err)
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(read(t, "assets/echarts.min.js")))
	if !bytes.Contains(note, []byte(sum)) {
		t.Errorf("README.md does not name the sum of echarts.min.js, %s", sum)
	}
	licence := read(t, "assets/echarts.LICENSE.txt")
	for _, want := range []string{"Apache ECharts", "Apache License", "Baidu", "Microsoft"} {
		if !bytes.Contains(licence, []byte(want)) {
			t.Errorf("echarts.LICENSE.txt does not name %q", want)
		}
	}
}

// TestSQLiteNote compares the engine of the query page with the sums written
// beside its recipe, and holds what the page and the engine may weigh.
func TestSQLiteNote(t *testing.T) {
	note, err := os.ReadFile("assets/sqlite/README.md")
	if err != nil {
		t.Fatal(err)
	}
	engine := 0
	for _, name := range []string{"sqlite3.min.js", "sqlite3.wasm"} {
		file := read(t, "assets/"+name)
		if sum := fmt.Sprintf("%x", sha256.Sum256(file)); !bytes.Contains(note, []byte(sum)) {
			t.Errorf("README.md does not name the sum of %s, %s", name, sum)
		}
		engine += gzipped(t, file)
	}
	if engine > 480_000 {
		t.Errorf("the engine is %d bytes gzipped; want at most 480000", engine)
	}
	own := 0
	for _, name := range []string{"query.js", "query-worker.js", "query.css"} {
		own += gzipped(t, read(t, "assets/"+name))
	}
	if own > 6<<10 {
		t.Errorf("the page's own scripts and styles are %d bytes gzipped; want at most %d", own, 6<<10)
	}
	licence := read(t, "assets/sqlite3.LICENSE.txt")
	for _, want := range []string{"disclaims copyright", "Emscripten authors", "Apache License"} {
		if !bytes.Contains(licence, []byte(want)) {
			t.Errorf("sqlite3.LICENSE.txt does not name %q", want)
		}
	}
}

type colour [3]float64 // linear red, green, blue, 0 to 1

func parseColour(t *testing.T, hex string) colour {
	t.Helper()
	if len(hex) == 4 {
		hex = "#" + strings.Repeat(hex[1:2], 2) + strings.Repeat(hex[2:3], 2) + strings.Repeat(hex[3:4], 2)
	}
	var c colour
	for i := range c {
		n, err := strconv.ParseUint(hex[1+2*i:3+2*i], 16, 8)
		if err != nil {
			t.Fatalf("colour %q: %v", hex, err)
		}
		// sRGB to linear, IEC 61966-2-1.
		if v := float64(n) / 255; v <= .04045 {
			c[i] = v / 12.92
		} else {
			c[i] = math.Pow((v+.055)/1.055, 2.4)
		}
	}
	return c
}

// contrast is the ratio of WCAG 2.2.
func contrast(a, b colour) float64 {
	l := func(c colour) float64 { return .2126*c[0] + .7152*c[1] + .0722*c[2] }
	hi, lo := max(l(a), l(b)), min(l(a), l(b))
	return (hi + .05) / (lo + .05)
}

// deuteranope is c as seen without green cones: Machado, Oliveira and
// Fernandes, A Physiologically-based Model for Simulation of Color Vision
// Deficiency, 2009, table for severity 1.
func deuteranope(c colour) colour {
	m := [3][3]float64{
		{.367322, .860646, -.227968},
		{.280085, .672501, .047413},
		{-.011820, .042940, .968881},
	}
	var out colour
	for i := range out {
		out[i] = min(max(m[i][0]*c[0]+m[i][1]*c[1]+m[i][2]*c[2], 0), 1)
	}
	return out
}

// deltaE is the distance in CIE 1976 L*a*b*, white D65.
func deltaE(a, b colour) float64 {
	lab := func(c colour) [3]float64 {
		f := func(v float64) float64 {
			if v > 216./24389 {
				return math.Cbrt(v)
			}
			return (24389./27*v + 16) / 116
		}
		x := f((.4124*c[0] + .3576*c[1] + .1805*c[2]) / .95047)
		y := f(.2126*c[0] + .7152*c[1] + .0722*c[2])
		z := f((.0193*c[0] + .1192*c[1] + .9505*c[2]) / 1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	p, q := lab(a), lab(b)
	return math.Sqrt((p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2]))
}

// themes reads the colour variables of both themes from the stylesheet.
func themes(t *testing.T) map[string]map[string]colour {
	t.Helper()
	css := string(read(t, "assets/style.css"))
	roots := regexp.MustCompile(`:root\{[^}]*--paper[^}]*\}`).FindAllString(css, -1)
	if len(roots) < 2 {
		t.Fatalf("found %d :root blocks with colours; want light and dark", len(roots))
	}
	out := map[string]map[string]colour{"light": {}, "dark": {}}
	for i, name := range []string{"light", "dark"} {
		for _, m := range regexp.MustCompile(`--([\w-]+):(#[0-9a-f]{3,6})\b`).FindAllStringSubmatch(roots[i], -1) {
			out[name][m[1]] = parseColour(t, m[2])
		}
	}
	for name := range out["light"] {
		if _, ok := out["dark"][name]; !ok {
			t.Errorf("dark theme lacks --%s", name)
		}
	}
	return out
}

// TestContrast checks each pair of colours that meet on a page.
func TestContrast(t *testing.T) {
	const text, graphic = 4.5, 3 // WCAG 2.2 AA: 1.4.3, 1.4.11
	tests := []struct {
		fore, back string
		want       float64
	}{
		{"ink", "paper", 7}, {"ink", "head", 7}, {"ink", "lead", 7}, {"ink", "ochre-wash", 7}, {"paper", "ink", 7},
		{"dim", "paper", text}, {"dim", "head", text}, {"dim", "lead", text},
		{"river", "paper", text}, {"river", "lead", text}, {"river", "head", text},
		{"ochre", "paper", text}, {"ochre", "head", text}, {"ochre", "lead", text}, {"paper", "ochre", text},
		{"alarm", "paper", text}, {"alarm", "alarm-wash", text}, {"alarm", "lead", graphic},
		{"edge", "paper", graphic},
		{"river-soft", "paper", graphic}, {"ochre-soft", "paper", graphic},
		{"river", "river-wash", graphic}, {"ochre", "ochre-wash", graphic},
		{"q0", "paper", graphic}, {"q1", "paper", graphic}, {"q2", "paper", graphic}, {"q3", "paper", graphic}, {"q4", "paper", graphic},
		// Entity colours also write the names at the ends of their lines.
		{"e1", "paper", text}, {"e2", "paper", text}, {"e3", "paper", text}, {"e4", "paper", text},
		{"e5", "paper", text}, {"e6", "paper", text}, {"e7", "paper", text}, {"e8", "paper", text},
		// A failed or degraded slot must stand out of a row of good ones.
		{"alarm", "ok", 2}, {"ochre", "ok", 2},
	}
	for theme, vars := range themes(t) {
		for _, tt := range tests {
			fore, ok1 := vars[tt.fore]
			back, ok2 := vars[tt.back]
			if !ok1 || !ok2 {
				t.Errorf("%s: no --%s or no --%s", theme, tt.fore, tt.back)
				continue
			}
			if got := contrast(fore, back); got < tt.want {
				t.Errorf("%s: %s on %s has contrast %.2f; want %.1f", theme, tt.fore, tt.back, got, tt.want)
			}
		}
	}
}

// TestSteps checks that neighbouring steps of the ordinal scale, and the two
// hues of the metrics, can be told apart with and without green cones, and that
// light means good in both themes.
func TestSteps(t *testing.T) {
	const apart = 8 // about three times the least difference an eye can see
	for theme, vars := range themes(t) {
		for _, pair := range [][2]string{
			{"q0", "q1"}, {"q1", "q2"}, {"q2", "q3"}, {"q3", "q4"},
			{"river", "ochre"}, {"river-soft", "ochre-soft"}, {"ok", "ochre"}, {"ok", "alarm"},
		} {
			a, b := vars[pair[0]], vars[pair[1]]
			if got := deltaE(a, b); got < apart {
				t.Errorf("%s: %s and %s differ by %.1f; want %d", theme, pair[0], pair[1], got, apart)
			}
			if got := deltaE(deuteranope(a), deuteranope(b)); got < apart {
				t.Errorf("%s: %s and %s differ by %.1f to a deuteranope; want %d", theme, pair[0], pair[1], got, apart)
			}
		}
		black := colour{}
		for i := range 4 {
			a, b := vars[fmt.Sprint("q", i)], vars[fmt.Sprint("q", i+1)]
			if contrast(a, black) >= contrast(b, black) {
				t.Errorf("%s: q%d is not darker than q%d", theme, i, i+1)
			}
		}
		for i := 1; i <= 8; i++ {
			for j := i + 1; j <= 8; j++ {
				a, b := vars[fmt.Sprint("e", i)], vars[fmt.Sprint("e", j)]
				if got := deltaE(a, b); got < 15 {
					t.Errorf("%s: e%d and e%d differ by %.1f; want 15", theme, i, j, got)
				}
			}
		}
	}
}

// TestContrastFormula pins the formulas to published values: black on white is
// 21, and #777 on white is the textbook failure at 4.48.
func TestContrastFormula(t *testing.T) {
	white := parseColour(t, "#fff")
	if got := contrast(parseColour(t, "#000000"), white); math.Abs(got-21) > 1e-9 {
		t.Errorf("black on white is %v; want 21", got)
	}
	if got := contrast(parseColour(t, "#777777"), white); math.Abs(got-4.48) > .005 {
		t.Errorf("#777 on white is %.3f; want 4.48", got)
	}
}
