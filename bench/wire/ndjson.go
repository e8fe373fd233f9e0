package wire

import (
	"bytes"
	"io"
)

// ndjson frames newline-delimited JSON: one value a line, blank lines between
// them allowed. A value that is spread over lines, as error bodies sometimes
// are, is gathered until its brackets balance.
type ndjson struct {
	lines  lines
	framed bool
	value  bareJSON
	end    int64 // of the value's last line so far

	again    []byte // a line to be taken once more, if not nil
	againEnd int64
}

func newNDJSON(r io.Reader) *ndjson { return &ndjson{lines: newLines(r)} }

func (n *ndjson) next() (frame, error) {
	for {
		line, end := n.again, n.againEnd
		n.again = nil
		if line == nil {
			var err error
			if line, end, err = n.lines.next(); err != nil {
				if n.value.open {
					return n.flush(), nil // err comes again on the next call
				}
				return frame{}, err
			}
		}
		if n.value.open && len(line) > 0 && line[0] == '{' {
			// Only a new value starts in the first column: the one before was
			// cut off.
			n.again, n.againEnd = line, end
			return n.flush(), nil
		}
		if !n.value.open {
			if !n.framed {
				line = bytes.TrimPrefix(line, []byte("\ufeff"))
			}
			text := bytes.TrimLeft(line, " \t")
			if len(text) == 0 {
				continue
			}
			switch c := text[0]; {
			case c == '{' || c == '[':
				n.value.begin()
			case n.framed:
				return frame{kind: frameData, data: text, end: end}, nil
			case c == '<':
				return frame{}, &BodyError{Detail: DetailHTML}
			default:
				return frame{}, &BodyError{Detail: DetailForeign}
			}
		}
		n.value.add(line)
		n.end = end
		if len(n.value.text) > n.lines.maxLine {
			n.value.open = false
			return frame{}, n.lines.tooLarge()
		}
		if !n.value.open {
			return n.flush(), nil
		}
	}
}

func (n *ndjson) flush() frame {
	n.value.open, n.framed = false, true
	return frame{kind: frameData, data: n.value.text, end: n.end}
}
