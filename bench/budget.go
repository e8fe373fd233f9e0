package bench

import (
	"fmt"
	"math"
	"time"
)

// spread stretches the cadences of a provider whose budget does not last.
func (v *providerView) spread() {
	b := v.p.Budget
	v.use = BudgetUse{
		Provider: v.p.PublicName(), Stretch: 1,
		RequestsPerDay: b.RequestsPerDay, USDPerMonth: b.USDPerMonth, TokensPerMonth: b.TokensPerMonth,
	}
	for _, a := range v.recent {
		v.use.USD += v.costOf(a)
		v.use.Tokens += tokensOf(a.Attempt)
		if a.StartedAt.After(v.now.Add(-day)) {
			v.use.Requests++
		}
	}
	var requests, usd, tokens float64           // that the cadences ask for, a day
	var probes, probesUSD, probesTokens float64 // that the buffering probes do
	var unpriced int
	for _, s := range v.pairs {
		n := s.perDay()
		if s.probed() {
			probes++
			probesUSD += s.shortUSD()
			probesTokens += s.shortTokens()
		}
		requests += n
		usd += n * s.usd
		tokens += n * (s.input + s.output)
		unpriced += btoi(s.m.Price == nil)
	}
	if b.USDPerMonth > 0 && unpriced > 0 {
		v.warnings = append(v.warnings, fmt.Sprintf("%s: usd_per_month does not bound %d of its models, as their prices are not known", v.use.Provider, unpriced))
	}
	if len(v.pairs) == 0 {
		return
	}
	// Probes that would take over a tenth of a budget are left out. Else they
	// keep their pace, and the cadences share the rest.
	large := func(want, have float64) bool { return have > 0 && want > have/10 }
	if large(probes, float64(b.RequestsPerDay)) || large(probesUSD*30, b.USDPerMonth) || large(probesTokens*30, float64(b.TokensPerMonth)) {
		v.noProbes, probes, probesUSD, probesTokens = true, 0, 0, 0
	}
	stretch, bound := 1.0, ""
	consider := func(want, have, probes float64, what string) {
		if have > 0 && want/(have-probes) > stretch {
			stretch, bound = want/(have-probes), what
		}
	}
	consider(requests, float64(b.RequestsPerDay), probes, fmt.Sprintf("%d requests a day", b.RequestsPerDay))
	consider(usd*30, b.USDPerMonth, probesUSD*30, fmt.Sprintf("$%g a month", b.USDPerMonth))
	consider(tokens*30, float64(b.TokensPerMonth), probesTokens*30, fmt.Sprintf("%d tokens a month", b.TokensPerMonth))
	if stretch == 1 {
		return
	}
	// In quarters, so that a drift of the medians does not move every slot.
	stretch = math.Ceil(stretch*4) / 4
	v.use.Stretch = stretch
	for _, s := range v.pairs {
		s.cadence = s.asked.slower(stretch)
	}
	v.warnings = append(v.warnings, fmt.Sprintf("%s: the cadences ask for more than the budget of %s; they are stretched %g times", v.use.Provider, bound, stretch))
}

// costOf is what an attempt cost; 0 where the price or the counts are unknown.
func (v *providerView) costOf(a pairAttempt) float64 {
	price := v.prices[a.pair]
	if price == nil || !a.Input.Known || !a.Output.Known {
		return 0
	}
	return (float64(a.Input.N)*price.Input + float64(a.Output.N)*price.Output) / 1e6
}

func tokensOf(a Attempt) int64 {
	var n int64
	if a.Input.Known {
		n += a.Input.N
	}
	if a.Output.Known {
		n += a.Output.N
	}
	return n
}

// overBudget says why one more request of the pair is more than the budget
// allows, and when it will not be; "" if it is allowed.
func (v *providerView) overBudget(s *pairView) (why string, until time.Time) {
	b := v.p.Budget
	if b.RequestsPerDay > 0 && v.use.Requests+1 > b.RequestsPerDay {
		excess := float64(v.use.Requests + 1 - b.RequestsPerDay)
		return fmt.Sprintf("%d of %d requests in 24 hours are used", v.use.Requests, b.RequestsPerDay),
			v.freed(day, excess, func(pairAttempt) float64 { return 1 })
	}
	if b.USDPerMonth > 0 && v.use.USD+s.usd > b.USDPerMonth {
		return fmt.Sprintf("$%.2f of $%g in 30 days are used", v.use.USD, b.USDPerMonth),
			v.freed(month, v.use.USD+s.usd-b.USDPerMonth, v.costOf)
	}
	if tokens := int64(s.input + s.output); b.TokensPerMonth > 0 && v.use.Tokens+tokens > b.TokensPerMonth {
		return fmt.Sprintf("%d of %d tokens in 30 days are used", v.use.Tokens, b.TokensPerMonth),
			v.freed(month, float64(v.use.Tokens+tokens-b.TokensPerMonth), func(a pairAttempt) float64 {
				return float64(tokensOf(a.Attempt))
			})
	}
	return "", time.Time{}
}

// freed is when so much of what was used is older than the span; zero if that
// is not known, as when one request alone is over the budget.
func (v *providerView) freed(span time.Duration, excess float64, weight func(pairAttempt) float64) time.Time {
	for _, a := range v.recent {
		if !a.StartedAt.After(v.now.Add(-span)) {
			continue
		}
		if excess -= weight(a); excess <= 0 {
			return a.StartedAt.Add(span)
		}
	}
	return time.Time{}
}

// spend counts a request that is about to be sent as used.
func (v *providerView) spend(s *pairView) {
	v.use.Requests++
	v.use.USD += s.usd
	v.use.Tokens += int64(s.input + s.output)
}
