package data

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sync"

	"github.com/streamgauge/streamgauge/bench"
)

const maxLine = 4 << 20 // bytes in one line of a journal; a trace of 10,000 events takes a quarter of it

// ErrSecret means that a sample was not written or not read, as its line holds
// a secret, or what looks like one.
var ErrSecret = errors.New("refused, as it holds a secret")

// A Journal is an NDJSON file of samples, one a line, each handed to the system
// before Append returns. What a killed run had measured is in its journal. It
// is safe for concurrent use, and claimed by its writer for as long as that
// lives: see [JournalInUse].
type Journal struct {
	mu      sync.Mutex
	file    *os.File
	secrets *bench.Redactor
}

// CreateJournal makes a journal, which must not exist. No line that holds one
// of the secrets, plain or in a common encoding, or what looks like a key, is
// ever written; nil knows no secret.
func CreateJournal(path string, secrets *bench.Redactor) (*Journal, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return nil, fmt.Errorf("create journal: %w", fileError(filepath.Dir(path), err))
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("create journal: %w", fileError(path, err))
	}
	claim(f)
	return &Journal{file: f, secrets: secrets}, nil
}

// JournalInUse reports whether a journal is still being written. It must not be
// removed then, though all that it holds so far is in the record: what its
// writer measures next would be lost.
func JournalInUse(path string) (bool, error) {
	f, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("look at journal: %w", fileError(path, err))
	}
	defer f.Close()
	return claimed(f), nil
}

// Append writes a sample. If its line holds a secret, nothing is written and
// the error is [ErrSecret]; it says of what shape, not which, nor where.
func (j *Journal) Append(s bench.Sample) error {
	line, err := json.Marshal(s)
	if err != nil {
		return fmt.Errorf("append to journal: %w", err)
	}
	if leak := j.secrets.Leak(line); leak != "" {
		return fmt.Errorf("append to journal: %w: it has %s", ErrSecret, leak)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("append to journal: %w", fileError(j.file.Name(), err))
	}
	return nil
}

// Close makes the journal durable and closes it.
func (j *Journal) Close() error {
	if err := errors.Join(j.file.Sync(), j.file.Close()); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// A LineError is a line of a journal that is no sample. Reading goes on.
type LineError struct {
	Journal string
	Line    int // from 1
	Err     error
}

// Error names the journal, the line and what is wrong with it.
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.Journal, e.Line, e.Err) }

// Unwrap returns what is wrong with the line.
func (e *LineError) Unwrap() error { return e.Err }

var errLongLine = fmt.Errorf("line is over %d bytes", maxLine)

// ReadJournal yields the samples of a journal. A line that is no sample, such
// as one that a crash cut short, yields a [*LineError], and reading goes on; an
// error of reading ends it. A line that holds one of the secrets or what looks
// like a key counts as no sample either: it comes from elsewhere, and may have
// been made to be published. Memory is bounded by the longest line allowed, 4 MiB, whatever the
// journal holds.
func ReadJournal(name string, r io.Reader, secrets *bench.Redactor) iter.Seq2[bench.Sample, error] {
	return func(yield func(bench.Sample, error) bool) {
		in := bufio.NewReaderSize(r, 64<<10)
		for number := 1; ; number++ {
			line, err := readLine(in)
			if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, errLongLine) {
				yield(bench.Sample{}, fmt.Errorf("read journal %s: %w", name, err))
				return
			}
			ended := errors.Is(err, io.EOF)
			if len(bytes.TrimSpace(line)) > 0 || errors.Is(err, errLongLine) {
				sample, bad := bench.Sample{}, err
				if bad == nil || ended {
					sample, bad = parseLine(line)
				}
				if leak := secrets.Leak(line); leak != "" {
					sample, bad = bench.Sample{}, fmt.Errorf("%w: it has %s", ErrSecret, leak)
				}
				if bad != nil {
					bad = &LineError{Journal: name, Line: number, Err: bad}
				}
				if !yield(sample, bad) {
					return
				}
			}
			if ended {
				return
			}
		}
	}
}

// readLine reads up to and including the next line feed. A line over maxLine is
// read to its end, and errLongLine returned in its place.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > maxLine; !long {
			line = append(line, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case long && (err == nil || errors.Is(err, io.EOF)):
			return nil, errors.Join(errLongLine, err)
		}
		return line, err
	}
}

// parseLine reads one sample. A field that this version does not know is an
// error, as dropping it would lose data.
func parseLine(line []byte) (bench.Sample, error) {
	if s, ok := readOwn(line); ok {
		return s, nil
	}
	return parseAnyLine(line)
}

// parseAnyLine reads a sample as encoding/json does.
func parseAnyLine(line []byte) (bench.Sample, error) {
	var s bench.Sample
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&s); err != nil {
		return bench.Sample{}, err
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return bench.Sample{}, errors.New("more than one value on the line")
	}
	return s, nil
}
