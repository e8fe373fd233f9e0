package site_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/streamgauge/streamgauge/site"
)

// TestBuildRefuses has single files refused, and checks that the build ends and
// that what was refused is not there.
func TestBuildRefuses(t *testing.T) {
	refused := errors.New("refused")
	for _, name := range []string{"index.html", "pair/estuary/aspen/index.html", "api/v1/leaderboard.json", "changes.atom", "404.html"} {
		in := inputs(t, three()...)
		seen := false
		in.Check = func(file string, text []byte) error {
			if seen = seen || file == name; file == name && len(text) > 0 {
				return refused
			}
			return nil
		}
		dir := filepath.Join(t.TempDir(), "site")
		_, err := site.Build(t.Context(), dir, in, nil)
		if !seen {
			continue // this build has no such file
		}
		if !errors.Is(err, refused) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: the build ends with %v", name, err)
		}
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(name))); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was written", name)
		}
	}
	in := inputs(t, three()...)
	files := map[string]bool{}
	in.Check = func(file string, _ []byte) error { files[file] = true; return nil }
	dir := build(t, in)
	for _, name := range paths(t, dir) {
		if !files[name] && !strings.HasPrefix(path.Base(name), ".") {
			t.Errorf("%s was not looked at", name)
		}
	}
}

// TestNoIndex checks that a site that search engines are to leave alone says so
// where they look: on every page, which they may read for that; that it lists
// itself nowhere; and that the usual site does none of it.
func TestNoIndex(t *testing.T) {
	for _, hidden := range []bool{true, false} {
		in := inputs(t, three()...)
		in.Config.NoIndex = hidden
		dir := build(t, in)
		mustCrawl(t, dir)
		meta := []byte(`<meta name="robots" content="noindex">`)
		for _, name := range paths(t, dir) {
			if path.Ext(name) != ".html" {
				continue
			}
			always := name == "404.html" || strings.HasPrefix(name, "embed/")
			if got := bytes.Contains(readFile(t, dir, name), meta); got != (hidden || always) {
				t.Errorf("hidden %t: %s says noindex: %t", hidden, name, got)
			}
			if hidden && bytes.Contains(readFile(t, dir, name), []byte("application/ld+json")) {
				t.Errorf("%s announces itself to search engines", name)
			}
		}
		robots := string(readFile(t, dir, "robots.txt"))
		for line := range strings.Lines(robots) {
			rule, of, _ := strings.Cut(strings.TrimSpace(line), ": ")
			// A page that may not be fetched cannot say that it is not to be listed.
			if rule == "Disallow" && (of == "/" || !strings.HasPrefix(of, "/*.")) {
				t.Errorf("hidden %t: robots.txt keeps pages from saying noindex: %s", hidden, line)
			}
		}
		_, err := os.Stat(filepath.Join(dir, "sitemap.xml"))
		if listed := err == nil; listed == hidden || strings.Contains(robots, "Sitemap:") == hidden {
			t.Errorf("hidden %t: there is a sitemap: %t; robots.txt:\n%s", hidden, listed, robots)
		}
	}
}
