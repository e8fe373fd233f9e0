package rollup

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

func TestSummarize(t *testing.T) {
	noisy := success(alder, today.Add(20*time.Minute), 5, 9000)
	noisy.Noise.Noisy = true
	buffered := success(alder, today.Add(30*time.Minute), 1e6, 600) // all within 100 ms: no decode rate
	cut := success(alder, today.Add(50*time.Minute), 40, 450)       // interrupted: its numbers enter nothing
	cut.Kind, cut.Done = wire.KindTimeout, 0
	other := alder
	other.Nonce = true
	samples := []bench.Sample{
		success(alder, today, 50, 400), // the first instant is in
		success(alder, today.Add(10*time.Minute), 60, 500),
		noisy, buffered, cut,
		failure(alder, today.Add(40*time.Minute), wire.KindRateLimit),
		success(alder, today.Add(Hour), 99, 999),       // the last is not
		success(other, today.Add(time.Minute), 99, 99), // another series
	}
	b := Summarize(alder, today, Hour, samples)
	if b.Samples != 6 || b.OK != 4 || b.Noisy != 1 {
		t.Errorf("samples, ok, noisy = %d, %d, %d; want 6, 4, 1", b.Samples, b.OK, b.Noisy)
	}
	if want := (Errors{wire.KindTimeout: 1, wire.KindRateLimit: 1}); b.Errors != want || want.Total() != 2 {
		t.Errorf("errors = %v; want %v", b.Errors, want)
	}
	// Two decode rates, 50 and 60: p95 = 50 + 0.95*10. Three times to first token.
	if b.Decode.N != 2 || b.TTFT.N != 3 {
		t.Errorf("n = %d, %d; want 2, 3", b.Decode.N, b.TTFT.N)
	}
	near(t, "decode p95", b.Decode.P95, 59.5, 1e-9)
	near(t, "decode avg", b.Decode.Avg, 55, 1e-9)
	near(t, "ttft p50", b.TTFT.P50, 500, 1e-12)
	near(t, "ttft max", b.TTFT.Max, 600, 1e-12)
	if b.DecodeHist.N() != 0 {
		t.Error("an hour keeps a histogram")
	}
	day := Summarize(alder, today, Day, samples)
	if day.DecodeHist.N() != 3 || day.TTFTHist.N() != 4 {
		t.Errorf("histograms of the day hold %d and %d; want 3 and 4", day.DecodeHist.N(), day.TTFTHist.N())
	}
	if empty := Summarize(alder, today.Add(Day), Day, samples); empty.Samples != 0 || empty.Decode.N != 0 {
		t.Errorf("empty day = %+v", empty)
	}
}

// TestSummarizeOrder checks that the order of samples changes no bit.
func TestSummarizeOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	samples := simulated(random, alder, 1, 10*time.Minute, 60)
	want := Summarize(alder, today.Add(-Day), Day, samples)
	for range 20 {
		random.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		if got := Summarize(alder, today.Add(-Day), Day, samples); !reflect.DeepEqual(got, want) {
			t.Fatalf("shuffled: %+v\nwant %+v", got, want)
		}
	}
	if want.OK < 100 {
		t.Fatalf("only %d samples tried", want.OK)
	}
}

// TestTotal checks that adding up days equals summarising them at once, in
// whatever order and grouping.
func TestTotal(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	samples := simulated(random, alder, 9, Hour, 60)
	var buckets []Bucket
	for d := range 9 {
		buckets = append(buckets, Summarize(alder, today.AddDate(0, 0, d-9), Day, samples))
	}
	sum := func(buckets []Bucket) Total {
		var total Total
		for _, b := range buckets {
			total.Add(b)
		}
		return total
	}
	want := sum(buckets)
	if want.Samples != len(samples) || want.Buckets != 9 || !want.To.Equal(today) || want.Decode.N == 0 {
		t.Fatalf("total = %+v", want)
	}
	for range 20 {
		random.Shuffle(len(buckets), func(i, j int) { buckets[i], buckets[j] = buckets[j], buckets[i] })
		cut := random.IntN(len(buckets) + 1)
		left, right := sum(buckets[:cut]), sum(buckets[cut:])
		left.Merge(right)
		for _, got := range []Total{sum(buckets), left} {
			near(t, "average", got.Decode.Avg, want.Decode.Avg, 1e-12)
			got.Decode.Avg, got.Hybrid.Avg, got.TTFT.Avg = want.Decode.Avg, want.Hybrid.Avg, want.TTFT.Avg
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("merged: %+v\nwant %+v", got, want)
			}
		}
	}
	var rates []float64
	for i := range samples {
		if v, why := samples[i].DecodeTPS(); why.OK() && samples[i].OK() && !samples[i].Noise.Noisy {
			rates = append(rates, v)
		}
	}
	slices.Sort(rates)
	near(t, "average", want.Decode.Avg, mean(rates), 1e-12)
	got, _ := want.DecodeHist.Quantile(0.5)
	near(t, "median of the merged histogram", got, rates[(len(rates)-1)/2], 0.0100)
}
