//go:build !linux

package bench

import (
	"net"
	"syscall"
	"time"
)

// A kernelReader would read with the kernel's receive stamps, which only Linux
// gives.
type kernelReader struct{}

func newKernelReader(net.Conn) *kernelReader { return nil }

func requestStamps(syscall.RawConn) error { return nil }

func holdStamps() net.PacketConn { return nil }

func (*kernelReader) read([]byte) (int, time.Duration, error) {
	panic("bench: no kernel stamps on this system")
}
