package svg

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A frame is the plotting area of a chart with axes.
type frame struct {
	c                        *canvas
	left, right, top, bottom float64
}

// A ladder is the labelled ticks of a vertical axis.
type ladder struct {
	scale  Scale
	ticks  []float64
	labels []string
}

// newLadder chooses ticks for a frame of the given height.
func newLadder(s Scale, format func(float64) string, height, text float64) ladder {
	if format == nil {
		format = Plain
	}
	l := ladder{scale: s, ticks: s.ticks(max(int(height/(text*2.4)), 2))}
	for _, v := range l.ticks {
		l.labels = append(l.labels, clip(format(v), 12))
	}
	return l
}

// room is the width the labels need to the left of the frame.
func (l ladder) room(text float64) float64 {
	wide := 0.0
	for _, label := range l.labels {
		wide = max(wide, widthOf(label, text))
	}
	return math.Ceil(wide + text*.7)
}

// yAxis draws horizontal rules with their labels.
func (f *frame) yAxis(l ladder) {
	text := f.c.size.Text
	var grid pen
	for i, v := range l.ticks {
		y := l.scale.in(v, f.bottom, f.top)
		grid.move(f.left, y)
		grid.line(f.right, y)
		f.c.text("", f.left-text*.6, y+text*.35, end, l.labels[i])
	}
	f.c.path("grid", grid.String(), "")
}

// xAxis draws labels under the frame and, where rules is set, vertical rules.
func (f *frame) xAxis(s Scale, format func(float64) string, rules bool) {
	if format == nil {
		format = Plain
	}
	text := f.c.size.Text
	limit := max(int((f.right-f.left)/(text*4.5)), 2)
	ticks := s.ticks(limit)
	var grid pen
	free := math.Inf(-1)
	for _, v := range ticks {
		l := clip(format(v), 12)
		x := s.in(v, f.left, f.right)
		grid.move(x, f.top)
		grid.line(x, f.bottom)
		at, half := f.hold(x, l)
		if at-half < free {
			continue
		}
		free = at + half + text*.5
		f.c.text("", at, f.bottom+text*1.5, middle, l)
	}
	if rules {
		f.c.path("grid", grid.String(), "")
	}
}

// hold moves the centre of a label inward so that the drawing does not cut it.
func (f *frame) hold(x float64, label string) (centre, half float64) {
	half = widthOf(label, f.c.size.Text) / 2
	return min(max(x, half), max(f.c.size.W-half, half)), half
}

// timeAxis draws round instants of UTC under the frame.
func (f *frame) timeAxis(from, to time.Time) {
	text := f.c.size.Text
	var marks pen
	for _, t := range timeTicks(from, to, int((f.right-f.left)/(text*6.5))) {
		x := f.timeX(t.at, from, to)
		marks.move(x, f.bottom)
		marks.line(x, f.bottom+text*.35)
		at, _ := f.hold(x, t.label)
		f.c.text("", at, f.bottom+text*1.6, middle, t.label)
	}
	f.c.path("tick", marks.String(), "")
}

func (f *frame) timeX(t, from, to time.Time) float64 {
	return f.left + float64(t.Sub(from))/float64(to.Sub(from))*(f.right-f.left)
}

// An EventKind says what a vertical line of a chart marks.
type EventKind uint8

const (
	Shift  EventKind = iota // a change that was measured: solid line
	Method                  // a change of method, prompt or model revision: dotted line
)

// An Event is an instant to mark on a time axis.
type Event struct {
	At    time.Time
	Kind  EventKind
	Label string // may be empty
}

// A pennant is a label that hangs on a vertical line.
type pennant struct {
	x           float64
	line, class string // CSS classes of the line and of the text
	label       string
	row         int
	side        anchor  // of the text at tx: start to the right of its line
	tx          float64 // where the text is anchored
	over        bool    // the text stands on top of its line
	hidden      bool    // no room: the line stays
}

// layPennants puts each label in the first of three rows where it fits: beside
// its line, else above it. No line may cross the label of another; labels that
// fit nowhere are dropped and leave their line. It returns the rows used.
func layPennants(pennants []pennant, text, left, right float64) int {
	slices.SortStableFunc(pennants, func(a, b pennant) int { return cmp.Compare(a.x, b.x) })
	free := [3]float64{left, left, left} // where the last label of each row ends
	line := left                         // the last line that goes down through all rows
	rows := 0
	for i := range pennants {
		p := &pennants[i]
		p.hidden = true
		if p.label != "" {
			p.label = clip(p.label, max(int((right-left)/text/.7), 8))
			for _, beside := range []bool{true, false} {
				for row := 0; row < len(free) && p.hidden; row++ {
					p.try(&free, row, line, right, text, beside)
				}
			}
		}
		if !p.hidden {
			rows = max(rows, p.row+1)
		}
		line = max(line, p.x+text*.4)
	}
	return rows
}

// try places the label in a row, beside or above its line, if there is room.
func (p *pennant) try(free *[3]float64, row int, line, right, text float64, beside bool) {
	for _, end := range free[row+1:] {
		if end > p.x { // the line would go down through a label
			return
		}
	}
	w := widthOf(p.label, text) + text*.8
	from := free[row]
	if row > 0 {
		from = max(from, line)
	}
	switch {
	case beside && p.x >= free[row] && p.x+w <= right:
		p.side, p.tx = start, p.x+text*.4
		free[row] = p.x + w
	case beside && p.x-w >= from:
		p.side, p.tx = end, p.x-text*.4
		free[row] = p.x + text*.4
	case !beside && from+w <= right:
		p.side, p.over = start, true
		p.tx = min(max(p.x-w/2, from), right-w) + text*.4
		free[row] = p.tx + w
	default:
		return
	}
	p.row, p.hidden = row, false
}

// drawPennants draws lines from the labels down to the bottom of the frame.
func (f *frame) drawPennants(pennants []pennant) {
	text := f.c.size.Text
	for _, g := range pennants {
		label, title := 2+float64(g.row)*text*1.35, ""
		top := label
		switch {
		case g.hidden:
			top, title = f.top, g.label
		case g.over:
			top += text * 1.1
		}
		var p pen
		p.move(g.x, top)
		p.line(g.x, f.bottom)
		f.c.path(g.line, p.String(), title)
		if !g.hidden {
			f.c.text(g.class, g.tx, label+text*.8, g.side, g.label)
		}
	}
}

// A tag is a label at the end of a line.
type tag struct {
	y     float64
	class string
	text  string
}

// drawTags writes the labels to the right of the frame, moved apart where they
// would touch, in the order of their heights.
func (f *frame) drawTags(tags []tag) {
	text := f.c.size.Text
	slices.SortStableFunc(tags, func(a, b tag) int { return cmp.Compare(a.y, b.y) })
	gap := text * 1.2
	for i := range tags {
		if i > 0 {
			tags[i].y = max(tags[i].y, tags[i-1].y+gap)
		}
	}
	floor := f.bottom
	for i := len(tags) - 1; i >= 0; i-- {
		tags[i].y = min(tags[i].y, floor)
		floor = tags[i].y - gap
	}
	for _, t := range tags {
		f.c.text(t.class, f.right+text*.6, t.y+text*.35, start, t.text)
	}
}

// tagRoom is the width the labels need, at most what is granted to them.
func tagRoom(s Size, labels ...string) float64 {
	wide := 0.0
	for _, l := range labels {
		wide = max(wide, widthOf(l, s.Text)*1.1) // they are bold
	}
	if wide == 0 {
		return s.Text * .6
	}
	return min(wide+s.Text*.8, s.most())
}

// most is the width that labels beside the frame may take: on a phone two fifths,
// as the words are no shorter there.
func (s Size) most() float64 {
	if s.on == phoneScreen {
		return s.W * .42
	}
	return s.W / 3
}

// tagText shortens a label to what tagRoom can grant.
func tagText(s Size, label string) string {
	return clip(label, max(int(s.most()/s.Text/.62)-2, 4))
}
