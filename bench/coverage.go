package bench

import (
	"slices"
	"time"
)

// GapLimit is how many cadences may lie between two attempts of a pair before
// it counts as a gap, is counted, and is drawn as one.
const GapLimit = 1.5

// A Coverage is how well a pair's cadence was kept over a span of time. A
// scheduled job comes late and is dropped now and then; this says how much of
// that reached the record, so that nothing promises a cadence that was not kept.
type Coverage struct {
	Slots    int             `json:"slots"`  // slot instants in the span
	Served   int             `json:"served"` // slots with an attempt before the next one's instant
	Lateness []time.Duration `json:"-"`      // of the served slots, from the instant to the attempt, ascending
	Gaps     []Gap           `json:"gaps,omitempty"`
}

// A Gap is a span without an attempt, longer than GapLimit cadences.
type Gap struct {
	From time.Time `json:"from"` // the attempt before it, or the beginning of the span
	To   time.Time `json:"to"`   // the attempt after it, or the end of the span
}

// Cover compares a pair's attempts with its slots in [from, to). The starts of
// the attempts may come in any order; those outside the span are left out.
func (c Cadence) Cover(p Pair, starts []time.Time, from, to time.Time) Coverage {
	var cov Coverage
	if !from.Before(to) || c.IsZero() {
		return cov
	}
	in := make([]time.Time, 0, len(starts))
	for _, t := range starts {
		if !t.Before(from) && t.Before(to) {
			in = append(in, t)
		}
	}
	slices.SortFunc(in, time.Time.Compare)

	i := 0
	at := c.Next(p, from.Add(-1))
	for !at.IsZero() && at.Before(to) {
		next := c.Next(p, at)
		cov.Slots++
		for i < len(in) && in[i].Before(at) {
			i++
		}
		if i < len(in) && (next.IsZero() || in[i].Before(next)) {
			cov.Served++
			cov.Lateness = append(cov.Lateness, in[i].Sub(at))
		}
		at = next
	}
	slices.Sort(cov.Lateness)

	limit := time.Duration(GapLimit * float64(c.Interval()))
	before := from
	for _, t := range append(in, to) {
		if t.Sub(before) > limit {
			cov.Gaps = append(cov.Gaps, Gap{before, t})
		}
		before = t
	}
	return cov
}
