package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// Sizes laid out before the request is sent, so that a usual answer makes the
// hot path allocate nothing.
const (
	readBuffer   = 64 << 10
	bodyCapacity = 1 << 20
	readCapacity = 4 << 10
)

// An exchange is one request and its response while they happen. Instants in
// it are on its clock until [exchange.receive] counts them from the dispatch.
type exchange struct {
	limits   Limits
	clock    clock
	protocol wire.Protocol
	live     *liveBody // nil: nobody watches
	rec      Recording

	refused  bool // the status is an error's: the body is a report, not an answer
	dispatch time.Duration
	newest   time.Duration // when the newest read returned
	buf      []byte
	body     []byte
	reads    []Read
	lastRead int // ordinal, on the socket, of the last read in reads
}

// send writes the whole request at once. The dispatch is the instant before it.
func (x *exchange) send(ctx context.Context, conn net.Conn, req *http.Request, start time.Duration) bool {
	var out bytes.Buffer
	if err := req.Write(&out); err != nil {
		x.fail(PhaseRequest, wire.KindMalformed, DetailUnsendable)
		return false
	}
	x.buf = make([]byte, readBuffer)
	x.body = make([]byte, 0, bodyCapacity)
	x.reads = make([]Read, 0, readCapacity)
	// The response head must have come by then, so the request must be out.
	conn.SetDeadline(time.Now().Add(x.limits.Header))

	x.dispatch = x.clock().mono
	_, err := conn.Write(out.Bytes())
	written := x.clock().mono
	x.newest = written
	x.rec.Phases.Setup = x.dispatch - start
	if err != nil {
		x.failWith(ctx, PhaseRequest, err)
		return false
	}
	x.rec.Phases.WroteHeaders = written - x.dispatch
	x.rec.Phases.WroteRequest = written - x.dispatch
	return true
}

// receive reads the response to its end, or to where it breaks off.
func (x *exchange) receive(ctx context.Context, conn net.Conn, sock *stampedConn, req *http.Request) {
	defer x.settle()
	head, rest, err := x.readHead(conn, sock, req)
	if err != nil {
		x.failWith(ctx, PhaseHeaders, err)
		return
	}
	x.rec.HTTPStatus, x.rec.Proto = head.StatusCode, head.Proto
	x.rec.Header = keptHeader(head.Header)
	x.refused = head.StatusCode/100 != 2
	if err := x.readBody(conn, sock, newBodyFramer(head), rest); err != nil {
		x.failWith(ctx, "", err)
	}
}

// readHead reads the response head, passing over interim ones, and returns it
// with the bytes of the body that came in the same read.
func (x *exchange) readHead(conn net.Conn, sock *stampedConn, req *http.Request) (*http.Response, []byte, error) {
	var head []byte
	searched, total := 0, 0
	for {
		if end := headEnd(head, searched); end > 0 {
			resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head[:end])), req)
			if err != nil {
				return nil, nil, errNotHTTP
			}
			if resp.StatusCode >= 200 {
				x.rec.HeadRead = len(x.reads)
				return resp, head[end:], nil
			}
			if resp.StatusCode == http.StatusSwitchingProtocols {
				return nil, nil, errNotHTTP
			}
			head, searched = head[end:], 0
			continue
		}
		if !bytes.HasPrefix(head, []byte("HTTP/")[:min(len(head), 5)]) {
			return nil, nil, errNotHTTP
		}
		if total > MaxHead { // interim heads count, or they could go on for ever
			return nil, nil, errHeadSize
		}
		searched = max(0, len(head)-3)
		n, err := conn.Read(x.buf)
		if n > 0 {
			x.log(sock.last)
			head = append(head, x.buf[:n]...)
			total += n
			continue
		}
		if err == io.EOF && len(head) > 0 {
			err = io.ErrUnexpectedEOF
		}
		if err != nil {
			return nil, nil, err
		}
	}
}

// headEnd returns the length of the response head at the start of b, blank line
// included, or 0 if it is not whole. The first bytes need no search.
func headEnd(b []byte, from int) int {
	for {
		i := bytes.IndexByte(b[from:], '\n')
		if i < 0 {
			return 0
		}
		from += i + 1
		switch rest := b[from:]; {
		case bytes.HasPrefix(rest, []byte("\n")):
			return from + 1
		case bytes.HasPrefix(rest, []byte("\r\n")):
			return from + 2
		}
	}
}

// readBody is the hot path: read, stamp, unframe, log. Nothing in it looks at
// what the bytes mean, except in a silence long enough for the answer to be over.
func (x *exchange) readBody(conn net.Conn, sock *stampedConn, framer bodyFramer, rest []byte) error {
	body, err := framer.unframe(x.body, rest)
	x.body = body
	x.logBody(sock.last)
	if err != nil {
		return err
	}
	var rearm time.Duration // when the deadline of a read must be moved on
	for !framer.done() {
		switch {
		case x.refused && len(x.body) > maxErrorBody:
			return nil // enough to classify the error
		case len(x.body) > wire.MaxBody:
			return errBodySize
		}
		if x.newest >= rearm {
			conn.SetReadDeadline(time.Now().Add(x.limits.Drain))
			rearm = x.newest + x.limits.Drain/2
		}
		n, err := conn.Read(x.buf)
		if n > 0 {
			var framing error
			x.reserve(n)
			x.body, framing = framer.unframe(x.body, x.buf[:n])
			x.logBody(sock.last)
			if framing != nil {
				return framing
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, os.ErrDeadlineExceeded):
			wait, err := x.silence()
			if wait <= 0 {
				return err
			}
			conn.SetReadDeadline(time.Now().Add(wait))
			rearm = x.newest + min(wait, x.limits.Drain/2)
		case err == io.EOF && framer.atClose():
			x.rec.EOF = x.clock().mono
			return nil
		case err == io.EOF:
			return io.ErrUnexpectedEOF
		default:
			return err
		}
	}
	x.rec.EOF = x.newest
	return nil
}

// reserve makes room for n more bytes of the body. An answer that outgrows what
// was laid out gets four times as much at once: append would add a quarter and
// clear it, which for a body of the largest size writes five times its bytes.
func (x *exchange) reserve(n int) {
	if cap(x.body)-len(x.body) >= n {
		return
	}
	larger := make([]byte, len(x.body), max(len(x.body)+n, min(4*cap(x.body), wire.MaxBody+readBuffer)))
	copy(larger, x.body)
	x.body = larger
}

// silence decides what to do when a read has brought nothing for a while: for
// how long to go on, or, with no time to wait, how the response ended.
func (x *exchange) silence() (wait time.Duration, err error) {
	idle := x.clock().mono - x.newest
	drain, finish := x.limits.Drain, x.limits.Finish
	switch {
	case idle >= x.limits.Idle:
		return 0, errIdle
	case idle < drain:
		return drain - idle, nil
	case x.refused && len(x.body) > 0:
		return 0, nil
	}
	ended, finished := x.ended()
	switch {
	case ended, finished && idle >= finish:
		return 0, nil // held open after the end
	case finished:
		return finish - idle, nil
	}
	return x.limits.Idle - idle, nil
}

// ended reports whether the body so far has an end marker or a finish reason.
func (x *exchange) ended() (marker, finish bool) {
	for ev, err := range x.protocol.Decode(bytes.NewReader(x.body)) {
		if err != nil {
			return false, false
		}
		marker = marker || ev.Last
		finish = finish || ev.Finish != "" || ev.Fail != nil
	}
	return marker, finish
}

// log appends a read to the log, one entry for each arrival: TLS hands out the
// records of one socket read one by one, and a segment larger than the reader's
// buffer takes several reads, which the kernel stamps alike.
func (x *exchange) log(at stamp) {
	x.newest = at.user
	if at.read == x.lastRead {
		return
	}
	x.lastRead = at.read
	if n := len(x.reads); n > 0 && at.kernel != 0 && at.kernel == x.reads[n-1].Kernel {
		return
	}
	x.reads = append(x.reads, Read{User: at.user, Kernel: at.kernel})
}

// logBody logs a read with the body as it stands after it.
func (x *exchange) logBody(at stamp) {
	x.log(at)
	x.reads[len(x.reads)-1].End = int64(len(x.body))
	if x.live != nil {
		x.live.publish(x.body, x.reads, x.dispatch)
	}
}

// settle moves what was logged into the recording, counted from the dispatch.
// An instant before it, of an answer that did not wait for the request, becomes
// the least instant there is: 0 is for what did not happen.
func (x *exchange) settle() {
	since := func(at *time.Duration) {
		if *at != 0 {
			*at = max(1, *at-x.dispatch)
		}
	}
	for i := range x.reads {
		since(&x.reads[i].User)
		since(&x.reads[i].Kernel)
	}
	since(&x.rec.EOF)
	x.rec.Reads, x.rec.Body = x.reads, x.body
}

// keptHeader returns the fields of a response head that its verdict may need
// and that say nothing of the account.
func keptHeader(h http.Header) http.Header {
	kept := make(http.Header)
	for name, values := range h {
		lower := strings.ToLower(name)
		switch {
		case lower == "content-type", lower == "content-encoding", lower == "location",
			lower == "retry-after", lower == "retry-after-ms",
			strings.HasPrefix(lower, "x-ratelimit-"), strings.HasPrefix(lower, "anthropic-ratelimit-"):
			kept[name] = values
		}
	}
	return kept
}
