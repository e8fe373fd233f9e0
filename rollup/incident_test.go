package rollup

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// marks spells runs out, one every ten minutes from today's midnight: g good,
// b bad, a bad key, r rate limit, d name not resolved, t timed out, f firewall,
// n bad on a noisy machine, . none.
func marks(s bench.Series, text string) History {
	h := History{Series: s, Every: 10 * time.Minute}
	for i, mark := range text {
		at := today.Add(time.Duration(i) * 10 * time.Minute)
		var sample bench.Sample
		switch mark {
		case '.':
			continue
		case 'g':
			sample = success(s, at, 50, 400)
			sample.HTTPStatus = 200
		case 'b', 'n':
			sample = failure(s, at, wire.KindServer)
			sample.HTTPStatus, sample.Noise.Noisy = 503, mark == 'n'
		case 'a':
			sample = failure(s, at, wire.KindAuth)
		case 'r':
			sample = failure(s, at, wire.KindRateLimit)
		case 'd':
			sample = failure(s, at, wire.KindNetwork)
			sample.Detail = bench.DetailDNS
		case 't':
			sample = failure(s, at, wire.KindTimeout)
			sample.Detail = bench.DetailIdleTimeout
		case 'f':
			sample = failure(s, at, wire.KindMalformed)
			sample.Detail = wire.DetailBlocked
		default:
			panic("unknown mark")
		}
		h.Samples = append(h.Samples, sample)
	}
	return h
}

// story tells an incident in a line, in places of [marks].
func story(i Incident) string {
	place := func(t time.Time) string {
		if t.IsZero() {
			return "-"
		}
		return fmt.Sprint(float64(t.Sub(today)/time.Minute) / 10)
	}
	text := fmt.Sprintf("%s %s began %s opened %s ended %s closed %s %s", i.Title(), i.Kind, place(i.Began), place(i.Opened), place(i.Ended), place(i.Closed), i.Why)
	text = strings.TrimSpace(text)
	if i.Maintenance != "" {
		text += " planned"
	}
	return text
}

func stories(incidents []Incident) string {
	var lines []string
	for _, i := range incidents {
		lines = append(lines, story(i))
	}
	return strings.Join(lines, "\n")
}

// TestIncidentRules follows one series; what is expected was worked out by hand
// from 3 of 4, 4 of 12 and 11 of 12.
func TestIncidentRules(t *testing.T) {
	tests := []struct {
		name, runs string
		want       string
	}{
		{"all good", "gggggggggg", ""},
		{"two in a row are not enough", "gggbbggggg", ""},
		{"three of four", "gggbgbb", "estuary/alder down began 3 opened 6 ended - closed -"},
		{"closed by three of four", "gggbbbggg", "estuary/alder down began 3 opened 5 ended 6 closed 8 recovered"},
		{"two good runs do not close", "gggbbbgg", "estuary/alder down began 3 opened 5 ended - closed -"},
		// The last four at 14 are g b g g; the streak that lasts began at 13.
		{"a relapse", "gbbbbbbbbbbgbggg", "estuary/alder down began 1 opened 3 ended 13 closed 14 recovered"},
		{"four of twelve", "ggggbggbggbggb", "estuary/alder degraded began 4 opened 13 ended - closed -"},
		// Bad at 4, 7, 10 and 13: the twelve runs that end at 22 are the first with
		// but one of them.
		{"degraded closes when eleven of twelve are good", "ggggbggbggbggbggggggggggggg", "estuary/alder degraded began 4 opened 13 ended 14 closed 22 recovered"},
		{"degraded becomes down", "ggggbggbggbggbbbggg", "estuary/alder degraded began 4 opened 13 ended - closed -"},
		{"never succeeded", "bbbbbbbbbb", ""},
		{"failing before the first success", "bbbbbgbbb", "estuary/alder down began 6 opened 8 ended - closed -"},
		{"a bad key", "gggaaaaaaa", ""},
		{"rate limits", "gggrrrrrrr", ""},
		{"a noisy machine", "gggnnnnnnn", ""},
		{"a firewall", "gggfffffff", ""},
		{"what says nothing is passed over", "gggbabrb", "estuary/alder down began 3 opened 7 ended - closed -"},
		{"a name that nobody else could tell was ours", "gggddddddd", ""},
		{"time-outs of one provider alone", "gggttttt.", "estuary/alder down began 3 opened 5 ended - closed -"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			at := today.Add(time.Duration(len(tt.runs)) * 10 * time.Minute)
			got := FindIncidents([]History{marks(alder, tt.runs)}, nil, DefaultPolicy(), at)
			if diff := cmp.Diff(tt.want, stories(got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.runs, diff)
			}
		})
	}
}

func TestIncidentPolicy(t *testing.T) {
	at := today.Add(3 * time.Hour)
	find := func(policy Policy, text string) string {
		return stories(FindIncidents([]History{marks(alder, text)}, nil, policy, at))
	}
	p := DefaultPolicy()
	p.Throttling = true
	if got, want := find(p, "gggrrr"), "estuary/alder down began 3 opened 5 ended - closed -"; got != want {
		t.Errorf("rate limits that count: %q; want %q", got, want)
	}
	p = DefaultPolicy()
	p.Down = Rule{Open: Quorum{2, 2}, Close: Quorum{1, 1}}
	if got, want := find(p, "gggbbg"), "estuary/alder down began 3 opened 4 ended 5 closed 5 recovered"; got != want {
		t.Errorf("two of two, one of one: %q; want %q", got, want)
	}
}

// TestIntermittentOutage: an outage in which runs succeeded now and then does not
// end with the first three good ones.
func TestIntermittentOutage(t *testing.T) {
	got := FindIncidents([]History{marks(alder, "ggbbbgbgbbgggg")}, nil, DefaultPolicy(), today.Add(3*time.Hour))
	if want := "estuary/alder degraded began 2 opened 4 ended - closed -"; stories(got) != want {
		t.Errorf("got %q; want %q", stories(got), want)
	}
}

// TestOwnFaults: what our own side may have caused opens nothing.
func TestOwnFaults(t *testing.T) {
	brook := series("brook", "birch")
	at := today.Add(3 * time.Hour)
	find := func(a, b string) string {
		return stories(FindIncidents([]History{marks(alder, a), marks(brook, b)}, nil, DefaultPolicy(), at))
	}
	if got := find("gggtttttt", "gggdddddd"); got != "" {
		t.Errorf("both providers cannot be reached: %q; want none, it is our connection", got)
	}
	if got, want := find("gggdddddd", "ggggggggg"), "estuary/alder down began 3 opened 5 ended - closed -"; got != want {
		t.Errorf("a name is not resolved while another provider answers: %q; want %q", got, want)
	}
	// The other provider answers with an error: our connection is sound.
	if got := find("gggdddddd", "bbbbbbbbb"); !strings.HasPrefix(got, "estuary/alder down began 3 opened 5") {
		t.Errorf("the other provider answers 503: %q; want alder down", got)
	}
}

// TestIncidentWaitsForWitnesses: a time-out is not judged before others near it
// can be known.
func TestIncidentWaitsForWitnesses(t *testing.T) {
	h := []History{marks(alder, "gggttt")}
	last := today.Add(50 * time.Minute)
	if got := FindIncidents(h, nil, DefaultPolicy(), last.Add(FaultSpan-time.Second)); len(got) != 0 {
		t.Errorf("at once: %s", stories(got))
	}
	if got := FindIncidents(h, nil, DefaultPolicy(), last.Add(FaultSpan)); len(got) != 1 {
		t.Errorf("after %s: %d incidents; want 1", FaultSpan, len(got))
	}
}

func TestIncidentUnseen(t *testing.T) {
	h := []History{marks(alder, "gggbbb")}
	last := today.Add(50 * time.Minute)
	if got := FindIncidents(h, nil, DefaultPolicy(), last.Add(UnseenAfter)); !got[0].Open() {
		t.Errorf("after %s: %s", UnseenAfter, stories(got))
	}
	got := FindIncidents(h, nil, DefaultPolicy(), last.Add(UnseenAfter+time.Minute))
	if got[0].Why != CloseUnseen || !got[0].Closed.Equal(last.Add(UnseenAfter)) || !got[0].Ended.IsZero() {
		t.Errorf("later: %s", stories(got))
	}
}

func TestMaintenance(t *testing.T) {
	at := today.Add(4 * time.Hour)
	window := func(from, to int) Maintenance { // in places of marks
		return Maintenance{
			Provider: "estuary",
			From:     today.Add(time.Duration(from) * 10 * time.Minute), To: today.Add(time.Duration(to) * 10 * time.Minute),
		}
	}
	tests := []struct {
		name, runs string
		window     Maintenance
		want       string
	}{
		{"told but no alarm", "gggbbbggg", window(2, 10), "estuary/alder down began 3 opened 5 ended 6 closed 8 recovered planned"},
		{"what goes on is opened anew, on new evidence", "gggbbbbbb", window(2, 6),
			"estuary/alder down began 3 opened 5 ended - closed 6 maintenance planned\nestuary/alder down began 6 opened 8 ended - closed -"},
		{"two failures inside are no evidence after", "ggggbbbggg", window(4, 6), ""},
		{"one that was open before stays", "gggbbbbbggg", window(6, 8), "estuary/alder down began 3 opened 5 ended 8 closed 10 recovered"},
		{"of another model", "gggbbb", Maintenance{Provider: "estuary", Model: "birch", From: today, To: at},
			"estuary/alder down began 3 opened 5 ended - closed -"},
		{"of this model", "gggbbb", Maintenance{Provider: "estuary", Model: "alder", From: today, To: at},
			"estuary/alder down began 3 opened 5 ended - closed - planned"},
		// today is a Wednesday.
		{"weekly", "gggbbb", Maintenance{Provider: "estuary", Weekly: Weekly{time.Wednesday, 0, 4 * time.Hour}},
			"estuary/alder down began 3 opened 5 ended - closed - planned"},
		{"weekly, over at half past midnight", "gggbbb", Maintenance{Provider: "estuary", Weekly: Weekly{time.Tuesday, 23 * time.Hour, 30 * time.Minute}},
			"estuary/alder down began 3 opened 5 ended - closed -"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := DefaultPolicy()
			p.Maintenance = []Maintenance{tt.window}
			now := at
			if tt.window.To.Equal(at) || tt.window.Weekly != (Weekly{}) {
				now = at.Add(-time.Minute)
			}
			if diff := cmp.Diff(tt.want, stories(FindIncidents([]History{marks(alder, tt.runs)}, nil, p, now))); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWeekly(t *testing.T) {
	at := func(text string) time.Time {
		v, err := time.Parse("2006-01-02 15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	// 15 July 2026 is a Wednesday.
	for _, tt := range []struct{ window, at, end string }{
		{"Wed 02:00-04:00", "2026-07-15 01:59", ""},
		{"Wed 02:00-04:00", "2026-07-15 02:00", "2026-07-15 04:00"},
		{"Wed 02:00-04:00", "2026-07-15 04:00", ""},
		{"Wed 02:00-04:00", "2026-07-16 03:00", ""},
		{"Tue 23:00-01:00", "2026-07-15 00:59", "2026-07-15 01:00"},
		{"Sat 23:00-01:00", "2026-07-19 00:30", "2026-07-19 01:00"},
		{"Wed 02:00-04:00", "2026-07-22 03:00", "2026-07-22 04:00"},
	} {
		w, err := ParseWeekly(tt.window)
		if err != nil {
			t.Fatal(err)
		}
		if got := w.String(); got != tt.window+" UTC" {
			t.Errorf("%q reads back as %q", tt.window, got)
		}
		end, ok := w.end(at(tt.at))
		if ok != (tt.end != "") || ok && !end.Equal(at(tt.end)) {
			t.Errorf("%s at %s: %v, %v; want %q", tt.window, tt.at, end, ok, tt.end)
		}
	}
	for _, bad := range []string{"", "Sun", "Sun 02:00", "sun 02:00-03:00", "Sun 2-3", "Sun 02:00-02:00", "Sun 02:00-25:00", "Sun 02:00-03:00 "} {
		if _, err := ParseWeekly(bad); err == nil {
			t.Errorf("ParseWeekly(%q) finds no fault", bad)
		}
	}
}

func TestParseQuorum(t *testing.T) {
	if q, err := ParseQuorum("3 of 4"); err != nil || q != (Quorum{3, 4}) {
		t.Errorf("3 of 4: %v, %v", q, err)
	}
	for _, bad := range []string{"", "3", "3/4", "0 of 4", "5 of 4", "3 of 4 ", "3 of 1000", "-1 of 4", "03 of 4"} {
		if _, err := ParseQuorum(bad); err == nil {
			t.Errorf("ParseQuorum(%q) finds no fault", bad)
		}
	}
}

// TestProviderWide: models of one provider that fail together are one incident.
func TestProviderWide(t *testing.T) {
	at := today.Add(4 * time.Hour)
	find := func(texts ...string) []Incident {
		var h []History
		for i, text := range texts {
			h = append(h, marks(series("estuary", string(rune('a'+i))), text))
		}
		return FindIncidents(h, nil, DefaultPolicy(), at)
	}
	got := find("gggbbbggg", "ggggbbbggg", "ggggggggg", "ggggggggg")
	if want := "estuary down began 3 opened 6 ended 7 closed 9 recovered"; stories(got) != want {
		t.Errorf("two of four models: %q; want %q", stories(got), want)
	}
	if parts := got[0].Parts; len(parts) != 2 || parts[0].Series.Model != "a" || got[0].Tally.Failed != 6 {
		t.Errorf("its parts: %s, tally %+v", stories(parts), got[0].Tally)
	}
	if got := find("gggbbbggg", "ggggbbbggg", "ggggggggg", "ggggggggg", "ggggggggg"); len(got) != 2 {
		t.Errorf("two of five models: %q; want two incidents", stories(got))
	}
	// The first is over before the second begins.
	if got := find("gggbbbggggggggg", "gggggggggbbbggg"); len(got) != 2 {
		t.Errorf("one after the other: %q; want two incidents", stories(got))
	}
	// What fails while it lasts belongs to it; it is over when the last is.
	got = find("gggbbbbbbbggg", "gggbbbbggggg.", "gggggggbbbbggg")
	if want := "estuary down began 3 opened 5 ended 11 closed 13 recovered"; stories(got) != want || len(got[0].Parts) != 3 {
		t.Errorf("a third joins: %q with %d parts; want %q", stories(got), len(got[0].Parts), want)
	}
}

// TestSpeedIncidents checks when a change of speed opens, closes and is joined.
func TestSpeedIncidents(t *testing.T) {
	shift := func(s bench.Series, day int, change float64) Event {
		found := today.AddDate(0, 0, day)
		return Event{
			ID: fmt.Sprint("shift ", s.Model, day), Kind: EventShift, Found: found, Onset: found.AddDate(0, 0, -2),
			Provider: s.Provider, Series: s, Shift: &Shift{Metric: DecodeTPS, Change: change},
		}
	}
	birch, cedar := series("estuary", "birch"), series("estuary", "cedar")
	find := func(day int, events ...Event) string {
		return stories(FindIncidents(nil, events, DefaultPolicy(), today.AddDate(0, 0, day)))
	}
	// A place of stories is ten minutes: 144 to the day.
	open := "estuary/alder speed began -288 opened 144 ended - closed -"
	for _, tt := range []struct{ name, got, want string }{
		{"not known before the day is over", find(0, shift(alder, 0, -0.3)), ""},
		{"slower", find(1, shift(alder, 0, -0.3)), open},
		{"faster is no alarm", find(1, shift(alder, 0, 0.3)), ""},
		{"still open", find(14, shift(alder, 0, -0.3)), open},
		{"the normal one after 14 days", find(15, shift(alder, 0, -0.3)), "estuary/alder speed began -288 opened 144 ended - closed 2160 settled"},
		{"back again", find(6, shift(alder, 0, -0.3), shift(alder, 5, 0.4)), "estuary/alder speed began -288 opened 144 ended 432 closed 864 recovered"},
		{"slower still", find(6, shift(alder, 0, -0.3), shift(alder, 5, -0.4)),
			"estuary/alder speed began -288 opened 144 ended - closed 864 superseded\nestuary/alder speed began 432 opened 864 ended - closed -"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %q; want %q", tt.name, tt.got, tt.want)
		}
	}
	three := []Event{shift(alder, 0, -0.3), shift(birch, 0, -0.3), shift(cedar, 1, -0.3)}
	three = append(three, incidents(three[:2], three[2:], today.AddDate(0, 0, 1))...)
	got := FindIncidents(nil, three, DefaultPolicy(), today.AddDate(0, 0, 2))
	if len(got) != 1 || len(got[0].Parts) != 3 || got[0].Kind != IncidentSpeed || got[0].Title() != "estuary" {
		t.Errorf("three models: %s", stories(got))
	}
}

// TestDropOpensDegraded: a drop of availability that a dozen runs do not show.
func TestDropOpensDegraded(t *testing.T) {
	// One in six failed all day; 4 of 12 never did.
	h := marks(alder, strings.Repeat("gggggb", 24)+"ggg")
	drop := Event{Kind: EventDrop, Found: today, Provider: "estuary", Series: alder, Drop: &Drop{}}
	at := today.Add(Day + 30*time.Minute)
	if got := FindIncidents([]History{h}, nil, DefaultPolicy(), at); len(got) != 0 {
		t.Fatalf("without the event: %s", stories(got))
	}
	got := FindIncidents([]History{h}, []Event{drop}, DefaultPolicy(), at)
	if want := "estuary/alder degraded began 137 opened 144 ended - closed -"; stories(got) != want {
		t.Errorf("got %q; want %q", stories(got), want)
	}
	// Had it passed before the day was over, nobody would be told.
	h = marks(alder, strings.Repeat("gggggb", 20)+strings.Repeat("g", 27))
	if got := FindIncidents([]History{h}, []Event{drop}, DefaultPolicy(), at); len(got) != 0 {
		t.Errorf("passed: %s", stories(got))
	}
}

// TestIncidentsDependOnTheRecordAlone: whatever the order of histories and
// samples, and however often it was looked before, the incidents are the same;
// and one that was found once is found again, alone or as a part of a wider one.
func TestIncidentsDependOnTheRecordAlone(t *testing.T) {
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 1))
		var all []History
		for p := range 3 {
			for m := range 3 {
				all = append(all, marks(series(fmt.Sprint("provider", p), fmt.Sprint("model", m)), weather(r, 60)))
			}
		}
		policy := DefaultPolicy()
		policy.Maintenance = []Maintenance{{Provider: "provider0", From: today.Add(3 * time.Hour), To: today.Add(5 * time.Hour)}}
		end := today.Add(61 * 10 * time.Minute)
		want := FindIncidents(all, nil, policy, end)

		shuffled := slices.Clone(all)
		r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		for i := range shuffled {
			s := slices.Clone(shuffled[i].Samples)
			r.Shuffle(len(s), func(i, j int) { s[i], s[j] = s[j], s[i] })
			shuffled[i].Samples = s
		}
		if diff := cmp.Diff(want, FindIncidents(shuffled, nil, policy, end)); diff != "" {
			t.Fatalf("seed %d: the order matters:\n%s", seed, diff)
		}

		later := make(map[string]bool)
		for _, i := range want {
			later[i.ID] = true
			for _, p := range i.Parts {
				later[p.ID] = true
			}
		}
		for at := today; at.Before(end); at = at.Add(30 * time.Minute) {
			open := make(map[string]bool)
			for _, i := range FindIncidents(all, nil, policy, at) {
				if !later[i.ID] {
					t.Fatalf("seed %d: at %s there was %s, which is not found later:\n%s", seed, at, story(i), stories(want))
				}
				if i.Open() && i.Alarm() && open[i.Subject] {
					t.Fatalf("seed %d: at %s two of one subject are open: %s", seed, at, story(i))
				}
				open[i.Subject] = open[i.Subject] || i.Open() && i.Alarm()
			}
		}
	}
}

// weather makes runs up that fail in spells.
func weather(r *rand.Rand, n int) string {
	var text strings.Builder
	bad := 0.05
	for range n {
		if r.Float64() < 0.1 {
			bad = []float64{0.02, 0.02, 0.3, 0.95}[r.IntN(4)]
		}
		switch x := r.Float64(); {
		case x < bad:
			text.WriteByte("bbbbtdan"[r.IntN(8)])
		case x < 0.97:
			text.WriteByte('g')
		default:
			text.WriteByte(".rf"[r.IntN(3)])
		}
	}
	return text.String()
}

// TestIncidentsByChance measures how often independent failures open an incident
// by the default policy: the guide tells these rates, which hold within a fifth.
func TestIncidentsByChance(t *testing.T) {
	for _, tt := range []struct {
		fails float64 // share of runs
		n     int     // runs
		apart float64 // runs between two incidents
	}{{0.05, 200_000, 1300}, {0.02, 1_000_000, 25000}} {
		policy := DefaultPolicy()
		r := rand.New(rand.NewPCG(2, 9))
		runs := make([]glimpse, tt.n)
		for i := range runs {
			runs[i] = glimpse{at: today.Add(time.Duration(i) * 10 * time.Minute), bad: i > 0 && r.Float64() < tt.fails, kind: wire.KindServer}
		}
		w := newWatcher(&History{Series: alder, Every: 10 * time.Minute}, &policy)
		w.follow(runs, runs[tt.n-1].at)
		near(t, fmt.Sprintf("runs between incidents where %g fail", tt.fails), float64(tt.n)/float64(len(w.found)), tt.apart, 0.2)
	}
}
