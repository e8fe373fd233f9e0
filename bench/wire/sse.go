package wire

import (
	"bytes"
	"io"
)

// A frame is one piece of a body as its framing delivers it. Its slices are
// valid until the next one is asked for.
type frame struct {
	kind frameKind
	data []byte
	name []byte // SSE event name; empty if none
	end  int64  // offset just past the line that completed data
}

type frameKind uint8

const (
	frameData    frameKind = iota
	frameComment           // a keep-alive: a comment, or an event with empty data
	frameError             // an SSE field named "error" (llama.cpp, GPUStack)
	frameBody              // the body starts with a JSON value: it is no stream
	frameBare              // a JSON value between the events, without "data:" (Gemini)
)

// A framer cuts a body into frames. Its errors are io.EOF, a *BodyError, or
// the reader's own.
type framer interface {
	next() (frame, error)
}

// maxName bounds an SSE event name; the longest in use has 45 bytes.
const maxName = 128

// sse frames server-sent events by the rules of the WHATWG HTML standard,
// section 9.2.6, and knowingly departs from them where providers do:
//
//   - an event that lacks its blank line at EOF is still dispatched;
//   - a field named "error" and a bare JSON value are frames of their own;
//   - a comment between the lines of one event is dropped, so that the offsets
//     of frames never go back.
type sse struct {
	lines   lines
	started bool // a line that is not blank was seen
	framed  bool // a frame other than a comment was returned
	junk    bool // a line was no field at all

	pending bool // data lines wait for their blank line
	data    []byte
	name    []byte
	end     int64

	bare     bareJSON
	bareKind frameKind

	again    []byte // a line to be taken once more, if not nil
	againEnd int64
}

func newSSE(r io.Reader) *sse { return &sse{lines: newLines(r)} }

func (s *sse) next() (frame, error) {
	f, err := s.step()
	if err == nil {
		s.framed = s.framed || f.kind != frameComment
	} else if err == io.EOF && !s.framed && s.junk {
		err = &BodyError{Detail: DetailForeign}
	}
	return f, err
}

func (s *sse) step() (frame, error) {
	for {
		line, end := s.again, s.againEnd
		s.again = nil
		if line == nil {
			var err error
			if line, end, err = s.lines.next(); err != nil {
				if f, ok := s.dispatch(); ok {
					return f, nil // err comes again on the next call
				}
				if s.bare.open && err == io.EOF {
					s.bare.open = false
					return frame{kind: s.bareKind, data: s.bare.text, end: s.lines.offset()}, nil
				}
				return frame{}, err
			}
		}
		if s.bare.open && isField(line) {
			// Raw line breaks cannot stand inside a JSON string, so the value
			// was cut off, or never was JSON.
			s.bare.open, s.junk = false, true
		}
		switch {
		case s.bare.open:
			s.bare.add(line)
			if len(s.bare.text) > s.lines.maxLine {
				return frame{}, s.lines.tooLarge()
			}
			if !s.bare.open {
				return frame{kind: s.bareKind, data: s.bare.text, end: end}, nil
			}
			continue
		case len(line) == 0:
			if f, ok := s.dispatch(); ok {
				return f, nil
			}
			s.name = s.name[:0]
			continue
		case !s.started:
			if line = s.first(line); line == nil {
				continue
			}
		}
		f, ok, err := s.take(line, end)
		if ok || err != nil {
			return f, err
		}
	}
}

// first looks at a line before which there were only blank ones, as the first
// bytes tell what kind of body this is. It returns what there is to take, nil
// for nothing.
func (s *sse) first(line []byte) []byte {
	line = bytes.TrimPrefix(line, []byte("\ufeff"))
	text := bytes.TrimLeft(line, " \t")
	if len(text) == 0 {
		return nil
	}
	s.started = true
	switch text[0] {
	case '{', '[', '<':
		return text
	}
	return line
}

// take takes one line that is not blank; ok says that it completed a frame.
func (s *sse) take(line []byte, end int64) (f frame, ok bool, err error) {
	switch line[0] {
	case '<':
		if !s.framed && !s.pending {
			return frame{}, false, &BodyError{Detail: DetailHTML}
		}
	case '{', '[':
		if f, ok := s.dispatch(); ok {
			s.again, s.againEnd = line, end
			return f, true, nil
		}
		s.bareKind = frameBare
		if !s.framed {
			s.bareKind = frameBody
		}
		s.bare.begin()
		s.again, s.againEnd = line, end
		return frame{}, false, nil
	case ':':
		return frame{kind: frameComment, end: end}, !s.pending, nil
	}
	field, value, _ := bytes.Cut(line, []byte(":"))
	if len(value) > 0 && value[0] == ' ' {
		value = value[1:]
	}
	switch string(field) {
	case "data":
		if s.pending {
			s.data = append(s.data, '\n')
		} else {
			s.data = s.data[:0]
		}
		s.pending, s.end = true, end
		s.data = append(s.data, value...)
		if len(s.data) > s.lines.maxLine {
			s.pending = false
			return frame{}, false, s.lines.tooLarge()
		}
	case "event":
		s.name = append(s.name[:0], value[:min(len(value), maxName)]...)
	case "error":
		if f, ok := s.dispatch(); ok {
			s.again, s.againEnd = line, end
			return f, true, nil
		}
		return frame{kind: frameError, data: value, end: end}, true, nil
	case "id", "retry":
	default:
		if !bytes.HasPrefix([]byte("event"), line) && !bytes.HasPrefix([]byte("data"), line) { // else cut off
			s.junk = true
		}
	}
	return frame{}, false, nil
}

// dispatch returns the pending event, if there is one.
func (s *sse) dispatch() (frame, bool) {
	if !s.pending {
		return frame{}, false
	}
	f := frame{kind: frameData, data: s.data, name: s.name, end: s.end}
	s.pending, s.name = false, s.name[:0]
	if len(f.data) == 0 {
		f = frame{kind: frameComment, end: s.end}
	}
	return f, true
}

// isField reports whether a line is a field that an event stream is made of.
func isField(line []byte) bool {
	field, _, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return false
	}
	switch string(field) {
	case "data", "event", "error", "id", "retry":
		return true
	}
	return false
}

// bareJSON gathers the lines of one JSON value until its brackets balance. It
// looks at each byte once.
type bareJSON struct {
	open     bool
	text     []byte
	depth    int
	inString bool
	escaped  bool
}

func (b *bareJSON) begin() {
	*b = bareJSON{open: true, text: b.text[:0]}
}

// add adds one line and closes the value if that balanced it. What follows the
// value on its last line is left in text, where the JSON parser finds it.
func (b *bareJSON) add(line []byte) {
	if len(b.text) > 0 {
		b.text = append(b.text, '\n')
	}
	b.text = append(b.text, line...)
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case b.escaped:
			b.escaped = false
		case b.inString:
			switch c {
			case '"':
				b.inString = false
			case '\\':
				b.escaped = true
			}
		case c == '"':
			b.inString = true
		case c == '{', c == '[':
			b.depth++
		case c == '}', c == ']':
			if b.depth--; b.depth <= 0 {
				b.open = false
				return
			}
		}
	}
}
