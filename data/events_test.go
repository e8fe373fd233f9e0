package data

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

func event(id string) rollup.Event {
	return rollup.Event{
		ID: id, Kind: rollup.EventShift, Provider: "p",
		Series: bench.Series{Pair: bench.Pair{Provider: "p", Model: "m"}, Vantage: "v"},
		Found:  time.Date(2026, 3, 2, 0, 0, 0, 0, time.UTC), Onset: time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC),
		Shift: &rollup.Shift{Metric: rollup.DecodeTPS, Before: 60, After: 48, Change: -0.2},
	}
}

// TestEventsAreOnlyAdded checks that an event is kept as it was first
// published, that adding it again changes nothing, and that a line cut short by
// a crash costs no other event.
func TestEventsAreOnlyAdded(t *testing.T) {
	store, err := Open(t.Context(), t.TempDir(), Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if got, err := store.Events(); err != nil || got != nil {
		t.Fatalf("Events of a new record = %v, %v; want none", got, err)
	}
	add := func(want int, events ...rollup.Event) {
		t.Helper()
		if got, err := store.AddEvents(events); err != nil || got != want {
			t.Fatalf("AddEvents = %d, %v; want %d", got, err, want)
		}
	}
	add(2, event("a"), event("b"))
	changed := event("a")
	changed.Shift.After = 1
	add(1, changed, event("c"))

	file := filepath.Join(store.Dir(), eventsFile)
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)-10], 0o644); err != nil {
		t.Fatal(err)
	}
	want := []rollup.Event{event("a"), event("b")}
	if got, err := store.Events(); err != nil || !cmp.Equal(got, want) {
		t.Fatalf("with the last line cut: %v\n%s", err, cmp.Diff(want, got))
	}
	add(1, event("c"))
	if got, err := store.Events(); err != nil || !cmp.Equal(got, append(want, event("c"))) {
		t.Fatalf("added after a cut line: %v\n%s", err, cmp.Diff(want, got))
	}
}
