package simulate

import (
	_ "embed" // the two texts
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

//go:embed answer.txt
var answerSource string

//go:embed thoughts.txt
var thoughtsSource string

var (
	answerText   = sync.OnceValue(func() *text { return cut(answerSource) })
	thoughtsText = sync.OnceValue(func() *text { return cut(thoughtsSource) })
)

// A text is cut into tokens the way common vocabularies cut English: a word
// carries the space before it, punctuation stands alone, long words fall apart.
type text struct {
	s         string
	ends      []int // offset just past each token
	sentences []int // ordinal of the first token of each sentence
}

const maxWord = 8 // characters in one token of a word

func cut(s string) *text {
	t := &text{s: strings.TrimSpace(s) + "\n\n", sentences: []int{0}}
	word := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for i := 0; i < len(t.s); {
		j := i
		if t.s[j] == '\n' {
			for j < len(t.s) && t.s[j] == '\n' {
				j++
			}
			t.ends = append(t.ends, j)
			t.sentences = append(t.sentences, len(t.ends))
			i = j
			continue
		}
		if t.s[j] == ' ' {
			j++
		}
		r, size := utf8.DecodeRuneInString(t.s[j:])
		j += size
		for n := 1; word(r) && n < maxWord && j < len(t.s); n++ {
			next, size := utf8.DecodeRuneInString(t.s[j:])
			if !word(next) {
				break
			}
			j += size
		}
		t.ends = append(t.ends, j)
		if r == '.' && j < len(t.s) && t.s[j] == ' ' {
			t.sentences = append(t.sentences, len(t.ends))
		}
		i = j
	}
	// The token after the last sentence is the first of all.
	for n := len(t.sentences) - 1; n > 0 && t.sentences[n] >= len(t.ends); n-- {
		t.sentences = t.sentences[:n]
	}
	return t
}

// A reel plays the tokens of a text in a loop.
type reel struct {
	text *text
	at   int // ordinal of the next token
}

// turn moves to the start of the nth sentence.
func (r *reel) turn(n int) { r.at = r.text.sentences[n] }

// next returns the text of the next k tokens.
func (r *reel) next(k int) string {
	start := 0
	if r.at > 0 {
		start = r.text.ends[r.at-1]
	}
	if r.at+k < len(r.text.ends) { // a slice of the text: nothing is copied
		r.at += k
		return r.text.s[start:r.text.ends[r.at-1]]
	}
	var b strings.Builder
	for k > 0 {
		n := min(k, len(r.text.ends)-r.at)
		b.WriteString(r.text.s[start:r.text.ends[r.at+n-1]])
		k -= n
		r.at, start = (r.at+n)%len(r.text.ends), 0
	}
	return b.String()
}
