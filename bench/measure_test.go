package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// TestMeasure holds every instant of a scripted answer against the script, in a
// bubble where time is exact.
func TestMeasure(t *testing.T) {
	const ms = time.Millisecond
	script := []send{
		{100 * ms, sseHead},
		{120 * ms, chunk(": wait\n\n")},
		{150 * ms, chunk(frame(`{"model":"m-1","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`))},
		{200 * ms, chunk(think("hm "))},
		{250 * ms, chunk(think("so "))},
		{400 * ms, chunk(say("one "))},
		{460 * ms, chunk(say("two")) + chunk(say(" three"))}, // two events, one read
		{520 * ms, chunk(say(" four"))[:20]},                 // one event, two reads
		{580 * ms, chunk(say(" four"))[20:]},
		{700 * ms, chunk(finish(9, 2))},
		{750 * ms, lastChunk},
	}
	synctest.Test(t, func(t *testing.T) {
		started := time.Now().UTC()
		s := measure(t, scripted(script, wallSet{}, 0), chatRun("http://sim.invalid"))
		s.Noise = Noise{}
		want := Sample{
			Pair:      Pair{"test", "m"},
			StartedAt: started,
			Env:       Env{Method: MethodVersion, Prompt: PromptVersion, Protocol: "openai_chat", Clock: ClockKernel},
			Phases:    Phases{FirstByte: 100 * ms, Headers: 100 * ms},

			FirstReason: 200 * ms, FirstText: 400 * ms, LastText: 580 * ms, Done: 700 * ms, EOF: 750 * ms,
			Reads: 9, Bytes: s.Bytes, Chunks: 4, Deliveries: 3, ReasonChunks: 2, Chars: 18, Words: 4, FirstReadChars: 4,
			Gaps:   Gaps{P50: 60 * ms, P95: 114 * ms, Max: 120 * ms, Burstiness: s.Gaps.Burstiness, HasBurstiness: true},
			Usage:  Usage{Input: wire.Known(9), Output: wire.Known(9), Reasoning: wire.Known(2), Visible: wire.Known(7)},
			Finish: "stop", ServedBy: "m-1", HTTPStatus: 200, Proto: "HTTP/1.1",
			Trace: s.Trace,
		}
		if diff := cmp.Diff(want, s); diff != "" {
			t.Errorf("sample differs (-want +got):\n%s", diff)
		}
		var marks []string
		for _, a := range s.Trace {
			marks = append(marks, fmt.Sprintf("%v %s %d", a.At, a.Mark, a.Chars))
		}
		wantMarks := []string{
			"120ms comment 0", "150ms meta 0", "200ms reasoning 3", "250ms reasoning 3", "400ms visible 4",
			"460ms visible 3", "460ms visible 6", "580ms visible 5", "700ms done 0", "700ms usage 0", "700ms done 0", "750ms eof 0",
		}
		if got, want := strings.Join(marks, "\n"), strings.Join(wantMarks, "\n"); got != want {
			t.Errorf("trace\n%s\nwant\n%s", got, want)
		}
		noText(t, s, "sim.invalid", "three")
	})
}

// TestWallClockSteps checks that setting the wall clock by 5 s either way, at
// any moment of a stream, changes no duration, though the kernel's stamps are
// wall clock.
func TestWallClockSteps(t *testing.T) {
	const ms = time.Millisecond
	script := answer(40, 300*ms, 20*ms, "word ")
	measured := func(t *testing.T, set wallSet) (s Sample) {
		synctest.Test(t, func(t *testing.T) {
			s = measure(t, scripted(script, set, 2*ms), chatRun("http://sim.invalid"))
		})
		s.Noise.Involuntary, s.Noise.CPUPressure, s.Noise.Noisy = 0, 0, false
		return s
	}
	want := measured(t, wallSet{})
	if got, _ := want.TTFT(); got != 300*ms {
		t.Fatalf("undisturbed TTFT = %v; want 300ms", got)
	}
	if want.Noise.DelayP50 != 2*ms || want.Env.Clock != ClockKernel {
		t.Fatalf("undisturbed: delay %v on clock %q; want 2ms on kernel", want.Noise.DelayP50, want.Env.Clock)
	}
	for _, by := range []time.Duration{-5 * time.Second, 5 * time.Second, -time.Hour, 3 * ms} {
		for _, at := range []time.Duration{1, 150 * ms, 300 * ms, 301 * ms, 555 * ms, 561 * ms, 1079 * ms} {
			if diff := cmp.Diff(want, measured(t, wallSet{by, at})); diff != "" {
				t.Errorf("set by %v at %v, the sample differs (-want +got):\n%s", by, at, diff)
			}
		}
	}
}

// TestLateReader checks that a reader who runs late changes nothing where the
// kernel stamps, and that the sample tells how late it was.
func TestLateReader(t *testing.T) {
	const ms = time.Millisecond
	script := answer(20, 100*ms, 50*ms, "word ")
	for _, kernel := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			m := scripted(script, wallSet{}, 7*ms)
			m.UserStamps = !kernel
			s := measure(t, m, chatRun("http://sim.invalid"))
			ttft, _ := s.TTFT()
			if kernel && (ttft != 100*ms || s.Env.Clock != ClockKernel || s.Noise.DelayMax != 7*ms || !s.Noise.Noisy) {
				t.Errorf("by the kernel: TTFT %v, %+v, %+v", ttft, s.Env, s.Noise)
			}
			if !kernel && (s.Env.Clock != ClockUser || s.Noise.DelayMax != 0) {
				t.Errorf("by the user: TTFT %v, %+v, %+v", ttft, s.Env, s.Noise)
			}
		})
	}
}

// TestPhases checks over real sockets that the phases which happened are told,
// in their order, and the others are not.
func TestPhases(t *testing.T) {
	stream := func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(200)
		fmt.Fprint(w, say("hello"), finish(1, 0))
	}
	check := func(t *testing.T, s Sample, overTLS, named bool) {
		t.Helper()
		p := s.Phases
		if !s.OK() {
			t.Fatalf("failed: %v %s in %s", s.Kind, s.Detail, s.FailedIn)
		}
		if (p.TLS > 0) != overTLS || (p.DNS > 0) != named || p.Connect <= 0 {
			t.Errorf("DNS %v, connect %v, TLS %v", p.DNS, p.Connect, p.TLS)
		}
		if p.Setup < p.DNS+p.Connect+p.TLS {
			t.Errorf("set-up of %v is shorter than its parts %+v", p.Setup, p)
		}
		// The answer may reach the kernel while we are still on our way out of
		// the write, so wrote_request and first_byte have no order.
		if p.WroteRequest <= 0 || p.FirstByte <= 0 || p.Headers < p.FirstByte || s.FirstText < p.Headers {
			t.Errorf("out of order: %+v, first text %v", p, s.FirstText)
		}
	}
	t.Run("plain", func(t *testing.T) {
		srv := serve(t, stream)
		check(t, measure(t, &Meter{}, chatRun(srv.URL)), false, false)
	})
	t.Run("by name", func(t *testing.T) {
		srv := serve(t, stream)
		check(t, measure(t, &Meter{}, chatRun(strings.Replace(srv.URL, "127.0.0.1", "localhost", 1))), false, true)
	})
	t.Run("TLS", func(t *testing.T) {
		srv, m := serveTLS(t, stream)
		check(t, measure(t, m, chatRun(srv.URL)), true, false)
	})
	t.Run("user stamps", func(t *testing.T) {
		srv := serve(t, stream)
		s := measure(t, &Meter{UserStamps: true}, chatRun(srv.URL))
		check(t, s, false, false)
		if s.Env.Clock != ClockUser {
			t.Errorf("clock %q; want user", s.Env.Clock)
		}
	})
}

// TestRequest checks what a provider gets to see of us.
func TestRequest(t *testing.T) {
	requests := make(chan *http.Request, 1)
	srv := serve(t, func(w http.ResponseWriter, r *http.Request) {
		requests <- r
		fmt.Fprint(w, say("hi"), finish(1, 0))
	})
	measure(t, &Meter{}, chatRun(srv.URL))
	got := <-requests
	for name, want := range map[string]string{
		"Accept-Encoding": "identity", "Authorization": "Bearer " + secretKey,
	} {
		if got := got.Header.Get(name); got != want {
			t.Errorf("%s: %q; want %q", name, got, want)
		}
	}
	if !strings.HasPrefix(got.UserAgent(), "streamgauge") {
		t.Errorf("User-Agent: %q", got.UserAgent())
	}
	if got.Proto != "HTTP/1.1" || got.Method != http.MethodPost || got.URL.Path != "/v1/chat/completions" {
		t.Errorf("%s %s %s", got.Method, got.URL, got.Proto)
	}
}

// TestObserver checks that the live events are those of the trace, and that the
// recording gives the sample again, also by way of its JSON.
func TestObserver(t *testing.T) {
	script := answer(30, 50*time.Millisecond, 10*time.Millisecond, "word ")
	synctest.Test(t, func(t *testing.T) {
		var live []Arrival
		var rec Recording
		m := scripted(script, wallSet{}, 0)
		s := m.Measure(context.Background(), chatRun("http://sim.invalid"), Observer{
			Event:     func(a Arrival, _ wire.Event) { live = append(live, a) },
			Recording: func(r Recording) { rec = r },
		})
		trace := s.Trace[:len(s.Trace)-1] // the end of the body is no event
		if got, want := fmt.Sprint(live), fmt.Sprint(trace); got != want {
			t.Errorf("live events\n%s\nwant\n%s", got, want)
		}
		text, err := json.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		var read Recording
		if err := json.Unmarshal(text, &read); err != nil {
			t.Fatal(err)
		}
		again, err := Replay(read, nil)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(s, again); diff != "" {
			t.Errorf("replayed, the sample differs (-want +got):\n%s", diff)
		}
	})
}

func TestReplayRefuses(t *testing.T) {
	good := func() Recording {
		return Recording{
			Format: RecordingFormat, Env: Env{Protocol: "openai_chat"}, HTTPStatus: 200, HeadRead: 1,
			Reads: []Read{{0, 10, 9}, {3, 20, 19}}, Body: []byte("abc"), EOF: 30,
		}
	}
	if _, err := Replay(good(), nil); err != nil {
		t.Fatalf("a good recording: %v", err)
	}
	tests := []struct {
		name  string
		spoil func(r *Recording)
	}{
		{"other format", func(r *Recording) { r.Format++ }},
		{"unknown protocol", func(r *Recording) { r.Env.Protocol = "gopher" }},
		{"body longer than the reads", func(r *Recording) { r.Body = append(r.Body, 'd') }},
		{"reads longer than the body", func(r *Recording) { r.Reads[1].End++ }},
		{"no reads", func(r *Recording) { r.Reads = nil }},
		{"time runs backwards", func(r *Recording) { r.Reads[1].User = 5 }},
		{"kernel after user", func(r *Recording) { r.Reads[1].Kernel = 21 }},
		{"kernel runs backwards", func(r *Recording) { r.Reads[1].Kernel = 8 }},
		{"before the dispatch", func(r *Recording) { r.Reads[0].User = -1 }},
		{"head past the reads", func(r *Recording) { r.HeadRead = 3 }},
		{"negative head", func(r *Recording) { r.HeadRead = -1 }},
		{"end before the dispatch", func(r *Recording) { r.EOF = -1 }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rec := good()
			tt.spoil(&rec)
			if s, err := Replay(rec, nil); err == nil {
				t.Errorf("accepted, as %v %s", s.Kind, s.Detail)
			}
		})
	}
}

func TestWarm(t *testing.T) {
	m := &Meter{}
	if err := m.Warm(context.Background()); err != nil {
		t.Fatal(err)
	}
	if m.systemRoots == nil {
		t.Error("the system's roots are not loaded")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := m.Warm(ctx); err == nil {
		t.Error("a cancelled warm-up succeeded")
	}
}
