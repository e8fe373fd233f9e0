// Package independent holds this project's reading and writing of the wires
// against software of others, which knows nothing of it: the simulated
// provider's streams are read with OpenAI's own JavaScript library, and the
// decoders read what a mock server of CopilotKit's sends.
//
// The tests need Node.js and the packages: npm ci --prefix bench/independent.
package independent

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// told is what ask.mjs prints.
type told struct {
	Text      string
	Finish    string
	Output    int64 // tokens
	Reasoning int64 // tokens
	Events    int
	Error     string // the library's name of it
	Status    int
}

// ask has the library ask once.
func ask(t *testing.T, api, base, model string) told {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", "ask.mjs", api, base+"/v1", model, strconv.Itoa(bench.MaxOutputTokens))
	cmd.Stderr = os.Stderr
	line, err := cmd.Output()
	if err != nil {
		t.Fatalf("node ask.mjs %s %s: %v", api, model, err)
	}
	var out told
	if err := json.Unmarshal(line, &out); err != nil {
		t.Fatalf("node ask.mjs %s %s printed %.200q: %v", api, model, line, err)
	}
	return out
}

// need skips the test where a package cannot be run.
func need(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath("node"); err != nil {
		t.Skip("Node.js is not installed")
	}
	if _, err := os.Stat(filepath.Join("node_modules", name, "package.json")); err != nil {
		t.Skipf("%s is not installed: npm ci --prefix bench/independent", name)
	}
}

// apis are the wires of ours that the library speaks too.
var apis = map[string]wire.Protocol{"chat": wire.OpenAIChat{}, "responses": wire.OpenAIResponses{}}

// TestSameAnswer checks text, usage and finish reason.
func TestSameAnswer(t *testing.T) {
	need(t, "openai")
	const ms = time.Millisecond
	models := []simulate.Model{
		{Name: "tokens", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, Tokens: 60}},
		{Name: "chunks", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, PerChunk: 4, Tokens: 60}},
		{Name: "cut", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: 2 * ms, Tokens: 40, Split: simulate.SplitRune}},
		{Name: "burst", Shape: simulate.Shape{Prefill: 5 * ms, Tokens: 80, Bursts: 1}},
		{Name: "thinks", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, Tokens: 30, HiddenTokens: 20, Cached: 3}},
		{Name: "aloud", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, Tokens: 30, ReasoningTokens: 20}},
		{Name: "capped", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, Tokens: 900}},
	}
	for api, protocol := range apis {
		for _, m := range models {
			t.Run(api+"/"+m.Name, func(t *testing.T) {
				theirs := ask(t, api, serve(t, models), m.Name)
				if theirs.Error != "" || theirs.Text == "" {
					t.Fatalf("the library read %d characters and ended with %q, status %d", len(theirs.Text), theirs.Error, theirs.Status)
				}
				base := serve(t, models) // a fresh provider gives the first request the same answer
				var text strings.Builder
				run := runOf(base, m.Name, protocol)
				s := new(bench.Meter).Measure(t.Context(), run, bench.Observer{Event: func(_ bench.Arrival, ev wire.Event) { text.Write(ev.Visible) }})
				if !s.OK() {
					t.Fatalf("ours failed: %v %s", s.Kind, s.Detail)
				}
				if got := text.String(); got != theirs.Text {
					t.Errorf("we read %q; the library %q", got, theirs.Text)
				}
				if got := s.Usage.Output.N; got != theirs.Output {
					t.Errorf("we count %d output tokens; the library %d", got, theirs.Output)
				}
				if got := s.Usage.Reasoning.N; got != theirs.Reasoning {
					t.Errorf("we count %d reasoning tokens; the library %d", got, theirs.Reasoning)
				}
				if got := s.Finish; got != theirs.Finish {
					t.Errorf("we read finish reason %q; the library %q", got, theirs.Finish)
				}
			})
		}
	}
}

// TestSameFailures checks that what we call a failure is one to the library
// too, but for answers that only end too soon, which it takes for whole.
func TestSameFailures(t *testing.T) {
	need(t, "openai")
	tests := map[string]int{ // model: status that the library reports, 0 for an error without one, -1 for no error
		"fails-auth": 401, "fails-rate-limit": 429, "fails-server": 500, "fails-overloaded": 503,
		"fails-reset-mid": 0, "fails-in-band": 0, "fails-truncated": -1, "fails-empty": -1, "fails-no-text": -1,
	}
	for model, status := range tests {
		t.Run(model, func(t *testing.T) {
			base := serve(t, simulate.Models())
			theirs := ask(t, "chat", base, model)
			if got := theirs.Error != ""; got != (status >= 0) || status > 0 && theirs.Status != status {
				t.Errorf("the library ended with %q, status %d; want %d", theirs.Error, theirs.Status, status)
			}
			s := new(bench.Meter).Measure(t.Context(), runOf(base, model, wire.OpenAIChat{}), bench.Observer{})
			if s.OK() || status > 0 && s.HTTPStatus != status {
				t.Errorf("ours ended with %v %s, status %d", s.Kind, s.Detail, s.HTTPStatus)
			}
		})
	}
}

func runOf(base, model string, p wire.Protocol) bench.Run {
	return bench.Run{
		Pair: bench.Pair{Provider: "simulated", Model: model}, Protocol: p,
		Target: wire.Target{BaseURL: base + "/v1", Model: model}, Prompt: bench.Prompt(""),
	}
}

func serve(t *testing.T, models []simulate.Model) string {
	t.Helper()
	provider, err := simulate.New(simulate.Options{Models: models, Speed: 4})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	return server.URL
}
