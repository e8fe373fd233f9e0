package site

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"time"
)

// A Page is what every page has.
type Page struct {
	Site Config

	Title       string // of the browser's tab, without the site's name
	Description string
	Root        string // from the page to the site's root: "", "../", …
	Home        string // the front page, as a link: never empty
	Nav         []Group
	Simulated   bool

	Generated  string // for people
	Stamp      string // the same for machines
	StaleHours int    // 0: never stale
	Revision   string
	Canonical  string // absolute address, if the site has one
	Feed       string // absolute address of the feed of changes, if the site has one
	NoIndex    bool

	Picture     string // absolute address of a picture of it, if the site has one
	PictureAlt  string
	Alternates  []Alternate // the same in other forms
	Logo        string      // relative address of a fork's logo, empty for the built-in one
	Style, Icon string      // relative addresses
	Styles      []string    // of this page alone
	Scripts     []Script    // in order
}

// A Script is one script of a page.
type Script struct {
	Src     string
	ECharts string // where the chart library is, for the script that loads it on demand
}

// An Alternate is another form of a page, for programs.
type Alternate struct{ Type, Title, Href string }

// A Choice is a link in a row of which one may be the page itself.
type Choice struct {
	Text, Href string
	Current    bool
}

// A Group is a part of the navigation under a name of its own.
type Group struct {
	Name  string
	Links []Choice
}

// A Link is a link.
type Link struct{ Text, Href string }

// A section of the site, as the navigation has it.
type section struct{ text, path string }

// sections are what readers come for, in three groups: answers, the record
// behind them, and how it is made.
var sections = [...]struct {
	group string
	parts []section
}{
	{"Results", []section{
		{"Leaderboard", ""},
		{"Compare", comparePath},
		{"Race", racePath},
		{"Reliability", reliabilityPath},
		{"Price", pricePath},
		{"Estimate", estimatePath},
		{"Evaluate", evaluatePath},
		{"Providers", "provider/"},
	}},
	{"Record", []section{
		{"Changes", "changes/"},
		{"Dataset", datasetPath},
		{"Query", queryPath},
	}},
	{"Method", []section{
		{"Methodology", "methodology/"},
		{"Guides", "guides/"},
	}},
}

// page returns what every page has, for one at path: a folder ending in a
// slash, or "" for the front page. Current is the path of its section.
func (e *edition) page(path, current, title, description string, scripts ...string) Page {
	p := Page{
		Site: e.in.Config, Title: title, Description: description,
		Root:      strings.Repeat("../", strings.Count(path, "/")),
		Simulated: e.in.Simulated,
		Generated: instant(e.now), Stamp: iso(e.now),
		StaleHours: int(e.in.Config.StaleAfter / time.Hour),
		Revision:   display(e.in.Revision), NoIndex: e.in.Config.NoIndex,
	}
	if e.in.Simulated { // it is as good as it was
		p.StaleHours = 0
	}
	if e.in.Revision == "" {
		p.Revision = ""
	}
	e.address(&p, path, current, append(scripts, "stale.js")...)
	return p
}

// address fills the links of a page, which depend on its root.
func (e *edition) address(p *Page, path, current string, scripts ...string) {
	p.Home = p.Root
	if p.Home == "" {
		p.Home = "./"
	}
	for _, group := range sections {
		g := Group{Name: group.group}
		for _, s := range group.parts {
			href := p.Root + s.path
			if s.path == "" {
				href = p.Home
			}
			g.Links = append(g.Links, Choice{Text: s.text, Href: href, Current: s.path == current})
		}
		p.Nav = append(p.Nav, g)
	}
	p.Style, p.Icon = p.Root+e.assets.names["style.css"], p.Root+e.assets.names["icon.svg"]
	for _, name := range scripts {
		s := Script{Src: p.Root + e.assets.names[name]}
		if name == "explore.js" {
			s.ECharts = p.Root + e.assets.names["echarts.min.js"]
		}
		p.Scripts = append(p.Scripts, s)
	}
	if e.base != nil {
		p.Canonical = e.base.String() + path
		p.Feed = e.base.String() + feedPath
	}
	e.dress(p)
	e.picture(p, nil)
}

// noSection marks pages that the navigation does not name.
const noSection = "-"

func parseTemplates(files fs.FS) (*template.Template, error) {
	t, err := template.New("").Option("missingkey=error").Funcs(handwritten()).ParseFS(files, "*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("parse the templates: %w", err)
	}
	return t, nil
}

// html returns the file of a page, rendered by the template of that name when
// it is asked for.
func (e *edition) html(path, name string, model func() (any, error)) file {
	return file{path, func() ([]byte, error) {
		data, err := model()
		if err != nil {
			return nil, fmt.Errorf("make %s: %w", path, err)
		}
		b := e.scratch()
		defer e.drawer.Put(b)
		if err := e.templates.ExecuteTemplate(b, name, data); err != nil {
			return nil, fmt.Errorf("render %s: %w", path, err)
		}
		return bytes.Clone(squeeze(b.Bytes())), nil
	}}
}

// scratch returns an empty buffer from the drawer, which one page after the other
// is rendered in: one that grew for each would be grown from nothing each time.
func (e *edition) scratch() *bytes.Buffer {
	b, ok := e.drawer.Get().(*bytes.Buffer)
	if !ok {
		return bytes.NewBuffer(make([]byte, 0, 256<<10))
	}
	b.Reset()
	return b
}

// squeeze removes the indentation and empty lines of templates outside <pre>,
// where white space means nothing. It returns the beginning of html, changed.
func squeeze(html []byte) []byte {
	kept := html[:0]
	pre := false
	for line := range bytes.Lines(html) {
		if !pre {
			if line = bytes.TrimLeft(line, " \t"); len(line) == 1 && line[0] == '\n' {
				continue
			}
		}
		// The last of <pre and </pre on the line says what holds after it.
		for rest := line; ; {
			i := bytes.Index(rest, []byte("pre"))
			if i < 0 {
				break
			}
			if before := rest[:i]; bytes.HasSuffix(before, []byte("<")) {
				pre = true
			} else if bytes.HasSuffix(before, []byte("</")) {
				pre = false
			}
			rest = rest[i+len("pre"):]
		}
		kept = append(kept, line...)
	}
	return kept
}
