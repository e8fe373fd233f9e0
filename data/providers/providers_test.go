package providers_test

import (
	"bytes"
	"crypto/rand"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data/providers"
)

// shipped loads the files as a fork would find them.
func shipped(t *testing.T) []bench.Provider {
	t.Helper()
	list, err := bench.LoadProviders(providers.Files)
	if err != nil {
		t.Fatalf("the shipped provider files are at fault:\n%v", err)
	}
	facts := snapshot(t, list)
	for i := range list {
		list[i] = list[i].Offering(nil, facts)
	}
	return list
}

func snapshot(t *testing.T, list []bench.Provider) bench.Facts {
	t.Helper()
	var ids []string
	for _, p := range list {
		if p.Catalog != "" {
			ids = append(ids, p.Catalog)
		}
	}
	facts, err := bench.ParseModelsDev(providers.ModelsDev, ids)
	if err != nil {
		t.Fatal(err)
	}
	return facts
}

func find(t *testing.T, list []bench.Provider, name string) *bench.Provider {
	t.Helper()
	for i := range list {
		if list[i].Name == name {
			return &list[i]
		}
	}
	t.Fatalf("no provider %q", name)
	return nil
}

func TestShippedNames(t *testing.T) {
	want := []string{"anthropic", "azure-openai", "gemini", "ollama-free", "ollama-local", "ollama-pro",
		"openai", "opencode-go", "opencode-zen", "openrouter"}
	var got []string
	for _, p := range shipped(t) {
		got = append(got, p.Name)
	}
	if !slices.Equal(got, want) {
		t.Errorf("shipped %q; want %q", got, want)
	}
}

// TestShippedAreOffUntilSet checks what a fork sees before it sets anything,
// and which variable switches which file on.
func TestShippedAreOffUntilSet(t *testing.T) {
	want := map[string]string{
		"anthropic":    "ANTHROPIC_API_KEY",
		"azure-openai": "AZURE_OPENAI_API_KEY AZURE_OPENAI_RESOURCE",
		"gemini":       "GEMINI_API_KEY",
		"ollama-free":  "OLLAMA_FREE_API_KEY",
		"ollama-local": "OLLAMA_HOST",
		"ollama-pro":   "OLLAMA_API_KEY",
		"openai":       "OPENAI_API_KEY",
		"opencode-go":  "OPENCODE_GO_API_KEY",
		"opencode-zen": "OPENCODE_API_KEY",
		"openrouter":   "OPENROUTER_API_KEY",
	}
	unset := func(string) (string, bool) { return "", false }
	for _, p := range shipped(t) {
		if got := strings.Join(p.Missing(unset), " "); got != want[p.Name] {
			t.Errorf("%s misses %q; want %q", p.Name, got, want[p.Name])
		}
		if p.Configured(unset) {
			t.Errorf("%s is on although nothing is set", p.Name)
		}
	}
}

// TestShippedWires checks the wire format, price class and cadence of models
// against the published plans.
func TestShippedWires(t *testing.T) {
	tests := []struct{ provider, model, protocol, every string }{
		{"ollama-pro", "gpt-oss:120b", "ollama", "10m"},
		{"ollama-free", "gpt-oss:120b", "ollama", "1h"},
		{"opencode-zen", "gpt-5.5", "openai_responses", "6h"},   // $30 out
		{"opencode-zen", "claude-haiku-4-5", "anthropic", "1h"}, // $5
		{"opencode-zen", "gemini-3.1-pro", "gemini", "6h"},      // $12
		{"opencode-zen", "grok-4.6", "openai_responses", "1h"},  // by the catalogue
		{"opencode-zen", "minimax-m3", "openai_chat", "1h"},     // chat on Zen,
		{"opencode-go", "minimax-m3", "anthropic", "30m"},       // messages on Go
		{"opencode-zen", "qwen3.6-plus", "anthropic", "1h"},
		{"opencode-go", "qwen3.7-max", "anthropic", "6h"}, // $7.5, among the most expensive of Go
		{"opencode-go", "kimi-k3", "openai_chat", "6h"},   // $15
		{"opencode-go", "glm-5.2", "openai_chat", "30m"},
		{"opencode-go", "gpt-5.6-luna", "openai_responses", "30m"},
		{"openai", "gpt-5.6-sol", "openai_responses", "6h"},
		{"azure-openai", "gpt-4.1-mini", "openai_chat", "1h"},
		{"anthropic", "claude-opus-5-5", "anthropic", "6h"},
		{"gemini", "gemini-2.5-flash-lite", "gemini", "1h"},
		{"openrouter", "openai/gpt-oss-120b", "openai_chat", "1h"},
	}
	list := shipped(t)
	for _, tt := range tests {
		p := find(t, list, tt.provider)
		i := slices.IndexFunc(p.Models, func(m bench.Model) bool { return m.ID == tt.model })
		if i < 0 {
			t.Errorf("%s has no model %s", tt.provider, tt.model)
			continue
		}
		m := &p.Models[i]
		if got := p.DialectOf(m).Protocol; got != tt.protocol {
			t.Errorf("%s/%s speaks %s; want %s", tt.provider, tt.model, got, tt.protocol)
		}
		if got := p.CadenceOf(m).String(); got != tt.every {
			t.Errorf("%s/%s is measured every %s; want %s", tt.provider, tt.model, got, tt.every)
		}
	}
}

// TestShippedRequests builds a request for every model and looks at where it
// goes and what it carries.
func TestShippedRequests(t *testing.T) {
	const canary = "sk-canary-0123456789"
	env := func(name string) (string, bool) {
		switch name {
		case "OLLAMA_HOST":
			return "127.0.0.1:11434", true
		case "AZURE_OPENAI_RESOURCE":
			return "contoso", true
		}
		return canary, true
	}
	host := map[string]string{
		"anthropic": "api.anthropic.com", "azure-openai": "contoso.openai.azure.com",
		"gemini": "generativelanguage.googleapis.com", "ollama-free": "ollama.com", "ollama-local": "127.0.0.1:11434",
		"ollama-pro": "ollama.com", "openai": "api.openai.com", "opencode-go": "opencode.ai",
		"opencode-zen": "opencode.ai", "openrouter": "openrouter.ai",
	}
	sessions := map[string]bool{}
	n := 0
	for _, p := range shipped(t) {
		models := p.Models
		if len(models) == 0 {
			models = []bench.Model{{ID: "tiny", Name: "tiny"}}
		}
		for _, m := range models {
			run, err := p.Run(&m, env, rand.Reader)
			if err != nil {
				t.Errorf("%s/%s: %v", p.Name, m.Name, err)
				continue
			}
			req, err := run.Protocol.Request(t.Context(), run.Target, run.Prompt)
			if err != nil {
				t.Errorf("%s/%s: %v", p.Name, m.Name, err)
				continue
			}
			n++
			if req.URL.Host != host[p.Name] {
				t.Errorf("%s/%s goes to %s", p.Name, m.Name, req.URL.Host)
			}
			if u, err := url.Parse(req.URL.String()); err != nil || strings.Contains(u.String(), canary) {
				t.Errorf("%s/%s: the key is in the URL, or the URL is none", p.Name, m.Name)
			}
			var dump bytes.Buffer
			if err := req.Header.Write(&dump); err != nil {
				t.Fatal(err)
			}
			if got, want := strings.Count(dump.String(), canary), len(min(p.KeyEnv, "1")); got != want {
				t.Errorf("%s/%s: the key is in %d headers; want %d", p.Name, m.Name, got, want)
			}
			if strings.HasPrefix(p.Name, "opencode") {
				s := req.Header.Get("X-Opencode-Session")
				if len(s) < 16 || sessions[s] {
					t.Errorf("%s/%s: session %q is short or not fresh", p.Name, m.Name, s)
				}
				sessions[s] = true
			}
		}
	}
	if n < 30 {
		t.Errorf("built %d requests; want at least 30", n)
	}
}

// TestSnapshotCoversShipped checks that no listed model of a provider with
// prices lacks one without a reason.
func TestSnapshotCoversShipped(t *testing.T) {
	unpriced := map[string]bool{
		"ollama-pro/gpt-oss:20b": true, "ollama-free/gpt-oss:20b": true, // billed by plan
		"ollama-free/gemma4:31b": true, "ollama-free/nemotron-3-nano:30b": true,
		"opencode-go/gpt-5.6-luna": true, "opencode-go/grok-4.5": true, // not in the catalogue's copy
		"openrouter/openai/gpt-oss-120b": true, "openrouter/deepseek/deepseek-v4.1-flash": true,
		"openrouter/anthropic/claude-haiku-4.5": true, // by the provider's own list
	}
	for _, p := range shipped(t) {
		for _, m := range p.Models {
			pair := p.Pair(&m).String()
			if has := m.Price != nil; has == unpriced[pair] {
				t.Errorf("%s: price known %v; the table says unpriced %v", pair, has, unpriced[pair])
			}
		}
	}
}

// TestReadmeNamesEveryField checks that the README and the loader know the same
// fields: the loader by the suggestion it makes for a misspelt one. A field that
// nobody can read about does not exist for a fork.
func TestReadmeNamesEveryField(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	fields := map[string]string{ // by the place they stand in
		"":         "name title url visibility alias demo base_url protocol key_env auth path cap_field stream_options reasoning_effort body headers query nonce timeouts wires every every_by_price budget breaker lanes catalog discover models",
		"models":   "id name title every open_weights size_class price protocol path auth cap_field stream_options reasoning_effort body",
		"wires":    "match protocol path auth cap_field stream_options reasoning_effort body",
		"discover": "list_url format include exclude limit",
		"budget":   "requests_per_day usd_per_month tokens_per_month",
		"timeouts": "run dial header idle",
	}
	for place, names := range fields {
		for name := range strings.FieldsSeq(names) {
			entry := name + "_: x\n" // one letter off: the loader must suggest the field itself
			switch place {
			case "":
			case "models", "wires":
				entry = place + ":\n  - " + entry
			default:
				entry = place + ":\n  " + entry
			}
			_, err := bench.LoadProviders(fstest.MapFS{"x.yaml": {Data: []byte(entry)}})
			if err == nil || !strings.Contains(err.Error(), `did you mean "`+name+`"?`) {
				t.Errorf("%s %s: the loader does not know the field: %v", place, name, err)
			}
			if !bytes.Contains(readme, []byte("`"+name)) && !bytes.Contains(readme, []byte("{"+name+":")) {
				t.Errorf("README.md does not name %s %s", place, name)
			}
		}
	}
}

// TestShippedBudgetsLast checks that no shipped budget stretches a published
// cadence, and what a month of everything costs: small change.
func TestShippedBudgetsLast(t *testing.T) {
	plan := bench.Due(time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC), shipped(t), nil, bench.Options{})
	if len(plan.Budgets) < 7 {
		t.Errorf("%d providers have a budget; want at least 7", len(plan.Budgets))
	}
	for _, b := range plan.Budgets {
		if b.Stretch != 1 {
			t.Errorf("%s: the budget stretches its cadences %g times", b.Provider, b.Stretch)
		}
	}
	if plan.Cost.USD == nil || *plan.Cost.USD < 1 || *plan.Cost.USD > 40 {
		t.Errorf("a month costs %v; want between $1 and $40", plan.Cost)
	}
	for _, l := range plan.Lanes {
		if l.Utilisation > bench.UtilisationLimit {
			t.Errorf("lane %s is %.0f %% busy before a model is discovered", l.Name, 100*l.Utilisation)
		}
	}
	t.Logf("everything set: %d pairs, $%.2f a month of those with prices, lane %.0f %% busy at assumed durations",
		plan.Lanes[0].Pairs, *plan.Cost.USD, 100*plan.Lanes[0].Utilisation)
}
