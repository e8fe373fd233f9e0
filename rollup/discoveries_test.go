package rollup

import (
	"fmt"
	"testing"
)

// stepped is a series of 24 days, four runs a day, of which the last five are a
// third slower. Spread is how far its days scatter.
func stepped(name string, spread float64) *Track {
	s := series("estuary", name)
	return track(s, 6*Hour, days(s, 24, 4, func(day, _ int) float64 {
		rate := 60 * (1 + spread*float64(day*7%5-2)/2)
		if day >= 19 {
			rate *= .67
		}
		return rate
	}))
}

// flat is such a series without a change.
func flat(name string) *Track {
	s := series("estuary", name)
	return track(s, 6*Hour, days(s, 24, 4, func(day, _ int) float64 { return 60 + float64(day*7%5) }))
}

// TestFalseDiscoveries takes a shift whose p is just under the detector's own
// limit of 1e-4. It is told beside 299 quiet series, and not beside 309. It is
// the best of the 23 days that could begin a new level, so it counts as 2e-3,
// and among 620 searches, of k told, the last must be under k/620 of 5 %: it
// takes 26 with it, and two are not enough.
func TestFalseDiscoveries(t *testing.T) {
	yesterday := today.AddDate(0, 0, -1)
	shifts := func(tracks []*Track) (names []string) {
		for _, e := range Detect(nil, tracks, yesterday) {
			if e.Kind == EventShift {
				names = append(names, e.Series.Model)
			}
		}
		return names
	}
	var weak *Track
	for spread := .02; spread < .4 && weak == nil; spread += .0002 {
		c := stepped("weak", spread)
		if e := Detect(nil, []*Track{c}, yesterday); len(e) == 1 && e[0].Shift.P > 8.2e-5 {
			weak = c
		}
	}
	if weak == nil {
		t.Fatal("no spread makes a shift of 8.2e-5 < p < 1e-4")
	}
	with := func(quiet, strong int) []*Track {
		tracks := []*Track{weak}
		for i := range quiet {
			tracks = append(tracks, flat(fmt.Sprint("quiet-", i)))
		}
		for i := range strong {
			tracks = append(tracks, stepped(fmt.Sprint("strong-", i), .01))
		}
		return tracks
	}
	for _, c := range []struct {
		name          string
		quiet, strong int
		want          int
	}{
		{"alone", 0, 0, 1},
		{"300 series", 299, 0, 1},
		{"310 series", 309, 0, 0},
		{"310 series, two of them with a clear change", 307, 2, 2},
		{"310 series, thirty of them with a clear change", 279, 30, 31},
	} {
		if got := shifts(with(c.quiet, c.strong)); len(got) != c.want {
			t.Errorf("%s: shifts of %v; want %d", c.name, got, c.want)
		}
	}
	// Series that had no run that day were not searched.
	idle := with(299, 0)
	for i := range 20 {
		s := series("estuary", fmt.Sprint("idle-", i))
		idle = append(idle, track(s, 6*Hour, days(s, 24, 4, func(int, int) float64 { return 60 })[:4*20]))
	}
	if got := shifts(idle); len(got) != 1 {
		t.Errorf("300 series and 20 that rest: shifts of %v", got)
	}
}
