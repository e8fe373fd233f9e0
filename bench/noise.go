package bench

import (
	"slices"
	"time"
)

// Limits above which a sample counts as disturbed by our own machine. It stays
// in the dataset and out of the headline statistics.
const (
	NoisyDelayP50 = 1 * time.Millisecond  // median delay from the kernel's stamp to ours
	NoisyDelayMax = 50 * time.Millisecond // longest such delay
	NoisyPressure = 0.5                   // share of the run in which some task waited for a CPU
)

// A load is what the operating system tells of contention for the CPU, as
// counters that only their differences make sense of.
type load struct {
	involuntary int64         // context switches forced on this process
	waited      time.Duration // time in which some task of the machine waited for a CPU
	hasWaited   bool
}

// since returns the noise of a run of length d between two readings.
func (l load) since(before load, d time.Duration) Noise {
	n := Noise{Involuntary: l.involuntary - before.involuntary}
	if l.hasWaited && before.hasWaited && d > 0 {
		n.CPUPressure = min(1, max(0, float64(l.waited-before.waited)/float64(d)))
	}
	return n
}

// judge completes the noise of a run with the delays of its reads and weighs it.
func (n Noise) judge(reads []Read) Noise {
	delays := make([]time.Duration, 0, len(reads))
	for _, r := range reads {
		if r.Kernel != 0 {
			delays = append(delays, max(0, r.User-r.Kernel))
		}
	}
	if len(delays) > 0 {
		slices.Sort(delays)
		n.DelayP50, n.DelayMax = Quantile(delays, 0.5), delays[len(delays)-1]
	}
	n.Noisy = n.DelayP50 > NoisyDelayP50 || n.DelayMax > NoisyDelayMax || n.CPUPressure > NoisyPressure
	return n
}
