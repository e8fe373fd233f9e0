package data

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxQuarantine is how large the file of one reason may grow, in bytes. Beyond
// it samples are counted, and are in the journals they came with, but nowhere
// else: a journal of millions of them must fill no disk.
const maxQuarantine = 32 << 20

// quarantine appends samples to the files of their reasons. A line that is
// there already is not written again, so that ingesting twice adds nothing.
func (s *Store) quarantine(aside []asideSample) error {
	byReason := map[Reason][][]byte{}
	for _, a := range aside {
		bare := *a.sample
		bare.Trace = nil
		line, err := json.Marshal(bare)
		if err != nil {
			return fmt.Errorf("quarantine: %w", err)
		}
		byReason[a.reason] = append(byReason[a.reason], append(line, '\n'))
	}
	if len(byReason) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	folder := filepath.Join(s.dir, "quarantine")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("quarantine: %w", fileError(folder, err))
	}
	for reason, lines := range byReason {
		path := filepath.Join(folder, string(reason)+".ndjson")
		if err := appendNew(path, lines); err != nil {
			return fmt.Errorf("quarantine: %w", fileError(path, err))
		}
	}
	return nil
}

// appendNew appends to a file those lines that it lacks.
func appendNew(path string, lines [][]byte) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Size() >= maxQuarantine {
		return err
	}
	has := map[[sha256.Size]byte]bool{}
	in := bufio.NewReaderSize(f, 64<<10)
	whole := true // the file ends with a line feed, or is empty
	for {
		line, err := readLine(in)
		if len(line) > 0 {
			has[sha256.Sum256(line)] = true
			whole = line[len(line)-1] == '\n'
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, errLongLine) {
			return err
		}
	}
	var out bytes.Buffer
	if !whole {
		out.WriteByte('\n') // what a crash cut short stays a line of its own
	}
	for _, line := range lines {
		key := sha256.Sum256(line)
		if !has[key] && info.Size()+int64(out.Len()+len(line)) <= maxQuarantine {
			has[key] = true
			out.Write(line)
		}
	}
	if out.Len() > 1 || whole && out.Len() > 0 {
		if _, err := f.Write(out.Bytes()); err != nil {
			return err
		}
	}
	return f.Sync()
}

// Quarantined returns how many samples lie aside, by reason.
func (s *Store) Quarantined() (map[Reason]int, error) {
	counts := map[Reason]int{}
	for _, reason := range []Reason{Future, Jumped, TooOld, Conflict, Invalid} {
		path := filepath.Join(s.dir, "quarantine", string(reason)+".ndjson")
		f, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read quarantine: %w", fileError(path, err))
		}
		for _, err := range ReadJournal(path, f, nil) {
			var line *LineError
			if err != nil && !errors.As(err, &line) {
				f.Close()
				return nil, fmt.Errorf("read quarantine: %w", err)
			}
			counts[reason]++
		}
		f.Close()
	}
	return counts, nil
}
