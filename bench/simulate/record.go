package simulate

import (
	"sync"
	"time"
)

// A Record is the log of one request: what left, when it was due, and when it did.
//
// Every instant is in nanoseconds of the clock named by Clock. On Linux that is
// CLOCK_MONOTONIC, which all processes of one machine share, so a client in
// another process may subtract its own readings of it. Elsewhere it is "process"
// and counts from when the Server was made: only differences mean something.
type Record struct {
	ID       string  `json:"id"` // as in the X-Request-Id header of the answer
	Path     string  `json:"path"`
	Model    string  `json:"model"`
	Ordinal  int     `json:"ordinal"` // of this request among those to the model, from 0
	Limit    int     `json:"limit"`   // the caller's cap on output tokens; 0 is none
	Fault    string  `json:"fault"`   // name of the fault that struck, or "none"
	Clock    string  `json:"clock"`
	StartNS  int64   `json:"start_ns"` // the request's headers were read; every due instant counts from here
	DoneNS   int64   `json:"done_ns"`  // the server had no more to do
	Ended    string  `json:"ended"`    // "complete", "fault" or "gone" (the client left, or the write failed)
	Visible  int     `json:"visible_tokens"`
	Reasoned int     `json:"reasoning_tokens"` // shown or hidden
	Writes   []Write `json:"writes"`
}

// A Write is one write and flush of body bytes. Headers leave with the first,
// or alone before it.
type Write struct {
	Seq       int   `json:"seq"`
	Steps     int   `json:"steps"`            // frames that ended with this write
	Visible   int   `json:"visible_tokens"`   // tokens of answer text in them
	Reasoning int   `json:"reasoning_tokens"` // tokens of shown reasoning in them
	End       int64 `json:"end"`              // offset in the body just past the bytes written
	DueNS     int64 `json:"due_ns"`
	BeforeNS  int64 `json:"before_ns"` // just before the write
	AfterNS   int64 `json:"after_ns"`  // just after the flush: the kernel has the bytes
}

// A clock translates instants of this process to those of the machine.
type clock struct {
	name   string
	at     time.Time
	atNano int64
}

// newClock reads both clocks as close together as it can. On Linux they are the
// same clock with different zeros, so one reading of the difference is enough.
func newClock() clock {
	c := clock{name: "process", at: time.Now()}
	best := time.Duration(-1)
	for range 32 {
		before := time.Now()
		nano, ok := machineNano()
		width := time.Since(before)
		if !ok {
			break
		}
		if best < 0 || width < best {
			best = width
			c = clock{name: "CLOCK_MONOTONIC", at: before.Add(width / 2), atNano: nano}
		}
	}
	return c
}

func (c clock) nano(t time.Time) int64 { return c.atNano + int64(t.Sub(c.at)) }

// A journal keeps the newest records.
type journal struct {
	mu   sync.Mutex
	recs []Record // a ring; next is the oldest once it is full
	next int
}

const journalSize = 256

func (j *journal) add(r Record) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if len(j.recs) < journalSize {
		j.recs = append(j.recs, r)
		return
	}
	j.recs[j.next] = r
	j.next = (j.next + 1) % journalSize
}

// get returns the record with that ID; "latest" is the one added last.
func (j *journal) get(id string) (Record, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if id == "latest" {
		if len(j.recs) == 0 {
			return Record{}, false
		}
		return j.recs[(j.next+len(j.recs)-1)%len(j.recs)], true
	}
	for _, r := range j.recs {
		if r.ID == id {
			return r, true
		}
	}
	return Record{}, false
}
