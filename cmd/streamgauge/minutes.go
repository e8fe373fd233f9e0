package main

import (
	"math"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// What the workflows take besides measuring, in minutes as they are billed:
// each job is rounded up to a whole one. Public repositories pay nothing for
// standard runners. Source: GitHub, "About billing for GitHub Actions".
const (
	liteOverhead  = 2  // bench-lite.yml: build, fetch, publish, render
	planOverhead  = 2  // bench.yml: its first job, which is all of a tick when nothing is due
	fullOverhead  = 5  // the jobs after measuring: write 1, render 2, deploy 1, notify 1
	fullMeasuring = 26 // its measuring job sleeps until its budget of 25 is used up

	hoursPerMonth = 30 * 24
	tickEvery     = 30 * time.Minute // of bench.yml
)

// billedMinutes estimates how many minutes a month a private repository is
// billed for, with bench-lite.yml once an hour and with bench.yml twice an
// hour, by how long one pass over all that falls due in an hour takes, and by
// how often nothing does.
func billedMinutes(now time.Time, list []bench.Provider, env bench.Lookup) (lite, full int) {
	measuring := 0.0
	if busy := busyShare(now, list, env, time.Hour); busy > 0 {
		measuring = busy * math.Ceil(hourlyPass(now, list, env).Minutes()/busy)
	}
	lite = int(math.Round((liteOverhead + measuring) * hoursPerMonth))
	busy := busyShare(now, list, env, tickEvery)
	full = int(math.Round((planOverhead + busy*(fullOverhead+fullMeasuring)) * 2 * hoursPerMonth))
	return lite, full
}

// busyShare returns the share of spans of a width in which any pair falls due,
// which it does once in each of its slots, wherever in it.
func busyShare(now time.Time, list []bench.Provider, env bench.Lookup, width time.Duration) float64 {
	plan := bench.Due(now, list, bench.History{}, bench.Options{Env: env})
	idle := 1.0
	for i := range plan.Due {
		p, m := plan.Due[i].Source()
		idle *= 1 - min(1, width.Hours()/p.CadenceOf(m).Interval().Hours())
	}
	return 1 - idle
}

// hourlyPass returns how long it takes to measure once what falls due in an
// hour, by what pairs are expected to take: a pair at most once, and one that
// is measured every six hours a sixth.
func hourlyPass(now time.Time, list []bench.Provider, env bench.Lookup) time.Duration {
	plan := bench.Due(now, list, bench.History{}, bench.Options{Env: env})
	var pass time.Duration
	for i := range plan.Due {
		p, m := plan.Due[i].Source()
		share := min(1, time.Hour.Hours()/p.CadenceOf(m).Interval().Hours())
		pass += time.Duration(share * float64(plan.Due[i].Takes))
	}
	return pass
}
