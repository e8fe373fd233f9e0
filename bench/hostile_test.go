package bench

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// A verdictCase is a response and what must be said of it.
type verdictCase struct {
	name   string
	script []send
	kind   wire.ErrorKind
	detail wire.Detail
	phase  Phase
	chunks int // of visible text, kept all the same
}

// TestVerdicts checks kind, detail and phase of every way in which a response
// can go wrong once the connection stands. A script that ends without lastChunk
// closes the connection too soon; one that ends with silent keeps it open.
func TestVerdicts(t *testing.T) {
	const s = time.Second
	silent := send{at: time.Hour}
	head := func(status int, fields, body string) []send {
		return []send{{0, fmt.Sprintf("HTTP/1.1 %d X\r\n%sContent-Length: %d\r\n\r\n%s", status, fields, len(body), body)}}
	}
	tests := []verdictCase{
		{"success", answer(3, s, s, "hi "), wire.KindNone, "", "", 3},
		{"success, the connection is held open", []send{{0, sseHead}, {s, chunk(say("hi")) + chunk(finish(1, 0))}, silent},
			wire.KindNone, "", "", 1},
		{"success, no end marker, held open", []send{{0, sseHead}, {s, chunk(say("hi") + frame(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`))}, silent},
			wire.KindNone, "", "", 1},
		{"success, closed without the last chunk", []send{{0, sseHead}, {s, chunk(say("hi")) + chunk(finish(1, 0))}},
			wire.KindNone, "", "", 1},
		{"success, the body ends with the connection", []send{{0, "HTTP/1.1 200 OK\r\n\r\n" + say("hi") + finish(1, 0)}},
			wire.KindNone, "", "", 1},
		{"success over HTTP/1.0", []send{{0, "HTTP/1.0 200 OK\r\n\r\n" + say("hi") + finish(1, 0)}},
			wire.KindNone, "", "", 1},
		{"success after interim heads", []send{{0, "HTTP/1.1 100 Continue\r\n\r\n"}, {s, "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + sseHead + chunk(say("hi")+finish(1, 0)) + lastChunk}},
			wire.KindNone, "", "", 1},

		{"no answer", []send{silent}, wire.KindTimeout, DetailHeaderTimeout, PhaseHeaders, 0},
		{"head trickles", trickle("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 200), s), wire.KindTimeout, DetailHeaderTimeout, PhaseHeaders, 0},
		{"closed at once", nil, wire.KindNetwork, DetailClosed, PhaseHeaders, 0},
		{"closed in the head", []send{{0, "HTTP/1.1 200 OK\r\nContent-"}}, wire.KindNetwork, DetailClosed, PhaseHeaders, 0},
		{"another protocol", []send{{0, "SSH-2.0-OpenSSH_9.9\r\n"}, silent}, wire.KindMalformed, DetailNotHTTP, PhaseHeaders, 0},
		{"switching protocols", []send{{0, "HTTP/1.1 101 Switching Protocols\r\n\r\n"}, silent}, wire.KindMalformed, DetailNotHTTP, PhaseHeaders, 0},
		{"broken head", []send{{0, "HTTP/1.1 200 OK\r\nno colon\r\n\r\n"}}, wire.KindMalformed, DetailNotHTTP, PhaseHeaders, 0},
		{"unknown transfer coding", []send{{0, "HTTP/1.1 200 OK\r\nTransfer-Encoding: snappy\r\n\r\n"}}, wire.KindMalformed, DetailNotHTTP, PhaseHeaders, 0},

		{"head, then silence", []send{{0, sseHead}, silent}, wire.KindTimeout, DetailIdleTimeout, PhaseFirstToken, 0},
		{"keep-alives for ever", every(10*s, 100, sseHead, chunk(": still here\n\n")), wire.KindTimeout, DetailRunTimeout, PhaseFirstToken, 0},
		{"reasoning, then silence", []send{{0, sseHead}, {s, chunk(think("hm"))}, silent}, wire.KindTimeout, DetailIdleTimeout, PhaseStream, 0},
		{"text, then silence", []send{{0, sseHead}, {s, chunk(say("hi"))}, silent}, wire.KindTimeout, DetailIdleTimeout, PhaseStream, 1},
		{"never-ending text", every(s+1, 200, sseHead, chunk(say("hi "))), wire.KindTimeout, DetailRunTimeout, PhaseStream, 119},
		{"a byte a second", append([]send{{0, sseHead}}, trickle(chunk(say("hi"))+chunk(finish(1, 0))+lastChunk, s)...), wire.KindTimeout, DetailRunTimeout, PhaseStream, 1},

		{"empty body", []send{{0, sseHead + lastChunk}}, wire.KindMalformed, wire.DetailEmptyBody, PhaseFirstToken, 0},
		{"truncated before any text", []send{{0, sseHead}}, wire.KindNetwork, DetailClosed, PhaseFirstToken, 0},
		{"truncated after text", []send{{0, sseHead}, {s, chunk(say("hi"))}}, wire.KindNetwork, DetailClosed, PhaseStream, 1},
		{"ended after text, without a finish reason", []send{{0, sseHead}, {s, chunk(say("hi")) + lastChunk}}, wire.KindMalformed, wire.DetailTruncated, PhaseEnd, 1},
		{"broken chunk", []send{{0, sseHead}, {s, chunk(say("hi")) + "nonsense"}, silent}, wire.KindMalformed, DetailFraming, PhaseStream, 1},
		{"no visible text", []send{{0, sseHead + chunk(think("hm")+finish(300, 300)) + lastChunk}}, wire.KindMalformed, wire.DetailNoVisibleOutput, PhaseEnd, 0},
		{"web page", head(200, "Content-Type: text/html\r\n", "<!DOCTYPE html><html><body>Sign in</body></html>"), wire.KindMalformed, wire.DetailHTML, PhaseFirstToken, 0},
		{"one JSON answer", head(200, "Content-Type: application/json\r\n", `{"choices":[{"message":{"content":"hi"}}]}`), wire.KindMalformed, wire.DetailNonStreaming, PhaseFirstToken, 0},
		{"error in the stream", []send{{0, sseHead + chunk(say("hi")+frame(`{"error":{"code":502,"message":"upstream"}}`)) + lastChunk}}, wire.KindServer, wire.DetailUpstream, PhaseStream, 1},
		{"error instead of a stream", head(200, "", `{"error":{"message":"slow down","type":"rate_limit_error","code":429}}`), wire.KindRateLimit, wire.DetailThrottled, PhaseFirstToken, 0},

		{"bad key", head(401, "", `{"error":{"message":"bad key"}}`), wire.KindAuth, wire.DetailBadKey, PhaseHeaders, 0},
		{"rate limit", head(429, "Retry-After: 7\r\n", `{}`), wire.KindRateLimit, wire.DetailThrottled, PhaseHeaders, 0},
		{"overloaded, without end", append(head(503, "", ""), silent), wire.KindServer, wire.DetailOverloaded, PhaseHeaders, 0},
		{"error body hangs", []send{{0, "HTTP/1.1 500 X\r\nContent-Length: 99\r\n\r\n{}"}, silent}, wire.KindServer, wire.DetailInternal, PhaseHeaders, 0},
		{"redirect", []send{{0, "HTTP/1.1 307 X\r\nLocation: http://elsewhere.invalid/v1\r\nContent-Length: 0\r\n\r\n"}, silent}, wire.KindMalformed, wire.DetailRedirect, PhaseHeaders, 0},
		{"redirect to the cloud's metadata", []send{{0, "HTTP/1.1 302 X\r\nLocation: http://169.254.169.254/latest/meta-data/\r\nContent-Length: 0\r\n\r\n"}, silent}, wire.KindMalformed, wire.DetailRedirect, PhaseHeaders, 0},
		{"compressed", []send{{0, "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + gzipped(say("hi")+finish(1, 0))}}, wire.KindMalformed, DetailCompressed, PhaseHeaders, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				s := measure(t, scripted(tt.script, wallSet{}, 0), chatRun("http://sim.invalid"))
				if s.Kind != tt.kind || s.Detail != tt.detail || s.FailedIn != tt.phase || s.Chunks != tt.chunks {
					t.Errorf("%v %q in %q with %d chunks; want %v %q in %q with %d",
						s.Kind, s.Detail, s.FailedIn, s.Chunks, tt.kind, tt.detail, tt.phase, tt.chunks)
				}
				if took := time.Since(began); took > RunTimeout {
					t.Errorf("took %v", took)
				}
				if !s.OK() && s.Chunks > 0 && !s.Partial() {
					t.Error("text came and the sample is not partial")
				}
				noText(t, s, "sim.invalid", "elsewhere.invalid")
			})
		})
	}
}

// trickle is s, a byte at a time.
func trickle(s string, gap time.Duration) (script []send) {
	for i := range s {
		script = append(script, send{time.Duration(i) * gap, s[i : i+1]})
	}
	return append(script, send{at: time.Hour})
}

// every is a head and then n times the same.
func every(gap time.Duration, n int, head, s string) []send {
	script := []send{{0, head}}
	for i := range n {
		script = append(script, send{time.Duration(i+1) * gap, s})
	}
	return append(script, send{at: time.Hour})
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, s)
	w.Close()
	return b.String()
}

// TestRetryAfter checks the wait that a sample keeps, also of a date.
func TestRetryAfter(t *testing.T) {
	started := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) int64 { return started.Add(d).UnixMilli() }
	tests := []struct {
		name  string
		retry wire.Retry
		since time.Duration
		want  time.Duration
	}{
		{"not told", wire.Retry{}, time.Second, 0},
		{"delay", wire.Retry{DelayMS: 7000}, time.Second, 7 * time.Second},
		{"date", wire.Retry{AtUnixMS: at(time.Minute)}, 2 * time.Second, 58 * time.Second},
		{"date gone by", wire.Retry{AtUnixMS: at(-time.Minute)}, 0, 0},
		{"the longer of both", wire.Retry{DelayMS: 90_000, AtUnixMS: at(time.Minute)}, 0, 90 * time.Second},
		{"years", wire.Retry{DelayMS: 1 << 60}, 0, maxRetryAfter},
		{"negative", wire.Retry{DelayMS: -5}, 0, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := retryAfter(tt.retry, started, tt.since); got != tt.want {
				t.Errorf("retryAfter = %v; want %v", got, tt.want)
			}
		})
	}
}

// TestConnectionFailures checks the failures that only real sockets have.
func TestConnectionFailures(t *testing.T) {
	reset := func(conn net.Conn) { conn.(*net.TCPConn).SetLinger(0) } // close sends RST
	refused := func() string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		return "http://" + l.Addr().String()
	}
	secure := func(url string) string { return strings.Replace(url, "http:", "https:", 1) }
	untrusted, _ := serveTLS(t, func(http.ResponseWriter, *http.Request) {})
	untrusted.Config.ErrorLog = log.New(io.Discard, "", 0)

	tests := []struct {
		name   string
		url    string
		kind   wire.ErrorKind
		detail wire.Detail
		phase  Phase
	}{
		{"no such name", "http://host.invalid", wire.KindNetwork, DetailDNS, PhaseDNS},
		{"nobody listens", refused(), wire.KindNetwork, DetailRefused, PhaseDial},
		{"certificate of a stranger", untrusted.URL, wire.KindNetwork, DetailCertificate, PhaseTLS},
		{"no TLS there", secure(serveRaw(t, func(c net.Conn) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") })),
			wire.KindNetwork, DetailHandshake, PhaseTLS},
		{"closed in the handshake", secure(serveRaw(t, func(c net.Conn) { c.Read(make([]byte, 1)); c.(*net.TCPConn).CloseWrite(); io.Copy(io.Discard, c) })),
			wire.KindNetwork, DetailClosed, PhaseTLS},
		{"reset in the handshake", secure(serveRaw(t, func(c net.Conn) { c.Read(make([]byte, 1)); reset(c) })),
			wire.KindNetwork, DetailReset, PhaseTLS},
		{"silent in the handshake", secure(serveRaw(t, func(c net.Conn) { io.Copy(io.Discard, c) })),
			wire.KindTimeout, DetailDialTimeout, PhaseTLS},
		{"reset before the head", serveRaw(t, func(c net.Conn) { readRequest(c); reset(c) }),
			wire.KindNetwork, DetailReset, PhaseHeaders},
		{"silent before the text", serveRaw(t, func(c net.Conn) { readRequest(c); io.WriteString(c, sseHead); io.Copy(io.Discard, c) }),
			wire.KindTimeout, DetailIdleTimeout, PhaseFirstToken},
		{"neither http nor https", "gopher://127.0.0.1", wire.KindMalformed, DetailUnsendable, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := new(Meter)
			switch tt.detail { // do not wait for what must not come
			case DetailDialTimeout:
				m.Limits.Dial = 300 * time.Millisecond
			case DetailIdleTimeout:
				m.Limits.Idle, m.Limits.Drain = 300*time.Millisecond, 100*time.Millisecond
			}
			s := measure(t, m, chatRun(tt.url))
			if s.Kind != tt.kind || s.Detail != tt.detail || tt.phase != "" && s.FailedIn != tt.phase {
				t.Errorf("%v %q in %q; want %v %q in %q", s.Kind, s.Detail, s.FailedIn, tt.kind, tt.detail, tt.phase)
			}
			noText(t, s, "127.0.0.1", "host.invalid")
		})
	}
}

// TestSilenceWithinTheLimit checks that the published limit is the only one: an
// answer that begins, or goes on, after nearly all of it is a success.
func TestSilenceWithinTheLimit(t *testing.T) {
	const s = time.Second
	for name, script := range map[string][]send{
		"late head":  {{110 * s, sseHead + chunk(say("hi")) + chunk(finish(1, 0)) + lastChunk}},
		"late first": {{s, sseHead}, {115 * s, chunk(say("hi")) + chunk(finish(1, 0)) + lastChunk}},
		"late rest":  {{s, sseHead + chunk(say("hi"))}, {118 * s, chunk(finish(1, 0)) + lastChunk}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := scripted(script, wallSet{}, 0)
				m.Limits = Limits{}
				if s := measure(t, m, chatRun("http://sim.invalid")); !s.OK() {
					t.Errorf("%v %q in %q; want a success", s.Kind, s.Detail, s.FailedIn)
				}
			})
		})
	}
}

// TestHeldOpen checks how long a finished answer is waited for on a connection
// that the server does not close: long if only a finish reason came, as usage
// may follow, and short after an end marker.
func TestHeldOpen(t *testing.T) {
	const s = time.Second
	stop := frame(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	silent := send{at: time.Hour}
	tests := []struct {
		name   string
		script []send
		took   time.Duration
	}{
		{"end marker", []send{{0, sseHead}, {s, chunk(say("hi") + finish(1, 0))}, silent}, s + DrainTimeout},
		{"finish reason", []send{{0, sseHead}, {s, chunk(say("hi") + stop)}, silent}, s + FinishTimeout},
		{"finish reason, usage 9 s later", []send{{0, sseHead}, {s, chunk(say("hi") + stop)}, {10 * s, chunk(finish(1, 0))}, silent}, 10*s + DrainTimeout},
		{"text alone", []send{{0, sseHead}, {s, chunk(say("hi"))}, silent}, 91 * s},
		{"error report", []send{{0, "HTTP/1.1 500 X\r\n\r\n"}, {s, "{}"}, silent}, s + DrainTimeout},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				measure(t, scripted(tt.script, wallSet{}, 0), chatRun("http://sim.invalid"))
				if took := time.Since(began); took != tt.took {
					t.Errorf("took %v; want %v", took, tt.took)
				}
			})
		})
	}
}

// TestResetInStream checks that a reset after text keeps the text's numbers. The
// server resets only once the client must have read the text.
func TestResetInStream(t *testing.T) {
	seen := make(chan struct{})
	url := serveRaw(t, func(c net.Conn) {
		readRequest(c)
		io.WriteString(c, sseHead+chunk(say("hello")))
		<-seen
		c.(*net.TCPConn).SetLinger(0)
	})
	s := new(Meter).Measure(t.Context(), chatRun(url), Observer{
		Event: func(a Arrival, _ wire.Event) {
			if a.Mark == MarkVisible {
				close(seen)
			}
		},
	})
	if s.Kind != wire.KindNetwork || s.Detail != DetailReset || s.FailedIn != PhaseStream || !s.Partial() {
		t.Errorf("%v %q in %q, partial %v", s.Kind, s.Detail, s.FailedIn, s.Partial())
	}
}

// TestAborted checks that cancelling ends a run at once, whatever it waits for.
func TestAborted(t *testing.T) {
	for _, script := range [][]send{
		{{at: time.Hour}},
		{{0, sseHead}, {at: time.Hour}},
		{{0, sseHead}, {0, chunk(say("hi"))}, {at: time.Hour}},
	} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			began := time.Now()
			time.AfterFunc(1500*time.Millisecond, cancel)
			s := scripted(script, wallSet{}, 0).Measure(ctx, chatRun("http://sim.invalid"), Observer{})
			if s.Detail != DetailAborted || s.OK() {
				t.Errorf("%v %q", s.Kind, s.Detail)
			}
			if took := time.Since(began); took != 1500*time.Millisecond {
				t.Errorf("took %v to notice", took)
			}
		})
	}
}

// TestOnlyOneRequest checks that nothing is asked twice: not on an error, a
// redirect within the host, or a connection that dies.
func TestOnlyOneRequest(t *testing.T) {
	for _, status := range []int{301, 302, 307, 308, 400, 422, 429, 500, 503} {
		var requests atomic.Int32
		srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
			requests.Add(1)
			w.Header().Set("Location", "/again")
			w.WriteHeader(status)
		})
		s := measure(t, &Meter{}, chatRun(srv.URL))
		if n := requests.Load(); n != 1 || s.OK() || s.HTTPStatus != status {
			t.Errorf("status %d: %d requests, sample %v %d", status, n, s.Kind, s.HTTPStatus)
		}
	}
}

// TestBoundedMemory checks that what a server sends without end costs a bounded
// amount of memory and ends the run.
func TestBoundedMemory(t *testing.T) {
	endless := func(head, s string) func(net.Conn) {
		return func(c net.Conn) {
			readRequest(c)
			io.WriteString(c, head)
			block := []byte(strings.Repeat(s, 1<<16/len(s)))
			for {
				if _, err := c.Write(block); err != nil {
					return
				}
			}
		}
	}
	const untilClose = "HTTP/1.1 200 OK\r\n\r\n"
	// A gigabyte of nothing in a megabyte, though identity was asked for: what is
	// in one file of gzip's may be in many that follow each other (RFC 1952, 2.2).
	packed := strings.Repeat(gzipped(strings.Repeat("\x00", 16<<20)), 64)
	bomb := func(status string) func(net.Conn) {
		return func(c net.Conn) {
			readRequest(c)
			fmt.Fprintf(c, "HTTP/1.1 %s\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n%s", status, len(packed), packed)
		}
	}
	tests := []struct {
		name   string
		serve  func(net.Conn)
		kind   wire.ErrorKind
		detail wire.Detail
	}{
		{"head", endless("HTTP/1.1 200 OK\r\n", "X-Filler: 0123456789abcdef\r\n"), wire.KindMalformed, DetailHeadSize},
		{"head of one line", endless("HTTP/1.1 200 OK\r\nX: ", "0123456789abcdef"), wire.KindMalformed, DetailHeadSize},
		{"interim heads", endless("", "HTTP/1.1 103 Early Hints\r\n\r\n"), wire.KindMalformed, DetailHeadSize},
		{"one line", endless(untilClose+"data: ", "0123456789abcdef"), wire.KindMalformed, wire.DetailOversize},
		{"text", endless(untilClose, say("0123456789abcdef")), wire.KindMalformed, wire.DetailOversize},
		{"empty comments", endless(untilClose, ":\n\n"), wire.KindMalformed, wire.DetailOversize},
		{"error body", endless("HTTP/1.1 500 X\r\n\r\n", "0123456789abcdef"), wire.KindServer, wire.DetailInternal},
		{"error body without end", endless("HTTP/1.1 500 X\r\n\r\n", " "), wire.KindServer, wire.DetailInternal},
		{"ten million tiny events", endless(untilClose, "data: 0\n\n"), wire.KindMalformed, wire.DetailOversize},
		{"a hundred megabytes of chunk extension", endless(sseHead+"5;", "0123456789abcdef"), wire.KindMalformed, DetailFraming},
		{"a hundred megabytes of trailers", endless(sseHead+"0\r\n", "X-Filler: 0123456789abcdef\r\n"), wire.KindMalformed, DetailFraming},
		{"gzip bomb", bomb("200 OK"), wire.KindMalformed, DetailCompressed},
		{"gzip bomb of an error", bomb("500 X"), wire.KindServer, wire.DetailInternal},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&before)
			s := measure(t, &Meter{}, chatRun(serveRaw(t, tt.serve)))
			runtime.ReadMemStats(&after)
			if s.Kind != tt.kind || s.Detail != tt.detail {
				t.Errorf("%v %q; want %v %q", s.Kind, s.Detail, tt.kind, tt.detail)
			}
			// The body's buffer grows fourfold up to its limit, and the trace has maxArrivals.
			if grown := after.Sys - min(after.Sys, before.Sys); grown > 8*wire.MaxBody {
				t.Errorf("took %d MB from the system", grown>>20)
			}
		})
	}
}

// TestLongLine checks that a 10 MB line is either decoded or refused, whole.
func TestLongLine(t *testing.T) {
	text := strings.Repeat("x", 7<<20)
	for _, tt := range []struct {
		name string
		text string
		ok   bool
	}{{"7 MB", text, true}, {"14 MB", text + text, false}} {
		srv := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, say(tt.text), finish(1, 0))
		})
		s := measure(t, &Meter{}, chatRun(srv.URL))
		if s.OK() != tt.ok || tt.ok && s.Chars != len(tt.text) || !tt.ok && s.Detail != wire.DetailOversize {
			t.Errorf("%s: %v %q, %d characters", tt.name, s.Kind, s.Detail, s.Chars)
		}
	}
}

// TestLabelsAreClean checks that what a provider says of itself is bounded and
// cannot draw on a terminal.
func TestLabelsAreClean(t *testing.T) {
	tests := []struct{ in, want string }{
		{"gpt-5", "gpt-5"},
		{"  padded ", "padded"},
		{"a\x1b[31mred\x00\r\n", "a[31mred"},
		{"left\u202eright", "leftright"},
		{"broken\xff\xfe", "broken"},
		{strings.Repeat("é", 100), strings.Repeat("é", 32)},
		{strings.Repeat("é", 31) + "aé", strings.Repeat("é", 31) + "a"},
	}
	for _, tt := range tests {
		if got := clean(tt.in, 64); got != tt.want {
			t.Errorf("clean(%q) = %q; want %q", tt.in, got, tt.want)
		}
	}
}

// TestProxy checks that a proxy is asked only if one is configured, that its
// refusal is told from the provider's, and that it gets no key.
func TestProxy(t *testing.T) {
	origin, m := serveTLS(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, say("hi"), finish(1, 0)) })
	type question struct{ asked, auth string }
	questions := make(chan question, 2)
	var refuse atomic.Bool
	proxyURL := serveRaw(t, func(c net.Conn) {
		req, err := http.ReadRequest(bufio.NewReaderSize(&limitedReader{c, 1 << 16}, 16))
		if err != nil {
			return
		}
		questions <- question{req.Method + " " + req.RequestURI, req.Header.Get("Proxy-Authorization") + req.Header.Get("Authorization")}
		if refuse.Load() {
			io.WriteString(c, "HTTP/1.1 403 Forbidden\r\n\r\n")
			return
		}
		to, err := net.Dial("tcp", req.Host)
		if err != nil {
			return
		}
		defer to.Close()
		io.WriteString(c, "HTTP/1.1 200 Connection established\r\n\r\n")
		go io.Copy(to, c)
		io.Copy(c, to)
	})
	proxy, err := url.Parse(strings.Replace(proxyURL, "http://", "http://user:pass@", 1))
	if err != nil {
		t.Fatal(err)
	}
	m.Proxy = func(*url.URL) (*url.URL, error) { return proxy, nil }

	s := measure(t, m, chatRun(origin.URL))
	want := question{"CONNECT " + strings.TrimPrefix(origin.URL, "https://"), "Basic dXNlcjpwYXNz"}
	if got := <-questions; !s.OK() || got != want {
		t.Errorf("%v %q; proxy was asked %q; want %q", s.Kind, s.Detail, got, want)
	}
	refuse.Store(true)
	if s := measure(t, m, chatRun(origin.URL)); s.Kind != wire.KindNetwork || s.Detail != DetailProxy || s.FailedIn != PhaseDial {
		t.Errorf("refused: %v %q in %q", s.Kind, s.Detail, s.FailedIn)
	}
}

// TestTLSServerGetsHTTP1 checks that HTTP/2 is not even offered.
func TestTLSServerGetsHTTP1(t *testing.T) {
	offers := make(chan []string, 1)
	srv, m := serveTLS(t, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, say("hi"), finish(1, 0)) })
	srv.TLS.GetConfigForClient = func(h *tls.ClientHelloInfo) (*tls.Config, error) {
		offers <- h.SupportedProtos
		return nil, nil
	}
	s := measure(t, m, chatRun(srv.URL))
	if offered := <-offers; !s.OK() || fmt.Sprint(offered) != "[http/1.1]" {
		t.Errorf("%v %q, offered %v", s.Kind, s.Detail, offered)
	}
}
