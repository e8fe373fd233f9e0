package main

import (
	"errors"
	"path/filepath"
	"runtime"
	"strings"
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

// TestJournalOfARunningRun checks that neither ingesting nor a second run takes
// the journal of a run that is still measuring: what it measured after that
// would be lost.
func TestJournalOfARunningRun(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	record := filepath.Join(t.TempDir(), "record")
	now := time.Now().UTC().Add(-time.Hour)
	sample := func(i int) bench.Sample {
		return bench.Sample{
			Pair: bench.Pair{Provider: "acme", Model: "m"}, StartedAt: now.Add(time.Duration(i) * time.Minute),
			Env:  bench.Env{Method: 1, Prompt: 1, Protocol: "openai_chat", Vantage: "local", Lanes: 1},
			Kind: wire.KindNetwork, Detail: bench.DetailRefused, FailedIn: bench.PhaseDial,
		}
	}
	journal, err := newJournal(record, now, nil)
	if err != nil {
		t.Fatal(err)
	}
	release, err := lockMeasuring(record)
	if err != nil {
		t.Fatal(err)
	}
	providers := writeProvider(t, "acme", "base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nmodels: [m]\n")
	if err := journal.Append(sample(0)); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := runWith(t, "ingest", "--data", record); err != nil || !strings.Contains(stderr, "left to the run that is writing it") {
		t.Errorf("ingest: %v\n%s", err, stderr)
	}
	if _, _, err := runWith(t, "bench", "--data", record, "--providers", providers, "--offline"); !errors.Is(err, data.ErrHeld) {
		t.Errorf("a second run: %v; want it refused", err)
	}
	if err := errors.Join(journal.Append(sample(1)), journal.Close(), release()); err != nil {
		t.Fatal(err)
	}
	if _, stderr, err := runWith(t, "ingest", "--data", record); err != nil || !strings.Contains(stderr, "new=2") {
		t.Errorf("ingest after the run: %v\n%s\nwant both samples", err, stderr)
	}
}
