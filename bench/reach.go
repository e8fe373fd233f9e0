package bench

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"
)

// A Reach says how a provider is reached where that is not the usual way: by
// the system's authorities, unasked who we are, and straight.
type Reach struct {
	CA   PEM // authorities that its certificate must go back to, in place of the system's
	Cert PEM // our certificate and its chain, for a server that asks for one
	Key  PEM // the private key of Cert

	// Proxy is the URL of the proxy to go through, which may hold ${VAR},
	// unless NO_PROXY names the host; or [ProxyEnvironment]; "" is none,
	// whatever the environment says: a proxy is part of what is measured.
	Proxy string
}

// ProxyEnvironment takes the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY
// name, by the rules of [http.ProxyFromEnvironment].
const ProxyEnvironment = "environment"

// A PEM is where certificates or a key come from, in the text format of RFC
// 7468: a file that was read along with the provider file, or a variable that
// holds the text itself. It does not print what it holds.
type PEM struct {
	name string // of the file, or ${VAR}
	text string // of the file
}

// FilePEM returns the PEM of a file that was read.
func FilePEM(name string, text []byte) PEM { return PEM{name, string(text)} }

// VariablePEM returns the PEM that a variable will hold.
func VariablePEM(variable string) PEM { return PEM{name: "${" + variable + "}"} }

// IsZero reports whether there is none.
func (p PEM) IsZero() bool { return p.name == "" }

// Equal reports whether both come from the same place and are the same.
func (p PEM) Equal(q PEM) bool { return p == q }

// String names the place.
func (p PEM) String() string { return p.name }

// GoString is String.
func (p PEM) GoString() string { return p.name }

// read returns the text. A secret store may have turned its line ends into \n.
func (p PEM) read(env Lookup) []byte {
	names := variables(p.name)
	if len(names) == 0 {
		return []byte(p.text)
	}
	text, _ := env(names[0])
	if !strings.Contains(text, "\n") {
		text = strings.ReplaceAll(text, `\n`, "\n")
	}
	return []byte(text)
}

// variables returns the names of the variables that the reach refers to.
func (r Reach) variables() []string {
	var names []string
	for _, s := range []string{r.CA.name, r.Cert.name, r.Key.name, r.Proxy} {
		names = append(names, variables(s)...)
	}
	return names
}

// A Route is a Reach with its variables filled in. It holds a private key, and
// perhaps a proxy's password. The zero Route is the usual way.
type Route struct {
	Roots       *x509.CertPool                   // nil: the Meter's
	Certificate *tls.Certificate                 // nil: none to show
	Proxy       func(*url.URL) (*url.URL, error) // nil: the Meter's

	proxyRoots *x509.CertPool // of a proxy spoken to by TLS; nil: the system's
}

// Route fills in the variables. Errors name variables and files, never what
// they hold.
func (r Reach) Route(env Lookup) (Route, error) {
	var route Route
	if !r.CA.IsZero() {
		text := r.CA.read(env)
		if _, err := certificates(text); err != nil {
			return Route{}, fmt.Errorf("%s: %w", r.CA, err)
		}
		route.Roots = x509.NewCertPool()
		route.Roots.AppendCertsFromPEM(text)
		if system, err := x509.SystemCertPool(); err == nil {
			route.proxyRoots = system // a pool of our own: each call makes a copy
			route.proxyRoots.AppendCertsFromPEM(text)
		}
	}
	if !r.Cert.IsZero() {
		pair, err := tls.X509KeyPair(r.Cert.read(env), r.Key.read(env))
		if err != nil {
			return Route{}, fmt.Errorf("%s and %s are no certificate and its key: %w", r.Cert, r.Key, err)
		}
		route.Certificate = &pair
	}
	var err error
	route.Proxy, err = r.proxy(env)
	return route, err
}

// proxy returns what chooses the proxy of a URL; nil if there is none.
func (r Reach) proxy(env Lookup) (func(*url.URL) (*url.URL, error), error) {
	if r.Proxy == "" {
		return nil, nil
	}
	config := httpproxy.Config{NoProxy: first(env, "NO_PROXY", "no_proxy")}
	if r.Proxy == ProxyEnvironment {
		config.HTTPSProxy = first(env, "HTTPS_PROXY", "https_proxy")
		config.HTTPProxy = first(env, "HTTP_PROXY", "http_proxy")
	} else {
		x := expander{env: env}
		config.HTTPSProxy = x.expand(r.Proxy)
		config.HTTPProxy = config.HTTPSProxy
		if x.err != nil {
			return nil, x.err
		}
	}
	for _, address := range []string{config.HTTPSProxy, config.HTTPProxy} {
		if _, err := parseProxy(address); address != "" && err != nil {
			return nil, err // before httpproxy would, which repeats the address
		}
	}
	return config.ProxyFunc(), nil
}

// first returns the value of the first variable that is set.
func first(env Lookup, names ...string) string {
	for _, name := range names {
		if v, _ := env(name); strings.TrimSpace(v) != "" {
			return strings.TrimSpace(v)
		}
	}
	return ""
}

// The ways a proxy is spoken to.
func proxySchemes() []string { return []string{"http", "https", "socks5", "socks5h"} }

// parseProxy parses a proxy's address, whose scheme is http if it has none. Its
// errors do not repeat the address, which may hold a password.
func parseProxy(s string) (*url.URL, error) {
	if !strings.Contains(s, "://") {
		s = "http://" + s
	}
	u, err := url.Parse(s)
	if err != nil || u.Hostname() == "" || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" || !slices.Contains(proxySchemes(), u.Scheme) {
		return nil, errors.New("the proxy's address must be a URL with http, https or socks5 and a host, as in http://proxy.example:3128")
	}
	return u, nil
}

// certificates returns the certificates in a PEM text, of which it must hold at
// least one, and nothing that is none.
func certificates(text []byte) ([]*x509.Certificate, error) {
	var certs []*x509.Certificate
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return nil, errors.New("holds a private key; a certificate is wanted")
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil || block.Type != "CERTIFICATE" {
			return nil, errors.New("holds what is no certificate")
		}
		certs = append(certs, cert)
	}
	if len(certs) == 0 {
		return nil, errors.New("holds no certificate in PEM, which begins with -----BEGIN CERTIFICATE-----")
	}
	return certs, nil
}

// secrets returns what of a reach must be shown nowhere: the key of a file, the
// proxy's password, and where the proxy is, if a variable keeps that or the
// provider is private.
func (r Reach) secrets(env Lookup, private bool) []string {
	var secrets []string
	if key := r.Key.text; key != "" {
		secrets = append(secrets, strings.TrimSpace(key))
	}
	x := expander{env: env}
	addresses := []string{x.expand(r.Proxy)}
	if r.Proxy == ProxyEnvironment {
		addresses = []string{first(env, "HTTPS_PROXY", "https_proxy"), first(env, "HTTP_PROXY", "http_proxy")}
	}
	for _, address := range addresses {
		u, err := parseProxy(address)
		if err != nil {
			continue
		}
		if password, ok := u.User.Password(); ok {
			secrets = append(secrets, password, u.User.String())
		}
		if (private || len(variables(r.Proxy)) > 0) && !isLocal(u.Host) {
			secrets = append(secrets, u.Host, u.Hostname())
		}
	}
	return secrets
}

// PEM blocks of private keys end so; see RFC 7468, sections 10 and 11.
var privateKeyLabel = []byte("PRIVATE KEY-----")

// checkKey reports whether a text holds a private key, without parsing it: that
// it fits the certificate is checked with both at hand.
func checkKey(text []byte) error {
	if !bytes.Contains(text, privateKeyLabel) {
		return errors.New("holds no private key in PEM, which begins with -----BEGIN PRIVATE KEY-----")
	}
	return nil
}
