package bench

import (
	"encoding/base32"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"regexp"
	"strings"
)

// variablePattern is a reference to an environment variable.
var variablePattern = regexp.MustCompile(`\$\{([A-Z][A-Z0-9_]*)\}`)

func variables(s string) []string {
	var names []string
	for _, m := range variablePattern.FindAllStringSubmatch(s, -1) {
		names = append(names, m[1])
	}
	return names
}

// An expander fills in ${VAR} and {session}, and keeps the first thing wrong.
type expander struct {
	env     Lookup
	session string
	err     error
}

func (x *expander) expand(s string) string {
	return variablePattern.ReplaceAllStringFunc(s, func(ref string) string {
		name := ref[2 : len(ref)-1]
		v, _ := x.env(name)
		v = strings.TrimSpace(v) // a pasted secret often ends in a line break
		if x.err == nil && strings.ContainsFunc(v, func(r rune) bool { return r < 0x20 || r == 0x7f }) {
			x.err = fmt.Errorf("the value of %s holds a control character", name)
		}
		return v
	})
}

func (x *expander) expandMap(m map[string]string) map[string]string {
	if len(m) == 0 {
		return nil
	}
	out := make(map[string]string, len(m))
	for k, v := range m {
		out[k] = strings.ReplaceAll(x.expand(v), "{session}", x.session)
	}
	return out
}

// baseURL expands a base URL. A variable may hold a bare host, as OLLAMA_HOST
// does: it is reached by http on a machine of one's own, else by https.
func (x *expander) baseURL(s string) string {
	s = strings.TrimRight(x.expand(s), "/")
	if s == "" || strings.Contains(s, "://") {
		return s
	}
	if isLocal(s) {
		return "http://" + s
	}
	return "https://" + s
}

// checkBaseURL refuses what cannot be sent to. Its errors do not repeat the
// URL, as it may be private.
func checkBaseURL(s string, withKey bool) error {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return errors.New("the base URL cannot be parsed")
	case u.Scheme != "https" && u.Scheme != "http", u.Host == "", u.Opaque != "":
		return errors.New("the base URL must be absolute, as in https://api.example.com/v1")
	case u.User != nil:
		return errors.New("the base URL must not hold a user or password; use key_env")
	case u.RawQuery != "" || u.Fragment != "":
		return errors.New("the base URL must not hold a query or fragment; use query")
	case u.Scheme == "http" && withKey && !isLocal(u.Host):
		return errors.New("the key would travel unencrypted; use https")
	}
	return nil
}

// isLocal reports whether a URL or host[:port] names this machine or a private
// network, without asking the DNS.
func isLocal(s string) bool {
	if _, rest, ok := strings.Cut(s, "://"); ok {
		s = rest
	}
	s, _, _ = strings.Cut(s, "/")
	if host, _, err := net.SplitHostPort(s); err == nil {
		s = host
	}
	s = strings.Trim(s, "[]")
	if s == "localhost" || strings.HasSuffix(s, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(s)
	return err == nil && (addr.IsLoopback() || addr.IsPrivate() || addr.IsUnspecified())
}

// newWord returns a fresh lower-case word of letters and digits, 80 bits of
// random: a session id or a nonce.
func newWord(random io.Reader) (string, error) {
	var b [10]byte
	if _, err := io.ReadFull(random, b[:]); err != nil {
		return "", fmt.Errorf("draw a random word: %w", err)
	}
	return strings.ToLower(wordEncoding.EncodeToString(b[:])), nil
}

// wordEncoding is base32 of digits and letters that no font confuses.
var wordEncoding = base32.NewEncoding("0123456789ABCDEFGHJKMNPQRSTVWXYZ").WithPadding(base32.NoPadding)
