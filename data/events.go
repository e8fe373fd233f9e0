package data

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/streamgauge/streamgauge/rollup"
)

// eventsFile holds what was found in the record and published: one JSON event a
// line, only ever added to.
const eventsFile = "events.ndjson"

// Events returns the events published so far, in the order they were added. A
// last line that a crash cut short is passed over: the event is found again.
func (s *Store) Events() ([]rollup.Event, error) {
	path := filepath.Join(s.dir, eventsFile)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read events: %w", fileError(path, err))
	}
	defer f.Close()
	var events []rollup.Event
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, maxLine)
	var broken error
	for n := 1; lines.Scan(); n++ {
		if broken != nil {
			return nil, broken // it was not the last line
		}
		var e rollup.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			broken = fmt.Errorf("read events: %w", &LineError{Journal: eventsFile, Line: n, Err: err})
			continue
		}
		events = append(events, e)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read events: %w", fileError(path, err))
	}
	return events, nil
}

// AddEvents adds the events that are not there yet, by their IDs, and returns
// how many those were. What is there is never rewritten.
func (s *Store) AddEvents(events []rollup.Event) (added int, err error) {
	known, err := s.Events()
	if err != nil {
		return 0, err
	}
	have := map[string]bool{}
	for _, e := range known {
		have[e.ID] = true
	}
	var lines []byte
	for _, e := range events {
		if have[e.ID] {
			continue
		}
		have[e.ID] = true
		line, err := json.Marshal(e)
		if err != nil {
			return 0, fmt.Errorf("add event %s: %w", e.ID, err)
		}
		lines = append(append(lines, line...), '\n')
		added++
	}
	if added == 0 {
		return 0, nil
	}
	return added, appendLines(filepath.Join(s.dir, eventsFile), lines)
}

// appendLines adds whole lines to a file, durably. A line that a crash cut
// short is ended first, so that it spoils no other.
func appendLines(path string, lines []byte) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("append to %s: %w", filepath.Base(path), fileError(path, err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil && info.Size() > 0 {
		last := make([]byte, 1)
		if _, err = f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			// The cut line is dropped: its event comes again with these.
			err = truncateToLine(f, info.Size())
		}
	}
	if err == nil {
		_, err = f.Write(lines)
	}
	if err := errors.Join(err, f.Sync()); err != nil {
		return fmt.Errorf("append to %s: %w", filepath.Base(path), fileError(path, err))
	}
	return nil
}

// truncateToLine cuts a file back to the end of its last whole line.
func truncateToLine(f *os.File, size int64) error {
	one := make([]byte, 1)
	for size > 0 {
		if _, err := f.ReadAt(one, size-1); err != nil {
			return err
		}
		if one[0] == '\n' {
			break
		}
		size--
	}
	return f.Truncate(size)
}
