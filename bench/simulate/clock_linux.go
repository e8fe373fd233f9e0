package simulate

import "golang.org/x/sys/unix"

// machineNano reads CLOCK_MONOTONIC.
func machineNano() (int64, bool) {
	var ts unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
		return 0, false
	}
	return ts.Nano(), true
}
