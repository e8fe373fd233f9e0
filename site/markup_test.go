package site

import (
	"html/template"
	"strings"
	"testing"
)

// A written is the data of a part of a page in both of its forms.
type written struct {
	part string // by its name in testdata/markup.tmpl
	data any
	got  template.HTML
}

// parts puts s, and nothing, into every place of every handwritten part.
func parts(s string) []written {
	table := Table{
		Caption: s, CSV: s, Query: s, Head: []Head{{s, false}, {s, true}, {"", false}, {s, true}},
		Rows:  [][]string{{s, s, s, ""}, {s, s}, {}, {"", s, "", s}},
		Doors: [][]string{{"", s, s, s}, {s}, {}},
	}
	numbers := []Number{{}, {Text: s}, {Text: s, Sort: s}, {Text: s, Why: s}, {Text: "free", Sort: "0"}}
	drawing := template.HTML("<svg></svg>")
	var facts []Fact
	board := BoardTable{HasPrice: len(s)%2 == 0}
	for i, n := range numbers {
		other := numbers[(i+2)%len(numbers)]
		facts = append(facts, Fact{Number: n}, Fact{s, s, n, s, s})
		row := BoardRow{Rank: n, Success: n, Price: n, Runs: n, Age: n, First: Cell{Number: n}, Second: Cell{Number: other}}
		full := BoardRow{
			Class: s, Rank: n, Rule: s, Href: s, Name: s, Provider: s, Why: s, Words: s, ProviderKey: s, Size: s, Open: true,
			First: Cell{n, s, s, s, drawing, s}, Second: Cell{other, "", s, s, drawing, s},
			Success: other, SuccessRange: s, Strip: drawing, Trend: drawing, Price: other, Runs: n, Age: other,
		}
		named := full
		named.Why, named.First.Spread = "", ""
		alone := full
		alone.Provider = ""
		board.Rows = append(board.Rows, row, full, named, alone)
	}
	groups := []Group{{Name: s, Links: []Choice{{s, s, false}, {s, s, true}}}, {}}
	origins := struct {
		Root string
		Rows []Origin
	}{s, []Origin{{}, {s, s, s, s, s, s, s, s}}}
	figure := Figure{s, s, s, drawing, drawing, &table, s, s, s}
	page := Page{
		Frame: &Frame{Site: Config{Name: s}, Feed: s, Style: s, Icon: s}, Title: s, Description: s, Canonical: s, NoIndex: true, Picture: s, PictureAlt: s,
		Alternates: []Alternate{{s, s, s}, {}}, Styles: []string{s, ""}, Scripts: []Script{{s, s}, {Src: s}},
	}
	return []written{
		{"meta", page, metaMarkup(page)}, {"meta", Page{Frame: &Frame{}}, metaMarkup(Page{Frame: &Frame{}})},
		{"choices", groups[0].Links, choicesMarkup(groups[0].Links)},
		{"figure", figure, figureMarkup(figure)}, {"figure", Figure{}, figureMarkup(Figure{})},
		{"scrolled", table, scrolledMarkup(table)}, {"table", table, tableMarkup(table)}, {"table", Table{}, tableMarkup(Table{})},
		{"number", numbers[1], numberMarkup(numbers[1])}, {"number", numbers[3], numberMarkup(numbers[3])},
		{"facts", facts, factsMarkup(facts)}, {"links", groups, linksMarkup(groups)},
		{"origins", origins, originsMarkup(origins.Root, origins.Rows)}, {"rows", board, boardMarkup(board)},
	}
}

// oracle returns the parts as html/template has them.
func oracle(tb testing.TB) *template.Template {
	tb.Helper()
	parsed, err := template.ParseFiles("testdata/markup.tmpl")
	if err != nil {
		tb.Fatal(err)
	}
	return parsed
}

func checkParts(t *testing.T, oracle *template.Template, s string) {
	t.Helper()
	for _, w := range parts(s) {
		var want strings.Builder
		if err := oracle.ExecuteTemplate(&want, w.part, w.data); err != nil {
			t.Fatal(err)
		}
		if got := string(w.got); got != want.String() {
			at := 0
			for at < min(len(got), want.Len()) && got[at] == want.String()[at] {
				at++
			}
			t.Errorf("%s of %.60q\ngot  …%.200q\nwant …%.200q", w.part, s, got[at:], want.String()[at:])
		}
	}
}

// TestHandwritten compares what is written in Go with what html/template makes
// of the same data, byte for byte.
func TestHandwritten(t *testing.T) {
	oracle := oracle(t)
	for _, s := range []string{
		"", "plain text", "2.5", "</td></tr></table><script>alert(1)</script>", `" onmouseover="alert(1)" x="`, "it's a+b & c<d>e",
		"javascript:alert(1)", "../pair/a--b/?sql=SELECT+%27x%27&file=y#console", "#of-speed", "https://gauge.example/a b?c=d",
		"{{.Name}}", "-->", "\u202egnp.exe", "\x00\xff", "ünïcödé-模型",
	} {
		checkParts(t, oracle, s)
	}
}

// FuzzHandwritten does the same with any text.
func FuzzHandwritten(f *testing.F) {
	for _, s := range []string{"", `"'<>&+`, "javascript:x"} {
		f.Add(s)
	}
	oracle := oracle(f)
	f.Fuzz(func(t *testing.T, s string) { checkParts(t, oracle, s) })
}
