package bench

import (
	"bytes"
	"io"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// Limits of what a sample keeps of a provider's words, in bytes.
const (
	maxFinish   = 64
	maxServedBy = 128
)

// maxArrivals bounds the trace of one body. A body of MaxBody bytes could hold
// thirty million empty comments.
const maxArrivals = 1 << 20

// A readClock tells when a byte of a body arrived.
type readClock struct {
	reads  []Read
	kernel bool
	next   int // the read that the last offset asked for fell into
}

// clock returns the clock of the recording's body and names it in env.
func (rec *Recording) clock(env *Env) readClock {
	c := readClock{reads: rec.Reads, kernel: rec.kernelStamped()}
	env.Clock = ""
	switch {
	case c.kernel:
		env.Clock = ClockKernel
	case len(c.reads) > 0:
		env.Clock = ClockUser
	}
	return c
}

// read returns when read i came.
func (c *readClock) read(i int) (at time.Duration, ordinal int) {
	if c.kernel {
		return c.reads[i].Kernel, i
	}
	return c.reads[i].User, i
}

// arrival returns when the byte before offset came, and with which read.
// Offsets must not decrease from call to call.
func (c *readClock) arrival(offset int64) (at time.Duration, ordinal int) {
	for c.next < len(c.reads)-1 && c.reads[c.next].End < offset {
		c.next++
	}
	return c.read(c.next)
}

// fold derives from the body of a 2xx response what the sample keeps of it.
func (s *Sample) fold(rec *Recording, p wire.Protocol, clock readClock) {
	if len(rec.Reads) == 0 {
		return
	}
	var (
		reply  wire.Reply
		tokens chunkTokens
		marker bool // Done is that of an end marker
		err    error

		firstReason time.Duration // also of an event that is marked visible
	)
	s.Trace = make([]Arrival, 0, min(len(rec.Body)/48+8, maxArrivals))
	for ev, fault := range p.Decode(rec.body()) {
		if fault != nil {
			err = fault
			break
		}
		if len(s.Trace) == maxArrivals {
			err = &wire.BodyError{Detail: wire.DetailOversize, Offset: ev.End}
			break
		}
		a := Arrival{Offset: ev.End, Mark: markOf(&ev)}
		a.At, a.Read = clock.arrival(ev.End)
		visible, reasoning := reply.Add(ev)
		switch a.Mark {
		case MarkVisible:
			a.Chars = int(visible)
			a.Tokens = tokens.add(&reply, ev.Usage)
		case MarkReasoning:
			a.Chars = int(reasoning)
		}
		if len(ev.Reasoning) > 0 && firstReason == 0 {
			firstReason = a.At
		}
		switch {
		case len(ev.Visible) > 0 && marker:
			s.Done = a.At // the answer went on after its own end
		case ev.Last && !marker:
			s.Done, marker = a.At, true
		case ev.Complete && !marker:
			s.Done = a.At
		case len(ev.Visible) > 0:
			s.Done = 0 // what ended before this text was not the answer
		}
		s.Trace = append(s.Trace, a)
	}
	if s.EOF != 0 {
		s.Trace = append(s.Trace, Arrival{At: s.EOF, Offset: s.Bytes, Read: len(rec.Reads) - 1, Mark: MarkEOF})
	}
	s.Usage = usage(&reply)
	if !tokens.usable(&reply) || !s.Usage.Visible.Known {
		for i := range s.Trace {
			s.Trace[i].Tokens = 0
		}
	}
	s.Digest()
	s.FirstReason, s.ReasonChunks = firstReason, reply.ReasoningEvents
	s.Words = int(reply.Visible.Words)
	s.Finish = clean(reply.Finish, maxFinish)
	s.ServedBy = clean(reply.Model, maxServedBy)
	s.Backend = clean(reply.Backend, maxServedBy)
	s.Server = reply.Server
	s.judge(&reply, err, rec)
}

// body returns a reader of the body that ends as the exchange did.
func (rec *Recording) body() io.Reader {
	body := bytes.NewReader(rec.Body)
	if rec.Broke == wire.KindNone {
		return body
	}
	return io.MultiReader(body, brokenOff{})
}

// A brokenOff is the end of a body that broke off.
type brokenOff struct{}

func (brokenOff) Read([]byte) (int, error) { return 0, errBrokeOff }

// judge gives the verdict on a 2xx response. An answer that was complete before
// the connection broke is a success.
func (s *Sample) judge(reply *wire.Reply, err error, rec *Recording) {
	verdict := reply.Verdict(err)
	broke := wire.Failure{Kind: rec.Broke, Detail: rec.BrokeAs}
	if verdict.OK() {
		s.Kind, s.Detail, s.FailedIn, s.RetryAfter = wire.KindNone, "", "", 0
		return
	}
	// What the body says of itself goes before how it was cut off.
	if verdict.Detail == wire.DetailRead {
		verdict = broke
	}
	s.fail(s.reached(reply, verdict), verdict)
}

// reached returns the phase in which a 2xx response went wrong.
func (s *Sample) reached(reply *wire.Reply, f wire.Failure) Phase {
	began := reply.VisibleEvents > 0 || reply.ReasoningEvents > 0
	switch {
	case f.Kind == wire.KindMalformed && (s.EOF != 0 || s.Done != 0) && began:
		return PhaseEnd
	case f.Detail == wire.DetailNoVisibleOutput, f.Detail == wire.DetailToolCall,
		f.Detail == wire.DetailRefusal, f.Detail == wire.DetailContentFilter:
		return PhaseEnd
	case began:
		return PhaseStream
	}
	return PhaseFirstToken
}

// markOf says what an event is in a trace: the first of its kinds that holds.
func markOf(ev *wire.Event) Mark {
	switch {
	case len(ev.Visible) > 0:
		return MarkVisible
	case ev.Fail != nil || ev.Broken:
		return MarkError
	case len(ev.Reasoning) > 0:
		return MarkReasoning
	case ev.Last || ev.Complete:
		return MarkDone
	case !ev.Usage.IsZero():
		return MarkUsage
	case ev.Index < 0:
		return MarkComment
	}
	return MarkMeta
}

// maxTokens is the most visible tokens that an answer of so many characters can
// have: a token of a byte-level vocabulary is one byte or more, a character four
// bytes or fewer, and a few tokens may be of no text, such as an end of turn.
func maxTokens(chars int64) int64 { return 4*chars + 16 }

// usage returns the comparable token counts of a reply. Where the provider
// tells no output, it is guessed from the characters and marked so. A count of
// visible tokens that the text cannot have is none: a rate made of it could be
// as high as the provider likes.
func usage(reply *wire.Reply) Usage {
	t := reply.Tokens()
	u := Usage{
		Input: t.Input, Cached: t.Cached, Output: t.Output, Reasoning: t.Reasoning,
		Visible: t.Visible, Clamped: t.Clamped,
	}
	if u.Visible.Known && u.Visible.N > maxTokens(reply.Visible.Chars) {
		u.Visible, u.Clamped = wire.Count{}, true
	}
	if chars := reply.Visible.Chars + reply.Reasoning.Chars; !u.Output.Known && chars > 0 {
		u.Output = wire.Known(int64(float64(chars)/CharsPerToken + 0.5))
		u.Estimated = true
	}
	return u
}

// chunkTokens follows usage that grows chunk by chunk, where a stream has it.
type chunkTokens struct {
	sum    int64
	broken bool // some chunk had no usage, or brought no token by it
}

// add returns the tokens of a visible chunk with usage u.
func (c *chunkTokens) add(reply *wire.Reply, u wire.Usage) int {
	if c.broken = c.broken || !u.Output.Known; c.broken {
		return 0
	}
	visible := reply.Tokens().Visible
	if !visible.Known || visible.N <= c.sum {
		c.broken = true
		return 0
	}
	n := visible.N - c.sum
	c.sum = visible.N
	return int(n)
}

// usable reports whether every chunk brought tokens by the stream's own count
// and they add up to that of the answer. A placeholder in the first chunk or a
// total repeated in each does not.
func (c *chunkTokens) usable(reply *wire.Reply) bool {
	total := reply.Tokens().Visible
	return !c.broken && total.Known && c.sum == total.N
}
