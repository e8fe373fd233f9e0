package rollup

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// sit lets a simulated model answer the default plan, without a network: each
// instant is the simulation's own. Slow stretches the time of a token of the
// nth request; refused says which requests are.
func sit(t *testing.T, shape simulate.Shape, slow func(n int) float64, refused func(n int) bool) []Tried {
	t.Helper()
	trials, err := bench.EvaluationPlan{Inputs: []int{200, 1000, 3000, 8000}, Outputs: []int{50, 150, 400, 800}, Repeats: 4}.Trials(3)
	if err != nil {
		t.Fatal(err)
	}
	var tried []Tried
	for i, trial := range trials {
		s := bench.Sample{Pair: alder.Pair, StartedAt: today.Add(time.Duration(i) * 10 * time.Second)}
		if refused != nil && refused(i) {
			s.Kind, s.RetryAfter = wire.KindRateLimit, 7*time.Second
			tried = append(tried, Tried{trial, s})
			continue
		}
		here := shape.After(trial.Input)
		if slow != nil {
			here.PerToken = time.Duration(float64(here.PerToken) * slow(i))
		}
		line := here.Timeline(trial.Output, rand.New(rand.NewPCG(9, uint64(i))))
		first, _ := line.TTFT()
		last, _ := line.Last()
		s.FirstText, s.LastText, s.Done = first, last, line.End()
		s.Chunks, s.Chars, s.FirstReadChars, s.FirstReadTokens = line.Visible, 4*line.Visible, 4, wire.Known(1)
		if first == last { // all in one read
			s.FirstReadChars, s.FirstReadTokens = s.Chars, wire.Known(int64(line.Visible))
		}
		s.Usage = bench.Usage{Input: wire.Known(int64(trial.Input)), Output: wire.Known(int64(line.Output())), Visible: wire.Known(int64(line.Visible))}
		tried = append(tried, Tried{trial, s})
	}
	return tried
}

// steady reads 5,000 tokens of prompt and writes 50 of answer a second.
func steady() simulate.Shape {
	return simulate.Shape{Prefill: 300 * time.Millisecond, PerInput: 200 * time.Microsecond, PerToken: 20 * time.Millisecond, Tokens: 5000, Jitter: 0.5, PrefillJitter: 0.05}
}

func closeTo(got, want, share float64) bool { return math.Abs(got-want) <= share*want }

// TestEvaluate holds what a sitting says against what the simulated provider did.
func TestEvaluate(t *testing.T) {
	e := Evaluate(sit(t, steady(), nil, nil))
	if e.Requests != 32 || e.OK != 32 || len(e.Prompt.Sizes) != 4 || len(e.Answer.Lengths) != 4 {
		t.Fatalf("%+v", e)
	}
	// 0.2 ms a token of prompt, and the interval holds it.
	if p := e.Prompt.PerToken; !p.Clear() || !closeTo(p.MS, 0.2, 0.15) || p.Interval.Lo > 0.2 || p.Interval.Hi < 0.2 {
		t.Errorf("a token of prompt costs %+v; want 0.2 ms", p)
	}
	if rate, i, clear := e.Prompt.PerToken.PerSecond(); !clear || !closeTo(rate, 5000, 0.15) || i.Lo > rate || i.Hi < rate {
		t.Errorf("it reads %v tokens/s %v, %t; want 5000", rate, i, clear)
	}
	// 20 ms a token of answer, both ways.
	for name, s := range map[string]Slope{"streamed": e.Answer.Streamed, "by length": e.Answer.ByLength} {
		if !s.Clear() || !closeTo(s.MS, 20, 0.05) || s.Interval.Lo > 20.4 || s.Interval.Hi < 19.6 {
			t.Errorf("%s: a token costs %+v; want 20 ms", name, s)
		}
	}
	// 300 ms + 200 × 0.2 ms until it begins, then 499 gaps: 10.32 s.
	if ms, i, ok := e.Answer.TTLTMS(500); !ok || !closeTo(ms, 340+499*20, 0.03) || i.Lo > ms || i.Hi < ms {
		t.Errorf("500 tokens take %v ms %v", ms, i)
	}
	if e.Throttle.Refused != 0 || e.Throttle.Slowed() || e.Throttle.Judged != 16 {
		t.Errorf("throttling without any: %+v", e.Throttle)
	}
	if e.Answer.Misfit > 0.05 {
		t.Errorf("the line misses by %.1f %%", 100*e.Answer.Misfit)
	}
}

// TestEvaluateHardCases covers what an endpoint may do to a sitting.
func TestEvaluateHardCases(t *testing.T) {
	t.Run("no prefill to be seen", func(t *testing.T) {
		shape := steady()
		shape.PerInput = 0
		if p := Evaluate(sit(t, shape, nil, nil)).Prompt.PerToken; !p.OK() || p.Clear() {
			t.Errorf("%+v; want a slope that is not clear", p)
		}
	})
	t.Run("refuses one in four", func(t *testing.T) {
		e := Evaluate(sit(t, steady(), nil, func(n int) bool { return n%4 == 3 }))
		th := e.Throttle
		if th.Refused != 8 || th.RetryAfter != 7*time.Second || th.Share.Lo > 0.25 || th.Share.Hi < 0.25 || e.OK != 24 {
			t.Errorf("%+v", th)
		}
	})
	t.Run("slows down in the middle", func(t *testing.T) {
		e := Evaluate(sit(t, steady(), func(n int) float64 {
			if n >= 16 {
				return 1.5
			}
			return 1
		}, nil))
		if th := e.Throttle; !th.Slowed() || !closeTo(th.Slower, 1.5, 0.15) {
			t.Errorf("%+v; want 1.5 times", th)
		}
	})
	t.Run("holds answers back", func(t *testing.T) {
		shape := steady()
		shape.Bursts = 1
		a := Evaluate(sit(t, shape, nil, nil)).Answer
		if a.Streamed.OK() || !a.ByLength.Clear() || !closeTo(a.ByLength.MS, 20, 0.05) {
			t.Errorf("streamed %+v, by length %+v; want none, 20 ms", a.Streamed, a.ByLength)
		}
	})
	t.Run("answers prompts from a cache", func(t *testing.T) {
		tried := sit(t, steady(), nil, nil)
		for i := range tried {
			tried[i].Usage.Cached = wire.Known(64)
		}
		if e := Evaluate(tried); e.Cached != 16 || e.Prompt.PerToken.OK() {
			t.Errorf("%d cached, %+v", e.Cached, e.Prompt.PerToken)
		}
	})
	t.Run("counts no tokens", func(t *testing.T) {
		tried := sit(t, steady(), nil, nil)
		for i := range tried {
			tried[i].Usage = bench.Usage{}
		}
		e := Evaluate(tried)
		if !e.Prompt.Aimed || !closeTo(e.Prompt.PerToken.MS, 0.2, 0.15) || e.Answer.Slope().OK() {
			t.Errorf("%+v, %+v", e.Prompt.PerToken, e.Answer)
		}
	})
	t.Run("nothing", func(t *testing.T) {
		if e := Evaluate(nil); e.Prompt.PerToken.OK() || e.Answer.Slope().OK() || e.Throttle.Slowed() {
			t.Errorf("%+v", e)
		}
	})
}
