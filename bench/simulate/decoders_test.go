package simulate_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// TestProjectDecoders sends each protocol's own request to each model and asks
// its decoder for the verdict: the kind must be the one the model is said to
// fail with, the counts those of the shape. Kinds that only whoever holds the
// connection can tell (network, timeout) are seen here as a read error.
func TestProjectDecoders(t *testing.T) {
	const limit = 300
	s, err := simulate.New(simulate.Options{Speed: 100})
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(s)
	defer ts.Close()
	base := map[string]string{"gemini": ts.URL + "/v1beta", "ollama": ts.URL}
	for _, name := range wire.Names() {
		protocol, ok := wire.ByName(name)
		if !ok {
			t.Fatalf("no protocol %q", name)
		}
		target := wire.Target{BaseURL: ts.URL + "/v1", Key: "any"}
		if b, ok := base[name]; ok {
			target.BaseURL = b
		}
		for _, m := range simulate.Models() {
			if m.Fails() == "timeout" || m.Fails() != "" && !m.AlwaysFails() {
				continue
			}
			target.Model = m.Name
			req, err := protocol.Request(t.Context(), target, wire.Prompt{Text: "Explain HTTP request routing.", MaxOutputTokens: limit})
			if err != nil {
				t.Fatal(err)
			}
			resp, err := ts.Client().Do(req)
			if err != nil {
				if m.Fails() != "network" {
					t.Errorf("%s, %s: %v", name, m.Name, err)
				}
				continue
			}
			if resp.StatusCode != http.StatusOK {
				body, _ := io.ReadAll(resp.Body)
				if got := wire.Classify(resp.StatusCode, resp.Header, body).Kind.String(); got != m.Fails() {
					t.Errorf("%s, %s: status %d is %q, want %q", name, m.Name, resp.StatusCode, got, m.Fails())
				}
				resp.Body.Close()
				continue
			}
			var reply wire.Reply
			var end error
			var text strings.Builder
			for ev, err := range protocol.Decode(resp.Body) {
				if err != nil {
					end = err
					break
				}
				text.Write(ev.Visible)
				reply.Add(ev)
			}
			resp.Body.Close()
			if got := reply.Verdict(end).Kind.String(); got != m.Fails() {
				t.Errorf("%s, %s: verdict %+v (%v), want %q", name, m.Name, reply.Verdict(end), end, m.Fails())
			}
			if m.Fails() != "" {
				continue
			}
			line := m.Shape.Timeline(limit, nil)
			if reply.ReasoningEvents != line.Reasoning {
				t.Errorf("%s, %s: %d reasoning events, want %d", name, m.Name, reply.ReasoningEvents, line.Reasoning)
			}
			tokens := reply.Tokens()
			want := wire.Known(int64(line.Output()))
			if m.Shape.NoUsage {
				want = wire.Count{}
			}
			if tokens.Output != want {
				t.Errorf("%s, %s: %+v output tokens, want %+v", name, m.Name, tokens.Output, want)
			}
			if hides := name == "ollama" && line.Output() != line.Visible; want.Known && !hides && tokens.Visible != wire.Known(int64(line.Visible)) {
				t.Errorf("%s, %s: %+v visible tokens, want %d", name, m.Name, tokens.Visible, line.Visible)
			}
			if text.Len() == 0 || strings.HasPrefix(text.String(), " ") {
				t.Errorf("%s, %s: the text is %.20q", name, m.Name, text.String())
			}
		}
	}
}
