package site

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// A Problem is what is wrong with a file of a built site.
type Problem struct {
	File string
	What string
}

// String returns "file: what".
func (p Problem) String() string { return p.File + ": " + p.What }

// policy is the content security policy that every page must begin with.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'self'"

// Crawl checks a built site and returns what is wrong, in the order of files:
//
//   - markup that does not parse back as it was written, repeated ids;
//   - a page without the content security policy before all that it governs, or
//     with what the policy would block: inline script or style, event handlers,
//     anything loaded from another host;
//   - links to pages, files or fragments that do not exist;
//   - a page without title, language or exactly one first-level heading;
//   - where one page says that its data is simulated, pages that do not.
//
// It returns an error if the site cannot be read or holds no page.
func Crawl(site fs.FS) ([]Problem, error) {
	c := crawler{pages: map[string]*crawled{}, files: map[string]bool{}}
	err := fs.WalkDir(site, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		c.files[name] = true
		if path.Ext(name) != ".html" {
			return nil
		}
		data, err := fs.ReadFile(site, name)
		if err != nil {
			return err
		}
		return c.read(name, data)
	})
	if err != nil {
		return nil, fmt.Errorf("crawl the site: %w", err)
	}
	if len(c.pages) == 0 {
		return nil, errors.New("crawl the site: it has no page")
	}
	c.check()
	return c.problems, nil
}

type crawler struct {
	files    map[string]bool
	pages    map[string]*crawled
	problems []Problem
}

// A crawled is what the crawl keeps of a page.
type crawled struct {
	ids       map[string]bool
	links     []string // as written
	simulated bool
}

func (c *crawler) blame(file, format string, args ...any) {
	c.problems = append(c.problems, Problem{file, fmt.Sprintf(format, args...)})
}

// read parses a page and checks what concerns it alone.
func (c *crawler) read(name string, data []byte) error {
	c.checkTags(name, data)
	doc, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		return fmt.Errorf("parse %s: %w", name, err)
	}
	page := &crawled{ids: map[string]bool{}}
	c.pages[name] = page
	var guarded bool // the policy has been seen
	var titles, headings int
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			if attr(n, "lang") == "" {
				c.blame(name, "html has no lang")
			}
		case atom.Meta:
			if strings.EqualFold(attr(n, "http-equiv"), "Content-Security-Policy") {
				guarded = attr(n, "content") == policy
			}
		case atom.Title:
			if n.Parent.DataAtom == atom.Head && n.FirstChild != nil {
				titles++
			}
		case atom.H1:
			headings++
		case atom.Base:
			c.blame(name, "base element, which the policy forbids")
		case atom.Style:
			c.blame(name, "inline style element")
		case atom.Script:
			if kind := attr(n, "type"); attr(n, "src") == "" && kind != "application/json" && kind != "application/ld+json" {
				c.blame(name, "inline script")
			}
		}
		if loads(n) && !guarded {
			c.blame(name, "%s before the content security policy", n.Data)
		}
		if slices.Contains(strings.Fields(attr(n, "class")), "demo") {
			page.simulated = true
		}
		c.checkAttributes(name, page, n)
	}
	if !guarded {
		c.blame(name, "no content security policy, or another one")
	}
	if titles != 1 {
		c.blame(name, "%d titles", titles)
	}
	if headings != 1 {
		c.blame(name, "%d first-level headings", headings)
	}
	return nil
}

// loads reports whether an element makes the browser fetch something.
func loads(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Script, atom.Img, atom.Iframe, atom.Audio, atom.Video, atom.Source, atom.Object, atom.Embed:
		return true
	case atom.Link:
		return slices.Contains(strings.Fields(attr(n, "rel")), "stylesheet")
	}
	return false
}

// checkAttributes checks ids, addresses and what the policy blocks.
func (c *crawler) checkAttributes(name string, page *crawled, n *html.Node) {
	for _, a := range n.Attr {
		switch {
		case a.Key == "id":
			if page.ids[a.Val] {
				c.blame(name, "id %q twice", a.Val)
			}
			page.ids[a.Val] = true
		case a.Key == "style":
			c.blame(name, "style attribute on %s", n.Data)
		case strings.HasPrefix(a.Key, "on"):
			c.blame(name, "event handler %s on %s", a.Key, n.Data)
		case a.Key == "href" && (n.DataAtom == atom.A || n.DataAtom == atom.Area):
			c.link(name, page, a.Val, true)
		case a.Key == "href" && n.DataAtom == atom.Link:
			outside := !loads(n) && attr(n, "rel") != "icon"
			c.link(name, page, a.Val, outside)
		case a.Key == "src" || a.Key == "srcset" || a.Key == "poster" || a.Key == "data-explore" || a.Key == "data-echarts" ||
			a.Key == "data" && n.DataAtom == atom.Object || a.Key == "action" || a.Key == "href":
			c.link(name, page, a.Val, false)
		}
	}
}

// link notes a link to follow. One that leads outside is for people only.
func (c *crawler) link(name string, page *crawled, to string, outside bool) {
	u, err := url.Parse(to)
	switch {
	case err != nil || to == "":
		c.blame(name, "link %q is no address", to)
	case u.Scheme == "data" && !outside:
	case u.Scheme == "" && u.Host == "":
		page.links = append(page.links, to)
	case !outside:
		c.blame(name, "loads from elsewhere: %s", to)
	case u.Scheme != "https" && u.Scheme != "http" && u.Scheme != "mailto":
		c.blame(name, "link to %s", to)
	}
}

// check checks what concerns pages together.
func (c *crawler) check() {
	simulated := false
	root := ""
	for _, page := range c.pages {
		simulated = simulated || page.simulated
	}
	if lost := c.pages["404.html"]; lost != nil {
		root = rootOf(lost.links)
	}
	for _, name := range sortedKeys(c.pages) {
		page := c.pages[name]
		if simulated && !page.simulated {
			c.blame(name, "does not say that the data is simulated")
		}
		for _, to := range page.links {
			c.follow(name, to, root)
		}
	}
	slices.SortStableFunc(c.problems, func(a, b Problem) int { return strings.Compare(a.File, b.File) })
}

// rootOf returns the path at which the site will be, as the page for unknown
// addresses believes: its shortest link leads to the front page.
func rootOf(links []string) string {
	root := ""
	for _, to := range links {
		if strings.HasPrefix(to, "/") && (root == "" || len(to) < len(root)) {
			root = to
		}
	}
	return root
}

// follow resolves a link as a browser would and looks for its target.
func (c *crawler) follow(name, to, root string) {
	u, err := url.Parse(to)
	if err != nil {
		return // blamed already
	}
	target := name
	switch {
	case strings.HasPrefix(u.Path, "/"):
		if name != "404.html" {
			c.blame(name, "link from the root: %s works in one place only", to)
			return
		}
		rest, ok := strings.CutPrefix(u.Path, root)
		if !ok {
			c.blame(name, "link to %s, which is outside the site", to)
			return
		}
		target = rest
	case u.Path != "":
		if name == "404.html" {
			c.blame(name, "relative link %s, which breaks below a folder", to)
			return
		}
		target = path.Join(path.Dir(name), u.Path)
		if strings.HasSuffix(u.Path, "/") || u.Path == "." || u.Path == ".." {
			target += "/"
		}
		if strings.HasPrefix(target, "../") {
			c.blame(name, "link to %s, which is outside the site", to)
			return
		}
	}
	if target = strings.TrimPrefix(target, "./"); target == "" || strings.HasSuffix(target, "/") {
		target += "index.html"
	}
	if !c.files[target] {
		c.blame(name, "link to %s, which does not exist", to)
		return
	}
	if page := c.pages[target]; u.Fragment != "" && page != nil && !page.ids[u.Fragment] {
		c.blame(name, "link to %s: there is no such place", to)
	}
}

// void are the elements without an end tag.
var void = regexp.MustCompile(`^(area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)$`)

// checkTags reports tags that do not match: a parser would repair them silently.
func (c *crawler) checkTags(name string, data []byte) {
	z := html.NewTokenizer(bytes.NewReader(data))
	var open []string
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				c.blame(name, "%v", err)
			} else if len(open) > 0 {
				c.blame(name, "<%s> is not closed", open[len(open)-1])
			}
			return
		case html.StartTagToken:
			if tag, _ := z.TagName(); !void.Match(tag) {
				open = append(open, string(tag))
			}
		case html.EndTagToken:
			tag, _ := z.TagName()
			if len(open) == 0 || open[len(open)-1] != string(tag) {
				c.blame(name, "</%s> closes nothing", tag)
				return // all that follows would be blamed too
			}
			open = open[:len(open)-1]
		}
	}
}

// attr returns an attribute's value, "" if it is absent.
func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}
