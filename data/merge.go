package data

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// A Merged says what [Store.Merge] took over.
type Merged struct {
	Report     // what became of the other record's samples
	Frozen int // summaries of days and series whose raw samples are gone
	Events int // events
}

// Merge takes over what another record holds: a fork's, or another vantage's.
// Series are matched by name. Merging again, or in another order, changes
// nothing, and the result is what one writer of all samples would have.
//
// That holds for every day of which both records still have the raw samples.
// The floor of the result is the later one of the two; of a day below it, the
// summaries of one series cannot be added up, so those that count more samples
// are kept. Two samples of one series and millisecond are settled as
// [Store.Ingest] settles them. An error leaves a sound record, and merging again
// completes it.
func (s *Store) Merge(ctx context.Context, from *Store) (Merged, error) {
	var m Merged
	if s.opts.ReadOnly {
		return m, fmt.Errorf("merge: %w", &FileError{Path: s.dir, Problem: ErrReadOnly})
	}
	if s.dir == from.dir {
		return m, nil
	}
	theirs, err := readState(ctx, from.db)
	if err != nil {
		return m, fmt.Errorf("merge %s: %w", from.dir, err)
	}
	own, err := readState(ctx, s.db)
	if err != nil {
		return m, fmt.Errorf("merge %s: %w", from.dir, err)
	}
	g := &merger{into: s, from: from, done: &m, own: own, next: state{
		clock: later(own.clock, theirs.clock), closed: later(own.closed, theirs.closed),
		floor: later(own.floor, theirs.floor), newest: later(own.newest, theirs.newest),
	}}
	for _, step := range []func(context.Context) error{g.samples, g.freeze, g.frozen, g.close, s.sweep, g.beside} {
		if err := step(ctx); err != nil {
			return m, fmt.Errorf("merge %s: %w", from.dir, err)
		}
	}
	return m, nil
}

// A merger is a merge under way.
type merger struct {
	into, from *Store
	done       *Merged
	own, next  state // before and after
}

// samples ingests the other record's raw samples from the common floor on.
func (g *merger) samples(ctx context.Context) error {
	days, err := g.from.list(kindRaw, g.next.floor, farFuture())
	if err != nil {
		return err
	}
	for _, name := range days {
		samples, err := g.fresh(ctx, name)
		if err != nil {
			return err
		}
		if len(samples) == 0 {
			continue
		}
		// They passed the clock of the record that took them.
		report, err := g.into.take(ctx, intake{now: farFuture(), allowJump: true}, samples)
		g.done.Report.add(report)
		if err != nil {
			return err
		}
	}
	return nil
}

// fresh returns the other record's samples of a day that are not in ours just
// so. A day that has none is not opened for writing, which would bring it names
// that it does not need.
func (g *merger) fresh(ctx context.Context, name fileName) ([]bench.Sample, error) {
	have := map[string]bool{}
	for sample, err := range g.into.Samples(ctx, name.start, name.end()) {
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(sample)
		if err != nil {
			return nil, err
		}
		have[string(text)] = true
	}
	var samples []bench.Sample
	for sample, err := range g.from.Samples(ctx, name.start, name.end()) {
		if err != nil {
			return nil, err
		}
		text, err := json.Marshal(sample)
		if err != nil {
			return nil, err
		}
		if have[string(text)] {
			g.done.Samples++
			g.done.Known++
			continue
		}
		samples = append(samples, sample)
	}
	return samples, nil
}

// freeze computes the summaries of our own days that will have no raw samples
// any more.
func (g *merger) freeze(ctx context.Context) error {
	return g.closeDays(ctx, g.own.floor, g.next.floor, nil)
}

// close closes the days that the other record has closed, and moves the
// watermarks.
func (g *merger) close(ctx context.Context) error {
	return g.closeDays(ctx, later(g.own.closed, g.next.floor), g.next.closed, func(t *tx) error {
		return t.setState(ctx, g.next)
	})
}

// closeDays closes the days of [from, to), a few in a transaction. last, which
// may be nil, is done in the last one.
func (g *merger) closeDays(ctx context.Context, from, to time.Time, last func(*tx) error) error {
	days, err := g.into.list(kindRaw, from, to)
	if err != nil {
		return err
	}
	for more := len(days) > 0 || last != nil; more; {
		batch := days[:min(daysPerUpdate, len(days))]
		days = days[len(batch):]
		more = len(days) > 0
		err := g.into.update(ctx, func(ctx context.Context, t *tx) error {
			for _, name := range batch {
				if err := t.closeDay(ctx, name.start, nil); err != nil {
					return err
				}
			}
			if more || last == nil {
				return nil
			}
			return last(t)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// frozen takes over summaries of days below the common floor, month by month.
func (g *merger) frozen(ctx context.Context) error {
	seen := map[time.Time]bool{}
	for _, kind := range []kind{kindRollup, kindRaw} {
		files, err := g.from.list(kind, time.Unix(0, 0), g.next.floor)
		if err != nil {
			return err
		}
		for _, name := range files {
			month := rollupFile(name.start)
			if seen[month.start] {
				continue
			}
			seen[month.start] = true
			if err := g.frozenMonth(ctx, month); err != nil {
				return fmt.Errorf("month %s: %w", month.period(), err)
			}
		}
	}
	return nil
}

// A seriesDay is what is kept of one series and day below the floor.
type seriesDay struct{ rows, hours []rollup.Bucket }

// samples counts runs.
func (d *seriesDay) samples() (n int) {
	for _, b := range d.rows {
		n += b.Samples
	}
	return n
}

type seriesDayKey struct {
	series bench.Series
	day    time.Time
}

// days reads the summaries of [from, to) by series and day.
func (s *Store) days(ctx context.Context, from, to time.Time) (map[seriesDayKey]*seriesDay, error) {
	days := map[seriesDayKey]*seriesDay{}
	for _, width := range []time.Duration{rollup.Day, rollup.Hour} {
		for b, err := range s.buckets(ctx, width, from, to) {
			if err != nil {
				return nil, err
			}
			key := seriesDayKey{b.Series, midnight(b.Start)}
			if days[key] == nil {
				days[key] = &seriesDay{}
			}
			if width == rollup.Day {
				days[key].rows = append(days[key].rows, b)
			} else {
				days[key].hours = append(days[key].hours, b)
			}
		}
	}
	return days, nil
}

// frozenMonth takes over the summaries of one month, as far as it lies below the
// common floor.
func (g *merger) frozenMonth(ctx context.Context, month fileName) error {
	to := earlier(month.end(), g.next.floor)
	theirs, err := g.from.days(ctx, month.start, to)
	if err != nil {
		return err
	}
	ours, err := g.into.days(ctx, month.start, to)
	if err != nil {
		return err
	}
	for key, day := range theirs {
		keep, err := prefer(ours[key], day)
		if err != nil {
			return err
		}
		if keep != day {
			delete(theirs, key)
		}
	}
	logged := map[time.Time]bool{}
	for _, s := range []*Store{g.from, g.into} {
		raw, err := s.list(kindRaw, month.start, to)
		if err != nil {
			return err
		}
		for _, name := range raw {
			logged[name.start] = true
		}
		pruned, err := s.prunedDays(ctx)
		if err != nil {
			return err
		}
		for _, d := range pruned {
			if !d.Before(month.start) && d.Before(to) {
				logged[d] = true
			}
		}
	}
	already, err := g.into.prunedDays(ctx)
	if err != nil {
		return err
	}
	for _, d := range already {
		if d.Before(g.own.floor) && len(theirs) == 0 {
			delete(logged, d)
		}
	}
	if len(theirs) == 0 && len(logged) == 0 {
		return nil
	}
	g.done.Frozen += len(theirs)
	return g.into.update(ctx, func(ctx context.Context, t *tx) error {
		return t.putDays(ctx, month, theirs, logged)
	})
}

// prefer returns which of two summaries of one series and day is kept: that of
// more samples, of as many the one whose text is less. ours may be nil.
func prefer(ours, theirs *seriesDay) (*seriesDay, error) {
	if ours == nil || ours.samples() < theirs.samples() {
		return theirs, nil
	}
	if ours.samples() > theirs.samples() {
		return ours, nil
	}
	text := func(d *seriesDay) (string, error) {
		var b strings.Builder
		for _, bucket := range slices.Concat(d.rows, d.hours) {
			r, err := encodeBucket(&bucket, 0)
			if err != nil {
				return "", err
			}
			fmt.Fprintf(&b, "%+v\n", r)
		}
		return b.String(), nil
	}
	a, err := text(ours)
	if err != nil {
		return nil, err
	}
	b, err := text(theirs)
	if err != nil {
		return nil, err
	}
	if b < a {
		return theirs, nil
	}
	return ours, nil
}

// putDays writes summaries of a month in place of those that are there, and
// logs how many samples the days that lost their raw samples had.
func (t *tx) putDays(ctx context.Context, month fileName, days map[seriesDayKey]*seriesDay, logged map[time.Time]bool) error {
	schema, err := t.attach(ctx, month)
	if err != nil {
		return err
	}
	keys := slices.SortedFunc(func(yield func(seriesDayKey) bool) {
		for key := range days {
			if !yield(key) {
				return
			}
		}
	}, func(a, b seriesDayKey) int {
		if c := a.day.Compare(b.day); c != 0 {
			return c
		}
		return compareSeries(a.series, b.series)
	})
	for _, key := range keys {
		id, err := t.seriesID(ctx, key.series)
		if err != nil {
			return err
		}
		_, err = t.ExecContext(ctx, `DELETE FROM `+schema+`.raw_hourly WHERE id >= ? AND id < ? AND series_id = ?`,
			bucketID(key.day, rollup.Hour, 0), bucketID(key.day.Add(day), rollup.Hour, 0), id)
		if err != nil {
			return err
		}
		for width, buckets := range map[time.Duration][]rollup.Bucket{rollup.Day: days[key].rows, rollup.Hour: days[key].hours} {
			named := make([]bucketOf, len(buckets))
			for i, b := range buckets {
				named[i] = bucketOf{id, b}
			}
			if err := t.upsert(ctx, schema, width, named); err != nil {
				return err
			}
		}
	}
	for d := range logged {
		_, err := t.ExecContext(ctx, `INSERT INTO main.meta SELECT ?, coalesce(sum(samples), 0) FROM `+schema+`.raw_daily WHERE id >= ? AND id < ?
			ON CONFLICT(key) DO UPDATE SET value = excluded.value WHERE value <> excluded.value`,
			prunedKey(d), bucketID(d, rollup.Day, 0), bucketID(d.Add(day), rollup.Day, 0))
		if err != nil {
			return fmt.Errorf("log pruning of %s: %w", d.Format(time.DateOnly), err)
		}
	}
	return nil
}

// prunedKey is the entry in meta that says how many samples were dropped with a
// day.
func prunedKey(d time.Time) string { return "pruned " + d.Format(time.DateOnly) }

// prunedDays returns the days whose raw samples were dropped.
func (s *Store) prunedDays(ctx context.Context) ([]time.Time, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT key FROM meta WHERE key LIKE 'pruned %'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var days []time.Time
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		d, err := time.Parse(time.DateOnly, strings.TrimPrefix(key, "pruned "))
		if err != nil {
			return nil, err
		}
		days = append(days, d)
	}
	return days, rows.Err()
}

// beside takes over what lies beside the databases: events, and samples that
// were put aside.
func (g *merger) beside(context.Context) error {
	events, err := g.from.Events()
	if err != nil {
		return err
	}
	if g.done.Events, err = g.into.AddEvents(events); err != nil {
		return err
	}
	for _, reason := range []Reason{Future, Jumped, TooOld, Conflict, Invalid} {
		content, err := os.ReadFile(filepath.Join(g.from.dir, "quarantine", string(reason)+".ndjson"))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		folder := filepath.Join(g.into.dir, "quarantine")
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return fileError(folder, err)
		}
		lines := slices.DeleteFunc(bytes.SplitAfter(content, []byte("\n")), func(line []byte) bool { return !bytes.HasSuffix(line, []byte("\n")) })
		if err := appendNew(filepath.Join(folder, string(reason)+".ndjson"), lines); err != nil {
			return err
		}
	}
	return nil
}
