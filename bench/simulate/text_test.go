package simulate

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTokensMakeTheText(t *testing.T) {
	for name, text := range map[string]*text{"answer": answerText(), "thoughts": thoughtsText()} {
		t.Run(name, func(t *testing.T) {
			n := len(text.ends)
			var b strings.Builder
			r := reel{text: text}
			for i := range 2*n + 3 {
				tok := r.next(1)
				if c := utf8.RuneCountInString(tok); c < 1 || c > maxWord+1 {
					t.Errorf("token %d is %q", i, tok)
				}
				b.WriteString(tok)
			}
			whole := b.String()
			if !strings.HasPrefix(whole, text.s+text.s) {
				t.Error("the tokens do not repeat the text")
			}
			if !utf8.ValidString(whole) {
				t.Error("a token ends inside a character")
			}
			if per := float64(utf8.RuneCountInString(text.s)) / float64(n); per < 3 || per > 5.5 {
				t.Errorf("%.2f characters a token, unlike English", per)
			}

			// Any chunking gives the same text.
			for _, k := range []int{1, 4, 7, 32, n, n + 1, 3 * n} {
				r := reel{text: text}
				var got strings.Builder
				for got.Len() < len(text.s) {
					got.WriteString(r.next(k))
				}
				if !strings.HasPrefix(got.String(), text.s) {
					t.Errorf("in chunks of %d the text differs", k)
				}
			}
		})
	}
	if !strings.ContainsFunc(answerText().s, func(r rune) bool { return r >= utf8.RuneSelf }) {
		t.Error("the answer has no multi-byte character to split")
	}
}

func TestSentencesStartLikeOne(t *testing.T) {
	text := answerText()
	if len(text.sentences) < 20 {
		t.Fatalf("only %d sentences", len(text.sentences))
	}
	for i := range text.sentences {
		r := reel{text: text}
		r.turn(i)
		if s := strings.TrimSpace(r.next(1)); s == "" || !strings.Contains("ABCDEFGHIJKLMNOPQRSTUVWXYZ", s[:1]) {
			t.Errorf("sentence %d starts with %q", i, s)
		}
	}
}
