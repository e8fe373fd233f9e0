package bench

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// Limits of a run inside [RunTimeout]. The published method knows one limit
// only, so waiting for the head or for the next read may take all of it; in
// which phase a dead run died follows from what had come. A provider file may
// shorten them.
const (
	DialTimeout   = 30 * time.Second // look-up and connect, and again the TLS handshake
	HeaderTimeout = RunTimeout       // dispatch to the end of the response head
	IdleTimeout   = RunTimeout       // silence between two reads of the body
	DrainTimeout  = 2 * time.Second  // silence after an end marker on a connection held open
	FinishTimeout = 10 * time.Second // silence after a finish reason that no end marker follows

	MaxHead      = 1 << 20  // bytes of response head; more is malformed
	maxErrorBody = 64 << 10 // bytes read of an error's body
)

// A Run is one request to be measured.
type Run struct {
	Pair      Pair
	Protocol  wire.Protocol
	Target    wire.Target
	Prompt    wire.Prompt
	Env       Env       // vantage, region, nonce, lanes; Measure fills in the rest
	Scheduled time.Time // the slot it was due in; zero for a probe
	Limits    Limits    // shorter than the Meter's; a zero limit is the Meter's
	Route     Route     // where the way is not the Meter's
}

// A Meter measures. Its zero value is ready to use; [Meter.Warm] keeps the cost
// of a process's first request out of its first sample. A Meter may be used by
// several goroutines, but requests in flight at once disturb each other's
// stamps. Its fields must not change once it is in use.
type Meter struct {
	// Roots are the authorities that a server's certificate must go back to.
	// Nil is the system's.
	Roots *x509.CertPool

	// Proxy names the proxy for a URL, nil for none: one that is asked to
	// CONNECT, or of SOCKS 5. A nil func is no proxy: the environment is not
	// looked at.
	Proxy func(*url.URL) (*url.URL, error)

	// UserStamps leaves the kernel's receive stamps alone.
	UserStamps bool

	// Limits shortens the limits of a run. A zero limit is the published one.
	Limits Limits

	dial  func(ctx context.Context, network, addr string) (net.Conn, error) // tests only
	clock clock                                                             // tests only

	rootsOnce   sync.Once
	systemRoots *x509.CertPool
	holdOnce    sync.Once
	hold        net.PacketConn // see holdStamps; open while the process lives
}

// Limits are the limits of a run; see the constants of the same names.
type Limits struct {
	Run    time.Duration // RunTimeout
	Dial   time.Duration // DialTimeout
	Header time.Duration // HeaderTimeout
	Idle   time.Duration // IdleTimeout
	Drain  time.Duration // DrainTimeout
	Finish time.Duration // FinishTimeout
}

// or returns l with the limits of wider in place of zeros.
func (l Limits) or(wider Limits) Limits {
	return Limits{
		Run:    cmp.Or(l.Run, wider.Run),
		Dial:   cmp.Or(l.Dial, wider.Dial),
		Header: cmp.Or(l.Header, wider.Header),
		Idle:   cmp.Or(l.Idle, wider.Idle),
		Drain:  cmp.Or(l.Drain, wider.Drain),
		Finish: cmp.Or(l.Finish, wider.Finish),
	}
}

// published returns the limits of the published method.
func published() Limits {
	return Limits{
		Run: RunTimeout, Dial: DialTimeout, Header: HeaderTimeout,
		Idle: IdleTimeout, Drain: DrainTimeout, Finish: FinishTimeout,
	}
}

// An Observer watches a measurement. A nil func is not called. Neither delays a
// stamp, but what they do while the run lasts takes CPU time from it.
type Observer struct {
	// Event gets each event soon after it arrived, from a goroutine of its own;
	// the arrival is by the user clock and the text in the event is valid only
	// during the call. The last call returns before Measure does.
	Event func(Arrival, wire.Event)

	// Recording gets what came, once, after the run. The recording is the
	// observer's to keep. It holds the text of the response.
	Recording func(Recording)
}

// Measure sends one request on a connection of its own, notes when each piece
// of the answer came, and returns the record of it. A request that fails is a
// Sample too. If ctx is cancelled, the sample has detail [DetailAborted]: it
// tells nothing of the provider and is the caller's to drop.
//
// Nothing is sent twice, no redirect is followed, no connection is reused, and
// nothing but HTTP/1.1 without compression is spoken.
func (m *Meter) Measure(ctx context.Context, r Run, obs Observer) Sample {
	rec := m.record(ctx, r, obs)
	s := rec.sample(r.Protocol)
	if obs.Recording != nil {
		obs.Recording(rec)
	}
	return s
}

// Capture performs a run as [Meter.Measure] does and derives nothing from what
// came: the hot path alone.
func (m *Meter) Capture(ctx context.Context, r Run) Recording { return m.record(ctx, r, Observer{}) }

// record performs the run and returns what came.
func (m *Meter) record(ctx context.Context, r Run, obs Observer) Recording {
	limits := r.Limits.or(m.Limits).or(published())
	ctx, cancel := context.WithTimeout(ctx, limits.Run)
	defer cancel()

	x := &exchange{
		limits:   limits,
		clock:    m.clock,
		protocol: r.Protocol,
		rec: Recording{
			Format: RecordingFormat, Pair: r.Pair, Scheduled: r.Scheduled.UTC(), Env: r.Env,
		},
	}
	if r.Scheduled.IsZero() {
		x.rec.Scheduled = time.Time{}
	}
	if x.clock == nil {
		x.clock = newClock()
	}
	x.rec.Env.Method = MethodVersion
	x.rec.Env.Protocol = r.Protocol.Name()
	if strings.HasSuffix(r.Prompt.Text, promptText) {
		x.rec.Env.Prompt = PromptVersion
	}
	req, err := r.Protocol.Request(ctx, r.Target, r.Prompt)
	if err != nil {
		x.rec.StartedAt = time.Now().UTC()
		x.fail(PhaseRequest, wire.KindMalformed, DetailUnsendable)
		return x.rec
	}
	req.Header.Set("Accept-Encoding", "identity")
	if obs.Event != nil {
		x.live = newLiveBody()
		done := make(chan struct{})
		go func() {
			defer close(done)
			x.live.watch(r.Protocol, obs.Event)
		}()
		defer func() {
			x.live.close()
			<-done
		}()
	}

	before := readLoad()
	start := x.clock()
	x.rec.StartedAt = time.Unix(0, int64(start.wall)).UTC()
	m.run(ctx, x, req, r.Route, start.mono)
	x.rec.Load = readLoad().since(before, x.clock().mono-start.mono)
	return x.rec
}

// run connects, sends and receives. What fails is noted in x.
func (m *Meter) run(ctx context.Context, x *exchange, req *http.Request, route Route, start time.Duration) {
	trace := newSetupTrace(x.clock)
	plain, sock, phase, err := m.connect(ctx, x.clock, x.limits, trace, req.URL, route)
	if sock != nil {
		x.rec.Phases = trace.spans(sock.RemoteAddr())
	} else {
		x.rec.Phases = trace.spans(nil)
	}
	if err != nil {
		x.failWith(ctx, phase, err)
		return
	}
	defer plain.Close()
	// Closing the connection is what wakes a blocked read or write for good.
	stop := context.AfterFunc(ctx, func() { plain.Close() })
	defer stop()

	if !x.send(ctx, plain, req, start) {
		return
	}
	x.receive(ctx, plain, sock, req)
}

// connect opens the connection of one run: the stamped socket, and on top of it
// what plain HTTP is spoken on. On failure it tells the phase.
func (m *Meter) connect(ctx context.Context, clk clock, limits Limits, trace *setupTrace, u *url.URL, route Route) (net.Conn, *stampedConn, Phase, error) {
	target, err := dialAddr(u)
	if err != nil {
		return nil, nil, PhaseDNS, err
	}
	addr := target
	proxy, err := m.proxyOf(u, route)
	if err != nil {
		return nil, nil, PhaseDial, err
	}
	if proxy != nil {
		if addr, err = proxyAddr(proxy); err != nil {
			return nil, nil, PhaseDial, err
		}
	}

	ctx = httptrace.WithClientTrace(ctx, trace.hooks())
	dialCtx, cancel := context.WithTimeout(ctx, limits.Dial)
	defer cancel()
	raw, err := m.dialer()(dialCtx, "tcp", addr)
	if err != nil {
		if trace.dialed() {
			return nil, nil, PhaseDial, err
		}
		return nil, nil, PhaseDNS, err
	}
	sock := stampConn(raw, clk, !m.UserStamps)
	var conn net.Conn = sock
	if proxy != nil {
		if conn, err = tunnel(dialCtx, sock, target, proxy, route.proxyRoots); err != nil {
			sock.Close()
			return nil, sock, PhaseDial, err
		}
	}
	if u.Scheme != "https" {
		return conn, sock, "", nil
	}

	tlsCtx, cancel := context.WithTimeout(ctx, limits.Dial)
	defer cancel()
	config := &tls.Config{
		RootCAs:    route.Roots,
		ServerName: u.Hostname(),
		NextProtos: []string{"http/1.1"},
		MinVersion: tls.VersionTLS12,
	}
	if config.RootCAs == nil {
		config.RootCAs = m.roots()
	}
	if route.Certificate != nil {
		config.Certificates = []tls.Certificate{*route.Certificate}
	}
	secure := tls.Client(conn, config)
	hooks := trace.hooks()
	hooks.TLSHandshakeStart()
	if err := secure.HandshakeContext(tlsCtx); err != nil {
		sock.Close()
		return nil, sock, PhaseTLS, err
	}
	hooks.TLSHandshakeDone(tls.ConnectionState{}, nil)
	return secure, sock, "", nil
}

// proxyOf returns the proxy to go through; nil for none.
func (m *Meter) proxyOf(u *url.URL, route Route) (*url.URL, error) {
	choose := route.Proxy
	if choose == nil {
		choose = m.Proxy
	}
	if choose == nil {
		return nil, nil
	}
	proxy, err := choose(u)
	if err != nil {
		return nil, fmt.Errorf("choose a proxy: %w", err)
	}
	return proxy, nil
}

// dialer returns what opens a socket. Receive stamps are asked for before it
// connects, so that no segment comes unstamped.
func (m *Meter) dialer() func(ctx context.Context, network, addr string) (net.Conn, error) {
	if m.dial != nil {
		return m.dial
	}
	d := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		requestStamps(raw) // if it cannot, the samples say so
		return nil
	}}
	if m.UserStamps {
		d.Control = nil
	}
	return d.DialContext
}

// roots returns the authorities to trust. The system's are loaded once: the
// standard library would do it inside the first handshake.
func (m *Meter) roots() *x509.CertPool {
	if m.Roots != nil {
		return m.Roots
	}
	m.rootsOnce.Do(func() {
		// On failure the pool stays nil and the handshake tries again and tells why.
		m.systemRoots, _ = x509.SystemCertPool()
	})
	return m.systemRoots
}

// dialAddr returns the host:port that u is served at.
func dialAddr(u *url.URL) (string, error) {
	port := u.Port()
	if port == "" {
		switch u.Scheme {
		case "https":
			port = "443"
		case "http":
			port = "80"
		default:
			return "", errScheme
		}
	}
	return net.JoinHostPort(u.Hostname(), port), nil
}
