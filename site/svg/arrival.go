package svg

import (
	"html/template"
	"time"
)

// An Arrival shows how answers arrived: cumulative tokens over the time since
// dispatch, as stairs, for between two reads nothing was there to see.
type Arrival struct {
	Size   Size
	Label  string
	Curves []Curve
	First  Span   // dispatch to first text; an empty span is not drawn
	Stalls []Span // silences beyond the stall rule
	Rug    bool   // a tick under the axis for each read of the first curve
}

// A Curve is one answer.
type Curve struct {
	Name  string // written at the end of the curve
	Hue   Hue
	Reads []Read // in order of time
}

// A Read is one arrival of text: what had come by then.
type Read struct {
	At     time.Duration // since dispatch
	Tokens float64       // cumulative; interpolated where chunks hold several
}

// A Span is a stretch of time since dispatch. It is empty unless To > From.
type Span struct {
	From, To time.Duration
	Label    string
}

// SVG draws stalls, stairs and, at the foot, the wait for the first text.
func (a Arrival) SVG() template.HTML {
	s := a.Size.norm()
	var span time.Duration
	tokens := 0.0
	for _, curve := range a.Curves {
		for _, r := range curve.Reads {
			if r.At >= 0 && known(r.Tokens) && r.Tokens >= 0 {
				span, tokens = max(span, r.At), max(tokens, r.Tokens)
			}
		}
	}
	if span <= 0 || tokens <= 0 {
		return noData("chart arrival", s, a.Label)
	}
	for _, b := range append([]Span{a.First}, a.Stalls...) {
		if b.To > b.From {
			span = max(span, b.To)
		}
	}
	c := newCanvas("chart arrival", s, a.Label)
	f := frame{c: c, top: s.Text * .8, bottom: s.H - s.Text*2.5}
	var names []string
	for _, curve := range a.Curves {
		names = append(names, tagText(s, curve.Name))
	}
	f.right = s.W - tagRoom(s, names...)
	xs := Linear(0, span.Seconds())
	ys := LinearOver(0, tokens)
	y := newLadder(ys, nil, f.bottom-f.top, s.Text)
	f.left = y.room(s.Text)
	x := func(d time.Duration) float64 { return xs.in(d.Seconds(), f.left, f.right) }

	var pennants []pennant
	var stalls pen
	if b := a.First; b.To > b.From && b.From >= 0 {
		pennants = append(pennants, pennant{x: x(b.To), line: "edge", class: "wt", label: b.Label})
	}
	for _, b := range a.Stalls {
		if b.To > b.From && b.From >= 0 {
			pennants = append(pennants, pennant{x: x(b.From), line: "edge", class: "ev", label: b.Label})
		}
	}
	f.top += float64(layPennants(pennants, s.Text, f.left, s.W)) * s.Text * 1.35
	for _, b := range a.Stalls {
		if b.To > b.From && b.From >= 0 {
			stalls.rect(x(b.From), f.top, max(x(b.To)-x(b.From), .5), f.bottom-f.top)
		}
	}
	c.path("stall", stalls.String(), "")
	f.yAxis(y)
	f.bottomAxis(xs)
	var tags []tag
	for i, curve := range a.Curves {
		var p pen
		var last *Read
		for i := range curve.Reads {
			r := &curve.Reads[i]
			if r.At < 0 || !known(r.Tokens) || r.Tokens < 0 {
				continue
			}
			if last == nil {
				p.move(x(r.At), ys.in(0, f.bottom, f.top))
			} else {
				p.line(x(r.At), ys.in(last.Tokens, f.bottom, f.top))
			}
			p.line(x(r.At), ys.in(r.Tokens, f.bottom, f.top))
			last = r
		}
		c.path("ln "+curve.Hue.class(), p.String(), "")
		if last != nil {
			tags = append(tags, tag{ys.in(last.Tokens, f.bottom, f.top), "dl " + curve.Hue.class(), names[i]})
		}
	}
	if a.Rug && len(a.Curves) > 0 {
		a.rug(&f, x)
	}
	a.first(&f, x)
	f.drawPennants(pennants)
	f.drawTags(tags)
	return c.close()
}

// bottomAxis draws seconds beneath, leaving room for the rug.
func (f *frame) bottomAxis(s Scale) {
	low := *f
	low.bottom += f.c.size.Text * .5
	low.xAxis(s, Seconds, false)
}

// rug draws at most one tick per unit of width: more would be a solid bar.
func (a Arrival) rug(f *frame, x func(time.Duration) float64) {
	var p pen
	before := -1.0
	for _, r := range a.Curves[0].Reads {
		if at := x(r.At); r.At >= 0 && at >= before+1 {
			p.move(at, f.bottom+2)
			p.line(at, f.bottom+2+f.c.size.Text*.5)
			before = at
		}
	}
	f.c.path("rug", p.String(), "")
}

// first draws the wait as a thick line on the axis.
func (a Arrival) first(f *frame, x func(time.Duration) float64) {
	if a.First.To <= a.First.From || a.First.From < 0 {
		return
	}
	var p pen
	p.move(x(a.First.From), f.bottom)
	p.line(x(a.First.To), f.bottom)
	f.c.path("wait", p.String(), "")
}
