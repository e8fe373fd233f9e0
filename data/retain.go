package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/rollup"
)

// A Retention says what a call of [Store.Rollup] did.
type Retention struct {
	Clock  time.Time   // the record's own time
	Closed []time.Time // days whose buckets were written
	Pruned []time.Time // days whose raw samples were dropped
	Rows   int64       // samples in them
}

// Rollup closes the days that are over, and drops the raw samples of days older
// than [RawRetention], at most two days a call. Doing it again changes nothing.
//
// Days are over by the record's own clock, which is now, but never more than an
// hour ahead of the newest sample, and never runs backwards: a machine whose
// clock is a year ahead closes and drops nothing that is not due. A day is
// dropped only after its buckets were found to count all of its samples; they
// are frozen from then on.
func (s *Store) Rollup(ctx context.Context, now time.Time) (Retention, error) {
	var done Retention
	newest, ok, err := s.Newest(ctx)
	if err != nil {
		return done, fmt.Errorf("roll up: %w", err)
	}
	if !ok {
		return done, s.sweep(ctx)
	}
	for more := true; more; {
		more, err = s.rollupDays(ctx, now.UTC(), newest, &done)
		if err != nil {
			return done, fmt.Errorf("roll up: %w", err)
		}
	}
	if err := s.sweep(ctx); err != nil {
		return done, fmt.Errorf("roll up: %w", err)
	}
	return done, nil
}

// rollupDays closes up to daysPerUpdate days in one transaction, and prunes in
// it once none is left to close. It reports whether more are.
func (s *Store) rollupDays(ctx context.Context, now, newest time.Time, done *Retention) (more bool, err error) {
	var closed, pruned []time.Time
	var rows int64
	err = s.update(ctx, func(ctx context.Context, t *tx) error {
		next := t.state
		next.newest = later(next.newest, newest)
		next.clock = later(next.clock, earlier(now, newest.Add(clockLead)))
		target := midnight(next.clock.Add(-CloseGrace))
		days, err := s.list(kindRaw, later(next.floor, next.closed), target)
		if err != nil {
			return err
		}
		if more = len(days) > daysPerUpdate; more {
			days = days[:daysPerUpdate]
		}
		for _, name := range days {
			if err := t.closeDay(ctx, name.start, nil); err != nil {
				return err
			}
			closed = append(closed, name.start)
		}
		if more {
			next.closed = closed[len(closed)-1].Add(day)
		} else {
			next.closed = later(next.closed, target)
			if pruned, rows, err = t.prune(ctx, &next, maxAttached-2*len(days)); err != nil {
				return err
			}
		}
		// The newest sample and the clock alone are no reason to write: the
		// catalog changes once a day.
		if next.closed.Equal(t.state.closed) && next.floor.Equal(t.state.floor) {
			return nil
		}
		return t.setState(ctx, next)
	})
	if err != nil {
		return false, err
	}
	done.Clock = later(done.Clock, earlier(now, newest.Add(clockLead)))
	done.Closed = append(done.Closed, closed...)
	done.Pruned = append(done.Pruned, pruned...)
	done.Rows += rows
	return more, nil
}

// prune moves the floor over days older than RawRetention, at most pruneDays of
// them, and logs each. Their files go after the commit, in sweep.
func (t *tx) prune(ctx context.Context, next *state, slots int) (pruned []time.Time, rows int64, err error) {
	limit := earlier(midnight(next.clock.Add(-RawRetention)), next.closed)
	days, err := t.store.list(kindRaw, next.floor, limit)
	if err != nil {
		return nil, 0, err
	}
	for _, name := range days {
		if len(pruned) == pruneDays || slots < 2 {
			return pruned, rows, nil // the rest has time until the next run
		}
		slots -= 2
		n, err := t.provenRows(ctx, name)
		if err != nil {
			return nil, 0, fmt.Errorf("prune %s: %w", name.period(), err)
		}
		key := prunedKey(name.start)
		if _, err := t.ExecContext(ctx, `INSERT INTO main.meta VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value`, key, n); err != nil {
			return nil, 0, fmt.Errorf("log pruning of %s: %w", name.period(), err)
		}
		next.floor = name.start.Add(day)
		pruned = append(pruned, name.start)
		rows += n
	}
	next.floor = later(next.floor, limit)
	return pruned, rows, nil
}

// provenRows computes the buckets of a day one last time, and returns the number
// of its samples. It fails if the buckets, by day or by hour, do not count every
// one of them but the buffering probes, which have none.
func (t *tx) provenRows(ctx context.Context, name fileName) (int64, error) {
	if err := t.closeDay(ctx, name.start, nil); err != nil {
		return 0, err
	}
	raw, err := t.attach(ctx, name)
	if err != nil {
		return 0, err
	}
	month, err := t.attach(ctx, rollupFile(name.start))
	if err != nil {
		return 0, err
	}
	var rows, rolled, byHour, byDay int64
	err = t.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM `+raw+`.raw_samples),
		(SELECT count(*) FROM `+raw+`.raw_samples JOIN `+raw+`.series USING(series_id) WHERE NOT short),
		(SELECT coalesce(sum(samples), 0) FROM `+month+`.raw_hourly WHERE id >= ? AND id < ?),
		(SELECT coalesce(sum(samples), 0) FROM `+month+`.raw_daily WHERE id >= ? AND id < ?)`,
		bucketID(name.start, rollup.Hour, 0), bucketID(name.end(), rollup.Hour, 0),
		bucketID(name.start, rollup.Day, 0), bucketID(name.end(), rollup.Day, 0)).Scan(&rows, &rolled, &byHour, &byDay)
	if err != nil {
		return 0, err
	}
	if byHour != rolled || byDay != rolled {
		return 0, fmt.Errorf("%d samples, but its buckets count %d by hour and %d by day", rolled, byHour, byDay)
	}
	return rows, nil
}

// sweep removes day files below the floor, and what a crash left of files being
// made. It holds the write lock, so that nobody is making one.
func (s *Store) sweep(ctx context.Context) error {
	return s.update(ctx, func(ctx context.Context, t *tx) error {
		files, err := s.survey()
		if err != nil {
			return err
		}
		for _, name := range files {
			if name.kind != kindRaw || !t.state.frozen(name.start) {
				continue
			}
			if err := removeAll(s.path(name), s.path(name)+"-journal"); err != nil {
				return err
			}
		}
		for _, folder := range []string{".", "raw", "rollups"} {
			entries, err := os.ReadDir(filepath.Join(s.dir, folder))
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fileError(filepath.Join(s.dir, folder), err)
			}
			for _, e := range entries {
				if strings.Contains(e.Name(), makingMark) {
					if err := removeAll(filepath.Join(s.dir, folder, e.Name())); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// removeAll removes files that may be gone already.
func removeAll(paths ...string) error {
	for _, path := range paths {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fileError(path, err)
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}
