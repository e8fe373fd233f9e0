package main

import (
	"errors"

	"golang.org/x/sys/unix"
)

// exchange lets two folders change places, in one step where the file system
// can; else b goes to aside and a takes its place.
func exchange(a, b, aside string) error {
	err := unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) {
		return exchangeByTurns(a, b, aside)
	}
	return err
}
