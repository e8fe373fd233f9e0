package wire

import (
	"context"
	"io"
	"iter"
	"net/http"
)

// Anthropic speaks the Anthropic Messages API, also as served by Vertex, Bedrock,
// OpenCode and other gateways.
//
// The answer is complete with message_stop. message_start has the input usage
// and a placeholder for the output, which is left out; message_delta has the
// cumulative output.
//
// Source: https://docs.claude.com/en/docs/build-with-claude/streaming.
type Anthropic struct{}

// Name returns "anthropic".
func (Anthropic) Name() string { return "anthropic" }

// Request builds a POST to BaseURL/messages. Without a ReasoningEffort thinking
// is left out, which is off; "none" turns it off where it is not; any other
// effort asks for adaptive thinking, as a budget of thinking tokens would have
// to be smaller than the output cap and yet at least 1024.
func (Anthropic) Request(ctx context.Context, t Target, p Prompt) (*http.Request, error) {
	field := t.CapField
	if field == "" {
		field = "max_tokens"
	}
	body := map[string]any{
		"model":    t.Model,
		"messages": []any{map[string]any{"role": "user", "content": p.Text}},
		"stream":   true,
		field:      p.MaxOutputTokens,
	}
	switch t.ReasoningEffort {
	case "":
	case "none", "off":
		body["thinking"] = map[string]any{"type": "disabled"}
	default:
		body["thinking"] = map[string]any{"type": "adaptive"}
		body["output_config"] = map[string]any{"effort": t.ReasoningEffort}
	}
	return post(ctx, t, "/messages", AuthXAPIKey, body, header{"Anthropic-Version", "2023-06-01"})
}

// Decode yields the events of a body.
func (Anthropic) Decode(body io.Reader) iter.Seq2[Event, error] {
	return stream(newSSE(body), new(anthropicDecoder), false)
}

type anthropicDecoder struct{ texts }

func (d *anthropicDecoder) decode(ev *Event, f frame) cursor {
	d.reset()
	c := cursor{b: f.data}
	kind := f.name
	var delta, block, message, usage cursor
	failed := false
	for key := range c.members() {
		switch string(key) {
		case "type":
			if raw := c.raw(); len(raw) > 2 && raw[0] == '"' {
				kind = raw[1 : len(raw)-1]
			}
		case "delta":
			delta.b = c.raw()
		case "content_block":
			block.b = c.raw()
		case "message":
			message.b = c.raw()
		case "usage":
			usage.b = c.raw()
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
	case "message_start":
		d.message(ev, &message)
	case "content_block_start":
		d.block(ev, &block)
	case "content_block_delta":
		d.block(ev, &delta)
	case "message_delta":
		d.block(ev, &delta)
		anthropicUsage(ev, &usage)
	case "message_stop":
		ev.Last, ev.Complete = true, true
	case "error":
		failed = true
	}
	ev.Visible, ev.Reasoning = d.visible, d.reasoning
	if failed {
		ev.Fail = failureOf(f.data)
	}
	return c
}

func (d *anthropicDecoder) message(ev *Event, c *cursor) {
	for key := range c.members() {
		switch string(key) {
		case "model":
			d.setModel(ev, c)
		case "usage":
			anthropicUsage(ev, c)
			// A placeholder, which an answer that breaks off would keep as its count.
			ev.Usage.Output = Count{}
		default:
			c.skip()
		}
	}
}

// block reads a content block or a delta of one or of the message. Its fields
// tell them apart as well as its type does: signatures, citations and encrypted
// thinking have others.
func (d *anthropicDecoder) block(ev *Event, c *cursor) {
	for key := range c.members() {
		switch string(key) {
		case "text":
			d.visible = c.appendString(d.visible[:0])
		case "thinking":
			d.reasoning = c.appendString(d.reasoning[:0])
		case "type":
			switch string(c.raw()) {
			case `"redacted_thinking"`:
				ev.Hidden = true
			case `"tool_use"`, `"server_tool_use"`, `"input_json_delta"`:
				ev.Tool = true
			}
		case "stop_reason":
			d.setFinish(ev, c)
		default:
			c.skip()
		}
	}
}

func anthropicUsage(ev *Event, c *cursor) {
	var u Usage
	for key := range c.members() {
		switch string(key) {
		case "input_tokens":
			u.Input = c.count()
		case "cache_read_input_tokens":
			u.Cached = c.count()
		case "cache_creation_input_tokens":
			u.CacheNew = c.count()
		case "output_tokens":
			u.Output = c.count()
		case "output_tokens_details":
			u.Reasoning = memberCount(c, "thinking_tokens")
		default:
			c.skip()
		}
	}
	if !u.IsZero() {
		u.CachedApart = true
	}
	ev.Usage = u
}
