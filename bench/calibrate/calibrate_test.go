package calibrate

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

const us = time.Microsecond

// say is a chat chunk with visible text.
func say(text string) string {
	return fmt.Sprintf("data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", text)
}

// end ends a chat answer of three tokens.
const end = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":3,\"total_tokens\":12}}\n\n" +
	"data: [DONE]\n\n"

// joined is a recording of three events in two reads, dispatched at 12:00:00
// plus 2 ms by the wall clock, and the log of the server that sent them. The
// machine booted ten seconds before that.
func joined() (bench.Recording, []Departure, time.Duration) {
	events := []string{say("Once"), say(" upon"), say(" a") + end}
	body := strings.Join(events, "")
	first := int64(len(events[0]))
	second := first + int64(len(events[1]))
	wall := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	const uptime = 10 * time.Second
	dispatch := uptime + 2*time.Millisecond
	at := func(d time.Duration) time.Duration { return dispatch + d }
	return bench.Recording{
			Format: bench.RecordingFormat, StartedAt: wall, HTTPStatus: 200, HeadRead: 1,
			Phases: bench.Phases{Setup: 2 * time.Millisecond},
			Header: http.Header{"Content-Type": {"text/event-stream"}},
			Reads: []bench.Read{
				{End: first, Kernel: 50*time.Millisecond + 30*us, User: 50*time.Millisecond + 100*us},
				{End: int64(len(body)), Kernel: 60*time.Millisecond + 50*us, User: 60*time.Millisecond + 300*us},
			},
			Body: []byte(body), EOF: 61 * time.Millisecond,
		}, []Departure{
			{End: first, Before: at(50 * time.Millisecond), After: at(50*time.Millisecond + 40*us), Text: true},
			{End: second, Before: at(55 * time.Millisecond), After: at(55*time.Millisecond + 40*us), Text: true},
			{End: int64(len(body)), Before: at(60 * time.Millisecond), After: at(60*time.Millisecond + 40*us), Text: true},
		}, time.Duration(wall.UnixNano()) - uptime
}

// TestJoinWithLog checks the errors against those counted by hand: the second write
// waited in the kernel for the third, so both have the stamp of one read.
func TestJoinWithLog(t *testing.T) {
	rec, log, offset := joined()
	got, err := Join(rec, wire.OpenAIChat{}, offset, log)
	if err != nil {
		t.Fatal(err)
	}
	want := Stream{
		Kernel:       []time.Duration{30 * us, 5050 * us, 50 * us},
		User:         []time.Duration{100 * us, 5300 * us, 300 * us},
		KernelInside: 1,
		KernelTTFT:   50*time.Millisecond + 30*us,
		UserTTFT:     50*time.Millisecond + 100*us,
		Truth:        50 * time.Millisecond,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Join (-want +got):\n%s", diff)
	}
}

// TestJoinOneClock checks that a stream with one read unstamped has no kernel
// figures: its sample would not have either.
func TestJoinOneClock(t *testing.T) {
	rec, log, offset := joined()
	rec.Reads[1].Kernel = 0
	got, err := Join(rec, wire.OpenAIChat{}, offset, log)
	if err != nil || got.Kernel != nil || len(got.User) != 3 {
		t.Errorf("Join = %+v, %v; want user errors alone", got, err)
	}
	figures := StampFigures(PlainHTTP, 5*time.Millisecond, []Stream{got}, bench.Load{})
	if len(figures) != 1 || figures[0].Clock != bench.ClockUser {
		t.Errorf("figures of %d clocks; want the user's alone", len(figures))
	}
}

func TestJoinRefuses(t *testing.T) {
	for name, spoil := range map[string]func(*bench.Recording, *[]Departure){
		"a write that nobody read": func(_ *bench.Recording, log *[]Departure) { (*log)[2].End++ },
		"a log without text":       func(_ *bench.Recording, log *[]Departure) { *log = nil },
		"a failed stream":          func(rec *bench.Recording, _ *[]Departure) { rec.HTTPStatus = 500 },
	} {
		rec, log, offset := joined()
		spoil(&rec, &log)
		_, err := Join(rec, wire.OpenAIChat{}, offset, log)
		if err == nil {
			t.Errorf("%s: no error", name)
		}
		if strings.HasPrefix(name, "a log") && !errors.Is(err, errUnjoined) {
			t.Errorf("%s: %v; want %v", name, err, errUnjoined)
		}
	}
}

func TestFigures(t *testing.T) {
	streams := []Stream{
		{Kernel: []time.Duration{10, 20, 30}, User: []time.Duration{40, 50, 60}, KernelInside: 3, UserInside: 1, KernelTTFT: 101, UserTTFT: 110, Truth: 100},
		{Kernel: []time.Duration{20, 30, 40}, User: []time.Duration{50, 60, 70}, KernelInside: 3, UserInside: 0, KernelTTFT: 103, UserTTFT: 130, Truth: 100},
		{Kernel: []time.Duration{30, 40, 50}, User: []time.Duration{60, 70, 80}, KernelInside: 0, UserInside: 0, KernelTTFT: 109, UserTTFT: 120, Truth: 100},
	}
	figures := StampFigures(OverTLS, 7, streams, bench.Load{})
	want := []StampFigure{
		{Transport: OverTLS, Gap: 7, Clock: bench.ClockKernel, Streams: 3, Best: 20, Inside: 6.0 / 9, Error: Spread{N: 9, P50: 30, P99: 49, Max: 50}}, // rank 7.92 of 0..8: 40 + .92 × 10
		{Transport: OverTLS, Gap: 7, Clock: bench.ClockUser, Streams: 3, Best: 50, Inside: 1.0 / 9, Error: Spread{N: 9, P50: 60, P99: 79, Max: 80}},
	}
	if diff := cmp.Diff(want, figures); diff != "" {
		t.Errorf("StampFigures (-want +got):\n%s", diff)
	}
	first := TTFTFigures(PlainHTTP, 90, streams, bench.Load{})
	if first[0].Error != 3 || first[0].Excess != 13 || first[1].Error != 20 || first[1].Excess != 30 {
		t.Errorf("TTFTFigures = %+v; want errors of 3 and 20, excesses of 13 and 30", first)
	}
	// Passes of 1000 events in 1, 2 and 4 ms; the CPU was at work for half of it.
	through := ThroughputOf(1000, []time.Duration{4e6, 1e6, 2e6}, []time.Duration{2e6, 5e5, 1e6})
	if through.PerSecond != 500_000 || through.CPU != 1*us {
		t.Errorf("ThroughputOf = %+v; want 500,000 a second at 1 µs", through)
	}
	cold := ColdFigureOf([]FirstThree{{9, 1, 90, 10}, {2, 1, 20, 10}, {1, 3, 10, 30}}, bench.Load{})
	if cold.TTFT != 1 || cold.TTFTCold != 10 {
		t.Errorf("ColdFigureOf = %+v; want 1 and 10", cold)
	}
}

// TestJudge checks each gate on both of its sides.
func TestJudge(t *testing.T) {
	stamp := func(clock string, gap, p50 time.Duration) Calibration {
		return Calibration{Stamps: []StampFigure{{Transport: PlainHTTP, Gap: gap, Clock: clock, Error: Spread{P50: p50}}}}
	}
	ttft := func(clock string, d time.Duration) Calibration {
		return Calibration{TTFT: []TTFTFigure{{Transport: PlainHTTP, Clock: clock, Error: d}}}
	}
	capacity := func(hot, decode float64, hotCPU, decodeCPU time.Duration, intact bool) Calibration {
		return Calibration{Capacity: []CapacityFigure{{
			Events: 10, Intact: intact, Hot: Throughput{PerSecond: hot, CPU: hotCPU}, Decode: Throughput{PerSecond: decode, CPU: decodeCPU},
		}}}
	}
	cold := func(ttft, cold time.Duration) Calibration {
		return Calibration{ColdStart: &ColdFigure{TTFT: ttft, TTFTCold: cold}}
	}
	for _, tt := range []struct {
		name string
		c    Calibration
		want bool
	}{
		{"kernel, 5 ms, at the limit", stamp(bench.ClockKernel, 5*time.Millisecond, 50*us), true},
		{"kernel, 5 ms, over it", stamp(bench.ClockKernel, 5*time.Millisecond, 50*us+1), false},
		{"kernel, 1 ms, at the limit", stamp(bench.ClockKernel, time.Millisecond, 20*us), true},
		{"kernel, 1 ms, over it", stamp(bench.ClockKernel, time.Millisecond, 20*us+1), false},
		{"user, 5 ms, over it", stamp(bench.ClockUser, 5*time.Millisecond, 200*us+1), false},
		{"user, 1 ms, over it", stamp(bench.ClockUser, time.Millisecond, 120*us+1), false},
		{"TTFT, kernel, at the limit", ttft(bench.ClockKernel, 100*us), true},
		{"TTFT, kernel, too early", ttft(bench.ClockKernel, -100*us-1), false},
		{"TTFT, user, over it", ttft(bench.ClockUser, 250*us+1), false},
		{"capacity, at every limit", capacity(500_000, 300_000, 1*us, 3*us, true), true},
		{"hot path too slow", capacity(499_999, 300_000, 1*us, 3*us, true), false},
		{"hot path too dear", capacity(500_000, 300_000, 1*us+1, 3*us, true), false},
		{"decode too slow", capacity(500_000, 299_999, 1*us, 3*us, true), false},
		{"decode too dear", capacity(500_000, 300_000, 1*us, 3*us+1, true), false},
		{"events lost", capacity(500_000, 300_000, 1*us, 3*us, false), false},
		{"fought for, at the limit", Calibration{Stress: &StressFigure{Streams: 5, Noisy: 5, Kernel: Spread{N: 1, P50: 50 * us}}}, true},
		{"fought for, too late", Calibration{Stress: &StressFigure{Streams: 5, Noisy: 5, Kernel: Spread{N: 1, P50: 50*us + 1}}}, false},
		{"fought for, not all flagged", Calibration{Stress: &StressFigure{Streams: 5, Noisy: 4}}, false},
		{"cold start, at the limit", cold(time.Millisecond, time.Millisecond), true},
		{"cold start, TTFT", cold(time.Millisecond+1, 0), false},
		{"cold start, set-up", cold(0, time.Millisecond+1), false},
		{"nothing measured", Calibration{}, false},
	} {
		tt.c.Judge()
		if got := tt.c.Passed(); got != tt.want {
			t.Errorf("%s: passed is %v; want %v (%+v)", tt.name, got, tt.want, tt.c.Gates)
		}
		for _, table := range tt.c.Tables() {
			for _, row := range table.Rows {
				if len(row) != len(table.Head) {
					t.Errorf("%s: %q: %d cells under %d headings", tt.name, table.Title, len(row), len(table.Head))
				}
			}
		}
	}
}

func TestWhole(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 999: "999", 1000: "1,000", 1234567.8: "1,234,568", -1000: "-1,000", -999: "-999"} {
		if got := whole(v); got != want {
			t.Errorf("whole(%v) = %s; want %s", v, got, want)
		}
	}
}
