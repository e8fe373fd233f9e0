package data

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// takenMark begins the entries in meta that name journals that were taken. Their
// values are days.
//
// Note: a file of its own for these names would be one more object in every push,
// and a full copy of fifteen days of names now and then: three times as much as
// an entry in the file that changes anyway.
const takenMark = "taken "

// NoteTaken notes names of journals as taken on the day of at, in the newest day
// file. It notes nothing in a record that has none: there, nothing was taken.
func (s *Store) NoteTaken(ctx context.Context, at time.Time, names []string) error {
	if len(names) == 0 {
		return nil
	}
	err := s.update(ctx, func(ctx context.Context, t *tx) error {
		days, err := s.list(kindRaw, t.state.floor, farFuture())
		if err != nil || len(days) == 0 {
			return err
		}
		schema, err := t.attach(ctx, days[len(days)-1])
		if err != nil {
			return err
		}
		for _, name := range slices.Sorted(slices.Values(names)) {
			_, err := t.ExecContext(ctx, `INSERT OR IGNORE INTO `+schema+`.meta VALUES(?, ?)`, takenMark+name, at.UTC().Format(time.DateOnly))
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("note journals as taken: %w", err)
	}
	return nil
}

// Taken returns the journals that were noted in day files of since and later,
// and the day of the note.
func (s *Store) Taken(ctx context.Context, since time.Time) (map[string]time.Time, error) {
	days, err := s.list(kindRaw, since, farFuture())
	if err != nil {
		return nil, fmt.Errorf("read which journals were taken: %w", err)
	}
	taken := map[string]time.Time{}
	for _, name := range days {
		if err := s.taken(ctx, name, taken); err != nil {
			return nil, fmt.Errorf("read which journals were taken: %w", err)
		}
	}
	return taken, nil
}

// taken adds what one day file notes.
func (s *Store) taken(ctx context.Context, name fileName, taken map[string]time.Time) error {
	db, err := s.open(ctx, name)
	if err != nil {
		return err
	}
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT key, value FROM meta WHERE key >= ? AND key < ?`, takenMark, strings.TrimSuffix(takenMark, " ")+"!")
	if err != nil {
		return fileError(s.path(name), err)
	}
	defer rows.Close()
	for rows.Next() {
		var key, day string
		if err := rows.Scan(&key, &day); err != nil {
			return fileError(s.path(name), err)
		}
		at, err := time.Parse(time.DateOnly, day)
		if err != nil {
			return &FileError{Path: s.path(name), Problem: ErrForeign, Err: err}
		}
		taken[strings.TrimPrefix(key, takenMark)] = at
	}
	return rows.Err()
}
