// Package calibrate says how exact the clock of package bench is on one machine:
// streams of a simulated provider in another process, measured as any other, are
// joined with that provider's own log of what it wrote when. The package is pure;
// the processes are started and the streams measured by its callers.
package calibrate

import (
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// Format is the version of the JSON form of a [Calibration].
const Format = 1

// A Calibration is how exact this program's clock is on one machine. It comes
// of measuring, with the code that measures providers, a simulated provider in
// another process of the same machine, whose log says when each byte left on
// the clock that both processes share. It holds no text.
//
// A figure that was not taken is nil or missing, never 0.
type Calibration struct {
	Format  int       `json:"format"` // Format
	Method  int       `json:"method"` // bench.MethodVersion
	At      time.Time `json:"at"`     // wall clock, UTC, at the start
	Quick   bool      `json:"quick,omitempty"`
	Machine Machine   `json:"machine"`

	Stamps    []StampFigure    `json:"stamps"`
	TTFT      []TTFTFigure     `json:"ttft"`
	Collector []CollectorTrial `json:"collector,omitempty"`
	Stress    *StressFigure    `json:"stress,omitempty"`
	Capacity  []CapacityFigure `json:"capacity,omitempty"`
	ColdStart *ColdFigure      `json:"cold_start,omitempty"`

	Gates []Gate `json:"gates"` // the verdict, from [Calibration.Judge]
}

// A Machine is where a calibration was made, as far as its figures depend on it.
type Machine struct {
	OS   string `json:"os"`
	Arch string `json:"arch"`
	CPUs int    `json:"cpus"` // that the program may use
	Go   string `json:"go"`   // version of the runtime
}

// How a calibration's stream was carried.
const (
	PlainHTTP = "http"
	OverTLS   = "https"
)

// A Spread summarises times. The percentiles are R-7.
type Spread struct {
	N   int           `json:"n"`
	P50 time.Duration `json:"p50_ns"`
	P99 time.Duration `json:"p99_ns"`
	Max time.Duration `json:"max_ns"`
}

// A StampFigure is the error of the stamps of one clock: how much later than
// the instant just before the server's write the stamp of the read lies which
// brought the last byte of that write. The write itself takes some of that time,
// so the figure is an upper bound of the stamp's own error.
type StampFigure struct {
	Transport string        `json:"transport"` // PlainHTTP or OverTLS
	Gap       time.Duration `json:"gap_ns"`    // between two writes
	Clock     string        `json:"clock"`     // bench.ClockKernel or bench.ClockUser
	Streams   int           `json:"streams"`
	Error     Spread        `json:"error"`       // over all writes of all streams
	Best      time.Duration `json:"best_p50_ns"` // the least median of a single stream: the clock, when the machine let it

	// Inside is the share of stamps that lie between the instants just before
	// and just after the server's write. Over loopback the kernel hands the
	// bytes to the receiving socket inside that call, so a right stamp does.
	Inside float64    `json:"inside_write"`
	Noisy  int        `json:"noisy_streams"` // streams whose samples would be flagged, bench.Noise.Noisy
	Load   bench.Load `json:"load"`
}

// A TTFTFigure is the error of the time to first token.
type TTFTFigure struct {
	Transport string        `json:"transport"`
	Clock     string        `json:"clock"`
	Streams   int           `json:"streams"`
	True      time.Duration `json:"true_ns"` // from the server's having the request to its first text being due

	// Error is the median of TTFT less the time from our dispatch to the
	// instant just before the server's write of its first text.
	Error time.Duration `json:"error_ns"`

	// Excess is the median of TTFT less True: with the way of the request to
	// the server, its wake-up and its own lateness, none of which is the clock's.
	Excess time.Duration `json:"excess_ns"`
	Load   bench.Load    `json:"load"`
}

// A CollectorTrial is what the garbage collector does to user stamps, which
// only it among the runtime's parts could hold up. Kernel stamps are not ours
// to disturb.
type CollectorTrial struct {
	Collector   string     `json:"collector"`   // CollectorOff, CollectorOn or CollectorBusy
	Collections int        `json:"collections"` // that began while the streams ran
	Streams     int        `json:"streams"`
	User        Spread     `json:"user"`   // error of the user stamps, as in a StampFigure
	Kernel      Spread     `json:"kernel"` // of the kernel stamps; N is 0 without them
	Load        bench.Load `json:"load"`
}

// The settings of the collector in a trial.
const (
	CollectorOff  = "off"
	CollectorOn   = "on"   // as the program runs
	CollectorBusy = "busy" // one collection after another, on purpose
)

// A StressFigure is what stamps are worth while other processes fight for every
// CPU on purpose, over plain HTTP at gaps of 5 ms.
type StressFigure struct {
	Processes int        `json:"processes"` // that do nothing but use CPU time
	Streams   int        `json:"streams"`
	Noisy     int        `json:"noisy_streams"` // flagged, and so out of the headline statistics
	User      Spread     `json:"user"`          // error of the user stamps, as in a StampFigure
	Kernel    Spread     `json:"kernel"`        // of the kernel stamps; N is 0 without them
	Load      bench.Load `json:"load"`
}

// A CapacityFigure is how many events a second the program takes in from a
// server that sends as fast as the socket takes them, eight events in a write.
type CapacityFigure struct {
	Protocol   string `json:"protocol"`    // wire format of the stream
	Events     int    `json:"events"`      // in it, each with text
	EventBytes int    `json:"event_bytes"` // of each
	Intact     bool   `json:"intact"`      // every event, character and token came out, in every pass

	// Hot is what happens while an answer streams: read, stamp, unframe, log;
	// the kernel's part of each read is in its CPU time.
	Hot Throughput `json:"hot_path"`

	// Decode is what happens after it: lines, events, JSON, the join with the
	// stamps, the trace, the digest.
	Decode Throughput `json:"full_decode"`
	Load   bench.Load `json:"load"`
}

// A Throughput is the median of several passes over the same events.
type Throughput struct {
	PerSecond float64       `json:"events_per_s"`     // by the time that passed
	CPU       time.Duration `json:"cpu_per_event_ns"` // CPU time of this process for one event
	Passes    int           `json:"passes"`
}

// A ColdFigure is what the first measurement of a fresh process has on the
// third: median over processes, over TLS, each warmed as a run is.
type ColdFigure struct {
	Processes int           `json:"processes"`
	TTFT      time.Duration `json:"ttft_ns"`      // first TTFT less third
	TTFTCold  time.Duration `json:"ttft_cold_ns"` // the same with the connection's set-up
	Load      bench.Load    `json:"load"`
}

// A Gate is a limit that a figure is held against.
type Gate struct {
	Name   string  `json:"name"`
	Unit   string  `json:"unit"`
	Limit  float64 `json:"limit"` // at most; at least, if AtLeast
	Got    float64 `json:"got"`
	Passed bool    `json:"passed"`

	AtLeast bool `json:"at_least,omitempty"`
}

// Passed reports whether the calibration keeps within every gate that it has a
// figure for.
func (c *Calibration) Passed() bool {
	for _, g := range c.Gates {
		if !g.Passed {
			return false
		}
	}
	return len(c.Gates) > 0
}

// The limits that a calibration is judged by, on an idle machine of two cores.
const (
	gateKernel5ms = 50 * time.Microsecond // median stamp error at gaps of 5 ms
	gateKernel1ms = 20 * time.Microsecond // and of 1 ms
	gateUser5ms   = 200 * time.Microsecond
	gateUser1ms   = 120 * time.Microsecond
	gateTTFT      = 100 * time.Microsecond // median TTFT error by kernel stamps
	gateTTFTUser  = 250 * time.Microsecond
	gateCold      = time.Millisecond // first sample of a process less its third

	gateHotRate    = 500_000 // events per second
	gateHotCPU     = 1000 * time.Nanosecond
	gateDecodeRate = 300_000
	gateDecodeCPU  = 3000 * time.Nanosecond
)

// Judge fills in the gates. The stamp and TTFT gates are those of plain HTTP:
// under TLS the server's own encryption lies between its instant and the write.
func (c *Calibration) Judge() {
	c.Gates = nil
	limit := func(name string, got, limit time.Duration, unit string, per time.Duration) {
		c.Gates = append(c.Gates, Gate{
			Name: name, Unit: unit, Passed: got <= limit,
			Limit: float64(limit) / float64(per), Got: float64(got) / float64(per),
		})
	}
	for _, f := range c.Stamps {
		if f.Transport != PlainHTTP {
			continue
		}
		most, ok := map[string]map[time.Duration]time.Duration{
			bench.ClockKernel: {5 * time.Millisecond: gateKernel5ms, time.Millisecond: gateKernel1ms},
			bench.ClockUser:   {5 * time.Millisecond: gateUser5ms, time.Millisecond: gateUser1ms},
		}[f.Clock][f.Gap]
		if ok {
			limit("stamp error, "+f.Clock+" clock, gaps of "+f.Gap.String(), f.Error.P50, most, "ms", time.Millisecond)
		}
	}
	for _, f := range c.TTFT {
		if f.Transport != PlainHTTP {
			continue
		}
		most := gateTTFT
		if f.Clock == bench.ClockUser {
			most = gateTTFTUser
		}
		limit("TTFT error, "+f.Clock+" clock", max(f.Error, -f.Error), most, "ms", time.Millisecond)
	}
	if f := c.Stress; f != nil {
		if f.Kernel.N > 0 {
			limit("stamp error, kernel clock, every CPU fought for", f.Kernel.P50, gateKernel5ms, "ms", time.Millisecond)
		}
		c.Gates = append(c.Gates, Gate{
			Name: "streams flagged as noisy, every CPU fought for", Unit: "streams",
			Limit: float64(f.Streams), Got: float64(f.Noisy), Passed: f.Noisy >= f.Streams, AtLeast: true,
		})
	}
	for _, f := range c.Capacity {
		atLeast := func(name string, got, limit float64, unit string) {
			c.Gates = append(c.Gates, Gate{Name: name, Unit: unit, Limit: limit, Got: got, Passed: got >= limit, AtLeast: true})
		}
		atLeast(f.Protocol+", hot path", f.Hot.PerSecond, gateHotRate, "events/s")
		limit(f.Protocol+", hot path, CPU per event", f.Hot.CPU, gateHotCPU, "µs", time.Microsecond)
		atLeast(f.Protocol+", full decode", f.Decode.PerSecond, gateDecodeRate, "events/s")
		limit(f.Protocol+", full decode, CPU per event", f.Decode.CPU, gateDecodeCPU, "µs", time.Microsecond)
		intact := 0
		if f.Intact {
			intact = f.Events
		}
		atLeast(f.Protocol+", events intact", float64(intact), float64(f.Events), "events")
	}
	if f := c.ColdStart; f != nil {
		limit("first less third TTFT of a process", f.TTFT, gateCold, "ms", time.Millisecond)
		limit("the same with connection set-up", f.TTFTCold, gateCold, "ms", time.Millisecond)
	}
}
