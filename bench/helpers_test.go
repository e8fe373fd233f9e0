package bench

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// serve starts a loopback server that dies with the test.
func serve(t testing.TB, h http.Handler) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// chatRun is a run of the openai_chat protocol against a server.
func chatRun(url string) Run {
	return Run{
		Pair:     Pair{Provider: "test", Model: "m"},
		Protocol: wire.OpenAIChat{},
		Target:   wire.Target{BaseURL: url + "/v1", Model: "m", Key: "sk-secret-key"},
		Prompt:   Prompt(""),
	}
}

// measure measures one run.
func measure(t testing.TB, m *Meter, r Run) Sample {
	t.Helper()
	return m.Measure(context.Background(), r, Observer{})
}
