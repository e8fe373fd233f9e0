package bench

import (
	"context"
	"io"
	"math"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// floodEvents is how many events a flood has. One event is a usual small chunk
// of a chat answer; eight go into each write.
const (
	floodEvents = 100_000
	floodBatch  = 8
)

// flood returns a chunked response of n events.
func flood(n int) string {
	var b strings.Builder
	event := say("word ")
	for range n / floodBatch {
		b.WriteString(chunk(strings.Repeat(event, floodBatch)))
	}
	b.WriteString(chunk(finish(n, 0)))
	b.WriteString(lastChunk)
	return b.String()
}

// A floodConn hands out a body at once, as a socket that is always full.
type floodConn struct {
	net.Conn
	left string
}

func (c *floodConn) Read(p []byte) (int, error) {
	if c.left == "" {
		return 0, io.EOF
	}
	n := copy(p, c.left)
	c.left = c.left[n:]
	return n, nil
}

func (c *floodConn) SetReadDeadline(time.Time) error { return nil }

// newFlood returns an exchange that is about to read its body.
func newFlood() *exchange {
	return &exchange{
		limits: published(), clock: newClock(), protocol: wire.OpenAIChat{},
		lastRead: -1, // the head came without a read
		buf:      make([]byte, readBuffer), body: make([]byte, 0, 16<<20), reads: make([]Read, 0, readCapacity),
	}
}

// BenchmarkHotPath is what happens while an answer streams: read, stamp,
// unframe, log; without the kernel's part of a read.
func BenchmarkHotPath(b *testing.B) {
	raw := flood(floodEvents)
	x := newFlood()
	body := x.body
	b.ReportAllocs()
	for b.Loop() {
		sock := stampConn(&floodConn{left: raw}, x.clock, false)
		x.body, x.reads, x.lastRead = body[:0], x.reads[:0], -1
		if err := x.readBody(sock, sock, bodyFramer{state: chunkSize}, nil); err != nil {
			b.Fatal(err)
		}
	}
	perEvent(b, floodEvents)
}

// BenchmarkLongBody is the hot path of an answer that outgrows what was laid
// out for it: 64 MB, as near to [wire.MaxBody] as an answer may come.
func BenchmarkLongBody(b *testing.B) {
	n := wire.MaxBody / len(flood(floodBatch)) * floodBatch
	raw := flood(n)
	x := newFlood()
	b.ReportAllocs()
	for b.Loop() {
		sock := stampConn(&floodConn{left: raw}, x.clock, false)
		x.body, x.reads, x.lastRead = make([]byte, 0, bodyCapacity), x.reads[:0], -1
		if err := x.readBody(sock, sock, bodyFramer{state: chunkSize}, nil); err != nil {
			b.Fatal(err)
		}
	}
	perEvent(b, n)
}

// BenchmarkHotPathSocket is the same on a loopback socket with kernel stamps,
// the writer on the same machine.
func BenchmarkHotPathSocket(b *testing.B) {
	raw := flood(floodEvents)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			io.WriteString(c, raw)
			c.Close()
		}
	}()
	x := newFlood()
	body := x.body
	b.ReportAllocs()
	for b.Loop() {
		conn, err := new(Meter).dialer()(context.Background(), "tcp", l.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		sock := stampConn(conn, x.clock, true)
		x.body, x.reads, x.lastRead = body[:0], x.reads[:0], -1
		if err := x.readBody(sock, sock, bodyFramer{state: chunkSize}, nil); err != nil {
			b.Fatal(err)
		}
		sock.Close()
	}
	perEvent(b, floodEvents)
}

// BenchmarkDerive is what happens after the answer: the whole decode with JSON,
// the join with the stamps, the trace and the digest.
func BenchmarkDerive(b *testing.B) {
	rec := floodRecording(b, floodEvents)
	b.ReportAllocs()
	for b.Loop() {
		if s := rec.sample(wire.OpenAIChat{}); !s.OK() || s.Chunks != floodEvents {
			b.Fatalf("%v %s, %d chunks", s.Kind, s.Detail, s.Chunks)
		}
	}
	perEvent(b, floodEvents)
}

// perEvent reports a benchmark of n events each.
func perEvent(b *testing.B, n int) {
	events := float64(n) * float64(b.N)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/events, "ns/event")
	b.ReportMetric(events/b.Elapsed().Seconds(), "events/s")
}

func floodRecording(tb testing.TB, n int) Recording {
	tb.Helper()
	x := newFlood()
	sock := stampConn(&floodConn{left: flood(n)}, x.clock, false)
	x.dispatch = x.clock().mono
	if err := x.readBody(sock, sock, bodyFramer{state: chunkSize}, nil); err != nil {
		tb.Fatal(err)
	}
	x.settle()
	x.rec.HTTPStatus = 200
	return x.rec
}

// TestHotPathDoesNotAllocate checks that a longer answer costs no allocation
// more than a short one, within the sizes laid out for it.
func TestHotPathDoesNotAllocate(t *testing.T) {
	raw := flood(10_000)
	x := newFlood()
	body := x.body
	conn := &floodConn{}
	sock := stampConn(conn, x.clock, false)
	allocs := testing.AllocsPerRun(10, func() {
		conn.left = raw
		x.body, x.reads, x.lastRead = body[:0], x.reads[:0], -1
		if err := x.readBody(sock, sock, bodyFramer{state: chunkSize}, nil); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 0 {
		t.Errorf("10,000 events cost %v allocations; want none", allocs)
	}
}

// TestLogJoinsArrivals checks that what arrived together is one read in the log,
// whether TLS hands it out record by record or the reader's buffer was small.
func TestLogJoinsArrivals(t *testing.T) {
	x := newFlood()
	for _, read := range []struct {
		at   stamp
		body int // length of the body after it
	}{
		{stamp{user: 10, kernel: 9, read: 1}, 5},
		{stamp{user: 10, kernel: 9, read: 1}, 7},   // another record of the same socket read
		{stamp{user: 12, kernel: 9, read: 2}, 9},   // the rest of the same segment
		{stamp{user: 20, kernel: 19, read: 3}, 11}, // another segment
		{stamp{user: 30, read: 4}, 12},             // the kernel told nothing
		{stamp{user: 30, read: 5}, 13},
	} {
		x.body = x.body[:read.body]
		x.logBody(read.at)
	}
	want := []Read{{9, 10, 9}, {11, 20, 19}, {12, 30, 0}, {13, 30, 0}}
	if !slices.Equal(x.reads, want) {
		t.Errorf("reads %v; want %v", x.reads, want)
	}
}

// TestKernelReadDoesNotAllocate checks the same of a read with a kernel stamp.
func TestKernelReadDoesNotAllocate(t *testing.T) {
	url := serveRaw(t, func(c net.Conn) {
		for {
			if _, err := io.WriteString(c, "x"); err != nil {
				return
			}
		}
	})
	conn, err := new(Meter).dialer()(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sock := stampConn(conn, newClock(), true)
	p := make([]byte, 1)
	// The count is the whole process's, so what an earlier test left to end may
	// be in it: the least of a few counts is the read's own.
	allocs := math.Inf(1)
	for range 20 {
		allocs = min(allocs, testing.AllocsPerRun(50, func() {
			if _, err := sock.Read(p); err != nil {
				t.Fatal(err)
			}
		}))
	}
	if allocs > 0 {
		t.Errorf("a read costs %v allocations; want none", allocs)
	}
}

// TestFloodIsIntact checks that half a million events pass without loss.
func TestFloodIsIntact(t *testing.T) {
	if testing.Short() {
		t.Skip("moves 40 MB over loopback")
	}
	const n = 500_000
	raw := flood(n)
	url := serveRaw(t, func(c net.Conn) {
		readRequest(c)
		io.WriteString(c, sseHead+raw)
	})
	s := measure(t, &Meter{}, chatRun(url))
	if !s.OK() || s.Chunks != n || s.Chars != 5*n || s.Words != n {
		t.Errorf("%v %s: %d chunks, %d characters, %d words", s.Kind, s.Detail, s.Chunks, s.Chars, s.Words)
	}
}
