package stats

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// A Direction says which end of a scale wins.
type Direction bool

// A rate is better the higher it is, a time the lower.
const (
	LowerIsBetter  Direction = false
	HigherIsBetter Direction = true
)

// A Row is what ranking needs to know of one entry of a board.
type Row struct {
	Name     string
	Score    float64
	Interval Interval
	Eligible bool // see [Evidence.Ineligible]
}

// A Standing is a row with the ranks it may hold.
type Standing struct {
	Row
	Ranked      bool // false: Best and Worst mean nothing
	Best, Worst int  // the range of ranks the intervals leave open, 1 is first
}

// Rank returns the standings of rows in the order of the board. With E eligible
// rows, and j beats i meaning that the interval of j lies wholly on the better
// side of that of i,
//
//	best_i  = 1 + number of rows that beat i
//	worst_i = E - number of rows that i beats
//
// so rows whose intervals touch share ranks: they are tied, which does not say
// they are equal. A row that is not eligible, or whose numbers are not an
// interval, has no rank and takes none away. Order is by best rank, then score,
// then name; unranked rows follow by score and name.
//
// Source: "Rank (UB)" of Chatbot Arena (FastChat, fastchat/serve/monitor). For
// the theory see Mogstad, Romano, Shaikh and Wilhelm, "Inference for Ranks",
// Review of Economic Studies 91(1), 2024.
func Rank(rows []Row, better Direction) []Standing {
	beats := func(a, b Row) bool {
		if better == HigherIsBetter {
			return b.Interval.Below(a.Interval)
		}
		return a.Interval.Below(b.Interval)
	}
	standings := make([]Standing, len(rows))
	eligible := 0
	for i, row := range rows {
		ranked := row.Eligible && row.Interval.Lo <= row.Interval.Hi && !math.IsNaN(row.Score)
		standings[i] = Standing{Row: row, Ranked: ranked}
		if ranked {
			eligible++
		}
	}
	for i := range standings {
		s := &standings[i]
		if !s.Ranked {
			continue
		}
		s.Best, s.Worst = 1, eligible
		for _, other := range standings {
			switch {
			case !other.Ranked:
			case beats(other.Row, s.Row):
				s.Best++
			case beats(s.Row, other.Row):
				s.Worst--
			}
		}
	}
	slices.SortStableFunc(standings, func(a, b Standing) int {
		byScore := cmp.Compare(a.Score, b.Score)
		if better == HigherIsBetter {
			byScore = -byScore
		}
		return cmp.Or(compareBool(b.Ranked, a.Ranked), cmp.Compare(a.Best, b.Best), byScore, strings.Compare(a.Name, b.Name))
	})
	return standings
}

// RankConfidence returns the confidence of the intervals that a board of so
// many rows is ranked by: 95 %, or 99 % above 20 rows, where the number of
// pairs that could be called different by chance has grown with the square.
func RankConfidence(rows int) float64 {
	if rows > 20 {
		return 0.99
	}
	return 0.95
}

// What a pair must show before it is ranked.
const (
	MinDayRuns      = 3    // valid runs that make a day count
	MinRankRuns     = 20   // valid runs in the window
	MinAvailability = 0.80 // below it, the runs that succeed are another population
)

// Evidence is what a window holds for one pair and one metric.
type Evidence struct {
	Days         int       // UTC days with at least MinDayRuns valid runs
	Runs         int       // valid runs
	Freshness    Freshness // of the last success
	Availability *float64  // nil if unknown
	Buffered     bool      // the stream is held back and released late
	Estimated    bool      // token counts are guesses
}

// An Ineligibility is why a row has no rank. The empty one means it may have.
type Ineligibility string

// The reasons, in the order they are looked for.
const (
	Eligible            Ineligibility = ""
	IneligibleBuffered  Ineligibility = "buffered"
	IneligibleEstimated Ineligibility = "estimated"
	IneligibleStale     Ineligibility = "stale"
	IneligibleDays      Ineligibility = "too_few_days"
	IneligibleRuns      Ineligibility = "too_few_runs"
	IneligibleUnknown   Ineligibility = "availability_unknown"
	IneligibleDown      Ineligibility = "low_availability"
)

// Ineligible returns the first reason that keeps a row unranked, or [Eligible]:
// at least [MinScoreDays] days and [MinRankRuns] runs, not stale, availability
// of [MinAvailability] or more, neither buffered nor estimated.
func (e Evidence) Ineligible() Ineligibility {
	switch {
	case e.Buffered:
		return IneligibleBuffered
	case e.Estimated:
		return IneligibleEstimated
	case e.Freshness == Stale:
		return IneligibleStale
	case e.Days < MinScoreDays:
		return IneligibleDays
	case e.Runs < MinRankRuns:
		return IneligibleRuns
	case e.Availability == nil:
		return IneligibleUnknown
	case !(*e.Availability >= MinAvailability):
		return IneligibleDown
	}
	return Eligible
}

// maxMannWhitney bounds the values of [MannWhitney], whose work grows with
// their number to the fourth.
const maxMannWhitney = 100

// MannWhitney compares two independent sets of values. U counts the pairs in
// which the value of x is the greater, ties as one half. P is the probability,
// if every way of dealing these values into sets of these sizes were alike, of
// a U at least as far from its mean len(x)len(y)/2, in either direction. P is
// exact with ties too, as it goes by midranks.
//
// It reports false if a set is empty, a value is NaN, or there are more than
// 100 values in all.
//
// Source: Mann and Whitney, Annals of Mathematical Statistics 18(1), 1947;
// Cheung and Klotz, "The Mann Whitney Wilcoxon distribution using linked
// lists", Statistica Sinica 7, 1997, for ties.
func MannWhitney(x, y []float64) (u, p float64, ok bool) {
	all := slices.Concat(x, y)
	if len(x) == 0 || len(y) == 0 || len(all) > maxMannWhitney || slices.ContainsFunc(all, math.IsNaN) {
		return 0, 0, false
	}
	slices.Sort(all)
	// Twice the midrank is an integer, so sums of them compare exactly.
	ranks := make([]int, len(all))
	twice := make(map[float64]int)
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j] == all[i] {
			j++
		}
		for k := i; k < j; k++ {
			ranks[k] = i + 1 + j
		}
		twice[all[i]] = i + 1 + j
		i = j
	}
	var observed int
	for _, v := range x {
		observed += twice[v]
	}
	centre := len(x) * (len(all) + 1) // twice the mean of the rank sum
	distance := abs(observed - centre)

	// ways[k][s] counts the choices of k values whose doubled ranks sum to s.
	total := 0
	for _, r := range ranks {
		total += r
	}
	ways := make([][]float64, len(x)+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for k := len(x); k > 0; k-- {
			for s := total; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	var extreme, every float64
	for s, w := range ways[len(x)] {
		every += w
		if abs(s-centre) >= distance {
			extreme += w
		}
	}
	u = float64(observed-len(x)*(len(x)+1)) / 2
	return u, extreme / every, true
}

func abs(n int) int { return max(n, -n) }
