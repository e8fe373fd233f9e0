package bench

import (
	"bytes"
	"errors"
	"net/http"
)

// errBodyFraming says that a body breaks the rules of its own transfer coding.
var errBodyFraming = errors.New("malformed transfer coding")

// maxChunkLine bounds a chunk-size line with its extensions, and the trailer.
const maxChunkLine = 4 << 10

// A bodyFramer takes the transfer coding of an HTTP/1.1 response off, one
// socket read at a time: whatever a read brought is unframed before the next
// read, so each body byte belongs to a known read. (net/http's chunked reader
// goes on reading the socket until its caller's buffer is full, which joins
// bytes of several reads.) Source: RFC 9112, section 7.1.
type bodyFramer struct {
	state   framerState
	left    int64 // bytes left of the chunk, or of a body of known length
	size    int64 // chunk size being read
	digits  int
	line    int // bytes of the chunk-size line or trailer so far
	trailer int // bytes of the current trailer line
}

type framerState uint8

const (
	untilClose framerState = iota // no length: the body ends with the connection
	knownLength
	chunkSize // hexadecimal digits
	chunkExt  // rest of the chunk-size line
	chunkData
	chunkEnd // the line end after a chunk's data
	trailers
	bodyDone
)

// newBodyFramer returns the framer for the body of a parsed response head.
func newBodyFramer(head *http.Response) bodyFramer {
	switch {
	case len(head.TransferEncoding) > 0:
		return bodyFramer{state: chunkSize}
	case head.ContentLength == 0:
		return bodyFramer{state: bodyDone}
	case head.ContentLength > 0:
		return bodyFramer{state: knownLength, left: head.ContentLength}
	}
	return bodyFramer{state: untilClose}
}

// done reports whether the body is complete.
func (f *bodyFramer) done() bool { return f.state == bodyDone }

// atClose reports whether the connection may end here without loss.
func (f *bodyFramer) atClose() bool { return f.state == bodyDone || f.state == untilClose }

// unframe appends the body bytes among raw to dst. What follows the end of the
// body is dropped.
func (f *bodyFramer) unframe(dst, raw []byte) ([]byte, error) {
	for len(raw) > 0 {
		switch f.state {
		case untilClose:
			return append(dst, raw...), nil

		case knownLength, chunkData:
			n := int(min(f.left, int64(len(raw))))
			dst, raw = append(dst, raw[:n]...), raw[n:]
			if f.left -= int64(n); f.left > 0 {
				continue
			}
			if f.state == chunkData {
				f.state = chunkEnd
			} else {
				f.state = bodyDone
			}

		case chunkSize:
			c := raw[0]
			if d, ok := hexDigit(c); ok && f.digits < 15 {
				f.size, f.digits, raw = f.size<<4|d, f.digits+1, raw[1:]
				continue
			}
			if f.digits == 0 || f.digits >= 15 {
				return dst, errBodyFraming
			}
			switch c {
			case ';', ' ', '\t', '\r', '\n':
				f.state, f.line = chunkExt, f.digits
			default:
				return dst, errBodyFraming
			}

		case chunkExt:
			i := bytes.IndexByte(raw, '\n')
			if i < 0 {
				f.line += len(raw)
				if f.line > maxChunkLine {
					return dst, errBodyFraming
				}
				return dst, nil
			}
			raw = raw[i+1:]
			f.state, f.left = chunkData, f.size
			if f.size == 0 {
				f.state, f.line, f.trailer = trailers, 0, 0
			}
			f.size, f.digits = 0, 0

		case chunkEnd:
			c := raw[0]
			raw = raw[1:]
			switch c {
			case '\r':
			case '\n':
				f.state = chunkSize
			default:
				return dst, errBodyFraming
			}

		case trailers:
			c := raw[0]
			raw = raw[1:]
			if f.line++; f.line > maxChunkLine {
				return dst, errBodyFraming
			}
			switch c {
			case '\n':
				if f.trailer == 0 {
					f.state = bodyDone
				}
				f.trailer = 0
			case '\r':
			default:
				f.trailer++
			}

		case bodyDone:
			return dst, nil
		}
	}
	return dst, nil
}

func hexDigit(c byte) (int64, bool) {
	switch {
	case '0' <= c && c <= '9':
		return int64(c - '0'), true
	case 'a' <= c && c <= 'f':
		return int64(c-'a') + 10, true
	case 'A' <= c && c <= 'F':
		return int64(c-'A') + 10, true
	}
	return 0, false
}
