package stats

import (
	"cmp"
	"slices"
	"time"
)

// Counts says how many attempts ended in which way. The kinds of failure are
// the seven published ones. Attempts spoiled by the observer's own network are
// to be left out before counting.
type Counts struct {
	OK        int
	Auth      int // our key: our fault
	Quota     int // our credit: our fault
	RateLimit int // more than our plan allows: neither's fault, shown apart
	Server    int
	Timeout   int
	Network   int
	Malformed int
}

// Plus returns the sum of c and d.
func (c Counts) Plus(d Counts) Counts {
	return Counts{
		OK: c.OK + d.OK, Auth: c.Auth + d.Auth, Quota: c.Quota + d.Quota, RateLimit: c.RateLimit + d.RateLimit,
		Server: c.Server + d.Server, Timeout: c.Timeout + d.Timeout, Network: c.Network + d.Network, Malformed: c.Malformed + d.Malformed,
	}
}

// Total returns how many attempts there were.
func (c Counts) Total() int { return c.OK + c.own() + c.RateLimit + c.theirs() }

// Valid returns how many attempts tell of the provider: the successes, and the
// failures that are the provider's.
func (c Counts) Valid() int { return c.OK + c.theirs() }

func (c Counts) own() int    { return c.Auth + c.Quota }
func (c Counts) theirs() int { return c.Server + c.Timeout + c.Network + c.Malformed }

// SuccessRate returns ok/total, a share of 0..1, as uptime pages publish it:
// every failure counts, ours too. It reports false if there was no attempt.
func (c Counts) SuccessRate() (float64, bool) { return share(c.OK, c.Total()) }

// Availability returns ok/(ok + server + timeout + network + malformed), a
// share of 0..1: an expired key or an empty account says nothing about the
// provider. It reports false if no attempt was valid. For attempts at uneven
// intervals see [TimeWeighted], for its interval [NewHourBucket].
//
// Source: "The Site Reliability Workbook", chapter 2, good over valid events.
func (c Counts) Availability() (float64, bool) { return share(c.OK, c.Valid()) }

// AvailabilityInterval returns the [Wilson] interval of Availability as if
// failures were independent. They come in outages, so over more than a day
// prefer [NewHourBucket]. It reports false if no attempt was valid.
func (c Counts) AvailabilityInterval(z float64) (Interval, bool) {
	return Wilson(float64(c.OK), float64(c.Valid()), z)
}

// ThrottleRate returns rate_limit/(total - auth - quota), a share of 0..1. It
// reports false if every attempt failed on our side.
func (c Counts) ThrottleRate() (float64, bool) { return share(c.RateLimit, c.Total()-c.own()) }

// OwnFaultRate returns (auth + quota)/total, a share of 0..1. It reports false
// if there was no attempt.
func (c Counts) OwnFaultRate() (float64, bool) { return share(c.own(), c.Total()) }

func share(part, whole int) (float64, bool) {
	if whole <= 0 {
		return 0, false
	}
	return float64(part) / float64(whole), true
}

// BreakerInterval is the published pace of probing a pair that is down.
const BreakerInterval = 30 * time.Minute

// An Attempt is when a valid attempt started and whether it succeeded.
type Attempt struct {
	At time.Duration // since any fixed instant
	OK bool
}

// TimeWeighted returns the share of time, 0..1, in which attempts succeed. Each
// stands for half the gap to its neighbour on either side, and no gap counts
// for more than limit (see [MaxGap]), so probing a pair more or less often
// while it is down does not bias the result. The first and the last attempt
// have one neighbour. The order of attempts does not matter.
//
// It reports false if no time has passed between attempts, or limit is not
// positive.
func TimeWeighted(attempts []Attempt, limit time.Duration) (float64, bool) {
	sorted := slices.SortedFunc(slices.Values(attempts), func(a, b Attempt) int {
		return cmp.Or(cmp.Compare(a.At, b.At), compareBool(a.OK, b.OK))
	})
	var up, all time.Duration // doubled, so that half gaps are exact
	for i := 1; i < len(sorted); i++ {
		gap := min(sorted[i].At-sorted[i-1].At, limit)
		for _, a := range sorted[i-1 : i+1] {
			all += gap
			if a.OK {
				up += gap
			}
		}
	}
	if all <= 0 {
		return 0, false
	}
	return float64(up) / float64(all), true
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// MaxGap returns the longest gap that [TimeWeighted] trusts for a pair probed
// at the given interval: 2 max(interval, [BreakerInterval]).
func MaxGap(interval time.Duration) time.Duration {
	return 2 * max(interval, BreakerInterval)
}

// Freshness says how old the last success of a pair is.
type Freshness uint8

// The states, from best to worst. There is no state of a pair that never
// succeeded: count it as Stale.
const (
	Fresh Freshness = iota
	Aging
	Stale // never ranked
)

// String returns the published name of the state.
func (f Freshness) String() string {
	switch f {
	case Fresh:
		return "fresh"
	case Aging:
		return "aging"
	}
	return "stale"
}

// FreshnessOf returns the state of a pair probed at the given interval whose
// last success is age old: fresh up to 2 intervals, aging up to the longer of 4
// intervals and 24 hours, then stale.
func FreshnessOf(age, interval time.Duration) Freshness {
	switch {
	case age <= 2*interval:
		return Fresh
	case age <= max(4*interval, 24*time.Hour):
		return Aging
	}
	return Stale
}
