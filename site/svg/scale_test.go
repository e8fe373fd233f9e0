package svg

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

func TestTicks(t *testing.T) {
	tests := []struct {
		name  string
		scale Scale
		most  int
		want  string
	}{
		{"1-2-5 per decade", Log(9, 260), 8, "10 20 50 100 200"},
		{"ends included", Log(10, 100), 8, "10 20 50 100"},
		{"thinned to 1-3", Log(1, 900), 7, "1 3 10 30 100 300"},
		{"thinned to decades", Log(1, 1e6), 8, "1 10 100 1,000 10,000 100,000 1,000,000"},
		{"thinned to some decades", Log(1, 1e6), 4, "1 100 10,000 1,000,000"},
		{"too narrow for decades", Log(104, 118), 4, "105 110 115"},
		{"linear", Linear(78, 142), 5, "80 100 120 140"},
		{"through zero", Linear(-25, 25), 5, "−20 −10 0 10 20"},
		{"small", Linear(0, .3), 4, "0 0.1 0.2 0.3"},
		{"nothing", Scale{}, 5, ""},
	}
	for _, tt := range tests {
		var got []string
		for _, v := range tt.scale.ticks(tt.most) {
			got = append(got, Plain(v))
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("%s: ticks(%d) = %q; want %q", tt.name, tt.most, s, tt.want)
		}
	}
}

func TestScalePlaces(t *testing.T) {
	log := Log(10, 1000)
	for v, want := range map[float64]float64{10: 0, 100: .5, 1000: 1, 1: -.5} {
		if got := log.frac(v); math.Abs(got-want) > 1e-12 {
			t.Errorf("Log(10, 1000).frac(%v) = %v; want %v", v, got, want)
		}
	}
	for _, s := range []Scale{Log(0, 10), Log(-1, 10), Log(5, 4), Linear(2, 1), Linear(math.NaN(), 1), Log(1, math.Inf(1)), LogOver(0, -3), LinearOver()} {
		if s.ok() {
			t.Errorf("%+v can be drawn on", s)
		}
	}
	// 118 to 122 spans a thirtieth of its level: the scale must not make that a cliff.
	if s := LinearOver(118, 122); s.hi-s.lo < 24 {
		t.Errorf("LinearOver(118, 122) = %+v; want a span of a fifth of the level", s)
	}
	if s := LinearOver(0, 3); s.lo != 0 {
		t.Errorf("LinearOver(0, 3) begins at %v; want 0", s.lo)
	}
}

func TestPlain(t *testing.T) {
	for v, want := range map[float64]string{0: "0", .25: "0.25", 999: "999", 1000: "1,000", 12345: "12,345", -1234.5: "−1,234.5", 123456: "123,456", 5e6: "5,000,000", -1e6: "−1,000,000", 2e12: "2e+12"} {
		if got := Plain(v); got != want {
			t.Errorf("Plain(%v) = %q; want %q", v, got, want)
		}
	}
	for v, want := range map[float64]string{500: "500", 1000: "1 s", 2500: "2.5 s"} {
		if got := Milliseconds(v); got != want {
			t.Errorf("Milliseconds(%v) = %q; want %q", v, got, want)
		}
	}
}

func TestTimeTicks(t *testing.T) {
	date := func(s string) time.Time {
		at, err := time.Parse("2006-01-02 15:04", s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	tests := []struct {
		name, from, to string
		most           int
		want           string
	}{
		{"a day by hours", "2025-11-30 03:10", "2025-12-01 03:10", 5, "06:00, 12:00, 18:00, 1 Dec"},
		{"a week by days", "2025-11-24 00:00", "2025-12-01 00:00", 8, "24 Nov, 25 Nov, 26 Nov, 27 Nov, 28 Nov, 29 Nov, 30 Nov, 1 Dec"},
		{"a month by Mondays", "2025-10-31 00:00", "2025-11-30 00:00", 5, "3 Nov, 10 Nov, 17 Nov, 24 Nov"},
		{"a year by quarters", "2024-11-30 00:00", "2025-11-30 00:00", 5, "Jan 2025, Apr, Jul, Oct"},
		{"years", "2019-05-01 00:00", "2025-11-30 00:00", 8, "2020, 2021, 2022, 2023, 2024, 2025"},
	}
	for _, tt := range tests {
		var got []string
		for _, k := range timeTicks(date(tt.from), date(tt.to), tt.most) {
			got = append(got, k.label)
		}
		if s := strings.Join(got, ", "); s != tt.want {
			t.Errorf("%s: got %s; want %s", tt.name, s, tt.want)
		}
	}
	// A reader elsewhere must see the same instants: local zones do not matter.
	east := time.FixedZone("", 9*3600)
	from, to := date("2025-11-30 00:00"), date("2025-12-01 00:00")
	if a, b := timeTicks(from, to, 5), timeTicks(from.In(east), to.In(east), 5); fmt.Sprint(a) != fmt.Sprint(b) {
		t.Errorf("zone changes ticks: %v, %v", a, b)
	}
}

// TestAxisStretches checks that a row drawn for a table cell and stretched over
// a phone agrees with the axis drawn for the phone.
func TestAxisStretches(t *testing.T) {
	cell, phone := Axis{Scale: Log(9, 260), W: 180}, Axis{Scale: Log(9, 260), W: 358}
	for _, v := range []float64{1, 9, 10, 50, 200, 260, 1000} {
		a, off := cell.place(cell.size(30), v)
		b, offPhone := phone.place(phone.size(18), v)
		if math.Abs(a/180-b/358) > 1e-9 || off != offPhone {
			t.Errorf("%v is at %.4f of the cell, %.4f of the phone", v, a/180, b/358)
		}
	}
	if _, off := cell.place(cell.size(30), 1); off != -1 {
		t.Errorf("1 is off a scale from 9 by %d; want -1", off)
	}
}
