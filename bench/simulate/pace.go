package simulate

import (
	"context"
	"runtime"
	"time"
)

// A pacer waits for instants. It is not safe for concurrent use.
type pacer struct {
	precise bool
	timer   *time.Timer
}

// Note: a Go timer rounds a wait under a millisecond up to one when the process
// is otherwise idle (the runtime waits in epoll_wait, in whole milliseconds), so
// the last stretch is left to the kernel's own sleep where there is one, and the
// last of that is spun. Small Go sleeps were tried: half a millisecond late.
const (
	napFrom   = 1500 * time.Microsecond // from here a timer is too coarse
	spinFrom  = 120 * time.Microsecond  // from here the kernel's sleep is
	spinBound = 1 << 16                 // turns, so that a clock that stands still, as in a test bubble, ends the spin
)

func newPacer(precise bool) *pacer {
	t := time.NewTimer(0)
	t.Stop()
	return &pacer{precise: precise, timer: t}
}

// wait returns at due, or at once if that is past, with nil; or with ctx's
// error once ctx is done. A precise pacer spends up to spinFrom of CPU time,
// yielding, to be within microseconds of due on an idle machine.
func (p *pacer) wait(ctx context.Context, due time.Time) error {
	if !p.precise {
		return p.sleep(ctx, time.Until(due))
	}
	if err := p.sleep(ctx, time.Until(due)-napFrom); err != nil {
		return err
	}
	if d := time.Until(due) - spinFrom; d > 0 {
		nap(d)
	}
	for range spinBound {
		if time.Until(due) <= 0 {
			return ctx.Err()
		}
		runtime.Gosched()
	}
	return p.sleep(ctx, time.Until(due))
}

func (p *pacer) sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	p.timer.Reset(d)
	select {
	case <-p.timer.C:
		return nil
	case <-ctx.Done():
		p.timer.Stop()
		return ctx.Err()
	}
}
