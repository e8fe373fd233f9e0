package rollup

import (
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// How buffering probes are read, beside the limits of [stats.JudgeBuffering].
const (
	BufferBeside  = 10 * time.Minute // a probe is held against the nearest ordinary success no further off
	BufferRecent  = 28 * Day         // probes this long before the newest ordinary run are forgotten
	minLongTokens = 4 * bench.BufferProbeTokens
)

// Buffered reports whether the probes say that the endpoint holds its answers
// back until most of them is made. Then no rate of it means anything, and the
// track has none: its decode, hybrid and stall-free rates and what rests on them
// are absent with the reason [Buffered]. Times and the end-to-end rate stand.
func (t *Track) Buffered() bool { return t.Buffering.Verdict == stats.BufferBuffered }

// needsStream reports whether the metric means nothing for a buffered stream.
func (m Metric) needsStream() bool {
	return m == DecodeTPS || m == HybridTPS || m == StallFreeTPS || m.Tokens() > 0
}

// judgeBuffering holds each probe against the ordinary success next to it.
func judgeBuffering(samples, probes []bench.Sample) stats.Buffering {
	var long []*bench.Sample
	var newest time.Time
	for i := range samples {
		s := &samples[i]
		if s.StartedAt.After(newest) {
			newest = s.StartedAt
		}
		if tellsLength(s) && s.OK() && !(s.Usage.Output.Known && s.Usage.Output.N < minLongTokens) {
			long = append(long, s)
		}
	}
	byTime := func(a, b *bench.Sample) int { return a.StartedAt.Compare(b.StartedAt) }
	slices.SortStableFunc(long, byTime)

	var short []*bench.Sample
	for i := range probes {
		if s := &probes[i]; tellsLength(s) && newest.Sub(s.StartedAt) <= BufferRecent {
			short = append(short, s)
		}
	}
	slices.SortStableFunc(short, byTime)

	var contrasts []stats.LengthContrast
	for _, s := range short {
		l := nearest(long, s.StartedAt)
		if l == nil {
			continue
		}
		contrasts = append(contrasts, stats.LengthContrast{
			LongFirst: msOrZero(l.TTFO()), LongEnd: msOrZero(l.E2E()),
			ShortFirst: msOrZero(s.TTFO()), ShortEnd: msOrZero(s.E2E()),
		})
	}
	return stats.JudgeBuffering(contrasts)
}

// tellsLength reports whether a sample has a first output and an end of its own.
// A probe of a model that thinks aloud may spend all its tokens on that, which
// is a failure of an ordinary run and none of a probe.
func tellsLength(s *bench.Sample) bool {
	_, first := s.TTFO()
	_, end := s.E2E()
	thought := s.Env.Short && s.Kind == wire.KindMalformed && s.Detail == wire.DetailNoVisibleOutput
	return (s.OK() || thought) && first.OK() && end.OK() && !s.Noise.Noisy
}

// nearest returns the sample that began nearest to at, within BufferBeside, of
// samples in order of time; nil if there is none.
func nearest(samples []*bench.Sample, at time.Time) *bench.Sample {
	i, _ := slices.BinarySearchFunc(samples, at, func(s *bench.Sample, at time.Time) int { return s.StartedAt.Compare(at) })
	var best *bench.Sample
	for _, s := range samples[max(0, i-1):min(len(samples), i+1)] {
		if off := s.StartedAt.Sub(at).Abs(); off <= BufferBeside && (best == nil || off < best.StartedAt.Sub(at).Abs()) {
			best = s
		}
	}
	return best
}

// withhold takes the rates out of a run, and out of what is said of it.
func (r *run) withhold(o *outcome) {
	r.decode, r.hybrid, r.stallFree = 0, 0, 0
	o.noDecode = Buffered
}

// withheld returns a bucket without rates.
func withheld(b Bucket) Bucket {
	b.Decode, b.Hybrid, b.DecodeHist = Spread{}, Spread{}, stats.Histogram{}
	return b
}

// withhold says of every rate of the summary why there is none.
func (s *Summary) withhold() {
	for _, d := range []*Distribution{&s.Decode, &s.Hybrid, &s.StallFree} {
		d.Quantiles = quantilesOf(func(float64) Estimate { return absent(Buffered) })
		d.WithTimeouts = d.Quantiles
	}
}
