package rollup

import (
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
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
	b := Bucket{Series: series, Start: start, Width: width}
	var decode, hybrid, ttft []float64
	for i := range samples {
		s := &samples[i]
		if s.StartedAt.Before(start) || !s.StartedAt.Before(end) || s.Series() != series {
			continue
		}
		b.Samples++
		if !s.OK() {
			b.Errors.count(s)
			continue
		}
		b.OK++
		if s.Noise.Noisy {
			b.Noisy++
			continue
		}
		if tps, why := s.DecodeTPS(); why.OK() {
			decode = append(decode, tps)
		}
		if tps, path := s.HybridTPS(); path != bench.PathMalformed {
			hybrid = append(hybrid, tps)
		}
		if d, why := s.TTFT(); why.OK() {
			ttft = append(ttft, milliseconds(d))
		}
	}
	b.Decode, b.Hybrid, b.TTFT = newSpread(decode), newSpread(hybrid), newSpread(ttft)
	if width == Day {
		for _, v := range decode {
			b.DecodeHist.Add(v)
		}
		for _, v := range ttft {
			b.TTFTHist.Add(v)
		}
	}
	return b
}

// count counts a failed sample by its kind.
func (e *Errors) count(s *bench.Sample) {
	if int(s.Kind) < len(e) {
		e[s.Kind]++
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
