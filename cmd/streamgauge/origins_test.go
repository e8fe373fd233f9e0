package main

import (
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/streamgauge/streamgauge/data"
)

// An origin is a row of the table that says where a page's numbers come from.
type origin struct {
	name, value, taken string
	n                  int
	query              string
}

// originsOf reads that table from a page.
func originsOf(t *testing.T, file string) []origin {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := html.Parse(f)
	if err != nil {
		t.Fatal(err)
	}
	text := func(n *html.Node) (s string) {
		for d := range n.Descendants() {
			if d.Type == html.TextNode {
				s += d.Data
			}
		}
		return s
	}
	var list []origin
	for table := range doc.Descendants() {
		if table.DataAtom != atom.Table || !strings.HasPrefix(text(table), "What each large number") {
			continue
		}
		for tr := range table.Descendants() {
			if tr.DataAtom != atom.Tr || tr.Parent.DataAtom != atom.Tbody {
				continue
			}
			var cells []string
			var o origin
			for cell := range tr.ChildNodes() {
				cells = append(cells, text(cell))
				for a := range cell.Descendants() {
					for _, at := range a.Attr {
						if u, err := url.Parse(at.Val); at.Key == "href" && err == nil {
							o.query = u.Query().Get("sql")
						}
					}
				}
			}
			o.name, o.value, o.taken = cells[0], cells[1], cells[3]
			if o.n, err = strconv.Atoi(strings.ReplaceAll(cells[4], ",", "")); err != nil {
				t.Errorf("%s: %s rests on %q runs", file, o.name, cells[4])
			}
			list = append(list, o)
		}
	}
	return list
}

// numberOf reads a number as pages write it, in its metric's unit.
func numberOf(t *testing.T, text string) float64 {
	t.Helper()
	text, _, _ = strings.Cut(text, " (")
	digits, unit, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(strings.ReplaceAll(digits, ",", ""), 64)
	if err != nil {
		t.Fatalf("%q is no number", text)
	}
	if unit == "s" {
		v *= 1000
	}
	return v
}

// TestOrigins follows the large numbers of every endpoint of a demo to their
// queries, asks the published file, and makes each number again.
func TestOrigins(t *testing.T) {
	if testing.Short() {
		t.Skip("a demo takes seconds")
	}
	out := t.TempDir()
	if _, log, err := runWith(t, "demo", "--once", "--history", "9d", "--speed", "50", "--out", out); err != nil {
		t.Fatalf("demo: %v\n%s", err, log)
	}
	site := filepath.Join(out, "site")
	pages, err := filepath.Glob(filepath.Join(site, "pair", "*", "*", "index.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("the demo has no endpoint: %v", err)
	}
	made := map[string]int{}
	for _, page := range pages {
		for _, o := range originsOf(t, page) {
			name := filepath.Base(filepath.Dir(page)) + ", " + o.name
			if o.query == "" {
				t.Errorf("%s has no query", name)
				continue
			}
			r, err := data.Query(t.Context(), filepath.Join(site, "dataset", liteFile), o.query, 10_000)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			var got float64
			runs := 0
			switch {
			case o.value == "—":
				continue
			case strings.HasPrefix(o.taken, "geometric mean"):
				for _, row := range r.Rows {
					runs += int(row[1].(int64))
					got += math.Log(realOf(row[2])) / float64(len(r.Rows))
				}
				got = math.Exp(got)
			case strings.HasPrefix(o.taken, "median"):
				var values []float64
				for _, row := range r.Rows {
					values = append(values, realOf(row[1]))
				}
				slices.Sort(values)
				runs = len(values)
				got = (values[(runs-1)/2] + values[runs/2]) / 2
			default:
				for _, row := range r.Rows { // outcome, error_kind, runs
					runs += int(row[2].(int64))
				}
				got = numberOf(t, o.value) // its weights are beyond one query
			}
			if want := numberOf(t, o.value); math.Abs(got-want) > 0.0051*want {
				t.Errorf("%s: the page has %s; its query gives %.6g", name, o.value, got)
			}
			if runs != o.n {
				t.Errorf("%s: the page counts %d runs; its query gives %d", name, o.n, runs)
			}
			made[o.name]++
		}
	}
	t.Logf("made again: %v", made)
	for _, name := range []string{"decode speed", "first token", "published hybrid rule", "available", "whole answer, end to end"} {
		if made[name] == 0 {
			t.Errorf("no endpoint has %s", name)
		}
	}
}

// realOf returns a number as SQLite has it.
func realOf(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v.(float64)
}
