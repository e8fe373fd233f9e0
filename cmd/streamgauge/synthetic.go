package main

import (
	"iter"
	"time"
	"unicode/utf8"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// synthetic yields the samples of a simulated model's past, oldest first. They
// go through the same journal and ingest as measured ones.
func synthetic(seed uint64, m simulate.Model, pair bench.Pair, env bench.Env, from, to time.Time, every time.Duration) iter.Seq[bench.Sample] {
	return func(yield func(bench.Sample) bool) {
		for slot := range simulate.History(seed, m, from, to, every) {
			if !yield(syntheticSample(slot, pair, env, bench.MaxOutputTokens)) {
				return
			}
		}
	}
}

// syntheticProbes yields the buffering probes of a simulated model's past, one a
// day, each a few seconds after the ordinary sample of that slot.
func syntheticProbes(seed uint64, m simulate.Model, pair bench.Pair, env bench.Env, from, to time.Time) iter.Seq[bench.Sample] {
	const behind = 5 * time.Second
	env.Short = true
	return func(yield func(bench.Sample) bool) {
		for slot := range simulate.History(seed, m, from.Add(behind), to, bench.BufferProbeEvery) {
			if !yield(syntheticSample(slot, pair, env, bench.BufferProbeTokens)) {
				return
			}
		}
	}
}

// joined yields what its parts do, one after the other.
func joined(parts ...iter.Seq[bench.Sample]) iter.Seq[bench.Sample] {
	return func(yield func(bench.Sample) bool) {
		for _, part := range parts {
			for s := range part {
				if !yield(s) {
					return
				}
			}
		}
	}
}

// Assumed of every synthetic run; a loopback request measures the rest.
const (
	syntheticSetup = 24 * time.Millisecond // DNS, connect and TLS together
	syntheticInput = 63                    // tokens of the prompt
)

// syntheticSample turns one slot of a past into the sample that measuring it
// with so many output tokens would have given, at the instants at which its
// frames left.
func syntheticSample(slot simulate.Slot, pair bench.Pair, env bench.Env, limit int) bench.Sample {
	tl := slot.Timeline(limit)
	s := bench.Sample{
		Pair: pair, StartedAt: slot.At.UTC().Truncate(time.Millisecond), Scheduled: slot.At.UTC(), Env: env,
		Phases: bench.Phases{DNS: 2 * time.Millisecond, Connect: 10 * time.Millisecond, TLS: 12 * time.Millisecond, Setup: syntheticSetup},
		Proto:  "HTTP/1.1",
	}
	fault := slot.Shape.Fault.Kind
	s.Kind, s.Detail, s.HTTPStatus, s.FailedIn = verdictOf(fault)
	if s.HTTPStatus == 0 && s.Kind == wire.KindNone {
		s.HTTPStatus = 200
	}
	broken := false
	visible, reasoning := 0, 0
	for read, step := range tl.Steps {
		a := bench.Arrival{At: step.Due, Read: read, Chars: utf8.RuneCountInString(step.Text)}
		switch step.Kind {
		case simulate.StepReasoning:
			a.Mark = bench.MarkReasoning
			reasoning += step.Tokens
		case simulate.StepVisible:
			a.Mark = bench.MarkVisible
			visible += step.Tokens
			s.Words += countWords(step.Text)
		case simulate.StepEnd:
			a.Mark, a.Chars = bench.MarkDone, 0
			s.Done, s.EOF = step.Due, step.Due
		case simulate.StepBreak:
			broken = true
			continue
		default:
			a.Mark, a.Chars = bench.MarkMeta, 0
		}
		s.Trace = append(s.Trace, a)
	}
	s.Digest()
	s.Reads = len(s.Trace)
	if !broken && s.Kind == wire.KindNone && !slot.Shape.NoUsage {
		s.Usage = bench.Usage{
			Input:     wire.Known(syntheticInput),
			Output:    wire.Known(int64(tl.Output())),
			Reasoning: wire.Known(int64(tl.Hidden + reasoning)),
			Visible:   wire.Known(int64(visible)),
		}
	}
	if !broken && s.Kind == wire.KindNone {
		s.Finish = "stop"
		if s.Chunks == 0 {
			s.Kind, s.Detail, s.FailedIn = wire.KindMalformed, "no_visible_output", bench.PhaseEnd
			s.Finish = "length"
		}
	}
	s.Trace = nil
	return s
}

// countWords counts the words that begin in a token's text: simulated tokens
// are words with the white space before them.
func countWords(text string) int {
	n, space := 0, true
	for _, r := range text {
		if r == ' ' || r == '\n' {
			space = true
			continue
		}
		if space {
			n++
		}
		space = false
	}
	return n
}

// verdictOf returns how a simulated fault is recorded.
func verdictOf(fault simulate.FaultKind) (kind wire.ErrorKind, detail wire.Detail, status int, in bench.Phase) {
	switch fault.ErrorKind() {
	case "auth":
		return wire.KindAuth, "", 401, bench.PhaseHeaders
	case "quota":
		return wire.KindQuota, "", 402, bench.PhaseHeaders
	case "rate_limit":
		return wire.KindRateLimit, "", 429, bench.PhaseHeaders
	case "server":
		return wire.KindServer, "", 500, bench.PhaseHeaders
	case "timeout":
		return wire.KindTimeout, "", 0, bench.PhaseHeaders
	case "network":
		return wire.KindNetwork, "", 0, bench.PhaseStream
	case "malformed":
		return wire.KindMalformed, "truncated", 200, bench.PhaseEnd
	}
	return wire.KindNone, "", 0, ""
}
