//go:build unix

package data

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// childVariable tells a copy of the test binary to be the writer that is
// killed: directory, journals and clock, separated by line feeds.
const childVariable = "STREAMGAUGE_TEST_WRITER"

// TestWriter is no test of its own: it is the process that [TestKilled] kills.
func TestWriter(t *testing.T) {
	order := os.Getenv(childVariable)
	if order == "" {
		t.Skip("started by TestKilled")
	}
	parts := strings.Split(order, "\n")
	now, err := time.Parse(time.RFC3339Nano, parts[1])
	if err != nil {
		t.Fatal(err)
	}
	limitFiles(t)
	fmt.Println("ready")
	s := openRecord(t, parts[0], Options{Create: true})
	for _, path := range parts[2:] {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.IngestJournals(t.Context(), now, ReadJournal(path, f, nil)); err != nil {
			t.Fatal(err)
		}
		f.Close()
	}
	if _, err := s.Rollup(t.Context(), now); err != nil {
		t.Fatal(err)
	}
}

// TestKilled lets a process ingest and roll up, and kills it at random points.
// Journals come late, twice and in pieces, clocks are wrong, the machine rests
// for days. In the end the record must be what an oracle computes from the
// samples alone, and another run must not change a byte.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for half a minute")
	}
	t.Parallel()
	seeds, runs, perRun := 1, 28, 64*time.Hour
	if *torture {
		seeds, runs, perRun = 3, 350, 7*time.Hour
	}
	for seed := range seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			k := &killer{
				T: t, rnd: rand.New(rand.NewPCG(uint64(seed), 77)), dice: rand.New(rand.NewPCG(uint64(seed), 78)),
				dir: filepath.Join(t.TempDir(), "record"), spool: t.TempDir(), typical: 100 * ms,
			}
			k.torment(runs, perRun)
			t.Logf("%d starts, %d killed, %d left a journal behind", k.starts, k.kills, k.hot)
			if *torture && (k.kills < 100 || k.hot == 0) {
				t.Errorf("killed %d times, %d journals: not much of a torture", k.kills, k.hot)
			}
		})
	}
}

type killer struct {
	*testing.T
	rnd                *rand.Rand // what happens: the same each time
	dice               *rand.Rand // when the writer is killed
	dir, spool         string
	typical            time.Duration // how long the writer takes
	starts, kills, hot int
	samples            []bench.Sample
	journals, undone   []string
	late               map[int][]bench.Sample // by the run that brings them
}

func (k *killer) torment(runs int, perRun time.Duration) {
	k.late = map[int][]bench.Sample{}
	now := t0.Add(12 * time.Hour)
	for run := range runs {
		step := perRun
		if k.rnd.IntN(40) == 0 {
			step += 4 * day // an outage
		}
		from := now
		now = now.Add(step)
		var fresh []bench.Sample
		for range 2 + k.rnd.IntN(8) {
			at := from.Add(time.Duration(k.rnd.Int64N(int64(step)))).Truncate(ms)
			s := random(k.rnd, fmt.Sprint("m", k.rnd.IntN(4)), at)
			k.samples = append(k.samples, s)
			if k.rnd.IntN(6) == 0 { // a late shard, up to a fortnight
				due := run + k.rnd.IntN(int(14*day/perRun)+1)
				k.late[due] = append(k.late[due], s)
				continue
			}
			fresh = append(fresh, s)
		}
		fresh = append(fresh, k.late[run]...)
		delete(k.late, run)
		k.journals = append(k.journals, k.journal(fresh))
		k.undone = append(k.undone, k.journals[len(k.journals)-1])
		if k.rnd.IntN(5) == 0 { // one that was ingested before
			k.undone = append(k.undone, k.journals[k.rnd.IntN(len(k.journals))])
		}
		clock, right := now, true
		switch k.rnd.IntN(12) {
		case 0:
			clock, right = now.Add(-9*time.Minute), false
		case 1:
			clock = now.Add(4 * time.Minute)
		case 2:
			clock = now.AddDate(0, 0, 400)
		}
		// Samples that a slow clock took for future ones come again next time.
		if k.write(clock, k.undone) && right {
			k.undone = nil
		}
	}
	for _, fresh := range k.late {
		k.undone = append(k.undone, k.journal(fresh))
	}
	for !k.write(now, k.undone) {
	}
	for range 40 { // prune what is due, two days a run
		if k.calm(now, nil) {
			break
		}
	}
	k.judge(now)
}

// journal writes samples as a journal.
func (k *killer) journal(samples []bench.Sample) string {
	path := filepath.Join(k.spool, fmt.Sprintf("%04d-%d.ndjson", len(k.journals), k.rnd.Uint32()))
	j, err := CreateJournal(path, nil)
	if err != nil {
		k.Fatal(err)
	}
	for _, s := range samples {
		if err := j.Append(s); err != nil {
			k.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		k.Fatal(err)
	}
	return path
}

// write starts the writer, and kills it every other time. If it was killed, it
// is started again, or left, which is false.
func (k *killer) write(now time.Time, journals []string) (done bool) {
	for {
		if k.dice.IntN(5) < 2 {
			k.calm(now, journals)
			return true
		}
		if !k.start(now, journals, time.Duration(k.dice.Int64N(int64(k.typical*5/4)))) {
			return true
		}
		if k.dice.IntN(3) == 0 {
			return false
		}
	}
}

// calm runs the writer to its end. It reports whether nothing changed.
func (k *killer) calm(now time.Time, journals []string) (same bool) {
	before := k.fingerprints()
	begin := time.Now()
	if k.start(now, journals, 0) {
		k.Fatal("the writer was killed by somebody else")
	}
	k.typical = (3*k.typical + time.Since(begin)) / 4
	return maps.Equal(before, k.fingerprints())
}

func (k *killer) fingerprints() map[string][32]byte {
	if _, err := os.Stat(k.dir); err != nil {
		return nil
	}
	return fingerprints(k.T, k.dir)
}

// start runs the writer and kills it after a while; never if that is 0. It
// reports whether it was killed.
func (k *killer) start(now time.Time, journals []string, after time.Duration) (killed bool) {
	k.Helper()
	k.starts++
	cmd := exec.Command(os.Args[0], "-test.run=^TestWriter$", "-test.count=1")
	cmd.Env = append(os.Environ(), childVariable+"="+strings.Join(append([]string{k.dir, now.Format(time.RFC3339Nano)}, journals...), "\n"))
	out, err := cmd.StdoutPipe()
	if err != nil {
		k.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		k.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var said []string
	for lines.Scan() {
		said = append(said, lines.Text())
		if lines.Text() == "ready" && after > 0 {
			time.AfterFunc(after, func() { cmd.Process.Kill() }) // it may have ended: that is an unkilled run
		}
	}
	err = cmd.Wait()
	if err == nil {
		return false
	}
	if cmd.ProcessState.ExitCode() != -1 {
		k.Fatalf("the writer failed: %v\n%s\n%s", err, strings.Join(said, "\n"), stderr.String())
	}
	k.kills++
	if left, _ := filepath.Glob(filepath.Join(k.dir, "*", "*-journal")); len(left) > 0 {
		k.hot++
	}
	return true
}

// judge compares the record with the oracle.
func (k *killer) judge(now time.Time) {
	k.calm(now, k.journals) // puts what is too old by now aside
	if !k.calm(now, k.journals) {
		k.Error("another run changed the record")
	}
	s := openRecord(k.T, k.dir, Options{})
	sound(k.T, s)
	inv, err := s.Inventory(k.Context())
	if err != nil {
		k.Fatal(err)
	}
	if want := midnight(earlier(now, k.newest().Add(time.Hour)).Add(-RawRetention)); !inv.Floor.Equal(want) {
		k.Errorf("raw samples are kept from %v, want %v", inv.Floor, want)
	}
	o := newOracle(k.samples)
	kept := slices.DeleteFunc(slices.Collect(maps.Values(o.samples)), func(s bench.Sample) bool { return s.StartedAt.Before(inv.Floor) })
	if len(kept) == len(o.samples) {
		k.Error("nothing was pruned")
	}
	if diff := cmp.Diff(sampleLines(kept), sampleLines(all(k.T, s))); diff != "" {
		k.Errorf("samples (-want +got):\n%s", diff)
	}
	for _, width := range []time.Duration{rollup.Hour, rollup.Day} {
		if diff := cmp.Diff(o.lines(width, time.Time{}, farFuture()), bucketLines(k.T, storedBuckets(k.T, s, width))); diff != "" {
			k.Errorf("buckets of %v (-want +got):\n%s", width, diff)
		}
	}
}

func (k *killer) newest() time.Time {
	var newest time.Time
	for _, s := range k.samples {
		newest = later(newest, s.StartedAt)
	}
	return newest
}
