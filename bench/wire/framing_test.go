package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// frames renders what a framer yields: kind, data, end, and the error unless it
// is io.EOF.
func frames(f framer) []string {
	var out []string
	for {
		fr, err := f.next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			return append(out, err.Error())
		}
		kind := [...]string{"data", "comment", "error", "body", "bare"}[fr.kind]
		s := fmt.Sprintf("%s %q %d", kind, fr.data, fr.end)
		if len(fr.name) > 0 {
			s += " " + string(fr.name)
		}
		out = append(out, s)
	}
}

type framingTest struct {
	name string
	body string
	want []string
}

// checkFraming runs the rows, whole and cut at every byte.
func checkFraming(t *testing.T, tests []framingTest, open func(io.Reader) framer) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			diff(t, "whole", frames(open(strings.NewReader(tt.body))), tt.want)
			diff(t, "byte by byte", frames(open(iotest.OneByteReader(strings.NewReader(tt.body)))), tt.want)
			for cut := 1; cut < len(tt.body); cut++ {
				got := frames(open(&pieces{body: []byte(tt.body), cuts: []int{cut}}))
				diff(t, fmt.Sprintf("cut at %d", cut), got, tt.want)
			}
		})
	}
}

func TestSSE(t *testing.T) {
	checkFraming(t, []framingTest{
		{"two events", "data: a\n\ndata: b\n\n", []string{`data "a" 8`, `data "b" 17`}},
		{"CRLF: the end is past the LF", "data: a\r\n\r\ndata: b\r\n\r\n", []string{`data "a" 9`, `data "b" 20`}},
		{"lone CR", "data: a\r\rdata: b\r\r", []string{`data "a" 8`, `data "b" 17`}},
		{"mixed line ends", "data: a\r\n\ndata: b\n\r\ndata: c\r\r\n", []string{`data "a" 9`, `data "b" 18`, `data "c" 28`}},
		{"CR at the very end", "data: a\r", []string{`data "a" 8`}},
		{"no blank line at EOF", "data: a\n", []string{`data "a" 8`}},
		{"no line end at EOF", "data: a", []string{`data "a" 7`}},
		{"several blank lines", "\n\n\r\ndata: a\n\n\n\n", []string{`data "a" 12`}},
		{"byte order mark", "\ufeffdata: a\n\n", []string{`data "a" 11`}},
		{"byte order mark before JSON", "\ufeff{\"error\":1}", []string{`body "{\"error\":1}" 14`}},
		{"one space goes, no more", "data:  a \n\n", []string{`data " a " 10`}},
		{"no space", "data:a\n\n", []string{`data "a" 7`}},
		{"a tab stays", "data:\ta\n\n", []string{`data "\ta" 8`}},
		{"several data lines", "data: a\ndata: b\ndata:\n\n", []string{`data "a\nb\n" 22`}},
		{"end is that of the last data line", "data: a\nid: 7\nretry: 1\n\n", []string{`data "a" 8`}},
		{"event name", "event: ping\ndata: a\n\ndata: b\n\n", []string{`data "a" 20 ping`, `data "b" 29`}},
		{"event name after data", "data: a\nevent: x\n\n", []string{`data "a" 8 x`}},
		{"event name without data is forgotten", "event: x\n\ndata: a\n\n", []string{`data "a" 18`}},
		{"comments", ": one\n\n:two\ndata: a\n\n:\n", []string{`comment "" 6`, `comment "" 12`, `data "a" 20`, `comment "" 23`}},
		{"comment within an event", "data: a\n: x\ndata: b\n\n", []string{`data "a\nb" 20`}},
		{"empty data is a keep-alive", "data:\n\ndata\n\ndata: a\n\n", []string{`comment "" 6`, `comment "" 12`, `data "a" 21`}},
		{"keep-alive in data", "data: : keepalive\n\n", []string{`data ": keepalive" 18`}},
		{"unknown fields", "data: a\nfoo: bar\nbaz\n\n", []string{`data "a" 8`}},
		{"error field", "data: a\n\nerror: {\"x\":1}\n\ndata: b\n\n", []string{`data "a" 8`, `error "{\"x\":1}" 24`, `data "b" 33`}},
		{"error field ends an event", "data: a\nerror: b\n\n", []string{`data "a" 8`, `error "b" 17`}},
		{"bare JSON between events", "data: a\n\n{\n \"error\": {\n\n }\n}\n\ndata: b\n\n",
			[]string{`data "a" 8`, `bare "{\n \"error\": {\n\n }\n}" 29`, `data "b" 38`}},
		{"bare JSON ends an event", "data: a\n{\"error\":1}\n", []string{`data "a" 8`, `bare "{\"error\":1}" 20`}},
		{"brackets in strings", "data: a\n\n{\"}\\\"]\": \"{\"\n}\n", []string{`data "a" 8`, `bare "{\"}\\\"]\": \"{\"\n}" 24`}},
		{"bare JSON cut by a field", "data: a\n\n{\"error\":\ndata: b\n\n", []string{`data "a" 8`, `data "b" 27`}},
		{"bare JSON cut by EOF", "data: a\n\n{\"error\":", []string{`data "a" 8`, `bare "{\"error\":" 18`}},
		{"JSON body", "  {\"error\":\n1}\n", []string{`body "{\"error\":\n1}" 15`}},
		{"JSON body after keep-alives", ": x\n\n{\"error\":1}\n", []string{`comment "" 4`, `body "{\"error\":1}" 17`}},
		{"array body", "[{\"error\":1}]", []string{`body "[{\"error\":1}]" 13`}},
		{"web page", "\n <!doctype html>\n<html>", []string{"malformed response body: html at byte 0"}},
		{"web page after an event", "data: a\n\n<html>\n", []string{`data "a" 8`}},
		{"text", "upstream connect error\nor so\n", []string{"malformed response body: foreign at byte 0"}},
		{"only known fields, no data", "id: 1\n\nretry: 5\n", nil},
		{"empty", "", nil},
		{"blank", "\r\n\r\n \n", nil},
		{"NUL and invalid UTF-8 stay", "data: \x00\xff\n\n", []string{`data "\x00\xff" 9`}},
	}, func(r io.Reader) framer { return newSSE(r) })
}

func TestNDJSON(t *testing.T) {
	checkFraming(t, []framingTest{
		{"lines", "{\"a\":1}\n{\"b\":2}\n", []string{`data "{\"a\":1}" 8`, `data "{\"b\":2}" 16`}},
		{"CRLF", "{\"a\":1}\r\n{\"b\":2}\r\n", []string{`data "{\"a\":1}" 9`, `data "{\"b\":2}" 18`}},
		{"blank lines", "\n{\"a\":1}\n \r\n\n{\"b\":2}\n", []string{`data "{\"a\":1}" 9`, `data "{\"b\":2}" 21`}},
		{"no line end at EOF", "{\"a\":1}\n{\"b\":2}", []string{`data "{\"a\":1}" 8`, `data "{\"b\":2}" 15`}},
		{"byte order mark", "\ufeff{\"a\":1}\n", []string{`data "{\"a\":1}" 11`}},
		{"spread over lines", "{\n \"error\": \"x\"\n}\n", []string{`data "{\n \"error\": \"x\"\n}" 18`}},
		{"cut line, then another", "{\"a\":\n{\"b\":2}\n", []string{`data "{\"a\":" 6`, `data "{\"b\":2}" 14`}},
		{"cut at EOF", "{\"a\":1}\n{\"b\":", []string{`data "{\"a\":1}" 8`, `data "{\"b\":" 13`}},
		{"text between", "{\"a\":1}\nping\n", []string{`data "{\"a\":1}" 8`, `data "ping" 13`}},
		{"web page", "<html>\n", []string{"malformed response body: html at byte 0"}},
		{"event stream", "data: {}\n\n", []string{"malformed response body: foreign at byte 0"}},
		{"empty", "", nil},
	}, func(r io.Reader) framer { return newNDJSON(r) })
}

// TestLimits checks that what is at a limit passes and what is one byte over it
// is oversize, however the reads split it.
func TestLimits(t *testing.T) {
	const limit = 100
	sseOf := func(r io.Reader) framer {
		s := newSSE(r)
		s.lines.maxLine, s.lines.maxBody = limit, 4*limit
		return s
	}
	ndjsonOf := func(r io.Reader) framer {
		n := newNDJSON(r)
		n.lines.maxLine, n.lines.maxBody = limit, 4*limit
		return n
	}
	x := func(n int) string { return strings.Repeat("x", n) }
	tests := []struct {
		name string
		open func(io.Reader) framer
		body string
		over bool
	}{
		{"line at the limit", sseOf, "data: " + x(limit-6) + "\n\n", false},
		{"line at the limit, CRLF", sseOf, "data: " + x(limit-6) + "\r\n\r\n", false},
		{"line at the limit, no end", sseOf, "data: " + x(limit-6), false},
		{"line over it", sseOf, "data: " + x(limit-5) + "\n\n", true},
		{"line over it, CRLF", sseOf, "data: " + x(limit-5) + "\r\n\r\n", true},
		{"line over it, no end", sseOf, "data: " + x(limit-5), true},
		{"event at the limit", sseOf, "data: " + x(49) + "\ndata: " + x(50) + "\n\n", false},
		{"event over it", sseOf, "data: " + x(50) + "\ndata: " + x(50) + "\n\n", true},
		{"bare JSON over it", sseOf, "{\n\"a\": \"" + x(50) + "\",\n\"b\": \"" + x(50) + "\"\n}", true},
		{"body at its limit", sseOf, strings.Repeat(": 345678\n\n", 40), false},
		{"body over it", sseOf, strings.Repeat(": 345678\n\n", 40) + "\n", true},
		{"NDJSON line at the limit", ndjsonOf, "{\"a\":\"" + x(limit-8) + "\"}\n", false},
		{"NDJSON line over it", ndjsonOf, "{\"a\":\"" + x(limit-7) + "\"}\n", true},
		{"NDJSON value over it", ndjsonOf, "{\"a\":\"" + x(60) + "\",\n\"b\":\"" + x(60) + "\"}\n", true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{
				strings.NewReader(tt.body),
				iotest.OneByteReader(strings.NewReader(tt.body)),
				iotest.HalfReader(strings.NewReader(tt.body)),
			} {
				got := frames(tt.open(r))
				over := len(got) > 0 && strings.Contains(got[len(got)-1], string(DetailOversize))
				if over != tt.over {
					t.Errorf("oversize = %v, want %v: %q", over, tt.over, got)
				}
			}
		})
	}
}

// endless yields its pattern for ever.
type endless struct {
	block []byte // the pattern, many times
	at    int
	read  int64
}

func newEndless(pattern string) *endless {
	return &endless{block: []byte(strings.Repeat(pattern, 1<<16/len(pattern)))}
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.block[e.at:])
	e.at = (e.at + n) % len(e.block)
	e.read += int64(n)
	return n, nil
}

// TestEndless checks that bodies without end cost bounded memory and reading.
func TestEndless(t *testing.T) {
	const maxLine, maxBody = 256 << 10, 4 << 20
	event := `{"choices":[{"delta":{"content":"x"}}]}`
	tests := []struct {
		name    string
		pattern string
	}{
		{"a line", "x"},
		{"a data line", "data: xxxxxxxxx"},
		{"data lines", "data: x\n"},
		{"tiny events", "data:1\n\n"},
		{"events", "data: " + event + "\n\n"},
		{"comments", ":\n"},
		{"carriage returns", "\r"},
		{"CRLF", "\r\n"},
		{"blank lines", "\n"},
		{"open brackets", "["},
		{"brackets on lines", "[\n"},
		{"names", "event: x\n"},
		{"NDJSON line", "{"},
		{"NDJSON lines", "{\"a\":[\n\"b\"\n"},
		{"NDJSON value without end", "[1,\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			body := newEndless(tt.pattern)
			sse, ndjson := newSSE(body), newNDJSON(body)
			sse.lines.maxLine, sse.lines.maxBody = maxLine, maxBody
			ndjson.lines.maxLine, ndjson.lines.maxBody = maxLine, maxBody
			events := stream(sse, new(chatDecoder), true)
			if strings.HasPrefix(tt.name, "NDJSON") {
				events = stream(ndjson, new(ollamaDecoder), false)
			}
			alloc, last := drain(events)
			var be *BodyError
			if !errors.As(last, &be) || be.Detail != DetailOversize || !errors.Is(last, ErrMalformed) {
				t.Errorf("error = %v, want oversize", last)
			}
			if body.read > maxBody+1 {
				t.Errorf("read %d bytes, the limit is %d", body.read, maxBody)
			}
			if alloc > 16*maxLine {
				t.Errorf("allocated %d KiB in total", alloc>>10)
			}
		})
	}
}

// TestEndlessLine checks the same of the true limits.
func TestEndlessLine(t *testing.T) {
	for _, p := range []Protocol{OpenAIChat{}, Ollama{}} {
		body := newEndless("{\"a\": 1, ")
		alloc, last := drain(p.Decode(body))
		if !errors.Is(last, ErrMalformed) || body.read > MaxFrame+MaxFrame || alloc > 12*MaxFrame {
			t.Errorf("%s: error %v after %d MiB read, %d MiB allocated", p.Name(), last, body.read>>20, alloc>>20)
		}
	}
}

// drain runs events to their end and returns what they allocated and their error.
func drain(events iter.Seq2[Event, error]) (alloc uint64, last error) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, err := range events {
		last = err
	}
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc, last
}

// TestLongEvent checks that one event of several megabytes comes out whole.
func TestLongEvent(t *testing.T) {
	text := strings.Repeat("long ", MaxFrame/5-100)
	body := `data: {"choices":[{"delta":{"content":"` + text + `"}}]}` + "\n\n"
	n := 0
	for ev, err := range (OpenAIChat{}).Decode(iotest.HalfReader(strings.NewReader(body))) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; !bytes.Equal(ev.Visible, []byte(text)) {
			t.Errorf("%d bytes of text, want %d", len(ev.Visible), len(text))
		}
	}
	if n != 1 {
		t.Errorf("%d events, want 1", n)
	}
}

// TestNoProgress checks that a reader which reads nothing does not hang us.
func TestNoProgress(t *testing.T) {
	_, err := read(OpenAIChat{}, readerFunc(func([]byte) (int, error) { return 0, nil }))
	if err != io.ErrNoProgress {
		t.Errorf("error = %v, want %v", err, io.ErrNoProgress)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }
