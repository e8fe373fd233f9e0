package main

import (
	"context"
	"errors"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// TestPassesKeepACadence works for 25 minutes through what falls due of a pair
// every ten minutes and one every hour.
func TestPassesKeepACadence(t *testing.T) {
	const file = `
base_url: http://127.0.0.1:9/v1
protocol: openai_chat
every: %
models: [m]
`
	list, err := bench.LoadProviders(fstest.MapFS{
		"often.yaml":  {Data: []byte(replaceOne(file, "10m"))},
		"seldom.yaml": {Data: []byte(replaceOne(file, "60m"))},
	})
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name     string
		again    bool
		budget   time.Duration
		requests map[string][2]int // least and most, by provider
		longest  time.Duration
	}{
		{"one pass", false, 25 * time.Minute, map[string][2]int{"often": {1, 1}, "seldom": {1, 1}}, 10 * time.Second},
		// Slots of ten minutes begin 7.5 to 12.5 minutes apart.
		{"until the budget is used up", true, 25 * time.Minute, map[string][2]int{"often": {2, 4}, "seldom": {1, 2}}, 25 * time.Minute},
		{"no time for two", true, 7 * time.Second, map[string][2]int{"often": {0, 1}, "seldom": {0, 1}}, 7 * time.Second},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				history := bench.History{}
				count := map[string]int{}
				start := time.Now()
				deadline := start.Add(tt.budget)
				err := passes(t.Context(), deadline, tt.again,
					func(now time.Time, left time.Duration) bench.Plan {
						return bench.Due(now, list, history, bench.Options{Time: left})
					},
					func(p bench.Plan) (sent int, err error) {
						for _, d := range p.Due {
							if time.Now().Add(5 * time.Second).After(deadline) {
								return sent, nil
							}
							history[d.Pair] = append(history[d.Pair], bench.Attempt{StartedAt: time.Now(), Duration: 5 * time.Second})
							time.Sleep(5 * time.Second)
							count[d.Provider]++
							sent++
						}
						return sent, nil
					})
				if err != nil {
					t.Fatal(err)
				}
				if took := time.Since(start); took > tt.longest {
					t.Errorf("took %v, want at most %v", took, tt.longest)
				}
				for name, want := range tt.requests {
					if n := count[name]; n < want[0] || n > want[1] {
						t.Errorf("%s: %d requests, want %d to %d", name, n, want[0], want[1])
					}
				}
			})
		})
	}
}

// TestPassesStop ends a pass while it sleeps.
func TestPassesStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(time.Minute, cancel)
		start := time.Now()
		err := passes(ctx, start.Add(time.Hour), true,
			func(now time.Time, _ time.Duration) bench.Plan { return bench.Plan{Next: start.Add(30 * time.Minute)} },
			func(bench.Plan) (int, error) { return 0, nil })
		if !errors.Is(err, context.Canceled) || time.Since(start) != time.Minute {
			t.Errorf("passes = %v after %v; want that it stops after a minute", err, time.Since(start))
		}
	})
}

func replaceOne(text, with string) string {
	for i := range text {
		if text[i] == '%' {
			return text[:i] + with + text[i+1:]
		}
	}
	return text
}
