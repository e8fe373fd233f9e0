package bench

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/url"
	"slices"
	"strings"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

// minSecret is the length below which a string is no secret: masking every "1"
// would destroy the text and protect nothing.
const minSecret = 4

// A Redactor masks secrets, and their common encodings, in any text: logs,
// errors, journals. The nil Redactor masks nothing.
type Redactor struct {
	replacer *strings.Replacer
	forms    []string // longest first
}

// NewRedactor returns a Redactor for the secrets: as they are, in percent, JSON,
// HTML and hexadecimal encoding, and in base64 at each of the three alignments
// it can have inside a longer encoded text. Secrets shorter than four bytes are
// left out.
func NewRedactor(secrets ...string) *Redactor {
	var forms []string
	for _, s := range secrets {
		if len(s) >= minSecret {
			forms = append(forms, encodings(s)...)
		}
	}
	slices.SortFunc(forms, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b))
	})
	forms = slices.Compact(forms)
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, redacted)
	}
	return &Redactor{replacer: strings.NewReplacer(pairs...), forms: forms}
}

// encodings returns the forms a secret is searched in.
func encodings(s string) []string {
	forms := []string{s, url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s)}
	if quoted, err := json.Marshal(s); err == nil {
		forms = append(forms, string(quoted[1:len(quoted)-1]))
	}
	h := hex.EncodeToString([]byte(s))
	forms = append(forms, h, strings.ToUpper(h))
	for _, enc := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for lead := range 3 {
			// Six-bit groups that mix with a neighbour's bits are unknown.
			coded := enc.EncodeToString(append(make([]byte, lead), s...))
			first := (lead*8 + 5) / 6
			last := (lead + len(s)) * 8 / 6
			if form := coded[first:last]; len(form) >= minSecret {
				forms = append(forms, form)
			}
		}
	}
	return forms
}

// String returns s with every secret masked. A secret that s ends in the
// middle of, as a text cut to a length may, is masked from eight characters on.
func (r *Redactor) String(s string) string {
	if r == nil {
		return s
	}
	s = r.replacer.Replace(s)
	const minCut = 8
	for _, form := range r.forms {
		for n := min(len(form)-1, len(s)); n >= minCut; n-- {
			if strings.HasSuffix(s, form[:n]) {
				return s[:len(s)-n] + redacted
			}
		}
	}
	return s
}

// Found reports whether s holds a secret in any of its forms. What is about to
// be stored or uploaded is refused then, not masked: it must not have been there.
func (r *Redactor) Found(s string) bool {
	return r != nil && slices.ContainsFunc(r.forms, func(form string) bool { return strings.Contains(s, form) })
}

// Writer returns a writer that masks each Write on its way to w. Log handlers
// write whole lines, so no secret is split over two.
func (r *Redactor) Writer(w io.Writer) io.Writer { return redactingWriter{r, w} }

type redactingWriter struct {
	r *Redactor
	w io.Writer
}

func (w redactingWriter) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.w, w.r.String(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
