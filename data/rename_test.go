package data

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

var (
	oldName = bench.Pair{Provider: "acme", Model: "old"}
	newName = bench.Pair{Provider: "acme", Model: "new"}
)

// every returns a sample of a model for each step of [from, to), by hours after
// t0.
func every(model string, step time.Duration, from, to int) []bench.Sample {
	var samples []bench.Sample
	for at := time.Duration(from) * time.Hour; at < time.Duration(to)*time.Hour; at += step {
		samples = append(samples, success(model, t0.Add(at)))
	}
	return samples
}

// renamed returns samples of the old name under the new one. What the provider
// says it served stays.
func renamed(samples []bench.Sample) []bench.Sample {
	samples = slices.Clone(samples)
	for i := range samples {
		samples[i].Pair = newName
	}
	return samples
}

// recordOf makes a record of samples, closed and pruned as of a day after the
// last.
func recordOf(t *testing.T, samples ...[]bench.Sample) *Store {
	t.Helper()
	s := newRecord(t)
	list := slices.Concat(samples...)
	if _, err := s.take(t.Context(), intake{now: farFuture(), allowJump: true}, list); err != nil {
		t.Fatal(err)
	}
	newest, _, err := s.Newest(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for more := true; more; {
		done, err := s.Rollup(t.Context(), newest.Add(day))
		if err != nil {
			t.Fatal(err)
		}
		more = len(done.Closed)+len(done.Pruned) > 0
	}
	return s
}

// contents returns all that a record says, in words, in a fixed order.
func contents(t *testing.T, s *Store) []string {
	t.Helper()
	lines := sampleLines(all(t, s))
	for _, width := range []time.Duration{rollup.Hour, rollup.Day} {
		lines = append(lines, bucketLines(t, storedBuckets(t, s, width))...)
	}
	slices.Sort(lines)
	return lines
}

const monthsLong = 66 * 24 // hours, of which the first days have no samples any more

// TestRename compares a record in which a pair was renamed with one that had
// the new name from the start.
func TestRename(t *testing.T) {
	const step = 61 * time.Hour
	other := every("other", 97*time.Hour, 0, monthsLong)
	tests := []struct {
		name     string
		old, new []bench.Sample
		join     bool
	}{
		{"all of it", every("old", step, 0, monthsLong), nil, false},
		{"until lately", every("old", step, 0, 60*24), every("new", step, 61*24, monthsLong), false},
		{"until noon", every("old", 5*time.Hour, 60*24, 60*24+12), every("new", 5*time.Hour, 60*24+14, 62*24), false},
		{"long gone", every("old", 11*time.Hour, 0, 3*24), every("new", step, 4*24, monthsLong), false},
		{"one thing under two names", every("old", step, 30*24, 50*24), every("new", step, 40*24+1, monthsLong), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := recordOf(t, other, tt.old, tt.new)
			want := recordOf(t, other, renamed(tt.old), tt.new)
			done, err := s.Rename(t.Context(), oldName, newName, tt.join, t0.Add(100*day))
			if err != nil || done.Series != 1 || done.Samples+done.Days == 0 {
				t.Fatalf("Rename: %+v, %v", done, err)
			}
			if diff := cmp.Diff(contents(t, want), contents(t, s)); diff != "" {
				t.Errorf("the record (-want +got):\n%s", diff)
			}
			sound(t, s)
			wantPruned(t, s, want)
			events, err := s.Events()
			if err != nil || len(events) != 1 || events[0].Note == nil || *events[0].Note != (rollup.Note{What: rollup.NoteName, From: "acme/old", To: "acme/new"}) {
				t.Errorf("events %+v, %v", events, err)
			}
			before := fingerprints(t, s.Dir())
			if done, err := s.Rename(t.Context(), oldName, newName, false, t0.Add(200*day)); err != nil || done.Series != 0 {
				t.Errorf("renaming again: %+v, %v", done, err)
			}
			if diff := cmp.Diff(before, fingerprints(t, s.Dir())); diff != "" {
				t.Errorf("renaming again changed files:\n%s", diff)
			}
		})
	}
}

// wantPruned compares what two records have logged of the days whose samples
// they dropped.
func wantPruned(t *testing.T, got, want *Store) {
	t.Helper()
	read := func(s *Store) []string {
		r, err := Query(t.Context(), s.path(fileName{kind: kindCatalog}), `SELECT key || ' ' || value FROM meta WHERE key LIKE 'pruned %' OR key = 'renaming' ORDER BY 1`, 1000)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		for _, row := range r.Rows {
			lines = append(lines, row[0].(string))
		}
		return lines
	}
	if diff := cmp.Diff(read(want), read(got)); diff != "" || len(read(want)) == 0 {
		t.Errorf("log of pruned days (-want +got):\n%s", diff)
	}
}

func TestRenameRefused(t *testing.T) {
	tests := []struct {
		name     string
		old, new []bench.Sample
		from, to bench.Pair
		join     bool
		want     error
	}{
		{"never measured", nil, every("third", time.Hour, 0, 2), oldName, newName, false, ErrUnknownPair},
		{"two things", every("old", time.Hour, 0, 9), every("new", time.Hour, 5, 20), oldName, newName, false, ErrOverlap},
		{"in the same hour", every("old", time.Hour, 0, 5), []bench.Sample{success("new", t0.Add(4*time.Hour+time.Minute))}, oldName, newName, false, ErrOverlap},
		{"at the same instant", every("old", time.Hour, 0, 9), every("new", time.Hour, 5, 20), oldName, newName, true, ErrSameInstant},
		{"on a day without samples", every("old", 7*time.Hour, 0, 30), slices.Concat(every("new", 7*time.Hour, 31, 48), every("new", 61*time.Hour, 60*24, monthsLong)), oldName, newName, true, ErrFrozen},
		{"to itself", every("old", time.Hour, 0, 2), nil, oldName, oldName, false, nil},
		{"to nothing", every("old", time.Hour, 0, 2), nil, oldName, bench.Pair{Provider: "acme"}, false, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := recordOf(t, tt.old, tt.new)
			before := fingerprints(t, s.Dir())
			_, err := s.Rename(t.Context(), tt.from, tt.to, tt.join, t0)
			if err == nil || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("Rename: %v; want %v", err, tt.want)
			}
			if diff := cmp.Diff(before, fingerprints(t, s.Dir())); diff != "" {
				t.Errorf("it changed files:\n%s", diff)
			}
		})
	}
}

// TestRenameInterrupted goes on after a renaming that ended while everything
// had both names.
func TestRenameInterrupted(t *testing.T) {
	t.Parallel()
	s := recordOf(t, every("old", 61*time.Hour, 0, monthsLong))
	want := contents(t, recordOf(t, renamed(every("old", 61*time.Hour, 0, monthsLong))))
	r := &renamer{store: s, from: oldName, to: newName}
	copied := newRecord(t)
	if err := errors.Join(r.survey(t.Context()), r.copyInto(t.Context(), copied), r.mark(t.Context(), `INSERT INTO main.meta VALUES('renaming', ?)`)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Merge(t.Context(), copied); err != nil {
		t.Fatal(err)
	}
	sound(t, s)
	if _, err := s.Rename(t.Context(), newName, bench.Pair{Provider: "acme", Model: "third"}, false, t0); err == nil {
		t.Error("another renaming began meanwhile")
	}
	if _, err := s.Rename(t.Context(), oldName, newName, false, t0.Add(100*day)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, contents(t, s)); diff != "" {
		t.Errorf("the record (-want +got):\n%s", diff)
	}
	sound(t, s)
}

// TestRenameIsPublished renames on a branch, where a record may not shrink: days
// of both names become one, and no sample is lost.
func TestRenameIsPublished(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	b.Joins = true
	mustPublish(t, b, every("old", 5*time.Hour, 0, 60)...)
	mustPublish(t, b, every("new", 5*time.Hour, 61, 150)...)
	_, err := b.Publish(t.Context(), func(ctx context.Context, s *Store) (string, error) {
		_, err := s.Rename(ctx, oldName, newName, false, t0.Add(7*day))
		return "Rename\n", err
	})
	if err != nil {
		t.Fatal(err)
	}
	wantPublished(t, remote, slices.Concat(renamed(every("old", 5*time.Hour, 0, 60)), every("new", 5*time.Hour, 61, 150))...)
	if names := gitIn(t, remote, "ls-tree", "-r", "--name-only", DefaultBranch); !strings.Contains(names, eventsFile) {
		t.Errorf("the note is not published:\n%s", names)
	}
}
