package svg

import (
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite testdata")

// TestGolden compares every figure with testdata/NAME.svg and the contact sheet
// that shows them all, testdata/sheet.html: open it in a browser.
func TestGolden(t *testing.T) {
	want := map[string]string{}
	var sheet strings.Builder
	sheet.WriteString("<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n" +
		"<title>Every chart</title>\n<link rel=\"stylesheet\" href=\"../../../templates/assets/style.css\">\n<main><h1>Every chart the site can draw</h1>\n")
	for _, f := range figures() {
		got := string(f.draw.SVG())
		if want[f.name+".svg"] != "" {
			t.Fatalf("two figures are named %s", f.name)
		}
		want[f.name+".svg"] = got + "\n"
		section := "<section class=\"fig\"><h2>%s</h2>\n%s</section>\n"
		if strings.HasSuffix(f.name, "-half") {
			section = "<div class=\"cols\">" + section + "</div>\n"
		}
		fmt.Fprintf(&sheet, section, html.EscapeString(f.title), got)
	}
	sheet.WriteString("</main></html>\n")
	want["sheet.html"] = sheet.String()

	if *update {
		old, err := filepath.Glob("testdata/*.*")
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range old {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.MkdirAll("testdata", 0o777); err != nil {
			t.Fatal(err)
		}
		for name, text := range want {
			if err := os.WriteFile(filepath.Join("testdata", name), []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	names, err := filepath.Glob("testdata/*.*")
	if err != nil || len(names) != len(want) {
		t.Errorf("testdata holds %d files, %v; want %d", len(names), err, len(want))
	}
	for name, text := range want {
		golden, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Error(err)
			continue
		}
		if string(golden) != text {
			t.Errorf("%s differs; look at it and run with -update if it should\ngot  %.400s\nwant %.400s", name, text, golden)
		}
	}
}

var (
	badNumber = regexp.MustCompile(`NaN|Inf|\d[eE][-+]?\d|\d{8}`)
	tooFine   = regexp.MustCompile(`\.\d\d`)
	classOnly = regexp.MustCompile(`^(class|d|x|y|width|height|viewBox|font-size|text-anchor|role|aria-label|aria-hidden|preserveAspectRatio)$`)
)

// check holds a drawing to the rules of the package doc.
func check(t *testing.T, s string) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Fatalf(format+"\n%.2000s", append(args, s)...)
	}
	d := xml.NewDecoder(strings.NewReader(s))
	depth := 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			fail("not well-formed: %v", err)
		}
		switch e := token.(type) {
		case xml.EndElement:
			depth--
		case xml.StartElement:
			depth++
			switch e.Name.Local {
			case "svg", "path", "text", "title":
			default:
				fail("element <%s>", e.Name.Local)
			}
			labelled := false
			for _, a := range e.Attr {
				if !classOnly.MatchString(a.Name.Local) {
					fail("attribute %s", a.Name.Local)
				}
				switch a.Name.Local {
				case "d", "x", "y", "width", "height", "viewBox", "font-size":
					if badNumber.MatchString(a.Value) {
						fail("%s=%q is not finite", a.Name.Local, a.Value)
					}
					if tooFine.MatchString(a.Value) {
						fail("%s=%q is finer than a tenth", a.Name.Local, a.Value)
					}
				case "aria-label", "aria-hidden":
					labelled = true
				}
			}
			if depth == 1 && (e.Name.Local != "svg" || !labelled) {
				fail("root is <%s>, labelled %v", e.Name.Local, labelled)
			}
		case xml.CharData:
			for _, r := range string(e) {
				if r == 0x202e || r < ' ' {
					fail("text holds %U", r)
				}
			}
			if strings.Contains(string(e), "NaN") {
				fail("text %q", e)
			}
		}
	}
	if depth != 0 || !strings.HasPrefix(s, "<svg ") {
		fail("not one element")
	}
}

func TestFiguresKeepTheRules(t *testing.T) {
	for _, f := range figures() {
		t.Run(f.name, func(t *testing.T) {
			check(t, string(f.draw.SVG()))
			if a, b := f.draw.SVG(), f.draw.SVG(); a != b {
				t.Error("drawn twice, it differs")
			}
		})
	}
}

func TestWildInputsKeepTheRules(t *testing.T) {
	for seed := range uint64(80) {
		for _, d := range wild(rand.New(rand.NewPCG(seed, 1))) {
			check(t, string(d.SVG()))
		}
	}
}

func FuzzWild(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) {
		for _, d := range wild(rand.New(rand.NewPCG(a, b))) {
			check(t, string(d.SVG()))
		}
	})
}

func TestNothingKnownSaysSo(t *testing.T) {
	nan := []float64{unknown, math.Inf(1)}
	day := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, d := range []drawing{
		Range{P50: 3}, Range{Axis: Axis{Scale: Log(1, 2), W: 50}, P50: unknown}, Range{Axis: Axis{Scale: Log(1, 2), W: 50}, P50: 0},
		Spark{}, Spark{Values: nan}, Strip{},
		Line{}, Line{From: day, To: day.Add(time.Hour)}, Line{From: day, To: day, Series: []Series{{Points: []Point{{At: day, Y: 1}}}}},
		emptyWeek(), Scatter{}, Scatter{Marks: []Mark{{X: 1, Y: 0}}}, Histogram{}, Histogram{Bins: []Bin{{1, 2, 0}}},
		Dots{Values: nan}, Parts{}, Parts{Parts: []Part{{Value: unknown}}}, Arrival{}, Arrival{Curves: []Curve{{Reads: []Read{{0, 0}}}}},
	} {
		if s := string(d.SVG()); !strings.Contains(s, ">no data</text>") || !strings.Contains(s, " none") {
			t.Errorf("%T drew %s", d, s)
		}
	}
}

// TestPennantsDoNotTouch lays labels at random and checks that no two overlap
// and no line goes through a label.
func TestPennantsDoNotTouch(t *testing.T) {
	const text, left, right = 12, 40, 358
	shown := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 9))
		ps := make([]pennant, r.IntN(7))
		for i := range ps {
			ps[i] = pennant{x: left + (right-left)*r.Float64(), label: strings.Repeat("n", r.IntN(24))}
		}
		layPennants(ps, text, left, right)
		span := func(p pennant) (from, to float64) {
			w := widthOf(p.label, text)
			if p.side == end {
				return p.tx - w, p.tx
			}
			return p.tx, p.tx + w
		}
		for i, p := range ps {
			if p.hidden {
				continue
			}
			shown++
			from, to := span(p)
			if from < left || to > right {
				t.Errorf("seed %d: label %d from %.0f to %.0f leaves the drawing", seed, i, from, to)
			}
			for j, q := range ps {
				if i == j {
					continue
				}
				if qf, qt := span(q); !q.hidden && q.row == p.row && from < qt && qf < to {
					t.Errorf("seed %d: labels %d and %d overlap", seed, i, j)
				}
				// q's line begins at its own row, or at the frame if it has no label.
				if !q.hidden && q.row < p.row && q.x > from && q.x < to {
					t.Errorf("seed %d: line %d goes through label %d", seed, j, i)
				}
			}
		}
	}
	if shown < 500 {
		t.Errorf("only %d labels were shown", shown)
	}
}

func TestFarApartValues(t *testing.T) {
	week := emptyWeek()
	week.Values[0][0], week.Values[6][23] = 1e-299, 1e299
	check(t, string(week.SVG()))
	if got := Log(1e-299, 1e299).frac(1); math.Abs(got-.5) > 1e-9 {
		t.Errorf("1 is at %v between 1e-299 and 1e299; want the middle", got)
	}
}

func emptyWeek() Heatmap {
	var h Heatmap
	for d := range 7 {
		for hour := range 24 {
			h.Values[d][hour] = unknown
		}
	}
	return h
}

func TestHostileNamesAreText(t *testing.T) {
	s := string(Scatter{Label: hostile, TitleX: hostile, Marks: []Mark{{X: 1, Y: 2, Name: hostile}}}.SVG())
	check(t, s)
	for _, bad := range []string{"<script", "\x00", "\u202e", `" onload`} {
		if strings.Contains(s, bad) {
			t.Errorf("output holds %q:\n%s", bad, s)
		}
	}
	if !strings.Contains(s, "&lt;script&gt;") {
		t.Errorf("name is not shown as text:\n%s", s)
	}
	long := string(Line{Size: Phone(100), From: time.Unix(0, 0), To: time.Unix(100, 0), Label: strings.Repeat("x", 10_000),
		Series: []Series{{Name: strings.Repeat("w", 10_000), Points: []Point{{At: time.Unix(50, 0), Y: 1}}}}}.SVG())
	if len(long) > 2000 {
		t.Errorf("a name of 10,000 letters made a drawing of %d bytes", len(long))
	}
}

// subpaths counts the strokes of the first path of a class: a gap begins a new one.
func subpaths(t *testing.T, s, class string) int {
	t.Helper()
	m := regexp.MustCompile(`<path class="` + class + `" d="([^"]*)"`).FindStringSubmatch(s)
	if m == nil {
		t.Fatalf("no path of class %s in %s", class, s)
	}
	return strings.Count(m[1], "m")
}

func TestGapsStayGaps(t *testing.T) {
	from := time.Date(2025, 3, 1, 0, 0, 0, 0, time.UTC)
	at := func(h int) time.Time { return from.Add(time.Duration(h) * time.Hour) }
	p := func(h int, y float64) Point { return Point{at(h), y, y - 1, y + 1} }
	tests := []struct {
		name   string
		points []Point
		gap    time.Duration
		want   int
	}{
		{"whole", []Point{p(0, 1), p(1, 2), p(2, 3)}, 0, 1},
		{"unknown value", []Point{p(0, 1), p(1, 2), p(2, unknown), p(3, 2), p(4, 1)}, 0, 2},
		{"silence", []Point{p(0, 1), p(1, 2), p(9, 2), p(10, 2)}, 2 * time.Hour, 2},
		{"silence within reason", []Point{p(0, 1), p(2, 2)}, 2 * time.Hour, 1},
		{"alone between gaps", []Point{p(0, 1), p(1, unknown), p(2, 2), p(3, unknown), p(4, 1)}, 0, 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := string(Line{From: from, To: at(24), Series: []Series{{Hue: Speed, Points: tt.points, MaxGap: tt.gap}}}.SVG())
			if got := subpaths(t, s, "ln sp"); got != tt.want {
				t.Errorf("line has %d strokes; want %d\n%s", got, tt.want, s)
			}
			if got := subpaths(t, s, "band sp"); got != tt.want {
				t.Errorf("band has %d areas; want %d\n%s", got, tt.want, s)
			}
		})
	}
}

// TestPenLosesNothing follows a path by its relative commands and compares each
// corner with the place asked for.
func TestPenLosesNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var p pen
	var want [][2]int
	for i := range 500 {
		x, y := 400*r.Float64()-100, 400*r.Float64()-100
		switch {
		case i%17 == 0:
			p.move(x, y)
		case i%5 == 0:
			y = float64(p.y) / 10
			p.line(x, y)
		default:
			p.line(x, y)
		}
		want = append(want, [2]int{tenths(x), tenths(y)})
	}
	var got [][2]int
	x, y := 0, 0
	number := regexp.MustCompile(`-?(\d+(\.\d)?|\.\d)`)
	for _, m := range regexp.MustCompile(`([mlhvz])([^mlhvz]*)`).FindAllStringSubmatch(p.String(), -1) {
		var args []int
		for _, n := range number.FindAllString(m[2], -1) {
			f, err := strconv.ParseFloat(n, 64)
			if err != nil {
				t.Fatal(err)
			}
			args = append(args, tenths(f))
		}
		for len(args) > 0 {
			switch m[1] {
			case "h":
				x, args = x+args[0], args[1:]
			case "v":
				y, args = y+args[0], args[1:]
			default:
				x, y, args = x+args[0], y+args[1], args[2:]
			}
			got = append(got, [2]int{x, y})
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("path visits other places:\n%s", p.String())
	}
}

func TestNum(t *testing.T) {
	for v, want := range map[float64]string{0: "0", .04: "0", .05: ".1", -.5: "-.5", 12: "12", 12.34: "12.3", -120.06: "-120.1", 1e9: "1000000"} {
		if got := string(appendTenths(nil, tenths(v))); got != want {
			t.Errorf("%v is written %q; want %q", v, got, want)
		}
	}
}

func TestClip(t *testing.T) {
	tests := []struct {
		s    string
		n    int
		want string
	}{
		{"", 3, ""}, {"abc", 3, "abc"}, {"abcd", 3, "ab…"}, {"名前が長い", 3, "名前…"}, {"abcd", 4, "abcd"},
	}
	for _, tt := range tests {
		if got := clip(tt.s, tt.n); got != tt.want {
			t.Errorf("clip(%q, %d) = %q; want %q", tt.s, tt.n, got, tt.want)
		}
	}
}

// TestStripFrames counts the hollow frames: one around slots in a row without a
// sample, and none that covers a slot with one.
func TestStripFrames(t *testing.T) {
	const n, o = NoSample, OK
	for _, tt := range []struct {
		name   string
		states []State
		want   int
	}{
		{"none", []State{o, o}, 0},
		{"one", []State{o, n, o}, 1},
		{"in a row", []State{n, n, n, o}, 1},
		{"at both ends", []State{n, n, o, n, n}, 2},
		{"all", []State{n, n, n, n}, 1},
		{"apart", []State{n, o, n, o, n}, 3},
	} {
		_, after, _ := strings.Cut(string(Strip{States: tt.states}.SVG()), `class="n" d="`)
		d, _, _ := strings.Cut(after, `"`)
		if got := strings.Count(d, "z"); got != tt.want {
			t.Errorf("%s: %d frames in %q; want %d", tt.name, got, d, tt.want)
		}
	}
}
