package site

import (
	"bytes"
	"encoding/xml"
	"fmt"
)

// discoveryFiles are for machines and for those who are lost: the page for an
// unknown address, robots.txt, the sitemap and the feed.
func (e *edition) discoveryFiles() ([]file, error) {
	files := []file{
		e.html("404.html", "404", func() (any, error) { return struct{ Page }{e.lostPage()}, nil }),
		{"robots.txt", func() ([]byte, error) { return e.robots(), nil }},
	}
	if e.base != nil { // both want absolute addresses
		files = append(files, file{feedPath, e.feed})
		if !e.in.Config.NoIndex {
			files = append(files, file{"sitemap.xml", e.sitemap})
		}
	}
	return files, nil
}

// lostPage is the page a server shows in place of one it does not have, at any
// depth. Its links begin at the site's root, as relative ones would be resolved
// against the wrong address and a base element is forbidden by our policy.
func (e *edition) lostPage() Page {
	root := "/"
	if e.base != nil {
		root = e.base.EscapedPath()
	}
	frame := *e.frameOf(root, noSection)
	frame.StaleHours = 0
	p := Page{Frame: &frame, Title: "No such page", Description: "There is nothing at this address.", NoIndex: true}
	e.dress(&p)
	e.picture(&p, nil)
	return p
}

// robots returns robots.txt. Where search engines are asked to stay away, each
// page says so itself, and must be open to be read for that: a crawler that may
// not fetch a page never sees its noindex, and may list its address all the
// same. See https://developers.google.com/search/docs/crawling-indexing/block-indexing.
// What is no page cannot say it, and is closed.
func (e *edition) robots() []byte {
	if e.in.Config.NoIndex {
		return []byte("User-agent: *\nDisallow: /*.json\nDisallow: /*.csv\nDisallow: /*.atom\nDisallow: /*.sqlite\nDisallow: /*.gz\nDisallow: /*.txt$\nDisallow: /*.png\nDisallow: /*.svg\n")
	}
	text := "User-agent: *\nAllow: /\n"
	if e.base != nil {
		text += "Sitemap: " + e.base.String() + "sitemap.xml\n"
	}
	return []byte(text)
}

// sitemap lists the pages that a reader may want to find: the front page, prose,
// and one page of each endpoint, model and provider.
func (e *edition) sitemap() ([]byte, error) {
	type address struct {
		Loc     string `xml:"loc"`
		LastMod string `xml:"lastmod"`
	}
	var set struct {
		XMLName struct{}  `xml:"urlset"`
		Space   string    `xml:"xmlns,attr"`
		URLs    []address `xml:"url"`
	}
	set.Space = "http://www.sitemaps.org/schemas/sitemap/0.9"
	paths := []string{"", "provider/", "changes/", datasetPath, queryPath, "guides/"}
	paths = append(paths, comparePath, racePath, reliabilityPath, pricePath, estimatePath, evaluatePath, statusPath)
	names, err := proseNames(e.in.Content)
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if name != datasetProse {
			paths = append(paths, prosePath(name))
		}
	}
	for _, p := range e.endpoints {
		paths = append(paths, p.path)
	}
	for _, name := range sortedKeys(e.shared()) {
		paths = append(paths, modelPath(name))
	}
	for _, p := range e.providers {
		paths = append(paths, p.path)
	}
	for _, path := range paths {
		set.URLs = append(set.URLs, address{e.base.String() + path, iso(e.now)})
	}
	var b bytes.Buffer
	b.WriteString(xml.Header)
	if err := xml.NewEncoder(&b).Encode(set); err != nil {
		return nil, fmt.Errorf("write the sitemap: %w", err)
	}
	b.WriteByte('\n')
	return b.Bytes(), nil
}

// feed returns the changes as Atom.
func (e *edition) feed() ([]byte, error) {
	return e.eventFeed("changes", "changes/", feedPath, e.events, e.incidents(nil))
}
