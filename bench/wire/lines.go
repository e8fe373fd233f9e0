package wire

import (
	"bytes"
	"io"
)

// lines cuts a body into lines that end in LF, CRLF or a lone CR, and knows the
// offset of each. Its answers depend on the bytes alone, never on how the reads
// split them: a CR at the end of a read waits for the byte after it.
type lines struct {
	r       io.Reader
	maxLine int
	maxBody int64
	buf     []byte // buf[start:] is not yet returned
	start   int
	lf, cr  finder
	base    int64 // offset in the body of buf[0]
	err     error // what ended the reading
}

const (
	firstBuffer = 32 << 10
	minRead     = 4 << 10
	maxEmpties  = 100 // reads of nothing in a row before we give up, as bufio does
)

func newLines(r io.Reader) lines {
	return lines{
		r: r, maxLine: MaxFrame, maxBody: MaxBody,
		lf: finder{c: '\n', at: -1}, cr: finder{c: '\r', at: -1},
	}
}

// next returns the next line without its end, and the offset just past that
// end. At EOF the bytes left over count as a line. The line is valid until the
// next call.
//
// Its errors are io.EOF, a *BodyError, or the reader's own.
func (l *lines) next() (line []byte, end int64, err error) {
	for {
		if n, skip := l.cut(); skip > 0 {
			if n > l.maxLine {
				return nil, 0, l.tooLarge()
			}
			line = l.buf[l.start : l.start+n]
			l.start += skip
			return line, l.offset(), nil
		}
		if len(l.buf)-l.start > l.maxLine+1 { // the 1 may be a CR in wait
			return nil, 0, l.tooLarge()
		}
		if l.err == nil {
			l.fill()
			continue
		}
		if l.err == io.EOF && l.start < len(l.buf) {
			line = l.buf[l.start:]
			if line[len(line)-1] == '\r' {
				line = line[:len(line)-1]
			}
			if len(line) > l.maxLine {
				return nil, 0, l.tooLarge()
			}
			l.start = len(l.buf)
			return line, l.offset(), nil
		}
		return nil, 0, l.err
	}
}

// cut finds the first line end: a line of n bytes, skip bytes with its end.
// skip is 0 if none is certain yet.
func (l *lines) cut() (n, skip int) {
	lf := l.lf.find(l.buf, l.start)
	cr := l.cr.find(l.buf, l.start)
	switch {
	case cr < 0 && lf < 0, cr == len(l.buf)-1 && lf < 0: // a LF may follow that CR
		return 0, 0
	case cr < 0, 0 <= lf && lf < cr:
		return lf - l.start, lf + 1 - l.start
	case cr+1 == lf:
		return cr - l.start, lf + 1 - l.start
	}
	return cr - l.start, cr + 1 - l.start
}

// A finder finds one byte value again and again, looking at each byte of the
// buffer only once.
type finder struct {
	c    byte
	at   int // the last one found
	seen int // everything before it was looked at
}

// find returns the index of the first c in buf[start:], or -1. start never
// goes back.
func (f *finder) find(buf []byte, start int) int {
	if f.at >= start {
		return f.at
	}
	from := max(f.seen, start)
	i := bytes.IndexByte(buf[from:], f.c)
	if i < 0 {
		f.at, f.seen = -1, len(buf)
		return -1
	}
	f.at, f.seen = from+i, from+i+1
	return f.at
}

// moved says that the buffer lost its first n bytes.
func (f *finder) moved(n int) {
	f.at = max(f.at-n, -1)
	f.seen = max(f.seen-n, 0)
}

// fill reads once more, after making room.
func (l *lines) fill() {
	if cap(l.buf)-len(l.buf) < minRead {
		l.makeRoom()
	}
	room := l.buf[len(l.buf):cap(l.buf)]
	// One byte over the limit tells a body at it from a body over it.
	if left := l.maxBody + 1 - l.base - int64(len(l.buf)); int64(len(room)) > left {
		room = room[:left]
	}
	for range maxEmpties {
		n, err := l.r.Read(room)
		l.buf = l.buf[:len(l.buf)+n]
		l.err = err
		if over := l.base + int64(len(l.buf)) - l.maxBody; over > 0 {
			l.buf = l.buf[:int64(len(l.buf))-over]
			l.err = &BodyError{Detail: DetailOversize, Offset: l.maxBody}
		}
		if n > 0 || l.err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// makeRoom drops the bytes nobody needs, and grows the buffer if that gives
// too little.
func (l *lines) makeRoom() {
	low, size := l.start, cap(l.buf)
	if len(l.buf)-low+minRead > size/2 {
		size = max(2*size, firstBuffer)
	}
	to := l.buf[:0]
	if size > cap(l.buf) {
		to = make([]byte, 0, size)
	}
	l.buf = append(to, l.buf[low:]...)
	l.base += int64(low)
	l.start = 0
	l.lf.moved(low)
	l.cr.moved(low)
}

// offset returns how far into the body next has come.
func (l *lines) offset() int64 { return l.base + int64(l.start) }

// tooLarge ends the reading.
func (l *lines) tooLarge() error {
	l.err = &BodyError{Detail: DetailOversize, Offset: l.offset()}
	l.start = len(l.buf)
	return l.err
}
