package svg

import "html/template"

// A Fit sets a time against a number of tokens, both from nought, with the line
// that was fitted to them.
type Fit struct {
	Size           Size
	Label          string
	Hue            Hue
	Points         []Place
	Start, Slope   float64 // the line Start + Slope × X; where either is not known, none is drawn
	FormatY        func(float64) string
	TitleX, TitleY string
}

// A Place is one point of a [Fit].
type Place struct{ X, Y float64 }

// SVG draws the points over their line.
func (p Fit) SVG() template.HTML {
	s := p.Size.norm()
	xs, ys := []float64{0}, []float64{0}
	for _, at := range p.Points {
		if known(at.X) && known(at.Y) {
			xs, ys = append(xs, at.X), append(ys, at.Y)
		}
	}
	if len(xs) == 1 {
		return noData("chart fit", s, p.Label)
	}
	sx, sy := LinearOver(xs...), LinearOver(ys...)
	c := newCanvas("chart fit", s, p.Label)
	f := frame{c: c, top: s.Text * 2, bottom: s.H - s.Text*3.6, right: s.W - s.Text}
	y := newLadder(sy, p.FormatY, f.bottom-f.top, s.Text)
	f.left = y.room(s.Text)
	f.xAxis(sx, nil, true)
	f.yAxis(y)
	c.text("at", 0, s.Text, start, clip(p.TitleY, 60))
	c.text("at", f.right, s.H-s.Text*.5, end, clip(p.TitleX, 60))
	if known(p.Start) && known(p.Slope) {
		var line pen
		from, to := 0.0, sx.hi
		if p.Start < 0 && p.Slope > 0 { // it begins where it crosses the axis
			from = min(-p.Start/p.Slope, to)
		}
		if p.Slope > 0 { // and ends where it leaves the frame
			to = min(to, max((sy.hi-p.Start)/p.Slope, from))
		}
		line.move(sx.in(from, f.left, f.right), sy.in(p.Start+p.Slope*from, f.bottom, f.top))
		line.line(sx.in(to, f.left, f.right), sy.in(p.Start+p.Slope*to, f.bottom, f.top))
		c.path("ln "+p.Hue.class(), line.String(), "")
	}
	var dots pen
	for i := range xs[1:] {
		dots.dot(sx.in(xs[i+1], f.left, f.right), sy.in(ys[i+1], f.bottom, f.top))
	}
	c.path("mark "+p.Hue.class(), dots.String(), "")
	return c.close()
}
