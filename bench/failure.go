package bench

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"syscall"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// Details of failures of the exchange itself, beside those that package wire
// reads from a response.
const (
	DetailDNS         wire.Detail = "dns"         // network: the name could not be resolved
	DetailRefused     wire.Detail = "refused"     // network: nobody listens
	DetailUnreachable wire.Detail = "unreachable" // network: no route
	DetailReset       wire.Detail = "reset"       // network: the other side broke the connection
	DetailClosed      wire.Detail = "closed"      // network: the connection ended before the response did
	DetailCertificate wire.Detail = "certificate" // network: the server's certificate is not to be trusted
	DetailHandshake   wire.Detail = "handshake"   // network: no TLS with this server
	DetailProxy       wire.Detail = "proxy"       // network: the proxy would not connect us
	DetailConnection  wire.Detail = "connection"  // network: anything else

	DetailDialTimeout   wire.Detail = "dial_timeout"   // timeout: DialTimeout passed
	DetailHeaderTimeout wire.Detail = "header_timeout" // timeout: HeaderTimeout passed
	DetailIdleTimeout   wire.Detail = "idle_timeout"   // timeout: IdleTimeout passed
	DetailRunTimeout    wire.Detail = "run_timeout"    // timeout: RunTimeout passed
	DetailAborted       wire.Detail = "aborted"        // timeout: the caller cancelled the run; no sample of the provider's

	DetailNotHTTP    wire.Detail = "not_http"     // malformed: the response is not HTTP/1.1
	DetailHeadSize   wire.Detail = "head_size"    // malformed: a response head over MaxHead
	DetailFraming    wire.Detail = "framing"      // malformed: the body breaks its transfer coding
	DetailCompressed wire.Detail = "compressed"   // malformed: the body is compressed though identity was asked for
	DetailUnsendable wire.Detail = "bad_settings" // malformed: the pair's settings make no request
)

var (
	errNotHTTP  = errors.New("response is not HTTP/1.1")
	errHeadSize = errors.New("response head is too large")
	errBodySize = errors.New("response body is too large")
	errIdle     = errors.New("response fell silent")
	errProxy    = errors.New("proxy refused the connection")
	errBrokeOff = errors.New("response broke off")
	errScheme   = errors.New("URL is neither http nor https")
)

// fail notes that the exchange failed in a phase.
func (x *exchange) fail(in Phase, kind wire.ErrorKind, detail wire.Detail) {
	x.rec.FailedIn, x.rec.Broke, x.rec.BrokeAs = in, kind, detail
}

// failWith notes that the exchange failed with err; in is "" while the body was
// read. Of err nothing is kept but its kind, as its text may hold addresses.
func (x *exchange) failWith(ctx context.Context, in Phase, err error) {
	kind, detail := verdict(ctx, in, err)
	x.fail(in, kind, detail)
}

// verdict returns the kind and detail of an error of the exchange.
func verdict(ctx context.Context, in Phase, err error) (wire.ErrorKind, wire.Detail) {
	// Our own limits first: they close the connection, which then fails somehow.
	switch ctx.Err() {
	case context.DeadlineExceeded:
		return wire.KindTimeout, DetailRunTimeout
	case context.Canceled:
		return wire.KindTimeout, DetailAborted
	}
	switch {
	case errors.Is(err, errIdle):
		return wire.KindTimeout, DetailIdleTimeout
	case errors.Is(err, errNotHTTP):
		return wire.KindMalformed, DetailNotHTTP
	case errors.Is(err, errHeadSize):
		return wire.KindMalformed, DetailHeadSize
	case errors.Is(err, errBodySize):
		return wire.KindMalformed, wire.DetailOversize
	case errors.Is(err, errBodyFraming):
		return wire.KindMalformed, DetailFraming
	case errors.Is(err, errScheme):
		return wire.KindMalformed, DetailUnsendable
	case errors.Is(err, errProxy):
		return wire.KindNetwork, DetailProxy
	}

	var dns *net.DNSError
	if errors.As(err, &dns) {
		if errors.Is(err, context.DeadlineExceeded) {
			return wire.KindTimeout, DetailDialTimeout
		}
		return wire.KindNetwork, DetailDNS
	}
	if timedOut(err) {
		switch in {
		case PhaseDNS, PhaseDial, PhaseTLS:
			return wire.KindTimeout, DetailDialTimeout
		}
		return wire.KindTimeout, DetailHeaderTimeout
	}

	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return wire.KindNetwork, DetailRefused
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return wire.KindNetwork, DetailUnreachable
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE), errors.Is(err, syscall.ECONNABORTED):
		return wire.KindNetwork, DetailReset
	}
	// In TLS 1.3 a server refuses our certificate, or that we have none, after
	// the handshake is over for us.
	var op *net.OpError
	if errors.As(err, &op) && op.Op == "remote error" {
		return wire.KindNetwork, DetailHandshake
	}
	if in == PhaseTLS {
		var untrusted *tls.CertificateVerificationError
		var unknown x509.UnknownAuthorityError
		if errors.As(err, &untrusted) || errors.As(err, &unknown) {
			return wire.KindNetwork, DetailCertificate
		}
		if !errors.Is(err, io.EOF) {
			return wire.KindNetwork, DetailHandshake
		}
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return wire.KindNetwork, DetailClosed
	}
	return wire.KindNetwork, DetailConnection
}

// timedOut reports whether err is a passed deadline, ours or the kernel's.
func timedOut(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || errors.Is(err, os.ErrDeadlineExceeded) ||
		errors.Is(err, syscall.ETIMEDOUT)
}
