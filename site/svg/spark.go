package svg

import (
	"html/template"
	"math"
	"strconv"
)

// A Spark is a line without axes, one value per equal step of time. It shows
// shape, not level: its scale is its own, but a span under a fifth of the level
// is drawn as small as it is.
type Spark struct {
	Size   Size // zero means 74 by 22
	Hue    Hue
	Values []float64 // unknown values are gaps
	Label  string
}

// SVG draws the line, with a dot at the newest value unless that is unknown.
func (k Spark) SVG() template.HTML {
	s := k.Size
	if s.W == 0 {
		s.W, s.H = 74, 22
	}
	s = s.norm()
	class := "spark " + k.Hue.class()
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range k.Values {
		if known(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		return noData(class, s, k.Label)
	}
	if level := max(math.Abs(lo), math.Abs(hi)); hi-lo < level/5 {
		mid := lo + (hi-lo)/2
		lo, hi = mid-level/10, mid+level/10
	}
	scale := Linear(lo, hi)
	c := newCanvas(class, s, k.Label)
	step := (s.W - 5) / float64(max(len(k.Values)-1, 1))
	var l tracer
	for i, v := range k.Values {
		l.to(2+float64(i)*step, scale.in(v, s.H-3, 3), known(v))
	}
	l.lift()
	if last := len(k.Values) - 1; known(k.Values[last]) {
		// A box so small that its outline fills it is a dot without a path of its own.
		l.rect(1+float64(last)*step, scale.in(k.Values[last], s.H-3, 3)-1, 2, 2)
	}
	c.path("ln", l.String(), "")
	return c.close()
}

// A tracer draws a line through known points. An unknown point lifts the pen; a
// point alone between gaps becomes a dot.
type tracer struct {
	pen
	run int // points since the last gap
}

func (t *tracer) to(x, y float64, known bool) {
	switch {
	case !known:
		t.lift()
		return
	case t.run == 0:
		t.move(x, y)
	default:
		t.line(x, y)
	}
	t.run++
}

func (t *tracer) lift() {
	if t.run == 1 {
		t.op('h', 0)
	}
	t.run = 0
}

func (t *tracer) String() string {
	t.lift()
	return t.pen.String()
}

// A State is what one cell of a [Strip] says of its slot of time.
type State uint8

// The states are told apart by height, fill and colour, never colour alone.
const (
	NoSample State = iota // hollow, one frame around slots in a row: nothing was measured
	OK                    // full height
	Degraded              // half height
	Failed                // short
)

// A Strip shows reliability over 30 to 90 equal slots of time, oldest first.
type Strip struct {
	Size   Size // zero means 3 wide per cell, 16 high
	States []State
	Label  string // empty means counts in words, made from States
}

// SVG draws one path per state, whatever the number of cells.
func (t Strip) SVG() template.HTML {
	s := t.Size
	if s.W == 0 {
		s.W, s.H = float64(3*len(t.States)), 16
	}
	s = s.norm()
	var paths [4]pen
	var count [4]int
	step := s.W / float64(max(len(t.States), 1))
	gap := min(1, step/3)
	empty := 0 // slots without a sample right before i
	// An outline is drawn on its edge, so move it in. One around each slot would
	// fill slots this narrow, and nothing would look like something.
	frame := func(end int) {
		if empty > 0 {
			paths[NoSample].rect(float64(end-empty)*step+.4, .4, max(float64(empty)*step-gap-.8, .2), s.H-.8)
		}
		empty = 0
	}
	for i, state := range t.States {
		x, w := float64(i)*step, step-gap
		top := 0.0
		switch state {
		case OK:
		case Degraded:
			top = s.H * .5
		case Failed:
			top = s.H * .7
		default:
			state = NoSample
		}
		count[state]++
		if state == NoSample {
			empty++
			continue
		}
		frame(i)
		paths[state].rect(x, top, w, s.H-top)
	}
	frame(len(t.States))
	label := t.Label
	if label == "" {
		label = stripWords(count)
	}
	if len(t.States) == 0 {
		return noData("strip", s, label)
	}
	c := newCanvas("strip", s, label)
	for state, class := range [4]string{NoSample: "n", OK: "o", Degraded: "d", Failed: "f"} {
		c.path(class, paths[state].String(), "")
	}
	return c.close()
}

func stripWords(count [4]int) string {
	total := count[NoSample] + count[OK] + count[Degraded] + count[Failed]
	if total == 0 {
		return "no data"
	}
	words := strconv.Itoa(count[OK]) + " of " + strconv.Itoa(total) + " ok"
	for _, w := range []struct {
		state State
		word  string
	}{{Degraded, "degraded"}, {Failed, "failed"}, {NoSample, "without a sample"}} {
		if n := count[w.state]; n > 0 {
			words += ", " + strconv.Itoa(n) + " " + w.word
		}
	}
	return words
}
