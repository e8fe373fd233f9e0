// Package sqlite3 stands in for the driver where there is no C compiler for a
// system, so that package data and all above it can be type-checked for that
// system: see the step for other systems in run. Nothing of it is ever run.
package sqlite3

import (
	"database/sql/driver"
	"errors"
	"syscall"
)

type (
	ErrNo         int
	ErrNoExtended int
	Error         struct {
		Code         ErrNo
		ExtendedCode ErrNoExtended
		SystemErrno  syscall.Errno
	}
	SQLiteDriver struct {
		Extensions  []string
		ConnectHook func(*SQLiteConn) error
	}
	SQLiteConn struct{}
)

const (
	ErrPerm     = ErrNo(3)
	ErrBusy     = ErrNo(5)
	ErrLocked   = ErrNo(6)
	ErrReadonly = ErrNo(8)
	ErrCorrupt  = ErrNo(11)
	ErrFull     = ErrNo(13)
	ErrCantOpen = ErrNo(14)
	ErrNotADB   = ErrNo(26)

	ErrReadonlyRecovery = ErrNoExtended(264)
	ErrReadonlyRollback = ErrNoExtended(776)

	SQLITE_OK       = 0
	SQLITE_DENY     = 1
	SQLITE_READ     = 20
	SQLITE_SELECT   = 21
	SQLITE_FUNCTION = 31
)

var errStub = errors.New("no SQLite here")

func (Error) Error() string                            { return "" }
func (*SQLiteDriver) Open(string) (driver.Conn, error) { return nil, errStub }
func (*SQLiteConn) Exec(string, []driver.Value) (driver.Result, error) {
	return nil, errStub
}
func (*SQLiteConn) RegisterFunc(string, any, bool) error                     { return errStub }
func (*SQLiteConn) RegisterAuthorizer(func(int, string, string, string) int) {}
func Version() (string, int, string)                                         { return "", 0, "" }
