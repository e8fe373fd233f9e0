//go:build unix

package data

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// journalVariable tells a copy of the test binary to write a journal, whose path
// it is.
const journalVariable = "STREAMGAUGE_TEST_JOURNAL"

// TestJournalWriter is no test of its own: it is the process that
// [TestJournalFull] lets run out of space. It prints how many samples it was
// told are written.
func TestJournalWriter(t *testing.T) {
	path := os.Getenv(journalVariable)
	if path == "" {
		t.Skip("started by TestJournalFull")
	}
	limitFiles(t)
	j, err := CreateJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 1000 {
		if err := j.Append(success("m", t0.Add(time.Duration(i)*time.Minute))); err != nil {
			if !errors.Is(err, ErrFull) {
				t.Fatal(err)
			}
			fmt.Println("written", i)
			return
		}
	}
	t.Fatal("there was room for all")
}

// TestJournalFull fills the disk within and between the lines of a journal. All
// that was written before is read back, and nothing else.
func TestJournalFull(t *testing.T) {
	t.Parallel()
	step := choose(577, 97)
	for limit := 1; limit < 4<<10; limit += step {
		path := filepath.Join(t.TempDir(), "j.ndjson")
		cmd := exec.Command(os.Args[0], "-test.run=^TestJournalWriter$", "-test.count=1")
		cmd.Env = append(os.Environ(), limitVariable+"="+strconv.Itoa(limit), journalVariable+"="+path)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("limit %d: %v\n%s", limit, err, out)
		}
		_, said, _ := strings.Cut(string(out), "written ")
		said, _, _ = strings.Cut(said, "\n")
		want, err := strconv.Atoi(said)
		if err != nil {
			t.Fatalf("limit %d: %v\n%s", limit, err, out)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		s := newRecord(t)
		r, err := s.IngestJournals(t.Context(), t0.AddDate(0, 0, 1), ReadJournal(path, f, nil))
		if err := errors.Join(err, f.Close()); err != nil || r.New != want || r.BadLines > 1 {
			t.Errorf("limit %d: %d samples and %d bad lines of %d, %v", limit, r.New, r.BadLines, want, err)
		}
	}
}
