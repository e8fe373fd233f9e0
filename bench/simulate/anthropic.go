package simulate

import (
	"encoding/json"
	"net/http"
	"time"
)

// anthropic renders Anthropic Messages.
//
// https://docs.anthropic.com/en/docs/build-with-claude/streaming
type anthropic struct {
	*call
	block int    // index of the open content block, or of the next one
	kind  string // type of the open block, "" if none is
}

type anthropicRequest struct {
	Model     string          `json:"model"`
	System    json.RawMessage `json:"system"`
	Messages  []message       `json:"messages"`
	MaxTokens int             `json:"max_tokens"`
	Stream    bool            `json:"stream"`
}

func parseAnthropic(_ *http.Request, body []byte) (call, error) {
	var q anthropicRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return call{}, err
	}
	c := call{model: q.Model, limit: q.MaxTokens, prompt: contentLen(q.System) + promptLen(q.Messages)}
	if q.MaxTokens < 1 {
		return c, errNoMaxTokens
	}
	if !q.Stream {
		return c, errNotStreaming
	}
	return c, nil
}

type anthropicUsage struct {
	InputTokens int               `json:"input_tokens"`
	CacheNew    int               `json:"cache_creation_input_tokens"`
	CacheRead   int               `json:"cache_read_input_tokens"`
	Output      int               `json:"output_tokens"`
	Details     *anthropicDetails `json:"output_tokens_details,omitempty"`
}

type anthropicDetails struct {
	Thinking int `json:"thinking_tokens"`
}

// tokens returns the usage once output tokens were generated. Cached input is
// not part of input_tokens here, unlike elsewhere.
func (e *anthropic) tokens(output int) *anthropicUsage {
	if e.shape.NoUsage {
		return nil
	}
	return &anthropicUsage{InputTokens: e.input() - e.cached(), CacheRead: e.cached(), Output: output}
}

func (e *anthropic) header(h http.Header) {
	sseHeader(h)
	h.Set("Request-Id", "req_"+e.id)
}

type anthropicMessage struct {
	ID           string          `json:"id"`
	Type         string          `json:"type"`
	Role         string          `json:"role"`
	Model        string          `json:"model"`
	Content      []struct{}      `json:"content"`
	StopReason   *string         `json:"stop_reason"`
	StopSequence *string         `json:"stop_sequence"`
	Usage        *anthropicUsage `json:"usage,omitempty"`
}

func (e *anthropic) open(b []byte) []byte {
	b = appendEvent(b, "message_start", struct {
		Type    string           `json:"type"`
		Message anthropicMessage `json:"message"`
	}{"message_start", anthropicMessage{
		ID: "msg_" + e.id, Type: "message", Role: "assistant", Model: e.model, Content: []struct{}{},
		Usage: e.tokens(1), // a placeholder, as the real one is
	}})
	switch {
	case e.line.Hidden > 0: // thinking that is not shown is a block without text
		b = e.start(b, "redacted_thinking", map[string]string{"type": "redacted_thinking", "data": hexID(e.id, 96)})
		b = e.stop(b)
	case e.line.Reasoning == 0:
		b = e.enter(b, "text")
	}
	return appendEvent(b, "ping", map[string]string{"type": "ping"})
}

func (e *anthropic) keepAlive(b []byte) []byte {
	return appendEvent(b, "ping", map[string]string{"type": "ping"})
}

// enter makes kind ("text" or "thinking") the open block.
func (e *anthropic) enter(b []byte, kind string) []byte {
	if e.kind == kind {
		return b
	}
	b = e.stop(b)
	block := map[string]string{"type": kind, kind: ""}
	if kind == "thinking" {
		block["signature"] = ""
	}
	return e.start(b, kind, block)
}

func (e *anthropic) start(b []byte, kind string, block any) []byte {
	e.kind = kind
	return appendEvent(b, "content_block_start", struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
		Block any    `json:"content_block"`
	}{"content_block_start", e.block, block})
}

// stop closes the open block, if any.
func (e *anthropic) stop(b []byte) []byte {
	if e.kind == "" {
		return b
	}
	if e.kind == "thinking" {
		b = e.delta(b, anthropicDelta{Type: "signature_delta", Signature: hexID(e.id, 64)})
	}
	b = appendEvent(b, "content_block_stop", struct {
		Type  string `json:"type"`
		Index int    `json:"index"`
	}{"content_block_stop", e.block})
	e.kind = ""
	e.block++
	return b
}

type anthropicDelta struct {
	Type      string `json:"type"`
	Text      string `json:"text,omitempty"`
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
}

func (e *anthropic) delta(b []byte, d anthropicDelta) []byte {
	return appendEvent(b, "content_block_delta", struct {
		Type  string         `json:"type"`
		Index int            `json:"index"`
		Delta anthropicDelta `json:"delta"`
	}{"content_block_delta", e.block, d})
}

func (e *anthropic) output(b []byte, s Step, _ time.Time) []byte {
	if s.Kind == StepReasoning {
		return e.delta(e.enter(b, "thinking"), anthropicDelta{Type: "thinking_delta", Thinking: s.Text})
	}
	return e.delta(e.enter(b, "text"), anthropicDelta{Type: "text_delta", Text: s.Text})
}

func (e *anthropic) end(b []byte, _ time.Time) []byte {
	b = e.stop(b)
	u := e.tokens(e.line.Output())
	if u != nil && e.reasoning() > 0 {
		u.Details = &anthropicDetails{Thinking: e.reasoning()}
	}
	type stop struct {
		Reason   string  `json:"stop_reason"`
		Sequence *string `json:"stop_sequence"`
	}
	b = appendEvent(b, "message_delta", struct {
		Type  string          `json:"type"`
		Delta stop            `json:"delta"`
		Usage *anthropicUsage `json:"usage,omitempty"`
	}{"message_delta", stop{Reason: [...]string{"end_turn", "max_tokens", "refusal"}[e.line.Finish]}, u})
	return appendEvent(b, "message_stop", map[string]string{"type": "message_stop"})
}

func (e *anthropic) fail(b []byte) []byte {
	return appendEvent(b, "error", anthropicErrorBody("overloaded_error", inBandMessage, e.id))
}

func anthropicErrorBody(kind, text, id string) any {
	type inner struct {
		Type    string `json:"type"`
		Message string `json:"message"`
	}
	return struct {
		Type      string `json:"type"`
		Error     inner  `json:"error"`
		RequestID string `json:"request_id"`
	}{"error", inner{kind, text}, "req_" + id}
}

func refuseAnthropic(h http.Header, r refusal) (int, any) {
	kind := "invalid_request_error"
	switch r.kind {
	case FaultAuth:
		kind, r.message = "authentication_error", "invalid x-api-key"
	case FaultQuota:
		kind = "billing_error"
	case FaultRateLimit:
		kind = "rate_limit_error"
		h.Set("Retry-After", seconds(r.retryAfter))
		h.Set("Anthropic-Ratelimit-Requests-Limit", "1")
		h.Set("Anthropic-Ratelimit-Requests-Remaining", "0")
	case FaultServer:
		kind = "api_error"
	case FaultOverloaded:
		kind, r.status = "overloaded_error", 529
	case FaultNone:
		if r.status == http.StatusNotFound {
			kind = "not_found_error"
		}
	}
	id := h.Get("X-Request-Id")
	h.Set("Request-Id", "req_"+id)
	return r.status, anthropicErrorBody(kind, r.message, id)
}
