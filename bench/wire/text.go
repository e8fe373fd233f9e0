package wire

import (
	"unicode"
	"unicode/utf8"
)

// Text counts the text of events as they come, without keeping it. A character
// that is split over events counts once, with the event it starts in: byte-wise
// tokenizers stream halves of UTF-8 sequences and of surrogate pairs.
//
// What is no UTF-8 counts one for each maximal subpart of an ill-formed sequence,
// as the Unicode standard (section 3.9, U+FFFD substitution) recommends and as
// most decoders replace it.
type Text struct {
	Chars int64 // Unicode code points
	Words int64 // runs of code points that are no white space

	inWord bool
	tail   [utf8.UTFMax]byte // an unfinished sequence, counted already
	nTail  int
	high   bool // the text so far ends in a high surrogate
}

// Add adds text and returns how many characters begin in it.
func (t *Text) Add(p []byte) (chars int64) {
	before := t.Chars
	if t.nTail > 0 {
		p = t.finishTail(p)
	}
	for i := 0; i < len(p); {
		if ch := p[i]; ch < utf8.RuneSelf {
			t.count(isASCIISpace(ch))
			i++
			continue
		}
		r, size := utf8.DecodeRune(p[i:])
		if r != utf8.RuneError || size > 1 {
			t.count(unicode.IsSpace(r))
			i += size
			continue
		}
		if r, ok := surrogate(p[i:]); ok {
			if !(t.high && r >= 0xDC00) {
				t.count(false)
				t.high = r < 0xDC00
			} else {
				t.high = false
			}
			i += 3
			continue
		}
		t.count(false)
		if !utf8.FullRune(p[i:]) {
			t.nTail = copy(t.tail[:], p[i:])
			break
		}
		i += subpart(p[i:])
	}
	return t.Chars - before
}

// count counts one character.
func (t *Text) count(space bool) {
	t.Chars++
	t.high = false
	if !space && !t.inWord {
		t.Words++
	}
	t.inWord = !space
}

// finishTail drops from p what belongs to the sequence that the text before it
// left unfinished.
func (t *Text) finishTail(p []byte) []byte {
	n := t.nTail
	for len(p) > 0 && n < utf8.UTFMax && !utf8.FullRune(t.tail[:n]) {
		t.tail[n] = p[0]
		if r, size := utf8.DecodeRune(t.tail[:n+1]); r == utf8.RuneError && size <= 1 && utf8.FullRune(t.tail[:n+1]) {
			t.nTail = 0 // p[0] does not go on with it
			return p
		}
		n, p = n+1, p[1:]
	}
	t.nTail = n
	if utf8.FullRune(t.tail[:n]) {
		t.nTail = 0
	}
	return p
}

// subpart returns the length of the maximal subpart of an ill-formed sequence.
func subpart(p []byte) int {
	n := 1
	for n < len(p) && !utf8.FullRune(p[:n]) && !utf8.FullRune(p[:n+1]) {
		n++
	}
	return n
}

// surrogate decodes half a surrogate pair in the form [unescape] gives it.
func surrogate(p []byte) (r rune, ok bool) {
	if len(p) < 3 || p[0] != 0xED || p[1] < 0xA0 || p[1] > 0xBF || p[2]&0xC0 != 0x80 {
		return 0, false
	}
	return 0xD000 | rune(p[1]&0x3F)<<6 | rune(p[2]&0x3F), true
}

func isASCIISpace(ch byte) bool { return ch == ' ' || '\t' <= ch && ch <= '\r' }
