package site_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"image/png"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/rollup"
)

// TestBadges reads the badges of an endpoint that is measured, of one that
// always fails, and of one whose measuring stopped.
func TestBadges(t *testing.T) {
	in := inputs(t, past{"estuary", "aspen", "smooth-60", time.Hour, 20}, past{"estuary", "birch", "fails-hang", time.Hour, 20}, past{"estuary", "cedar", "smooth-60", time.Hour, 20})
	in.Simulated = false
	h := &in.Histories[2] // the newest four days are missing
	until := built.Add(-4 * rollup.Day)
	kept := h.Samples[:0:0]
	for _, s := range h.Samples {
		if s.StartedAt.Before(until) {
			kept = append(kept, s)
		}
	}
	h.Samples = kept
	dir := build(t, in)
	for _, tt := range []struct {
		badge, label string
		want         []string
		without      string
	}{
		{"aspen/speed", "decode speed", []string{" tok/s (", "–", ") · 14 Mar 2026"}, "stale"},
		{"aspen/first-token", "first token", []string{" ms (", " · 14 Mar 2026"}, "stale"},
		{"aspen/success", "success", []string{" % (", " · 14 Mar 2026"}, "stale"},
		{"birch/speed", "decode speed", []string{"no run has it · 14 Mar 2026"}, "0 tok"},
		{"birch/success", "success", []string{"0 % (0–"}, "NaN"},
		{"cedar/speed", "decode speed", []string{" · stale since 10 Mar 2026"}, "14 Mar"},
	} {
		t.Run(tt.badge, func(t *testing.T) {
			var shield struct {
				SchemaVersion         int
				Label, Message, Color string
			}
			if err := json.Unmarshal(readFile(t, dir, "badge/estuary/"+tt.badge+".json"), &shield); err != nil {
				t.Fatal(err)
			}
			if shield.SchemaVersion != 1 || shield.Label != tt.label || len(shield.Color) != 7 {
				t.Errorf("got %+v; want schema 1, label %q and a colour", shield, tt.label)
			}
			for _, want := range tt.want {
				if !strings.Contains(shield.Message, want) {
					t.Errorf("the message is %q; want it to contain %q", shield.Message, want)
				}
			}
			if strings.Contains(shield.Message, tt.without) {
				t.Errorf("the message is %q; want none with %q", shield.Message, tt.without)
			}
			drawing := string(readFile(t, dir, "badge/estuary/"+tt.badge+".svg"))
			if !strings.Contains(drawing, ">"+shield.Message+"</text>") {
				t.Errorf("the drawing says something else than %q:\n%s", shield.Message, drawing)
			}
		})
	}
	in.Simulated = true
	if data := readFile(t, build(t, in), "badge/estuary/aspen/speed.svg"); !bytes.Contains(data, []byte(">simulated decode speed<")) {
		t.Errorf("a badge of simulated data does not say so:\n%s", data)
	}
}

// TestMachineFiles parses every file for machines of a site with hostile names,
// and looks for what would run or load.
func TestMachineFiles(t *testing.T) {
	var pasts []past
	for _, name := range hostile {
		pasts = append(pasts, past{"plain", name, "smooth-60", 6 * time.Hour, 8})
	}
	in := inputs(t, pasts...)
	for i := range in.Providers[0].Models {
		in.Providers[0].Models[i].Title = in.Providers[0].Models[i].Name
	}
	in.Config.Name = "<b>x</b>"
	dir := build(t, in)
	mustCrawl(t, dir)
	seen := map[string]int{}
	for _, name := range paths(t, dir) {
		data := readFile(t, dir, name)
		kind := strings.SplitN(name, "/", 2)[0] + path.Ext(name)
		seen[kind]++
		switch {
		case path.Ext(name) == ".atom", strings.HasPrefix(name, "badge/") && path.Ext(name) == ".svg":
			d := xml.NewDecoder(bytes.NewReader(data))
			for {
				token, err := d.Token()
				if token == nil {
					if err.Error() != "EOF" {
						t.Errorf("%s: %v", name, err)
					}
					break
				}
				if s, ok := token.(xml.StartElement); ok {
					if s.Name.Local == "script" || s.Name.Local == "b" {
						t.Errorf("%s has an element <%s>", name, s.Name.Local)
					}
					for _, a := range s.Attr {
						if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" {
							t.Errorf("%s has an attribute %s", name, a.Name.Local)
						}
					}
				}
			}
		case strings.HasPrefix(name, "social/"):
			c, err := png.DecodeConfig(bytes.NewReader(data))
			if err != nil || c.Width != 1200 || c.Height != 630 {
				t.Errorf("%s: %d×%d, %v", name, c.Width, c.Height, err)
			}
			if len(data) > 40_000 {
				t.Errorf("%s has %d bytes; want at most 40000", name, len(data))
			}
		case path.Base(name) == "oembed.json":
			var x struct{ Version, Type, HTML string }
			if err := json.Unmarshal(data, &x); err != nil || x.Version != "1.0" || x.Type != "rich" {
				t.Errorf("%s: %+v, %v", name, x, err)
			}
			if strings.Count(x.HTML, "<") != 2 || !strings.HasPrefix(x.HTML, `<iframe src="https://gauge.example/x/y/embed/plain/`) {
				t.Errorf("%s embeds %s", name, x.HTML)
			}
		case strings.HasPrefix(name, "embed/") && path.Ext(name) == ".html":
			for _, want := range []string{`<meta name="robots" content="noindex">`, "Simulated data", "14 Mar 2026"} {
				if !bytes.Contains(data, []byte(want)) {
					t.Errorf("%s lacks %s", name, want)
				}
			}
			if bytes.Contains(data, []byte("<nav")) {
				t.Errorf("%s has a navigation", name)
			}
		case name == "llms.txt":
			for _, bad := range []string{"alert", "plain", "\u202e"} {
				if bytes.Contains(data, []byte(bad)) {
					t.Errorf("llms.txt repeats what a provider says: %q", bad)
				}
			}
		}
	}
	for kind, n := range map[string]int{"badge.svg": 3 * len(hostile), "badge.json": 3 * len(hostile), "social.png": len(hostile) + 1, "embed.html": len(hostile), "embed.json": len(hostile), "pair.atom": len(hostile), "provider.atom": 1, "changelog.atom": 1, "llms.txt.txt": 1} {
		if seen[kind] != n {
			t.Errorf("%d files of %s; want %d", seen[kind], kind, n)
		}
	}
}

// TestNoAddress builds a site that does not know where it will be: nothing may
// then claim an address.
func TestNoAddress(t *testing.T) {
	in := inputs(t, three()...)
	in.Config.BaseURL = ""
	dir := build(t, in)
	for _, name := range paths(t, dir) {
		if path.Ext(name) == ".atom" || path.Ext(name) == ".png" || path.Base(name) == "oembed.json" {
			t.Errorf("there is a file %s", name)
		}
		if path.Ext(name) == ".html" {
			if data := readFile(t, dir, name); bytes.Contains(data, []byte(`property="og:`)) || bytes.Contains(data, []byte(`name="twitter:`)) {
				t.Errorf("%s has metadata that needs an address", name)
			}
		}
	}
}

// TestShared checks what a page says to those it is shared with, and that what
// it points to is there.
func TestShared(t *testing.T) {
	dir := build(t, inputs(t, three()...))
	for page, picture := range map[string]string{
		"index.html":                        "social/leaderboard.png",
		"methodology/index.html":            "social/leaderboard.png",
		"pair/estuary/aspen/index.html":     "social/pair/estuary/aspen.png",
		"pair/estuary/aspen/24h/index.html": "social/pair/estuary/aspen.png",
	} {
		data := string(readFile(t, dir, page))
		const base = "https://gauge.example/x/y/"
		if want := `<meta property="og:image" content="` + base + picture + `">`; !strings.Contains(data, want) {
			t.Errorf("%s lacks %s", page, want)
		}
		for _, tag := range strings.SplitAfter(data, ">") {
			if _, tag, ok := strings.Cut(tag, `<link rel="alternate"`); ok {
				_, href, _ := strings.Cut(tag, `href="`)
				href, _, _ = strings.Cut(href, `"`)
				href = path.Join(path.Dir(page), href)
				if i := strings.Index(tag, base); i >= 0 {
					href, _, _ = strings.Cut(tag[i+len(base):], `"`)
				}
				readFile(t, dir, href)
			}
		}
		readFile(t, dir, picture)
	}
}

// TestFeeds counts the entries of each feed: an event is in that of its provider
// and of its endpoint, under one name.
func TestFeeds(t *testing.T) {
	in := inputs(t, three()...)
	in.Events = []rollup.Event{
		{ID: "n1", Kind: rollup.EventNote, Found: built.Add(-48 * time.Hour), Onset: built.Add(-72 * time.Hour), Provider: "estuary", Series: in.Histories[0].Series, Note: &rollup.Note{What: rollup.NoteMethod, From: "0", To: "1"}},
		{ID: "i1", Kind: rollup.EventIncident, Found: built.Add(-24 * time.Hour), Onset: built.Add(-24 * time.Hour), Provider: "northwind", Members: []string{"a", "b", "c"}},
	}
	dir := build(t, in)
	type entry struct {
		ID      string `xml:"id"`
		Updated string `xml:"updated"`
	}
	read := func(name string) (list []entry) {
		var feed struct {
			ID      string  `xml:"id"`
			Entries []entry `xml:"entry"`
		}
		if err := xml.Unmarshal(readFile(t, dir, name), &feed); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if feed.ID != "https://gauge.example/x/y/"+name {
			t.Errorf("%s calls itself %s", name, feed.ID)
		}
		return feed.Entries
	}
	for name, want := range map[string]int{
		"changes/feed.atom": 2, "provider/estuary/feed.atom": 1, "provider/northwind/feed.atom": 1,
		"pair/estuary/aspen/feed.atom": 1, "pair/estuary/birch/feed.atom": 0,
	} {
		if got := read(name); len(got) != want {
			t.Errorf("%s has %d entries; want %d", name, len(got), want)
		}
	}
	all, own := read("changes/feed.atom"), read("pair/estuary/aspen/feed.atom")
	if all[1].ID != own[0].ID {
		t.Errorf("one event is %s and %s", all[1].ID, own[0].ID)
	}
	method := read("changelog/feed.atom")
	if len(method) != 1 || !strings.HasSuffix(method[0].ID, "changelog/#method-1") || !strings.HasPrefix(method[0].Updated, "2026-03-11") {
		t.Errorf("the method's feed has %+v", method)
	}
}

// TestOrigins checks that each large number of a pair's page says what it is
// made of, and that its queries name the series and the columns that are there.
func TestOrigins(t *testing.T) {
	in := inputs(t, past{"est'uary", "aspen", "smooth-60", time.Hour, 40})
	dir := build(t, in)
	var at string
	for _, name := range paths(t, dir) {
		if strings.HasPrefix(name, "pair/") && path.Base(name) == "index.html" && strings.Count(name, "/") == 3 {
			at = path.Dir(name)
		}
	}
	for _, page := range []string{"index.html", "24h/index.html", "30d/index.html", "1y/index.html"} {
		data := string(readFile(t, dir, at+"/"+page))
		_, data, ok := strings.Cut(data, `id="origin">`)
		data, _, closed := strings.Cut(data, "</section>")
		if !ok || !closed {
			t.Fatalf("%s does not say where its numbers come from", page)
		}
		for _, want := range []string{"decode speed", "(n − n₁) ÷ (t_N − t₁)", "first token", "t₁ − t₀", "published hybrid rule", "available", "method 1", "as of record 4f2c91a", `href="#repeat"`} {
			if !strings.Contains(data, want) {
				t.Errorf("%s: its origins lack %q", page, want)
			}
		}
		if n := strings.Count(data, "?sql="); n < 4 || strings.Count(data, "est%27%27uary") != n {
			t.Errorf("%s: %d queries, %d of them of the series", page, n, strings.Count(data, "est%27%27uary"))
		}
	}
}
