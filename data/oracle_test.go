package data

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup"
)

// An oracle computes what a record must hold from the samples alone, with
// nothing of the code under test but the per-sample formulas.
type oracle struct {
	samples map[string]bench.Sample // by series and millisecond
}

func newOracle(samples []bench.Sample) *oracle {
	o := &oracle{samples: map[string]bench.Sample{}}
	for _, s := range samples {
		key := fmt.Sprint(seriesText(s.Series()), s.StartedAt.UnixMilli())
		if old, ok := o.samples[key]; ok {
			a, _ := json.Marshal(old)
			b, _ := json.Marshal(s)
			if bytes.Compare(a, b) <= 0 {
				continue
			}
		}
		o.samples[key] = s
	}
	return o
}

// lines describes the buckets of one width that lie in [from, to).
func (o *oracle) lines(width time.Duration, from, to time.Time) []string {
	groups := map[string][]bench.Sample{}
	for _, s := range o.samples {
		start := time.Unix(s.StartedAt.Unix()/int64(width.Seconds())*int64(width.Seconds()), 0).UTC()
		if start.Before(from) || !start.Before(to) {
			continue
		}
		key := start.Format(time.RFC3339) + " " + seriesText(s.Series())
		groups[key] = append(groups[key], s)
	}
	var lines []string
	for key, group := range groups {
		var ok, noisy int
		errors := map[string]int{}
		var decode, hybrid, ttft []float64
		for _, s := range group {
			if s.Kind != wire.KindNone {
				errors[s.Kind.String()]++
				continue
			}
			ok++
			if s.Noise.Noisy {
				noisy++
				continue
			}
			if v, why := s.DecodeTPS(); why.OK() {
				decode = append(decode, v)
			}
			if v, path := s.HybridTPS(); path != bench.PathMalformed {
				hybrid = append(hybrid, v)
			}
			if v, why := s.TTFT(); why.OK() {
				ttft = append(ttft, float64(v)/float64(time.Millisecond))
			}
		}
		line := fmt.Sprintf("%s: %d ok %d noisy %d errors %v decode %s hybrid %s ttft %s",
			key, len(group), ok, noisy, errors, digest(decode, 100), digest(hybrid, 100), digest(ttft, 1))
		if width == rollup.Day {
			line += " hist " + logBuckets(decode) + " " + logBuckets(ttft)
		}
		lines = append(lines, line)
	}
	sort.Strings(lines)
	return lines
}

// digest is the spread of values in units of 1/scale.
func digest(values []float64, scale float64) string {
	if len(values) == 0 {
		return "none"
	}
	sort.Float64s(values)
	var sum float64
	for _, v := range values {
		sum += v
	}
	r7 := func(q float64) float64 {
		h := q * float64(len(values)-1)
		i := int(h)
		if i == len(values)-1 {
			return values[i]
		}
		return values[i] + (h-float64(i))*(values[i+1]-values[i])
	}
	unit := func(v float64) string { return fmt.Sprintf("%.0f", math.Round(v*scale)) }
	return fmt.Sprintf("%d:%s,%s,%s,%s,%s", len(values), unit(sum/float64(len(values))), unit(values[0]),
		unit(values[len(values)-1]), unit(r7(0.5)), unit(r7(0.95)))
}

// logBuckets counts values by ceil(ln v/ln 1.02).
func logBuckets(values []float64) string {
	counts := map[int]int{}
	for _, v := range values {
		counts[int(math.Ceil(math.Log(v)/math.Log(1.02)))]++
	}
	text := ""
	for _, i := range slices.Sorted(maps.Keys(counts)) {
		text += fmt.Sprintf("[%d %d]", i, counts[i])
	}
	return text
}

// bucketLines describes buckets in the oracle's words.
func bucketLines(t testing.TB, buckets []rollup.Bucket) []string {
	t.Helper()
	spread := func(s rollup.Spread, scale float64) string {
		if s.N == 0 {
			return "none"
		}
		unit := func(v float64) string { return fmt.Sprintf("%.0f", math.Round(v*scale)) }
		return fmt.Sprintf("%d:%s,%s,%s,%s,%s", s.N, unit(s.Avg), unit(s.Min), unit(s.Max), unit(s.P50), unit(s.P95))
	}
	var lines []string
	for _, b := range buckets {
		errors := map[string]int{}
		for kind, n := range b.Errors {
			if n > 0 {
				errors[wire.ErrorKind(kind).String()] = n
			}
		}
		line := fmt.Sprintf("%s %s: %d ok %d noisy %d errors %v decode %s hybrid %s ttft %s",
			b.Start.Format(time.RFC3339), seriesText(b.Series), b.Samples, b.OK, b.Noisy, errors,
			spread(b.Decode, 100), spread(b.Hybrid, 100), spread(b.TTFT, 1))
		if b.Width == rollup.Day {
			line += " hist "
			for _, bucket := range b.DecodeHist.Buckets() {
				line += fmt.Sprint("[", bucket.Index, bucket.N, "]")
			}
			line += " "
			for _, bucket := range b.TTFTHist.Buckets() {
				line += fmt.Sprint("[", bucket.Index, bucket.N, "]")
			}
		}
		lines = append(lines, line)
	}
	sort.Strings(lines)
	return lines
}

// sampleLines describes samples, in an order of their own.
func sampleLines(samples []bench.Sample) []string {
	lines := make([]string, 0, len(samples))
	for _, s := range samples {
		text, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		lines = append(lines, s.StartedAt.Format(time.RFC3339Nano)+" "+string(text))
	}
	slices.SortFunc(lines, func(a, b string) int { return cmp.Compare(a, b) })
	return lines
}

// storedBuckets reads every bucket of a width.
func storedBuckets(t testing.TB, s *Store, width time.Duration) []rollup.Bucket {
	t.Helper()
	var buckets []rollup.Bucket
	for b, err := range s.buckets(t.Context(), width, time.Unix(0, 0), farFuture()) {
		if err != nil {
			t.Fatal(err)
		}
		buckets = append(buckets, b)
	}
	return buckets
}

// seriesText names a series in full.
func seriesText(s bench.Series) string {
	return fmt.Sprintf("%s %s %t", s.Pair, s.Vantage, s.Nonce)
}
