package wire

import (
	"bytes"
	"io"
	"iter"
)

// A decoder reads what one protocol's data frames say. It lives for one body.
type decoder interface {
	// decode sets what the JSON object in f says on ev, whose position is set.
	// What is no JSON it reports through the cursor it returns.
	decode(ev *Event, f frame) cursor
}

// stream yields the events of one body. doneCompletes says that [DONE] makes
// the answer complete, not just the stream.
func stream(fr framer, d decoder, doneCompletes bool) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		var ev Event // one for all, as it escapes to the decoder
		for index := 0; ; {
			f, err := fr.next()
			if err != nil {
				if err != io.EOF {
					yield(Event{}, err)
				}
				return
			}
			ev = Event{Index: -1, End: f.end}
			switch f.kind {
			case frameComment:
			case frameError:
				ev.Fail = failureOf(f.data)
			case frameBody, frameBare:
				r := readReport(f.data)
				switch {
				case r.found:
					fail := r.inStream()
					ev.Fail = &fail
				case f.kind == frameBody:
					yield(Event{}, &BodyError{Detail: DetailNonStreaming})
					return
				default:
					continue // says nothing we know
				}
			case frameData:
				ev.Index = index
				index++
				readData(&ev, f, d, doneCompletes)
			}
			if !yield(ev, nil) {
				return
			}
		}
	}
}

// readData reads one data frame.
func readData(ev *Event, f frame, d decoder, doneCompletes bool) {
	named := string(f.name) == "error"
	c := cursor{b: f.data}
	switch c.peek() {
	case '{':
		c = d.decode(ev, f)
		if !c.bad && !c.end() {
			c.bad = true
		}
		if c.bad {
			*ev = Event{Index: ev.Index, End: ev.End, Broken: true}
		}
		if named && ev.Fail == nil {
			ev.Fail = failureOf(f.data)
		}
	case '[':
		if string(bytes.TrimSpace(f.data)) == "[DONE]" {
			ev.Last, ev.Complete = true, doneCompletes
		}
	default:
		// Text that is no JSON object is a keep-alive (": keepalive", "ping")
		// or, under its name, an error.
		if named {
			ev.Fail = failureOf(f.data)
		}
	}
}

// failureOf returns the verdict on an error report inside a stream.
func failureOf(report []byte) *Failure {
	f := readReport(report).inStream()
	return &f
}

// texts holds what a decoder says of a frame until the next one.
type texts struct {
	visible   []byte
	reasoning []byte
	model     string
	backend   string
	finish    string
}

// maxLabel bounds the names and reasons that are kept of a provider's.
const maxLabel = 256

func (t *texts) reset() { t.visible, t.reasoning = t.visible[:0], t.reasoning[:0] }

// setModel reads the name of the model at the cursor.
func (t *texts) setModel(ev *Event, c *cursor) {
	if s := c.text(t.model, maxLabel); s != "" {
		t.model, ev.Model = s, s
	}
}

// setBackend reads the name of the serving backend at the cursor.
func (t *texts) setBackend(ev *Event, c *cursor) {
	if s := c.text(t.backend, maxLabel); s != "" {
		t.backend, ev.Backend = s, s
	}
}

// setFinish reads the finish reason at the cursor.
func (t *texts) setFinish(ev *Event, c *cursor) {
	if s := c.text(t.finish, maxLabel); s != "" {
		t.finish, ev.Finish = s, s
	}
}
