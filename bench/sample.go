// Package bench measures one streamed completion from a hosted language model.
//
//   - A [wire.Protocol] turns a target into an HTTP request, and a response
//     body into events. It opens no socket and reads no clock.
//   - A [Meter] sends the request on a connection of its own and notes when
//     each socket read brought its bytes; nothing else keeps time. While the
//     answer streams it only reads, stamps, unframes and logs.
//   - A [Recording] is what it brought: the body and its reads. The events are
//     decoded from it after the run, and each is dated by the read that
//     brought its last byte. [Replay] does the same with a recording of old.
//   - A [Sample] is what remains: instants and counts, no text. Its methods
//     derive every published per-sample number, so a formula can be corrected
//     without measuring again. They are in metrics.go; [Sample.Report] gives
//     all of them under their published names.
//   - [LoadProviders] reads what to measure, [Due] decides what is overdue.
//
// All instants of a sample lie on the monotonic clock and count from one
// origin: the dispatch, when the first byte of the request was about to be
// written on the established connection. The wall clock dates a sample
// ([Sample.StartedAt]) and translates the kernel's stamps, which are wall clock,
// to the monotonic one; setting it during a run changes no duration.
package bench

import (
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// The published method's constants. They are printed on the methodology page
// from here.
const (
	// MethodVersion rises whenever a change could move a published number.
	// content/changelog.md says what each version changed.
	MethodVersion = 1

	MaxOutputTokens = 300               // output cap of a request, reasoning included where the provider counts it
	RunTimeout      = 120 * time.Second // from the start of DNS to the last byte
)

// A Pair is what one series of samples is about: a model as one provider
// serves it. Both are public names (aliases, for a private provider).
type Pair struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
}

// String returns "provider/model".
func (p Pair) String() string { return p.Provider + "/" + p.Model }

// A Series is what may be put into one statistic: a pair measured from one
// vantage point, with or without a nonce. The buffering probes of a pair are a
// series of their own, so that they mix with no ordinary sample.
type Series struct {
	Pair
	Vantage string `json:"vantage"`
	Nonce   bool   `json:"nonce,omitempty"`
	Short   bool   `json:"short,omitempty"` // buffering probes: see [BufferProbeTokens]
}

// VantageSimulated is the vantage of everything that comes from a simulated
// provider, measured or made up. It is part of the series, so that simulated
// numbers mix with no others and are known for what they are for ever.
const VantageSimulated = "simulated"

// An Env is the conditions of a sample. A statistic that spans a change of
// method or prompt says so.
type Env struct {
	Method   int    `json:"method"`           // MethodVersion
	Prompt   int    `json:"prompt"`           // PromptVersion
	Protocol string `json:"protocol"`         // wire format, as in provider files
	Vantage  string `json:"vantage"`          // the place measured from, as the configuration names it; part of the series
	Region   string `json:"region,omitempty"` // what the runner tells of where it really is
	Nonce    bool   `json:"nonce,omitempty"`  // a random first word defeated body caches; part of the series
	Short    bool   `json:"short,omitempty"`  // a buffering probe; part of the series
	Lanes    int    `json:"lanes,omitempty"`  // requests that could run at once; 1 is the published method
	Clock    string `json:"clock,omitempty"`  // ClockKernel or ClockUser: who stamped the reads
}

// Who stamped the socket reads of a sample.
const (
	ClockKernel = "kernel" // SO_TIMESTAMPING receive stamps, mapped to the monotonic clock
	ClockUser   = "user"   // the monotonic clock right after the read returned; all reads, if the kernel left out any
)

// A Sample is the record of one request, successful or not. It is never edited.
//
// An instant of 0 did not happen (nothing arrives at the very instant of the
// dispatch); so did a span of 0 in Phases. Unknown counts say so themselves.
type Sample struct {
	Pair
	StartedAt time.Time `json:"started_at"`         // wall clock, UTC, before DNS
	Scheduled time.Time `json:"scheduled,omitzero"` // the slot it was due in; zero for a probe
	Env       Env       `json:"env"`

	Phases      Phases        `json:"phases"`
	FirstReason time.Duration `json:"first_reasoning_ns,omitzero"` // first non-empty reasoning text
	FirstText   time.Duration `json:"first_visible_ns,omitzero"`   // first non-empty visible text
	LastText    time.Duration `json:"last_visible_ns,omitzero"`    // last visible text
	Done        time.Duration `json:"done_ns,omitzero"`            // semantic completion: finish reason or end marker
	EOF         time.Duration `json:"eof_ns,omitzero"`             // clean end of an answer's body

	Reads           int        `json:"reads"`                      // socket reads that brought body bytes
	Bytes           int64      `json:"bytes"`                      // body bytes
	Chunks          int        `json:"chunks"`                     // events with visible text
	Deliveries      int        `json:"deliveries"`                 // reads that brought visible text; a first one that came in pieces is one
	ReasonChunks    int        `json:"reasoning_chunks,omitempty"` // events with reasoning text
	Chars           int        `json:"chars"`                      // visible Unicode code points
	Words           int        `json:"words"`                      // runs of non-space in the visible text
	FirstReadChars  int        `json:"first_read_chars,omitempty"` // visible code points of the first delivery: the first visible read and what followed it within HeadGap
	FirstReadTokens wire.Count `json:"first_read_tokens,omitzero"` // their tokens, where the stream itself counts them or has one in each chunk
	Gaps            Gaps       `json:"gaps,omitzero"`              // chunk gaps, digested

	Usage    Usage             `json:"usage"`
	Finish   string            `json:"finish,omitempty"`    // raw finish reason, bounded
	ServedBy string            `json:"served_by,omitempty"` // model the provider says it served, bounded
	Backend  string            `json:"backend,omitempty"`   // who served it, if told, bounded
	Server   wire.ServerTiming `json:"server,omitzero"`     // the provider's own timing, never mixed with ours

	HTTPStatus int            `json:"http_status,omitempty"`
	Proto      string         `json:"proto,omitempty"` // HTTP/1.1
	Kind       wire.ErrorKind `json:"error_kind,omitempty"`
	Detail     wire.Detail    `json:"error_detail,omitempty"`
	InnerCode  int            `json:"inner_code,omitempty"` // status of an error inside a 200 stream
	FailedIn   Phase          `json:"failed_in,omitempty"`
	RetryAfter time.Duration  `json:"retry_after_ns,omitzero"`

	Noise Noise     `json:"noise,omitzero"`
	Trace []Arrival `json:"trace,omitempty"` // every event, in order; absent when read from the dataset
}

// Series returns the series the sample belongs to.
func (s *Sample) Series() Series {
	return Series{Pair: s.Pair, Vantage: s.Env.Vantage, Nonce: s.Env.Nonce, Short: s.Env.Short}
}

// OK reports whether the run succeeded.
func (s *Sample) OK() bool { return s.Kind == wire.KindNone }

// Partial reports whether a failed run had brought visible text before it
// failed. Its tokens and rate are kept and shown, and enter no statistic.
func (s *Sample) Partial() bool { return !s.OK() && s.Chunks > 0 }

// A Phase is a part of a request in which it can fail.
type Phase string

// The phases, in order.
const (
	PhaseDNS        Phase = "dns"
	PhaseDial       Phase = "dial"
	PhaseTLS        Phase = "tls"
	PhaseRequest    Phase = "request"     // writing the request
	PhaseHeaders    Phase = "headers"     // waiting for the response head
	PhaseFirstToken Phase = "first_token" // head seen, no output yet
	PhaseStream     Phase = "stream"      // output has begun
	PhaseEnd        Phase = "end"         // output ended, no proper completion
)

// Phases are the steps before the first byte of body. DNS, Connect and TLS are
// spans that lie before the dispatch; the others are instants after it.
// Their meaning is that of net/http/httptrace.
type Phases struct {
	DNS     time.Duration `json:"dns_ns,omitzero"`
	Connect time.Duration `json:"connect_ns,omitzero"` // of the connection used: one round trip, a probe of it
	TLS     time.Duration `json:"tls_ns,omitzero"`
	Setup   time.Duration `json:"setup_ns,omitzero"` // start of the run to the dispatch; holds the three above

	WroteHeaders time.Duration `json:"wrote_headers_ns,omitzero"`
	WroteRequest time.Duration `json:"wrote_request_ns,omitzero"`
	FirstByte    time.Duration `json:"first_byte_ns,omitzero"` // of the response head
	Headers      time.Duration `json:"headers_ns,omitzero"`    // response head complete
}

// Usage is the token accounting of a run, made comparable across providers.
type Usage struct {
	Input     wire.Count `json:"input_tokens,omitzero"`     // cached included
	Cached    wire.Count `json:"cached_tokens,omitzero"`    // of the input
	Output    wire.Count `json:"output_tokens,omitzero"`    // everything generated, reasoning included
	Reasoning wire.Count `json:"reasoning_tokens,omitzero"` // of the output
	Visible   wire.Count `json:"visible_tokens,omitzero"`   // output less reasoning; unknown if either could not be told
	Estimated bool       `json:"estimated,omitempty"`       // Output is our guess from characters; never ranked
	Clamped   bool       `json:"clamped,omitempty"`         // a count could not be: reasoning beyond output, Visible is 0 by force; cached beyond input; visible beyond what the text can have, then unknown
}

// Gaps digests the gaps between neighbouring chunks (the field's inter-chunk
// latency), so that a sample read back without its trace loses no number.
type Gaps struct {
	P50           time.Duration `json:"p50_ns"` // R-7 percentiles; gaps inside one read are 0
	P95           time.Duration `json:"p95_ns"`
	Max           time.Duration `json:"max_ns"`
	Stall         time.Duration `json:"stall_ns,omitzero"` // see [Sample.Stall]
	Stalls        int           `json:"stalls,omitempty"`
	Burstiness    float64       `json:"burstiness,omitempty"` // see [Sample.Burstiness]
	HasBurstiness bool          `json:"has_burstiness,omitempty"`
}

// Noise is how far our own machine may have disturbed a sample.
type Noise struct {
	DelayP50    time.Duration `json:"delay_p50_ns,omitzero"` // kernel stamp to user stamp of the reads
	DelayMax    time.Duration `json:"delay_max_ns,omitzero"`
	Involuntary int64         `json:"involuntary_switches,omitempty"` // context switches forced on the process during the run
	CPUPressure float64       `json:"cpu_pressure,omitempty"`         // share of the run in which some task waited for a CPU, 0..1
	Noisy       bool          `json:"client_noisy,omitempty"`
}

// A Mark is what an event of a trace was.
type Mark string

// The marks of a trace.
const (
	MarkMeta      Mark = "meta" // role chunk, ping, lifecycle: no output
	MarkReasoning Mark = "reasoning"
	MarkVisible   Mark = "visible"
	MarkUsage     Mark = "usage"
	MarkDone      Mark = "done"
	MarkError     Mark = "error"
	MarkComment   Mark = "comment"
	MarkEOF       Mark = "eof"
)

// An Arrival is one event of a sample's trace: where in the body it ended, when
// the read that brought that byte was stamped, and how much it carried.
type Arrival struct {
	At     time.Duration `json:"t_ns"`
	Offset int64         `json:"end"`  // body bytes up to and including the event
	Read   int           `json:"read"` // ordinal of that read
	Mark   Mark          `json:"kind"`
	Chars  int           `json:"chars,omitempty"`  // code points of visible or reasoning text
	Tokens int           `json:"tokens,omitempty"` // tokens of the chunk, where the stream itself counts them
}
