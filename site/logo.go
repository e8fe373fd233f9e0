package site

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image/png"
	"io"
	"strings"
)

// Limits of a logo. It stands on every page, 26 pixels high.
const (
	maxLogoBytes  = 32 << 10
	maxLogoPixels = 1024 // a side
)

// checkLogo returns the file extension of a logo, ".svg" or ".png". A drawing is
// shown as an image, where it can run nothing; but it has an address of its own
// too, so one that holds anything but shapes is refused.
func checkLogo(data []byte) (ext string, err error) {
	if len(data) > maxLogoBytes {
		return "", fmt.Errorf("it has %s; at most %s", size(int64(len(data))), size(maxLogoBytes))
	}
	if bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")) {
		c, err := png.DecodeConfig(bytes.NewReader(data))
		if err != nil {
			return "", fmt.Errorf("read the PNG: %w", err)
		}
		if c.Width > maxLogoPixels || c.Height > maxLogoPixels {
			return "", fmt.Errorf("it has %d×%d pixels; at most %d a side", c.Width, c.Height, maxLogoPixels)
		}
		if _, err := png.Decode(bytes.NewReader(data)); err != nil {
			return "", fmt.Errorf("read the PNG: %w", err)
		}
		return ".png", nil
	}
	return ".svg", checkDrawing(data)
}

const svgSpace = "http://www.w3.org/2000/svg"

// drawingElements and drawingAttributes are what a logo may be made of: shapes
// and paint. There is no script, no style, no text in a font of elsewhere, no
// animation, no link and nothing that loads.
const (
	drawingElements   = " svg g path rect circle ellipse line polyline polygon defs linearGradient radialGradient stop clipPath title desc "
	drawingAttributes = " xmlns version viewBox width height preserveAspectRatio role aria-label aria-hidden id class d x y x1 y1 x2 y2 cx cy r rx ry fx fy points transform" +
		" fill fill-opacity fill-rule clip-rule clip-path clipPathUnits stroke stroke-width stroke-linecap stroke-linejoin stroke-miterlimit stroke-dasharray stroke-dashoffset stroke-opacity" +
		" opacity color offset stop-color stop-opacity gradientUnits gradientTransform spreadMethod "
)

// checkDrawing checks that an SVG file holds nothing but what is listed.
func checkDrawing(data []byte) error {
	d := xml.NewDecoder(bytes.NewReader(data))
	depth, roots := 0, 0
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("read the SVG: %w", err)
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth == 0 {
				roots++
				if t.Name.Local != "svg" {
					return fmt.Errorf("it is neither a PNG nor an SVG: it begins with <%s>", display(t.Name.Local))
				}
			}
			depth++
			if t.Name.Space != svgSpace || !listed(drawingElements, t.Name.Local) {
				return fmt.Errorf("its element <%s> is not one of a plain drawing", display(t.Name.Local))
			}
			for _, a := range t.Attr {
				if a.Name.Space == "xmlns" { // names a space; nothing in it passes
					continue
				}
				if a.Name.Space != "" || !listed(drawingAttributes, a.Name.Local) {
					return fmt.Errorf("its attribute %s is not one of a plain drawing", display(a.Name.Local))
				}
				if v := strings.ToLower(a.Value); strings.Contains(strings.ReplaceAll(v, "url(#", ""), "url") || strings.Contains(v, `\`) {
					return fmt.Errorf("its attribute %s loads something", a.Name.Local)
				}
			}
		case xml.EndElement:
			depth--
		case xml.ProcInst:
			if t.Target != "xml" {
				return fmt.Errorf("it holds the processing instruction %s", display(t.Target))
			}
		case xml.Directive:
			return errors.New("it holds a document type, which can define entities")
		}
	}
	if roots != 1 {
		return errors.New("it is neither a PNG nor an SVG")
	}
	return nil
}

func listed(list, name string) bool {
	return name != "" && !strings.ContainsRune(name, ' ') && strings.Contains(list, " "+name+" ")
}
