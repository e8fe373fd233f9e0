package peers

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
)

// A stream is a shape that policies are held against. Where nothing else is
// said it has 200 tokens, one to a chunk, at 100 a second from 300 ms on.
type stream struct {
	name  string
	shape simulate.Shape
	step  wallStep
}

func streams() []stream {
	plain := simulate.Shape{Prefill: 300 * ms, PerToken: 10 * ms, Tokens: 200}
	with := func(name string, change func(*simulate.Shape), step wallStep) stream {
		shape := plain
		change(&shape)
		return stream{name, shape, step}
	}
	none := wallStep{}
	return []stream{
		with("one token a chunk", func(*simulate.Shape) {}, none),
		with("role chunk 300 ms before the text", func(s *simulate.Shape) { s.OpenAtOnce = true }, none),
		with("four tokens a chunk", func(s *simulate.Shape) { s.PerChunk = 4 }, none),
		with("two bursts", func(s *simulate.Shape) { s.Bursts = 2 }, none),
		with("one burst, end 40 ms later", func(s *simulate.Shape) { s.Bursts, s.Tail = 1, 40*ms }, none),
		with("100 tokens thought aloud first", func(s *simulate.Shape) { s.ReasoningTokens = 100 }, none),
		with("100 tokens thought unseen first", func(s *simulate.Shape) { s.HiddenTokens = 100 }, none),
		with("usage 700 ms after the text", func(s *simulate.Shape) { s.Tail = 700 * ms }, none),
		with("frames cut in two", func(s *simulate.Shape) { s.Split = simulate.SplitLine }, none),
		with("clock set back 5 s in the wait", func(*simulate.Shape) {}, wallStep{100 * ms, -5 * time.Second}),
		with("clock set on 5 s in the text", func(*simulate.Shape) {}, wallStep{1000 * ms, 5 * time.Second}),
	}
}

// A verdict is how far a client is off on a stream.
type verdict struct {
	ttft   time.Duration // less the truth
	noTTFT bool
	tps    float64 // over the truth, less one
	noTPS  bool
}

func judge(o Outcome, line simulate.Timeline) verdict {
	var v verdict
	truth, _ := line.TTFT()
	v.ttft, v.noTTFT = o.TTFT-truth, !o.Began
	rate, ok := line.DeliveredTPS()
	v.noTPS = o.TPS == 0
	switch {
	case v.noTPS:
	case !ok:
		v.tps = math.Inf(1) // a rate where there is none
	default:
		v.tps = o.TPS/rate - 1
	}
	return v
}

// exactPolicies are those that virtual time tells apart.
func exactPolicies() []Policy {
	var exact []Policy
	for _, p := range Policies() {
		if !p.Live {
			exact = append(exact, p)
		}
	}
	return exact
}

// verdicts holds ours (the first) and every policy against every stream.
func verdicts(t *testing.T) (names []string, rows map[string][]verdict) {
	t.Helper()
	names = []string{"streamgauge"}
	for _, p := range exactPolicies() {
		names = append(names, p.Name)
	}
	rows = make(map[string][]verdict)
	for _, st := range streams() {
		sc := scriptOf(t, st.shape)
		sc.step = st.step
		s := sc.sample(t)
		rows[st.name] = []verdict{judge(outcomeOf(&s), sc.line)}
		for _, p := range exactPolicies() {
			rows[st.name] = append(rows[st.name], judge(sc.read(p), sc.line))
		}
	}
	return names, rows
}

// TestPolicies checks that ours is right on every stream, and that each policy
// fails where it must and by as much as can be worked out by hand.
func TestPolicies(t *testing.T) {
	names, rows := verdicts(t)
	for _, st := range streams() {
		v := rows[st.name][0]
		if v.ttft != 0 || v.noTTFT {
			t.Errorf("%s: our TTFT is off by %v", st.name, v.ttft)
		}
		if burst := st.shape.Bursts == 1; v.noTPS != burst || math.Abs(v.tps) > 0.01 {
			t.Errorf("%s: our rate is off by %v, absent is %v", st.name, v.tps, v.noTPS)
		}
	}
	for _, tt := range []struct {
		stream, policy string
		ttft           time.Duration
		tps            float64
		noTPS          bool
	}{
		{"one token a chunk", "stamp-at-line", 0, 0, false},
		{"role chunk 300 ms before the text", "stamp-at-line", 0, 0, false},
		{"role chunk 300 ms before the text", "role-is-first", -300 * ms, 1.99/2.29 - 1, false},
		{"four tokens a chunk", "chunk-is-token", 0, -0.75, false},        // 49 chunks for 196 tokens
		{"four tokens a chunk", "stamp-at-line", 0, 199.0/196 - 1, false}, // of the first four, three count though they took no time
		{"two bursts", "stamp-at-line", 0, 199.0/100 - 1, false},
		{"one burst, end 40 ms later", "stamp-at-line", 0, 0, true},
		{"one burst, end 40 ms later", "until-the-end", 0, math.Inf(1), false}, // 199 tokens in 40 ms
		{"100 tokens thought aloud first", "stamp-at-line", 0, 299.0/199 - 1, false},
		{"100 tokens thought unseen first", "stamp-at-line", 0, 299.0/199 - 1, false},
		{"usage 700 ms after the text", "until-the-end", 0, 1.99/2.69 - 1, false},
		{"one token a chunk", "whole-request", 0, 200/2.29/100 - 1, false},
		{"clock set back 5 s in the wait", "wall-clock", -5 * time.Second, 0, false},
		{"clock set on 5 s in the text", "wall-clock", 0, 1.99/6.99 - 1, false},
		{"clock set on 5 s in the text", "stamp-at-line", 0, 0, false},
	} {
		var v verdict
		found := false
		for i, name := range names {
			if row := rows[tt.stream]; name == tt.policy && row != nil {
				v, found = row[i], true
			}
		}
		if !found {
			t.Errorf("no %s of %s", tt.stream, tt.policy)
			continue
		}
		same := v.tps == tt.tps || math.Abs(v.tps-tt.tps) < 1e-6
		if v.ttft != tt.ttft || v.noTTFT || v.noTPS != tt.noTPS || !same {
			t.Errorf("%s, %s: TTFT off by %v (none: %v), rate by %v (none: %v); want %v, %v (none: %v)",
				tt.stream, tt.policy, v.ttft, v.noTTFT, v.tps, v.noTPS, tt.ttft, tt.tps, tt.noTPS)
		}
	}
	for i, name := range names {
		if v := rows["frames cut in two"][i]; v.noTTFT != (name == "read-is-event") {
			t.Errorf("frames cut in two, %s: no TTFT is %v", name, v.noTTFT)
		}
	}
}

// speeds and shapes are the delivery shapes at which the rate is held to 1 %.
func speeds() []int { return []int{5, 20, 100, 500} }

func shapesAt(tps int) []stream {
	plain := simulate.Shape{Prefill: 300 * ms, PerToken: time.Second / time.Duration(tps), Tokens: bench.MaxOutputTokens, Tail: 40 * ms}
	with := func(name string, change func(*simulate.Shape)) stream {
		shape := plain
		change(&shape)
		return stream{name: name, shape: shape}
	}
	return []stream{
		with("one token a chunk", func(*simulate.Shape) {}),
		with("four tokens a chunk", func(s *simulate.Shape) { s.PerChunk = 4 }),
		with("buffered for 1 s", func(s *simulate.Shape) { s.FlushEvery = time.Second }),
		with("two bursts", func(s *simulate.Shape) { s.Bursts = 2 }),
		with("one burst", func(s *simulate.Shape) { s.Bursts = 1 }),
		with("100 tokens thought unseen first", func(s *simulate.Shape) { s.HiddenTokens = 100 }),
		with("100 tokens thought aloud first", func(s *simulate.Shape) { s.ReasoningTokens = 100 }),
		with("a stall of 3 s in the middle", func(s *simulate.Shape) { s.StallAt, s.StallFor = 150, 3*time.Second }),
	}
}

// rates are our rate and the published hybrid one on a script, each over the
// truth less one and infinite where there is none, the hybrid one as printed,
// and why ours is absent.
func rates(t *testing.T, st stream) (ours, hybrid, printed float64, why bench.Reason, path bench.HybridPath) {
	t.Helper()
	sc := scriptOf(t, st.shape)
	s := sc.sample(t)
	truth, ok := sc.line.DeliveredTPS()
	ours, why = s.DecodeTPS()
	printed, path = s.HybridTPS()
	if !ok {
		return math.Inf(1), math.Inf(1), printed, why, path
	}
	return ours/truth - 1, printed/truth - 1, printed, why, path
}

// TestRateByShape checks, on what the simulated provider really writes, that the
// decode rate is within 1 % of what was delivered, and that it is refused with a
// reason where all of it left in one instant, and nowhere else.
func TestRateByShape(t *testing.T) {
	for _, tps := range speeds() {
		for _, st := range shapesAt(tps) {
			ours, _, _, why, _ := rates(t, st)
			name := fmt.Sprintf("%s at %d tokens/s", st.name, tps)
			burst := st.name == "one burst" || st.name == "buffered for 1 s" && tps == 500 // all made within the first second
			switch {
			case burst && why != bench.Buffered:
				t.Errorf("%s: refused for %q; want %q", name, why, bench.Buffered)
			case !burst && !why.OK():
				t.Errorf("%s: refused for %q", name, why)
			case !burst && math.Abs(ours) > 0.01:
				t.Errorf("%s: off by %.2f %%", name, ours*100)
			}
		}
	}
}
