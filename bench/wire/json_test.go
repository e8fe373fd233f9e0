package wire

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// walk rebuilds the value at the cursor as encoding/json does.
func walk(c *cursor, depth int) any {
	switch c.peek() {
	case '{':
		c.enter('{')
		m := map[string]any{}
		for key, ok := c.key(); ok; key, ok = c.key() {
			name := replaceInvalid(key)
			m[name] = walk(c, depth+1)
		}
		return m
	case '[':
		c.enter('[')
		s := []any{}
		for c.elem() {
			s = append(s, walk(c, depth+1))
		}
		return s
	case '"':
		return replaceInvalid(c.appendString(nil))
	default:
		s := string(c.raw())
		switch s {
		case "true":
			return true
		case "false":
			return false
		case "null":
			return nil
		}
		return json.Number(s)
	}
}

// fixSurrogates turns half surrogate pairs into U+FFFD, as encoding/json does.
func fixSurrogates(p []byte) string {
	var out []byte
	for i := 0; i < len(p); {
		if _, ok := surrogate(p[i:]); ok {
			out, i = utf8.AppendRune(out, utf8.RuneError), i+3
			continue
		}
		out, i = append(out, p[i]), i+1
	}
	return string(out)
}

// replaceInvalid makes p valid as encoding/json does: one U+FFFD for each
// invalid byte.
func replaceInvalid(p []byte) string {
	var out []rune
	for _, r := range fixSurrogates(p) {
		out = append(out, r)
	}
	return string(out)
}

// equal compares without regard to how encoding/json and walk came to it.
func equal(a, b any) bool {
	x, err1 := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// FuzzCursor holds the cursor against encoding/json: what that accepts, the
// cursor reads to the same value, skips to the same end, and counts alike.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{
		`{}`, `[]`, `null`, `-0.5e+3`, `"a\u00e9\ud83d\ude00\ud83d\n"`, `{"a":[1,{"b":null}],"c":"d\"\\"}`,
		` { "a" : true , "a" : false } `, `{"a":1,}`, `{"a" 1}`, `[1 2]`, `"\x"`, `NaN`, `{"a":"b`, `[[[[`, "\"\x00\xff\"", `1e999`,
		`{"\u0061":1}`, `"\ud800\u0041"`, `"\\\\\""`,
	} {
		f.Add([]byte(s))
	}
	for _, rec := range recordings(f) {
		for _, line := range strings.SplitN(string(rec.body), "\n", 4)[:1] {
			f.Add([]byte(strings.TrimPrefix(line, "data: ")))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		skip := cursor{b: data}
		skip.skip()
		skipped := !skip.bad && skip.end()
		c := cursor{b: data}
		got := walk(&c, 0)
		read := !c.bad && c.end()
		if !json.Valid(data) {
			return // how much the cursor tolerates is not promised
		}
		if !skipped || !read {
			t.Fatalf("valid JSON not read (skip %v, walk %v): %q", skipped, read, data)
		}
		dec := json.NewDecoder(strings.NewReader(string(data)))
		dec.UseNumber()
		var want any
		if err := dec.Decode(&want); err != nil {
			return // nested deeper than encoding/json goes
		}
		// walk puts the replacements where encoding/json does only in keys and
		// strings without raw halves of surrogates.
		if strings.Contains(string(data), "\xed") {
			return
		}
		if !equal(got, want) {
			t.Fatalf("%q: read %v, encoding/json %v", data, got, want)
		}
		if n, ok := want.(json.Number); ok {
			fc := cursor{b: data}
			f, ok := fc.float()
			w, err := strconv.ParseFloat(n.String(), 64)
			if len(n.String()) <= 64 && (ok != (err == nil && !math.IsInf(w, 0)) || ok && f != w) {
				t.Fatalf("%s: float %v %v, want %v %v", n, f, ok, w, err)
			}
		}
	})
}

func TestCount(t *testing.T) {
	tests := []struct {
		json string
		want Count
	}{
		{"0", Known(0)}, {"12", Known(12)}, {"12.0", Known(12)}, {"1.2e1", Known(12)}, {`"12"`, Known(12)}, {" 7 ", Known(7)},
		{"100000000000", Known(1e11)},
		{"100000000001", Count{}}, {"99999999999999999999999999", Count{}}, {"1e400", Count{}}, {"-1", Count{}}, {"1.5", Count{}},
		{"NaN", Count{}}, {"Infinity", Count{}}, {"-Infinity", Count{}}, {`"NaN"`, Count{}}, {`"x"`, Count{}}, {`""`, Count{}},
		{"null", Count{}}, {"true", Count{}}, {"{}", Count{}}, {"[1]", Count{}}, {"", Count{}},
		{strings.Repeat("9", 1000), Count{}},
	}
	for _, tt := range tests {
		c := cursor{b: []byte(tt.json)}
		if got := c.count(); got != tt.want {
			t.Errorf("%.40q: %+v, want %+v", tt.json, got, tt.want)
		}
	}
}

func TestText(t *testing.T) {
	tests := []struct {
		pieces       []string
		chars, words int64
	}{
		{[]string{""}, 0, 0},
		{[]string{"two words"}, 9, 2},
		{[]string{"  lead", "ing and", " trailing \n"}, 24, 3},
		{[]string{"naïve", " 日本"}, 8, 2},
		{[]string{"a\u2003b"}, 3, 2},                             // em space
		{[]string{"\xe6", "\x97", "\xa5"}, 1, 1},                 // one rune, byte by byte
		{[]string{"\xf0\x9f", "\x98\x80!"}, 2, 1},                // cut in the middle
		{[]string{"\xf0\x9f", "A"}, 2, 1},                        // never completed
		{[]string{"\xf0\x9f", "\x98A"}, 2, 1},                    // completed by one byte too few
		{[]string{"\xff\xfe"}, 2, 1},                             // bytes that start nothing
		{[]string{"\xe2\x82A"}, 2, 1},                            // a maximal subpart of two bytes is one
		{[]string{"\xed\xa0\xbd", "\xed\xb8\x80"}, 1, 1},         // surrogates, one half an event
		{[]string{"\xed\xa0\xbd", "", "\xed\xb8\x80"}, 1, 1},     // and nothing in between
		{[]string{"\xed\xa0\xbd", "A", "\xed\xb8\x80"}, 3, 1},    // halves apart
		{[]string{"\xed\xb8\x80", "\xed\xa0\xbd"}, 2, 1},         // the wrong way round
		{[]string{"\xed\xa0\xbd\xed\xb8\x80\xed\xb8\x80"}, 2, 1}, // a low half too many
	}
	for _, tt := range tests {
		var text Text
		var chars int64
		for _, p := range tt.pieces {
			chars += text.Add([]byte(p))
		}
		if text.Chars != tt.chars || text.Words != tt.words || chars != tt.chars {
			t.Errorf("%q: %d characters (%d in sum), %d words; want %d, %d", tt.pieces, text.Chars, chars, text.Words, tt.chars, tt.words)
		}
	}
}

// FuzzText checks that cuts do not change the count, and that valid text counts
// as the unicode/utf8 package has it.
func FuzzText(f *testing.F) {
	f.Add([]byte("naïve 日本 😀\xff\xf0\x9f"), 3, 9)
	f.Add([]byte("\xe2\x82\xac\xf0\x9f\x98"), 1, 2)
	f.Fuzz(func(t *testing.T, p []byte, i, j int) {
		var whole, cut Text
		whole.Add(p)
		if utf8.Valid(p) && whole.Chars != int64(utf8.RuneCount(p)) {
			t.Fatalf("%q: %d characters, want %d", p, whole.Chars, utf8.RuneCount(p))
		}
		if whole.Chars > int64(len(p)) || whole.Words > whole.Chars {
			t.Fatalf("%q: %d characters, %d words", p, whole.Chars, whole.Words)
		}
		if strings.Contains(string(p), "\xed") {
			return // raw halves of surrogates count by event
		}
		a := min(max(i, 0), len(p))
		b := min(max(j, a), len(p))
		cut.Add(p[:a])
		cut.Add(p[a:b])
		cut.Add(p[b:])
		if cut.Chars != whole.Chars {
			t.Fatalf("%q cut at %d, %d: %d characters, want %d", p, a, b, cut.Chars, whole.Chars)
		}
	})
}
