package bench

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestReceiveStamp reads stamps out of control messages as the kernel writes
// them, and survives any others.
func TestReceiveStamp(t *testing.T) {
	message := func(level, kind int, data []byte) []byte {
		b := make([]byte, unix.CmsgSpace(len(data)))
		h := new(unix.Cmsghdr)
		h.SetLen(unix.CmsgLen(len(data)))
		if unix.SizeofCmsghdr == 16 {
			binary.NativeEndian.PutUint64(b, uint64(h.Len))
		} else {
			binary.NativeEndian.PutUint32(b, uint32(h.Len))
		}
		binary.NativeEndian.PutUint32(b[unix.SizeofCmsghdr-8:], uint32(level))
		binary.NativeEndian.PutUint32(b[unix.SizeofCmsghdr-4:], uint32(kind))
		copy(b[unix.CmsgLen(0):], data)
		return b
	}
	wide := make([]byte, 48)
	binary.NativeEndian.PutUint64(wide, 1_700_000_000)
	binary.NativeEndian.PutUint64(wide[8:], 123_456_789)
	narrow := make([]byte, 24)
	binary.NativeEndian.PutUint32(narrow, 1_700_000_000)
	binary.NativeEndian.PutUint32(narrow[4:], 123_456_789)
	const want = 1_700_000_000*time.Second + 123_456_789

	stamped := message(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, wide)
	tests := []struct {
		name string
		oob  []byte
		want time.Duration
	}{
		{"64-bit fields", stamped, want},
		{"32-bit fields", message(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, narrow), want},
		{"after another", append(message(unix.SOL_IP, unix.IP_TTL, make([]byte, 4)), stamped...), want},
		{"none", nil, 0},
		{"only another", message(unix.SOL_IP, unix.IP_TTL, make([]byte, 4)), 0},
		{"of another length", message(unix.SOL_SOCKET, unix.SCM_TIMESTAMPING, make([]byte, 7)), 0},
		{"cut short", stamped[:10], 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := receiveStamp(tt.oob); got != tt.want {
				t.Errorf("receiveStamp = %v; want %v", got, tt.want)
			}
		})
	}
}

// TestKernelStamps checks on a real socket that each read gets a stamp no later
// than our own and no earlier than the server's write, that end of file and
// deadlines come as from any connection, and that a read after a deadline works.
func TestKernelStamps(t *testing.T) {
	clk := newClock()
	type wrote struct{ before, after time.Duration }
	writes := make(chan wrote)
	next := make(chan string)
	url := serveRaw(t, func(c net.Conn) {
		for s := range next {
			before := clk().mono
			io.WriteString(c, s)
			writes <- wrote{before, clk().mono}
		}
	})
	conn, err := new(Meter).dialer()(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	sock := stampConn(conn, clk, true)
	if sock.kern == nil {
		t.Skip("this kernel gives no receive stamps")
	}
	hold := holdStamps()
	if hold == nil {
		t.Fatal("no socket holds the stamping on")
	}
	defer hold.Close()
	buf := make([]byte, 16)
	reads := 0
	for ; sock.last.kernel == 0; reads++ { // the kernel turns stamping on in the background
		if reads == 100_000 {
			t.Fatalf("no stamp in %d reads", reads)
		}
		next <- "."
		<-writes
		if _, err := sock.Read(buf); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		next <- "hello"
		w := <-writes
		n, err := sock.Read(buf)
		if n != 5 || err != nil || string(buf[:n]) != "hello" {
			t.Fatalf("read %d: %q, %v", i, buf[:n], err)
		}
		if sock.last.read != reads+i+1 || sock.last.user < w.after {
			t.Errorf("read %d: stamp %+v, written %+v", i, sock.last, w)
		}
		if k := sock.last.kernel; k < w.before-offsetSlack || k > sock.last.user {
			t.Errorf("read %d: stamped %v, written from %v to %v, read at %v", i, k, w.before, w.after, sock.last.user)
		}
	}

	sock.SetReadDeadline(time.Now().Add(-time.Second))
	if n, err := sock.Read(buf); n != 0 || !timedOut(err) {
		t.Errorf("past its deadline: %d, %v", n, err)
	}
	sock.SetReadDeadline(time.Time{})
	next <- "again"
	<-writes
	if n, err := sock.Read(buf); string(buf[:n]) != "again" || err != nil {
		t.Errorf("after a deadline: %q, %v", buf[:n], err)
	}
	close(next)
	if n, err := sock.Read(buf); n != 0 || err != io.EOF {
		t.Errorf("at the end: %d, %v", n, err)
	}
	if n, err := sock.Read(nil); n != 0 || err != nil {
		t.Errorf("of nothing: %d, %v", n, err)
	}
	sock.Close()
	if _, err := sock.Read(buf); err == nil {
		t.Error("read a closed connection")
	}
}

func TestPressureTotal(t *testing.T) {
	tests := []struct {
		name, text string
		want       time.Duration
		ok         bool
	}{
		{"both lines", "some avg10=2.55 avg60=3.75 avg300=18.70 total=194258322\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", 194258322 * time.Microsecond, true},
		{"one line", "some avg10=0.00 avg60=0.00 avg300=0.00 total=0", 0, true},
		{"empty", "", 0, false},
		{"no total", "some avg10=0.00\n", 0, false},
		{"no number", "some total=many\n", 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := pressureTotal([]byte(tt.text)); got != tt.want || ok != tt.ok {
				t.Errorf("pressureTotal = %v, %v; want %v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
}
