package main

import (
	"context"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// passes plans and measures, and if again is set goes on with what falls due
// until deadline, sleeping in between: a job that is woken twice an hour can so
// keep a cadence of ten minutes. A zero deadline is none.
//
// plan says what is due at a time, with so much time left; left is 0 without a
// deadline. measure sends the due requests and returns how many it sent. It
// ends early when nothing more falls due before the deadline, or none of the
// requests that are due has room before it.
func passes(ctx context.Context, deadline time.Time, again bool,
	plan func(now time.Time, left time.Duration) bench.Plan, measure func(bench.Plan) (sent int, err error)) error {
	for {
		now := time.Now()
		var left time.Duration
		if !deadline.IsZero() {
			if left = deadline.Sub(now); left <= 0 {
				return nil
			}
		}
		p := plan(now, left)
		sent, err := measure(p)
		if err != nil || !again {
			return err
		}
		if sent == 0 && (len(p.Due) > 0 || !p.Next.After(now)) {
			return nil
		}
		if p.Next.IsZero() || !deadline.IsZero() && !p.Next.Before(deadline) {
			return nil
		}
		if err := sleepUntil(ctx, p.Next); err != nil {
			return err
		}
	}
}

// sleepUntil waits for a time, or for ctx to end, whose cause it returns then.
func sleepUntil(ctx context.Context, at time.Time) error {
	timer := time.NewTimer(time.Until(at))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
