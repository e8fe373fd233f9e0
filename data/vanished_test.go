package data

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestVanishedDay takes the file of a closed day away. The check tells, and a
// late sample must not begin it anew: its day's summaries would be computed
// from that one sample.
func TestVanishedDay(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	ingest(t, s, success("a", t0.Add(time.Hour)), success("a", t0.Add(2*time.Hour)), success("a", t0.Add(49*time.Hour)))
	if r, err := s.Rollup(t.Context(), t0.Add(49*time.Hour)); err != nil || len(r.Closed) == 0 {
		t.Fatalf("closed %v: %v", r.Closed, err)
	}
	path := s.path(rawFile(t0))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	findings, err := s.Check(t.Context())
	if err != nil || len(findings) != 1 || findings[0].Rule != "vanished" || findings[0].File != rawFile(t0).relative() {
		t.Errorf("findings %v, %v", findings, err)
	}
	before := storedBuckets(t, s, day)
	_, err = s.Append(t.Context(), t0.Add(50*time.Hour), success("a", t0.Add(3*time.Hour)))
	var f *FileError
	if !errors.Is(err, ErrVanished) || !errors.As(err, &f) || f.Path != path {
		t.Errorf("a late sample: %v; want ErrVanished of %s", err, path)
	}
	if _, err := os.Stat(path); err == nil {
		t.Error("the day began anew")
	}
	if after := storedBuckets(t, s, day); len(after) != len(before) || after[0].Samples != 2 {
		t.Errorf("buckets %+v, were %+v", after, before)
	}
	// A day that never had a sample has no file either, and is no fault.
	if r, err := s.Append(t.Context(), t0.Add(50*time.Hour), success("a", t0.Add(27*time.Hour))); err != nil || r.New != 1 {
		t.Errorf("a late sample of an empty day: %+v, %v", r, err)
	}
}

// TestQuarantineIsBounded puts samples aside where millions of them are already.
func TestQuarantineIsBounded(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	path := filepath.Join(s.Dir(), "quarantine", string(Future)+".ndjson")
	line := strings.Repeat("x", 1<<20-1) + "\n"
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(strings.Repeat(line, maxQuarantine>>20)), 0o644)); err != nil {
		t.Fatal(err)
	}
	r, err := s.Append(t.Context(), t0, success("a", t0.AddDate(0, 0, 1)))
	if err != nil || r.Aside[Future] != 1 {
		t.Errorf("%+v, %v; want one put aside", r, err)
	}
	if info, err := os.Stat(path); err != nil || info.Size() != maxQuarantine {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
}
