package site

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
)

// An output is the folder a build writes. Files whose content is the same are
// left alone, so that an unchanged page keeps its modification time; what an
// earlier build left and this one did not write is removed at the end.
type output struct {
	dir     string
	written map[string]int64 // slash path → bytes
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
	o := &output{dir: dir, written: map[string]int64{}}
	return o, o.write(markerFile, []byte("This folder is built by streamgauge. Files that a build does not write are removed.\n"))
}

// write puts a file at a slash-separated path below the folder.
func (o *output) write(name string, data []byte) error {
	if !fs.ValidPath(name) {
		return fmt.Errorf("write %q: not a path inside the site", name)
	}
	if _, twice := o.written[name]; twice {
		return fmt.Errorf("write %s: two pages have this address", name)
	}
	o.written[name] = int64(len(data))
	file := filepath.Join(o.dir, filepath.FromSlash(name))
	if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, data) {
		return nil
	}
	o.changed++
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
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

// paths returns all files written, sorted, for the link check and the sitemap.
func (o *output) paths() []string {
	paths := make([]string, 0, len(o.written))
	for name := range o.written {
		if !strings.HasPrefix(name, ".") {
			paths = append(paths, name)
		}
	}
	sort.Strings(paths)
	return paths
}
