package simulate

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"
)

var (
	historyFrom = time.Date(2026, time.March, 2, 0, 0, 0, 0, time.UTC) // a Monday
	historyTo   = historyFrom.AddDate(0, 0, 60)
)

func plainModel(p Past) Model {
	return Model{Name: "m", Shape: Shape{Prefill: 200 * ms, PerToken: 10 * ms, Tokens: 50}, Past: p}
}

func slots(m Model, every time.Duration) []Slot {
	return slices.Collect(History(11, m, historyFrom, historyTo, every))
}

func median(v []float64) float64 {
	slices.Sort(v)
	return v[len(v)/2]
}

// rates returns the true rates of the slots that keep says to keep.
func rates(all []Slot, keep func(Slot) bool) (v []float64) {
	for _, s := range all {
		if keep(s) {
			r, _ := s.Shape.DecodeTPS()
			v = append(v, r)
		}
	}
	return v
}

func TestHistorySlots(t *testing.T) {
	m := plainModel(Past{Day: .1, Cycle: .2, Drift: .1, Noise: .1, Rare: .01})
	all := slots(m, time.Hour)
	if len(all) != 60*24 {
		t.Fatalf("%d slots, want %d", len(all), 60*24)
	}
	for i, s := range all {
		if want := historyFrom.Add(time.Duration(i) * time.Hour); !s.At.Equal(want) || s.Model != "m" {
			t.Fatalf("slot %d is %s at %v", i, s.Model, s.At)
		}
		if err := s.Shape.Validate(); err != nil {
			t.Fatalf("slot %d: %v", i, err)
		}
	}
	if again := slots(m, time.Hour); !reflect.DeepEqual(all, again) {
		t.Error("the same arguments gave another past")
	}
	other := slices.Collect(History(12, m, historyFrom, historyTo, time.Hour))
	if reflect.DeepEqual(all[5].Shape, other[5].Shape) {
		t.Error("another seed gave the same past")
	}
	// A cadence twice as long meets the same instants: nothing depends on the count.
	if every2 := slots(m, 2*time.Hour); !reflect.DeepEqual(every2[7], all[14]) {
		t.Error("a slot depends on the ones before it")
	}
	if got := slots(m, 0); len(got) != 0 {
		t.Errorf("%d slots without a cadence", len(got))
	}
	for s := range History(11, m, historyFrom, historyTo, time.Hour) {
		if s.At.After(historyFrom) {
			break // stopping early is allowed
		}
	}
}

func TestHistoryWithoutAPast(t *testing.T) {
	m := plainModel(Past{})
	for s := range History(1, m, historyFrom, historyTo, 6*time.Hour) {
		if s.Shape != m.Shape {
			t.Fatalf("%v: %+v", s.At, s.Shape)
		}
	}
}

func TestHistoryTimeline(t *testing.T) {
	m := plainModel(Past{Day: .1, Noise: .1, Rare: .2})
	ok, failed := 0, 0
	for _, s := range slots(m, 6*time.Hour) {
		line := s.Timeline(300)
		if !reflect.DeepEqual(line, s.Timeline(300)) {
			t.Fatal("a slot has two timelines")
		}
		end := line.Steps[len(line.Steps)-1].Kind
		if (end == StepBreak) != (s.Shape.Fault.Kind != FaultNone) {
			t.Fatalf("%v: fault %s ends in step kind %d", s.At, s.Shape.Fault.Kind, end)
		}
		if end == StepBreak {
			failed++
			continue
		}
		ok++
		want, _ := s.Shape.DecodeTPS()
		if got, _ := line.DeliveredTPS(); math.Abs(got/want-1) > 1e-9 || line.Visible != 50 {
			t.Fatalf("%v: %v tokens per second, want %v", s.At, got, want)
		}
	}
	if share := float64(failed) / float64(ok+failed); math.Abs(share-.2) > .06 {
		t.Errorf("%v of the runs failed, want .2", share)
	}
}

func TestHistoryStep(t *testing.T) {
	i := slices.IndexFunc(Models(), func(m Model) bool { return m.Past.Step != 0 })
	if i < 0 {
		t.Fatal("no model has a step in its past")
	}
	m := Models()[i]
	all := slots(m, time.Hour)
	at := historyFrom.Add(time.Duration(m.Past.StepAt * float64(historyTo.Sub(historyFrom))))
	before := rates(all, func(s Slot) bool { return s.At.Before(at) })
	after := rates(all, func(s Slot) bool { return !s.At.Before(at) })
	if got := median(after)/median(before) - 1; math.Abs(got+.20) > .02 {
		t.Errorf("%s changes by %.3f, want -0.20", m.Name, got)
	}
}

func TestHistoryCycleAndDrift(t *testing.T) {
	m := plainModel(Past{Cycle: .3})
	all := slots(m, time.Hour)
	weekday := func(s Slot) bool { return s.At.Weekday() == time.Wednesday }
	weekend := func(s Slot) bool { return s.At.Weekday() == time.Sunday }
	worst, best := slices.Min(rates(all, weekday)), slices.Max(rates(all, weekday))
	if best > 100.1 || best < 99 || math.Abs(worst-70) > 1 {
		t.Errorf("on weekdays from %v to %v tokens per second, want 70 to 100", worst, best)
	}
	if got := slices.Min(rates(all, weekend)); math.Abs(got-85) > .5 {
		t.Errorf("at weekends down to %v, want 85", got)
	}
	var wait []time.Duration
	for _, s := range all {
		wait = append(wait, s.Shape.Prefill)
	}
	if got := slices.Max(wait); got < 310*ms || got > 320*ms { // 200 ms × (1 + 2 × .3), hours being whole
		t.Errorf("the wait grows to %v, want about 320 ms", got)
	}

	drift := slots(plainModel(Past{Drift: -.1}), time.Hour)
	first, _ := drift[0].Shape.DecodeTPS()
	last, _ := drift[len(drift)-1].Shape.DecodeTPS()
	if first != 100 || math.Abs(last-90) > .05 {
		t.Errorf("drifts from %v to %v, want 100 to 90", first, last)
	}
}

func TestHistoryDays(t *testing.T) {
	all := slots(plainModel(Past{Day: .1}), 6*time.Hour)
	var logs []float64
	for i := 0; i < len(all); i += 4 {
		a, _ := all[i].Shape.DecodeTPS()
		b, _ := all[i+3].Shape.DecodeTPS()
		if a != b {
			t.Fatalf("%v: the day's factor changes within it: %v, %v", all[i].At, a, b)
		}
		logs = append(logs, math.Log(a/100))
	}
	var sum2 float64
	for _, l := range logs {
		sum2 += l * l
	}
	if sd := math.Sqrt(sum2 / float64(len(logs))); sd < .07 || sd > .13 {
		t.Errorf("days differ by %v, want .1", sd)
	}
}

func TestHistoryFailures(t *testing.T) {
	m := plainModel(Past{Outages: []Outage{{At: .5, For: 10 * time.Hour, Kind: FaultOverloaded}}})
	start := historyFrom.AddDate(0, 0, 30)
	in, out := 0, 0
	for _, s := range slots(m, 10*time.Minute) {
		if k := s.Shape.Fault.Kind; k != FaultNone {
			if k != FaultOverloaded || s.At.Before(start) || !s.At.Before(start.Add(10*time.Hour)) {
				t.Errorf("%v: %s", s.At, k)
				out++
			}
			in++
		}
	}
	if in < 48 || in > 59 { // 60 slots, of which nine in ten fail
		t.Errorf("%d runs failed in the outage", in)
	}

	m = plainModel(Past{})
	m.Shape.Fault = Fault{Kind: FaultResetMid, Every: 5, After: 10}
	failed := 0
	all := slots(m, time.Hour)
	for _, s := range all {
		if s.Shape.Fault.Kind == FaultResetMid {
			failed++
			if got := s.Timeline(0); got.Steps[len(got.Steps)-1].Kind != StepBreak {
				t.Fatal("a failing slot has no break")
			}
		}
	}
	if share := float64(failed) / float64(len(all)); math.Abs(share-.2) > .03 {
		t.Errorf("one in five fails %v of the time", share)
	}

	m.Shape.Fault.Every = 0
	for _, s := range slots(m, 6*time.Hour) {
		if s.Shape.Fault.Kind != FaultResetMid {
			t.Fatalf("%v: a model that always fails did not", s.At)
		}
	}
}
