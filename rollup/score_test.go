package rollup

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// wobble makes rates around base that differ from day to day by up to 3 %, with
// day medians of exactly base·(1 + wobble).
func wobble(base float64) func(day, run int) float64 {
	offsets := []float64{0, -0.03, 0.02, 0.03, -0.02, 0.01, -0.01}
	return func(day, _ int) float64 { return base * (1 + offsets[day%len(offsets)]) }
}

func TestScore(t *testing.T) {
	// Published medians of seven days, and their score and interval.
	medians := []float64{60.1, 58.4, 61.9, 63.2, 57.7, 60.8, 59.5}
	samples := days(alder, 7, 3, func(day, run int) float64 { return medians[day] * []float64{0.8, 1, 1.3}[run] })
	// Neither a noisy run nor one without a rate counts, nor does a day of two.
	noisy := success(alder, today.Add(-Hour), 1000, 1)
	noisy.Noise.Noisy = true
	samples = append(samples, noisy, success(alder, today.Add(-Hour), 1e6, 400), failure(alder, today.Add(-Hour), wire.KindServer))
	samples = append(samples, success(alder, today.AddDate(0, 0, -8), 5, 400), success(alder, today.AddDate(0, 0, -8), 5, 400))
	s := track(alder, 8*Hour, samples).Score(DecodeTPS, Window30d.Span(now))
	if !s.OK() || len(s.Days) != 7 || s.Runs != 21 {
		t.Fatalf("score = %+v; want 7 days, 21 runs", s)
	}
	near(t, "score", s.Value, 60.20229642485541, 1e-8)
	near(t, "lo", s.Interval.Lo, 58.45305332699388, 1e-8)
	near(t, "hi", s.Interval.Hi, 62.003886684092734, 1e-8)
	if wide, ok := s.At(0.99); !ok || wide.Lo >= s.Interval.Lo || wide.Hi <= s.Interval.Hi {
		t.Errorf("99 %% interval %v is not wider than %v", wide, s.Interval)
	}
	if got := track(alder, 8*Hour, samples).Score(DecodeTPS, Span{today.AddDate(0, 0, -4), today}); got.Why != TooFewDays {
		t.Errorf("4 days: %+v; want %s", got, TooFewDays)
	}
}

// TestScoreMethod checks that runs of an older prompt are not mixed in.
func TestScoreMethod(t *testing.T) {
	samples := days(alder, 10, 4, func(day, _ int) float64 {
		if day < 4 {
			return 20
		}
		return 60
	})
	for i := range samples {
		if samples[i].StartedAt.After(today.AddDate(0, 0, -6)) || samples[i].StartedAt.Equal(today.AddDate(0, 0, -6)) {
			samples[i].Env.Prompt = 2
		}
	}
	s := track(alder, 6*Hour, samples).Score(DecodeTPS, Span{today.AddDate(0, 0, -10), today})
	if len(s.Days) != 6 {
		t.Fatalf("score of %d days; want 6", len(s.Days))
	}
	near(t, "score", s.Value, 60, 1e-8)
}

func TestScoreFromBuckets(t *testing.T) {
	samples := days(alder, 20, 6, wobble(50))
	h := History{Series: alder, Every: 4 * Hour}
	for d := -20; d < -5; d++ {
		h.Days = append(h.Days, Summarize(alder, today.AddDate(0, 0, d), Day, samples))
	}
	for _, s := range samples {
		if !s.StartedAt.Before(today.AddDate(0, 0, -5)) {
			h.Samples = append(h.Samples, s)
		}
	}
	want := track(alder, 4*Hour, samples).Score(TTFT, Window30d.Span(now))
	got := NewTrack(h, Faults{}).Score(TTFT, Window30d.Span(now))
	if len(got.Days) != 20 || got.Value != want.Value || got.Interval != want.Interval {
		t.Errorf("from buckets %+v; want %+v", got, want)
	}
}

// boardTracks makes series that run at these rates for ten days. Rates 1 % apart
// are tied: their days differ by more.
func boardTracks(rates map[string]float64) []*Track {
	var tracks []*Track
	for name, rate := range rates {
		s := series("estuary", name)
		tracks = append(tracks, track(s, 2*Hour, days(s, 10, 12, wobble(rate))))
	}
	return tracks
}

func names(rows []Row) []string {
	var list []string
	for _, r := range rows {
		list = append(list, r.Series.Model)
	}
	return list
}

func TestBoard(t *testing.T) {
	tracks := boardTracks(map[string]float64{"alder": 100, "birch": 101, "cedar": 60, "dogwood": 60.5, "elm": 30})
	b := NewBoard(Entries(tracks, Window7d, now), DecodeTPS)
	if got, want := names(b.Rows), []string{"birch", "alder", "dogwood", "cedar", "elm"}; !slices.Equal(got, want) {
		t.Errorf("order = %v; want %v", got, want)
	}
	wantRanks := [][2]int{{1, 2}, {1, 2}, {3, 4}, {3, 4}, {5, 5}}
	for i, r := range b.Rows {
		if !r.Ranked || r.Best != wantRanks[i][0] || r.Worst != wantRanks[i][1] {
			t.Errorf("%s = %d to %d (%s); want %v", r.Series.Model, r.Best, r.Worst, r.Why, wantRanks[i])
		}
		if r.N != 84 || r.Score.Runs != r.N || r.Summary.Runs != 84 {
			t.Errorf("%s: n = %d, score of %d, summary of %d; want one set of 84", r.Series.Model, r.N, r.Score.Runs, r.Summary.Runs)
		}
	}
	if got := names(b.First()); !slices.Equal(got, []string{"birch", "alder"}) {
		t.Errorf("first = %v", got)
	}
	if got := names(b.Tied(2)); !slices.Equal(got, []string{"dogwood", "cedar"}) {
		t.Errorf("tied with dogwood = %v", got)
	}
	if b.Confidence != 0.95 || b.Ranked != 5 || b.DaysMissing() != 0 {
		t.Errorf("board = %v, %d ranked", b.Confidence, b.Ranked)
	}

	// For an answer of 20 tokens the order is the same; times are better the lower.
	short := NewBoard(Entries(tracks, Window7d, now), TimeTo20)
	if got, want := names(short.Rows), []string{"birch", "alder", "dogwood", "cedar", "elm"}; !slices.Equal(got, want) {
		t.Errorf("order by time to 20 tokens = %v; want %v", got, want)
	}
	near(t, "time to 20 tokens of elm", short.Rows[4].Score.Value, 0.4+19.0/30, 0.01)

	// Without the fastest, the others move up; no number changes.
	f := b.Filter(func(r Row) bool { return r.Series.Model != "alder" && r.Series.Model != "birch" })
	if !f.Filtered || f.Ranked != 3 || f.Rows[0].Best != 1 || f.Rows[0].Worst != 2 || f.Rows[2].Best != 3 {
		t.Errorf("filtered = %+v", f.Rows)
	}
	if f.Rows[0].Score.Interval != b.Rows[2].Score.Interval || f.Rows[0].Rule != b.Rows[2].Rule || b.Rows[2].Best != 3 {
		t.Error("filtering changed a number, or the board it was taken from")
	}
}

// TestBoardConfidence checks that a board of many rows asks for more.
func TestBoardConfidence(t *testing.T) {
	rates := make(map[string]float64)
	for i := range 21 {
		rates[string(rune('a'+i))] = 50 + float64(i)
	}
	b := NewBoard(Entries(boardTracks(rates), Window7d, now), DecodeTPS)
	if b.Ranked != 21 || b.Confidence != 0.99 {
		t.Fatalf("%d ranked at %v; want 21 at 0.99", b.Ranked, b.Confidence)
	}
	r := b.Rows[0]
	if r.Rule.Lo >= r.Score.Interval.Lo || r.Rule.Hi <= r.Score.Interval.Hi {
		t.Errorf("rule %v is not wider than the printed %v", r.Rule, r.Score.Interval)
	}
	if f := b.Filter(func(r Row) bool { return r.Best < 5 }); f.Confidence != 0.99 {
		t.Error("filtering changed the confidence, so the intervals")
	}
}

func TestBoardIneligible(t *testing.T) {
	fine := func(s bench.Series) []bench.Sample { return days(s, 8, 12, wobble(50)) }
	edit := func(f func(*bench.Sample)) func(s bench.Series) []bench.Sample {
		return func(s bench.Series) []bench.Sample {
			samples := fine(s)
			for i := range samples {
				f(&samples[i])
			}
			return samples
		}
	}
	for _, tt := range []struct {
		name   string
		of     func(bench.Series) []bench.Sample
		window Window
		want   bench.Reason
	}{
		{"fine", fine, Window7d, ""},
		{"28 days", fine, Window28d, ""},
		{"a day", fine, Window24h, WithinDay},
		{"a year", fine, Window1y, LongDrift},
		{"nothing", func(bench.Series) []bench.Sample { return nil }, Window7d, NoRuns},
		{"four days", func(s bench.Series) []bench.Sample { return days(s, 4, 12, wobble(50)) }, Window7d, TooFewDays},
		{"two runs a day", func(s bench.Series) []bench.Sample { return days(s, 7, 2, wobble(50)) }, Window7d, TooFewDays},
		{"sixteen runs", func(s bench.Series) []bench.Sample { return days(s, 5, 3, wobble(50)) }, Window7d, TooFewRuns},
		{"stale", func(s bench.Series) []bench.Sample {
			var old []bench.Sample
			for _, x := range fine(s) {
				if x.StartedAt.Before(today.AddDate(0, 0, -2)) {
					old = append(old, x)
				}
			}
			return old
		}, Window7d, Stale},
		{"down", func(s bench.Series) []bench.Sample {
			samples := fine(s)
			for i := range samples {
				if i%12 < 4 {
					samples[i] = failure(s, samples[i].StartedAt, wire.KindServer)
				}
			}
			return samples
		}, Window7d, LowAvailability},
		{"throttled is not down", func(s bench.Series) []bench.Sample {
			samples := fine(s)
			for i := range samples {
				if i%12 < 4 {
					samples[i] = failure(s, samples[i].StartedAt, wire.KindRateLimit)
				}
			}
			return samples
		}, Window7d, ""},
		{"buffered", edit(func(s *bench.Sample) {
			if s.StartedAt.Hour() != 0 {
				s.LastText = s.FirstText
			}
		}), Window7d, Buffered},
		{"estimated", edit(func(s *bench.Sample) { s.Usage.Estimated = true }), Window7d, Estimated},
		{"older method", edit(func(s *bench.Sample) { s.Env.Method = 0 }), Window7d, OtherMethod},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := series("estuary", "subject")
			tracks := boardTracks(map[string]float64{"alder": 100, "birch": 20})
			tracks = append(tracks, track(s, 2*Hour, tt.of(s)))
			b := NewBoard(Entries(tracks, tt.window, now), DecodeTPS)
			if len(b.Rows) != 3 {
				t.Fatalf("%d rows; want every series listed", len(b.Rows))
			}
			for _, r := range b.Rows {
				if r.Series == s && (r.Why != tt.want || r.Ranked != (tt.want == "")) {
					t.Errorf("ranked %v, why %q; want %q", r.Ranked, r.Why, tt.want)
				}
			}
		})
	}

	// A series measured elsewhere is not ranked among these.
	s := series("estuary", "subject")
	s.Vantage = "attic"
	b := NewBoard(Entries(append(boardTracks(map[string]float64{"alder": 100, "birch": 20}), track(s, 2*Hour, fine(s))), Window7d, now), DecodeTPS)
	if last := b.Rows[2]; last.Series != s || last.Why != OtherVantage {
		t.Errorf("last row = %v, %s; want %s", last.Series, last.Why, OtherVantage)
	}
	if got := b.Unranked(); len(got) != 1 || got[0] != (ReasonCount{OtherVantage, 1}) {
		t.Errorf("unranked = %v", got)
	}
	// An estimate counts for rates only.
	guessed := NewBoard(Entries([]*Track{track(alder, 2*Hour, edit(func(s *bench.Sample) { s.Usage.Estimated = true })(alder))}, Window7d, now), TTFT)
	if guessed.Rows[0].Why != "" {
		t.Errorf("TTFT of estimated counts: %q", guessed.Rows[0].Why)
	}
}

// TestBoardYoung checks that a dataset of two days has rows, numbers and a
// reason, and no ranks.
func TestBoardYoung(t *testing.T) {
	var tracks []*Track
	for name, rate := range map[string]float64{"alder": 50, "birch": 80} {
		s := series("estuary", name)
		tracks = append(tracks, track(s, 2*Hour, days(s, 2, 12, wobble(rate))))
	}
	b := NewBoard(Entries(tracks, Window7d, now), DecodeTPS)
	if b.Ranked != 0 || len(b.First()) != 0 || b.DaysMissing() != 3 {
		t.Errorf("ranked %d, first %v, %d days missing; want 0, none, 3", b.Ranked, b.First(), b.DaysMissing())
	}
	if got := names(b.Rows); !slices.Equal(got, []string{"birch", "alder"}) {
		t.Errorf("order = %v; want by median", got)
	}
	for _, r := range b.Rows {
		if r.Why != TooFewDays || !r.Typical.OK() || r.N != 24 || !(r.Min > 0 && r.Min < r.Max) {
			t.Errorf("row = %+v", r)
		}
	}
	if NewBoard(nil, DecodeTPS).Rows != nil {
		t.Error("a board of nothing has rows")
	}
}

// TestBoardScale checks that ranks do not depend on the unit: a monotone change
// of scale that keeps ratios leaves them as they are.
func TestBoardScale(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 10 {
		rates := make(map[string]float64)
		for i := range 8 {
			rates[string(rune('a'+i))] = 20 * math.Exp(random.Float64())
		}
		want := NewBoard(Entries(boardTracks(rates), Window7d, now), DecodeTPS)
		factor := math.Exp(2*random.Float64() - 1)
		for name := range rates {
			rates[name] *= factor
		}
		got := NewBoard(Entries(boardTracks(rates), Window7d, now), DecodeTPS)
		for i := range want.Rows {
			if g, w := got.Rows[i], want.Rows[i]; g.Series != w.Series || g.Best != w.Best || g.Worst != w.Worst {
				t.Fatalf("scaled by %v: row %d is %s %d-%d; want %s %d-%d", factor, i, g.Series.Model, g.Best, g.Worst, w.Series.Model, w.Best, w.Worst)
			}
		}
	}
}

func TestCompare(t *testing.T) {
	a, b := series("estuary", "alder"), series("riverbed", "alder")
	// Both have the same bad days, which cancel: a is 5 % faster on each.
	shared := func(base float64) func(day, run int) float64 {
		return func(day, run int) float64 {
			return base * (1 + 0.2*float64(day%3)) * (1 + 0.01*float64((day*int(base))%5-2))
		}
	}
	fast := track(a, 2*Hour, days(a, 7, 12, shared(63)))
	slow := track(b, 2*Hour, days(b, 7, 12, shared(60)))
	c := Compare(fast, slow, DecodeTPS, Window7d, now, 1)
	if c.Verdict != ABetter || c.Days != 7 || !(c.Interval.Lo > 1) {
		t.Errorf("comparison = %+v; want a better", c)
	}
	near(t, "ratio", c.Ratio, 1.05, 0.02)
	// Their scores alone, with the bad days in, could not be told apart.
	fs, ss := fast.Score(DecodeTPS, Window7d.Span(now)), slow.Score(DecodeTPS, Window7d.Span(now))
	if ss.Interval.Below(fs.Interval) {
		t.Error("the test's series differ even unpaired")
	}
	back := Compare(slow, fast, DecodeTPS, Window7d, now, 1)
	if back.Verdict != BBetter {
		t.Errorf("turned round: %+v; want b better", back)
	}
	near(t, "ratio turned round", back.Ratio, 1/c.Ratio, 1e-12)
	if t6 := Compare(fast, slow, DecodeTPS, Window7d, now, 6); !(t6.Interval.Lo < c.Interval.Lo) || t6.Confidence <= c.Confidence {
		t.Errorf("six comparisons at once are as sure as one: %+v", t6)
	}
	if same := Compare(fast, slow, TTFT, Window7d, now, 1); same.Verdict != NoClearDifference || same.Ratio != 1 {
		t.Errorf("equal TTFT: %+v", same)
	}
	// Times are better the lower.
	if quick := Compare(fast, slow, TimeTo2000, Window7d, now, 1); quick.Verdict != ABetter || quick.Ratio >= 1 {
		t.Errorf("time to 2000 tokens: %+v", quick)
	}
	for _, tt := range []struct {
		name string
		b    *Track
		w    Window
		want bench.Reason
	}{
		{"a day", slow, Window24h, WithinDay},
		{"no runs", track(b, Hour, nil), Window7d, NoRuns},
		{"three days", track(b, 2*Hour, days(b, 3, 12, wobble(60))), Window7d, TooFewDays},
	} {
		if got := Compare(fast, tt.b, DecodeTPS, tt.w, now, 1); got.Verdict != NotComparable || got.Why != tt.want {
			t.Errorf("%s: %s, %q; want %q", tt.name, got.Verdict, got.Why, tt.want)
		}
	}
}

// TestCompareCrossover takes the example in which 0.4 s and 20 tokens a second
// meets 2 s and 80 tokens a second at 43.7 tokens.
func TestCompareCrossover(t *testing.T) {
	make := func(s bench.Series, tps, ttft float64) *Track {
		var samples []bench.Sample
		for i := range 30 {
			samples = append(samples, success(s, today.Add(-time.Duration(i+1)*Hour), tps, ttft))
		}
		return track(s, Hour, samples)
	}
	a, b := series("x", "a"), series("x", "b")
	c := Compare(make(a, 20, 400), make(b, 80, 2000), TTFT, Window7d, now, 1)
	if !c.HasCrossover {
		t.Fatal("no crossover")
	}
	near(t, "crossover", c.Crossover, 43.666666666666664, 1e-8)
	if d := Compare(make(a, 90, 400), make(b, 80, 2000), TTFT, Window7d, now, 1); d.HasCrossover {
		t.Errorf("one ahead at every length crosses at %v", d.Crossover)
	}
}
