package data

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// bigDay is a day of the big workload: 40 models every 10 minutes, 60 every
// hour, 20 every six hours, 7,280 samples in all.
func bigDay(d int) []bench.Sample {
	rnd := rand.New(rand.NewPCG(uint64(d), 99))
	var samples []bench.Sample
	begin := t0.Add(time.Duration(d) * day)
	for series := range 120 {
		every := 10 * time.Minute
		if series >= 100 {
			every = 6 * time.Hour
		} else if series >= 40 {
			every = time.Hour
		}
		for at := begin; at.Before(begin.Add(day)); at = at.Add(every) {
			jitter := time.Duration(rnd.Int64N(int64(every))).Truncate(ms)
			samples = append(samples, random(rnd, fmt.Sprint("model-", series), at.Add(jitter)))
		}
	}
	return samples
}

// bigRecord is a closed record of so many days of the big workload.
func bigRecord(b *testing.B, days int) *Store {
	b.Helper()
	s := newRecord(b)
	for d := range days {
		ingest(b, s, bigDay(d)...)
	}
	if _, err := s.Rollup(b.Context(), t0.Add(time.Duration(days)*day)); err != nil {
		b.Fatal(err)
	}
	return s
}

func BenchmarkIngest(b *testing.B) {
	s := newRecord(b)
	samples := 0
	for i := 0; b.Loop(); i++ {
		samples += ingest(b, s, bigDay(i)...).New
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(samples), "µs/sample")
}

// BenchmarkIngestRun ingests one run of 50 samples into a day half full.
func BenchmarkIngestRun(b *testing.B) {
	s := newRecord(b)
	ingest(b, s, bigDay(0)[:3600]...)
	rnd := rand.New(rand.NewPCG(1, 1))
	for i := 0; b.Loop(); i++ {
		var run []bench.Sample
		for series := range 50 {
			run = append(run, random(rnd, fmt.Sprint("model-", series), t0.Add(20*time.Hour+time.Duration(i)*ms)))
		}
		ingest(b, s, run...)
	}
}

func BenchmarkRollupDay(b *testing.B) {
	s := newRecord(b)
	for i := 0; b.Loop(); i++ {
		b.StopTimer()
		ingest(b, s, bigDay(i)...)
		b.StartTimer()
		if _, err := s.Rollup(b.Context(), t0.Add(time.Duration(i+1)*day)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSamples(b *testing.B) {
	s := bigRecord(b, 4)
	n := 0
	for b.Loop() {
		n += len(all(b, s))
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(n), "µs/sample")
}

func BenchmarkHourly(b *testing.B) {
	s := bigRecord(b, 8)
	n := 0
	for b.Loop() {
		n += len(storedBuckets(b, s, rollup.Hour))
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(n), "µs/bucket")
}

func BenchmarkAssemble(b *testing.B) {
	s := bigRecord(b, 8)
	path := filepath.Join(b.TempDir(), "streamgauge.sqlite")
	for b.Loop() {
		if err := s.Assemble(b.Context(), path, Download{}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e6/float64(b.N)/(8*7280), "µs/sample")
}

func BenchmarkCheck(b *testing.B) {
	s := bigRecord(b, 8)
	for b.Loop() {
		if findings, err := s.Check(b.Context()); err != nil || len(findings) > 0 {
			b.Fatal(findings, err)
		}
	}
}
