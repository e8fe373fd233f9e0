package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestCompareSleep is Student's own example, with the numbers that R's
// t.test(extra ~ group, data = sleep, var.equal = TRUE) prints.
func TestCompareSleep(t *testing.T) {
	first := []float64{0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0}
	second := []float64{1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4}
	diff, half, p := compare(first, second)
	if !near(diff, 1.58, 1e-9) || !near(diff-half, -0.203874, 1e-5) || !near(diff+half, 3.363874, 1e-5) || !near(p, 0.07919, 1e-3) {
		t.Errorf("compare = %v ± %v, p %v; want 1.58, -0.203874..3.363874, p 0.07919", diff, half, p)
	}
}

func TestCompareDegenerate(t *testing.T) {
	if _, half, p := compare([]float64{1}, []float64{2}); p != 1 || !math.IsInf(half, 1) {
		t.Errorf("two single values: ± %v, p %v; want no knowledge", half, p)
	}
	if _, _, p := compare([]float64{1, 1}, []float64{1, 1}); p != 1 {
		t.Errorf("equal constants: p = %v; want 1", p)
	}
	if diff, _, p := compare([]float64{1, 1}, []float64{2, 2}); diff != 1 || p != 0 {
		t.Errorf("different constants: difference %v, p = %v; want 1, 0", diff, p)
	}
}

// TestDivergence computes Q by its definition, pair by pair.
func TestDivergence(t *testing.T) {
	meanDistance := func(x, y []float64, distinct bool) float64 {
		var sum, n float64
		for i, a := range x {
			for j, b := range y {
				if !distinct || i < j {
					sum += math.Abs(a - b)
					n++
				}
			}
		}
		if n == 0 {
			return 0
		}
		return sum / n
	}
	rng := rand.New(rand.NewPCG(23, 24))
	for range 50 {
		x := make([]float64, 4+rng.IntN(20))
		for i := range x {
			x[i] = rng.NormFloat64()
		}
		d := newDistances(x)
		for a := range x {
			for tau := a + 1; tau < len(x); tau++ {
				for kappa := tau + 1; kappa <= len(x); kappa++ {
					left, right := x[a:tau], x[tau:kappa]
					n, m := float64(len(left)), float64(len(right))
					want := n * m / (n + m) * (2*meanDistance(left, right, false) - meanDistance(left, left, true) - meanDistance(right, right, true))
					if got := d.divergence(a, tau, kappa); math.Abs(got-want) > 1e-11 {
						t.Fatalf("divergence(%d, %d, %d) = %v; want %v", a, tau, kappa, got, want)
					}
				}
			}
		}
	}
}

// steps returns n logs of about level 60 with noise of 3 %, times factor from
// each index on.
func steps(rng *rand.Rand, n int, factors map[int]float64) []float64 {
	logs := make([]float64, n)
	level := math.Log(60)
	for i := range logs {
		if f, ok := factors[i]; ok {
			level += math.Log(f)
		}
		logs[i] = level + 0.03*rng.NormFloat64()
	}
	return logs
}

func TestShifts(t *testing.T) {
	rng := rand.New(rand.NewPCG(25, 26))
	d := NewDetector(MinRateShift)
	logs := steps(rng, 80, map[int]float64{10: 0.5, 50: 0.7, 65: 1.3})
	shifts := d.Shifts(logs)
	if len(shifts) != 2 || shifts[0].Index != 50 || shifts[1].Index != 65 {
		t.Fatalf("Shifts = %+v; want one at 50 and one at 65, that at 10 being out of the window", shifts)
	}
	for i, want := range []Shift{{From: 30, To: 65, Change: -0.3}, {From: 50, To: 80, Change: 0.3}} {
		got := shifts[i]
		before, _ := Median(logs[got.From:got.Index])
		after, _ := Median(logs[got.Index:got.To])
		if got.From != want.From || got.To != want.To || math.Abs(got.Change-want.Change) > 0.05 ||
			!(got.Interval.Lo < got.Change && got.Change < got.Interval.Hi) || !(got.P < d.P0) ||
			!near(got.Before, math.Exp(before), 1e-12) || !near(got.After, math.Exp(after), 1e-12) {
			t.Errorf("shift %d = %+v; want %+v", i, got, want)
		}
	}

	// A change of unit is another constant; the mirror image shifts the other way.
	scaled, mirrored := slices.Clone(logs), slices.Clone(logs)
	for i := range logs {
		scaled[i] += math.Log(1000)
		mirrored[i] = -logs[i]
	}
	for i, s := range d.Shifts(scaled) {
		if s.Index != shifts[i].Index || !near(s.Change, shifts[i].Change, 1e-9) {
			t.Errorf("in another unit %+v; want %+v", s, shifts[i])
		}
	}
	for i, s := range d.Shifts(mirrored) {
		if s.Index != shifts[i].Index || !near(s.Change, 1/(1+shifts[i].Change)-1, 1e-9) {
			t.Errorf("mirrored %+v; want the inverse of %+v", s, shifts[i])
		}
	}
}

func TestShiftsNone(t *testing.T) {
	d := NewDetector(MinRateShift)
	for name, logs := range map[string][]float64{
		"empty": nil, "one": {4}, "three": {4, 4, 2}, "constant": slices.Repeat([]float64{4.094}, 60),
	} {
		if got := d.Shifts(logs); len(got) != 0 {
			t.Errorf("%s: Shifts = %+v", name, got)
		}
	}
	// Clear, but small: kept only by a detector that asks for less.
	logs := steps(rand.New(rand.NewPCG(27, 28)), 50, map[int]float64{25: 0.94})
	if got := d.Shifts(logs); len(got) != 0 {
		t.Errorf("a change of 6 %%: Shifts = %+v", got)
	}
	if got := NewDetector(0.03).Shifts(logs); len(got) != 1 || got[0].Index < 23 || got[0].Index > 27 {
		t.Errorf("a change of 6 %% with a floor of 3 %%: Shifts = %+v; want one near 25", got)
	}
}

// days gives logs to consecutive days from day on.
func days(day int64, logs []float64) []DayLevel {
	levels := make([]DayLevel, len(logs))
	for i, l := range logs {
		levels[i] = DayLevel{Day: day + int64(i), Log: l}
	}
	return levels
}

func TestAlarm(t *testing.T) {
	d := NewDetector(MinRateShift)
	rng := rand.New(rand.NewPCG(29, 30))
	logs := steps(rng, 60, map[int]float64{30: 0.6})
	levels := days(1000, logs)
	on := func(day int64) *int64 { return &day }
	tests := []struct {
		name  string
		today int // how many days are known
		last  *int64
		want  bool
	}{
		{"the day before", 30, nil, false},
		{"third day", 33, nil, true},
		{"seven days on", 38, nil, true},
		{"eight days on", 39, nil, false},
		{"raised before", 35, on(1031), false},
		{"two days after another", 35, on(1028), false},
		{"three days after another", 35, on(1027), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, ok := d.Alarm(levels[:tt.today], tt.last)
			if ok != tt.want || ok && s.Index != 30 {
				t.Errorf("Alarm = %+v, %v; want %v, at 30", s, ok, tt.want)
			}
		})
	}
	early := steps(rng, 9, map[int]float64{3: 0.5})
	if s, ok := d.Alarm(days(1000, early), nil); ok || len(d.Shifts(early)) == 0 {
		t.Errorf("Alarm three days into the series = %+v, %v; want a shift, but no alarm", s, ok)
	}
	if s, ok := d.Alarm(nil, nil); ok {
		t.Errorf("Alarm of nothing = %+v", s)
	}
}

// TestDailyLevelsDeseason checks that a rhythm of the day leaves no trace even
// on days that were seen in part, which is what it is for, and that a step does.
func TestDailyLevelsDeseason(t *testing.T) {
	rhythm := func(hour int64) float64 { return 0.25 * math.Sin(2*math.Pi*float64(hour)/24) }
	var hours []HourMedian
	for day := int64(20000); day < 20040; day++ {
		level := 4.0
		if day >= 20030 {
			level = 3.8
		}
		for hour := range int64(24) {
			if day%5 == 4 && hour >= 12 { // only the slow half or the fast half
				continue
			}
			hours = append(hours, HourMedian{Hour: 24*day + hour, Value: math.Exp(level + rhythm(hour))})
		}
	}
	rand.New(rand.NewPCG(31, 32)).Shuffle(len(hours), func(i, j int) { hours[i], hours[j] = hours[j], hours[i] })

	levels, ok := DailyLevels(hours, true)
	if !ok || len(levels) != 40 {
		t.Fatalf("DailyLevels = %d days, %v; want 40", len(levels), ok)
	}
	for i, l := range levels {
		want := 4.0
		if l.Day >= 20030 {
			want = 3.8
		}
		if l.Day != 20000+int64(i) || math.Abs(l.Log-want) > 0.02 {
			t.Errorf("level %d = %+v; want %v", i, l, want)
		}
	}
	raw, _ := DailyLevels(hours, false)
	if d := math.Abs(raw[4].Log - 4); d < 0.1 {
		t.Errorf("raw level of a half day is off by %v only; the test has lost its point", d)
	}
}

func TestDailyLevelsPlain(t *testing.T) {
	// Six-hourly runs, across the epoch to test rounding down.
	runs := []HourMedian{{-24, 50}, {-18, 60}, {-12, 70}, {-1, 80}, {0, 10}, {23, 20}, {24, 33}}
	levels, ok := DailyLevels(runs, false)
	want := []DayLevel{{-1, (math.Log(60) + math.Log(70)) / 2}, {0, (math.Log(10) + math.Log(20)) / 2}, {1, math.Log(33)}}
	if !ok || len(levels) != len(want) {
		t.Fatalf("DailyLevels = %v, %v; want %v", levels, ok, want)
	}
	for i := range want {
		if levels[i].Day != want[i].Day || !near(levels[i].Log, want[i].Log, 1e-12) {
			t.Errorf("level %d = %v; want %v", i, levels[i], want[i])
		}
	}
	if levels, ok := DailyLevels(nil, true); len(levels) != 0 || !ok {
		t.Errorf("DailyLevels of nothing = %v, %v", levels, ok)
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if levels, ok := DailyLevels([]HourMedian{{0, bad}}, true); ok {
			t.Errorf("DailyLevels of %v = %v", bad, levels)
		}
	}
}

// TestAdjustFDR has the values of R's p.adjust(p, "BH").
func TestAdjustFDR(t *testing.T) {
	tests := []struct{ p, want []float64 }{
		{nil, nil},
		{[]float64{0.03}, []float64{0.03}},
		{[]float64{0.01, 0.02, 0.03, 0.04, 0.05}, []float64{0.05, 0.05, 0.05, 0.05, 0.05}},
		{[]float64{0.9, 0.001, 0.2, 0.04}, []float64{0.9, 0.004, 0.8 / 3, 0.08}},
	}
	for _, tt := range tests {
		got, ok := AdjustFDR(tt.p)
		if !ok || !slices.EqualFunc(got, tt.want, func(a, b float64) bool { return near(a, b, 1e-12) }) {
			t.Errorf("AdjustFDR(%v) = %v, %v; want %v", tt.p, got, ok, tt.want)
		}
	}
	for _, bad := range []float64{-0.1, 1.1, math.NaN()} {
		if got, ok := AdjustFDR([]float64{0.5, bad}); ok {
			t.Errorf("AdjustFDR(%v) = %v", bad, got)
		}
	}
}
