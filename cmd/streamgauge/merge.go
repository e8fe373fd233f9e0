package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/streamgauge/streamgauge/data"
)

// mergeCmd merges records.
type mergeCmd struct {
	Records []string `arg:"" type:"existingdir" help:"Directories of the records; they are only read."`
	Out     string   `required:"" placeholder:"DIR" type:"path" help:"Directory of the record they are merged into; made if missing."`
}

// Help is printed under the usage line.
func (mergeCmd) Help() string {
	return `Series are matched by name: copies of one record that went different ways, a fork's, or another vantage's.
The order is no matter, and merging again changes nothing. It works on a copy beside DIR, which takes DIR's place in one step when
everything is merged and checked: whatever stops it, DIR is as it was.
Example: streamgauge merge home/data away/data --out both`
}

// Run merges.
func (c *mergeCmd) Run(a *app) error {
	stage, err := newMergeStage(c.Out)
	if err != nil {
		return err
	}
	if err := c.merge(a, stage); err != nil {
		return errors.Join(err, stage.close())
	}
	return errors.Join(stage.swap(), stage.close())
}

// merge merges the records into a copy of the one that is there.
func (c *mergeCmd) merge(a *app, stage *mergeStage) error {
	if err := stage.copy(a); err != nil {
		return err
	}
	out, err := data.Open(a.ctx, stage.record, data.Options{Create: true})
	if err != nil {
		return err
	}
	for _, dir := range c.Records {
		if err := a.merge(out, dir); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return errors.Join(a.check(out), out.Close())
}

// merge takes one record over, and says what came of it.
func (a *app) merge(out *data.Store, dir string) error {
	from, err := data.Open(a.ctx, dir, data.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer from.Close()
	m, err := out.Merge(a.ctx, from)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s: %d samples new, %d known, %d put aside; %d frozen days of a series, %d events taken over\n",
		dir, m.New, m.Known, asideOf(m.Report), m.Frozen, m.Events)
	return nil
}

// asideOf counts the samples that were put aside.
func asideOf(r data.Report) (n int) {
	for _, of := range r.Aside {
		n += of
	}
	return n
}

// A mergeStage is a folder beside a record in which its successor is made. A
// merge is too much for one transaction, and half of it must never be taken for
// a record.
type mergeStage struct {
	out    string
	folder string // ".NAME.merging" beside out
	record string // in the folder
	before map[string]fs.FileInfo
	lock   *data.Lock
}

// newMergeStage makes the folder, without what a killed merge left in it.
func newMergeStage(out string) (*mergeStage, error) {
	if real, err := filepath.EvalSymlinks(out); err == nil {
		out = real
	}
	folder := filepath.Join(filepath.Dir(out), "."+filepath.Base(out)+".merging")
	s := &mergeStage{out: out, folder: folder, record: filepath.Join(folder, "record")}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	var err error
	if s.lock, err = data.AcquireLock(filepath.Join(folder, "lock")); err != nil {
		return nil, fmt.Errorf("merge: %w", err)
	}
	// Where places cannot be exchanged, a merge may have been killed between
	// taking the old record away and putting the new one there.
	if _, err := os.Stat(out); errors.Is(err, fs.ErrNotExist) {
		if err := os.Rename(s.old(), out); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, errors.Join(fmt.Errorf("merge: put %s back: %w", out, err), s.lock.Release())
		}
	}
	for _, left := range []string{s.record, s.old()} {
		if err := os.RemoveAll(left); err != nil {
			return nil, errors.Join(fmt.Errorf("merge: %w", err), s.lock.Release())
		}
	}
	return s, nil
}

// old is where the old record goes if it cannot change places with the new one.
func (s *mergeStage) old() string { return filepath.Join(s.folder, "old") }

// copy copies the record that is there, if there is one.
func (s *mergeStage) copy(a *app) error {
	entries, err := os.ReadDir(s.out)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(entries) == 0 {
		return nil
	}
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	// What a killed process left half done is undone before it is copied.
	store, err := data.Open(a.ctx, s.out, data.Options{Create: true})
	if err != nil {
		return err
	}
	if err := store.Close(); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	if s.before, err = filesOf(s.out); err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	if err := os.CopyFS(s.record, os.DirFS(s.out)); err != nil {
		return fmt.Errorf("merge: copy %s: %w", s.out, err)
	}
	return nil
}

// filesOf returns the state of every file in a folder.
func filesOf(dir string) (map[string]fs.FileInfo, error) {
	files := map[string]fs.FileInfo{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[path], err = d.Info()
		return err
	})
	return files, err
}

// swap puts the new record in the old one's place.
func (s *mergeStage) swap() error {
	if s.before == nil {
		if err := os.Rename(s.record, s.out); err != nil { // an empty folder gives way
			return fmt.Errorf("merge: %w", err)
		}
		return nil
	}
	now, err := filesOf(s.out)
	if err != nil {
		return fmt.Errorf("merge: %w", err)
	}
	for path, was := range s.before {
		is := now[path]
		delete(now, path)
		if is == nil || is.Size() != was.Size() || !is.ModTime().Equal(was.ModTime()) {
			return fmt.Errorf("merge: %s changed meanwhile; merge again", path)
		}
	}
	for path := range now {
		return fmt.Errorf("merge: %s came meanwhile; merge again", path)
	}
	if err := exchange(s.record, s.out, s.old()); err != nil {
		return fmt.Errorf("merge: put the new record in its place: %w", err)
	}
	return nil
}

// close removes the folder.
func (s *mergeStage) close() error {
	if err := errors.Join(os.RemoveAll(s.folder), s.lock.Release()); err != nil {
		return fmt.Errorf("merge: clear up: %w", err)
	}
	return nil
}

// exchangeByTurns moves b to aside and a to b. A process killed in between leaves
// no b.
func exchangeByTurns(a, b, aside string) error {
	if err := os.Rename(b, aside); err != nil {
		return err
	}
	if err := os.Rename(a, b); err != nil {
		return errors.Join(err, os.Rename(aside, b))
	}
	return nil
}
