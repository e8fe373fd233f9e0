package simulate

import (
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// A StepKind is what leaves the server at one instant.
type StepKind uint8

// The kinds of step, in the order they may come.
const (
	StepOpen      StepKind = iota // headers and what precedes output
	StepKeepAlive                 // a comment or a ping
	StepReasoning                 // reasoning text
	StepVisible                   // answer text
	StepBreak                     // the fault; nothing follows
	StepEnd                       // finish reason, usage and end marker; nothing follows
)

// A Step is one frame of an answer. Its instants count from when the server
// had the request.
type Step struct {
	Kind   StepKind
	Made   time.Duration // when the last of its tokens was generated
	Due    time.Duration // when it leaves; never before Made
	Tokens int           // tokens in it; 0 unless it is output
	Text   string        // the text of those tokens
}

// A Timeline is one answer: every frame in the order it leaves.
type Timeline struct {
	Steps []Step

	Hidden    int // reasoning tokens counted and not shown
	Reasoning int // reasoning tokens shown, had nothing failed
	Visible   int // answer tokens, had nothing failed
	Finish    Finish

	Prefill time.Duration // request read to first token of any kind
	Decode  time.Duration // what generating all the tokens took
}

// Output returns the number of tokens generated, reasoning included.
func (t Timeline) Output() int { return t.Hidden + t.Reasoning + t.Visible }

// TTFT returns when the first answer text leaves. It reports false if none does.
func (t Timeline) TTFT() (time.Duration, bool) { return t.first(StepVisible) }

// TTFR returns when the first reasoning text leaves. It reports false if none does.
func (t Timeline) TTFR() (time.Duration, bool) { return t.first(StepReasoning) }

func (t Timeline) first(k StepKind) (time.Duration, bool) {
	for _, s := range t.Steps {
		if s.Kind == k {
			return s.Due, true
		}
	}
	return 0, false
}

// Last returns when the last answer text leaves. It reports false if none does.
func (t Timeline) Last() (time.Duration, bool) {
	for i := len(t.Steps) - 1; i >= 0; i-- {
		if t.Steps[i].Kind == StepVisible {
			return t.Steps[i].Due, true
		}
	}
	return 0, false
}

// End returns when the last frame leaves, or when the fault strikes.
func (t Timeline) End() time.Duration {
	if len(t.Steps) == 0 {
		return 0
	}
	return t.Steps[len(t.Steps)-1].Due
}

// DeliveredTPS returns the rate at which a perfect stopwatch sees the answer
// arrive: the answer tokens that leave after the first instant at which any
// does, over the time from that instant to the last. It equals
// [Shape.DecodeTPS] unless jitter, stalls, bursts or a proxy come between. It
// reports false if the answer leaves in one instant.
func (t Timeline) DeliveredTPS() (tps float64, ok bool) {
	first, ok := t.TTFT()
	if !ok {
		return 0, false
	}
	last, n := first, 0
	for _, s := range t.Steps {
		if s.Kind == StepVisible && s.Due > first {
			last, n = s.Due, n+s.Tokens
		}
	}
	if last == first {
		return 0, false
	}
	return float64(n) / (last - first).Seconds(), true
}

// Timeline lays out one answer to a request that allows limit output tokens
// (0 or less is no limit). The same Shape, limit and state of rng give the same
// Timeline; with a nil rng there is no jitter and the text starts at its
// beginning.
//
// The first chunk leaves at Prefill (later if the model reasons), each later
// one PerToken × its own tokens after the one before. So of a chunk's tokens the
// first is not ahead of the clock and the last is on it, and tokens after
// the first chunk over the time after it is the true rate for any PerChunk.
//
// If Fault.Kind is set the answer fails: Every is the server's business.
func (s Shape) Timeline(limit int, rng *rand.Rand) Timeline {
	if limit <= 0 {
		limit = math.MaxInt
	}
	var t Timeline
	t.Hidden = min(s.HiddenTokens, limit)
	t.Reasoning = min(s.ReasoningTokens, limit-t.Hidden)
	t.Visible = min(s.Tokens, limit-t.Hidden-t.Reasoning)
	t.Finish = s.Finish
	if t.Output() < s.HiddenTokens+s.ReasoningTokens+s.Tokens {
		t.Finish = FinishLength
	}

	if s.Fault.Kind.refuses() {
		t.Steps = []Step{{Kind: StepBreak, Made: s.Fault.Delay, Due: s.Fault.Delay}}
		return t
	}

	out := s.generate(&t, rng)
	s.deliver(out)
	t.Steps = s.frame(&t, out)
	return t
}

// generate makes the output steps, each due when it is made.
func (s Shape) generate(t *Timeline, rng *rand.Rand) []Step {
	var thoughts, answer reel
	answer.text, thoughts.text = answerText(), thoughtsText()
	if rng != nil {
		answer.turn(rng.IntN(len(answer.text.sentences)))
	}
	t.Prefill = jittered(s.Prefill, s.PrefillJitter, rng)
	at := t.Prefill
	if t.Hidden > 0 {
		hidden := s.HiddenTime
		if hidden == 0 {
			hidden = s.PerToken * time.Duration(s.HiddenTokens)
		}
		at += time.Duration(float64(hidden) * float64(t.Hidden) / float64(s.HiddenTokens))
	}

	size := max(1, s.PerChunk)
	steps := make([]Step, 0, t.Reasoning/size+t.Visible/size+2)
	emit := func(kind StepKind, n int, per time.Duration, from *reel, stall int) {
		for made := 0; made < n; {
			k := min(size, n-made)
			if len(steps) > 0 {
				for range k {
					at += jittered(per, s.Jitter, rng)
				}
			}
			if made <= stall && stall < made+k {
				at += s.StallFor
			}
			s := from.next(k)
			if made == 0 {
				s = strings.TrimPrefix(s, " ") // no text begins with a space
			}
			steps = append(steps, Step{Kind: kind, Made: at, Due: at, Tokens: k, Text: s})
			made += k
		}
	}
	per := s.ReasoningPer
	if per == 0 {
		per = s.PerToken
	}
	emit(StepReasoning, t.Reasoning, per, &thoughts, -1)
	emit(StepVisible, t.Visible, s.PerToken, &answer, s.StallAt)

	t.Decode = at - t.Prefill
	if len(steps) > 0 && t.Hidden == 0 { // the time of the first chunk's tokens is inside Prefill
		t.Decode += s.PerToken * time.Duration(steps[0].Tokens)
	}
	return steps
}

// deliver puts off the instants at which output leaves.
func (s Shape) deliver(out []Step) {
	if s.Bursts > 0 {
		total := 0
		for _, st := range out {
			total += st.Tokens
		}
		// A step belongs to the burst its last token falls in.
		burst := func(cum int) int { return (cum*s.Bursts + total - 1) / total }
		cum := total
		var due time.Duration
		last := 0
		for i := len(out) - 1; i >= 0; i-- {
			if b := burst(cum); b != last {
				last, due = b, out[i].Made
				if s.Replay > 0 {
					due = out[len(out)-1].Made + time.Duration(b-1)*s.Replay
				}
			}
			out[i].Due = due
			cum -= out[i].Tokens
		}
	}
	if d := s.FlushEvery; d > 0 {
		for i := range out {
			out[i].Due = (out[i].Due + d - 1) / d * d
		}
	}
}

// frame puts the opening, keep-alives, the fault and the end around the output.
func (s Shape) frame(t *Timeline, out []Step) []Step {
	made := t.Prefill + t.Decode // of an answer without output
	last := made
	if len(out) > 0 {
		made, last = out[len(out)-1].Made, out[len(out)-1].Due
	}
	end := Step{Kind: StepEnd, Made: made, Due: last + s.Tail}
	if s.Fault.Kind != FaultNone {
		end.Kind = StepBreak
		n := 0
		for i, st := range out {
			if n += st.Tokens; n > s.Fault.After {
				end.Made, end.Due = st.Made, st.Due
				out = out[:i]
				break
			}
		}
	}

	first := end.Due
	if len(out) > 0 {
		first = out[0].Due
	}
	steps := make([]Step, 0, len(out)+2)
	if s.OpenAtOnce {
		steps = append(steps, Step{Kind: StepOpen})
	}
	if s.KeepAlive > 0 {
		for at := s.KeepAlive; at < first && len(steps) < maxKeepAlives; at += s.KeepAlive {
			steps = append(steps, Step{Kind: StepKeepAlive, Made: at, Due: at})
		}
	}
	if !s.OpenAtOnce {
		steps = append(steps, Step{Kind: StepOpen, Made: first, Due: first})
	}
	steps = append(steps, out...)
	return append(steps, end)
}

const maxKeepAlives = 10_000

// scale divides every duration of t by speed.
func (t Timeline) scale(speed float64) Timeline {
	if speed == 1 {
		return t
	}
	by := func(d time.Duration) time.Duration { return time.Duration(float64(d) / speed) }
	steps := make([]Step, len(t.Steps))
	for i, s := range t.Steps {
		s.Made, s.Due = by(s.Made), by(s.Due)
		steps[i] = s
	}
	t.Steps, t.Prefill, t.Decode = steps, by(t.Prefill), by(t.Decode)
	return t
}

// jittered multiplies d by a lognormal factor of mean 1 and standard deviation sd.
func jittered(d time.Duration, sd float64, rng *rand.Rand) time.Duration {
	if sd == 0 || rng == nil {
		return d
	}
	return time.Duration(float64(d) * lognormal(sd, rng))
}

// lognormal draws a factor of mean 1 and standard deviation sd.
func lognormal(sd float64, rng *rand.Rand) float64 {
	v := math.Log1p(sd * sd) // variance of the logarithm
	return math.Exp(math.Sqrt(v)*rng.NormFloat64() - v/2)
}
