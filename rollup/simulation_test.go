package rollup

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// How the simulated providers behave. The noise is assumed, not fitted.
const (
	simDayEffect = 0.05 // standard deviation of a day's log rate
	simNoise     = 0.12 // of a run's
	simDip       = 0.25 // share of the rate lost in business hours
)

// simulated returns the runs of a series on the n whole days before today: a
// rate with a daily dip, day effects and noise, outages, and the breaker, which
// probes every 30 minutes after three failures.
func simulated(random *rand.Rand, s bench.Series, n int, every time.Duration, base float64) []bench.Sample {
	var samples []bench.Sample
	dayEffect := make([]float64, n+1)
	for i := range dayEffect {
		dayEffect[i] = random.NormFloat64() * simDayEffect
	}
	start, end := today.AddDate(0, 0, -n), today
	down, up := nextOutage(random, start)
	failures := 0
	for slot := start; slot.Before(end); {
		step := every
		if failures >= 3 {
			step = stats.BreakerInterval
		}
		at := slot.Add(time.Duration(random.Int64N(int64(step)))) // jittered over its slot
		slot = slot.Add(step)
		for !at.Before(up) {
			down, up = nextOutage(random, up)
		}
		switch {
		case !at.Before(end):
		case !at.Before(down):
			samples = append(samples, failure(s, at, wire.KindServer))
			failures++
		default:
			failures = 0
			day := int(at.Sub(start) / Day)
			rate := base * dip(at) * math.Exp(dayEffect[day]+random.NormFloat64()*simNoise)
			run := success(s, at, rate, 400*math.Exp(random.NormFloat64()*0.3))
			run.Noise.Noisy = random.IntN(50) == 0
			samples = append(samples, run)
		}
	}
	return samples
}

// nextOutage returns an outage of 1 to 5 hours, about one in six days.
func nextOutage(random *rand.Rand, after time.Time) (down, up time.Time) {
	down = after.Add(time.Duration(random.ExpFloat64() * 6 * float64(Day)))
	return down, down.Add(Hour + time.Duration(random.Int64N(int64(4*Hour))))
}

// dip is the share of the base rate that is left at that hour.
func dip(at time.Time) float64 {
	if h := at.Hour(); h >= 9 && h < 17 {
		return 1 - simDip
	}
	return 1
}

// typicalDay returns the median of the dip and the noise together: what a series
// of base rate 1 scores in the long run.
func typicalDay() float64 {
	random := rand.New(rand.NewPCG(9, 9))
	values := make([]float64, 200_000)
	for i := range values {
		at := today.Add(time.Duration(random.Int64N(int64(Day))))
		values[i] = dip(at) * math.Exp(random.NormFloat64()*simNoise)
	}
	m, _ := stats.Median(values)
	return m
}

// TestSimulatedTruth measures 12 series of four speeds for 60 days, with day and
// hour effects, outages and the breaker, and holds what boards print against
// what is true: intervals of 95 % must hold the long-run rate in 90 % of cases
// or more, and a board may claim an order that is not there 0.3 times on
// average.
func TestSimulatedTruth(t *testing.T) {
	const worlds = 6
	cadences := []time.Duration{10 * time.Minute, Hour, 6 * Hour}
	truth := typicalDay()
	var intervals, held, claims, falseClaims, boards int
	for world := range worlds {
		random := rand.New(rand.NewPCG(uint64(world), 42))
		base := make(map[bench.Series]float64)
		var tracks []*Track
		for i := range 12 {
			s := series("estuary", string(rune('a'+i)))
			base[s] = 40 * math.Pow(1.25, float64(i%4))
			every := cadences[(i/4+i)%3]
			tracks = append(tracks, track(s, every, simulated(random, s, 60, every, base[s])))
		}
		for week := range 8 {
			board := NewBoard(Entries(tracks, Window7d, today.AddDate(0, 0, -7*week)), DecodeTPS)
			boards++
			for i, a := range board.Rows {
				if !a.Score.OK() {
					continue
				}
				intervals++
				if v := base[a.Series] * truth; a.Score.Interval.Lo <= v && v <= a.Score.Interval.Hi {
					held++
				}
				for _, b := range board.Rows[i+1:] {
					if !a.Ranked || !b.Ranked || !b.Rule.Below(a.Rule) {
						continue
					}
					claims++
					if base[a.Series] <= base[b.Series] {
						falseClaims++
					}
				}
			}
		}
	}
	coverage := float64(held) / float64(intervals)
	perBoard := float64(falseClaims) / float64(boards)
	t.Logf("%d intervals hold the truth in %.1f %%; %d boards claim %.1f orders each, %.3f of them false",
		intervals, 100*coverage, boards, float64(claims)/float64(boards), perBoard)
	if intervals < 500 || coverage < 0.90 || coverage > 0.99 {
		t.Errorf("coverage = %.3f of %d; want 0.90 to 0.99", coverage, intervals)
	}
	if perBoard >= 0.3 {
		t.Errorf("false claims a board = %.3f; want under 0.3", perBoard)
	}
	// A board that claims nothing makes no false claim either: 54 of the 66 pairs differ.
	if float64(claims)/float64(boards) < 20 {
		t.Errorf("claims a board = %.1f; want 20 or more", float64(claims)/float64(boards))
	}
}
