package simulate

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"
)

// chat renders OpenAI Chat Completions, and with azure set the classic Azure
// deployment path, which puts a prompt filter frame first.
//
// https://platform.openai.com/docs/api-reference/chat-streaming
type chat struct {
	*call
	azure bool
}

type chatRequest struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	Stream              bool      `json:"stream"`
	MaxTokens           int       `json:"max_tokens"`
	MaxCompletionTokens int       `json:"max_completion_tokens"`
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
}

func parseChat(r *http.Request, body []byte) (call, error) {
	var q chatRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return call{}, err
	}
	c := call{model: q.Model, limit: q.MaxCompletionTokens, prompt: promptLen(q.Messages), usage: q.StreamOptions.IncludeUsage}
	if c.limit == 0 {
		c.limit = q.MaxTokens
	}
	if d := r.PathValue("deployment"); d != "" {
		c.model = d
	}
	if !q.Stream {
		return c, errNotStreaming
	}
	return c, nil
}

type chatChunk struct {
	ID                string          `json:"id"`
	Object            string          `json:"object"`
	Created           int64           `json:"created"`
	Model             string          `json:"model"`
	ServiceTier       string          `json:"service_tier,omitempty"`
	SystemFingerprint *string         `json:"system_fingerprint"`
	Choices           []chatChoice    `json:"choices"`
	Usage             json.RawMessage `json:"usage,omitempty"` // null until the last, absent if nobody asked
	PromptFilter      any             `json:"prompt_filter_results,omitempty"`
}

type chatChoice struct {
	Index        int       `json:"index"`
	Delta        chatDelta `json:"delta"`
	Logprobs     *struct{} `json:"logprobs"`
	FinishReason *string   `json:"finish_reason"`
	Filter       any       `json:"content_filter_results,omitempty"`
}

type chatDelta struct {
	Role      string  `json:"role,omitempty"`
	Content   *string `json:"content,omitempty"`
	Reasoning *string `json:"reasoning_content,omitempty"`
}

type chatUsage struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
	PromptDetails    struct {
		Cached int `json:"cached_tokens"`
		Audio  int `json:"audio_tokens"`
	} `json:"prompt_tokens_details"`
	CompletionDetails struct {
		Reasoning int `json:"reasoning_tokens"`
		Audio     int `json:"audio_tokens"`
		Accepted  int `json:"accepted_prediction_tokens"`
		Rejected  int `json:"rejected_prediction_tokens"`
	} `json:"completion_tokens_details"`
}

func (e *chat) header(h http.Header) {
	sseHeader(h)
	if e.azure {
		h.Set("X-Ms-Deployment-Name", e.model)
		h.Set("X-Ms-Region", "Simulated")
		return
	}
	h.Set("Openai-Processing-Ms", strconv.FormatInt(e.line.Prefill.Milliseconds(), 10))
}

func (e *chat) chunk(d chatDelta, finish *string) chatChunk {
	c := e.frame()
	c.Choices = []chatChoice{{Delta: d, FinishReason: finish}}
	if e.azure {
		c.Choices[0].Filter = struct{}{}
	}
	return c
}

func (e *chat) frame() chatChunk {
	c := chatChunk{
		ID: "chatcmpl-" + e.id, Object: "chat.completion.chunk", Created: e.created.Unix(),
		Model: e.model, ServiceTier: "default", Choices: []chatChoice{},
	}
	if e.usage {
		c.Usage = json.RawMessage("null")
	}
	return c
}

func (e *chat) open(b []byte) []byte {
	if e.azure {
		type m = map[string]any
		safe := m{"filtered": false, "severity": "safe"}
		b = appendEvent(b, "", chatChunk{Choices: []chatChoice{}, PromptFilter: []m{{
			"prompt_index":           0,
			"content_filter_results": m{"hate": safe, "self_harm": safe, "sexual": safe, "violence": safe},
		}}})
	}
	empty := ""
	return appendEvent(b, "", e.chunk(chatDelta{Role: "assistant", Content: &empty}, nil))
}

func (e *chat) keepAlive(b []byte) []byte { return append(b, ": keep-alive\n\n"...) }

func (e *chat) output(b []byte, s Step, _ time.Time) []byte {
	if s.Kind == StepReasoning {
		return appendEvent(b, "", e.chunk(chatDelta{Reasoning: &s.Text}, nil))
	}
	return appendEvent(b, "", e.chunk(chatDelta{Content: &s.Text}, nil))
}

func (e *chat) end(b []byte, _ time.Time) []byte {
	reason := [...]string{"stop", "length", "content_filter"}[e.line.Finish]
	b = appendEvent(b, "", e.chunk(chatDelta{}, &reason))
	if e.usage && !e.shape.NoUsage {
		var u chatUsage
		u.PromptTokens, u.CompletionTokens = e.input(), e.line.Output()
		u.TotalTokens = u.PromptTokens + u.CompletionTokens
		u.PromptDetails.Cached = e.cached()
		u.CompletionDetails.Reasoning = e.reasoning()
		c := e.frame()
		c.Usage = appendJSON(nil, u)
		b = appendEvent(b, "", c)
	}
	return append(b, "data: [DONE]\n\n"...)
}

func (e *chat) fail(b []byte) []byte {
	return appendEvent(b, "", chatErrorBody(refusal{kind: FaultServer, message: inBandMessage}))
}

const inBandMessage = "The simulated model failed while it was answering."

type chatErr struct {
	Error struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	} `json:"error"`
}

func chatErrorBody(r refusal) chatErr {
	var e chatErr
	e.Error.Message = r.message
	code := ""
	switch {
	case r.kind == FaultAuth:
		e.Error.Type, code = "invalid_request_error", "invalid_api_key"
	case r.kind == FaultQuota:
		e.Error.Type, code = "insufficient_quota", "insufficient_quota"
	case r.kind == FaultRateLimit:
		e.Error.Type, code = "requests", "rate_limit_exceeded"
	case r.kind != FaultNone:
		e.Error.Type, code = "server_error", "server_error"
	case r.status == http.StatusNotFound:
		e.Error.Type, code = "invalid_request_error", "model_not_found"
	default:
		e.Error.Type = "invalid_request_error"
	}
	if code != "" {
		e.Error.Code = &code
	}
	return e
}

func refuseChat(h http.Header, r refusal) (int, any) {
	if r.kind == FaultRateLimit {
		h.Set("Retry-After", seconds(r.retryAfter))
		h.Set("X-Ratelimit-Limit-Requests", "1")
		h.Set("X-Ratelimit-Remaining-Requests", "0")
		h.Set("X-Ratelimit-Reset-Requests", r.retryAfter.String())
	}
	return r.status, chatErrorBody(r)
}

func refuseAzure(h http.Header, r refusal) (int, any) {
	if r.kind == FaultRateLimit {
		h.Set("Retry-After", seconds(r.retryAfter))
		h.Set("Retry-After-Ms", strconv.FormatInt(r.retryAfter.Milliseconds(), 10))
	}
	code := strconv.Itoa(r.status)
	switch {
	case r.kind == FaultRateLimit:
		code = "RateLimitReached"
	case r.status == http.StatusNotFound:
		code = "DeploymentNotFound"
	}
	return r.status, map[string]any{"error": map[string]string{"code": code, "message": r.message}}
}
