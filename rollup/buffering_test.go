package rollup

import (
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// shortOf returns the probe of a series: 16 tokens, the first and the last so
// many milliseconds after the dispatch.
func shortOf(s bench.Series, at time.Time, firstMS, endMS float64) bench.Sample {
	p := answer(s, at, 1, firstMS, bench.BufferProbeTokens)
	p.LastText = time.Duration(endMS * 1e6)
	p.Done = p.LastText
	p.Env.Short = true
	return p
}

// heldBack is a series whose answers of 300 tokens are made in 6 s and then sent
// within a second; its probes take 720 ms. Each day has a probe.
func heldBack(s bench.Series, n int) History {
	h := History{Series: s, Every: 2 * Hour}
	h.Samples = days(s, n, 12, func(int, int) float64 { return 299 })
	for i := range h.Samples {
		r := &h.Samples[i]
		r.FirstText, r.LastText, r.Done = 6*time.Second, 7*time.Second, 7*time.Second
		if i%12 == 5 {
			h.Probes = append(h.Probes, shortOf(s, r.StartedAt.Add(8*time.Second), 720, 900))
		}
	}
	return h
}

// TestBufferedHasNoRate marks a series by its probes, and looks for a rate of it
// in everything that is published.
func TestBufferedHasNoRate(t *testing.T) {
	h := heldBack(alder, 40)
	for d := range 30 { // days whose samples are gone
		start := today.AddDate(0, 0, -70+d)
		h.Days = append(h.Days, Summarize(alder, start, Day, days(alder, 70-d, 12, func(int, int) float64 { return 50 })[:12]))
	}
	unprobed := h
	unprobed.Probes = nil
	plain, marked := NewTrack(unprobed, Faults{}), NewTrack(h, Faults{})
	if plain.Buffered() || plain.Buffering.N != 0 {
		t.Fatalf("without probes: %+v", plain.Buffering)
	}
	if b := marked.Buffering; !marked.Buffered() || b.N != stats.BufferProbes || b.Held != b.N {
		t.Fatalf("with probes: %+v", b)
	}
	near(t, "held share", marked.Buffering.Share, (6000-720)/(7000.-900), 1e-12)

	for _, w := range Windows() {
		before, after := plain.Summarize(w, now), marked.Summarize(w, now)
		for _, d := range []Distribution{after.Decode, after.Hybrid, after.StallFree} {
			if d.N != 0 || d.P50.Why != Buffered || d.WithTimeouts.P90.Why != Buffered {
				t.Errorf("%s, %s: n %d, %+v", w, d.Metric, d.N, d.P50)
			}
		}
		if before.Runs != after.Runs || before.TTFT.P50 != after.TTFT.P50 || before.E2E.P50 != after.E2E.P50 || before.EndToEnd.P50 != after.EndToEnd.P50 ||
			before.Reliability.SuccessRate != after.Reliability.SuccessRate {
			t.Errorf("%s: the mark changed more than rates", w)
		}
		for _, m := range BoardMetrics() {
			r := NewBoard(Entries([]*Track{marked}, w, now), m).Rows[0]
			if r.Ranked || m.needsStream() && (r.N != 0 || r.Typical.Why != Buffered) || w == Window7d && r.Why != Buffered {
				t.Errorf("%s by %s: ranked %v, n %d, typical %+v, why %q", w, m, r.Ranked, r.N, r.Typical, r.Why)
			}
		}
		if line, ok := marked.Line(DecodeTPS, w, now); ok && len(line.Points) > 0 {
			t.Errorf("%s: a line of %d rates", w, len(line.Points))
		}
	}
	if c := Compare(plain, marked, DecodeTPS, Window7d, now, 1); c.Verdict != NotComparable || c.Why != Buffered {
		t.Errorf("comparison: %v, %q", c.Verdict, c.Why)
	}
	if c := Compare(plain, marked, TTFT, Window7d, now, 1); !c.Why.OK() {
		t.Errorf("comparison of TTFT: %q", c.Why)
	}
}

// TestProbesThatTell checks which probes are held against which runs.
func TestProbesThatTell(t *testing.T) {
	edited := func(edit func(i int, p *bench.Sample)) int {
		h := heldBack(alder, 30)
		for i := range h.Probes {
			edit(i, &h.Probes[i])
		}
		return NewTrack(h, Faults{}).Buffering.N
	}
	thought := func(p *bench.Sample) {
		p.Kind, p.Detail, p.FirstReason, p.FirstText, p.LastText, p.Chunks = wire.KindMalformed, wire.DetailNoVisibleOutput, 700*time.Millisecond, 0, 0, 0
	}
	for _, c := range []struct {
		name string
		edit func(i int, p *bench.Sample)
		want int
	}{
		{"all", func(int, *bench.Sample) {}, 14},
		{"six that came through", func(i int, p *bench.Sample) {
			if i >= 24 {
				return
			}
			p.Kind = wire.KindRateLimit
		}, 6},
		{"all thought aloud", func(_ int, p *bench.Sample) { thought(p) }, 14},
		{"all thought in silence", func(_ int, p *bench.Sample) { thought(p); p.FirstReason = 0 }, 0},
		{"without an end", func(_ int, p *bench.Sample) { p.Done = 0 }, 0},
		{"disturbed", func(_ int, p *bench.Sample) { p.Noise.Noisy = true }, 0},
		{"far from any run", func(_ int, p *bench.Sample) { p.StartedAt = p.StartedAt.Add(Hour) }, 0},
		{"older than four weeks", func(_ int, p *bench.Sample) { p.StartedAt = p.StartedAt.AddDate(0, 0, -27) }, 1},
	} {
		if got := edited(c.edit); got != c.want {
			t.Errorf("%s: %d comparisons, want %d", c.name, got, c.want)
		}
	}
	h := heldBack(alder, 30)
	for i := range h.Samples {
		h.Samples[i].Usage.Output = wire.Known(20)
	}
	if n := NewTrack(h, Faults{}).Buffering.N; n != 0 {
		t.Errorf("answers as short as probes: %d comparisons", n)
	}
}

// TestBufferingOfModels probes every simulated model for half a year, once a
// day, and judges it every day. Models that send text as they make it are never
// marked; those that keep it back are, from the seventh probe on.
func TestBufferingOfModels(t *testing.T) {
	const probes = 180
	from := today.AddDate(0, 0, -probes)
	looks, streams := 0, 0
	for _, m := range simulate.Models() {
		if m.AlwaysFails() {
			continue
		}
		var contrasts []stats.LengthContrast
		marked, first := 0, 0
		for d := range probes {
			at := from.AddDate(0, 0, d).Add(time.Duration(d*7%24) * Hour)
			long, okLong := simulatedAnswer(m, at, bench.MaxOutputTokens)
			short, okShort := simulatedAnswer(m, at.Add(20*time.Second), bench.BufferProbeTokens)
			if !okLong || !okShort {
				continue
			}
			contrasts = append(contrasts, stats.LengthContrast{LongFirst: long[0], LongEnd: long[1], ShortFirst: short[0], ShortEnd: short[1]})
			if stats.JudgeBuffering(contrasts).Verdict == stats.BufferBuffered {
				if marked++; first == 0 {
					first = len(contrasts)
				}
			}
		}
		switch m.Name {
		case "burst", "replayed-80":
			if first != 7 || marked != len(contrasts)-6 {
				t.Errorf("%s: marked first at probe %d, on %d of %d days", m.Name, first, marked, len(contrasts))
			}
		case "two-bursts": // half of each answer is held back: neither verdict is wrong
		case "thinks-hidden": // 16 tokens of hidden thinking have no first output
			if len(contrasts) > 0 {
				t.Errorf("%s: %d comparisons", m.Name, len(contrasts))
			}
		default:
			if looks += len(contrasts); len(contrasts) < probes/2 {
				t.Errorf("%s: only %d comparisons", m.Name, len(contrasts))
			}
			if marked > 0 {
				t.Errorf("%s: marked on %d of %d days", m.Name, marked, len(contrasts))
			}
			if stats.JudgeBuffering(contrasts).Verdict == stats.BufferStreams {
				streams++
			}
		}
	}
	if looks < 15*probes || streams < 15 {
		t.Errorf("only %d looks at models that stream, %d of them known to", looks, streams)
	}
}

// simulatedAnswer returns when an answer of at most so many tokens begins and
// ends, in milliseconds.
func simulatedAnswer(m simulate.Model, at time.Time, limit int) (times [2]float64, ok bool) {
	for slot := range simulate.History(1, m, at, at.Add(time.Second), Hour) {
		tl := slot.Timeline(limit)
		for _, step := range tl.Steps {
			switch step.Kind {
			case simulate.StepBreak:
				return times, false
			case simulate.StepVisible, simulate.StepReasoning:
				if times[0] == 0 {
					times[0] = milliseconds(step.Due)
				}
			}
		}
		times[1] = milliseconds(tl.End())
	}
	return times, times[0] > 0
}

// TestColdStartIsNoBuffering simulates an endpoint that takes eight seconds to
// wake up for the first request in an hour and then streams. As the probe and
// the ordinary request take turns at going first, it is never marked; with the
// probe always second it would be.
func TestColdStartIsNoBuffering(t *testing.T) {
	const wake = 8000
	contrast := func(probeFirst bool) stats.LengthContrast {
		c := stats.LengthContrast{LongFirst: 300, LongEnd: 300 + 299*20, ShortFirst: 300, ShortEnd: 300 + 15*20}
		if probeFirst {
			c.ShortFirst, c.ShortEnd = c.ShortFirst+wake, c.ShortEnd+wake
		} else {
			c.LongFirst, c.LongEnd = c.LongFirst+wake, c.LongEnd+wake
		}
		return c
	}
	var turns, second []stats.LengthContrast
	for d := range 180 {
		turns, second = append(turns, contrast(d%2 == 0)), append(second, contrast(false))
		if b := stats.JudgeBuffering(turns); b.Verdict == stats.BufferBuffered {
			t.Fatalf("taking turns, day %d: %+v", d, b)
		}
	}
	if stats.JudgeBuffering(second).Verdict != stats.BufferBuffered {
		t.Error("with the probe always second: not marked, so that taking turns would be for nothing")
	}
}
