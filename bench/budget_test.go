package bench

import (
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

func TestBudgets(t *testing.T) {
	now := date("2026-11-30T12:00:00Z")
	tokens := func(at time.Duration) Attempt {
		return Attempt{StartedAt: now.Add(-at), Duration: time.Second, Input: wire.Known(1000), Output: wire.Known(4000)}
	}
	pair := Pair{"acme", "m"}
	tests := []struct {
		name    string
		budget  Budget
		history []Attempt
		want    string
		stretch float64
	}{
		{
			name:   "24 slots a day of 100: enough",
			budget: Budget{RequestsPerDay: 100}, history: ago(now, minutes(65)), stretch: 1,
			want: "due: 1 h overdue: at 0 * * * *, last ran 1 h 5 min ago, 1 slot missed",
		}, {
			name:   "the third of two requests waits until the first is a day old",
			budget: Budget{RequestsPerDay: 2}, history: ago(now, minutes(600, 65)), stretch: 12,
			want: "budget: 2 of 2 requests in 24 hours are used -> 02:00:00",
		}, {
			// A run is 1000 tokens at $2 and 4000 at $10 a million: $0.042.
			name:   "dollars",
			budget: Budget{USDPerMonth: 0.1}, history: []Attempt{tokens(29 * 24 * time.Hour), tokens(2 * time.Hour)}, stretch: 302.5, // 720 * 0.042 / 0.1 = 302.4
			want: "budget: $0.08 of $0.1 in 30 days are used -> 12:00:00",
		}, {
			name:   "tokens older than 30 days do not count",
			budget: Budget{TokensPerMonth: 10_000}, history: []Attempt{tokens(31 * 24 * time.Hour), tokens(2 * time.Hour)}, stretch: 360, // 720 * 5000 / 10000
			want: "due: 1 h overdue: at 0 * * * *, last ran 2 h ago, 1 slot missed",
		}, {
			name:   "tokens",
			budget: Budget{TokensPerMonth: 10_000}, history: []Attempt{tokens(4 * time.Hour), tokens(2 * time.Hour)}, stretch: 360,
			want: "budget: 10000 of 10000 tokens in 30 days are used -> 08:00:00",
		}, {
			// Assumed: 60 in, 300 out, $0.00312.
			name:   "the first fits",
			budget: Budget{USDPerMonth: 0.01}, history: nil, stretch: 224.75, // 720 * 0.00312 / 0.01 = 224.64
			want: "due: never measured: at 0 * * * *",
		}, {
			name:   "one request alone is over the budget: never",
			budget: Budget{USDPerMonth: 0.003}, history: nil, stretch: 749,
			want: "budget: $0.00 of $0.003 in 30 days are used",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := on(t, "acme", "0 * * * *", "m") // cron: not stretched, so the bound itself is seen
			p.Models[0].Price = &Price{Input: 2, Output: 10}
			p.Budget = tt.budget
			plan := Due(now, []Provider{p}, History{pair: tt.history}, Options{})
			if got := inShort(plan, pair); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if got := plan.Budgets[0].Stretch; got != tt.stretch {
				t.Errorf("stretch %v; want %v", got, tt.stretch)
			}
		})
	}
}

// TestBudgetIsSpread runs a provider for ten days on a budget of a tenth of
// what its cadence asks for: it is kept on every 24 hours, nearly used up, and
// used evenly over the hours of the day.
func TestBudgetIsSpread(t *testing.T) {
	p := on(t, "acme", "10m", "a", "b")
	p.Budget.RequestsPerDay = 28 // of 288
	history := History{}
	start := date("2026-06-01T00:00:00Z")
	var sent []time.Time
	var quarters [4]int
	for now := start; now.Before(start.Add(10 * day)); now = now.Add(5 * time.Minute) {
		for _, d := range Due(now, []Provider{p}, history, Options{}).Due {
			history[d.Pair] = append(history[d.Pair], Attempt{StartedAt: now, Duration: time.Second})
			sent = append(sent, now)
			quarters[now.Hour()/6]++
		}
	}
	for i, at := range sent {
		n := 1
		for _, later := range sent[i+1:] {
			if later.Sub(at) < day {
				n++
			}
		}
		if n > 28 {
			t.Fatalf("%d requests in the 24 hours from %v", n, at)
		}
	}
	if len(sent) < 9*26 {
		t.Errorf("%d requests in ten days; want nearly 280", len(sent))
	}
	for i, n := range quarters {
		if share := float64(n) / float64(len(sent)) * 4; share < 0.8 || share > 1.2 {
			t.Errorf("quarter %d of the day has %.2f of its share", i, share)
		}
	}
}

func TestCost(t *testing.T) {
	now := date("2026-11-30T12:00:00Z")
	p := on(t, "acme", "1h", "known", "assumed", "unpriced")
	p.Models[0].Price = &Price{Input: 1, Output: 5}
	p.Models[1].Price = &Price{Input: 1, Output: 5}
	history := History{{"acme", "known"}: {{StartedAt: now, Input: wire.Known(100), Output: wire.Known(200)}}}
	got := Due(now, []Provider{p}, history, Options{}).Cost
	// 720 runs of (100 + 5*200) and (60 + 5*300) millionths of a dollar.
	if want := 720 * (1100 + 1560) / 1e6; got.USD == nil || *got.USD-want > 1e-9 || want-*got.USD > 1e-9 {
		t.Errorf("cost %v; want %v", got.USD, want)
	}
	if got.Priced != 2 || got.Unpriced != 1 || got.Assumed != 1 {
		t.Errorf("%+v; want 2 priced, 1 unpriced, 1 assumed", got)
	}
	if free := Due(now, []Provider{on(t, "b", "1h", "m")}, nil, Options{}).Cost; free.USD != nil {
		t.Errorf("cost without prices is %v; want unknown", *free.USD)
	}
}
