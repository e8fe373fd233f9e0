package rollup

import (
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
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

// Summarize computes the bucket [start, start+width) of a series from all its
// samples of that time, in any order. Samples of other series or times are the
// caller's mistake and are ignored.
func Summarize(series bench.Series, start time.Time, width time.Duration, samples []bench.Sample) Bucket {
	panic("being written")
}

var _ = wire.KindNone
