package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// An endpoint draws runs of a simulated pair, whose true behaviour is known:
// a business-hours dip, load that drifts from hour to hour, better and worse
// days, noise from run to run, and now and then an outlier or an outage.
type endpoint struct {
	level  float64 // true median of ln TPS, apart from the dip
	dip    float64 // lost at the height of business hours
	hourly float64 // sd of the hourly load, autocorrelation 0.7
	daily  float64 // sd of the day effect
	noise  float64 // sd from run to run
	rough  bool    // with outliers and outages
}

// run is one value of a simulated day.
type run struct {
	hour int // of the day, 0..23
	log  float64
}

// day draws the runs of one day, perHour in each of its slots of slot hours,
// each run at a uniform instant of its slot. load is carried from day to day.
func (e endpoint) day(rng *rand.Rand, load *float64, slot, perSlot int) []run {
	effect := e.daily * rng.NormFloat64()
	var loads [24]float64
	for hour := range loads {
		*load = 0.7**load + math.Sqrt(1-0.49)*e.hourly*rng.NormFloat64()
		loads[hour] = *load
	}
	outage := -1
	if e.rough && rng.Float64() < 0.05 {
		outage = rng.IntN(22)
	}
	var runs []run
	for start := 0; start < 24; start += slot {
		for range perSlot {
			hour := start + rng.IntN(slot)
			if outage >= 0 && hour >= outage && hour < outage+3 {
				continue // failed runs have no rate
			}
			log := e.level + effect + loads[hour] + e.noise*rng.NormFloat64()
			log -= e.dip * math.Max(0, math.Sin(2*math.Pi*float64(hour-8)/24))
			if e.rough && rng.Float64() < 0.02 {
				log -= 1
			}
			runs = append(runs, run{hour, log})
		}
	}
	return runs
}

// medians returns R-7 medians of TPS over whole days, of days that count.
func (e endpoint) medians(rng *rand.Rand, days, slot, perSlot int) []float64 {
	load := e.hourly * rng.NormFloat64()
	var all []float64
	for range days {
		var values []float64
		for _, r := range e.day(rng, &load, slot, perSlot) {
			values = append(values, math.Exp(r.log))
		}
		if m, ok := Median(values); ok && len(values) >= MinDayRuns {
			all = append(all, m)
		}
	}
	return all
}

// longRun returns the median of ln TPS over ten years of runs.
func (e endpoint) longRun() float64 {
	rng := rand.New(rand.NewPCG(33, 34))
	load := 0.0
	var logs []float64
	for range 3650 {
		for _, r := range e.day(rng, &load, 1, 2) {
			logs = append(logs, r.log)
		}
	}
	m, _ := Median(logs)
	return m
}

var roughEndpoint = endpoint{level: math.Log(60), dip: 0.25, hourly: 0.06, daily: 0.06, noise: 0.08, rough: true}

// The three cadences of the published schedule.
var cadences = []struct {
	name          string
	slot, perSlot int
}{{"every 10 min", 1, 6}, {"hourly", 1, 1}, {"every 6 h", 6, 1}}

// TestScoreCoverage checks that the interval of the score holds the long-run
// median about as often as it says, and that treating runs as independent would
// not.
func TestScoreCoverage(t *testing.T) {
	const boards = 800
	truth := math.Exp(roughEndpoint.longRun())
	rng := rand.New(rand.NewPCG(35, 36))
	for _, c := range cadences {
		scored, held := 0, 0
		for range boards {
			s, ok := NewScore(roughEndpoint.medians(rng, 7, c.slot, c.perSlot), 0.95)
			if !ok {
				continue
			}
			scored++
			if s.Interval.Lo <= truth && truth <= s.Interval.Hi {
				held++
			}
		}
		coverage := float64(held) / float64(scored)
		t.Logf("%s: %d of %d intervals hold the truth (%.1f %%)", c.name, held, scored, 100*coverage)
		if scored < boards*9/10 || coverage < 0.90 {
			t.Errorf("%s: coverage %v of %d scores; want at least 0.90", c.name, coverage, scored)
		}
	}
}

// TestIndependentIntervalsAreFalse keeps the reason for [NewScore] true: order
// statistics of a week of 10-minute runs hold the long-run median far less often
// than 95 %.
func TestIndependentIntervalsAreFalse(t *testing.T) {
	const weeks = 200
	truth := roughEndpoint.longRun()
	rng := rand.New(rand.NewPCG(37, 38))
	held := 0
	for range weeks {
		load := 0.0
		var logs []float64
		for range 7 {
			for _, r := range roughEndpoint.day(rng, &load, 1, 6) {
				logs = append(logs, r.log)
			}
		}
		slices.Sort(logs)
		o, _ := NewOrderInterval(len(logs), 0.5, 0.95)
		lo, _ := o.Lo(logs)
		hi, _ := o.Hi(logs)
		if lo <= truth && truth <= hi {
			held++
		}
	}
	if coverage := float64(held) / weeks; coverage > 0.8 {
		t.Errorf("intervals that assume independence hold the truth in %v of weeks", coverage)
	}
}

// TestScoreOfLikeDays says what the score's interval is worth where each day
// resembles the one before: the doc comment and the methodology tell these.
func TestScoreOfLikeDays(t *testing.T) {
	for _, tt := range []struct{ correlation, coverage float64 }{{0, 0.95}, {0.2, 0.91}, {0.4, 0.84}} {
		rng := rand.New(rand.NewPCG(6, 28))
		const trials, days, sd, within = 4000, 7, 0.06, 0.018
		held := 0
		for range trials {
			medians := make([]float64, days)
			level := rng.NormFloat64()
			for d := range medians {
				medians[d] = 60 * math.Exp(sd*level+within*rng.NormFloat64())
				level = tt.correlation*level + math.Sqrt(1-tt.correlation*tt.correlation)*rng.NormFloat64()
			}
			if s, ok := NewScore(medians, 0.95); ok && s.Interval.Lo <= 60 && 60 <= s.Interval.Hi {
				held++
			}
		}
		if got := float64(held) / trials; math.Abs(got-tt.coverage) > 0.015 {
			t.Errorf("correlation %g: 95 %% intervals hold the truth in %.1f %% of cases; want %.0f %%", tt.correlation, 100*got, 100*tt.coverage)
		}
	}
}

// TestFalseClaims simulates boards of 12 pairs in 4 groups of equal speed and
// counts every "A beats B" that is not so, against what plain order would claim.
func TestFalseClaims(t *testing.T) {
	const boards = 300
	rng := rand.New(rand.NewPCG(39, 40))
	var falseClaims, plainClaims, trueClaims, trueOrders int
	for range boards {
		var rows []Row
		group := make(map[string]int)
		for i := range 12 {
			e := roughEndpoint
			e.level += float64(i/3) * math.Log(1.25)
			c := cadences[i%3]
			s, ok := NewScore(e.medians(rng, 7, c.slot, c.perSlot), RankConfidence(12))
			name := string(rune('a' + i))
			rows = append(rows, Row{Name: name, Score: s.Value, Interval: s.Interval, Eligible: ok})
			group[name] = i / 3
		}
		standings := Rank(rows, HigherIsBetter)
		for i, a := range standings {
			for _, b := range standings[i+1:] {
				if !a.Ranked || !b.Ranked {
					continue
				}
				claimed := b.Interval.Below(a.Interval)
				faster := group[a.Name] > group[b.Name]
				if faster {
					trueOrders++
				} else {
					plainClaims++
				}
				switch {
				case claimed && faster:
					trueClaims++
				case claimed:
					falseClaims++
				}
			}
		}
	}
	perBoard := float64(falseClaims) / boards
	power := float64(trueClaims) / float64(trueOrders)
	t.Logf("false claims a board: %.3f (plain order %.1f); true orders claimed: %.0f %%", perBoard, float64(plainClaims)/boards, 100*power)
	if perBoard >= 0.3 {
		t.Errorf("%v false claims a board; want fewer than 0.3", perBoard)
	}
	if power < 0.5 {
		t.Errorf("only %v of the true orders are claimed: the rule says too little", power)
	}
}

// watch runs the detector on each day of an endpoint's history as the daily job
// would, on the hourly medians of the last 50 days, and returns the days on
// which it raised an alarm. From day step on the endpoint is slower by factor.
func watch(e endpoint, rng *rand.Rand, length, step int, factor float64) (alarms []int) {
	d := NewDetector(MinRateShift)
	var hours []HourMedian
	var last *int64
	load := 0.0
	for day := range length {
		if day == step {
			e.level += math.Log(factor)
		}
		var byHour [24][]float64
		for _, r := range e.day(rng, &load, 1, 6) {
			byHour[r.hour] = append(byHour[r.hour], math.Exp(r.log))
		}
		for hour, values := range byHour {
			if m, ok := Median(values); ok {
				hours = append(hours, HourMedian{Hour: int64(24*day + hour), Value: m})
			}
		}
		for hours[0].Hour < int64(24*(day-49)) {
			hours = hours[1:]
		}
		levels, _ := DailyLevels(hours, true)
		if _, ok := d.Alarm(levels, last); ok {
			today := int64(day)
			last = &today
			alarms = append(alarms, day)
		}
	}
	return alarms
}

// TestAlarmsOverTwoYears lets pairs that never change run for two years each.
func TestAlarmsOverTwoYears(t *testing.T) {
	if testing.Short() {
		t.Skip("simulates some 1.7 million runs")
	}
	quiet := roughEndpoint
	quiet.daily, quiet.hourly, quiet.rough = 0.02, 0.03, false
	for _, tt := range []struct {
		name  string
		e     endpoint
		limit float64 // alarms per pair-year
	}{{"quiet", quiet, 0.2}, {"rough", roughEndpoint, 0.64}} {
		t.Run(tt.name, func(t *testing.T) {
			const pairs, years = 4, 2
			rng := rand.New(rand.NewPCG(41, 42))
			alarms := 0
			for range pairs {
				alarms += len(watch(tt.e, rng, years*365, -1, 1))
			}
			rate := float64(alarms) / (pairs * years)
			t.Logf("%d false alarms in %d pair-years", alarms, pairs*years)
			if rate > tt.limit {
				t.Errorf("%v false alarms per pair-year; want at most %v", rate, tt.limit)
			}
		})
	}
}

// TestAlarmDelay slows pairs down by 15 % after 40 days and sees how soon it is
// noticed.
func TestAlarmDelay(t *testing.T) {
	const pairs = 25
	rng := rand.New(rand.NewPCG(43, 44))
	var delays []float64
	for range pairs {
		for _, day := range watch(roughEndpoint, rng, 48, 40, 0.85) {
			if day >= 40 {
				delays = append(delays, float64(day-40+1))
				break
			}
		}
	}
	median, _ := Median(delays)
	t.Logf("noticed %d of %d within 8 days, after %v days in the median", len(delays), pairs, median)
	if len(delays) < pairs*9/10 || median > 4 {
		t.Errorf("noticed %d of %d, after %v days in the median; want 9 in 10, and 4 days", len(delays), pairs, median)
	}
}
