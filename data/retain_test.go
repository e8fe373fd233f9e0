package data

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// TestRetention lets 64 days pass, one run a day, and then a few more.
func TestRetention(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(11, 12))
	s := newRecord(t)
	var samples []bench.Sample
	pruned := 0
	for d := range 64 {
		at := t0.Add(time.Duration(d)*day + 13*time.Hour)
		one := random(rnd, fmt.Sprint("m", d%2), at)
		samples = append(samples, one)
		ingest(t, s, one)
		done, err := s.Rollup(t.Context(), at)
		if err != nil {
			t.Fatal(err)
		}
		if want := min(d, 1); len(done.Closed) != want {
			t.Errorf("day %d: closed %v, want %d", d, done.Closed, want)
		}
		if want := map[bool]int{true: 1}[d > 60]; len(done.Pruned) != want {
			t.Errorf("day %d: pruned %v, want %d", d, done.Pruned, want)
		}
		pruned += len(done.Pruned)
	}
	if pruned != 3 {
		t.Errorf("pruned %d days, want 3", pruned)
	}
	sound(t, s)
	if got := len(all(t, s)); got != 61 {
		t.Errorf("%d samples left, want 61", got)
	}
	want := newOracle(samples).lines(rollup.Day, time.Time{}, farFuture())
	if diff := cmp.Diff(want, bucketLines(t, storedBuckets(t, s, rollup.Day))); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}

	// The floor holds: what lies below it cannot come back.
	before := fingerprints(t, filepath.Join(s.Dir(), "rollups"))
	r, err := s.Ingest(t.Context(), samples[63].StartedAt, samples)
	if err != nil || r.Known != 61 || r.Aside[TooOld] != 3 {
		t.Errorf("ingest everything again: %+v, %v", r, err)
	}
	if diff := cmp.Diff(before, fingerprints(t, filepath.Join(s.Dir(), "rollups"))); diff != "" {
		t.Errorf("frozen buckets changed:\n%s", diff)
	}
}

// TestPruneCatchesUp imports a long history, of which two days a run may go.
func TestPruneCatchesUp(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	var samples []bench.Sample
	for d := range 67 {
		samples = append(samples, success("m", t0.Add(time.Duration(d)*day)))
	}
	now := t0.Add(66*day + time.Hour)
	ingest(t, s, samples...)
	var got []int
	for range 5 {
		done, err := s.Rollup(t.Context(), now)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, len(done.Pruned))
	}
	if diff := cmp.Diff([]int{2, 2, 2, 0, 0}, got); diff != "" {
		t.Errorf("pruned days per run (-want +got):\n%s", diff)
	}
	files, err := filepath.Glob(filepath.Join(s.Dir(), "raw", "*"))
	if err != nil || len(files) != 61 {
		t.Errorf("%d raw files, want 61: %v", len(files), err)
	}
}

// TestWrongClocks rolls up by clocks that are off.
func TestWrongClocks(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	ingest(t, s, success("m", t0.Add(10*time.Hour)), success("m", t0.Add(30*time.Hour)))
	for _, tt := range []struct {
		name   string
		now    time.Time
		closed int
	}{
		{"a year slow", t0.AddDate(-1, 0, 0), 0},
		{"before the end of the day", t0.Add(24*time.Hour + CloseGrace - time.Second), 0},
		{"a year fast", t0.AddDate(1, 0, 0), 1},
		{"slow again", t0, 0},
	} {
		done, err := s.Rollup(t.Context(), tt.now)
		if err != nil {
			t.Fatal(err)
		}
		if len(done.Closed) != tt.closed || len(done.Pruned) != 0 {
			t.Errorf("%s: closed %v, pruned %v; want %d, none", tt.name, done.Closed, done.Pruned, tt.closed)
		}
	}
	if n := len(all(t, s)); n != 2 {
		t.Errorf("%d samples left, want 2", n)
	}
}

// TestPruneNeedsProof harms the buckets of a day that is due to go. They are
// computed again; if they cannot be right, the day stays.
func TestPruneNeedsProof(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	ingest(t, s, success("m", t0), success("m", t0.Add(time.Hour)))
	now := t0.Add(36 * time.Hour)
	ingest(t, s, success("m", now))
	if _, err := s.Rollup(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	month := filepath.Join(s.Dir(), "rollups", "2026-03-16.sqlite")
	exec := func(statement string) {
		t.Helper()
		db, err := s.open(t.Context(), rollupFile(t0))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	exec(`UPDATE raw_daily SET samples = 7; DELETE FROM raw_hourly`)
	// A bucket that no sample asks for cannot be put right.
	exec(`INSERT INTO raw_daily(id, samples, ok, noisy) SELECT id + 1, 4, 0, 0 FROM raw_daily`)
	last := now.Add(62 * day)
	ingest(t, s, success("m", last))
	if _, err := s.Rollup(t.Context(), last); err == nil {
		t.Fatal("a day was dropped whose buckets count samples that do not exist")
	}
	if n := len(all(t, s)); n != 4 {
		t.Errorf("%d samples left, want 4", n)
	}
	exec(`DELETE FROM raw_daily WHERE samples = 4`)
	done, err := s.Rollup(t.Context(), last)
	if err != nil || len(done.Pruned) != 2 || done.Rows != 3 {
		t.Fatalf("roll up: %+v, %v", done, err)
	}
	want := newOracle([]bench.Sample{success("m", t0), success("m", t0.Add(time.Hour))}).lines(rollup.Day, time.Time{}, farFuture())
	if diff := cmp.Diff(want, bucketLines(t, storedBuckets(t, s, rollup.Day))[:1]); diff != "" {
		t.Errorf("buckets in %s (-want +got):\n%s", month, diff)
	}
}

// TestLeftBehind gives a pruned day file back, as a crash between the commit
// and the removal would.
func TestLeftBehind(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	ingest(t, s, success("m", t0))
	path := s.path(rawFile(t0))
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	now := t0.Add(61 * day)
	ingest(t, s, success("m", now))
	if done, err := s.Rollup(t.Context(), now); err != nil || len(done.Pruned) != 1 {
		t.Fatalf("roll up: %+v, %v", done, err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		t.Fatal(err)
	}
	making := filepath.Join(s.Dir(), "raw", "2026-06-01"+makingMark+"123")
	if err := os.WriteFile(making, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s = openRecord(t, s.Dir(), Options{})
	if n := len(all(t, s)); n != 1 {
		t.Errorf("%d samples, want the one that is not pruned", n)
	}
	findings, err := s.Check(t.Context())
	if err != nil || len(findings) != 1 || !findings[0].Warning {
		t.Errorf("check: %v, %v; want a warning", findings, err)
	}
	if _, err := s.Rollup(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{path, making} {
		if _, err := os.Stat(gone); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s is still there: %v", gone, err)
		}
	}
	sound(t, s)
}

// TestLiveBuckets reads buckets of a day that is still going on, and finds them
// the same once it is closed.
func TestLiveBuckets(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(13, 14))
	s := newRecord(t)
	var samples []bench.Sample
	for i := range 60 {
		samples = append(samples, random(rnd, fmt.Sprint("m", i%2), t0.Add(time.Duration(i)*20*time.Minute)))
	}
	ingest(t, s, samples...)
	read := func() (lines []string) {
		for b, err := range s.Hourly(t.Context(), t0.Add(30*time.Minute), t0.Add(10*time.Hour)) {
			if err != nil {
				t.Fatal(err)
			}
			lines = append(lines, bucketLines(t, []rollup.Bucket{b})...)
		}
		return lines
	}
	live := read()
	if want := newOracle(samples).lines(rollup.Hour, t0.Add(time.Hour), t0.Add(10*time.Hour)); len(want) != 18 || cmp.Diff(want, live) != "" {
		t.Errorf("live hours (-want +got):\n%s", cmp.Diff(want, live))
	}
	ingest(t, s, success("m0", t0.Add(25*time.Hour)))
	if _, err := s.Rollup(t.Context(), t0.Add(25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(live, read()); diff != "" {
		t.Errorf("closed hours (-live +closed):\n%s", diff)
	}
}

func TestShrunk(t *testing.T) {
	t.Parallel()
	file := func(kind kind, period string, rows int64) File {
		return File{Path: string(kind) + "/" + period, Kind: string(kind), Period: period, Rows: rows}
	}
	before := Inventory{Files: []File{file(kindRaw, "2026-03-30", 5), file(kindRaw, "2026-03-31", 5), file(kindRollup, "2026-03-16", 8), file(kindRollup, "2026-02-01", 9)}}
	after := Inventory{Floor: t0.Add(day), Files: []File{file(kindRollup, "2026-03-16", 7)}}
	var got []string
	for _, f := range Shrunk(before, after) {
		got = append(got, f.String())
	}
	want := []string{"raw/2026-03-31: shrunk: it is gone", "rollup/2026-03-16: shrunk: 7 rows, it had 8", "rollup/2026-02-01: shrunk: it is gone"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shrunk (-want +got):\n%s", diff)
	}
	if lost := Shrunk(before, before); len(lost) != 0 {
		t.Errorf("a record shrank against itself: %v", lost)
	}
}
