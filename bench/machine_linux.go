package bench

import (
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// MonotonicOffset returns wall clock − CLOCK_MONOTONIC, which is the same for
// every process of the machine until somebody sets the wall clock. It reports
// false where the system has no such clock.
func MonotonicOffset() (time.Duration, bool) {
	narrowest, offset := time.Duration(-1), time.Duration(0)
	for range 64 {
		var before, wall, after unix.Timespec
		if unix.ClockGettime(unix.CLOCK_MONOTONIC, &before) != nil ||
			unix.ClockGettime(unix.CLOCK_REALTIME, &wall) != nil ||
			unix.ClockGettime(unix.CLOCK_MONOTONIC, &after) != nil {
			return 0, false
		}
		if width := time.Duration(after.Nano() - before.Nano()); narrowest < 0 || width < narrowest {
			narrowest = width
			offset = time.Duration(wall.Nano()-before.Nano()) - width/2
		}
	}
	return offset, true
}

// CPUTime returns the CPU time that this process has used, in user and kernel
// mode. It reports false where the system does not tell.
func CPUTime() (time.Duration, bool) {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0, false
	}
	return time.Duration(ts.Nano()), true
}

// loadAverage returns the machine's load average over the last minute. It
// reports false where the system does not tell.
func loadAverage() (float64, bool) {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0, false
	}
	first, _, _ := strings.Cut(string(text), " ")
	load, err := strconv.ParseFloat(first, 64)
	return load, err == nil
}
