// Package peers holds other clients' ways of timing a stream against ours, on
// the same streams. It is for tests and benchmarks only.
//
//   - A [Policy] is how a client turns a response into instants and a rate: the
//     ways found in widely used benchmarks, each written down here in its
//     simplest form, so that what differs is the policy and not the language.
//   - Streams with exact instants, read in virtual time, show what a policy gets
//     wrong on an infinitely fast machine.
//   - A [Lab] is a simulated provider in another process. Measured over loopback
//     it shows how late a policy's stamps are, and what an event costs.
package peers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"time"
)

// A Policy is how a client reads a stream of OpenAI's chat chunks.
type Policy struct {
	Name  string
	About string // one line; where it is found

	// Read reads a response's body to its end. now is the client's clock, from
	// its dispatch on.
	Read func(body io.Reader, now func() time.Duration) Outcome

	Wall bool // its clock is the wall clock, which can be set
	Live bool // it differs from the policy before it on a real machine only
}

// An Outcome is what a client makes of a stream.
type Outcome struct {
	Began  bool          // it saw a first token
	TTFT   time.Duration // until then
	Stamps []Stamp       // of what it takes for text, in order
	TPS    float64       // the rate it prints; 0: none

	// HotCPU is the CPU time that it used while the stream came, where it puts
	// work off until after that; 0: it puts off none.
	HotCPU time.Duration
}

// A Stamp is when a client says that a chunk with text came. Which one is told
// by where in the body it ended, or by its ordinal where the client cannot say.
type Stamp struct {
	End     int64
	Ordinal int // among the chunks with text, from 1; 0: see End
	At      time.Duration
}

// Policies returns the policies. Numbers with # are public reports of them.
func Policies() []Policy {
	return []Policy{
		{Name: "stamp-at-line", About: "stamps a line when it is complete, before it is parsed, as AIPerf does",
			Read: lineReader(policy{stampFirst: true})},
		{Name: "stamp-after-parse", About: "stamps after the JSON is parsed (tokenomics#16)", Live: true,
			Read: lineReader(policy{})},
		{Name: "consumer-hop", About: "passes events to a consumer that parses and stamps (llm-d-benchmark#261)", Live: true,
			Read: hopReader},
		{Name: "role-is-first", About: "takes the empty role chunk for the first token (vllm#15106, sglang#29251)",
			Read: lineReader(policy{firstEvent: true})},
		{Name: "chunk-is-token", About: "counts chunks as tokens (vllm#27485, llmperf#99)",
			Read: lineReader(policy{chunks: true})},
		{Name: "read-is-event", About: "takes each read for one event and drops what does not parse (vllm#51172)",
			Read: rawReader},
		{Name: "until-the-end", About: "ends the rate's time with the response, not with the text (vllm#55508)",
			Read: lineReader(policy{untilEnd: true})},
		{Name: "whole-request", About: "divides by the time of the whole request",
			Read: lineReader(policy{fromDispatch: true})},
		{Name: "wall-clock", About: "subtracts instants of the wall clock (OmniRoute#11873)",
			Read: lineReader(policy{}), Wall: true},
	}
}

// A policy is the choices of a client that reads line by line.
type policy struct {
	stampFirst   bool // stamp before parsing
	firstEvent   bool // any event is a first token
	chunks       bool // count chunks
	untilEnd     bool // the rate's time ends with the response
	fromDispatch bool // and begins with the request
}

// A delta is what these clients look at in a chunk.
type delta struct {
	Choices []struct {
		Delta struct {
			Content string `json:"content"`
		} `json:"delta"`
	} `json:"choices"`
	Usage *struct {
		CompletionTokens int `json:"completion_tokens"`
	} `json:"usage"`
}

func (d *delta) text() bool { return len(d.Choices) > 0 && d.Choices[0].Delta.Content != "" }

// A tally is what a client keeps while it reads.
type tally struct {
	policy
	out    Outcome
	tokens int
	end    time.Duration
}

// event takes in one parsed event.
func (t *tally) event(d *delta, s Stamp) {
	t.end = s.At
	if !t.out.Began && (t.firstEvent || d.text()) {
		t.out.Began, t.out.TTFT = true, s.At
	}
	if d.text() {
		t.out.Stamps = append(t.out.Stamps, s)
	}
	if d.Usage != nil {
		t.tokens = d.Usage.CompletionTokens
	}
}

// outcome closes the tally with the rate: tokens after the first over the time
// after it, but for what the policy has otherwise.
func (t *tally) outcome() Outcome {
	stamps := t.out.Stamps
	if len(stamps) == 0 {
		return t.out
	}
	tokens := t.tokens - 1
	if t.chunks || t.tokens == 0 {
		tokens = len(stamps) - 1
	}
	from, to := t.out.TTFT, stamps[len(stamps)-1].At
	if t.untilEnd {
		to = t.end
	}
	if t.fromDispatch {
		from, tokens = 0, tokens+1
	}
	if to > from {
		t.out.TPS = float64(tokens) / (to - from).Seconds()
	}
	return t.out
}

var dataPrefix = []byte("data: ")

// lineReader reads line by line.
func lineReader(p policy) func(io.Reader, func() time.Duration) Outcome {
	return func(body io.Reader, now func() time.Duration) Outcome {
		t := tally{policy: p}
		var offset int64
		for r := bufio.NewReader(body); ; {
			line, err := r.ReadBytes('\n')
			offset += int64(len(line))
			s := Stamp{End: offset}
			if p.stampFirst {
				s.At = now()
			}
			if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), dataPrefix); ok {
				var d delta
				parsed := json.Unmarshal(data, &d) == nil
				if !p.stampFirst {
					s.At = now()
				}
				if parsed {
					t.event(&d, s)
				}
				t.end = s.At
			}
			if err != nil {
				return t.outcome()
			}
		}
	}
}

// hopReader hands each line to another goroutine.
func hopReader(body io.Reader, now func() time.Duration) Outcome {
	type item struct {
		data []byte
		end  int64
	}
	queue := make(chan item, 64)
	go func() {
		defer close(queue)
		var offset int64
		for r := bufio.NewReader(body); ; {
			line, err := r.ReadBytes('\n')
			offset += int64(len(line))
			if data, ok := bytes.CutPrefix(bytes.TrimSpace(line), dataPrefix); ok {
				queue <- item{data, offset}
			}
			if err != nil {
				return
			}
		}
	}()
	var t tally
	for it := range queue {
		var d delta
		parsed := json.Unmarshal(it.data, &d) == nil
		s := Stamp{End: it.end, At: now()}
		if parsed {
			t.event(&d, s)
		}
		t.end = s.At
	}
	return t.outcome()
}

// rawReader takes each read for one event.
func rawReader(body io.Reader, now func() time.Duration) Outcome {
	var t tally
	var offset int64
	buf := make([]byte, 64<<10)
	for {
		n, err := body.Read(buf)
		if n > 0 {
			s := Stamp{At: now()}
			offset += int64(n)
			s.End = offset
			var d delta
			if data, ok := strings.CutPrefix(strings.TrimSpace(string(buf[:n])), string(dataPrefix)); ok && json.Unmarshal([]byte(data), &d) == nil {
				t.event(&d, s)
			}
			t.end = s.At
		}
		if err != nil {
			return t.outcome()
		}
	}
}
