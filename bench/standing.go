package bench

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

const (
	day   = 24 * time.Hour
	month = 30 * day
)

// A past is the history up to now, each pair's attempts in order of time.
type past struct {
	now   time.Time
	pairs map[Pair][]Attempt
}

func newPast(now time.Time, history History) past {
	h := past{now: now, pairs: make(map[Pair][]Attempt, len(history))}
	byTime := func(a, b Attempt) int { return a.StartedAt.Compare(b.StartedAt) }
	for pair, attempts := range history {
		if !slices.IsSortedFunc(attempts, byTime) {
			attempts = slices.Clone(attempts)
			slices.SortFunc(attempts, byTime)
		}
		for len(attempts) > 0 && attempts[len(attempts)-1].StartedAt.After(now) {
			attempts = attempts[:len(attempts)-1]
		}
		if len(attempts) > 0 {
			h.pairs[pair] = attempts
		}
	}
	return h
}

// of returns the attempts of a provider since an instant, in order of time,
// those of models that it no longer has among them.
func (h past) of(provider string, since time.Time) []pairAttempt {
	var list []pairAttempt
	for pair, attempts := range h.pairs {
		if pair.Provider != provider {
			continue
		}
		from, _ := slices.BinarySearchFunc(attempts, since, func(a Attempt, t time.Time) int { return a.StartedAt.Compare(t) })
		for _, a := range attempts[from:] {
			list = append(list, pairAttempt{a, pair})
		}
	}
	slices.SortFunc(list, func(a, b pairAttempt) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), cmp.Compare(a.pair.Model, b.pair.Model))
	})
	return list
}

// last returns the newest attempt of a provider.
func (h past) last(provider string) (last Attempt, ok bool) {
	for pair, attempts := range h.pairs {
		if pair.Provider != provider {
			continue
		}
		a := attempts[len(attempts)-1]
		// Of two at one instant the worse counts, not the first in a map.
		if !ok || cmp.Or(a.StartedAt.Compare(last.StartedAt), cmp.Compare(a.Kind, last.Kind)) > 0 {
			last, ok = a, true
		}
	}
	return last, ok
}

// A pairAttempt is an attempt and whose it was.
type pairAttempt struct {
	Attempt
	pair Pair
}

// A providerView is a provider as its history leaves it.
type providerView struct {
	p        *Provider
	pairs    []*pairView
	unset    []Skip // models that lack a variable of their own
	warnings []string

	hold     time.Time // no request before it, after a 429
	noProbes bool      // the budget is too small for buffering probes
	use      BudgetUse
	recent   []pairAttempt // of the last 30 days, oldest first
	now      time.Time
	prices   map[Pair]*Price
}

// A pairView is a pair as its history leaves it.
type pairView struct {
	of      *providerView
	m       *Model
	pair    Pair
	asked   Cadence // as configured
	cadence Cadence // as the budget allows

	ran      bool
	last     Attempt
	failures int       // in a row, up to the last attempt
	probe    bool      // the breaker is open
	slot     time.Time // the first slot since the last attempt; zero if never attempted
	ready    time.Time // when it is or was due: slot, or the end of a pause
	missed   int

	short shortView

	takes         time.Duration
	input, output float64 // tokens of one run
	assumed       bool    // the tokens are assumed
	usd           float64 // of one run; 0 if the price is unknown
}

// view derives the state of a provider and its pairs.
func (h past) view(p *Provider, opts Options) *providerView {
	v := &providerView{p: p, now: h.now, prices: map[Pair]*Price{}}
	if p.Budget != (Budget{}) {
		v.recent = h.of(p.PublicName(), h.now.Add(-month))
	}
	for i := range p.Models {
		m := &p.Models[i]
		pair := p.Pair(m)
		if opts.Env != nil {
			if unset := p.MissingFor(m, opts.Env); len(unset) > 0 {
				v.unset = append(v.unset, Skip{Pair: pair, Code: SkipNotConfigured, Why: notConfigured(unset)})
				continue
			}
		}
		v.prices[pair] = m.Price
		s := &pairView{of: v, m: m, pair: pair, asked: p.CadenceOf(m)}
		s.cadence = s.asked
		s.look(h.pairs[pair])
		v.pairs = append(v.pairs, s)
	}
	v.assume()
	v.spread()
	for _, s := range v.pairs {
		s.schedule()
	}
	if last, ok := h.last(p.PublicName()); ok && last.Kind == wire.KindRateLimit {
		v.pause(last)
	}
	for _, s := range v.pairs {
		s.settle(h.now, opts.Force)
	}
	return v
}

// look takes what a pair's own attempts tell.
func (s *pairView) look(all []Attempt) {
	attempts, short := splitShort(all)
	s.lookShort(attempts, short)
	if n := len(attempts); n > 0 {
		s.ran, s.last = true, attempts[n-1]
		for i := n - 1; i >= 0 && attempts[i].Kind != wire.KindNone; i-- {
			s.failures++
		}
	}
	newest := attempts[max(0, len(attempts)-medianOver):]
	s.takes = medianDuration(newest)
	var in, out []float64
	for _, a := range newest {
		if a.Input.Known && a.Output.Known {
			in, out = append(in, float64(a.Input.N)), append(out, float64(a.Output.N))
		}
	}
	s.assumed = len(out) == 0
	s.input, s.output = median(in, assumedInputTokens), median(out, MaxOutputTokens)
	if price := s.m.Price; price != nil {
		s.usd = (s.input*price.Input + s.output*price.Output) / 1e6
	}
}

// perDay is how many slots a pair has in a day.
func (s *pairView) perDay() float64 { return float64(day) / float64(s.cadence.Interval()) }

// schedule finds the pair's first slot since its last attempt.
func (s *pairView) schedule() {
	if !s.ran {
		return
	}
	s.slot = s.cadence.Next(s.pair, s.last.StartedAt)
	if s.failures >= BreakerFailures {
		s.probe = true
		s.slot = s.last.StartedAt.Add(s.probeInterval())
	}
	if s.last.Kind != wire.KindNone && s.last.Kind != wire.KindRateLimit {
		s.slot = latest(s.slot, s.last.end().Add(obeyed(s.last.RetryAfter)))
	}
}

func (s *pairView) probeInterval() time.Duration {
	if s.of.p.Breaker == BreakerAtCadence {
		return max(BreakerInterval, s.cadence.Interval())
	}
	return BreakerInterval
}

// assume gives pairs without a duration the median of the provider's others.
func (v *providerView) assume() {
	var known []float64
	for _, s := range v.pairs {
		if s.takes > 0 {
			known = append(known, float64(s.takes))
		}
	}
	typical := time.Duration(median(known, float64(assumedDuration)))
	for _, s := range v.pairs {
		if s.takes == 0 {
			s.takes = typical
		}
	}
}

// pause holds the provider, as the last thing it said was 429. Its next slot is
// the earliest of its pairs', but not before that answer.
func (v *providerView) pause(last Attempt) {
	end := last.end()
	var next time.Time
	for _, s := range v.pairs {
		slot := end // of a pair that was never attempted: it was due then
		if s.ran {
			slot = latest(s.slot, end)
		}
		if next.IsZero() || slot.Before(next) {
			next = slot
		}
	}
	v.hold = latest(next.Add(RateLimitPause), end.Add(obeyed(last.RetryAfter)))
}

// settle says when the pair is due, all considered. Force makes it now, unless
// its provider asked for a pause.
func (s *pairView) settle(now time.Time, force bool) {
	s.ready = s.slot
	if !s.ran || force && !s.of.hold.After(now) {
		s.ready = now
	}
	s.ready = latest(s.ready, s.of.hold)
	if s.ran && !s.probe && !s.ready.After(now) {
		s.missed = s.cadence.Slots(s.pair, s.ready, now)
	}
}

// skip says why a pair is not due at now; ok is false if it is due.
func (s *pairView) skip(now time.Time, opts Options) (skip Skip, ok bool) {
	skip = Skip{Pair: s.pair, Until: s.ready}
	switch {
	case opts.Only != nil && !opts.Only(s.pair):
		return Skip{Pair: s.pair, Code: SkipNotSelected, Why: "not selected"}, true
	case !s.ready.After(now):
		return skip, false
	case s.ready.Equal(s.of.hold):
		skip.Code = SkipRateLimit
		skip.Why = fmt.Sprintf("%s answered 429: paused until %s", s.of.p.PublicName(), clockTime(s.ready, now))
		return skip, true
	case s.probe:
		skip.Code = SkipBreaker
		skip.Why = fmt.Sprintf("breaker open until %s: %d failures in a row, the last %s", clockTime(s.ready, now), s.failures, s.last.Kind)
	default:
		skip.Code = SkipNotDue
		skip.Why = fmt.Sprintf("next slot %s: %s, last ran %s ago", clockTime(s.ready, now), s.every(), words(now.Sub(s.last.StartedAt)))
	}
	return skip, true
}

func (v *providerView) lane() string {
	if v.p.OwnLane {
		return v.p.PublicName()
	}
	return SharedLane
}

// end is when an attempt ended.
func (a Attempt) end() time.Time { return a.StartedAt.Add(a.Duration) }

// obeyed bounds a Retry-After, which a provider may set to years.
func obeyed(d time.Duration) time.Duration { return min(max(d, 0), MaxRetryAfter) }

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// medianDuration is 0 if no attempt tells its duration.
func medianDuration(attempts []Attempt) time.Duration {
	d := make([]float64, 0, len(attempts))
	for _, a := range attempts {
		if a.Duration > 0 {
			d = append(d, float64(a.Duration))
		}
	}
	return time.Duration(median(d, 0))
}

// median is the R-7 median, or unknown if there is nothing to take it of.
func median(x []float64, unknown float64) float64 {
	if len(x) == 0 {
		return unknown
	}
	slices.Sort(x)
	m := len(x) / 2
	if len(x)%2 == 1 {
		return x[m]
	}
	return (x[m-1] + x[m]) / 2
}
