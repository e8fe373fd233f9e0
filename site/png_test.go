package site

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestPNG reads pictures back by image/png, odd widths among them, and writes
// several with one writer.
func TestPNG(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var palette color.Palette
	for i := range 16 {
		palette = append(palette, color.RGBA{uint8(i * 16), uint8(255 - i), uint8(i), 0xff})
	}
	var w pngWriter
	for _, size := range []image.Point{{1, 1}, {2, 3}, {7, 5}, {64, 64}, {1200, 630}} {
		for _, colours := range []int{1, 2, 16} {
			picture := image.NewPaletted(image.Rectangle{Max: size}, palette[:colours])
			for i := range picture.Pix {
				picture.Pix[i] = uint8(rng.IntN(colours))
			}
			data, err := w.encode(picture)
			if err != nil {
				t.Fatal(err)
			}
			got, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				t.Fatalf("%v of %d colours: %v", size, colours, err)
			}
			back, ok := got.(*image.Paletted)
			if !ok || back.Rect != picture.Rect || !bytes.Equal(back.Pix, picture.Pix) || !slices.Equal(back.Palette, picture.Palette) {
				t.Errorf("%v of %d colours comes back as another picture", size, colours)
			}
			if again, _ := w.encode(picture); !bytes.Equal(again, data) {
				t.Errorf("%v of %d colours has other bytes the second time", size, colours)
			}
		}
	}
	if _, err := w.encode(image.NewPaletted(image.Rect(0, 0, 1, 1), append(palette, color.Black))); err == nil {
		t.Error("17 colours were written")
	}
}
