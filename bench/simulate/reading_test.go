package simulate

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A reading is what a client makes of one answer. The readers below follow the
// public descriptions of the formats and share no code with the encoders.
type reading struct {
	text, thoughts string
	visible        int // events with text
	finish         string
	done           bool // the format's end marker was there
	failed         bool // the stream reports an error
	input, cached  int
	output         int // all generated tokens, reasoning included
	reasoning      int
	usage          bool
	comments       int
}

// An api is one wire format from a client's side.
type api struct {
	name   string
	path   func(model string) string
	body   func(model string, limit int) map[string]any
	read   func(body string) (reading, error)
	finish map[Finish]string
	hides  bool // the format has no separate count of reasoning
}

func fixed(path string) func(string) string { return func(string) string { return path } }

type object = map[string]any

func userMessage() []object {
	return []object{{"role": "user", "content": "Explain HTTP request routing."}}
}

func chatBody(model string, limit int) map[string]any {
	b := object{"model": model, "messages": userMessage(), "stream": true, "stream_options": object{"include_usage": true}}
	if limit > 0 {
		b["max_completion_tokens"] = limit
	}
	return b
}

// apis returns every wire format the server speaks.
func apis() []api {
	chatFinish := map[Finish]string{FinishStop: "stop", FinishLength: "length", FinishFiltered: "content_filter"}
	return []api{
		{name: "openai_chat", path: fixed("/v1/chat/completions"), body: chatBody, read: readChat, finish: chatFinish},
		{name: "azure", path: func(m string) string { return "/openai/deployments/" + m + "/chat/completions?api-version=2024-10-21" },
			body: chatBody, read: readChat, finish: chatFinish},
		{name: "openai_responses", path: fixed("/v1/responses"), read: readResponses,
			body: func(model string, limit int) map[string]any {
				b := object{"model": model, "input": "Explain HTTP request routing.", "stream": true}
				if limit > 0 {
					b["max_output_tokens"] = limit
				}
				return b
			},
			finish: map[Finish]string{FinishStop: "completed", FinishLength: "max_output_tokens", FinishFiltered: "content_filter"}},
		{name: "anthropic", path: fixed("/v1/messages"), read: readAnthropic,
			body: func(model string, limit int) map[string]any {
				if limit == 0 {
					limit = 1 << 20
				}
				return object{"model": model, "messages": userMessage(), "stream": true, "max_tokens": limit}
			},
			finish: map[Finish]string{FinishStop: "end_turn", FinishLength: "max_tokens", FinishFiltered: "refusal"}},
		{name: "gemini", path: func(m string) string { return "/v1beta/models/" + m + ":streamGenerateContent?alt=sse" }, read: readGemini,
			body: func(_ string, limit int) map[string]any {
				return object{"contents": []object{{"role": "user", "parts": []object{{"text": "Explain HTTP request routing."}}}},
					"generationConfig": object{"maxOutputTokens": limit}}
			},
			finish: map[Finish]string{FinishStop: "STOP", FinishLength: "MAX_TOKENS", FinishFiltered: "SAFETY"}},
		{name: "ollama", path: fixed("/api/chat"), read: readOllama, hides: true,
			body: func(model string, limit int) map[string]any {
				b := object{"model": model, "messages": userMessage()}
				if limit > 0 {
					b["options"] = object{"num_predict": limit}
				}
				return b
			},
			finish: map[Finish]string{FinishStop: "stop", FinishLength: "length", FinishFiltered: "stop"}},
	}
}

// post sends one request and returns the answer with its body open.
func post(t *testing.T, ts *httptest.Server, a api, model string, limit int) (*http.Response, error) {
	t.Helper()
	j, err := json.Marshal(a.body(model, limit))
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, ts.URL+a.path(model), strings.NewReader(string(j)))
	if err != nil {
		t.Fatal(err)
	}
	return ts.Client().Do(req)
}

// ask sends one request and reads the whole answer.
func ask(t *testing.T, ts *httptest.Server, a api, model string, limit int) (status int, h http.Header, body string) {
	t.Helper()
	resp, err := post(t, ts, a, model, limit)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(b)
}

type sseEvent struct{ name, data string }

// readSSE splits a stream whose lines end in nl.
func readSSE(body, nl string) (events []sseEvent, comments int, err error) {
	blocks := strings.Split(body, nl+nl)
	if last := blocks[len(blocks)-1]; last != "" {
		return nil, 0, fmt.Errorf("the last event does not end: %.80q", last)
	}
	for _, block := range blocks[:len(blocks)-1] {
		var ev sseEvent
		for line := range strings.SplitSeq(block, nl) {
			field, value, ok := strings.Cut(line, ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case !ok:
				return nil, 0, fmt.Errorf("not a field: %.80q", line)
			case field == "":
				comments++
			case field == "event":
				ev.name = value
			case field == "data" && ev.data == "":
				ev.data = value
			default:
				return nil, 0, fmt.Errorf("unexpected field: %.80q", line)
			}
		}
		if ev.data != "" {
			events = append(events, ev)
		}
	}
	return events, comments, nil
}

func readChat(body string) (r reading, err error) {
	events, comments, err := readSSE(body, "\n")
	r.comments = comments
	for _, ev := range events {
		if r.done {
			return r, fmt.Errorf("event after [DONE]: %s", ev.data)
		}
		if ev.data == "[DONE]" {
			r.done = true
			continue
		}
		var c struct {
			Choices []struct {
				Delta struct {
					Content   *string
					Reasoning *string `json:"reasoning_content"`
				}
				Finish *string `json:"finish_reason"`
			}
			Usage *struct {
				Prompt        int `json:"prompt_tokens"`
				Completion    int `json:"completion_tokens"`
				Total         int `json:"total_tokens"`
				PromptDetails struct {
					Cached int `json:"cached_tokens"`
				} `json:"prompt_tokens_details"`
				Details struct {
					Reasoning int `json:"reasoning_tokens"`
				} `json:"completion_tokens_details"`
			}
			Error *struct{ Message, Type string }
		}
		if err := json.Unmarshal([]byte(ev.data), &c); err != nil {
			return r, err
		}
		if c.Error != nil {
			r.failed = true
		}
		if c.Usage != nil {
			if len(c.Choices) != 0 || c.Usage.Total != c.Usage.Prompt+c.Usage.Completion {
				return r, fmt.Errorf("usage %+v beside %d choices", *c.Usage, len(c.Choices))
			}
			r.usage, r.input, r.cached = true, c.Usage.Prompt, c.Usage.PromptDetails.Cached
			r.output, r.reasoning = c.Usage.Completion, c.Usage.Details.Reasoning
		}
		for _, ch := range c.Choices {
			if ch.Delta.Content != nil && *ch.Delta.Content != "" {
				r.text += *ch.Delta.Content
				r.visible++
			}
			if ch.Delta.Reasoning != nil {
				r.thoughts += *ch.Delta.Reasoning
			}
			if ch.Finish != nil {
				r.finish = *ch.Finish
			}
		}
	}
	return r, err
}

func readResponses(body string) (r reading, err error) {
	events, comments, err := readSSE(body, "\n")
	r.comments = comments
	open := "" // the item that deltas may belong to
	for i, ev := range events {
		var e struct {
			Type     string
			Sequence int    `json:"sequence_number"`
			ItemID   string `json:"item_id"`
			Delta    string
			Text     string
			Item     struct{ ID string }
			Response struct {
				Status     string
				Incomplete *struct{ Reason string } `json:"incomplete_details"`
				Usage      *struct {
					Input        int `json:"input_tokens"`
					Output       int `json:"output_tokens"`
					InputDetails struct {
						Cached int `json:"cached_tokens"`
					} `json:"input_tokens_details"`
					Details struct {
						Reasoning int `json:"reasoning_tokens"`
					} `json:"output_tokens_details"`
				}
			}
		}
		if err := json.Unmarshal([]byte(ev.data), &e); err != nil {
			return r, err
		}
		if e.Type != ev.name || e.Sequence != i {
			return r, fmt.Errorf("event %d is %q numbered %d, with type %q", i, ev.name, e.Sequence, e.Type)
		}
		if e.ItemID != "" && e.ItemID != open {
			return r, fmt.Errorf("event %d belongs to item %q while %q is open", i, e.ItemID, open)
		}
		switch e.Type {
		case "response.output_item.added":
			open = e.Item.ID
		case "response.output_item.done":
			open = ""
		case "response.output_text.delta":
			r.text += e.Delta
			r.visible++
		case "response.output_text.done":
			if e.Text != r.text {
				return r, fmt.Errorf("done repeats %q, the deltas were %q", e.Text, r.text)
			}
		case "response.reasoning_summary_text.delta":
			r.thoughts += e.Delta
		case "error":
			r.failed = true
		case "response.completed", "response.incomplete":
			r.done, r.finish = i == len(events)-1, e.Response.Status
			if e.Response.Incomplete != nil {
				r.finish = e.Response.Incomplete.Reason
			}
			if u := e.Response.Usage; u != nil {
				r.usage, r.input, r.output = true, u.Input, u.Output
				r.cached, r.reasoning = u.InputDetails.Cached, u.Details.Reasoning
			}
		}
	}
	return r, err
}

func readAnthropic(body string) (r reading, err error) {
	events, comments, err := readSSE(body, "\n")
	r.comments = comments
	open := -1
	for i, ev := range events {
		type usage struct {
			Input     int `json:"input_tokens"`
			CacheRead int `json:"cache_read_input_tokens"`
			CacheNew  int `json:"cache_creation_input_tokens"`
			Output    int `json:"output_tokens"`
			Details   struct {
				Thinking int `json:"thinking_tokens"`
			} `json:"output_tokens_details"`
		}
		var e struct {
			Type  string
			Index int
			Delta struct {
				Type, Text, Thinking string
				StopReason           string `json:"stop_reason"`
			}
			Usage *usage
		}
		if err := json.Unmarshal([]byte(ev.data), &e); err != nil {
			return r, err
		}
		if e.Type != ev.name {
			return r, fmt.Errorf("event %q has type %q", ev.name, e.Type)
		}
		if i == 0 && e.Type != "message_start" && e.Type != "ping" {
			return r, fmt.Errorf("starts with %s", e.Type)
		}
		switch e.Type {
		case "ping":
			r.comments++
		case "content_block_start":
			open = e.Index
		case "content_block_stop":
			open = -1
		case "content_block_delta":
			if open != e.Index {
				return r, fmt.Errorf("delta of block %d while %d is open", e.Index, open)
			}
			switch e.Delta.Type {
			case "text_delta":
				r.text += e.Delta.Text
				r.visible++
			case "thinking_delta":
				r.thoughts += e.Delta.Thinking
			}
		case "message_delta":
			r.finish = e.Delta.StopReason
			if u := e.Usage; u != nil {
				r.usage, r.cached = true, u.CacheRead
				r.input = u.Input + u.CacheRead + u.CacheNew
				r.output, r.reasoning = u.Output, u.Details.Thinking
			}
		case "error":
			r.failed = true
		case "message_stop":
			r.done = i == len(events)-1
		}
	}
	return r, err
}

func readGemini(body string) (r reading, err error) {
	if at := strings.Index(body, "\r\n\r\n{"); at >= 0 { // a bare object: how Gemini reports an error
		var e struct{ Error struct{ Code int } }
		if err := json.Unmarshal([]byte(body[at+4:]), &e); err != nil || e.Error.Code == 0 {
			return r, fmt.Errorf("the tail is no error: %v", err)
		}
		r.failed = true
		body = body[:at+4]
	}
	events, comments, err := readSSE(body, "\r\n")
	r.comments = comments
	for _, ev := range events {
		var e struct {
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text    string
						Thought bool
					}
				}
				FinishReason string
			}
			Usage *struct {
				Prompt     int `json:"promptTokenCount"`
				Cached     int `json:"cachedContentTokenCount"`
				Candidates int `json:"candidatesTokenCount"`
				Thoughts   int `json:"thoughtsTokenCount"`
				Total      int `json:"totalTokenCount"`
			} `json:"usageMetadata"`
		}
		if err := json.Unmarshal([]byte(ev.data), &e); err != nil {
			return r, err
		}
		for _, p := range e.Candidates[0].Content.Parts {
			switch {
			case p.Thought:
				r.thoughts += p.Text
			case p.Text != "":
				r.text += p.Text
				r.visible++
			}
		}
		if f := e.Candidates[0].FinishReason; f != "" {
			r.finish, r.done = f, true
		}
		if u := e.Usage; u != nil {
			if u.Total != u.Prompt+u.Candidates+u.Thoughts || u.Candidates+u.Thoughts < r.output {
				return r, fmt.Errorf("usage %+v after %d output tokens", *u, r.output)
			}
			r.usage, r.input, r.cached = true, u.Prompt, u.Cached
			r.output, r.reasoning = u.Candidates+u.Thoughts, u.Thoughts
		}
	}
	return r, err
}

func readOllama(body string) (r reading, err error) {
	if body != "" && !strings.HasSuffix(body, "\n") {
		return r, fmt.Errorf("the last line does not end")
	}
	for line := range strings.Lines(body) {
		var e struct {
			Message    struct{ Content, Thinking string }
			Done       bool
			DoneReason string `json:"done_reason"`
			Prompt     int    `json:"prompt_eval_count"`
			Eval       int    `json:"eval_count"`
			Error      string
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return r, err
		}
		if r.done {
			return r, fmt.Errorf("a line after the last: %s", line)
		}
		if e.Message.Content != "" {
			r.text += e.Message.Content
			r.visible++
		}
		r.thoughts += e.Message.Thinking
		r.failed = r.failed || e.Error != ""
		if e.Done {
			r.done, r.finish = true, e.DoneReason
			r.usage, r.input, r.output = e.Eval > 0, e.Prompt, e.Eval
		}
	}
	return r, nil
}
