package site

import (
	"fmt"
	"html/template"
	"net/url"
)

// embedPath is the folder of the pages that other sites may frame.
const embedPath = "embed/"

// The size of a frame that holds an embedded page whole.
const (
	embedWidth  = 480
	embedHeight = 230
)

// An EmbedPage is an endpoint in a frame of another site: three numbers, their
// date and the way to the rest.
type EmbedPage struct {
	Page
	Heading string
	Facts   []Fact
	Link    string // to the whole page
	When    string
	Old     bool
}

func (p *endpoint) embedPath() string { return embedPath + p.key() + "/" }

// embedFiles are a small page of every endpoint and, where the site's address is
// known, what https://oembed.com asks for to embed it by its address.
func (e *edition) embedFiles() ([]file, error) {
	var files []file
	for _, p := range e.endpoints {
		files = append(files, e.html(p.embedPath()+"index.html", "embed", func() (any, error) { return e.embedPage(p), nil }))
		if e.base != nil {
			files = append(files, e.json(p.embedPath()+"oembed.json", func() any { return e.oembed(p) }))
		}
	}
	return files, nil
}

func (e *edition) embedPage(p *endpoint) EmbedPage {
	page := EmbedPage{Heading: p.title(), When: windowWords(listWindow) + " to " + e.now.Format("2 Jan 2006")}
	page.Page = e.page(p.embedPath(), noSection, p.title(), e.pairHeading(p, listWindow))
	page.NoIndex, page.Canonical, page.Link = true, "", page.Root+p.path
	e.wear(&page.Page, "embed.css")
	facts := e.bigNumbers(p, listWindow)
	success := p.summary[listWindow].Reliability.SuccessRate
	page.Facts = []Fact{facts[0], facts[1], {Name: "success", Number: shareNumber(success), Unit: "%"}}
	if success.OK() {
		page.Facts[2].Sub = "95 % interval " + shareInterval(success)
	} else {
		page.Facts[2].Unit = ""
	}
	for i := range page.Facts {
		page.Facts[i].Name = markNames()[i]
		page.Facts[i].Href = "" // its places are on another page
	}
	if date, old := e.dateOf(p); old {
		page.When, page.Old = date, true
	}
	return page
}

// An oembed is the answer of an oEmbed provider, version 1.0, kind rich.
type oembed struct {
	Version  string `json:"version"`
	Type     string `json:"type"`
	Title    string `json:"title"`
	Provider string `json:"provider_name"`
	Home     string `json:"provider_url"`
	Seconds  int    `json:"cache_age"`
	HTML     string `json:"html"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
	Picture  string `json:"thumbnail_url"`
	PictureW int    `json:"thumbnail_width"`
	PictureH int    `json:"thumbnail_height"`
}

func (e *edition) oembed(p *endpoint) oembed {
	return oembed{
		Version: "1.0", Type: "rich", Title: p.title() + ": measured speed", Provider: e.in.Config.Name, Home: e.base.String(), Seconds: 3600,
		HTML: e.frame(p), Width: embedWidth, Height: embedHeight,
		Picture: e.base.String() + p.socialPath(), PictureW: socialWidth, PictureH: socialHeight,
	}
}

// frame is the markup that embeds an endpoint. Its page runs no script but the
// one that says that its numbers are old; allow-same-origin is what lets it load
// its own stylesheet, and gives it nothing of the page around it.
func (e *edition) frame(p *endpoint) string {
	esc := template.HTMLEscapeString
	return fmt.Sprintf(`<iframe src="%s" title="%s" width="%d" height="%d" loading="lazy" sandbox="allow-same-origin allow-scripts allow-popups allow-popups-to-escape-sandbox"></iframe>`,
		esc(e.base.String()+p.embedPath()), esc("Measured speed of "+p.title()), embedWidth, embedHeight)
}

// A Reuse is how to show an endpoint's numbers elsewhere.
type Reuse struct {
	Badges []BadgeCode
	Frame  string // markup
	Feed   string // of what happens to it
}

// A BadgeCode is a badge with the Markdown that shows it.
type BadgeCode struct{ Src, Alt, Markdown string }

// reuse returns nil where the site's address is not known.
func (e *edition) reuse(root string, p *endpoint) *Reuse {
	if e.base == nil {
		return nil
	}
	r := &Reuse{Frame: e.frame(p), Feed: root + p.feedPath()}
	names := markNames()
	for i, slug := range badgeSlugs() {
		at := badgePath + p.key() + "/" + slug + ".svg"
		r.Badges = append(r.Badges, BadgeCode{
			Src: root + at, Alt: names[i],
			// Names come from providers: the text between the brackets is ours.
			Markdown: fmt.Sprintf("[![%s](%s)](%s)", names[i], e.base.String()+at, e.base.String()+p.path),
		})
	}
	return r
}

// alternates are the other forms of an endpoint's page.
func (e *edition) alternates(root string, p *endpoint) []Alternate {
	list := []Alternate{{"application/json", "API", root + apiPairPath(p)}}
	if e.base != nil {
		list = append(list,
			Alternate{"application/atom+xml", "What happens to " + p.title(), e.base.String() + p.feedPath()},
			Alternate{"application/json+oembed", p.title(), e.base.String() + p.embedPath() + "oembed.json"})
	}
	return list
}

// Machines is what the dataset's page says of the forms that other sites use.
type Machines struct {
	Root    string
	Schemas []Link
	Paths   []MachinePath
	Example *BadgeCode // nil if there is none to show
	Shields string     // address of it by way of Shields
}

// A MachinePath is a form in which every endpoint is published.
type MachinePath struct{ Path, Is string }

func (e *edition) machines(root string) Machines {
	m := Machines{Root: root}
	for _, name := range answerKinds() {
		m.Schemas = append(m.Schemas, Link{name, root + schemaPath + name + ".json"})
	}
	const which = "PROVIDER/MODEL/"
	for i, slug := range badgeSlugs() {
		m.Paths = append(m.Paths, MachinePath{badgePath + which + slug + ".svg", "badge: " + markNames()[i] + " over " + windowWords(listWindow)})
	}
	m.Paths = append(m.Paths,
		MachinePath{badgePath + which + badgeSlugs()[0] + ".json", "the same for Shields, schema version 1"},
		MachinePath{embedPath + which, fmt.Sprintf("page for a frame of %d by %d pixels", embedWidth, embedHeight)})
	if e.base == nil {
		return m
	}
	m.Paths = append(m.Paths,
		MachinePath{embedPath + which + "oembed.json", "the frame as oEmbed"},
		MachinePath{"pair/" + which + "feed.atom", "what happens to it; provider/PROVIDER/feed.atom to all of a provider"},
		MachinePath{methodFeed, "new versions of the method"},
		MachinePath{socialPath + "pair/PROVIDER/MODEL.png", fmt.Sprintf("picture of %d by %d pixels for shared links", socialWidth, socialHeight)})
	if len(e.endpoints) > 0 {
		p := e.endpoints[0]
		m.Example = &e.reuse(root, p).Badges[0]
		m.Shields = "https://img.shields.io/endpoint?url=" + url.QueryEscape(e.base.String()+badgePath+p.key()+"/"+badgeSlugs()[0]+".json")
	}
	return m
}
