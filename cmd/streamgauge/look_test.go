package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/streamgauge/streamgauge/site"
)

// TestLoadLook reads the look of a site from its configuration, and names what
// is wrong with one.
func TestLoadLook(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		t.Helper()
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	write("logo.svg", "<svg/>")
	c, err := loadConfig(write("streamgauge.yaml", `
name: Our gauge
theme:
  accent: "#5b2a86"
  accent_dark: "#c9a3f0"
  rates: "#7a4b00"
  rates_dark: "#e6b450"
logo: logo.svg
links:
  - text: Imprint
    href: https://fork.example/imprint
`))
	if err != nil {
		t.Fatal(err)
	}
	want := site.Theme{Accent: "#5b2a86", AccentDark: "#c9a3f0", Rates: "#7a4b00", RatesDark: "#e6b450"}
	if c.Name != "Our gauge" || c.Theme != want || string(c.Logo) != "<svg/>" || len(c.Links) != 1 || c.Links[0] != (site.Link{Text: "Imprint", Href: "https://fork.example/imprint"}) {
		t.Errorf("got %+v", c)
	}
	for name, tt := range map[string]struct{ text, want string }{
		"no logo":        {"logo: gone.svg\n", "read the site's logo"},
		"unknown colour": {"theme:\n  background: \"#000000\"\n", "background"},
		"unknown part":   {"links:\n  - title: x\n", "title"},
	} {
		if _, err := loadConfig(write("bad.yaml", tt.text)); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got error %v; want one with %q", name, err, tt.want)
		}
	}
}
