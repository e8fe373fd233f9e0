package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// A flood is an answer that is sent as fast as the socket takes it, so that the
// reader's capacity is what limits it. Its frames are laid out beforehand.
type flood struct {
	protocol wire.Protocol
	base     string // of the target's address
	path     string
	content  string
	event    string // one event, with one word of text
	events   int
	end      string
}

// floodBatch is how many events go into one write.
const floodBatch = 8

// floodWord is the text of an event of a flood.
const floodWord = " word"

// floods returns the floods: chat events of the size that OpenAI sends, and as
// many of Ollama's lines as half a million, which its format is short enough
// for under [wire.MaxBody].
func floods() []flood {
	const (
		chats = 240_000
		lines = 500_000
	)
	return []flood{
		{
			protocol: wire.OpenAIChat{}, base: "/flood/v1", path: "/flood/v1/chat/completions", content: "text/event-stream", events: chats,
			event: `data: {"id":"chatcmpl-CFkR2v4Vn0mJq8sXw1y3Zb5T7aUe9","object":"chat.completion.chunk","created":1760000000,"model":"flood","service_tier":"default",` +
				`"system_fingerprint":null,"choices":[{"index":0,"delta":{"content":"` + floodWord + `"},"logprobs":null,"finish_reason":null}]}` + "\n\n",
			end: `data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\n" +
				fmt.Sprintf(`data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":%d,"total_tokens":%d}}`, chats, chats+9) + "\n\ndata: [DONE]\n\n",
		},
		{
			protocol: wire.Ollama{}, base: "/flood", path: "/flood/api/chat", content: "application/x-ndjson", events: lines,
			event: `{"model":"flood","created_at":"2026-01-02T03:04:05.678901234Z","message":{"role":"assistant","content":"` + floodWord + `"},"done":false}` + "\n",
			end: `{"model":"flood","created_at":"2026-01-02T03:04:05.678901234Z","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",` +
				fmt.Sprintf(`"prompt_eval_count":9,"eval_count":%d}`, lines) + "\n",
		},
	}
}

// ServeHTTP sends the flood.
func (f flood) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 1<<20))
	w.Header().Set("Content-Type", f.content)
	batch := bytes.Repeat([]byte(f.event), floodBatch)
	rc := http.NewResponseController(w)
	for range f.events / floodBatch {
		if _, err := w.Write(batch); err != nil {
			return // the client left
		}
		if rc.Flush() != nil {
			return
		}
	}
	_, _ = io.WriteString(w, f.end)
}
