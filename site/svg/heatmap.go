package svg

import (
	"fmt"
	"html/template"
	"math"
	"strings"
	"time"
)

// A Heatmap shows a value for each hour of the week, UTC, Monday first.
type Heatmap struct {
	Size   Size
	Label  string
	Values [7][24]float64 // unknown values are hollow
	// Titles, where not empty, are the tooltips of the cells, with n and unit.
	// They cost a path per cell.
	Titles *[7][24]string
	Better Direction
	Format func(float64) string // of the legend's bounds
	Unit   string               // written after the last bound
}

// A Direction says which end of a scale is the good one.
type Direction uint8

const (
	Higher Direction = iota // higher is better
	Lower                   // lower is better
)

// steps is the number of ordinal classes, q0 the worst to q4 the best.
const steps = 5

// step is the class of an ordinal class.
func step(k int) string { return [steps]string{"q0", "q1", "q2", "q3", "q4"}[k] }

// flat is the ratio of greatest to least value under which all cells get one
// class: five colours for less would draw a pattern into noise.
const flat = 1.05

// bounds cuts the known values into classes of equal ratio, or of equal width
// where values are not all positive. It returns nil where nothing is known.
func (h Heatmap) bounds() []float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, day := range h.Values {
		for _, v := range day {
			if known(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	switch {
	case lo > hi:
		return nil
	case lo == hi || lo > least && hi/lo < flat:
		return []float64{lo, hi}
	}
	out := make([]float64, steps+1)
	for i := range out {
		f := float64(i) / steps
		if lo > least {
			out[i] = lo * math.Exp(f*(math.Log(hi)-math.Log(lo)))
		} else {
			out[i] = lo + f*(hi-lo)
		}
	}
	return out
}

// class is the ordinal class of v, from 0, the worst.
func (h Heatmap) class(v float64, bounds []float64) int {
	if len(bounds) == 2 {
		return steps / 2
	}
	n := 0
	for n < steps-1 && v >= bounds[n+1] {
		n++
	}
	if h.Better == Lower {
		return steps - 1 - n
	}
	return n
}

// SVG draws seven rows of 24 cells and a legend with the bounds of each class.
func (h Heatmap) SVG() template.HTML {
	s := h.Size.norm()
	bounds := h.bounds()
	if bounds == nil {
		return noData("chart heat", s, h.Label)
	}
	c := newCanvas("chart heat", s, h.Label)
	left := math.Ceil(s.Text * 2.6)
	legend := s.Text * 3.4
	cw, ch := (s.W-left)/24, (s.H-legend-s.Text*1.5)/7
	cw, ch = max(cw, 1), max(ch, 1)
	var paths [steps]pen
	var hollow pen
	for d := range 7 {
		name := time.Weekday((d + 1) % 7).String()[:3]
		y := float64(d) * ch
		c.text("", left-s.Text*.5, y+ch/2+s.Text*.35, end, name)
		for hour := range 24 {
			x := left + float64(hour)*cw
			v := h.Values[d][hour]
			p := &hollow
			class := "n"
			inset := .5
			if known(v) {
				k := h.class(v, bounds)
				p, class, inset = &paths[k], step(k), 0
			}
			if h.Titles != nil {
				p = new(pen)
			}
			p.rect(x+inset, y+inset, cw-1-2*inset, ch-1-2*inset)
			if h.Titles != nil {
				c.path(class, p.String(), h.Titles[d][hour])
			}
		}
	}
	for k := range paths {
		c.path(step(k), paths[k].String(), "")
	}
	c.path("n", hollow.String(), "")
	for _, hour := range []int{0, 6, 12, 18} {
		c.text("", left+float64(hour)*cw, 7*ch+s.Text*1.2, start, fmt.Sprintf("%02d:00", hour))
	}
	h.legend(c, bounds, left, s.H-legend+s.Text*.6)
	return c.close()
}

// legend draws the classes from worst to best with their bounds beneath.
func (h Heatmap) legend(c *canvas, bounds []float64, left, y float64) {
	format := h.Format
	if format == nil {
		format = func(v float64) string { return fmt.Sprintf("%.3g", v) }
	}
	s := c.size
	side := s.Text * .9
	w := min((s.W-left)*.62, s.Text*26) / steps
	base := y + side + s.Text*1.25
	x := left
	if len(bounds) == 2 {
		var p pen
		p.rect(x, y, w, side)
		c.path(step(steps/2), p.String(), "")
		label := clip(format(bounds[0]), 12)
		if l := clip(format(bounds[1]), 12); l != label {
			label += " to " + l
		}
		c.text("", x, base, start, strings.TrimSpace(label+" "+clip(h.Unit, 16)))
		x += w
	} else {
		for i := range steps {
			k, lower := i, bounds[i]
			if h.Better == Lower { // worst first means greatest first
				lower = bounds[steps-i]
			}
			var p pen
			p.rect(x, y, w-1, side)
			c.path(step(k), p.String(), "")
			c.text("", x, base, start, clip(format(lower), 8))
			x += w
		}
		last := bounds[steps]
		if h.Better == Lower {
			last = bounds[0]
		}
		c.text("", x, base, start, strings.TrimSpace(clip(format(last), 8)+" "+clip(h.Unit, 16)))
	}
	var p pen
	x = max(x+s.Text*.5, s.W-widthOf("no sample", s.Text)-side*2)
	p.rect(x+.5, y+.5, side*1.4, side-1)
	c.path("n", p.String(), "")
	c.text("", x+side*1.4+s.Text*.5, y+side*.9, start, "no sample")
}
