package simulate

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// gemini renders Google's streamGenerateContent: lines end in CRLF, each event
// carries the usage so far, and there is no end marker but a finishReason.
//
// https://ai.google.dev/api/generate-content
type gemini struct {
	*call
	shown    int // answer tokens so far
	thoughts int // reasoning tokens so far
}

type geminiRequest struct {
	Contents []struct {
		Parts json.RawMessage `json:"parts"`
	} `json:"contents"`
	Config struct {
		MaxOutputTokens int `json:"maxOutputTokens"`
	} `json:"generationConfig"`
}

func parseGemini(r *http.Request, body []byte) (call, error) {
	var q geminiRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return call{}, err
	}
	name, verb, _ := strings.Cut(r.PathValue("call"), ":")
	c := call{model: name, limit: q.Config.MaxOutputTokens}
	for _, content := range q.Contents {
		c.prompt += contentLen(content.Parts)
	}
	if verb != "streamGenerateContent" || r.URL.Query().Get("alt") != "sse" {
		return c, errNotStreaming
	}
	return c, nil
}

type geminiEvent struct {
	Candidates []geminiCandidate `json:"candidates"`
	Usage      *geminiUsage      `json:"usageMetadata,omitempty"`
	Version    string            `json:"modelVersion"`
	ResponseID string            `json:"responseId"`
}

type geminiCandidate struct {
	Content struct {
		Parts []geminiPart `json:"parts"`
		Role  string       `json:"role"`
	} `json:"content"`
	FinishReason string `json:"finishReason,omitempty"`
	Index        int    `json:"index"`
}

type geminiPart struct {
	Text      string `json:"text"`
	Thought   bool   `json:"thought,omitempty"`
	Signature string `json:"thoughtSignature,omitempty"`
}

// candidatesTokenCount excludes thoughts here, unlike the output counts of
// other formats.
type geminiUsage struct {
	Prompt     int              `json:"promptTokenCount"`
	Cached     int              `json:"cachedContentTokenCount,omitempty"`
	Candidates int              `json:"candidatesTokenCount,omitempty"`
	Total      int              `json:"totalTokenCount"`
	Details    []geminiModality `json:"promptTokensDetails"`
	Thoughts   int              `json:"thoughtsTokenCount,omitempty"`
}

type geminiModality struct {
	Modality string `json:"modality"`
	Tokens   int    `json:"tokenCount"`
}

func (e *gemini) header(h http.Header) {
	sseHeader(h)
	h.Set("Content-Type", "text/event-stream")
}

func (e *gemini) open(b []byte) []byte { return b }

// keepAlive adds nothing: Gemini sends no comments, and Google's own clients
// take one for an error.
func (e *gemini) keepAlive(b []byte) []byte { return b }

func (e *gemini) event(b []byte, p geminiPart, finish string) []byte {
	c := geminiCandidate{FinishReason: finish}
	c.Content.Role = "model"
	c.Content.Parts = []geminiPart{p}
	ev := geminiEvent{Candidates: []geminiCandidate{c}, Version: e.model, ResponseID: e.id}
	if !e.shape.NoUsage {
		thoughts := e.line.Hidden + e.thoughts
		ev.Usage = &geminiUsage{
			Prompt: e.input(), Cached: e.cached(), Candidates: e.shown, Thoughts: thoughts,
			Total: e.input() + e.shown + thoughts, Details: []geminiModality{{"TEXT", e.input()}},
		}
	}
	b = append(b, "data: "...)
	b = appendJSON(b, ev)
	return append(b, "\r\n\r\n"...)
}

func (e *gemini) output(b []byte, s Step, _ time.Time) []byte {
	if s.Kind == StepReasoning {
		e.thoughts += s.Tokens
		return e.event(b, geminiPart{Text: s.Text, Thought: true}, "")
	}
	e.shown += s.Tokens
	return e.event(b, geminiPart{Text: s.Text}, "")
}

func (e *gemini) end(b []byte, _ time.Time) []byte {
	var p geminiPart
	if e.reasoning() > 0 {
		p.Signature = hexID(e.id, 64)
	}
	return e.event(b, p, [...]string{"STOP", "MAX_TOKENS", "SAFETY"}[e.line.Finish])
}

// fail renders the error as Gemini does in a stream: indented JSON that is
// not an event.
func (e *gemini) fail(b []byte) []byte {
	_, body := refuseGemini(http.Header{}, refusal{status: http.StatusServiceUnavailable, kind: FaultServer, message: inBandMessage})
	var out bytes.Buffer
	json.Indent(&out, appendJSON(nil, body), "", "  ") // cannot fail: the JSON is our own
	return append(append(b, out.Bytes()...), '\n')
}

func refuseGemini(_ http.Header, r refusal) (int, any) {
	type m = map[string]any
	status := "INVALID_ARGUMENT"
	var details []m
	switch {
	case r.kind == FaultAuth:
		r.status, r.message = http.StatusBadRequest, "API key not valid. Please pass a valid API key."
		details = []m{{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID", "domain": "googleapis.com"}}
	case r.kind == FaultQuota: // not recorded from Google: the status is what tells
		status = "FAILED_PRECONDITION"
	case r.kind == FaultRateLimit:
		status = "RESOURCE_EXHAUSTED"
		delay := strconv.FormatFloat(r.retryAfter.Seconds(), 'f', -1, 64) + "s"
		details = []m{{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": delay}}
	case r.status == http.StatusNotFound:
		status = "NOT_FOUND"
	case r.status == http.StatusServiceUnavailable:
		status = "UNAVAILABLE"
	case r.status >= 500:
		status = "INTERNAL"
	}
	e := m{"code": r.status, "message": r.message, "status": status}
	if details != nil {
		e["details"] = details
	}
	return r.status, m{"error": e}
}
