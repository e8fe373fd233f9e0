package wire

import (
	"context"
	"io"
	"iter"
	"net/http"
	"strings"
)

// OpenAIChat speaks the OpenAI Chat Completions API and what other providers
// made of it: Azure OpenAI (its deployments are a Target.Path), OpenRouter,
// OpenCode, Groq, Mistral, DeepSeek, Cerebras, xAI, Perplexity, vLLM, llama.cpp.
//
// The answer is complete with a finish reason or [DONE]: some providers never
// send the one, some never the other.
//
// Source: https://platform.openai.com/docs/api-reference/chat-streaming.
type OpenAIChat struct{}

// Name returns "openai_chat".
func (OpenAIChat) Name() string { return "openai_chat" }

// Request builds a POST to BaseURL/chat/completions.
func (OpenAIChat) Request(ctx context.Context, t Target, p Prompt) (*http.Request, error) {
	field := t.CapField
	if field == "" {
		field = chatCapField(t.BaseURL)
	}
	body := map[string]any{
		"model":    t.Model,
		"messages": []any{map[string]any{"role": "user", "content": p.Text}},
		"stream":   true,
		field:      p.MaxOutputTokens,
	}
	if !t.NoStreamOptions {
		body["stream_options"] = map[string]any{"include_usage": true}
	}
	if t.ReasoningEffort != "" {
		body["reasoning_effort"] = t.ReasoningEffort
	}
	return post(ctx, t, "/chat/completions", AuthBearer, body)
}

// chatCapField is the default name of the output cap. OpenAI's reasoning models
// reject max_tokens with a 400. Most other servers know only max_tokens, and
// one that ignores the cap would answer without end; so its newer name is used
// only where OpenAI's models are.
func chatCapField(baseURL string) string {
	for _, host := range []string{"//api.openai.com/", ".openai.azure.com/", ".cognitiveservices.azure.com/", ".services.ai.azure.com/openai/"} {
		if strings.Contains(strings.ToLower(baseURL)+"/", host) {
			return "max_completion_tokens"
		}
	}
	return "max_tokens"
}

// Decode yields the chunks of a body.
func (OpenAIChat) Decode(body io.Reader) iter.Seq2[Event, error] {
	return stream(newSSE(body), new(chatDecoder), true)
}

type chatDecoder struct{ texts }

func (d *chatDecoder) decode(ev *Event, f frame) cursor {
	d.reset()
	c := cursor{b: f.data}
	failed := false
	for key := range c.members() {
		switch string(key) {
		case "choices":
			failed = d.choices(ev, &c) || failed
		case "usage":
			chatUsage(ev, &c)
		case "model":
			d.setModel(ev, &c)
		case "provider": // OpenRouter: who served
			d.setBackend(ev, &c)
		case "error":
			failed = c.given() || failed
		case "object":
			failed = string(c.raw()) == `"error"` || failed
		case "x_groq":
			failed = groqExtra(ev, &c) || failed
		case "time_info": // Cerebras
			secondsTiming(&ev.Server, &c)
		case "timings": // llama.cpp
			llamaTiming(&ev.Server, &c)
		case "latency_checkpoint": // Azure
			azureTiming(&ev.Server, &c)
		default:
			c.skip()
		}
	}
	ev.Visible, ev.Reasoning = d.visible, d.reasoning
	ev.Complete = ev.Finish != "" && !failed
	switch {
	case failed:
		ev.Fail = failureOf(f.data)
	case ev.Finish == "error": // OpenRouter and Mistral, without an error object
		ev.Fail = &Failure{Kind: KindServer, Detail: DetailInStream}
	case ev.Finish == "insufficient_system_resource": // DeepSeek broke off
		ev.Fail = &Failure{Kind: KindServer, Detail: DetailOverloaded}
	}
	return c
}

// choices reads choice 0 of a chunk; others belong to other answers. It
// reports whether the choice holds an error.
func (d *chatDecoder) choices(ev *Event, c *cursor) (failed bool) {
	for range c.elements() {
		var delta, finish, fault cursor
		index := int64(0)
		for key := range c.members() {
			switch string(key) {
			case "delta":
				delta.b = c.raw()
			case "finish_reason":
				finish.b = c.raw()
			case "error":
				fault.b = c.raw()
			case "usage": // Moonshot
				chatUsage(ev, c)
			case "index":
				index = c.count().N
			default:
				// Also "message", in which Perplexity repeats the whole answer.
				c.skip()
			}
		}
		if index != 0 {
			continue
		}
		d.delta(ev, &delta)
		d.setFinish(ev, &finish)
		failed = len(fault.b) > 0 && fault.given() || failed
	}
	return failed
}

func (d *chatDecoder) delta(ev *Event, c *cursor) {
	seen, thought := len(d.visible), len(d.reasoning)
	for key := range c.members() {
		switch string(key) {
		case "content":
			d.visible = d.visible[:seen] // a repeated key replaces the first
			if c.peek() == '[' {
				d.parts(c)
			} else {
				d.visible = c.appendString(d.visible)
			}
		case "reasoning_content", "reasoning", "reasoning_text":
			// If a chunk has two of these, they are copies of one text.
			if len(d.reasoning) > thought {
				c.skip()
			} else {
				d.reasoning = c.appendString(d.reasoning)
			}
		case "reasoning_details":
			if len(d.reasoning) > thought {
				c.skip()
			} else {
				d.details(ev, c)
			}
		case "refusal":
			ev.Refused = c.given() || ev.Refused
		case "tool_calls", "function_call":
			ev.Tool = c.given() || ev.Tool
		default:
			c.skip()
		}
	}
}

// parts reads content that is an array (Mistral): {"type":"text","text":…} or
// {"type":"thinking","thinking":[{"type":"text","text":…}]}.
func (d *chatDecoder) parts(c *cursor) {
	for range c.elements() {
		var text cursor
		thinking := false
		for key := range c.members() {
			switch string(key) {
			case "type":
				thinking = string(c.raw()) == `"thinking"`
			case "text":
				text.b = c.raw()
			case "thinking":
				if c.peek() == '[' {
					for range c.elements() {
						d.reasoning = appendMember(d.reasoning, c, "text")
					}
				} else {
					d.reasoning = c.appendString(d.reasoning)
				}
			default:
				c.skip()
			}
		}
		switch {
		case len(text.b) == 0:
		case thinking:
			d.reasoning = text.appendString(d.reasoning)
		default:
			d.visible = text.appendString(d.visible)
		}
	}
}

// details reads OpenRouter's reasoning_details: objects with a text, a summary,
// or encrypted data.
func (d *chatDecoder) details(ev *Event, c *cursor) {
	for range c.elements() {
		for key := range c.members() {
			switch string(key) {
			case "text", "summary":
				d.reasoning = c.appendString(d.reasoning)
			case "data":
				ev.Hidden = c.given() || ev.Hidden
			default:
				c.skip()
			}
		}
	}
}

// appendMember appends the string under name in the object at the cursor.
func appendMember(dst []byte, c *cursor, name string) []byte {
	for key := range c.members() {
		if string(key) == name {
			dst = c.appendString(dst)
		} else {
			c.skip()
		}
	}
	return dst
}

// chatUsage reads usage, and Groq's times beside it. Cached and reasoning counts
// may stand at the top level (Together, Copilot) or under a name of DeepSeek's.
func chatUsage(ev *Event, c *cursor) {
	var u Usage
	var cached, reasoning Count // the less specific places
	for key := range c.members() {
		switch string(key) {
		case "prompt_tokens", "input_tokens":
			u.Input = c.count().or(u.Input)
		case "completion_tokens", "output_tokens":
			u.Output = c.count().or(u.Output)
		case "total_tokens":
			u.Total = c.count()
		case "prompt_tokens_details", "input_tokens_details":
			u.Cached = memberCount(c, "cached_tokens").or(u.Cached)
		case "completion_tokens_details", "output_tokens_details":
			u.Reasoning = memberCount(c, "reasoning_tokens").or(u.Reasoning)
		case "cached_tokens", "prompt_cache_hit_tokens":
			cached = c.count().or(cached)
		case "reasoning_tokens":
			reasoning = c.count()
		case "queue_time":
			ev.Server.QueueMS = c.seconds()
		case "prompt_time":
			ev.Server.PromptMS = c.seconds()
		case "completion_time":
			ev.Server.DecodeMS = c.seconds()
		case "total_time":
			ev.Server.TotalMS = c.seconds()
		default:
			c.skip()
		}
	}
	u.Cached, u.Reasoning = u.Cached.or(cached), u.Reasoning.or(reasoning)
	ev.Usage = ev.Usage.Merge(u)
}

// memberCount returns the count under name in the object at the cursor.
func memberCount(c *cursor, name string) (n Count) {
	for key := range c.members() {
		if string(key) == name {
			n = c.count()
		} else {
			c.skip()
		}
	}
	return n
}

// groqExtra reads x_groq: usage as it was before stream_options, or an error.
func groqExtra(ev *Event, c *cursor) (failed bool) {
	for key := range c.members() {
		switch string(key) {
		case "usage":
			chatUsage(ev, c)
		case "error":
			failed = c.given()
		default:
			c.skip()
		}
	}
	return failed
}
