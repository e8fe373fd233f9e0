package site

import (
	"fmt"
	"io/fs"
	"strings"
)

// A ProsePage is a page of text.
type ProsePage struct {
	Page
	Prose Prose
}

// A GuidesPage lists the guides.
type GuidesPage struct {
	Page
	Guides []GuideItem
}

// A GuideItem is a guide in the list.
type GuideItem struct {
	Link
	Summary string
}

// guidePrefix begins the file names of guides.
const guidePrefix = "guide-"

// prosePath returns the folder of a content file's page.
func prosePath(name string) string {
	if guide, ok := strings.CutPrefix(name, guidePrefix); ok {
		return "guides/" + slug(guide) + "/"
	}
	return slug(name) + "/"
}

// datasetProse is the content file that the dataset's page begins with.
const datasetProse = "dataset"

// needed are the content files that pages link to.
var needed = [...]string{"about", "changelog", datasetProse, "methodology", guidePrefix + "reading", "threat-model"}

func (e *edition) proseFiles() ([]file, error) {
	names, err := proseNames(e.in.Content)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	for _, name := range needed {
		if !known[name] {
			return nil, fmt.Errorf("content: %s.md is missing: pages link to it", name)
		}
	}
	var files []file
	guides := GuidesPage{Page: e.page("guides/", "guides/", "Guides", "How to read the numbers, and how to run a gauge of your own.")}
	for _, name := range names {
		prose, err := e.prose(name, known)
		if err != nil {
			return nil, err
		}
		if strings.HasPrefix(name, guidePrefix) {
			guides.Guides = append(guides.Guides, GuideItem{Link{prose.Title, guides.Root + prosePath(name)}, prose.Summary})
		}
		if name == datasetProse {
			continue // part of a larger page
		}
		path := prosePath(name)
		current := path
		if strings.HasPrefix(name, guidePrefix) {
			current = "guides/"
		}
		files = append(files, e.html(path+"index.html", "prose", func() (any, error) {
			p := ProsePage{e.page(path, current, prose.Title, prose.Summary, "copy.js"), prose}
			e.wear(&p.Page, "prose.css")
			return p, nil
		}))
	}
	files = append(files, e.html("guides/index.html", "guides", func() (any, error) { return guides, nil }))
	return files, nil
}

// proseNames returns the names of the content files, sorted.
func proseNames(content fs.FS) ([]string, error) {
	files, err := fs.Glob(content, "*.md")
	if err != nil {
		return nil, fmt.Errorf("list the content: %w", err)
	}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = strings.TrimSuffix(f, ".md")
	}
	return names, nil
}

// prose renders a content file. Links to others become relative ones.
func (e *edition) prose(name string, known map[string]bool) (Prose, error) {
	root := strings.Repeat("../", strings.Count(prosePath(name), "/"))
	return renderProse(e.in.Content, name, e.facts, func(to string) (string, bool) {
		return root + prosePath(to), known[to]
	})
}
