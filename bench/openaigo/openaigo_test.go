// Package openaigo measures the streams that ours is held to through OpenAI's
// own Go library, which knows nothing of this project.
package openaigo

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/option"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/peers"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
)

func TestMain(m *testing.M) {
	served, err := peers.ServeIfAsked()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case !served:
		os.Exit(m.Run())
	}
}

// ask starts a stream as the library's documentation does, but without retries.
func ask(ctx context.Context, base, model string, tokens int) (*openai.ChatCompletionAccumulator, func(each func(openai.ChatCompletionChunk)) error) {
	client := openai.NewClient(option.WithBaseURL(base+"/v1"), option.WithAPIKey("none"), option.WithMaxRetries(0))
	stream := client.Chat.Completions.NewStreaming(ctx, openai.ChatCompletionNewParams{
		Model:               model,
		Messages:            []openai.ChatCompletionMessageParamUnion{openai.UserMessage("Write.")},
		MaxCompletionTokens: openai.Int(int64(tokens)),
		StreamOptions:       openai.ChatCompletionStreamOptionsParam{IncludeUsage: openai.Bool(true)},
	})
	var all openai.ChatCompletionAccumulator
	return &all, func(each func(openai.ChatCompletionChunk)) error {
		defer stream.Close()
		for stream.Next() {
			chunk := stream.Current()
			each(chunk)
			all.AddChunk(chunk)
		}
		return stream.Err()
	}
}

// client is the library with a stopwatch around its iterator.
func client() peers.Client {
	return peers.Client{Name: "openai-go", Stream: func(ctx context.Context, base, model string, tokens int, now func() time.Duration) (peers.Outcome, time.Duration, error) {
		var out peers.Outcome
		var last time.Duration
		dispatch := now()
		all, each := ask(ctx, base, model, tokens)
		err := each(func(chunk openai.ChatCompletionChunk) {
			if len(chunk.Choices) == 0 || chunk.Choices[0].Delta.Content == "" {
				return
			}
			last = now() - dispatch
			if !out.Began {
				out.Began, out.TTFT = true, last
			}
			// The library does not say where in the body a chunk ended.
			out.Stamps = append(out.Stamps, peers.Stamp{Ordinal: len(out.Stamps) + 1, At: last})
		})
		if n := all.Usage.CompletionTokens; n > 1 && last > out.TTFT {
			out.TPS = float64(n-1) / (last - out.TTFT).Seconds()
		}
		return out, dispatch, err
	}}
}

// BenchmarkPeers measures the same streams through the library and ours.
func BenchmarkPeers(b *testing.B) {
	lab, err := peers.OpenLab(b.Context())
	if err != nil {
		b.Skip(err)
	}
	defer lab.Close()
	clients := []peers.Client{peers.Ours(peers.OursKernel), peers.Ours(peers.OursUser), client()}
	for _, model := range []string{peers.WideGaps, peers.NarrowGaps, peers.Flood} {
		b.Run(model, func(b *testing.B) { peers.Bench(b, lab, clients, model) })
	}
}

// TestSameAnswer checks that an independent reader makes of the simulated
// provider's answers what ours makes of them: text, usage, finish reason.
func TestSameAnswer(t *testing.T) {
	const ms = time.Millisecond
	models := []simulate.Model{
		{Name: "tokens", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, Tokens: 60}},
		{Name: "chunks", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, PerChunk: 4, Tokens: 60}},
		{Name: "cut", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: 2 * ms, Tokens: 40, Split: simulate.SplitRune}},
		{Name: "burst", Shape: simulate.Shape{Prefill: 5 * ms, Tokens: 80, Bursts: 1}},
		{Name: "thinks", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, Tokens: 30, HiddenTokens: 20, Cached: 3}},
		{Name: "aloud", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, Tokens: 30, ReasoningTokens: 20}},
		{Name: "capped", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, Tokens: 900}},
		{Name: "uncounted", Shape: simulate.Shape{Prefill: 5 * ms, PerToken: ms, Tokens: 30, NoUsage: true}},
	}
	for _, m := range models {
		t.Run(m.Name, func(t *testing.T) {
			base := serve(t, models)
			theirs, each := ask(t.Context(), base, m.Name, bench.MaxOutputTokens)
			if err := each(func(openai.ChatCompletionChunk) {}); err != nil {
				t.Fatal(err)
			}
			base = serve(t, models) // a fresh provider gives the first request the same answer
			var text strings.Builder
			run := bench.Run{
				Pair: bench.Pair{Provider: "simulated", Model: m.Name}, Protocol: wire.OpenAIChat{},
				Target: wire.Target{BaseURL: base + "/v1", Model: m.Name}, Prompt: bench.Prompt(""),
			}
			s := new(bench.Meter).Measure(t.Context(), run, bench.Observer{Event: func(_ bench.Arrival, ev wire.Event) { text.Write(ev.Visible) }})
			if !s.OK() {
				t.Fatalf("ours failed: %v %s", s.Kind, s.Detail)
			}
			if got, want := text.String(), theirs.Choices[0].Message.Content; got != want || want == "" {
				t.Errorf("we read %q; openai-go %q", got, want)
			}
			if got, want := s.Usage.Output.N, theirs.Usage.CompletionTokens; s.Usage.Estimated != m.Shape.NoUsage || got != want && !m.Shape.NoUsage {
				t.Errorf("we count %d output tokens; openai-go %d", got, want)
			}
			if got, want := s.Usage.Reasoning.N, theirs.Usage.CompletionTokensDetails.ReasoningTokens; got != want {
				t.Errorf("we count %d reasoning tokens; openai-go %d", got, want)
			}
			if got, want := s.Finish, theirs.Choices[0].FinishReason; got != want {
				t.Errorf("we read finish reason %q; openai-go %q", got, want)
			}
		})
	}
}

// TestSameFailures checks that what we call a failure is one to openai-go too,
// but for answers that only end too soon, which it takes for whole.
func TestSameFailures(t *testing.T) {
	tests := map[string]bool{ // model: whether openai-go notices
		"fails-auth": true, "fails-quota": true, "fails-rate-limit": true, "fails-server": true, "fails-overloaded": true,
		"fails-reset-mid": true, "fails-in-band": true, "fails-truncated": false, "fails-empty": false, "fails-no-text": false,
	}
	for model, notices := range tests {
		t.Run(model, func(t *testing.T) {
			base := serve(t, simulate.Models())
			_, each := ask(t.Context(), base, model, bench.MaxOutputTokens)
			err := each(func(openai.ChatCompletionChunk) {})
			if (err != nil) != notices {
				t.Errorf("openai-go: %v; want an error: %v", err, notices)
			}
			if apiErr := new(openai.Error); errors.As(err, &apiErr) && apiErr.StatusCode/100 == 2 {
				t.Errorf("openai-go reports status %d", apiErr.StatusCode)
			}
			s := new(bench.Meter).Measure(t.Context(), bench.Run{
				Pair: bench.Pair{Provider: "simulated", Model: model}, Protocol: wire.OpenAIChat{},
				Target: wire.Target{BaseURL: base + "/v1", Model: model}, Prompt: bench.Prompt(""),
			}, bench.Observer{})
			if s.OK() {
				t.Error("ours succeeded")
			}
		})
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
