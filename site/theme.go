package site

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"

	"github.com/streamgauge/streamgauge/site/svg"
)

// A Theme is the colours of a fork, as #rrggbb. An empty one is that of the
// stylesheet. The first of each pair is for light screens; it serves dark ones
// too where the second is empty.
type Theme struct {
	Accent, AccentDark string // links, focus and everything that is a time
	Rates, RatesDark   string // everything that is a rate
}

// minContrast is what text needs by WCAG 2.2, success criterion 1.4.3, level AA;
// minMark is what the lines and bars of a chart need by 1.4.11.
const (
	minContrast = 4.5
	minMark     = 3.0
)

// A palette is the colours of the site where Go draws with them, and the
// stylesheet that a fork adds.
type palette struct {
	light map[svg.Hue]colour // of what is a rate, of what is a time
	css   []byte             // empty: the stylesheet's own colours
	path  string             // where css is published
}

// A ground is what text stands on, on screens of one kind.
type ground struct {
	kind  string // "light"
	paper colour
	all   []colour // paper, heads of tables, rows of those tied for first
}

// grounds returns the backgrounds of light and dark screens as the stylesheet
// has them, so that colours are tested against what they will stand on.
func grounds(style []byte) [2]ground {
	list := [2]ground{
		{"light", colour{0xfb, 0xfa, 0xf6}, nil},
		{"dark", colour{0x0d, 0x15, 0x1b}, nil},
	}
	for _, m := range regexp.MustCompile(`--(paper|head|lead):(#[0-9a-f]{6})`).FindAllSubmatch(style, -1) {
		c, _ := parseColour(string(m[2]))
		g := &list[0]
		if c.luminance() < 0.2 {
			g = &list[1]
		}
		if string(m[1]) == "paper" {
			g.paper = c
		}
		g.all = append(g.all, c)
	}
	for i := range list {
		list[i].all = append(list[i].all, list[i].paper)
	}
	return list
}

// newPalette checks a theme against the stylesheet's backgrounds. A colour that
// text in it could not be read by is refused: it would be a defect of every page.
func newPalette(t Theme, style []byte) (palette, error) {
	p := palette{light: map[svg.Hue]colour{
		svg.Wait:  {0x0b, 0x5c, 0x8a},
		svg.Speed: {0x84, 0x56, 0x00},
	}}
	on := grounds(style)
	var rules [2][]string
	for _, x := range []struct {
		field, light, dark, variable string
		hue                          svg.Hue
	}{
		{"accent", t.Accent, t.AccentDark, "river", svg.Wait},
		{"rates", t.Rates, t.RatesDark, "ochre", svg.Speed},
	} {
		if x.light == "" {
			if x.dark != "" {
				return palette{}, fmt.Errorf("theme: %s_dark is set and %s is not", x.field, x.field)
			}
			continue
		}
		for i, text := range [2]string{x.light, x.dark} {
			field := x.field
			if i == 1 && text != "" {
				field += "_dark"
			} else if i == 1 {
				text = x.light
			}
			c, ok := parseColour(text)
			if !ok {
				return palette{}, fmt.Errorf("theme: %s is %q: want a colour as #rrggbb", field, text)
			}
			for _, back := range on[i].all {
				if have := contrast(c, back); have < minContrast {
					return palette{}, fmt.Errorf("theme: %s %s has a contrast of %.2f with the %s background %s: text needs %.1f (WCAG 2.2, AA)", field, c, have, on[i].kind, back, minContrast)
				}
			}
			if i == 0 {
				p.light[x.hue] = c
			}
			rules[i] = append(rules[i], fmt.Sprintf("--%[1]s:%[2]s;--%[1]s-soft:%[3]s;--%[1]s-wash:%[4]s", x.variable, c, soften(c, on[i].paper), c.mix(on[i].paper, 0.82)))
		}
	}
	if rules[0] != nil {
		p.css = fmt.Appendf(nil, ":root{%s}\n@media screen and (prefers-color-scheme:dark){:root{%s}}\n", strings.Join(rules[0], ";"), strings.Join(rules[1], ";"))
		p.path = hashed("theme", p.css, ".css")
	}
	return p, nil
}

// soften returns the palest colour towards the paper that a line may still have.
func soften(c, paper colour) colour {
	for share := 0.5; share > 0; share -= 0.05 {
		if pale := c.mix(paper, share); contrast(pale, paper) >= minMark+0.1 {
			return pale
		}
	}
	return c
}

// hashed names an asset by its content, as readAssets does.
func hashed(name string, data []byte, ext string) string {
	sum := sha256.Sum256(data)
	return "assets/" + name + "." + hex.EncodeToString(sum[:4]) + ext
}

// newTheme reads what a fork says of its looks.
func (e *edition) newTheme() (err error) {
	c := e.in.Config
	if e.theme, err = newPalette(c.Theme, e.assets.data[e.assets.names["style.css"]]); err != nil {
		return err
	}
	if len(c.Logo) > 0 {
		ext, err := checkLogo(c.Logo)
		if err != nil {
			return fmt.Errorf("logo: %w", err)
		}
		e.logo = hashed("logo", c.Logo, ext)
	}
	for _, l := range c.Links {
		if l.Text != display(l.Text) || webAddress(l.Href) == "" {
			return fmt.Errorf("link %q to %q: want a text of up to %d characters and an http(s) address", l.Text, l.Href, maxName)
		}
	}
	return nil
}

// themeFiles are the stylesheet and the logo of a fork.
func (e *edition) themeFiles() ([]file, error) {
	var files []file
	if e.theme.path != "" {
		files = append(files, file{e.theme.path, func() ([]byte, error) { return e.theme.css, nil }})
	}
	if e.logo != "" {
		files = append(files, file{e.logo, func() ([]byte, error) { return bytes.Clone(e.in.Config.Logo), nil }})
	}
	return files, nil
}

// dress gives a page the stylesheet of a fork.
func (e *edition) dress(p *Page) {
	if e.theme.path != "" {
		p.Styles = append(p.Styles, p.Root+e.theme.path)
	}
}
