package main

import "golang.org/x/sys/unix"

// System calls that newer processors do without.
var (
	renames  = []uint32{unix.SYS_RENAME, unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2}
	removals = []uint32{unix.SYS_UNLINK, unix.SYS_UNLINKAT, unix.SYS_RMDIR}
)
