package data

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// TestReRoot cuts a history of five commits, and lets a writer go on that still
// has it.
func TestReRoot(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	stale := newBranch(t, remote)
	for minute := range 5 {
		mustPublish(t, stale, at(minute))
	}
	tip := gitIn(t, remote, "rev-parse", "data")
	tree := gitIn(t, remote, "rev-parse", "data^{tree}")
	b := newBranch(t, remote)
	weight, err := b.Weigh(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if weight.Commits != 5 || weight.Newest <= 0 || weight.Newest >= weight.Bytes {
		t.Errorf("before: %+v", weight)
	}
	done, err := b.ReRoot(t.Context(), tip)
	if err != nil {
		t.Fatal(err)
	}
	if !done.Changed || done.From != tip || done.Before != weight || done.Tries != 1 {
		t.Errorf("re-rooting: %+v", done)
	}
	if now := gitIn(t, remote, "rev-parse", "data", "data^{tree}"); now != done.Commit+"\n"+tree {
		t.Errorf("the branch is at %s, want %s with the tree %s", now, done.Commit, tree)
	}
	if n := gitIn(t, remote, "rev-list", "--count", "data"); n != "1" {
		t.Errorf("%s commits, want 1", n)
	}
	if text := gitIn(t, remote, "log", "--format=%B", "data"); !strings.Contains(text, tip) {
		t.Errorf("the commit does not say what it follows:\n%s", text)
	}
	weight, err = b.Weigh(t.Context())
	if err != nil || weight.Commits != 1 || weight.Bytes < weight.Newest {
		t.Errorf("after: %+v, %v", weight, err)
	}
	if again, err := b.ReRoot(t.Context(), done.Commit); err != nil || again.Changed || again.Commit != done.Commit {
		t.Errorf("re-rooting again: %+v, %v; want no change", again, err)
	}
	p := mustPublish(t, stale, at(5))
	if p.Tip.Commit != done.Commit || p.Fresh != "" {
		t.Errorf("the writer continued %+v, want %s", p.Tip, done.Commit)
	}
	wantPublished(t, remote, at(0), at(1), at(2), at(3), at(4), at(5))

	// A reader that has the old history follows.
	reader := filepath.Join(t.TempDir(), "reader")
	gitIn(t, t.TempDir(), "clone", "--quiet", "--branch", DefaultBranch, remote, reader)
	if _, err := b.ReRoot(t.Context(), p.Commit); err != nil {
		t.Fatal(err)
	}
	gitIn(t, reader, "fetch", "--quiet", "--depth", "1", "origin", "data")
	gitIn(t, reader, "reset", "--quiet", "--hard", "origin/data")
	if n := len(all(t, openRecord(t, reader, Options{}))); n != 6 {
		t.Errorf("the reader has %d samples, want 6", n)
	}
}

// TestReRootNeedsASnapshot names what a snapshot was not made of.
func TestReRootNeedsASnapshot(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	mustPublish(t, b, at(1))
	mustPublish(t, b, at(2))
	tip := gitIn(t, remote, "rev-parse", "data")
	for _, snapshot := range []string{
		"", "data", "--all", strings.Repeat("0", 40), gitIn(t, remote, "rev-parse", "main"), gitIn(t, remote, "rev-parse", "data^{tree}"),
	} {
		if done, err := b.ReRoot(t.Context(), snapshot); !errors.Is(err, ErrNoSnapshot) || done.Changed {
			t.Errorf("snapshot %q: %+v, %v; want ErrNoSnapshot", snapshot, done, err)
		}
	}
	if now := gitIn(t, remote, "rev-parse", "data"); now != tip {
		t.Error("the branch was moved")
	}
	parent := gitIn(t, remote, "rev-parse", "data^")
	if done, err := b.ReRoot(t.Context(), parent); err != nil || !done.Changed {
		t.Errorf("a snapshot of the commit before: %+v, %v", done, err)
	}
	wantPublished(t, remote, at(1), at(2))
}

func TestReRootRefused(t *testing.T) {
	for _, tt := range []struct {
		name  string
		spoil func(t *testing.T, b *Branch)
		want  error
	}{
		{"no branch", func(t *testing.T, b *Branch) { gitIn(t, b.Remote, "update-ref", "-d", "refs/heads/data") }, ErrNoBranch},
		{"protected", func(t *testing.T, b *Branch) { gitIn(t, b.Remote, "config", "receive.denyNonFastForwards", "true") }, ErrRefused},
		{"unsound", func(t *testing.T, b *Branch) {
			clone := filepath.Join(t.TempDir(), "clone")
			gitIn(t, t.TempDir(), "clone", "--quiet", "--branch", DefaultBranch, b.Remote, clone)
			overwrite(t, filepath.Join(clone, "raw", "2026-03-30.sqlite"), []byte("not a database"))
			gitIn(t, clone, "commit", "--quiet", "--all", "-m", "spoil")
			gitIn(t, clone, "push", "--quiet", "origin", "data")
		}, ErrForeign},
		{"another's", func(t *testing.T, b *Branch) { b.Instance = "github:2 somebody/else" }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			remote := newRemote(t)
			b := newBranch(t, remote)
			mustPublish(t, b, at(1))
			snapshot := mustPublish(t, b, at(2)).Commit
			tt.spoil(t, b)
			before := gitIn(t, remote, "for-each-ref")
			done, err := b.ReRoot(t.Context(), snapshot)
			if err == nil || done.Changed || tt.want != nil && !errors.Is(err, tt.want) {
				t.Errorf("ReRoot: %+v, %v; want %v", done, err, tt.want)
			}
			if after := gitIn(t, remote, "for-each-ref"); after != before {
				t.Errorf("branches were\n%s\nand are\n%s", before, after)
			}
		})
	}
}

// TestReRootRaced has a writer push just before the branch is moved, and cuts
// the history just before a writer pushes.
func TestReRootRaced(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	writer, b := newBranch(t, remote), newBranch(t, remote)
	mustPublish(t, writer, at(0))
	snapshot := mustPublish(t, writer, at(1)).Commit
	rivals := 0
	b.Step = func(s Step) {
		if s == StepPush && rivals < 2 {
			rivals++
			mustPublish(t, writer, at(1+rivals))
		}
	}
	done, err := b.ReRoot(t.Context(), snapshot)
	if err != nil || done.Tries != 3 || !done.Changed || done.Before.Commits != 4 {
		t.Errorf("ReRoot: %+v, %v; want three tries and four commits", done, err)
	}
	wantPublished(t, remote, at(0), at(1), at(2), at(3))

	b.Step = nil
	cut := 0
	writer.Step = func(s Step) {
		if s == StepPush && cut == 0 {
			cut++
			if _, err := b.ReRoot(t.Context(), gitIn(t, remote, "rev-parse", "data")); err != nil {
				t.Error(err)
			}
		}
	}
	mustPublish(t, writer, at(4)) // makes a second commit, and so something to cut
	writer.Step, cut = nil, 0
	mustPublish(t, writer, at(5))
	writer.Step = func(s Step) {
		if s == StepPush && cut == 0 {
			cut++
			if done, err := b.ReRoot(t.Context(), gitIn(t, remote, "rev-parse", "data")); err != nil || !done.Changed {
				t.Errorf("%+v, %v", done, err)
			}
		}
	}
	if p := mustPublish(t, writer, at(6)); p.Tries != 2 {
		t.Errorf("%d tries, want 2: the first was made on a history that is gone", p.Tries)
	}
	wantPublished(t, remote, at(0), at(1), at(2), at(3), at(4), at(5), at(6))
}

// TestRacingReRooter cuts the history again and again while writers push.
func TestRacingReRooter(t *testing.T) {
	if testing.Short() {
		t.Skip("races for some seconds")
	}
	t.Parallel()
	remote := newRemote(t)
	first := mustPublish(t, newBranch(t, remote), at(0))
	wait := func(ctx context.Context, try int) error {
		select {
		case <-time.After(rand.N(time.Duration(try) * 100 * time.Millisecond)):
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	want := []bench.Sample{at(0)}
	var writers sync.WaitGroup
	for w := range 2 {
		b := newBranch(t, remote)
		b.Wait = wait
		for n := range *pushes {
			want = append(want, at(1+1000*w+n))
		}
		writers.Go(func() {
			for n := range *pushes {
				for {
					_, err := b.Publish(t.Context(), ingesting(at(1+1000*w+n)))
					if err == nil {
						break
					}
					if !errors.Is(err, ErrRaced) && !errors.Is(err, ErrRefused) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	over := make(chan struct{})
	cuts := 0
	var cutter sync.WaitGroup
	cutter.Go(func() {
		b := newBranch(t, remote)
		b.Wait = wait
		snapshot := first.Commit
		for {
			select {
			case <-over:
				return
			default:
			}
			done, err := b.ReRoot(t.Context(), snapshot)
			switch {
			case err == nil && done.Changed:
				cuts++
				snapshot = done.Commit
			case err != nil && !errors.Is(err, ErrRaced) && !errors.Is(err, ErrRefused):
				t.Error(err)
				return
			}
		}
	})
	writers.Wait()
	close(over)
	cutter.Wait()
	wantPublished(t, remote, want...)
	t.Logf("%d cuts while %d samples were published", cuts, len(want))
	if cuts == 0 {
		t.Error("nothing was cut")
	}
}

// reRooterVariable tells a copy of the test binary to re-root: remote and
// snapshot, separated by a line feed.
const reRooterVariable = "STREAMGAUGE_TEST_REROOTER"

// TestReRooter is no test of its own: it is the process that
// [TestReRooterKilled] kills.
func TestReRooter(t *testing.T) {
	order := os.Getenv(reRooterVariable)
	if order == "" {
		t.Skip("started by TestReRooterKilled")
	}
	remote, snapshot, _ := strings.Cut(order, "\n")
	b := newBranch(t, remote)
	b.Step = func(s Step) { fmt.Println("step", s) }
	if _, err := b.ReRoot(t.Context(), snapshot); err != nil {
		t.Fatal(err)
	}
}

// TestReRooterKilled kills a re-rooting as each of its steps begins. The record
// is whole after each, and the next writer goes on.
func TestReRooterKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("kills processes")
	}
	t.Parallel()
	remote := newRemote(t)
	writer := newBranch(t, remote)
	var want []bench.Sample
	cut := 0
	for i, step := range []Step{StepFetch, StepCheck, StepWeigh, StepCommit, StepPush, StepVerify, "never"} {
		want = append(want, at(2*i), at(2*i+1))
		mustPublish(t, writer, at(2*i))
		snapshot := mustPublish(t, writer, at(2*i+1)).Commit
		killReRooter(t, remote, snapshot, step)
		wantPublished(t, remote, want...)
		switch n := gitIn(t, remote, "rev-list", "--count", "data"); {
		case n == "1":
			cut++
		case step == StepVerify || step == "never":
			t.Errorf("killed at %s: %s commits, want 1", step, n)
		}
	}
	if cut < 2 {
		t.Errorf("cut %d times, want at least 2", cut)
	}
}

// killReRooter runs a re-rooting and kills it as a step begins.
func killReRooter(t *testing.T, remote, snapshot string, step Step) {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^TestReRooter$", "-test.count=1")
	cmd.Env = append(os.Environ(), reRooterVariable+"="+remote+"\n"+snapshot)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		said = append(said, lines.Text())
		if lines.Text() == "step "+string(step) {
			cmd.Process.Kill()
		}
	}
	if err := cmd.Wait(); err != nil && cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the re-rooting failed: %v\n%s", err, strings.Join(said, "\n"))
	}
}
