package main

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/data"
)

// TestPendingIsHistory has a journal with a sample that the record knows, one
// that it does not, twice, and one from another place.
func TestPendingIsHistory(t *testing.T) {
	dir := t.TempDir()
	at := time.Date(2026, 5, 1, 12, 0, 0, 123_456_789, time.UTC)
	pair := bench.Pair{Provider: "p", Model: "m"}
	sample := func(after time.Duration, vantage string) bench.Sample {
		return bench.Sample{Pair: pair, StartedAt: at.Add(after), Env: bench.Env{Vantage: vantage}, Kind: wire.KindServer, FailedIn: bench.PhaseHeaders}
	}
	for _, name := range []string{"a.ndjson", "b.ndjson"} {
		j, err := data.CreateJournal(filepath.Join(dir, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range []bench.Sample{sample(0, "here"), sample(time.Minute, "here"), sample(2*time.Minute, "there")} {
			if err := j.Append(s); err != nil {
				t.Fatal(err)
			}
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	}
	history := bench.History{pair: {{StartedAt: at.Truncate(time.Millisecond)}}}
	err := addPending(history, dir, func(s *bench.Sample) bool { return s.Env.Vantage == "here" })
	if err != nil {
		t.Fatal(err)
	}
	if got := history[pair]; len(got) != 2 || !got[1].StartedAt.Equal(at.Add(time.Minute)) {
		t.Errorf("history %v; want the one of the record and the one a minute later", got)
	}
}
