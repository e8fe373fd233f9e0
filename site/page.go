package site

import (
	"bytes"
	"cmp"
	"fmt"
	"html/template"
	"io/fs"
	"strings"
	"time"
)

// A Page is what every page has.
type Page struct {
	*Frame

	Title       string // of the browser's tab, without the site's name
	Description string
	Canonical   string // absolute address, if the site has one
	NoIndex     bool

	Picture    string // absolute address of a picture of it, if the site has one
	PictureAlt string
	Alternates []Alternate // the same in other forms
	Styles     []string    // of this page alone
	Scripts    []Script    // in order
}

// A Frame is what pages of one depth and section have in common: all that their
// top and bottom say.
type Frame struct {
	Site      Config
	Root      string // from the page to the site's root: "", "../", …
	Home      string // the front page, as a link: never empty
	Nav       []Group
	Simulated bool

	Generated  string // for people
	Stamp      string // the same for machines
	StaleHours int    // 0: never stale
	Revision   string
	Feed       string // absolute address of the feed of changes, if the site has one

	Logo        string // relative address of a fork's logo, empty for the built-in one
	Style, Icon string // relative addresses
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
		Frame: e.frameOf(strings.Repeat("../", strings.Count(path, "/")), current),
		Title: title, Description: description, NoIndex: e.in.Config.NoIndex,
	}
	if e.base != nil {
		p.Canonical = e.base.String() + path
	}
	for _, name := range append(scripts, "stale.js") {
		p.Scripts = append(p.Scripts, e.script(p.Root, name))
	}
	e.dress(&p)
	e.picture(&p, nil)
	return p
}

// script returns a script of a page whose root is at root.
func (e *edition) script(root, name string) Script {
	s := Script{Src: root + e.assets.names[name]}
	if name == "explore.js" {
		s.ECharts = root + e.assets.names["echarts.min.js"]
	}
	return s
}

// A frameKey is what a frame depends on.
type frameKey struct{ root, current string }

// frameOf returns the frame of pages whose root is at root, in a section: one for
// all of them.
func (e *edition) frameOf(root, current string) *Frame {
	if f, ok := e.frames.Load(frameKey{root, current}); ok {
		return f.(*Frame)
	}
	f := &Frame{
		Site: e.in.Config, Root: root, Home: cmp.Or(root, "./"), Simulated: e.in.Simulated,
		Generated: instant(e.now), Stamp: iso(e.now),
		StaleHours: int(e.in.Config.StaleAfter / time.Hour),
		Style:      root + e.assets.names["style.css"], Icon: root + e.assets.names["icon.svg"],
	}
	if e.in.Simulated { // it is as good as it was
		f.StaleHours = 0
	}
	if e.in.Revision != "" {
		f.Revision = display(e.in.Revision)
	}
	for _, group := range sections {
		g := Group{Name: group.group}
		for _, s := range group.parts {
			href := root + s.path
			if s.path == "" {
				href = f.Home
			}
			g.Links = append(g.Links, Choice{Text: s.text, Href: href, Current: s.path == current})
		}
		f.Nav = append(f.Nav, g)
	}
	if e.base != nil {
		f.Feed = e.base.String() + feedPath
	}
	if e.logo != "" {
		f.Logo = root + e.logo
	}
	first, _ := e.frames.LoadOrStore(frameKey{root, current}, f)
	return first.(*Frame)
}

// A side is a part of a frame: its top or its bottom.
type side struct {
	name string // of its template
	of   *Frame
}

// side renders a part of a frame once for all pages that have it. Its template
// is given the frame alone, so that it can say nothing of one page.
func (e *edition) side(name string, of *Frame) (template.HTML, error) {
	if html, ok := e.sides.Load(side{name, of}); ok {
		return html.(template.HTML), nil
	}
	var b strings.Builder
	if err := e.templates.ExecuteTemplate(&b, name, of); err != nil {
		return "", err
	}
	html := template.HTML(b.String())
	e.sides.Store(side{name, of}, html)
	return html, nil
}

// noSection marks pages that the navigation does not name.
const noSection = "-"

func (e *edition) parseTemplates(files fs.FS) (*template.Template, error) {
	t, err := template.New("").Option("missingkey=error").Funcs(handwritten()).Funcs(template.FuncMap{"side": e.side}).ParseFS(files, "*.tmpl")
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
