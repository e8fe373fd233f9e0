package bench

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// Warm does once what the first request of a process would otherwise pay for
// inside its first sample: it loads the trusted roots, sets up the resolver,
// turns the kernel's receive stamps on for good, and measures one stream over TLS from a
// server of its own on loopback. It fails if that server cannot be reached; a
// Meter works without it, with a first sample some milliseconds slow.
func (m *Meter) Warm(ctx context.Context) error {
	m.roots()
	net.DefaultResolver.LookupHost(ctx, "localhost") // for its side effect: the resolver reads its configuration
	readLoad()
	if !m.UserStamps {
		m.holdOnce.Do(func() { m.hold = holdStamps() })
	}

	cert, pool, err := loopbackCertificate()
	if err != nil {
		return fmt.Errorf("warm up: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("warm up: listen on loopback: %w", err)
	}
	server := &http.Server{
		Handler:           http.HandlerFunc(warmStream),
		ReadHeaderTimeout: time.Second,
		TLSConfig:         &tls.Config{Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12},
	}
	go server.ServeTLS(listener, "", "") // returns when Close closes the listener
	defer server.Close()

	loop := &Meter{Roots: pool, UserStamps: m.UserStamps, Limits: Limits{Run: 5 * time.Second}}
	s := loop.Measure(ctx, Run{
		Protocol: wire.OpenAIChat{},
		Target:   wire.Target{BaseURL: "https://" + listener.Addr().String(), Model: "loopback"},
		Prompt:   Prompt(""),
	}, Observer{})
	if !s.OK() {
		return fmt.Errorf("warm up: loopback stream: %v, %s", s.Kind, s.Detail)
	}
	return nil
}

// warmStream answers like a provider, shortly.
func warmStream(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, io.LimitReader(r.Body, 64<<10))
	w.Header().Set("Content-Type", "text/event-stream")
	for _, data := range []string{
		`{"model":"loopback","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}`,
		`{"choices":[{"index":0,"delta":{"content":"warm"}}]}`,
		`{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`,
		`{"choices":[],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}`,
		`[DONE]`,
	} {
		fmt.Fprintf(w, "data: %s\n\n", data)
		http.NewResponseController(w).Flush()
	}
}

// loopbackCertificate returns a certificate for 127.0.0.1 that lives for an
// hour, and the pool that trusts it and nothing else.
func loopbackCertificate() (tls.Certificate, *x509.CertPool, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a loopback key: %w", err)
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "streamgauge loopback"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a loopback certificate: %w", err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		return tls.Certificate{}, nil, fmt.Errorf("make a loopback certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}, pool, nil
}
