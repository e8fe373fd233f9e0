package data

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DefaultBranch is the branch of a repository that the record is committed to.
// It shares no history with the code, so that neither weighs on the other's
// clones, and a fork or a template starts without foreign samples.
const DefaultBranch = "data"

// pushTries is how often a push that lost a race is made again.
const pushTries = 8

// refusals is how many pushes in a row may fail with the branch where it was.
// One may: a rival that holds the lock of the branch has not moved it yet.
const refusals = 3

// What can be wrong with the git side of a record.
var (
	// ErrRaced means that other writers were faster in every try. Nothing is
	// lost: the journals are to be published again.
	ErrRaced = errors.New("other writers were faster in every try; the journals are kept for the next one")
	// ErrRefused means that the repository takes no push: a rule protects the
	// branch, the token may not write, or a hook said no.
	ErrRefused = errors.New("the repository refused the push")
	// ErrGone means that the branch was there before and is not any more.
	ErrGone = errors.New("the branch is gone; push it again from a clone, or remove the working copy to begin anew")
	// ErrUnsound means that a record has faults that forbid to commit it, or to
	// build on it.
	ErrUnsound = errors.New("the record is not sound")
	// ErrNotOurs means that a directory is no working copy of a Branch.
	ErrNotOurs = errors.New("neither empty nor a working copy made by this program")
)

// An UnsoundError lists what is wrong with a record. It wraps ErrUnsound.
type UnsoundError struct{ Findings []Finding }

// Error names the findings.
func (e *UnsoundError) Error() string {
	var lines []string
	for _, f := range e.Findings {
		lines = append(lines, f.String())
	}
	return fmt.Sprintf("%v: %s", ErrUnsound, strings.Join(lines, "; "))
}

// Unwrap returns ErrUnsound.
func (e *UnsoundError) Unwrap() error { return ErrUnsound }

// A Branch is the branch of a git repository that a record is committed to,
// and a working copy of it. It drives the git command, version 2.31 or later.
//
// The working copy is scratch: whatever was not pushed is thrown away when the
// branch is fetched again. What must not be lost is in journals, which are
// ingested afresh after every lost race; a database is never merged or rebased.
// The folders journals and traces inside the working copy are left alone.
type Branch struct {
	Remote string // URL or absolute path; without a password, as command lines are public
	Name   string // DefaultBranch if empty
	Dir    string // the working copy; missing, empty, or made by a Branch before

	// Instance says whose record this is. A branch that was copied from another
	// instance, as by a fork, is not continued: a new record replaces it, with
	// the old one as the parent commit. Only the first word is compared; empty
	// compares nothing and takes the record as it is.
	Instance string

	// Joins lets work make fewer summaries of as many samples, as
	// [Store.Rename] does where a day was measured under both names.
	Joins bool

	// Env is all that git sees of the environment.
	Env []string
	// Token returns the token for a remote of https, which is asked for before
	// each access, and sent as a header that no command line or error shows.
	// It may be nil, and may return "".
	Token func() (string, error)

	// Wait is called between tries, from 1; it should wait a random time. An
	// error from it ends the tries.
	Wait func(ctx context.Context, try int) error
	// Step is told as each step begins; it may be nil.
	Step func(Step)

	lock *Lock // while at work
}

// A Step is a stage of the work on a branch.
type Step string

// The steps, in order. A lost race begins again with the first.
const (
	StepFetch  Step = "fetch"
	StepCheck  Step = "check"
	StepIngest Step = "ingest"
	StepJudge  Step = "judge"
	StepCommit Step = "commit"
	StepPush   Step = "push"
	StepVerify Step = "verify"
)

// A Tip is what was found at the tip of a branch.
type Tip struct {
	Commit string // "" if there is no such branch yet
	// Fresh says why there is no record to continue; "" if there is one.
	Fresh string
}

// A Publication says what came of [Branch.Publish].
type Publication struct {
	Tip
	Commit    string    // at the tip of the branch now; "" if there is none
	Changed   bool      // false if there was nothing new to commit
	Tries     int       // pushes, lost ones included
	Inventory Inventory // of the record as published
}

// IsWorkingCopy reports whether dir is the working copy of a Branch, where
// whatever is not in a journal is thrown away by the next fetch.
func IsWorkingCopy(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, marker))
	return err == nil
}

// Fetch brings the working copy to the tip of the branch. The record in it is
// checked: one that cannot be read, is foreign, or was written by a newer
// version is an error, and never passes for an empty one.
func (b *Branch) Fetch(ctx context.Context) (Tip, error) {
	unlock, err := b.acquire()
	if err != nil {
		return Tip{}, fmt.Errorf("fetch the record: %w", err)
	}
	defer unlock()
	tip, store, err := b.fetch(ctx)
	if err != nil {
		return tip, fmt.Errorf("fetch the record: %w", err)
	}
	return tip, store.Close()
}

// fetch fetches, opens and checks.
func (b *Branch) fetch(ctx context.Context) (Tip, *Store, error) {
	b.step(StepFetch)
	tip, err := b.checkout(ctx)
	if err != nil {
		return tip, nil, err
	}
	b.step(StepCheck)
	store, err := Open(ctx, b.Dir, Options{Create: tip.Fresh != ""})
	if err != nil {
		return tip, nil, err
	}
	if err := judge(ctx, store, nil); err != nil {
		return tip, nil, errors.Join(err, store.Close())
	}
	return tip, store, nil
}

// Publish fetches the tip, has work change the record and say what it did, and
// pushes the result as one commit. If another writer came first, all of it is
// done again on the new tip, work included, which must therefore do the same
// each time: ingesting journals does.
//
// The record is checked before and after work, and may not shrink but by
// pruning. A push counts as done when the remote says so, not when git does.
// It returns ErrRaced after eight lost races and ErrRefused if the repository
// refuses; the record at the remote is as it was then.
func (b *Branch) Publish(ctx context.Context, work func(context.Context, *Store) (message string, err error)) (Publication, error) {
	unlock, err := b.acquire()
	if err != nil {
		return Publication{}, fmt.Errorf("publish the record: %w", err)
	}
	defer unlock()
	p := Publication{}
	if err := b.persist(ctx, &p.Tries, func() error { return b.attempt(ctx, work, &p) }); err != nil {
		return p, fmt.Errorf("publish the record: %w", err)
	}
	return p, nil
}

// persist makes attempts until one has arrived, fails for another reason than a
// *lostPush, or would be one too many. tries counts their pushes.
func (b *Branch) persist(ctx context.Context, tries *int, attempt func() error) error {
	unmoved := 0
	for {
		err := attempt()
		var lost *lostPush
		if !errors.As(err, &lost) {
			return err
		}
		if unmoved++; lost.moved {
			unmoved = 0
		}
		switch {
		case unmoved >= refusals:
			return fmt.Errorf("%w: %w", ErrRefused, lost.err)
		case *tries >= pushTries:
			return ErrRaced
		}
		if b.Wait != nil {
			if err := b.Wait(ctx, *tries); err != nil {
				return err
			}
		}
	}
}

// A lostPush is a push that did not arrive.
type lostPush struct {
	moved bool  // the branch is no longer where it was fetched
	err   error // what git said
}

func (e *lostPush) Error() string { return fmt.Sprintf("push: %v", e.err) }
func (e *lostPush) Unwrap() error { return e.err }

// attempt is one try. It returns a *lostPush if it is worth another.
func (b *Branch) attempt(ctx context.Context, work func(context.Context, *Store) (string, error), p *Publication) error {
	tip, store, err := b.fetch(ctx)
	if err != nil {
		return err
	}
	p.Tip = tip
	message, err := b.change(ctx, store, work, p)
	if err := errors.Join(err, store.Close()); err != nil {
		return err
	}
	b.step(StepCommit)
	commit, err := b.commit(ctx, tip, message)
	if err != nil {
		return err
	}
	p.Commit = commit
	if p.Changed = commit != tip.Commit; !p.Changed {
		return nil
	}
	b.step(StepPush)
	p.Tries++
	pushErr := b.push(ctx, commit)
	// The remote has the last word: a push whose answer was lost has arrived,
	// and one that was answered well may have been overtaken.
	b.step(StepVerify)
	at, err := b.remoteTip(ctx)
	switch {
	case err != nil:
		return &lostPush{err: errors.Join(pushErr, err)}
	case at == commit:
		return b.remember(ctx, commit)
	case pushErr == nil:
		pushErr = fmt.Errorf("%s is at %.12s, not at the commit pushed", b.name(), at)
	}
	return &lostPush{moved: at != tip.Commit, err: pushErr}
}

// change has work change the record, and judges the outcome.
func (b *Branch) change(ctx context.Context, store *Store, work func(context.Context, *Store) (string, error), p *Publication) (string, error) {
	before, err := store.Inventory(ctx)
	if err != nil {
		return "", err
	}
	b.step(StepIngest)
	message, err := work(ctx, store)
	if err != nil {
		return "", err
	}
	b.step(StepJudge)
	if p.Inventory, err = store.Inventory(ctx); err != nil {
		return "", err
	}
	if b.Joins {
		before.Files = joined(before.Files, p.Inventory.Files)
	}
	return message, judge(ctx, store, &before)
}

// joined returns files without the summaries that were joined meanwhile: half months
// that are still there are not asked for more rows than they have.
func joined(before, after []File) []File {
	rows := map[string]int64{}
	for _, f := range after {
		if f.Kind == string(kindRollup) {
			rows[f.Path] = f.Rows
		}
	}
	before = slices.Clone(before)
	for i := range before {
		if n, ok := rows[before[i].Path]; ok {
			before[i].Rows = min(before[i].Rows, n)
		}
	}
	return before
}

// judge returns an *UnsoundError if the record may not be committed, or has
// shrunk since an earlier inventory, which may be nil.
func judge(ctx context.Context, store *Store, before *Inventory) error {
	findings, err := store.Check(ctx)
	if err != nil {
		return err
	}
	if before != nil {
		after, err := store.Inventory(ctx)
		if err != nil {
			return err
		}
		findings = append(findings, Shrunk(*before, after)...)
	}
	if findings = slices.DeleteFunc(findings, func(f Finding) bool { return f.Warning }); len(findings) > 0 {
		return &UnsoundError{findings}
	}
	return nil
}

// instanceFile, in the record, says whose it is.
const instanceFile = "instance"

// freshness says why the branch that is checked out holds no record to
// continue; "" if it does.
func (b *Branch) freshness() (string, error) {
	text, err := os.ReadFile(filepath.Join(b.Dir, instanceFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if empty, err := holdsNoRecord(b.Dir); err != nil || !empty {
			return "", err
		}
		return "the branch holds no record yet", nil
	case err != nil:
		return "", fileError(filepath.Join(b.Dir, instanceFile), err)
	}
	// With the file of an instance of ours, a record must be there: that it
	// cannot be found is for Open to say.
	theirs, ours := firstWord(string(text)), firstWord(b.Instance)
	if ours == "" || theirs == ours {
		return "", nil
	}
	return fmt.Sprintf("the record is that of %s, and this is %s", theirs, ours), nil
}

// holdsNoRecord reports whether a directory has nothing of a record in it.
func holdsNoRecord(dir string) (bool, error) {
	for _, name := range []string{"catalog.sqlite", "raw", "rollups", eventsFile} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return false, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return false, fileError(filepath.Join(dir, name), err)
		}
	}
	return true, nil
}

// firstWord returns the first word of a text that somebody else may have chosen.
func firstWord(text string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	return label(word)
}

func (b *Branch) name() string {
	if b.Name == "" {
		return DefaultBranch
	}
	return b.Name
}

func (b *Branch) step(s Step) {
	if b.Step != nil {
		b.Step(s)
	}
}
