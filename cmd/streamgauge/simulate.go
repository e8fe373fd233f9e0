package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"time"

	"github.com/streamgauge/streamgauge/bench/simulate"
)

// simulateCmd serves the simulated provider.
type simulateCmd struct {
	Addr    string  `default:"127.0.0.1:8081" help:"Address to listen on; port 0 picks a free one."`
	TLSAddr string  `name:"tls-addr" placeholder:"ADDR" help:"Also serve over TLS here, with a certificate for 127.0.0.1 made on the spot."`
	Models  string  `default:"demo" enum:"demo,hostile,calibration" help:"Models to serve: ${enum}."`
	Seed    uint64  `default:"1" help:"Seed of everything that is random."`
	Speed   float64 `default:"1" help:"Divide every duration by this."`
	Precise bool    `help:"Hit every instant within microseconds, at a tenth of a millisecond of processor time for each write."`
	JSON    bool    `name:"json" help:"Print the addresses and the certificate as one line of JSON."`
	Stdin   bool    `help:"Stop when standard input ends, as when the program that started this one is gone."`
}

// Help is printed under the usage line.
func (simulateCmd) Help() string {
	return `Speaks the wire formats of OpenAI, Anthropic, Gemini and Ollama; GET /v1/models lists what it serves,
GET /__log/latest is the log of the last answer: each write with the instants just before and after it.

Examples:
  streamgauge simulate
  streamgauge probe --url http://127.0.0.1:8081/v1 --model smooth-60
  streamgauge simulate --models hostile --addr 127.0.0.1:0`
}

// An announcement is where a simulated provider is served.
type announcement struct {
	HTTP        string `json:"http"`
	HTTPS       string `json:"https,omitempty"`
	Certificate []byte `json:"certificate,omitempty"` // DER; trust it and nothing else
}

// Run serves until it is interrupted.
func (c *simulateCmd) Run(a *app) error {
	if !(c.Speed > 0) {
		return usageError{fmt.Errorf("--speed %v is not positive", c.Speed)}
	}
	handler, err := c.handler()
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(a.ctx)
	defer stop()
	if c.Stdin {
		go func() {
			_, _ = io.Copy(io.Discard, a.stdin) // however it ends, it is over
			stop()
		}()
	}
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		// A model that hangs does so until its request's context ends.
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	plain, err := a.listen(c.Addr)
	if err != nil {
		return err
	}
	where := announcement{HTTP: "http://" + plain.Addr().String()}
	var secure net.Listener
	if c.TLSAddr != "" {
		cert, err := certificate(time.Now())
		if err != nil {
			return err
		}
		if secure, err = (&net.ListenConfig{}).Listen(ctx, "tcp", c.TLSAddr); err != nil {
			return fmt.Errorf("listen on %s: %w", c.TLSAddr, err)
		}
		where.HTTPS, where.Certificate = "https://"+secure.Addr().String(), cert.Certificate[0]
		server.TLSConfig = &tls.Config{Certificates: []tls.Certificate{cert}, NextProtos: []string{"http/1.1"}}
	}
	ended := make(chan error, 2)
	go func() { ended <- server.Serve(plain) }()
	if secure != nil {
		go func() { ended <- server.ServeTLS(secure, "", "") }()
	}
	if err := c.announce(a.stdout, where); err != nil {
		return err
	}
	select {
	case <-ctx.Done():
		_ = server.Close()
		return nil
	case err := <-ended:
		if !errors.Is(err, http.ErrServerClosed) {
			return fmt.Errorf("serve the simulated provider: %w", err)
		}
		return nil
	}
}

// handler returns what the models' server answers with.
func (c *simulateCmd) handler() (http.Handler, error) {
	models := simulate.Models()
	switch c.Models {
	case "hostile":
		models = simulate.Hostile()
	case "calibration":
		models = calibrationModels()
	}
	provider, err := simulate.New(simulate.Options{Models: models, Seed: c.Seed, Speed: c.Speed, Precise: c.Precise})
	if err != nil {
		return nil, fmt.Errorf("set up the simulated provider: %w", err)
	}
	if c.Models != "calibration" {
		return provider, nil
	}
	mux := http.NewServeMux()
	mux.Handle("/", provider)
	for _, f := range floods() {
		mux.Handle("POST "+f.path, f)
	}
	return mux, nil
}

// announce says where the provider is served.
func (c *simulateCmd) announce(w io.Writer, where announcement) error {
	if c.JSON {
		return json.NewEncoder(w).Encode(where)
	}
	fmt.Fprintf(w, "Simulated provider at %s  (Ctrl-C stops)\n", where.HTTP)
	if where.HTTPS != "" {
		fmt.Fprintf(w, "and at %s, with a certificate that nobody trusts\n", where.HTTPS)
	}
	_, err := fmt.Fprintf(w, "Try: streamgauge probe --url %s/v1 --model smooth-60\n", where.HTTP)
	return err
}

// certificate returns a certificate for 127.0.0.1 that lives for a day.
func certificate(now time.Time) (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a loopback key: %w", err)
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "streamgauge simulated provider"},
		NotBefore:             now.Add(-time.Hour),
		NotAfter:              now.Add(24 * time.Hour),
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage:           []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		BasicConstraintsValid: true,
		IsCA:                  true,
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("make a loopback certificate: %w", err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
