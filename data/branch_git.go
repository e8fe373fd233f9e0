package data

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// marker is the file that makes a directory a working copy of ours, and whose
// lock makes writers to it take turns.
const marker = ".git/streamgauge.lock"

// kept are the folders of a working copy that fetching leaves alone.
var kept = [...]string{"journals", "traces"}

// committed are the names of a record that are committed. Whatever else lies
// about is not.
var committed = [...]string{
	"catalog.sqlite", "raw", "rollups", eventsFile, "quarantine", "models",
	instanceFile, "README.md", ".gitattributes", ".gitignore",
}

// Whose the commits are.
const (
	authorName  = "streamgauge"
	authorEmail = "streamgauge@users.noreply.github.com"
)

// fixtures are files of the branch that are written once, when it begins.
var fixtures = map[string]string{
	".gitattributes": "*.sqlite binary\n",
	".gitignore":     "*-journal\n*-wal\n*-shm\n*-mj*\n*.making-*\njournals/\ntraces/\n",
	"README.md": `# The record

SQLite files, written by the scheduled job. Do not edit them by hand, and do not merge this branch into another.

- ` + "`raw/DAY.sqlite`" + `: every sample of one UTC day, kept for 60 days
- ` + "`rollups/DAY.sqlite`" + `: hourly and daily buckets of the half month from that day, kept for ever
- ` + "`catalog.sqlite`" + `: the names behind the numbers

Any SQLite from 3.37 opens them; the tables are described in the table ` + "`dictionary`" + `.
`,
}

// A GitError is a git command that failed.
type GitError struct {
	Command string // the subcommand
	Said    string // the end of what it printed, without credentials
	Err     error
}

// Error names the command, how it ended and what it said.
func (e *GitError) Error() string {
	if e.Said == "" {
		return fmt.Sprintf("git %s: %v", e.Command, e.Err)
	}
	return fmt.Sprintf("git %s: %v: %s", e.Command, e.Err, e.Said)
}

// Unwrap returns how the command ended.
func (e *GitError) Unwrap() error { return e.Err }

// acquire takes the working copy for this process, and makes it if need be.
func (b *Branch) acquire() (release func(), err error) {
	if err := b.checkRemote(); err != nil {
		return nil, err
	}
	if !IsWorkingCopy(b.Dir) {
		if err := b.checkEmpty(); err != nil {
			return nil, err
		}
		if err := os.MkdirAll(filepath.Join(b.Dir, ".git"), 0o755); err != nil {
			return nil, fileError(b.Dir, err)
		}
	}
	lock, err := AcquireLock(filepath.Join(b.Dir, marker))
	if err != nil {
		return nil, err
	}
	b.lock = lock
	return func() { lock.Release() }, nil
}

// checkEmpty refuses a directory with anything in it but what a crash of
// acquire can leave: fetching throws files away.
func (b *Branch) checkEmpty() error {
	entries, err := os.ReadDir(b.Dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fileError(b.Dir, err)
	}
	for _, e := range entries {
		inside, err := os.ReadDir(filepath.Join(b.Dir, e.Name()))
		if e.Name() != ".git" || err != nil || len(inside) > 0 {
			return &FileError{Path: b.Dir, Problem: ErrNotOurs}
		}
	}
	return nil
}

// checkRemote refuses a remote that git would take for something else than the
// place of a repository, or that would show a password to all processes.
func (b *Branch) checkRemote() error {
	if b.Remote == "" || strings.HasPrefix(b.Remote, "-") || strings.Contains(b.Remote, "::") {
		return errors.New("the remote is neither a URL nor a path")
	}
	if !strings.Contains(b.Remote, "://") {
		return nil
	}
	u, err := url.Parse(b.Remote)
	if err != nil {
		return errors.New("the remote is not a valid URL") // the error would show it
	}
	if _, has := u.User.Password(); has {
		return errors.New("the remote's URL holds a password: hand it over by the environment")
	}
	return nil
}

// checkout fetches the tip and lays it out, whatever state a killed process
// left the working copy in.
func (b *Branch) checkout(ctx context.Context) (Tip, error) {
	if err := b.prepare(ctx); err != nil {
		return Tip{}, err
	}
	at, err := b.remoteTip(ctx)
	if err != nil {
		return Tip{}, err
	}
	if at == "" {
		if known, err := b.git(ctx, "", "for-each-ref", "--format=%(objectname)", tipRef); err != nil {
			return Tip{}, err
		} else if known != "" {
			return Tip{}, fmt.Errorf("branch %s: %w", b.name(), ErrGone)
		}
		return Tip{Fresh: "there is no branch " + b.name() + " yet"}, b.clear(ctx)
	}
	if _, err := b.git(ctx, "", "fetch", "--quiet", "--depth=1", "--no-tags", "--update-shallow", "--no-recurse-submodules",
		"--", b.Remote, "+refs/heads/"+b.name()+":"+tipRef); err != nil {
		return Tip{}, err
	}
	commit, err := b.git(ctx, "", "rev-parse", "--verify", tipRef+"^{commit}")
	if err != nil {
		return Tip{}, err
	}
	tip := Tip{Commit: commit}
	if err := b.layOut(ctx, commit); err != nil {
		return tip, err
	}
	if tip.Fresh, err = b.freshness(); err != nil {
		return tip, err
	}
	if tip.Fresh != "" {
		return tip, b.clear(ctx)
	}
	return tip, nil
}

// tipRef holds the tip of the remote's branch as it was fetched last.
const tipRef = "refs/streamgauge/tip"

// remember notes that the branch was seen at a commit.
func (b *Branch) remember(ctx context.Context, commit string) error {
	_, err := b.git(ctx, "", "update-ref", tipRef, commit)
	return err
}

// prepare makes the repository, and removes the locks of git that a killed one
// left: this process has the working copy for itself.
func (b *Branch) prepare(ctx context.Context) error {
	root := filepath.Join(b.Dir, ".git")
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && e.Name() == "objects":
			return fs.SkipDir
		case strings.HasSuffix(path, ".lock") && path != filepath.Join(b.Dir, filepath.FromSlash(marker)):
			return os.Remove(path)
		}
		return nil
	})
	if err != nil {
		return fileError(root, err)
	}
	_, err = b.git(ctx, "", "init", "--quiet", "--initial-branch", b.name())
	return err
}

// layOut makes the working copy what a commit says. Files of databases that a
// killed process left go with the rest: a hot journal beside another version of
// its database would destroy it.
func (b *Branch) layOut(ctx context.Context, commit string) error {
	if err := b.clear(ctx); err != nil {
		return err
	}
	if _, err := b.git(ctx, "", "read-tree", "--reset", commit); err != nil {
		return err
	}
	_, err := b.git(ctx, "", "checkout-index", "--all", "--force")
	return err
}

// clear empties the working copy but for what is kept.
func (b *Branch) clear(ctx context.Context) error {
	if _, err := b.git(ctx, "", "read-tree", "--empty"); err != nil {
		return err
	}
	args := []string{"clean", "--quiet", "-ffdx"}
	for _, folder := range kept {
		args = append(args, "-e", "/"+folder)
	}
	_, err := b.git(ctx, "", args...)
	return err
}

// commit commits the working copy on top of tip. It returns the tip itself if
// that holds the same files already.
func (b *Branch) commit(ctx context.Context, tip Tip, message string) (string, error) {
	if err := b.furnish(tip); err != nil {
		return "", err
	}
	add := []string{"add", "--all", "--"}
	for _, name := range committed {
		if _, err := os.Lstat(filepath.Join(b.Dir, name)); err == nil {
			add = append(add, name)
		}
	}
	if _, err := b.git(ctx, "", add...); err != nil {
		return "", err
	}
	tree, err := b.git(ctx, "", "write-tree")
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", tree}
	if tip.Commit != "" {
		same, err := b.git(ctx, "", "rev-parse", "--verify", tip.Commit+"^{tree}")
		if err != nil || same == tree {
			return tip.Commit, err
		}
		args = append(args, "-p", tip.Commit)
	}
	return b.git(ctx, message, args...)
}

// furnish writes what the branch holds beside the record.
func (b *Branch) furnish(tip Tip) error {
	files := map[string]string{}
	for name, text := range fixtures {
		if _, err := os.Lstat(filepath.Join(b.Dir, name)); tip.Fresh != "" || errors.Is(err, fs.ErrNotExist) {
			files[name] = text
		}
	}
	if _, err := os.Lstat(filepath.Join(b.Dir, instanceFile)); b.Instance != "" && errors.Is(err, fs.ErrNotExist) {
		files[instanceFile] = strings.TrimSpace(b.Instance) + "\n"
	}
	for name, text := range files {
		path := filepath.Join(b.Dir, name)
		if err := replaceFile(path, []byte(text)); err != nil {
			return fileError(path, err)
		}
	}
	return nil
}

// push pushes a commit to the branch, if that moves it forward.
func (b *Branch) push(ctx context.Context, commit string) error {
	_, err := b.git(ctx, "", "push", "--quiet", "--", b.Remote, commit+":refs/heads/"+b.name())
	return err
}

// remoteTip asks where the branch is; "" if the remote has no such branch. That
// the remote cannot be asked is an error.
func (b *Branch) remoteTip(ctx context.Context) (string, error) {
	ref := "refs/heads/" + b.name()
	out, err := b.git(ctx, "", "ls-remote", "--quiet", "--", b.Remote, ref)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(out) {
		commit, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if name == ref {
			return commit, nil
		}
	}
	return "", nil
}

const (
	maxOutput = 64 << 10         // bytes that are kept of what git prints
	maxSaid   = 600              // bytes of it in an error
	killAfter = 10 * time.Second // from asking git to stop, to killing it
)

// git runs a git command in the working copy and returns what it printed,
// without the last line feed.
func (b *Branch) git(ctx context.Context, stdin string, args ...string) (string, error) {
	env, secrets, err := b.environment()
	if err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = b.Dir, env
	cmd.Stdin = strings.NewReader(stdin)
	stdout, stderr := &tail{}, &tail{}
	cmd.Stdout, cmd.Stderr = stdout, stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = killAfter
	b.lock.share(cmd)
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		said := stderr.String()
		for _, secret := range secrets {
			said = strings.ReplaceAll(said, secret, "***")
		}
		said = strings.TrimSpace(said[max(0, len(said)-maxSaid):])
		return "", &GitError{Command: args[0], Said: strings.ToValidUTF8(said, ""), Err: err}
	}
	return strings.TrimSuffix(stdout.String(), "\n"), nil
}

// environment returns the environment of a git command, and what of it must not
// appear in an error.
func (b *Branch) environment() (env, secrets []string, err error) {
	config := [][2]string{
		{"core.hooksPath", os.DevNull},
		{"core.excludesFile", os.DevNull}, // somebody's *.sqlite there would leave the record out
		{"core.attributesFile", os.DevNull},
		{"core.autocrlf", "false"},
		{"core.symlinks", "false"}, // a link in the branch leads nowhere
		{"gc.autoDetach", "false"}, // a tidier in the background would outlive the lock
		{"maintenance.autoDetach", "false"},
		{"http.lowSpeedLimit", "1000"}, // bytes per second
		{"http.lowSpeedTime", "60"},
	}
	if b.Token != nil && strings.HasPrefix(b.Remote, "https://") {
		token, err := b.Token()
		if err != nil {
			return nil, nil, fmt.Errorf("get the token of the repository: %w", err)
		}
		if token != "" {
			basic := base64.StdEncoding.EncodeToString([]byte("x-access-token:" + token))
			config = append(config, [2]string{"http." + b.Remote + ".extraHeader", "Authorization: Basic " + basic})
			secrets = []string{token, basic}
		}
	}
	env = append(env, b.Env...)
	env = append(env,
		"GIT_DIR="+filepath.Join(b.Dir, ".git"), "GIT_WORK_TREE="+b.Dir,
		"GIT_TERMINAL_PROMPT=0", "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh", "LC_ALL=C",
		"GIT_AUTHOR_NAME="+authorName, "GIT_AUTHOR_EMAIL="+authorEmail,
		"GIT_COMMITTER_NAME="+authorName, "GIT_COMMITTER_EMAIL="+authorEmail,
		"GIT_CONFIG_COUNT="+strconv.Itoa(len(config)))
	for i, c := range config {
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", i, c[0]), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", i, c[1]))
	}
	return env, secrets, nil
}

// A tail keeps the last maxOutput bytes written to it.
type tail struct{ buf bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	t.buf.Write(p)
	if over := t.buf.Len() - maxOutput; over > 0 {
		t.buf.Next(over)
	}
	return len(p), nil
}

func (t *tail) String() string { return t.buf.String() }
