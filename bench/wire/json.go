package wire

import (
	"bytes"
	"iter"
	"math"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A cursor walks one JSON text from left to right and builds nothing. It reads
// every text that encoding/json accepts, and to the same values (a fuzz test
// holds it to that), at about a fifth of the time and without allocation. Where
// providers are known to break RFC 8259 it is lenient: NaN and Infinity as
// numbers, raw control characters in strings. What it skips is balanced, not
// validated: a text is judged by what is read from it.
//
// Nesting costs it nothing, as skipping is a count of brackets and not a
// recursion. On a text that ends too soon or is no JSON it sets bad and goes
// to the end, so loops over it finish.
type cursor struct {
	b   []byte
	i   int
	bad bool
}

// fail ends the walk.
func (c *cursor) fail() {
	c.bad, c.i = true, len(c.b)
}

// peek returns the next byte that is not space; 0 at the end.
func (c *cursor) peek() byte {
	for ; c.i < len(c.b); c.i++ {
		switch ch := c.b[c.i]; ch {
		case ' ', '\t', '\n', '\r':
		default:
			return ch
		}
	}
	return 0
}

// enter goes into the object or array that open starts. Another value is
// skipped, and enter returns false.
func (c *cursor) enter(open byte) bool {
	if c.peek() != open {
		c.skip()
		return false
	}
	c.i++
	return true
}

// members yields the names of the members of the object at the cursor, which is
// then at the member's value: the loop has to go past it. Another value is
// skipped and yields none.
func (c *cursor) members() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !c.enter('{') {
			return
		}
		for name, ok := c.key(); ok; name, ok = c.key() {
			if !yield(name) {
				return
			}
		}
	}
}

// elements puts the cursor at each element of the array at the cursor in turn:
// the loop has to go past it. Another value is skipped and yields none.
func (c *cursor) elements() iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		if !c.enter('[') {
			return
		}
		for c.elem() {
			if !yield(struct{}{}) {
				return
			}
		}
	}
}

// key goes to the value of an object's next member and returns its name; false
// at the end of the object.
func (c *cursor) key() ([]byte, bool) {
	ch := c.peek()
	if ch == ',' {
		c.i++
		ch = c.peek()
	}
	switch ch {
	case '}':
		c.i++
		return nil, false
	case '"':
	default:
		c.fail()
		return nil, false
	}
	name := c.rawString()
	if c.peek() != ':' {
		c.fail()
		return nil, false
	}
	c.i++
	if bytes.IndexByte(name, '\\') >= 0 {
		name = unescape(nil, name)
	}
	return name, true
}

// elem goes to an array's next element; false at the end of the array.
func (c *cursor) elem() bool {
	ch := c.peek()
	if ch == ',' {
		c.i++
		ch = c.peek()
	}
	switch ch {
	case ']':
		c.i++
		return false
	case 0:
		c.fail()
		return false
	}
	return true
}

// end reports whether nothing but space is left.
func (c *cursor) end() bool { return c.peek() == 0 && c.i == len(c.b) }

// rawString returns what stands between the quotes of the string at the cursor.
func (c *cursor) rawString() []byte {
	from := c.i + 1
	for i := from; ; i++ {
		n := bytes.IndexByte(c.b[min(i, len(c.b)):], '"')
		if n < 0 {
			c.fail()
			return nil
		}
		i += n
		slashes := 0
		for c.b[i-1-slashes] == '\\' { // stops at the opening quote
			slashes++
		}
		if slashes%2 == 0 {
			c.i = i + 1
			return c.b[from:i]
		}
	}
}

// skip goes past one value.
func (c *cursor) skip() {
	depth := 0
	for {
		switch ch := c.peek(); ch {
		case '"':
			c.rawString()
		case '{', '[':
			depth++
			c.i++
		case '}', ']':
			depth--
			c.i++
		case ',', ':':
			if depth == 0 {
				c.fail()
				return
			}
			c.i++
		default:
			c.scalar()
		}
		if depth < 0 {
			c.fail()
		}
		if depth <= 0 || c.bad {
			return
		}
	}
}

// scalar returns the number or literal at the cursor.
func (c *cursor) scalar() []byte {
	from := c.i
	for ; c.i < len(c.b); c.i++ {
		switch c.b[c.i] {
		case ' ', '\t', '\n', '\r', ',', ':', ']', '}', '"', '[', '{':
			goto end
		}
	}
end:
	s := c.b[from:c.i]
	if len(s) == 0 || !isScalar(s) {
		c.fail()
		return nil
	}
	return s
}

func isScalar(s []byte) bool {
	switch s[0] {
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return true
	}
	switch string(s) {
	case "true", "false", "null", "NaN", "Infinity":
		return true
	}
	return false
}

// raw goes past one value and returns its text.
func (c *cursor) raw() []byte {
	c.peek()
	from := c.i
	c.skip()
	if c.bad {
		return nil
	}
	return c.b[from:c.i]
}

// appendString appends the string at the cursor, unescaped, to dst. Another
// value is skipped and adds nothing.
func (c *cursor) appendString(dst []byte) []byte {
	if c.peek() != '"' {
		c.skip()
		return dst
	}
	return unescape(dst, c.rawString())
}

// text returns the string at the cursor, bounded to max bytes, "" if it is none.
// It returns old if that is the same, which saves the allocation.
func (c *cursor) text(old string, max int) string {
	if c.peek() != '"' {
		c.skip()
		return ""
	}
	s := c.rawString()
	if bytes.IndexByte(s, '\\') >= 0 {
		s = unescape(nil, s)
	}
	if len(s) > max {
		s = s[:max]
	}
	if string(s) == old {
		return old
	}
	return strings.ToValidUTF8(string(s), "\ufffd")
}

// truth reports whether the value at the cursor is true.
func (c *cursor) truth() bool { return string(c.raw()) == "true" }

// given reports whether the value at the cursor says anything: it is none of
// null, false, "", {} and [].
func (c *cursor) given() bool {
	switch string(c.raw()) {
	case "", "null", "false", `""`, "{}", "[]":
		return false
	}
	return true
}

// maxCount is the largest number of tokens we believe. Sums of three of them
// still fit the record.
const maxCount = 1e11

// count returns the number of tokens at the cursor, also if it stands in a
// string or as a float of integer value. What is no number, negative, or beyond
// belief is unknown.
func (c *cursor) count() Count {
	f, ok := c.float()
	if !ok || f < 0 || f > maxCount || f != math.Trunc(f) {
		return Count{}
	}
	return Known(int64(f)) // exact: below 2^53
}

// float returns the finite number at the cursor, also if it stands in a string.
func (c *cursor) float() (float64, bool) {
	var s []byte
	switch c.peek() {
	case '"':
		s = c.rawString()
	case '{', '[':
		c.skip()
		return 0, false
	default:
		s = c.scalar()
	}
	if n, ok := smallInt(s); ok {
		return float64(n), true
	}
	if len(s) > 64 {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(s), 64)
	if err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	return f, true
}

// smallInt parses the usual case, an integer of a few digits.
func smallInt(s []byte) (n int64, ok bool) {
	if len(s) == 0 || len(s) > 15 {
		return 0, false
	}
	for _, ch := range s {
		if ch < '0' || ch > '9' {
			return 0, false
		}
		n = 10*n + int64(ch-'0')
	}
	return n, true
}

// unescape appends the JSON string s, given without its quotes, to dst. Bytes
// that are no UTF-8 stay as they are, and half a surrogate pair becomes the
// three bytes that UTF-8 would have for it: the other half may come with the
// next event, and [Text] joins them.
func unescape(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, '\\')
		if i < 0 || i+1 >= len(s) {
			return append(dst, s...)
		}
		dst = append(dst, s[:i]...)
		ch := s[i+1]
		s = s[i+2:]
		switch ch {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, ok := hex4(s)
			if !ok {
				dst = append(dst, '\\', 'u') // no JSON; keep what was sent
				continue
			}
			s = s[4:]
			if utf16.IsSurrogate(r) && len(s) >= 6 && s[0] == '\\' && s[1] == 'u' {
				if low, ok := hex4(s[2:]); ok {
					if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
						r, s = pair, s[6:]
					}
				}
			}
			if utf16.IsSurrogate(r) {
				dst = append(dst, 0xE0|byte(r>>12), 0x80|byte(r>>6)&0xBF, 0x80|byte(r)&0xBF)
			} else {
				dst = utf8.AppendRune(dst, r)
			}
		default:
			dst = append(dst, ch) // ", \ and /
		}
	}
}

func hex4(s []byte) (r rune, ok bool) {
	if len(s) < 4 {
		return 0, false
	}
	for _, ch := range s[:4] {
		switch {
		case '0' <= ch && ch <= '9':
			ch -= '0'
		case 'a' <= ch && ch <= 'f':
			ch -= 'a' - 10
		case 'A' <= ch && ch <= 'F':
			ch -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(ch)
	}
	return r, true
}
