package data

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

var pushes = flag.Int("pushes", 4, "how often each of four racing writers pushes")

// TestRacingWriters has four writers push again and again, each from its own
// working copy. With -pushes=12 it is the race in which rebasing lost 29 of 48
// rows, and appending again 3.
func TestRacingWriters(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	const writers = 4
	var mu sync.Mutex
	var want []bench.Sample
	tries, exhausted := 0, 0
	var wg sync.WaitGroup
	for w := range writers {
		b := newBranch(t, remote)
		b.Wait = func(ctx context.Context, try int) error {
			select {
			case <-time.After(rand.N(time.Duration(try) * 100 * time.Millisecond)):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		wg.Go(func() {
			var journals []bench.Sample // what is not published yet
			for n := range *pushes {
				s := at(1000*w + n)
				mu.Lock()
				want = append(want, s)
				mu.Unlock()
				journals = append(journals, s)
				p, err := b.Publish(t.Context(), ingesting(journals...))
				mu.Lock()
				tries += p.Tries
				mu.Unlock()
				switch {
				case err == nil:
					journals = nil
				case errors.Is(err, ErrRaced), errors.Is(err, ErrRefused):
					mu.Lock()
					exhausted++
					mu.Unlock()
				default:
					t.Error(err)
					return
				}
			}
			for len(journals) > 0 && t.Context().Err() == nil {
				if _, err := b.Publish(t.Context(), ingesting(journals...)); err == nil {
					journals = nil
				}
			}
		})
	}
	wg.Wait()
	wantPublished(t, remote, want...)
	commits := gitIn(t, remote, "rev-list", "--count", "data")
	t.Logf("%d writers, %d pushes each: %d pushes tried, %d gave up for the time being, %s commits, %d of %d samples published",
		writers, *pushes, tries, exhausted, commits, len(published(t, remote)), len(want))
}

// publisherVariable tells a copy of the test binary to publish a journal:
// remote, working copy and journals, separated by line feeds.
const publisherVariable = "STREAMGAUGE_TEST_PUBLISHER"

// TestPublisher is no test of its own: it is the process that
// [TestPublisherKilled] kills.
func TestPublisher(t *testing.T) {
	order := os.Getenv(publisherVariable)
	if order == "" {
		t.Skip("started by TestPublisherKilled")
	}
	parts := strings.Split(order, "\n")
	b := newBranch(t, parts[0])
	b.Dir = parts[1]
	b.Step = func(s Step) { fmt.Println("step", s) }
	_, err := b.Publish(t.Context(), func(ctx context.Context, s *Store) (string, error) {
		for _, path := range parts[2:] {
			f, err := os.Open(path)
			if err != nil {
				return "", err
			}
			defer f.Close()
			if _, err := s.IngestJournals(ctx, t0.Add(30*day), ReadJournal(path, f, nil)); err != nil {
				return "", err
			}
		}
		_, err := s.Rollup(ctx, t0.Add(30*day))
		return "Record\n", err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range parts[2:] {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

// TestPublisherKilled kills a publisher at each of its steps, a little after
// each, and at random, then lets the next one go on with the same working copy
// and the journals left. Nothing may be lost, nothing be there twice.
func TestPublisherKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes for half a minute")
	}
	t.Parallel()
	remote := newRemote(t)
	dir, spool := filepath.Join(t.TempDir(), "copy"), t.TempDir()
	rnd := rand.New(rand.NewPCG(5, 7))
	var want []bench.Sample
	steps := []Step{StepFetch, StepCheck, StepIngest, StepJudge, StepCommit, StepPush, StepVerify, ""}
	rounds := 1
	if *torture {
		rounds = 20
	}
	kills := map[Step]int{}
	for round := range rounds {
		for i, step := range steps {
			n := round*len(steps) + i
			fresh := []bench.Sample{at(250 * n), at(250*n + 1)} // crosses into new days
			want = append(want, fresh...)
			writeJournal(t, filepath.Join(spool, fmt.Sprintf("%03d.ndjson", n)), fresh)
			delay := rand.N(30 * time.Millisecond)
			if step == "" {
				step, delay = steps[rnd.IntN(len(steps)-1)], rand.N(100*time.Millisecond)
			}
			if publisher(t, remote, dir, spool, step, delay) {
				kills[step]++
			}
		}
	}
	publisher(t, remote, dir, spool, "never", 0)
	if left, _ := filepath.Glob(filepath.Join(spool, "*")); len(left) > 0 {
		t.Errorf("journals left: %v", left)
	}
	wantPublished(t, remote, want...)
	t.Logf("killed: %v; %d samples published", kills, len(want))
	if len(kills) < 3 { // in one round a step may be over before its kill arrives
		t.Errorf("killed at %d steps only", len(kills))
	}
	for _, step := range steps[:len(steps)-1] {
		if kills[step] == 0 && *torture {
			t.Errorf("never killed at %s", step)
		}
	}
}

func writeJournal(t *testing.T, path string, samples []bench.Sample) {
	t.Helper()
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
}

// publisher runs a publisher, kills it so long after a step has begun, and
// reports whether that came before its end.
func publisher(t *testing.T, remote, dir, spool string, step Step, delay time.Duration) (killed bool) {
	t.Helper()
	journals, err := filepath.Glob(filepath.Join(spool, "*.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for {
		cmd := exec.Command(os.Args[0], "-test.run=^TestPublisher$", "-test.count=1")
		cmd.Env = append(os.Environ(), publisherVariable+"="+strings.Join(append([]string{remote, dir}, journals...), "\n"))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var said []string
		for lines := bufio.NewScanner(out); lines.Scan(); {
			said = append(said, lines.Text())
			if lines.Text() == "step "+string(step) {
				time.Sleep(delay) // the point of the kill is not asserted on
				cmd.Process.Kill()
			}
		}
		err = cmd.Wait()
		switch {
		case err == nil:
			return false
		case cmd.ProcessState.ExitCode() == -1:
			return true
		case slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, ErrHeld.Error()) }):
			time.Sleep(20 * time.Millisecond) // a git that the killed one had started is at its end
		default:
			t.Fatalf("the publisher failed: %v\n%s\n%s", err, strings.Join(said, "\n"), stderr.String())
		}
	}
}
