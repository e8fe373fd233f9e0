package bench

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// TestKeyShape looks at made-up keys in the forms that vendors document, in the
// places where they leak, and at what is like a key and is none. The keys are
// put together here so that no scanner takes this file for a leak.
func TestKeyShape(t *testing.T) {
	const x = "0aB1cD2eF3gH4iJ5kL6mN7oP8qR9sT0uV1wX2yZ3"
	keys := map[string]string{
		"an OpenAI key":          "sk-" + "proj-" + x,
		"a key of the form sk-…": "sk-" + x,
		"an Anthropic key":       "sk-" + "ant-api03-" + x,
		"an OpenRouter key":      "sk-" + "or-v1-" + x,
		"a Google API key":       "AI" + "za" + x[:35],
		"a Groq key":             "gs" + "k_" + x,
		"an xAI key":             "xa" + "i-" + x,
		"a Perplexity key":       "pp" + "lx-" + x,
		"a Hugging Face token":   "h" + "f_" + x[:34],
		"an NVIDIA key":          "nv" + "api-" + x,
		"a GitHub token":         "gh" + "s_" + x[:36],
		"an AWS access key":      "AK" + "IAIOSFODNN7EXAMPLE",
		"a JSON Web Token":       "ey" + "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.SflKxwRJSMeKKF2QT4",
		"a bearer token":         "Bearer " + "mF_9.B5f-4.1JqM0aB1c",
		"a user and password":    "Basic " + "QWxhZGRpbjpvcGVuIHNlc2FtZTE=",
		"a private key":          "-----BEGIN " + "EC PRIVATE KEY-----",
	}
	for name, key := range keys {
		inJSON, err := json.Marshal("line\n<b>" + key)
		if err != nil {
			t.Fatal(err)
		}
		for where, text := range map[string]string{
			"alone": key, "in a text": "the key (" + key + ") was refused", "in JSON": string(inJSON),
			"after a line": "x\n" + key, "after an escape": `x\n` + key, "in a query": "?key=" + key, "in an escaped query": "%3F" + url.PathEscape(key),
		} {
			if strings.Contains(key, " ") && where == "in an escaped query" {
				continue
			}
			if got := KeyShape([]byte(text)); got != "the shape of "+name {
				t.Errorf("%s, %s: %q", name, where, got)
			}
		}
	}
	if got := KeyShape([]byte("github" + "_pat_" + x)); got != "the shape of a GitHub token" {
		t.Errorf("fine-grained token: %q", got)
	}
	for _, innocent := range []string{
		"", "sk-...", "sk-ant-…", "export OPENAI_API_KEY=sk-your-key-here", "Authorization: Bearer KEY", "Bearer $OPENAI_API_KEY",
		"task-0aB1cD2eF3gH4iJ5kL6mN7oP8qR9", "ask-ant-0aB1cD2eF3gH4iJ5kL6mN7oP8qR9", "sk-" + "learn-like-estimators-in-a-name",
		"gpt-4o-mini-2024-07-18", "fp_0aB1cD2eF3gH", "Basic authentication is refused", "-----BEGIN CERTIFICATE-----",
		"sha256-" + x, strings.Repeat("A", 200), "eyJ", "hf_hub", "AKIA", "RAKIAIOSFODNN7EXAMPLE",
	} {
		if got := KeyShape([]byte(innocent)); got != "" {
			t.Errorf("%q has %s", innocent, got)
		}
	}
}

// TestLabelsHoldNoKey checks that a label is masked as a whole if a key is in it,
// also one that the label's end would cut or that is broken up by what is not seen.
func TestLabelsHoldNoKey(t *testing.T) {
	key := "gh" + "p_" + strings.Repeat("0aB1cD2e", 5)
	for _, label := range []string{key, "model " + key, strings.Repeat("m", 40) + " " + key, key[:10] + "\u200b\x00" + key[10:], "  " + key + "\n"} {
		if got := clean(label, 64); got != redacted {
			t.Errorf("clean(%q) = %q", label, got)
		}
	}
	if err := checkModelName(key); err == nil {
		t.Error("a key may be a model's name")
	}
}

// FuzzLeak checks that a secret is found wherever it stands, and that looking
// for it never fails.
func FuzzLeak(f *testing.F) {
	f.Add("before ", " after")
	f.Add("\\", "")
	f.Fuzz(func(t *testing.T, before, after string) {
		const secret = "canary-4f8a1c77d2e9"
		r := NewRedactor(secret)
		if got := r.Leak([]byte(before + secret + after)); got == "" {
			t.Errorf("not found between %q and %q", before, after)
		}
		if got := r.String(before + secret + after); strings.Contains(got, secret) {
			t.Errorf("left in %q", got)
		}
		KeyShape([]byte(before + after))
	})
}

// BenchmarkLeak looks through a megabyte of a page for twenty secrets.
func BenchmarkLeak(b *testing.B) {
	var secrets []string
	for i := range 20 {
		secrets = append(secrets, fmt.Sprintf("canary-%d-0aB1cD2eF3gH4iJ5kL6mN7oP8qR9", i))
	}
	r := NewRedactor(secrets...)
	row := `<tr><th scope="row"><a href="../pair/acme/model-7/">model-7</a></th><td class="num">61.4</td><td>ask for a desk, 2026-03-14</td></tr>` + "\n"
	page := []byte(strings.Repeat(row, 1<<20/len(row)))
	b.SetBytes(int64(len(page)))
	for b.Loop() {
		if leak := r.Leak(page); leak != "" {
			b.Fatal(leak)
		}
	}
}
