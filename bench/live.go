package bench

import (
	"io"
	"sync"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// A liveBody lets an observer decode a body while it arrives. Bytes of the body
// are never written twice, so the hot path shares them; the reads are copied.
type liveBody struct {
	mu       sync.Mutex
	changed  *sync.Cond
	body     []byte
	reads    []Read
	dispatch time.Duration
	closed   bool

	pos int // the decoder's own
}

func newLiveBody() *liveBody {
	b := new(liveBody)
	b.changed = sync.NewCond(&b.mu)
	return b
}

// publish makes the body up to here known.
func (b *liveBody) publish(body []byte, reads []Read, dispatch time.Duration) {
	b.mu.Lock()
	b.body, b.dispatch = body, dispatch
	kept := max(0, len(b.reads)-1) // the last read may have grown
	b.reads = append(b.reads[:kept], reads[kept:]...)
	b.mu.Unlock()
	b.changed.Signal()
}

// close ends the body.
func (b *liveBody) close() {
	b.mu.Lock()
	b.closed = true
	b.mu.Unlock()
	b.changed.Signal()
}

// Read returns what has come of the body, waiting for it.
func (b *liveBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for b.pos == len(b.body) {
		if b.closed {
			return 0, io.EOF
		}
		b.changed.Wait()
	}
	n := copy(p, b.body[b.pos:])
	b.pos += n
	return n, nil
}

// watch reports the events of the body until it ends.
func (b *liveBody) watch(p wire.Protocol, event func(Arrival, wire.Event)) {
	var reply wire.Reply
	var clock readClock
	for ev, err := range p.Decode(b) {
		if err != nil {
			return
		}
		a := Arrival{Offset: ev.End, Mark: markOf(&ev)}
		visible, reasoning := reply.Add(ev)
		a.Chars = int(max(visible, reasoning))
		b.mu.Lock()
		clock.reads = b.reads
		a.At, a.Read = clock.arrival(ev.End)
		a.At -= b.dispatch
		b.mu.Unlock()
		event(a, ev)
	}
}
