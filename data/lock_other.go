//go:build !unix

package data

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
)

// A Lock keeps other processes, and other holders in this one, from the same
// work. After a crash its HELD file must be removed by hand.
type Lock struct{ path string }

// AcquireLock takes the lock on a file, which is made if it is missing. It does
// not wait: a lock that is held is [ErrHeld].
func AcquireLock(path string) (*Lock, error) {
	held := path + ".HELD"
	for _, open := range []struct {
		path string
		flag int
	}{{path, os.O_CREATE}, {held, os.O_CREATE | os.O_EXCL}} {
		f, err := os.OpenFile(open.path, os.O_RDWR|open.flag, 0o644)
		if errors.Is(err, fs.ErrExist) {
			err = &FileError{Path: held, Problem: ErrHeld}
		}
		if err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
		if err := f.Close(); err != nil {
			return nil, fmt.Errorf("lock: %w", err)
		}
	}
	return &Lock{held}, nil
}

// Release gives the lock up.
func (l *Lock) Release() error { return os.Remove(l.path) }

// claim does nothing here: a file that is open cannot be removed.
func claim(*os.File) {}

// claimed reports false.
func claimed(*os.File) bool { return false }

// share does nothing here.
func (l *Lock) share(*exec.Cmd) {}
