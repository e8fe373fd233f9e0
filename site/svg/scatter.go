package svg

import (
	"cmp"
	"html/template"
	"math"
	"slices"
)

// A Scatter sets one number against another, price against speed, both on
// logarithmic axes.
type Scatter struct {
	Size             Size
	Label            string
	X, Y             Scale // zero means: chosen from the marks
	FormatX, FormatY func(float64) string
	TitleX, TitleY   string
	BetterX, BetterY Direction
	// Zero, where not empty, names a column left of the axis for marks with
	// X equal to 0, which a logarithmic axis has no place for: "free".
	Zero   string
	Pareto bool // draw the line through the marks that no other mark beats
	Marks  []Mark
}

// A Mark is one point of a [Scatter].
type Mark struct {
	X, Y float64
	Name string
	Hue  Hue
}

// SVG draws the marks and names those on the Pareto line first, then as many
// others as find room; the rest have their name as a tooltip.
func (p Scatter) SVG() template.HTML {
	s := p.Size.norm()
	var xs, ys []float64
	free := false
	for _, m := range p.Marks {
		if known(m.X) && known(m.Y) && m.Y > 0 {
			xs, ys = append(xs, m.X), append(ys, m.Y)
			free = free || m.X == 0 && p.Zero != ""
		}
	}
	sx, sy := p.X, p.Y
	if !sx.ok() {
		sx = LogOver(xs...)
	}
	if !sx.ok() && free {
		sx = Log(.1, 10)
	}
	if !sy.ok() {
		sy = LogOver(ys...)
	}
	if !sx.ok() || !sy.ok() {
		return noData("chart scatter", s, p.Label)
	}
	c := newCanvas("chart scatter", s, p.Label)
	f := frame{c: c, top: s.Text * 2, bottom: s.H - s.Text*3.6, right: s.W - s.Text}
	y := newLadder(sy, p.FormatY, f.bottom-f.top, s.Text)
	f.left = y.room(s.Text)
	gutter := f.left
	if free {
		f.left += max(widthOf(p.Zero, s.Text), s.Text*2) + s.Text
		c.text("", gutter+s.Text*.5, f.bottom+s.Text*1.5, start, clip(p.Zero, 12))
	}
	f.xAxis(sx, p.FormatX, true)
	left := f.left
	f.left = gutter
	f.yAxis(y)
	f.left = left
	c.text("at", gutter, s.Text, start, clip(p.TitleY, 60))
	c.text("at", f.right, s.H-s.Text*.5, end, clip(p.TitleX, 60))

	var dots []dot
	for _, m := range p.Marks {
		d := dot{mark: m, y: 0}
		switch {
		case !known(m.X) || !sy.can(m.Y):
			continue
		case m.X == 0 && p.Zero != "":
			d.x = gutter + s.Text*1.5
		case sx.can(m.X):
			d.x = sx.in(m.X, f.left, f.right)
		default:
			continue
		}
		d.y = sy.in(m.Y, f.bottom, f.top)
		dots = append(dots, d)
	}
	if p.Pareto {
		p.front(c, dots)
	}
	p.names(c, dots, s.W)
	return c.close()
}

type dot struct {
	mark  Mark
	x, y  float64
	front bool
}

// front marks the dots that no other dot equals or beats in both directions
// and joins them by a staircase: between two of them, no better is on offer.
func (p Scatter) front(c *canvas, dots []dot) {
	better := func(d Direction, v float64) float64 {
		if d == Lower {
			return v
		}
		return -v
	}
	cost := func(d dot) (x, y float64) { return better(p.BetterX, d.mark.X), better(p.BetterY, d.mark.Y) }
	slices.SortStableFunc(dots, func(a, b dot) int {
		ax, ay := cost(a)
		bx, by := cost(b)
		return cmp.Or(cmp.Compare(ax, bx), cmp.Compare(ay, by))
	})
	best := math.Inf(1)
	var line pen
	n := 0
	var before dot
	for i := range dots {
		if _, y := cost(dots[i]); y < best {
			best = y
			dots[i].front = true
			if n == 0 {
				line.move(dots[i].x, dots[i].y)
			} else {
				line.line(dots[i].x, before.y)
				line.line(dots[i].x, dots[i].y)
			}
			before = dots[i]
			n++
		}
	}
	if n > 1 {
		c.path("pareto", line.String(), "")
	}
}

type box struct{ x1, y1, x2, y2 float64 }

func (a box) hits(b box) bool { return a.x1 < b.x2 && b.x1 < a.x2 && a.y1 < b.y2 && b.y1 < a.y2 }

// names draws the dots, then the names where they cover no dot and no name.
func (p Scatter) names(c *canvas, dots []dot, width float64) {
	text := c.size.Text
	var taken []box
	for _, d := range dots {
		taken = append(taken, box{d.x - 5, d.y - 5, d.x + 5, d.y + 5})
		var q pen
		q.dot(d.x, d.y)
		class := "mark " + d.mark.Hue.class()
		if d.front {
			class += " front"
		}
		c.path(class, q.String(), d.mark.Name)
	}
	order := make([]int, len(dots))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case dots[a].front == dots[b].front:
			return 0
		case dots[a].front:
			return -1
		}
		return 1
	})
	for _, i := range order {
		d := dots[i]
		name := clip(d.mark.Name, 28)
		w := widthOf(name, text)
		for _, place := range []struct {
			dx, dy float64
			a      anchor
		}{{9, .35, start}, {-9, .35, end}, {0, -.75, middle}, {0, 1.45, middle}} {
			x, y := d.x+place.dx, d.y+place.dy*text
			b := box{x, y - text*.85, x + w, y + text*.25}
			switch place.a {
			case end:
				b.x1, b.x2 = x-w, x
			case middle:
				b.x1, b.x2 = x-w/2, x+w/2
			}
			if b.x1 < 0 || b.x2 > width || b.y1 < 0 || slices.ContainsFunc(taken, b.hits) {
				continue
			}
			taken = append(taken, b)
			class := "mn"
			if d.front {
				class = "ev"
			}
			c.text(class, x, y, place.a, name)
			break
		}
	}
}
