package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestTheilSen(t *testing.T) {
	x := []float64{1, 2, 3, 4, 5, 6}
	for _, tt := range []struct {
		name             string
		x, y             []float64
		slope, intercept float64
	}{
		{"a line", x, []float64{5, 7, 9, 11, 13, 15}, 2, 3},
		{"one point far off", x, []float64{5, 7, 9, 11, 13, 900}, 2, 3},
		{"flat", x, []float64{4, 4, 4, 4, 4, 4}, 0, 4},
		// Between 0 and 10 the nine slopes are (3..7)/10: 3 4 5 5 5 4... of y = 0 1 2 and 5 6 7.
		{"two sizes", []float64{0, 0, 0, 10, 10, 10}, []float64{0, 1, 2, 5, 6, 7}, 0.5, 1},
	} {
		got, ok := TheilSen(tt.x, tt.y, Z95)
		if !ok || math.Abs(got.Slope-tt.slope) > 1e-12 || math.Abs(got.Intercept-tt.intercept) > 1e-12 || got.N != len(tt.x) {
			t.Errorf("%s: %+v, %t; want slope %v, intercept %v", tt.name, got, ok, tt.slope, tt.intercept)
		}
		if !(got.Interval.Lo <= got.Slope && got.Slope <= got.Interval.Hi) {
			t.Errorf("%s: the interval %v leaves out the slope", tt.name, got.Interval)
		}
	}
	for name, bad := range map[string][2][]float64{
		"few":    {{1, 2, 3, 4, 5}, {1, 2, 3, 4, 5}},
		"one x":  {{3, 3, 3, 3, 3, 3}, x},
		"uneven": {x, {1, 2, 3}},
		"NaN":    {x, {1, 2, 3, 4, 5, math.NaN()}},
		"Inf":    {x, {1, 2, 3, 4, 5, math.Inf(1)}},
	} {
		if _, ok := TheilSen(bad[0], bad[1], Z95); ok {
			t.Errorf("%s: a line", name)
		}
	}
}

// TestTheilSenCoverage draws times of four sizes of prompt, four each, with the
// tail of a queue on top, and counts how often the interval holds the truth.
func TestTheilSenCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const truth = 0.2
	held, tilted := 0, 0
	const draws = 2000
	for range draws {
		var x, y []float64
		for _, size := range []float64{200, 1000, 3000, 8000} {
			for range 4 {
				x = append(x, size)
				y = append(y, 300+truth*size+20*rng.NormFloat64()+60*rng.ExpFloat64())
			}
		}
		l, ok := TheilSen(x, y, Z95)
		if !ok {
			t.Fatal("no line")
		}
		if l.Interval.Lo <= truth && truth <= l.Interval.Hi {
			held++
		}
		if math.Abs(l.Slope/truth-1) > 0.15 {
			tilted++
		}
	}
	if share := float64(held) / draws; share < 0.93 || share > 0.985 {
		t.Errorf("the interval holds the truth in %.1f %%", 100*share)
	}
	if share := float64(tilted) / draws; share > 0.01 {
		t.Errorf("the slope is over 15 %% off in %.1f %%", 100*share)
	}
}
