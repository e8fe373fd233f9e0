package data

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// torture asks for the long forms of the tests that break things.
var torture = flag.Bool("torture", false, "kill the writer over 300 times in over 1,000 runs, with three seeds; fill the disk and flip bits at more places")

// choose returns how much of a test to do.
func choose[T any](short, long T) T {
	if *torture {
		return long
	}
	return short
}

const ms = time.Millisecond

// t0 is the day on which the tests' records begin.
var t0 = time.Date(2026, 3, 30, 0, 0, 0, 0, time.UTC)

// newRecord opens a new record in a directory of its own.
func newRecord(t testing.TB) *Store {
	t.Helper()
	return openRecord(t, t.TempDir(), Options{Create: true})
}

func openRecord(t testing.TB, dir string, opts Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), dir, opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// ingest ingests samples as of a time after all of them.
func ingest(t testing.TB, s *Store, samples ...bench.Sample) Report {
	t.Helper()
	now := t0
	for _, one := range samples {
		now = later(now, one.StartedAt)
	}
	report, err := s.Ingest(t.Context(), now, samples)
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// all reads every sample of a record.
func all(t testing.TB, s *Store) []bench.Sample {
	t.Helper()
	var samples []bench.Sample
	for sample, err := range s.Samples(t.Context(), time.Time{}, farFuture()) {
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, sample)
	}
	return samples
}

// success is a plain successful run: 301 tokens in 100 chunks.
func success(model string, at time.Time) bench.Sample {
	return bench.Sample{
		Pair:      bench.Pair{Provider: "acme", Model: model},
		StartedAt: at, Scheduled: at.Add(-7 * time.Second),
		Env: bench.Env{Method: 1, Prompt: 1, Protocol: "openai_chat", Vantage: "home", Region: "eu", Lanes: 1, Clock: bench.ClockKernel},
		Phases: bench.Phases{
			DNS: 3 * ms, Connect: 11 * ms, TLS: 25 * ms, Setup: 41 * ms, FirstByte: 180 * ms,
		},
		FirstText: 250 * ms, LastText: 4250 * ms, Done: 4251 * ms,
		Chunks: 100, Deliveries: 98, Chars: 1400, Words: 240, FirstReadChars: 14,
		Gaps: bench.Gaps{P50: 40 * ms, P95: 52 * ms, Max: 90 * ms, Burstiness: -0.6, HasBurstiness: true},
		Usage: bench.Usage{
			Input: wire.Known(60), Cached: wire.Known(0), Output: wire.Known(301), Visible: wire.Known(301),
		},
		Finish: "length", ServedBy: model + "-2026", HTTPStatus: 200, Proto: "HTTP/1.1",
	}
}

// failed is a run that failed before it brought any text.
func failed(model string, at time.Time, kind wire.ErrorKind) bench.Sample {
	s := success(model, at)
	return bench.Sample{
		Pair: s.Pair, StartedAt: at, Scheduled: s.Scheduled, Env: s.Env, Phases: s.Phases,
		HTTPStatus: 500, Proto: "HTTP/1.1", Kind: kind, Detail: "upstream", FailedIn: bench.PhaseHeaders,
	}
}

// random is any run, with all instants on whole milliseconds, so that it comes
// back from the record exactly.
func random(rnd *rand.Rand, model string, at time.Time) bench.Sample {
	between := func(lo, hi int) time.Duration { return time.Duration(lo+rnd.IntN(hi-lo+1)) * ms }
	s := success(model, at)
	if rnd.IntN(8) == 0 {
		s = failed(model, at, wire.ErrorKind(1+rnd.IntN(7)))
		if s.Kind == wire.KindRateLimit {
			s.RetryAfter = time.Duration(rnd.IntN(90)) * time.Second
		}
		return s
	}
	s.Phases.DNS, s.Phases.Connect, s.Phases.TLS = between(0, 20), between(1, 80), between(2, 90)
	s.Phases.Setup = s.Phases.DNS + s.Phases.Connect + s.Phases.TLS + between(0, 2)
	s.Phases.FirstByte = between(20, 400)
	// R-7's 95th percentile lies at twentieths between values. With values 20 ms
	// apart it is a whole number, which no rounding can decide either way.
	s.FirstText = (s.Phases.FirstByte + between(20, 2000)).Truncate(20 * ms)
	s.LastText = s.FirstText + between(0, 9000)
	s.Done = s.LastText + between(0, 40)
	s.Chunks = 1 + rnd.IntN(300)
	s.Deliveries = 1 + rnd.IntN(s.Chunks)
	s.FirstReadChars = 1 + rnd.IntN(30)
	s.Chars = s.FirstReadChars + rnd.IntN(1500)
	s.Words = 1 + s.Chars/6
	s.Gaps = bench.Gaps{}
	if s.Chunks == 1 {
		s.LastText = s.FirstText
		s.Done = s.LastText + between(0, 40)
	} else {
		s.Gaps = bench.Gaps{P50: between(0, 50), P95: between(50, 200), Max: between(200, 3000)}
	}
	if s.Chunks >= 3 {
		s.Gaps.Burstiness, s.Gaps.HasBurstiness = float64(rnd.IntN(201)-100)/100, true
	}
	if s.Chunks >= bench.StallMinChunks && rnd.IntN(4) == 0 {
		s.Gaps.Stalls, s.Gaps.Stall = 1, min(between(450, 3000), (s.LastText-s.FirstText)/2).Truncate(ms)
	}
	s.Usage.Output = wire.Known(int64(3 + rnd.IntN(300)))
	s.Usage.Visible = s.Usage.Output
	switch rnd.IntN(8) {
	case 0: // reasons, and says how much
		s.Usage.Reasoning = wire.Known(rnd.Int64N(s.Usage.Output.N - 1))
		s.Usage.Visible = wire.Known(s.Usage.Output.N - s.Usage.Reasoning.N)
		s.FirstReason, s.ReasonChunks = between(1, int(s.FirstText/ms)), 1+rnd.IntN(50)
	case 1: // the provider does not tell
		s.Usage = bench.Usage{Output: wire.Known(int64(s.Chars / 4)), Estimated: true}
	case 2: // reasoning exceeds output
		s.Usage.Reasoning, s.Usage.Visible, s.Usage.Clamped = wire.Known(s.Usage.Output.N+5), wire.Known(0), true
	case 3: // the stream counts tokens itself
		s.FirstReadTokens = wire.Known(1 + rnd.Int64N(8))
	}
	switch rnd.IntN(10) {
	case 0: // no end marker
		s.EOF, s.Done = s.Done, 0
	case 1: // broke off after text
		s.Done = 0
		s.Kind, s.Detail, s.FailedIn = wire.KindNetwork, "reset", bench.PhaseStream
	}
	s.Noise.Noisy = rnd.IntN(12) == 0
	s.Noise.DelayMax = between(0, 5)
	return s
}
