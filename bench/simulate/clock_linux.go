package simulate

import (
	"time"

	"golang.org/x/sys/unix"
)

// machineNano reads CLOCK_MONOTONIC.
func machineNano() (int64, bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}

// nap sleeps for about d, or less if a signal comes. It holds its thread, so d
// should be short.
func nap(d time.Duration) {
	ts := unix.NsecToTimespec(int64(d))
	unix.Nanosleep(&ts, nil) // the caller looks at the clock again
}
