package bench

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"iter"
	"math"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

var vectorsPath = flag.String("vectors", "../rollup/stats/testdata/vectors.json", "acceptance vectors to run")

// A vector is one acceptance case. Times in it are integer microseconds on one
// monotonic clock, and null means absent.
type vector struct {
	ID     string                     `json:"id"`
	Kind   string                     `json:"kind"`
	Input  json.RawMessage            `json:"input"`
	Expect map[string]json.RawMessage `json:"expect"`
	RelTol float64                    `json:"rel_tol"`
}

// elsewhere are the kinds of vectors that other packages run: statistics on
// numbers (rollup/stats) and on samples (rollup).
var elsewhere = map[string]bool{
	"percentile_r7": true, "percentile_censored": true, "quantile_ci_orders": true, "wilson": true,
	"hour_bucket_wilson": true, "reliability": true, "time_weighted": true, "score_daily_t": true,
	"rank": true, "mann_whitney": true, "edivisive_daily": true, "histogram_merge": true,
	"decompose": true, "ttlt_formula": true, "tpm": true, "tpm_ptu": true, "segments": true,
	"time_to_n": true, "freshness": true, "rollup": true,
}

func TestVectors(t *testing.T) {
	text, err := os.ReadFile(*vectorsPath)
	if err != nil {
		t.Fatal(err)
	}
	var file struct{ Vectors []vector }
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatalf("read %s: %v", *vectorsPath, err)
	}
	ran := 0
	for _, v := range file.Vectors {
		if elsewhere[v.Kind] {
			continue
		}
		ran++
		t.Run(v.ID, func(t *testing.T) {
			var got map[string]any
			switch v.Kind {
			case "timeline":
				got = runTimeline(t, v.Input)
			case "summary":
				got = runSummary(t, v.Input)
			default:
				t.Fatalf("no package runs vectors of kind %q", v.Kind)
			}
			for name, want := range v.Expect {
				have, known := got[name]
				if !known {
					t.Errorf("expects %s, which no sample has", name)
					continue
				}
				var w any
				if err := json.Unmarshal(want, &w); err != nil {
					t.Fatal(err)
				}
				if !near(have, w, v.RelTol) {
					t.Errorf("%s = %v; want %v", name, have, w)
				}
			}
		})
	}
	if ran == 0 {
		t.Fatalf("%s has no vector of a kind that is run here", *vectorsPath)
	}
}

// near compares what JSON can hold: numbers within a relative tolerance, other
// things exactly.
func near(have, want any, tol float64) bool {
	switch w := want.(type) {
	case float64:
		h, ok := have.(float64)
		return ok && math.Abs(h-w) <= math.Max(1e-12, tol*math.Abs(w))
	case []any:
		h, ok := have.([]any)
		if !ok || len(h) != len(w) {
			return false
		}
		for i := range w {
			if !near(h[i], w[i], tol) {
				return false
			}
		}
		return true
	}
	return have == want
}

// asJSON returns a report as a reader of its JSON sees it.
func asJSON(t *testing.T, r Report) map[string]any {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// A timeline is what came when, as vectors write it.
type timeline struct {
	T0us   int64 `json:"t0_us"`
	Events []struct {
		Tus  int64  `json:"t_us"`
		Kind string `json:"kind"`
		Text string `json:"text"`
	} `json:"events"`
	Usage *struct {
		Output            *int64 `json:"output_tokens"`
		Reasoning         *int64 `json:"reasoning_tokens"`
		ReasoningIncluded *bool  `json:"reasoning_included"`
	} `json:"usage"`
	WindowMS int64 `json:"window_ms"`
}

// runTimeline derives a sample from a recording in which each event of the
// timeline is one read of one byte.
func runTimeline(t *testing.T, input json.RawMessage) map[string]any {
	var tl timeline
	if err := json.Unmarshal(input, &tl); err != nil {
		t.Fatal(err)
	}
	rec := Recording{Format: RecordingFormat, HTTPStatus: 200}
	for i, ev := range tl.Events {
		at := time.Duration(ev.Tus-tl.T0us) * time.Microsecond
		rec.Reads = append(rec.Reads, Read{End: int64(i + 1), User: at})
		if ev.Kind == "eof" {
			rec.EOF = at
		}
	}
	rec.Body = make([]byte, len(tl.Events))
	s, err := Replay(rec, &tl)
	if err != nil {
		t.Fatal(err)
	}
	// A timeline tells of events, not of a socket whose reads could belong
	// together.
	for i := range s.Trace {
		s.Trace[i].Offset = 0
	}
	s.Digest()
	got := asJSON(t, s.Report())
	if tl.WindowMS > 0 {
		got["window_tps"] = nil
		if rates, why := s.WindowTPS(time.Duration(tl.WindowMS) * time.Millisecond); why.OK() {
			got["window_tps"] = anySlice(rates)
		}
	}
	return got
}

func anySlice(v []float64) []any {
	out := make([]any, len(v))
	for i := range v {
		out[i] = v[i]
	}
	return out
}

// Name and Decode make a timeline a wire.Protocol whose body has a byte for
// each event. Request is of no use.
func (tl *timeline) Name() string { return "timeline" }

func (tl *timeline) Decode(body io.Reader) iter.Seq2[wire.Event, error] {
	return func(yield func(wire.Event, error) bool) {
		for i, e := range tl.Events {
			ev := wire.Event{Index: i, End: int64(i + 1)}
			switch e.Kind {
			case "content":
				ev.Visible = []byte(e.Text)
			case "reasoning":
				ev.Reasoning = []byte(e.Text)
			case "done":
				ev.Last, ev.Complete = true, true
			case "error":
				ev.Fail = &wire.Failure{Kind: wire.KindServer, Detail: wire.DetailInStream}
			}
			if i == len(tl.Events)-1 && tl.Usage != nil {
				ev.Usage = tl.usage()
			}
			if !yield(ev, nil) {
				return
			}
		}
	}
}

func (tl *timeline) usage() wire.Usage {
	var u wire.Usage
	if n := tl.Usage.Output; n != nil {
		u.Output = wire.Known(*n)
	}
	if n := tl.Usage.Reasoning; n != nil {
		u.Reasoning = wire.Known(*n)
	}
	u.ReasoningApart = tl.Usage.ReasoningIncluded != nil && !*tl.Usage.ReasoningIncluded
	return u
}

// runSummary is a run of which only three instants and a count are told.
func runSummary(t *testing.T, input json.RawMessage) map[string]any {
	var in struct {
		Start     float64 `json:"start_s"`
		First     float64 `json:"first_s"`
		Completed float64 `json:"completed_s"`
		Tokens    int64   `json:"output_tokens"`
	}
	if err := json.Unmarshal(input, &in); err != nil {
		t.Fatal(err)
	}
	after := func(s float64) time.Duration { return time.Duration(math.Round((s - in.Start) * 1e9)) }
	s := Sample{
		FirstText: after(in.First), LastText: after(in.First), Done: after(in.Completed), Chunks: 1,
		Usage: Usage{Output: wire.Known(in.Tokens), Visible: wire.Known(in.Tokens)},
	}
	got := make(map[string]any)
	put := func(name string, v float64, why Reason) {
		got[name] = nil
		if why.OK() {
			got[name] = v
		}
	}
	ttft, why := s.TTFT()
	put("ttft_s", ttft.Seconds(), why)
	wall, why := s.WallTPS()
	put("tps_wall", wall, why)
	e2e, why := s.EndToEndTPS()
	put("tps_e2e", e2e, why)
	return got
}

func (tl *timeline) Request(context.Context, wire.Target, wire.Prompt) (*http.Request, error) {
	return nil, errors.New("a timeline is not asked for")
}
