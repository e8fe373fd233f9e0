// Package data keeps the record: every sample of the last 60 days, and hourly
// and daily rollups for ever, in text-free SQLite files small enough for git.
//
//		DIR/catalog.sqlite             ids of series and conditions, watermarks
//		DIR/raw/2026-01-31.sqlite      the samples of one UTC day
//		DIR/rollups/2026-01-16.sqlite  the hourly and daily buckets of half a month
//		DIR/traces/, DIR/quarantine/   beside the record: see [Store.PutTrace], [Reason]
//
//	  - [Journal] takes each sample as soon as it is measured, one JSON line
//	    flushed at a time, so that a killed run loses nothing it had measured.
//	  - [Store.Ingest] puts samples into their day files. A sample's id is its
//	    time and series, so ingesting twice, or in another order, changes nothing.
//	  - [Store.Rollup] closes whole UTC days: it computes their buckets from the
//	    raw samples, and drops raw days older than [RawRetention] afterwards.
//	  - [Store.Samples], [Store.Hourly] and [Store.Daily] read the record;
//	    buckets of a day not closed yet are computed from its samples.
//	  - [Store.Check] judges the record before it is committed to git.
//	  - [Store.Assemble] makes the one file that is offered for download.
//
// Note: git servers keep a full copy of a file that is rewritten again and
// again. That is why a run writes today's small file only, a half month's once
// a day, and the catalog when a series is new or a day closes.
//
// # Writing
//
// All writes go through one connection whose main database is the catalog; the
// day and half-month files concerned are attached to it. SQLite commits rollback
// journals of several files atomically through a super-journal, provided that
// the main database is a file, so a transaction over a day, its half month and the
// catalog happens wholly or not at all, whatever kills the process. The
// catalog's write lock, taken by BEGIN IMMEDIATE, makes writers take turns,
// across processes too. A super-journal names files by absolute path: after a
// crash, open the record once before moving it elsewhere.
//
// Files are made complete under another name and linked into place, so none
// ever exists half made. A day file is removed only after the transaction that
// froze its buckets; one left behind by a crash lies below the floor, is
// ignored, and goes at the next rollup.
package data

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"
)

// The times that rule the record. They are printed on the methodology page.
const (
	RawRetention = 60 * day         // raw samples are kept so long, in whole UTC days
	MaxAhead     = 5 * time.Minute  // a sample further ahead of the clock is quarantined
	MaxJump      = 180 * day        // so is one further ahead of all samples before it
	CloseGrace   = 30 * time.Minute // a day is closed so long after its midnight
	pruneDays    = 2                // a rollup drops at most so many raw days
	clockLead    = time.Hour        // the record's clock runs at most so far ahead of its samples

	day = 24 * time.Hour
)

// Options say how to open a record.
type Options struct {
	ReadOnly bool // change nothing, not even to finish what a crash left
	Create   bool // begin a new record if the directory is missing or empty

	// AllowJump lets Ingest take samples that lie more than MaxJump after all
	// before them: the record rested so long, and the clock is known to be right.
	AllowJump bool
}

// A Store is an open record. It is safe for concurrent use, and other processes
// may use the same record.
type Store struct {
	dir  string
	opts Options
	mu   sync.Mutex // held while writing: the writer has one connection
	db   *sql.DB    // on the catalog
}

// Open opens the record in dir. What a killed process left half done is undone
// first.
//
// It refuses, with a [*FileError], a directory with anything in it that is not
// a sound file of this schema: a damaged record must never pass for an empty
// one. A directory that is missing or empty is [ErrNoRecord] unless
// opts.Create is set.
func Open(ctx context.Context, dir string, opts Options) (*Store, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("open record: %w", err)
	}
	s := &Store{dir: abs, opts: opts}
	files, err := s.survey()
	if err != nil {
		return nil, fmt.Errorf("open record: %w", err)
	}
	if len(files) == 0 {
		if !opts.Create || opts.ReadOnly {
			return nil, fmt.Errorf("open record: %w", &FileError{Path: s.dir, Problem: ErrNoRecord})
		}
		if err := s.create(ctx, fileName{kind: kindCatalog}, fillDictionary); err != nil {
			return nil, fmt.Errorf("create record: %w", err)
		}
		files = []fileName{{kind: kindCatalog}}
	}
	if files[0].kind != kindCatalog {
		return nil, fmt.Errorf("open record: %w", &FileError{Path: s.path(fileName{kind: kindCatalog}), Problem: ErrNoCatalog})
	}
	for _, name := range files {
		db, err := s.open(ctx, name)
		switch {
		case err == nil && name.kind == kindCatalog:
			s.db = db
			continue
		case err == nil:
			err = db.Close()
		}
		if err != nil {
			if s.db != nil {
				s.db.Close()
			}
			return nil, fmt.Errorf("open record: %w", err)
		}
	}
	return s, nil
}

// Close closes the record.
func (s *Store) Close() error { return s.db.Close() }

// Dir returns the record's directory.
func (s *Store) Dir() string { return s.dir }

// A state is the record's watermarks, kept in the catalog's meta.
type state struct {
	clock  time.Time // the record's own time; never runs backwards, nor ahead of its samples
	closed time.Time // a midnight: days before it have their buckets
	floor  time.Time // a midnight: raw days before it are gone, and their buckets frozen
	newest time.Time // of all samples, as of the last rollup
}

// stateKeys are the names of the watermarks in meta, Unix milliseconds each.
func (st *state) fields() map[string]*time.Time {
	return map[string]*time.Time{
		"clock_ms": &st.clock, "closed_ms": &st.closed, "floor_ms": &st.floor, "newest_ms": &st.newest,
	}
}

// a querier is what both a connection and a pool can do.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// readState reads the watermarks. One that was never set is the zero time.
func readState(ctx context.Context, q querier) (state, error) {
	var st state
	for key, at := range st.fields() {
		var ms int64
		err := q.QueryRowContext(ctx, `SELECT value FROM main.meta WHERE key = ?`, key).Scan(&ms)
		if errors.Is(err, sql.ErrNoRows) {
			continue
		}
		if err != nil {
			return state{}, fmt.Errorf("read watermark %s: %w", key, err)
		}
		*at = time.UnixMilli(ms).UTC()
	}
	return st, nil
}

// frozen reports whether the buckets of the day that t lies in may no longer
// change, as its samples are gone.
func (st state) frozen(t time.Time) bool { return t.Before(st.floor) }

// midnight returns the beginning of the UTC day that t lies in.
func midnight(t time.Time) time.Time { return t.UTC().Truncate(day) }
