package bench

import (
	"net"
	"time"
)

// A stamp is when a socket read brought its bytes.
type stamp struct {
	user   time.Duration // monotonic, right after the read returned
	kernel time.Duration // when the kernel had the newest of them, on the same clock; 0: not told
	read   int           // ordinal of the read on its socket, from 1
}

// A stampedConn stamps every read of the socket under it before anybody parses
// a byte. It lies directly on the socket, below TLS where there is TLS.
//
// crypto/tls reads the socket only when the record it is decrypting needs more
// bytes, so when a plaintext read returns, the newest stamp is that of the read
// which completed its record.
type stampedConn struct {
	net.Conn
	clock clock
	kern  wallReader // nil: user stamps only
	walls *wallMap
	last  stamp
}

// A wallReader reads a socket and tells when the kernel had the newest byte
// that it returns, by the wall clock; 0 is not told. It is a [kernelReader].
type wallReader interface {
	read(p []byte) (n int, wall time.Duration, err error)
}

// stampConn returns c with its reads stamped; by the kernel too, if it gives
// stamps and they are wanted.
func stampConn(c net.Conn, clk clock, kernel bool) *stampedConn {
	s := &stampedConn{Conn: c, clock: clk}
	if !kernel {
		return s
	}
	if r, ok := c.(wallReader); ok {
		s.kern = r
	} else if k := newKernelReader(c); k != nil {
		s.kern = k
	} else {
		return s
	}
	s.walls = newWallMap(clk)
	return s
}

// Read reads the socket and stamps what came. It does not allocate.
func (s *stampedConn) Read(p []byte) (n int, err error) {
	var wall time.Duration
	if s.kern != nil {
		n, wall, err = s.kern.read(p)
	} else {
		n, err = s.Conn.Read(p)
	}
	now := s.clock()
	if n <= 0 {
		return n, err
	}
	s.last.user = now.mono
	s.last.kernel = 0
	s.last.read++
	if wall != 0 {
		if at, ok := s.walls.instant(wall, now); ok {
			s.last.kernel = at
		}
	}
	return n, err
}
