package wire

import (
	"errors"
	"strings"
)

// A Reply is what one response body came to: events folded in order, as they
// come. The zero Reply is ready to use.
type Reply struct {
	DataEvents      int // data frames, [DONE] among them
	Comments        int // keep-alives
	VisibleEvents   int // events with non-empty visible text
	ReasoningEvents int // events with non-empty readable reasoning
	BrokenEvents    int // data frames that are no JSON

	Visible   Text // the answer, counted
	Reasoning Text // the readable reasoning, counted

	Usage   Usage  // raw, merged over the events; see Tokens
	Finish  string // the last raw finish reason
	Model   string // the model that the provider says it served
	Backend string // who served it, where told
	Server  ServerTiming

	Refused   bool // refusal text arrived
	Tool      bool // a tool call arrived
	Hidden    bool // reasoning arrived that cannot be read
	ThinkLeak bool // the visible text holds "</think>": reasoning leaked into it

	failure       Failure // the provider's own report inside the stream
	complete      bool
	ended         bool // an end marker was seen
	cut           bool // the last data frame is broken
	first         int  // 1 + index of the first visible event
	firstThought  int  // 1 + index of the first reasoning event
	thinkTagBytes int  // how much of "</think>" the text so far ends with
}

// Add folds in the next event and returns how many characters of visible text
// and of reasoning it brought.
func (r *Reply) Add(ev Event) (visible, reasoning int64) {
	if ev.Index >= 0 {
		r.DataEvents++
		r.cut = ev.Broken
	} else if ev.Fail == nil {
		r.Comments++
	}
	if ev.Broken {
		r.BrokenEvents++
	}
	if len(ev.Reasoning) > 0 {
		r.ReasoningEvents++
		if r.firstThought == 0 {
			r.firstThought = ev.Index + 1
		}
		reasoning = r.Reasoning.Add(ev.Reasoning)
	}
	if len(ev.Visible) > 0 {
		r.VisibleEvents++
		if r.first == 0 {
			r.first = ev.Index + 1
		}
		visible = r.Visible.Add(ev.Visible)
		r.watchThinkTag(ev.Visible)
		if !r.ended {
			r.complete = false // Gemini repeats STOP: only the last text's counts
		}
	}
	r.Usage = r.Usage.Merge(ev.Usage)
	if ev.Finish != "" {
		r.Finish = ev.Finish
	}
	if ev.Model != "" {
		r.Model = ev.Model
	}
	if ev.Backend != "" {
		r.Backend = ev.Backend
	}
	if ev.Server != (ServerTiming{}) {
		r.Server = r.Server.merge(ev.Server)
	}
	r.complete = r.complete || ev.Complete
	r.ended = r.ended || ev.Last && ev.Complete
	r.Refused = r.Refused || ev.Refused
	r.Tool = r.Tool || ev.Tool
	r.Hidden = r.Hidden || ev.Hidden
	if ev.Fail != nil && (r.failure.OK() || r.failure.Detail == DetailInStream && ev.Fail.Detail != DetailInStream) {
		r.failure = *ev.Fail // the first that says something
	}
	return visible, reasoning
}

// FirstVisible returns the index of the first event with non-empty visible
// text; false if there was none.
func (r *Reply) FirstVisible() (index int, ok bool) { return r.first - 1, r.first > 0 }

// FirstReasoning returns the index of the first event with non-empty readable
// reasoning; false if there was none.
func (r *Reply) FirstReasoning() (index int, ok bool) { return r.firstThought - 1, r.firstThought > 0 }

// Complete reports whether the answer ended as its protocol ends one, without
// an error. A clean EOF alone ends nothing.
func (r *Reply) Complete() bool { return r.complete && r.failure.OK() }

// Tokens returns the usage in comparable terms.
func (r *Reply) Tokens() Tokens {
	thought := r.ReasoningEvents > 0
	return r.Usage.Normal(Evidence{
		Output:    thought || r.Hidden || r.VisibleEvents > 0 || r.Refused || r.Tool || r.capped(),
		Reasoning: thought,
		Hidden:    r.Hidden,
		Visible:   r.VisibleEvents > 0,
	})
}

// Verdict returns what became of the request: OK, or the failure. err is the
// error that Decode ended with, nil after a clean EOF. An error of the read
// itself after the answer was complete changes nothing; before it, it is of
// kind network, which a caller that set the deadline may know better.
func (r *Reply) Verdict(err error) Failure {
	malformed := func(d Detail) Failure { return Failure{Kind: KindMalformed, Detail: d} }
	var body *BodyError
	switch {
	case !r.failure.OK():
		return r.failure
	case errors.As(err, &body):
		return malformed(body.Detail)
	case !r.complete && err != nil:
		return Failure{Kind: KindNetwork, Detail: DetailRead}
	case !r.complete && r.DataEvents == 0 && r.Comments == 0:
		return malformed(DetailEmptyBody)
	case r.BrokenEvents > 1, r.BrokenEvents == 1 && (r.complete || !r.cut):
		return malformed(DetailBadJSON)
	case !r.complete:
		return malformed(DetailTruncated)
	case r.VisibleEvents > 0:
		return Failure{}
	case r.capped():
		return malformed(DetailNoVisibleOutput)
	case r.Refused || r.Finish == "refusal":
		return malformed(DetailRefusal)
	case r.filtered():
		return malformed(DetailContentFilter)
	case r.Tool:
		return malformed(DetailToolCall)
	}
	return malformed(DetailNoVisibleOutput)
}

// capped reports whether the answer stopped at the output cap.
func (r *Reply) capped() bool {
	switch r.Finish {
	case "length", "max_tokens", "MAX_TOKENS", "incomplete:max_output_tokens",
		"model_length", "model_context_window_exceeded": // Mistral's, Anthropic's: the context was full
		return true
	}
	return false
}

// filtered reports whether prompt or answer was stopped by a filter.
func (r *Reply) filtered() bool {
	switch r.Finish {
	case "content_filter", "incomplete:content_filter",
		"SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "IMAGE_SAFETY":
		return true
	}
	return strings.HasPrefix(r.Finish, "blocked:")
}

// watchThinkTag looks for "</think>" in the visible text, also if it is split
// over events.
func (r *Reply) watchThinkTag(p []byte) {
	const tag = "</think>"
	n := r.thinkTagBytes
	for _, ch := range p {
		switch {
		case ch == tag[n]:
			n++
		case ch == tag[0]: // '<' occurs in the tag only at its start
			n = 1
		default:
			n = 0
		}
		if n == len(tag) {
			r.ThinkLeak, n = true, 0
		}
	}
	r.thinkTagBytes = n
}

// merge returns s with what later tells in addition.
func (s ServerTiming) merge(later ServerTiming) ServerTiming {
	keep := func(was *float64, now float64) {
		if now > 0 {
			*was = now
		}
	}
	keep(&s.QueueMS, later.QueueMS)
	keep(&s.PromptMS, later.PromptMS)
	keep(&s.DecodeMS, later.DecodeMS)
	keep(&s.TTFTMS, later.TTFTMS)
	keep(&s.TotalMS, later.TotalMS)
	keep(&s.DecodeTPS, later.DecodeTPS)
	return s
}
