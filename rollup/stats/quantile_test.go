package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// draw returns n lognormal values, some of them equal, as measurements are.
func draw(rng *rand.Rand, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = math.Round(100*math.Exp(4+rng.NormFloat64()/2)) / 100
	}
	return values
}

func shuffled(rng *rand.Rand, values []float64) []float64 {
	other := slices.Clone(values)
	rng.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
	return other
}

func near(got, want, relTol float64) bool {
	return math.Abs(got-want) <= max(1e-12, relTol*math.Abs(want))
}

func TestQuantileUndefined(t *testing.T) {
	tests := []struct {
		name   string
		values []float64
		q      float64
	}{
		{"no values", nil, 0.5},
		{"below 0", []float64{1, 2}, -0.01},
		{"above 1", []float64{1, 2}, 1.01},
		{"q is NaN", []float64{1, 2}, math.NaN()},
		{"a value is NaN", []float64{2, math.NaN(), 1}, 0.5},
	}
	for _, tt := range tests {
		if got, ok := Quantile(tt.values, tt.q); ok || got != 0 {
			t.Errorf("%s: Quantile = %v, %v; want 0, false", tt.name, got, ok)
		}
	}
}

func TestQuantileEnds(t *testing.T) {
	values := []float64{7, 3, 9}
	for q, want := range map[float64]float64{0: 3, 0.25: 5, 0.5: 7, 1: 9} {
		if got, ok := Quantile(values, q); got != want || !ok {
			t.Errorf("Quantile(%v) = %v, %v; want %v, true", q, got, ok, want)
		}
	}
	if !slices.Equal(values, []float64{7, 3, 9}) {
		t.Errorf("Quantile changed its argument to %v", values)
	}
}

// TestQuantileProperties checks that order is irrelevant, data bound the
// result, it rises with q, and a change of unit changes it alike. Gonum's
// quantile is definition 4, which at (q(n-1)+1)/n is definition 7 at q.
func TestQuantileProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 500 {
		values := draw(rng, 1+rng.IntN(60))
		sorted := slices.Sorted(slices.Values(values))
		previous := sorted[0]
		for q := 0.0; q <= 1; q += 0.05 {
			got, ok := Quantile(values, q)
			if !ok {
				t.Fatalf("Quantile(%v, %v) = false", values, q)
			}
			if other, _ := Quantile(shuffled(rng, values), q); other != got {
				t.Fatalf("Quantile(%v, %v) = %v, in another order %v", values, q, got, other)
			}
			if got < previous || got > sorted[len(sorted)-1] {
				t.Fatalf("Quantile(%v, %v) = %v leaves %v..%v", values, q, got, previous, sorted[len(sorted)-1])
			}
			previous = got
			scaled := slices.Clone(values)
			for i := range scaled {
				scaled[i] *= 1000
			}
			if other, _ := Quantile(scaled, q); !near(other, 1000*got, 1e-12) {
				t.Fatalf("Quantile of values in ms = %v; want 1000 times %v", other, got)
			}
			n := float64(len(values))
			if p := (q*(n-1) + 1) / n; p <= 1 {
				if want := stat.Quantile(p, stat.LinInterp, sorted, nil); !near(got, want, 1e-9) {
					t.Fatalf("Quantile(%v, %v) = %v; gonum says %v", values, q, got, want)
				}
			}
		}
	}
}

func TestCensoredQuantile(t *testing.T) {
	values := []float64{30, 10, 20, 40}
	tests := []struct {
		name     string
		values   []float64
		timeouts int
		q        float64
		want     Censored
		ok       bool
	}{
		{"no timeouts", values, 0, 0.5, Censored{Value: 25}, true},
		{"median untouched", values, 1, 0.5, Censored{Value: 30}, true},
		{"median exactly on the last that finished", values, 3, 0.5, Censored{Value: 40}, true},
		{"median between it and a timeout", values, 4, 0.5, Censored{120, true}, true},
		{"median is a timeout", values, 5, 0.5, Censored{120, true}, true},
		{"maximum is a timeout", values, 1, 1, Censored{120, true}, true},
		{"minimum never is", values, 100, 0, Censored{Value: 10}, true},
		{"all timed out", nil, 3, 0.5, Censored{120, true}, true},
		{"no runs", nil, 0, 0.5, Censored{}, false},
		{"negative count", values, -1, 0.5, Censored{}, false},
		{"bad q", values, 1, 2, Censored{}, false},
		{"NaN", []float64{math.NaN()}, 1, 0.5, Censored{}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := CensoredQuantile(tt.values, tt.timeouts, 120, tt.q); got != tt.want || ok != tt.ok {
				t.Errorf("CensoredQuantile = %+v, %v; want %+v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}

// TestCensoredQuantileIsNotFlattered compares with knowing how long each run
// would have taken: never a smaller number, and equal where it is given.
func TestCensoredQuantileIsNotFlattered(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		all := draw(rng, 1+rng.IntN(40))
		const limit = 60
		finished := slices.DeleteFunc(slices.Clone(all), func(v float64) bool { return v > limit })
		for _, q := range []float64{0.1, 0.5, 0.95} {
			truth, _ := Quantile(all, q)
			got, ok := CensoredQuantile(finished, len(all)-len(finished), limit, q)
			if !ok || !got.Greater && got.Value != truth {
				t.Fatalf("CensoredQuantile(%v) = %+v, %v; want %v", q, got, ok, truth)
			}
		}
	}
}

func TestMinimumN(t *testing.T) {
	tests := []struct {
		q               float64
		print, interval int
	}{
		{0.5, 5, 6}, {0.1, 20, 36}, {0.9, 20, 36}, {0.95, 20, 72}, {0.05, 20, 72}, {0.99, 100, 368}, {0.01, 100, 368},
	}
	for _, tt := range tests {
		if n, ok := MinPrint(tt.q); n != tt.print || !ok {
			t.Errorf("MinPrint(%v) = %v, %v; want %v", tt.q, n, ok, tt.print)
		}
		n, ok := MinInterval(tt.q, 0.95)
		if n != tt.interval || !ok {
			t.Errorf("MinInterval(%v) = %v, %v; want %v", tt.q, n, ok, tt.interval)
		}
		for _, c := range []struct {
			n    int
			want bool
		}{{n - 1, false}, {n, true}} {
			o, _ := NewOrderInterval(c.n, tt.q, 0.95)
			if got := o.LoRank > 0 && o.HiRank > 0; got != c.want {
				t.Errorf("interval of q %v at n %v is bounded: %v; want %v", tt.q, c.n, got, c.want)
			}
		}
	}
	for _, q := range []float64{0, 1, -1, math.NaN()} {
		if _, ok := MinPrint(q); ok {
			t.Errorf("MinPrint(%v) = true", q)
		}
		if _, ok := MinInterval(q, 0.95); ok {
			t.Errorf("MinInterval(%v) = true", q)
		}
	}
}

func TestBurstiness(t *testing.T) {
	tests := []struct {
		name string
		gaps []float64
		want float64
		ok   bool
	}{
		{"clockwork", []float64{20, 20, 20}, -1, true},
		{"sd equals mean", []float64{0, 2}, 0, true},
		{"one long pause", []float64{0, 0, 0, 0, 0, 0, 0, 0, 10}, (math.Sqrt(8) - 1) / (math.Sqrt(8) + 1), true},
		{"one gap", []float64{20}, 0, false},
		{"no time passed", []float64{0, 0}, 0, false},
		{"NaN", []float64{1, math.NaN()}, 0, false},
	}
	for _, tt := range tests {
		if got, ok := Burstiness(tt.gaps); !near(got, tt.want, 1e-12) || ok != tt.ok {
			t.Errorf("%s: Burstiness = %v, %v; want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}
