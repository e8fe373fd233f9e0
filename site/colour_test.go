package site

import (
	"math"
	"regexp"
	"testing"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site/svg"
	"github.com/streamgauge/streamgauge/templates"
)

// TestContrast uses ratios that WCAG and its calculators print.
func TestContrast(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want float64
	}{
		{"#000000", "#ffffff", 21}, {"#777777", "#ffffff", 4.48}, {"#767676", "#ffffff", 4.54}, {"#ff0000", "#ffffff", 4.00}, {"#0000ff", "#ffffff", 8.59}, {"#123456", "#123456", 1},
	} {
		a, _ := parseColour(tt.a)
		b, _ := parseColour(tt.b)
		if got := contrast(a, b); math.Abs(got-tt.want) > 0.005 || got != contrast(b, a) {
			t.Errorf("%s with %s: got %.3f; want %.2f", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestBuiltInColours holds the colours that Go draws with to those of the
// stylesheet, and to what text needs.
func TestBuiltInColours(t *testing.T) {
	a, err := readAssets(templates.Files())
	if err != nil {
		t.Fatal(err)
	}
	style := a.data[a.names["style.css"]]
	p, err := newPalette(Theme{}, style)
	if err != nil {
		t.Fatal(err)
	}
	variable := func(name string) colour {
		m := regexp.MustCompile(`--` + name + `:(#[0-9a-f]{6})`).FindSubmatch(style)
		if m == nil {
			t.Fatalf("the stylesheet has no --%s", name)
		}
		c, _ := parseColour(string(m[1]))
		return c
	}
	for name, got := range map[string]colour{"paper": cardPaper, "ink": cardInk, "dim": cardDim, "alarm": cardAlarm, "river": p.light[svg.Wait], "ochre": p.light[svg.Speed]} {
		if want := variable(name); got != want {
			t.Errorf("--%s is %s; Go draws with %s", name, want, got)
		}
		if name != "paper" && contrast(got, cardPaper) < minContrast {
			t.Errorf("--%s has a contrast of %.2f on paper", name, contrast(got, cardPaper))
		}
	}
	on := grounds(style)
	if len(on[0].all) < 4 || len(on[1].all) < 4 || on[0].paper == on[1].paper {
		t.Errorf("found the backgrounds %+v", on)
	}
	white := colour{255, 255, 255}
	for _, c := range []colour{badgeLabel, badgeNeutral, badgeAbsent, p.light[svg.Wait], p.light[svg.Speed]} {
		if got := contrast(c, white); got < minContrast {
			t.Errorf("white on %s has a contrast of %.2f", c, got)
		}
	}
	// What the stylesheet itself has would pass as a fork's, and its softer kin
	// stay visible.
	built := Theme{Accent: variable("river").String(), AccentDark: "#79c2ee", Rates: variable("ochre").String(), RatesDark: "#e6b450"}
	if _, err := newPalette(built, style); err != nil {
		t.Error(err)
	}
	for _, g := range on {
		c := colour{0x79, 0xc2, 0xee}
		if g.kind == "light" {
			c = colour{0x0b, 0x5c, 0x8a}
		}
		if pale := soften(c, g.paper); contrast(pale, g.paper) < minMark || pale == c {
			t.Errorf("on %s, %s softens to %s", g.kind, c, pale)
		}
	}
}

// TestWrap breaks a heading as the pictures do.
func TestWrap(t *testing.T) {
	regular, _, err := parseFonts()
	if err != nil {
		t.Fatal(err)
	}
	face, err := newFace(regular, 20)
	if err != nil {
		t.Fatal(err)
	}
	r := &ruler{face: face}
	for _, text := range []string{"", "short", "a much longer heading that needs more than a single line of text to be read", "Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichen", "模型 \u202e x"} {
		lines := wrap(face, text, 200, 3)
		if len(lines) > 3 {
			t.Errorf("%q has %d lines", text, len(lines))
		}
		for _, line := range lines {
			if r.width(line) > 200 {
				t.Errorf("%q is %d pixels wide", line, r.width(line))
			}
		}
	}
}

// BenchmarkCard draws the picture of one endpoint.
func BenchmarkCard(b *testing.B) {
	regular, bold, err := parseFonts()
	if err != nil {
		b.Fatal(err)
	}
	p, err := newPalette(Theme{}, nil)
	if err != nil {
		b.Fatal(err)
	}
	e := &edition{theme: p}
	x := card{
		over: "Streamgauge", heading: "Aspen on Estuary writes about 84.3 tokens a second.", foot: "7 days to 14 March 2026", metric: rollup.DecodeTPS,
		facts: []cardFact{{"decode speed", "84.3 tok/s", "95 % interval 82.1–86.0", svg.Speed}, {"first token", "412 ms", "95 % interval 398–420", svg.Wait}, {"success", "99.8 %", "95 % interval 99.1–99.9", svg.Neutral}},
	}
	at, err := e.newEasel(regular, bold)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		data, err := e.drawCard(at, x)
		if err != nil {
			b.Fatal(err)
		}
		b.SetBytes(int64(len(data)))
	}
}
