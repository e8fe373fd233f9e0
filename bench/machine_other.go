//go:build !linux

package bench

import "time"

// MonotonicOffset reports false: which clock processes share is known on Linux
// only.
func MonotonicOffset() (time.Duration, bool) { return 0, false }

// CPUTime reports false.
func CPUTime() (time.Duration, bool) { return 0, false }

// loadAverage reports false.
func loadAverage() (float64, bool) { return 0, false }
