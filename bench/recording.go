package bench

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// RecordingFormat is the version of the JSON form of a [Recording].
const RecordingFormat = 1

// A Recording is what one run brought, before anything was made of it: the body
// byte for byte and when each socket read returned. A [Sample] is a function of
// it, so measuring and replaying give the same.
//
// It holds the text of the response. It holds neither the request, nor the key,
// nor the address, nor any response header beyond those a verdict needs.
type Recording struct {
	Format    int       `json:"format"` // RecordingFormat
	Pair      Pair      `json:"pair"`
	StartedAt time.Time `json:"started_at"`
	Scheduled time.Time `json:"scheduled,omitzero"`
	Env       Env       `json:"env"` // but for the clock, which follows from Reads

	Phases   Phases        `json:"phases"` // but for FirstByte and Headers, which follow from Reads
	Reads    []Read        `json:"reads"`  // every socket read of the response, head included
	HeadRead int           `json:"head_read,omitempty"`
	EOF      time.Duration `json:"eof_ns,omitzero"` // clean end of the body

	HTTPStatus int         `json:"http_status,omitempty"`
	Proto      string      `json:"proto,omitempty"`
	Header     http.Header `json:"header,omitempty"`

	Broke    wire.ErrorKind `json:"broke,omitempty"` // how the exchange itself failed; the body may say otherwise
	BrokeAs  wire.Detail    `json:"broke_as,omitempty"`
	FailedIn Phase          `json:"failed_in,omitempty"` // "" while the body was read: how far it had come follows from it

	Load Noise  `json:"load,omitzero"` // the part of the noise that the reads do not tell
	Body []byte `json:"body"`
}

// A Read is one socket read of a response. Instants count from the dispatch.
type Read struct {
	End    int64         `json:"end"` // body bytes up to and including this read
	User   time.Duration `json:"user_ns"`
	Kernel time.Duration `json:"kernel_ns,omitzero"` // 0: the kernel gave no stamp
}

// errRecording says that a recording contradicts itself.
var errRecording = errors.New("not a recording")

// Replay derives the sample of a recording again. A nil protocol is the one
// that the recording names. It fails if no protocol has that name or if the
// recording cannot have been made by [Meter.Measure].
func Replay(rec Recording, p wire.Protocol) (Sample, error) {
	if p == nil {
		var ok bool
		if p, ok = wire.ByName(rec.Env.Protocol); !ok {
			return Sample{}, fmt.Errorf("replay: no protocol is named %.64q", rec.Env.Protocol)
		}
	}
	rec.Env.Protocol = p.Name()
	// Names in a file are as hostile as a provider's: they end on a terminal.
	for _, label := range []*string{
		&rec.Pair.Provider, &rec.Pair.Model, &rec.Env.Vantage, &rec.Env.Region, (*string)(&rec.BrokeAs), (*string)(&rec.FailedIn),
	} {
		*label = clean(*label, maxServedBy)
	}
	if err := rec.check(); err != nil {
		return Sample{}, fmt.Errorf("replay: %w", err)
	}
	return rec.sample(p), nil
}

// check holds a recording from a file against what every recording fulfils.
func (rec *Recording) check() error {
	if rec.Format != RecordingFormat {
		return fmt.Errorf("%w of format %d, but of %d", errRecording, RecordingFormat, rec.Format)
	}
	if len(rec.Body) > wire.MaxBody+readBuffer {
		return fmt.Errorf("%w: a body of %d bytes", errRecording, len(rec.Body))
	}
	var before Read
	for i, r := range rec.Reads {
		if r.End < before.End || r.User < before.User || r.User <= 0 ||
			r.Kernel != 0 && (r.Kernel < before.Kernel || r.Kernel > r.User) {
			return fmt.Errorf("%w: read %d goes backwards", errRecording, i)
		}
		before = r
	}
	if before.End != int64(len(rec.Body)) {
		return fmt.Errorf("%w: reads of %d bytes, a body of %d", errRecording, before.End, len(rec.Body))
	}
	if rec.HeadRead < 0 || rec.HeadRead > len(rec.Reads) || rec.EOF < 0 {
		return fmt.Errorf("%w: impossible head or end", errRecording)
	}
	return nil
}

// kernelStamped reports whether the kernel stamped every read. If it did not,
// the user's stamps are taken throughout: a sample has one clock.
func (rec *Recording) kernelStamped() bool {
	for _, r := range rec.Reads {
		if r.Kernel == 0 {
			return false
		}
	}
	return len(rec.Reads) > 0
}

// sample derives the sample.
func (rec *Recording) sample(p wire.Protocol) Sample {
	s := Sample{
		Pair: rec.Pair, StartedAt: rec.StartedAt, Scheduled: rec.Scheduled, Env: rec.Env,
		Phases: rec.Phases, EOF: rec.EOF,
		HTTPStatus: rec.HTTPStatus, Proto: clean(rec.Proto, 16),
		Kind: rec.Broke, Detail: rec.BrokeAs, FailedIn: rec.FailedIn,
		Bytes: int64(len(rec.Body)),
		Noise: rec.Load.judge(rec.Reads),
	}
	clock := rec.clock(&s.Env)
	if len(rec.Reads) > 0 {
		s.Phases.FirstByte, _ = clock.read(0)
	}
	if rec.HeadRead > 0 {
		s.Phases.Headers, _ = clock.read(rec.HeadRead - 1)
	}
	var end int64
	for _, r := range rec.Reads {
		if r.End > end {
			s.Reads, end = s.Reads+1, r.End
		}
	}
	switch {
	case rec.HTTPStatus == 0 || rec.FailedIn != "":
		// No response to speak of.
	case rec.HTTPStatus/100 != 2:
		s.refused(rec)
	case compressed(rec.Header):
		s.fail(PhaseHeaders, wire.Failure{Kind: wire.KindMalformed, Detail: DetailCompressed})
	default:
		s.fold(rec, p, clock)
	}
	return s
}

// refused takes in the verdict on a response with another status than 2xx.
func (s *Sample) refused(rec *Recording) {
	f := wire.Classify(rec.HTTPStatus, rec.Header, rec.Body)
	if f.Kind == wire.KindNone { // 1xx and 3xx that the wire has no word for
		f.Kind, f.Detail = wire.KindMalformed, wire.DetailForeign
	}
	s.fail(PhaseHeaders, f)
	s.EOF = 0 // of an error report, not of an answer
}

// fail takes in the verdict f on a response.
func (s *Sample) fail(in Phase, f wire.Failure) {
	s.Kind, s.Detail, s.FailedIn = f.Kind, f.Detail, in
	if f.Status != s.HTTPStatus {
		s.InnerCode = f.Status
	}
	s.RetryAfter = retryAfter(f.Retry, s.StartedAt, s.latest())
}

// latest returns the last instant known of the response.
func (s *Sample) latest() time.Duration {
	return s.Phases.Setup + max(s.EOF, s.LastText, s.Done, s.Phases.Headers)
}

// maxRetryAfter is the longest wait believed. Providers have windows of a month.
const maxRetryAfter = 31 * 24 * time.Hour

// retryAfter returns how long to wait, from the response on. A date is held
// against the wall clock at the start of the run and the time since then.
func retryAfter(r wire.Retry, started time.Time, since time.Duration) time.Duration {
	wait := time.Duration(min(r.DelayMS, maxRetryAfter.Milliseconds())) * time.Millisecond
	if r.AtUnixMS != 0 {
		at := time.UnixMilli(r.AtUnixMS).Sub(started.Add(since))
		wait = max(wait, at)
	}
	return min(max(0, wait), maxRetryAfter)
}

// compressed reports whether the body has a content coding that nobody asked
// for. Compression gathers events until the compressor lets go of them, so
// instants of what comes out say nothing of when it was made.
func compressed(h http.Header) bool {
	coding := h.Get("Content-Encoding")
	return coding != "" && coding != "identity"
}

// maxLabel is how much of a label is looked at for a key, beyond what is kept.
const maxLabel = 512

// clean returns a provider's label without control characters or broken UTF-8,
// cut to at most limit bytes. One that holds what looks like a key is masked as
// a whole: a server may repeat the key of somebody else, whom no list of ours
// knows.
func clean(label string, limit int) string {
	out := make([]byte, 0, min(len(label), maxLabel))
	kept := 0
	for _, r := range label {
		switch {
		case r < ' ', r == 0x7f, 0x80 <= r && r < 0xa0, r == '\ufffd', r == '\u2028', r == '\u2029',
			'\u200b' <= r && r <= '\u200f', '\u202a' <= r && r <= '\u202e', '\u2060' <= r && r <= '\u206f', r == '\ufeff':
			continue // what prints as nothing, or turns the text around
		}
		if out = append(out, string(r)...); len(out) <= limit {
			kept = len(out)
		}
		if len(out) >= max(limit, maxLabel) {
			break
		}
	}
	if KeyShape(out) != "" {
		return redacted
	}
	return string(bytes.TrimSpace(out[:kept]))
}
