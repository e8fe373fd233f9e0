package site

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/streamgauge/streamgauge/bench"
)

// maxSlug bounds a slug's length: file systems allow 255 bytes for a name.
const maxSlug = 64

// What sets the hash apart from the name. Dates are eight hexadecimal digits
// too, and common at the end of a model's name; they must not look like one.
const (
	hashMark  = "-h"
	hashBytes = 4
)

// slug turns a name into a path element of lower-case ASCII letters, digits,
// dots, dashes and underscores. A name that is one already stays as it is. Any
// other gets a part of its hash appended, so that different names never meet,
// whatever else is on the site, and an address never changes once published.
func slug(name string) string {
	var b strings.Builder
	same := true
	for _, r := range name {
		if b.Len() >= maxSlug {
			same = false
			break
		}
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			b.WriteRune(r)
		case r >= 'A' && r <= 'Z':
			b.WriteRune(r + 'a' - 'A')
			same = false
		default:
			same = false
			if s := b.String(); s != "" && !strings.HasSuffix(s, "-") {
				b.WriteByte('-')
			}
		}
	}
	s := strings.Trim(b.String(), "-.")
	if same && s == name && s != "" && !reserved(s) {
		return s
	}
	sum := sha256.Sum256([]byte(name))
	return strings.TrimPrefix(s+hashMark+hex.EncodeToString(sum[:hashBytes]), "-")
}

// reserved reports whether a slug means something else at its place: windows of
// a pair are folders beside its files, "--" joins a pair to what sets one of its
// series apart, and a hash at the end would pretend to be ours.
func reserved(s string) bool {
	if s == "index.html" || strings.Contains(s, "--") {
		return true
	}
	i := strings.LastIndex(s, hashMark)
	return i >= 0 && len(s)-i-len(hashMark) == 2*hashBytes &&
		strings.Trim(s[i+len(hashMark):], "0123456789abcdef") == ""
}

// pairPath returns the folder of a series' page. The pair's main series, which
// is the one measured first, has the plain address; others say what sets them
// apart.
func pairPath(s bench.Series, main bool) string {
	p := "pair/" + slug(s.Provider) + "/" + slug(s.Model)
	if !main {
		p += "--" + slug(s.Vantage)
		if s.Nonce {
			p += "--nonce"
		}
	}
	return p + "/"
}
