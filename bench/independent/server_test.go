package independent

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// An endpoint is one of the mock server's, and the wire it speaks.
type endpoint struct {
	name     string
	protocol wire.Protocol
	target   wire.Target // its base URL without the host
	counted  bool        // the usage of a fixture reaches this wire
}

// endpoints are those of every wire of ours, and both of Azure's paths.
func endpoints() []endpoint {
	return []endpoint{
		{"chat", wire.OpenAIChat{}, wire.Target{BaseURL: "/v1"}, true},
		{"responses", wire.OpenAIResponses{}, wire.Target{BaseURL: "/v1"}, true},
		{"messages", wire.Anthropic{}, wire.Target{BaseURL: "/v1"}, true},
		{"gemini", wire.Gemini{}, wire.Target{BaseURL: "/v1beta"}, true},
		{"ollama", wire.Ollama{}, wire.Target{}, false}, // its counts are 0 there
		{"azure, by deployment", wire.OpenAIChat{}, wire.Target{
			Path: "/openai/deployments/{model}/chat/completions", Query: map[string]string{"api-version": "2024-10-21"}, Auth: wire.AuthAPIKey,
		}, true},
		{"azure, v1", wire.OpenAIChat{}, wire.Target{BaseURL: "/openai/v1", Auth: wire.AuthAPIKey}, true},
	}
}

// TestServer checks what ours makes of answers that CopilotKit's mock server
// sends on each wire, against what its fixtures say.
func TestServer(t *testing.T) {
	need(t, "@copilotkit/aimock")
	host := startServer(t)
	tests := []struct {
		prompt string
		text   string // "" is a failure
		kind   wire.ErrorKind
		output int64 // tokens
	}{
		{"Write.", "Grüße aus Köln: 你好, and a last word.", wire.KindNone, 222},
		{"Think first.", "Then the answer.", wire.KindNone, 17},
		{"Stop short.", "", wire.KindNetwork, 0},
		{"Too often.", "", wire.KindRateLimit, 0},
		{"Break.", "", wire.KindServer, 0},
	}
	for _, e := range endpoints() {
		for _, tt := range tests {
			t.Run(e.name+"/"+tt.prompt, func(t *testing.T) {
				target := e.target
				target.BaseURL, target.Model, target.Key = host+target.BaseURL, "mock", "none"
				run := bench.Run{
					Pair: bench.Pair{Provider: "mock", Model: "mock"}, Protocol: e.protocol, Target: target,
					Prompt: wire.Prompt{Text: tt.prompt, MaxOutputTokens: 300},
				}
				var text strings.Builder
				s := new(bench.Meter).Measure(t.Context(), run, bench.Observer{Event: func(_ bench.Arrival, ev wire.Event) { text.Write(ev.Visible) }})
				if s.Kind != tt.kind {
					t.Fatalf("%v %s, status %d, after %q; want %v", s.Kind, s.Detail, s.HTTPStatus, text.String(), tt.kind)
				}
				if tt.kind != wire.KindNone {
					return
				}
				if text.String() != tt.text {
					t.Errorf("read %q; want %q", text.String(), tt.text)
				}
				if e.counted && (s.Usage.Estimated || s.Usage.Output.N != tt.output) {
					t.Errorf("%d output tokens, estimated: %v; want %d", s.Usage.Output.N, s.Usage.Estimated, tt.output)
				}
			})
		}
	}
}

// startServer starts the mock server and returns its address, http://host:port.
func startServer(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	cmd := exec.CommandContext(t.Context(), "node", "node_modules/@copilotkit/aimock/dist/cli.js",
		"-h", "127.0.0.1", "-p", fmt.Sprint(port), "-f", "fixtures.json", "--log-level", "warn")
	cmd.Stdout, cmd.Stderr = os.Stderr, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	host := fmt.Sprintf("http://127.0.0.1:%d", port)
	for deadline := time.Now().Add(time.Minute); ; {
		resp, err := http.Get(host)
		if err == nil {
			resp.Body.Close()
			return host
		}
		if time.Now().After(deadline) {
			t.Fatalf("the mock server does not answer: %v", err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
