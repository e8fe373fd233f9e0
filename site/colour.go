package site

import (
	"fmt"
	"math"
	"strconv"
)

// A colour is one of the sRGB space, opaque.
type colour struct{ r, g, b uint8 }

// String returns the colour as CSS has it: #rrggbb.
func (c colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

// parseColour reads #rrggbb, and nothing else that CSS calls a colour.
func parseColour(s string) (colour, bool) {
	if len(s) != 7 || s[0] != '#' {
		return colour{}, false
	}
	v, err := strconv.ParseUint(s[1:], 16, 32)
	if err != nil {
		return colour{}, false
	}
	return colour{uint8(v >> 16), uint8(v >> 8), uint8(v)}, true
}

// luminance is the relative luminance of WCAG 2.2.
func (c colour) luminance() float64 {
	linear := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast is the contrast ratio of WCAG 2.2, from 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// mix returns the colour a share of the way from c to d.
func (c colour) mix(d colour, share float64) colour {
	part := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + (float64(b)-float64(a))*share)) }
	return colour{part(c.r, d.r), part(c.g, d.g), part(c.b, d.b)}
}
