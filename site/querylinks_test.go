package site

import (
	"net/url"
	"strings"
	"testing"
)

// TestQueryLink leads to the query itself, whatever it holds, or nowhere.
func TestQueryLink(t *testing.T) {
	for _, tt := range []struct {
		query string
		link  bool
	}{
		{"SELECT 1", true},
		{"SELECT '#?&=%+ \"' AS x -- </script>\nFROM t", true},
		{"SELECT 'ünïcödé-模型\u202e'", true},
		{strings.Repeat("x", maxQueryLink), true},
		{strings.Repeat("x", maxQueryLink+1), false},
		{"SELECT '\x00'", false},
		{"SELECT '\r'", false},
		{"SELECT '\xff'", false},
	} {
		for _, root := range []string{"", "../", "../../"} {
			got := queryLink(root, tt.query)
			if (got != "") != tt.link {
				t.Errorf("%.40q: link %.80q", tt.query, got)
			}
			if got == "" {
				continue
			}
			u, err := url.Parse(got)
			if err != nil || u.Path != root+"query/" || u.Fragment != "console" || u.Query().Get("sql") != tt.query {
				t.Errorf("%.40q: link %.80q leads to %q %q, %v", tt.query, got, u.Path, u.Query().Get("sql"), err)
			}
		}
	}
}

// TestLiteral follows https://www.sqlite.org/lang_expr.html#literal_values_constants_:
// a quote inside is doubled, and nothing else means anything.
func TestLiteral(t *testing.T) {
	for in, want := range map[string]string{
		"":                "''",
		"plain":           "'plain'",
		"it's":            "'it''s'",
		"'; DROP TABLE x": "'''; DROP TABLE x'",
		`\'`:              `'\'''`,
		`"--`:             `'"--'`,
	} {
		if got := literal(in); got != want {
			t.Errorf("literal(%q) = %s, want %s", in, got, want)
		}
	}
}
