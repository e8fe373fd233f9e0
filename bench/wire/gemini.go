package wire

import (
	"context"
	"io"
	"iter"
	"net/http"
	"strconv"
	"strings"
)

// Gemini speaks the Gemini API's streamGenerateContent with alt=sse, also as
// served by Vertex and OpenCode.
//
// The answer is complete with a finish reason, or with a block reason for a
// prompt that was blocked. Old models repeat STOP in every chunk, so only the
// one that comes with or after the last text tells.
//
// Source: https://ai.google.dev/api/generate-content.
type Gemini struct{}

// Name returns "gemini".
func (Gemini) Name() string { return "gemini" }

// Request builds a POST to BaseURL/models/{model}:streamGenerateContent. A
// ReasoningEffort in words is a thinkingLevel, as Gemini 3 takes; a number, or
// "none" for 0 and "dynamic" for -1, is a thinkingBudget, as Gemini 2.5 takes.
func (Gemini) Request(ctx context.Context, t Target, p Prompt) (*http.Request, error) {
	field := t.CapField
	if field == "" {
		field = "maxOutputTokens"
	}
	config := map[string]any{field: p.MaxOutputTokens}
	switch budget, err := strconv.Atoi(t.ReasoningEffort); {
	case t.ReasoningEffort == "":
	case t.ReasoningEffort == "none":
		config["thinkingConfig"] = map[string]any{"thinkingBudget": 0}
	case t.ReasoningEffort == "dynamic":
		config["thinkingConfig"] = map[string]any{"thinkingBudget": -1}
	case err == nil:
		config["thinkingConfig"] = map[string]any{"thinkingBudget": budget}
	default:
		config["thinkingConfig"] = map[string]any{"thinkingLevel": t.ReasoningEffort}
	}
	body := map[string]any{
		"contents":         []any{map[string]any{"role": "user", "parts": []any{map[string]any{"text": p.Text}}}},
		"generationConfig": config,
	}
	t.Model = strings.TrimPrefix(t.Model, "models/") // as the list spells it
	return post(ctx, t, "/models/{model}:streamGenerateContent?alt=sse", AuthGoogle, body)
}

// Decode yields the chunks of a body.
func (Gemini) Decode(body io.Reader) iter.Seq2[Event, error] {
	return stream(newSSE(body), new(geminiDecoder), false)
}

type geminiDecoder struct{ texts }

func (d *geminiDecoder) decode(ev *Event, f frame) cursor {
	d.reset()
	c := cursor{b: f.data}
	failed := false
	blocked := ""
	for key := range c.members() {
		switch string(key) {
		case "candidates":
			d.candidates(ev, &c)
		case "usageMetadata":
			geminiUsage(ev, &c)
		case "promptFeedback":
			blocked = member(&c, "blockReason")
		case "modelVersion":
			d.setModel(ev, &c)
		case "error":
			failed = c.given()
		default:
			c.skip()
		}
	}
	ev.Visible, ev.Reasoning = d.visible, d.reasoning
	if ev.Finish == "" && blocked != "" {
		ev.Finish = "blocked:" + blocked
	}
	ev.Complete = ev.Finish != "" && !failed
	if failed {
		ev.Fail = failureOf(f.data)
	}
	return c
}

// candidates reads candidate 0.
func (d *geminiDecoder) candidates(ev *Event, c *cursor) {
	for range c.elements() {
		var content, finish cursor
		index := int64(0)
		for key := range c.members() {
			switch string(key) {
			case "content":
				content.b = c.raw()
			case "finishReason":
				finish.b = c.raw()
			case "index":
				index = c.count().N
			default:
				c.skip()
			}
		}
		if index != 0 {
			continue
		}
		d.content(ev, &content)
		if string(finish.b) != `"FINISH_REASON_UNSPECIFIED"` {
			d.setFinish(ev, &finish)
		}
	}
}

func (d *geminiDecoder) content(ev *Event, c *cursor) {
	for key := range c.members() {
		if string(key) != "parts" {
			c.skip()
			continue
		}
		for range c.elements() {
			d.part(ev, c)
		}
	}
}

func (d *geminiDecoder) part(ev *Event, c *cursor) {
	var text cursor
	thought := false
	for key := range c.members() {
		switch string(key) {
		case "text":
			text.b = c.raw()
		case "thought":
			thought = c.truth()
		case "functionCall":
			ev.Tool = c.given() || ev.Tool
		default:
			c.skip()
		}
	}
	switch {
	case len(text.b) == 0:
	case thought:
		d.reasoning = text.appendString(d.reasoning)
	default:
		d.visible = text.appendString(d.visible)
	}
}

func geminiUsage(ev *Event, c *cursor) {
	var u Usage
	for key := range c.members() {
		switch string(key) {
		case "promptTokenCount":
			u.Input = c.count()
		case "cachedContentTokenCount":
			u.Cached = c.count()
		case "candidatesTokenCount":
			u.Output = c.count()
		case "thoughtsTokenCount":
			u.Reasoning = c.count()
		case "totalTokenCount":
			u.Total = c.count()
		default:
			c.skip()
		}
	}
	if !u.IsZero() {
		u.ReasoningApart = true
	}
	ev.Usage = u
}
