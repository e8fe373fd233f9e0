package simulate

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httptrace"
	"strings"
	"syscall"
	"testing"
	"time"
)

// failing returns a server whose one model, "m", fails so.
func failing(t *testing.T, f Fault, o Options) *httptest.Server {
	t.Helper()
	o.Models = []Model{{Name: "m", Shape: Shape{Prefill: ms, PerToken: ms / 10, Tokens: 20, Fault: f}}}
	return serve(t, o)
}

func TestRefusals(t *testing.T) {
	type want struct {
		status int
		says   string
	}
	// In the order of apis: chat, azure, responses, anthropic, gemini, ollama.
	tests := map[FaultKind][6]want{
		FaultAuth: {{401, `"code":"invalid_api_key"`}, {401, `"code":"401"`}, {401, `"code":"invalid_api_key"`},
			{401, `"type":"authentication_error"`}, {400, `"reason":"API_KEY_INVALID"`}, {401, `{"error":"unauthorized"}`}},
		FaultQuota: {{402, `"code":"insufficient_quota"`}, {402, `"code":"402"`}, {402, `"code":"insufficient_quota"`},
			{402, `"type":"billing_error"`}, {402, `"code":402`}, {403, `requires a subscription`}},
		FaultRateLimit: {{429, `"code":"rate_limit_exceeded"`}, {429, `"code":"RateLimitReached"`}, {429, `"code":"rate_limit_exceeded"`},
			{429, `"type":"rate_limit_error"`}, {429, `"retryDelay":"89.5s"`}, {429, `usage limit`}},
		FaultServer: {{500, `"type":"server_error"`}, {500, `"code":"500"`}, {500, `"type":"server_error"`},
			{500, `"type":"api_error"`}, {500, `"status":"INTERNAL"`}, {500, `{"error":`}},
		FaultOverloaded: {{503, `"type":"server_error"`}, {503, `"code":"503"`}, {503, `"type":"server_error"`},
			{529, `"type":"overloaded_error"`}, {503, `"status":"UNAVAILABLE"`}, {503, `{"error":`}},
		FaultHTML: {{200, "<html>"}, {200, "<html>"}, {200, "<html>"}, {200, "<html>"}, {200, "<html>"}, {200, "<html>"}},
	}
	for kind, wants := range tests {
		ts := failing(t, Fault{Kind: kind, RetryAfter: 89500 * ms}, Options{})
		for i, a := range apis() {
			status, h, body := ask(t, ts, a, "m", 0)
			if status != wants[i].status || !strings.Contains(body, wants[i].says) {
				t.Errorf("%s in %s: %d %s; want %d with %s", kind, a.name, status, body, wants[i].status, wants[i].says)
			}
			after := ""
			if kind == FaultRateLimit && a.name != "gemini" {
				after = "90" // rounded up, so that nobody comes back too soon
			}
			if got := h.Get("Retry-After"); got != after {
				t.Errorf("%s in %s: Retry-After %q, want %q", kind, a.name, got, after)
			}
			json, html := strings.HasPrefix(h.Get("Content-Type"), "application/json"), strings.HasPrefix(h.Get("Content-Type"), "text/html")
			if json == (kind == FaultHTML) || html != (kind == FaultHTML) {
				t.Errorf("%s in %s: Content-Type %q", kind, a.name, h.Get("Content-Type"))
			}
		}
	}
}

func TestFaultsWithinAnAnswer(t *testing.T) {
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			_, _, body := ask(t, failing(t, Fault{Kind: FaultTruncate, After: 8}, Options{}), a, "m", 0)
			if r, err := a.read(body); err != nil || r.visible != 8 || r.done || r.finish != "" || r.usage && a.name == "openai_chat" {
				t.Errorf("truncated: %v, %+v; want 8 chunks and no end", err, r)
			}

			_, _, body = ask(t, failing(t, Fault{Kind: FaultInBand, After: 8}, Options{}), a, "m", 0)
			if r, err := a.read(body); err != nil || r.visible != 8 || r.done || !r.failed {
				t.Errorf("error in the stream: %v, %+v; want 8 chunks and an error", err, r)
			}

			status, h, body := ask(t, failing(t, Fault{Kind: FaultEmpty}, Options{}), a, "m", 0)
			if status != 200 || body != "" || strings.HasPrefix(h.Get("Content-Type"), "text/html") {
				t.Errorf("empty: status %d, %q", status, body)
			}

			_, _, body = ask(t, failing(t, Fault{Kind: FaultGarbage, After: 8}, Options{}), a, "m", 0)
			if r, err := a.read(body); err == nil {
				t.Errorf("garbage was read as %+v", r)
			}
		})
	}
}

func TestLongLine(t *testing.T) {
	for _, a := range []api{apis()[0], apis()[5]} { // one with events, one with lines
		_, _, body := ask(t, failing(t, Fault{Kind: FaultLongLine, After: 8}, Options{}), a, "m", 0)
		r, err := a.read(body)
		if err != nil || r.visible != 9 || !r.done || len(r.text) < longLine {
			t.Errorf("%s: %v, %d chunks, %d bytes of text, done %v", a.name, err, r.visible, len(r.text), r.done)
		}
	}
}

// TestConnectionFaults checks the faults below HTTP, with and without TLS.
func TestConnectionFaults(t *testing.T) {
	for _, tt := range []struct {
		kind  FaultKind
		after int // chunks that arrive first
		want  error
	}{
		{FaultReset, 0, syscall.ECONNRESET},
		{FaultClose, 0, io.EOF},
		{FaultResetMid, 8, syscall.ECONNRESET},
	} {
		for _, tls := range []bool{false, true} {
			s := newServer(t, Options{Models: []Model{{Name: "m", Shape: Shape{PerToken: ms, Tokens: 20, Fault: Fault{Kind: tt.kind, After: tt.after}}}}})
			ts := httptest.NewUnstartedServer(s)
			if tls {
				ts.StartTLS()
			} else {
				ts.Start()
			}
			defer ts.Close()
			a := apis()[0]
			resp, err := post(t, ts, a, "m", 0)
			var body []byte
			if err == nil {
				body, err = io.ReadAll(resp.Body)
				resp.Body.Close()
			}
			// A reset may overtake what was sent before it, so fewer chunks may arrive.
			if got := strings.Count(string(body), `"content":"`) - 1; got > tt.after {
				t.Errorf("%s: %d chunks, want at most %d", tt.kind, got, tt.after)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("%s (TLS %v): error %v, want %v", tt.kind, tls, err, tt.want)
			}
		}
	}
}

// TestHangsEndWithTheClient also shows that nothing is left running: the record
// comes only when the handler is done.
func TestHangsEndWithTheClient(t *testing.T) {
	for _, f := range []Fault{{Kind: FaultHang}, {Kind: FaultHangMid, After: 3}} {
		logged := make(chan Record, 1)
		ts := failing(t, f, Options{Log: func(r Record) { logged <- r }})
		ctx, cancel := context.WithCancel(t.Context())
		if f.Kind == FaultHang { // leave as soon as the server is sure to get the request
			ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { cancel() }})
		}
		req, err := http.NewRequestWithContext(ctx, "POST", ts.URL+"/api/chat", strings.NewReader(`{"model":"m"}`))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := ts.Client().Do(req)
		if f.Kind == FaultHangMid {
			if err != nil {
				t.Fatal(err)
			}
			buf := make([]byte, 1)
			if _, err := io.ReadFull(resp.Body, buf); err != nil {
				t.Error(err)
			}
			cancel()
			_, err = io.ReadAll(resp.Body)
			resp.Body.Close()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v", f.Kind, err)
			}
		} else if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", f.Kind, err)
		}
		if r := <-logged; r.Fault != f.Kind.String() {
			t.Errorf("logged %+v", r)
		}
		cancel()
	}
}

func TestEndlessStopsWithTheClient(t *testing.T) {
	logged := make(chan Record, 1)
	ts := failing(t, Fault{Kind: FaultEndless}, Options{Log: func(r Record) { logged <- r }})
	resp, err := post(t, ts, apis()[0], "m", 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := io.CopyN(io.Discard, resp.Body, 4<<20); err != nil {
		t.Errorf("the endless answer ended after %d bytes: %v", n, err)
	}
	resp.Body.Close()
	<-logged
}

// TestClientLeaves cancels in the middle of an answer of an hour.
func TestClientLeaves(t *testing.T) {
	logged := make(chan Record, 1)
	ts := serve(t, Options{Models: []Model{{Name: "m", Shape: Shape{PerToken: time.Hour, Tokens: 2}}}, Log: func(r Record) { logged <- r }})
	resp, err := post(t, ts, apis()[5], "m", 0)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if r := <-logged; r.Ended != "gone" || r.Visible != 1 || len(r.Writes) != 1 {
		t.Errorf("record %+v", r)
	}
}

func TestFaultFrequency(t *testing.T) {
	for _, tt := range []struct {
		every int
		want  string // of requests 0 to 8
	}{
		{0, "xxxxxxxxx"}, {1, "xxxxxxxxx"}, {2, ".x.x.x.x."}, {4, "...x...x."},
	} {
		ts := failing(t, Fault{Kind: FaultServer, Every: tt.every}, Options{})
		got := ""
		for range len(tt.want) {
			status, _, _ := ask(t, ts, apis()[0], "m", 1)
			got += map[int]string{200: ".", 500: "x"}[status]
		}
		if got != tt.want {
			t.Errorf("one in %d: got %s, want %s", tt.every, got, tt.want)
		}
	}
}

func TestErrorKinds(t *testing.T) {
	published := map[string]bool{"auth": true, "quota": true, "rate_limit": true, "server": true, "timeout": true, "network": true, "malformed": true}
	for k := FaultNone; int(k) < len(faultNames); k++ {
		if got := k.ErrorKind(); published[got] != (k != FaultNone) {
			t.Errorf("%s is of kind %q", k, got)
		}
	}
	if got := (FaultEndless + 1).String(); got != "unknown" {
		t.Errorf("a fault beyond the last is called %q", got)
	}
}
