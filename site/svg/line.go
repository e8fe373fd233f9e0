package svg

import (
	"html/template"
	"time"
)

// A Line is a chart of one or more series over time.
type Line struct {
	Size     Size
	Label    string
	From, To time.Time // the window, drawn whole even where nothing was measured
	Scale    Scale     // zero means: chosen from the points, linear
	Log      bool      // choose a logarithmic scale
	Format   func(float64) string
	Series   []Series
	Events   []Event
}

// A Series is one line of a [Line].
type Series struct {
	Name   string // written at the end of the line
	Hue    Hue
	Points []Point       // in order of time
	MaxGap time.Duration // a longer silence is a gap; 0 means only unknown values are
}

// A Point is a value with, where known, a band around it.
type Point struct {
	At     time.Time
	Y      float64
	Lo, Hi float64 // the band, p10 to p90; drawn where both are known
}

// SVG draws bands, then lines, then events. Bands get labels at their ends when
// there is one series.
func (l Line) SVG() template.HTML {
	s := l.Size.norm()
	scale := l.scale()
	if !timeSpan(l.From, l.To) || !scale.ok() {
		return noData("chart line", s, l.Label)
	}
	c := newCanvas("chart line", s, l.Label)
	f := frame{c: c, top: s.Text * .8, bottom: s.H - s.Text*2}
	names := []string{"p90"}
	for _, r := range l.Series {
		names = append(names, tagText(s, r.Name))
	}
	f.right = s.W - tagRoom(s, names...)
	names = names[1:]
	y := newLadder(scale, l.Format, f.bottom-f.top, s.Text)
	f.left = y.room(s.Text)

	var pennants []pennant
	for _, e := range l.Events {
		if e.At.Before(l.From) || e.At.After(l.To) {
			continue
		}
		g := pennant{x: f.timeX(e.At, l.From, l.To), line: "event", class: "ev", label: e.Label}
		if e.Kind == Method {
			g.line, g.class = "meth", "mv"
		}
		pennants = append(pennants, g)
	}
	f.top += float64(layPennants(pennants, s.Text, f.left, s.W)) * s.Text * 1.35
	f.yAxis(y)
	f.timeAxis(l.From, l.To)

	inside := func(t time.Time) bool { return !t.Before(l.From) && !t.After(l.To) }
	var tags []tag
	type drawn struct{ class, band, line string }
	var paths []drawn
	for i, r := range l.Series {
		class := r.Hue.class()
		line, band := new(tracer), new(ribbon)
		var last Point
		var seen bool
		var before time.Time
		for _, p := range r.Points {
			if !inside(p.At) {
				continue
			}
			if r.MaxGap > 0 && !before.IsZero() && p.At.Sub(before) > r.MaxGap {
				line.lift()
				band.lift()
			}
			before = p.At
			x := f.timeX(p.At, l.From, l.To)
			ok := scale.can(p.Y)
			line.to(x, scale.in(p.Y, f.bottom, f.top), ok)
			band.to(x, scale.in(p.Lo, f.bottom, f.top), scale.in(p.Hi, f.bottom, f.top),
				scale.can(p.Lo) && scale.can(p.Hi) && p.Lo <= p.Hi)
			if ok {
				last, seen = p, true
			}
		}
		paths = append(paths, drawn{class, band.String(), line.String()})
		if !seen {
			continue
		}
		tags = append(tags, tag{scale.in(last.Y, f.bottom, f.top), "dl " + class, names[i]})
		if len(l.Series) == 1 && scale.can(last.Lo) && scale.can(last.Hi) && last.Lo < last.Hi {
			tags = append(tags, tag{scale.in(last.Hi, f.bottom, f.top), "", "p90"},
				tag{scale.in(last.Lo, f.bottom, f.top), "", "p10"})
		}
	}
	for _, p := range paths {
		c.path("band "+p.class, p.band, "")
	}
	for _, p := range paths {
		c.path("ln "+p.class, p.line, "")
	}
	f.drawPennants(pennants)
	f.drawTags(tags)
	return c.close()
}

// scale is the given scale or one over all points inside the window.
func (l Line) scale() Scale {
	if l.Scale.ok() {
		return l.Scale
	}
	points := 0
	for _, r := range l.Series {
		points += len(r.Points)
	}
	all := make([]float64, 0, 3*points)
	for _, r := range l.Series {
		for _, p := range r.Points {
			if !p.At.Before(l.From) && !p.At.After(l.To) {
				all = append(all, p.Y, p.Lo, p.Hi)
			}
		}
	}
	if l.Log {
		return LogOver(all...)
	}
	return LinearOver(all...)
}

// A ribbon draws the area between two lines, broken where either is unknown.
type ribbon struct {
	pen
	run []edge
}

type edge struct{ x, lo, hi float64 }

func (r *ribbon) to(x, lo, hi float64, known bool) {
	if !known {
		r.lift()
		return
	}
	r.run = append(r.run, edge{x, lo, hi})
}

func (r *ribbon) lift() {
	switch n := len(r.run); {
	case n == 1: // a point alone would have no area
		e := r.run[0]
		r.rect(e.x-.5, min(e.hi, e.lo), 1, max(e.lo-e.hi, e.hi-e.lo))
	case n > 1:
		first := r.run[0]
		r.move(first.x, first.hi)
		for _, e := range r.run[1:] {
			r.line(e.x, e.hi)
		}
		for i := n - 1; i >= 0; i-- {
			r.line(r.run[i].x, r.run[i].lo)
		}
		r.op('z')
		r.x, r.y = tenths(first.x), tenths(first.hi)
	}
	r.run = r.run[:0]
}

func (r *ribbon) String() string {
	r.lift()
	return r.pen.String()
}
