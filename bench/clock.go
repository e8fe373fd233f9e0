package bench

import "time"

// A reading is both clocks of the machine, read together.
type reading struct {
	mono time.Duration // monotonic, from an arbitrary origin
	wall time.Duration // wall clock, since 1970; never subtracted from another run's
}

// A clock reads the monotonic and the wall clock together. The monotonic one
// makes every duration; the wall clock only dates a sample and translates the
// kernel's stamps.
type clock func() reading

// newClock returns the machine's clock. Its monotonic origin is a second ago, so
// that 0 is free for instants that did not happen.
func newClock() clock {
	origin := time.Now().Add(-time.Second)
	return func() reading {
		now := time.Now()
		return reading{mono: now.Sub(origin), wall: time.Duration(now.UnixNano())}
	}
}

// offsetSlack is how far two readings of wall − monotonic may lie apart without
// the wall clock having been set. The kernel slews both clocks alike, so the
// difference is constant but for steps and for the few nanoseconds between the
// two readings.
const offsetSlack = 20 * time.Microsecond

// A wallMap translates the kernel's receive stamps, which are wall clock, to
// the monotonic clock. It survives the wall clock being set at any moment.
type wallMap struct {
	clock  clock
	offset time.Duration // wall − monotonic, while nobody sets the clock
	newest time.Duration // the latest instant given out
}

// newWallMap returns a map for stamps to come.
func newWallMap(c clock) *wallMap {
	m := &wallMap{clock: c}
	m.offset = m.settle(c())
	return m
}

// instant returns when a byte stamped wall by the kernel had arrived, given a
// reading taken after it was read. Instants never run backwards: a byte behind
// a late one cannot be had before it, whatever its own stamp.
//
// If the clock was set since the last call, the stamp may have been taken
// before or after that. Of the two instants this gives, the later one that is
// not in the future is right, unless the reader had slept for longer than the
// step. It reports false if neither is possible.
func (m *wallMap) instant(wall time.Duration, now reading) (time.Duration, bool) {
	at := wall - m.offset
	if apart(now.wall-now.mono, m.offset) {
		if offset := m.settle(now); apart(offset, m.offset) {
			before, after := at, wall-offset
			at = max(before, after)
			if at > now.mono+offsetSlack {
				at = min(before, after)
			}
			m.offset = offset
		}
	}
	if at > now.mono+offsetSlack || at < 0 {
		return 0, false
	}
	at = max(min(at, now.mono), m.newest)
	m.newest = at
	return at, true
}

// settle returns wall − monotonic once two readings agree on it: a single one
// is off by as long as the thread was descheduled in its middle.
func (m *wallMap) settle(r reading) time.Duration {
	offset := r.wall - r.mono
	for range 8 {
		r = m.clock()
		if next := r.wall - r.mono; apart(next, offset) {
			offset = next
			continue
		}
		break
	}
	return offset
}

func apart(a, b time.Duration) bool { return max(a-b, b-a) > offsetSlack }
