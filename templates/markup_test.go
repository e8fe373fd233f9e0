package templates

import (
	"html/template"
	"strings"
	"testing"
)

// oracle is what html/template makes of a string in each place that a [Markup]
// writes to.
var oracle = template.Must(template.New("").Parse(
	`<p title="{{.}}" data-v="{{.}}">{{.}}</p><a href="{{.}}"></a><a href="{{.}}#of-x"></a><a href="../methodology/#{{.}}"></a>`))

func markup(s string) template.HTML {
	var m Markup
	m.Raw(`<p title="`).Text(s).Raw(`" data-v="`).Text(s).Raw(`">`).Text(s).Raw(`</p><a href="`)
	m.URL(s).Raw(`"></a><a href="`).URL(s).Raw(`#of-x"></a><a href="../methodology/#`).Fragment(s).Raw(`"></a>`)
	return m.Done()
}

func checkMarkup(t *testing.T, s string) {
	t.Helper()
	var want strings.Builder
	if err := oracle.Execute(&want, s); err != nil {
		t.Fatal(err)
	}
	if got := string(markup(s)); got != want.String() {
		t.Errorf("%q\ngot  %q\nwant %q", s, got, want.String())
	}
}

// TestMarkup escapes every byte, alone and within others, and what has gone
// wrong for others, as html/template does.
func TestMarkup(t *testing.T) {
	for c := range 256 {
		checkMarkup(t, string([]byte{byte(c)}))
		checkMarkup(t, "a"+string([]byte{byte(c)})+"1f")
	}
	for _, s := range []string{
		"", "plain", "</td><script>alert(1)</script>", `" onmouseover="alert(1)`, "a+b & c", "{{.}}",
		"javascript:alert(1)", "JaVaScRiPt:x", " javascript:x", "a/b:c", "http://x/?q=1&r=a+b#c", "MAILTO:a@b.example", "data:text/html,x", "https:",
		"%", "%2", "%2f%2F%zz%", "../pair/a-b/?sql=SELECT+%27x%27#console", "\u202egnp", "\xff\xfe", "模型—ü", "\x00",
	} {
		checkMarkup(t, s)
	}
}

// TestAttr leaves an attribute without a value out.
func TestAttr(t *testing.T) {
	var m Markup
	m.Raw("<tr").Attr(` class="`, "").Attr(` data-q="`, `a"b`).Raw(">")
	if got, want := m.Done(), template.HTML(`<tr data-q="a&#34;b">`); got != want {
		t.Errorf("got %s; want %s", got, want)
	}
}

// FuzzMarkup holds the escapers to those of html/template.
func FuzzMarkup(f *testing.F) {
	for _, s := range []string{"a<b", `'"&+`, "javascript:x", "http://x/%2f", "\x00\xff"} {
		f.Add(s)
	}
	f.Fuzz(checkMarkup)
}
