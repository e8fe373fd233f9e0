package rollup

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

func TestWindowSpan(t *testing.T) {
	for _, tt := range []struct {
		w        Window
		from, to time.Time
	}{
		{Window24h, now.Add(-24 * time.Hour), now},
		{Window7d, today.AddDate(0, 0, -7), today},
		{Window30d, today.AddDate(0, 0, -30), today},
		{Window1y, today.AddDate(0, 0, -365), today},
	} {
		// The caller's zone must not move the days.
		zone := time.FixedZone("", -11*3600)
		if got := tt.w.Span(now.In(zone)); !got.From.Equal(tt.from) || !got.To.Equal(tt.to) {
			t.Errorf("%s = %v to %v; want %v to %v", tt.w, got.From, got.To, tt.from, tt.to)
		}
	}
}

func TestSummaryMinimum(t *testing.T) {
	for _, tt := range []struct {
		n             int
		p10, p50, p95 bench.Reason
		interval      bool // of the median
	}{
		{0, NoRuns, NoRuns, NoRuns, false},
		{4, TooFewRuns, TooFewRuns, TooFewRuns, false},
		{5, TooFewRuns, "", TooFewRuns, false},
		{6, TooFewRuns, "", TooFewRuns, true},
		{19, TooFewRuns, "", TooFewRuns, true},
		{20, "", "", "", true},
	} {
		var samples []bench.Sample
		for i := range tt.n {
			samples = append(samples, success(alder, now.Add(-time.Duration(i+1)*time.Minute), 50+float64(i), 400))
		}
		s := track(alder, time.Minute, samples).Summarize(Window24h, now)
		d := s.Decode
		if d.N != tt.n || d.P10.Why != tt.p10 || d.P50.Why != tt.p50 || d.P95.Why != tt.p95 || d.P50.HasInterval != tt.interval {
			t.Errorf("n = %d: %+v", tt.n, d)
		}
		if tt.n > 0 && (d.Min < 49.9 || d.Max > 50+float64(tt.n)) {
			t.Errorf("n = %d: range %v..%v", tt.n, d.Min, d.Max)
		}
	}
}

// TestTimeouts checks that runs cut off by the limit rank as the slowest.
func TestTimeouts(t *testing.T) {
	var samples []bench.Sample
	for i := range 15 {
		samples = append(samples, success(alder, now.Add(-time.Duration(i+1)*time.Minute), 10+float64(i), 100*float64(i+1)))
	}
	for i := range 5 {
		samples = append(samples, failure(alder, now.Add(-time.Duration(i+30)*time.Minute), wire.KindTimeout))
	}
	late := success(alder, now.Add(-time.Hour), 1, 50) // cut off, but long after its first text
	late.Kind, late.Done = wire.KindTimeout, 0
	samples = append(samples, late)
	s := track(alder, time.Minute, samples).Summarize(Window24h, now)

	// 100..1500 ms: the median of the successes is 800. With the late run's 50 ms
	// and 5 beyond the limit, the median of 21 is the 11th: 1000 ms.
	near(t, "ttft p50", s.TTFT.P50.Value, 800, 1e-9)
	near(t, "ttft p50 with timeouts", s.TTFT.WithTimeouts.P50.Value, 1000, 1e-9)
	if p95 := s.TTFT.WithTimeouts.P95; !p95.OK() || !p95.Above || p95.Value != 120_000 {
		t.Errorf("ttft p95 with timeouts = %+v; want above 120 s", p95)
	}
	// Rates 10..24: the median is 17. With 6 runs slower than any, that of 21 is
	// the 5th fastest of the 15 from below: 14.
	near(t, "decode p50", s.Decode.P50.Value, 17, 1e-8)
	near(t, "decode p50 with timeouts", s.Decode.WithTimeouts.P50.Value, 14, 1e-8)
	if p10 := s.Decode.WithTimeouts.P10; p10.Why != TimedOut {
		t.Errorf("decode p10 with timeouts = %+v; want %s", p10, TimedOut)
	}
	if s.TTFT.Timeouts != 5 || s.TTFT.Late != 1 || s.Decode.Timeouts != 6 || s.Decode.Late != 0 {
		t.Errorf("timeouts = %d and %d late, %d and %d; want 5 and 1, 6 and 0", s.TTFT.Timeouts, s.TTFT.Late, s.Decode.Timeouts, s.Decode.Late)
	}
	// The histogram says the same of what lies beyond it.
	for m, want := range map[Metric]int{TTFT: 5, DecodeTPS: 6, E2E: 6} {
		if got := track(alder, time.Minute, samples).Spectrum(m, Window24h, 12, now).Timeouts; got != want {
			t.Errorf("%s: %d timeouts beyond the histogram; want %d", m, got, want)
		}
	}
}

// TestTimeoutsBeforeTheLimit: a connection that did not come about within 30 s,
// or a server that gave up by itself, did not take longer than 120 s.
func TestTimeoutsBeforeTheLimit(t *testing.T) {
	var samples []bench.Sample
	for i := range 20 {
		samples = append(samples, success(alder, now.Add(-time.Duration(i+1)*time.Minute), 50, 100*float64(i+1)))
	}
	for i, detail := range []wire.Detail{bench.DetailDialTimeout, wire.DetailProviderSlow} {
		s := failure(alder, now.Add(-time.Duration(i+30)*time.Minute), wire.KindTimeout)
		s.Detail = detail
		samples = append(samples, s)
	}
	s := track(alder, time.Minute, samples).Summarize(Window24h, now)
	if p95 := s.TTFT.WithTimeouts.P95; s.TTFT.Timeouts != 0 || p95.Above || p95 != s.TTFT.P95 {
		t.Errorf("%d timeouts, p95 with them %+v; want none, and %+v", s.TTFT.Timeouts, p95, s.TTFT.P95)
	}
	if s.Reliability.Counts.Timeout != 2 {
		t.Errorf("failures by timeout = %d; want 2", s.Reliability.Counts.Timeout)
	}
}

// TestSummaryYear checks that a window of buckets agrees with one of samples.
func TestSummaryYear(t *testing.T) {
	samples := days(alder, 100, 24, func(day, run int) float64 { return 40 + 40*math.Mod(float64(day*24+run)*math.Phi, 1) })
	samples = append(samples, failure(alder, today.Add(-2*Hour), wire.KindTimeout), failure(alder, today.Add(-80*Day), wire.KindAuth))
	exact := track(alder, Hour, samples).Summarize(Window1y, now)

	var kept []bench.Sample
	for _, s := range samples {
		if !s.StartedAt.Before(today.AddDate(0, 0, -60)) {
			kept = append(kept, s)
		}
	}
	h := History{Series: alder, Every: Hour, Samples: kept}
	for d := -100; d < 0; d++ {
		h.Days = append(h.Days, Summarize(alder, today.AddDate(0, 0, d), Day, samples))
	}
	got := NewTrack(h, Faults{}).Summarize(Window1y, now)
	if exact.Bucketed || !got.Bucketed || !got.Decode.Approximate {
		t.Errorf("bucketed = %v, %v", exact.Bucketed, got.Bucketed)
	}
	if got.Runs != exact.Runs || got.OK != exact.OK || got.Days != exact.Days || got.Days != 100 || got.Decode.N != exact.Decode.N {
		t.Errorf("runs %d, ok %d, days %d, n %d; want %d, %d, %d, %d",
			got.Runs, got.OK, got.Days, got.Decode.N, exact.Runs, exact.OK, exact.Days, exact.Decode.N)
	}
	near(t, "avg", got.Decode.Avg, exact.Decode.Avg, 1e-12)
	near(t, "p10", got.Decode.P10.Value, exact.Decode.P10.Value, 0.011)
	near(t, "p50", got.Decode.P50.Value, exact.Decode.P50.Value, 0.011)
	near(t, "p90", got.Decode.WithTimeouts.P90.Value, exact.Decode.WithTimeouts.P90.Value, 0.011)
	near(t, "ttft p95", got.TTFT.P95.Value, exact.TTFT.P95.Value, 0.011)
	if got.Hybrid.N != exact.Hybrid.N || got.Hybrid.P50.Why != NotKept || got.E2E.P50.Why != NotKept {
		t.Errorf("hybrid = %+v; want its count, and percentiles not kept", got.Hybrid)
	}
	if got.Reliability.Counts != exact.Reliability.Counts {
		t.Errorf("counts = %+v; want %+v", got.Reliability.Counts, exact.Reliability.Counts)
	}
	near(t, "availability", got.Reliability.Availability.Value, exact.Reliability.Availability.Value, 0.001)
	if want := today.AddDate(0, 0, -60); !got.Reliability.OutagesSince.Equal(want) {
		t.Errorf("outages since %v; want %v", got.Reliability.OutagesSince, want)
	}
}

func TestSummaryProvisional(t *testing.T) {
	var samples []bench.Sample
	for i := range 8 {
		samples = append(samples, success(alder, today.Add(time.Duration(i)*Hour), 50, 400))
	}
	tr := track(alder, Hour, samples)
	for _, w := range Windows() {
		s := tr.Summarize(w, now)
		if s.Provisional != (w != Window24h) || s.Runs != 8 || !s.Decode.P50.OK() {
			t.Errorf("%s: provisional %v, runs %d, p50 %+v", w, s.Provisional, s.Runs, s.Decode.P50)
		}
	}
	// A day later, the whole day is the window.
	if s := tr.Summarize(Window7d, now.Add(Day)); s.Provisional || s.Runs != 8 || s.Freshness != stats.Stale {
		t.Errorf("a day later: %+v", s)
	}
}

func TestSummaryDelivery(t *testing.T) {
	at := func(i int) time.Time { return now.Add(-time.Duration(i+1) * time.Minute) }
	slow := success(alder, at(0), 15, 400) // gaps of 67 ms: the inter-token path
	chunky := success(alder, at(1), 50, 400)
	chunky.Chunks = 50
	burst := success(alder, at(2), 1e6, 400)
	head := success(alder, at(3), 50, 400)
	head.FirstReadTokens, head.FirstReadChars = wire.Known(200), 800
	reasons := success(alder, at(4), 50, 400)
	reasons.FirstReason, reasons.ReasonChunks = 100*time.Millisecond, 3
	guessed := success(alder, at(5), 50, 400)
	guessed.Usage = bench.Usage{Output: wire.Known(300), Estimated: true}
	prompt := success(alder, at(6), 50, 400)
	prompt.Env.Prompt, prompt.Env.Protocol = 2, "ollama"
	s := track(alder, time.Minute, []bench.Sample{slow, chunky, burst, head, reasons, guessed, prompt}).Summarize(Window24h, now)
	d := s.Delivery
	d.Burstiness, d.StallRatio = Estimate{}, Estimate{}
	want := Delivery{
		N: 7, Smooth: 4, Chunky: 1, Burst: 2, Buffered: 1, HeadBurst: 1, Estimated: 1, Reasoned: 1,
		InterToken: 2, WallClock: 4, Malformed: 1,
	}
	if d != want {
		t.Errorf("delivery = %+v; want %+v", d, want)
	}
	if m := s.Mixed; !m.Any() || len(m.Prompts) != 2 || len(m.Protocols) != 2 || len(m.Methods) != 1 {
		t.Errorf("mixed = %+v", m)
	}
	near(t, "ttfo min", s.TTFO.Min, 100, 1e-12)
}

// TestSplit takes answers that grow from 301 to 421 tokens, start 50 ms later and
// come at 22 in place of 20 ms a token: 3290 ms = 50 + 2520 + 720.
func TestSplit(t *testing.T) {
	tr := track(alder, Day, []bench.Sample{
		answer(alder, today.AddDate(0, 0, -10), 50, 500, 301),
		answer(alder, today.AddDate(0, 0, -3), 1000.0/22, 550, 421),
	})
	d, ok := tr.Split(Window7d, now)
	if !ok {
		t.Fatal("no split")
	}
	near(t, "total", d.TotalMs, 3290, 1e-9)
	near(t, "start", d.StartMs, 50, 1e-9)
	near(t, "volume", d.VolumeMs, 2520, 1e-9)
	near(t, "speed", d.SpeedMs, 720, 1e-6)
	if _, ok := tr.Split(Window24h, now); ok {
		t.Error("a split of nothing")
	}
	// A prompt that asks for more makes longer answers, which is no news of the model.
	before, after := answer(alder, today.AddDate(0, 0, -10), 50, 500, 301), answer(alder, today.AddDate(0, 0, -3), 50, 500, 421)
	after.Env.Prompt = 2
	if d, ok := track(alder, Day, []bench.Sample{before, after}).Split(Window7d, now); ok {
		t.Errorf("another prompt is told as a change of the answers: %+v", d)
	}
}

// TestTrackOrder checks that the order of samples changes no bit of what is
// said of them.
func TestTrackOrder(t *testing.T) {
	random := rand.New(rand.NewPCG(13, 14))
	samples := simulated(random, alder, 12, Hour, 60)
	for i := range samples {
		samples[i].Env.Region = []string{"east", "west", "north"}[i%3]
	}
	want := track(alder, Hour, samples).Summarize(Window7d, now)
	for range 10 {
		random.Shuffle(len(samples), func(i, j int) { samples[i], samples[j] = samples[j], samples[i] })
		if got := track(alder, Hour, samples).Summarize(Window7d, now); !reflect.DeepEqual(got, want) {
			t.Fatalf("shuffled: %+v\nwant %+v", got, want)
		}
	}
	if want.Decode.N < 100 || len(want.Mixed.Regions) != 3 {
		t.Fatalf("too little was tried: %+v", want)
	}
}
