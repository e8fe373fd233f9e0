package wire

import (
	"bytes"
	"testing"
	"testing/iotest"
)

// fuzzDecoder checks of any body: no panic; the same events however it is cut;
// events in order, with offsets that never go back and stay within the body; no
// more characters than bytes; a verdict that fits.
func fuzzDecoder(f *testing.F, p Protocol) {
	seeds := 0
	for _, rec := range recordings(f) {
		if rec.protocol != p.Name() {
			continue
		}
		seeds++
		f.Add(rec.body[:min(len(rec.body), 2<<10)], uint16(len(rec.body)/2))
		f.Add(rec.body[max(0, len(rec.body)-1<<10):], uint16(100))
	}
	if seeds == 0 {
		f.Fatal("no recording to start from")
	}
	for _, s := range []string{
		"data: [DONE]\n\n", ": x\r\rdata: {}\r\n\r\n", "{\"error\":\n{\"code\":429}}\n", "error: x\n", "<html>", "\ufeff{}\n[1]\n",
		"event: error\ndata: x\n\n", "data: {\"choices\":[{\"delta\":{\"content\":\"\\ud83d\"}}]}\n\n", "{\"message\":{\"content\":\"a\"}}\n{\"done\":true}\n",
	} {
		f.Add([]byte(s), uint16(3))
	}
	f.Fuzz(func(t *testing.T, body []byte, cut uint16) {
		want := transcript(p, bytes.NewReader(body))
		diff(t, "byte by byte", transcript(p, iotest.OneByteReader(bytes.NewReader(body))), want)
		if len(body) > 0 {
			diff(t, "cut", transcript(p, &pieces{body: body, cuts: []int{int(cut) % len(body)}}), want)
		}

		index, end := 0, int64(0)
		for _, ev := range want {
			if ev.err != "" {
				continue
			}
			if ev.index >= 0 {
				if ev.index != index {
					t.Fatalf("event %d after %d", ev.index, index-1)
				}
				index++
			}
			if ev.end < end || ev.end > int64(len(body)) {
				t.Fatalf("offset %d after %d in a body of %d", ev.end, end, len(body))
			}
			end = ev.end
		}

		r, err := read(p, bytes.NewReader(body))
		if n := r.Visible.Chars + r.Reasoning.Chars; n > int64(len(body)) {
			t.Fatalf("%d characters from %d bytes", n, len(body))
		}
		v := r.Verdict(err)
		if v.OK() && (!r.Complete() || r.VisibleEvents == 0 || err != nil) || !v.OK() && v.Detail == "" {
			t.Fatalf("verdict %+v on %+v, error %v", v, r, err)
		}
		if n := r.Tokens(); n.Visible.N < 0 || n.Visible.N > n.Output.N || n.Cached.N > n.Input.N && n.Input.Known {
			t.Fatalf("tokens %+v of %+v", n, r.Usage)
		}
	})
}

func FuzzOpenAIChat(f *testing.F)      { fuzzDecoder(f, OpenAIChat{}) }
func FuzzOpenAIResponses(f *testing.F) { fuzzDecoder(f, OpenAIResponses{}) }
func FuzzAnthropic(f *testing.F)       { fuzzDecoder(f, Anthropic{}) }
func FuzzGemini(f *testing.F)          { fuzzDecoder(f, Gemini{}) }
func FuzzOllama(f *testing.F)          { fuzzDecoder(f, Ollama{}) }

// FuzzFraming checks both framers with small limits: the same frames however
// the body is cut, no frame over the limit, a buffer that stays bounded.
func FuzzFraming(f *testing.F) {
	for _, s := range []string{
		"data: a\r\ndata: b\r\n\r\n: c\r\rerror: d\n{\n\"e\":1}\ndata:f", "\r\r\n\n\r", "{\"a\":\n1}\r\n[2]\n", "data: 0123456789012345678901234567890123456789\n\n",
	} {
		f.Add([]byte(s), uint16(5))
	}
	f.Fuzz(func(t *testing.T, body []byte, cut uint16) {
		const maxLine, maxBody = 32, 256
		at := 0
		if len(body) > 0 {
			at = int(cut) % len(body)
		}
		for _, ndjson := range []bool{false, true} {
			open := func(split bool) (framer, *lines) {
				var r = bytes.NewReader(body)
				var l *lines
				var fr framer
				if ndjson {
					n := newNDJSON(r)
					fr, l = n, &n.lines
				} else {
					s := newSSE(r)
					fr, l = s, &s.lines
				}
				if split {
					l.r = &pieces{body: body, cuts: []int{at}}
				}
				l.maxLine, l.maxBody = maxLine, maxBody
				return fr, l
			}
			whole, l := open(false)
			want := frames(whole)
			if cap(l.buf) > 2*firstBuffer {
				t.Fatalf("buffer of %d bytes", cap(l.buf))
			}
			split, _ := open(true)
			diff(t, "cut", frames(split), want)
			bytewise, l := open(false)
			l.r = iotest.OneByteReader(bytes.NewReader(body))
			diff(t, "byte by byte", frames(bytewise), want)
		}
	})
}

// FuzzClassify checks of any status and body: no panic, one of the seven kinds,
// a detail, and a delay within reason.
func FuzzClassify(f *testing.F) {
	for _, rec := range recordings(f) {
		if rec.status != 200 {
			f.Add(rec.status, "7", string(rec.body))
		}
	}
	f.Add(429, "Sun, 06 Nov 1994 08:49:37 GMT", `{"error":{"resets_in_seconds":1e18}}`)
	f.Add(200, "1h2m", "<html>")
	f.Fuzz(func(t *testing.T, status int, retryAfter, body string) {
		got := Classify(status, h("Retry-After", retryAfter, "X-Ratelimit-Reset-Tokens", retryAfter), []byte(body))
		if got.Kind < KindAuth || got.Kind > KindMalformed || got.Detail == "" {
			t.Fatalf("%+v", got)
		}
		if got.Retry.DelayMS < 0 || got.Retry.DelayMS > maxDelayMS || got.Retry.DelayMS != 0 && got.Retry.AtUnixMS != 0 {
			t.Fatalf("%+v", got.Retry)
		}
	})
}
