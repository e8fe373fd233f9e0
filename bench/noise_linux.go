package bench

import (
	"bytes"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// readLoad reads the counters of getrusage and of /proc/pressure/cpu.
func readLoad() load {
	var l load
	var usage unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &usage) == nil {
		l.involuntary = int64(usage.Nivcsw)
	}
	if text, err := os.ReadFile("/proc/pressure/cpu"); err == nil {
		l.waited, l.hasWaited = pressureTotal(text)
	}
	return l
}

// pressureTotal returns the total of the line "some" of a pressure file.
// Source: Linux Documentation/accounting/psi.rst.
func pressureTotal(text []byte) (time.Duration, bool) {
	for line := range bytes.Lines(text) {
		if !bytes.HasPrefix(line, []byte("some ")) {
			continue
		}
		_, total, ok := bytes.Cut(line, []byte("total="))
		if !ok {
			return 0, false
		}
		us, err := strconv.ParseInt(string(bytes.TrimSpace(total)), 10, 64)
		return time.Duration(us) * time.Microsecond, err == nil
	}
	return 0, false
}
