package simulate

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// An encoder renders one answer in one wire format. Each method appends to b
// the bytes that one step puts on the wire, and returns it.
type encoder interface {
	// header sets what the format and its providers put in the header.
	header(h http.Header)

	// open renders what precedes all output.
	open(b []byte) []byte

	// keepAlive renders a frame that carries nothing, if the format has one.
	keepAlive(b []byte) []byte

	// output renders a step of reasoning or answer text, made at made.
	output(b []byte, s Step, made time.Time) []byte

	// end renders the finish reason, usage and end markers.
	end(b []byte, made time.Time) []byte

	// fail renders the provider's own report of an error after the answer began.
	fail(b []byte) []byte
}

// A call is what one request asked for and what it will get.
type call struct {
	id      string // unique to the request
	model   string
	limit   int // the caller's cap on output tokens; 0 is none
	prompt  int // characters of the request's own text
	usage   bool
	created time.Time

	shape Shape
	line  Timeline
}

// input returns the input tokens to report: an estimate at four characters a
// token, plus what a chat template adds.
func (c *call) input() int {
	if c.shape.Input > 0 {
		return c.shape.Input
	}
	return c.prompt/4 + 8
}

func (c *call) cached() int { return min(c.shape.Cached, c.input()) }

func (c *call) reasoning() int { return c.line.Hidden + c.line.Reasoning }

// appendJSON appends v. It panics on a value that JSON cannot hold, which no
// frame of ours is.
func appendJSON(b []byte, v any) []byte {
	j, err := json.Marshal(v)
	if err != nil {
		panic("simulate: " + err.Error())
	}
	return append(b, j...)
}

// appendEvent appends one SSE event; name may be empty.
func appendEvent(b []byte, name string, v any) []byte {
	if name != "" {
		b = append(b, "event: "...)
		b = append(b, name...)
		b = append(b, '\n')
	}
	b = append(b, "data: "...)
	b = appendJSON(b, v)
	return append(b, "\n\n"...)
}

func sseHeader(h http.Header) {
	h.Set("Content-Type", "text/event-stream; charset=utf-8")
	h.Set("Cache-Control", "no-cache")
}

// A message is what a caller said; its content is a string or a list of parts.
type message struct {
	Content json.RawMessage `json:"content"`
}

// promptLen counts the characters of what callers said.
func promptLen(ms []message) int {
	n := 0
	for _, m := range ms {
		n += contentLen(m.Content)
	}
	return n
}

func contentLen(raw json.RawMessage) int {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return len([]rune(s))
	}
	var parts []struct {
		Text    string          `json:"text"`
		Content json.RawMessage `json:"content"`
	}
	n := 0
	if json.Unmarshal(raw, &parts) == nil {
		for _, p := range parts {
			n += len([]rune(p.Text))
			if p.Content != nil {
				n += contentLen(p.Content)
			}
		}
	}
	return n
}

// A refusal is an error answer, apart from the shape its format gives it.
type refusal struct {
	status     int
	kind       FaultKind // FaultNone: the caller's own mistake
	message    string
	retryAfter time.Duration
}

// refuse returns the refusal of a fault that has one.
func refuse(f Fault, model string) (refusal, bool) {
	r := refusal{kind: f.Kind}
	switch f.Kind {
	case FaultAuth:
		r.status, r.message = http.StatusUnauthorized, "Incorrect API key provided."
	case FaultQuota:
		r.status, r.message = http.StatusPaymentRequired, "Insufficient balance: this simulated account has no credit."
	case FaultRateLimit:
		r.status, r.retryAfter = http.StatusTooManyRequests, f.RetryAfter
		r.message = "Rate limit reached for " + model + ": limit 1, used 1, requested 1."
	case FaultServer:
		r.status, r.message = http.StatusInternalServerError, "The server had an error while processing the request."
	case FaultOverloaded:
		r.status, r.message = http.StatusServiceUnavailable, "The simulated model is overloaded."
	default:
		return refusal{}, false
	}
	return r, true
}

// seconds renders d as Retry-After does, rounded up.
func seconds(d time.Duration) string {
	return strconv.FormatInt(int64((d+time.Second-1)/time.Second), 10)
}

// hexID makes an identifier of n hexadecimal digits that depends on id alone.
func hexID(id string, n int) string {
	const digits = "0123456789abcdef"
	h := hash(id)
	var b strings.Builder
	for i := range n {
		if i%16 == 0 {
			h = hash(id, strconv.Itoa(i))
		}
		b.WriteByte(digits[h>>(4*(i%16))&15])
	}
	return b.String()
}
