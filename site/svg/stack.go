package svg

import (
	"html/template"
	"time"
)

// A Stack shows how a whole is made up over equal slots of time: one bar a
// slot, one layer a part. A slot without a value is left empty, which is not a
// bar of height zero: the axis marks where something was measured.
type Stack struct {
	Size   Size
	Label  string
	From   time.Time     // begin of the first slot
	Slot   time.Duration // width of one
	N      int           // slots
	Format func(float64) string
	Layers []Layer // from the bottom up
	Top    float64 // greatest value of the axis at least; 0: as the bars need
}

// A Layer is one part of a [Stack].
type Layer struct {
	Name   string // written at the right
	Hue    Hue
	Values []float64 // one for each slot; an unknown one is not drawn
}

// SVG draws the bars, and the names of the layers in the order in which they
// are stacked.
func (k Stack) SVG() template.HTML {
	s := k.Size.norm()
	totals := make([]float64, max(k.N, 0))
	measured := make([]bool, len(totals))
	top, any := k.Top, false
	for _, l := range k.Layers {
		for i, v := range l.Values {
			if i < len(totals) && known(v) && v >= 0 {
				totals[i] += v
				measured[i], any = true, true
				top = max(top, totals[i])
			}
		}
	}
	to := k.From.Add(time.Duration(k.N) * k.Slot)
	if !any || !timeSpan(k.From, to) {
		return noData("chart stack", s, k.Label)
	}
	if top <= 0 {
		top = 1
	}
	c := newCanvas("chart stack", s, k.Label)
	f := frame{c: c, top: s.Text * .8, bottom: s.H - s.Text*2.4}
	var names []string
	for _, l := range k.Layers {
		names = append(names, tagText(s, l.Name))
	}
	f.right = s.W - tagRoom(s, names...)
	scale := LinearOver(0, top)
	y := newLadder(scale, k.Format, f.bottom-f.top, s.Text)
	f.left = y.room(s.Text)
	f.yAxis(y)
	f.timeAxis(k.From, to)

	width := (f.right - f.left) / float64(k.N)
	gap := min(2, width/4)
	base := make([]float64, k.N)
	var tags []tag
	for i, l := range k.Layers {
		var p pen
		for j, v := range l.Values {
			if j >= k.N || !known(v) || v <= 0 {
				continue
			}
			low, high := scale.in(base[j], f.bottom, f.top), scale.in(base[j]+v, f.bottom, f.top)
			base[j] += v
			p.rect(f.left+float64(j)*width+gap/2, high, width-gap, max(low-high, .3))
		}
		c.path("bar "+l.Hue.class(), p.String(), l.Name)
		tags = append(tags, tag{f.bottom - (float64(i)+.5)/float64(len(k.Layers))*(f.bottom-f.top), "dl " + l.Hue.class(), names[i]})
	}
	var ran pen
	for j, ok := range measured {
		if ok {
			ran.move(f.left+float64(j)*width+gap/2, f.bottom+1)
			ran.line(f.left+float64(j+1)*width-gap/2, f.bottom+1)
		}
	}
	c.path("tick", ran.String(), "")
	f.drawTags(tags)
	return c.close()
}
