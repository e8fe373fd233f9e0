package bench

import (
	"encoding/binary"
	"io"
	"net"
	"os"
	"syscall"
	"time"
	"unsafe"

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

	msg unix.Msghdr // kept, with what it points to, so that a read allocates nothing
	iov unix.Iovec
	oob [128]byte

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

// holdStamps keeps the kernel stamping for as long as the returned socket is
// open. It turns the stamping on and off for the whole machine, with the first
// and the last socket that asks, and in the background: without a socket that
// holds it on, the first reads of each connection could come unstamped.
func holdStamps() net.PacketConn {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil // the samples say so themselves
	}
	raw, err := conn.(*net.UDPConn).SyscallConn()
	if err != nil || requestStamps(raw) != nil {
		conn.Close()
		return nil
	}
	return conn
}

// read waits for bytes as a net.Conn does, deadlines included, and returns them
// with the kernel's stamp, wall clock; 0 if it gave none.
func (k *kernelReader) read(p []byte) (int, time.Duration, error) {
	if len(p) == 0 {
		return 0, 0, nil
	}
	k.iov.Base = &p[0]
	k.iov.SetLen(len(p))
	err := k.conn.Read(k.attempt)
	k.iov.Base = nil
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
//
// Note: unix.Recvmsg does the same and allocates for each call.
func (k *kernelReader) recv(fd uintptr) bool {
	k.n, k.wall, k.err = 0, 0, nil
	for {
		k.msg = unix.Msghdr{Iov: &k.iov, Control: &k.oob[0]}
		k.msg.SetIovlen(1)
		k.msg.SetControllen(len(k.oob))
		n, _, errno := unix.Syscall(unix.SYS_RECVMSG, fd, uintptr(unsafe.Pointer(&k.msg)), 0)
		switch errno {
		case 0:
			k.n = int(n)
			k.wall = receiveStamp(k.oob[:k.msg.Controllen])
			return true
		case unix.EINTR:
		case unix.EAGAIN:
			return false
		default:
			k.err = errno
			return true
		}
	}
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
