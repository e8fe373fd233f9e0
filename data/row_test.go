package data

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// through sends a sample through its row.
func through(t testing.TB, s bench.Sample) bench.Sample {
	t.Helper()
	r := encodeSample(&s)
	r.id, r.env = sampleID(s.StartedAt, 1), 1
	var n names
	n.series.put(1, s.Series())
	n.envs.put(1, envOf(&s))
	if p := replyOf(&s, 1); p != (reply{series: 1}) {
		r.reply = known(1)
		n.replies.put(replyKey(1, 1), p)
	}
	if f := failureOf(&s); f.kind != "" {
		r.failure = known(1)
		n.failures.put(1, f)
	}
	back, err := decodeSample(&r, &n)
	if err != nil {
		t.Fatal(err)
	}
	return back
}

// TestHostileCounts has a provider tell more and more tokens. No sample may be
// refused for it: a provider would choose which of its runs count.
func TestHostileCounts(t *testing.T) {
	t.Parallel()
	for digits := 1; digits <= 30; digits++ {
		n := strings.Repeat("9", digits)
		body := `data: {"type":"message_start","message":{"usage":{"input_tokens":` + n + `,"cache_read_input_tokens":` + n + `,"cache_creation_input_tokens":` + n + `}}}

data: {"type":"content_block_delta","delta":{"text":"a"}}

data: {"type":"message_delta","usage":{"output_tokens":` + n + `}}

data: {"type":"message_stop"}

`
		s, err := bench.Replay(bench.Recording{
			Format: bench.RecordingFormat, Pair: bench.Pair{Provider: "p", Model: "m"}, StartedAt: t0, HTTPStatus: 200,
			Env: bench.Env{Method: 1, Prompt: 1, Protocol: "anthropic", Vantage: "local"}, HeadRead: 1,
			Reads: []bench.Read{{End: int64(len(body)), User: 1}}, Body: []byte(body),
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(&s); err != nil || !s.OK() {
			t.Errorf("%s tokens: %v, %v", n, s.Kind, err)
		}
	}
}

// TestRoundingKeepsMetrics sends samples with instants at any nanosecond
// through their rows. Every reason, path, shape and count must stay, every time
// must stay within a millisecond, and every rate within 0.2 %.
func TestRoundingKeepsMetrics(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(15, 16))
	blur := func(d time.Duration) time.Duration {
		if d == 0 {
			return 0
		}
		return d + time.Duration(rnd.Int64N(int64(ms)))
	}
	compared := 0
	for i := range 20_000 {
		s := random(rnd, "m", t0.Add(time.Duration(i)*time.Minute))
		s.StartedAt = s.StartedAt.Add(time.Duration(rnd.Int64N(int64(ms))))
		p := &s.Phases
		p.DNS, p.Connect, p.TLS, p.Setup, p.FirstByte = blur(p.DNS), blur(p.Connect), blur(p.TLS), blur(p.Setup)+3*ms, blur(p.FirstByte)
		s.FirstReason = blur(s.FirstReason)
		if s.FirstText != 0 {
			span, end := s.LastText-s.FirstText, max(s.Done, s.EOF)-s.LastText
			s.FirstText = blur(s.FirstText)
			if rnd.IntN(4) == 0 && s.Chunks >= bench.HybridMinChunks { // around the limits of the rules
				span = time.Duration(s.Chunks-1)*bench.HybridMinGap - 50*time.Microsecond
			} else if rnd.IntN(4) == 0 {
				span = bench.MinDecodeSpan - ms/2
			}
			if s.Chunks > 1 {
				span = blur(span)
			}
			s.LastText = s.FirstText + span
			if s.Done != 0 {
				s.Done = s.LastText + blur(end)
			} else if s.EOF != 0 {
				s.EOF = s.LastText + blur(end)
			}
			s.Gaps.Stall = min(s.Gaps.Stall, span/2)
		}
		s.Gaps.P50, s.Gaps.P95, s.Gaps.Max = blur(s.Gaps.P50), blur(s.Gaps.P95), blur(s.Gaps.Max)
		if s.Gaps.HasBurstiness {
			s.Gaps.Burstiness = 2*rnd.Float64() - 1
		}
		back := through(t, s)
		compared += sameMetrics(t, &s, &back)
		if t.Failed() {
			t.Fatalf("sample:\n%+v\nread back:\n%+v", s, back)
		}
	}
	if compared < 200_000 {
		t.Errorf("compared only %d numbers", compared)
	}
}

// sameMetrics compares the metrics of a sample with those of the one read back,
// and returns how many it compared.
func sameMetrics(t *testing.T, s, back *bench.Sample) (compared int) {
	t.Helper()
	number := func(name string, f func(*bench.Sample) (float64, bench.Reason), tolerance func(want float64) float64) {
		t.Helper()
		want, why := f(s)
		got, whyBack := f(back)
		if why != whyBack {
			t.Errorf("%s: %q became %q", name, why, whyBack)
		} else if why.OK() && math.Abs(got-want) > tolerance(want) {
			t.Errorf("%s: %v became %v", name, want, got)
		}
		compared++
	}
	// Instants are rounded to 1 ms, so a difference of two is off by as much.
	within := func(d time.Duration) func(float64) float64 {
		return func(float64) float64 { return d.Seconds()*1000 + 1e-9 }
	}
	milliseconds := func(f func(*bench.Sample) (time.Duration, bench.Reason)) func(*bench.Sample) (float64, bench.Reason) {
		return func(s *bench.Sample) (float64, bench.Reason) {
			d, why := f(s)
			return d.Seconds() * 1000, why
		}
	}
	number("ttft_ms", milliseconds((*bench.Sample).TTFT), within(ms/2))
	number("ttft_cold_ms", milliseconds((*bench.Sample).TTFTCold), within(ms))
	number("ttfr_ms", milliseconds((*bench.Sample).TTFR), within(ms/2))
	number("ttfo_ms", milliseconds((*bench.Sample).TTFO), within(ms/2))
	number("think_ms", milliseconds((*bench.Sample).Think), within(ms))
	number("ttlt_ms", milliseconds((*bench.Sample).TTLT), within(ms/2+tick))
	number("e2e_ms", milliseconds((*bench.Sample).E2E), within(ms/2+2*tick))
	number("tail_ms", milliseconds((*bench.Sample).Tail), within(tick))
	number("span_ms", milliseconds((*bench.Sample).Span), within(tick))
	number("mean_gap_ms", (*bench.Sample).MeanGapMS, within(tick))
	number("burstiness", (*bench.Sample).Burstiness, func(float64) float64 { return 0.005 + 1e-9 })
	number("first_chunk_tokens", (*bench.Sample).FirstChunkTokens, func(float64) float64 { return 0 })

	// A rate is as exact as its divisor: span to a tenth of a millisecond, and
	// the same again for the end.
	relative := func(divisor, error time.Duration) func(float64) float64 {
		return func(want float64) float64 {
			return math.Abs(want) * max(0.002, float64(error)/float64(max(1, divisor-error)))
		}
	}
	span := s.LastText - s.FirstText
	end, _ := s.End()
	number("decode_tps", (*bench.Sample).DecodeTPS, func(want float64) float64 { return want * 0.002 })
	number("decode_tps_stall_free", (*bench.Sample).StallFreeTPS, relative(span-s.Gaps.Stall, 2*tick))
	number("tpot_ms", (*bench.Sample).TPOTMS, relative(span, tick))
	number("chunk_rate_per_s", (*bench.Sample).ChunkRate, relative(span, tick))
	number("chars_per_s", (*bench.Sample).CharsPerSecond, relative(span, tick))
	number("words_per_s", (*bench.Sample).WordsPerSecond, relative(span, tick))
	number("stall_ratio", (*bench.Sample).StallRatio, func(float64) float64 { return 2 * float64(tick) / float64(max(tick, span-tick)) })
	number("tps_wall", (*bench.Sample).WallTPS, relative(end-s.FirstText, 2*tick))
	number("e2e_tps_visible", (*bench.Sample).EndToEndTPS, relative(end, ms))
	number("e2e_tps_billed", (*bench.Sample).BilledTPS, relative(end, ms))
	number("tps_hybrid", func(s *bench.Sample) (float64, bench.Reason) {
		tps, path := s.HybridTPS()
		if path == bench.PathMalformed {
			return 0, bench.NoTokenCount
		}
		return tps, bench.Present
	}, relative(end-s.FirstText, 2*tick))
	_, path := s.HybridTPS()
	if _, got := back.HybridTPS(); got != path {
		t.Errorf("tps_hybrid_path: %s became %s", path, got)
	}
	if want, got := s.Shape(), back.Shape(); got != want {
		t.Errorf("shape: %s became %s", want, got)
	}
	_, want, _ := s.Stall()
	if _, got, _ := back.Stall(); got != want {
		t.Errorf("stall_count: %d became %d", want, got)
	}
	if back.Usage != s.Usage || back.Kind != s.Kind || back.Detail != s.Detail || back.Series() != s.Series() || back.Env != s.Env {
		t.Errorf("usage, failure, series or conditions changed")
	}
	return compared
}

// TestRowsKeepZeroAndUnknownApart sends edge cases through their rows.
func TestRowsKeepZeroAndUnknownApart(t *testing.T) {
	t.Parallel()
	base := func(change func(*bench.Sample)) bench.Sample {
		s := success("m", t0)
		change(&s)
		return s
	}
	tests := []struct {
		name         string
		sample, want bench.Sample
	}{
		{"half a millisecond to first text is something", base(func(s *bench.Sample) { s.FirstText, s.LastText = 300*time.Microsecond, 4000*ms }),
			base(func(s *bench.Sample) { s.FirstText, s.LastText, s.Done = 1, 3999*ms+7*tick+1, 4250*ms+7*tick+1 })},
		{"no text, but an end", base(func(s *bench.Sample) {
			s.FirstText, s.LastText, s.Chunks, s.Deliveries, s.Chars, s.Words, s.FirstReadChars, s.Gaps = 0, 0, 0, 0, 0, 0, 0, bench.Gaps{}
		}), base(func(s *bench.Sample) {
			s.FirstText, s.LastText, s.Chunks, s.Deliveries, s.Chars, s.Words, s.FirstReadChars, s.Gaps = 0, 0, 0, 0, 0, 0, 0, bench.Gaps{}
		})},
		{"no connection", bench.Sample{Pair: bench.Pair{Provider: "p", Model: "m"}, StartedAt: t0, Kind: wire.KindNetwork},
			bench.Sample{Pair: bench.Pair{Provider: "p", Model: "m"}, StartedAt: t0, Kind: wire.KindNetwork}},
		{"no token counts", base(func(s *bench.Sample) { s.Usage = bench.Usage{} }), base(func(s *bench.Sample) { s.Usage = bench.Usage{} })},
		{"counts of zero", base(func(s *bench.Sample) {
			s.Usage = bench.Usage{Input: wire.Known(0), Output: wire.Known(0), Reasoning: wire.Known(0), Visible: wire.Known(0)}
		}), base(func(s *bench.Sample) {
			s.Usage = bench.Usage{Input: wire.Known(0), Output: wire.Known(0), Reasoning: wire.Known(0), Visible: wire.Known(0)}
		})},
		{"visible tokens, but no output", base(func(s *bench.Sample) { s.Usage = bench.Usage{Visible: wire.Known(9)} }),
			base(func(s *bench.Sample) { s.Usage = bench.Usage{Visible: wire.Known(9)} })},
		{"end before the last text", base(func(s *bench.Sample) { s.Done = 4000 * ms }), base(func(s *bench.Sample) { s.Done = 4000 * ms })},
		{"a label too long, with controls", base(func(s *bench.Sample) {
			s.ServedBy = "a\x00\n" + string(make([]rune, 3)) + "é" + strings.Repeat("é", 40)
		}),
			base(func(s *bench.Sample) { s.ServedBy = "aé" + strings.Repeat("é", 30) })},
		{"invalid UTF-8", base(func(s *bench.Sample) { s.Finish = "\xff\xfe" }), base(func(s *bench.Sample) { s.Finish = "\ufffd\ufffd" })},
		{"in the slot's first half second", base(func(s *bench.Sample) { s.Scheduled = t0.Add(-400 * ms) }), base(func(s *bench.Sample) { s.Scheduled = t0 })},
		{"before its slot", base(func(s *bench.Sample) { s.Scheduled = t0.Add(5 * time.Second) }), base(func(s *bench.Sample) { s.Scheduled = t0.Add(5 * time.Second) })},
		{"a probe", base(func(s *bench.Sample) { s.Scheduled = time.Time{} }), base(func(s *bench.Sample) { s.Scheduled = time.Time{} })},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, through(t, tt.sample)); diff != "" {
				t.Errorf("sample (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSpanTicks(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		span   time.Duration
		chunks int
		want   int64
	}{
		{"whole", 4 * time.Second, 100, 40_000},
		{"cut off, not rounded", 99*ms + 999*time.Microsecond, 2, 999},
		{"at the limit of the hybrid rule", 350 * ms, 8, 3500},
		{"a microsecond above it", 350*ms + time.Microsecond, 8, 3501},
		{"less than a microsecond above it is not above it", 350*ms + 999*time.Nanosecond, 8, 3500},
		{"too few chunks for the rule", 300*ms + time.Microsecond, 7, 3000},
		{"nothing", 0, 1, 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := spanTicks(tt.span, tt.chunks); got != tt.want {
				t.Errorf("spanTicks(%v, %d) = %d, want %d", tt.span, tt.chunks, got, tt.want)
			}
		})
	}
}
