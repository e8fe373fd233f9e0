package main

import (
	"fmt"
	"math"
	"testing"
	"testing/fstest"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// TestSimulatedMonth lets the scheduler run through a month of wake-ups of both
// workflows, bills each job as GitHub does, and compares what doctor estimates
// and the guide prints with that.
func TestSimulatedMonth(t *testing.T) {
	none := func(string) (string, bool) { return "", false }
	for _, tt := range []struct {
		name, models string
		every        string
		lite, full   int // as in the guide
	}{
		{"2 models every 6 hours", "a, b", "6h", 1700, 10_200},
		{"6 models every hour", "a, b, c, d, e, f", "60m", 2900, 46_400},
		{"20 models every hour", "a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t", "60m", 6000, 47_500},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file := fmt.Sprintf("base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nbuffer_probe: false\nevery: %s\nmodels: [%s]\n", tt.every, tt.models)
			list, err := bench.LoadProviders(fstest.MapFS{"p.yaml": {Data: []byte(file)}})
			if err != nil {
				t.Fatal(err)
			}
			from := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
			lite, full := billedMinutes(from, list, none)
			simLite, simFull := simulateLite(from, list, none), simulateFull(from, list, none)
			t.Logf("bench-lite.yml: %d minutes simulated, %d estimated; bench.yml: %d simulated, %d estimated", simLite, lite, simFull, full)
			within := func(what string, share float64, got, want int) {
				if math.Abs(float64(got-want)) > share*float64(want) {
					t.Errorf("%s: %d, not within %g of %d", what, got, share, want)
				}
			}
			within("bench-lite.yml, estimated", 0.1, lite, simLite)
			within("bench.yml, estimated", 0.1, full, simFull)
			within("bench-lite.yml, in the guide", 0.03, tt.lite, simLite)
			within("bench.yml, in the guide", 0.03, tt.full, simFull)
		})
	}
}

// measureDue adds to a history what is due at a time, and returns how long it
// takes.
func measureDue(at time.Time, list []bench.Provider, history bench.History, env bench.Lookup) (took time.Duration) {
	plan := bench.Due(at, list, history, bench.Options{Env: env})
	for _, d := range plan.Due {
		last := history[d.Pair]
		last = last[max(0, len(last)-2):] // older ones change nothing here, and take time
		history[d.Pair] = append(last, bench.Attempt{StartedAt: at.Add(took), Duration: d.Takes})
		took += d.Takes
	}
	return took
}

// simulateLite bills a month of bench-lite.yml: one job an hour, one pass.
func simulateLite(from time.Time, list []bench.Provider, env bench.Lookup) (minutes int) {
	history := bench.History{}
	for hour := range hoursPerMonth {
		at := from.Add(time.Duration(hour)*time.Hour + 37*time.Minute)
		took := measureDue(at, list, history, env)
		minutes += liteOverhead + int(math.Ceil(took.Minutes()))
	}
	return minutes
}

// simulateFull bills a month of bench.yml: two wake-ups an hour, each looking
// 25 minutes ahead, and measuring as things fall due.
func simulateFull(from time.Time, list []bench.Provider, env bench.Lookup) (minutes int) {
	history := bench.History{}
	for tick := range 2 * hoursPerMonth {
		at := from.Add(time.Duration(tick)*tickEvery + 13*time.Minute)
		minutes += planOverhead
		if len(bench.Due(at.Add(25*time.Minute), list, history, bench.Options{Env: env}).Due) == 0 {
			continue
		}
		minutes += fullOverhead + fullMeasuring
		for ahead := time.Duration(0); ahead <= 25*time.Minute; ahead += 5 * time.Minute {
			measureDue(at.Add(ahead), list, history, env)
		}
	}
	return minutes
}
