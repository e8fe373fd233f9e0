package simulate

import (
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"
)

// layout renders a Timeline as "kind@due×tokens" in milliseconds, so that a
// case can be worked out by hand and read at a glance.
func layout(t Timeline) string {
	var b strings.Builder
	for i, s := range t.Steps {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte("okrv!e"[s.Kind])
		b.WriteString(strings.TrimSuffix(s.Due.String(), "ms"))
		if s.Tokens > 0 {
			b.WriteByte('x')
			b.WriteByte(byte('0' + s.Tokens))
		}
	}
	return b.String()
}

func TestTimeline(t *testing.T) {
	plain := Shape{Prefill: 100 * ms, PerToken: 10 * ms, Tokens: 4}
	with := func(change func(*Shape)) Shape {
		s := plain
		change(&s)
		return s
	}
	tests := []struct {
		name   string
		shape  Shape
		limit  int
		want   string
		finish Finish
	}{
		{"plain", plain, 0, "o100 v100x1 v110x1 v120x1 v130x1 e130", FinishStop},
		{"zero", Shape{}, 0, "o0s e0s", FinishStop},
		{"cap reached", plain, 3, "o100 v100x1 v110x1 v120x1 e120", FinishLength},
		{"cap just enough", plain, 4, "o100 v100x1 v110x1 v120x1 v130x1 e130", FinishStop},
		{"tail", with(func(s *Shape) { s.Tail = 70 * ms }), 2, "o100 v100x1 v110x1 e180", FinishLength},
		{"three a chunk, the last not full", with(func(s *Shape) { s.PerChunk, s.Tokens = 3, 7 }), 0,
			"o100 v100x3 v130x3 v140x1 e140", FinishStop},
		{"opens at once", with(func(s *Shape) { s.OpenAtOnce = true }), 1, "o0s v100x1 e100", FinishLength},
		{"keep-alives end where output starts", with(func(s *Shape) { s.OpenAtOnce, s.KeepAlive = true, 50*ms }), 1,
			"o0s k50 v100x1 e100", FinishLength},
		{"keep-alives before a late opening", with(func(s *Shape) { s.KeepAlive = 30 * ms }), 1,
			"k30 k60 k90 o100 v100x1 e100", FinishLength},
		{"hidden reasoning takes its time", with(func(s *Shape) { s.HiddenTokens, s.HiddenTime = 5, 250*ms }), 0,
			"o350 v350x1 v360x1 v370x1 v380x1 e380", FinishStop},
		{"hidden reasoning at the token rate", with(func(s *Shape) { s.HiddenTokens = 5 }), 7,
			"o150 v150x1 v160x1 e160", FinishLength},
		{"hidden reasoning eats the cap", with(func(s *Shape) { s.HiddenTokens, s.HiddenTime = 50, 500*ms }), 20,
			"o300 e300", FinishLength},
		{"visible reasoning", with(func(s *Shape) { s.ReasoningTokens, s.ReasoningPer, s.Tokens = 3, 20*ms, 2 }), 0,
			"o100 r100x1 r120x1 r140x1 v150x1 v160x1 e160", FinishStop},
		{"visible reasoning eats the cap", with(func(s *Shape) { s.ReasoningTokens = 9 }), 2,
			"o100 r100x1 r110x1 e110", FinishLength},
		{"stall", with(func(s *Shape) { s.StallAt, s.StallFor = 2, 500*ms }), 0,
			"o100 v100x1 v110x1 v620x1 v630x1 e630", FinishStop},
		{"stall in the chunk that holds the token", with(func(s *Shape) { s.PerChunk, s.StallAt, s.StallFor = 2, 3, 500*ms }), 0,
			"o100 v100x2 v620x2 e620", FinishStop},
		{"one burst", with(func(s *Shape) { s.Bursts = 1 }), 0, "o130 v130x1 v130x1 v130x1 v130x1 e130", FinishStop},
		{"two bursts", with(func(s *Shape) { s.Bursts = 2 }), 0, "o110 v110x1 v110x1 v130x1 v130x1 e130", FinishStop},
		{"two parts replayed", with(func(s *Shape) { s.Bursts, s.Replay = 2, 5*ms }), 0, "o130 v130x1 v130x1 v135x1 v135x1 e135", FinishStop},
		{"two bursts of five", with(func(s *Shape) { s.Bursts, s.Tokens = 2, 5 }), 0,
			"o110 v110x1 v110x1 v140x1 v140x1 v140x1 e140", FinishStop},
		{"more bursts than tokens", with(func(s *Shape) { s.Bursts, s.Tokens = 9, 2 }), 0, "o100 v100x1 v110x1 e110", FinishStop},
		{"flushed by a proxy", with(func(s *Shape) { s.FlushEvery = 25 * ms }), 0,
			"o100 v100x1 v125x1 v125x1 v150x1 e150", FinishStop},
		{"refused", with(func(s *Shape) { s.Fault = Fault{Kind: FaultServer, Delay: 40 * ms} }), 0, "!40", FinishStop},
		{"cut after two", with(func(s *Shape) { s.Fault = Fault{Kind: FaultTruncate, After: 2} }), 0,
			"o100 v100x1 v110x1 !120", FinishStop},
		{"cut before any", with(func(s *Shape) { s.Fault = Fault{Kind: FaultTruncate} }), 0, "o100 !100", FinishStop},
		{"cut never splits a chunk", with(func(s *Shape) { s.PerChunk, s.Fault = 2, Fault{Kind: FaultResetMid, After: 3} }), 0,
			"o100 v100x2 !120", FinishStop},
		{"cut in the reasoning", with(func(s *Shape) { s.ReasoningTokens, s.Fault = 3, Fault{Kind: FaultInBand, After: 1} }), 0,
			"o100 r100x1 !110", FinishStop},
		{"cut after all text", with(func(s *Shape) { s.Tail, s.Fault = 9*ms, Fault{Kind: FaultTruncate, After: 4} }), 0,
			"o100 v100x1 v110x1 v120x1 v130x1 !139", FinishStop},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.shape.Timeline(tt.limit, nil)
			if layout(got) != tt.want {
				t.Errorf("steps\n got %s\nwant %s", layout(got), tt.want)
			}
			if got.Finish != tt.finish {
				t.Errorf("finish %v, want %v", got.Finish, tt.finish)
			}
		})
	}
}

func TestDecodeTime(t *testing.T) {
	// What a server would report: tokens over this is the true rate.
	tests := []struct {
		name  string
		shape Shape
		want  time.Duration
	}{
		{"one a chunk", Shape{Prefill: time.Second, PerToken: 10 * ms, Tokens: 50}, 500 * ms},
		{"four a chunk", Shape{Prefill: time.Second, PerToken: 10 * ms, Tokens: 50, PerChunk: 4}, 500 * ms},
		{"hidden", Shape{Prefill: time.Second, PerToken: 10 * ms, Tokens: 51, HiddenTokens: 30, HiddenTime: 300 * ms}, 800 * ms},
		{"delivery does not count", Shape{Prefill: time.Second, PerToken: 10 * ms, Tokens: 50, Bursts: 1, Tail: time.Hour}, 500 * ms},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.shape.Timeline(0, nil).Decode; got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

// TestDeliveredTPS compares with rates worked out from the layouts by hand.
func TestDeliveredTPS(t *testing.T) {
	base := Shape{Prefill: 400 * ms, PerToken: 10 * ms, Tokens: 121}
	with := func(change func(*Shape)) Shape {
		s := base
		change(&s)
		return s
	}
	tests := []struct {
		name  string
		shape Shape
		want  float64 // 0: none
	}{
		{"smooth", base, 100},
		{"three a chunk", with(func(s *Shape) { s.PerChunk = 3 }), 100},
		{"after reasoning", with(func(s *Shape) { s.ReasoningTokens, s.HiddenTokens = 30, 40 }), 100},
		// 1 token at 400 ms, then 40 at each of 800, 1200, 1600.
		{"proxy in step", with(func(s *Shape) { s.FlushEvery = 400 * ms }), 100},
		// 121 tokens made from 400 to 1600; 11 leave at 500, 100 at 1500, 10 at 2000 (ms).
		{"proxy out of step", with(func(s *Shape) { s.FlushEvery = 500 * ms }), 110 / 1.5},
		{"stall", with(func(s *Shape) { s.StallAt, s.StallFor = 60, 800*ms }), 120 / 2.0},
		{"one burst", with(func(s *Shape) { s.Bursts = 1 }), 0},
		{"one token", with(func(s *Shape) { s.Tokens = 1 }), 0},
		{"nothing", with(func(s *Shape) { s.Tokens = 0 }), 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, ok := tt.shape.Timeline(0, nil).DeliveredTPS()
			if ok != (tt.want != 0) || math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("got %v, %v; want %v", got, ok, tt.want)
			}
		})
	}
}

// randomShape draws a shape from everything Validate allows, within reason.
func randomShape(rng *rand.Rand) Shape {
	d := func(n int) time.Duration { return time.Duration(rng.IntN(n)) * ms / 4 }
	some := func(v int) int { return max(0, rng.IntN(2*v)-v) } // half of the time 0
	return Shape{
		Prefill: d(500), PerToken: d(50), PerChunk: rng.IntN(6), Tokens: rng.IntN(80),
		HiddenTokens: some(40), HiddenTime: d(300), ReasoningTokens: some(40), ReasoningPer: d(20),
		StallAt: rng.IntN(60), StallFor: d(900), Jitter: rng.Float64(), PrefillJitter: rng.Float64(),
		FlushEvery: time.Duration(some(100)) * ms, Bursts: some(4), Replay: time.Duration(some(20)) * ms, OpenAtOnce: rng.IntN(2) == 0,
		KeepAlive: time.Duration(some(50)) * ms, Tail: d(100),
		Fault: Fault{Kind: FaultKind(some(len(faultNames) - 1)), After: rng.IntN(40), Delay: d(50)},
	}
}

func TestTimelineProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range 3000 {
		s := randomShape(rng)
		if err := s.Validate(); err != nil {
			t.Fatalf("shape %d: %v", i, err)
		}
		limit := rng.IntN(120)
		seed := rng.Uint64()
		line := s.Timeline(limit, rand.New(rand.NewPCG(seed, 0)))
		if again := s.Timeline(limit, rand.New(rand.NewPCG(seed, 0))); !reflect.DeepEqual(line, again) {
			t.Fatalf("shape %d: two timelines of one seed differ", i)
		}
		if limit > 0 && line.Output() > limit {
			t.Fatalf("shape %d: %d tokens under a cap of %d", i, line.Output(), limit)
		}

		opens, visible, reasoning := 0, 0, 0
		var last time.Duration
		for j, st := range line.Steps {
			if st.Due < st.Made || st.Due < last {
				t.Fatalf("shape %d %+v: step %d made %v, due %v, after one due %v", i, s, j, st.Made, st.Due, last)
			}
			last = st.Due
			if ends := st.Kind == StepBreak || st.Kind == StepEnd; ends != (j == len(line.Steps)-1) {
				t.Fatalf("shape %d: step %d of %d has kind %d", i, j, len(line.Steps), st.Kind)
			}
			if (st.Tokens > 0) != (st.Text != "") {
				t.Fatalf("shape %d: step %d has %d tokens and text %q", i, j, st.Tokens, st.Text)
			}
			switch st.Kind {
			case StepOpen:
				opens++
			case StepVisible:
				visible += st.Tokens
			case StepReasoning:
				reasoning += st.Tokens
				if visible > 0 {
					t.Fatalf("shape %d: reasoning after the answer", i)
				}
			}
		}
		switch k := s.Fault.Kind; {
		case k == FaultNone && (opens != 1 || visible != line.Visible || reasoning != line.Reasoning):
			t.Fatalf("shape %d: %d openings, %d+%d tokens; want 1, %d+%d", i, opens, reasoning, visible, line.Reasoning, line.Visible)
		case k.refuses() && len(line.Steps) != 1:
			t.Fatalf("shape %d: %d steps before a refusal", i, len(line.Steps)-1)
		case k != FaultNone && visible+reasoning > s.Fault.After:
			t.Fatalf("shape %d: %d tokens before a fault after %d", i, visible+reasoning, s.Fault.After)
		}
	}
}

func TestJitterKeepsTheMean(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4)) // seeded: the figures below never vary
	const n = 200_000
	for _, sd := range []float64{.1, .8} {
		var sum, sum2 float64
		for range n {
			x := lognormal(sd, rng)
			sum, sum2 = sum+x, sum2+x*x
		}
		mean := sum / n
		got := math.Sqrt(sum2/n - mean*mean)
		if math.Abs(mean-1) > .01 || math.Abs(got/sd-1) > .03 {
			t.Errorf("sd %v: mean %.4f, sd %.4f", sd, mean, got)
		}
	}
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		want  string
		shape Shape
	}{
		{"Prefill is negative", Shape{Prefill: -1}},
		{"Fault.After is negative", Shape{Fault: Fault{After: -1}}},
		{"Jitter is not within", Shape{Jitter: math.NaN()}},
		{"PrefillJitter is not within", Shape{PrefillJitter: 5}},
		{"more than", Shape{HiddenTokens: maxTokens + 1}},
		{"unknown Split", Shape{Split: SplitEnd + 1}},
		{"unknown Finish", Shape{Finish: FinishFiltered + 1}},
		{"unknown Fault.Kind", Shape{Fault: Fault{Kind: FaultEndless + 1}}},
	} {
		if err := tt.shape.Validate(); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}
