package data

import (
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestTaken notes journals as taken, day by day. A note changes nothing twice,
// and goes with its day file.
func TestTaken(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	note := func(at time.Time, names ...string) {
		t.Helper()
		if err := s.NoteTaken(t.Context(), at, names); err != nil {
			t.Fatal(err)
		}
	}
	taken := func(since time.Time, want map[string]time.Time) {
		t.Helper()
		got, err := s.Taken(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("since %v (-want +got):\n%s", since, diff)
		}
	}
	note(t0, "journal-1-1-all")
	taken(t0, map[string]time.Time{})

	ingest(t, s, success("m", t0.Add(time.Hour)))
	note(t0.Add(2*time.Hour), "journal-2-1-b", "journal-2-1-a")
	before := fingerprints(t, s.Dir())
	note(t0.Add(3*time.Hour), "journal-2-1-a")
	note(t0.Add(3 * time.Hour))
	if !maps.Equal(before, fingerprints(t, s.Dir())) {
		t.Error("a note that was there already changed a file")
	}
	ingest(t, s, success("m", t0.Add(25*time.Hour)))
	note(t0.Add(26*time.Hour), "journal-3-1-a")
	taken(t0, map[string]time.Time{"journal-2-1-a": t0, "journal-2-1-b": t0, "journal-3-1-a": t0.Add(day)})
	taken(t0.Add(day), map[string]time.Time{"journal-3-1-a": t0.Add(day)})
	sound(t, s)

	ingest(t, s, success("m", t0.Add(70*day)))
	for range 2 {
		if _, err := s.Rollup(t.Context(), t0.Add(70*day)); err != nil {
			t.Fatal(err)
		}
	}
	taken(t0, map[string]time.Time{})
}
