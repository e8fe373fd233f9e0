package site_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// TestDoors looks for numbers of the golden pages that lead nowhere. That what
// they lead to exists, the crawl says; that it makes the number again, a test of
// the command with a real database.
func TestDoors(t *testing.T) {
	kinds := map[string]int{}
	err := fs.WalkDir(os.DirFS("testdata"), ".", func(name string, _ fs.DirEntry, err error) error {
		_, at, golden := strings.Cut(name, "/want/")
		if err != nil || !golden || path.Base(name) != "index.html" {
			return err
		}
		kind, _, nested := strings.Cut(at, "/")
		if !nested {
			kind = "board"
		}
		switch kind {
		case "board", "24h", "first-token", "model", "provider", "pair", "compare", "evaluate", "reliability", "price", "estimate", "race":
		default:
			return nil
		}
		text, err := os.ReadFile(path.Join("testdata", name))
		if err != nil {
			return err
		}
		doc, err := html.Parse(bytes.NewReader(text))
		if err != nil {
			return err
		}
		for n := range doc.Descendants() {
			number, isNumber := numberIn(n)
			if !isNumber {
				continue
			}
			kinds[kind]++
			if !leads(n) {
				t.Errorf("%s: %q leads nowhere", name, number)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"board", "model", "provider", "pair", "compare"} {
		if kinds[kind] == 0 {
			t.Errorf("no number was found on a page of kind %s: %v", kind, kinds)
		}
	}
}

// numberIn returns the number in a cell of a board, of a table or in a row of
// large numbers, but for the entries that doors lead to.
func numberIn(n *html.Node) (string, bool) {
	has := func(n *html.Node, class string) bool {
		for _, a := range n.Attr {
			if a.Key == "class" && strings.Contains(" "+a.Val+" ", " "+class+" ") {
				return true
			}
		}
		return false
	}
	cell := n.DataAtom == atom.Td && (has(n, "num") || has(n, "rank")) || n.DataAtom == atom.Dd && !has(n, "sub")
	if n.Type != html.ElementNode || !cell {
		return "", false
	}
	text := textOf(n)
	for p := n.Parent; p != nil; p = p.Parent {
		if has(p, "origins") || p.DataAtom == atom.Dl && !has(p, "facts") {
			return "", false
		}
	}
	return text, strings.ContainsAny(text, "0123456789")
}

// leads reports whether a cell, or the caption of its table, has a link.
func leads(n *html.Node) bool {
	for d := range n.Descendants() {
		if d.DataAtom == atom.A {
			return true
		}
	}
	for p := n.Parent; p != nil; p = p.Parent {
		if p.DataAtom != atom.Table {
			continue
		}
		for c := range p.ChildNodes() {
			if c.DataAtom == atom.Caption {
				for d := range c.Descendants() {
					if d.DataAtom == atom.A {
						return true
					}
				}
			}
		}
	}
	return false
}
