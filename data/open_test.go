package data

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// small is a closed record of three days, given as its directory.
func small(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for path, content := range smallFiles() {
		path = filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// smallFiles makes the files of small, once. It panics if it cannot.
var smallFiles = sync.OnceValue(func() map[string][]byte {
	must := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "small")
	must(err)
	defer os.RemoveAll(dir)
	s, err := Open(ctx, dir, Options{Create: true})
	must(err)
	for i := range 3 {
		at := t0.Add(time.Duration(i)*day + time.Hour)
		_, err := s.Ingest(ctx, at.Add(time.Minute), []bench.Sample{success("m", at), failed("n", at.Add(time.Minute), wire.KindTimeout)})
		must(err)
	}
	_, err = s.Rollup(ctx, t0.Add(51*time.Hour))
	must(err)
	must(s.Close())
	files := map[string][]byte{}
	must(fs.WalkDir(os.DirFS(dir), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = fs.ReadFile(os.DirFS(dir), path)
		return err
	}))
	return files
})

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	const dayFile = "raw/2026-03-31.sqlite"
	overwrite := func(offset int64, content []byte) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.WriteAt(content, offset); err != nil {
				t.Fatal(err)
			}
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
	number := func(n uint32) []byte { return binary.BigEndian.AppendUint32(nil, n) }
	replace := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	execute := func(statement string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := sql.Open("sqlite3", path)
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			if _, err := db.Exec(statement); err != nil {
				t.Fatal(err)
			}
		}
	}
	// Offsets of the header are those of https://sqlite.org/fileformat2.html.
	tests := []struct {
		name, file string
		harm       func(t *testing.T, path string)
		want       error
	}{
		{"empty file", dayFile, replace(""), ErrEmpty},
		{"empty catalog", "catalog.sqlite", replace(""), ErrEmpty},
		{"text", dayFile, replace("<!DOCTYPE html>\n<title>404</title>\n"), ErrForeign},
		{"a Git LFS pointer", dayFile, replace("version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n"), ErrForeign},
		{"another program's database", dayFile, overwrite(68, number(0x47504b47)), ErrForeign},
		{"a later schema", dayFile, overwrite(60, number(SchemaVersion+1)), ErrNewer},
		{"an earlier schema", dayFile, overwrite(60, number(SchemaVersion-1)), ErrLayout},
		{"no schema version", dayFile, overwrite(60, number(0)), ErrForeign},
		{"write-ahead log", dayFile, execute(`PRAGMA journal_mode = WAL`), ErrWAL},
		{"write-ahead log beside it", dayFile + "-wal", replace("x"), ErrWAL},
		{"cut short", dayFile, func(t *testing.T, path string) {
			if err := os.Truncate(path, 5*pageSize); err != nil {
				t.Fatal(err)
			}
		}, ErrCorrupt},
		{"cut short within a page", dayFile, func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Truncate(path, info.Size()-100); err != nil {
				t.Fatal(err)
			}
		}, ErrCorrupt},
		{"a page too many", dayFile, func(t *testing.T, path string) {
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			overwrite(info.Size(), make([]byte, pageSize))(t, path)
		}, ErrCorrupt},
		{"schema page overwritten", dayFile, overwrite(100, make([]byte, 400)), ErrCorrupt},
		{"another day under its name", dayFile, func(t *testing.T, path string) {
			content, err := os.ReadFile(filepath.Join(filepath.Dir(path), "2026-03-30.sqlite"))
			if err != nil {
				t.Fatal(err)
			}
			replace(string(content))(t, path)
		}, ErrForeign},
		{"unknown file in a folder", "raw/backup.sqlite", replace("x"), ErrForeign},
		{"month that begins with no half", "rollups/2026-03-02.sqlite", replace("x"), ErrForeign},
		{"folder under its name", "rollups/2026-05-01.sqlite", func(t *testing.T, path string) {
			if err := os.Mkdir(path, 0o755); err != nil {
				t.Fatal(err)
			}
		}, ErrForeign},
		{"no catalog", "catalog.sqlite", func(t *testing.T, path string) {
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
		}, ErrNoCatalog},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := small(t)
			path := filepath.Join(dir, filepath.FromSlash(tt.file))
			tt.harm(t, path)
			before := fingerprints(t, dir)
			for _, opts := range []Options{{}, {ReadOnly: true}, {Create: true}} {
				s, err := Open(t.Context(), dir, opts)
				if err == nil {
					s.Close()
				}
				var file *FileError
				if !errors.Is(err, tt.want) || !errors.As(err, &file) {
					t.Errorf("Open with %+v: %v; want a FileError of %q", opts, err, tt.want)
				}
			}
			after := fingerprints(t, dir)
			maps.DeleteFunc(after, func(path string, _ [32]byte) bool {
				// SQLite makes these to read a file that wants a log.
				return tt.want == ErrWAL && (strings.HasSuffix(path, "-shm") || strings.HasSuffix(path, "-wal") && before[path] == [32]byte{})
			})
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("files changed:\n%s", diff)
			}
		})
	}
}

func TestOpenWithoutRecord(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "missing", "too")} {
		for _, opts := range []Options{{}, {ReadOnly: true, Create: true}} {
			if _, err := Open(t.Context(), dir, opts); !errors.Is(err, ErrNoRecord) {
				t.Errorf("Open(%+v): %v; want ErrNoRecord", opts, err)
			}
		}
		s := openRecord(t, dir, Options{Create: true})
		if _, ok, err := s.Newest(t.Context()); ok || err != nil {
			t.Errorf("newest sample of a new record: %v, %v", ok, err)
		}
		if done, err := s.Rollup(t.Context(), t0); err != nil || len(done.Closed) != 0 {
			t.Errorf("roll up a new record: %+v, %v", done, err)
		}
		sound(t, s)
		openRecord(t, dir, Options{ReadOnly: true})
	}
}

// TestDamageIsFound flips bits all over a day file. Either Open or Check
// complains, or the content is what it was.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	dir := small(t)
	path := filepath.Join(dir, "raw", "2026-03-31.sqlite")
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := sampleLines(all(t, openRecord(t, dir, Options{})))
	found, stride := 0, choose(2039, 509)
	for offset := 0; offset < len(whole); offset += stride {
		harmed := append([]byte(nil), whole...)
		harmed[offset] ^= 0x41
		if err := os.WriteFile(path, harmed, 0o644); err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), dir, Options{ReadOnly: true})
		if err != nil {
			found++
			continue
		}
		findings, err := s.Check(t.Context())
		if err != nil {
			t.Errorf("byte %d: check: %v", offset, err)
		}
		if len(findings) > 0 {
			found++
		} else if diff := cmp.Diff(want, sampleLines(all(t, s))); diff != "" {
			// A flipped bit inside a number is beyond SQLite's page checks.
			differ, err := s.Verify(t.Context(), 1)
			if err == nil && len(differ) == 0 {
				t.Logf("byte %d: unnoticed:\n%s", offset, diff)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if found == 0 {
		t.Error("no damage was found")
	}
	t.Logf("%d of %d flips found", found, len(whole)/stride+1)
}

// TestCheckFinds breaks rows in ways that SQLite does not mind.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, file, statement string
		want                  string // rule
	}{
		{"sample of another day", "raw/2026-03-31.sqlite", `UPDATE raw_samples SET id = id + (86400000 << 12)`, "period"},
		{"sample of no series", "raw/2026-03-31.sqlite", `UPDATE raw_samples SET id = id + 9 WHERE id & 4095 = 1`, "names"},
		{"sample lost", "raw/2026-03-31.sqlite", `DELETE FROM raw_samples WHERE id & 4095 = 1`, "counts"},
		{"more first characters than characters", "raw/2026-03-31.sqlite", `UPDATE raw_samples SET first_chars = chars + 1`, "counts"},
		{"failure without a name", "raw/2026-03-31.sqlite", `DELETE FROM failures`, "foreign_keys"},
		{"series renamed", "rollups/2026-03-16.sqlite", `UPDATE series SET model = 'other' WHERE series_id = 1`, "names"},
		{"median above p95", "rollups/2026-03-16.sqlite", `UPDATE raw_daily SET decode_n = 2, kept_decode_min = -2, kept_decode_max = 2, kept_decode_p50 = 1, kept_decode_p95 = -3`, "order"},
		{"success above all", "rollups/2026-03-16.sqlite", `UPDATE raw_daily SET ok = samples + 1`, "counts"},
		{"hours do not add up", "rollups/2026-03-16.sqlite", `DELETE FROM raw_hourly`, "counts"},
		{"day without its bucket", "rollups/2026-03-16.sqlite", `DELETE FROM raw_daily; DELETE FROM raw_hourly`, "counts"},
		{"histogram of nothing", "rollups/2026-03-16.sqlite", `UPDATE raw_daily SET ttft_hist = NULL`, "histogram"},
		{"index damaged", "raw/2026-03-31.sqlite", `PRAGMA writable_schema = ON;
			UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'envs') WHERE name = 'replies'`, "quick_check"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := small(t)
			db, err := sql.Open("sqlite3", filepath.Join(dir, filepath.FromSlash(tt.file)))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := db.Exec(tt.statement); err != nil {
				t.Fatal(err)
			}
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			s := openRecord(t, dir, Options{})
			findings, err := s.Check(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range findings {
				if f.Rule == tt.want {
					return
				}
			}
			t.Errorf("check found %v; want %s", findings, tt.want)
		})
	}
}

func TestVerifyFinds(t *testing.T) {
	t.Parallel()
	dir := small(t)
	db, err := sql.Open("sqlite3", filepath.Join(dir, "rollups", "2026-03-16.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE raw_daily SET decode_avg = decode_avg + 1 WHERE decode_avg > 0; DELETE FROM raw_hourly WHERE id & 4095 = 2`); err != nil {
		t.Fatal(err)
	}
	differ, err := openRecord(t, dir, Options{ReadOnly: true}).Verify(t.Context(), 100)
	if err != nil {
		t.Fatal(err)
	}
	changed, missing := 0, 0
	for _, d := range differ {
		if d.Stored == nil {
			missing++
		} else {
			changed++
		}
	}
	if changed != 2 || missing != 2 {
		t.Errorf("%d changed, %d missing; want 2 and 2", changed, missing)
	}
}

func TestReadOnly(t *testing.T) {
	t.Parallel()
	dir := small(t)
	before := fingerprints(t, dir)
	s := openRecord(t, dir, Options{ReadOnly: true})
	late, future := success("m", t0.Add(2*time.Hour)), success("m", t0.AddDate(1, 0, 0))
	_, errIngest := s.Append(t.Context(), t0.Add(60*time.Hour), late)
	_, errAside := s.Append(t.Context(), t0.Add(60*time.Hour), future)
	_, errRollup := s.Rollup(t.Context(), t0.Add(90*time.Hour))
	_, errTrace := s.PutTrace(late)
	for _, err := range []error{errIngest, errAside, errRollup, errTrace} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("writing to a read-only record: %v; want ErrReadOnly", err)
		}
	}
	if n := len(all(t, s)); n != 6 {
		t.Errorf("read %d samples, want 6", n)
	}
	sound(t, s)
	if diff := cmp.Diff(before, fingerprints(t, dir)); diff != "" {
		t.Errorf("files changed:\n%s", diff)
	}
}

// TestLocked lets another connection hold a day file.
func TestLocked(t *testing.T) {
	t.Parallel()
	dir := small(t)
	s := openRecord(t, dir, Options{})
	db, err := sql.Open("sqlite3", filepath.Join(dir, "raw", "2026-04-01.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.db.ExecContext(t.Context(), `PRAGMA busy_timeout = 10`); err != nil {
		t.Fatal(err)
	}
	two := []string{sampleLines(all(t, s))[0], ""}
	samples := success("m", t0.Add(3*time.Hour))
	today := success("m", t0.Add(51*time.Hour))
	if _, err := s.Append(t.Context(), today.StartedAt, today); !errors.Is(err, ErrLocked) {
		t.Errorf("append to a locked file: %v; want ErrLocked", err)
	}
	if _, err := s.Append(t.Context(), today.StartedAt, samples); err != nil {
		t.Errorf("append to another file: %v", err)
	}
	if _, err := conn.ExecContext(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), today.StartedAt, today); err != nil {
		t.Errorf("append once it is free: %v", err)
	}
	if two[0] != sampleLines(all(t, s))[0] {
		t.Error("the first sample changed")
	}
	sound(t, s)
}

// TestTwoWriters lets two stores of one record write at the same time, each
// with series that the other does not know.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	dir := small(t)
	var wait sync.WaitGroup
	for w := range 2 {
		s := openRecord(t, dir, Options{})
		wait.Go(func() {
			for i := range 12 {
				at := t0.Add(time.Duration(50+i%3)*time.Hour + time.Duration(i)*time.Second)
				model := fmt.Sprint("m", w, "-", i/2)
				if r, err := s.Append(t.Context(), at, success(model, at)); err != nil || r.New != 1 {
					t.Errorf("writer %d: %+v, %v", w, r, err)
				}
				if _, err := s.Rollup(t.Context(), at); err != nil {
					t.Errorf("writer %d: roll up: %v", w, err)
				}
			}
		})
	}
	wait.Wait()
	s := openRecord(t, dir, Options{})
	if n := len(all(t, s)); n != 6+24 {
		t.Errorf("%d samples, want 30", n)
	}
	series, err := s.Series(t.Context())
	if err != nil || len(series) != 2+12 || !slices.IsSortedFunc(series, compareSeries) {
		t.Errorf("series: %v, %v", series, err)
	}
	sound(t, s)
}

// TestCancelled cancels an ingest, which leaves everything as it was.
func TestCancelled(t *testing.T) {
	t.Parallel()
	dir := small(t)
	before := fingerprints(t, dir)
	s := openRecord(t, dir, Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Append(ctx, t0.Add(51*time.Hour), success("m", t0.Add(51*time.Hour)))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("append: %v; want context.Canceled", err)
	}
	if diff := cmp.Diff(before, fingerprints(t, dir)); diff != "" {
		t.Errorf("files changed:\n%s", diff)
	}
	if r, err := s.Append(t.Context(), t0.Add(51*time.Hour), success("m", t0.Add(51*time.Hour))); err != nil || r.New != 1 {
		t.Errorf("append afterwards: %+v, %v", r, err)
	}
}

// TestDirectoryWithoutPermission makes a record in a folder that cannot be
// written, or skips if nothing can stop the user.
func TestDirectoryWithoutPermission(t *testing.T) {
	dir := small(t)
	var folders []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			folders = append(folders, path)
		} else if err == nil {
			err = os.Chmod(path, 0o444)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, folder := range folders {
		if err := os.Chmod(folder, 0o555); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(folder, 0o755) })
	}
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		t.Skip("permissions do not bind this user")
	}
	s, err := Open(t.Context(), dir, Options{})
	if err == nil {
		_, err = s.Append(t.Context(), t0.Add(52*time.Hour), success("m", t0.Add(52*time.Hour)))
		s.Close()
	}
	if !errors.Is(err, ErrReadOnly) {
		t.Errorf("append: %v; want ErrReadOnly", err)
	}
	if n := len(all(t, openRecord(t, dir, Options{ReadOnly: true}))); n != 6 {
		t.Errorf("read %d samples, want 6", n)
	}
}

// TestOpenRefusesOtherLayouts opens files whose tables have other columns,
// though their version is ours.
func TestOpenRefusesOtherLayouts(t *testing.T) {
	t.Parallel()
	for change, column := range map[string]string{
		`ALTER TABLE raw_samples RENAME COLUMN ttft_rest_ms TO ttft_ms`: "raw_samples.ttft_rest_ms",
		`ALTER TABLE raw_hourly ADD COLUMN colour TEXT`:                 "raw_hourly.colour",
		`DROP TABLE failures`: "failures.failure_id",
	} {
		dir := t.TempDir()
		s := openRecord(t, dir, Options{Create: true})
		if _, err := s.db.ExecContext(t.Context(), `PRAGMA foreign_keys = OFF; `+change); err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), dir, Options{})
		var file *FileError
		if !errors.As(err, &file) || !errors.Is(err, ErrLayout) || !strings.Contains(err.Error(), column) {
			t.Errorf("%s: %v, want a word of %s", change, err, column)
		}
	}
}

// TestRollupFiles walks through four years: every day lies in exactly one file,
// whose name says its first day, and the files follow one another.
func TestRollupFiles(t *testing.T) {
	t.Parallel()
	var last fileName
	files := 0
	for d := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC); d.Year() < 2028; d = d.Add(day) {
		f := rollupFile(d.Add(23 * time.Hour))
		if d.Before(f.start) || !d.Before(f.end()) || f.period() != f.start.Format(time.DateOnly) {
			t.Errorf("%v lies in %s, which ends at %v", d, f.relative(), f.end())
		}
		if f == last {
			continue
		}
		if files++; files > 1 && !last.end().Equal(f.start) {
			t.Errorf("%s ends at %v, %s begins then", last.relative(), last.end(), f.relative())
		}
		if n := f.start.Day(); n != 1 && n != 16 {
			t.Errorf("%s begins with day %d", f.relative(), n)
		}
		last = f
	}
	if files != 4*24 {
		t.Errorf("%d files in four years, want 96", files)
	}
}
