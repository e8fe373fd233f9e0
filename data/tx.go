package data

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// maxAttached is how many files one transaction may touch beside the catalog:
// SQLite's default limit.
const maxAttached = 10

// A tx is a transaction over the catalog and the files attached to it.
type tx struct {
	*sql.Conn
	store    *Store
	state    state
	names    names // of the catalog
	attached map[fileName]string
}

// update runs work in one transaction. It commits if work returns nil, and
// leaves every file as it was if not.
func (s *Store) update(ctx context.Context, work func(context.Context, *tx) error) (err error) {
	if s.opts.ReadOnly {
		return &FileError{Path: s.dir, Problem: ErrReadOnly}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return fileError(s.dir, err)
	}
	defer conn.Close()
	t := &tx{Conn: conn, store: s, attached: map[fileName]string{}}
	if _, err := conn.ExecContext(ctx, `BEGIN IMMEDIATE`); err != nil {
		return fileError(s.path(fileName{kind: kindCatalog}), err)
	}
	// The end of the transaction must not depend on ctx: it is what undoes a
	// transaction whose context was cancelled.
	end := context.WithoutCancel(ctx)
	defer func() {
		if err != nil {
			// It fails if SQLite has rolled back by itself, which is as well.
			conn.ExecContext(end, `ROLLBACK`)
		}
		for name, schema := range t.attached {
			if _, detachErr := conn.ExecContext(end, `DETACH `+schema); detachErr != nil {
				err = errors.Join(err, fmt.Errorf("detach %s: %w", name.relative(), detachErr))
			}
		}
	}()
	if t.state, err = readState(ctx, conn); err != nil {
		return err
	}
	if t.names, err = readNames(ctx, conn, "main"); err != nil {
		return err
	}
	if err := work(ctx, t); err != nil {
		return recognized(s.dir, err)
	}
	if err := t.spreadNames(ctx); err != nil {
		return recognized(s.dir, err)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if _, err := conn.ExecContext(end, `COMMIT`); err != nil {
		return fileError(s.dir, fmt.Errorf("commit: %w", err))
	}
	return nil
}

// attach attaches a file, which is made first if it does not exist, and returns
// the name of its schema. A damaged file is refused.
func (t *tx) attach(ctx context.Context, name fileName) (schema string, err error) {
	if schema, ok := t.attached[name]; ok {
		return schema, nil
	}
	path := t.store.path(name)
	if err := t.store.create(ctx, name, nil); err != nil {
		return "", err
	}
	db, err := t.store.open(ctx, name)
	if err != nil {
		return "", err
	}
	if err := db.Close(); err != nil {
		return "", fileError(path, err)
	}
	schema = string(name.kind) + "_" + strings.ReplaceAll(name.period(), "-", "_")
	if _, err := t.ExecContext(ctx, `ATTACH ? AS `+schema, path); err != nil {
		return "", fileError(path, err)
	}
	t.attached[name] = schema
	if err := quickCheck(ctx, t.Conn, schema); err != nil {
		return "", &FileError{Path: path, Problem: ErrCorrupt, Err: err}
	}
	return schema, nil
}

// quickCheck returns what SQLite finds wrong in a database.
func quickCheck(ctx context.Context, q querier, schema string) error {
	var verdict string
	if err := q.QueryRowContext(ctx, `PRAGMA `+schema+`.quick_check(1)`).Scan(&verdict); err != nil {
		return err
	}
	if verdict != "ok" {
		return errors.New(verdict)
	}
	return nil
}

// spreadNames copies the catalog's names to the attached files, so that each
// file opens by itself. A file that uses an id for another name is refused.
func (t *tx) spreadNames(ctx context.Context) error {
	for name, schema := range t.attached {
		for _, table := range []string{"series", "envs"} {
			_, err := t.ExecContext(ctx, `INSERT OR IGNORE INTO `+schema+`.`+table+` SELECT * FROM main.`+table)
			if err != nil {
				return recognized(t.store.path(name), fmt.Errorf("copy %s to %s: %w", table, name.relative(), err))
			}
			var lacking int
			err = t.QueryRowContext(ctx, `SELECT count(*) FROM (SELECT * FROM main.`+table+` EXCEPT SELECT * FROM `+schema+`.`+table+`)`).Scan(&lacking)
			if err != nil {
				return fmt.Errorf("compare %s of %s: %w", table, name.relative(), err)
			}
			if lacking > 0 {
				return &FileError{
					Path: t.store.path(name), Problem: ErrForeign,
					Err: fmt.Errorf("%d ids in its table %s mean something else in the catalog", lacking, table),
				}
			}
		}
	}
	return nil
}

// setState writes the watermarks that changed.
func (t *tx) setState(ctx context.Context, next state) error {
	before := t.state.fields()
	for key, at := range next.fields() {
		if at.Equal(*before[key]) {
			continue
		}
		_, err := t.ExecContext(ctx, `INSERT INTO main.meta VALUES(?, ?) ON CONFLICT(key) DO UPDATE SET value = excluded.value`, key, at.UnixMilli())
		if err != nil {
			return fmt.Errorf("set watermark %s: %w", key, err)
		}
	}
	t.state = next
	return nil
}
