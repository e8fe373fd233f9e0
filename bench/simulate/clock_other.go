//go:build !linux

package simulate

// machineNano reports false: no clock is known to be shared between processes.
func machineNano() (int64, bool) { return 0, false }
