package rollup

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// BenchmarkPublish digests what a site shows of 120 series over 60 days of raw
// samples, measured every 10, 60 and 360 minutes: all windows, charts, boards
// and the day's events.
func BenchmarkPublish(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	var histories []History
	samples := 0
	for i := range 120 {
		s := series(fmt.Sprintf("provider-%d", i%12), fmt.Sprintf("model-%d", i))
		every := []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour}[i%3]
		h := History{Series: s, Every: every, Samples: simulated(random, s, 60, every, 20+float64(i))}
		samples += len(h.Samples)
		histories = append(histories, h)
	}
	for b.Loop() {
		var attempts []Attempt
		for i := range histories {
			for j := range histories[i].Samples {
				s := &histories[i].Samples[j]
				attempts = append(attempts, Attempt{s.StartedAt, s.Env.Vantage, s.Provider, s.Kind})
			}
		}
		faults := FindFaults(attempts)
		var tracks []*Track
		for _, h := range histories {
			tracks = append(tracks, NewTrack(h, faults))
		}
		for _, w := range Windows() {
			entries := Entries(tracks, w, now)
			for _, m := range BoardMetrics() {
				NewBoard(entries, m)
			}
			for _, t := range tracks {
				t.Line(DecodeTPS, w, now)
				t.Line(TTFT, w, now)
				t.Spectrum(DecodeTPS, w, 24, now)
			}
		}
		for _, t := range tracks {
			t.Strip(30, now)
			t.HourOfWeek(DecodeTPS, now)
			t.Anatomy(Window30d.Span(now))
		}
		Detect(nil, tracks, today.AddDate(0, 0, -1))
	}
	b.ReportMetric(float64(samples), "samples")
}

func BenchmarkSummarize(b *testing.B) {
	samples := simulated(rand.New(rand.NewPCG(1, 1)), alder, 1, 10*time.Minute, 50)
	for b.Loop() {
		Summarize(alder, today.AddDate(0, 0, -1), Day, samples)
	}
}
