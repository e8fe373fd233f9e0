package rollup

import (
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// TestReliability takes an outage in which the breaker probes every 30 minutes:
// 8 of 13 runs succeed, but the outage lasts 100 of the 180 minutes.
func TestReliability(t *testing.T) {
	minutes := []int{0, 10, 20, 30, 40, 50, 60, 90, 120, 150, 160, 170, 180}
	var samples []bench.Sample
	start := now.Add(-4 * Hour)
	for i, m := range minutes {
		at := start.Add(time.Duration(m) * time.Minute)
		if i >= 4 && i <= 8 {
			samples = append(samples, failure(alder, at, wire.KindServer))
		} else {
			samples = append(samples, success(alder, at, 50, 400))
		}
	}
	// Our own faults say nothing of the provider and do not end its outage.
	samples = append(samples,
		failure(alder, start.Add(95*time.Minute), wire.KindAuth),
		failure(alder, start.Add(96*time.Minute), wire.KindRateLimit),
		failure(alder, start.Add(175*time.Minute), wire.KindMalformed)) // alone: no outage
	s := track(alder, 10*time.Minute, samples).Summarize(Window24h, now)
	r := s.Reliability
	if want := (stats.Counts{OK: 8, Auth: 1, RateLimit: 1, Server: 5, Malformed: 1}); r.Counts != want {
		t.Errorf("counts = %+v; want %+v", r.Counts, want)
	}
	near(t, "success rate", r.SuccessRate.Value, 8.0/16, 1e-12)
	near(t, "throttle", r.Throttle.Value, 1.0/15, 1e-12)
	near(t, "own fault", r.OwnFault.Value, 1.0/16, 1e-12)
	// Half gaps in minutes. Up: 5+10+10+10 before, 20+10+7.5+5+... after.
	// Runs at 0,10,20,30 stand for 5,10,10,10; 150,160,170,180 for 20,10,7.5,2.5;
	// the lone failure at 175 for 5; the outage for the other 100 of 180.
	near(t, "availability", r.Availability.Value, 75.0/180, 1e-12)
	if i := r.Availability.Interval; !(i.Lo < 75.0/180 && 75.0/180 < i.Hi) || r.Availability.NEff >= 14 {
		t.Errorf("interval %v on %v runs", i, r.Availability.NEff)
	}
	if len(r.Outages) != 1 {
		t.Fatalf("outages = %+v; want one", r.Outages)
	}
	want := Outage{From: start.Add(40 * time.Minute), To: start.Add(150 * time.Minute), Runs: 5}
	if got := r.Outages[0]; got != want {
		t.Errorf("outage = %+v; want %+v", got, want)
	}
}

func TestReliabilityAbsent(t *testing.T) {
	ours := track(alder, Hour, []bench.Sample{failure(alder, now.Add(-Hour), wire.KindAuth)}).Summarize(Window24h, now).Reliability
	if ours.Availability.Why != OwnFault || ours.Throttle.Why != OwnFault || !ours.SuccessRate.OK() || ours.SuccessRate.Value != 0 {
		t.Errorf("an expired key: %+v", ours)
	}
	// A limit of the plan is not our key's fault, and the throttle rate is known.
	throttled := track(alder, Hour, []bench.Sample{
		failure(alder, now.Add(-Hour), wire.KindAuth), failure(alder, now.Add(-2*Hour), wire.KindRateLimit),
	}).Summarize(Window24h, now).Reliability
	if throttled.Availability.Why != Throttled || !throttled.Throttle.OK() || throttled.Throttle.Value != 1 {
		t.Errorf("only refusals for the rate: %+v", throttled)
	}
	none := track(alder, Hour, nil).Summarize(Window24h, now).Reliability
	if none.Availability.Why != NoRuns || none.SuccessRate.Why != NoRuns {
		t.Errorf("no runs: %+v", none)
	}
	// Four of four is never "100 %" alone.
	var four []bench.Sample
	for i := range 4 {
		four = append(four, success(alder, now.Add(-time.Duration(i+1)*Hour), 50, 400))
	}
	got := track(alder, Hour, four).Summarize(Window24h, now).Reliability.Availability
	near(t, "lower end of 4/4", got.Interval.Lo, 0.5101091635454027, 1e-12)
}

func TestFaults(t *testing.T) {
	at := func(minutes int) time.Time { return today.Add(time.Duration(minutes) * time.Minute) }
	attempt := func(minutes int, provider string, kind wire.ErrorKind) Attempt {
		return Attempt{At: at(minutes), Vantage: "lab", Provider: provider, Kind: kind}
	}
	attempts := []Attempt{
		attempt(0, "a", wire.KindNone), attempt(1, "b", wire.KindNone),
		// Two providers fail at once, as 3 of 5: ours.
		attempt(100, "a", wire.KindNetwork), attempt(102, "b", wire.KindTimeout), attempt(104, "a", wire.KindNetwork),
		attempt(105, "c", wire.KindServer), attempt(106, "c", wire.KindNone),
		// One provider alone: its own.
		attempt(200, "a", wire.KindNetwork), attempt(203, "a", wire.KindNetwork),
		// Two of six: theirs.
		attempt(300, "a", wire.KindNetwork), attempt(301, "b", wire.KindNetwork), attempt(302, "c", wire.KindNone),
		attempt(303, "d", wire.KindNone), attempt(304, "e", wire.KindNone), attempt(305, "f", wire.KindNone),
		// Over ten minutes apart: theirs.
		attempt(400, "a", wire.KindNetwork), attempt(410, "b", wire.KindNetwork),
		// Another place's failures are not this one's.
		{At: at(500), Vantage: "attic", Provider: "a", Kind: wire.KindNetwork}, attempt(501, "b", wire.KindNetwork),
	}
	f := FindFaults(attempts)
	if got := f.Spans("lab"); len(got) != 1 || got[0] != (Span{From: at(100), To: at(104)}) {
		t.Errorf("faults = %v; want 100 to 104 minutes", got)
	}
	for _, tt := range []struct {
		minutes int
		kind    wire.ErrorKind
		want    bool
	}{
		{99, wire.KindNetwork, false}, {100, wire.KindNetwork, true}, {103, wire.KindTimeout, true},
		{104, wire.KindNetwork, true}, {105, wire.KindNetwork, false}, {102, wire.KindServer, false},
	} {
		if got := f.Blame("lab", at(tt.minutes), tt.kind); got != tt.want {
			t.Errorf("Blame(%d min, %v) = %v; want %v", tt.minutes, tt.kind, got, tt.want)
		}
	}

	s := series("a", "alder")
	samples := []bench.Sample{success(s, at(0), 50, 400), failure(s, at(100), wire.KindNetwork), failure(s, at(104), wire.KindNetwork), failure(s, at(200), wire.KindNetwork)}
	r := NewTrack(History{Series: s, Every: Hour, Samples: samples}, f).Summarize(Window24h, now).Reliability
	if r.Observer != 2 || r.Counts != (stats.Counts{OK: 1, Network: 1}) || len(r.Outages) != 0 {
		t.Errorf("reliability = %+v; want 2 observer faults left out", r)
	}
}
