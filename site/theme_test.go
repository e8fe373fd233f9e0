package site_test

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"github.com/streamgauge/streamgauge/site"
)

const plainLogo = `<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 26 26"><title>x</title><g fill="none" stroke="#123456"><path d="M1 1h9"/></g></svg>`

// TestTheme builds a fork's site and looks for what it asked for.
func TestTheme(t *testing.T) {
	in := inputs(t, three()...)
	in.Config.Theme = site.Theme{Accent: "#5b2a86", AccentDark: "#c9a3f0", Rates: "#7a4b00", RatesDark: "#e6b450"}
	in.Config.Logo = []byte(plainLogo)
	in.Config.Links = []site.Link{{Text: "Imprint & <more>", Href: "https://fork.example/imprint"}}
	dir := build(t, in)
	mustCrawl(t, dir)
	var sheet, logo string
	for _, name := range paths(t, dir) {
		switch {
		case strings.HasPrefix(name, "assets/theme."):
			sheet = name
		case strings.HasPrefix(name, "assets/logo."):
			logo = name
		}
	}
	css := string(readFile(t, dir, sheet))
	light, dark, ok := strings.Cut(css, "@media screen and (prefers-color-scheme:dark)")
	if !ok || !strings.Contains(light, "--river:#5b2a86;") || !strings.Contains(dark, "--river:#c9a3f0;") || !strings.Contains(light, "--ochre:#7a4b00;") {
		t.Errorf("the stylesheet is\n%s", css)
	}
	for _, page := range []string{"index.html", "pair/estuary/aspen/index.html", "404.html", "embed/estuary/aspen/index.html"} {
		data := string(readFile(t, dir, page))
		for _, want := range []string{sheet, logo, "Imprint &amp; &lt;more&gt;"} {
			if strings.HasPrefix(page, "embed/") && want != sheet {
				continue // a frame has neither head nor foot
			}
			if !strings.Contains(data, want) {
				t.Errorf("%s lacks %s", page, want)
			}
		}
		if strings.Index(data, sheet) < strings.Index(data, "assets/style.") {
			t.Errorf("%s: the theme comes before what it changes", page)
		}
	}
	if badge := readFile(t, dir, "badge/estuary/aspen/first-token.svg"); !bytes.Contains(badge, []byte("#5b2a86")) {
		t.Error("a badge does not have the accent")
	}
	for _, name := range paths(t, build(t, inputs(t))) {
		if strings.Contains(name, "theme.") || strings.Contains(name, "logo.") {
			t.Errorf("a site that asked for nothing has %s", name)
		}
	}
}

// TestThemeRefused names what is wrong with a theme. The contrasts are those of
// the WCAG formula with the built-in backgrounds.
func TestThemeRefused(t *testing.T) {
	many := make([]byte, 40<<10)
	wide := new(bytes.Buffer)
	if err := png.Encode(wide, image.NewPaletted(image.Rect(0, 0, 1025, 1), color.Palette{color.Black})); err != nil {
		t.Fatal(err)
	}
	draw := func(inner string) []byte {
		return []byte(`<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">` + inner + `</svg>`)
	}
	logo := func(data []byte) site.Config { return site.Config{Logo: data} }
	for _, tt := range []struct {
		name, want string
		config     site.Config
	}{
		{"name of a colour", "want a colour as #rrggbb", site.Config{Theme: site.Theme{Accent: "red"}}},
		{"short", "want a colour as #rrggbb", site.Config{Theme: site.Theme{Accent: "#abc"}}},
		{"injection", "want a colour as #rrggbb", site.Config{Theme: site.Theme{Accent: "#000;x:"}}},
		{"signed", "want a colour as #rrggbb", site.Config{Theme: site.Theme{Accent: "#+12345"}}},
		{"pale", "with the light background", site.Config{Theme: site.Theme{Accent: "#ffcc00"}}},
		{"dark on dark", "with the dark background", site.Config{Theme: site.Theme{Accent: "#0b5c8a"}}},
		{"dark of its own", "accent_dark #223344", site.Config{Theme: site.Theme{Accent: "#0b5c8a", AccentDark: "#223344"}}},
		{"rates", "rates_dark is set and rates is not", site.Config{Theme: site.Theme{RatesDark: "#ffffff"}}},
		{"script", "element <script>", logo(draw(`<script>x</script>`))},
		{"foreign", "element <foreignObject>", logo(draw(`<foreignObject/>`))},
		{"style", "element <style>", logo(draw(`<style>@import "x"</style>`))},
		{"animation", "element <set>", logo(draw(`<set attributeName="href"/>`))},
		{"use", "element <use>", logo(draw(`<use href="#x"/>`))},
		{"other space", "element <html>", logo(draw(`<html xmlns="http://www.w3.org/1999/xhtml"/>`))},
		{"handler", "attribute onload", logo([]byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="x()"/>`))},
		{"style attribute", "attribute style", logo(draw(`<g style="x"/>`))},
		{"link", "attribute href", logo(draw(`<g xlink:href="x"/>`))},
		{"paint from elsewhere", "loads something", logo(draw(`<path fill="url(https://x.example/#a)"/>`))},
		{"paint from elsewhere, escaped", "loads something", logo(draw(`<path fill="u\72l(//x.example)"/>`))},
		{"entity", "document type", logo([]byte(`<!DOCTYPE svg [<!ENTITY x "y">]><svg xmlns="http://www.w3.org/2000/svg"/>`))},
		{"stylesheet", "processing instruction", logo([]byte(`<?xml-stylesheet href="x"?><svg xmlns="http://www.w3.org/2000/svg"/>`))},
		{"page", "begins with <html>", logo([]byte(`<html/>`))},
		{"text", "neither a PNG nor an SVG", logo([]byte(`hello`))},
		{"broken", "read the SVG", logo([]byte(`<svg xmlns="http://www.w3.org/2000/svg">`))},
		{"big", "41.0 KB", logo(many)},
		{"broken picture", "read the PNG", logo([]byte("\x89PNG\r\n\x1a\nx"))},
		{"wide picture", "1025×1 pixels", logo(wide.Bytes())},
		{"link to a script", "want a text", site.Config{Links: []site.Link{{Text: "x", Href: "javascript:x"}}}},
		{"link without text", "want a text", site.Config{Links: []site.Link{{Href: "https://x.example/"}}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := inputs(t)
			in.Config = tt.config
			if _, err := site.Build(t.Context(), t.TempDir(), in, nil); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got error %v; want one with %q", err, tt.want)
			}
		})
	}
}
