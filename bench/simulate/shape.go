// Package simulate is a hosted language model that is not one: a server that
// speaks the wire formats of real providers and streams a fixed text at a
// cadence known to the nanosecond, or fails in a chosen way. The demonstration,
// the self-calibration and the tests of this project measure it over real HTTP.
//
//   - A [Shape] is what one model does, as plain data.
//   - [Shape.Timeline] turns it into a [Timeline]: each piece of the answer with
//     the instant it is made and the instant it leaves. It is pure, and all
//     that is random in it comes from the source it is given.
//   - A [Server] renders a Timeline in the wire format that was asked for and
//     writes each piece when it is due. It logs every write ([Record]), so that a
//     client can be compared with what left, not with what should have left.
//   - [Models] is a table of named shapes, and [History] a synthetic past for them.
//
// The text is this project's own. Nothing here generates language.
package simulate

import (
	"errors"
	"fmt"
	"time"
)

// A Shape is how one simulated model answers one request. The zero Shape
// answers at once with an empty text.
//
// Durations are those of a server without load; [Options].Speed divides them.
// All reasoning, shown or not, counts against the caller's cap and in the usage.
type Shape struct {
	// Making the answer.

	Prefill  time.Duration // request read to first output; the TTFT of a model that does not reason
	PerInput time.Duration // more of Prefill for each input token: the true prefill rate is its inverse
	PerToken time.Duration // between tokens; the true decode rate is its inverse
	PerChunk int           // tokens in one chunk; 0 is 1
	Tokens   int           // tokens of the answer, if the caller's cap does not end it sooner
	Input    int           // input tokens to report; 0 is an estimate from the request
	Cached   int           // of those, how many to report as read from a cache

	HiddenTokens    int           // reasoning tokens that are counted and never shown
	HiddenTime      time.Duration // what they take, between Prefill and the first output; 0 is HiddenTokens × PerToken
	ReasoningTokens int           // reasoning tokens that are shown, before the answer
	ReasoningPer    time.Duration // between those; 0 is PerToken

	StallAt  int           // the chunk holding this token of the answer, from 0, is late…
	StallFor time.Duration // …by this, and so is all that follows

	Jitter        float64 // standard deviation of a token's time, as a share of PerToken; lognormal, mean kept
	PrefillJitter float64 // the same of Prefill

	// Delivering it.

	FlushEvery time.Duration // a proxy that passes on what it has at each multiple of this; 0 is none
	Bursts     int           // the output is kept back and leaves in this many equal parts; 0 is as made
	Replay     time.Duration // the parts wait for the whole answer, then leave this far apart, as if it were streaming; 0 is each as soon as it is made
	OpenAtOnce bool          // headers and opening frames (the role chunk, message_start) leave at once, not with the first output
	KeepAlive  time.Duration // between comments (or pings, where the format has either) until the first output; 0 is none
	Tail       time.Duration // last output to finish reason, usage and end marker
	Split      Split         // where to cut one frame over two writes
	NoUsage    bool          // never report token counts, even when asked
	Finish     Finish        // why the answer ended, unless the cap ended it

	Fault Fault // how requests fail, if they do
}

// A Finish is why an answer ended. Each wire format has its own word for it.
type Finish uint8

// The reasons an answer ends.
const (
	FinishStop     Finish = iota // the answer was complete
	FinishLength                 // the cap was reached
	FinishFiltered               // a content filter ended it
)

// A Split is a place where a frame is cut in two. The first part is written
// [SplitLead] before the frame is due, the second when it is.
type Split uint8

// The places a frame is cut at.
const (
	SplitNone Split = iota
	SplitLine       // in the middle of a line
	SplitRune       // inside a multi-byte character, or mid-line if the frame has none
	SplitEnd        // between the last line and the blank line that ends the event
)

// SplitLead is how long before the rest of a split frame its first part leaves:
// long enough that a reader on the same machine sees two reads.
const SplitLead = time.Millisecond

// DecodeTPS returns the true rate at which the model makes its answer, in tokens
// per second, whatever delivery does to it. It reports false if the answer
// takes no time.
func (s Shape) DecodeTPS() (tps float64, ok bool) {
	if s.PerToken <= 0 {
		return 0, false
	}
	return float64(time.Second) / float64(s.PerToken), true
}

// After returns the shape of the answer to a prompt of so many tokens.
func (s Shape) After(input int) Shape {
	s.Prefill += s.PerInput * time.Duration(input)
	return s
}

// Validate returns an error that names the fields no server could act on.
func (s Shape) Validate() error {
	var errs []error
	for _, f := range []struct {
		name string
		v    int64
	}{
		{"Prefill", int64(s.Prefill)}, {"PerInput", int64(s.PerInput)}, {"PerToken", int64(s.PerToken)}, {"PerChunk", int64(s.PerChunk)},
		{"Tokens", int64(s.Tokens)}, {"Input", int64(s.Input)}, {"Cached", int64(s.Cached)},
		{"HiddenTokens", int64(s.HiddenTokens)}, {"HiddenTime", int64(s.HiddenTime)},
		{"ReasoningTokens", int64(s.ReasoningTokens)}, {"ReasoningPer", int64(s.ReasoningPer)},
		{"StallAt", int64(s.StallAt)}, {"StallFor", int64(s.StallFor)},
		{"FlushEvery", int64(s.FlushEvery)}, {"Bursts", int64(s.Bursts)}, {"Replay", int64(s.Replay)},
		{"KeepAlive", int64(s.KeepAlive)}, {"Tail", int64(s.Tail)},
		{"Fault.Every", int64(s.Fault.Every)}, {"Fault.After", int64(s.Fault.After)},
		{"Fault.Delay", int64(s.Fault.Delay)}, {"Fault.RetryAfter", int64(s.Fault.RetryAfter)},
	} {
		if f.v < 0 {
			errs = append(errs, fmt.Errorf("%s is negative", f.name))
		}
	}
	for _, f := range []struct {
		name string
		v    float64
	}{{"Jitter", s.Jitter}, {"PrefillJitter", s.PrefillJitter}} {
		if !(f.v >= 0 && f.v <= maxJitter) { // also false for NaN
			errs = append(errs, fmt.Errorf("%s is not within 0 and %v", f.name, maxJitter))
		}
	}
	if s.Tokens > maxTokens || s.HiddenTokens > maxTokens || s.ReasoningTokens > maxTokens {
		errs = append(errs, fmt.Errorf("more than %d tokens", maxTokens))
	}
	if s.Finish > FinishFiltered {
		errs = append(errs, fmt.Errorf("unknown Finish %d", s.Finish))
	}
	if s.Split > SplitEnd {
		errs = append(errs, fmt.Errorf("unknown Split %d", s.Split))
	}
	if int(s.Fault.Kind) >= len(faultNames) {
		errs = append(errs, fmt.Errorf("unknown Fault.Kind %d", s.Fault.Kind))
	}
	return errors.Join(errs...)
}

const (
	maxTokens = 2_000_000 // a Timeline is held in memory
	maxJitter = 4.0
)
