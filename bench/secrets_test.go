package bench

import (
	"slices"
	"testing"
	"testing/fstest"
)

// TestPrivateDeployment checks that a deployment's name is kept secret wherever
// an address holds it, and that what every vendor's address has is not.
func TestPrivateDeployment(t *testing.T) {
	p := loadOne(t, `
visibility: private
alias: in-house
base_url: https://llm.corp.example/tenant-blue/openai/v1
protocol: openai_chat
path: /deployments/prod-gpt-7/chat/completions
key_env: ACME_KEY
models: [{id: "${BENCH_KEY_1}", name: large}]
`)
	env := vars(map[string]string{"ACME_KEY": "canary-key-1", "BENCH_KEY_1": "real-model-1"})
	got := p.Secrets(env)
	for _, want := range []string{"canary-key-1", "real-model-1", "llm.corp.example", "https://llm.corp.example/tenant-blue/openai/v1", "tenant-blue", "prod-gpt-7"} {
		if !slices.Contains(got, want) {
			t.Errorf("%q is no secret; the secrets are %q", want, got)
		}
	}
	for _, common := range []string{"openai", "deployments", "completions", "v1", "large"} {
		if slices.Contains(got, common) {
			t.Errorf("%q is a secret", common)
		}
	}
}

// TestGuarded checks which secrets refuse a text that is about to be published:
// none that a public provider's innocent text may hold.
func TestGuarded(t *testing.T) {
	list, err := LoadProviders(fstest.MapFS{
		"corp.yaml": {Data: []byte("visibility: private\nalias: in-house\nbase_url: https://llm.corp.example/v1\nprotocol: openai_chat\nkey_env: CORP_KEY\n" +
			"query: {region: \"${CORP_REGION}\", tenant: \"${CORP_TENANT}\"}\nmodels: [{id: gpt-4o-mini, name: large}]\n")},
		"acme.yaml": {Data: []byte("base_url: https://api.acme.example/v1\nprotocol: openai_chat\nmodels: [gpt-4o-mini]\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	env := vars(map[string]string{"CORP_KEY": "canary-key-0", "CORP_REGION": "production", "CORP_TENANT": "t7"})
	want := []string{"canary-key-0", "https://llm.corp.example/v1", "llm.corp.example"}
	if got := GuardedOf(list, env); !slices.Equal(got, want) {
		t.Errorf("guarded %q; want %q", got, want)
	}
	if all := SecretsOf(list, env); !slices.Contains(all, "gpt-4o-mini") || !slices.Contains(all, "production") {
		t.Errorf("masked in logs: %q; want the model's id and the region too", all)
	}
}

// TestPrivateOffering checks that models.dev's facts about a private model, by
// which it could be told, are used and not said.
func TestPrivateOffering(t *testing.T) {
	p := loadOne(t, `
visibility: private
alias: in-house
base_url: https://llm.corp.example/v1
protocol: openai_chat
catalog: openai
models: [{id: gpt-x, name: large}, {id: gpt-y, name: small, price: {input: 1, output: 2}}]
`)
	open := false
	facts := Facts{"openai": {"gpt-x": {Title: "GPT X", Price: &Price{3, 4}, OpenWeights: &open}, "gpt-y": {Title: "GPT Y", Price: &Price{5, 6}}}}
	got := p.Offering(nil, facts)
	large, small := got.Models[0], got.Models[1]
	if large.Title != "" || large.OpenWeights != nil || large.Price == nil || !large.Unsaid {
		t.Errorf("large: %+v", large)
	}
	if small.Title != "" || small.Price.Output != 2 || small.Unsaid {
		t.Errorf("small: %+v", small)
	}
}
