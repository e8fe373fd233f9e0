package rollup

import (
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

func TestLineGaps(t *testing.T) {
	var samples []bench.Sample
	for _, m := range []int{0, 10, 34, 60, 70, 80, 90} {
		at := now.Add(time.Duration(m-120) * time.Minute)
		if m == 80 {
			samples = append(samples, failure(alder, at, wire.KindServer))
		} else {
			samples = append(samples, success(alder, at, 50, 400))
		}
	}
	noisy := success(alder, now.Add(-25*time.Minute), 5, 400)
	noisy.Noise.Noisy = true
	l, ok := track(alder, 10*time.Minute, append(samples, noisy)).Line(DecodeTPS, Window24h, now)
	if !ok || l.Band != BandNone || l.Width != 0 || len(l.Points) != 7 {
		t.Fatalf("line = %+v", l)
	}
	// 24 minutes are within 2.5 cadences of 10, 26 are not. A failure has no
	// value to draw to, and the success after it is still near enough.
	want := []bool{true, false, false, true, false, true, false}
	for i, p := range l.Points {
		if p.Gap != want[i] {
			t.Errorf("point at %v: gap %v; want %v", p.At.Sub(now), p.Gap, want[i])
		}
	}
	if p := l.Points[5]; p.N != 0 || p.Failed != 1 {
		t.Errorf("failure = %+v", p)
	}
}

func TestLineBuckets(t *testing.T) {
	samples := days(alder, 40, 48, func(day, run int) float64 { return 40 + float64(run%2)*20 + float64(day) })
	samples = append(samples, success(alder, today.Add(time.Minute), 30, 400)) // today
	tr := track(alder, 30*time.Minute, samples)

	month, _ := tr.Line(DecodeTPS, Window30d, now)
	if len(month.Points) != 30*24+1 || month.Band != BandMinMax || month.Width != Hour {
		t.Fatalf("30 d: %d points of %v, %q", len(month.Points), month.Width, month.Band)
	}
	first := month.Points[0] // the 10th day: 50 and 70
	if first.N != 2 || !first.Gap || month.Points[1].Gap || !first.At.Equal(today.AddDate(0, 0, -30)) {
		t.Errorf("first hour = %+v", first)
	}
	near(t, "median of the hour", first.Value, 60, 1e-8)
	near(t, "band", first.Hi-first.Lo, 20, 1e-8)

	year, _ := tr.Line(DecodeTPS, Window1y, now)
	if len(year.Points) != 41 || year.Band != BandP10toP90 {
		t.Fatalf("1 y: %d points, %q", len(year.Points), year.Band)
	}
	if last := year.Points[40]; last.N != 1 || !last.At.Equal(today) || last.Lo > last.Value || last.Hi < last.Value {
		t.Errorf("today = %+v", last)
	}
	// A bucket that is kept is shown as it was kept.
	kept := Summarize(alder, today.AddDate(0, 0, -1), Day, nil)
	kept.Samples, kept.OK, kept.TTFT = 9, 9, Spread{N: 9, Avg: 1, Min: 1, Max: 1, P50: 1, P95: 1}
	h := History{Series: alder, Every: 30 * time.Minute, Samples: samples, Days: []Bucket{kept}}
	ttft, _ := NewTrack(h, Faults{}).Line(TTFT, Window1y, now)
	if p := ttft.Points[39]; len(ttft.Points) != 41 || p.N != 9 || p.Value != 1 {
		t.Errorf("of %d points, kept day = %+v", len(ttft.Points), p)
	}
	if _, ok := tr.Line(E2E, Window1y, now); ok {
		t.Error("a year of a metric that no bucket keeps")
	}
}

func TestStrip(t *testing.T) {
	var samples []bench.Sample
	put := func(daysAgo, ok, failed int, kind wire.ErrorKind, tps float64) {
		at := today.AddDate(0, 0, -daysAgo)
		for i := range ok + failed {
			at = at.Add(10 * time.Minute)
			if i < ok {
				samples = append(samples, success(alder, at, tps, 400))
			} else {
				samples = append(samples, failure(alder, at, kind))
			}
		}
	}
	put(6, 20, 1, wire.KindServer, 50)     // 95.2 %
	put(5, 18, 1, wire.KindServer, 50)     // 94.7 %
	put(4, 4, 5, wire.KindTimeout, 50)     // 44 %
	put(3, 20, 0, wire.KindNone, 30)       // slow: 60 % of 50
	put(2, 10, 10, wire.KindRateLimit, 50) // throttled, not down
	put(1, 0, 9, wire.KindAuth, 0)         // our own fault
	strip := track(alder, 10*time.Minute, samples).Strip(7, now)
	want := []DayState{DayNone, DayOK, DayDegraded, DayFailed, DayDegraded, DayOK, DayNone, DayNone}
	if len(strip) != len(want) {
		t.Fatalf("%d days; want %d", len(strip), len(want))
	}
	for i, d := range strip {
		if d.State != want[i] || d.Slow != (i == 4) {
			t.Errorf("%s: %s, slow %v; want %s", d.Day.Format(time.DateOnly), d.State, d.Slow, want[i])
		}
	}
	if strip[6].Counts.Auth != 9 || !strip[7].Day.Equal(today) {
		t.Errorf("yesterday = %+v, last day %v", strip[6], strip[7].Day)
	}
}

func TestHourOfWeek(t *testing.T) {
	// Today is a Wednesday; the Tuesdays 1 and 8 days ago, at 13 h.
	week := track(alder, Hour, []bench.Sample{
		success(alder, today.AddDate(0, 0, -1).Add(13*Hour), 40, 400),
		success(alder, today.AddDate(0, 0, -8).Add(13*Hour+59*time.Minute), 60, 400),
		success(alder, today.AddDate(0, 0, -3).Add(23*Hour), 70, 400), // Sunday
		success(alder, today.AddDate(0, 0, -29), 1, 400),              // too old
		failure(alder, today.AddDate(0, 0, -1).Add(13*Hour), wire.KindServer),
	}).HourOfWeek(DecodeTPS, now)
	n := 0
	for _, day := range week {
		for _, c := range day {
			n += c.N
		}
	}
	if week[1][13].N != 2 || week[6][23].N != 1 || n != 3 {
		t.Errorf("Tuesday 13 h = %+v, Sunday 23 h = %+v, %d runs in all", week[1][13], week[6][23], n)
	}
	near(t, "Tuesday 13 h", week[1][13].Median, 50, 1e-8)
}

func TestSpectrum(t *testing.T) {
	samples := days(alder, 70, 24, func(day, run int) float64 { return 20 + float64(run*3+day%3) })
	samples = append(samples, failure(alder, today.Add(-Hour), wire.KindTimeout))
	tr := track(alder, Hour, samples)
	s := tr.Spectrum(DecodeTPS, Window30d, 12, now)
	n := 0
	for i, b := range s.Bins {
		n += b.N
		if b.Lo >= b.Hi || i > 0 && s.Bins[i-1].Hi != b.Lo {
			t.Errorf("bin %d = %+v after %+v", i, b, s.Bins[max(0, i-1)])
		}
	}
	if n != 30*24 || len(s.Bins) > 12 || len(s.Bins) < 6 || s.Timeouts != 1 {
		t.Errorf("%d values in %d bins, %d timeouts", n, len(s.Bins), s.Timeouts)
	}
	if first, last := s.Bins[0], s.Bins[len(s.Bins)-1]; first.N == 0 || !(first.Lo < 20.01 && 91 <= last.Hi) {
		t.Errorf("bins from %+v to %+v", first, last)
	}
	// The same from buckets where the raw samples are gone.
	h := History{Series: alder, Every: Hour, Samples: samples[60*24:]}
	for d := -70; d < -10; d++ {
		h.Days = append(h.Days, Summarize(alder, today.AddDate(0, 0, d), Day, samples))
	}
	want := tr.Spectrum(DecodeTPS, Window1y, 12, now)
	got := NewTrack(h, Faults{}).Spectrum(DecodeTPS, Window1y, 12, now)
	if len(got.Bins) != len(want.Bins) {
		t.Fatalf("%d bins; want %d", len(got.Bins), len(want.Bins))
	}
	for i := range want.Bins {
		if got.Bins[i] != want.Bins[i] {
			t.Errorf("bin %d = %+v; want %+v", i, got.Bins[i], want.Bins[i])
		}
	}
	if empty := track(alder, Hour, nil).Spectrum(TTFT, Window7d, 12, now); len(empty.Bins) != 0 {
		t.Errorf("bins of nothing = %v", empty.Bins)
	}
}

func TestAnatomy(t *testing.T) {
	fail := func(daysAgo int, kind wire.ErrorKind, phase bench.Phase) bench.Sample {
		s := failure(alder, today.AddDate(0, 0, -daysAgo).Add(Hour), kind)
		s.FailedIn = phase
		return s
	}
	samples := []bench.Sample{
		fail(2, wire.KindTimeout, bench.PhaseStream), fail(2, wire.KindServer, bench.PhaseHeaders),
		fail(1, wire.KindServer, bench.PhaseHeaders), success(alder, today.Add(-Hour), 50, 400),
	}
	h := History{Series: alder, Every: Hour, Samples: samples, Days: []Bucket{
		{Series: alder, Start: today.AddDate(0, 0, -3), Width: Day, Samples: 5, OK: 3, Errors: Errors{wire.KindQuota: 2}},
	}}
	a := NewTrack(h, Faults{}).Anatomy(Span{today.AddDate(0, 0, -4), today})
	if len(a.Days) != 4 || a.Days[0].Runs != 0 || a.Days[1].Errors[wire.KindQuota] != 2 || a.Days[2].Runs != 2 || a.Days[3].Errors.Total() != 1 {
		t.Errorf("days = %+v", a.Days)
	}
	want := []Fault{{wire.KindServer, "", bench.PhaseHeaders, 2}, {wire.KindTimeout, "", bench.PhaseStream, 1}}
	if len(a.Faults) != 2 || a.Faults[0] != want[0] || a.Faults[1] != want[1] {
		t.Errorf("faults = %+v; want %+v", a.Faults, want)
	}
}
