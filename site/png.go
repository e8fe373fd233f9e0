package site

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
)

// A pngWriter writes pictures of at most sixteen colours as PNG, four bits a
// pixel, unfiltered, as https://www.w3.org/TR/png-3/ has it. What it needs for
// that it keeps from one picture to the next.
//
// Note: image/png writes the same picture in four times the time: of so few
// colours it asks for each pixel by itself.
type pngWriter struct {
	rows []byte
	zlib *zlib.Writer
}

// encode returns a picture as PNG. Equal pictures give equal bytes.
func (w *pngWriter) encode(p *image.Paletted) ([]byte, error) {
	if len(p.Palette) > 16 {
		return nil, fmt.Errorf("encode a PNG: %d colours; at most 16 fit", len(p.Palette))
	}
	width, height := p.Rect.Dx(), p.Rect.Dy()
	w.rows = w.rows[:0]
	for y := range height {
		w.rows = append(w.rows, 0) // the filter: none
		row := p.Pix[y*p.Stride:][:width]
		for ; len(row) > 1; row = row[2:] {
			w.rows = append(w.rows, row[0]<<4|row[1])
		}
		if len(row) == 1 {
			w.rows = append(w.rows, row[0]<<4)
		}
	}
	var packed bytes.Buffer
	if w.zlib == nil {
		var err error
		if w.zlib, err = zlib.NewWriterLevel(&packed, zlib.BestSpeed); err != nil { // 20 % larger, in a fifth of the time
			return nil, fmt.Errorf("encode a PNG: %w", err)
		}
	}
	w.zlib.Reset(&packed)
	if _, err := w.zlib.Write(w.rows); err != nil {
		return nil, fmt.Errorf("encode a PNG: %w", err)
	}
	if err := w.zlib.Close(); err != nil {
		return nil, fmt.Errorf("encode a PNG: %w", err)
	}

	const depth, indexed = 4, 3
	head := binary.BigEndian.AppendUint32(nil, uint32(width))
	head = binary.BigEndian.AppendUint32(head, uint32(height))
	head = append(head, depth, indexed, 0, 0, 0)
	var colours []byte
	for _, c := range p.Palette {
		r, g, b, _ := c.RGBA()
		colours = append(colours, byte(r>>8), byte(g>>8), byte(b>>8))
	}
	out := append(make([]byte, 0, packed.Len()+128), "\x89PNG\r\n\x1a\n"...)
	out = appendChunk(out, "IHDR", head)
	out = appendChunk(out, "PLTE", colours)
	out = appendChunk(out, "IDAT", packed.Bytes())
	return appendChunk(out, "IEND", nil), nil
}

// appendChunk adds a chunk of a PNG: length, type, data, and a sum of the last two.
func appendChunk(out []byte, kind string, data []byte) []byte {
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	from := len(out)
	out = append(append(out, kind...), data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out[from:]))
}
