//go:build unix

package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/data"
)

// everyWrite asks for the long forms of the tests of what fails.
var everyWrite = flag.Bool("every-write", false, "let the disk be full at every 4 KiB of every file, kill a merge hundreds of times, ingest ten million lines")

// A faultLab is what the commands are tried on. Its folders are only copied.
type faultLab struct {
	ripe   string // a record that no rollup has seen; four days are over, two of them past their time
	record string // the same, rolled up
	away   string // a record of another vantage
	late   string // a journal with samples of a closed day and of today
}

func newFaultLab(t *testing.T) *faultLab {
	t.Helper()
	dir := t.TempDir()
	lab := &faultLab{filepath.Join(dir, "ripe"), filepath.Join(dir, "record"), filepath.Join(dir, "away"), filepath.Join(dir, "late.ndjson")}
	now := time.Now().UTC()
	today := now.Truncate(24 * time.Hour)
	past := func(model int, vantage string, days ...int) (samples []bench.Sample) {
		m := simulate.Models()[model]
		env := bench.Env{Method: 1, Prompt: 1, Protocol: "openai_chat", Vantage: vantage, Lanes: 1, Clock: bench.ClockUser}
		for _, d := range days {
			from := today.AddDate(0, 0, -d).Add(time.Duration(model) * time.Second)
			for s := range synthetic(1, m, bench.Pair{Provider: "acme", Model: m.Name}, env, from, from.Add(24*time.Hour), time.Hour) {
				if s.StartedAt.Before(now) {
					samples = append(samples, s)
				}
			}
		}
		return samples
	}
	keep := func(file string, samples ...[]bench.Sample) string {
		writeJournal(t, file, slices.Concat(samples...)...)
		return file
	}
	must := func(args ...string) {
		t.Helper()
		if _, log, err := runWith(t, args...); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, log)
		}
	}
	must("ingest", "--data", lab.ripe, keep(filepath.Join(dir, "home.ndjson"), past(0, "home", 62, 61, 2, 1, 0), past(2, "home", 2, 1, 0)))
	copyFolder(t, lab.ripe, lab.record)
	must("rollup", "--data", lab.record)
	must("ingest", "--data", lab.away, keep(filepath.Join(dir, "away.ndjson"), past(0, "away", 2, 1, 0)))
	keep(lab.late, past(3, "home", 2, 0))
	return lab
}

func writeJournal(t *testing.T, file string, samples ...bench.Sample) {
	t.Helper()
	journal, err := data.CreateJournal(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if err := journal.Append(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := journal.Close(); err != nil {
		t.Fatal(err)
	}
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// contentOf returns a checksum of what a record holds, whatever its history: of
// the file that is assembled of it. It fails if the record is not sound.
func contentOf(t *testing.T, dir string) string {
	t.Helper()
	store, err := data.Open(t.Context(), dir, data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Fatalf("the record is not sound: %v %v", findings, err)
	}
	if differ, err := store.Verify(t.Context(), 1); err != nil || len(differ) > 0 {
		t.Fatalf("rollups are not what the samples say: %v %v", differ, err)
	}
	file := filepath.Join(t.TempDir(), "whole.sqlite")
	if err := store.Assemble(t.Context(), file, data.Download{}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sha256.Sum256(text))
}

// filesIn returns a checksum of every file in a folder, by path.
func filesIn(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && path == dir {
			return nil
		}
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		rel, relErr := filepath.Rel(dir, path)
		files[rel] = fmt.Sprintf("%x", sha256.Sum256(text))
		return errors.Join(err, relErr)
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// child runs the program in a process of its own, whose files may grow to so
// many blocks of 512 bytes; beyond that every write fails, as on a full disk.
// A negative limit is none.
func child(t *testing.T, blocks int, args ...string) (code int, stderr string) {
	t.Helper()
	limit := "unlimited"
	if blocks >= 0 {
		limit = strconv.Itoa(blocks)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", append([]string{"-c", `ulimit -f "$1" && shift && exec streamgauge "$@"`, "sh", limit}, args...)...)
	var log bytes.Buffer
	cmd.Stderr = &log
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), log.String()
}

// TestFullDiskEverywhere runs each command that writes on a disk that is full
// from some place on. It must say so and exit with 1, what was there must be as
// it was, and doing it again with room must end where it ends at once.
func TestFullDiskEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	lab := newFaultLab(t)
	step := 96 // 48 KiB
	if *everyWrite {
		step = 8
	}
	for _, tt := range []struct {
		name, record string
		args         func(dir string) []string
		once         bool // it is one transaction: either all of it is done, or nothing
	}{
		{"ingest", lab.record, func(dir string) []string { return []string{"ingest", "--data", dir + "/record", lab.late} }, true},
		{"roll up and prune", lab.ripe, func(dir string) []string { return []string{"rollup", "--data", dir + "/record"} }, false},
		{"merge", lab.record, func(dir string) []string { return []string{"merge", lab.away, "--out", dir + "/record"} }, true},
		{"export", lab.record, func(dir string) []string { return []string{"export", "--data", dir + "/record", "--out", dir + "/out"} }, true},
		{"export parquet", lab.record, func(dir string) []string {
			return []string{"export", "--format", "parquet", "--data", dir + "/record", "--out", dir + "/out"}
		}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			scene := func() string {
				dir := t.TempDir()
				copyFolder(t, tt.record, filepath.Join(dir, "record"))
				if err := os.Mkdir(filepath.Join(dir, "out"), 0o755); err != nil {
					t.Fatal(err)
				}
				for _, name := range []string{"samples.csv.gz", "manifest.json", "samples/year=2020/month=01/samples.parquet"} {
					file := filepath.Join(dir, "out", name)
					if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("of an earlier export"), 0o644)); err != nil {
						t.Fatal(err)
					}
				}
				return dir
			}
			calm := scene()
			if code, log := child(t, -1, tt.args(calm)...); code != exitOK {
				t.Fatalf("with room: exit %d\n%s", code, log)
			}
			before, after := contentOf(t, tt.record), contentOf(t, filepath.Join(calm, "record"))
			wantOut := filesIn(t, filepath.Join(calm, "out"))
			full := 0
			for limit := 0; ; limit += step {
				dir := scene()
				oldOut := filesIn(t, filepath.Join(dir, "out"))
				code, log := child(t, limit, tt.args(dir)...)
				if code == exitOK {
					if got := contentOf(t, filepath.Join(dir, "record")); got != after {
						t.Errorf("limit %d: done, but not as with room", limit)
					}
					break
				}
				full++
				if code != exitFailed || !strings.Contains(log, "no space left") && !strings.Contains(log, "file too large") {
					t.Errorf("limit %d: exit %d\n%s", limit, code, log)
				}
				if got := contentOf(t, filepath.Join(dir, "record")); tt.once && got != before && got != after {
					t.Errorf("limit %d: half of it is done", limit)
				}
				if got := filesIn(t, filepath.Join(dir, "out")); !maps.Equal(got, oldOut) {
					t.Errorf("limit %d: files of the earlier export changed: %v", limit, slices.Sorted(maps.Keys(got)))
				}
				if code, log := child(t, -1, tt.args(dir)...); code != exitOK {
					t.Errorf("limit %d: again with room: exit %d\n%s", limit, code, log)
				}
				if got := contentOf(t, filepath.Join(dir, "record")); got != after {
					t.Errorf("limit %d: again with room, but not as at once", limit)
				}
				// Everything but what states the time is the same, byte for byte.
				got := filesIn(t, filepath.Join(dir, "out"))
				if !slices.Equal(slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(wantOut))) || got["samples.csv.gz"] != wantOut["samples.csv.gz"] {
					t.Errorf("limit %d: again with room: %v", limit, slices.Sorted(maps.Keys(got)))
				}
				if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
					t.Errorf("limit %d: left behind: %v", limit, left)
				}
			}
			if full < 2 {
				t.Errorf("the disk was full %d times: not much of a test", full)
			}
			t.Logf("the disk was full %d times", full)
		})
	}
}

// TestDamagedRecords damages one file of a record, and lets each command at it.
// It must name the file and change nothing.
func TestDamagedRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	lab := newFaultLab(t)
	days, err := filepath.Glob(filepath.Join(lab.record, "raw", "*.sqlite"))
	if err != nil || len(days) < 3 {
		t.Fatalf("%d days: %v", len(days), err)
	}
	months, err := filepath.Glob(filepath.Join(lab.record, "rollups", "*.sqlite"))
	if err != nil || len(months) == 0 {
		t.Fatalf("%d months: %v", len(months), err)
	}
	closedDay := filepath.Join("raw", filepath.Base(days[len(days)-3])) // which the late journal has samples of
	month := filepath.Join("rollups", filepath.Base(months[len(months)-1]))
	edit := func(change func([]byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, file string) {
			text, err := os.ReadFile(file)
			if err == nil {
				err = os.WriteFile(file, change(text), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, damage := range []struct {
		name string
		do   func(t *testing.T, file string)
	}{
		{"cut to half", edit(func(b []byte) []byte { return b[:len(b)/2] })},
		{"cut within a page", edit(func(b []byte) []byte { return b[:len(b)-1000] })},
		{"empty", edit(func([]byte) []byte { return nil })},
		{"another kind of file", edit(func([]byte) []byte { return bytes.Repeat([]byte("no database "), 1000) })},
		{"a flipped bit in the header of the schema", edit(func(b []byte) []byte { b[100] ^= 0x40; return b })},
		{"a flipped bit in the file header", edit(func(b []byte) []byte { b[16] ^= 0x10; return b })},
		{"another schema", func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			execute(t, file, `CREATE TABLE raw_samples(id INTEGER PRIMARY KEY)`)
		}},
		{"a column more", func(t *testing.T, file string) { execute(t, file, `ALTER TABLE raw_samples ADD COLUMN colour TEXT`) }},
		{"a newer version", func(t *testing.T, file string) { execute(t, file, `PRAGMA user_version = 9999`) }},
		{"write-ahead log", func(t *testing.T, file string) {
			if err := os.WriteFile(file+"-wal", []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
		}},
		{"vanished", func(t *testing.T, file string) {
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		for _, file := range []string{"catalog.sqlite", closedDay, month} {
			t.Run(damage.name+"/"+filepath.Dir(file), func(t *testing.T) {
				t.Parallel()
				dir := filepath.Join(t.TempDir(), "record")
				copyFolder(t, lab.record, dir)
				damage.do(t, filepath.Join(dir, file))
				before := filesIn(t, dir)
				out := t.TempDir()
				for _, args := range [][]string{
					{"ingest", "--data", dir, lab.late},
					{"rollup", "--data", dir},
					{"merge", dir, "--out", filepath.Join(out, "merged")},
					{"merge", lab.away, "--out", dir},
					{"export", "--data", dir, "--out", filepath.Join(out, "lake"), "--format", "parquet"},
					{"verify", "--data", dir},
				} {
					stdout, _, err := runWith(t, args...)
					code, told := exitCode(err, &bytes.Buffer{}), fmt.Sprint(err)+stdout
					if damage.name == "vanished" && file != "catalog.sqlite" {
						// What is not there is not asked for, but by a check, and by
						// whoever would put something else in its place.
						asked := args[0] == "verify" || args[0] == "rollup" || args[0] == "ingest" && file == closedDay
						if asked && (code != exitFailed && code != exitCheck || file == closedDay && !strings.Contains(told, filepath.Base(file))) {
							t.Errorf("%s: exit %d, %v\n%s", args[0], code, err, stdout)
						}
						continue
					}
					if code != exitFailed && code != exitCheck || !strings.Contains(told, filepath.Base(file)) {
						t.Errorf("%s: exit %d, %v\n%s", args[0], code, err, stdout)
					}
					if after := filesIn(t, dir); !maps.Equal(before, after) {
						t.Errorf("%s changed files", args[0])
						before = after
					}
				}
				for _, left := range []string{filepath.Join(out, "merged"), filepath.Join(filepath.Dir(dir), ".record.merging")} {
					if _, err := os.Stat(left); damage.name != "vanished" && !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("%s is there: %v", left, err)
					}
				}
			})
		}
	}
}

// execute runs a statement on a file behind the back of the package that keeps it.
func execute(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReadOnlyFolders lets commands at folders that they may not write to, or
// skips if nothing can stop the user.
func TestReadOnlyFolders(t *testing.T) {
	t.Parallel()
	lab := newFaultLab(t)
	dir := t.TempDir()
	record, out := filepath.Join(dir, "record"), filepath.Join(dir, "out")
	copyFolder(t, lab.ripe, record)
	if err := os.Mkdir(out, 0o755); err != nil {
		t.Fatal(err)
	}
	var paths []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		paths = append(paths, path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range slices.Backward(paths) { // a folder after what is in it
		info, err := os.Stat(path)
		if err == nil {
			err = os.Chmod(path, info.Mode().Perm()&^0o222)
		}
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.Chmod(path, info.Mode().Perm()|0o700) })
	}
	if f, err := os.Create(filepath.Join(dir, "probe")); err == nil {
		f.Close()
		t.Skip("permissions do not bind this user")
	}
	before := filesIn(t, dir)
	for _, args := range [][]string{
		{"ingest", "--data", record, lab.late},
		{"rollup", "--data", record},
		{"merge", lab.away, "--out", record},
		{"merge", lab.away, "--out", filepath.Join(dir, "new")},
		{"export", "--data", record, "--out", out},
		{"export", "--data", record, "--out", out, "--format", "parquet"},
	} {
		_, _, err := runWith(t, args...)
		if exitCode(err, &bytes.Buffer{}) != exitFailed || !errors.Is(err, fs.ErrPermission) && !errors.Is(err, data.ErrReadOnly) {
			t.Errorf("%v: %v; want that it cannot be written", args, err)
		}
	}
	if after := filesIn(t, dir); !maps.Equal(before, after) {
		t.Errorf("files changed: %v", slices.Sorted(maps.Keys(after)))
	}
	if _, _, err := runWith(t, "verify", "--data", record); err != nil {
		t.Errorf("verify only reads: %v", err)
	}
}

// TestLockedRecord lets commands at a record that another process writes to.
func TestLockedRecord(t *testing.T) {
	t.Parallel()
	lab := newFaultLab(t)
	db, err := sql.Open("sqlite3", filepath.Join(lab.record, "catalog.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), `BEGIN IMMEDIATE`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := runWith(t, "ingest", "--data", lab.record, lab.late); exitCode(err, &bytes.Buffer{}) != exitFailed || !errors.Is(err, data.ErrLocked) {
		t.Errorf("ingest: %v; want that it is locked", err)
	}
	if _, err := db.ExecContext(t.Context(), `ROLLBACK`); err != nil {
		t.Fatal(err)
	}
	if _, _, err := runWith(t, "ingest", "--data", lab.record, lab.late); err != nil {
		t.Errorf("ingest afterwards: %v", err)
	}
}

// TestMergeKilled kills merges at random points. The record is the old one or
// the new one, never a part of it, and merging again ends where it ends at once.
func TestMergeKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	lab := newFaultLab(t)
	times := 12
	if *everyWrite {
		times = 400
	}
	dir := t.TempDir()
	calm := filepath.Join(dir, "calm")
	copyFolder(t, lab.record, calm)
	begin := time.Now()
	if code, log := child(t, -1, "merge", lab.away, "--out", calm); code != exitOK {
		t.Fatalf("exit %d\n%s", code, log)
	}
	typical := time.Since(begin)
	old, merged, alone := contentOf(t, lab.record), contentOf(t, calm), contentOf(t, lab.away)
	dice := rand.New(rand.NewPCG(11, 30))
	killed, kept := 0, 0
	for i := range times {
		out := filepath.Join(dir, fmt.Sprint("out-", i))
		fresh := i%3 == 0 // there is no record yet
		want := merged
		if fresh {
			want = alone
		} else {
			copyFolder(t, lab.record, out)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(dice.Int64N(int64(typical*5/4))))
		err := exec.CommandContext(ctx, "streamgauge", "merge", lab.away, "--out", out).Run() // SIGKILL when ctx ends
		cancel()
		if err != nil {
			killed++
		}
		if _, err := os.Stat(out); errors.Is(err, fs.ErrNotExist) {
			if !fresh {
				t.Errorf("%d: there is no record any more", i)
			}
		} else if got := contentOf(t, out); got == old && !fresh {
			kept++
		} else if got != want {
			t.Errorf("%d: neither the old record nor the new one", i)
		}
		if code, log := child(t, -1, "merge", lab.away, "--out", out); code != exitOK {
			t.Errorf("%d: again: exit %d\n%s", i, code, log)
		}
		if got := contentOf(t, out); got != want {
			t.Errorf("%d: merged again, but not as at once", i)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, ".*")); len(left) > 0 {
			t.Errorf("%d: left behind: %v", i, left)
		}
	}
	if killed == 0 {
		t.Error("no merge was killed")
	}
	t.Logf("%d merges, %d killed, %d of these left the old record", times, killed, kept)
}
