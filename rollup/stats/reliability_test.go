package stats

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

func TestCountsPlus(t *testing.T) {
	a := Counts{1, 2, 3, 4, 5, 6, 7, 8}
	b := Counts{10, 20, 30, 40, 50, 60, 70, 80}
	if got, want := a.Plus(b), (Counts{11, 22, 33, 44, 55, 66, 77, 88}); got != want || b.Plus(a) != want {
		t.Errorf("Plus = %+v; want %+v", got, want)
	}
	if got := a.Total(); got != 36 {
		t.Errorf("Total = %d; want 36", got)
	}
	if got := a.Valid(); got != 1+5+6+7+8 {
		t.Errorf("Valid = %d; want 27", got)
	}
}

func TestCountsUndefined(t *testing.T) {
	rates := func(c Counts) (known [4]bool) {
		_, known[0] = c.SuccessRate()
		_, known[1] = c.Availability()
		_, known[2] = c.ThrottleRate()
		_, known[3] = c.OwnFaultRate()
		return known
	}
	tests := []struct {
		name string
		c    Counts
		want [4]bool
	}{
		{"no attempt", Counts{}, [4]bool{}},
		{"only our faults", Counts{Auth: 1, Quota: 2}, [4]bool{true, false, false, true}},
		{"only throttled", Counts{RateLimit: 3}, [4]bool{true, false, true, true}},
		{"one success", Counts{OK: 1}, [4]bool{true, true, true, true}},
	}
	for _, tt := range tests {
		if got := rates(tt.c); got != tt.want {
			t.Errorf("%s: known %v; want %v", tt.name, got, tt.want)
		}
		if _, ok := tt.c.AvailabilityInterval(Z95); ok != tt.want[1] {
			t.Errorf("%s: interval known %v; want %v", tt.name, ok, tt.want[1])
		}
	}
}

func TestTimeWeightedUndefined(t *testing.T) {
	noon := 12 * time.Hour
	for _, attempts := range [][]Attempt{nil, {{noon, true}}, {{noon, true}, {noon, false}}} {
		if got, ok := TimeWeighted(attempts, time.Hour); ok {
			t.Errorf("TimeWeighted(%v) = %v", attempts, got)
		}
	}
	if got, ok := TimeWeighted([]Attempt{{0, true}, {noon, true}}, 0); ok {
		t.Errorf("TimeWeighted without trust in any gap = %v", got)
	}
}

// TestTimeWeightedProperties checks that neither the order of attempts nor
// probing more often while nothing changes moves the result, while the share of
// attempts does move.
func TestTimeWeightedProperties(t *testing.T) {
	rng := rand.New(rand.NewPCG(19, 20))
	for range 300 {
		var attempts, dense []Attempt
		var at time.Duration
		for range 2 + rng.IntN(40) {
			at += time.Duration(rng.IntN(3600)) * time.Second // some at once
			a := Attempt{at, rng.IntN(4) > 0}
			if n := len(attempts); n > 0 && attempts[n-1].OK == a.OK {
				dense = append(dense, Attempt{(attempts[n-1].At + at) / 2, a.OK})
			}
			attempts = append(attempts, a)
			dense = append(dense, a)
		}
		want, ok := TimeWeighted(attempts, time.Hour)
		if !ok || want < 0 || want > 1 {
			t.Fatalf("TimeWeighted(%v) = %v, %v", attempts, want, ok)
		}
		if got, _ := TimeWeighted(dense, time.Hour); !near(got, want, 1e-12) {
			t.Fatalf("TimeWeighted = %v with denser probes; want %v", got, want)
		}
		other := slices.Clone(attempts)
		rng.Shuffle(len(other), func(i, j int) { other[i], other[j] = other[j], other[i] })
		if got, _ := TimeWeighted(other, time.Hour); got != want {
			t.Fatalf("TimeWeighted = %v in another order; want %v", got, want)
		}
	}
}

// TestTimeWeightedBreaker simulates a pair probed every 10 minutes, every 30
// while down, with outages of 8 hours every 48: the truth is 5 in 6.
func TestTimeWeightedBreaker(t *testing.T) {
	const interval = 10 * time.Minute
	var attempts []Attempt
	var counts Counts
	for at := time.Duration(0); at < 60*24*time.Hour; {
		up := at%(48*time.Hour) < 40*time.Hour
		attempts = append(attempts, Attempt{at, up})
		if up {
			counts.OK++
			at += interval
		} else {
			counts.Server++
			at += BreakerInterval
		}
	}
	const truth = 40.0 / 48
	weighted, _ := TimeWeighted(attempts, MaxGap(interval))
	counted, _ := counts.Availability()
	if d := weighted - truth; d < -0.005 || d > 0.005 {
		t.Errorf("time-weighted %v; want %v", weighted, truth)
	}
	if counted < truth+0.05 {
		t.Errorf("share of attempts %v shows no bias against %v; the test has lost its point", counted, truth)
	}
}

func TestMaxGap(t *testing.T) {
	for interval, want := range map[time.Duration]time.Duration{
		10 * time.Minute: time.Hour, 30 * time.Minute: time.Hour, 6 * time.Hour: 12 * time.Hour,
	} {
		if got := MaxGap(interval); got != want {
			t.Errorf("MaxGap(%v) = %v; want %v", interval, got, want)
		}
	}
}
