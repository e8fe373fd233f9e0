package bench

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// on returns a provider whose models have the given cadence each.
func on(t testing.TB, name, every string, models ...string) Provider {
	t.Helper()
	p := Provider{Name: name, BaseURL: "https://" + name + ".example", Dialect: Dialect{Protocol: "openai_chat"}, Every: cadence(t, every)}
	for _, m := range models {
		p.Models = append(p.Models, Model{ID: m, Name: m})
	}
	return p
}

// ago returns attempts of the given kinds that began so long before now, the
// oldest first. Each took ten seconds.
func ago(now time.Time, spans []time.Duration, kinds ...wire.ErrorKind) []Attempt {
	var list []Attempt
	for i, d := range spans {
		a := Attempt{StartedAt: now.Add(-d), Duration: 10 * time.Second}
		if i < len(kinds) {
			a.Kind = kinds[i]
		}
		list = append(list, a)
	}
	return list
}

func minutes(m ...int) []time.Duration {
	var d []time.Duration
	for _, m := range m {
		d = append(d, time.Duration(m)*time.Minute)
	}
	return d
}

// inShort is a plan in short: "due" or the skip's code, and the words.
func inShort(plan Plan, pair Pair) string {
	for _, d := range plan.Due {
		if d.Pair == pair {
			return "due: " + d.Why
		}
	}
	for _, s := range plan.Skipped {
		if s.Pair == pair {
			text := string(s.Code) + ": " + s.Why
			if !s.Until.IsZero() {
				text += " -> " + s.Until.Format("15:04:05")
			}
			return text
		}
	}
	return "absent"
}

// TestDue plans one pair, acme/m, at 12:00 with slots at every tenth minute
// unless the row says otherwise.
func TestDue(t *testing.T) {
	now := date("2026-11-30T12:00:00Z")
	const ok, auth, quota, limit, server, timeout = wire.KindNone, wire.KindAuth, wire.KindQuota, wire.KindRateLimit, wire.KindServer, wire.KindTimeout
	retry := func(list []Attempt, d time.Duration) []Attempt {
		list[len(list)-1].RetryAfter = d
		return list
	}
	tests := []struct {
		name     string
		provider Provider
		history  []Attempt
		opts     Options
		want     string
	}{
		{
			name: "never measured",
			want: "due: never measured: at */10 * * * *",
		}, {
			name:    "measured in this slot",
			history: ago(now, minutes(0)),
			want:    "not_due: next slot 12:10 UTC: at */10 * * * *, last ran 0 s ago -> 12:10:00",
		}, {
			name:    "a slot has begun since",
			history: ago(now, minutes(4)),
			want:    "due: due: at */10 * * * *, last ran 4 min ago",
		}, {
			name:    "overdue, one slot missed",
			history: ago(now, minutes(15)),
			want:    "due: 10 min overdue: at */10 * * * *, last ran 15 min ago, 1 slot missed",
		}, {
			name:    "overdue for days",
			history: ago(now, minutes(3*24*60+5)),
			want:    "due: 3 d overdue: at */10 * * * *, last ran 3 d ago, 432 slots missed",
		}, {
			name:    "an attempt of the future is left out of account",
			history: append(ago(now, minutes(15)), Attempt{StartedAt: now.Add(48 * time.Hour)}),
			want:    "due: 10 min overdue: at */10 * * * *, last ran 15 min ago, 1 slot missed",
		}, {
			name:    "two failures leave the cadence alone",
			history: ago(now, minutes(25, 15), server, server),
			want:    "due: 10 min overdue: at */10 * * * *, last ran 15 min ago, 1 slot missed",
		}, {
			name:    "three failures open the breaker",
			history: ago(now, minutes(35, 25, 15), server, timeout, server),
			want:    "breaker: breaker open until 12:15 UTC: 3 failures in a row, the last server -> 12:15:00",
		}, {
			name:    "our own faults count too",
			history: ago(now, minutes(35, 25, 15), auth, quota, auth),
			want:    "breaker: breaker open until 12:15 UTC: 3 failures in a row, the last auth -> 12:15:00",
		}, {
			name:    "probe after thirty minutes",
			history: ago(now, minutes(70, 60, 50, 30), ok, server, server, server),
			want:    "due: due: probe after 3 failures in a row, every 30 min until a success, last ran 30 min ago",
		}, {
			name:    "a success closes the breaker",
			history: ago(now, minutes(45, 35, 25, 15), server, server, server, ok),
			want:    "due: 10 min overdue: at */10 * * * *, last ran 15 min ago, 1 slot missed",
		}, {
			name:     "the published breaker probes a slow pair more often",
			provider: on(t, "acme", "0 */6 * * *", "m"),
			history:  ago(now, minutes(95, 65, 35), server, server, server),
			want:     "due: 5 min overdue: probe after 3 failures in a row, every 30 min until a success, last ran 35 min ago",
		}, {
			name: "at_cadence does not",
			provider: func() Provider {
				p := on(t, "acme", "0 */6 * * *", "m")
				p.Breaker = BreakerAtCadence
				return p
			}(),
			history: ago(now, minutes(95, 65, 35), server, server, server),
			want:    "breaker: breaker open until 17:25 UTC: 3 failures in a row, the last server -> 17:25:00",
		}, {
			name:    "429 moves the next slot by five minutes",
			history: ago(now, minutes(9), limit), // at 11:51; the next slot is 12:00
			want:    "rate_limit: acme answered 429: paused until 12:05 UTC -> 12:05:00",
		}, {
			name:    "a longer Retry-After wins",
			history: retry(ago(now, minutes(9), limit), time.Hour), // ended at 11:51:10
			want:    "rate_limit: acme answered 429: paused until 12:51 UTC -> 12:51:10",
		}, {
			name:    "a shorter Retry-After does not",
			history: retry(ago(now, minutes(9), limit), time.Minute),
			want:    "rate_limit: acme answered 429: paused until 12:05 UTC -> 12:05:00",
		}, {
			name:    "a Retry-After of a year is obeyed for a day",
			history: retry(ago(now, minutes(9), limit), 365*24*time.Hour),
			want:    "rate_limit: acme answered 429: paused until 2026-12-01 11:51 UTC -> 11:51:10",
		}, {
			name:    "the pause is over",
			history: ago(now, minutes(19), limit), // next slot 11:50, and five minutes
			want:    "due: 5 min overdue: at */10 * * * *, last ran 19 min ago, 1 slot missed",
		}, {
			name:    "Retry-After with a 503 holds the pair",
			history: retry(ago(now, minutes(9), server), 20*time.Minute),
			want:    "not_due: next slot 12:11 UTC: at */10 * * * *, last ran 9 min ago -> 12:11:10",
		}, {
			name:    "force overrules cadence and breaker",
			history: ago(now, minutes(3, 2, 1), server, server, server),
			opts:    Options{Force: true},
			want:    "due: due: probe after 3 failures in a row, every 30 min until a success, last ran 1 min ago",
		}, {
			name:    "force does not overrule a 429",
			history: ago(now, minutes(1), limit),
			opts:    Options{Force: true},
			want:    "rate_limit: acme answered 429: paused until 12:05 UTC -> 12:05:00",
		}, {
			name: "not configured",
			provider: func() Provider {
				p := on(t, "acme", "10m", "m")
				p.KeyEnv = "ACME_KEY"
				return p
			}(),
			opts: Options{Env: func(string) (string, bool) { return " ", true }}, // an unset secret of a hosted job
			want: "not_configured: not configured: ACME_KEY is not set",
		}, {
			name: "not selected",
			opts: Options{Only: func(p Pair) bool { return p.Provider == "other" }},
			want: "not_selected: not selected",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := tt.provider
			if p.Name == "" {
				p = on(t, "acme", "*/10 * * * *", "m")
			}
			pair := Pair{"acme", "m"}
			plan := Due(now, []Provider{p}, History{pair: tt.history}, tt.opts)
			if got := inShort(plan, pair); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestRateLimitHoldsTheProvider checks that one model's 429 pauses the others
// of its provider, and nobody else.
func TestRateLimitHoldsTheProvider(t *testing.T) {
	now := date("2026-11-30T12:00:30Z")
	providers := []Provider{on(t, "acme", "*/10 * * * *", "a", "b"), on(t, "other", "*/10 * * * *", "c")}
	history := History{
		{"acme", "a"}:  {{StartedAt: now.Add(-20 * time.Second), Duration: 5 * time.Second, Kind: wire.KindRateLimit}},
		{"acme", "b"}:  ago(now, minutes(15)),
		{"other", "c"}: ago(now, minutes(15)),
	}
	// b was overdue when a's 429 came at 12:00:15, so the provider's next slot
	// was then: 12:05:15.
	plan := Due(now, providers, history, Options{})
	for pair, want := range map[Pair]string{
		{"acme", "a"}:  "not_due: next slot 12:10 UTC: at */10 * * * *, last ran 20 s ago -> 12:10:00",
		{"acme", "b"}:  "rate_limit: acme answered 429: paused until 12:05 UTC -> 12:05:15",
		{"other", "c"}: "due: 10 min overdue: at */10 * * * *, last ran 15 min ago, 1 slot missed",
	} {
		if got := inShort(plan, pair); got != want {
			t.Errorf("%s: got %s; want %s", pair, got, want)
		}
	}
	if want := date("2026-11-30T12:05:15Z"); !plan.Next.Equal(want) {
		t.Errorf("next wake-up is %v; want %v", plan.Next, want)
	}
	// Once somebody got an answer, the pause is over.
	history[Pair{"acme", "b"}] = append(history[Pair{"acme", "b"}], Attempt{StartedAt: now.Add(-10 * time.Second)})
	plan = Due(date("2026-11-30T12:10:00Z"), providers, history, Options{})
	if len(plan.Due) != 3 {
		t.Errorf("%d pairs due at 12:10; want all three", len(plan.Due))
	}
}

func TestOrder(t *testing.T) {
	now := date("2026-11-30T12:00:00Z")
	p := on(t, "acme", "*/10 * * * *", "late", "later", "new", "tie1", "tie2", "tie3")
	history := History{
		{"acme", "late"}:  ago(now, minutes(35)), // due since 11:30
		{"acme", "later"}: ago(now, minutes(65)), // due since 11:00
		{"acme", "tie1"}:  ago(now, minutes(15)),
		{"acme", "tie2"}:  ago(now, minutes(13)),
		{"acme", "tie3"}:  ago(now, minutes(11)), // all since 11:50
	}
	var ties []string
	for seed := range uint64(64) {
		plan := Due(now, []Provider{p}, history, Options{Seed: seed + 1})
		var got []string
		for _, d := range plan.Due {
			got = append(got, d.Model)
		}
		if !slices.Equal(got[:3], []string{"new", "later", "late"}) {
			t.Fatalf("order %q; want new, later, late, then the ties", got)
		}
		if again := Due(now, []Provider{p}, history, Options{Seed: seed + 1}); !cmp.Equal(plan.Due, again.Due, ignoreUnexported) {
			t.Fatal("the same seed gave another order")
		}
		if s := strings.Join(got[3:], " "); !slices.Contains(ties, s) {
			ties = append(ties, s)
		}
	}
	if len(ties) != 6 {
		t.Errorf("64 seeds gave %d orders of three ties; want all 6", len(ties))
	}
}

// ignoreUnexported compares plans without their pointers to the configuration.
var ignoreUnexported = cmp.FilterPath(func(p cmp.Path) bool {
	f, ok := p.Last().(cmp.StructField)
	return ok && (f.Name() == "provider" || f.Name() == "model" || f.Name() == "lanes")
}, cmp.Ignore())

func TestTimeBudget(t *testing.T) {
	now := date("2026-11-30T12:00:00Z")
	p := on(t, "acme", "*/10 * * * *", "a", "b", "c", "d")
	history := History{}
	for i, m := range p.Models { // a is the most overdue
		history[Pair{"acme", m.Name}] = []Attempt{{StartedAt: now.Add(-time.Hour * time.Duration(9-i)), Duration: time.Duration(i+1) * 10 * time.Second}}
	}
	history[Pair{"acme", "d"}][0].Duration = time.Second
	tests := []struct {
		within time.Duration
		want   string
	}{
		{0, "a@0s b@10s c@30s d@1m0s"},
		{time.Minute, "a@0s b@10s c@30s"},
		{45 * time.Second, "a@0s b@10s"}, // d would fit in c's place, and starve c
		{time.Second, "a@0s"},            // the first always fits
	}
	for _, tt := range tests {
		plan := Due(now, []Provider{p}, history, Options{Time: tt.within})
		var got []string
		for _, d := range plan.Due {
			got = append(got, d.Model+"@"+d.StartsIn.String())
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("in %v: %s; want %s", tt.within, s, tt.want)
		}
		if len(plan.Due) < 4 && !plan.Next.Equal(now) {
			t.Errorf("in %v: next wake-up is %v; want now, as pairs are waiting", tt.within, plan.Next)
		}
	}
}

func TestLanes(t *testing.T) {
	now := date("2026-11-30T12:00:00Z")
	own := on(t, "own", "10m", "x", "y")
	own.OwnLane = true
	providers := []Provider{own, on(t, "a", "10m", "m"), on(t, "b", "1h", "m")}
	history := History{}
	for _, pair := range []Pair{{"own", "x"}, {"own", "y"}, {"a", "m"}, {"b", "m"}} {
		history[pair] = []Attempt{{StartedAt: now.Add(-5 * time.Hour), Duration: 5 * time.Minute}}
	}
	plan := Due(now, providers, history, Options{Seed: 1})
	want := []Lane{
		{Name: SharedLane, Pairs: 2, Due: 10 * time.Minute, Utilisation: 5.0/10 + 5.0/60},
		{Name: "own", Pairs: 2, Due: 10 * time.Minute, Utilisation: 1},
	}
	if diff := cmp.Diff(want, plan.Lanes, cmp.Comparer(func(a, b float64) bool { return a-b < 1e-12 && b-a < 1e-12 })); diff != "" {
		t.Errorf("lanes differ (-want +got):\n%s", diff)
	}
	if len(plan.Warnings) != 1 || !strings.Contains(plan.Warnings[0], "lane own is 100 % busy") {
		t.Errorf("warnings %q; want one, of the lane that is over 80 %%", plan.Warnings)
	}
	for _, d := range plan.Due {
		if d.lanes != 2 {
			t.Errorf("%s records %d lanes; want 2", d.Pair, d.lanes)
		}
	}
}

func TestPlanJSON(t *testing.T) {
	now := date("2026-11-30T12:00:00Z")
	off := on(t, "off", "10m")
	off.KeyEnv = "OFF_KEY"
	env := func(string) (string, bool) { return "", false }
	plan := Due(now, []Provider{on(t, "acme", "*/10 * * * *", "m"), off}, nil, Options{Env: env, Seed: 7})
	got, err := json.Marshal(plan)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"now":"2026-11-30T12:00:00Z","seed":7,` +
		`"due":[{"provider":"acme","model":"m","scheduled":"2026-11-30T12:00:00Z","overdue_ns":0,"why":"never measured: at */10 * * * *","lane":"shared","starts_in_ns":0,"takes_ns":20000000000}],` +
		`"skipped":[{"provider":"off","model":"","code":"not_configured","why":"not configured: OFF_KEY is not set"}],` +
		`"next":"2026-11-30T12:10:00Z",` +
		`"lanes":[{"name":"shared","pairs":1,"due_ns":20000000000,"utilisation":0.03333333333333333}],` +
		`"cost":{"usd_per_month":null,"priced_pairs":0,"unpriced_pairs":1,"assumed_tokens_pairs":0}}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("plan differs (-want +got):\n%s", diff)
	}
}

// TestDueProperties plans random providers with random histories and checks
// what must hold of every plan.
func TestDueProperties(t *testing.T) {
	now := date("2026-11-30T12:00:00Z")
	cadences := []string{"10m", "30m", "1h", "6h", "*/20 * * * *"}
	for seed := range uint64(300) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var providers []Provider
		history, shuffled := History{}, History{}
		pairs := map[Pair]bool{}
		for i := range 1 + rng.IntN(5) {
			p := on(t, fmt.Sprintf("p%d", i), cadences[rng.IntN(len(cadences))])
			p.OwnLane = rng.IntN(3) == 0
			if rng.IntN(4) == 0 {
				p.Budget.RequestsPerDay = 1 + rng.IntN(50)
			}
			if rng.IntN(5) == 0 {
				p.KeyEnv = "UNSET_KEY"
			}
			for j := range 1 + rng.IntN(6) {
				p.Models = append(p.Models, Model{ID: fmt.Sprint(j), Name: fmt.Sprint(j)})
			}
			for j := range p.Models {
				pair := p.Pair(&p.Models[j])
				pairs[pair] = true
				for range rng.IntN(30) {
					a := Attempt{
						StartedAt: now.Add(-time.Duration(rng.Int64N(int64(48*time.Hour))) + time.Hour),
						Duration:  time.Duration(rng.Int64N(int64(2 * time.Minute))),
						Kind:      wire.ErrorKind(max(0, rng.IntN(16)-8)),
					}
					if rng.IntN(10) == 0 {
						a.RetryAfter = time.Duration(rng.Int64N(int64(100 * time.Hour)))
					}
					history[pair] = append(history[pair], a)
				}
				shuffled[pair] = slices.Clone(history[pair])
				rng.Shuffle(len(shuffled[pair]), func(a, b int) {
					shuffled[pair][a], shuffled[pair][b] = shuffled[pair][b], shuffled[pair][a]
				})
			}
			providers = append(providers, p)
		}
		opts := Options{Env: func(string) (string, bool) { return "", false }, Seed: seed + 1, Time: 25 * time.Minute}
		plan := Due(now, providers, history, opts)

		if diff := cmp.Diff(plan, Due(now, providers, shuffled, opts), ignoreUnexported); diff != "" {
			t.Fatalf("seed %d: the order of the history changed the plan:\n%s", seed, diff)
		}
		seen := map[Pair]int{}
		end := map[string]time.Duration{} // of each lane
		last := map[string]time.Duration{}
		for _, d := range plan.Due {
			seen[d.Pair]++
			if d.StartsIn < end[d.Lane] {
				t.Fatalf("seed %d: two requests at once in lane %s", seed, d.Lane)
			}
			end[d.Lane] = d.StartsIn + d.Takes
			if d.Overdue < 0 || d.Scheduled.After(now) {
				t.Fatalf("seed %d: %s is due before its slot", seed, d.Pair)
			}
			minute := d.Overdue.Truncate(time.Minute)
			if prev, ok := last[d.Lane]; ok && len(history[d.Pair]) > 0 && minute > prev {
				t.Fatalf("seed %d: %s is more overdue than the one before it", seed, d.Pair)
			}
			if !strings.HasPrefix(d.Why, "never") {
				last[d.Lane] = minute
			}
		}
		for _, s := range plan.Skipped {
			seen[s.Pair]++
			if s.Why == "" || s.Code == "" {
				t.Fatalf("seed %d: %s is skipped without a reason", seed, s.Pair)
			}
			if s.Code != SkipTime && !s.Until.IsZero() && !s.Until.After(now) {
				t.Fatalf("seed %d: %s is skipped until %v, which is past", seed, s.Pair, s.Until)
			}
		}
		for pair := range pairs {
			if seen[pair] != 1 {
				t.Fatalf("seed %d: %s is in the plan %d times", seed, pair, seen[pair])
			}
		}
		if len(seen) != len(pairs) {
			t.Fatalf("seed %d: %d pairs in the plan; want %d", seed, len(seen), len(pairs))
		}
		// What Next promises: nothing more is due a moment before it.
		if !plan.Next.IsZero() && plan.Next.After(now) {
			before := Due(plan.Next.Add(-time.Nanosecond), providers, history, Options{Env: opts.Env, Seed: 1})
			if len(before.Due) > len(plan.Due)+timeSkipped(plan) {
				t.Fatalf("seed %d: %d due just before the next wake-up; %d were due before", seed, len(before.Due), len(plan.Due))
			}
		}
	}
}

func timeSkipped(plan Plan) int {
	n := 0
	for _, s := range plan.Skipped {
		if s.Code == SkipTime {
			n++
		}
	}
	return n
}

func TestAttemptOf(t *testing.T) {
	const s = time.Second
	tests := []struct {
		name   string
		sample Sample
		want   time.Duration
	}{
		{"success", Sample{Phases: Phases{Setup: s}, LastText: 8 * s, Done: 9 * s, EOF: 10 * s}, 11 * s},
		{"cut off", Sample{Phases: Phases{Setup: s, Headers: 2 * s}, LastText: 8 * s, Kind: wire.KindNetwork}, 9 * s},
		{"never connected", Sample{Kind: wire.KindTimeout, FailedIn: PhaseDial}, DialTimeout},
		{"no answer", Sample{Phases: Phases{Setup: s, WroteRequest: s}, Kind: wire.KindTimeout, FailedIn: PhaseHeaders}, RunTimeout},
		{"endless", Sample{Phases: Phases{Setup: s}, LastText: 119 * s, Kind: wire.KindTimeout, FailedIn: PhaseStream}, RunTimeout},
		{"their own 504", Sample{Phases: Phases{Setup: s, Headers: 3 * s}, Kind: wire.KindTimeout, HTTPStatus: 504, FailedIn: PhaseHeaders}, 4 * s},
	}
	for _, tt := range tests {
		tt.sample.StartedAt = date("2026-11-30T12:00:00Z")
		tt.sample.Usage.Output = wire.Known(7)
		got := AttemptOf(&tt.sample)
		if got.Duration != tt.want || got.Kind != tt.sample.Kind || !got.StartedAt.Equal(tt.sample.StartedAt) || got.Output != wire.Known(7) {
			t.Errorf("%s: %+v; want a duration of %v", tt.name, got, tt.want)
		}
	}
}
