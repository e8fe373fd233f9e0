package svg

import (
	"html/template"
	"math"
)

// An Axis is the shared axis of a table column: its SVG goes in the header,
// and the [Range] of each row refers to it, so header and rows agree.
type Axis struct {
	Scale  Scale
	W      float64              // width of the column's plots
	H      float64              // height of the header's drawing; 0 means 16
	Text   float64              // font size; 0 means 11
	Format func(float64) string // of the ticks; nil means [Plain]
	Zero   bool                 // mark zero, where differences change sign

	ruled *rules // nil until it is asked for
}

// rules are the labelled ticks of an axis of a width and size of text.
type rules struct {
	w, text float64
	at      []float64
	label   []string
}

// Ruled returns the axis with its ticks worked out, which the rows of a table
// then need not do one by one.
func (a Axis) Ruled() Axis {
	s := a.size(a.H)
	r := &rules{w: s.W, text: s.Text}
	r.at, r.label = a.labelled(s)
	a.ruled = r
	return a
}

func (a Axis) size(h float64) Size {
	text := a.Text
	if text == 0 {
		text = 11
	}
	return Size{W: a.W, H: h, Text: text}.norm()
}

// pad keeps a mark at the end of the scale inside the drawing. It is a share of
// the width, so that a row stretched to another width still meets the ticks of
// an axis drawn for that width.
func (s Size) pad() float64 { return s.W / 45 }

// place maps v to the drawing and reports -1 or +1 if it lies off the scale.
func (a Axis) place(s Size, v float64) (x float64, off int) {
	switch f := a.Scale.frac(v); {
	case f < 0:
		off = -1
	case f > 1:
		off = 1
	}
	return a.Scale.in(v, s.pad(), s.W-s.pad()), off
}

// labelled is the ticks whose labels fit side by side.
func (a Axis) labelled(s Size) (at []float64, label []string) {
	if r := a.ruled; r != nil && r.w == s.W && r.text == s.Text {
		return r.at, r.label
	}
	format := a.Format
	if format == nil {
		format = Plain
	}
	for limit := max(int(s.W/(s.Text*2)), 2); limit >= 2; limit-- {
		at, label = a.Scale.ticks(limit), nil
		free, fits := math.Inf(-1), true
		for _, v := range at {
			l := clip(format(v), 12)
			x, _ := a.place(s, v)
			x, half := a.hold(s, x, l)
			fits = fits && x-half >= free
			free = x + half + s.Text*.5
			label = append(label, l)
		}
		if fits {
			break
		}
	}
	return at, label
}

// hold moves a label of the header inward so that it is not cut off.
func (a Axis) hold(s Size, x float64, label string) (centre, half float64) {
	half = widthOf(label, s.Text) / 2
	return min(max(x, half), max(s.W-half, half)), half
}

// SVG draws the tick labels. It is decoration: the header says what it heads.
func (a Axis) SVG() template.HTML {
	h := a.H
	if h == 0 {
		h = 16
	}
	s := a.size(h)
	c := newCanvas("axis", s, "")
	at, labels := a.labelled(s)
	for i, v := range at {
		x, _ := a.place(s, v)
		x, _ = a.hold(s, x, labels[i])
		c.text("", x, s.H-4, middle, labels[i])
	}
	return c.close()
}

// A Range is one row of a column: a thin line from the 10th to the 90th
// percentile, a thick bar for the interval of the median, a tick at the median.
// Line and bar are left out where unknown.
type Range struct {
	Axis     Axis
	H        float64 // height of the row's drawing; 0 means 30
	Hue      Hue
	P50      float64
	P10, P90 float64
	Lo, Hi   float64 // confidence interval of the median
	Label    string  // empty where the row has the numbers in words
}

// SVG draws the row. What lies off the scale ends in an arrow head at the edge.
func (r Range) SVG() template.HTML {
	h := r.H
	if h == 0 {
		h = 30
	}
	s := r.Axis.size(h)
	class := "rng " + r.Hue.class()
	if !r.Axis.Scale.ok() || !r.Axis.Scale.can(r.P50) {
		return noData(class, s, r.Label)
	}
	c := newCanvas(class, s, r.Label)
	// Rules and spread share one path, a node less in each of many rows: the
	// rules have no area to fill, and the spread covers its own outline.
	var spread, point pen
	at, _ := r.Axis.labelled(s)
	for _, v := range at {
		x, _ := r.Axis.place(s, v)
		spread.move(x, 0)
		spread.line(x, s.H)
	}
	if r.Axis.Zero && r.Axis.Scale.lo < 0 && r.Axis.Scale.hi > 0 {
		var zero pen
		x, _ := r.Axis.place(s, 0)
		zero.move(x, 0)
		zero.line(x, s.H)
		c.path("zero", zero.String(), "")
	}

	mid := s.H / 2
	bar := func(lo, hi, thick float64) {
		if !r.Axis.Scale.can(lo) || !r.Axis.Scale.can(hi) || lo > hi {
			return
		}
		x1, off1 := r.Axis.place(s, lo)
		x2, off2 := r.Axis.place(s, hi)
		if off1 == off2 && off1 != 0 {
			return
		}
		spread.rect(x1, mid-thick/2, max(x2-x1, .2), thick)
		if off1 < 0 {
			arrow(&spread, x1, mid, s.pad(), -1)
		}
		if off2 > 0 {
			arrow(&spread, x2, mid, s.pad(), 1)
		}
	}
	bar(r.P10, r.P90, 1.6)
	bar(r.Lo, r.Hi, 8)
	c.path("sd", spread.String(), "")

	x, off := r.Axis.place(s, r.P50)
	if off != 0 {
		arrow(&point, x, mid, s.pad(), off)
	} else {
		point.rect(x-1.2, mid-8, 2.4, 16)
	}
	c.path("pt", point.String(), "")
	return c.close()
}

// arrow adds an arrow head that points out of the drawing.
func arrow(p *pen, x, y, length float64, dir int) {
	d := float64(dir)
	p.move(x+d*length, y)
	p.line(x, y-4)
	p.line(x, y+4)
	p.op('z')
	p.x, p.y = tenths(x+d*length), tenths(y)
}
