package bench

import (
	"math"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestMonotonicOffset checks the offset against what the system says of its
// uptime, which is CLOCK_MONOTONIC but for times asleep.
func TestMonotonicOffset(t *testing.T) {
	if runtime.GOOS != "linux" {
		if _, ok := MonotonicOffset(); ok {
			t.Error("an offset where none can be known")
		}
		return
	}
	a, ok1 := MonotonicOffset()
	b, ok2 := MonotonicOffset()
	if !ok1 || !ok2 || (a-b).Abs() > wallSetSlack {
		t.Errorf("MonotonicOffset = %v %v, then %v %v", a, ok1, b, ok2)
	}
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		if boot, ok := strings.CutPrefix(strings.TrimSpace(line), "btime "); ok {
			sec, err := time.ParseDuration(boot + "s")
			if err != nil || math.Abs((a-sec).Seconds()) > 2 {
				t.Errorf("the clock began at %v; the system booted at %v", a, sec)
			}
		}
	}
}

// wallSetSlack is by how much a slewed clock may move between two readings.
const wallSetSlack = time.Millisecond
