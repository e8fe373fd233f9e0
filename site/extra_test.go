package site

import (
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// For the tests that hold scripts against the site's own formatters.
var (
	Significant = significant
	Latency     = latency
	Count       = count
)

// TestConfidenceWords: 1 − 0.05/n, with digits enough not to say 100 %.
func TestConfidenceWords(t *testing.T) {
	for n, want := range map[int]string{1: "95.0 %", 2: "97.5 %", 6: "99.2 %", 12: "99.6 %", 88: "99.9 %", 236: "99.98 %", 14280: "99.9996 %"} {
		if got := confidenceWords(n); got != want {
			t.Errorf("%d comparisons: got %s; want %s", n, got, want)
		}
	}
}

func named(name string) *endpoint {
	return &endpoint{name: name, provider: &provider{name: "P"}}
}

// TestDoneFirst claims a length only where both differences are clear.
func TestDoneFirst(t *testing.T) {
	a, b := named("a"), named("b")
	const A, B, none, not = rollup.ABetter, rollup.BBetter, rollup.NoClearDifference, rollup.NotComparable
	for _, tt := range []struct {
		speed, wait rollup.Verdict
		crosses     bool
		want        string
	}{
		{A, A, false, "a on P starts sooner and streams faster: it is done first at every length."},
		{B, B, true, "b on P starts sooner and streams faster: it is done first at every length."},
		{A, B, true, "b on P is done first up to about 44 tokens, a on P from there on."},
		{A, B, false, "b on P starts sooner, a on P streams faster."},
		{A, none, true, "a on P streams faster, the starts cannot be told apart: it is done first once an answer is long."},
		{none, B, true, "b on P starts sooner, the speeds cannot be told apart: it is done first while an answer is short."},
		{none, none, true, "At no length is either clearly ahead."},
		{not, A, true, ""},
		{A, not, true, ""},
	} {
		speed := rollup.Comparison{Verdict: tt.speed, Crossover: 43.7, HasCrossover: tt.crosses}
		if got := doneFirst(a, b, speed, rollup.Comparison{Verdict: tt.wait}); got != tt.want {
			t.Errorf("speed %s, wait %s: got %q; want %q", tt.speed, tt.wait, got, tt.want)
		}
	}
}

// TestRatioWords puts A ÷ B in the words of the metric's own direction.
func TestRatioWords(t *testing.T) {
	for _, tt := range []struct {
		metric rollup.Metric
		ratio  float64
		want   string
	}{
		{rollup.DecodeTPS, 1.18, "18 % faster"},
		{rollup.DecodeTPS, 0.82, "18 % slower"},
		{rollup.DecodeTPS, 3.66, "3.7 times as fast"},
		{rollup.TTFT, 0.31, "69 % sooner"},
		{rollup.TTFT, 1.044, "4.4 % later"},
		{rollup.TTFT, 2.5, "2.5 times the wait"},
	} {
		c := rollup.Comparison{Metric: tt.metric, Ratio: tt.ratio, Verdict: rollup.ABetter}
		if got := ratioWords(c); got != tt.want {
			t.Errorf("%s %v: got %s; want %s", tt.metric, tt.ratio, got, tt.want)
		}
	}
}

// TestCrossingWords works the methodology's example: 0.4 s and 20 tokens/s
// against 2 s and 80 tokens/s meet at 1 + 1.6/(1/20 − 1/80) = 43.67 tokens.
func TestCrossingWords(t *testing.T) {
	slow, fast := stats.Speed{TTFTSeconds: 0.4, TokensPerSecond: 20}, stats.Speed{TTFTSeconds: 2, TokensPerSecond: 80}
	for _, tt := range []struct {
		a, b stats.Speed
		want string
	}{
		{slow, fast, "By their medians, a is done first up to about 44 tokens, b from there on."},
		{fast, slow, "By their medians, b is done first up to about 44 tokens, a from there on."},
		{slow, slow, "Both take the same time at every length."},
		{slow, stats.Speed{TTFTSeconds: 0.4, TokensPerSecond: 21}, "By their medians, b is done first at every length."},
		{slow, stats.Speed{TTFTSeconds: 0.5, TokensPerSecond: 20}, "By their medians, a is done first at every length."},
		{fast, stats.Speed{TTFTSeconds: 1, TokensPerSecond: 90}, "By their medians, b is done first at every length."},
	} {
		if got := crossingWords("a", "b", tt.a, tt.b); got != tt.want {
			t.Errorf("%v against %v: got %q; want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

// TestThoughtAway tells a budget spent on thinking from other empty answers.
func TestThoughtAway(t *testing.T) {
	empty := bench.Sample{Kind: wire.KindMalformed, Detail: wire.DetailNoVisibleOutput}
	seen, counted, zero, cut, fine := empty, empty, empty, empty, empty
	seen.FirstReason = time.Second
	counted.Usage.Reasoning = wire.Known(300)
	zero.Usage.Reasoning = wire.Known(0)
	cut.FirstReason, cut.Detail = time.Second, wire.DetailTruncated
	fine.FirstReason, fine.Kind, fine.Detail = time.Second, wire.KindNone, ""
	for _, tt := range []struct {
		name string
		s    bench.Sample
		want bool
	}{{"reasoning seen", seen, true}, {"reasoning counted", counted, true}, {"none counted", zero, false}, {"empty", empty, false}, {"cut off while thinking", cut, false}, {"success", fine, false}} {
		if got := thoughtAway(&tt.s); got != tt.want {
			t.Errorf("%s: got %v; want %v", tt.name, got, tt.want)
		}
	}
}

// TestDuty counts slots of an hourly cron cadence by hand: of the 24 slots at
// :30 since the first run, those of hours 3 and 4 have no run, and two runs were
// made for the slot of hour 9.
func TestDuty(t *testing.T) {
	now := time.Date(2026, 3, 14, 9, 0, 0, 0, time.UTC)
	cadence, err := bench.ParseCadence("30 * * * *")
	if err != nil {
		t.Fatal(err)
	}
	e := &edition{now: now}
	p := &endpoint{model: &Model{Every: time.Hour, Cadence: cadence}}
	begin := now.AddDate(0, 0, -1).Add(30 * time.Minute)
	var samples []bench.Sample
	add := func(slot time.Time, late time.Duration, clock string) {
		samples = append(samples, bench.Sample{StartedAt: slot.Add(late), Scheduled: slot, Env: bench.Env{Clock: clock}})
	}
	for hour := range 24 {
		slot := begin.Add(time.Duration(hour) * time.Hour)
		if hour == 3 || hour == 4 {
			continue
		}
		add(slot, time.Duration(hour)*time.Second, bench.ClockKernel)
		if hour == 9 {
			add(slot, 40*time.Second, bench.ClockUser)
		}
	}
	samples[0].Noise.Noisy = true
	samples = append(samples, bench.Sample{StartedAt: now.Add(-30 * 24 * time.Hour)}) // too old to count
	d := e.dutyOf(p, samples[:len(samples)-1])
	if d.runs != 23 || d.kernel != 22 || d.user != 1 || d.noisy != 1 {
		t.Errorf("got %d runs, %d kernel, %d user, %d noisy; want 23, 22, 1, 1", d.runs, d.kernel, d.user, d.noisy)
	}
	if d.slots != 24 || d.served != 22 {
		t.Errorf("got %d of %d slots; want 22 of 24", d.served, d.slots)
	}
	// Hour 2 ran 2 s late and hour 5 5 s late: three hours and 3 s between them.
	if d.gaps != 1 || d.longest != 3*time.Hour+3*time.Second {
		t.Errorf("got %d gaps, the longest of %v; want one of 3h0m3s", d.gaps, d.longest)
	}
	if len(d.late) != 23 || d.late[0] != 0 || d.late[22] != 40 {
		t.Errorf("lateness is %v; want 23 values from 0 to 40 s", d.late)
	}
	if all := e.dutyOf(p, samples); all.runs != 23 || all.slots != 168 {
		t.Errorf("with a run of last month: %d runs, %d slots; want 23 and the 168 of a week", all.runs, all.slots)
	}
	if probes := e.dutyOf(p, []bench.Sample{{StartedAt: now.Add(-time.Hour)}}); probes.runs != 1 || probes.slots != 0 {
		t.Errorf("a run without a slot gives %d slots; want none known", probes.slots)
	}
}

// TestLateWords formats lateness with two digits in the largest fitting unit.
func TestLateWords(t *testing.T) {
	for seconds, want := range map[float64]string{-1: "0 s", 0.25: "0.25 s", 5: "5.0 s", 59: "59 s", 90: "1.5 min", 5400: "1.5 h"} {
		if got := lateWords(seconds); got != want {
			t.Errorf("%v s: got %s; want %s", seconds, got, want)
		}
	}
}
