// Package svg draws the charts of the site as SVG text.
//
//   - A chart is a struct of typed inputs with one method, SVG. There is no
//     other state, so equal inputs give equal bytes.
//   - Looks come from CSS classes alone. The output holds no style attribute,
//     no script and no id, so it stands in a page under a strict content
//     security policy, any number of times, in light, dark and print.
//   - A value that is not a finite number is not known. It is drawn as a gap,
//     never as zero; a chart with nothing known says "no data".
//   - Coordinates are rounded to a tenth of a unit, paths are relative: sixty
//     rows of a leaderboard must weigh a few kilobytes.
//
// A drawing is made for one [Size]. A phone gets its own drawing, with its own
// viewBox and relatively larger text, instead of a shrunken wide one: put both
// in the page and let the classes "wide" and "phone" choose.
//
// Every chart has a Label, read by screen readers as the whole drawing. An
// empty Label marks the drawing as decoration of numbers that stand beside it.
// No chart replaces its table: the page puts one under each.
package svg

import (
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A Size is the viewBox of a drawing and the size of its text in the same
// units. Use [Wide], [Half] or [Phone] unless the drawing sits in a table cell.
type Size struct {
	W, H float64
	Text float64 // font size; 0 means 13
	on   screen
}

type screen uint8

const (
	anyScreen screen = iota
	wideScreen
	phoneScreen
)

// Wide is the size of a chart across the page, hidden on a phone.
func Wide(h float64) Size { return Size{W: 1120, H: h, Text: 13, on: wideScreen} }

// Half is the size of a chart in one of two columns, hidden on a phone.
func Half(h float64) Size { return Size{W: 560, H: h, Text: 13, on: wideScreen} }

// Phone is the size of a chart on a phone, hidden on wider screens. Its units
// are CSS pixels on a screen 390 pixels wide.
func Phone(h float64) Size { return Size{W: 358, H: h, Text: 12.5, on: phoneScreen} }

// norm replaces what cannot be drawn: a size must be positive and of this world.
func (s Size) norm() Size {
	fix := func(v, otherwise, low, high float64) float64 {
		if !(v > 0) || v > 1e5 {
			return otherwise
		}
		return min(max(v, low), high)
	}
	s.W = fix(s.W, 960, 16, 1e5)
	s.H = fix(s.H, 240, 8, 1e5)
	s.Text = fix(s.Text, 13, 4, 100)
	return s
}

// A Hue says what a mark stands for; the stylesheet says which colour that is.
type Hue uint8

const (
	Neutral Hue = iota // grey
	Speed              // rates: tokens a second
	Wait               // times: TTFT and its kin
	Alarm              // failures
	entity1            // first of eight fixed colours
)

// Entity is the hue of the i-th entity of a comparison, from 0. There are eight
// colours; from the ninth on they return with a dashed line.
func Entity(i int) Hue {
	if i < 0 || i > 15 {
		return Neutral
	}
	return entity1 + Hue(i)
}

func (h Hue) class() string {
	switch {
	case h == Speed:
		return "sp"
	case h == Wait:
		return "tt"
	case h == Alarm:
		return "al"
	case h >= entity1 && h < entity1+8:
		return "e" + strconv.Itoa(int(h-entity1)+1)
	case h >= entity1+8 && h < entity1+16:
		return "e" + strconv.Itoa(int(h-entity1)-7) + " dash"
	}
	return "nu"
}

// known reports whether v is a number that can be drawn.
func known(v float64) bool { return math.Abs(v) <= most }

// A canvas collects the markup of one drawing.
type canvas struct {
	b    strings.Builder
	size Size
}

// newCanvas opens the root element. The intrinsic width and height keep the
// page from shifting before the stylesheet arrives.
func newCanvas(class string, s Size, label string) *canvas {
	c := &canvas{size: s}
	if strings.HasPrefix(class, "chart") {
		c.b.Grow(4 << 10)
	}
	switch s.on {
	case wideScreen:
		class += " wide"
	case phoneScreen:
		class += " phone"
	}
	c.put(`<svg class="`, class)
	c.number(`" width="`, s.W)
	c.number(`" height="`, s.H)
	c.number(`" viewBox="0 0 `, s.W)
	c.number(` `, s.H)
	c.put(`"`)
	if strings.HasPrefix(class, "chart") || class == "axis" {
		c.number(` font-size="`, s.Text)
		c.put(`"`)
	} else {
		c.put(` preserveAspectRatio="none"`)
	}
	if label == "" {
		c.put(` aria-hidden="true">`)
	} else {
		c.put(` role="img" aria-label="`, escape(clip(label, 400)), `">`)
	}
	return c
}

func (c *canvas) put(parts ...string) {
	for _, p := range parts {
		c.b.WriteString(p)
	}
}

// number adds a coordinate after what comes before it.
func (c *canvas) number(before string, v float64) {
	var room [16]byte
	c.b.WriteString(before)
	c.b.Write(appendTenths(room[:0], tenths(v)))
}

// path draws d, with a tooltip unless title is empty. An empty d draws nothing.
func (c *canvas) path(class, d, title string) {
	if d == "" {
		return
	}
	c.put(`<path class="`, class, `" d="`, d)
	if title == "" {
		c.put(`"/>`)
		return
	}
	c.put(`"><title>`, escape(clip(title, 120)), `</title></path>`)
}

type anchor string

const (
	start  anchor = ""
	middle anchor = "middle"
	end    anchor = "end"
)

func (c *canvas) text(class string, x, y float64, a anchor, s string) {
	if s == "" {
		return
	}
	c.put(`<text`)
	if class != "" {
		c.put(` class="`, class, `"`)
	}
	c.number(` x="`, x)
	c.number(`" y="`, y)
	c.put(`"`)
	if a != start {
		c.put(` text-anchor="`, string(a), `"`)
	}
	c.put(`>`, escape(s), `</text>`)
}

func (c *canvas) close() template.HTML {
	c.put(`</svg>`)
	// Every string that came from outside went through escape.
	return template.HTML(c.b.String())
}

// noData is the honest drawing of nothing: same size, so nothing moves.
func noData(class string, s Size, label string) template.HTML {
	c := newCanvas(class+" none", s, label)
	c.text("", s.W/2, s.H/2+s.Text*.35, middle, "no data")
	return c.close()
}

// tenths rounds a coordinate to tenths of a unit.
func tenths(v float64) int {
	return int(math.Round(min(max(v, -1e6), 1e6) * 10))
}

// appendTenths adds a coordinate in tenths of a unit, without a leading zero.
func appendTenths(b []byte, t int) []byte {
	if t < 0 {
		b = append(b, '-')
		t = -t
	}
	if t >= 10 || t == 0 {
		b = strconv.AppendInt(b, int64(t/10), 10)
	}
	if t%10 != 0 {
		b = append(b, '.', byte('0'+t%10))
	}
	return b
}

// A pen writes path data in relative commands. It keeps its place in whole
// tenths, so rounding does not add up along a path.
type pen struct {
	b    []byte
	x, y int
	cmd  byte
}

func (p *pen) op(cmd byte, args ...int) {
	// After m, further pairs mean l; a repeated command need not be named.
	if !(cmd == p.cmd && cmd != 'm' || cmd == 'l' && p.cmd == 'm') {
		p.b = append(p.b, cmd)
	}
	for i, a := range args {
		last := len(p.b) - 1
		if a >= 0 && (i > 0 || p.b[last] <= '9') {
			p.b = append(p.b, ' ')
		}
		p.b = appendTenths(p.b, a)
	}
	p.cmd = cmd
}

func (p *pen) move(x, y float64) {
	tx, ty := tenths(x), tenths(y)
	p.op('m', tx-p.x, ty-p.y)
	p.x, p.y = tx, ty
}

func (p *pen) line(x, y float64) {
	tx, ty := tenths(x), tenths(y)
	switch {
	case ty == p.y:
		p.op('h', tx-p.x)
	case tx == p.x:
		p.op('v', ty-p.y)
	default:
		p.op('l', tx-p.x, ty-p.y)
	}
	p.x, p.y = tx, ty
}

// rect adds a closed box and returns to its first corner.
func (p *pen) rect(x, y, w, h float64) {
	p.move(x, y)
	tw, th := tenths(x+w)-p.x, tenths(y+h)-p.y
	p.op('h', tw)
	p.op('v', th)
	p.op('h', -tw)
	p.op('z')
}

// dot adds a point that a round line cap makes visible.
func (p *pen) dot(x, y float64) {
	p.move(x, y)
	p.op('h', 0)
}

func (p *pen) String() string { return string(p.b) }

// escape makes s safe in element and attribute, and drops what XML forbids or
// what would reorder the text around it: a name comes from a provider.
func escape(s string) string {
	if !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' || strings.ContainsRune(`<>&"'`, r) }) {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '"':
			b.WriteString("&#34;")
		case r == '\'':
			b.WriteString("&#39;")
		case unicode.IsSpace(r):
			b.WriteByte(' ')
		case unicode.IsControl(r), r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069,
			r == 0x200E, r == 0x200F, r == 0x061C, r == 0xFEFF:
		case r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// clip shortens s to at most n runes, the last of them an ellipsis.
func clip(s string, n int) string {
	i, seen := 0, 0
	for i = range s {
		if seen == n-1 {
			break
		}
		seen++
	}
	if seen < n-1 || utf8.RuneCountInString(s[i:]) <= 1 {
		return s
	}
	return s[:i] + "…"
}

// widthOf estimates the width of s set at the given size: the kit has no font
// at hand, so it allows for a wide one.
func widthOf(s string, size float64) float64 {
	em := 0.0
	for _, r := range s {
		switch {
		case r >= 0x1100:
			em++
		case strings.ContainsRune(" .,:;ijlIt|'", r):
			em += .36
		default:
			em += .62
		}
	}
	return em * size
}
