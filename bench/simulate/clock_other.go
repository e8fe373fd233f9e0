//go:build !linux

package simulate

import "time"

// machineNano reports false: no clock is known to be shared between processes.
func machineNano() (int64, bool) { return 0, false }

// nap returns at once: the caller spins instead.
func nap(time.Duration) {}
