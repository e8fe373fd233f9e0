package bench

import (
	"testing"
	"time"
)

// TestWallMap holds the translation of kernel stamps against a machine whose
// wall clock was 1000 s ahead of its monotonic one, until somebody set it.
func TestWallMap(t *testing.T) {
	const s, ms, us = time.Second, time.Millisecond, time.Microsecond
	const offset = 1000 * s
	type call struct {
		wall time.Duration // the stamp
		now  time.Duration // monotonic, after the read
		set  time.Duration // the wall clock is set by this before the read
		slow time.Duration // the thread is descheduled between the two clocks for this
		want time.Duration
		ok   bool
	}
	tests := []struct {
		name  string
		calls []call
	}{
		{"undisturbed", []call{
			{wall: offset + 2*s, now: 2*s + 40*us, want: 2 * s, ok: true},
			{wall: offset + 3*s, now: 3*s + 9*ms, want: 3 * s, ok: true},
		}},
		{"descheduled between the clocks", []call{
			{wall: offset + 2*s, now: 2*s + 40*us, slow: 4 * ms, want: 2 * s, ok: true},
			{wall: offset + 3*s, now: 3*s + 40*us, want: 3 * s, ok: true},
		}},
		{"set back, then a byte", []call{
			{wall: offset + 2*s, now: 2*s + 40*us, want: 2 * s, ok: true},
			{wall: offset + 3*s - 5*s, now: 3*s + 40*us, set: -5 * s, want: 3 * s, ok: true},
			{wall: offset + 4*s - 5*s, now: 4*s + 40*us, want: 4 * s, ok: true},
		}},
		{"set forward, then a byte", []call{
			{wall: offset + 2*s, now: 2*s + 40*us, want: 2 * s, ok: true},
			{wall: offset + 3*s + 5*s, now: 3*s + 40*us, set: 5 * s, want: 3 * s, ok: true},
		}},
		{"a byte, then set back before it was read", []call{
			{wall: offset + 2*s, now: 2*s + 40*us, set: -5 * s, want: 2 * s, ok: true},
			{wall: offset + 3*s - 5*s, now: 3*s + 40*us, want: 3 * s, ok: true},
		}},
		{"a byte, then set forward before it was read", []call{
			{wall: offset + 2*s, now: 2*s + 40*us, set: 5 * s, want: 2 * s, ok: true},
		}},
		{"set back in a silence longer than the step", []call{
			{wall: offset + 2*s, now: 2*s + 40*us, want: 2 * s, ok: true},
			{wall: offset + 12*s - 5*s, now: 12*s + 40*us, set: -5 * s, want: 12 * s, ok: true},
		}},
		{"behind a late segment", []call{
			{wall: offset + 2*s, now: 2*s + 40*us, want: 2 * s, ok: true},
			{wall: offset + 1*s, now: 2*s + 90*us, want: 2 * s, ok: true},
		}},
		{"from the future", []call{
			{wall: offset + 9*s, now: 2 * s, ok: false},
		}},
		{"from before the process", []call{
			{wall: offset - 9*s, now: 2 * s, ok: false},
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			ahead := offset
			var now time.Duration
			m := newWallMap(func() reading { return reading{mono: now, wall: now + ahead} })
			for i, c := range tt.calls {
				now = c.now
				ahead += c.set
				got, ok := m.instant(c.wall, reading{mono: now, wall: now + ahead - c.slow})
				if ok != c.ok || ok && got != c.want {
					t.Errorf("call %d: instant = %v, %v; want %v, %v", i, got, ok, c.want, c.ok)
				}
			}
		})
	}
}

func TestClockAdvances(t *testing.T) {
	c := newClock()
	before := c()
	after := c()
	if after.mono < before.mono || before.mono < 0 {
		t.Errorf("monotonic clock went from %v to %v", before.mono, after.mono)
	}
	if wall := time.Unix(0, int64(after.wall)); time.Since(wall) > time.Hour {
		t.Errorf("wall clock reads %v", wall)
	}
}
