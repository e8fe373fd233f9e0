package stats

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// board draws rows whose intervals overlap here and there; some are not
// eligible.
func board(rng *rand.Rand, n int) []Row {
	rows := make([]Row, n)
	for i := range rows {
		score := 20 + 80*rng.Float64()
		width := 10 * rng.Float64()
		rows[i] = Row{
			Name: fmt.Sprintf("pair-%02d", i), Score: score,
			Interval: Interval{score - width, score + width}, Eligible: rng.IntN(5) > 0,
		}
	}
	return rows
}

func names(standings []Standing) []string {
	var all []string
	for _, s := range standings {
		all = append(all, fmt.Sprintf("%s %v %d-%d", s.Name, s.Ranked, s.Best, s.Worst))
	}
	return all
}

// TestRankProperties checks that the order of rows is irrelevant, that a
// monotone change of scale moves nobody, that a mirrored scale ranked the other
// way moves nobody, and that ranks keep their promises.
func TestRankProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	for range 300 {
		rows := board(rng, 1+rng.IntN(25))
		standings := Rank(rows, HigherIsBetter)
		want := names(standings)

		other := slices.Clone(rows)
		rng.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		if got := names(Rank(other, HigherIsBetter)); !slices.Equal(got, want) {
			t.Fatalf("ranks depend on the order of rows: %v; want %v", got, want)
		}
		rescale := func(by func(float64) float64, better Direction, flip bool) {
			for i, r := range rows {
				other[i] = Row{r.Name, by(r.Score), Interval{by(r.Interval.Lo), by(r.Interval.Hi)}, r.Eligible}
				if flip {
					other[i].Interval = Interval{other[i].Interval.Hi, other[i].Interval.Lo}
				}
			}
			if got := names(Rank(other, better)); !slices.Equal(got, want) {
				t.Fatalf("ranks depend on the scale: %v; want %v", got, want)
			}
		}
		rescale(func(x float64) float64 { return 3*x + 7 }, HigherIsBetter, false)
		rescale(func(x float64) float64 { return math.Log(x) }, HigherIsBetter, false)
		rescale(func(x float64) float64 { return 1000 / x }, LowerIsBetter, true)

		eligible, last := 0, 0
		for _, s := range standings {
			if s.Ranked {
				eligible++
			}
		}
		for i, s := range standings {
			if s.Ranked != s.Eligible || s.Ranked != (i < eligible) {
				t.Fatalf("row %d of %d eligible: %+v", i, eligible, s)
			}
			if s.Ranked && !(1 <= s.Best && s.Best <= s.Worst && s.Worst <= eligible && s.Best >= last) {
				t.Fatalf("rank out of order: %v", names(standings))
			}
			last = s.Best
		}
		if eligible > 0 && standings[0].Best != 1 {
			t.Fatalf("nobody is first: %v", names(standings))
		}
	}
}

func TestRankRefusesWhatIsNoInterval(t *testing.T) {
	nan := math.NaN()
	rows := []Row{
		{"sound", 50, Interval{40, 60}, true},
		{"no score", nan, Interval{90, 95}, true},
		{"no interval", 99, Interval{nan, nan}, true},
		{"upside down", 98, Interval{99, 97}, true},
	}
	for _, s := range Rank(rows, HigherIsBetter) {
		if s.Ranked != (s.Name == "sound") {
			t.Errorf("%+v", s)
		}
		if s.Ranked && (s.Best != 1 || s.Worst != 1) {
			t.Errorf("unranked rows cost %s its rank: %d-%d", s.Name, s.Best, s.Worst)
		}
	}
	if got := Rank(nil, HigherIsBetter); len(got) != 0 {
		t.Errorf("Rank(nil) = %v", got)
	}
}

func TestRankConfidence(t *testing.T) {
	for rows, want := range map[int]float64{0: 0.95, 20: 0.95, 21: 0.99, 100: 0.99} {
		if got := RankConfidence(rows); got != want {
			t.Errorf("RankConfidence(%d) = %v; want %v", rows, got, want)
		}
	}
}

func TestIneligible(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	good := Evidence{Days: 5, Runs: 20, Freshness: Aging, Availability: share(0.8)}
	tests := []struct {
		change func(*Evidence)
		want   Ineligibility
	}{
		{func(*Evidence) {}, Eligible},
		{func(e *Evidence) { e.Days = 4 }, IneligibleDays},
		{func(e *Evidence) { e.Runs = 19 }, IneligibleRuns},
		{func(e *Evidence) { e.Freshness = Stale }, IneligibleStale},
		{func(e *Evidence) { e.Availability = nil }, IneligibleUnknown},
		{func(e *Evidence) { e.Availability = share(0.799) }, IneligibleDown},
		{func(e *Evidence) { e.Availability = share(math.NaN()) }, IneligibleDown},
		{func(e *Evidence) { e.Buffered = true }, IneligibleBuffered},
		{func(e *Evidence) { e.Estimated = true }, IneligibleEstimated},
		{func(e *Evidence) { *e = Evidence{Freshness: Stale} }, IneligibleStale},
	}
	for i, tt := range tests {
		e := good
		tt.change(&e)
		if got := e.Ineligible(); got != tt.want {
			t.Errorf("case %d: Ineligible = %q; want %q", i, got, tt.want)
		}
	}
}

// TestMannWhitneyByEnumeration deals the values in every possible way.
func TestMannWhitneyByEnumeration(t *testing.T) {
	statistic := func(x, y []float64) (u float64) {
		for _, a := range x {
			for _, b := range y {
				switch {
				case a > b:
					u++
				case a == b:
					u += 0.5
				}
			}
		}
		return u
	}
	rng := rand.New(rand.NewPCG(17, 18))
	for range 60 {
		n, m := 1+rng.IntN(5), 1+rng.IntN(6)
		all := make([]float64, n+m)
		for i := range all {
			all[i] = float64(rng.IntN(8)) // with ties
		}
		u := statistic(all[:n], all[n:])
		centre := float64(n*m) / 2
		var extreme, every float64
		for set := uint(0); set < 1<<(n+m); set++ {
			if bits.OnesCount(set) != n {
				continue
			}
			var x, y []float64
			for i, v := range all {
				if set>>i&1 == 1 {
					x = append(x, v)
				} else {
					y = append(y, v)
				}
			}
			every++
			if math.Abs(statistic(x, y)-centre) >= math.Abs(u-centre) {
				extreme++
			}
		}
		gotU, gotP, ok := MannWhitney(all[:n], all[n:])
		if !ok || gotU != u || !near(gotP, extreme/every, 1e-12) {
			t.Errorf("MannWhitney(%v, %v) = %v, %v, %v; want %v, %v", all[:n], all[n:], gotU, gotP, ok, u, extreme/every)
		}
		if otherU, otherP, _ := MannWhitney(all[n:], all[:n]); otherU != float64(n*m)-u || !near(otherP, gotP, 1e-12) {
			t.Errorf("MannWhitney of the sets exchanged = %v, %v; want %v, %v", otherU, otherP, float64(n*m)-u, gotP)
		}
	}
}

func TestMannWhitneyBounds(t *testing.T) {
	same := slices.Repeat([]float64{5}, 50)
	if u, p, ok := MannWhitney(same, same); u != 1250 || p != 1 || !ok {
		t.Errorf("of equal values = %v, %v, %v; want 1250, 1, true", u, p, ok)
	}
	for _, bad := range [][2][]float64{{nil, {1}}, {{1}, nil}, {{math.NaN()}, {1}}, {same, append(same[:50:50], 1)}} {
		if u, p, ok := MannWhitney(bad[0], bad[1]); ok {
			t.Errorf("MannWhitney(%v, %v) = %v, %v", bad[0], bad[1], u, p)
		}
	}
}
