package bench

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// An authority issues certificates that nobody else trusts.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

func newAuthority(t testing.TB) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "canary authority"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key}
}

func (a *authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
}

// issue returns a certificate for provider.test and loopback, and its key.
func (a *authority) issue(t testing.TB) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "canary leaf"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{"provider.test"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &k.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})),
		string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

// serve starts a provider with a certificate of the authority. With clients, it
// lets in only who shows a certificate of theirs.
func (a *authority) serve(t testing.TB, clients *authority) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			fmt.Fprint(w, `{"data":[{"id":"listed"}]}`)
			return
		}
		fmt.Fprint(w, say("hi"), finish(1, 0))
	}))
	cert, key := a.issue(t)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	s.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	if clients != nil {
		s.TLS.ClientAuth, s.TLS.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		s.TLS.ClientCAs.AddCert(clients.cert)
	}
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// reached measures a provider once, by its file, and reads its list.
func reached(t *testing.T, files fstest.MapFS, env Lookup) (Sample, error) {
	t.Helper()
	list, err := LoadProviders(files)
	if err != nil {
		t.Fatal(err)
	}
	p := &list[0]
	run, err := p.Run(&p.Models[0], env, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := measure(t, &Meter{}, run)
	noText(t, s, "provider.test", "127.0.0.1", "canary", "hunter22")
	lister := NewLister(nil)
	lister.client.RetryMax = 0
	p.Discover = &Discover{Format: ListOpenAI, Include: []string{"*"}}
	_, err = lister.List(t.Context(), p, env, Listing{})
	return s, err
}

// TestAuthorities checks that an authority of one's own is believed where the
// file names it, that it is believed alone, and nowhere else.
func TestAuthorities(t *testing.T) {
	house, other := newAuthority(t), newAuthority(t)
	server := house.serve(t, nil)
	file := func(more string) []byte {
		return []byte("base_url: " + server.URL + "/v1\nprotocol: openai_chat\nmodels: [m]\n" + more)
	}
	for _, tt := range []struct {
		name, more string
		ok         bool
	}{
		{"not named", "", false},
		{"named, a file", "ca_file: certs/house.pem\n", true},
		{"named, a variable", "ca_file: ${ACME_CA}\n", true},
		{"named, a variable in one line", "ca_file: ${ACME_ONE_LINE}\n", true},
		{"another one", "ca_file: certs/other.pem\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{
				"acme.yaml":       {Data: file(tt.more)},
				"certs/house.pem": {Data: []byte("a comment, as tools write them\n" + house.pem() + other.pem())},
				"certs/other.pem": {Data: []byte(other.pem())},
			}
			env := vars(map[string]string{"ACME_CA": house.pem(), "ACME_ONE_LINE": strings.ReplaceAll(house.pem(), "\n", `\n`)})
			s, err := reached(t, files, env)
			if s.OK() != tt.ok || (err == nil) != tt.ok {
				t.Errorf("sample %v %q, list %v; want ok %t", s.Kind, s.Detail, err, tt.ok)
			}
			if !tt.ok && s.Detail != DetailCertificate {
				t.Errorf("detail %q; want %q", s.Detail, DetailCertificate)
			}
		})
	}
	// What one provider believes is no other's to believe.
	list, err := LoadProviders(fstest.MapFS{
		"acme.yaml": {Data: file("ca_file: house.pem\n")}, "house.pem": {Data: []byte(house.pem())},
		"plain.yaml": {Data: file("")},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := &Meter{}
	for i, want := range []bool{true, false, true} {
		p := &list[i%2]
		run, err := p.Run(&p.Models[0], vars(nil), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if s := measure(t, m, run); s.OK() != want {
			t.Errorf("%s, run %d: %v %q; want ok %t", p.Name, i, s.Kind, s.Detail, want)
		}
	}
}

// TestClientCertificate measures a server that lets in who shows a certificate.
func TestClientCertificate(t *testing.T) {
	house, clients, strangers := newAuthority(t), newAuthority(t), newAuthority(t)
	server := house.serve(t, clients)
	cert, key := clients.issue(t)
	strangeCert, strangeKey := strangers.issue(t)
	const own = "client_cert: client.pem\nclient_key: ${ACME_CLIENT_KEY}\n"
	for _, tt := range []struct {
		name, more string
		cert, key  string
		ok         bool
	}{
		{"none", "", "", "", false},
		{"ours", own, cert, key, true},
		{"ours, the key in a file", "client_cert: ${ACME_CERT}\nclient_key: client.key\n", cert, key, true},
		{"a stranger's", own, strangeCert, strangeKey, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := fstest.MapFS{
				"acme.yaml":  {Data: []byte("base_url: " + server.URL + "/v1\nprotocol: openai_chat\nca_file: house.pem\nmodels: [m]\n" + tt.more)},
				"house.pem":  {Data: []byte(house.pem())},
				"client.pem": {Data: []byte(tt.cert)},
				"client.key": {Data: []byte(tt.key)},
			}
			s, err := reached(t, files, vars(map[string]string{"ACME_CLIENT_KEY": tt.key, "ACME_CERT": tt.cert}))
			if s.OK() != tt.ok || (err == nil) != tt.ok {
				t.Errorf("sample %v %q, list %v; want ok %t", s.Kind, s.Detail, err, tt.ok)
			}
			if !tt.ok && (s.Kind != wire.KindNetwork || s.Detail != DetailHandshake && s.Detail != DetailReset) {
				t.Errorf("%v %q; want network %q", s.Kind, s.Detail, DetailHandshake)
			}
		})
	}
}

// A testProxy connects provider.test to a server on loopback, for a user.
type testProxy struct {
	to    string
	asked atomic.Int32
}

const proxyUser, proxyPassword = "canary-user", "canary-hunter22"

// connect joins two connections.
func (p *testProxy) connect(c io.ReadWriter) {
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		return
	}
	defer to.Close()
	go io.Copy(to, c)
	io.Copy(c, to)
}

// http answers CONNECT.
func (p *testProxy) http(c net.Conn) {
	req, err := http.ReadRequest(bufio.NewReaderSize(&limitedReader{c, 1 << 16}, 16))
	if err != nil {
		return
	}
	p.asked.Add(1)
	want := "Basic " + base64.StdEncoding.EncodeToString([]byte(proxyUser+":"+proxyPassword))
	switch {
	case req.Header.Get("Proxy-Authorization") != want:
		io.WriteString(c, "HTTP/1.1 407 Proxy Authentication Required\r\n\r\n")
	case req.Method != http.MethodConnect || !strings.HasPrefix(req.Host, "provider.test:"):
		io.WriteString(c, "HTTP/1.1 403 Forbidden\r\n\r\n")
	default:
		io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n")
		p.connect(c)
	}
}

// socks answers by RFC 1928 and RFC 1929.
func (p *testProxy) socks(c net.Conn) {
	read := func(n int) []byte {
		b := make([]byte, n)
		io.ReadFull(c, b)
		return b
	}
	p.asked.Add(1)
	read(int(read(2)[1])) // version, methods
	c.Write([]byte{5, 2}) // user and password
	read(1)
	user := string(read(int(read(1)[0])))
	password := string(read(int(read(1)[0])))
	if user != proxyUser || password != proxyPassword {
		c.Write([]byte{1, 1})
		return
	}
	c.Write([]byte{1, 0})
	if head := read(4); head[1] != 1 || head[3] != 3 { // connect, a name
		return
	}
	if name := string(read(int(read(1)[0]))); name != "provider.test" {
		return
	}
	read(2)
	c.Write([]byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0})
	p.connect(c)
}

// TestProxies goes to a host that only the proxy knows, through each kind of
// proxy, with a user and password from the environment.
func TestProxies(t *testing.T) {
	house := newAuthority(t)
	server := house.serve(t, nil)
	_, port, _ := strings.Cut(strings.TrimPrefix(server.URL, "https://"), ":")
	proxy := &testProxy{to: strings.TrimPrefix(server.URL, "https://")}
	plain := strings.TrimPrefix(serveRaw(t, proxy.http), "http://")
	socksAddr := strings.TrimPrefix(serveRaw(t, proxy.socks), "http://")
	cert, key := house.issue(t)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	secure := strings.TrimPrefix(serveRaw(t, func(c net.Conn) {
		proxy.http(tls.Server(c, &tls.Config{Certificates: []tls.Certificate{pair}}))
	}), "http://")
	const user = proxyUser + ":" + proxyPassword + "@"

	for _, tt := range []struct {
		name, setting string
		env           map[string]string
		ok, asked     bool
		detail        wire.Detail
	}{
		{"http", "${ACME_PROXY}", map[string]string{"ACME_PROXY": "http://" + user + plain}, true, true, ""},
		{"http, unsaid", "${ACME_PROXY}", map[string]string{"ACME_PROXY": user + plain}, true, true, ""},
		{"https", "${ACME_PROXY}", map[string]string{"ACME_PROXY": "https://" + user + secure}, true, true, ""},
		{"socks5", "${ACME_PROXY}", map[string]string{"ACME_PROXY": "socks5://" + user + socksAddr}, true, true, ""},
		{"parts of the address", "http://${ACME_PROXY_USER}@" + plain, map[string]string{"ACME_PROXY_USER": proxyUser + ":" + proxyPassword}, true, true, ""},
		{"the environment's", "environment", map[string]string{"HTTPS_PROXY": "http://" + user + plain}, true, true, ""},
		{"the environment's, lower case", "environment", map[string]string{"https_proxy": "http://" + user + plain}, true, true, ""},

		{"http, wrong password", "${ACME_PROXY}", map[string]string{"ACME_PROXY": "http://" + proxyUser + ":wrong@" + plain}, false, true, DetailProxy},
		{"socks5, wrong password", "${ACME_PROXY}", map[string]string{"ACME_PROXY": "socks5://" + proxyUser + ":wrong@" + socksAddr}, false, true, DetailProxy},
		{"https, no TLS there", "${ACME_PROXY}", map[string]string{"ACME_PROXY": "https://" + user + plain}, false, false, DetailProxy},
		{"no user", "http://" + plain, nil, false, true, DetailProxy},
		{"named by NO_PROXY", "${ACME_PROXY}", map[string]string{"ACME_PROXY": "http://" + user + plain, "NO_PROXY": "example.com,provider.test"}, false, false, DetailDNS},
		{"the environment's, unset", "environment", nil, false, false, DetailDNS},
		{"not asked for", "", map[string]string{"HTTPS_PROXY": "http://" + user + plain}, false, false, DetailDNS},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := "base_url: https://provider.test:" + port + "/v1\nprotocol: openai_chat\nca_file: house.pem\nmodels: [m]\n"
			if tt.setting != "" {
				text += "proxy: " + tt.setting + "\n"
			}
			before := proxy.asked.Load()
			s, err := reached(t, fstest.MapFS{"acme.yaml": {Data: []byte(text)}, "house.pem": {Data: []byte(house.pem())}}, vars(tt.env))
			if s.OK() != tt.ok || (err == nil) != tt.ok {
				t.Errorf("sample %v %q, list %v; want ok %t", s.Kind, s.Detail, err, tt.ok)
			}
			if !tt.ok && s.Detail != tt.detail {
				t.Errorf("detail %q in %q; want %q", s.Detail, s.FailedIn, tt.detail)
			}
			if err != nil && (strings.Contains(err.Error(), proxyPassword) || strings.Contains(err.Error(), proxyUser)) {
				t.Errorf("the error tells: %v", err)
			}
			if asked := proxy.asked.Load() > before; asked != tt.asked {
				t.Errorf("the proxy was asked: %t; want %t", asked, tt.asked)
			}
		})
	}
}

// TestReachRefuses gives variables what cannot be used, and checks that the
// error names the variable and repeats nothing.
func TestReachRefuses(t *testing.T) {
	house := newAuthority(t)
	cert, key := house.issue(t)
	_, otherKey := house.issue(t)
	p := loadOne(t, `
base_url: https://acme.example/v1
protocol: openai_chat
ca_file: ${ACME_CA}
client_cert: ${ACME_CERT}
client_key: ${ACME_CLIENT_KEY}
proxy: ${ACME_PROXY}
models: [m]
`)
	good := map[string]string{"ACME_CA": house.pem(), "ACME_CERT": cert, "ACME_CLIENT_KEY": key, "ACME_PROXY": "http://u:p@proxy.example:3128"}
	for _, tt := range []struct{ name, variable, value, want string }{
		{"fine", "ACME_PROXY", "socks5://proxy.example", ""},
		{"no PEM", "ACME_CA", "canary", "${ACME_CA}: holds no certificate"},
		{"a key for an authority", "ACME_CA", key, "holds a private key"},
		{"broken", "ACME_CA", strings.Replace(house.pem(), "MII", "canary+MII", 1), "${ACME_CA}: holds"},
		{"another's key", "ACME_CLIENT_KEY", otherKey, "${ACME_CERT} and ${ACME_CLIENT_KEY} are no certificate and its key"},
		{"no key", "ACME_CLIENT_KEY", "canary", "${ACME_CLIENT_KEY}"},
		{"no proxy", "ACME_PROXY", "http://canary:canary@", "the proxy's address must be"},
		{"another way", "ACME_PROXY", "ftp://canary:canary@canary.example", "the proxy's address must be"},
		{"broken address", "ACME_PROXY", "http://canary:%zz@canary.example", "the proxy's address must be"},
		{"control character", "ACME_PROXY", "http://canary\r\n.example", "holds a control character"},
	} {
		env := map[string]string{}
		for k, v := range good {
			env[k] = v
		}
		env[tt.variable] = tt.value
		_, err := p.Run(&p.Models[0], vars(env), rand.Reader)
		switch {
		case tt.want == "" && err != nil, tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v; want %q", tt.name, err, tt.want)
		case err != nil && strings.Contains(strings.ReplaceAll(err.Error(), "canary leaf", ""), "canary"):
			t.Errorf("%s: the error repeats a value: %v", tt.name, err)
		}
	}
	if got := p.Missing(vars(nil)); fmt.Sprint(got) != "[ACME_CA ACME_CERT ACME_CLIENT_KEY ACME_PROXY]" {
		t.Errorf("missing %v", got)
	}
	good["ACME_PROXY"] = "http://canary-user:canary-pass@proxy.example:3128"
	r := NewRedactor(p.Secrets(vars(good))...)
	for _, s := range []string{"canary-pass", "proxy.example", key, base64.StdEncoding.EncodeToString([]byte("canary-user:canary-pass"))} {
		if !r.Found("x " + s + " y") {
			t.Errorf("%.20q is no secret", s)
		}
	}
	if s := fmt.Sprintf("%v %+v %#v", p.Reach, p.Reach, p.Reach); strings.Contains(s, "BEGIN") {
		t.Errorf("a reach prints what it holds: %s", s)
	}
}

// TestCertificateStaysHome checks that a list on another host is asked for
// without the client certificate, and without the authority of the provider.
func TestCertificateStaysHome(t *testing.T) {
	house := newAuthority(t)
	var shown atomic.Int32
	elsewhere := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown.Add(int32(len(r.TLS.PeerCertificates)))
		fmt.Fprint(w, `{"data":[{"id":"listed"}]}`)
	}))
	cert, key := house.issue(t)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	elsewhere.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, ClientAuth: tls.RequestClientCert}
	elsewhere.Config.ErrorLog = log.New(io.Discard, "", 0)
	elsewhere.StartTLS()
	defer elsewhere.Close()
	lister := NewLister(nil)
	lister.client.RetryMax = 0
	for base, want := range map[string]bool{elsewhere.URL: true, "https://other.example": false} {
		p := discovering(base, ListOpenAI)
		p.Discover.URL = elsewhere.URL + "/models"
		p.Reach = Reach{CA: FilePEM("house", []byte(house.pem())), Cert: FilePEM("c", []byte(cert)), Key: FilePEM("k", []byte(key))}
		client, done, err := lister.clientFor(p, keyed, host(base) == host(p.Discover.URL))
		if err != nil {
			t.Fatal(err)
		}
		_, _, err = get(t.Context(), client, p.Discover.URL, nil, "")
		done()
		if (err == nil) != want {
			t.Errorf("%s: %v; want ok %t", base, err, want)
		}
	}
	if shown.Load() != 1 {
		t.Errorf("the certificate was shown %d times; want once, at home", shown.Load())
	}
}
