package simulate

import (
	"iter"
	"math"
	"math/rand/v2"
	"time"
)

// A Past is how a model's speed and reliability wandered. Shares are of the
// decode rate; the time to the first token moves the other way, and more.
// The zero Past is a model that never changed.
//
// The numbers are assumed, not fitted to any provider.
type Past struct {
	Day   float64 // standard deviation of a whole UTC day's factor
	Cycle float64 // how much is lost at the busiest hour of a weekday; half of it at weekends
	Drift float64 // change from the beginning to the end of the span, spread evenly
	Noise float64 // standard deviation of a single run's factor
	Rare  float64 // share of runs that fail out of the blue

	Outages []Outage

	StepAt float64 // share of the span after which…
	Step   float64 // …the rate is changed by this for good, e.g. -0.20
}

// An Outage is a time in which most runs fail.
type Outage struct {
	At   float64 // when it begins, as a share of the span
	For  time.Duration
	Kind FaultKind
}

// outageShare is the share of runs that fail during an outage: some get through.
const outageShare = .9

// A Slot is one instant of a model's synthetic past.
type Slot struct {
	At    time.Time
	Model string
	Shape Shape // what the model did then; Fault.Kind is how it failed, FaultNone if it did not
	seed  uint64
}

// Timeline lays out the answer of that instant to a request that allows limit
// output tokens: every chunk with its offset, tokens and text. A failed run
// ends in a StepBreak. It is the same each time.
func (s Slot) Timeline(limit int) Timeline {
	return s.Shape.Timeline(limit, rand.New(rand.NewPCG(s.seed, hash(s.Model))))
}

// History yields the past of m from from until before to, one slot each every,
// in order. It is pure: the same arguments give the same slots. Outages, the
// drift and the step lie at shares of the span, all else at instants of the
// calendar. It yields nothing if every is not positive.
func History(seed uint64, m Model, from, to time.Time, every time.Duration) iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		if every <= 0 {
			return
		}
		seed := seed ^ hash("history", m.Name)
		busiest := 13 + 8*rand.New(rand.NewPCG(seed, 0)).Float64() // hour of day, UTC
		span := to.Sub(from)
		for at := from; at.Before(to); at = at.Add(every) {
			if !yield(m.slot(seed, busiest, at, from, span)) {
				return
			}
		}
	}
}

func (m Model) slot(seed uint64, busiest float64, at, from time.Time, span time.Duration) Slot {
	p := m.Past
	at = at.UTC()
	rng := rand.New(rand.NewPCG(seed, uint64(at.UnixNano())))
	share := float64(at.Sub(from)) / float64(span)

	// Draws come in a fixed order, so that one field of Past can be changed
	// without changing what the others do.
	noise, wait := rng.NormFloat64(), rng.NormFloat64()
	odd, fails, rare, kind := rng.Float64(), rng.Float64(), rng.Float64(), rng.IntN(4)
	slot := Slot{At: at, Model: m.Name, Shape: m.Shape, seed: rng.Uint64()}

	days := at.Unix() / 86400
	day := rand.New(rand.NewPCG(seed, uint64(days))).NormFloat64()
	load := p.load(at, busiest)

	rate := math.Exp(p.Day*day+p.Noise*noise) * (1 - p.Cycle*load) * (1 + p.Drift*share)
	prefill := math.Exp(-1.5*p.Day*day+3*p.Noise*wait) * (1 + 2*p.Cycle*load)
	if p.Noise > 0 && odd < .01 { // now and then a request waits in a queue
		prefill *= 3 + 500*odd
	}
	if p.Step != 0 && share >= p.StepAt {
		rate *= 1 + p.Step
	}
	slot.Shape.slow(1/rate, prefill)

	switch f := &slot.Shape.Fault; {
	case p.out(at, from, span) != FaultNone && fails < outageShare:
		*f = Fault{Kind: p.out(at, from, span), Delay: 200 * ms}
	case f.Kind != FaultNone && fails*float64(max(1, f.Every)) < 1:
		f.Every = 0
	case rare < p.Rare:
		*f = Fault{Kind: [...]FaultKind{FaultServer, FaultRateLimit, FaultReset, FaultTruncate}[kind], After: 20, Delay: 150 * ms}
	default:
		*f = Fault{}
	}
	return slot
}

// load is how busy the calendar makes a provider: 0 at night, 1 at the busiest
// hour of a weekday.
func (p Past) load(at time.Time, busiest float64) float64 {
	hour := float64(at.Hour()) + float64(at.Minute())/60
	load := .5 + .5*math.Cos((hour-busiest)/24*2*math.Pi)
	if d := at.Weekday(); d == time.Saturday || d == time.Sunday {
		load /= 2
	}
	return load
}

// out returns the kind of the outage at that instant, FaultNone if there is none.
func (p Past) out(at, from time.Time, span time.Duration) FaultKind {
	for _, o := range p.Outages {
		start := from.Add(time.Duration(o.At * float64(span)))
		if !at.Before(start) && at.Before(start.Add(o.For)) {
			return o.Kind
		}
	}
	return FaultNone
}

// slow multiplies the times of s: those of tokens by decode, the wait by prefill.
func (s *Shape) slow(decode, prefill float64) {
	by := func(d time.Duration, f float64) time.Duration { return time.Duration(float64(d) * f) }
	s.Prefill = by(s.Prefill, prefill)
	s.PerToken, s.ReasoningPer, s.HiddenTime = by(s.PerToken, decode), by(s.ReasoningPer, decode), by(s.HiddenTime, decode)
}
