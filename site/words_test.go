package site

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// TestFacts checks that prose is given no empty constant, and the worked
// numbers against those worked out by hand.
func TestFacts(t *testing.T) {
	f := newFacts(Inputs{RawRetention: 60 * rollup.Day, Config: Config{Name: "x"}})
	v := reflect.ValueOf(f)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("%s is empty", v.Type().Field(i).Name)
		}
	}
	for _, tt := range []struct {
		name      string
		got, want float64
	}{
		{"640 tokens in 8 s", f.Example.WallTPS, 80},
		{"640 tokens in 9.5 s", f.Example.EndToEndTPS, 640 / 9.5},
		{"0.4 + (n-1)/20 = 2 + (n-1)/80", f.Example.CrossoverTokens, 1 + 1.6/(1./20-1./80)},
		{"28 of 28: n/(n + z^2)", f.Example.PerfectLow, 100 * 28 / (28 + 1.959963984540054*1.959963984540054)},
		{"change", f.Example.ChangeMS, 3290},
		{"start", f.Example.StartMS, 50},
		{"volume: 120 gaps at 21 ms", f.Example.VolumeMS, 2520},
		{"speed: 2 ms on 360 gaps", f.Example.SpeedMS, 720},
		{"3,000 tokens of prompt", f.Example.ReadS, 0.6},
		{"0.4 + 299/50", f.Example.AnswerS, 6.38},
		{"300 tokens in 6.38 s", f.Example.AnswerTPS, 300 / 6.38},
		{"299 gaps in 5.98 - 0.3 s", f.Example.LateTPS, 299 / 5.68},
		{"0.9 + 299/30", f.Example.SharedS, 0.9 + 299./30},
		{"20 × 30, which is 12 × 50", f.Example.SharedTPS, 12 * 50},
		{"two a second for 6.38 s", f.Example.InFlight, 12.76},
		{"120 × 1,100", f.Example.LoadTPM, 132_000},
		{"0.04 + 0.06 cents", f.Example.AnswerCents, 0.1},
	} {
		if math.Abs(tt.got-tt.want) > 1e-9*tt.want {
			t.Errorf("%s: got %v; want %v", tt.name, tt.got, tt.want)
		}
	}
	if f.WideBoardRows != 20 || f.RawDays != 60 || f.MinP50 != 5 || f.HybridMaxChunkRate != 20 ||
		f.BufferMinProbes != 7 || f.BufferProbes != 14 || f.IntervalP50 != 6 || f.IntervalP90 != 36 || f.IntervalP95 != 72 || f.FDRSeries != 300 {
		t.Errorf("constants are %+v", f)
	}
}

// TestBecause has words of our own for every reason that code can give.
func TestBecause(t *testing.T) {
	for _, why := range []bench.Reason{
		bench.Incomplete, bench.NoContent, bench.NoReasoning, bench.NoTokenCount, bench.Buffered, bench.HeadBurst, bench.TooFewTokens,
		bench.TooFewChunks, bench.NoElapsedTime, bench.NotReached,
		rollup.NoRuns, rollup.TooFewRuns, rollup.TimedOut, rollup.NotKept, rollup.Throttled, rollup.OwnFault, rollup.Estimated, rollup.Stale, rollup.TooFewDays,
		rollup.LowAvailability, rollup.NoAvailability, rollup.WithinDay, rollup.LongDrift, rollup.OtherMethod, rollup.OtherVantage,
		bench.Reason(stats.IneligibleRuns),
	} {
		words := because(why)
		// Codes that are good English already may stay as they are.
		plain := strings.HasPrefix(string(why), "too_few_") || why == rollup.NoAvailability
		if words == "" || !plain && words == strings.ReplaceAll(string(why), "_", " ") {
			t.Errorf("%q has the words %q", why, words)
		}
	}
	if got := because(bench.Present); got != "" {
		t.Errorf("what is present has the reason %q", got)
	}
	if got := because("no_such\u202ereason"); got != "no such\ufffdreason" {
		t.Errorf("an unknown reason reads %q", got)
	}
}

// TestShiftWords says the sense of a change by the metric's own direction.
func TestShiftWords(t *testing.T) {
	onset := time.Date(2026, 2, 21, 0, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		metric         rollup.Metric
		change, lo, hi float64
		words, head    string
	}{
		{rollup.DecodeTPS, -.14, -.17, -.11, "14 % slower (11–17 %)", "Slower since 21 February 2026"},
		{rollup.DecodeTPS, .095, .08, .112, "9.5 % faster (8.0–11 %)", "Faster since 21 February 2026"},
		{rollup.TTFT, .4, .3, .5, "40 % later (30–50 %)", "Later to start since 21 February 2026"},
		{rollup.TTFT, -.25, -.3, -.2, "25 % sooner (20–30 %)", "Sooner to start since 21 February 2026"},
	} {
		s := &rollup.Shift{Metric: tt.metric, Before: 100, After: 100 * (1 + tt.change), Change: tt.change, Interval: stats.Interval{Lo: tt.lo, Hi: tt.hi}}
		if got := shiftWords(s); got != tt.words {
			t.Errorf("%s %v reads %q; want %q", tt.metric, tt.change, got, tt.words)
		}
		if got := shiftHead(&rollup.Event{Onset: onset, Shift: s}); got != tt.head {
			t.Errorf("%s %v is headed %q; want %q", tt.metric, tt.change, got, tt.head)
		}
	}
}

// TestSplitChange puts the worked example in words, and is silent of parts that
// round to nothing.
func TestSplitChange(t *testing.T) {
	for _, tt := range []struct {
		lead string
		of   stats.Decomposition
		want string
	}{
		{"Lead.", stats.Decomposition{TotalMs: 3290, StartMs: 50, VolumeMs: 2520, SpeedMs: 720},
			"Lead. A mean answer takes 3.29 s longer: +0.05 s from a later start, +2.52 s from longer answers, +0.72 s from slower writing."},
		{"", stats.Decomposition{TotalMs: -300, StartMs: 2, VolumeMs: -400, SpeedMs: 98},
			"A mean answer takes 0.30 s less: −0.40 s from shorter answers, +0.10 s from slower writing."},
		{"Against the 7 days before,", stats.Decomposition{TotalMs: 3, StartMs: 2, VolumeMs: -3, SpeedMs: 4},
			"Against the 7 days before, a mean answer takes just as long."},
		{"", stats.Decomposition{TotalMs: 4, StartMs: 104, SpeedMs: -100},
			"A mean answer takes just as long: +0.10 s from a later start, −0.10 s from faster writing."},
		{"", stats.Decomposition{TotalMs: 9, StartMs: 3, VolumeMs: 3, SpeedMs: 3}, "A mean answer takes 0.01 s longer."},
	} {
		if got := splitChange("Head", tt.lead, tt.of).Text; got != tt.want {
			t.Errorf("%+v: got %q; want %q", tt.of, got, tt.want)
		}
	}
}

// TestSqueeze takes indentation away, but not inside preformatted text.
func TestSqueeze(t *testing.T) {
	const in = "<p>\n\n  a\n\tb</p>\n<pre>\n  keep\n\n  this</pre> <b>\n  not</b>\n<pre> x </pre>\n   y\n"
	const want = "<p>\na\nb</p>\n<pre>\n  keep\n\n  this</pre> <b>\nnot</b>\n<pre> x </pre>\ny\n"
	if got := string(squeeze([]byte(in))); got != want {
		t.Errorf("got %q; want %q", got, want)
	}
}

// TestArrivalCurve adds up an answer's tokens read by read, and finds the stall.
func TestArrivalCurve(t *testing.T) {
	const ms = time.Millisecond
	s := bench.Sample{Usage: bench.Usage{}}
	for i := range 10 {
		at := 100*ms + time.Duration(i)*10*ms
		if i >= 5 {
			at += 800 * ms
		}
		s.Trace = append(s.Trace, bench.Arrival{At: at, Read: i / 2, Mark: bench.MarkVisible, Chars: 4})
	}
	s.Digest()
	curve, unit := arrivalCurve(&s)
	if unit != "characters" || len(curve.Reads) != 5 || curve.Reads[4].Tokens != 40 || curve.Name != "40 characters" {
		t.Errorf("without a count: %s in %+v", unit, curve)
	}
	s.Usage.Visible.Known, s.Usage.Visible.N = true, 20
	curve, unit = arrivalCurve(&s)
	if unit != "tokens" || math.Abs(curve.Reads[0].Tokens-4) > 1e-9 || math.Abs(curve.Reads[4].Tokens-20) > 1e-9 {
		t.Errorf("with 20 tokens: %s in %+v", unit, curve)
	}
	stalls := stallsOf(&s)
	if len(stalls) != 1 || stalls[0].To-stalls[0].From != 810*ms || stalls[0].Label != "stall 810 ms" {
		t.Errorf("stalls are %+v; want one of 810 ms", stalls)
	}
}

// TestScrollable wraps tables, and nothing else.
func TestScrollable(t *testing.T) {
	const box = `<div class="scroll" tabindex="0" role="group" aria-label="Table `
	for in, want := range map[string]string{
		"<p>no table</p>":                     "<p>no table</p>",
		"<table>a</table>":                    box + `1"><table>a</table></div>`,
		"x<table>a</table>y<table>b</table>z": "x" + box + `1"><table>a</table></div>y` + box + `2"><table>b</table></div>z`,
		`<table><th scope="col"></th><th scope="col">b</th></table>`: box + `1"><table><td></td><th scope="col">b</th></table></div>`,
		"<p><code>&lt;table&gt;</code></p>":                          "<p><code>&lt;table&gt;</code></p>",
	} {
		if got := scrollable(in); got != want {
			t.Errorf("scrollable(%q) = %q; want %q", in, got, want)
		}
	}
}

// TestIncidentSense: models that became faster together are no bad news.
func TestIncidentSense(t *testing.T) {
	shift := func(id string, change float64) rollup.Event {
		return rollup.Event{ID: id, Kind: rollup.EventShift, Shift: &rollup.Shift{Metric: rollup.DecodeTPS, Before: 100, After: 100 * (1 + change), Change: change}}
	}
	e := &edition{events: []rollup.Event{shift("a", 0.3), shift("b", 0.4), shift("c", -0.3)}}
	for _, tt := range []struct {
		members []string
		worse   bool
	}{{[]string{"a", "b"}, false}, {[]string{"a", "c"}, true}} {
		ev := rollup.Event{ID: "i", Kind: rollup.EventIncident, Members: tt.members}
		if item := e.eventItem(&ev, ""); item.Worse != tt.worse {
			t.Errorf("shifts of %v together: worse is %v; want %v", tt.members, item.Worse, tt.worse)
		}
	}
}
