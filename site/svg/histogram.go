package svg

import (
	"html/template"
	"math"
	"slices"
	"strconv"
)

// A Histogram shows how often values fell into each bin. The area of a bar is
// its count, so bins of unequal width compare rightly.
type Histogram struct {
	Size   Size
	Label  string
	Hue    Hue
	Bins   []Bin // by Lo, without overlap
	Log    bool
	Format func(float64) string
	Marks  []Quantile
	// Over, where greater than 0, counts values beyond the scale (a time-out
	// has no time but lasted longer than all): a hollow bar at the right.
	Over      int
	OverLabel string
}

// A Bin is the count of values from Lo up to Hi.
type Bin struct {
	Lo, Hi float64
	N      int
}

// A Quantile is a value to mark on a distribution.
type Quantile struct {
	At    float64
	Label string // "p50"
}

// SVG draws the bars, the marks and the axis beneath.
func (h Histogram) SVG() template.HTML {
	s := h.Size.norm()
	var ends []float64
	total := 0
	for _, b := range h.Bins {
		if b.N > 0 && known(b.Lo) && known(b.Hi) && b.Lo < b.Hi && !(h.Log && b.Lo < least) {
			ends = append(ends, b.Lo, b.Hi)
			total += b.N
		}
	}
	if total <= 0 {
		return noData("chart hist", s, h.Label)
	}
	scale := Linear(slices.Min(ends), slices.Max(ends))
	if h.Log {
		scale = Log(slices.Min(ends), slices.Max(ends))
	}
	c := newCanvas("chart hist", s, h.Label)
	f := frame{c: c, left: s.Text * .5, right: s.W - s.Text, top: s.Text * .5, bottom: s.H - s.Text*2}
	if h.Over > 0 {
		f.right -= s.Text * 3.5
	}
	pennants := quantilePennants(&f, scale, h.Marks)
	f.top += float64(layPennants(pennants, s.Text, f.left, s.W)) * s.Text * 1.35

	type bar struct{ x, w, dense float64 }
	var bars []bar
	tall := 0.0
	for _, b := range h.Bins {
		if b.N <= 0 || !scale.can(b.Lo) || !scale.can(b.Hi) || b.Lo >= b.Hi {
			continue
		}
		x := scale.in(b.Lo, f.left, f.right)
		w := max(scale.in(b.Hi, f.left, f.right)-x, .1)
		bars = append(bars, bar{x, w, float64(b.N) / w})
		tall = max(tall, float64(b.N)/w)
	}
	var p pen
	for _, b := range bars {
		height := max(b.dense/tall*(f.bottom-f.top), .5)
		gap := min(1, b.w/4)
		p.rect(b.x+gap/2, f.bottom-height, b.w-gap, height)
	}
	c.path("bar "+h.Hue.class(), p.String(), "")
	if h.Over > 0 {
		h.over(&f, tall)
	}
	f.baseline()
	f.xAxis(scale, h.Format, false)
	f.drawPennants(pennants)
	return c.close()
}

// over draws the values beyond the scale at the density they would have in a
// bar of their own, held inside the frame.
func (h Histogram) over(f *frame, tall float64) {
	text := f.c.size.Text
	w := text * 1.6
	height := min(max(float64(h.Over)/w/tall, .03), 1) * (f.bottom - f.top)
	x := f.right + text*1.2
	var p pen
	p.rect(x, f.bottom-height, w, height)
	f.c.path("n", p.String(), strconv.Itoa(h.Over)+" "+h.OverLabel)
	f.c.text("", f.c.size.W-2, f.bottom-height-text*.4, end, strconv.Itoa(h.Over))
	f.c.text("", f.c.size.W-2, f.bottom+text*1.5, end, clip(h.OverLabel, 10))
}

func (f *frame) baseline() {
	var p pen
	p.move(f.left, f.bottom)
	p.line(f.right, f.bottom)
	f.c.path("tick", p.String(), "")
}

func quantilePennants(f *frame, s Scale, marks []Quantile) []pennant {
	var pennants []pennant
	for _, m := range marks {
		if s.can(m.At) && s.frac(m.At) >= 0 && s.frac(m.At) <= 1 {
			pennants = append(pennants, pennant{x: s.in(m.At, f.left, f.right), line: "event", class: "ev", label: m.Label})
		}
	}
	return pennants
}

// Dots shows each of a few values: where a histogram would pretend to a shape,
// as under some thirty samples, the samples themselves are the honest picture.
type Dots struct {
	Size   Size
	Label  string
	Hue    Hue
	Values []float64
	Log    bool
	Format func(float64) string
	Marks  []Quantile
}

// SVG stacks dots that would overlap, so that density shows as height.
func (d Dots) SVG() template.HTML {
	s := d.Size.norm()
	scale := LinearOver(d.Values...)
	if d.Log {
		scale = LogOver(d.Values...)
	}
	if !scale.ok() {
		return noData("chart dots", s, d.Label)
	}
	c := newCanvas("chart dots", s, d.Label)
	f := frame{c: c, left: s.Text * .5, right: s.W - s.Text, top: s.Text * .5, bottom: s.H - s.Text*2}
	pennants := quantilePennants(&f, scale, d.Marks)
	f.top += float64(layPennants(pennants, s.Text, f.left, s.W)) * s.Text * 1.35

	const wide = 7 // of one dot
	var values []float64
	for _, v := range d.Values {
		if scale.can(v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	column := map[int]int{}
	tallest := 0
	for _, v := range values {
		k := int(scale.in(v, f.left, f.right) / wide)
		column[k]++
		tallest = max(tallest, column[k])
	}
	rise := min(wide, (f.bottom-f.top-wide)/float64(max(tallest, 1)))
	clear(column)
	var p pen
	for _, v := range values {
		x := scale.in(v, f.left, f.right)
		k := int(x / wide)
		p.dot(x, f.bottom-wide*.7-float64(column[k])*rise)
		column[k]++
	}
	c.path("mark "+d.Hue.class(), p.String(), "")
	f.baseline()
	f.xAxis(scale, d.Format, false)
	f.drawPennants(pennants)
	return c.close()
}

// Parts shows how signed parts add up to a whole, one row each: every bar
// begins where the one above it ended.
type Parts struct {
	Size  Size // H is taken from the number of parts
	Label string
	Parts []Part
}

// A Part is one summand with its published number.
type Part struct {
	Name  string
	Value float64
	Text  string // the value as published, "+0.34 s"
	Hue   Hue
}

// SVG draws the rows. An unknown part has a row and no bar, and the bars after
// it start where the last known one ended.
func (p Parts) SVG() template.HTML {
	s := p.Size.norm()
	row := s.Text * 1.9
	s.H = max(row*float64(len(p.Parts)), row)
	lo, hi, sum := 0.0, 0.0, 0.0
	names, texts := 0.0, 0.0
	some := false
	for _, q := range p.Parts {
		names = max(names, widthOf(clip(q.Name, 24), s.Text))
		texts = max(texts, widthOf(clip(q.Text, 16), s.Text))
		if known(q.Value) {
			some = true
			sum += q.Value
			lo, hi = min(lo, sum), max(hi, sum)
		}
	}
	scale := Linear(lo, hi)
	if !some || !scale.ok() || math.IsInf(hi-lo, 0) {
		return noData("chart parts", s, p.Label)
	}
	c := newCanvas("chart parts", s, p.Label)
	left, right := names+s.Text, s.W-texts-s.Text*.8
	if right-left < s.W/4 {
		left, right = s.W*.35, s.W*.75
	}
	zero := scale.in(0, left, right)
	var rule pen
	rule.move(zero, 0)
	rule.line(zero, s.H)
	at := 0.0
	for i, q := range p.Parts {
		y := float64(i) * row
		c.text("", 0, y+row*.5+s.Text*.35, start, clip(q.Name, 24))
		edge := scale.in(at, left, right)
		if known(q.Value) {
			x1, x2 := scale.in(at, left, right), scale.in(at+q.Value, left, right)
			at += q.Value
			var b pen
			b.rect(min(x1, x2), y+row*.2, max(math.Abs(x2-x1), .5), row*.6)
			c.path("bar "+q.Hue.class(), b.String(), "")
			edge = max(x1, x2)
		}
		c.text("pv", edge+s.Text*.4, y+row*.5+s.Text*.35, start, clip(q.Text, 16))
	}
	c.path("zero", rule.String(), "")
	return c.close()
}
