package data

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup"
)

func TestSamplesComeBack(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(1, 2))
	var want []bench.Sample
	for i := range 3000 {
		s := random(rnd, "m", t0.Add(time.Duration(i)*time.Minute))
		want = append(want, s)
	}
	s := newRecord(t)
	if r := ingest(t, s, want...); r.New != len(want) || r.Known != 0 || len(r.Aside) != 0 {
		t.Fatalf("ingest: %+v", r)
	}
	if diff := cmp.Diff(want, all(t, s)); diff != "" {
		t.Errorf("samples changed (-written +read):\n%s", diff)
	}
	from, to := t0.Add(17*time.Minute+time.Nanosecond), t0.Add(1500*time.Minute)
	var some []bench.Sample
	for sample, err := range s.Samples(t.Context(), from, to) {
		if err != nil {
			t.Fatal(err)
		}
		some = append(some, sample)
	}
	if len(some) != 1500-18 || !some[0].StartedAt.Equal(t0.Add(18*time.Minute)) {
		t.Errorf("samples in [%v, %v): %d from %v", from, to, len(some), some[0].StartedAt)
	}
}

// TestOrderIsNoMatter ingests the same samples in many orders, portions and
// repetitions, with rollups in between, and expects the same record.
func TestOrderIsNoMatter(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(3, 4))
	var samples []bench.Sample
	for i := range 240 {
		at := t0.Add(time.Duration(i) * 23 * time.Minute) // nearly four days
		s := random(rnd, fmt.Sprint("m", rnd.IntN(3)), at)
		s.Env.Nonce = rnd.IntN(5) == 0
		if rnd.IntN(4) == 0 {
			s.Env.Vantage = "away"
		}
		samples = append(samples, s)
		if rnd.IntN(20) == 0 { // another sample under the same id
			twin := s
			twin.Words++
			samples = append(samples, twin)
		}
	}
	now := t0.Add(96 * time.Hour)
	o := newOracle(samples)
	wantSamples := sampleLines(slices.Collect(maps.Values(o.samples)))
	wantHours := o.lines(rollup.Hour, t0, now)
	wantDays := o.lines(rollup.Day, t0, now)
	for trial := range choose(3, 9) {
		s := newRecord(t)
		queue := slices.Clone(samples)
		for range 40 {
			queue = append(queue, samples[rnd.IntN(len(samples))])
		}
		if trial > 0 {
			rnd.Shuffle(len(queue), func(i, j int) { queue[i], queue[j] = queue[j], queue[i] })
		}
		for len(queue) > 0 {
			n := min(1+rnd.IntN(120), len(queue))
			if _, err := s.Ingest(t.Context(), now, queue[:n]); err != nil {
				t.Fatal(err)
			}
			queue = queue[n:]
			if rnd.IntN(2) == 0 {
				if _, err := s.Rollup(t.Context(), now); err != nil {
					t.Fatal(err)
				}
			}
		}
		if _, err := s.Rollup(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(wantSamples, sampleLines(all(t, s))); diff != "" {
			t.Fatalf("trial %d: samples (-want +got):\n%s", trial, diff)
		}
		if diff := cmp.Diff(wantHours, bucketLines(t, storedBuckets(t, s, rollup.Hour))); diff != "" {
			t.Fatalf("trial %d: hours (-want +got):\n%s", trial, diff)
		}
		if diff := cmp.Diff(wantDays, bucketLines(t, storedBuckets(t, s, rollup.Day))); diff != "" {
			t.Fatalf("trial %d: days (-want +got):\n%s", trial, diff)
		}
		sound(t, s)
	}
}

// sound fails the test if Check or Verify finds anything.
func sound(t testing.TB, s *Store) {
	t.Helper()
	findings, err := s.Check(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range findings {
		t.Errorf("check: %v", f)
	}
	differ, err := s.Verify(t.Context(), 10)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differ {
		t.Errorf("verify: %v %v: stored %+v, want %+v", d.Series, d.Start, d.Stored, d.Wanted)
	}
}

// fingerprints returns a hash of every file below a directory.
func fingerprints(t testing.TB, dir string) map[string][sha256.Size]byte {
	t.Helper()
	sums := map[string][sha256.Size]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		sums[path] = sha256.Sum256(content)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}

func TestAgainChangesNoByte(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(5, 6))
	s := newRecord(t)
	var samples []bench.Sample
	for i := range 300 {
		samples = append(samples, random(rnd, fmt.Sprint("m", i%3), t0.Add(time.Duration(i)*17*time.Minute)))
	}
	samples = append(samples, success("m", t0.Add(900*time.Hour)))
	now := t0.Add(90 * time.Hour)
	work := func() Report {
		r, err := s.Ingest(t.Context(), now, samples)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Rollup(t.Context(), now); err != nil {
			t.Fatal(err)
		}
		return r
	}
	if r := work(); r.New != 300 || r.Aside[Future] != 1 {
		t.Fatalf("first time: %+v", r)
	}
	before := fingerprints(t, s.Dir())
	if r := work(); r.New != 0 || r.Known != 300 || r.Aside[Future] != 1 {
		t.Errorf("second time: %+v", r)
	}
	if diff := cmp.Diff(before, fingerprints(t, s.Dir())); diff != "" {
		t.Errorf("files changed:\n%s", diff)
	}
}

func TestIngestPutsAside(t *testing.T) {
	t.Parallel()
	now := t0.Add(100 * 24 * time.Hour)
	broken := success("m", now)
	broken.Chars = -4
	nameless := success("", now)
	early := success("m", time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC))
	twin := success("m", t0)
	twin.Words++
	tests := []struct {
		name   string
		sample bench.Sample
		want   Reason // "" is taken
	}{
		{"five minutes ahead", success("m", now.Add(5*time.Minute)), ""},
		{"a millisecond more", success("m", now.Add(5*time.Minute+ms)), Future},
		{"a year ahead", success("m", now.AddDate(1, 0, 0)), Future},
		{"contradiction", broken, Invalid},
		{"no model", nameless, Invalid},
		{"before there were models", early, Invalid},
		{"same id, other content", twin, Conflict},
		{"older than all, nothing frozen", success("m", t0.AddDate(0, 0, -3)), ""},
	}
	s := newRecord(t)
	ingest(t, s, success("m", t0))
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for range 2 {
				r, err := s.Ingest(t.Context(), now, []bench.Sample{tt.sample})
				if err != nil {
					t.Fatal(err)
				}
				want := map[Reason]int(nil)
				if tt.want != "" {
					want = map[Reason]int{tt.want: 1}
				}
				if diff := cmp.Diff(want, r.Aside); diff != "" {
					t.Errorf("aside (-want +got):\n%s", diff)
				}
			}
		})
	}
	counts, err := s.Quarantined()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[Reason]int{Future: 2, Invalid: 3, Conflict: 1}, counts); diff != "" {
		t.Errorf("quarantined, each once (-want +got):\n%s", diff)
	}
}

func TestJump(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	ingest(t, s, success("m", t0))
	// Runner and samples agree on a date over a year off.
	later := t0.AddDate(0, 0, 400)
	r, err := s.Ingest(t.Context(), later, []bench.Sample{success("m", later)})
	if err != nil || r.Aside[Jumped] != 1 {
		t.Fatalf("jump of 400 days: %+v, %v", r, err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openRecord(t, s.Dir(), Options{AllowJump: true})
	if r, err := s.Ingest(t.Context(), later, []bench.Sample{success("m", later)}); err != nil || r.New != 1 {
		t.Fatalf("allowed jump of 400 days: %+v, %v", r, err)
	}
}

// TestLate ingests a sample for a closed day.
func TestLate(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	now := t0.Add(50 * time.Hour)
	ingest(t, s, success("m", t0.Add(time.Hour)), success("m", now))
	if _, err := s.Rollup(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	r, err := s.Ingest(t.Context(), now, []bench.Sample{
		failed("m", t0.Add(61*time.Minute), wire.KindServer), // a day that has samples
		success("new", t0.Add(-time.Hour)),                   // a day, a month and a series that are new
	})
	if err != nil || r.New != 2 || r.Reopened != 2 {
		t.Fatalf("ingest: %+v, %v", r, err)
	}
	got := bucketLines(t, storedBuckets(t, s, rollup.Day))
	want := newOracle(all(t, s)).lines(rollup.Day, time.Time{}, farFuture())
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 3 {
		t.Errorf("days (-want +got):\n%s", diff)
	}
	sound(t, s)
}

func TestManyDaysAtOnce(t *testing.T) {
	t.Parallel()
	rnd := rand.New(rand.NewPCG(7, 8))
	s := newRecord(t)
	var samples []bench.Sample
	for i := range 70 * 4 {
		samples = append(samples, random(rnd, "m", t0.Add(time.Duration(i)*6*time.Hour)))
	}
	now := samples[len(samples)-1].StartedAt
	ingest(t, s, samples...)
	done, err := s.Rollup(t.Context(), now)
	if err != nil {
		t.Fatal(err)
	}
	if len(done.Closed) != 69 {
		t.Errorf("closed %d days, want 69", len(done.Closed))
	}
	// A second series, late for every closed day at once, in days that are still there.
	var more []bench.Sample
	for i := range 60 {
		more = append(more, random(rnd, "late", now.AddDate(0, 0, -i)))
	}
	if r := ingest(t, s, more...); r.New != 60 || r.Reopened != 59 {
		t.Errorf("ingest late: %+v", r)
	}
	want := newOracle(append(samples, more...)).lines(rollup.Day, time.Time{}, farFuture())
	if diff := cmp.Diff(want, bucketLines(t, storedBuckets(t, s, rollup.Day))); diff != "" {
		t.Errorf("days (-want +got):\n%s", diff)
	}
	sound(t, s)
}

// TestQuarantineStaysWithin puts samples aside beside so many that a file has room
// for a few more. It may not grow beyond its limit, whatever comes at once.
func TestQuarantineStaysWithin(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "future.ndjson")
	const room = 5
	line := func(i int) []byte { return fmt.Appendf(nil, "{\"line\":%9d}\n", i) }
	full := bytes.Repeat([]byte{' '}, maxQuarantine-room*len(line(0))-1)
	if err := os.WriteFile(path, append(full, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	var lines [][]byte
	for i := range 100 {
		lines = append(lines, line(i))
	}
	for range 2 {
		if err := appendNew(path, lines); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if n := bytes.Count(content, []byte("line")); len(content) != maxQuarantine || n != room {
			t.Errorf("%d bytes with %d lines more, want %d with %d", len(content), n, maxQuarantine, room)
		}
	}
}
