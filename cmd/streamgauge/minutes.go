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
	fullOverhead  = 7  // bench.yml: plan 2, write 1, render 2, deploy 1, notify 1
	fullMeasuring = 25 // its measuring job sleeps until its budget is used up

	hoursPerMonth = 30 * 24
)

// billedMinutes estimates how many minutes a month a private repository is
// billed for, with bench-lite.yml once an hour and with bench.yml twice an
// hour. pass is how long one pass over all that falls due in an hour takes.
func billedMinutes(pass time.Duration) (lite, full int) {
	lite = (liteOverhead + int(math.Ceil(pass.Minutes()))) * hoursPerMonth
	full = (fullOverhead + fullMeasuring) * 2 * hoursPerMonth
	return lite, full
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
