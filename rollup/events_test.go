package rollup

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// watch runs Detect for each of the last n whole days and returns all events.
func watch(tracks []*Track, n int) []Event {
	var events []Event
	for d := -n; d < 0; d++ {
		events = append(events, Detect(events, tracks, today.AddDate(0, 0, d))...)
	}
	return events
}

func ofKind(events []Event, kind EventKind) []Event {
	var list []Event
	for _, e := range events {
		if e.Kind == kind {
			list = append(list, e)
		}
	}
	return list
}

// TestShift slows a series by 15 % on one day, lengthens its answers, and checks
// what is told, once.
func TestShift(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	onset := today.AddDate(0, 0, -10)
	var samples []bench.Sample
	for d := -30; d < 0; d++ {
		effect := random.NormFloat64() * 0.02
		for i := range 48 {
			at := today.AddDate(0, 0, d).Add(time.Duration(i) * 30 * time.Minute)
			rate := 60 * dip(at) * math.Exp(effect+random.NormFloat64()*0.05)
			n := 200
			if !at.Before(onset) {
				rate, n = rate*0.85, 280
			}
			samples = append(samples, answer(alder, at, rate, 400, n))
		}
	}
	tracks := []*Track{track(alder, 30*time.Minute, samples)}
	events := watch(tracks, 25)
	if len(events) != 1 {
		t.Fatalf("events = %+v; want one", events)
	}
	e := events[0]
	if e.Kind != EventShift || e.Shift.Metric != DecodeTPS || !e.Onset.Equal(onset) || e.Series != alder {
		t.Errorf("event = %+v", e)
	}
	if delay := e.Found.Sub(onset); delay < 0 || delay > 4*Day {
		t.Errorf("found %v after the onset", delay)
	}
	s := e.Shift
	if !s.Worse() || !(s.P < 1e-4) || !(s.Interval.Lo < -0.15 && -0.15 < s.Interval.Hi) || math.Abs(s.Change+0.15) > 0.04 {
		t.Errorf("shift = %+v; want about -15 %%", s)
	}
	if s.Split == nil || s.Split.VolumeMs <= 0 || s.Split.SpeedMs <= 0 || math.Abs(s.Split.StartMs) > 1 {
		t.Fatalf("split = %+v; want longer answers and slower tokens", s.Split)
	}
	near(t, "sum of the parts", s.Split.StartMs+s.Split.VolumeMs+s.Split.SpeedMs, s.Split.TotalMs, 1e-9)

	// Running a day again adds nothing, and stored events are not touched.
	before := append([]Event(nil), events...)
	for d := -25; d < 0; d++ {
		if again := Detect(events, tracks, today.AddDate(0, 0, d)); len(again) != 0 {
			t.Errorf("told again: %+v", again)
		}
	}
	if !reflect.DeepEqual(events, before) {
		t.Error("stored events changed")
	}
	// Nor does finding it with another onset, a day off: the last alarm is too near.
	moved := e
	moved.ID, moved.Onset = "an onset told before", e.Onset.AddDate(0, 0, 1)
	if again := Detect([]Event{moved}, tracks, e.Found.AddDate(0, 0, 1)); len(again) != 0 {
		t.Errorf("told again with another onset: %+v", again)
	}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	var back Event
	if err := json.Unmarshal(data, &back); err != nil || !reflect.DeepEqual(back, e) {
		t.Errorf("stored as %s, read back as %+v (%v)", data, back, err)
	}
	if strings.Contains(e.ID, "\x00") {
		t.Errorf("ID %q is not printable", e.ID)
	}
}

// TestShiftQuiet checks that a world without changes raises no alarm, outages
// and daily rhythm included.
func TestShiftQuiet(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	var tracks []*Track
	for i, every := range []time.Duration{10 * time.Minute, time.Hour, 6 * time.Hour, time.Hour} {
		s := series("estuary", string(rune('a'+i)))
		tracks = append(tracks, track(s, every, simulated(random, s, 60, every, 60)))
	}
	for _, e := range watch(tracks, 50) {
		if e.Kind != EventDrop { // the simulated outages are real
			t.Errorf("false alarm: %+v %+v", e, e.Shift)
		}
	}
}

// TestIncident slows three models of one provider, and one of another.
func TestIncident(t *testing.T) {
	step := func(day, run int) float64 {
		base := 50 * (1 + 0.01*float64((day*3)%5-2))
		if day >= 20 {
			return base * 0.6
		}
		return base
	}
	var tracks []*Track
	for _, s := range []bench.Series{series("estuary", "a"), series("estuary", "b"), series("estuary", "c"), series("riverbed", "a")} {
		tracks = append(tracks, track(s, 2*Hour, days(s, 28, 12, step)))
	}
	events := watch(tracks, 20)
	if shifts := ofKind(events, EventShift); len(shifts) != 4 {
		t.Fatalf("%d shifts; want 4", len(shifts))
	}
	incidents := ofKind(events, EventIncident)
	if len(incidents) != 1 {
		t.Fatalf("incidents = %+v; want one", incidents)
	}
	i := incidents[0]
	if i.Provider != "estuary" || len(i.Members) != 3 || !i.Onset.Equal(today.AddDate(0, 0, -8)) {
		t.Errorf("incident = %+v", i)
	}
	ids := make(map[string]bool)
	for _, e := range events {
		if ids[e.ID] {
			t.Errorf("two events are called %q", e.ID)
		}
		ids[e.ID] = true
	}
	for _, id := range i.Members {
		if !ids[id] {
			t.Errorf("member %q does not exist", id)
		}
	}
}

// TestIncidentJoins checks which shifts make an incident.
func TestIncidentJoins(t *testing.T) {
	day := today.AddDate(0, 0, -1)
	shift := func(id, provider, model string, daysAgo int, change float64) Event {
		found := day.AddDate(0, 0, -daysAgo)
		return Event{
			ID: id, Kind: EventShift, Provider: provider, Series: series(provider, model),
			Found: found, Onset: found.AddDate(0, 0, -1), Shift: &Shift{Metric: DecodeTPS, Change: change},
		}
	}
	three := []Event{shift("1", "x", "a", 0, -0.2), shift("2", "x", "b", 1, -0.3), shift("3", "x", "c", 0, -0.2)}
	joined := Event{ID: "4", Kind: EventIncident, Provider: "x", Members: []string{"1", "2", "3"}, Found: day.AddDate(0, 0, -1)}
	for _, tt := range []struct {
		name            string
		previous, found []Event
		want            int
	}{
		{"three models in two days", three[1:2], []Event{three[0], three[2]}, 1},
		{"two models", nil, three[:2], 0},
		{"two metrics of one model", nil, append(three[:2:2], shift("5", "x", "b", 0, -0.2)), 0},
		{"another provider's", nil, append(three[:2:2], shift("5", "y", "c", 0, -0.2)), 0},
		{"one for the better", nil, append(three[:2:2], shift("5", "x", "c", 0, 0.2)), 0},
		{"found two days before", []Event{shift("5", "x", "c", 2, -0.2)}, three[:2], 0},
		{"already joined", append(three[:3:3], joined), []Event{shift("0", "x", "d", 0, -0.2)}, 0},
	} {
		got := incidents(tt.previous, tt.found, day)
		if len(got) != tt.want {
			t.Errorf("%s: %d incidents; want %d", tt.name, len(got), tt.want)
		}
		if len(got) == 1 && (!got[0].Onset.Equal(day.AddDate(0, 0, -2)) || !reflect.DeepEqual(got[0].Members, []string{"1", "2", "3"})) {
			t.Errorf("%s: %+v", tt.name, got[0])
		}
	}
}

// TestNotes checks that a known change is noted and raises no alarm.
func TestNotes(t *testing.T) {
	change := func(samples []bench.Sample, edit func(s *bench.Sample, day int)) *Track {
		first := today.AddDate(0, 0, -28)
		for i := range samples {
			edit(&samples[i], int(samples[i].StartedAt.Sub(first)/Day))
		}
		return track(alder, 2*Hour, samples)
	}
	step := func(day, run int) float64 {
		base := 50 * (1 + 0.01*float64((day*3)%5-2))
		if day >= 20 {
			return base * 0.6
		}
		return base
	}
	served := change(days(alder, 28, 12, step), func(s *bench.Sample, day int) {
		s.ServedBy = "alder-1"
		if day >= 20 {
			s.ServedBy = "alder-2"
		}
	})
	events := watch([]*Track{served}, 20)
	if len(events) != 1 || events[0].Kind != EventNote {
		t.Fatalf("events = %+v; want one note and no alarm", events)
	}
	want := Note{What: NoteServed, From: "alder-1", To: "alder-2"}
	if e := events[0]; *e.Note != want || !e.Onset.Equal(today.AddDate(0, 0, -8)) || !e.Found.Equal(e.Onset) {
		t.Errorf("note = %+v at %v; want %+v", *e.Note, e.Onset, want)
	}

	// A router that serves from here and there all the time is no change, and
	// does not hide one.
	routed := change(days(alder, 28, 12, step), func(s *bench.Sample, day int) {
		s.Backend = []string{"east", "west"}[day/2%2]
	})
	events = watch([]*Track{routed}, 5)
	if len(ofKind(events, EventNote)) != 0 || len(ofKind(events, EventShift)) == 0 {
		t.Errorf("a router's whims: %+v; want a shift and no note", events)
	}
}

func TestDrop(t *testing.T) {
	samples := days(alder, 30, 48, wobble(50))
	bad := today.AddDate(0, 0, -3) // and the day after, which is the same drop
	for i := range samples {
		if at := samples[i].StartedAt; !at.Before(bad) && at.Before(bad.Add(2*Day)) && at.Hour() >= 4 && at.Hour() < 20 {
			samples[i] = failure(alder, at, wire.KindServer)
		}
	}
	drops := ofKind(watch([]*Track{track(alder, 30*time.Minute, samples)}, 20), EventDrop)
	if len(drops) != 1 || !drops[0].Onset.Equal(bad) {
		t.Fatalf("drops = %+v; want one, on %v", drops, bad)
	}
	// By half hours, the first and the last run standing for half of one: 15 of 47.
	near(t, "availability of the day", drops[0].Drop.After.Value, 15.0/47, 1e-12)
	if drops[0].Drop.Before.Value != 1 {
		t.Errorf("before = %+v", drops[0].Drop.Before)
	}
}

// TestDropsByChance: where runs fail independently of one another and at a rate
// that never changes, drops are rare; the methodology tells how rare.
func TestDropsByChance(t *testing.T) {
	for _, fails := range []float64{0.01, 0.05, 0.15} {
		r := rand.New(rand.NewPCG(17, 5))
		drops, years := 0, 0.0
		for range 4 {
			const length = DropDays + 365
			samples := days(alder, length, 24, func(int, int) float64 { return 50 })
			for i := range samples {
				if r.Float64() < fails {
					samples[i] = failure(alder, samples[i].StartedAt, wire.KindServer)
				}
			}
			tr := track(alder, Hour, samples)
			var events []Event
			for d := DropDays; d < length; d++ {
				day := today.AddDate(0, 0, d-length)
				if e, ok := tr.drop(day, events); ok {
					e.Found = day
					events = append(events, e)
				}
			}
			drops, years = drops+len(events), years+1
		}
		if rate := float64(drops) / years; rate > 1.2 {
			t.Errorf("where %g of the runs fail: %.2f drops a year; want at most about one", fails, rate)
		}
	}
}
