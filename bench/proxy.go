package bench

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	socks "golang.org/x/net/proxy"
)

// tunnel asks the proxy on sock to connect us to target, and returns what leads
// there: sock, or TLS on top of it if the proxy is spoken to by TLS. It takes
// nothing of what target sends.
func tunnel(ctx context.Context, sock net.Conn, target string, proxy *url.URL, roots *x509.CertPool) (net.Conn, error) {
	if deadline, ok := ctx.Deadline(); ok {
		sock.SetDeadline(deadline)
		defer sock.SetDeadline(time.Time{})
	}
	stop := context.AfterFunc(ctx, func() { sock.Close() })
	defer stop()
	switch proxy.Scheme {
	case "http":
		return sock, askConnect(sock, target, proxy.User)
	case "https":
		secure := tls.Client(sock, &tls.Config{
			RootCAs: roots, ServerName: proxy.Hostname(), NextProtos: []string{"http/1.1"}, MinVersion: tls.VersionTLS12,
		})
		if err := secure.HandshakeContext(ctx); err != nil {
			return nil, fmt.Errorf("%w: no TLS with it: %w", errProxy, err)
		}
		return secure, askConnect(secure, target, proxy.User)
	case "socks5", "socks5h":
		return sock, askSOCKS(ctx, sock, target, proxy.User)
	}
	return nil, fmt.Errorf("%w: it is spoken to in a way that is not known", errProxy)
}

// proxyAddr returns the host:port that a proxy is served at. The ports are
// those of [http.Transport].
func proxyAddr(proxy *url.URL) (string, error) {
	if proxy.Port() == "" && strings.HasPrefix(proxy.Scheme, "socks5") {
		return net.JoinHostPort(proxy.Hostname(), "1080"), nil
	}
	if proxy.Port() != "" {
		return proxy.Host, nil
	}
	return dialAddr(proxy)
}

// askSOCKS asks by RFC 1928, with the user of RFC 1929 if there is one. The
// name of the target is resolved by the proxy.
func askSOCKS(ctx context.Context, sock net.Conn, target string, user *url.Userinfo) error {
	var auth *socks.Auth
	if user != nil {
		password, _ := user.Password()
		auth = &socks.Auth{User: user.Username(), Password: password}
	}
	dialer, err := socks.SOCKS5("tcp", "", auth, dialed{sock})
	if err != nil {
		return fmt.Errorf("%w: %w", errProxy, err)
	}
	if _, err := dialer.(socks.ContextDialer).DialContext(ctx, "tcp", target); err != nil {
		return fmt.Errorf("%w: %w", errProxy, err)
	}
	return nil
}

// A dialed is a dialer for what is connected already.
type dialed struct{ conn net.Conn }

func (d dialed) Dial(_, _ string) (net.Conn, error) { return d.conn, nil }

func (d dialed) DialContext(context.Context, string, string) (net.Conn, error) { return d.conn, nil }

// askConnect asks an HTTP proxy, by the method of RFC 9110, section 9.3.6. It
// reads byte by byte.
func askConnect(conn net.Conn, target string, user *url.Userinfo) error {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: make(http.Header)}
	if user != nil {
		password, _ := user.Password()
		credentials := base64.StdEncoding.EncodeToString([]byte(user.Username() + ":" + password))
		req.Header.Set("Proxy-Authorization", "Basic "+credentials)
	}
	if err := req.Write(conn); err != nil {
		return fmt.Errorf("ask the proxy: %w", err)
	}
	answer := &limitedReader{conn: conn, left: 64 << 10}
	resp, err := http.ReadResponse(bufio.NewReaderSize(answer, 1), req)
	if err != nil {
		return fmt.Errorf("read the proxy's answer: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%w: status %d", errProxy, resp.StatusCode)
	}
	return nil
}

// A limitedReader reads single bytes of conn, and not too many.
type limitedReader struct {
	conn net.Conn
	left int
}

func (r *limitedReader) Read(p []byte) (int, error) {
	if r.left--; r.left < 0 {
		return 0, errProxy
	}
	return r.conn.Read(p[:1])
}
