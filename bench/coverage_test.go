package bench

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench/wire"
)

func TestCover(t *testing.T) {
	at := func(s string) time.Time { return date("2026-11-30T" + s + ":00Z") }
	c := cadence(t, "*/10 * * * *")
	got := c.Cover(Pair{"a", "b"}, []time.Time{
		at("12:41"),              // out of order, serves 12:40 a minute late
		at("12:02"), at("12:03"), // serve 12:00; the second adds nothing
		at("12:18"), // serves 12:10, eight minutes late
		at("11:59"), // before the span
	}, at("12:00"), at("13:00"))
	want := Coverage{
		Slots: 6, Served: 3,
		Lateness: []time.Duration{time.Minute, 2 * time.Minute, 8 * time.Minute},
		Gaps:     []Gap{{at("12:18"), at("12:41")}, {at("12:41"), at("13:00")}},
	}
	// 12:03 to 12:18 is 15 minutes, which is the limit and not over it.
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("coverage differs (-want +got):\n%s", diff)
	}
}

// A window is a time in which the scheduled job was awake.
type window struct{ from, to time.Time }

// awake returns how much of [from, to] lies in windows, which are in order.
func awake(windows []window, from, to time.Time) time.Duration {
	i, _ := slices.BinarySearchFunc(windows, from, func(w window, t time.Time) int { return w.to.Compare(t) })
	var sum time.Duration
	for ; i < len(windows) && windows[i].from.Before(to); i++ {
		a, b := windows[i].from, windows[i].to
		if a.Before(from) {
			a = from
		}
		if b.After(to) {
			b = to
		}
		sum += max(b.Sub(a), 0)
	}
	return sum
}

// lateness draws how late a tick comes: 11, 14 and 41 minutes at the tenth,
// fiftieth and ninetieth percentile, as measured of hourly GitHub schedules in
// 2026, and up to three hours beyond.
func lateness(rng *rand.Rand) time.Duration {
	share := []float64{0, 0.1, 0.5, 0.9, 1}
	late := []float64{8, 11, 14, 41, 180}
	u := rng.Float64()
	i := 1
	for u > share[i] {
		i++
	}
	m := late[i-1] + (late[i]-late[i-1])*(u-share[i-1])/(share[i]-share[i-1])
	return time.Duration(m * float64(time.Minute))
}

// TestTenThousandTicks runs the scheduler for 208 days of half-hourly ticks
// that come as late as GitHub's do, of which 12 % never come and once three
// days of them. Each works for 25 minutes through what falls due, one request
// at a time.
//
// The scheduler cannot measure while it is not running. What it owes is that
// a slot waits no longer than one lap of the others while it is running, and
// that every gap is counted and explained by sleep.
func TestTenThousandTicks(t *testing.T) {
	t.Parallel()
	ticks := 10_000
	if testing.Short() {
		ticks = 1000
	}
	const (
		work = 25 * time.Minute
		lap  = 6 * time.Minute // all pairs once, two timing out
		keep = 8               // attempts of history that the state can depend on here
	)
	rng := rand.New(rand.NewPCG(2026, 11))
	providers := []Provider{
		on(t, "pro", "10m", "a", "b"),
		on(t, "free", "60m", "a", "b"),
		on(t, "zen", "60m", "a", "b", "c"),
		on(t, "go", "30m", "a", "b", "c"),
		on(t, "dear", "6h", "a", "b"),
	}
	start := date("2026-05-01T00:13:00Z")
	history := History{}
	starts := map[Pair][]time.Time{}
	var windows []window
	clock := start // the runner is free from then on
	var worst time.Duration
	runs := 0

	var begins []time.Time
	for i := range ticks {
		if rng.Float64() >= 0.12 && (i < ticks/2 || i >= ticks/2+144) {
			begins = append(begins, start.Add(time.Duration(i)*30*time.Minute).Add(lateness(rng)))
		}
	}
	slices.SortFunc(begins, time.Time.Compare)
	for i, begin := range begins {
		if begin.Before(clock) { // the one before it is running
			if i+1 < len(begins) && begins[i+1].Before(clock) {
				continue // one tick can wait; the newer takes its place
			}
			begin = clock
		}
		end := begin.Add(work)
		clock = begin
		windows = append(windows, window{begin, end})
		for clock.Before(end) {
			plan := Due(clock, providers, history, Options{Time: end.Sub(clock)})
			if len(plan.Due) == 0 {
				if !plan.Next.Before(end) {
					break
				}
				if !plan.Next.After(clock) {
					t.Fatalf("nothing is due at %v, and the next wake-up is %v", clock, plan.Next)
				}
				clock = plan.Next
				continue
			}
			for _, d := range plan.Due {
				if !clock.Before(end) {
					break
				}
				if wait := awake(windows, d.Scheduled, clock); wait > worst {
					worst = wait
				}
				a := Attempt{StartedAt: clock, Duration: time.Duration((2 + 8*rng.ExpFloat64()) * float64(time.Second))}
				switch down := d.Provider == "zen" && clock.YearDay()%7 == 0 && clock.Hour() < 8; {
				case down || rng.Float64() < 0.01:
					a.Kind = wire.KindServer
				case rng.Float64() < 0.003:
					a.Kind, a.Duration = wire.KindTimeout, RunTimeout
				}
				a.Duration = min(a.Duration, RunTimeout)
				starts[d.Pair] = append(starts[d.Pair], clock)
				list := append(history[d.Pair], a)
				history[d.Pair] = list[max(0, len(list)-keep):]
				clock = clock.Add(a.Duration)
				runs++
			}
		}
		windows[len(windows)-1].to = clock // it ends early when nothing more falls due
	}

	stop := start.Add(time.Duration(ticks) * 30 * time.Minute)
	if worst > lap {
		t.Errorf("a slot waited %v while the job was running; want at most a lap, %v", worst, lap)
	}
	t.Logf("%d ticks came, %d runs; a due slot waited at most %v of running time", len(windows), runs, worst.Round(time.Second))
	for _, p := range providers {
		var slots, served, gaps, intervals int
		var late []time.Duration
		for i := range p.Models {
			pair := p.Pair(&p.Models[i])
			c := p.CadenceOf(&p.Models[i])
			cov := c.Cover(pair, starts[pair], start, stop)
			slots, served, gaps, intervals = slots+cov.Slots, served+cov.Served, gaps+len(cov.Gaps), intervals+len(starts[pair])
			late = append(late, cov.Lateness...)
			for _, g := range cov.Gaps {
				// Neighbouring slots are up to 1.25 cadences apart; a breaker
				// makes it 30 minutes where that is longer.
				owed := max(c.Interval()*5/4, BreakerInterval) + lap
				if up := awake(windows, g.From, g.To); up > owed {
					t.Errorf("%s: the job ran %v in the gap from %v to %v; that is more than the scheduler may wait", pair, up, g.From, g.To)
				}
			}
		}
		slices.Sort(late)
		share := float64(gaps) / float64(intervals)
		t.Logf("%-5s every %-3s: %5.1f %% of %d slots served, %5.2f %% of intervals over %g cadences, lateness p50 %v p90 %v", p.Name, p.Every,
			100*float64(served)/float64(slots), slots, 100*share, GapLimit,
			late[len(late)/2].Round(time.Second), late[len(late)*9/10].Round(time.Second))
		// A cadence longer than the ticks are apart must not suffer from them.
		if ticks == 10_000 && p.Every.Interval() >= 6*time.Hour && (share > 0.01 || served < slots*97/100) {
			t.Errorf("%s: %d gaps in %d intervals, %d of %d slots served", p.Name, gaps, intervals, served, slots)
		}
	}
}
