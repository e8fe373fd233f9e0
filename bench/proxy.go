package bench

import (
	"bufio"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"time"
)

// tunnel asks the HTTP proxy on conn to connect us to target. It reads byte by
// byte, so that nothing of what target sends is taken.
func tunnel(ctx context.Context, conn net.Conn, target string, proxy *url.URL) error {
	if proxy.Scheme != "http" {
		return fmt.Errorf("%w: only proxies spoken to by plain HTTP are known", errProxy)
	}
	if deadline, ok := ctx.Deadline(); ok {
		conn.SetDeadline(deadline)
		defer conn.SetDeadline(time.Time{})
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()

	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: make(http.Header)}
	if user := proxy.User; user != nil {
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
