package simulate

import (
	"encoding/json"
	"net/http"
	"time"
)

// ollama renders Ollama's native chat: one JSON object a line.
//
// https://github.com/ollama/ollama/blob/main/docs/api.md
type ollama struct{ *call }

type ollamaRequest struct {
	Model    string    `json:"model"`
	Messages []message `json:"messages"`
	Stream   *bool     `json:"stream"`
	Options  struct {
		NumPredict int `json:"num_predict"`
	} `json:"options"`
}

func parseOllama(_ *http.Request, body []byte) (call, error) {
	var q ollamaRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return call{}, err
	}
	c := call{model: q.Model, limit: max(0, q.Options.NumPredict), prompt: promptLen(q.Messages)} // -1 is no limit
	if q.Stream != nil && !*q.Stream {
		return c, errNotStreaming
	}
	return c, nil
}

type ollamaLine struct {
	Model      string        `json:"model"`
	CreatedAt  time.Time     `json:"created_at"`
	Message    ollamaMessage `json:"message"`
	DoneReason string        `json:"done_reason,omitempty"`
	Done       bool          `json:"done"`

	TotalDuration  time.Duration `json:"total_duration,omitempty"`
	LoadDuration   time.Duration `json:"load_duration,omitempty"`
	PromptCount    int           `json:"prompt_eval_count,omitempty"`
	PromptDuration time.Duration `json:"prompt_eval_duration,omitempty"`
	EvalCount      int           `json:"eval_count,omitempty"`
	EvalDuration   time.Duration `json:"eval_duration,omitempty"`
}

type ollamaMessage struct {
	Role     string `json:"role"`
	Content  string `json:"content"`
	Thinking string `json:"thinking,omitempty"`
}

func (e *ollama) header(h http.Header) { h.Set("Content-Type", "application/x-ndjson") }

func (e *ollama) open(b []byte) []byte { return b }

// keepAlive adds nothing: the format has no frame for it.
func (e *ollama) keepAlive(b []byte) []byte { return b }

func (e *ollama) object(made time.Time) ollamaLine {
	return ollamaLine{Model: e.model, CreatedAt: made.UTC(), Message: ollamaMessage{Role: "assistant"}}
}

func (e *ollama) output(b []byte, s Step, made time.Time) []byte {
	l := e.object(made)
	if s.Kind == StepReasoning {
		l.Message.Thinking = s.Text
	} else {
		l.Message.Content = s.Text
	}
	return append(appendJSON(b, l), '\n')
}

func (e *ollama) end(b []byte, made time.Time) []byte {
	l := e.object(made)
	l.Done = true
	l.DoneReason = "stop"
	if e.line.Finish == FinishLength {
		l.DoneReason = "length"
	}
	l.TotalDuration = made.Sub(e.created)
	if !e.shape.NoUsage {
		l.LoadDuration = time.Microsecond
		l.PromptCount, l.PromptDuration = e.input(), e.line.Prefill
		l.EvalCount, l.EvalDuration = e.line.Output(), e.line.Decode
	}
	return append(appendJSON(b, l), '\n')
}

func (e *ollama) fail(b []byte) []byte {
	return append(appendJSON(b, map[string]string{"error": inBandMessage}), '\n')
}

func refuseOllama(h http.Header, r refusal) (int, any) {
	switch r.kind {
	case FaultAuth:
		r.message = "unauthorized"
	case FaultQuota:
		r.status, r.message = http.StatusForbidden, "this model requires a subscription, upgrade for access"
	case FaultRateLimit:
		h.Set("Retry-After", seconds(r.retryAfter))
		r.message = "you (simulated) have reached your session usage limit"
	}
	return r.status, map[string]string{"error": r.message}
}
