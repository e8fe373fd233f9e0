package bench

import (
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// probing returns a provider with buffering probes.
func probing(t *testing.T, every string, models ...string) Provider {
	p := on(t, "acme", every, models...)
	p.BufferProbe = true
	return p
}

// live plays the scheduler for some days, with a tick every ten minutes: every
// due request is answered at once by 300 tokens, every probe by 16.
func live(p Provider, start time.Time, days int, each func(DueRun)) History {
	h := History{}
	for now := start; now.Before(start.AddDate(0, 0, days)); now = now.Add(10 * time.Minute) {
		for _, d := range Due(now, []Provider{p}, h, Options{}).Due {
			each(d)
			a := Attempt{StartedAt: now, Duration: 4 * time.Second, Input: wire.Known(60), Output: wire.Known(300)}
			h[d.Pair] = append(h[d.Pair], a)
			if d.Beside != NoProbe {
				a.Short, a.Output, a.StartedAt, a.Duration = true, wire.Known(BufferProbeTokens), now.Add(4*time.Second), time.Second
				h[d.Pair] = append(h[d.Pair], a)
			}
		}
	}
	return h
}

// TestBufferProbes checks that each pair has a probe a day, at all hours, before
// and after its ordinary request in turn, and that ordinary slots know nothing of it.
func TestBufferProbes(t *testing.T) {
	start := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	const days = 18
	p := probing(t, "1h", "a", "b", "c")
	probes, ordinary := map[Pair][]DueRun{}, map[Pair]int{}
	hours := map[int]bool{}
	live(p, start, days, func(d DueRun) {
		ordinary[d.Pair]++
		if d.Beside == NoProbe {
			if strings.Contains(d.Why, "buffering") {
				t.Errorf("%s: %s", d.Pair, d.Why)
			}
			return
		}
		if ordinary[d.Pair] == 1 {
			t.Errorf("%s: a probe with the first request ever", d.Pair)
		}
		if !strings.HasSuffix(d.Why, "the day's buffering probe "+string(d.Beside)+" it") {
			t.Errorf("%s: %s", d.Pair, d.Why)
		}
		probes[d.Pair] = append(probes[d.Pair], d)
		hours[d.BesideSlot.Hour()] = true
	})
	without := p
	without.BufferProbe = false
	bare := map[Pair]int{}
	live(without, start, days, func(d DueRun) {
		bare[d.Pair]++
		if d.Beside != NoProbe {
			t.Errorf("a probe though the file says no")
		}
	})
	for pair, list := range probes {
		if len(list) < days-1 || len(list) > days {
			t.Errorf("%s: %d probes in %d days", pair, len(list), days)
		}
		for i, d := range list[1:] {
			if d.Beside == list[i].Beside {
				t.Errorf("%s: %s it twice running, at %v", pair, d.Beside, d.BesideSlot)
			}
			if gap := d.BesideSlot.Sub(list[i].BesideSlot); gap < 17*time.Hour || gap > 31*time.Hour {
				t.Errorf("%s: %v between probes", pair, gap)
			}
		}
		if ordinary[pair] != bare[pair] {
			t.Errorf("%s: %d ordinary requests with probes, %d without", pair, ordinary[pair], bare[pair])
		}
	}
	if len(probes) != 3 || len(hours) < 14 {
		t.Errorf("%d pairs probed, at %d hours of the day", len(probes), len(hours))
	}
}

// TestBufferProbeGivesWay checks when a due request has no probe beside it.
func TestBufferProbeGivesWay(t *testing.T) {
	now := time.Date(2026, 5, 9, 12, 0, 0, 0, time.UTC)
	long := ago(now, minutes(72*60, 70)) // two days and more without a probe
	used := func(a Attempt, short bool) Attempt {
		a.Input, a.Output, a.Short = wire.Known(60), wire.Known(300), short
		return a
	}
	for _, c := range []struct {
		name  string
		edit  func(p *Provider)
		past  []Attempt
		want  bool
		spent int // requests counted in the budget, today's included
	}{
		{"nothing in the way", func(*Provider) {}, long, true, 0},
		{"a slow cadence", func(p *Provider) { p.Every = Every(7 * time.Hour) }, ago(now, minutes(72*60, 16*60)), false, 0},
		{"probed within the day", func(*Provider) {}, append(ago(now, minutes(72*60, 70)), used(ago(now, minutes(5))[0], true)), false, 0},
		{"breaker open", func(*Provider) {}, ago(now, minutes(72*60, 95, 90, 85), wire.KindNone, wire.KindServer, wire.KindServer, wire.KindServer), false, 0},
		{"room in the budget", func(p *Provider) { p.Budget.RequestsPerDay = 40 }, long, true, 3},
		{"budget used up to one request", func(p *Provider) { p.Budget.RequestsPerDay = 25 },
			append(ago(now, minutes(72*60)), ago(now, repeat(minutes(70), 24))...), false, 25},
		{"a tenth of the budget", func(p *Provider) { p.Budget.RequestsPerDay = 9 }, ago(now, minutes(72*60, 5*60)), false, 2},
	} {
		p := probing(t, "1h", "m")
		c.edit(&p)
		plan := Due(now, []Provider{p}, History{{Provider: "acme", Model: "m"}: c.past}, Options{})
		if len(plan.Due) != 1 {
			t.Errorf("%s: %d due: %+v", c.name, len(plan.Due), plan.Skipped)
			continue
		}
		if got := plan.Due[0].Beside != NoProbe; got != c.want {
			t.Errorf("%s: probe %v, want %v", c.name, got, c.want)
		}
		if c.spent > 0 && plan.Budgets[0].Requests != c.spent {
			t.Errorf("%s: %d requests counted, want %d", c.name, plan.Budgets[0].Requests, c.spent)
		}
	}
}

func repeat(d []time.Duration, n int) (list []time.Duration) {
	for range n {
		list = append(list, d...)
	}
	return list
}

// TestBufferProbeIsPaidFor checks that probes are in budgets, cost and lanes,
// and never in what is known of a pair's ordinary runs.
func TestBufferProbeIsPaidFor(t *testing.T) {
	now := time.Date(2026, 5, 9, 12, 0, 0, 0, time.UTC)
	p := probing(t, "1h", "m")
	p.Models[0].Price = &Price{Input: 1, Output: 10}
	p.Budget.USDPerMonth = 100
	pair := Pair{Provider: "acme", Model: "m"}
	ordinary := Attempt{StartedAt: now.Add(-70 * time.Minute), Duration: 6 * time.Second, Input: wire.Known(60), Output: wire.Known(300)}
	failed := Attempt{StartedAt: now.Add(-10 * time.Minute), Duration: 2 * time.Second, Kind: wire.KindServer, Short: true, Input: wire.Known(60), Output: wire.Known(16)}
	h := History{pair: {ordinary, failed, failed, failed}}
	plan := Due(now, []Provider{p}, h, Options{})
	if len(plan.Due) != 1 || plan.Due[0].Probe || plan.Due[0].Takes != 6*time.Second {
		t.Fatalf("due: %+v, skipped: %+v", plan.Due, plan.Skipped)
	}
	// 60 + 300 tokens at 1 and 10 dollars a million: 0.00306; a probe 0.00022.
	near := func(what string, got, want float64) {
		if d := got - want; d > 1e-12 || d < -1e-12 {
			t.Errorf("%s: %v, want %v", what, got, want)
		}
	}
	near("budget", plan.Budgets[0].USD, 2*0.00306+3*0.00022)
	near("cost", *plan.Cost.USD, 30*(24*0.00306+0.00022))
	near("lane", plan.Lanes[0].Utilisation, 6./3600+2./86400)

	// Being told to wait is no matter of length.
	failed.Kind, failed.StartedAt = wire.KindRateLimit, now.Add(-time.Minute)
	h[pair] = append(h[pair], failed)
	if plan := Due(now, []Provider{p}, h, Options{}); len(plan.Due) != 0 || plan.Skipped[0].Code != SkipRateLimit {
		t.Errorf("after a probe was answered 429: due %+v, skipped %+v", plan.Due, plan.Skipped)
	}
}

// TestProbeRun checks that a probe is its ordinary request but for the cap, and
// that its sample is of another series.
func TestProbeRun(t *testing.T) {
	p := probing(t, "1h", "m")
	p.Nonce = true
	start := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	checked := false
	live(p, start, 3, func(d DueRun) {
		if d.Beside == NoProbe {
			return
		}
		checked = true
		none := func(string) (string, bool) { return "", false }
		ordinary, err := d.Run(none, strings.NewReader(strings.Repeat("x", 64)))
		if err != nil {
			t.Fatal(err)
		}
		probe, err := d.ProbeRun(none, strings.NewReader(strings.Repeat("x", 64)))
		if err != nil {
			t.Fatal(err)
		}
		if probe.Prompt.MaxOutputTokens != BufferProbeTokens || probe.Prompt.Text != ordinary.Prompt.Text ||
			ordinary.Prompt.MaxOutputTokens != MaxOutputTokens || probe.Scheduled != d.BesideSlot || !probe.Env.Nonce || probe.Env.Lanes != 1 {
			t.Errorf("probe %+v, ordinary %+v", probe, ordinary)
		}
		a, b := Sample{Pair: probe.Pair, Env: probe.Env}, Sample{Pair: ordinary.Pair, Env: ordinary.Env}
		if a.Series() == b.Series() || !AttemptOf(&a).Short || AttemptOf(&b).Short {
			t.Errorf("series %+v and %+v", a.Series(), b.Series())
		}
	})
	if !checked {
		t.Fatal("no probe was due")
	}
}
