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

const (
	spinFrom  = time.Millisecond       // a timer may be this late: the rest is waited for in small steps
	spinOnly  = 100 * time.Microsecond // a short sleep may be this late: the rest is spun
	spinBound = 1 << 16                // turns, so that a clock that stands still, as in a test bubble, ends the spin
)

func newPacer(precise bool) *pacer {
	t := time.NewTimer(0)
	t.Stop()
	return &pacer{precise: precise, timer: t}
}

// wait returns at due, or at once if that is past, with nil; or with ctx's
// error once ctx is done. A precise pacer spends up to a millisecond of CPU
// time, yielding, to be within microseconds of due.
func (p *pacer) wait(ctx context.Context, due time.Time) error {
	if !p.precise {
		return p.sleep(ctx, time.Until(due))
	}
	if err := p.sleep(ctx, time.Until(due)-spinFrom); err != nil {
		return err
	}
	for d := time.Until(due); d > spinOnly; d = time.Until(due) {
		time.Sleep(min(d-spinOnly, spinOnly))
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
