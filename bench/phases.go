package bench

import (
	"crypto/tls"
	"net"
	"net/http/httptrace"
	"sync"
	"time"
)

// A setupTrace notes how a connection came about, by the hooks of
// net/http/httptrace, which the resolver and the dialer call too. Addresses may
// be tried at the same time and a loser's hooks may come late, from its own
// goroutine.
type setupTrace struct {
	clock clock

	mu        sync.Mutex
	dns, done time.Duration // start and end of the look-up
	dials     map[string]*dialTrace
	tls       [2]time.Duration
}

// A dialTrace is one address tried.
type dialTrace struct{ start, done time.Duration }

func newSetupTrace(c clock) *setupTrace {
	return &setupTrace{clock: c, dials: make(map[string]*dialTrace)}
}

// hooks returns the hooks that fill t.
func (t *setupTrace) hooks() *httptrace.ClientTrace {
	note := func(at *time.Duration) {
		t.mu.Lock()
		defer t.mu.Unlock()
		if *at == 0 {
			*at = t.clock().mono
		}
	}
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { note(&t.dns) },
		DNSDone:  func(httptrace.DNSDoneInfo) { note(&t.done) },
		ConnectStart: func(_, addr string) {
			now := t.clock().mono
			t.mu.Lock()
			defer t.mu.Unlock()
			t.dials[addr] = &dialTrace{start: now}
		},
		ConnectDone: func(_, addr string, err error) {
			now := t.clock().mono
			t.mu.Lock()
			defer t.mu.Unlock()
			if d := t.dials[addr]; d != nil && err == nil {
				d.done = now
			}
		},
		TLSHandshakeStart: func() { note(&t.tls[0]) },
		TLSHandshakeDone:  func(tls.ConnectionState, error) { note(&t.tls[1]) },
	}
}

// dialed reports whether an address was tried, so that what failed was not its
// look-up.
func (t *setupTrace) dialed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.dials) > 0
}

// spans returns the spans of the set-up; remote is the address that won. A span
// with an end missing is 0: it did not happen, or not to its end.
func (t *setupTrace) spans(remote net.Addr) Phases {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := Phases{DNS: span(t.dns, t.done), TLS: span(t.tls[0], t.tls[1])}
	if remote != nil {
		if d := t.dials[remote.String()]; d != nil {
			p.Connect = span(d.start, d.done)
		}
	}
	return p
}

// span returns the time between two instants, 0 if either is missing.
func span(from, to time.Duration) time.Duration {
	if from == 0 || to <= from {
		return 0
	}
	return to - from
}
