package bench

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"
)

func date(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		panic(err)
	}
	return t
}

func cadence(t testing.TB, s string) Cadence {
	t.Helper()
	c, err := ParseCadence(s)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestParseCadence(t *testing.T) {
	tests := []struct {
		in, want string
		interval time.Duration
	}{
		{"10m", "10m", 10 * time.Minute},
		{"60m", "1h", time.Hour},
		{"1h30m", "1h30m", 90 * time.Minute},
		{"6h", "6h", 6 * time.Hour},
		{"90s", "1m30s", 90 * time.Second},
		{"24h", "1d", 24 * time.Hour},
		{"2d", "2d", 48 * time.Hour},
		{"*/10 * * * *", "*/10 * * * *", 10 * time.Minute},
		{"20 */6 * * *", "20 */6 * * *", 6 * time.Hour},
		{"@hourly", "@hourly", time.Hour},
		{"0 6 * * *", "0 6 * * *", 24 * time.Hour},
		{"0 9 1 * *", "0 9 1 * *", 335 * 24 * time.Hour / 11}, // January to December 2024
	}
	for _, tt := range tests {
		c, err := ParseCadence(tt.in)
		if err != nil {
			t.Errorf("ParseCadence(%q): %v", tt.in, err)
			continue
		}
		if c.String() != tt.want {
			t.Errorf("ParseCadence(%q) prints %q; want %q", tt.in, c, tt.want)
		}
		if got := c.Interval(); got.Round(time.Second) != tt.interval.Round(time.Second) {
			t.Errorf("ParseCadence(%q).Interval() = %v; want %v", tt.in, got, tt.interval)
		}
	}
}

// TestSlotInstants pins slots to what a script outside this program made of
// the documented hash, so that a change of the jitter cannot go unnoticed:
// it would move every pair's schedule.
func TestSlotInstants(t *testing.T) {
	tests := []struct {
		pair  Pair
		every string
		want  []int64 // Unix nanoseconds; the script's float differs in the last digits
	}{
		{Pair{"acme", "m1"}, "10m", []int64{1796040030695818550, 1796040744573261891}},
		{Pair{"acme", "m1"}, "6h", []int64{1796045659715958540, 1796070417099658532}},
		{Pair{"b", "x:1"}, "1h", []int64{1796041647974395577, 1796044509491903573}},
	}
	for _, tt := range tests {
		at := date("2026-11-30T12:00:00Z")
		for _, want := range tt.want {
			at = cadence(t, tt.every).Next(tt.pair, at)
			if d := at.UnixNano() - want; d < -1000 || d > 1000 {
				t.Errorf("%s every %s: slot at %d; want %d", tt.pair, tt.every, at.UnixNano(), want)
			}
		}
	}
}

// TestSlotsAreBounded checks the promise of Cadence: one instant per slot,
// inside it, and neighbours between 0.75 and 1.25 cadences apart.
func TestSlotsAreBounded(t *testing.T) {
	for _, every := range []string{"1m", "10m", "1h", "6h", "1d"} {
		c := cadence(t, every)
		for i := range 20 {
			p := Pair{"provider", fmt.Sprintf("model-%d", i)}
			at := c.Next(p, date("2026-03-29T00:00:00Z"))
			for range 500 {
				next := c.Next(p, at)
				k, l := at.UnixNano()/int64(c.every), next.UnixNano()/int64(c.every)
				if l != k+1 {
					t.Fatalf("%s every %s: slot %d follows %d", p, every, l, k)
				}
				if gap := float64(next.Sub(at)) / float64(c.every); gap < 0.7499 || gap > 1.2501 {
					t.Fatalf("%s every %s: neighbours are %.3f cadences apart", p, every, gap)
				}
				at = next
			}
		}
	}
}

// TestSlotsAreUniform checks that the instants fill the width of their slots
// evenly, and that a six-hourly pair meets every hour of the day alike.
func TestSlotsAreUniform(t *testing.T) {
	const slots = 2000
	c := cadence(t, "6h")
	var hours [24]int
	n := 0
	for i := range 50 {
		p := Pair{"provider", fmt.Sprintf("model-%d", i)}
		var u []float64
		at := date("2026-01-01T00:00:00Z")
		for range slots {
			at = c.Next(p, at)
			u = append(u, float64(at.UnixNano()%int64(c.every))/float64(c.every))
			hours[at.Hour()]++
			n++
		}
		slices.Sort(u)
		var ks float64 // Kolmogorov and Smirnov's distance to the uniform
		for j, x := range u {
			ks = max(ks, math.Abs(x-float64(j)/slots), math.Abs(x-float64(j+1)/slots))
		}
		// Independent draws would exceed 1.63/sqrt(n) once in a hundred. The
		// wave is evener than they are, so nothing near it is acceptable.
		if ks > 1.63/math.Sqrt(slots) {
			t.Errorf("%s: distance to uniform is %.4f", p, ks)
		}
	}
	for hour, got := range hours {
		if share := float64(got) / float64(n) * 24; share < 0.95 || share > 1.05 {
			t.Errorf("hour %d has %.3f of its share", hour, share)
		}
	}
}

// TestPairsDoNotMarch checks that pairs of one cadence do not share their
// instants: their phases differ, and so do their paces.
func TestPairsDoNotMarch(t *testing.T) {
	c := cadence(t, "1h")
	var sum, square float64
	const pairs = 400
	at := date("2026-06-01T00:00:00Z")
	for i := range pairs {
		u := c.Next(Pair{"p", fmt.Sprint(i)}, at).Sub(at).Hours()
		sum += u
		square += u * u
	}
	mean := sum / pairs
	sd := math.Sqrt(square/pairs - mean*mean)
	// Uniform on [0, 1): mean 0.5, standard deviation 0.289; three errors wide.
	if math.Abs(mean-0.5) > 3*0.289/math.Sqrt(pairs) || math.Abs(sd-0.289) > 0.03 {
		t.Errorf("instants of %d pairs in an hour: mean %.3f, deviation %.3f", pairs, mean, sd)
	}
}

func TestCronIsNotJittered(t *testing.T) {
	c := cadence(t, "20 */6 * * *")
	got := c.Next(Pair{"a", "b"}, date("2026-11-30T12:00:00+05:30"))
	if want := date("2026-11-30T12:20:00Z"); !got.Equal(want) {
		t.Errorf("next slot is %v; want %v, as cron times are UTC", got, want)
	}
	if got := c.Slots(Pair{"a", "b"}, date("2026-11-30T00:00:00Z"), date("2026-12-01T00:00:00Z")); got != 4 {
		t.Errorf("%d slots in a day; want 4", got)
	}
}
