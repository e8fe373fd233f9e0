package site

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/streamgauge/streamgauge/bench"
)

// TestSlug pins addresses: once published they must not change.
func TestSlug(t *testing.T) {
	for name, want := range map[string]string{
		"gpt-4.1":                  "gpt-4.1",
		"claude-sonnet-4-20250514": "claude-sonnet-4-20250514",
		"o3_mini":                  "o3_mini",
		"gpt-oss:20b":              "gpt-oss-20b-h1e0e2b6e",
		"Qwen3":                    "qwen3-h1e0e2b6e",
		"a--b":                     "a--b-h1e0e2b6e",
		"index.html":               "index.html-h1e0e2b6e",
		"x-h0123abcd":              "x-h0123abcd-h1e0e2b6e",
		"":                         "h1e0e2b6e",
		"..":                       "h1e0e2b6e",
		"模型":                       "h1e0e2b6e",
	} {
		got := slug(name)
		if cut := strings.LastIndex(want, "h1e0e2b6e"); cut >= 0 { // stands for any hash
			if len(got) != len(want) || got[:cut] != want[:cut] {
				t.Errorf("slug(%q) = %q; want like %q", name, got, want)
			}
			continue
		}
		if got != want {
			t.Errorf("slug(%q) = %q; want %q", name, got, want)
		}
	}
}

// FuzzSlug holds that different names get different safe path elements.
func FuzzSlug(f *testing.F) {
	f.Add("gpt-oss:20b", "gpt-oss-20b")
	f.Add("GPT", "gpt")
	f.Add("a", "a-h12345678")
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := slug(a), slug(b)
		if (a == b) != (x == y) {
			t.Errorf("slug(%q) = %q, slug(%q) = %q", a, x, b, y)
		}
		if x == "" || len(x) > maxSlug+16 || strings.Trim(x, "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" || strings.HasPrefix(x, ".") {
			t.Errorf("slug(%q) = %q is no safe path element", a, x)
		}
	})
}

func TestPairPath(t *testing.T) {
	s := bench.Series{Pair: bench.Pair{Provider: "openai", Model: "gpt-4.1"}, Vantage: "home", Nonce: true}
	if got, want := pairPath(s, true), "pair/openai/gpt-4.1/"; got != want {
		t.Errorf("main series is at %s; want %s", got, want)
	}
	if got, want := pairPath(s, false), "pair/openai/gpt-4.1--home--nonce/"; got != want {
		t.Errorf("other series is at %s; want %s", got, want)
	}
}

func FuzzDisplay(f *testing.F) {
	f.Add("a\u202eb")
	f.Fuzz(func(t *testing.T, name string) {
		got := display(name)
		if got == "" || !utf8.ValidString(got) || utf8.RuneCountInString(got) > maxName+1 || strings.ContainsAny(got, "\x00\x1b\n\t\u202e\u200b\ufeff") {
			t.Errorf("display(%q) = %q", name, got)
		}
		if again := display(got); utf8.RuneCountInString(name) <= maxName && again != got {
			t.Errorf("display(%q) = %q is not its own display, %q", name, got, again)
		}
	})
}
