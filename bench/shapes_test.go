package bench

import (
	"context"
	"fmt"
	"math"
	"net/http/httptest"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamgauge/streamgauge/bench/simulate"
)

// shapes are the ways in which an answer made at one steady speed is delivered.
func shapes(perToken time.Duration) []simulate.Model {
	base := simulate.Shape{Prefill: 300 * time.Millisecond, PerToken: perToken, Tokens: 300, Tail: 40 * time.Millisecond}
	with := func(name string, change func(s *simulate.Shape)) simulate.Model {
		shape := base
		change(&shape)
		return simulate.Model{Name: name, Shape: shape}
	}
	return []simulate.Model{
		with("token", func(*simulate.Shape) {}),
		with("four tokens", func(s *simulate.Shape) { s.PerChunk = 4 }),
		with("flushed every second", func(s *simulate.Shape) { s.FlushEvery = time.Second }),
		with("one burst", func(s *simulate.Shape) { s.Bursts = 1 }),
		with("two bursts", func(s *simulate.Shape) { s.Bursts = 2 }),
		with("hidden reasoning", func(s *simulate.Shape) { s.HiddenTokens = 100 }),
		with("visible reasoning", func(s *simulate.Shape) { s.ReasoningTokens = 100 }),
		with("stall", func(s *simulate.Shape) { s.StallAt, s.StallFor = 150, 3*time.Second }),
	}
}

// scriptOf is a timeline as chat events. What leaves at one instant is one write.
func scriptOf(tl simulate.Timeline) []send {
	script := []send{{0, sseHead}}
	at := time.Duration(-1)
	put := func(due time.Duration, s string) {
		if due == at {
			script[len(script)-1].bytes += chunk(s)
			return
		}
		at = due
		script = append(script, send{due, chunk(s)})
	}
	for _, step := range tl.Steps {
		switch step.Kind {
		case simulate.StepReasoning:
			put(step.Due, think(step.Text))
		case simulate.StepVisible:
			put(step.Due, say(step.Text))
		case simulate.StepEnd:
			put(step.Due, finish(tl.Output(), tl.Hidden+tl.Reasoning))
		}
	}
	script[len(script)-1].bytes += lastChunk
	return script
}

// TestShapes checks, in exact time, that over eight delivery shapes and four
// speeds the decode rate is within 1 % of what was delivered wherever it is
// printed, and that TTFT, TTFR and TTLT are exact always.
func TestShapes(t *testing.T) {
	absent := map[string]Reason{"one burst": Buffered}
	for _, tps := range []int{5, 20, 100, 500} {
		perToken := time.Second / time.Duration(tps)
		for _, m := range shapes(perToken) {
			t.Run(fmt.Sprintf("%s at %d", m.Name, tps), func(t *testing.T) {
				tl := m.Shape.Timeline(MaxOutputTokens, nil)
				var s Sample
				synctest.Test(t, func(t *testing.T) {
					s = measure(t, scripted(scriptOf(tl), wallSet{}, 0), chatRun("http://sim.invalid"))
				})
				if !s.OK() {
					t.Fatalf("%v %s", s.Kind, s.Detail)
				}
				exact(t, "TTFT", s.TTFT, tl.TTFT)
				exact(t, "TTLT", s.TTLT, tl.Last)
				exact(t, "TTFR", s.TTFR, tl.TTFR)

				got, why := s.DecodeTPS()
				truth, _ := tl.DeliveredTPS()
				if want, ok := absent[m.Name]; ok && why != want {
					t.Errorf("DecodeTPS: %v %q; want none, %q", got, why, want)
				}
				if why.OK() && off(got, truth) > 0.01 {
					t.Errorf("DecodeTPS = %.2f; delivered at %.2f", got, truth)
				}
				if !why.OK() && m.Name != "one burst" && m.Name != "flushed every second" {
					t.Errorf("no DecodeTPS: %s", why)
				}
				made, _ := m.Shape.DecodeTPS()
				if free, why := s.StallFreeTPS(); m.Name == "stall" && (!why.OK() || off(free, made) > 0.01) {
					t.Errorf("StallFreeTPS = %.2f %q; made at %.2f", free, why, made)
				}
				if trimmed, why := s.TrimmedTPS(); m.Name == "flushed every second" && why.OK() && off(trimmed, made) > 0.02 {
					t.Errorf("TrimmedTPS = %.2f; made at %.2f", trimmed, made)
				}
			})
		}
	}
}

// exact checks that an instant is that of the timeline, or absent with it.
func exact(t *testing.T, name string, got func() (time.Duration, Reason), want func() (time.Duration, bool)) {
	t.Helper()
	g, why := got()
	if w, ok := want(); g != w || why.OK() != ok {
		t.Errorf("%s = %v %q; want %v %v", name, g, why, w, ok)
	}
}

// off returns how far got lies from want, as a share of it.
func off(got, want float64) float64 { return math.Abs(got-want) / want }

// TestAgainstServerLog measures a real server over loopback and compares with
// the server's own log of when each write left. Whatever the machine is busy
// with shows in both.
func TestAgainstServerLog(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds of real time")
	}
	models := shapes(5 * time.Millisecond)
	logs := make(chan simulate.Record, 1)
	server, err := simulate.New(simulate.Options{Models: models, Log: func(r simulate.Record) { logs <- r }})
	if err != nil {
		t.Fatal(err)
	}
	plain := serve(t, server.ServeHTTP)
	secure, trusting := serveTLS(t, server.ServeHTTP)
	for i, m := range models {
		srv, meter := plain, &Meter{}
		if i%2 == 1 {
			srv, meter = secure, trusting
		}
		t.Run(m.Name, func(t *testing.T) {
			// A machine that is busy with other tests may hold a read back, and
			// such a sample is not what is looked at here.
			const tries = 5
			for try := 1; ; try++ {
				s := measureModel(t, meter, srv, m.Name)
				last := <-logs
				if !s.OK() || s.Usage.Visible.N != int64(last.Visible) {
					t.Fatalf("%v %s, %v visible tokens; want %d", s.Kind, s.Detail, s.Usage.Visible, last.Visible)
				}
				err := compareWithLog(t, s, last)
				if err == nil {
					return
				}
				if try == tries {
					t.Fatalf("%d times of %d: %v", tries, tries, err)
				}
				t.Logf("try %d: %v", try, err)
			}
		})
	}
}

func measureModel(t *testing.T, m *Meter, srv *httptest.Server, model string) Sample {
	t.Helper()
	run := chatRun(srv.URL)
	run.Target.Model = model
	return m.Measure(context.Background(), run, Observer{})
}

// compareWithLog compares the instants of the visible events and the decode
// rate, and returns how they differ.
func compareWithLog(t *testing.T, s Sample, log simulate.Record) error {
	t.Helper()
	var errors []time.Duration
	var origin time.Duration // the server's clock less ours, by the first event
	for _, a := range s.Trace {
		if a.Mark != MarkVisible {
			continue
		}
		i := slices.IndexFunc(log.Writes, func(w simulate.Write) bool { return w.End >= a.Offset })
		if i < 0 {
			t.Fatalf("the event that ends at byte %d was never written", a.Offset)
		}
		left := time.Duration(log.Writes[i].BeforeNS)
		if origin == 0 {
			origin = left - a.At
		}
		errors = append(errors, (a.At + origin - left).Abs())
	}
	slices.Sort(errors)
	median := errors[len(errors)/2]
	if median > 10*time.Millisecond {
		return fmt.Errorf("events lie %v from where they were sent, by median", median)
	}
	got, why := s.DecodeTPS()
	if !why.OK() {
		t.Logf("no decode rate: %s", why)
		return nil
	}
	// On a busy machine a write takes a while, and one on the edge of being part
	// of the first delivery may fall to either side: the truth lies in between.
	slow1, fast1 := sentTPS(log, HeadGap/4)
	slow2, fast2 := sentTPS(log, HeadGap*4)
	slowest, fastest := min(slow1, slow2), max(fast1, fast2)
	if got < slowest*0.98 || got > fastest*1.02 {
		return fmt.Errorf("DecodeTPS = %.2f; the server sent at %.2f to %.2f", got, slowest, fastest)
	}
	t.Logf("%s clock: decode %.2f tok/s, sent %.2f to %.2f; stamp error p50 %v, max %v",
		s.Env.Clock, got, slowest, fastest, median, errors[len(errors)-1])
	return nil
}

// sentTPS returns within which bounds the rate lies at which the server sent
// its answer, what followed the first write within head counted to that.
func sentTPS(log simulate.Record, head time.Duration) (slowest, fastest float64) {
	var first, last simulate.Write
	tokens, opening := 0, true
	for _, w := range log.Writes {
		switch {
		case w.Visible == 0:
			continue
		case first.Visible == 0:
			first = w
		case opening && w.BeforeNS-last.AfterNS < int64(head):
		default:
			opening = false
			tokens += w.Visible
		}
		last = w
	}
	rate := func(ns int64) float64 { return float64(tokens) / time.Duration(ns).Seconds() }
	return rate(last.AfterNS - first.BeforeNS), rate(last.BeforeNS - first.AfterNS)
}
