package main

import "golang.org/x/sys/unix"

var (
	renames  = []uint32{unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2}
	removals = []uint32{unix.SYS_UNLINKAT}
)
