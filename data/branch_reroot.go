package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// HeavyBytes is how much the history of a branch may weigh before it should be
// begun anew. Every full clone pays for it, long before the 10 GB that GitHub
// advises a repository to stay below.
const HeavyBytes = 700_000_000

// StepWeigh is the step of [Branch.ReRoot] in which the history is fetched and
// weighed.
const StepWeigh Step = "weigh"

var (
	// ErrNoSnapshot means that a history may not be cut, as no snapshot of it is
	// known.
	ErrNoSnapshot = errors.New("the snapshot is not of a commit of this branch")
	// ErrNoBranch means that the remote has no such branch.
	ErrNoBranch = errors.New("there is no such branch")
)

// A Weight is what the history of a branch costs a clone, as git packs it.
type Weight struct {
	Commits int   `json:"commits"`
	Bytes   int64 `json:"bytes"`  // of a full clone
	Newest  int64 `json:"newest"` // bytes of the newest commit alone, as after [Branch.ReRoot]
}

// A ReRooting says what came of [Branch.ReRoot].
type ReRooting struct {
	From    string `json:"from"`   // the tip that was found
	Commit  string `json:"commit"` // the tip now
	Before  Weight `json:"before"`
	Changed bool   `json:"changed"` // false if there was no history to cut
	Tries   int    `json:"tries"`
}

// Weigh fetches the whole history of the branch into a folder of its own and
// says what it weighs. The working copy is left alone.
func (b *Branch) Weigh(ctx context.Context) (Weight, error) {
	var weight Weight
	err := b.aside(func(whole *Branch) error {
		tip, err := whole.fetchWhole(ctx)
		if err != nil {
			return err
		}
		weight, err = whole.weigh(ctx, tip)
		return err
	})
	if err != nil {
		return weight, fmt.Errorf("weigh the branch: %w", err)
	}
	return weight, nil
}

// ReRoot replaces the history of the branch by one commit with the files of its
// tip, so that clones shrink to what the record is now. No row is lost: the new
// commit names the same tree. What goes is what only older commits hold, which
// is raw samples past [RawRetention]; that is why snapshot, the commit that a
// snapshot was made of, must be the tip or an ancestor of it. If not, it returns
// [ErrNoSnapshot].
//
// The branch is moved only from the commit that was read: a writer that pushes
// meanwhile wins, and all of it is done again on the new tip. A writer that
// still has the old history is refused by the remote, as its push is no fast
// forward, and goes on from the new tip like after any lost race. Readers follow
// with a fetch and a reset. A process killed at any point leaves the branch
// either as it was or re-rooted.
//
// A record with faults is not cut, nor one of another instance. The working copy
// is left alone.
func (b *Branch) ReRoot(ctx context.Context, snapshot string) (ReRooting, error) {
	var done ReRooting
	err := b.persist(ctx, &done.Tries, func() error {
		return b.aside(func(whole *Branch) error { return whole.reRoot(ctx, snapshot, &done) })
	})
	if err != nil {
		return done, fmt.Errorf("re-root the branch: %w", err)
	}
	return done, nil
}

// aside does work with a copy of the branch that has a folder of its own.
func (b *Branch) aside(work func(whole *Branch) error) error {
	dir, err := os.MkdirTemp("", "streamgauge-history-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	whole := *b
	whole.Dir = dir
	unlock, err := whole.acquire()
	if err != nil {
		return err
	}
	defer unlock()
	return work(&whole)
}

// fetchWhole fetches the branch with its history, and returns its tip.
func (b *Branch) fetchWhole(ctx context.Context) (string, error) {
	b.step(StepFetch)
	if err := b.prepare(ctx); err != nil {
		return "", err
	}
	at, err := b.remoteTip(ctx)
	if err != nil {
		return "", err
	}
	if at == "" {
		return "", fmt.Errorf("branch %s: %w", b.name(), ErrNoBranch)
	}
	if _, err := b.git(ctx, "", "fetch", "--quiet", "--no-tags", "--update-shallow", "--no-recurse-submodules",
		"--", b.Remote, "+refs/heads/"+b.name()+":"+tipRef); err != nil {
		return "", err
	}
	return b.git(ctx, "", "rev-parse", "--verify", tipRef+"^{commit}")
}

// weigh packs the history of a commit, and the commit alone, as a server does
// for a clone.
func (b *Branch) weigh(ctx context.Context, tip string) (Weight, error) {
	b.step(StepWeigh)
	count, err := b.git(ctx, "", "rev-list", "--count", tip)
	if err != nil {
		return Weight{}, err
	}
	var w Weight
	if w.Commits, err = strconv.Atoi(count); err != nil {
		return Weight{}, fmt.Errorf("count commits: %w", err)
	}
	if w.Bytes, err = b.packed(ctx, tip); err != nil {
		return Weight{}, err
	}
	w.Newest, err = b.packed(ctx, tip+"^{tree}")
	return w, err
}

// packed returns the size of a pack of all that a revision refers to.
func (b *Branch) packed(ctx context.Context, revision string) (int64, error) {
	base := filepath.Join(b.Dir, ".git", "weighed")
	hash, err := b.git(ctx, revision+"\n", "pack-objects", "--quiet", "--revs", "--delta-base-offset", base)
	if err != nil {
		return 0, err
	}
	made, err := filepath.Glob(base + "-" + hash + ".*")
	if err != nil {
		return 0, err
	}
	var size int64
	for _, path := range made {
		info, err := os.Stat(path)
		if err != nil {
			return 0, fileError(path, err)
		}
		if strings.HasSuffix(path, ".pack") {
			size = info.Size()
		}
		if err := os.Remove(path); err != nil {
			return 0, fileError(path, err)
		}
	}
	return size, nil
}

// reRoot is one try. It returns a *lostPush if it is worth another.
func (b *Branch) reRoot(ctx context.Context, snapshot string, done *ReRooting) error {
	tip, err := b.fetchWhole(ctx)
	if err != nil {
		return err
	}
	done.From, done.Commit, done.Changed = tip, tip, false
	if err := b.mayCut(ctx, tip, snapshot); err != nil {
		return err
	}
	if done.Before, err = b.weigh(ctx, tip); err != nil {
		return err
	}
	if done.Before.Commits == 1 {
		return nil
	}
	b.step(StepCommit)
	message := fmt.Sprintf("Begin anew: %d commits, %.1f MB\n\nThe files are those of %s.\nA snapshot was made of %s.\n",
		done.Before.Commits, float64(done.Before.Bytes)/1e6, tip, snapshot)
	root, err := b.git(ctx, message, "commit-tree", tip+"^{tree}")
	if err != nil {
		return err
	}
	b.step(StepPush)
	done.Tries++
	ref := "refs/heads/" + b.name()
	_, pushErr := b.git(ctx, "", "push", "--quiet", "--force-with-lease="+ref+":"+tip, "--", b.Remote, root+":"+ref)
	b.step(StepVerify)
	at, err := b.remoteTip(ctx)
	switch {
	case err != nil:
		return &lostPush{err: errors.Join(pushErr, err)}
	case at == root:
		done.Commit, done.Changed = root, true
		return nil
	case pushErr == nil:
		pushErr = fmt.Errorf("%s is at %.12s, not at the commit pushed", b.name(), at)
	}
	return &lostPush{moved: at != tip, err: pushErr}
}

// mayCut returns why the history of a tip may not be cut.
func (b *Branch) mayCut(ctx context.Context, tip, snapshot string) error {
	if !isCommit(snapshot) {
		return fmt.Errorf("%q: %w", snapshot, ErrNoSnapshot)
	}
	if _, err := b.git(ctx, "", "merge-base", "--is-ancestor", snapshot, tip); err != nil {
		var said *GitError
		if errors.As(err, &said) {
			return fmt.Errorf("%s: %w", snapshot, ErrNoSnapshot)
		}
		return err
	}
	b.step(StepCheck)
	if err := b.layOut(ctx, tip); err != nil {
		return err
	}
	switch fresh, err := b.freshness(); {
	case err != nil:
		return err
	case fresh != "":
		return errors.New(fresh)
	}
	store, err := Open(ctx, b.Dir, Options{})
	if err != nil {
		return err
	}
	return errors.Join(judge(ctx, store, nil), store.Close())
}

// isCommit reports whether a text is the full name of a commit, and so no option
// or expression of git's.
func isCommit(text string) bool {
	if len(text) != 40 && len(text) != 64 {
		return false
	}
	return strings.Trim(text, "0123456789abcdef") == ""
}
