package data

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"

	"github.com/streamgauge/streamgauge/bench"
)

// PutTrace keeps a sample with its trace, in DIR/traces/SERIES.json, if it is a
// success, no buffering probe, and newer than the one kept of its series. Traces are for showing how
// an answer arrived; no statistic needs them, and they are not committed.
func (s *Store) PutTrace(sample bench.Sample) (kept bool, err error) {
	if s.opts.ReadOnly {
		return false, fmt.Errorf("keep trace: %w", &FileError{Path: s.dir, Problem: ErrReadOnly})
	}
	if !sample.OK() || sample.Env.Short || len(sample.Trace) == 0 || validate(&sample) != nil {
		return false, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	folder := filepath.Join(s.dir, "traces")
	path := filepath.Join(folder, traceName(sample.Series()))
	// One that cannot be read is replaced.
	if old, err := readTrace(path); err == nil && !sample.StartedAt.After(old.StartedAt) {
		return false, nil
	}
	line, err := json.Marshal(sample)
	if err != nil {
		return false, fmt.Errorf("keep trace: %w", err)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return false, fmt.Errorf("keep trace: %w", fileError(folder, err))
	}
	if err := replaceFile(path, append(line, '\n')); err != nil {
		return false, fmt.Errorf("keep trace: %w", fileError(path, err))
	}
	return true, nil
}

// Traces yields the samples kept with their traces, in order of file name. One
// that cannot be read yields its error, and the others follow.
func (s *Store) Traces() iter.Seq2[bench.Sample, error] {
	return func(yield func(bench.Sample, error) bool) {
		folder := filepath.Join(s.dir, "traces")
		entries, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			yield(bench.Sample{}, fmt.Errorf("read traces: %w", fileError(folder, err)))
			return
		}
		for _, e := range entries {
			if filepath.Ext(e.Name()) != ".json" {
				continue
			}
			path := filepath.Join(folder, e.Name())
			sample, err := readTrace(path)
			if err != nil {
				err = fmt.Errorf("read trace %s: %w", path, err)
			}
			if !yield(sample, err) {
				return
			}
		}
	}
}

func readTrace(path string) (bench.Sample, error) {
	f, err := os.Open(path)
	if err != nil {
		return bench.Sample{}, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxLine))
	if err != nil {
		return bench.Sample{}, err
	}
	return parseLine(text)
}

// traceName returns the file name of a series: readable, and distinct even
// where names differ only in characters that file systems dislike or fold.
func traceName(series bench.Series) string {
	full := fmt.Sprintf("%s/%s/%s/%t", series.Provider, series.Model, series.Vantage, series.Nonce)
	sum := sha256.Sum256([]byte(full))
	plain := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '.', r == '-':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '_'
	}, series.Provider+"_"+series.Model)
	return plain[:min(len(plain), 80)] + "-" + hex.EncodeToString(sum[:6]) + ".json"
}

// replaceFile writes a file so that its name always has whole content.
func replaceFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".new-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(content)
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
