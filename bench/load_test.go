package bench

import (
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/streamgauge/streamgauge/bench/wire"
)

var update = flag.Bool("update", false, "rewrite the expected output in testdata")

// TestLoadBadProviders loads the files of each testdata/providers/*.txtar and
// compares the error with the section "want". To add a case, add a file and
// run with -update.
func TestLoadBadProviders(t *testing.T) {
	cases, err := filepath.Glob("testdata/providers/*.txtar")
	if err != nil || len(cases) < 10 {
		t.Fatalf("found %d cases: %v", len(cases), err)
	}
	for _, name := range cases {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files, want := fstest.MapFS{}, -1
			for i, f := range archive.Files {
				if f.Name == "want" {
					want = i
				} else {
					files[f.Name] = &fstest.MapFile{Data: f.Data}
				}
			}
			if want < 0 || len(files) == 0 {
				t.Fatal("a case has files and a section named want")
			}
			_, err = LoadProviders(files)
			if err == nil {
				t.Fatal("loaded without an error")
			}
			if !errors.As(err, new(FileErrors)) {
				t.Errorf("the error is a %T; want FileErrors", err)
			}
			got := err.Error() + "\n"
			if *update {
				archive.Files[want].Data = []byte(got)
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(string(archive.Files[want].Data), got); diff != "" {
				t.Errorf("error differs (-want +got):\n%s", diff)
			}
		})
	}
}

// fullProvider has every field there is, but those of private providers.
const fullProvider = `
name: acme-cloud
title: Acme Cloud
url: https://acme.example
base_url: https://api.acme.example/v1/
protocol: openai_chat
path: /deployments/{model}/chat
auth: api-key
key_env: ACME_KEY
cap_field: max_tokens
stream_options: false
reasoning_effort: low
body: {temperature: 0, routing: {only: [eu]}}
headers: {X-Run: "{session}", X-Team: "${ACME_TEAM}"}
query: {api-version: "2024-10-21"}
nonce: true
timeouts: {run: 60s, dial: 5s, header: 30s, idle: 20s}
every: 30m
every_by_price:
  - {output_at_least: 5, every: 2h}
  - {output_at_least: 15, every: 6h}
breaker: at_cadence
lanes: per-provider
budget: {requests_per_day: 500, usd_per_month: 12.5, tokens_per_month: 3000000}
catalog: acme
discover: {list_url: "https://api.acme.example/catalog", format: openrouter, include: ["big-*"], exclude: ["*-preview"], limit: 3}
wires:
  - {match: "claude-*", protocol: anthropic, path: /messages}
models:
  - {id: big-1, name: big, title: Big One, every: 10 */6 * * *, open_weights: true, size_class: large, price: {input: 1, output: 5}}
  - small-1
visibility: public
demo: false
proxy: environment
vantages: [office, home]
`

func TestLoadFullProvider(t *testing.T) {
	got, err := LoadProviders(fstest.MapFS{"acme.yaml": {Data: []byte(fullProvider)}})
	if err != nil {
		t.Fatal(err)
	}
	cron, err := ParseCadence("10 */6 * * *")
	if err != nil {
		t.Fatal(err)
	}
	no, yes := false, true
	want := []Provider{{
		Name: "acme-cloud", Title: "Acme Cloud", URL: "https://acme.example",
		BaseURL: "https://api.acme.example/v1", KeyEnv: "ACME_KEY",
		Dialect: Dialect{
			Protocol: "openai_chat", Path: "/deployments/{model}/chat", Auth: wire.AuthAPIKey, CapField: "max_tokens",
			StreamOptions: &no, ReasoningEffort: "low",
			Body: map[string]any{"temperature": 0.0, "routing": map[string]any{"only": []any{"eu"}}},
		},
		Headers: map[string]string{"X-Run": "{session}", "X-Team": "${ACME_TEAM}"},
		Query:   map[string]string{"api-version": "2024-10-21"},
		Nonce:   true, BufferProbe: true,
		Limits: Limits{Run: time.Minute, Dial: 5 * time.Second, Header: 30 * time.Second, Idle: 20 * time.Second},
		Every:  Every(30 * time.Minute),
		EveryByPrice: []PriceCadence{
			{AtLeast: 15, Every: Every(6 * time.Hour)},
			{AtLeast: 5, Every: Every(2 * time.Hour)},
		},
		Breaker: BreakerAtCadence, OwnLane: true, Vantages: []string{"office", "home"},
		Reach:   Reach{Proxy: ProxyEnvironment},
		Budget:  Budget{RequestsPerDay: 500, USDPerMonth: 12.5, TokensPerMonth: 3_000_000},
		Catalog: "acme",
		Discover: &Discover{
			URL: "https://api.acme.example/catalog", Format: ListOpenRouter,
			Include: []string{"big-*"}, Exclude: []string{"*-preview"}, Limit: 3,
		},
		Wires: []WireRule{{Match: "claude-*", Dialect: Dialect{Protocol: "anthropic", Path: "/messages"}}},
		Models: []Model{
			{ID: "big-1", Name: "big", Title: "Big One", Every: cron, OpenWeights: &yes, SizeClass: "large", Price: &Price{Input: 1, Output: 5}},
			{ID: "small-1", Name: "small-1"},
		},
	}}
	sameCadence := cmp.Comparer(func(a, b Cadence) bool { return a.String() == b.String() && a.Interval() == b.Interval() })
	if diff := cmp.Diff(want, got, sameCadence); diff != "" {
		t.Errorf("provider differs (-want +got):\n%s", diff)
	}
}

// TestLoadKeepsTheGood checks that one bad file does not hide the others.
func TestLoadKeepsTheGood(t *testing.T) {
	got, err := LoadProviders(fstest.MapFS{
		"bad.yaml":  {Data: []byte("nonsense: true\n")},
		"good.yaml": {Data: []byte("base_url: https://good.example\nprotocol: ollama\nmodels: [m]\n")},
		"other.txt": {Data: []byte("not a provider")},
	})
	if err == nil || len(got) != 1 || got[0].Name != "good" || got[0].Title != "good" {
		t.Errorf("LoadProviders = %+v, %v; want the good one and an error", got, err)
	}
}

func TestGlobMatch(t *testing.T) {
	tests := []struct {
		glob, s string
		want    bool
	}{
		{"*", "", true},
		{"*", "a/b:c", true},
		{"gpt-*", "gpt-5", true},
		{"gpt-*", "gpt-", true},
		{"gpt-*", "xgpt-5", false},
		{"*:free", "qwen/qwen3:free", true},
		{"*:free", "qwen/qwen3:free-ish", false},
		{"qwen3.*-plus", "qwen3.6-plus", true},
		{"qwen3.*-plus", "qwen3.-plus", true},
		{"qwen3.*-plus", "qwen3-plus", false},
		{"a*b*c", "axbxbxc", true},
		{"a*b*c", "acb", false},
		{"ab*ba", "aba", false},
		{"exact", "exact", true},
		{"exact", "exactly", false},
	}
	for _, tt := range tests {
		if got := globMatch(tt.glob, tt.s); got != tt.want {
			t.Errorf("globMatch(%q, %q) = %v; want %v", tt.glob, tt.s, got, tt.want)
		}
	}
}

// FuzzLoadProviders feeds any text as a provider file: no panic, every error
// has a place in the file, and what loads is safe to publish and to run.
func FuzzLoadProviders(f *testing.F) {
	f.Add([]byte(fullProvider))
	cases, err := filepath.Glob("testdata/providers/*.txtar")
	if err != nil || len(cases) == 0 {
		f.Fatalf("found no cases: %v", err)
	}
	for _, name := range cases {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range archive.Files {
			if file.Name != "want" {
				f.Add(file.Data)
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		providers, err := LoadProviders(fstest.MapFS{"fuzz.yaml": {Data: text}})
		if err != nil {
			var all FileErrors
			if !errors.As(err, &all) || len(all) == 0 {
				t.Fatalf("%v: want FileErrors", err)
			}
			lines := strings.Count(string(text), "\n") + 1
			for _, e := range all {
				if e.Line < 0 || e.Line > lines || strings.ContainsAny(e.Excerpt, "\x1b\x00") {
					t.Errorf("bad place or excerpt: %+v", e)
				}
			}
			return
		}
		if len(providers) != 1 {
			t.Fatalf("loaded %d providers of one file", len(providers))
		}
		p := &providers[0]
		if checkSlug(p.PublicName()) != nil {
			t.Errorf("public name %q", p.PublicName())
		}
		env := func(string) (string, bool) { return "v", true }
		for i := range p.Models {
			m := &p.Models[i]
			if checkModelName(m.Name) != nil {
				t.Errorf("public model name %q", m.Name)
			}
			if p.CadenceOf(m).Interval() < MinCadence {
				t.Errorf("cadence %v", p.CadenceOf(m))
			}
			// It may refuse, as when a variable turns the URL bad, not panic.
			_, target, err := p.Target(m, env, "s")
			if err == nil && target.Key == "" && p.KeyEnv != "" {
				t.Error("the key was lost")
			}
		}
	})
}
