package rollup

import (
	"math"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// TestLength: 300 tokens, first text after 400 ms, 50 tokens a second on each of
// seven days, but for the last, which is a tenth slower.
func TestLength(t *testing.T) {
	samples := days(alder, 7, 6, func(day, run int) float64 {
		if day == 6 {
			return 50 / 1.1
		}
		return 50
	})
	f := track(alder, 4*Hour, samples).Length(Window7d.Span(now))
	per := 20 * math.Pow(1.1, 1.0/7) // ms, the geometric mean over days
	if !f.OK() || !f.Why.OK() || f.Runs != 42 || f.Days != 7 || f.Least != 300 || f.Most != 300 {
		t.Fatalf("%+v", f)
	}
	near(t, "start", f.Start.Value, 400, 1e-6)
	near(t, "per token", f.PerToken.Value, per, 1e-6)
	if i := f.Bounds.PerToken; !(i.Lo < per && per < i.Hi && i.Lo > 19 && i.Hi < 22) {
		t.Errorf("the interval of a token is %v", i)
	}
	ms, i := f.TTLTMS(500)
	near(t, "500 tokens", ms, 400+499*per, 1e-3)
	if !(i.Lo < ms && ms < i.Hi) {
		t.Errorf("500 tokens take %v ms, %v", ms, i)
	}
	near(t, "misfit", f.Misfit, (400+299*per)/(400+299*20)-1, 1e-6)

	f = track(alder, 4*Hour, samples[:18]).Length(Window7d.Span(now))
	if !f.OK() || f.Why != TooFewDays || f.Days != 3 {
		t.Errorf("three days: %+v", f)
	}
	if f = track(alder, 4*Hour, nil).Length(Window7d.Span(now)); f.OK() || f.Why != NoRuns {
		t.Errorf("nothing: %+v", f)
	}
}

// TestRefusedByHour counts refusals in their hour, and our own faults nowhere.
func TestRefusedByHour(t *testing.T) {
	at := func(day, hour int) time.Time { return today.AddDate(0, 0, -day).Add(time.Duration(hour) * Hour) }
	samples := append(days(alder, 2, 1, func(int, int) float64 { return 50 }), // at midnight
		failure(alder, at(1, 9), wire.KindRateLimit), failure(alder, at(2, 9), wire.KindRateLimit),
		failure(alder, at(1, 9).Add(time.Minute), wire.KindServer), failure(alder, at(1, 9).Add(2*time.Minute), wire.KindAuth))
	hours := track(alder, Hour, samples).RefusedByHour(Window7d.Span(now))
	for hour, got := range hours {
		want := map[int]HourOfDay{0: {Runs: 2}, 9: {Runs: 3, Refused: 2}}[hour]
		if got != want {
			t.Errorf("hour %d: %+v; want %+v", hour, got, want)
		}
	}
}
