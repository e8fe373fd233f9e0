package rollup

import (
	"math"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// The tests' day: a Wednesday.
var (
	today = time.Date(2026, 7, 15, 0, 0, 0, 0, time.UTC)
	now   = today.Add(9*time.Hour + 30*time.Minute)
	alder = bench.Series{Pair: bench.Pair{Provider: "estuary", Model: "alder"}, Vantage: "lab"}
)

// success returns a run of so many tokens per second after the first text, one
// token a chunk, 300 in all.
func success(s bench.Series, at time.Time, tps, ttftMS float64) bench.Sample {
	return answer(s, at, tps, ttftMS, 300)
}

// answer returns a run of n tokens, the first of them with the first text.
func answer(s bench.Series, at time.Time, tps, ttftMS float64, n int) bench.Sample {
	first := time.Duration(math.Round(ttftMS * 1e6))
	last := first + time.Duration(math.Round(float64(n-1)/tps*1e9))
	return bench.Sample{
		Pair: s.Pair, StartedAt: at,
		Env:       bench.Env{Method: 1, Prompt: 1, Protocol: "openai_chat", Vantage: s.Vantage, Nonce: s.Nonce, Lanes: 1},
		FirstText: first, LastText: last, Done: last,
		Chunks: n, Chars: 4 * n, Words: n, FirstReadChars: 4, FirstReadTokens: wire.Known(1),
		Usage: bench.Usage{Output: wire.Known(int64(n)), Visible: wire.Known(int64(n))},
	}
}

// failure returns a run that failed before any text.
func failure(s bench.Series, at time.Time, kind wire.ErrorKind) bench.Sample {
	return bench.Sample{
		Pair: s.Pair, StartedAt: at, Kind: kind,
		Env: bench.Env{Method: 1, Prompt: 1, Protocol: "openai_chat", Vantage: s.Vantage, Nonce: s.Nonce, Lanes: 1},
	}
}

// days returns perDay runs, evenly spaced, on each of the n whole days before
// today; rate says how fast they are.
func days(s bench.Series, n, perDay int, rate func(day, run int) float64) []bench.Sample {
	var samples []bench.Sample
	for d := range n {
		start := today.AddDate(0, 0, d-n)
		for i := range perDay {
			at := start.Add(time.Duration(i) * Day / time.Duration(perDay))
			samples = append(samples, success(s, at, rate(d, i), 400))
		}
	}
	return samples
}

func track(s bench.Series, every time.Duration, samples []bench.Sample) *Track {
	return NewTrack(History{Series: s, Every: every, Samples: samples}, Faults{})
}

func series(provider, model string) bench.Series {
	return bench.Series{Pair: bench.Pair{Provider: provider, Model: model}, Vantage: "lab"}
}

// near fails unless got is within a relative tolerance of want.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) {
		t.Errorf("%s = %v; want %v", what, got, want)
	}
}
