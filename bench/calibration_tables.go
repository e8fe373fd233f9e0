package bench

import (
	"fmt"
	"strconv"
	"time"
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
	add(c.capacityTable())
	add(c.coldTable())
	add(c.gateTable())
	return tables
}

func (c *Calibration) stampTable() Table {
	t := Table{
		Title: "Stamp error, ms after the write began",
		Head:  []string{"carried by, gap, clock", "writes", "p50", "p99", "best stream's p50", "inside the write", "load", "pressure"},
	}
	for _, f := range c.Stamps {
		t.Rows = append(t.Rows, append([]string{
			fmt.Sprintf("%s, %v, %s", f.Transport, f.Gap, f.Clock), strconv.Itoa(f.Error.N),
			millis(f.Error.P50), millis(f.Error.P99), millis(f.Best), percent(f.Inside),
		}, f.Load.cells()...))
	}
	return t
}

func (c *Calibration) ttftTable() Table {
	t := Table{
		Title: "Error of the time to first token, ms, median",
		Head:  []string{"carried by, clock", "streams", "against the server's log", "against the model's time", "load", "pressure"},
	}
	for _, f := range c.TTFT {
		t.Rows = append(t.Rows, append([]string{
			f.Transport + ", " + f.Clock, strconv.Itoa(f.Streams), millis(f.Error), millis(f.Excess),
		}, f.Load.cells()...))
	}
	return t
}

func (c *Calibration) collectorTable() Table {
	t := Table{
		Title: "Stamp error by what the garbage collector does, ms, gaps of 1 ms",
		Head:  []string{"collector", "collections", "user p50", "user p99", "kernel p50", "kernel p99", "load", "pressure"},
	}
	for _, f := range c.Collector {
		kernel := []string{"–", "–"}
		if f.Kernel.N > 0 {
			kernel = []string{millis(f.Kernel.P50), millis(f.Kernel.P99)}
		}
		row := append([]string{f.Collector, strconv.Itoa(f.Collections), millis(f.User.P50), millis(f.User.P99)}, kernel...)
		t.Rows = append(t.Rows, append(row, f.Load.cells()...))
	}
	return t
}

func (c *Calibration) capacityTable() Table {
	t := Table{
		Title: "Capacity, eight events in a write",
		Head:  []string{"stream", "events", "bytes each", "intact", "hot path, events/s", "CPU µs", "full decode, events/s", "CPU µs", "load", "pressure"},
	}
	for _, f := range c.Capacity {
		intact := "no"
		if f.Intact {
			intact = "yes"
		}
		t.Rows = append(t.Rows, append([]string{
			f.Protocol, strconv.Itoa(f.Events), strconv.Itoa(f.EventBytes), intact,
			whole(f.Hot.PerSecond), micros(f.Hot.CPU), whole(f.Decode.PerSecond), micros(f.Decode.CPU),
		}, f.Load.cells()...))
	}
	return t
}

func (c *Calibration) coldTable() Table {
	t := Table{
		Title: "First measurement of a fresh process less its third, over TLS, ms, median",
		Head:  []string{"processes", "TTFT", "with the connection's set-up", "load", "pressure"},
	}
	if f := c.ColdStart; f != nil {
		t.Rows = append(t.Rows, append([]string{strconv.Itoa(f.Processes), millis(f.TTFT), millis(f.TTFTCold)}, f.Load.cells()...))
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

// cells returns the load for the last two columns.
func (l Load) cells() []string {
	average, pressure := "–", "–"
	if l.Average != nil {
		average = strconv.FormatFloat(*l.Average, 'f', 1, 64)
	}
	if l.Pressure != nil {
		pressure = percent(*l.Pressure)
	}
	return []string{average, pressure}
}

func millis(d time.Duration) string { return strconv.FormatFloat(ms(d), 'f', 3, 64) }

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
