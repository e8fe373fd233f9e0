package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The canaries: everything of a private provider that must be seen nowhere.
const (
	privateHost     = "llm.canary-corp.test"
	privateTenant   = "canary-tenant-77"
	privateModel    = "canary-gpt-9000"
	privateAnswers  = "canary-vendor-5-large" // the model, as the server calls it
	privateKey      = "canary-key-4f8a1c77d2e9"
	privateTeam     = "canary-team-0b5e"
	privatePassword = "canary-hunter22"
)

// houseCertificate returns a certificate for a host, and its key, in PEM.
func houseCertificate(t *testing.T, host string) (cert, key []byte) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "canary certificate"}, DNSNames: []string{host},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw})
}

// proxyTo starts a proxy that wants a password and connects to one address,
// whatever host it is asked for.
func proxyTo(t *testing.T, addr string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte("canary-user:"+privatePassword))
	serve := func(c net.Conn) {
		defer c.Close()
		req, err := http.ReadRequest(bufio.NewReader(c)) // the client waits for the answer
		if err != nil {
			return
		}
		if req.Header.Get("Proxy-Authorization") != want || req.Host != privateHost+":443" {
			fmt.Fprintf(c, "HTTP/1.1 407 %s wanted %s\r\n\r\n", req.Host, want)
			return
		}
		to, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		defer to.Close()
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		go func() { _, _ = io.Copy(to, c) }()
		_, _ = io.Copy(c, to)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c)
		}
	}()
	return l.Addr().String()
}

// TestPrivateGoesNowhere measures a private provider that repeats all it knows
// wherever it can: behind a proxy with a password, with an authority of its own
// and a client certificate. It looks for every canary, plain and encoded, in
// what every command prints and in every file that is left behind, unpacked.
func TestPrivateGoesNowhere(t *testing.T) {
	cert, key := houseCertificate(t, privateHost)
	requests := 0
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		all := fmt.Sprintf("%s %s %s %s", r.Host, r.URL, r.Header, "canary certificate")
		if len(r.TLS.PeerCertificates) != 1 || !strings.Contains(all, privateKey) || !strings.Contains(all, privateTeam) || !strings.Contains(all, privateTenant) {
			t.Errorf("the request lacks something: %s", all)
		}
		w.Header().Set("X-Request-Id", privateKey)
		w.Header().Set("Location", "https://"+privateHost)
		body, _ := io.ReadAll(r.Body)
		if strings.Contains(string(body), "refuses") {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintf(w, `{"error":{"message":%q,"type":%q,"code":%q}}`, all, privateHost, privateModel)
			return
		}
		fmt.Fprintf(w, ": %s\n\nevent: %s\ndata: {\"model\":%q,\"provider\":%q,\"system_fingerprint\":%q,\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n",
			privateHost, privateModel, privateAnswers, privateHost, privateTenant, all)
		fmt.Fprintf(w, "data: {\"model\":%q,\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", privateAnswers, privateModel)
	}))
	pair, err := tls.X509KeyPair(cert, key)
	if err != nil {
		t.Fatal(err)
	}
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequireAnyClientCert}
	server.StartTLS()
	defer server.Close()

	dir := writeProvider(t, "canary-house", "visibility: private\nalias: in-house\nurl: https://"+privateHost+"\nbase_url: ${CANARY_URL}\nprotocol: openai_chat\n"+
		"path: /"+privateTenant+"/{model}/chat/completions\nkey_env: CANARY_KEY\nheaders: {X-Team: \"${CANARY_TEAM}\"}\n"+
		"ca_file: house.pem\nclient_cert: house.pem\nclient_key: ${CANARY_CLIENT_KEY}\nproxy: ${CANARY_PROXY}\nevery: 10m\n"+
		"models:\n  - {id: "+privateModel+", name: large}\n  - {id: "+privateModel+"-refuses, name: small}\n")
	if err := os.WriteFile(filepath.Join(dir, "house.pem"), cert, 0o644); err != nil {
		t.Fatal(err)
	}
	vars := map[string]string{
		"CANARY_URL": "https://" + privateHost, "CANARY_KEY": privateKey, "CANARY_TEAM": privateTeam, "CANARY_CLIENT_KEY": string(key),
		"CANARY_PROXY": "http://canary-user:" + privatePassword + "@" + proxyTo(t, server.Listener.Addr().String()),
	}
	out := t.TempDir()
	record := filepath.Join(out, "record")
	look := func(where string, text []byte) {
		t.Helper()
		lower := bytes.ToLower(text)
		for _, c := range []string{privateHost, "canary-corp", privateTenant, privateModel, privateAnswers, privateKey, privateTeam, privatePassword, "canary-house", "canary-user", "canary certificate"} {
			for _, form := range []string{c, hex.EncodeToString([]byte(c)), strings.ToLower(base64.RawStdEncoding.EncodeToString([]byte(c))[:len(c)*4/3-2])} {
				if bytes.Contains(lower, []byte(form)) {
					t.Errorf("%s holds %q (as %s)", where, c, form)
				}
			}
		}
		if bytes.Contains(text, []byte("PRIVATE KEY-----")) {
			t.Errorf("%s holds the private key", where)
		}
	}
	do := func(wantErr bool, args ...string) string {
		t.Helper()
		var stdout, stderr bytes.Buffer
		env := func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
		err := run(t.Context(), args, env, strings.NewReader(""), &stdout, &stderr)
		if (err != nil) != wantErr {
			t.Errorf("%s: %v\n%s", args[0], err, stderr.String())
		}
		look("what "+strings.Join(args[:2], " ")+" prints", fmt.Append(nil, stdout.String(), stderr.String(), err))
		return stdout.String() + stderr.String()
	}

	do(false, "plan", "--json", "--providers", dir, "--data", record)
	if said := do(false, "-v", "run", "--providers", dir, "--data", record, "--site", filepath.Join(out, "site"), "--offline", "--no-calibrate"); !strings.Contains(said, "in-house/large") {
		t.Errorf("nothing was measured:\n%s", said)
	}
	if requests != 2 {
		t.Errorf("%d requests arrived; want 2", requests)
	}
	do(false, "plan", "--providers", dir, "--data", record)
	do(false, "doctor", "--providers", dir, "--data", record, "--config", filepath.Join(out, "none.yaml"))
	do(false, "models", "in-house", "--providers", dir)
	do(false, "export", "--data", record, "--out", filepath.Join(out, "export"))
	do(false, "verify", "--data", record, "--site", filepath.Join(out, "site"))
	// What goes wrong names variables and places, and nothing in them.
	vars["CANARY_CLIENT_KEY"] = privateKey
	if said := do(true, "bench", "--providers", dir, "--data", record, "--offline", "--force", "--no-calibrate"); strings.Contains(said, "BEGIN") {
		t.Errorf("a bad key is repeated:\n%s", said)
	}
	do(true, "doctor", "--providers", dir, "--data", record, "--config", filepath.Join(out, "none.yaml"))
	vars["CANARY_CLIENT_KEY"], vars["CANARY_URL"] = string(key), "http://"+privateHost
	do(true, "bench", "--providers", dir, "--data", record, "--offline", "--force", "--no-calibrate")

	files := 0
	err = filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		look(path, text)
		look("a name", []byte(strings.TrimPrefix(path, out)))
		if strings.HasSuffix(path, ".gz") {
			packed, err := gzip.NewReader(bytes.NewReader(text))
			if err != nil {
				return err
			}
			plain, err := io.ReadAll(packed)
			look(path+", unpacked", plain)
			return err
		}
		return nil
	})
	if err != nil || files < 50 {
		t.Fatalf("looked at %d files: %v", files, err)
	}
}
