package bench

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A kernelReader reads a TCP socket by recvmsg and takes the kernel's receive
// stamp from the control message that comes along: the instant at which the
// newest segment among the bytes entered the network stack, before any wake-up,
// scheduling or copying on our side.
//
// Source: Linux Documentation/networking/timestamping.rst.
type kernelReader struct {
	conn    syscall.RawConn
	attempt func(fd uintptr) bool // k.recv, made once: a method value allocates

	p    []byte
	oob  [128]byte
	n    int
	wall time.Duration
	err  error
}

// newKernelReader asks for receive stamps on c and returns a reader of them,
// or nil if c is no socket or the kernel has none to give.
func newKernelReader(c net.Conn) *kernelReader {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	raw, err := sc.SyscallConn()
	if err != nil || requestStamps(raw) != nil {
		return nil
	}
	k := &kernelReader{conn: raw}
	k.attempt = k.recv
	return k
}

// requestStamps turns receive stamps on. Asked for before connecting, they are
// there from the first segment on.
func requestStamps(raw syscall.RawConn) error {
	const flags = unix.SOF_TIMESTAMPING_RX_SOFTWARE | unix.SOF_TIMESTAMPING_SOFTWARE
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_TIMESTAMPING, flags)
	})
	if err != nil {
		return err
	}
	return failed
}

// read waits for bytes as a net.Conn does, deadlines included, and returns them
// with the kernel's stamp, wall clock; 0 if it gave none.
func (k *kernelReader) read(p []byte) (int, time.Duration, error) {
	if len(p) == 0 {
		return 0, 0, nil
	}
	k.p = p
	err := k.conn.Read(k.attempt)
	k.p = nil
	switch {
	case err != nil:
		return 0, 0, err
	case k.err != nil:
		return 0, 0, os.NewSyscallError("recvmsg", k.err)
	case k.n == 0:
		return 0, 0, io.EOF
	}
	return k.n, k.wall, nil
}

// recv tries once; false asks the runtime to wait until the socket is readable.
func (k *kernelReader) recv(fd uintptr) bool {
	var oobn int
	k.n, k.wall = 0, 0
	for {
		k.n, oobn, _, _, k.err = unix.Recvmsg(int(fd), k.p, k.oob[:], 0)
		if k.err != unix.EINTR {
			break
		}
	}
	if k.err == unix.EAGAIN {
		return false
	}
	if k.err == nil {
		k.wall = receiveStamp(k.oob[:oobn])
	}
	return true
}

// receiveStamp returns the software receive stamp among the control messages.
func receiveStamp(oob []byte) time.Duration {
	for len(oob) > 0 {
		hdr, data, rest, err := unix.ParseOneSocketControlMessage(oob)
		if err != nil {
			return 0
		}
		if hdr.Level == unix.SOL_SOCKET && hdr.Type == unix.SCM_TIMESTAMPING {
			return softwareStamp(data)
		}
		oob = rest
	}
	return 0
}

// softwareStamp returns the first of a scm_timestamping's three timespecs, which
// are of 64-bit fields on 64-bit machines and of 32-bit fields on others.
func softwareStamp(data []byte) time.Duration {
	var sec, nsec int64
	switch len(data) {
	case 3 * 16:
		sec = int64(binary.NativeEndian.Uint64(data))
		nsec = int64(binary.NativeEndian.Uint64(data[8:]))
	case 3 * 8:
		sec = int64(binary.NativeEndian.Uint32(data))
		nsec = int64(binary.NativeEndian.Uint32(data[4:]))
	}
	return time.Duration(sec)*time.Second + time.Duration(nsec)
}
