// Package wire speaks the wire formats of hosted language models.
//
//   - A [Protocol] turns a [Target] and a [Prompt] into one HTTP request, and a
//     response body into [Event] values. It opens no socket and reads no clock:
//     an Event tells where in the body it ended, and whoever stamped the reads
//     knows when that byte arrived. So every decoder runs on recordings too.
//   - A [Reply] folds the events of one body into counts, usage and a verdict:
//     complete, or which of the seven error kinds, with a detail code.
//   - [Classify] gives the verdict on an HTTP error response.
//
// Everything here came from a provider and is hostile until bounded: lines,
// bodies, numbers and nesting all have limits ([MaxFrame], [MaxBody]).
package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
)

// Limits on what one response may cost us. A frame or body over its limit is
// malformed with detail [DetailOversize].
const (
	MaxFrame = 8 << 20  // bytes in one SSE event or NDJSON line
	MaxBody  = 64 << 20 // bytes in one response body
)

// A Target is what one request is sent to: the endpoint and how it wants to be
// spoken to. It holds the key, so it is never printed, stored or compared.
type Target struct {
	BaseURL string // as in the provider file, without a trailing slash, e.g. https://api.openai.com/v1
	Path    string // overrides the protocol's own path; {model} is replaced, escaped
	Model   string // the id on the wire
	Key     string // empty: no authentication header is sent
	Auth    Auth   // how the key travels; "" is the protocol's own way

	CapField        string            // name of the output cap field; "" is the protocol's default
	NoStreamOptions bool              // leave stream_options out (openai_chat)
	ReasoningEffort string            // "" leaves the setting out; the wire spelling is the protocol's
	Headers         map[string]string // extra headers, already expanded
	Query           map[string]string // extra query parameters
	Body            map[string]any    // extra top-level body fields, already validated
}

// String names the target by its model alone, so that a key or a private
// address does not reach a log by accident.
func (t Target) String() string { return fmt.Sprintf("wire.Target(%q)", t.Model) }

// GoString is String.
func (t Target) GoString() string { return t.String() }

// An Auth names the header a key travels in.
type Auth string

// The ways a key travels.
const (
	AuthBearer  Auth = "bearer"         // Authorization: Bearer KEY
	AuthAPIKey  Auth = "api-key"        // api-key: KEY (Azure)
	AuthXAPIKey Auth = "x-api-key"      // x-api-key: KEY (Anthropic)
	AuthGoogle  Auth = "x-goog-api-key" // x-goog-api-key: KEY (Gemini)
	AuthNone    Auth = "none"
)

// A Prompt is the one user message of a request and its output cap.
type Prompt struct {
	Text            string
	MaxOutputTokens int // includes reasoning wherever the provider counts it so
}

// A Protocol speaks one wire format. Implementations are stateless values, safe
// for concurrent use.
type Protocol interface {
	// Name is the protocol's name in provider files, e.g. "openai_chat".
	Name() string

	// Request builds, but does not send, the streaming request for one run.
	// Its errors are the caller's: a bad URL, a field that cannot be encoded.
	Request(ctx context.Context, t Target, p Prompt) (*http.Request, error)

	// Decode yields the frames of a response body in order until EOF, reading
	// on past end markers, as usage and cost frames may follow them. Texts in
	// an Event are valid only until the next one is asked for.
	//
	// It stops at its first error: one wrapping [ErrMalformed] if the body is
	// foreign or over a limit, else the read error unchanged. An error that
	// the provider reports inside the stream is an Event with Fail set, not
	// an error, and decoding goes on, as usage may follow it. A body that
	// merely ends too soon is no error either: [Reply.Verdict] judges that.
	Decode(body io.Reader) iter.Seq2[Event, error]
}

// ErrMalformed is wrapped by every error that Decode finds in a body itself.
var ErrMalformed = errors.New("malformed response body")

// A BodyError is an error that Decode finds in a body. It wraps [ErrMalformed].
type BodyError struct {
	Detail Detail // [DetailHTML], [DetailNonStreaming], [DetailForeign] or [DetailOversize]
	Offset int64  // where in the body
}

func (e *BodyError) Error() string {
	return fmt.Sprintf("%v: %s at byte %d", ErrMalformed, e.Detail, e.Offset)
}

// Unwrap returns [ErrMalformed].
func (e *BodyError) Unwrap() error { return ErrMalformed }

// An Event is one frame of a body: a dispatched SSE event with non-empty data
// (`[DONE]` counts), a non-blank NDJSON line, or a comment (keep-alive).
// Several of its fields may be set, as usage often rides on the finish chunk.
//
// Text is as it was sent, with escapes undone: it may hold invalid UTF-8, or
// half a character whose rest comes with a later event. [Text] counts it.
type Event struct {
	Index int   // ordinal among data frames, from 0; -1 for a comment, and for an error outside of any data frame
	End   int64 // offset just past the line that completed the frame's data

	Visible   []byte // answer text of choice 0; never reasoning, refusal or tool arguments
	Reasoning []byte // readable reasoning text
	Refused   bool   // refusal text arrived
	Tool      bool   // a tool call or its arguments arrived

	Hidden bool // a block of reasoning arrived that cannot be read
	Broken bool // the data is no JSON, or was cut off; only Index and End are set

	Finish   string   // raw finish reason ("stop", "incomplete:max_output_tokens", "blocked:SAFETY")
	Last     bool     // an end marker: [DONE], message_stop, response.completed, done:true
	Complete bool     // with this frame the answer is complete: a finish reason or [DONE] (chat), a finish reason (gemini), the end marker elsewhere
	Usage    Usage    // what this frame tells of usage; zero where it tells nothing
	Fail     *Failure // the provider's own error report inside the stream

	Model   string       // model the provider says it served
	Backend string       // who served it, where told (OpenRouter's provider)
	Server  ServerTiming // the provider's own timing, where told
}

// A ServerTiming is what a provider says of its own work, for display beside
// what the client saw; never mixed with it. Milliseconds; 0 is not told.
type ServerTiming struct {
	QueueMS   float64
	PromptMS  float64
	DecodeMS  float64
	TTFTMS    float64 // Azure latency_checkpoint
	TotalMS   float64
	DecodeTPS float64 // tokens per second by the server's own clock
}

// ByName returns the protocol with that name in provider files.
func ByName(name string) (Protocol, bool) {
	switch name {
	case OpenAIChat{}.Name():
		return OpenAIChat{}, true
	case OpenAIResponses{}.Name():
		return OpenAIResponses{}, true
	case Anthropic{}.Name():
		return Anthropic{}, true
	case Gemini{}.Name():
		return Gemini{}, true
	case Ollama{}.Name():
		return Ollama{}, true
	}
	return nil, false
}

// Names returns the names [ByName] knows, in the order they are documented.
func Names() []string {
	return []string{"openai_chat", "openai_responses", "anthropic", "gemini", "ollama"}
}
