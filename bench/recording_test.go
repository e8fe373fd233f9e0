package bench

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// recordingOf is a recording in which each piece of a body is one read, ten
// milliseconds apart.
func recordingOf(pieces ...string) Recording {
	rec := Recording{Format: RecordingFormat, Env: Env{Protocol: "openai_chat"}, HTTPStatus: 200, Proto: "HTTP/1.1"}
	for i, p := range pieces {
		rec.Body = append(rec.Body, p...)
		rec.Reads = append(rec.Reads, Read{End: int64(len(rec.Body)), User: time.Duration(i+1) * 10 * time.Millisecond})
	}
	if n := len(rec.Reads); n > 0 {
		rec.HeadRead, rec.EOF = 1, rec.Reads[n-1].User
	}
	return rec
}

// TestJoin checks for every pair of cuts of a body that each event is dated by
// the read which brought its last byte.
func TestJoin(t *testing.T) {
	body := say("one") + say(" two") + finish(2, 0)
	for i := 1; i < len(body); i += 7 {
		for j := i + 1; j < len(body); j += 5 {
			rec := recordingOf(body[:i], body[i:j], body[j:])
			s, err := Replay(rec, nil)
			if err != nil || !s.OK() {
				t.Fatalf("cut at %d and %d: %v, %v %s", i, j, err, s.Kind, s.Detail)
			}
			for _, a := range s.Trace[:len(s.Trace)-1] {
				read := 0
				for rec.Reads[read].End < a.Offset {
					read++
				}
				if a.Read != read || a.At != rec.Reads[read].User {
					t.Fatalf("cut at %d and %d: event that ends at %d is dated %v by read %d; want %v by %d",
						i, j, a.Offset, a.At, a.Read, rec.Reads[read].User, read)
				}
			}
		}
	}
}

// TestOneClock checks that a sample is on one clock: the kernel's if it stamped
// every read, else the user's throughout.
func TestOneClock(t *testing.T) {
	rec := recordingOf(say("one"), say(" two"), finish(2, 0))
	for i := range rec.Reads {
		rec.Reads[i].Kernel = rec.Reads[i].User - time.Millisecond
	}
	s, err := Replay(rec, nil)
	if err != nil || s.Env.Clock != ClockKernel || s.FirstText != 9*time.Millisecond || s.LastText != 19*time.Millisecond {
		t.Errorf("all stamped: %v, %q, %v, %v", err, s.Env.Clock, s.FirstText, s.LastText)
	}
	rec.Reads[1].Kernel = 0
	s, err = Replay(rec, nil)
	if err != nil || s.Env.Clock != ClockUser || s.FirstText != 10*time.Millisecond || s.LastText != 20*time.Millisecond {
		t.Errorf("one not stamped: %v, %q, %v, %v", err, s.Env.Clock, s.FirstText, s.LastText)
	}
}

// TestChunkTokens checks when usage that comes with every chunk counts the
// chunks' tokens.
func TestChunkTokens(t *testing.T) {
	with := func(text string, n int) string {
		return strings.Replace(say(text), `"choices"`, fmt.Sprintf(`"usage":{"prompt_tokens":9,"completion_tokens":%d},"choices"`, n), 1)
	}
	tests := []struct {
		name  string
		body  []string
		want  []int
		first wire.Count
	}{
		{"cumulative", []string{with("a", 5), with("b", 6), with("c", 9), finish(9, 0)}, []int{5, 1, 3}, wire.Known(5)},
		{"the total in each", []string{with("a", 9), with("b", 9), with("c", 9), finish(9, 0)}, []int{0, 0, 0}, wire.Count{}},
		{"zero until the last", []string{with("a", 0), with("b", 0), with("c", 9), finish(9, 0)}, []int{0, 0, 0}, wire.Count{}},
		{"a total that the chunks do not reach", []string{with("a", 1), with("b", 2), with("c", 3), finish(9, 0)}, []int{0, 0, 0}, wire.Count{}},
		{"only at the end", []string{say("a"), say("b"), say("c"), finish(9, 0)}, []int{0, 0, 0}, wire.Count{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Replay(recordingOf(tt.body...), nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []int
			for _, a := range s.Trace {
				if a.Mark == MarkVisible {
					got = append(got, a.Tokens)
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) || s.FirstReadTokens != tt.first {
				t.Errorf("tokens %v, first %v; want %v, %v", got, s.FirstReadTokens, tt.want, tt.first)
			}
		})
	}
}

// TestDone checks which event ends an answer: the end marker if there is one,
// else the last finish reason; never one that text comes after.
func TestDone(t *testing.T) {
	stop := frame(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	tests := []struct {
		name string
		body []string
		want time.Duration // 10 ms for each read
	}{
		{"end marker", []string{say("a"), stop, frame("[DONE]"), frame(`{"choices":[],"cost":"0"}`)}, 30 * time.Millisecond},
		{"finish reason alone", []string{say("a"), stop, ": bye\n\n"}, 20 * time.Millisecond},
		{"two finish reasons", []string{stop, say("a"), stop}, 30 * time.Millisecond},
		{"two end markers", []string{say("a"), stop, frame("[DONE]"), frame("[DONE]")}, 30 * time.Millisecond},
		{"neither", []string{say("a"), say("b")}, 0},
		{"text after the end marker", []string{say("a"), stop, frame("[DONE]"), say("b"), ": bye\n\n"}, 40 * time.Millisecond},
		{"text after the finish reason", []string{say("a"), stop, say("b")}, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, err := Replay(recordingOf(tt.body...), nil)
			if err != nil || s.Done != tt.want {
				t.Errorf("Done = %v, %v; want %v", s.Done, err, tt.want)
			}
		})
	}
}

// TestReplayedNames checks that no name in a recording that came from elsewhere
// reaches a terminal with control characters or without bound.
func TestReplayedNames(t *testing.T) {
	const evil = "\x1b]0;pwned\x07"
	long := strings.Repeat("m", 1000)
	rec := recordingOf(say("a"))
	rec.Pair, rec.Env.Vantage, rec.Env.Region = Pair{Provider: evil, Model: long}, evil, evil
	rec.Broke, rec.BrokeAs, rec.FailedIn = wire.KindNetwork, evil, Phase(evil)
	s, err := Replay(rec, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{s.Provider, s.Env.Vantage, s.Env.Region, string(s.Detail), string(s.FailedIn)} {
		if want := "]0;pwned"; name != want {
			t.Errorf("%q; want %q", name, want)
		}
	}
	if want := long[:128]; s.Model != want {
		t.Errorf("a model's name of %d bytes; want %d", len(s.Model), len(want))
	}
}

// TestLiveReadGrows checks that a live event is dated by the read that brought
// it, also when that read was known before it was whole.
func TestLiveReadGrows(t *testing.T) {
	body := []byte(say("one") + say(" two"))
	half := len(say("one"))
	live := newLiveBody()
	live.publish(body[:half], []Read{{End: int64(half), User: 10}}, 4)
	live.publish(body, []Read{{End: int64(len(body)), User: 10}}, 4)
	live.publish(body, []Read{{End: int64(len(body)), User: 10}, {End: int64(len(body)), User: 20}}, 4)
	live.close()
	var got []Arrival
	live.watch(wire.OpenAIChat{}, func(a Arrival, _ wire.Event) { got = append(got, a) })
	want := []Arrival{
		{At: 6, Offset: int64(half) - 1, Read: 0, Mark: MarkVisible, Chars: 3},
		{At: 6, Offset: int64(len(body)) - 1, Read: 0, Mark: MarkVisible, Chars: 4},
	}
	if !slices.Equal(got, want) {
		t.Errorf("live events %+v; want %+v", got, want)
	}
}

// TestEstimate checks that a guess at the tokens is marked and stays out of
// every rate.
func TestEstimate(t *testing.T) {
	stop := frame(`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`)
	s, err := Replay(recordingOf(say("four"), say("four"), stop), nil)
	if err != nil || !s.OK() {
		t.Fatal(err, s.Detail)
	}
	if !s.Usage.Estimated || s.Usage.Output != wire.Known(2) || s.Usage.Visible.Known {
		t.Errorf("usage %+v; want an estimate of 2", s.Usage)
	}
	r := s.Report()
	if r.OutputTokens != nil || r.EstimatedTokens == nil || *r.EstimatedTokens != 2 || r.E2ETPSBilled != nil {
		t.Errorf("output %v, estimated %v, billed %v", r.OutputTokens, r.EstimatedTokens, r.E2ETPSBilled)
	}
}

// TestImpossibleCount checks that a provider's count of tokens is believed as far
// as the text can have them: eight characters, 4 x 8 + 16 tokens.
func TestImpossibleCount(t *testing.T) {
	for n, believed := range map[int]bool{2: true, 48: true, 49: false, 1_000_000: false} {
		s, err := Replay(recordingOf(say("four"), say("four"), finish(n, 0)), nil)
		if err != nil || !s.OK() {
			t.Fatal(err, s.Detail)
		}
		_, why := s.DecodeTPS()
		if s.Usage.Visible.Known != believed || s.Usage.Clamped == believed || !believed && why != NoTokenCount || s.Usage.Output != wire.Known(int64(n)) {
			t.Errorf("%d tokens: %+v, decode rate %v; want them believed: %v", n, s.Usage, why, believed)
		}
	}
}

// FuzzReplay checks that no recording, however made, panics, costs memory out
// of proportion, or gives a sample that breaks an invariant.
func FuzzReplay(f *testing.F) {
	for _, rec := range []Recording{
		recordingOf(say("one"), say(" two"), finish(2, 0)),
		recordingOf("<html>"),
		{Format: RecordingFormat, Env: Env{Protocol: "ollama"}, Broke: wire.KindNetwork, FailedIn: PhaseDial},
	} {
		text, err := json.Marshal(rec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var rec Recording
		if json.Unmarshal(text, &rec) != nil {
			return
		}
		s, err := Replay(rec, nil)
		if err != nil {
			return
		}
		for i := 1; i < len(s.Trace); i++ {
			if s.Trace[i].Offset < s.Trace[i-1].Offset || s.Trace[i].Read < s.Trace[i-1].Read {
				t.Fatalf("event %d goes backwards", i)
			}
		}
		if _, err := json.Marshal(s.Report()); err != nil {
			t.Fatalf("report: %v", err)
		}
	})
}
