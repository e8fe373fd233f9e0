package svg

import (
	"math"
	"strings"
	"testing"
	"time"
)

// TestStack draws two slots of which the second was not measured.
func TestStack(t *testing.T) {
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	k := Stack{
		Size: Wide(200), Label: "failures", From: from, Slot: 24 * time.Hour, N: 2, Top: 10,
		Layers: []Layer{
			{Name: "timeouts", Hue: Entity(0), Values: []float64{4, math.NaN()}},
			{Name: hostile, Hue: Entity(1), Values: []float64{6, math.NaN()}},
		},
	}
	got := string(k.SVG())
	if n := strings.Count(got, `class="bar `); n != 2 {
		t.Errorf("%d layers are drawn; want 2: %s", n, got)
	}
	for _, class := range []string{`class="bar e1"`, `class="bar e2"`} {
		_, path, _ := strings.Cut(got, class)
		path, _, _ = strings.Cut(path, `"/>`)
		if n := strings.Count(strings.SplitN(path, ">", 2)[0], "z"); n != 1 {
			t.Errorf("%s has %d bars; want that of the first slot alone", class, n)
		}
	}
	if strings.Contains(got, "<script>") || strings.Contains(got, "\u202e") {
		t.Errorf("a name is not escaped: %s", got)
	}
	_, ticks, ok := strings.Cut(got, `<path class="tick" d="`)
	_, ticks, again := strings.Cut(ticks, `<path class="tick" d="`)
	ticks, _, _ = strings.Cut(ticks, `"`)
	if !ok || !again || strings.Count(strings.ToLower(ticks), "h") != 1 {
		t.Errorf("the axis marks %q; want the one slot that was measured", ticks)
	}
	if string(k.SVG()) != got {
		t.Error("the second drawing differs")
	}
}

// TestStackWithout draws nothing where nothing is known, and a bare axis where
// everything is zero.
func TestStackWithout(t *testing.T) {
	from := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	for _, k := range []Stack{
		{},
		{From: from, Slot: time.Hour, N: -1, Layers: []Layer{{Values: []float64{1}}}},
		{From: from, Slot: time.Hour, N: 1, Layers: []Layer{{Values: []float64{math.Inf(1)}}}},
		{From: from, Slot: time.Hour, N: 1, Layers: []Layer{{Values: []float64{-1}}}},
	} {
		if got := string(k.SVG()); !strings.Contains(got, "no data") {
			t.Errorf("%+v: got %s", k, got)
		}
	}
	zero := Stack{From: from, Slot: time.Hour, N: 3, Layers: []Layer{{Name: "a", Values: []float64{0, 0, 0, 9}}}}
	if got := string(zero.SVG()); strings.Contains(got, "no data") || strings.Contains(got, `class="bar`) {
		t.Errorf("no failure in three slots is drawn as %s", got)
	}
}
