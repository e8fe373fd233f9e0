package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"testing"
)

// sent builds a request and returns it with its body.
func sent(t *testing.T, p Protocol, target Target) (*http.Request, string) {
	t.Helper()
	req, err := p.Request(context.Background(), target, Prompt{Text: "Say <hi> & \"bye\"", MaxOutputTokens: 300})
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(req.Body)
	if err != nil {
		t.Fatal(err)
	}
	if req.ContentLength != int64(len(body)) {
		t.Errorf("content length %d of a body of %d bytes", req.ContentLength, len(body))
	}
	return req, string(body)
}

// TestRequestBody compares whole bodies. Their fields are sorted.
func TestRequestBody(t *testing.T) {
	const (
		base  = "https://host.example/v1"
		msgs  = `"messages":[{"content":"Say <hi> & \"bye\"","role":"user"}]`
		usage = `"stream_options":{"include_usage":true}`
	)
	tests := []struct {
		name   string
		proto  Protocol
		target Target
		want   string
	}{
		{"chat", OpenAIChat{}, Target{BaseURL: base, Model: "m"},
			`{"max_tokens":300,` + msgs + `,"model":"m","stream":true,` + usage + `}`},
		{"chat at OpenAI", OpenAIChat{}, Target{BaseURL: "https://api.openai.com/v1", Model: "m"},
			`{"max_completion_tokens":300,` + msgs + `,"model":"m","stream":true,` + usage + `}`},
		{"chat at Azure", OpenAIChat{}, Target{BaseURL: "https://res.openai.azure.com/openai/v1", Model: "m"},
			`{"max_completion_tokens":300,` + msgs + `,"model":"m","stream":true,` + usage + `}`},
		{"chat, cap field", OpenAIChat{}, Target{BaseURL: base, Model: "m", CapField: "max_completion_tokens"},
			`{"max_completion_tokens":300,` + msgs + `,"model":"m","stream":true,` + usage + `}`},
		{"chat, no stream_options", OpenAIChat{}, Target{BaseURL: base, Model: "m", NoStreamOptions: true},
			`{"max_tokens":300,` + msgs + `,"model":"m","stream":true}`},
		{"chat, effort", OpenAIChat{}, Target{BaseURL: base, Model: "m", ReasoningEffort: "minimal"},
			`{"max_tokens":300,` + msgs + `,"model":"m","reasoning_effort":"minimal","stream":true,` + usage + `}`},
		{"chat, extra fields join and null takes away", OpenAIChat{},
			Target{BaseURL: base, Model: "m", Body: map[string]any{
				"provider":       map[string]any{"order": []any{"a"}, "allow_fallbacks": false},
				"stream_options": map[string]any{"include_obfuscation": false},
				"model":          nil,
			}},
			`{"max_tokens":300,` + msgs + `,"provider":{"allow_fallbacks":false,"order":["a"]},"stream":true,"stream_options":{"include_obfuscation":false,"include_usage":true}}`},
		{"responses", OpenAIResponses{}, Target{BaseURL: base, Model: "m"},
			`{"input":"Say <hi> & \"bye\"","max_output_tokens":300,"model":"m","store":false,"stream":true}`},
		{"responses, effort", OpenAIResponses{}, Target{BaseURL: base, Model: "m", ReasoningEffort: "minimal", NoStreamOptions: true},
			`{"input":"Say <hi> & \"bye\"","max_output_tokens":300,"model":"m","reasoning":{"effort":"minimal"},"store":false,"stream":true}`},
		{"anthropic", Anthropic{}, Target{BaseURL: base, Model: "m"},
			`{"max_tokens":300,` + msgs + `,"model":"m","stream":true}`},
		{"anthropic, effort", Anthropic{}, Target{BaseURL: base, Model: "m", ReasoningEffort: "low"},
			`{"max_tokens":300,` + msgs + `,"model":"m","output_config":{"effort":"low"},"stream":true,"thinking":{"type":"adaptive"}}`},
		{"anthropic, no thinking", Anthropic{}, Target{BaseURL: base, Model: "m", ReasoningEffort: "none"},
			`{"max_tokens":300,` + msgs + `,"model":"m","stream":true,"thinking":{"type":"disabled"}}`},
		{"gemini", Gemini{}, Target{BaseURL: base, Model: "m"},
			`{"contents":[{"parts":[{"text":"Say <hi> & \"bye\""}],"role":"user"}],"generationConfig":{"maxOutputTokens":300}}`},
		{"gemini, level", Gemini{}, Target{BaseURL: base, Model: "m", ReasoningEffort: "low"},
			`{"contents":[{"parts":[{"text":"Say <hi> & \"bye\""}],"role":"user"}],"generationConfig":{"maxOutputTokens":300,"thinkingConfig":{"thinkingLevel":"low"}}}`},
		{"gemini, budget", Gemini{}, Target{BaseURL: base, Model: "m", ReasoningEffort: "512"},
			`{"contents":[{"parts":[{"text":"Say <hi> & \"bye\""}],"role":"user"}],"generationConfig":{"maxOutputTokens":300,"thinkingConfig":{"thinkingBudget":512}}}`},
		{"gemini, off, with an extra field inside", Gemini{},
			Target{BaseURL: base, Model: "m", ReasoningEffort: "none", Body: map[string]any{"generationConfig": map[string]any{"temperature": 0, "thinkingConfig": map[string]any{"includeThoughts": true}}}},
			`{"contents":[{"parts":[{"text":"Say <hi> & \"bye\""}],"role":"user"}],"generationConfig":{"maxOutputTokens":300,"temperature":0,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":0}}}`},
		{"ollama", Ollama{}, Target{BaseURL: "http://localhost:11434", Model: "m"},
			`{` + msgs + `,"model":"m","options":{"num_predict":300},"stream":true}`},
		{"ollama, no thinking", Ollama{}, Target{BaseURL: "http://localhost:11434", Model: "m", ReasoningEffort: "none"},
			`{` + msgs + `,"model":"m","options":{"num_predict":300},"stream":true,"think":false}`},
		{"ollama, level and an option", Ollama{}, Target{BaseURL: "http://localhost:11434", Model: "m", ReasoningEffort: "low", Body: map[string]any{"options": map[string]any{"seed": 1}}},
			`{` + msgs + `,"model":"m","options":{"num_predict":300,"seed":1},"stream":true,"think":"low"}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := sent(t, tt.proto, tt.target); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestRequestURL checks path templates, escapes and queries.
func TestRequestURL(t *testing.T) {
	tests := []struct {
		name   string
		proto  Protocol
		target Target
		want   string
	}{
		{"chat", OpenAIChat{}, Target{BaseURL: "https://api.openai.com/v1", Model: "m"}, "https://api.openai.com/v1/chat/completions"},
		{"slash at the end", OpenAIChat{}, Target{BaseURL: "https://api.openai.com/v1/", Model: "m"}, "https://api.openai.com/v1/chat/completions"},
		{"no path", Ollama{}, Target{BaseURL: "http://localhost:11434", Model: "m"}, "http://localhost:11434/api/chat"},
		{"responses", OpenAIResponses{}, Target{BaseURL: "https://api.openai.com/v1", Model: "m"}, "https://api.openai.com/v1/responses"},
		{"messages", Anthropic{}, Target{BaseURL: "https://api.anthropic.com/v1", Model: "m"}, "https://api.anthropic.com/v1/messages"},
		{"gemini", Gemini{}, Target{BaseURL: "https://generativelanguage.googleapis.com/v1beta", Model: "gemini-3-flash"},
			"https://generativelanguage.googleapis.com/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"},
		{"gemini, name as listed", Gemini{}, Target{BaseURL: "https://g.example/v1beta", Model: "models/gemini-3-flash"},
			"https://g.example/v1beta/models/gemini-3-flash:streamGenerateContent?alt=sse"},
		{"Azure, deployments", OpenAIChat{}, Target{BaseURL: "https://res.openai.azure.com", Path: "/openai/deployments/{model}/chat/completions", Model: "my dep",
			Query: map[string]string{"api-version": "2024-10-21"}},
			"https://res.openai.azure.com/openai/deployments/my%20dep/chat/completions?api-version=2024-10-21"},
		{"Azure, v1", OpenAIChat{}, Target{BaseURL: "https://res.openai.azure.com/openai/v1", Model: "dep"}, "https://res.openai.azure.com/openai/v1/chat/completions"},
		{"model with everything", OpenAIChat{}, Target{BaseURL: "https://h.example", Path: "/{model}/x", Model: "a/b?c#d%2F é"}, "https://h.example/a%2Fb%3Fc%23d%252F%20%C3%A9/x"},
		{"model that climbs", Gemini{}, Target{BaseURL: "https://h.example/v1", Model: "../../x"}, "https://h.example/v1/models/..%2F..%2Fx:streamGenerateContent?alt=sse"},
		{"queries join", Gemini{}, Target{BaseURL: "https://h.example/v1?a=1", Model: "m", Query: map[string]string{"b": "x y", "alt": "json"}},
			"https://h.example/v1/models/m:streamGenerateContent?a=1&alt=json&b=x+y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req, _ := sent(t, tt.proto, tt.target)
			if got := req.URL.String(); got != tt.want {
				t.Errorf("\n got %s\nwant %s", got, tt.want)
			}
			if req.Method != http.MethodPost {
				t.Errorf("method %s", req.Method)
			}
		})
	}
}

// TestRequestHeader checks where keys travel and what else is sent.
func TestRequestHeader(t *testing.T) {
	const base = "https://host.example/v1"
	tests := []struct {
		name   string
		proto  Protocol
		target Target
		want   map[string]string // "" must be absent
	}{
		{"chat", OpenAIChat{}, Target{Key: "k"}, map[string]string{"Authorization": "Bearer k", "Content-Type": "application/json", "Accept-Encoding": "identity", "User-Agent": userAgent}},
		{"responses", OpenAIResponses{}, Target{Key: "k"}, map[string]string{"Authorization": "Bearer k"}},
		{"ollama", Ollama{}, Target{Key: "k"}, map[string]string{"Authorization": "Bearer k"}},
		{"ollama, local", Ollama{}, Target{}, map[string]string{"Authorization": ""}},
		{"anthropic", Anthropic{}, Target{Key: "k"}, map[string]string{"X-Api-Key": "k", "Anthropic-Version": "2023-06-01", "Authorization": ""}},
		{"gemini", Gemini{}, Target{Key: "k"}, map[string]string{"X-Goog-Api-Key": "k", "Authorization": ""}},
		{"Azure", OpenAIChat{}, Target{Key: "k", Auth: AuthAPIKey}, map[string]string{"Api-Key": "k", "Authorization": ""}},
		{"Azure, Entra", OpenAIChat{}, Target{Key: "k", Auth: AuthBearer}, map[string]string{"Authorization": "Bearer k", "Api-Key": ""}},
		{"anthropic by bearer", Anthropic{}, Target{Key: "k", Auth: AuthBearer}, map[string]string{"Authorization": "Bearer k", "X-Api-Key": ""}},
		{"none", OpenAIChat{}, Target{Key: "k", Auth: AuthNone}, map[string]string{"Authorization": ""}},
		{"OpenCode session and own agent", OpenAIChat{}, Target{Headers: map[string]string{"x-opencode-session": "s1", "User-Agent": "mine"}},
			map[string]string{"X-Opencode-Session": "s1", "User-Agent": "mine"}},
		{"a newer version", Anthropic{}, Target{Headers: map[string]string{"anthropic-version": "2030-01-01"}}, map[string]string{"Anthropic-Version": "2030-01-01"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tt.target.BaseURL, tt.target.Model = base, "m"
			req, body := sent(t, tt.proto, tt.target)
			for name, want := range tt.want {
				if got := req.Header.Get(name); got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if tt.target.Key != "" && strings.Contains(req.URL.String()+body, tt.target.Key+`"`) {
				t.Error("the key stands in address or body")
			}
			if req.GetBody != nil {
				t.Error("a transport could send the request again")
			}
		})
	}
	req, _ := sent(t, OpenAIChat{}, Target{BaseURL: base, Model: "m", Headers: map[string]string{"host": "other.example"}})
	if req.Host != "other.example" {
		t.Errorf("host = %q", req.Host)
	}
}

// TestRequestErrors checks that bad input is an error which tells no secret.
func TestRequestErrors(t *testing.T) {
	const secret = "s3cret"
	ok := Target{BaseURL: "https://host.example", Model: "m", Key: secret}
	tests := []struct {
		name   string
		proto  Protocol
		change func(*Target)
	}{
		{"no URL", OpenAIChat{}, func(t *Target) { t.BaseURL = "" }},
		{"relative URL", OpenAIChat{}, func(t *Target) { t.BaseURL = "/" + secret }},
		{"other scheme", OpenAIChat{}, func(t *Target) { t.BaseURL = "file:///" + secret }},
		{"bad port", OpenAIChat{}, func(t *Target) { t.BaseURL = "https://host:" + secret }},
		{"control character", OpenAIChat{}, func(t *Target) { t.BaseURL = "https://" + secret + "\x7f/" }},
		{"bad escape in the path", OpenAIChat{}, func(t *Target) { t.Path = "/%zz" + secret }},
		{"bad query in the path", OpenAIChat{}, func(t *Target) { t.Path = "/x?%zz" + secret }},
		{"no model in the path", Gemini{}, func(t *Target) { t.Model = "" }},
		{"model is a step up", OpenAIChat{}, func(t *Target) { t.Path, t.Model = "/{model}/chat", ".." }},
		{"key with a line break", OpenAIChat{}, func(t *Target) { t.Key = secret + "\n" }},
		{"header value with a line break", OpenAIChat{}, func(t *Target) { t.Headers = map[string]string{"X-A": secret + "\r\nX-B: 1"} }},
		{"header name with a space", OpenAIChat{}, func(t *Target) { t.Headers = map[string]string{"X A": secret} }},
		{"empty header name", OpenAIChat{}, func(t *Target) { t.Headers = map[string]string{"": secret} }},
		{"unknown auth", OpenAIChat{}, func(t *Target) { t.Auth = "query" }},
		{"field that is no JSON", OpenAIChat{}, func(t *Target) { t.Body = map[string]any{"x": func() {}} }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			target := ok
			tt.change(&target)
			req, err := tt.proto.Request(context.Background(), target, Prompt{Text: "x", MaxOutputTokens: 1})
			if err == nil {
				t.Fatalf("no error; would send %s", req.URL)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error tells a secret: %v", err)
			}
		})
	}
}

// TestRequestLeavesTarget checks that building a request changes nothing of the
// target's, as one target serves many runs at once.
func TestRequestLeavesTarget(t *testing.T) {
	inner := map[string]any{"temperature": 0}
	target := Target{BaseURL: "https://h.example", Model: "models/m", ReasoningEffort: "low", Body: map[string]any{"generationConfig": inner}}
	before, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range Names() {
		sent(t, protocolOf(t, name), target)
	}
	after, err := json.Marshal(target)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) || len(maps.Clone(inner)) != 1 {
		t.Errorf("target was\n%s\nis\n%s", before, after)
	}
}

// TestTargetPrint checks that no verb prints key or address.
func TestTargetPrint(t *testing.T) {
	target := Target{BaseURL: "https://private.example", Model: "m", Key: "s3cret"}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q"} {
		if got := fmt.Sprintf(verb, target); strings.Contains(got, "s3cret") || strings.Contains(got, "private") {
			t.Errorf("%s prints %s", verb, got)
		}
	}
}

func TestNamesAndProtocols(t *testing.T) {
	for _, name := range Names() {
		if p, ok := ByName(name); !ok || p.Name() != name {
			t.Errorf("ByName(%q) = %v, %v", name, p, ok)
		}
	}
	if _, ok := ByName("openai"); ok {
		t.Error("a protocol that is none was found")
	}
}
