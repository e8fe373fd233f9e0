package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/streamgauge/streamgauge/site"
)

// lookConfig is the part of a site's configuration that says how it looks.
type lookConfig struct {
	Theme struct {
		Accent     string `yaml:"accent"`
		AccentDark string `yaml:"accent_dark"`
		Rates      string `yaml:"rates"`
		RatesDark  string `yaml:"rates_dark"`
	} `yaml:"theme"`
	Logo  string `yaml:"logo"` // a file, beside the configuration unless its path is absolute
	Links []struct {
		Text string `yaml:"text"`
		Href string `yaml:"href"`
	} `yaml:"links"`
}

// into adds the look to a configuration that was read from dir. Package site
// judges colours, logo and links.
func (l *lookConfig) into(c *site.Config, dir string) error {
	c.Theme = site.Theme(l.Theme)
	for _, link := range l.Links {
		c.Links = append(c.Links, site.Link{Text: link.Text, Href: link.Href})
	}
	if l.Logo == "" {
		return nil
	}
	name := l.Logo
	if !filepath.IsAbs(name) {
		name = filepath.Join(dir, name)
	}
	var err error
	if c.Logo, err = os.ReadFile(name); err != nil {
		return fmt.Errorf("read the site's logo: %w", err)
	}
	return nil
}
