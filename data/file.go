package data

import (
	"context"
	"database/sql"
	"database/sql/driver"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-sqlite3"
)

// What SQLite's header says of a file of ours.
const (
	ApplicationID = 0x53474147 // "SGAG"
	SchemaVersion = 3

	pageSize = 8192
)

//go:embed schema.sql
var schema string

// What can be wrong with a file. A [*FileError] wraps one of them.
var (
	ErrNoRecord  = errors.New("no record here")
	ErrVanished  = errors.New("missing, though the summaries of its day say that it held samples")
	ErrNoCatalog = errors.New("the catalog is missing beside other files of the record")
	ErrEmpty     = errors.New("empty file: not a database, though a file of the record should be here")
	ErrCorrupt   = errors.New("damaged database")
	ErrForeign   = errors.New("not a file of this record")
	ErrNewer     = errors.New("written by a newer version of this program")
	ErrLayout    = errors.New("written with another layout of its tables, before the first release: begin a new record")
	ErrWAL       = errors.New("write-ahead log in use: the file alone is not the data")
	ErrHot       = errors.New("a killed process left a journal: open the record for writing once")
	ErrLocked    = errors.New("locked by another process")
	ErrReadOnly  = errors.New("cannot be written")
	ErrFull      = errors.New("no space left")
)

// A FileError says which file is at fault and how. It wraps one of this
// package's sentinels and, where there is one, the underlying error.
type FileError struct {
	Path    string
	Problem error
	Err     error // may be nil
}

// Error names the file, the problem and its cause.
func (e *FileError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("%s: %v", e.Path, e.Problem)
	}
	return fmt.Sprintf("%s: %v: %v", e.Path, e.Problem, e.Err)
}

// Unwrap returns the problem and its cause.
func (e *FileError) Unwrap() []error { return []error{e.Problem, e.Err} }

// fileError puts an error of SQLite's or the system's about a file into words.
// Errors of other kinds come back as they are.
func fileError(path string, err error) error {
	var already *FileError
	if err == nil || errors.As(err, &already) {
		return err
	}
	var problem error
	var lite sqlite3.Error
	switch {
	case errors.As(err, &lite):
		switch {
		case lite.ExtendedCode == sqlite3.ErrReadonlyRollback || lite.ExtendedCode == sqlite3.ErrReadonlyRecovery:
			problem = ErrHot
		case lite.Code == sqlite3.ErrCorrupt:
			problem = ErrCorrupt
		case lite.Code == sqlite3.ErrNotADB:
			problem = ErrForeign
		case lite.Code == sqlite3.ErrBusy || lite.Code == sqlite3.ErrLocked:
			problem = ErrLocked
		case lite.Code == sqlite3.ErrReadonly || lite.Code == sqlite3.ErrPerm:
			problem = ErrReadOnly
		case lite.Code == sqlite3.ErrFull || isFull(lite.SystemErrno):
			problem = ErrFull
		case lite.Code == sqlite3.ErrCantOpen && (errors.Is(lite.SystemErrno, fs.ErrPermission) || errors.Is(lite.SystemErrno, syscall.EROFS)):
			problem = ErrReadOnly
		}
	case isFull(err):
		problem = ErrFull
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		problem = ErrReadOnly
	}
	if problem == nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return &FileError{Path: path, Problem: problem, Err: err}
}

// isFull reports whether the system had no room: on the device, within the
// user's quota, or within the size a file may have.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// recognized is fileError for an error that may have nothing to do with a file:
// one without a problem of its own comes back as it is.
func recognized(path string, err error) error {
	var f *FileError
	if told := fileError(path, err); errors.As(told, &f) {
		return told
	}
	return err
}

// A kind is a kind of file. Its value is the meta entry "kind" of the file.
type kind string

const (
	kindCatalog kind = "catalog"
	kindRaw     kind = "raw"
	kindRollup  kind = "rollup"
)

// A fileName names a file of the record: its kind, and the beginning of its day
// half month.
type fileName struct {
	kind  kind
	start time.Time
}

// rawFile returns the name of the file of the day that t lies in.
func rawFile(t time.Time) fileName { return fileName{kindRaw, midnight(t)} }

// rollupFile returns the name of the file of the half month that t lies in: one
// begins with the first day of a month, the other with its sixteenth.
func rollupFile(t time.Time) fileName {
	t = t.UTC()
	first := 1
	if t.Day() >= secondHalf {
		first = secondHalf
	}
	return fileName{kindRollup, time.Date(t.Year(), t.Month(), first, 0, 0, 0, 0, time.UTC)}
}

const secondHalf = 16 // the day of a month with which its second half begins

// period returns the first day, or "" for the catalog.
func (n fileName) period() string {
	if n.kind == kindCatalog || n.kind == kindDownload {
		return ""
	}
	return n.start.Format(time.DateOnly)
}

// end returns the end of the day or half month.
func (n fileName) end() time.Time {
	switch {
	case n.kind == kindRaw:
		return n.start.Add(day)
	case n.start.Day() < secondHalf:
		return n.start.AddDate(0, 0, secondHalf-1)
	}
	return time.Date(n.start.Year(), n.start.Month()+1, 1, 0, 0, 0, 0, time.UTC)
}

// relative returns the path below the record's directory, with slashes.
func (n fileName) relative() string {
	switch n.kind {
	case kindRaw:
		return "raw/" + n.period() + ".sqlite"
	case kindRollup:
		return "rollups/" + n.period() + ".sqlite"
	}
	return "catalog.sqlite"
}

func (s *Store) path(n fileName) string {
	return filepath.Join(s.dir, filepath.FromSlash(n.relative()))
}

// relative returns a path below the record's directory as findings name it.
func (s *Store) relative(path string) string {
	if below, err := filepath.Rel(s.dir, path); err == nil {
		return filepath.ToSlash(below)
	}
	return path
}

// survey lists the record's files: the catalog first, then days and half months in
// order. Anything else in their folders is refused.
func (s *Store) survey() ([]fileName, error) {
	var files []fileName
	catalog := fileName{kind: kindCatalog}
	if _, err := os.Stat(s.path(catalog)); err == nil {
		files = append(files, catalog)
	} else if !errors.Is(err, fs.ErrNotExist) {
		return nil, fileError(s.path(catalog), err)
	}
	for _, folder := range []struct {
		name string
		kind kind
	}{{"raw", kindRaw}, {"rollups", kindRollup}} {
		entries, err := os.ReadDir(filepath.Join(s.dir, folder.name)) // in order of name, which is that of time
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fileError(filepath.Join(s.dir, folder.name), err)
		}
		for _, e := range entries {
			path := filepath.Join(s.dir, folder.name, e.Name())
			switch {
			case strings.HasSuffix(e.Name(), "-wal"), strings.HasSuffix(e.Name(), "-shm"):
				return nil, &FileError{Path: path, Problem: ErrWAL}
			case strings.HasSuffix(e.Name(), "-journal"), strings.Contains(e.Name(), makingMark):
				continue
			}
			period, found := strings.CutSuffix(e.Name(), ".sqlite")
			start, err := time.Parse(time.DateOnly, period)
			strange := folder.kind == kindRollup && rollupFile(start).start != start
			if !found || err != nil || strange || e.IsDir() {
				return nil, &FileError{Path: path, Problem: ErrForeign}
			}
			files = append(files, fileName{folder.kind, start})
		}
	}
	return files, nil
}

// list returns the record's files of one kind that meet [from, to), in order.
func (s *Store) list(k kind, from, to time.Time) ([]fileName, error) {
	files, err := s.survey()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(files, func(n fileName) bool {
		return n.kind != k || !n.start.Before(to) || !from.Before(n.end())
	}), nil
}

// open opens one connection to a file. If a crash left a hot journal beside it,
// SQLite rolls that back first. It refuses a file that is not whole, not ours,
// or not what its name says.
func (s *Store) open(ctx context.Context, name fileName) (*sql.DB, error) {
	path := s.path(name)
	for _, suffix := range []string{"-wal", "-shm"} {
		if _, err := os.Lstat(path + suffix); err == nil {
			return nil, &FileError{Path: path, Problem: ErrWAL}
		}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, fileError(path, err)
	case !info.Mode().IsRegular():
		return nil, &FileError{Path: path, Problem: ErrForeign}
	case info.Size() == 0:
		return nil, &FileError{Path: path, Problem: ErrEmpty}
	}
	db := sql.OpenDB(newConnector(path, s.opts.ReadOnly))
	db.SetMaxOpenConns(1)
	if err := identify(ctx, db, path, name); err != nil {
		db.Close()
		return nil, fileError(path, err)
	}
	return db, nil
}

// identify judges a file under one read lock, in which nothing can change.
//
// Note: reading the header with plain file calls would be simpler, but closing
// any descriptor of a file drops the POSIX locks that the whole process holds
// on it, SQLite's too. See https://sqlite.org/howtocorrupt.html, section 2.2.
func identify(ctx context.Context, db *sql.DB, path string, name fileName) error {
	tx, err := db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	defer tx.Rollback()
	var application, version, page, pages, tables int64
	var journal string
	err = tx.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM sqlite_schema), (SELECT application_id FROM pragma_application_id),
		(SELECT user_version FROM pragma_user_version), (SELECT journal_mode FROM pragma_journal_mode),
		(SELECT page_size FROM pragma_page_size), (SELECT page_count FROM pragma_page_count)`).
		Scan(&tables, &application, &version, &journal, &page, &pages)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	refuse := func(problem error, format string, args ...any) error {
		return &FileError{Path: path, Problem: problem, Err: fmt.Errorf(format, args...)}
	}
	switch {
	case application != ApplicationID:
		return refuse(ErrForeign, "application_id is %#x, want %#x", application, ApplicationID)
	case version > SchemaVersion:
		return refuse(ErrNewer, "schema version %d, this program knows %d", version, SchemaVersion)
	case version <= 0:
		return refuse(ErrForeign, "schema version %d, want %d", version, SchemaVersion)
	case version < SchemaVersion:
		return refuse(ErrLayout, "schema version %d, want %d", version, SchemaVersion)
	case journal != "delete":
		return refuse(ErrWAL, "journal mode %s", journal)
	case page != pageSize:
		return refuse(ErrForeign, "page size %d, want %d", page, pageSize)
	case pages*page != info.Size():
		return refuse(ErrCorrupt, "%d bytes, but %d pages of %d", info.Size(), pages, page)
	}
	if err := sameLayout(ctx, tx); err != nil {
		return &FileError{Path: path, Problem: ErrLayout, Err: err}
	}
	var file, period string
	err = tx.QueryRowContext(ctx, `SELECT (SELECT value FROM meta WHERE key = 'file'), (SELECT value FROM meta WHERE key = 'period')`).Scan(&file, &period)
	if err != nil {
		return err
	}
	if file != string(name.kind) || period != name.period() {
		return refuse(ErrForeign, "it says it is the %s file %q", file, period)
	}
	return nil
}

// sameLayout returns how the columns of a file's tables differ from those that
// this program reads, or nil. Views may differ: they hold no data.
func sameLayout(ctx context.Context, q querier) error {
	rows, err := q.QueryContext(ctx, `SELECT m.name, c.name FROM sqlite_schema m, pragma_table_xinfo(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%'`)
	if err != nil {
		return err
	}
	defer rows.Close()
	type column struct{ table, name string }
	has := map[column]bool{}
	for rows.Next() {
		var c column
		if err := rows.Scan(&c.table, &c.name); err != nil {
			return err
		}
		has[c] = true
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, c := range Dictionary() {
		if !slices.Contains(Views(), c.Relation) && c.Relation != probesView && !has[column{c.Relation, c.Name}] {
			return fmt.Errorf("no column %s.%s", c.Relation, c.Name)
		}
		delete(has, column{c.Relation, c.Name})
	}
	for c := range has {
		return fmt.Errorf("a column %s.%s that this program does not know", c.table, c.name)
	}
	return nil
}

// makingMark is in the name of a file that is still being made.
const makingMark = ".sqlite.making-"

// create makes a file with an empty schema, unless it is there. fill, which may
// be nil, adds its first rows. The file appears under its name only once it is
// complete and synced.
func (s *Store) create(ctx context.Context, name fileName, fill func(ctx context.Context, db *sql.DB) error) error {
	path := s.path(name)
	if _, err := os.Lstat(path); err == nil {
		return nil
	}
	folder := filepath.Dir(path)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fileError(folder, err)
	}
	f, err := os.CreateTemp(folder, strings.TrimSuffix(filepath.Base(path), ".sqlite")+makingMark+"*")
	if err != nil {
		return fileError(folder, err)
	}
	making := f.Name()
	defer os.Remove(making)
	defer os.Remove(making + "-journal")
	if err := errors.Join(f.Chmod(0o644), f.Close()); err != nil {
		return fileError(making, err)
	}
	if err := s.make(ctx, making, name, fill); err != nil {
		return fileError(path, err)
	}
	// Link, unlike rename, cannot replace a file that another process made meanwhile.
	if err := os.Link(making, path); err != nil && !errors.Is(err, fs.ErrExist) {
		return fileError(path, err)
	}
	return syncDir(folder)
}

func (s *Store) make(ctx context.Context, path string, name fileName, fill func(ctx context.Context, db *sql.DB) error) error {
	db := sql.OpenDB(newConnector(path, false))
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return fmt.Errorf("make schema: %w", err)
	}
	if fill != nil {
		if err := fill(ctx, db); err != nil {
			return err
		}
	}
	if _, err := db.ExecContext(ctx, `INSERT INTO meta VALUES('file', ?), ('period', ?); COMMIT`, string(name.kind), name.period()); err != nil {
		return fmt.Errorf("name file: %w", err)
	}
	return db.Close()
}

// syncDir makes changes of a folder's entries durable. On Windows a folder
// cannot be synced, and its file system keeps a journal of entries.
func syncDir(folder string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	d, err := os.Open(folder)
	if err != nil {
		return fileError(folder, err)
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fileError(folder, err)
	}
	return nil
}

// A connector opens connections to one file that must exist.
type connector struct {
	dsn    string
	driver *sqlite3.SQLiteDriver
}

func newConnector(path string, readOnly bool) connector {
	mode := "rw"
	if readOnly {
		mode = "ro"
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(path)}
	return connector{
		dsn: u.String() + "?mode=" + mode + "&_synchronous=FULL&_foreign_keys=1&_secure_delete=1&_busy_timeout=5000",
		driver: &sqlite3.SQLiteDriver{ConnectHook: func(c *sqlite3.SQLiteConn) error {
			// A file may come from a stranger: its schema is no code of ours.
			_, err := c.Exec(`PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON`, nil)
			return err
		}},
	}
}

// Connect implements [driver.Connector].
func (c connector) Connect(context.Context) (driver.Conn, error) { return c.driver.Open(c.dsn) }

// Driver implements [driver.Connector].
func (c connector) Driver() driver.Driver { return c.driver }
