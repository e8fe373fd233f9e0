package peers

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
)

const ms = time.Millisecond

// A script is an answer as the simulated provider writes it, with exact instants.
type script struct {
	line   simulate.Timeline
	writes []written
	step   wallStep // someone sets the wall clock
}

type written struct {
	at    time.Duration
	bytes []byte
}

type wallStep struct{ at, by time.Duration }

// scriptOf has the simulated provider answer in virtual time.
func scriptOf(t *testing.T, shape simulate.Shape) script {
	t.Helper()
	s := script{line: shape.Timeline(0, nil)}
	synctest.Test(t, func(t *testing.T) {
		provider, err := simulate.New(simulate.Options{Models: []simulate.Model{{Name: "m", Shape: shape}}})
		if err != nil {
			t.Fatal(err)
		}
		req, err := wire.OpenAIChat{}.Request(context.Background(), wire.Target{BaseURL: "http://sim.invalid/v1", Model: "m"}, wire.Prompt{Text: "Write.", MaxOutputTokens: 1 << 20})
		if err != nil {
			t.Fatal(err)
		}
		provider.ServeHTTP(&scriptWriter{start: time.Now(), script: &s}, req)
	})
	if len(s.writes) == 0 {
		t.Fatal("the provider wrote nothing")
	}
	return s
}

// A scriptWriter notes what is written and when.
type scriptWriter struct {
	start  time.Time
	header http.Header
	script *script
}

func (w *scriptWriter) Header() http.Header {
	if w.header == nil {
		w.header = make(http.Header)
	}
	return w.header
}

func (*scriptWriter) WriteHeader(int) {}

func (*scriptWriter) Flush() {}

func (w *scriptWriter) Write(p []byte) (int, error) {
	w.script.writes = append(w.script.writes, written{time.Since(w.start), bytes.Clone(p)})
	return len(p), nil
}

// read has a policy read the script on a machine that takes no time.
func (s script) read(p Policy) Outcome {
	r := &scriptReader{left: s.writes}
	return p.Read(r, func() time.Duration {
		if p.Wall && r.now >= s.step.at {
			return r.now + s.step.by
		}
		return r.now
	})
}

// A scriptReader hands out a script, one write a read, and moves the time on.
type scriptReader struct {
	left []written
	rest []byte
	now  time.Duration
}

func (r *scriptReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		if len(r.left) == 0 {
			return 0, io.EOF
		}
		r.now, r.rest, r.left = r.left[0].at, r.left[0].bytes, r.left[1:]
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// sample is our own sample of the script. The monotonic clock is not set with
// the wall clock, which enters no duration; the clock's own tests show that.
func (s script) sample(t *testing.T) bench.Sample {
	t.Helper()
	rec := bench.Recording{
		Format: bench.RecordingFormat, Pair: bench.Pair{Provider: "simulated", Model: "m"},
		HTTPStatus: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, HeadRead: 1,
	}
	for _, w := range s.writes {
		rec.Body = append(rec.Body, w.bytes...)
		rec.EOF = max(1, w.at) // 0 would be what did not happen
		rec.Reads = append(rec.Reads, bench.Read{End: int64(len(rec.Body)), User: rec.EOF})
	}
	sample, err := bench.Replay(rec, wire.OpenAIChat{})
	if err != nil {
		t.Fatal(err)
	}
	if !sample.OK() {
		t.Fatalf("%v %s", sample.Kind, sample.Detail)
	}
	return sample
}
