package bench

import "time"

// Load is how busy the machine was while a figure was taken.
type Load struct {
	Average  *float64 `json:"load_1m,omitempty"`      // the load average over one minute, at the end; nil: not told
	Pressure *float64 `json:"cpu_pressure,omitempty"` // share of the time in which some task waited for a CPU, 0..1; nil: not told
}

// A LoadWatch watches the load from [WatchLoad] on.
type LoadWatch struct {
	start  time.Time
	before load
}

// WatchLoad begins to watch how busy the machine is.
func WatchLoad() LoadWatch { return LoadWatch{time.Now(), readLoad()} }

// Load returns how busy the machine has been since the watch began.
func (w LoadWatch) Load() Load {
	var l Load
	if average, ok := loadAverage(); ok {
		l.Average = &average
	}
	if now := readLoad(); now.hasWaited && w.before.hasWaited {
		l.Pressure = ptr(now.since(w.before, time.Since(w.start)).CPUPressure)
	}
	return l
}
