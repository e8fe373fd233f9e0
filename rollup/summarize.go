package rollup

import (
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// Summarize computes the bucket [start, start+width) of a series from all its
// samples of that time, in any order. Samples of other series or times are the
// caller's mistake and are ignored.
//
// A failed run counts as a run and as an error of its kind, and its numbers
// enter no spread. Neither do those of a success that our own machine
// disturbed. Each spread has its own N, as a success need not have every number.
func Summarize(series bench.Series, start time.Time, width time.Duration, samples []bench.Sample) Bucket {
	start = start.UTC()
	end := start.Add(width)
	var y tally
	for i := range samples {
		s := &samples[i]
		if !s.StartedAt.Before(start) && s.StartedAt.Before(end) && s.Series() == series {
			r, _ := newRun(s)
			y.add(&r)
		}
	}
	return y.bucket(series, start, width)
}

// bucketOf is [Summarize] for the runs of a track, all of which are the bucket's.
func bucketOf(series bench.Series, start time.Time, width time.Duration, runs []run) Bucket {
	var y tally
	for i := range runs {
		y.add(&runs[i])
	}
	return y.bucket(series, start, width)
}

// A tally is a bucket in the making.
type tally struct {
	samples, ok, noisy   int
	errors               Errors
	decode, hybrid, ttft []float64
}

func (y *tally) add(r *run) {
	y.samples++
	if !r.ok() {
		y.errors.count(r.kind)
		return
	}
	y.ok++
	if r.noisy {
		y.noisy++
		return
	}
	if r.decode != 0 {
		y.decode = append(y.decode, r.decode)
	}
	if r.hybrid != 0 {
		y.hybrid = append(y.hybrid, r.hybrid)
	}
	if r.ttft != 0 {
		y.ttft = append(y.ttft, r.ttft)
	}
}

func (y *tally) bucket(series bench.Series, start time.Time, width time.Duration) Bucket {
	b := Bucket{
		Series: series, Start: start, Width: width,
		Samples: y.samples, OK: y.ok, Noisy: y.noisy, Errors: y.errors,
		Decode: newSpread(y.decode), Hybrid: newSpread(y.hybrid), TTFT: newSpread(y.ttft),
	}
	if width == Day {
		for _, v := range y.decode {
			b.DecodeHist.Add(v)
		}
		for _, v := range y.ttft {
			b.TTFTHist.Add(v)
		}
	}
	return b
}

// count counts a failure by its kind. There is no eighth kind to count.
func (e *Errors) count(kind wire.ErrorKind) {
	if int(kind) < len(e) {
		e[kind]++
	}
}

// Total returns the number of failures.
func (e Errors) Total() int {
	n := 0
	for _, k := range e {
		n += k
	}
	return n
}

// newSpread sorts values and digests them. As it adds them up in ascending
// order, the order in which they came changes no bit of the result.
func newSpread(values []float64) Spread {
	if len(values) == 0 {
		return Spread{}
	}
	slices.Sort(values)
	s := Spread{N: len(values), Avg: mean(values), Min: values[0], Max: values[len(values)-1]}
	s.P50, _ = stats.QuantileSorted(values, 0.50)
	s.P95, _ = stats.QuantileSorted(values, 0.95)
	return s
}

// mean returns the arithmetic mean of values, which must not be empty.
func mean(values []float64) float64 {
	var sum float64
	for _, v := range values {
		sum += v
	}
	return sum / float64(len(values))
}

// milliseconds returns d in milliseconds.
func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
