package simulate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

func newServer(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// serve runs a server on loopback until the test ends.
func serve(t *testing.T, o Options) *httptest.Server {
	t.Helper()
	ts := httptest.NewServer(newServer(t, o))
	t.Cleanup(ts.Close)
	return ts
}

// expected lays out what the nth request to m must be answered with.
func expected(m Model, seed uint64, n, limit int) Timeline {
	s := m.Shape
	if !s.Fault.strikes(n) {
		s.Fault = Fault{}
	}
	return s.Timeline(limit, rand.New(rand.NewPCG(seed^hash(m.Name), uint64(n))))
}

// texts joins the text a Timeline delivers and counts its chunks.
func (t Timeline) texts() (text, thoughts string, visible int) {
	for _, s := range t.Steps {
		switch s.Kind {
		case StepVisible:
			text += s.Text
			visible++
		case StepReasoning:
			thoughts += s.Text
		}
	}
	return text, thoughts, visible
}

// TestEveryModelInEveryFormat reads each stream with a parser that knows only
// the public format, and compares with the timeline it was rendered from.
func TestEveryModelInEveryFormat(t *testing.T) {
	const seed, limit = 7, 300
	odd := []Model{
		{Name: "cached", Shape: Shape{Tokens: 5, Input: 200, Cached: 150}},
		{Name: "filtered", Shape: Shape{Tokens: 5, Finish: FinishFiltered}},
		{Name: "empty", Shape: Shape{}},
		{Name: "split-line", Shape: Shape{Tokens: 20, Split: SplitLine}},
		{Name: "split-end", Shape: Shape{Tokens: 20, Split: SplitEnd}},
		{Name: "thinks-both-ways", Shape: Shape{HiddenTokens: 20, ReasoningTokens: 30, Tokens: 40}},
		{Name: "over-the-cap", Shape: Shape{Tokens: 1000, PerChunk: 7}},
	}
	models := append(Models(), odd...)
	for _, a := range apis() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			ts := serve(t, Options{Models: models, Seed: seed, Speed: 100})
			for _, m := range models {
				line := expected(m, seed, 0, limit)
				if k := line.Steps[len(line.Steps)-1].Kind; k != StepEnd {
					continue // faults have their own tests
				}
				status, _, body := ask(t, ts, a, m.Name, limit)
				if status != http.StatusOK {
					t.Errorf("%s: status %d: %s", m.Name, status, body)
					continue
				}
				got, err := a.read(body)
				if err != nil {
					t.Errorf("%s: %v", m.Name, err)
					continue
				}
				want := reading{finish: a.finish[line.Finish], done: true}
				want.text, want.thoughts, want.visible = line.texts()
				if !m.Shape.NoUsage && (a.name != "ollama" || line.Output() > 0) {
					want.usage, want.output, want.reasoning = true, line.Output(), line.Hidden+line.Reasoning
					want.input, want.cached = 29/4+8, 0 // the prompt has 29 characters
					if m.Shape.Input > 0 {
						want.input, want.cached = m.Shape.Input, m.Shape.Cached
					}
				}
				if a.hides {
					want.reasoning, want.cached = 0, 0
					if line.Output() == 0 {
						want.input = got.input
					}
				}
				got.comments = 0
				if got != want {
					t.Errorf("%s:\n got %+v\nwant %+v", m.Name, got, want)
				}
			}
		})
	}
}

func TestUsageOnlyWhenAsked(t *testing.T) {
	ts := serve(t, Options{Speed: 1000})
	resp, err := ts.Client().Post(ts.URL+"/v1/chat/completions", "application/json",
		strings.NewReader(`{"model":"smooth-60","stream":true,"max_tokens":3,"messages":[]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var b strings.Builder
	if err := resp.Write(&b); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "usage") || !strings.Contains(b.String(), `"finish_reason":"length"`) {
		t.Errorf("got usage nobody asked for, or max_tokens was ignored:\n%s", b.String())
	}
}

func TestKeepAlives(t *testing.T) {
	model := Model{Name: "slow", Shape: Shape{Prefill: 100 * ms, KeepAlive: 30 * ms, Tokens: 1}}
	ts := serve(t, Options{Models: []Model{model}, Speed: 10})
	for _, a := range apis() {
		want := 3 // at 30, 60 and 90 ms
		switch a.name {
		case "gemini", "ollama":
			want = 0 // the formats have none
		case "anthropic":
			want = 4 // one more ping is part of its opening
		}
		_, _, body := ask(t, ts, a, "slow", 10)
		if got, err := a.read(body); err != nil || got.comments != want || got.visible != 1 {
			t.Errorf("%s: %d comments, %d chunks, %v; want %d and 1", a.name, got.comments, got.visible, err, want)
		}
	}
}

// TestCadence runs in a bubble whose clock moves only when all wait, so each
// write must be at its instant to the nanosecond.
func TestCadence(t *testing.T) {
	shape := Shape{
		Prefill: 300 * ms, PerToken: 7 * ms, PerChunk: 2, Tokens: 9, ReasoningTokens: 3, OpenAtOnce: true,
		KeepAlive: 110 * ms, StallAt: 4, StallFor: 400 * ms, Tail: 50 * ms, Jitter: .5,
	}
	for _, speed := range []float64{1, 2.5} {
		for _, precise := range []bool{false, true} {
			t.Run(fmt.Sprintf("speed=%v/precise=%v", speed, precise), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					var recs []Record
					s := newServer(t, Options{Models: []Model{{Name: "m", Shape: shape}}, Speed: speed, Precise: precise,
						Log: func(r Record) { recs = append(recs, r) }})
					start := time.Now()
					w := httptest.NewRecorder()
					r := httptest.NewRequest("POST", "/api/chat", strings.NewReader(`{"model":"m"}`))
					s.ServeHTTP(w, r)

					line := expected(Model{Name: "m", Shape: shape}, 0, 0, 0)
					if len(recs) != 1 {
						t.Fatalf("%d records", len(recs))
					}
					rec := recs[0]
					if rec.StartNS != s.clock.nano(start) || rec.Ended != "complete" || rec.Visible != 9 || rec.Reasoned != 3 {
						t.Errorf("record %+v", rec)
					}
					if want := time.Duration(float64(line.End()) / speed); time.Since(start) != want {
						t.Errorf("took %v, want %v", time.Since(start), want)
					}
					i := 0
					for _, st := range line.Steps {
						if st.Tokens == 0 && st.Kind != StepEnd {
							continue // no bytes in this format
						}
						if i == len(rec.Writes) {
							t.Fatalf("only %d writes", i)
						}
						got := rec.Writes[i]
						want := rec.StartNS + int64(float64(st.Due)/speed)
						if got.Seq != i || got.DueNS != want || got.BeforeNS != want || got.AfterNS != want {
							t.Errorf("write %d at %d, %d, %d; want %d", i, got.DueNS, got.BeforeNS, got.AfterNS, want)
						}
						if got.Visible+got.Reasoning != st.Tokens {
							t.Errorf("write %d has %d+%d tokens, want %d", i, got.Visible, got.Reasoning, st.Tokens)
						}
						i++
					}
					if i != len(rec.Writes) || rec.Writes[i-1].End != int64(w.Body.Len()) {
						t.Errorf("%d writes to offset %d; want %d to %d", len(rec.Writes), rec.Writes[len(rec.Writes)-1].End, i, w.Body.Len())
					}
				})
			})
		}
	}
}

// TestLog checks, over a real connection, what a calibration relies on: no
// write is early, instants are ordered, offsets are those of the body, and
// the record can be had once the answer has ended.
func TestLog(t *testing.T) {
	ts := serve(t, Options{Speed: 20, Precise: true})
	for _, model := range []string{"smooth-60", "chunks-of-4", "burst", "split-writes-60"} {
		before, shared := machineNano()
		_, h, body := ask(t, ts, apis()[0], model, 40)
		after, _ := machineNano()

		resp, err := ts.Client().Get(ts.URL + "/__log/" + h.Get("X-Request-Id"))
		if err != nil {
			t.Fatal(err)
		}
		var rec Record
		err = json.NewDecoder(resp.Body).Decode(&rec)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s: status %d: %v", model, resp.StatusCode, err)
		}
		if rec.Model != model || rec.Limit != 40 || rec.Visible != 40 || rec.Fault != "none" || rec.Ended != "complete" {
			t.Errorf("record %+v", rec)
		}
		if shared && (rec.Clock != "CLOCK_MONOTONIC" || rec.StartNS < before || rec.DoneNS > after) {
			t.Errorf("%s: from %d to %d by %q, while the client saw %d to %d", model, rec.StartNS, rec.DoneNS, rec.Clock, before, after)
		}
		last := Write{AfterNS: rec.StartNS}
		tokens := 0
		for i, w := range rec.Writes {
			if w.Seq != i || w.BeforeNS < w.DueNS || w.BeforeNS < last.AfterNS || w.AfterNS < w.BeforeNS || w.End <= last.End {
				t.Errorf("%s: write %+v after %+v", model, w, last)
			}
			tokens += w.Visible
			last = w
		}
		if last.End != int64(len(body)) || tokens != 40 || rec.DoneNS < last.AfterNS {
			t.Errorf("%s: %d bytes and %d tokens logged, %d bytes and 40 tokens sent", model, last.End, tokens, len(body))
		}
	}

	var latest Record
	resp, err := ts.Client().Get(ts.URL + "/__log/latest")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&latest); err != nil || latest.Model != "split-writes-60" {
		t.Errorf("latest is %q, %v", latest.Model, err)
	}
	if resp, err := ts.Client().Get(ts.URL + "/__log/sim-999999"); err != nil || resp.StatusCode != http.StatusNotFound {
		t.Errorf("a request that never was: %v, %v", resp, err)
	}
}

func TestJournalForgetsTheOldest(t *testing.T) {
	var j journal
	if _, ok := j.get("latest"); ok {
		t.Error("an empty journal has a latest record")
	}
	for i := range journalSize + 3 {
		j.add(Record{ID: fmt.Sprint(i)})
		if r, ok := j.get("latest"); !ok || r.ID != fmt.Sprint(i) {
			t.Fatalf("latest is %q after adding %d", r.ID, i)
		}
	}
	for id, want := range map[string]bool{"0": false, "2": false, "3": true, fmt.Sprint(journalSize + 2): true} {
		if _, ok := j.get(id); ok != want {
			t.Errorf("record %s kept: %v, want %v", id, ok, want)
		}
	}
}

func TestSplits(t *testing.T) {
	frame := []byte("data: {\"t\":\" naïve\"}\n\n")
	for _, tt := range []struct {
		split Split
		first string
	}{
		{SplitNone, ""},
		{SplitLine, "data: {\"t\":"}, // 11 of 23 bytes
		{SplitRune, "data: {\"t\":\" na\xc3"},
		{SplitEnd, "data: {\"t\":\" naïve\"}\n"},
	} {
		if got := string(frame[:tt.split.at(frame)]); got != tt.first {
			t.Errorf("split %d: first part %q, want %q", tt.split, got, tt.first)
		}
	}
	if got := SplitRune.at([]byte("plain!")); got != 3 {
		t.Errorf("without a multi-byte character: cut at %d, want 3", got)
	}
	for s := SplitNone; s <= SplitEnd; s++ {
		if got := s.at([]byte{'x'}); got != 0 {
			t.Errorf("split %d cuts one byte at %d", s, got)
		}
	}
}

func TestSameSeedSameAnswers(t *testing.T) {
	run := func(seed uint64) (all []string) {
		ts := serve(t, Options{Seed: seed, Speed: 200})
		for range 3 {
			_, _, body := ask(t, ts, apis()[0], "jittery-80", 50)
			r, err := apis()[0].read(body)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, r.text)
		}
		return all
	}
	one, same, other := run(1), run(1), run(2)
	if fmt.Sprint(one) != fmt.Sprint(same) {
		t.Error("one seed gave two series of answers")
	}
	if fmt.Sprint(one) == fmt.Sprint(other) || one[0] == one[1] && one[1] == one[2] {
		t.Error("the seed, or the ordinal, makes no difference")
	}
}

func TestConcurrentRequests(t *testing.T) {
	var mu sync.Mutex
	ids := make(map[string]bool)
	ts := serve(t, Options{Speed: 10, Log: func(r Record) {
		mu.Lock()
		defer mu.Unlock()
		ids[r.ID] = true
	}})
	var wg sync.WaitGroup
	const n = 24
	for i := range n {
		a := apis()[i%len(apis())]
		wg.Go(func() {
			status, _, body := ask(t, ts, a, "thinks-aloud", 120)
			if r, err := a.read(body); err != nil || status != 200 || !r.done || r.thoughts == "" || r.text == "" {
				t.Errorf("%s: status %d, %v, %+v", a.name, status, err, r)
			}
		})
	}
	wg.Wait()
	if len(ids) != n {
		t.Errorf("%d different requests logged, want %d", len(ids), n)
	}
}

func TestBadRequests(t *testing.T) {
	ts := serve(t, Options{})
	long := strings.Repeat("x", maxRequest)
	for _, tt := range []struct {
		path, body string
		want       int
		says       string
	}{
		{"/v1/chat/completions", `{`, 400, "unexpected end"},
		{"/v1/chat/completions", `{"model":"smooth-60"}`, 400, "only streams"},
		{"/v1/chat/completions", `{"model":"gpt","stream":true}`, 404, "model_not_found"},
		{"/v1/chat/completions", `{"model":"` + long + `","stream":true}`, 413, "cannot read"},
		{"/openai/deployments/gpt/chat/completions", `{"stream":true}`, 404, "DeploymentNotFound"},
		{"/v1/responses", `{"model":"smooth-60"}`, 400, "only streams"},
		{"/v1/responses", `{"model":"gpt","stream":true}`, 404, "model_not_found"},
		{"/v1/messages", `{"model":"smooth-60","stream":true}`, 400, "max_tokens"},
		{"/v1/messages", `{"model":"claude","stream":true,"max_tokens":9}`, 404, "not_found_error"},
		{"/v1beta/models/smooth-60:generateContent", `{}`, 400, "INVALID_ARGUMENT"},
		{"/v1beta/models/smooth-60:streamGenerateContent", `{}`, 400, "only streams"},
		{"/v1beta/models/gemini:streamGenerateContent?alt=sse", `{}`, 404, "NOT_FOUND"},
		{"/api/chat", `{"model":"smooth-60","stream":false}`, 400, "only streams"},
		{"/api/chat", `{"model":"llama"}`, 404, "not found"},
		{"/elsewhere", `{}`, 404, ""},
	} {
		resp, err := ts.Client().Post(ts.URL+tt.path, "application/json", strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		resp.Write(&b)
		resp.Body.Close()
		if resp.StatusCode != tt.want || !strings.Contains(b.String(), tt.says) {
			t.Errorf("%s %.60s: %d, want %d with %q in\n%s", tt.path, tt.body, resp.StatusCode, tt.want, tt.says, b.String())
		}
	}
}

func TestNewRefuses(t *testing.T) {
	for _, tt := range []struct {
		want string
		o    Options
	}{
		{"speed", Options{Speed: -1}},
		{"taken", Options{Models: []Model{{Name: "a"}, {Name: "a"}}}},
		{"empty", Options{Models: []Model{{}}}},
		{`"a": Tail is negative`, Options{Models: []Model{{Name: "a", Shape: Shape{Tail: -1}}}}},
	} {
		if _, err := New(tt.o); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

func FuzzRequest(f *testing.F) {
	for _, a := range apis() {
		j, err := json.Marshal(a.body("m", 5))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(j)
	}
	s, err := New(Options{Models: []Model{{Name: "m", Shape: Shape{Tokens: 3}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, a := range apis() {
			w := httptest.NewRecorder()
			s.ServeHTTP(w, httptest.NewRequest("POST", a.path("m"), strings.NewReader(string(body))))
			if w.Code != 200 && w.Code != 400 && w.Code != 404 {
				t.Errorf("%s: status %d", a.name, w.Code)
			}
			if w.Code == 200 {
				if _, err := a.read(w.Body.String()); err != nil {
					t.Errorf("%s: %v", a.name, err)
				}
			}
		}
	})
}
