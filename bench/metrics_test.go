package bench

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// tokens is usage of n visible tokens and nothing else.
func tokens(n int64) Usage {
	return Usage{Output: wire.Known(n), Visible: wire.Known(n)}
}

// streamed is a finished answer of n tokens in chunks of equal length, gap
// apart, each a read of its own.
func streamed(chunks int, n int64, first, gap time.Duration) Sample {
	s := Sample{Usage: tokens(n)}
	at := first
	for i := range chunks {
		s.Trace = append(s.Trace, Arrival{At: at, Offset: int64(i + 1), Read: i, Mark: MarkVisible, Chars: 4})
		at += gap
	}
	s.Digest()
	s.Done = s.LastText
	return s
}

// failed is a sample that broke off: it has no end.
func failed(s Sample) Sample {
	s.Done, s.EOF, s.Kind = 0, 0, wire.KindNetwork
	return s
}

// TestMetrics holds each metric against a value worked out by hand in the row's
// comment, or against the reason for which there is none.
func TestMetrics(t *testing.T) {
	const ms = time.Millisecond
	ten := streamed(10, 40, 500*ms, 100*ms) // 10 chunks of 4 tokens at 0.5, 0.6 … 1.4 s
	ten.Usage.Output = wire.Known(60)       // 20 of them reasoning
	ten.Words = 20
	ten.Phases.Setup = 80 * ms
	ten.FirstReason = 200 * ms
	ten.Done = 1600 * ms
	thinking := Sample{FirstReason: 300 * ms, Done: 900 * ms, Usage: Usage{Output: wire.Known(300), Reasoning: wire.Known(300), Visible: wire.Known(0)}}
	uncounted := ten
	uncounted.Usage = Usage{Output: wire.Known(10), Visible: wire.Known(10), Estimated: true}
	stalled := streamed(20, 20, 100*ms, 20*ms)
	for i := 10; i < 20; i++ {
		stalled.Trace[i].At += 600 * ms // the gap before chunk 10 is 620 ms
	}
	stalled.Digest()
	stalled.Done = stalled.LastText
	headed := streamed(20, 0, 100*ms, 50*ms)
	headed.Trace[0].Chars = 84 // 84 of 160 characters
	headed.Digest()
	headed.Usage, headed.Done = tokens(40), headed.LastText

	float := func(v float64, why Reason) (float64, Reason) { return v, why }
	span := func(d time.Duration, why Reason) (float64, Reason) { return d.Seconds(), why }
	tests := []struct {
		name string
		got  func() (float64, Reason)
		want float64
		why  Reason
	}{
		{"TTFT", func() (float64, Reason) { return span(ten.TTFT()) }, 0.5, Present},
		{"TTFT without text", func() (float64, Reason) { return span(thinking.TTFT()) }, 0, NoContent},
		{"TTFTCold", func() (float64, Reason) { return span(ten.TTFTCold()) }, 0.58, Present},
		{"TTFTCold without text", func() (float64, Reason) { return span(thinking.TTFTCold()) }, 0, NoContent},
		{"TTFR", func() (float64, Reason) { return span(ten.TTFR()) }, 0.2, Present},
		{"TTFR without reasoning", func() (float64, Reason) { return span(stalled.TTFR()) }, 0, NoReasoning},
		{"TTFO", func() (float64, Reason) { return span(ten.TTFO()) }, 0.2, Present},
		{"TTFO of reasoning alone", func() (float64, Reason) { return span(thinking.TTFO()) }, 0.3, Present},
		{"TTFO of text alone", func() (float64, Reason) { return span(stalled.TTFO()) }, 0.1, Present},
		{"TTFO of nothing", func() (float64, Reason) { return span(new(Sample).TTFO()) }, 0, NoContent},
		{"Think", func() (float64, Reason) { return span(ten.Think()) }, 0.3, Present},
		{"Think without text", func() (float64, Reason) { return span(thinking.Think()) }, 0, NoContent},
		{"Think without reasoning", func() (float64, Reason) { return span(stalled.Think()) }, 0, NoReasoning},
		{"TTLT", func() (float64, Reason) { return span(ten.TTLT()) }, 1.4, Present},
		{"TTLT without text", func() (float64, Reason) { return span(thinking.TTLT()) }, 0, NoContent},
		{"E2E", func() (float64, Reason) { return span(ten.E2E()) }, 1.6, Present},
		{"E2E by end of stream", func() (float64, Reason) { return span((&Sample{EOF: 2 * time.Second}).E2E()) }, 2, Present},
		{"E2E without end", func() (float64, Reason) { s := failed(ten); return span(s.E2E()) }, 0, Incomplete},
		{"Tail", func() (float64, Reason) { return span(ten.Tail()) }, 0.2, Present},
		{"Tail without text", func() (float64, Reason) { return span(thinking.Tail()) }, 0, NoContent},
		{"Tail without end", func() (float64, Reason) { s := failed(ten); return span(s.Tail()) }, 0, Incomplete},

		{"DecodeTPS", func() (float64, Reason) { return float(ten.DecodeTPS()) }, 40, Present}, // (40 − 4) ÷ 0.9
		{"DecodeTPS without end", func() (float64, Reason) { s := failed(ten); return float(s.DecodeTPS()) }, 0, Incomplete},
		{"PartialTPS without end", func() (float64, Reason) { s := failed(ten); return float(s.PartialTPS()) }, 40, Present},
		{"DecodeTPS without text", func() (float64, Reason) { return float(thinking.DecodeTPS()) }, 0, NoContent},
		{"DecodeTPS of an estimate", func() (float64, Reason) { return float(uncounted.DecodeTPS()) }, 0, NoTokenCount},
		{"DecodeTPS of one chunk", func() (float64, Reason) { s := streamed(1, 40, ms, ms); return float(s.DecodeTPS()) }, 0, Buffered},
		{"DecodeTPS within 99.9 ms", func() (float64, Reason) {
			s := streamed(28, 40, ms, 3700*time.Microsecond)
			return float(s.DecodeTPS())
		}, 0, Buffered},
		{"DecodeTPS within 100 ms", func() (float64, Reason) { s := streamed(21, 42, ms, 5*ms); return float(s.DecodeTPS()) }, 400, Present}, // (42 − 2) ÷ 0.1
		{"DecodeTPS of a head burst", func() (float64, Reason) { return float(headed.DecodeTPS()) }, 0, HeadBurst},
		{"DecodeTPS of 15 tokens after the first", func() (float64, Reason) { s := streamed(16, 16, ms, 50*ms); return float(s.DecodeTPS()) }, 0, TooFewTokens},
		{"DecodeTPS of 16 tokens after the first", func() (float64, Reason) { s := streamed(17, 17, ms, 50*ms); return float(s.DecodeTPS()) }, 20, Present}, // 16 ÷ 0.8

		{"WallTPS", func() (float64, Reason) { return float(ten.WallTPS()) }, 40 / 1.1, Present}, // 40 ÷ (1.6 − 0.5)
		{"WallTPS without end", func() (float64, Reason) { s := failed(ten); return float(s.WallTPS()) }, 0, Incomplete},
		{"WallTPS without text", func() (float64, Reason) { return float(thinking.WallTPS()) }, 0, NoContent},
		{"WallTPS of an estimate", func() (float64, Reason) { return float(uncounted.WallTPS()) }, 0, NoTokenCount},
		{"WallTPS of one instant", func() (float64, Reason) { s := streamed(1, 40, ms, ms); return float(s.WallTPS()) }, 0, NoElapsedTime},
		{"EndToEndTPS", func() (float64, Reason) { return float(ten.EndToEndTPS()) }, 25, Present}, // 40 ÷ 1.6
		{"EndToEndTPS without text", func() (float64, Reason) { return float(thinking.EndToEndTPS()) }, 0, NoContent},
		{"EndToEndTPS without end", func() (float64, Reason) { s := failed(ten); return float(s.EndToEndTPS()) }, 0, Incomplete},
		{"BilledTPS", func() (float64, Reason) { return float(ten.BilledTPS()) }, 37.5, Present}, // 60 ÷ 1.6
		{"BilledTPS of reasoning alone", func() (float64, Reason) { return float(thinking.BilledTPS()) }, 300 / 0.9, Present},
		{"BilledTPS of an estimate", func() (float64, Reason) { return float(uncounted.BilledTPS()) }, 0, NoTokenCount},

		{"TPOTMS", func() (float64, Reason) { return float(ten.TPOTMS()) }, 900.0 / 39, Present},
		{"TPOTMS of one chunk", func() (float64, Reason) { s := streamed(1, 40, ms, ms); return float(s.TPOTMS()) }, 0, TooFewChunks},
		{"TPOTMS of one instant", func() (float64, Reason) { s := streamed(2, 40, ms, 0); return float(s.TPOTMS()) }, 0, Buffered},
		{"MeanGapMS", func() (float64, Reason) { return float(ten.MeanGapMS()) }, 100, Present},
		{"MeanGapMS of one chunk", func() (float64, Reason) { s := streamed(1, 40, ms, ms); return float(s.MeanGapMS()) }, 0, TooFewChunks},
		{"ChunkRate", func() (float64, Reason) { return float(ten.ChunkRate()) }, 10, Present},
		{"ChunkRate of one instant", func() (float64, Reason) { s := streamed(2, 40, ms, 0); return float(s.ChunkRate()) }, 0, Buffered},
		{"Burstiness of clockwork", func() (float64, Reason) { return float(ten.Burstiness()) }, -1, Present},
		{"Burstiness of two chunks", func() (float64, Reason) { s := streamed(2, 40, ms, ms); return float(s.Burstiness()) }, 0, TooFewChunks},

		{"Stall", func() (float64, Reason) { d, _, why := stalled.Stall(); return span(d, why) }, 0.6, Present}, // 620 − 20
		{"Stall of seven chunks", func() (float64, Reason) { s := streamed(7, 40, ms, ms); d, _, why := s.Stall(); return span(d, why) }, 0, TooFewChunks},
		{"Stall of slow chunks", func() (float64, Reason) {
			s := streamed(9, 40, ms, time.Second)
			d, _, why := s.Stall()
			return span(d, why)
		}, 0, Present},
		{"StallRatio", func() (float64, Reason) { return float(stalled.StallRatio()) }, 600.0 / 980, Present},
		{"StallFreeTPS", func() (float64, Reason) { return float(stalled.StallFreeTPS()) }, 50, Present}, // 19 ÷ (0.98 − 0.6)
		{"StallFreeTPS without rate", func() (float64, Reason) { return float(uncounted.StallFreeTPS()) }, 0, NoTokenCount},

		{"CharsPerSecond", func() (float64, Reason) { return float(ten.CharsPerSecond()) }, 40, Present}, // 36 ÷ 0.9
		{"CharsPerSecond of an estimate", func() (float64, Reason) { return float(uncounted.CharsPerSecond()) }, 40, Present},
		{"CharsPerSecond without text", func() (float64, Reason) { return float(thinking.CharsPerSecond()) }, 0, NoContent},
		{"CharsPerSecond of one chunk", func() (float64, Reason) { s := streamed(1, 1, ms, ms); return float(s.CharsPerSecond()) }, 0, TooFewChunks},
		{"CharsPerSecond of one instant", func() (float64, Reason) { s := streamed(3, 1, ms, 0); return float(s.CharsPerSecond()) }, 0, Buffered},
		{"WordsPerSecond", func() (float64, Reason) { return float(ten.WordsPerSecond()) }, 20, Present}, // 20 × 36/40 ÷ 0.9
		{"TimeTo 1", func() (float64, Reason) { return span(ten.TimeTo(1)) }, 0.5, Present},
		{"TimeTo 21", func() (float64, Reason) { return span(ten.TimeTo(21)) }, 1, Present}, // 0.5 + 20 ÷ 40
		{"TimeTo without rate", func() (float64, Reason) { return span(uncounted.TimeTo(21)) }, 0, NoTokenCount},
		{"TrimmedTPS", func() (float64, Reason) { return float(ten.TrimmedTPS()) }, 40, Present}, // 32 ÷ 0.8
		{"FirstChunkTokens", func() (float64, Reason) { return float(ten.FirstChunkTokens()) }, 4, Present},
		{"FirstChunkTokens without text", func() (float64, Reason) { return float(thinking.FirstChunkTokens()) }, 0, NoContent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, why := tt.got()
			if why != tt.why || why.OK() && math.Abs(got-tt.want) > 1e-9*math.Abs(tt.want) {
				t.Errorf("got %v %q; want %v %q", got, why, tt.want, tt.why)
			}
		})
	}
}

// TestHybridTPS walks along both thresholds of the published rule.
func TestHybridTPS(t *testing.T) {
	const us = time.Microsecond
	tests := []struct {
		name   string
		sample Sample
		want   float64
		path   HybridPath
	}{
		{"eight chunks, mean gap 50 ms", streamed(8, 8, 1, 50_000*us), 8 / 0.35, PathWallClock},
		{"eight chunks, mean gap 50.001 ms", streamed(8, 8, 1, 50_001*us), 7 / 0.350007, PathInterToken},
		{"seven chunks, mean gap 1 s", streamed(7, 7, 1, time.Second), 7.0 / 6, PathWallClock},
		{"four tokens a chunk are not counted as one", streamed(10, 40, 1, 80_000*us), 39 / 0.72, PathInterToken},
		{"one burst", streamed(1, 300, 1, 0), 0, PathMalformed},
		{"no tokens told", Sample{Chunks: 10, FirstText: 1, LastText: time.Second, Done: time.Second}, 0, PathMalformed},
		{"broken off, slow", failed(streamed(10, 10, 1, time.Second)), 1, PathInterToken},
		{"broken off, fast", failed(streamed(10, 10, 1, 10_000*us)), 0, PathMalformed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, path := tt.sample.HybridTPS()
			if path != tt.path || math.Abs(got-tt.want) > 1e-9*tt.want {
				t.Errorf("got %v by %s; want %v by %s", got, path, tt.want, tt.path)
			}
		})
	}
}

func TestWindowTPS(t *testing.T) {
	const ms = time.Millisecond
	s := streamed(12, 24, 100*ms, 100*ms) // 2 tokens a chunk, at 0.1 … 1.2 s
	got, why := s.WindowTPS(500 * ms)
	// Chunks at 0.2 … 0.6 and at 0.7 … 1.1 s; the one at 1.2 s is in no whole window.
	if len(got) != 2 || got[0] != 20 || got[1] != 20 || !why.OK() {
		t.Errorf("WindowTPS = %v %q; want [20 20]", got, why)
	}
	s.Trace = nil
	if got, why := s.WindowTPS(500 * ms); why != TooFewChunks {
		t.Errorf("without trace: %v %q", got, why)
	}
}

func TestShape(t *testing.T) {
	const ms = time.Millisecond
	oneRead := streamed(20, 40, ms, 10*ms)
	for i := range oneRead.Trace {
		oneRead.Trace[i].Read = i / 4
	}
	oneRead.Digest()
	tests := []struct {
		name   string
		sample Sample
		want   Shape
	}{
		{"nothing", Sample{}, ShapeNone},
		{"a token a chunk", streamed(20, 20, ms, 10*ms), ShapeSmooth},
		{"two tokens a chunk", streamed(20, 40, ms, 10*ms), ShapeChunky},
		{"four chunks a read", oneRead, ShapeChunky},
		{"one chunk", streamed(1, 20, ms, ms), ShapeBurst},
		{"twenty chunks in 38 ms", streamed(20, 20, ms, 2*ms), ShapeBurst},
		{"by characters, if nobody counts", func() Sample { s := streamed(20, 0, ms, 10*ms); s.Usage = Usage{}; return s }(), ShapeSmooth},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.sample.Shape(); got != tt.want {
				t.Errorf("Shape = %q; want %q", got, tt.want)
			}
		})
	}
}

// TestFirstDelivery checks which reads count as made before the clock started.
func TestFirstDelivery(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	at := func(instants ...time.Duration) (s Sample) {
		for i, t := range instants {
			s.Trace = append(s.Trace, Arrival{At: t, Offset: int64(i + 1), Read: i, Mark: MarkVisible, Chars: 10})
		}
		return s
	}
	counted := at(10*ms, 110*ms, 210*ms)
	for i := range counted.Trace {
		counted.Trace[i].Tokens = 3 + i
	}
	sameRead := at(10*ms, 10*ms, 210*ms)
	sameRead.Trace[1].Read = 0
	sameRead.Usage = tokens(3)
	endCounted := sameRead
	endCounted.Usage = tokens(4)
	tests := []struct {
		name   string
		sample Sample
		chars  int
		tokens wire.Count
	}{
		{"one chunk", at(10 * ms), 10, wire.Count{}},
		{"steady", at(10*ms, 110*ms, 210*ms), 10, wire.Count{}},
		{"three reads of one burst", at(10*ms, 10*ms+200*us, 10*ms+500*us, 210*ms, 410*ms), 30, wire.Count{}},
		{"reads a millisecond apart", at(10*ms, 11*ms, 210*ms, 410*ms), 10, wire.Count{}},
		{"fast and steady", at(10*ms, 10*ms+500*us, 11*ms, 11*ms+500*us, 12*ms), 10, wire.Count{}},
		{"counted by the stream", counted, 10, wire.Known(3)},
		{"two chunks of a token each in one read", sameRead, 20, wire.Known(2)},
		{"the same, and an end token", endCounted, 20, wire.Known(2)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.sample.Digest()
			if tt.sample.FirstReadChars != tt.chars || tt.sample.FirstReadTokens != tt.tokens {
				t.Errorf("%d characters, %v tokens; want %d, %v", tt.sample.FirstReadChars, tt.sample.FirstReadTokens, tt.chars, tt.tokens)
			}
		})
	}
}

// TestDecodeTPSProperties checks on random answers that the decode rate does not
// depend on how tokens are put into chunks, on a tail, or on when the answer
// starts, and scales with time.
func TestDecodeTPSProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	for range 500 {
		per := time.Duration(2+rng.IntN(200)) * time.Millisecond
		first := time.Duration(1 + rng.Int64N(int64(5*time.Second)))
		s := Sample{Usage: tokens(0)}
		var n int64
		for at := first; n < 200; {
			k := 1 + rng.IntN(12)
			if n > 0 {
				at += per * time.Duration(k)
			}
			n += int64(k)
			s.Trace = append(s.Trace, Arrival{At: at, Offset: n, Read: int(n), Mark: MarkVisible, Chars: 4 * k})
		}
		s.Usage = tokens(n)
		s.Digest()
		s.Done = s.LastText + time.Duration(rng.Int64N(int64(time.Second)))
		got, why := s.DecodeTPS()
		if want := 1 / per.Seconds(); !why.OK() || off(got, want) > 1e-6 {
			t.Fatalf("a token every %v: DecodeTPS = %v %q; want %v", per, got, why, want)
		}
		tpot, _ := s.TPOTMS()
		if tpot > ms(per) {
			t.Fatalf("a token every %v: TPOTMS = %v", per, tpot)
		}
	}
}

// TestReportNamesReasons checks that an empty sample is all nulls with reasons.
func TestReportNamesReasons(t *testing.T) {
	s := Sample{Kind: wire.KindNetwork, Detail: DetailRefused, FailedIn: PhaseDial}
	got := asJSON(t, s.Report())
	for _, name := range strings.Fields(`ttft_ms ttft_cold_ms ttfr_ms ttfo_ms think_ms ttlt_ms e2e_ms decode_tps
		tps_hybrid tps_wall e2e_tps_visible e2e_tps_billed tpot_ms mean_gap_ms chunk_rate_per_s chars_per_s
		words_per_s first_chunk_tokens visible_tokens output_tokens reasoning_tokens input_tokens cached_tokens
		icl_ms_p50 icl_ms_max burstiness stall_count stall_ms stall_ratio decode_tps_stall_free window_tps shape`) {
		v, known := got[name]
		if !known || v != nil {
			t.Errorf("%s = %v; want null", name, v)
		}
		if got["reasons"].(map[string]any)[name] == nil {
			t.Errorf("%s has no reason", name)
		}
	}
	for name, want := range map[string]any{
		"outcome": "failed", "error_kind": "network", "error_detail": "refused", "failed_in": "dial",
		"decode_invalid": "incomplete", "tps_hybrid_path": "malformed", "complete": false,
	} {
		if got[name] != want {
			t.Errorf("%s = %v; want %v", name, got[name], want)
		}
	}
}
