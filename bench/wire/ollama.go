package wire

import (
	"context"
	"io"
	"iter"
	"net/http"
)

// Ollama speaks Ollama's native API, local or ollama.com: newline-delimited
// JSON from /api/chat. Bodies of /api/generate decode too.
//
// The answer is complete with done:true. eval_count includes the thinking, of
// which there is no count. prompt_eval_count is absent when the whole prompt
// was cached. ollama.com leaves the durations out.
//
// Source: https://docs.ollama.com/api/chat.
type Ollama struct{}

// Name returns "ollama".
func (Ollama) Name() string { return "ollama" }

// Request builds a POST to BaseURL/api/chat. A ReasoningEffort of "none" or
// "true" becomes the booleans that most thinking models take; others stay words.
func (Ollama) Request(ctx context.Context, t Target, p Prompt) (*http.Request, error) {
	field := t.CapField
	if field == "" {
		field = "num_predict"
	}
	body := map[string]any{
		"model":    t.Model,
		"messages": []any{map[string]any{"role": "user", "content": p.Text}},
		"stream":   true,
		"options":  map[string]any{field: p.MaxOutputTokens},
	}
	switch t.ReasoningEffort {
	case "":
	case "none", "false", "off":
		body["think"] = false
	case "true", "on":
		body["think"] = true
	default:
		body["think"] = t.ReasoningEffort
	}
	return post(ctx, t, "/api/chat", AuthBearer, body)
}

// Decode yields the lines of a body.
func (Ollama) Decode(body io.Reader) iter.Seq2[Event, error] {
	return stream(newNDJSON(body), new(ollamaDecoder), false)
}

type ollamaDecoder struct{ texts }

func (d *ollamaDecoder) decode(ev *Event, f frame) cursor {
	d.reset()
	c := cursor{b: f.data}
	failed := false
	for key := range c.members() {
		switch string(key) {
		case "message":
			d.message(ev, &c)
		case "response": // /api/generate
			d.visible = c.appendString(d.visible[:0])
		case "thinking":
			d.reasoning = c.appendString(d.reasoning[:0])
		case "model":
			d.setModel(ev, &c)
		case "done":
			ev.Last = c.truth()
		case "done_reason":
			d.setFinish(ev, &c)
		case "prompt_eval_count":
			ev.Usage.Input = c.count()
		case "eval_count":
			ev.Usage.Output = c.count()
		case "prompt_eval_duration":
			ev.Server.PromptMS = c.nanos()
		case "eval_duration":
			ev.Server.DecodeMS = c.nanos()
		case "total_duration":
			ev.Server.TotalMS = c.nanos()
		case "load_duration":
			ev.Server.QueueMS = c.nanos() // before work on the prompt began
		case "error":
			failed = c.given() || failed
		default:
			c.skip()
		}
	}
	ev.Visible, ev.Reasoning = d.visible, d.reasoning
	ev.Complete = ev.Last && !failed
	if ms := ev.Server.DecodeMS; ms > 0 && ev.Usage.Output.Known {
		ev.Server.DecodeTPS = float64(ev.Usage.Output.N) / ms * 1e3
	}
	if failed {
		ev.Fail = failureOf(f.data)
	}
	return c
}

func (d *ollamaDecoder) message(ev *Event, c *cursor) {
	for key := range c.members() {
		switch string(key) {
		case "content":
			d.visible = c.appendString(d.visible[:0])
		case "thinking":
			d.reasoning = c.appendString(d.reasoning[:0])
		case "tool_calls":
			ev.Tool = c.given() || ev.Tool
		default:
			c.skip()
		}
	}
}
