//go:build unix

package data

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
)

// limitVariable tells a copy of the test binary how large a file may grow.
const limitVariable = "STREAMGAUGE_TEST_FILE_SIZE"

// limitFiles obeys limitVariable: writes beyond the limit fail, as they do on a
// full disk.
func limitFiles(t *testing.T) {
	limit, err := strconv.ParseUint(os.Getenv(limitVariable), 10, 64)
	if err != nil {
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
		t.Fatal(err)
	}
}

// TestFullDisk lets a writer run out of space at many points. Either it is
// done, or it says so and the record is as it was.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	var samples []bench.Sample
	for i := range 1500 {
		samples = append(samples, success(fmt.Sprint("m", i%5), t0.Add(time.Duration(i)*3*time.Minute)))
	}
	path := filepath.Join(t.TempDir(), "j")
	j, err := CreateJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range samples {
		if err := j.Append(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	now := samples[len(samples)-1].StartedAt
	full, done := 0, 0
	for limit := 4 << 10; limit <= 256<<10; limit += choose(28<<10, 12<<10) {
		dir := small(t)
		before := fingerprints(t, dir)
		was := sampleLines(all(t, openRecord(t, dir, Options{ReadOnly: true})))
		cmd := exec.Command(os.Args[0], "-test.run=^TestWriter$", "-test.count=1")
		cmd.Env = append(os.Environ(), limitVariable+"="+strconv.Itoa(limit), childVariable+"="+strings.Join([]string{dir, now.Format(time.RFC3339Nano), path}, "\n"))
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		switch {
		case err == nil:
			done++
		case errors.As(err, &exit) && exit.ExitCode() == 1 && strings.Contains(string(out), ErrFull.Error()):
			full++
			if strings.Contains(string(out), "roll up") {
				break // the samples were in; their buckets were not
			}
			s := openRecord(t, dir, Options{})
			if diff := cmp.Diff(was, sampleLines(all(t, s))); diff != "" {
				t.Errorf("limit %d: samples changed:\n%s", limit, diff)
			}
			after := fingerprints(t, dir)
			maps.DeleteFunc(after, func(path string, _ [32]byte) bool { // made, and still empty
				_, old := before[path]
				return !old
			})
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("limit %d: files changed:\n%s", limit, diff)
			}
		default:
			t.Fatalf("limit %d: %v\n%s", limit, err, out)
		}
		sound(t, openRecord(t, dir, Options{}))
	}
	if full < 3 || done < 2 {
		t.Errorf("%d writers ran out of space, %d did not", full, done)
	}
	t.Logf("%d writers ran out of space, %d did not", full, done)
}
