package wire

import (
	"context"
	"io"
	"iter"
	"net/http"
	"strings"
)

// OpenAIResponses speaks the OpenAI Responses API, also as served by Azure, xAI,
// OpenRouter, LM Studio, Bedrock, Ollama and OpenCode.
//
// The answer is complete with response.completed or response.incomplete, the
// usual end of an answer that met its cap. Items are not matched by their ids,
// as some gateways change them between events.
//
// Source: https://platform.openai.com/docs/api-reference/responses-streaming.
type OpenAIResponses struct{}

// Name returns "openai_responses".
func (OpenAIResponses) Name() string { return "openai_responses" }

// Request builds a POST to BaseURL/responses.
func (OpenAIResponses) Request(ctx context.Context, t Target, p Prompt) (*http.Request, error) {
	field := t.CapField
	if field == "" {
		field = "max_output_tokens"
	}
	body := map[string]any{
		"model":  t.Model,
		"input":  p.Text,
		"stream": true,
		"store":  false,
		field:    p.MaxOutputTokens,
	}
	if t.ReasoningEffort != "" {
		body["reasoning"] = map[string]any{"effort": t.ReasoningEffort}
	}
	return post(ctx, t, "/responses", AuthBearer, body)
}

// Decode yields the events of a body.
func (OpenAIResponses) Decode(body io.Reader) iter.Seq2[Event, error] {
	return stream(newSSE(body), new(responsesDecoder), false)
}

type responsesDecoder struct{ texts }

func (d *responsesDecoder) decode(ev *Event, f frame) cursor {
	d.reset()
	c := cursor{b: f.data}
	kind := f.name
	var delta, item, response cursor
	failed := false
	for key := range c.members() {
		switch string(key) {
		case "type": // says more than the event name, which gateways drop or change
			if raw := c.raw(); len(raw) > 2 && raw[0] == '"' {
				kind = raw[1 : len(raw)-1]
			}
		case "delta":
			delta.b = c.raw()
		case "item":
			item.b = c.raw()
		case "response":
			response.b = c.raw()
		case "error":
			failed = c.given()
		default:
			c.skip()
		}
	}
	if c.bad {
		return c
	}
	switch string(kind) {
	case "response.output_text.delta":
		d.visible = delta.appendString(d.visible)
	case "response.reasoning_text.delta", "response.reasoning_summary_text.delta":
		d.reasoning = delta.appendString(d.reasoning)
	case "response.refusal.delta":
		ev.Refused = len(delta.b) > 0 && delta.given()
	case "response.output_item.added", "response.output_item.done":
		d.item(ev, &item)
	case "response.completed", "response.incomplete":
		ev.Last, ev.Complete = true, true
		d.response(ev, &response, strings.TrimPrefix(string(kind), "response."))
	case "response.failed", "response.cancelled":
		ev.Last, failed = true, true
		d.response(ev, &response, strings.TrimPrefix(string(kind), "response."))
	case "error":
		failed = true
	default:
		d.response(ev, &response, "")
	}
	ev.Visible, ev.Reasoning = d.visible, d.reasoning
	if failed {
		ev.Fail = failureOf(f.data)
	}
	return c
}

// item notes what kind of output item came.
func (d *responsesDecoder) item(ev *Event, c *cursor) {
	for key := range c.members() {
		if string(key) != "type" {
			c.skip()
			continue
		}
		switch kind := c.raw(); {
		case string(kind) == `"reasoning"`:
			ev.Hidden = true
		case strings.HasSuffix(string(kind), `_call"`):
			ev.Tool = true
		}
	}
}

// response reads the response object of a lifecycle event. ended is how the
// event says it ended, "" if it did not.
func (d *responsesDecoder) response(ev *Event, c *cursor, ended string) {
	reason, status := "", ""
	for key := range c.members() {
		switch string(key) {
		case "model":
			d.setModel(ev, c)
		case "usage":
			chatUsage(ev, c)
		case "status":
			status = c.text(d.finish, maxLabel)
		case "incomplete_details":
			reason = member(c, "reason")
		default:
			c.skip()
		}
	}
	if ended == "" {
		return
	}
	if status != "" && status != "in_progress" {
		ended = status // some servers call every end response.completed
	}
	if ended == "incomplete" && reason != "" {
		ended += ":" + reason
	}
	ev.Finish = ended
}

// member returns the string under name in the object at the cursor.
func member(c *cursor, name string) string {
	return strings.ToValidUTF8(string(appendMember(nil, c, name)), "\ufffd")
}
