package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"sync"
)

// An output is the folder a build writes. Files whose content is the same are
// left alone, so that an unchanged page keeps its modification time; what an
// earlier build left and this one did not write is removed at the end.
type output struct {
	dir   string
	fresh bool                                 // it was empty: there is nothing to compare with
	check func(name string, data []byte) error // nil accepts everything; called from one goroutine at a time

	mu      sync.Mutex       // guards what follows
	written map[string]int64 // slash path → bytes
	folders map[string]bool  // that exist, as the system names them
	changed int
}

// markerFile says that a folder is ours to clean up.
const markerFile = ".streamgauge-site"

// errForeign is wrapped when the output folder holds files we did not write.
var errForeign = errors.New("the folder is not empty and was not built by streamgauge; choose another or empty it")

func openOutput(dir string) (*output, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("open the output folder: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, markerFile)); err != nil && len(entries) > 0 {
		return nil, fmt.Errorf("build into %s: %w", dir, errForeign)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create the output folder: %w", err)
	}
	o := &output{dir: dir, fresh: len(entries) == 0, written: map[string]int64{}, folders: map[string]bool{}}
	return o, o.write(markerFile, []byte("This folder is built by streamgauge. Files that a build does not write are removed.\n"))
}

// write puts a file at a slash-separated path below the folder. It may be called
// from several goroutines.
func (o *output) write(name string, data []byte) error {
	file := filepath.Join(o.dir, filepath.FromSlash(name))
	if err := o.claim(name, data); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if !o.fresh {
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
			return nil
		}
	}
	if err := o.change(file); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	// A build that is stopped half-way leaves whole files only.
	temporary := file + ".new"
	if err := os.WriteFile(temporary, data, 0o644); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := os.Rename(temporary, file); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}

// claim notes that a file is written, which it must be once and with leave.
func (o *output) claim(name string, data []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !fs.ValidPath(name) {
		return fmt.Errorf("%q is no path inside the site", name)
	}
	if _, twice := o.written[name]; twice {
		return errors.New("two pages have this address")
	}
	if o.check != nil {
		if err := o.check(name, data); err != nil {
			return err
		}
	}
	o.written[name] = int64(len(data))
	return nil
}

// change counts a file that changes, and makes the folder for it.
func (o *output) change(file string) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.changed++
	folder := filepath.Dir(file)
	if o.folders[folder] {
		return nil
	}
	o.folders[folder] = true
	return os.MkdirAll(folder, 0o755)
}

// copy puts a file of the dataset into the folder, and makes sure that it is the
// one whose checksum the pages print.
func (o *output) copy(name string, f File) error {
	if !fs.ValidPath(name) || path.Base(name) != f.Name {
		return fmt.Errorf("copy %q: not a file name", f.Name)
	}
	if _, twice := o.written[name]; twice {
		return fmt.Errorf("copy %s: two files have this address", name)
	}
	if o.check != nil {
		data, err := os.ReadFile(f.Source)
		if err == nil {
			err = o.check(name, data)
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	o.written[name] = f.Bytes
	to := filepath.Join(o.dir, filepath.FromSlash(name))
	if sum, n, err := digest(to, io.Discard); err == nil && sum == f.SHA256 && n == f.Bytes {
		return nil
	}
	if err := o.change(to); err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	temporary := to + ".new"
	out, err := os.Create(temporary)
	if err != nil {
		return fmt.Errorf("copy %s: %w", name, err)
	}
	sum, n, err := digest(f.Source, out)
	if shut := out.Close(); err == nil {
		err = shut
	}
	if err == nil && (sum != f.SHA256 || n != f.Bytes) {
		err = fmt.Errorf("it has %d bytes and sum %s, not %d and %s", n, sum, f.Bytes, f.SHA256)
	}
	if err == nil {
		err = os.Rename(temporary, to)
	}
	if err != nil {
		os.Remove(temporary)
		return fmt.Errorf("copy %s: %w", name, err)
	}
	return nil
}

// digest copies a file to w and returns its SHA-256 in hexadecimal, and its size.
func digest(name string, w io.Writer) (sum string, n int64, err error) {
	in, err := os.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer in.Close()
	h := sha256.New()
	n, err = io.Copy(io.MultiWriter(h, w), in)
	return hex.EncodeToString(h.Sum(nil)), n, err
}

// close removes what this build did not write.
func (o *output) close() error {
	var stale []string
	err := filepath.WalkDir(o.dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(o.dir, file)
		if err != nil {
			return err
		}
		if _, ok := o.written[filepath.ToSlash(name)]; !ok {
			stale = append(stale, file)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("look for stale pages: %w", err)
	}
	for _, file := range stale {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove a stale page: %w", err)
		}
		// An empty folder goes too; a full one stays, as Remove refuses it.
		_ = os.Remove(filepath.Dir(file))
	}
	return nil
}
