package rollup

import (
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// The widths of buckets. Both begin at whole multiples of UTC time.
const (
	Hour = time.Hour
	Day  = 24 * time.Hour
)

// A Bucket is one series in one hour or day, as it is kept for ever. It is
// computed from the raw samples, once they are all there, and never from
// another bucket: a percentile of percentiles is no percentile.
type Bucket struct {
	Series bench.Series
	Start  time.Time // UTC, a multiple of Width
	Width  time.Duration

	Samples int // all runs, failed ones too
	OK      int
	Noisy   int // successes left out of the spreads, as our own machine disturbed them
	Errors  Errors

	Decode Spread // decode rate, tokens/s, of successes that have one
	Hybrid Spread // the published hybrid rate, tokens/s
	TTFT   Spread // ms

	DecodeHist stats.Histogram // daily buckets only
	TTFTHist   stats.Histogram // daily buckets only
}

// Errors counts failures by kind; the index is the kind's number.
type Errors [8]int

// A Spread is what a bucket keeps of one number. With N = 0 the rest is
// meaningless. Percentiles are R-7.
type Spread struct {
	N                       int
	Avg, Min, Max, P50, P95 float64
}

// A Total is several buckets of one series added up: what a window too long for
// raw samples is made of. Counts and extremes are exact, averages are weighted
// by count, and percentiles come from the merged histograms, within 1 %.
type Total struct {
	From, To time.Time // first start and last end
	Buckets  int       // buckets with a run in them

	Samples int
	OK      int
	Noisy   int
	Errors  Errors

	Decode Range // tokens/s
	Hybrid Range // tokens/s
	TTFT   Range // ms

	DecodeHist stats.Histogram
	TTFTHist   stats.Histogram
}

// A Range is what can be added up of a [Spread] without its values. With N = 0
// the rest is meaningless.
type Range struct {
	N             int
	Avg, Min, Max float64
}

// Add adds a bucket, which may come in any order but only once.
func (t *Total) Add(b Bucket) {
	end := b.Start.Add(b.Width)
	one := Total{
		From: b.Start, To: end,
		Samples: b.Samples, OK: b.OK, Noisy: b.Noisy, Errors: b.Errors,
		Decode: b.Decode.Range(), Hybrid: b.Hybrid.Range(), TTFT: b.TTFT.Range(),
		DecodeHist: b.DecodeHist, TTFTHist: b.TTFTHist,
	}
	if b.Samples > 0 {
		one.Buckets = 1
	}
	t.Merge(one)
}

// Merge adds another total of other buckets. The order of merging changes no
// count and no percentile, and an average only in its last bits.
func (t *Total) Merge(other Total) {
	if t.From.IsZero() || !other.From.IsZero() && other.From.Before(t.From) {
		t.From = other.From
	}
	if other.To.After(t.To) {
		t.To = other.To
	}
	t.Buckets += other.Buckets
	t.Samples += other.Samples
	t.OK += other.OK
	t.Noisy += other.Noisy
	for kind, n := range other.Errors {
		t.Errors[kind] += n
	}
	t.Decode = t.Decode.merge(other.Decode)
	t.Hybrid = t.Hybrid.merge(other.Hybrid)
	t.TTFT = t.TTFT.merge(other.TTFT)
	t.DecodeHist.Merge(&other.DecodeHist)
	t.TTFTHist.Merge(&other.TTFTHist)
}

// Range returns the part of s that can be added up.
func (s Spread) Range() Range { return Range{N: s.N, Avg: s.Avg, Min: s.Min, Max: s.Max} }

func (r Range) merge(other Range) Range {
	switch {
	case other.N == 0:
		return r
	case r.N == 0:
		return other
	}
	n := r.N + other.N
	return Range{
		N: n,
		// This form leaves the average of equal parts exactly where it is.
		Avg: r.Avg + (other.Avg-r.Avg)*float64(other.N)/float64(n),
		Min: min(r.Min, other.Min),
		Max: max(r.Max, other.Max),
	}
}

// SuccessRate returns OK ÷ Samples. It reports false for a bucket without runs.
func (b Bucket) SuccessRate() (rate float64, ok bool) {
	if b.Samples == 0 {
		return 0, false
	}
	return float64(b.OK) / float64(b.Samples), true
}
