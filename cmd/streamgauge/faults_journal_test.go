//go:build unix

package main

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
)

// maxIngestMemory is how much memory an ingest may take, whatever its journal is.
const maxIngestMemory = 400 << 20

// TestHostileJournals ingests journals of garbage, of one sample again and
// again, of contradictions, and of conflicts, in bounded memory. They come
// through a pipe, so that ten million lines need no disk.
func TestHostileJournals(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	lines := 30_000 // more than one batch
	if *everyWrite {
		lines = 10_000_000
	}
	lab := newFaultLab(t)
	text, err := os.ReadFile(lab.late)
	if err != nil {
		t.Fatal(err)
	}
	good, _, _ := bytes.Cut(text, []byte("\n"))
	// with returns the good line with another number or text in one place.
	with := func(pattern, by string) []byte {
		changed := regexp.MustCompile(pattern).ReplaceAll(good, []byte(by))
		if bytes.Equal(changed, good) {
			t.Fatalf("%s changes nothing in %s", pattern, good)
		}
		return changed
	}
	garbage := []string{"x", "{}x", "{", "[1,2]", `{"no_such_field":1}`, "\x00\xff", `{"started_at":"yesterday"}`}
	for _, tt := range []struct {
		name string
		line func(i int) []byte
		want []string
	}{
		{"garbage", func(i int) []byte { return []byte(garbage[i%len(garbage)]) }, []string{"journal line skipped", "new=1 known=0"}},
		{"duplicates", func(int) []byte { return good }, []string{"new=1 known=" + strconv.Itoa(lines)}},
		{"contradictions", func(i int) []byte { return with(`"deliveries":\d+`, `"deliveries":`+strconv.Itoa(1_000_000+i)) },
			[]string{"why=invalid samples=" + strconv.Itoa(lines), "new=1"}},
		{"conflicts", func(i int) []byte { return with(`"words":\d+`, `"words":`+strconv.Itoa(1_000_000+i)) },
			[]string{"why=conflict samples=" + strconv.Itoa(lines), "new=1"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			journal := filepath.Join(dir, "journal.ndjson")
			if err := syscall.Mkfifo(journal, 0o600); err != nil {
				t.Fatal(err)
			}
			go func() {
				f, err := os.OpenFile(journal, os.O_WRONLY, 0)
				if err != nil {
					return // the program did not open its end, which is told below
				}
				defer f.Close()
				w := bufio.NewWriter(f)
				defer w.Flush()
				for i := -1; i < lines; i++ {
					line := good
					if i >= 0 {
						line = tt.line(i)
					}
					if _, err := w.Write(append(line[:len(line):len(line)], '\n')); err != nil {
						return
					}
				}
			}()
			record := filepath.Join(dir, "record")
			cmd := exec.CommandContext(t.Context(), "streamgauge", "ingest", "--data", record, journal)
			log, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("ingest: %v\n%s", err, log)
			}
			for _, part := range tt.want {
				if !bytes.Contains(log, []byte(part)) {
					t.Errorf("the log lacks %q:\n%s", part, log)
				}
			}
			usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
			// A child's peak begins with what this process had when it started it.
			var own syscall.Rusage
			if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
				t.Fatal(err)
			}
			if used := usage.Maxrss << 10; used > max(maxIngestMemory, own.Maxrss<<10) {
				t.Errorf("it took %d bytes of memory, more than %d", used, int64(maxIngestMemory))
			} else {
				t.Logf("%d MB of memory", used>>20)
			}
			contentOf(t, record)
			var kept int64
			for name := range filesIn(t, record) {
				info, err := os.Stat(filepath.Join(record, name))
				if err != nil {
					t.Fatal(err)
				}
				kept += info.Size()
			}
			if kept > 80<<20 {
				t.Errorf("the record grew to %d bytes", kept)
			}
		})
	}
}
