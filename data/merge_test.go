package data

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
)

// written is a record as one writer leaves it after so many days.
func written(t *testing.T, samples []bench.Sample, days int) *Store {
	t.Helper()
	s := newRecord(t)
	ingest(t, s, samples...)
	for {
		r, err := s.Rollup(t.Context(), t0.Add(time.Duration(days)*day))
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Pruned) == 0 {
			return s
		}
	}
}

// merged merges records into a new one.
func merged(t *testing.T, from ...*Store) *Store {
	t.Helper()
	s := newRecord(t)
	for _, one := range from {
		if _, err := s.Merge(t.Context(), one); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestMerge splits the samples of some weeks over two records, which share a
// part of them, and merges these in both orders. The result must be what one
// writer has, to the byte of the download.
func TestMerge(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(8, 15))
	// The days that have samples, and whether the two records are of different
	// vantages: only then can days be merged whose raw samples are gone.
	for _, c := range []struct {
		name     string
		days     []int
		vantages bool
	}{
		{"a fork", []int{0, 1, 2, 3, 4}, false},
		{"another vantage, below the floor too", []int{0, 1, 3, 60, 62, 63}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			var a, b, union []bench.Sample
			const perDay = 30
			days := c.days[len(c.days)-1] + 1
			for _, d := range c.days {
				for i := range perDay {
					at := t0.Add(time.Duration(d)*day + time.Duration(i)*day/perDay)
					s := random(rnd, fmt.Sprint("m", rnd.IntN(4)), at.Add(time.Duration(rnd.IntN(1000))*ms))
					side := rnd.IntN(3)
					if i == perDay-1 { // both clocks see the day end
						side = 2
					}
					if c.vantages {
						side %= 2
						if i >= perDay-2 {
							side = i % 2
							s.StartedAt = t0.Add(time.Duration(d+1)*day - time.Duration(2-i%2)*ms)
						}
						s.Env.Vantage = []string{"home", "away"}[side]
					}
					union = append(union, s)
					if side != 1 {
						a = append(a, s)
					}
					if side != 0 {
						b = append(b, s)
					}
				}
			}
			one := written(t, union, days)
			first, second := written(t, a, days), written(t, b, days)
			ab, ba := merged(t, first, second), merged(t, second, first)
			sound(t, ab)
			sound(t, ba)
			want := assemble(t, one, Download{})
			for name, s := range map[string]*Store{"A+B": ab, "B+A": ba} {
				if diff := cmp.Diff(sampleLines(all(t, one)), sampleLines(all(t, s))); diff != "" {
					t.Fatalf("%s: samples (-one writer +merged):\n%s", name, diff)
				}
				if got := assemble(t, s, Download{}); !sameFile(t, want, got) {
					t.Errorf("%s: the download is not that of one writer", name)
				}
			}
			before := fingerprints(t, ab.Dir())
			for _, again := range []*Store{first, second, ab} {
				if _, err := ab.Merge(t.Context(), again); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(before, fingerprints(t, ab.Dir())); diff != "" {
				t.Errorf("merging again changed files:\n%s", diff)
			}
		})
	}
}

// TestMergePrefersMore merges two records that kept different samples of a day
// and pruned it since: the fuller summary stays, in whichever order.
func TestMergePrefersMore(t *testing.T) {
	t.Parallel()
	series := func(n int) *Store {
		var samples []bench.Sample
		for i := range n {
			samples = append(samples, success("m", t0.Add(time.Duration(i)*time.Hour)))
		}
		for _, d := range []int{1, 60, 62} {
			samples = append(samples, success("m", t0.Add(time.Duration(d)*day+23*time.Hour)))
		}
		return written(t, samples, 63)
	}
	few, many := series(3), series(7)
	for name, s := range map[string]*Store{"few first": merged(t, few, many), "many first": merged(t, many, few)} {
		for b, err := range s.Daily(t.Context(), t0, t0.Add(day)) {
			if err != nil || b.Samples != 7 {
				t.Errorf("%s: %d samples on the first day, want 7: %v", name, b.Samples, err)
			}
		}
		sound(t, s)
	}
}

func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.ReadFile(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}
