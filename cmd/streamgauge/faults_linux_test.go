//go:build linux && (amd64 || arm64)

package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A broken disk is played by the kernel: a seccomp filter hands certain system
// calls of a child to this process, which lets them pass, or has one of them fail
// with EIO. It is the program itself that runs, with SQLite and the Go runtime as
// they are. See seccomp_unotify(2).

// seccompNotification is struct seccomp_notif, its seccomp_data included.
type seccompNotification struct {
	id         uint64
	pid, flags uint32
	nr         int32
	arch       uint32
	ip         uint64
	args       [6]uint64
}

// seccompResponse is struct seccomp_notif_resp.
type seccompResponse struct {
	id    uint64
	value int64
	errno int32
	flags uint32
}

// A diskFault is a kind of system call that fails.
type diskFault struct {
	name    string
	calls   []uint32
	folders bool // calls whose first argument is an open folder, else those where it is not
	lasting bool // all calls of the kind fail after the first one that does
}

// brokenChild runs the program in a process of its own, in which the nth call of
// a kind fails with EIO; 0 is none. It also returns how many there were.
func brokenChild(t *testing.T, fault diskFault, nth int, args ...string) (code int, stderr string, made int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "streamgauge", args...)
	var log bytes.Buffer
	cmd.Stderr = &log
	type started struct {
		listener int
		err      error
	}
	begun, over := make(chan started), make(chan error, 1)
	go func() {
		// A child inherits the filters of the thread that it is started from. The
		// thread is never unlocked, and so ends with this goroutine.
		runtime.LockOSThread()
		listener, err := filterThread(fault.calls)
		if err == nil {
			err = cmd.Start()
		}
		begun <- started{listener, err}
		if err == nil {
			over <- cmd.Wait()
		}
	}()
	start := <-begun
	if errors.Is(start.err, unix.ENOSYS) || errors.Is(start.err, unix.EINVAL) || errors.Is(start.err, unix.EBUSY) || errors.Is(start.err, unix.EACCES) {
		t.Skip("this kernel hands out no system calls:", start.err)
	}
	if start.err != nil {
		t.Fatal(start.err)
	}
	defer unix.Close(start.listener)
	for {
		poll := []unix.PollFd{{Fd: int32(start.listener), Events: unix.POLLIN}}
		const patience = 20 // ms, from the end of the child to ours
		n, err := unix.Poll(poll, patience)
		if err != nil && !errors.Is(err, unix.EINTR) {
			t.Fatal(err)
		}
		if n == 1 && poll[0].Revents&unix.POLLIN != 0 {
			answer(t, start.listener, func(call seccompNotification) bool {
				if call.onFolder() != fault.folders {
					return false
				}
				made++
				return nth > 0 && (made == nth || fault.lasting && made > nth)
			})
			continue
		}
		select {
		case err := <-over:
			var exit *exec.ExitError
			if err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			return cmd.ProcessState.ExitCode(), log.String(), made
		default:
		}
	}
}

// filterThread hands system calls of this thread, and of children that it
// starts, to the listener that it returns.
func filterThread(calls []uint32) (listener int, err error) {
	program := []unix.SockFilter{{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: 0}} // seccomp_data.nr
	for i, nr := range calls {
		program = append(program, unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: nr, Jt: uint8(len(calls) - i)})
	}
	program = append(program,
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: 0x7fff0000}, // SECCOMP_RET_ALLOW
		unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: unix.SECCOMP_RET_USER_NOTIF})
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return 0, err
	}
	prog := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_NEW_LISTENER, uintptr(unsafe.Pointer(&prog)))
	if errno != 0 {
		return 0, errno
	}
	return int(fd), nil
}

// answer takes one system call, and lets it pass or fail.
func answer(t *testing.T, listener int, fails func(seccompNotification) bool) {
	t.Helper()
	var call seccompNotification
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&call)))
	switch errno {
	case 0:
	case unix.ENOENT, unix.EINTR: // its process is gone
		return
	default:
		t.Fatal(errno)
	}
	response := seccompResponse{id: call.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
	if fails(call) {
		response = seccompResponse{id: call.id, errno: -int32(unix.EIO)}
	}
	_, _, errno = unix.Syscall(unix.SYS_IOCTL, uintptr(listener), unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&response)))
	if errno != 0 && errno != unix.ENOENT {
		t.Fatal(errno)
	}
}

// onFolder reports whether a call is about an open folder, which stands still as
// long as the call is not answered.
func (c seccompNotification) onFolder() bool {
	if c.nr != unix.SYS_FSYNC && c.nr != unix.SYS_FDATASYNC {
		return false
	}
	info, err := os.Stat(fmt.Sprintf("/proc/%d/fd/%d", c.pid, int32(c.args[0])))
	return err == nil && info.IsDir()
}

// TestBrokenDiskEverywhere runs each command that writes on a disk that breaks
// at some system call. It must say so and exit with 1, files that were there must
// be whole, the record as it was or as it was to be, and doing it again on a
// sound disk must end where it ends at once.
//
// Two failures go unnoticed by right: SQLite does not mind if a folder cannot be
// synced while a journal is made, as some file systems never can, and what only
// could not be tidied away is done all the same.
func TestBrokenDiskEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("starts many processes")
	}
	t.Parallel()
	lab := newFaultLab(t)
	syncs, writes := []uint32{unix.SYS_FSYNC, unix.SYS_FDATASYNC}, []uint32{unix.SYS_PWRITE64}
	faults := []diskFault{
		{name: "sync", calls: syncs, lasting: true},
		{name: "sync of folders", calls: syncs, folders: true},
		{name: "write", calls: writes, lasting: true},
		{name: "rename", calls: renames},
		{name: "link", calls: []uint32{unix.SYS_LINKAT}},
		{name: "remove", calls: removals},
	}
	if *everyWrite {
		faults = append(faults, diskFault{name: "one sync", calls: syncs}, diskFault{name: "one write", calls: writes})
	}
	var broken atomic.Int64
	t.Run("commands", func(t *testing.T) {
		for _, command := range []brokenCommand{
			{"ingest", lab.record, []string{"ingest", "--data", "record", lab.late}},
			{"roll up and prune", lab.ripe, []string{"rollup", "--data", "record"}},
			{"merge", lab.record, []string{"merge", lab.away, "--out", "record"}},
			{"export", lab.record, []string{"export", "--data", "record", "--out", "out"}},
			{"export parquet", lab.record, []string{"export", "--format", "parquet", "--data", "record", "--out", "out"}},
		} {
			t.Run(command.name, func(t *testing.T) {
				t.Parallel()
				calm := command.scene(t)
				before := contentOf(t, command.record)
				steps := command.finish(t, calm)
				wantOut := filesIn(t, filepath.Join(calm, "out"))
				for _, fault := range faults {
					code, log, calls := brokenChild(t, fault, 0, command.in(command.scene(t))...)
					if code != exitOK {
						t.Fatalf("%s, watched: exit %d\n%s", fault.name, code, log)
					}
					times := 0
					for nth := 1; nth <= calls; nth = nextCall(nth) {
						dir := command.scene(t)
						oldOut := filesIn(t, filepath.Join(dir, "out"))
						code, log, _ := brokenChild(t, fault, nth, command.in(dir)...)
						times++
						told := strings.Contains(log, "input/output error") || strings.Contains(log, "disk I/O error")
						unminded := code == exitOK && (fault.folders || fault.name == "remove")
						if !unminded && (code != exitFailed || !told) {
							t.Errorf("%s %d: exit %d\n%s", fault.name, nth, code, log)
						}
						got := contentOf(t, filepath.Join(dir, "record"))
						if unminded && got != steps[0] || got != before && !slices.Contains(steps, got) && command.name != "roll up and prune" {
							t.Errorf("%s %d: exit %d, and half of it is done", fault.name, nth, code)
						}
						for name, sum := range filesIn(t, filepath.Join(dir, "out")) {
							if _, was := oldOut[name]; was && sum != oldOut[name] && sum != wantOut[name] {
								t.Errorf("%s %d: %s is neither the old file nor the new one", fault.name, nth, name)
							}
						}
						if again := command.finish(t, dir); again[len(again)-1] != steps[len(steps)-1] {
							t.Errorf("%s %d: again on a sound disk, but not as at once", fault.name, nth)
						}
						gotOut := filesIn(t, filepath.Join(dir, "out"))
						maps.DeleteFunc(gotOut, func(name, _ string) bool { return fault.name == "remove" && strings.HasPrefix(name, ".export-") })
						if got, want := slices.Sorted(maps.Keys(gotOut)), slices.Sorted(maps.Keys(wantOut)); !slices.Equal(got, want) {
							t.Errorf("%s %d: again on a sound disk: %v, want %v", fault.name, nth, got, want)
						}
					}
					broken.Add(int64(times))
					t.Logf("%s: %d of %d calls broke", fault.name, times, calls)
				}
			})
		}
	})
	if broken.Load() < 10 {
		t.Errorf("the disk broke %d times: not much of a test", broken.Load())
	}
}

// A brokenCommand is a command that is tried on a copy of a record.
type brokenCommand struct {
	name, record string
	args         []string // in which record and out are folders
}

// scene lays out a copy of the record, and a folder with a file of an earlier
// export.
func (c *brokenCommand) scene(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	copyFolder(t, c.record, filepath.Join(dir, "record"))
	file := filepath.Join(dir, "out", "samples.csv.gz")
	if err := errors.Join(os.Mkdir(filepath.Dir(file), 0o755), os.WriteFile(file, []byte("of an earlier export"), 0o644)); err != nil {
		t.Fatal(err)
	}
	return dir
}

// in returns the arguments for a scene.
func (c *brokenCommand) in(dir string) []string {
	args := slices.Clone(c.args)
	for i, arg := range args {
		if arg == "record" || arg == "out" {
			args[i] = filepath.Join(dir, arg)
		}
	}
	return args
}

// finish runs the command on a sound disk until the record rests, as a rollup
// drops two days at most, and returns the content after each run.
func (c *brokenCommand) finish(t *testing.T, dir string) (contents []string) {
	t.Helper()
	for n := 0; n < 2 || contents[n-1] != contents[n-2]; n++ {
		if code, log := child(t, -1, c.in(dir)...); code != exitOK {
			t.Fatalf("on a sound disk: exit %d\n%s", code, log)
		}
		contents = append(contents, contentOf(t, filepath.Join(dir, "record")))
		if c.name != "roll up and prune" {
			return contents
		}
	}
	return contents
}

// nextCall returns the next of the calls to break: each, or every fourth power.
func nextCall(nth int) int {
	if *everyWrite {
		return nth + 1
	}
	return 4 * nth
}
