package rollup

import (
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A Tried is a request of an evaluation and what came of it.
type Tried struct {
	bench.Trial
	bench.Sample
}

// An Evaluation is what one sitting says of an endpoint. It is of that hour and
// of the place it was taken from; only the record says what is typical.
type Evaluation struct {
	Requests int `json:"requests"`
	OK       int `json:"ok"`
	Noisy    int `json:"noisy"`  // successes left out, as our own machine disturbed them
	Cached   int `json:"cached"` // successes whose prompt came from a cache in part, left out of Prompt

	Prompt   PromptCost   `json:"prompt"`
	Answer   AnswerCost   `json:"answer"`
	Throttle ThrottleSign `json:"throttle"`
}

// A Slope is what one more token costs, in milliseconds, with its 95 % interval.
type Slope struct {
	MS       float64        `json:"ms"`
	Interval stats.Interval `json:"interval"`
	N        int            `json:"n"`
	Why      bench.Reason   `json:"reason,omitempty"` // why MS means nothing
}

// OK reports whether the slope stands.
func (s Slope) OK() bool { return s.Why.OK() }

// Clear reports whether the interval leaves out nought and what is below it.
func (s Slope) Clear() bool { return s.OK() && s.Interval.Lo > 0 }

// PerSecond returns tokens a second, with the interval's ends in order. It
// reports false if the slope is not clear: then only the lower end means
// something, that of a slope as steep as may be.
func (s Slope) PerSecond() (rate float64, i stats.Interval, clear bool) {
	return 1000 / s.MS, stats.Interval{Lo: 1000 / s.Interval.Hi, Hi: 1000 / s.Interval.Lo}, s.Clear()
}

// A PromptCost says how the time to first output grows with the prompt: the line
// of Theil and Sen of TTFO against the input tokens that the provider counted.
// TTFO and not TTFT, as how long a model thinks is no matter of prefill.
type PromptCost struct {
	PerToken Slope   `json:"per_token"`
	StartMS  float64 `json:"start_ms"` // of a prompt of no token, by the line; meaningless without PerToken
	Aimed    bool    `json:"aimed"`    // the provider counts no input: sizes are those aimed at
	Sizes    []Size  `json:"sizes"`
}

// A Size is what one size of prompt, or one length of answer, took.
type Size struct {
	Aimed  int     `json:"aimed"`  // tokens
	Tokens float64 `json:"tokens"` // median, as the provider counts them
	N      int     `json:"n"`
	MS     float64 `json:"ms"` // median time: to first output, or to last token
	MinMS  float64 `json:"min_ms"`
	MaxMS  float64 `json:"max_ms"`
}

// An AnswerCost says how the time to last token grows with the answer, in two
// ways that know nothing of each other: from how each answer streamed, and from
// how long answers of several lengths took. Where the stream is honest they agree.
type AnswerCost struct {
	Streamed Slope   `json:"streamed"`  // median of 1 ÷ decode rate, interval by order statistics
	ByLength Slope   `json:"by_length"` // line of TTLT against visible tokens
	StartMS  float64 `json:"start_ms"`  // median TTFT of these answers
	Lengths  []Size  `json:"lengths"`
	Misfit   float64 `json:"misfit"` // median distance of TTLT from start + (n − 1) × slope, as a share of TTLT
}

// Slope returns the better of the two: the streamed one if there is one.
func (a AnswerCost) Slope() Slope {
	if a.Streamed.OK() {
		return a.Streamed
	}
	return a.ByLength
}

// TTLTMS returns the time to last token of an answer of n tokens with the ends
// that the slope's interval gives it. It reports false without a slope.
func (a AnswerCost) TTLTMS(n int) (ms float64, i stats.Interval, ok bool) {
	s := a.Slope()
	at := func(slope float64) float64 {
		v, _ := stats.ExpectedTTLT(a.StartMS, max(0, slope), float64(n))
		return v
	}
	return at(s.MS), stats.Interval{Lo: at(s.Interval.Lo), Hi: at(s.Interval.Hi)}, s.OK()
}

// A ThrottleSign is what a sitting shows of throttling: refusals, and requests
// that grew slower while it lasted. It never provokes either.
type ThrottleSign struct {
	Refused    int            `json:"refused"`        // for the rate
	Other      int            `json:"other"`          // other failures
	Share      stats.Interval `json:"share"`          // of requests refused, Wilson's 95 % interval
	RetryAfter time.Duration  `json:"retry_after_ns"` // the longest that was asked for

	// Slower is the median time per token of the later half over that of the
	// earlier, each by the median of its length of answer; P is the chance of a
	// difference as large if nothing had changed, by Mann and Whitney.
	Slower float64 `json:"slower"`
	P      float64 `json:"p"`
	Judged int     `json:"judged"` // answers that Slower rests on; 0: it means nothing
}

// minHalf is how many answers each half needs to be held against the other.
const minHalf = 5

// Slowed reports whether answers clearly grew slower.
func (t ThrottleSign) Slowed() bool { return t.Judged > 0 && t.Slower > 1.05 && t.P < 0.01 }

// Evaluate digests a sitting, in the order it took place.
func Evaluate(tried []Tried) Evaluation {
	e := Evaluation{Requests: len(tried)}
	var counted []Tried
	for _, t := range tried {
		switch {
		case t.OK() && t.Noise.Noisy:
			e.OK++
			e.Noisy++
		case t.OK():
			e.OK++
			counted = append(counted, t)
		case t.Kind == wire.KindRateLimit:
			e.Throttle.Refused++
			e.Throttle.RetryAfter = max(e.Throttle.RetryAfter, t.RetryAfter)
		default:
			e.Throttle.Other++
		}
	}
	e.Prompt, e.Cached = promptCost(counted)
	e.Answer = answerCost(counted)
	e.Throttle.judge(counted)
	e.Throttle.Share, _ = stats.Wilson(float64(e.Throttle.Refused), float64(e.Requests), stats.Z95)
	return e
}

// promptCost fits what a token of prompt costs to the brief answers.
func promptCost(tried []Tried) (c PromptCost, cached int) {
	known := slices.ContainsFunc(tried, func(t Tried) bool { return t.Usage.Input.Known && t.Usage.Input.N > 0 })
	c.Aimed = !known
	var x, y []float64
	sizes := map[int]*sitting{}
	for _, t := range tried {
		first, why := t.TTFO()
		if t.Output != bench.BriefAnswer || !why.OK() {
			continue
		}
		tokens := float64(t.Input)
		if known {
			if !t.Usage.Input.Known || t.Usage.Input.N <= 0 {
				continue
			}
			if t.Usage.Cached.Known && t.Usage.Cached.N > 0 {
				cached++
				continue
			}
			tokens = float64(t.Usage.Input.N)
		}
		x, y = append(x, tokens), append(y, milliseconds(first))
		add(sizes, t.Input, tokens, milliseconds(first))
	}
	c.Sizes = sizesOf(sizes)
	c.PerToken, c.StartMS = slopeOf(x, y)
	return c, cached
}

// answerCost fits what a token of answer costs to the longer answers.
func answerCost(tried []Tried) AnswerCost {
	var c AnswerCost
	var starts, per, x, y []float64
	lengths := map[int]*sitting{}
	for _, t := range tried {
		first, why := t.TTFT()
		last, why2 := t.TTLT()
		n, why3 := t.VisibleTokens()
		if t.Output == bench.BriefAnswer || !why.OK() || !why2.OK() || !why3.OK() || n < 1 {
			continue
		}
		starts = append(starts, milliseconds(first))
		x, y = append(x, float64(n)), append(y, milliseconds(last))
		add(lengths, t.Output, float64(n), milliseconds(last))
		if rate, why := t.DecodeTPS(); why.OK() {
			per = append(per, 1000/rate)
		}
	}
	c.Lengths = sizesOf(lengths)
	c.StartMS, _ = stats.Median(starts)
	c.ByLength, _ = slopeOf(x, y)
	c.Streamed = Slope{N: len(per), Why: TooFewRuns}
	slices.Sort(per)
	if order, ok := stats.NewOrderInterval(len(per), 0.5, 0.95); ok && 2*len(per) > len(x) {
		lo, okLo := order.Lo(per)
		hi, okHi := order.Hi(per)
		if okLo && okHi {
			c.Streamed.MS, _ = stats.Median(per)
			c.Streamed.Interval, c.Streamed.Why = stats.Interval{Lo: lo, Hi: hi}, bench.Present
		}
	}
	if slope := c.Slope(); slope.OK() {
		var off []float64
		for i := range x {
			want, _ := stats.ExpectedTTLT(c.StartMS, max(0, slope.MS), x[i])
			off = append(off, max(want-y[i], y[i]-want)/y[i])
		}
		c.Misfit, _ = stats.Median(off)
	}
	return c
}

// judge holds the later answers against the earlier ones.
func (t *ThrottleSign) judge(tried []Tried) {
	type at struct {
		order int
		ratio float64
	}
	byLength := map[int][]at{}
	n := 0
	for i, x := range tried {
		if rate, why := x.DecodeTPS(); why.OK() && x.Output != bench.BriefAnswer {
			byLength[x.Output] = append(byLength[x.Output], at{i, 1000 / rate})
			n++
		}
	}
	var all []at
	for _, list := range byLength {
		var values []float64
		for _, a := range list {
			values = append(values, a.ratio)
		}
		middle, _ := stats.Median(values)
		for _, a := range list {
			all = append(all, at{a.order, a.ratio / middle})
		}
	}
	slices.SortFunc(all, func(a, b at) int { return a.order - b.order })
	var early, late []float64
	for i, a := range all {
		if 2*i < n {
			early = append(early, a.ratio)
		} else {
			late = append(late, a.ratio)
		}
	}
	if min(len(early), len(late)) < minHalf {
		return
	}
	before, _ := stats.Median(early)
	after, _ := stats.Median(late)
	if _, p, ok := stats.MannWhitney(early, late); ok && before > 0 {
		t.Slower, t.P, t.Judged = after/before, p, n
	}
}

// slopeOf returns the slope of a line in milliseconds, and where it begins.
func slopeOf(x, y []float64) (Slope, float64) {
	line, ok := stats.TheilSen(x, y, stats.Z95)
	if !ok {
		return Slope{N: len(x), Why: TooFewRuns}, 0
	}
	s := Slope{MS: line.Slope, Interval: line.Interval, N: line.N}
	if s.Interval.Lo < -maxSlope || s.Interval.Hi > maxSlope { // unbounded on a side
		return Slope{N: len(x), Why: TooFewRuns}, 0
	}
	return s, line.Intercept
}

// maxSlope is more milliseconds a token than any run can take.
const maxSlope = 1e6

// A sitting is the runs of one size.
type sitting struct{ tokens, ms []float64 }

func add(by map[int]*sitting, aimed int, tokens, ms float64) {
	s := by[aimed]
	if s == nil {
		s = &sitting{}
		by[aimed] = s
	}
	s.tokens, s.ms = append(s.tokens, tokens), append(s.ms, ms)
}

func sizesOf(by map[int]*sitting) []Size {
	var list []Size
	for aimed, s := range by {
		x := Size{Aimed: aimed, N: len(s.ms), MinMS: slices.Min(s.ms), MaxMS: slices.Max(s.ms)}
		x.Tokens, _ = stats.Median(s.tokens)
		x.MS, _ = stats.Median(s.ms)
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b Size) int { return a.Aimed - b.Aimed })
	return list
}
