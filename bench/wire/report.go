package wire

import "strings"

// A report is what an error report of a provider says, whatever its shape:
//
//	{"error":{"message","type","code","status","details":[…],"metadata":{…}}}   OpenAI, Gemini, OpenRouter
//	{"type":"error","error":{"type","message"}}                                Anthropic, OpenCode
//	{"error":"text"}, {"error":"text","code":"…"}                               Ollama, xAI
//	{"detail":"text"}, {"object":"error","message","type","code"}              Mistral, vLLM
//	[{"error":{…}}]                                                             Gemini without alt=sse
//	text or a web page                                                          what stands before the provider
//
// Codes and text are in lower case. It is read leniently, as the body may be cut.
type report struct {
	found     bool     // a JSON error report
	html      bool     // a web page
	codes     []string // type, code, status and reason fields
	message   string   // all the texts, or the body itself if it is no JSON
	status    int      // numeric status inside the report, the outermost; 0 if none
	depth     int      // how deep status stood
	moderated bool     // OpenRouter tells reasons of moderation
	edge      bool     // Cloudflare's own error as JSON
	delayMS   int64    // when to come again, from now; 0 if not told
	resetMS   int64    // the same as an instant, Unix milliseconds
}

// Bounds on what is kept of a report.
const (
	maxReportText  = 8 << 10
	maxReportCodes = 16
	maxReportDepth = 6
)

func readReport(body []byte) report {
	var r report
	c := cursor{b: body}
	if len(body) >= 3 && string(body[:3]) == "\ufeff" {
		c.i = 3
	}
	switch c.peek() {
	case '[':
		c.i++
		if c.elem() && c.peek() == '{' {
			r.object(&c, 0, "")
		}
	case '{':
		r.object(&c, 0, "")
	default:
		r.html = c.peek() == '<'
		r.addText(string(body[c.i:]))
	}
	return r
}

// object reads one object of the report. Under "error" and below every field
// counts; beside it only those that some provider uses for the report itself.
func (r *report) object(c *cursor, depth int, parent string) {
	if depth > maxReportDepth || !c.enter('{') {
		c.skip()
		return
	}
	for key, ok := c.key(); ok; key, ok = c.key() {
		r.field(c, depth, parent, string(key))
	}
}

func (r *report) field(c *cursor, depth int, parent, key string) {
	switch key {
	case "error":
		switch c.peek() {
		case '{':
			r.found = true
			r.object(c, depth+1, key)
		case '"':
			if text := c.text("", maxReportText); text != "" {
				r.found = true
				r.addText(text)
			}
		default:
			c.skip()
		}
	case "response", "x_groq": // response.failed; Groq
		r.object(c, depth+1, key)
	case "metadata", "headers", "innererror":
		r.object(c, depth+1, key)
	case "details", "errors", "choices": // OpenRouter puts an error into a choice
		switch c.peek() {
		case '[':
			c.i++
			for c.elem() {
				switch c.peek() {
				case '{':
					r.object(c, depth+1, key)
				default:
					r.addText(c.text("", maxReportText))
				}
			}
		default:
			r.addText(c.text("", maxReportText))
		}
	case "detail":
		switch c.peek() {
		case '"':
			r.found = true
			r.addText(c.text("", maxReportText))
		case '[', '{': // FastAPI's validation errors
			r.found = true
			r.addText(string(c.raw()))
		default:
			c.skip()
		}
	case "message", "msg", "raw":
		r.addText(c.text("", maxReportText))
	case "object":
		if c.text("", 16) == "error" {
			r.found = true
		}
	case "type", "code", "status", "reason", "status_code", "http_status":
		r.code(c, depth, key)
	case "reasons":
		r.moderated = c.given() || r.moderated
	case "cloudflare_error":
		r.edge = c.truth() || r.edge
	case "retryDelay":
		if ms, ok := parseDelay(c.text("", 32)); ok {
			r.delayMS = max(r.delayMS, ms)
		}
	case "retry_after", "resets_in_seconds", "retry_after_seconds":
		if s, ok := c.float(); ok && s > 0 {
			r.delayMS = max(r.delayMS, clampMS(s*1000))
		}
	case "X-RateLimit-Reset":
		if f, ok := c.float(); ok && f > 1e12 {
			r.resetMS = clampMS64(f)
		}
	default:
		c.skip()
	}
}

// code reads a field that holds a code in words, a status in digits, or both in
// turn: OpenRouter's code is a number, Azure's "401" a string.
func (r *report) code(c *cursor, depth int, key string) {
	if c.peek() != '"' {
		r.setStatus(c.count(), depth)
		return
	}
	s := strings.ToLower(c.text("", 128))
	if key == "type" && s == "error" && depth == 0 {
		r.found = true
		return
	}
	if len(s) == 3 && s[0] >= '4' && s[0] <= '5' {
		if n, ok := smallInt([]byte(s)); ok {
			r.setStatus(Known(n), depth)
			return
		}
	}
	if len(r.codes) < maxReportCodes && s != "" {
		r.codes = append(r.codes, s)
	}
}

func (r *report) setStatus(n Count, depth int) {
	if n.Known && n.N >= 400 && n.N < 600 && (r.status == 0 || depth <= r.depth) {
		r.status, r.depth = int(n.N), depth
	}
}

func (r *report) addText(s string) {
	if room := maxReportText - len(r.message); room > 0 && s != "" {
		r.message += strings.ToLower(s[:min(len(s), room)]) + "\n"
	}
}
