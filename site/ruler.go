package site

import (
	"fmt"
	"image"
	"sync"

	"golang.org/x/image/font"
	"golang.org/x/image/font/gofont/gobold"
	"golang.org/x/image/font/gofont/goregular"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// parseFonts returns the Go fonts. They are by Bigelow & Holmes, under the
// licence of the Go project (BSD, three clauses; https://go.dev/blog/go-fonts).
// They draw and measure text in Go alone: no reader loads them. What they have
// no letter for is drawn as a box.
func parseFonts() (regular, bold *sfnt.Font, err error) {
	if regular, err = opentype.Parse(goregular.TTF); err != nil {
		return nil, nil, fmt.Errorf("parse the Go font: %w", err)
	}
	if bold, err = opentype.Parse(gobold.TTF); err != nil {
		return nil, nil, fmt.Errorf("parse the bold Go font: %w", err)
	}
	return regular, bold, nil
}

// newFace returns a font at a size in pixels. It is not safe for concurrent use.
func newFace(f *sfnt.Font, size float64) (font.Face, error) {
	face, err := opentype.NewFace(f, &opentype.FaceOptions{Size: size, DPI: 72, Hinting: font.HintingNone})
	if err != nil {
		return nil, fmt.Errorf("set the Go font to %g px: %w", size, err)
	}
	return face, nil
}

// A ruler measures the text of badges. It is safe for concurrent use.
type ruler struct {
	mu   sync.Mutex // guards face
	face font.Face
}

// newRuler returns a ruler for text as wide as Verdana's at 11 pixels, whose
// letters are about a tenth wider than those of the Go font.
func newRuler() (*ruler, error) {
	regular, _, err := parseFonts()
	if err != nil {
		return nil, err
	}
	face, err := newFace(regular, 12)
	return &ruler{face: face}, err
}

// width returns the width of text in whole pixels.
func (r *ruler) width(text string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return font.MeasureString(r.face, text).Ceil()
}

// A canvas is a picture of a score of colours: paper, and what is drawn on it in a
// few shades for smooth edges. So few make a picture of some kilobytes.
type canvas struct {
	*image.Paletted
	inks map[colour]ink
}

// An ink is a run of the palette, from the palest shade to the colour itself.
type ink struct{ first, shades int }

// text draws text with its baseline at y. What is
// under it must be paper, as the edges of letters are shades of that.
func (c *canvas) text(face font.Face, x, y int, in colour, text string) {
	dot := fixed.P(x, y)
	before := rune(-1)
	for _, r := range text {
		if before >= 0 {
			dot.X += face.Kern(before, r)
		}
		box, mask, at, advance, ok := face.Glyph(dot, r)
		if alpha, drawn := mask.(*image.Alpha); ok && drawn {
			c.stamp(box, alpha, at, c.inks[in])
		}
		dot.X += advance
		before = r
	}
}

// stamp draws a letter's mask.
func (c *canvas) stamp(box image.Rectangle, mask *image.Alpha, at image.Point, in ink) {
	seen := box.Intersect(c.Rect)
	for y := seen.Min.Y; y < seen.Max.Y; y++ {
		for x := seen.Min.X; x < seen.Max.X; x++ {
			a := int(mask.AlphaAt(at.X+x-box.Min.X, at.Y+y-box.Min.Y).A)
			shade := (2*a*in.shades + 255) / 510 // the nearest
			if shade == 0 {
				continue
			}
			// Letters overlap where they are kerned: the darker shade stays.
			pixel := &c.Pix[c.PixOffset(x, y)]
			*pixel = max(*pixel, uint8(in.first+shade-1))
		}
	}
}

// fill paints a rectangle.
func (c *canvas) fill(x0, y0, x1, y1 int, in colour) {
	box := image.Rect(x0, y0, x1, y1).Intersect(c.Rect)
	solid := uint8(c.inks[in].first + c.inks[in].shades - 1)
	for y := box.Min.Y; y < box.Max.Y; y++ {
		row := c.Pix[c.PixOffset(box.Min.X, y):][:box.Dx()]
		for i := range row {
			row[i] = solid
		}
	}
}
