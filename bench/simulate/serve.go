package simulate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"
)

// A format is one wire format, as the server needs it.
type format struct {
	parse  func(*http.Request, []byte) (call, error)
	encode func(*call) encoder
	refuse func(http.Header, refusal) (status int, body any)
}

var (
	errNotStreaming = errors.New("the simulated provider only streams: ask for a stream")
	errNoMaxTokens  = errors.New("max_tokens: field required")
)

const (
	maxRequest = 1 << 20  // bytes of a request body that are read
	maxBatch   = 32 << 10 // bytes after which frames that are due together are written
	longLine   = 10 << 20 // bytes of text in FaultLongLine's frame
)

// answer returns the handler of one wire format.
func (s *Server) answer(f format) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		s.identify(w.Header())
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			s.refuse(w, f, refusal{status: http.StatusRequestEntityTooLarge, message: "cannot read the request body"})
			return
		}
		c, err := f.parse(r, body)
		if err != nil {
			s.refuse(w, f, refusal{status: http.StatusBadRequest, message: err.Error()})
			return
		}
		m, n, ok := s.take(c.model)
		if !ok {
			s.refuse(w, f, refusal{status: http.StatusNotFound, message: fmt.Sprintf("model %q not found", c.model)})
			return
		}
		c.id = w.Header().Get("X-Request-Id")
		c.created = start
		c.shape = m.Shape
		if !c.shape.Fault.strikes(n) {
			c.shape.Fault = Fault{}
		}
		c.shape = c.shape.After(c.input())
		c.line = c.shape.Timeline(c.limit, rand.New(rand.NewPCG(s.seed^hash(c.model), uint64(n)))).scale(s.speed)

		x := exchange{
			server: s, w: w, rc: http.NewResponseController(w), format: f, call: &c, enc: f.encode(&c),
			pace: newPacer(s.precise), start: start,
			rec: Record{
				ID: c.id, Path: r.URL.Path, Model: c.model, Ordinal: n, Limit: c.limit, Fault: c.shape.Fault.Kind.String(),
				Clock: s.clock.name, StartNS: s.clock.nano(start), Writes: make([]Write, 0, len(c.line.Steps)),
			},
		}
		x.play(r.Context())
	}
}

// refuse answers a request that never got as far as a model.
func (s *Server) refuse(w http.ResponseWriter, f format, r refusal) {
	status, body := f.refuse(w.Header(), r)
	writeJSON(w, status, body)
}

func writeJSON(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	w.Write(appendJSON(nil, body)) // an error means that the client left
}

// An exchange is one request being answered.
type exchange struct {
	server *Server
	w      http.ResponseWriter
	rc     *http.ResponseController
	format format
	call   *call
	enc    encoder
	pace   *pacer
	start  time.Time

	buf    []byte
	offset int64 // body bytes written
	begun  bool  // the header is set
	rec    Record
}

// play writes the timeline, each frame when it is due. Frames that are due
// together are one write.
func (x *exchange) play(ctx context.Context) {
	x.rec.Ended = "gone"
	steps := x.call.line.Steps
	for i := 0; i < len(steps); {
		first := steps[i]
		if first.Kind == StepBreak {
			if x.pace.wait(ctx, x.start.Add(first.Due)) == nil {
				x.fail(ctx) // logs for itself, as the client may see its effect at once
				return
			}
			break
		}
		var out Write
		x.buf = x.buf[:0]
		for ; i < len(steps) && steps[i].Due == first.Due && steps[i].Kind != StepBreak && len(x.buf) < maxBatch; i++ {
			x.render(steps[i], &out)
		}
		if len(x.buf) == 0 && first.Kind == StepKeepAlive {
			continue // the format has none
		}
		if err := x.put(ctx, first, out); err != nil {
			break
		}
		if i == len(steps) {
			x.rec.Ended = "complete"
		}
	}
	x.log()
}

// log files the record. It comes before anything that ends the answer, so that
// whoever has seen the end can ask for the record.
func (x *exchange) log() {
	x.rec.DoneNS = x.server.clock.nano(time.Now())
	for _, w := range x.rec.Writes {
		x.rec.Visible += w.Visible
		x.rec.Reasoned += w.Reasoning
	}
	if x.rec.Ended == "complete" {
		x.rec.Reasoned += x.call.line.Hidden
	}
	x.server.file(x.rec)
}

// render appends one step to the buffer and counts it.
func (x *exchange) render(s Step, out *Write) {
	made := x.start.Add(s.Made)
	out.Steps++
	switch s.Kind {
	case StepOpen:
		x.buf = x.enc.open(x.buf)
	case StepKeepAlive:
		x.buf = x.enc.keepAlive(x.buf)
	case StepReasoning:
		x.buf = x.enc.output(x.buf, s, made)
		out.Reasoning += s.Tokens
	case StepVisible:
		x.buf = x.enc.output(x.buf, s, made)
		out.Visible += s.Tokens
	case StepEnd:
		x.buf = x.enc.end(x.buf, made)
	}
}

// put waits until the buffer is due and writes it, in two parts if the shape
// splits frames.
func (x *exchange) put(ctx context.Context, first Step, out Write) error {
	due := x.start.Add(first.Due)
	if first.Kind >= StepReasoning {
		if at := x.call.shape.Split.at(x.buf); at > 0 {
			lead := due.Add(-SplitLead)
			if err := x.write(ctx, lead, x.buf[:at], Write{}); err != nil {
				return err
			}
			return x.write(ctx, due, x.buf[at:], out)
		}
	}
	return x.write(ctx, due, x.buf, out)
}

// write waits until p is due, writes and flushes it, and notes the instants.
// The wait comes after all rendering, so nothing but the write is late.
func (x *exchange) write(ctx context.Context, due time.Time, p []byte, out Write) error {
	if err := x.pace.wait(ctx, due); err != nil {
		return err
	}
	x.begin()
	before := time.Now()
	if len(p) > 0 {
		if _, err := x.w.Write(p); err != nil {
			return err
		}
	}
	if err := x.rc.Flush(); err != nil {
		return err
	}
	after := time.Now()
	if len(p) == 0 {
		return nil
	}
	x.offset += int64(len(p))
	out.Seq, out.End = len(x.rec.Writes), x.offset
	out.DueNS, out.BeforeNS, out.AfterNS = x.server.clock.nano(due), x.server.clock.nano(before), x.server.clock.nano(after)
	x.rec.Writes = append(x.rec.Writes, out)
	return nil
}

// begin sets the header of an answer that is a stream.
func (x *exchange) begin() {
	if x.begun {
		return
	}
	x.begun = true
	x.enc.header(x.w.Header())
	x.w.WriteHeader(http.StatusOK)
}

// fail does what the fault does.
func (x *exchange) fail(ctx context.Context) {
	fault := x.call.shape.Fault
	now := time.Now()
	x.rec.Ended = "fault"
	switch fault.Kind {
	case FaultHang, FaultHangMid:
		<-ctx.Done()
	case FaultInBand:
		x.write(ctx, now, x.enc.fail(nil), Write{Steps: 1})
	case FaultGarbage:
		x.write(ctx, now, []byte("data: {\"choices\":[{\"delta\":{\"cont\n\n"), Write{Steps: 1})
	case FaultLongLine:
		text := strings.Repeat(" routing", longLine/len(" routing"))
		p := x.enc.output(nil, Step{Kind: StepVisible, Text: text}, now)
		x.write(ctx, now, x.enc.end(p, now), Write{Steps: 2})
	case FaultEndless:
		x.flood(ctx)
	}
	x.log()

	// What follows is seen by the client, so the record is filed by now.
	switch fault.Kind {
	case FaultClose:
		drop(x.rc, false)
	case FaultReset, FaultResetMid:
		drop(x.rc, true)
	case FaultHTML:
		x.w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(x.w, "<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body><h1>Sign in to the simulated network</h1></body></html>\n")
	case FaultEmpty:
		x.begin()
	default:
		if r, ok := refuse(fault, x.call.model); ok {
			x.server.refuse(x.w, x.format, r)
		}
	}
}

// flood writes answer text until the client has had enough.
func (x *exchange) flood(ctx context.Context) {
	text := &reel{text: answerText()}
	for ctx.Err() == nil {
		x.buf = x.buf[:0]
		for len(x.buf) < maxBatch {
			x.buf = x.enc.output(x.buf, Step{Kind: StepVisible, Tokens: 1, Text: text.next(1)}, time.Now())
		}
		if _, err := x.w.Write(x.buf); err != nil {
			return
		}
		if err := x.rc.Flush(); err != nil {
			return
		}
	}
}

// drop ends the connection below an answer: with a reset, or in order.
func drop(rc *http.ResponseController, reset bool) {
	conn, _, err := rc.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // HTTP/2 has no connection to give: the stream is reset
	}
	defer conn.Close()
	below := conn
	for {
		t, ok := below.(interface{ NetConn() net.Conn }) // as TLS has
		if !ok {
			break
		}
		below = t.NetConn()
	}
	if tcp, ok := below.(*net.TCPConn); ok && reset {
		tcp.SetLinger(0) // on failure the close is an orderly one
		tcp.Close()
	}
}

// at returns the offset to cut frame at, or 0.
func (s Split) at(frame []byte) int {
	if len(frame) < 2 {
		return 0
	}
	switch s {
	case SplitRune:
		if i := bytes.IndexFunc(frame, func(r rune) bool { return r >= utf8.RuneSelf }); i >= 0 {
			return i + 1
		}
		return len(frame) / 2
	case SplitLine:
		return len(frame) / 2
	case SplitEnd:
		return len(frame) - 1
	}
	return 0
}
