package bench

import (
	"io"
	"time"
)

// When buffering probes are sent. The methodology page prints these.
const (
	// BufferProbeEvery is how often a pair is probed. The instant moves over the
	// whole day, as that of any [Cadence] does.
	BufferProbeEvery = 24 * time.Hour

	// BufferProbeSlowest is the longest cadence that has probes. The probe goes
	// first on every other day, and the ordinary request that follows it may find
	// an endpoint awake that it would have found asleep. Of a pair measured four
	// times a day that is one run in eight; of a rarer one it would be too many.
	BufferProbeSlowest = 6 * time.Hour
)

// BufferProbeTokens is the output cap of a buffering probe: a request like any
// other but for its short answer, sent beside an ordinary one once a day. If the
// first output comes later the longer the answer is to be, the stream is held
// back until the answer is made. It is the least cap that OpenAI's Responses API
// takes.
const BufferProbeTokens = 16

// A ProbeOrder says whether a buffering probe goes with a request, and which of
// the two is first. They take turns from day to day, so that whatever the first
// one wakes up favours neither.
type ProbeOrder string

// The orders.
const (
	NoProbe     ProbeOrder = ""
	ProbeBefore ProbeOrder = "before"
	ProbeAfter  ProbeOrder = "after"
)

// ProbeRun returns the buffering probe that goes with the request.
func (d *DueRun) ProbeRun(env Lookup, random io.Reader) (Run, error) {
	r, err := d.provider.Run(d.model, env, random)
	r.Prompt.MaxOutputTokens = BufferProbeTokens
	r.Env.Short = true
	r.Env.Lanes = d.lanes
	r.Scheduled = d.BesideSlot
	return r, err
}

// A shortView is what a pair's past buffering probes tell.
type shortView struct {
	first   time.Time // when the pair was first measured, by the history
	last    time.Time // zero if never probed
	takes   time.Duration
	planned ProbeOrder
	slot    time.Time // that a planned probe was due in
}

// splitShort splits attempts into ordinary ones and buffering probes.
func splitShort(attempts []Attempt) (ordinary, short []Attempt) {
	for _, a := range attempts {
		if a.Short {
			short = append(short, a)
		} else {
			ordinary = append(ordinary, a)
		}
	}
	return ordinary, short
}

// lookShort takes what a pair's own attempts tell of its probes.
func (s *pairView) lookShort(ordinary, short []Attempt) {
	if len(ordinary) > 0 {
		s.short.first = ordinary[0].StartedAt
	}
	if n := len(short); n > 0 {
		s.short.last = short[n-1].StartedAt
		s.short.takes = medianDuration(short[max(0, n-medianOver):])
	}
}

// probed reports whether the pair has a probe a day.
func (s *pairView) probed() bool {
	return s.of.p.BufferProbe && !s.of.noProbes && s.asked.Interval() <= BufferProbeSlowest
}

// shortTakes is how long a probe is expected to take.
func (s *pairView) shortTakes() time.Duration {
	if s.short.takes > 0 {
		return s.short.takes
	}
	return s.takes // it will be less
}

// shortUSD and shortTokens are what a probe is expected to use.
func (s *pairView) shortUSD() float64 {
	if s.m.Price == nil {
		return 0
	}
	return (s.input*s.m.Price.Input + BufferProbeTokens*s.m.Price.Output) / 1e6
}

func (s *pairView) shortTokens() float64 { return s.input + BufferProbeTokens }

// planProbe says whether the day's probe goes with the pair's request now, and
// counts it in the budget: it is the first thing to be given up. A pair has none
// before its first slot after its first run, nor while its breaker is open.
func (s *pairView) planProbe(now time.Time) {
	if !s.probed() || !s.ran || s.probe {
		return
	}
	// The pair's own instants must not be those of its ordinary slots.
	own := Pair{Provider: s.pair.Provider, Model: s.pair.Model + "\x00buffer probe"}
	slot := Every(BufferProbeEvery).Next(own, latest(s.short.first, s.short.last))
	if slot.After(now) || !s.of.affordsProbe(s) {
		return
	}
	s.of.spendProbe(s)
	s.short.slot, s.short.planned = slot, ProbeAfter
	if floorDiv(slot.UnixNano(), int64(BufferProbeEvery))%2 == 0 {
		s.short.planned = ProbeBefore
	}
}

// affordsProbe reports whether a probe fits into what is left of the budget.
func (v *providerView) affordsProbe(s *pairView) bool {
	b := v.p.Budget
	return (b.RequestsPerDay == 0 || v.use.Requests+1 <= b.RequestsPerDay) &&
		(b.USDPerMonth == 0 || v.use.USD+s.shortUSD() <= b.USDPerMonth) &&
		(b.TokensPerMonth == 0 || v.use.Tokens+int64(s.shortTokens()) <= b.TokensPerMonth)
}

// spendProbe counts a probe that is about to be sent as used.
func (v *providerView) spendProbe(s *pairView) {
	v.use.Requests++
	v.use.USD += s.shortUSD()
	v.use.Tokens += int64(s.shortTokens())
}

// with says in words that a probe goes with a request.
func (o ProbeOrder) with() string {
	if o == NoProbe {
		return ""
	}
	return ", the day's buffering probe " + string(o) + " it"
}
