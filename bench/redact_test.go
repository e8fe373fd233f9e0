package bench

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

// TestRedactor hides a key in every form that a provider's error, a URL or a
// log could carry it in.
func TestRedactor(t *testing.T) {
	const key = `sk-Live/0123+"456<789>&é=`
	r := NewRedactor(key, "x", "")
	quoted, err := json.Marshal(map[string]string{"key": key})
	if err != nil {
		t.Fatal(err)
	}
	forms := map[string]string{
		"plain":           key,
		"query":           url.QueryEscape(key),
		"path":            url.PathEscape(key),
		"json":            string(quoted),
		"json in json":    strconv.Quote(string(quoted)),
		"go":              strconv.Quote(key),
		"html":            html.EscapeString(key),
		"hex":             hex.EncodeToString([]byte(key)),
		"HEX":             strings.ToUpper(hex.EncodeToString([]byte(key))),
		"base64":          base64.StdEncoding.EncodeToString([]byte(key)),
		"base64url":       base64.URLEncoding.EncodeToString([]byte(key)),
		"base64 after 1":  base64.StdEncoding.EncodeToString([]byte(":" + key + " and more")),
		"base64 after 2":  base64.StdEncoding.EncodeToString([]byte("u:" + key + " and more")),
		"base64 after 3":  base64.RawURLEncoding.EncodeToString([]byte("me:" + key)),
		"twice":           key + key,
		"cut to a length": key[:14],
	}
	for name, form := range forms {
		text := "before " + form
		if name != "cut to a length" {
			text += " after"
			if !r.Found(text) {
				t.Errorf("%s: not found", name)
			}
		}
		got := r.String(text)
		if !strings.Contains(got, redacted) || strings.Contains(got, "0123") || r.Found(got) {
			t.Errorf("%s: %q became %q", name, text, got)
		}
		if !strings.HasPrefix(got, "before ") {
			t.Errorf("%s: the text around it is gone: %q", name, got)
		}
	}
	for _, innocent := range []string{"", "x", "an error of provider x", "sk-Live", "status 0123"} {
		if got := r.String(innocent); got != innocent || r.Found(innocent) {
			t.Errorf("%q became %q", innocent, got)
		}
	}
}

// TestFoundInAnyCase looks for a key in texts that were folded, or end in the
// middle of it.
func TestFoundInAnyCase(t *testing.T) {
	r := NewRedactor("abcd-1234-efgh")
	for text, want := range map[string]bool{
		"ABCD-1234-EFGH":                             true,
		"x" + strings.ToUpper("abcd-1234-efgh"):      true,
		hex.EncodeToString([]byte("abcd-1234-efgh")): true,
		"616263642D313233342d65666768":               true, // both cases at once
		"abcd-1234-efg":                              false, "bcd-1234-efgh": false, "abcd": false, "abc": false, "": false,
	} {
		if got := r.Found(text); got != want {
			t.Errorf("Found(%q) = %v; want %v", text, got, want)
		}
	}
}

// TestRedactorLongestFirst checks that a secret that begins another does not
// leave the other's end in the open.
func TestRedactorLongestFirst(t *testing.T) {
	r := NewRedactor("secret", "secret-and-more")
	if got := r.String("secret-and-more, secret"); got != redacted+", "+redacted {
		t.Errorf("got %q", got)
	}
}

func TestRedactorWriter(t *testing.T) {
	var out bytes.Buffer
	w := NewRedactor("topsecret").Writer(&out)
	line := "level=ERROR msg=\"key topsecret refused\"\n"
	if n, err := w.Write([]byte(line)); n != len(line) || err != nil {
		t.Errorf("Write = %d, %v; want %d, as the caller's bytes were taken", n, err, len(line))
	}
	if want := "level=ERROR msg=\"key [redacted] refused\"\n"; out.String() != want {
		t.Errorf("wrote %q; want %q", out.String(), want)
	}
}

func TestNilRedactor(t *testing.T) {
	var r *Redactor
	if got := r.String("text"); got != "text" || r.Found("text") {
		t.Errorf("the nil Redactor made %q of text", got)
	}
}
