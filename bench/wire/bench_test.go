package wire

import (
	"bytes"
	"io"
	"testing"
)

// benchBodies are recordings of the common shapes, repeated to about a megabyte
// so that the set-up of a body does not count.
func benchBodies(b *testing.B) map[string]recording {
	want := map[string]string{
		"chat":      "openai_chat/openai-gpt-4o-json-object.sse",
		"reasoning": "openai_chat/openrouter-kimi-k2.5-reasoning.sse",
		"responses": "openai_responses/lmstudio-basic.sse",
		"anthropic": "anthropic/anthropic-sonnet-4-thinking-long.sse",
		"gemini":    "gemini/gemini-3-flash-thinking.sse",
		"ollama":    "ollama/ollama-llama3-chat.ndjson",
	}
	out := map[string]recording{}
	for _, rec := range recordings(b) {
		for name, file := range want {
			if rec.file == file {
				rec.body = bytes.Repeat(append(rec.body, '\n'), 1<<20/len(rec.body)+1)
				out[name] = rec
			}
		}
	}
	if len(out) != len(want) {
		b.Fatalf("found %d of %d recordings", len(out), len(want))
	}
	return out
}

func reportEvents(b *testing.B, events int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(events), "ns/event")
	b.ReportMetric(float64(events)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkFrame cuts bodies into frames.
func BenchmarkFrame(b *testing.B) {
	for name, rec := range benchBodies(b) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(rec.body)))
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				var f framer = newSSE(bytes.NewReader(rec.body))
				if rec.protocol == "ollama" {
					f = newNDJSON(bytes.NewReader(rec.body))
				}
				for {
					if _, err := f.next(); err == io.EOF {
						break
					} else if err != nil {
						b.Fatal(err)
					}
					events++
				}
			}
			reportEvents(b, events)
		})
	}
}

// BenchmarkDecode cuts bodies into frames, reads them and folds them into a
// Reply: all that a measured stream costs here.
func BenchmarkDecode(b *testing.B) {
	for name, rec := range benchBodies(b) {
		b.Run(name, func(b *testing.B) {
			p, _ := ByName(rec.protocol)
			b.SetBytes(int64(len(rec.body)))
			b.ReportAllocs()
			events := 0
			for b.Loop() {
				r, err := read(p, bytes.NewReader(rec.body))
				if err != nil {
					b.Fatal(err)
				}
				events += r.DataEvents
			}
			reportEvents(b, events)
		})
	}
}

// TestSteadyState checks that an event costs no allocation once a body is under
// way: a body ten times as long allocates no more.
func TestSteadyState(t *testing.T) {
	for _, rec := range recordings(t) {
		switch rec.file {
		case "openai_chat/openai-gpt-4o-json-object.sse", "openai_responses/lmstudio-basic.sse",
			"anthropic/anthropic-sonnet-4-thinking-long.sse", "gemini/gemini-3-flash-thinking.sse",
			"ollama/ollama-llama3-chat.ndjson":
		default:
			continue
		}
		p := protocolOf(t, rec.protocol)
		allocs := func(times int) float64 {
			body := bytes.Repeat(append(rec.body, '\n'), times)
			return testing.AllocsPerRun(5, func() { read(p, bytes.NewReader(body)) })
		}
		// Per repetition the last events may cost a little: a finish reason
		// built of two parts.
		few, many := allocs(2), allocs(22)
		if perBody := (many - few) / 20; perBody > 4 {
			t.Errorf("%s: %v allocations each time it is repeated", rec.file, perBody)
		}
	}
}
