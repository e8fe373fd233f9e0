package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// serve starts a loopback server that dies with the test.
func serve(t testing.TB, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// serveTLS is serve over TLS, and a Meter that trusts the server.
func serveTLS(t testing.TB, h http.HandlerFunc) (*httptest.Server, *Meter) {
	t.Helper()
	s := httptest.NewTLSServer(h)
	t.Cleanup(s.Close)
	return s, &Meter{Roots: s.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}
}

// serveRaw starts a loopback server that hands each connection to f, for
// responses that no HTTP server would send.
func serveRaw(t testing.TB, f func(conn net.Conn)) (url string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				f(conn)
			}()
		}
	}()
	return "http://" + l.Addr().String()
}

// readRequest reads a request to its end.
func readRequest(conn net.Conn) error {
	req, err := http.ReadRequest(bufio.NewReader(conn))
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, req.Body)
	return err
}

// chatRun is a run of the openai_chat protocol against a server.
func chatRun(url string) Run {
	return Run{
		Pair:     Pair{Provider: "test", Model: "m"},
		Protocol: wire.OpenAIChat{},
		Target:   wire.Target{BaseURL: url + "/v1", Model: "m", Key: secretKey},
		Prompt:   Prompt(""),
	}
}

const secretKey = "sk-do-not-tell-4711"

// measure measures one run.
func measure(t testing.TB, m *Meter, r Run) Sample {
	t.Helper()
	return m.Measure(context.Background(), r, Observer{})
}

// frame is one SSE event.
func frame(data string) string { return "data: " + data + "\n\n" }

// say is a chat chunk with visible text.
func say(text string) string {
	return frame(fmt.Sprintf(`{"model":"m-1","choices":[{"index":0,"delta":{"content":%q}}]}`, text))
}

// think is a chat chunk with readable reasoning.
func think(text string) string {
	return frame(fmt.Sprintf(`{"choices":[{"index":0,"delta":{"reasoning_content":%q}}]}`, text))
}

// finish ends a chat answer of n output tokens, reasoning among them.
func finish(n, reasoning int) string {
	return frame(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`) +
		frame(fmt.Sprintf(`{"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d,"total_tokens":%d,"completion_tokens_details":{"reasoning_tokens":%d}}}`,
			n, n+9, reasoning)) +
		frame("[DONE]")
}

const sseHead = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunk is s as one chunk of the chunked coding.
func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

const lastChunk = "0\r\n\r\n"

// A send is bytes that a scripted server writes at an instant after it has read
// the request. A script that ends with an hour of silence keeps the connection open.
type send struct {
	at    time.Duration
	bytes string
}

// scripted returns a Meter whose only server writes a script and then closes
// the connection. Run in a synctest bubble, every instant is exact. Somebody
// sets the wall clock as set says, counted from when the request was read, and
// the reader gets to run late after a byte's arrival.
func scripted(script []send, set wallSet, late time.Duration) *Meter {
	clk := newClock()
	var requested atomic.Int64 // when the request was read
	stepped := func() reading {
		r := clk()
		if at := requested.Load(); set.by != 0 && at != 0 && r.mono >= time.Duration(at)+set.at {
			r.wall += set.by
		}
		return r
	}
	return &Meter{
		// Short of the run's own limit, so that each is seen to strike.
		Limits: Limits{Header: 90 * time.Second, Idle: 90 * time.Second},
		clock:  stepped,
		dial: func(context.Context, string, string) (net.Conn, error) {
			client, server := net.Pipe()
			gone := make(chan struct{})
			go func() {
				defer server.Close()
				if readRequest(server) != nil {
					return
				}
				start := time.Now()
				requested.Store(int64(clk().mono))
				for _, s := range script {
					select {
					case <-time.After(time.Until(start.Add(s.at))):
					case <-gone:
						return
					}
					if _, err := io.WriteString(server, s.bytes); err != nil {
						return
					}
				}
			}()
			return &lateConn{Conn: client, clock: stepped, late: late, gone: gone}, nil
		},
	}
}

// A wallSet is someone setting the wall clock during a run.
type wallSet struct{ by, at time.Duration }

// A lateConn stamps like a kernel and then keeps its reader waiting.
type lateConn struct {
	net.Conn
	clock clock
	late  time.Duration
	gone  chan struct{} // closed with the connection
	once  sync.Once
}

func (c *lateConn) Close() error {
	c.once.Do(func() { close(c.gone) })
	return c.Conn.Close()
}

func (c *lateConn) read(p []byte) (int, time.Duration, error) {
	n, err := c.Conn.Read(p)
	wall := c.clock().wall
	if c.late > 0 {
		time.Sleep(c.late)
	}
	return n, wall, err
}

// answer is a scripted chat answer: n chunks of text, the first at first, the
// others gap apart, and the end with the last.
func answer(n int, first, gap time.Duration, text string) []send {
	script := []send{{0, sseHead}}
	at := first
	for range n {
		script = append(script, send{at, chunk(say(text))})
		at += gap
	}
	return append(script, send{at - gap, chunk(finish(n, 0)) + lastChunk})
}

// noText fails the test if a sample, in any of its forms, holds what it may not.
func noText(t *testing.T, s Sample, secrets ...string) {
	t.Helper()
	whole, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	for _, form := range []string{string(whole), fmt.Sprintf("%v", asJSON(t, s.Report()))} {
		for _, secret := range append(secrets, secretKey) {
			if strings.Contains(form, secret) {
				t.Errorf("sample holds %q: %s", secret, form)
			}
		}
	}
}
