package bench

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"io"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// redacted stands where a secret was.
const redacted = "[redacted]"

// minSecret is the length below which a string is no secret: masking every "1"
// would destroy the text and protect nothing.
const minSecret = 4

// A Redactor masks secrets, and their common encodings, in any text: logs and
// errors. It also tells whether a text that is about to be stored or published
// holds one. The nil Redactor knows no secret.
type Redactor struct {
	replacer *strings.Replacer
	forms    []string             // longest first
	begins   map[[4]byte][]string // forms, by their first bytes
	second   [1 << 16]bool        // which first two bytes there are
}

// NewRedactor returns a Redactor for the secrets: as they are, in percent, JSON,
// Go, HTML and hexadecimal encoding, in base64 at each of the three alignments
// it can have inside a longer encoded text, and each of these once more as JSON
// quotes it. Secrets shorter than four bytes are left out.
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
	r := &Redactor{forms: forms, begins: map[[4]byte][]string{}}
	pairs := make([]string, 0, 2*len(forms))
	for _, form := range forms {
		pairs = append(pairs, form, redacted)
		first := [4]byte([]byte(form[:4]))
		r.begins[first] = append(r.begins[first], form)
		r.second[int(form[0])<<8|int(form[1])] = true
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// encodings returns the forms a secret is searched in. Hexadecimal is there in
// one case: [Redactor.Found] folds the text, and no encoder mixes them.
func encodings(s string) []string {
	h := hex.EncodeToString([]byte(s))
	forms := []string{
		s, url.QueryEscape(s), url.PathEscape(s), html.EscapeString(s), strings.Trim(strconv.Quote(s), `"`), h, strings.ToUpper(h),
	}
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
	for _, form := range slices.Clone(forms) {
		once := quoted(form)
		forms = append(forms, once, quoted(once))
	}
	return forms
}

// quoted returns text as it stands between the quotes of a JSON string.
func quoted(text string) string {
	q, err := json.Marshal(text)
	if err != nil {
		return text // never: a string has a form in JSON
	}
	return string(q[1 : len(q)-1])
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

// Found reports whether s holds a secret in any of its forms, in whatever case.
// What is about to be stored or uploaded is refused then, not masked: it must
// not have been there.
func (r *Redactor) Found(s string) bool { return r.holds([]byte(s)) }

func (r *Redactor) holds(s []byte) bool {
	return r != nil && len(r.forms) > 0 && (r.holdsAsIs(s) || r.holdsAsIs(bytes.ToLower(s)))
}

func (r *Redactor) holdsAsIs(s []byte) bool {
	for i := range len(s) - 3 {
		if !r.second[int(s[i])<<8|int(s[i+1])] {
			continue
		}
		for _, form := range r.begins[[4]byte(s[i:])] {
			if len(s)-i >= len(form) && string(s[i:i+len(form)]) == form {
				return true
			}
		}
	}
	return false
}

// Leak says what of a text must not be stored or published: "the value of a
// secret", or what [KeyShape] finds. It returns "" for a text with neither.
func (r *Redactor) Leak(text []byte) string {
	if r.holds(text) {
		return "the value of a secret"
	}
	return KeyShape(text)
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
