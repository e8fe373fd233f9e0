package data

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
)

// gitIn runs git in a directory and returns what it prints.
func gitIn(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// newRemote makes a bare repository with a commit on main, as a host has it.
func newRemote(t testing.TB) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "remote.git")
	gitIn(t, t.TempDir(), "init", "--quiet", "--bare", "--initial-branch=main", dir)
	seed := t.TempDir()
	gitIn(t, seed, "init", "--quiet", "--initial-branch=main")
	gitIn(t, seed, "commit", "--quiet", "--allow-empty", "-m", "code")
	gitIn(t, seed, "push", "--quiet", dir, "main")
	return dir
}

func newBranch(t testing.TB, remote string) *Branch {
	return &Branch{
		Remote: remote, Dir: filepath.Join(t.TempDir(), "copy"), Instance: "github:1 owner/name",
		Env: []string{"PATH=" + os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null"},
	}
}

// ingesting is work on a branch that ingests samples and rolls up.
func ingesting(samples ...bench.Sample) func(context.Context, *Store) (string, error) {
	now := t0
	for i := range samples {
		now = later(now, samples[i].StartedAt)
	}
	return func(ctx context.Context, s *Store) (string, error) {
		if _, err := s.Ingest(ctx, now, samples); err != nil {
			return "", err
		}
		_, err := s.Rollup(ctx, now)
		return fmt.Sprintf("Record %d samples\n", len(samples)), err
	}
}

func mustPublish(t testing.TB, b *Branch, samples ...bench.Sample) Publication {
	t.Helper()
	p, err := b.Publish(t.Context(), ingesting(samples...))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// published reads all samples at the tip of a remote's branch, through a clone
// that git itself makes, and checks the record.
func published(t testing.TB, remote string) []bench.Sample {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "clone")
	gitIn(t, t.TempDir(), "clone", "--quiet", "--branch", DefaultBranch, remote, dir)
	s := openRecord(t, dir, Options{})
	sound(t, s)
	return all(t, s)
}

// at returns a sample of some model a number of minutes after t0.
func at(minutes int) bench.Sample {
	return success(fmt.Sprint("m", minutes%3), t0.Add(time.Duration(minutes)*time.Minute))
}

func wantPublished(t testing.TB, remote string, want ...bench.Sample) {
	t.Helper()
	if diff := cmp.Diff(sampleLines(want), sampleLines(published(t, remote))); diff != "" {
		t.Errorf("published samples (-want +got):\n%s", diff)
	}
}

func TestPublish(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	first := mustPublish(t, b, at(1), at(2))
	if !first.Changed || first.Fresh == "" || first.Tip.Commit != "" || first.Tries != 1 || first.Inventory.Samples != 2 {
		t.Errorf("first publication: %+v", first)
	}
	again := mustPublish(t, b, at(2), at(1))
	if again.Changed || again.Commit != first.Commit || again.Fresh != "" || again.Tries != 0 {
		t.Errorf("publishing the same again: %+v", again)
	}
	other := newBranch(t, remote) // another machine
	second := mustPublish(t, other, at(3))
	if second.Tip.Commit != first.Commit {
		t.Errorf("continued %s, want %s", second.Tip.Commit, first.Commit)
	}
	third := mustPublish(t, b, at(4)) // its working copy is one commit behind
	if third.Tip.Commit != second.Commit {
		t.Errorf("continued %s, want %s", third.Tip.Commit, second.Commit)
	}
	wantPublished(t, remote, at(1), at(2), at(3), at(4))

	if got := gitIn(t, remote, "log", "--format=%s", DefaultBranch); got != "Record 1 samples\nRecord 1 samples\nRecord 2 samples" {
		t.Errorf("log:\n%s", got)
	}
	names := gitIn(t, remote, "ls-tree", "-r", "--name-only", DefaultBranch)
	if want := ".gitattributes\n.gitignore\nREADME.md\ncatalog.sqlite\ninstance\nraw/2026-03-30.sqlite"; names != want {
		t.Errorf("committed files:\n%s\nwant:\n%s", names, want)
	}
	if main := gitIn(t, remote, "log", "--format=%s", "main"); main != "code" {
		t.Errorf("main holds %q", main)
	}
}

// TestPublishCommitsTheRecordOnly leaves files about that must not be
// committed, and journals that must stay where they are.
func TestPublishCommitsTheRecordOnly(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	mustPublish(t, b, at(1))
	journal := filepath.Join(b.Dir, "journals", "left.ndjson")
	if err := os.MkdirAll(filepath.Dir(journal), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(journal, []byte("{}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := b.Publish(t.Context(), func(ctx context.Context, s *Store) (string, error) {
		if err := os.WriteFile(filepath.Join(s.Dir(), "secrets.txt"), []byte("key"), 0o644); err != nil {
			return "", err
		}
		return ingesting(at(2))(ctx, s)
	})
	if err != nil {
		t.Fatal(err)
	}
	names := gitIn(t, remote, "ls-tree", "-r", "--name-only", DefaultBranch)
	if strings.Contains(names, "secrets") || strings.Contains(names, "journals") {
		t.Errorf("committed:\n%s", names)
	}
	if _, err := os.Stat(journal); err != nil {
		t.Errorf("the journal is gone: %v", err)
	}
}

func TestEmptyBranch(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	seed := t.TempDir()
	gitIn(t, seed, "init", "--quiet", "--initial-branch=data")
	gitIn(t, seed, "commit", "--quiet", "--allow-empty", "-m", "made by hand")
	gitIn(t, seed, "push", "--quiet", remote, "data")
	p := mustPublish(t, newBranch(t, remote), at(1))
	if p.Fresh == "" || p.Tip.Commit == "" {
		t.Errorf("publication on an empty branch: %+v", p)
	}
	wantPublished(t, remote, at(1))
	if n := gitIn(t, remote, "rev-list", "--count", "data"); n != "2" {
		t.Errorf("%s commits, want 2: the one made by hand stays", n)
	}
}

// TestForkBeginsAnew copies a repository with all its branches, as a fork may.
func TestForkBeginsAnew(t *testing.T) {
	t.Parallel()
	upstream := newRemote(t)
	theirs := mustPublish(t, newBranch(t, upstream), at(1), at(2))
	fork := filepath.Join(t.TempDir(), "fork.git")
	gitIn(t, t.TempDir(), "clone", "--quiet", "--bare", upstream, fork)
	b := newBranch(t, fork)
	b.Instance = "github:2 somebody/else"
	p := mustPublish(t, b, at(3))
	if want := "the record is that of github:1, and this is github:2"; p.Fresh != want {
		t.Errorf("fresh because %q, want %q", p.Fresh, want)
	}
	wantPublished(t, fork, at(3))
	if parent := gitIn(t, fork, "rev-parse", "data^"); parent != theirs.Commit {
		t.Errorf("the parent is %s, want upstream's %s, so that nothing is destroyed", parent, theirs.Commit)
	}
	if p := mustPublish(t, b, at(4)); p.Fresh != "" {
		t.Errorf("the second run begins anew too: %s", p.Fresh)
	}
	wantPublished(t, fork, at(3), at(4))

	b.Instance = "github:2 somebody/renamed"
	if p := mustPublish(t, b, at(5)); p.Fresh != "" {
		t.Errorf("a repository that was renamed begins anew: %s", p.Fresh)
	}
	b.Instance = ""
	if p := mustPublish(t, b, at(6)); p.Fresh != "" {
		t.Errorf("without an instance to compare it begins anew: %s", p.Fresh)
	}
}

func TestReRootedBranch(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	for minute := range 3 {
		mustPublish(t, b, at(minute))
	}
	squashed := gitIn(t, remote, "commit-tree", "data^{tree}", "-m", "re-rooted")
	gitIn(t, remote, "update-ref", "refs/heads/data", squashed)
	p := mustPublish(t, b, at(3))
	if p.Tip.Commit != squashed || p.Fresh != "" {
		t.Errorf("continued %+v, want %s", p.Tip, squashed)
	}
	wantPublished(t, remote, at(0), at(1), at(2), at(3))
}

func TestShallowRemote(t *testing.T) {
	t.Parallel()
	origin := newRemote(t)
	b := newBranch(t, origin)
	mustPublish(t, b, at(1))
	mustPublish(t, b, at(2))
	shallow := filepath.Join(t.TempDir(), "shallow.git")
	gitIn(t, t.TempDir(), "clone", "--quiet", "--bare", "--depth=1", "--branch=data", "file://"+origin, shallow)
	mustPublish(t, newBranch(t, shallow), at(3))
	wantPublished(t, shallow, at(1), at(2), at(3))
}

// TestBadRecord checks that a record that cannot be continued is refused, and
// the branch left as it is: it is never taken for an empty one.
func TestBadRecord(t *testing.T) {
	script := func(statement string) func(t *testing.T, dir string) {
		return func(t *testing.T, dir string) { runSQL(t, filepath.Join(dir, "catalog.sqlite"), statement) }
	}
	tests := []struct {
		name  string
		spoil func(t *testing.T, dir string)
		want  error
	}{
		{"newer", script(`PRAGMA user_version = 99`), ErrNewer},
		{"foreign", script(`PRAGMA application_id = 7`), ErrForeign},
		{"write-ahead log", script(`PRAGMA journal_mode = WAL`), ErrWAL},
		{"empty file", func(t *testing.T, dir string) { overwrite(t, filepath.Join(dir, "catalog.sqlite"), nil) }, ErrEmpty},
		{"not SQLite", func(t *testing.T, dir string) {
			overwrite(t, filepath.Join(dir, "raw", "2026-03-30.sqlite"), []byte("<<<<<<< HEAD\n"))
		}, ErrForeign},
		{"no catalog", func(t *testing.T, dir string) { remove(t, filepath.Join(dir, "catalog.sqlite")) }, ErrNoCatalog},
		{"no record, but an instance", func(t *testing.T, dir string) {
			remove(t, filepath.Join(dir, "catalog.sqlite"), filepath.Join(dir, "raw"))
		}, ErrNoRecord},
		{"rows of another day", func(t *testing.T, dir string) {
			runSQL(t, filepath.Join(dir, "raw", "2026-03-30.sqlite"), `UPDATE raw_samples SET id = id + (86400000 << 12)`)
		}, ErrUnsound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			remote := newRemote(t)
			mustPublish(t, newBranch(t, remote), at(1))
			hand := filepath.Join(t.TempDir(), "hand")
			gitIn(t, t.TempDir(), "clone", "--quiet", "--branch=data", remote, hand)
			tt.spoil(t, hand)
			gitIn(t, hand, "commit", "--quiet", "--all", "-m", "spoiled")
			gitIn(t, hand, "push", "--quiet", "origin", "data")
			before := gitIn(t, remote, "rev-parse", "data")
			b := newBranch(t, remote)
			if _, err := b.Fetch(t.Context()); !errors.Is(err, tt.want) {
				t.Errorf("Fetch: %v; want %v", err, tt.want)
			}
			if _, err := b.Publish(t.Context(), ingesting(at(2))); !errors.Is(err, tt.want) {
				t.Errorf("Publish: %v; want %v", err, tt.want)
			}
			if after := gitIn(t, remote, "rev-parse", "data"); after != before {
				t.Error("the branch was moved")
			}
		})
	}
}

// runSQL runs a statement on a file as a stranger would.
func runSQL(t *testing.T, path, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func overwrite(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, paths ...string) {
	t.Helper()
	for _, p := range paths {
		if err := os.RemoveAll(p); err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorkMayNotShrink has work drop samples that were published.
func TestWorkMayNotShrink(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	before := mustPublish(t, b, at(1), at(2))
	_, err := b.Publish(t.Context(), func(ctx context.Context, s *Store) (string, error) {
		runSQL(t, filepath.Join(s.Dir(), "raw", "2026-03-30.sqlite"), `DELETE FROM raw_samples WHERE id = (SELECT max(id) FROM raw_samples)`)
		return "lose one", nil
	})
	var unsound *UnsoundError
	if !errors.As(err, &unsound) || unsound.Findings[0].Rule != "shrunk" {
		t.Errorf("Publish: %v; want a finding that it has shrunk", err)
	}
	if tip := gitIn(t, remote, "rev-parse", "data"); tip != before.Commit {
		t.Error("the branch was moved")
	}
	mustPublish(t, b, at(3))
	wantPublished(t, remote, at(1), at(2), at(3))
}

func TestRefusedPush(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	before := mustPublish(t, b, at(1))
	hook := filepath.Join(remote, "hooks", "pre-receive")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\necho 'protected branch' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	waits := 0
	b.Wait = func(context.Context, int) error { waits++; return nil }
	p, err := b.Publish(t.Context(), ingesting(at(2)))
	if !errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), "protected branch") {
		t.Errorf("Publish: %v; want ErrRefused and what the hook said", err)
	}
	if p.Tries != refusals || waits != refusals-1 {
		t.Errorf("%d tries, %d waits; want %d, %d", p.Tries, waits, refusals, refusals-1)
	}
	if tip := gitIn(t, remote, "rev-parse", "data"); tip != before.Commit {
		t.Error("the branch was moved")
	}
	remove(t, hook)
	mustPublish(t, b, at(2))
	wantPublished(t, remote, at(1), at(2))
}

// TestLostRaces lets a rival push before each of ours.
func TestLostRaces(t *testing.T) {
	for _, tt := range []struct {
		name   string
		rivals int
		want   error
		tries  int
	}{{"three", 3, nil, 4}, {"too many", 100, ErrRaced, pushTries}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			remote := newRemote(t)
			b, rival := newBranch(t, remote), newBranch(t, remote)
			want := []bench.Sample{}
			b.Step = func(s Step) {
				if n := len(want); s == StepPush && n < tt.rivals {
					want = append(want, at(n))
					mustPublish(t, rival, at(n))
				}
			}
			ours := at(500)
			p, err := b.Publish(t.Context(), ingesting(ours))
			if !errors.Is(err, tt.want) || p.Tries != tt.tries {
				t.Fatalf("%d tries, %v; want %d, %v", p.Tries, err, tt.tries, tt.want)
			}
			if tt.want != nil { // the next tick brings it
				b.Step = nil
				mustPublish(t, b, ours)
			}
			wantPublished(t, remote, append(want, ours)...)
		})
	}
}

// TestAnswerLost has the connection break after the push has arrived.
func TestAnswerLost(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	mustPublish(t, b, at(1))
	hook := filepath.Join(remote, "hooks", "post-update")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\nkill -9 $PPID\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	p := mustPublish(t, b, at(2))
	if p.Tries != 1 || !p.Changed {
		t.Errorf("publication %+v; want one try, as it arrived", p)
	}
	wantPublished(t, remote, at(1), at(2))
}

func TestBranchGone(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	mustPublish(t, b, at(1))
	gitIn(t, remote, "update-ref", "-d", "refs/heads/data")
	if _, err := b.Publish(t.Context(), ingesting(at(2))); !errors.Is(err, ErrGone) {
		t.Errorf("Publish: %v; want ErrGone", err)
	}
	remote2 := filepath.Join(t.TempDir(), "nowhere.git")
	var said *GitError
	if _, err := newBranch(t, remote2).Publish(t.Context(), ingesting(at(2))); !errors.As(err, &said) {
		t.Errorf("a remote that is not there: %v; want a GitError", err)
	}
}

func TestWorkingCopyIsOurs(t *testing.T) {
	t.Parallel()
	remote := newRemote(t)
	b := newBranch(t, remote)
	if err := os.MkdirAll(b.Dir, 0o755); err != nil {
		t.Fatal(err)
	}
	precious := filepath.Join(b.Dir, "thesis.txt")
	overwrite(t, precious, []byte("years of work"))
	if _, err := b.Fetch(t.Context()); !errors.Is(err, ErrNotOurs) {
		t.Errorf("Fetch into somebody's folder: %v; want ErrNotOurs", err)
	}
	if _, err := os.Stat(precious); err != nil {
		t.Fatal(err)
	}
	remove(t, precious)
	if _, err := b.Fetch(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !IsWorkingCopy(b.Dir) {
		t.Error("not recognized as a working copy")
	}
	lock, err := AcquireLock(filepath.Join(b.Dir, marker))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.Fetch(t.Context()); !errors.Is(err, ErrHeld) {
		t.Errorf("Fetch while another is at work: %v; want ErrHeld", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Fetch(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestRemotesRefused holds back what would be an option, a command or a
// password on git's command line.
func TestRemotesRefused(t *testing.T) {
	for _, remote := range []string{"", "--upload-pack=touch x", "ext::sh -c id", "https://me:hunter22@example.com/r.git"} {
		b := newBranch(t, remote)
		if _, err := b.Fetch(t.Context()); err == nil || strings.Contains(err.Error(), "hunter22") {
			t.Errorf("remote %q: %v", remote, err)
		}
	}
}

// TestTokenStaysHidden looks at the command line and the environment that git
// gets, and at the error of a git that prints all it knows.
func TestTokenStaysHidden(t *testing.T) {
	bin, seen := t.TempDir(), filepath.Join(t.TempDir(), "seen")
	script := "#!/bin/sh\necho \"$@\" >>" + seen + ".args\nenv >>" + seen + ".env\nenv >&2\n" +
		"case $1 in ls-remote) exit 128;; esac\n"
	overwrite(t, filepath.Join(bin, "git"), []byte(script))
	if err := os.Chmod(filepath.Join(bin, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", bin+":"+os.Getenv("PATH"))
	b := newBranch(t, "https://git.example.com/owner/name")
	b.Token = func() (string, error) { return "canary-token", nil }
	_, err := b.Fetch(t.Context())
	if err == nil {
		t.Fatal("no error")
	}
	const basic = "eC1hY2Nlc3MtdG9rZW46Y2FuYXJ5LXRva2Vu" // x-access-token:canary-token
	read := func(name string) string {
		text, err := os.ReadFile(seen + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for where, text := range map[string]string{"the error": err.Error(), "the command line": read(".args")} {
		if strings.Contains(text, "canary-token") || strings.Contains(text, basic) {
			t.Errorf("%s shows the token: %s", where, text)
		}
	}
	env := read(".env")
	for _, want := range []string{"=http.https://git.example.com/owner/name.extraHeader\n", "=Authorization: Basic " + basic + "\n"} {
		if !strings.Contains(env, want) {
			t.Errorf("the environment lacks %q", want)
		}
	}
	if !strings.Contains(err.Error(), "***") {
		t.Errorf("the error %q shows nothing of what git said", err)
	}
}
