package templates

import (
	"html/template"
	"strings"
)

// A Markup is HTML that is put together in Go, for the rows that a site has
// hundreds of thousands of. Each of its methods is for one place in a document
// and escapes as html/template does there, byte for byte; a test holds them to it.
//
// Note: html/template looks each value up by reflection and calls its escapers
// through it, about two microseconds a value. That is nothing for a layout, and
// was two thirds of the time of a page of tables.
type Markup struct{ b strings.Builder }

// A constant is a string that only a constant of another package's source turns
// into: what was made while the program runs cannot be passed as mark-up by
// mistake.
type constant string

// Grow makes room for so many more bytes.
func (m *Markup) Grow(bytes int) { m.b.Grow(bytes) }

// Raw adds mark-up that stands in the source.
func (m *Markup) Raw(s constant) *Markup {
	m.b.WriteString(string(s))
	return m
}

// HTML adds mark-up that is safe already: a drawing.
func (m *Markup) HTML(h template.HTML) *Markup {
	m.b.WriteString(string(h))
	return m
}

// Text adds text between tags, or the value of a quoted attribute that holds
// neither address, style nor script.
func (m *Markup) Text(s string) *Markup {
	done := 0
	for i := range len(s) {
		if special := escapes[s[i]]; special != "" {
			m.b.WriteString(s[done:i])
			m.b.WriteString(special)
			done = i + 1
		}
	}
	m.b.WriteString(s[done:])
	return m
}

// Attr adds an attribute and its closing quote unless value is empty. Open is
// what comes before the value, with a space and the opening quote.
func (m *Markup) Attr(open constant, value string) *Markup {
	if value == "" {
		return m
	}
	return m.Raw(open).Text(value).Raw(`"`)
}

// URL adds the beginning of an address, or all of it, to a quoted attribute that
// takes one. An address of a scheme other than http, https and mailto is
// replaced by one that leads nowhere.
func (m *Markup) URL(s string) *Markup {
	if scheme, _, ok := strings.Cut(s, ":"); ok && !strings.Contains(scheme, "/") &&
		!strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "mailto") {
		return m.Raw("#ZgotmplZ")
	}
	return m.address(s, inURL)
}

// Fragment adds what names a place within a page to an address, after its #.
func (m *Markup) Fragment(s string) *Markup { return m.address(s, inFragment) }

// address adds part of an address, percent-encoded but for the bytes that stand
// there as they are.
func (m *Markup) address(s string, part uint8) *Markup {
	done := 0
	for i := range len(s) {
		c := s[i]
		kept := addressed[c]&part != 0
		if kept && escapes[c] == "" || c == '%' && part == inURL && i+2 < len(s) && hexadecimal(s[i+1]) && hexadecimal(s[i+2]) {
			continue
		}
		m.b.WriteString(s[done:i])
		if kept {
			m.b.WriteString(escapes[c])
		} else {
			const digits = "0123456789abcdef"
			m.b.WriteByte('%')
			m.b.WriteByte(digits[c>>4])
			m.b.WriteByte(digits[c&15])
		}
		done = i + 1
	}
	m.b.WriteString(s[done:])
	return m
}

// Parts of an address.
const (
	inURL uint8 = 1 << iota
	inFragment
)

// addressed says in which parts of an address a byte stands as it is.
var addressed = func() (parts [256]uint8) {
	for _, c := range []byte("-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") {
		parts[c] = inURL | inFragment
	}
	for _, c := range []byte("!#$&*+,/:;=?@[]") {
		parts[c] = inURL
	}
	return parts
}()

func hexadecimal(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}

// Done returns what was added.
func (m *Markup) Done() template.HTML { return template.HTML(m.b.String()) }

// escapes are the characters that text and quoted attributes must not hold.
var escapes = [256]string{
	0: "\uFFFD", '"': "&#34;", '&': "&amp;", '\'': "&#39;", '+': "&#43;", '<': "&lt;", '>': "&gt;",
}
