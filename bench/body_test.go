package bench

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"testing"
)

func TestBodyFramer(t *testing.T) {
	chunked := &http.Response{TransferEncoding: []string{"chunked"}, ContentLength: -1}
	tests := []struct {
		name string
		head *http.Response
		raw  string
		want string
		done bool
		bad  bool
	}{
		{"chunks", chunked, "5\r\nhello\r\n1\r\n \r\n5\r\nworld\r\n0\r\n\r\n", "hello world", true, false},
		{"capital size", chunked, "A\r\n0123456789\r\n0\r\n\r\n", "0123456789", true, false},
		{"size with zeros", chunked, "0005\r\nhello\r\n000\r\n\r\n", "hello", true, false},
		{"extension", chunked, "5;a=b;c=\"d\"\r\nhello\r\n0;z\r\n\r\n", "hello", true, false},
		{"space after size", chunked, "5 \r\nhello\r\n0\r\n\r\n", "hello", true, false},
		{"bare line feeds", chunked, "5\nhello\n0\n\n", "hello", true, false},
		{"trailer", chunked, "5\r\nhello\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n", "hello", true, false},
		{"more after the end", chunked, "2\r\nhi\r\n0\r\n\r\nHTTP/1.1 200 OK", "hi", true, false},
		{"data that looks like framing", chunked, "9\r\n5\r\nhi\r\n0\r\r\n0\r\n\r\n", "5\r\nhi\r\n0\r", true, false},
		{"cut in data", chunked, "5\r\nhel", "hel", false, false},
		{"cut in size", chunked, "5\r\nhello\r\n1", "hello", false, false},
		{"cut before the trailer's end", chunked, "0\r\n", "", false, false},
		{"no size", chunked, "\r\nhello\r\n", "", false, true},
		{"not hexadecimal", chunked, "5g\r\nhello\r\n", "", false, true},
		{"negative", chunked, "-5\r\nhello\r\n", "", false, true},
		{"size overflows", chunked, "ffffffffffffffff\r\nx", "", false, true},
		{"no line end after data", chunked, "5\r\nhelloX", "hello", false, true},
		{"endless size line", chunked, "5;" + strings.Repeat("x", maxChunkLine+1), "", false, true},
		{"endless trailer", chunked, "0\r\n" + strings.Repeat("x: y\r\n", maxChunkLine), "", false, true},

		{"known length", &http.Response{ContentLength: 5}, "hello world", "hello", true, false},
		{"known length, cut", &http.Response{ContentLength: 5}, "hel", "hel", false, false},
		{"no body", &http.Response{ContentLength: 0}, "x", "", true, false},
		{"until the connection closes", &http.Response{ContentLength: -1}, "5\r\nhello", "5\r\nhello", false, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for size := 1; size <= len(tt.raw)+1; size++ {
				f := newBodyFramer(tt.head)
				got, err := unframeBy(&f, tt.raw, size)
				if string(got) != tt.want || f.done() != tt.done || (err != nil) != tt.bad {
					t.Fatalf("in reads of %d: %q, done %v, %v; want %q, done %v, error %v",
						size, got, f.done(), err, tt.want, tt.done, tt.bad)
				}
				if err != nil && !errors.Is(err, errBodyFraming) {
					t.Fatalf("error %v is not errBodyFraming", err)
				}
				if len(tt.raw) > 1000 && size == 3 {
					break // long inputs need not be cut at every place
				}
			}
		})
	}
}

// unframeBy feeds raw in reads of size bytes.
func unframeBy(f *bodyFramer, raw string, size int) (body []byte, err error) {
	for len(raw) > 0 && err == nil {
		n := min(size, len(raw))
		body, err = f.unframe(body, []byte(raw[:n]))
		raw = raw[n:]
	}
	return body, err
}

// FuzzBodyFramer checks that where a chunked body is cut changes nothing, and
// that what net/http can read is read alike.
func FuzzBodyFramer(f *testing.F) {
	for _, raw := range []string{
		"5\r\nhello\r\n0\r\n\r\n", "5;x=y\r\nhello\r\n0\r\nT: u\r\n\r\n", "a\n0123456789\n0\n\n", "5\r\nhel", "zz",
	} {
		f.Add([]byte(raw), 3)
	}
	f.Fuzz(func(t *testing.T, raw []byte, size int) {
		size = 1 + (size&0xff)%16
		whole := bodyFramer{state: chunkSize}
		want, wantErr := whole.unframe(nil, raw)
		cut := bodyFramer{state: chunkSize}
		got, gotErr := unframeBy(&cut, string(raw), size)
		if !bytes.Equal(got, want) || (gotErr != nil) != (wantErr != nil) || cut.done() != whole.done() {
			t.Fatalf("in reads of %d: %q, %v, done %v; in one: %q, %v, done %v",
				size, got, gotErr, cut.done(), want, wantErr, whole.done())
		}
		if len(want) > len(raw) {
			t.Fatalf("%d bytes of body out of %d", len(want), len(raw))
		}
		reader := httputil.NewChunkedReader(bufio.NewReader(bytes.NewReader(raw)))
		if theirs, err := io.ReadAll(reader); err == nil && wantErr == nil && !bytes.Equal(theirs, want) {
			t.Fatalf("net/http reads %q; got %q", theirs, want)
		}
	})
}
