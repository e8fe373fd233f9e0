package site_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site"
)

// hostile are names that try to be something else.
var hostile = []string{
	"</script><script>alert(1)</script>",
	"__f__(alert(1))__f__",
	`" onmouseover="alert(1)" x="`,
	"{{.Site.Owner}}",
	"\u202egnp.exe\u202c",
	"zero\u200bwidth\u2066isolate",
	"\x00\x1b[31m\r\nred",
	"=cmd|' /C calc'!A0",
	"@SUM(1+1)*cmd|' /C calc'!A0",
	"-2+3",
	"../../../etc/passwd",
	"..", ".", "index.html", "24h", "a--b", "CON", "Q W E", "qwe", "q/w:e",
	"ünïcödé-模型",
	"\xff\xfe not UTF-8",
	strings.Repeat("long ", 2000),
}

// hostileInputs is a site of series with hostile names, titles and notes.
func hostileInputs(t testing.TB) site.Inputs {
	t.Helper()
	var pasts []past
	for i, name := range hostile {
		pasts = append(pasts,
			past{fmt.Sprint("plain", i), name, "smooth-60", 6 * time.Hour, 8},
			past{name, "plain", "stall", 6 * time.Hour, 8})
	}
	in := inputs(t, pasts...)
	for i := range in.Providers {
		p := &in.Providers[i]
		p.Title, p.Note, p.Homepage = p.Name, p.Name, "javascript:alert(1)//"+p.Name
		for j := range p.Models {
			m := &p.Models[j]
			m.Title, m.Note, m.SizeClass, m.Repeat = m.Name, m.Name, m.Name, "streamgauge probe --model '"+m.Name+"'"
		}
	}
	for i, name := range hostile {
		in.Events = append(in.Events, rollup.Event{
			ID: name, Kind: rollup.EventNote, Found: built.Add(-24 * time.Hour), Onset: built.Add(-48 * time.Hour),
			Provider: name, Series: in.Histories[i].Series,
			Note: &rollup.Note{What: rollup.NoteServed, From: name, To: name},
		})
	}
	for i := range in.Histories {
		for j := range in.Histories[i].Samples {
			s := &in.Histories[i].Samples[j]
			s.ServedBy, s.Backend, s.Env.Region = hostile[(i+j)%len(hostile)], hostile[j%len(hostile)], hostile[i%len(hostile)]
		}
	}
	in.Config.Owner, in.Config.Funding = "<b>Owner</b>", "</p><script>alert(1)</script>"
	return in
}

// TestHostileNames publishes series with hostile names, titles and notes.
func TestHostileNames(t *testing.T) {
	dir := build(t, hostileInputs(t))
	mustCrawl(t, dir)

	for _, name := range paths(t, dir) {
		data := readFile(t, dir, name)
		for _, element := range strings.Split(name, "/") {
			if len(element) > 120 || strings.Trim(strings.ToLower(element), "abcdefghijklmnopqrstuvwxyz0123456789.-_") != "" {
				t.Errorf("path %q", name)
			}
		}
		switch path.Ext(name) {
		case ".html":
			for _, bad := range []string{"<script>alert", "onmouseover=\"", "\u202e", "\u2066", "\u200b", "\x00", "\x1b", `href="javascript`, "<b>Owner"} {
				if bytes.Contains(data, []byte(bad)) {
					t.Errorf("%s contains %q", name, bad)
				}
			}
			if len(data) > 500_000 {
				t.Errorf("%s has %d bytes", name, len(data))
			}
		case ".json":
			if bytes.ContainsAny(data, "<>") {
				t.Errorf("%s holds an unescaped angle bracket", name)
			}
		case ".csv":
			rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
			for _, row := range rows {
				for i, c := range row {
					// Columns of names; others are our own numbers and words.
					if strings.HasSuffix(name, "leaderboard.csv") && i >= 3 && i <= 5 && c != "" && strings.ContainsRune("=+-@\t\r", rune(c[0])) {
						t.Errorf("%s: cell %.40q is a formula", name, c)
					}
				}
			}
		}
	}
}
