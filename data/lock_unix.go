//go:build unix

package data

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// A Lock keeps other processes, and other holders in this one, from the same
// work. The system releases it when its holder ends, however that comes about.
type Lock struct{ file *os.File }

// AcquireLock takes the lock on a file, which is made if it is missing and
// never removed. It does not wait: a lock that is held is [ErrHeld].
func AcquireLock(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock: %w", fileError(path, err))
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			err = ErrHeld
		}
		return nil, fmt.Errorf("lock: %w", &FileError{Path: path, Problem: err})
	}
	return &Lock{f}, nil
}

// Release gives the lock up.
//
// Note: closing the file alone would not do. A process that another goroutine
// is just starting has a copy of each open file until it runs its program, and
// would keep the lock for that long.
func (l *Lock) Release() error {
	return errors.Join(syscall.Flock(int(l.file.Fd()), syscall.LOCK_UN), l.file.Close())
}

// claim locks an open file until it is closed. A file system without locks
// locks nothing.
func claim(f *os.File) { _ = syscall.Flock(int(f.Fd()), syscall.LOCK_EX) }

// claimed reports whether another holder has claimed an open file.
func claimed(f *os.File) bool {
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// share lets a child process hold the lock too: if this process is killed, the
// lock stays until the child has ended.
func (l *Lock) share(cmd *exec.Cmd) { cmd.ExtraFiles = append(cmd.ExtraFiles, l.file) }
