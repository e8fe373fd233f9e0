package data

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// Why a pair cannot be renamed. A [*RenameError] wraps one of them.
var (
	// ErrUnknownPair means that nothing was ever measured of either pair.
	ErrUnknownPair = errors.New("nothing was measured of it")
	// ErrOverlap means that both pairs were measured in the same hours, so that
	// they may be two things and not one under two names.
	ErrOverlap = errors.New("both were measured in the same hours")
	// ErrFrozen means that both pairs have summaries of one day whose samples
	// are gone. Percentiles cannot be added up.
	ErrFrozen = errors.New("both have summaries of a day whose samples are gone")
	// ErrSameInstant means that both pairs have a sample of one millisecond,
	// of which only one could be kept.
	ErrSameInstant = errors.New("both have a sample of the same millisecond")
)

// A RenameError says which pairs could not be made one, and since when.
type RenameError struct {
	From, To bench.Pair
	At       time.Time // where the problem begins; zero if it is nowhere
	Problem  error
}

// Error names the pairs and the problem.
func (e *RenameError) Error() string {
	if e.At.IsZero() {
		return fmt.Sprintf("rename %s to %s: %v", e.From, e.To, e.Problem)
	}
	return fmt.Sprintf("rename %s to %s: %v: %s", e.From, e.To, e.Problem, e.At.UTC().Format("2006-01-02 15:04 UTC"))
}

// Unwrap returns the problem.
func (e *RenameError) Unwrap() error { return e.Problem }

// A Renaming says what came of [Store.Rename].
type Renaming struct {
	Series  int       // vantages and nonces of the pair that were renamed; 0 if that was done before
	Samples int       // raw samples that have the new name now
	Days    int       // frozen days of a series that have it
	Last    time.Time // the last sample or hour under the old name
}

// Rename gives all that was measured of one pair the name of another: the
// provider changed the id of a model, or we that of a provider. What was
// measured under the new name already is continued backwards. The old name stays
// in the catalog, without rows, and [rollup.EventNote] says since when.
//
// Pairs that were measured in the same hours are refused unless join is set,
// which says that they are one. What would lose anything is always refused: see
// [RenameError]. Doing it again changes nothing. An error, or a crash, leaves a
// sound record, in which some samples may have both names, and renaming again
// completes it.
func (s *Store) Rename(ctx context.Context, from, to bench.Pair, join bool, now time.Time) (Renaming, error) {
	done, err := s.rename(ctx, &renamer{store: s, from: from, to: to, join: join, now: now})
	var told *RenameError
	if err != nil && !errors.As(err, &told) {
		err = fmt.Errorf("rename %s: %w", from, err)
	}
	return done, err
}

func (s *Store) rename(ctx context.Context, r *renamer) (Renaming, error) {
	if s.opts.ReadOnly {
		return Renaming{}, &FileError{Path: s.dir, Problem: ErrReadOnly}
	}
	if !validName(r.to.Provider) || !validName(r.to.Model) || r.to.Provider == "" || r.to.Model == "" || r.from == r.to {
		return Renaming{}, fmt.Errorf("to %q: no other name", r.to.String())
	}
	if err := r.survey(ctx); err != nil {
		return Renaming{}, err
	}
	begun, err := r.begun(ctx)
	switch {
	case err != nil:
		return Renaming{}, err
	case len(r.old) == 0 && !begun && len(r.new) == 0:
		return Renaming{}, r.refuse(ErrUnknownPair, time.Time{})
	case len(r.old) == 0 && !begun:
		return Renaming{}, nil
	case !begun: // else some samples have both names, and were judged before
		if err := r.judge(ctx); err != nil {
			return Renaming{}, err
		}
	}
	dir, err := os.MkdirTemp("", "streamgauge-rename-")
	if err != nil {
		return Renaming{}, err
	}
	defer os.RemoveAll(dir)
	copied, err := Open(ctx, dir, Options{Create: true})
	if err != nil {
		return Renaming{}, err
	}
	defer copied.Close()
	if err := r.copyInto(ctx, copied); err != nil {
		return Renaming{}, err
	}
	if err := r.mark(ctx, `INSERT OR REPLACE INTO main.meta VALUES('renaming', ?)`); err != nil {
		return Renaming{}, err
	}
	// Under both names for a moment, rather than under none.
	if _, err := s.Merge(ctx, copied); err != nil {
		return Renaming{}, err
	}
	if err := r.dropOld(ctx); err != nil {
		return Renaming{}, err
	}
	var events []rollup.Event
	for series := range r.old {
		events = append(events, rollup.RenamedEvent(r.renamed(series), r.from, midnight(r.now)))
	}
	slices.SortFunc(events, func(a, b rollup.Event) int { return strings.Compare(a.ID, b.ID) })
	if _, err := s.AddEvents(events); err != nil {
		return Renaming{}, err
	}
	return r.done, r.mark(ctx, `DELETE FROM main.meta WHERE key = 'renaming' AND value = ?`)
}

// label names the renaming in the catalog's meta while it is under way.
func (r *renamer) label() string { return r.from.String() + " to " + r.to.String() }

// mark notes in the catalog that the renaming is under way, or over.
func (r *renamer) mark(ctx context.Context, statement string) error {
	return r.store.update(ctx, func(ctx context.Context, t *tx) error {
		_, err := t.ExecContext(ctx, statement, r.label())
		return err
	})
}

// begun reports whether this renaming was begun and not ended. Another one in
// that state is an error.
func (r *renamer) begun(ctx context.Context) (bool, error) {
	var label string
	err := r.store.db.QueryRowContext(ctx, `SELECT value FROM main.meta WHERE key = 'renaming'`).Scan(&label)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, err
	case label != r.label():
		return false, fmt.Errorf("renaming %s was interrupted: rename that again first", label)
	}
	return true, nil
}

// A renamer is a renaming under way.
type renamer struct {
	store    *Store
	from, to bench.Pair
	join     bool
	now      time.Time
	state    state
	old, new map[bench.Series]*stretch // what there is of either
	done     Renaming
}

// A stretch is when a series was measured.
type stretch struct {
	first, last time.Time          // hours
	frozen      map[time.Time]bool // days without samples
}

func (r *renamer) refuse(problem error, at time.Time) error {
	return &RenameError{From: r.from, To: r.to, At: at, Problem: problem}
}

// renamed returns a series under its new name.
func (r *renamer) renamed(s bench.Series) bench.Series {
	s.Pair = r.to
	return s
}

// survey finds out when either pair was measured.
func (r *renamer) survey(ctx context.Context) (err error) {
	if r.state, err = readState(ctx, r.store.db); err != nil {
		return err
	}
	r.old, r.new = map[bench.Series]*stretch{}, map[bench.Series]*stretch{}
	for b, err := range r.store.Hourly(ctx, time.Unix(0, 0), farFuture()) {
		if err != nil {
			return err
		}
		list := r.old
		switch b.Series.Pair {
		case r.from:
			r.done.Last = later(r.done.Last, b.Start)
		case r.to:
			list = r.new
		default:
			continue
		}
		st := list[b.Series]
		if st == nil {
			st = &stretch{first: b.Start, frozen: map[time.Time]bool{}}
			list[b.Series] = st
		}
		st.first, st.last = earlier(st.first, b.Start), later(st.last, b.Start)
		if r.state.frozen(b.Start) {
			st.frozen[midnight(b.Start)] = true
		}
	}
	r.done.Series = len(r.old)
	return nil
}

// judge refuses what would mix two pairs, or lose something.
func (r *renamer) judge(ctx context.Context) error {
	for series, old := range r.old {
		own := r.new[r.renamed(series)]
		if own == nil {
			continue
		}
		for _, day := range slices.SortedFunc(maps.Keys(old.frozen), time.Time.Compare) {
			if own.frozen[day] {
				return r.refuse(ErrFrozen, day)
			}
		}
		if overlap := later(old.first, own.first); !r.join && !overlap.After(old.last) && !overlap.After(own.last) {
			return r.refuse(ErrOverlap, overlap)
		}
	}
	type instant struct {
		series bench.Series
		ms     int64
	}
	taken := map[instant]bool{}
	for sample, err := range r.store.Samples(ctx, r.state.floor, farFuture()) {
		if err != nil {
			return err
		}
		series := sample.Series()
		if series.Pair != r.from && series.Pair != r.to {
			continue
		}
		at := instant{r.renamed(series), sample.StartedAt.UnixMilli()}
		if taken[at] {
			return r.refuse(ErrSameInstant, sample.StartedAt)
		}
		taken[at] = true
	}
	return nil
}

// copyInto writes all that there is of the old pair into an empty record, under
// the new name.
func (r *renamer) copyInto(ctx context.Context, copied *Store) error {
	if err := copied.update(ctx, func(ctx context.Context, t *tx) error { return t.setState(ctx, r.state) }); err != nil {
		return err
	}
	raw, err := r.store.rawFiles(ctx, r.state.floor, farFuture())
	if err != nil {
		return err
	}
	for _, name := range raw {
		var samples []bench.Sample
		for sample, err := range r.store.Samples(ctx, name.start, name.end()) {
			if err != nil {
				return err
			}
			if sample.Pair == r.from {
				sample.Pair = r.to
				samples = append(samples, sample)
			}
		}
		if _, err := copied.take(ctx, intake{now: farFuture(), allowJump: true}, samples); err != nil {
			return err
		}
		r.done.Samples += len(samples)
	}
	months, err := r.store.list(kindRollup, time.Unix(0, 0), r.state.floor)
	if err != nil {
		return err
	}
	for _, month := range months {
		days, err := r.store.days(ctx, month.start, earlier(month.end(), r.state.floor))
		if err != nil {
			return err
		}
		mine := map[seriesDayKey]*seriesDay{}
		for key, day := range days {
			if key.series.Pair != r.from {
				continue
			}
			for _, buckets := range [][]rollup.Bucket{day.rows, day.hours} {
				for i := range buckets {
					buckets[i].Series = r.renamed(buckets[i].Series)
				}
			}
			mine[seriesDayKey{r.renamed(key.series), key.day}] = day
		}
		if len(mine) == 0 {
			continue
		}
		r.done.Days += len(mine)
		if err := copied.update(ctx, func(ctx context.Context, t *tx) error { return t.putDays(ctx, month, mine, nil) }); err != nil {
			return err
		}
	}
	return nil
}

// dropOld removes the rows of the old name, file by file.
func (r *renamer) dropOld(ctx context.Context) error {
	files, err := r.store.survey()
	if err != nil {
		return err
	}
	pruned, err := r.store.prunedDays(ctx)
	if err != nil {
		return err
	}
	logged := map[time.Time]map[time.Time]bool{} // by month
	for _, day := range pruned {
		month := rollupFile(day).start
		if logged[month] == nil {
			logged[month] = map[time.Time]bool{}
		}
		logged[month][day] = true
	}
	for _, name := range files {
		if name.kind == kindCatalog || name.kind == kindRaw && r.state.frozen(name.start) {
			continue
		}
		err := r.store.update(ctx, func(ctx context.Context, t *tx) error {
			schema, err := t.attach(ctx, name)
			if err != nil {
				return err
			}
			for series := range r.old {
				id, ok := t.names.series.ids[series]
				if !ok {
					continue
				}
				for _, table := range []string{"raw_samples", "replies", "raw_hourly", "raw_daily"} {
					if _, err := t.ExecContext(ctx, `DELETE FROM `+schema+`.`+table+` WHERE series_id = ?`, id); err != nil {
						return fileError(r.store.path(name), err)
					}
				}
			}
			if name.kind != kindRollup {
				return nil
			}
			// While there were two names, the log counted twice.
			return t.putDays(ctx, name, nil, logged[name.start])
		})
		if err != nil {
			return err
		}
	}
	return nil
}
