package simulate

import (
	"encoding/json"
	"net/http"
	"strings"
	"time"
)

// responses renders OpenAI Responses: numbered events, one terminal event with
// the usage, no [DONE].
//
// https://platform.openai.com/docs/api-reference/responses-streaming
type responses struct {
	*call
	seq      int
	items    []respItem // items that are done
	item     *respItem  // the open item
	thoughts strings.Builder
	text     strings.Builder
}

type responsesRequest struct {
	Model           string          `json:"model"`
	Instructions    string          `json:"instructions"`
	Input           json.RawMessage `json:"input"`
	MaxOutputTokens int             `json:"max_output_tokens"`
	Stream          bool            `json:"stream"`
}

func parseResponses(_ *http.Request, body []byte) (call, error) {
	var q responsesRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return call{}, err
	}
	c := call{model: q.Model, limit: q.MaxOutputTokens, prompt: len([]rune(q.Instructions)) + contentLen(q.Input)}
	if !q.Stream {
		return c, errNotStreaming
	}
	return c, nil
}

type respEvent struct {
	Type         string      `json:"type"`
	Sequence     int         `json:"sequence_number"`
	Response     *respObject `json:"response,omitempty"`
	OutputIndex  *int        `json:"output_index,omitempty"`
	ItemID       string      `json:"item_id,omitempty"`
	ContentIndex *int        `json:"content_index,omitempty"`
	SummaryIndex *int        `json:"summary_index,omitempty"`
	Item         *respItem   `json:"item,omitempty"`
	Part         *respPart   `json:"part,omitempty"`
	Delta        *string     `json:"delta,omitempty"`
	Text         *string     `json:"text,omitempty"`
	Logprobs     *[]struct{} `json:"logprobs,omitempty"`
	Error        *respError  `json:"error,omitempty"`
}

type respObject struct {
	ID              string          `json:"id"`
	Object          string          `json:"object"`
	CreatedAt       int64           `json:"created_at"`
	Status          string          `json:"status"`
	Background      bool            `json:"background"`
	Error           *respError      `json:"error"`
	Incomplete      *respIncomplete `json:"incomplete_details"`
	Instructions    *string         `json:"instructions"`
	MaxOutputTokens *int            `json:"max_output_tokens"`
	Model           string          `json:"model"`
	Output          []respItem      `json:"output"`
	ParallelTools   bool            `json:"parallel_tool_calls"`
	Previous        *string         `json:"previous_response_id"`
	Store           bool            `json:"store"`
	Temperature     float64         `json:"temperature"`
	ToolChoice      string          `json:"tool_choice"`
	Tools           []struct{}      `json:"tools"`
	TopP            float64         `json:"top_p"`
	Truncation      string          `json:"truncation"`
	Usage           *respUsage      `json:"usage"`
	Metadata        struct{}        `json:"metadata"`
}

type respIncomplete struct {
	Reason string `json:"reason"`
}

type respError struct {
	Type    string  `json:"type,omitempty"`
	Code    string  `json:"code"`
	Message string  `json:"message"`
	Param   *string `json:"param,omitempty"`
}

type respUsage struct {
	Input        int `json:"input_tokens"`
	InputDetails struct {
		Cached int `json:"cached_tokens"`
	} `json:"input_tokens_details"`
	Output        int `json:"output_tokens"`
	OutputDetails struct {
		Reasoning int `json:"reasoning_tokens"`
	} `json:"output_tokens_details"`
	Total int `json:"total_tokens"`
}

type respItem struct {
	ID      string      `json:"id"`
	Type    string      `json:"type"`
	Status  string      `json:"status,omitempty"`
	Summary *[]respPart `json:"summary,omitempty"`
	Content *[]respPart `json:"content,omitempty"`
	Role    string      `json:"role,omitempty"`
}

type respPart struct {
	Type        string      `json:"type"`
	Annotations *[]struct{} `json:"annotations,omitempty"`
	Logprobs    *[]struct{} `json:"logprobs,omitempty"`
	Text        string      `json:"text"`
}

func outputText(text string) respPart {
	return respPart{Type: "output_text", Annotations: &[]struct{}{}, Logprobs: &[]struct{}{}, Text: text}
}

func summaryText(text string) respPart { return respPart{Type: "summary_text", Text: text} }

func (e *responses) header(h http.Header) { sseHeader(h) }

// event appends one event and numbers it.
func (e *responses) event(b []byte, ev respEvent) []byte {
	ev.Sequence = e.seq
	e.seq++
	return appendEvent(b, ev.Type, ev)
}

// inItem fills in where in the output an event belongs.
func (e *responses) inItem(ev respEvent) respEvent {
	index, zero := len(e.items), 0
	ev.OutputIndex, ev.ItemID = &index, e.item.ID
	if e.item.Type == "reasoning" {
		ev.SummaryIndex = &zero
	} else {
		ev.ContentIndex = &zero
	}
	return ev
}

func (e *responses) response(status string) *respObject {
	r := &respObject{
		ID: "resp_" + e.id, Object: "response", CreatedAt: e.created.Unix(), Status: status, Model: e.model,
		Output: append([]respItem{}, e.items...), ParallelTools: true, Temperature: 1, ToolChoice: "auto",
		Tools: []struct{}{}, TopP: 1, Truncation: "disabled",
	}
	if e.limit > 0 {
		r.MaxOutputTokens = &e.limit
	}
	return r
}

func (e *responses) open(b []byte) []byte {
	b = e.event(b, respEvent{Type: "response.created", Response: e.response("in_progress")})
	b = e.event(b, respEvent{Type: "response.in_progress", Response: e.response("in_progress")})
	if e.reasoning() > 0 {
		b = e.enter(b, "reasoning")
	}
	return b
}

func (e *responses) keepAlive(b []byte) []byte { return append(b, ": keep-alive\n\n"...) }

// enter makes an item of that type ("reasoning" or "message") the open one.
func (e *responses) enter(b []byte, kind string) []byte {
	if e.item != nil && e.item.Type == kind {
		return b
	}
	b = e.leave(b)
	index := len(e.items)
	e.item = &respItem{ID: "rs_" + e.id, Type: kind, Summary: &[]respPart{}}
	if kind == "message" {
		e.item = &respItem{ID: "msg_" + e.id, Type: kind, Status: "in_progress", Content: &[]respPart{}, Role: "assistant"}
	}
	b = e.event(b, respEvent{Type: "response.output_item.added", OutputIndex: &index, Item: e.item})
	if kind == "message" {
		part := outputText("")
		b = e.event(b, e.inItem(respEvent{Type: "response.content_part.added", Part: &part}))
	}
	return b
}

// leave ends the open item, if any, repeating its whole text as the format does.
func (e *responses) leave(b []byte) []byte {
	if e.item == nil {
		return b
	}
	item, index := *e.item, len(e.items)
	if text := e.thoughts.String(); item.Type == "reasoning" && text != "" {
		part := summaryText(text)
		b = e.event(b, e.inItem(respEvent{Type: "response.reasoning_summary_text.done", Text: &text}))
		b = e.event(b, e.inItem(respEvent{Type: "response.reasoning_summary_part.done", Part: &part}))
		item.Summary = &[]respPart{part}
	}
	if item.Type == "message" {
		text := e.text.String()
		part := outputText(text)
		b = e.event(b, e.inItem(respEvent{Type: "response.output_text.done", Text: &text, Logprobs: &[]struct{}{}}))
		b = e.event(b, e.inItem(respEvent{Type: "response.content_part.done", Part: &part}))
		item.Content = &[]respPart{part}
		item.Status = "completed"
		if e.line.Finish == FinishLength {
			item.Status = "incomplete"
		}
	}
	b = e.event(b, respEvent{Type: "response.output_item.done", OutputIndex: &index, Item: &item})
	e.items, e.item = append(e.items, item), nil
	return b
}

func (e *responses) output(b []byte, s Step, _ time.Time) []byte {
	if s.Kind == StepReasoning {
		b = e.enter(b, "reasoning")
		if e.thoughts.Len() == 0 {
			part := summaryText("")
			b = e.event(b, e.inItem(respEvent{Type: "response.reasoning_summary_part.added", Part: &part}))
		}
		e.thoughts.WriteString(s.Text)
		return e.event(b, e.inItem(respEvent{Type: "response.reasoning_summary_text.delta", Delta: &s.Text}))
	}
	b = e.enter(b, "message")
	e.text.WriteString(s.Text)
	return e.event(b, e.inItem(respEvent{Type: "response.output_text.delta", Delta: &s.Text, Logprobs: &[]struct{}{}}))
}

func (e *responses) end(b []byte, _ time.Time) []byte {
	b = e.leave(b)
	r := e.response("completed")
	if e.line.Finish != FinishStop {
		r.Status = "incomplete"
		r.Incomplete = &respIncomplete{Reason: "max_output_tokens"}
		if e.line.Finish == FinishFiltered {
			r.Incomplete.Reason = "content_filter"
		}
	}
	if !e.shape.NoUsage {
		u := &respUsage{Input: e.input(), Output: e.line.Output(), Total: e.input() + e.line.Output()}
		u.InputDetails.Cached, u.OutputDetails.Reasoning = e.cached(), e.reasoning()
		r.Usage = u
	}
	return e.event(b, respEvent{Type: "response." + r.Status, Response: r})
}

func (e *responses) fail(b []byte) []byte {
	err := respError{Code: "server_error", Message: inBandMessage}
	typed := err
	typed.Type = "server_error"
	b = e.event(b, respEvent{Type: "error", Error: &typed})
	r := e.response("failed")
	r.Error = &err
	return e.event(b, respEvent{Type: "response.failed", Response: r})
}
