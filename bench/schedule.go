package bench

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// The scheduler's part of the published method. The methodology page prints
// them from here.
const (
	BreakerFailures = 3                // failures in a row, of any of the seven kinds, that open a pair's breaker
	BreakerInterval = 30 * time.Minute // between probes while it is open
	RateLimitPause  = 5 * time.Minute  // added to a provider's next slot after a 429
	MaxRetryAfter   = 24 * time.Hour   // the longest Retry-After that is obeyed

	// UtilisationLimit is the share of a lane's time above which a plan warns:
	// beyond it one provider's outage delays everybody's slots.
	UtilisationLimit = 0.8
)

// What is assumed of a pair that has never been measured.
const (
	assumedDuration    = 20 * time.Second
	assumedInputTokens = 60

	medianOver = 20 // newest attempts that a pair's medians are taken over
)

// A History is what is known of the past: each pair's attempts. Their order
// does not matter, only their times. All state of the scheduler follows from
// it, so that a lost or repeated tick changes nothing but lateness. Attempts
// later than now are left out of account, as a clock was wrong.
type History map[Pair][]Attempt

// An Attempt is what the scheduler needs to know of a sample.
type Attempt struct {
	StartedAt  time.Time
	Duration   time.Duration // start to end, connection included
	Kind       wire.ErrorKind
	RetryAfter time.Duration // as the provider asked; 0 if it did not
	NoOptions  bool          // the request was rejected for its stream_options
	Short      bool          // a buffering probe: it uses budgets, and counts for nothing else
	Input      wire.Count    // tokens
	Output     wire.Count    // tokens, reasoning included
}

// AttemptOf returns what the scheduler needs to know of a sample. Samples of
// runs that were cancelled are no attempts; the caller drops them.
func AttemptOf(s *Sample) Attempt {
	end := max(s.EOF, s.Done, s.LastText, s.FirstReason, s.Phases.Headers, s.Phases.FirstByte, s.Phases.WroteRequest)
	if len(s.Trace) > 0 {
		end = max(end, s.Trace[len(s.Trace)-1].At)
	}
	d := s.Phases.Setup + end
	if s.Kind == wire.KindTimeout && s.HTTPStatus < 400 && s.InnerCode == 0 {
		// Our own deadline: its wait is no instant of the sample.
		switch s.FailedIn {
		case PhaseDNS, PhaseDial, PhaseTLS:
			d = DialTimeout
		default:
			d = min(d+IdleTimeout, RunTimeout)
		}
	}
	return Attempt{
		StartedAt: s.StartedAt, Duration: d, Kind: s.Kind, RetryAfter: s.RetryAfter,
		NoOptions: s.Detail == wire.DetailStreamOptions, Short: s.Env.Short,
		Input: s.Usage.Input, Output: s.Usage.Output,
	}
}

// Options are what a plan depends on besides time, providers and history. The
// zero value plans everything, without a bound.
type Options struct {
	// Env tells which variables are set; nil counts all providers as
	// configured.
	Env Lookup
	// Only restricts the plan to some pairs; nil is all.
	Only func(Pair) bool
	// Force makes every pair due now. Budgets and pauses after a 429 hold.
	Force bool
	// Time bounds how long the due requests may take in all; 0 does not. The
	// first in each lane always fits.
	Time time.Duration
	// Seed shuffles pairs that are equally overdue; 0 derives it from now.
	Seed uint64
}

// A Plan says what to measure now, in which order, and why; and of every other
// pair why not. Each pair is in Due or in Skipped, once.
type Plan struct {
	Now      time.Time   `json:"now"`
	Seed     uint64      `json:"seed"`
	Due      []DueRun    `json:"due"`
	Skipped  []Skip      `json:"skipped"`
	Next     time.Time   `json:"next,omitzero"` // when to look again; zero if nothing will ever be due
	Lanes    []Lane      `json:"lanes"`
	Budgets  []BudgetUse `json:"budgets,omitempty"`
	Cost     Cost        `json:"cost"`
	Warnings []string    `json:"warnings,omitempty"`
}

// A DueRun is one request to send. [DueRun.Run] prepares it.
type DueRun struct {
	Pair
	Scheduled time.Time     `json:"scheduled"`        // the slot it was due in
	Overdue   time.Duration `json:"overdue_ns"`       // Plan.Now less Scheduled
	Missed    int           `json:"missed,omitempty"` // later slots that have passed too; they are not made up for
	Probe     bool          `json:"probe,omitempty"`  // sent to see whether an open breaker can close
	Why       string        `json:"why"`              // in words
	Lane      string        `json:"lane"`
	StartsIn  time.Duration `json:"starts_in_ns"` // expected: after the lane's earlier requests
	Takes     time.Duration `json:"takes_ns"`     // expected: the median of earlier attempts, with the probe's

	// Beside says whether the day's buffering probe goes with the request, and
	// BesideSlot the slot that it was due in.
	Beside     ProbeOrder `json:"buffer_probe,omitempty"`
	BesideSlot time.Time  `json:"buffer_probe_slot,omitzero"`

	provider *Provider
	model    *Model
	lanes    int
}

// Run returns the request as a [Meter] takes it; see [Provider.Run].
func (d *DueRun) Run(env Lookup, random io.Reader) (Run, error) {
	r, err := d.provider.Run(d.model, env, random)
	r.Scheduled = d.Scheduled
	r.Env.Lanes = d.lanes
	return r, err
}

// Source returns the provider and model that are to be measured.
func (d *DueRun) Source() (*Provider, *Model) { return d.provider, d.model }

// A SkipCode says why a pair is not measured now.
type SkipCode string

// The reasons to skip a pair.
const (
	SkipNotConfigured SkipCode = "not_configured" // a variable is not set
	SkipNotSelected   SkipCode = "not_selected"   // Options.Only left it out
	SkipNotDue        SkipCode = "not_due"
	SkipBreaker       SkipCode = "breaker"    // failed too often; probed later
	SkipRateLimit     SkipCode = "rate_limit" // the provider asked for a pause
	SkipBudget        SkipCode = "budget"
	SkipTime          SkipCode = "time" // due, but the tick is over before its turn
)

// A Skip is a pair that is not measured now. Its model is empty where a
// provider that only discovers models has none yet.
type Skip struct {
	Pair
	Code  SkipCode  `json:"code"`
	Why   string    `json:"why"`            // in words
	Until time.Time `json:"until,omitzero"` // when it may be due; zero if that is not known
}

// A Lane is a sequence of requests, one at a time. Providers share one, unless
// they have their own.
type Lane struct {
	Name        string        `json:"name"` // a provider's public name, or SharedLane
	Pairs       int           `json:"pairs"`
	Due         time.Duration `json:"due_ns"`      // expected time of the requests due now
	Utilisation float64       `json:"utilisation"` // sum of median duration over cadence; above 1 slots must be missed
}

// SharedLane is the lane of all providers without one of their own.
const SharedLane = "shared"

// AllShards names the one shard of a run that measures every provider.
const AllShards = "all"

// A BudgetUse is what a provider with a budget has used of it. Limits of 0 are
// none.
type BudgetUse struct {
	Provider       string  `json:"provider"`
	Requests       int     `json:"requests"` // in the last 24 hours
	RequestsPerDay int     `json:"requests_per_day,omitempty"`
	USD            float64 `json:"usd"` // in the last 30 days, at list prices, where known
	USDPerMonth    float64 `json:"usd_per_month,omitempty"`
	Tokens         int64   `json:"tokens"` // in the last 30 days, where known
	TokensPerMonth int64   `json:"tokens_per_month,omitempty"`
	Stretch        float64 `json:"stretch"` // factor on the cadences that spreads the budget evenly; 1 if it is large enough
}

// A Cost is what a month of 30 days costs at list prices if every slot is
// kept. USD is nil if no pair's price is known.
type Cost struct {
	USD      *float64 `json:"usd_per_month"`
	Priced   int      `json:"priced_pairs"`
	Unpriced int      `json:"unpriced_pairs"`       // not in USD
	Assumed  int      `json:"assumed_tokens_pairs"` // priced, but never measured: token counts are assumed
}

// Due plans the next requests. It is pure: the same arguments give the same
// plan, and no state but history is looked at.
//
//   - A pair is due when a slot of its [Cadence] has begun since its last
//     attempt, or if it was never attempted. Slots that passed unserved are
//     counted, not made up for.
//   - The most overdue go first, pairs never attempted before them; pairs
//     overdue by the same whole minute are shuffled.
//   - After BreakerFailures failures in a row, of whatever kind, a pair is
//     probed every BreakerInterval until a success, see [Breaker].
//   - A 429 moves the provider's next slot by RateLimitPause, or to the end of
//     its Retry-After if that is later. A Retry-After with any other failure
//     holds its pair alone.
//   - A budget is spread evenly by stretching cadences, so that it is not used
//     up at the same hours of each day, and enforced over the past besides.
//   - Once a day a request has a buffering probe beside it, see [ProbeOrder],
//     unless the provider's file says otherwise or its budget has no room.
//   - Lanes run one request at a time.
func Due(now time.Time, providers []Provider, history History, opts Options) Plan {
	now = now.UTC()
	plan := Plan{Now: now, Seed: opts.Seed, Due: []DueRun{}, Skipped: []Skip{}}
	if plan.Seed == 0 {
		plan.Seed = uint64(now.UnixNano())
	}
	past := newPast(now, history)
	var views []*providerView
	for i := range providers {
		p := &providers[i]
		if opts.Env != nil {
			if unset := p.Missing(opts.Env); len(unset) > 0 {
				plan.skipProvider(p, notConfigured(unset))
				continue
			}
		}
		v := past.view(p, opts)
		views = append(views, v)
		plan.Skipped = append(plan.Skipped, v.unset...)
		plan.Warnings = append(plan.Warnings, v.warnings...)
	}
	plan.Lanes = lanes(views)

	var due []*pairView
	for _, v := range views {
		for _, s := range v.pairs {
			switch skip, ok := s.skip(now, opts); {
			case ok:
				plan.Skipped = append(plan.Skipped, skip)
				plan.wake(skip.Until)
			default:
				due = append(due, s)
			}
		}
	}
	order(due, plan.Seed, now)
	plan.admit(due, opts.Time)
	for _, v := range views {
		if v.p.Budget != (Budget{}) {
			plan.Budgets = append(plan.Budgets, v.use)
		}
	}
	plan.Cost = cost(views)
	for _, l := range plan.Lanes {
		if l.Utilisation > UtilisationLimit {
			plan.Warnings = append(plan.Warnings, fmt.Sprintf(
				"lane %s is %.0f %% busy; above %.0f %% a slow or failing provider delays all others: use longer cadences, fewer models or lanes: per-provider",
				l.Name, 100*l.Utilisation, 100*UtilisationLimit))
		}
	}
	return plan
}

// skipProvider skips all pairs of a provider.
func (plan *Plan) skipProvider(p *Provider, why string) {
	if len(p.Models) == 0 {
		plan.Skipped = append(plan.Skipped, Skip{Pair: Pair{Provider: p.PublicName()}, Code: SkipNotConfigured, Why: why})
	}
	for i := range p.Models {
		plan.Skipped = append(plan.Skipped, Skip{Pair: p.Pair(&p.Models[i]), Code: SkipNotConfigured, Why: why})
	}
}

// wake makes at the next wake-up if it is the earliest.
func (plan *Plan) wake(at time.Time) {
	if !at.IsZero() && (plan.Next.IsZero() || at.Before(plan.Next)) {
		plan.Next = at
	}
}

// order sorts the most overdue first, and shuffles pairs that are overdue by
// the same whole minute, so that no pair is always the first of a process.
func order(due []*pairView, seed uint64, now time.Time) {
	slices.SortFunc(due, func(a, b *pairView) int { return cmp.Compare(a.pair.String(), b.pair.String()) })
	rng := rand.New(rand.NewPCG(seed, 0))
	rng.Shuffle(len(due), func(i, j int) { due[i], due[j] = due[j], due[i] })
	minutes := func(s *pairView) int64 {
		if !s.ran {
			return math.MaxInt64
		}
		return int64(now.Sub(s.ready) / time.Minute)
	}
	slices.SortStableFunc(due, func(a, b *pairView) int { return cmp.Compare(minutes(b), minutes(a)) })
}

// admit moves due pairs into the plan as far as budgets and time allow.
func (plan *Plan) admit(due []*pairView, within time.Duration) {
	for _, s := range due {
		lane := &plan.Lanes[slices.IndexFunc(plan.Lanes, func(l Lane) bool { return l.Name == s.of.lane() })]
		if why, until := s.of.overBudget(s); why != "" {
			plan.Skipped = append(plan.Skipped, Skip{Pair: s.pair, Code: SkipBudget, Why: why, Until: until})
			plan.wake(until)
			continue
		}
		if within > 0 && lane.Due > 0 && lane.Due+s.takes > within {
			// A shorter one behind it would fit, and overtake it in every tick.
			plan.Skipped = append(plan.Skipped, Skip{
				Pair: s.pair, Code: SkipTime, Until: plan.Now,
				Why: fmt.Sprintf("%s of the tick's %s are taken by pairs more overdue", words(lane.Due), words(within)),
			})
			lane.Due = max(lane.Due, within) // closes the lane
			plan.wake(plan.Now)
			continue
		}
		s.of.spend(s)
		s.planProbe(plan.Now)
		takes := s.takes
		if s.short.planned != NoProbe {
			takes += s.shortTakes()
		}
		plan.Due = append(plan.Due, DueRun{
			Pair: s.pair, Scheduled: s.ready, Overdue: plan.Now.Sub(s.ready), Missed: s.missed,
			Probe: s.probe, Beside: s.short.planned, BesideSlot: s.short.slot, Why: s.why(plan.Now) + s.short.planned.with(),
			Lane: lane.Name, StartsIn: lane.Due, Takes: takes,
			provider: s.of.p, model: s.m, lanes: len(plan.Lanes),
		})
		lane.Due += takes
		plan.wake(s.cadence.Next(s.pair, plan.Now))
	}
}

// lanes lists the lanes in use, the shared one first.
func lanes(views []*providerView) []Lane {
	list := []Lane{}
	for _, v := range views {
		i := slices.IndexFunc(list, func(l Lane) bool { return l.Name == v.lane() })
		if i < 0 {
			i = len(list)
			list = append(list, Lane{Name: v.lane()})
		}
		for _, s := range v.pairs {
			list[i].Pairs++
			list[i].Utilisation += float64(s.takes) / float64(s.cadence.Interval())
			if s.probed() {
				list[i].Utilisation += float64(s.shortTakes()) / float64(BufferProbeEvery)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Lane) int {
		return cmp.Compare(btoi(b.Name == SharedLane), btoi(a.Name == SharedLane))
	})
	return list
}

// cost sums up what a month of kept slots costs.
func cost(views []*providerView) Cost {
	var c Cost
	var usd float64
	for _, v := range views {
		for _, s := range v.pairs {
			if s.m.Price == nil {
				c.Unpriced++
				continue
			}
			c.Priced++
			c.Assumed += btoi(s.assumed)
			usd += s.usd * s.perDay() * 30
			if s.probed() {
				usd += s.shortUSD() * 30
			}
		}
	}
	if c.Priced > 0 {
		c.USD = &usd
	}
	return c
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
