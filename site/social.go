package site

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"strings"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site/svg"
)

// socialPath is the folder of the pictures that stand for a page where a link
// to it is shared, as https://ogp.me has them.
const socialPath = "social/"

// The size of a picture that all who show them take, and the margin in it.
const (
	socialWidth  = 1200
	socialHeight = 630
	socialMargin = 64
)

// A card is what a picture says: an answer in words and a few numbers.
type card struct {
	over    string // the small line over the heading
	heading string
	facts   []cardFact
	rows    []cardRow
	metric  rollup.Metric // of rows
	foot    string
	warning string // may be empty
}

// A cardFact is one large number.
type cardFact struct {
	name, value, sub string
	hue              svg.Hue
}

// A cardRow is an endpoint with its level as a bar.
type cardRow struct {
	name, value string
	share       float64 // of the longest bar, NaN if there is none
}

// Inks of the pictures; two more are the theme's.
var (
	cardPaper = colour{0xfb, 0xfa, 0xf6}
	cardInk   = colour{0x13, 0x20, 0x2b}
	cardDim   = colour{0x55, 0x63, 0x6e}
	cardAlarm = colour{0xa8, 0x20, 0x1a}
)

// socialFiles are the picture of the leaderboard, which also stands for pages
// that have none, and one of every endpoint. Without a known address of the site
// no page could point to them.
func (e *edition) socialFiles() ([]file, error) {
	if e.base == nil {
		return nil, nil
	}
	regular, bold, err := parseFonts()
	if err != nil {
		return nil, err
	}
	var idle sync.Pool // of *easel
	draw := func(path string, c func() card) file {
		return file{path, func() ([]byte, error) {
			at, ok := idle.Get().(*easel)
			if !ok {
				var err error
				if at, err = e.newEasel(regular, bold); err != nil {
					return nil, fmt.Errorf("draw %s: %w", path, err)
				}
			}
			defer idle.Put(at)
			data, err := e.drawCard(at, c())
			if err != nil {
				return nil, fmt.Errorf("draw %s: %w", path, err)
			}
			return data, nil
		}}
	}
	files := []file{draw(socialPath+"leaderboard.png", e.boardCard)}
	for _, p := range e.endpoints {
		files = append(files, draw(p.socialPath(), func() card { return e.pairCard(p) }))
	}
	return files, nil
}

func (p *endpoint) socialPath() string { return socialPath + p.path[:len(p.path)-1] + ".png" }

// picture names the picture of a page: the leaderboard's, or that of the
// endpoint whose page it is.
func (e *edition) picture(p *Page, of *endpoint) {
	if e.base == nil {
		return
	}
	path, alt := socialPath+"leaderboard.png", "The leaderboard of "+e.in.Config.Name
	if of != nil {
		path, alt = of.socialPath(), "Measured numbers of "+of.title()
	}
	p.Picture, p.PictureAlt = e.base.String()+path, alt
}

// newCard returns a card with what every one says.
func (e *edition) newCard(heading string) card {
	c := card{over: display(e.in.Config.Name), heading: heading, foot: windowWords(listWindow) + " to " + day(e.now)}
	if e.in.Simulated {
		c.warning = "Simulated data"
	}
	return c
}

func (e *edition) boardCard() card {
	m := e.in.Config.RankBy
	b := e.boards[listWindow][m]
	c := e.newCard(e.boardHeading(b, e.stateOf(b)))
	c.metric = m
	c.foot = plural(len(e.endpoints), "endpoint") + " · " + c.foot
	const most = 5
	longest := 0.0
	for i := range b.Rows[:min(len(b.Rows), most)] {
		of := e.bySeries[b.Rows[i].Series]
		l := e.level(of, listWindow, m)
		row := cardRow{name: of.title(), value: absent, share: math.NaN()}
		if text, ok := levelText(m, l); ok {
			row.value, row.share = text, l.value
			longest = max(longest, l.value)
		}
		c.rows = append(c.rows, row)
	}
	for i := range c.rows {
		c.rows[i].share /= longest
	}
	return c
}

func (e *edition) pairCard(p *endpoint) card {
	c := e.newCard(e.pairHeading(p, listWindow))
	hues := [...]svg.Hue{svg.Speed, svg.Wait, svg.Neutral}
	for i, m := range e.marksFor(p) {
		f := cardFact{name: m.name, value: m.value, hue: hues[i]}
		if value, sub, ok := strings.Cut(m.value, " ("); ok && m.known {
			f.value, f.sub = value, "95 % interval "+strings.TrimSuffix(sub, ")")
			if m.confidence > 0 {
				f.sub = fmt.Sprintf("%d %% interval %s", whole(m.confidence), strings.TrimSuffix(sub, ")"))
			}
		} else if !m.known {
			f.value, f.sub = absent, m.value
		}
		c.facts = append(c.facts, f)
	}
	if date, old := e.dateOf(p); old {
		c.foot += " · " + date
	}
	return c
}

// An easel is what a card is drawn with, kept from one card to the next.
type easel struct {
	canvas               *canvas
	small, strong, large font.Face
	png                  png.Encoder
}

func (e *edition) newEasel(regular, bold *sfnt.Font) (*easel, error) {
	at := &easel{canvas: e.newCanvas(), png: png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: &oneBuffer{}}}
	for _, of := range []struct {
		face *font.Face
		font *sfnt.Font
		size float64
	}{{&at.small, regular, 26}, {&at.strong, bold, 30}, {&at.large, bold, 52}} {
		var err error
		if *of.face, err = newFace(of.font, of.size); err != nil {
			return nil, err
		}
	}
	return at, nil
}

// oneBuffer keeps what one encoder needs from one picture to the next.
type oneBuffer struct{ kept *png.EncoderBuffer }

func (o *oneBuffer) Get() *png.EncoderBuffer  { return o.kept }
func (o *oneBuffer) Put(b *png.EncoderBuffer) { o.kept = b }

// newCanvas returns an empty picture.
func (e *edition) newCanvas() *canvas {
	const shades = 4 // more than sixteen colours in all: image/png copies rows of bytes, and looks at each pixel of smaller ones
	c := &canvas{inks: map[colour]ink{}}
	colours := color.Palette{color.RGBA{cardPaper.r, cardPaper.g, cardPaper.b, 0xff}}
	for _, of := range []colour{cardDim, cardAlarm, e.theme.light[svg.Speed], e.theme.light[svg.Wait], cardInk} {
		if _, twice := c.inks[of]; twice { // a fork has one colour for both
			continue
		}
		c.inks[of] = ink{len(colours), shades}
		for i := range shades {
			s := cardPaper.mix(of, float64(i+1)/shades)
			colours = append(colours, color.RGBA{s.r, s.g, s.b, 0xff})
		}
	}
	c.Paletted = image.NewPaletted(image.Rect(0, 0, socialWidth, socialHeight), colours)
	return c
}

// drawCard draws a card as PNG. Equal cards give equal bytes.
func (e *edition) drawCard(at *easel, x card) ([]byte, error) {
	c, small, strong, large := at.canvas, at.small, at.strong, at.large
	clear(c.Pix)
	const right = socialWidth - socialMargin
	c.fill(0, 0, socialWidth, 10, e.theme.light[svg.Wait])
	c.text(strong, socialMargin, 82, cardInk, fit(strong, x.over, right-socialMargin-300))
	c.text(strong, right-font.MeasureString(strong, x.warning).Ceil(), 82, cardAlarm, x.warning)
	y := 160
	for _, line := range wrap(large, x.heading, right-socialMargin, 3) {
		c.text(large, socialMargin, y, cardInk, line)
		y += 62
	}
	const column = (right - socialMargin) / 3
	for i, f := range x.facts {
		left := socialMargin + i*column
		hue, ok := e.theme.light[f.hue]
		if !ok {
			hue = cardInk
		}
		c.text(small, left, 390, cardDim, f.name)
		c.text(large, left, 452, hue, fit(large, f.value, column-24))
		for j, line := range wrap(small, f.sub, column-24, 2) {
			c.text(small, left, 496+34*j, cardDim, line)
		}
	}
	const step, barFrom, barTo = 50, 540, 830
	y += 60
	for _, r := range x.rows {
		if y > 550 {
			break
		}
		c.text(small, socialMargin, y, cardInk, fit(small, r.name, barFrom-socialMargin-24))
		if sortKey(r.share) != "" {
			c.fill(barFrom, y-20, barFrom+int(r.share*(barTo-barFrom)), y+4, e.theme.light[hueOf(x.metric)])
		}
		c.text(small, barTo+20, y, cardInk, fit(small, r.value, right-barTo-20))
		y += step
	}
	c.text(small, socialMargin, 596, cardDim, fit(small, x.foot, right-socialMargin))
	var b bytes.Buffer
	if err := at.png.Encode(&b, c.Paletted); err != nil {
		return nil, fmt.Errorf("encode a PNG: %w", err)
	}
	return b.Bytes(), nil
}

// fit cuts text that is wider than so many pixels.
func fit(face font.Face, text string, width int) string {
	if font.MeasureString(face, text).Ceil() <= width {
		return text
	}
	letters := []rune(text)
	for len(letters) > 0 && font.MeasureString(face, string(letters)+"…").Ceil() > width {
		letters = letters[:len(letters)-1]
	}
	return string(letters) + "…"
}

// wrap breaks text into at most so many lines; what is left over is cut.
func wrap(face font.Face, text string, width, most int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		longer := strings.TrimSpace(line + " " + word)
		if line != "" && len(lines) < most-1 && font.MeasureString(face, longer).Ceil() > width {
			lines = append(lines, fit(face, line, width))
			longer = word
		}
		line = longer
	}
	if line != "" {
		lines = append(lines, fit(face, line, width))
	}
	return lines
}
