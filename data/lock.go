package data

import "errors"

// ErrHeld means that another process has a lock.
var ErrHeld = errors.New("another process is at work here")
