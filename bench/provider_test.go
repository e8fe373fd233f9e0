package bench

import (
	"bytes"
	"crypto/rand"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// loadOne loads one provider file.
func loadOne(t testing.TB, text string) *Provider {
	t.Helper()
	list, err := LoadProviders(fstest.MapFS{"acme.yaml": {Data: []byte(text)}})
	if err != nil {
		t.Fatal(err)
	}
	return &list[0]
}

// vars is an environment.
func vars(m map[string]string) Lookup {
	return func(name string) (string, bool) { v, ok := m[name]; return v, ok }
}

func TestTarget(t *testing.T) {
	p := loadOne(t, fullProvider)
	env := vars(map[string]string{"ACME_KEY": " sk-1\n", "ACME_TEAM": "blue"})
	protocol, got, err := p.Target(&p.Models[0], env, "s1")
	if err != nil {
		t.Fatal(err)
	}
	want := wire.Target{
		BaseURL: "https://api.acme.example/v1", Path: "/deployments/{model}/chat", Model: "big-1",
		Key: "sk-1", Auth: wire.AuthAPIKey, CapField: "max_tokens", NoStreamOptions: true, ReasoningEffort: "low",
		Headers: map[string]string{"X-Run": "s1", "X-Team": "blue"},
		Query:   map[string]string{"api-version": "2024-10-21"},
		Body:    map[string]any{"temperature": 0.0, "routing": map[string]any{"only": []any{"eu"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || protocol.Name() != "openai_chat" {
		t.Errorf("%s target differs (-want +got):\n%s", protocol.Name(), diff)
	}
}

// TestDialects checks which scope decides: the model, then the first wires
// rule, then the catalogue, then the provider; and that settings for one
// protocol do not leak into another.
func TestDialects(t *testing.T) {
	p := loadOne(t, `
base_url: https://acme.example/v1
protocol: openai_chat
cap_field: max_tokens
reasoning_effort: low
body: {a: 1, b: 1}
wires:
  - {match: "claude-*", protocol: anthropic, path: /messages}
  - {match: "*-mini", reasoning_effort: none, body: {b: 2}}
  - {match: "claude-x", protocol: gemini}
models:
  - plain
  - gpt-mini
  - claude-x
  - {id: claude-y, protocol: openai_responses, body: {c: 3}}
  - listed
`)
	p.Models[4].CatalogProtocol = "gemini"
	for i, want := range []Dialect{
		{Protocol: "openai_chat", CapField: "max_tokens", ReasoningEffort: "low", Body: map[string]any{"a": 1.0, "b": 1.0}},
		{Protocol: "openai_chat", CapField: "max_tokens", ReasoningEffort: "none", Body: map[string]any{"a": 1.0, "b": 2.0}},
		{Protocol: "anthropic", Path: "/messages"},
		{Protocol: "openai_responses", Body: map[string]any{"c": 3.0}},
		{Protocol: "gemini"},
	} {
		if diff := cmp.Diff(want, p.DialectOf(&p.Models[i])); diff != "" {
			t.Errorf("%s (-want +got):\n%s", p.Models[i].ID, diff)
		}
	}
}

func TestCadenceOf(t *testing.T) {
	p := loadOne(t, `
base_url: https://acme.example/v1
protocol: openai_chat
every_by_price: [{output_at_least: 5, every: 2h}, {output_at_least: 15, every: 6h}]
models:
  - {id: unknown}
  - {id: cheap, price: {input: 1, output: 4.99}}
  - {id: middle, price: {input: 1, output: 5}}
  - {id: dear, price: {input: 1, output: 75}}
  - {id: own, every: 10m, price: {input: 1, output: 75}}
`)
	for i, want := range []string{"1h", "1h", "2h", "6h", "10m"} {
		if got := p.CadenceOf(&p.Models[i]).String(); got != want {
			t.Errorf("%s: every %s; want %s", p.Models[i].ID, got, want)
		}
	}
}

func TestMissing(t *testing.T) {
	p := loadOne(t, `
base_url: https://${ACME_HOST}/v1
protocol: openai_chat
key_env: ACME_KEY
headers: {X-A: "${ACME_KEY} ${BENCH_KEY_A}"}
models:
  - plain
  - {id: "${ACME_MODEL}", name: secret}
`)
	env := vars(map[string]string{"ACME_HOST": "api.acme.example", "ACME_KEY": ""})
	if got, want := p.Missing(env), []string{"ACME_KEY", "BENCH_KEY_A"}; !slices.Equal(got, want) {
		t.Errorf("missing %q; want %q", got, want)
	}
	if got, want := p.MissingFor(&p.Models[1], env), []string{"ACME_KEY", "BENCH_KEY_A", "ACME_MODEL"}; !slices.Equal(got, want) {
		t.Errorf("missing for the model %q; want %q", got, want)
	}
	_, _, err := p.Target(&p.Models[0], env, "")
	var unset *NotConfiguredError
	if !errors.As(err, &unset) || err.Error() != "not configured: ACME_KEY, BENCH_KEY_A are not set" {
		t.Errorf("Target: %v", err)
	}
}

// TestTargetRefuses gives variables values that must not be sent, and checks
// that no error repeats them.
func TestTargetRefuses(t *testing.T) {
	p := loadOne(t, `
base_url: ${ACME_HOST}
protocol: openai_chat
key_env: ACME_KEY
headers: {X-Team: "${ACME_TEAM}"}
models: [m]
`)
	good := map[string]string{"ACME_HOST": "https://canary-host.example/v1", "ACME_KEY": "canary-key", "ACME_TEAM": "canary-team"}
	tests := []struct{ name, variable, value, want string }{
		{"fine", "ACME_TEAM", "blue", ""},
		{"bare host", "ACME_HOST", "canary-host.example/v1", ""},
		{"own machine", "ACME_HOST", "127.0.0.1:11434", ""},
		{"header injection", "ACME_TEAM", "canary\r\nX-Evil: 1", "the value of ACME_TEAM holds a control character"},
		{"two keys", "ACME_KEY", "canary\ncanary2", "the value of ACME_KEY holds a control character"},
		{"in the clear", "ACME_HOST", "http://canary-host.example", "the key would travel unencrypted"},
		{"password", "ACME_HOST", "https://u:canary@host.example", "must not hold a user or password"},
		{"other scheme", "ACME_HOST", "file:///canary", "must be absolute"},
		{"no URL", "ACME_HOST", "https://canary host%zz", "cannot be parsed"},
	}
	for _, tt := range tests {
		m := map[string]string{}
		for k, v := range good {
			m[k] = v
		}
		m[tt.variable] = tt.value
		_, target, err := p.Target(&p.Models[0], vars(m), "")
		switch {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want == "" && target.Key != m["ACME_KEY"]:
			t.Errorf("%s: key %q", tt.name, target.Key)
		case tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)):
			t.Errorf("%s: error %v; want %q", tt.name, err, tt.want)
		case err != nil && strings.Contains(err.Error(), "canary"):
			t.Errorf("%s: the error repeats a value: %v", tt.name, err)
		}
	}
}

func TestBareHostScheme(t *testing.T) {
	for in, want := range map[string]string{
		"127.0.0.1:11434":         "http://127.0.0.1:11434",
		"localhost:11434":         "http://localhost:11434",
		"[::1]:11434":             "http://[::1]:11434",
		"192.168.1.5":             "http://192.168.1.5",
		"ollama.com":              "https://ollama.com",
		"https://ollama.com/":     "https://ollama.com",
		"http://10.0.0.1:8080/v1": "http://10.0.0.1:8080/v1",
		"localhost.evil.example":  "https://localhost.evil.example",
	} {
		x := expander{env: vars(nil)}
		if got := x.baseURL(in); got != want {
			t.Errorf("%s becomes %s; want %s", in, got, want)
		}
	}
}

// TestPrivate checks that the public names are all that is left of a private
// provider, and that its secrets are known to the redactor.
func TestPrivate(t *testing.T) {
	p := loadOne(t, `
visibility: private
alias: in-house
base_url: https://llm.corp.example/v1
protocol: openai_chat
key_env: CORP_KEY
models:
  - {id: corp-gpt-9000, name: large}
  - {id: "${BENCH_MODEL_A}", name: small}
`)
	env := vars(map[string]string{"CORP_KEY": "sk-corp", "BENCH_MODEL_A": "corp-mini-1"})
	want := []Pair{{"in-house", "large"}, {"in-house", "small"}}
	for i := range p.Models {
		if got := p.Pair(&p.Models[i]); got != want[i] {
			t.Errorf("pair %v; want %v", got, want[i])
		}
	}
	secrets := []string{"corp-gpt-9000", "corp-mini-1", "https://llm.corp.example/v1", "llm.corp.example", "sk-corp"}
	if got := p.Secrets(env); !slices.Equal(got, secrets) {
		t.Errorf("secrets %q; want %q", got, secrets)
	}
	r := NewRedactor(p.Secrets(env)...)
	if got := r.String("dial llm.corp.example: model corp-mini-1"); got != "dial [redacted]: model [redacted]" {
		t.Errorf("redacted to %q", got)
	}
}

// TestSecretsOfPublic checks that a public provider's secrets are its
// variables, and that one's own machine is none.
func TestSecretsOfPublic(t *testing.T) {
	p := loadOne(t, "base_url: ${ACME_HOST}\nprotocol: ollama\nmodels: [m]\n")
	if got := p.Secrets(vars(map[string]string{"ACME_HOST": "localhost:11434"})); len(got) > 0 {
		t.Errorf("secrets %q; want none", got)
	}
	if got := p.Secrets(vars(map[string]string{"ACME_HOST": "tenant-7.acme.example"})); !slices.Equal(got, []string{"tenant-7.acme.example"}) {
		t.Errorf("secrets %q; want the host", got)
	}
}

func TestProviderRun(t *testing.T) {
	p := loadOne(t, `
base_url: https://acme.example/v1
protocol: openai_chat
headers: {X-Session: "{session}"}
nonce: true
models: [m]
`)
	one, err := p.Run(&p.Models[0], vars(nil), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	two, err := p.Run(&p.Models[0], vars(nil), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := one.Target.Headers["X-Session"]
	if len(s) != 16 || s == two.Target.Headers["X-Session"] || one.Prompt.Text == two.Prompt.Text {
		t.Errorf("session %q or nonce is not fresh in each run", s)
	}
	if !one.Env.Nonce || one.Prompt.Text == Prompt("").Text || one.Target.Auth != wire.AuthNone {
		t.Errorf("run %+v; want a nonce, and no authentication as there is no key", one.Env)
	}
	// A random source that ends gives no run with a weak session.
	if _, err := p.Run(&p.Models[0], vars(nil), bytes.NewReader([]byte("short"))); err == nil {
		t.Error("a run without randomness")
	}
}
