package calibrate

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// A Departure is one write of a response's body by a server on this machine.
// Its instants are on the machine's monotonic clock, as every process sees it.
type Departure struct {
	End    int64         // offset in the body just past the bytes written
	Before time.Duration // just before the write
	After  time.Duration // just after it: the kernel has the bytes
	Text   bool          // it brought visible text
}

// A Stream is one stream, joined with its server's log.
type Stream struct {
	Kernel, User []time.Duration // stamp errors, one for each write; Kernel is empty without kernel stamps
	KernelInside int             // kernel stamps between Before and After of their write
	UserInside   int

	KernelTTFT, UserTTFT time.Duration // TTFT by each clock
	Noisy                bool          // [bench.Noise.Noisy]
	Truth                time.Duration // dispatch to the first write with text, by the server's log
}

// errUnjoined says that a recording and a log are not of one stream.
var errUnjoined = errors.New("recording and log do not belong together")

// Join holds a recording against the log of the server that it came from.
// offset is wall − monotonic of the machine, from [bench.MonotonicOffset]. It fails if
// the stream failed or a write was never read.
func Join(rec bench.Recording, p wire.Protocol, offset time.Duration, log []Departure) (Stream, error) {
	var c Stream
	s, err := bench.Replay(rec, p)
	if err != nil {
		return c, fmt.Errorf("calibrate: %w", err)
	}
	if !s.OK() {
		return c, fmt.Errorf("calibrate: the stream failed: %s, %s in %s", s.Kind, s.Detail, s.FailedIn)
	}
	dispatch := dispatchedAt(&rec, offset)
	next := 0
	for _, d := range log {
		for next < len(rec.Reads) && rec.Reads[next].End < d.End {
			next++
		}
		if next == len(rec.Reads) {
			return c, fmt.Errorf("calibrate: %w: nothing brought byte %d", errUnjoined, d.End)
		}
		r := rec.Reads[next]
		user := dispatch + r.User
		c.User = append(c.User, user-d.Before)
		c.UserInside += within(user, d)
		if r.Kernel != 0 {
			kernel := dispatch + r.Kernel
			c.Kernel = append(c.Kernel, kernel-d.Before)
			c.KernelInside += within(kernel, d)
		}
	}
	first := slices.IndexFunc(log, func(d Departure) bool { return d.Text })
	if first < 0 {
		return c, fmt.Errorf("calibrate: %w: no text was sent", errUnjoined)
	}
	c.Noisy = s.Noise.Noisy
	c.Truth = log[first].Before - dispatch
	if s.Env.Clock == bench.ClockKernel {
		c.KernelTTFT = s.FirstText
	} else {
		c.Kernel = nil // a sample has one clock
	}
	byUser, err := bench.Replay(userStamped(rec), p)
	if err != nil {
		return c, fmt.Errorf("calibrate: %w", err)
	}
	c.UserTTFT = byUser.FirstText
	return c, nil
}

func within(at time.Duration, d Departure) int {
	if d.Before <= at && at <= d.After {
		return 1
	}
	return 0
}

// dispatchedAt returns the instant of the dispatch on the machine's monotonic
// clock.
func dispatchedAt(rec *bench.Recording, offset time.Duration) time.Duration {
	return time.Duration(rec.StartedAt.UnixNano()) - offset + rec.Phases.Setup
}

// userStamped returns a recording as if the kernel had given no stamps.
func userStamped(rec bench.Recording) bench.Recording {
	rec.Reads = slices.Clone(rec.Reads)
	for i := range rec.Reads {
		rec.Reads[i].Kernel = 0
	}
	return rec
}

// StampFigures returns the figures of streams of one transport and gap: by the
// kernel's clock if all streams have it, and by the user's.
func StampFigures(transport string, gap time.Duration, streams []Stream, load bench.Load) []StampFigure {
	figure := func(clock string, of func(*Stream) ([]time.Duration, int)) StampFigure {
		f := StampFigure{Transport: transport, Gap: gap, Clock: clock, Streams: len(streams), Load: load}
		var all []time.Duration
		inside := 0
		for i := range streams {
			errs, in := of(&streams[i])
			all, inside = append(all, errs...), inside+in
			if streams[i].Noisy {
				f.Noisy++
			}
			if p50 := SpreadOf(errs).P50; i == 0 || p50 < f.Best {
				f.Best = p50
			}
		}
		f.Error = SpreadOf(all)
		f.Inside = float64(inside) / float64(max(1, len(all)))
		return f
	}
	var figures []StampFigure
	if kernelStamped(streams) {
		figures = append(figures, figure(bench.ClockKernel, func(c *Stream) ([]time.Duration, int) { return c.Kernel, c.KernelInside }))
	}
	return append(figures, figure(bench.ClockUser, func(c *Stream) ([]time.Duration, int) { return c.User, c.UserInside }))
}

// TTFTFigures returns the TTFT errors of streams of one transport whose text was
// due at truth.
func TTFTFigures(transport string, truth time.Duration, streams []Stream, load bench.Load) []TTFTFigure {
	figure := func(clock string, ttft func(*Stream) time.Duration) TTFTFigure {
		var errs, excess []time.Duration
		for i := range streams {
			errs = append(errs, ttft(&streams[i])-streams[i].Truth)
			excess = append(excess, ttft(&streams[i])-truth)
		}
		return TTFTFigure{
			Transport: transport, Clock: clock, Streams: len(streams), True: truth,
			Error: SpreadOf(errs).P50, Excess: SpreadOf(excess).P50, Load: load,
		}
	}
	var figures []TTFTFigure
	if kernelStamped(streams) {
		figures = append(figures, figure(bench.ClockKernel, func(c *Stream) time.Duration { return c.KernelTTFT }))
	}
	return append(figures, figure(bench.ClockUser, func(c *Stream) time.Duration { return c.UserTTFT }))
}

// NewCollectorTrial returns the trial of streams under one setting of the
// garbage collector.
func NewCollectorTrial(collector string, collections int, streams []Stream, load bench.Load) CollectorTrial {
	var user, kernel []time.Duration
	for i := range streams {
		user, kernel = append(user, streams[i].User...), append(kernel, streams[i].Kernel...)
	}
	return CollectorTrial{
		Collector: collector, Collections: collections, Streams: len(streams),
		User: SpreadOf(user), Kernel: SpreadOf(kernel), Load: load,
	}
}

// NewStressFigure returns the figure of streams measured beside processes that
// use up CPU time.
func NewStressFigure(processes int, streams []Stream, load bench.Load) StressFigure {
	trial := NewCollectorTrial("", 0, streams, load)
	f := StressFigure{Processes: processes, Streams: len(streams), User: trial.User, Kernel: trial.Kernel, Load: load}
	for i := range streams {
		if streams[i].Noisy {
			f.Noisy++
		}
	}
	return f
}

// kernelStamped reports whether every stream has kernel stamps.
func kernelStamped(streams []Stream) bool {
	for i := range streams {
		if len(streams[i].Kernel) == 0 {
			return false
		}
	}
	return len(streams) > 0
}

// SpreadOf summarises times in any order.
func SpreadOf(times []time.Duration) Spread {
	if len(times) == 0 {
		return Spread{}
	}
	sorted := slices.Sorted(slices.Values(times))
	return Spread{
		N: len(sorted), P50: bench.Quantile(sorted, 0.5), P99: bench.Quantile(sorted, 0.99), Max: sorted[len(sorted)-1],
	}
}

// ThroughputOf returns the median rate and cost of passes over n events each:
// how long each took, and how much CPU time.
func ThroughputOf(n int, took, cpu []time.Duration) Throughput {
	if n == 0 || len(took) == 0 {
		return Throughput{}
	}
	t := Throughput{Passes: len(took), CPU: SpreadOf(cpu).P50 / time.Duration(n)}
	if d := SpreadOf(took).P50; d > 0 {
		t.PerSecond = float64(n) / d.Seconds()
	}
	return t
}

// A FirstThree is the first and the third measurement of a fresh process.
type FirstThree struct {
	First, Third         time.Duration // TTFT
	FirstCold, ThirdCold time.Duration // TTFT with the connection's set-up
}

// ColdFigureOf returns the figure of fresh processes.
func ColdFigureOf(processes []FirstThree, load bench.Load) ColdFigure {
	var ttft, cold []time.Duration
	for _, p := range processes {
		ttft = append(ttft, p.First-p.Third)
		cold = append(cold, p.FirstCold-p.ThirdCold)
	}
	return ColdFigure{Processes: len(processes), TTFT: SpreadOf(ttft).P50, TTFTCold: SpreadOf(cold).P50, Load: load}
}
