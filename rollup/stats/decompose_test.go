package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// TestDecomposeIsExact checks that the parts add up to the change of mean TTLT
// computed without any of them, for any two sets of answers, and that going
// back undoes going forth.
func TestDecomposeIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	set := func() (answers []Answer, ttlt float64) {
		n := 1 + rng.IntN(40)
		for range n {
			a := Answer{TTFTMs: 100 + 900*rng.Float64(), Tokens: 1 + rng.IntN(400)}
			a.TTLTMs = a.TTFTMs + float64(a.Tokens-1)*(5+30*rng.Float64())
			answers = append(answers, a)
			ttlt += a.TTLTMs / float64(n)
		}
		return append(answers, Answer{TTFTMs: 100, TTLTMs: 150, Tokens: 2}), (ttlt*float64(n) + 150) / float64(n+1)
	}
	for range 500 {
		a1, ttlt1 := set()
		a2, ttlt2 := set()
		p1, ok1 := NewPace(a1)
		p2, ok2 := NewPace(a2)
		if !ok1 || !ok2 || !near(p1.TTLTMs(), ttlt1, 1e-12) || !near(p2.TTLTMs(), ttlt2, 1e-12) {
			t.Fatalf("paces %+v, %+v; want mean TTLT %v, %v", p1, p2, ttlt1, ttlt2)
		}
		d := Decompose(p1, p2)
		if sum := d.StartMs + d.VolumeMs + d.SpeedMs; math.Abs(sum-(ttlt2-ttlt1)) > 1e-8 || math.Abs(sum-d.TotalMs) > 1e-8 {
			t.Fatalf("%+v sums to %v; want %v", d, sum, ttlt2-ttlt1)
		}
		if back := Decompose(p2, p1); !near(back.VolumeMs, -d.VolumeMs, 1e-12) || !near(back.SpeedMs, -d.SpeedMs, 1e-12) {
			t.Fatalf("back %+v; forth %+v", back, d)
		}
	}
}

func TestPaceUndefined(t *testing.T) {
	for _, answers := range [][]Answer{
		nil,
		{{500, 500, 1}},
		{{500, 400, 300}},
		{{500, 6500, 301}, {500, 6500, 0}},
		{{500, math.NaN(), 301}},
		{{math.NaN(), 6500, 301}},
		{{500, math.Inf(1), 301}},
	} {
		if got, ok := NewPace(answers); ok {
			t.Errorf("NewPace(%v) = %+v", answers, got)
		}
	}
}

func TestTTLTUndefined(t *testing.T) {
	for _, c := range [][3]float64{{500, 20, 0}, {-1, 20, 10}, {500, -1, 10}, {math.NaN(), 20, 10}, {500, math.Inf(1), 10}} {
		if got, ok := ExpectedTTLT(c[0], c[1], c[2]); ok {
			t.Errorf("ExpectedTTLT%v = %v", c, got)
		}
	}
}

func TestTimeToUndefined(t *testing.T) {
	for _, c := range []struct {
		s Speed
		n float64
	}{{Speed{1, 50}, 0}, {Speed{1, 0}, 10}, {Speed{-1, 50}, 10}, {Speed{math.NaN(), 50}, 10}, {Speed{1, math.Inf(1)}, 10}} {
		if got, ok := c.s.TimeTo(c.n); ok {
			t.Errorf("%+v.TimeTo(%v) = %v", c.s, c.n, got)
		}
	}
}

func TestCrossover(t *testing.T) {
	tests := []struct {
		name string
		a, b Speed
		want float64
		ok   bool
	}{
		{"starts sooner, streams slower", Speed{0.4, 20}, Speed{2, 80}, 1 + 1.6/0.0375, true},
		{"ahead in both", Speed{0.4, 80}, Speed{2, 20}, 0, false},
		{"same rate", Speed{0.4, 50}, Speed{2, 50}, 0, false},
		{"the same", Speed{1, 50}, Speed{1, 50}, 0, false},
		{"meet at the first token", Speed{1, 50}, Speed{1, 80}, 1, true},
		{"no rate", Speed{1, 0}, Speed{2, 50}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := Crossover(tt.a, tt.b)
			if !near(got, tt.want, 1e-12) || ok != tt.ok {
				t.Errorf("Crossover = %v, %v; want %v, %v", got, ok, tt.want, tt.ok)
			}
			if other, _ := Crossover(tt.b, tt.a); !near(other, got, 1e-12) {
				t.Errorf("Crossover the other way = %v; want %v", other, got)
			}
			if ok {
				a, _ := tt.a.TimeTo(got)
				b, _ := tt.b.TimeTo(got)
				if !near(a, b, 1e-12) {
					t.Errorf("at %v tokens %v s and %v s", got, a, b)
				}
			}
		})
	}
}

func TestTaskRateUndefined(t *testing.T) {
	for _, segments := range [][]Segment{nil, {{ToolSeconds: 10}}, {{ActiveSeconds: 2, Tokens: -1}}, {{ActiveSeconds: math.NaN()}}} {
		if got, ok := NewTaskRate(segments); ok {
			t.Errorf("NewTaskRate(%v) = %+v", segments, got)
		}
	}
}

func TestPTU(t *testing.T) {
	mini := PTUModel{InputTPM: 37000, OutputWeight: 3, Min: 15, Step: 5}
	tests := []struct {
		name  string
		load  TokenLoad
		raw   float64
		units int
	}{
		{"nothing", TokenLoad{}, 0, 15},
		{"exactly the minimum", TokenLoad{InputTPM: 15 * 37000}, 15, 15},
		{"a token more", TokenLoad{InputTPM: 15*37000 + 1}, 15 + 1.0/37000, 20},
		{"output weighs", TokenLoad{InputTPM: 500000, OutputTPM: 150000}, 950000.0 / 37000, 30},
	}
	for _, tt := range tests {
		raw, units, ok := mini.PTU(tt.load)
		if !near(raw, tt.raw, 1e-12) || units != tt.units || !ok {
			t.Errorf("%s: PTU = %v, %v, %v; want %v, %v", tt.name, raw, units, ok, tt.raw, tt.units)
		}
	}
	for _, m := range []PTUModel{{}, {InputTPM: 37000, OutputWeight: 3, Min: 15}, {OutputWeight: 3, Min: 15, Step: 5}} {
		if raw, units, ok := m.PTU(TokenLoad{1, 1}); ok {
			t.Errorf("%+v.PTU = %v, %v", m, raw, units)
		}
	}
	if _, units, ok := mini.PTU(TokenLoad{InputTPM: 1e300}); ok {
		t.Errorf("PTU of an absurd load = %v", units)
	}
}

func TestConcurrency(t *testing.T) {
	if got, ok := Concurrency(30, 6.5); !near(got, 3.25, 1e-12) || !ok {
		t.Errorf("Concurrency = %v, %v; want 3.25", got, ok)
	}
	for _, c := range [][2]float64{{-1, 1}, {1, -1}, {math.NaN(), 1}, {1, math.Inf(1)}} {
		if got, ok := Concurrency(c[0], c[1]); ok {
			t.Errorf("Concurrency%v = %v", c, got)
		}
	}
}
