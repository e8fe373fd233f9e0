package calibrate

import (
	"fmt"
	"strconv"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// A Table is figures laid out for people: one heading for each column, one cell
// for each heading. Column one names the row.
type Table struct {
	Title string
	Head  []string
	Rows  [][]string
}

// Tables lays the calibration out: a table for each kind of figure that it has,
// the verdict last.
func (c *Calibration) Tables() []Table {
	var tables []Table
	add := func(t Table) {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	add(c.stampTable())
	add(c.ttftTable())
	add(c.collectorTable())
	add(c.stressTable())
	add(c.capacityTable())
	add(c.coldTable())
	add(c.gateTable())
	return tables
}

func (c *Calibration) stampTable() Table {
	t := Table{
		Title: "Stamp error, ms after the write began",
		Head:  []string{"carried by, gap, clock", "writes", "p50", "p99", "inside the write", "noisy streams", "load, pressure"},
	}
	for _, f := range c.Stamps {
		t.Rows = append(t.Rows, []string{
			fmt.Sprintf("%s, %v, %s", f.Transport, f.Gap, f.Clock), strconv.Itoa(f.Error.N),
			millis(f.Error.P50), millis(f.Error.P99), percent(f.Inside), fmt.Sprintf("%d of %d", f.Noisy, f.Streams), loadCell(f.Load),
		})
	}
	return t
}

func (c *Calibration) ttftTable() Table {
	t := Table{
		Title: "Error of the time to first token, ms, median",
		Head:  []string{"carried by, clock", "streams", "against the server's log", "against the model's time", "load, pressure"},
	}
	for _, f := range c.TTFT {
		t.Rows = append(t.Rows, []string{
			f.Transport + ", " + f.Clock, strconv.Itoa(f.Streams), millis(f.Error), millis(f.Excess), loadCell(f.Load),
		})
	}
	return t
}

func (c *Calibration) collectorTable() Table {
	t := Table{
		Title: "Stamp error by what the garbage collector does, ms, gaps of 1 ms",
		Head:  []string{"collector", "collections", "user p50", "user p99", "kernel p50", "kernel p99", "load, pressure"},
	}
	for _, f := range c.Collector {
		row := append([]string{f.Collector, strconv.Itoa(f.Collections), millis(f.User.P50), millis(f.User.P99)}, kernelCells(f.Kernel)...)
		t.Rows = append(t.Rows, append(row, loadCell(f.Load)))
	}
	return t
}

func (c *Calibration) stressTable() Table {
	t := Table{
		Title: "Stamp error while other processes fight for every CPU, ms, gaps of 5 ms",
		Head:  []string{"processes", "noisy streams", "user p50", "user p99", "kernel p50", "kernel p99", "load, pressure"},
	}
	if f := c.Stress; f != nil {
		t.Rows = append(t.Rows, append(append([]string{
			strconv.Itoa(f.Processes), fmt.Sprintf("%d of %d", f.Noisy, f.Streams), millis(f.User.P50), millis(f.User.P99),
		}, kernelCells(f.Kernel)...), loadCell(f.Load)))
	}
	return t
}

// kernelCells returns the percentiles of kernel stamps, or dashes without them.
func kernelCells(s Spread) []string {
	if s.N == 0 {
		return []string{"–", "–"}
	}
	return []string{millis(s.P50), millis(s.P99)}
}

func (c *Calibration) capacityTable() Table {
	t := Table{
		Title: "Capacity, eight events in a write",
		Head:  []string{"stream", "events", "bytes each", "intact", "hot path, events/s", "CPU µs", "full decode, events/s", "CPU µs", "load, pressure"},
	}
	for _, f := range c.Capacity {
		intact := "no"
		if f.Intact {
			intact = "yes"
		}
		t.Rows = append(t.Rows, []string{
			f.Protocol, strconv.Itoa(f.Events), strconv.Itoa(f.EventBytes), intact,
			whole(f.Hot.PerSecond), micros(f.Hot.CPU), whole(f.Decode.PerSecond), micros(f.Decode.CPU), loadCell(f.Load),
		})
	}
	return t
}

func (c *Calibration) coldTable() Table {
	t := Table{
		Title: "First measurement of a fresh process less its third, over TLS, ms, median",
		Head:  []string{"processes", "TTFT", "with the connection's set-up", "load, pressure"},
	}
	if f := c.ColdStart; f != nil {
		t.Rows = append(t.Rows, []string{strconv.Itoa(f.Processes), millis(f.TTFT), millis(f.TTFTCold), loadCell(f.Load)})
	}
	return t
}

func (c *Calibration) gateTable() Table {
	t := Table{Title: "Limits, for an idle machine", Head: []string{"figure", "limit", "here", "kept"}}
	for _, g := range c.Gates {
		than, kept := "≤", "no"
		if g.AtLeast {
			than = "≥"
		}
		if g.Passed {
			kept = "yes"
		}
		show := func(v float64) string { return strconv.FormatFloat(v, 'f', 3, 64) }
		if g.AtLeast {
			show = whole
		}
		t.Rows = append(t.Rows, []string{g.Name, than + " " + show(g.Limit) + " " + g.Unit, show(g.Got), kept})
	}
	return t
}

// loadCell returns the load for the last column.
func loadCell(l bench.Load) string {
	average, pressure := "–", "–"
	if l.Average != nil {
		average = strconv.FormatFloat(*l.Average, 'f', 1, 64)
	}
	if l.Pressure != nil {
		pressure = percent(*l.Pressure)
	}
	return average + ", " + pressure
}

func millis(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 3, 64)
}

func micros(d time.Duration) string { return strconv.FormatFloat(float64(d)/1000, 'f', 2, 64) }

func percent(share float64) string { return strconv.FormatFloat(share*100, 'f', 0, 64) + " %" }

// whole returns v rounded, with its thousands set apart.
func whole(v float64) string {
	digits := strconv.FormatFloat(v, 'f', 0, 64)
	for i := len(digits) - 3; i > 0 && digits[i-1] != '-'; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
