package site_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/streamgauge/streamgauge/site"
)

// withQueries gives a site questions, and databases to open: files of some
// bytes, as nothing here reads them.
func withQueries(t testing.TB, in site.Inputs) site.Inputs {
	t.Helper()
	for _, name := range []string{"gauge.sqlite", "gauge.sqlite.gz"} {
		source := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(source, []byte("stands for "+name), 0o666); err != nil {
			t.Fatal(err)
		}
		sum := sha256.Sum256([]byte("stands for " + name))
		in.Dataset = append(in.Dataset, site.File{Name: name, Bytes: int64(len("stands for " + name)), SHA256: hex.EncodeToString(sum[:]), Source: source})
	}
	in.Databases = []site.Database{{Name: "gauge.sqlite", Packed: "gauge.sqlite.gz", Title: "All of it"}}
	in.Queries = []site.Query{
		{
			Title: "Which values are there?", Note: "One of each kind.", SQL: "SELECT *\nFROM t WHERE a < '&'",
			Columns: []string{"name", "count", "rate", "bytes"},
			Rows: [][]any{
				{"<b>bold</b>", int64(-9007199254740993), 0.1, []byte{0, 255}},
				{nil, nil, 1e21, nil},
				{"\u202egnp.exe", int64(7), nil, []byte{}},
				{strings.Repeat("long ", 200), int64(0), -0.5, nil},
			},
			More: true,
		},
		{Title: "Is nothing there?", Note: "Nothing.", SQL: "SELECT 1 WHERE 0", Columns: []string{"1"}},
	}
	return in
}

// elements returns the elements of a kind, in order.
func elements(t testing.TB, page []byte, kind atom.Atom) (found []*html.Node) {
	t.Helper()
	doc, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	for n := range doc.Descendants() {
		if n.DataAtom == kind {
			found = append(found, n)
		}
	}
	return found
}

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func wordsOf(n *html.Node) string {
	var b strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			b.WriteString(d.Data)
		}
	}
	return b.String()
}

// TestQueryAnswers reads the answers back from the page.
func TestQueryAnswers(t *testing.T) {
	dir := build(t, withQueries(t, inputs(t)))
	mustCrawl(t, dir)
	page := readFile(t, dir, "query/index.html")
	tables := elements(t, page, atom.Table)
	if len(tables) != 1 {
		t.Fatalf("%d tables; want one, as one question has rows", len(tables))
	}
	var got [][]string
	var numbers []string
	for n := range tables[0].Descendants() {
		switch n.DataAtom {
		case atom.Tr:
			got = append(got, nil)
		case atom.Th, atom.Td:
			got[len(got)-1] = append(got[len(got)-1], wordsOf(n))
			if n.DataAtom == atom.Th {
				numbers = append(numbers, attribute(n, "class"))
			}
		}
	}
	want := [][]string{
		{"name", "count", "rate", "bytes"},
		{"<b>bold</b>", "-9007199254740993", "0.1", "x'00ff'"},
		{"NULL", "NULL", "1e+21", "NULL"},
		{"\ufffdgnp.exe", "7", "NULL", "x''"},
		{strings.Repeat("long ", 80) + "…", "0", "-0.5", "NULL"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"", "num", "num", ""}, numbers); diff != "" {
		t.Errorf("columns of numbers (-want +got):\n%s", diff)
	}
	for _, says := range []string{"And more.", "No row answers this yet.", "Which values are there?", "One of each kind."} {
		if !bytes.Contains(page, []byte(says)) {
			t.Errorf("the page does not say %q", says)
		}
	}
	if got := wordsOf(elements(t, page, atom.Pre)[0]); got != "SELECT *\nFROM t WHERE a < '&'" {
		t.Errorf("the query is shown as %q", got)
	}
}

// TestConsole checks what the page's script is told: files that exist, and
// their true sizes and sums.
func TestConsole(t *testing.T) {
	in := withQueries(t, inputs(t))
	dir := build(t, in)
	page := readFile(t, dir, "query/index.html")
	form := elements(t, page, atom.Form)[0]
	for _, key := range []string{"data-worker", "data-engine", "data-wasm"} {
		if _, err := os.Stat(filepath.Join(dir, "query", attribute(form, key))); err != nil || attribute(form, key) == "" {
			t.Errorf("%s: %v", key, err)
		}
	}
	if wasm, err := os.ReadFile(filepath.Join(dir, "query", attribute(form, "data-wasm"))); err != nil || !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		t.Errorf("the engine is no WebAssembly: %v", err)
	}
	var file *html.Node
	for _, n := range elements(t, page, atom.Input) {
		if attribute(n, "name") == "file" {
			file = n
		}
	}
	if file == nil {
		t.Fatal("there is no file to choose")
	}
	path, version, _ := strings.Cut(attribute(file, "data-url"), "?v=")
	if path != "../dataset/gauge.sqlite.gz" || !strings.HasPrefix(in.Dataset[0].SHA256, version) || len(version) != 8 {
		t.Errorf("the file is at %q, version %q", path, version)
	}
	if attribute(file, "data-sha256") != in.Dataset[0].SHA256 || attribute(file, "data-bytes") != "23" || attribute(file, "data-packed") != "26" {
		t.Errorf("the file is described as %v", file.Attr)
	}
	if got := wordsOf(elements(t, page, atom.Textarea)[0]); got != in.Queries[0].SQL {
		t.Errorf("the editor begins with %q", got)
	}
	// The page loads nothing of all that by itself.
	for _, name := range loaded(string(page)) {
		if strings.Contains(name, "sqlite") || strings.Contains(name, "worker") {
			t.Errorf("the page loads %s", name)
		}
	}
}

// TestNoConsole builds the page for datasets and templates that offer less.
func TestNoConsole(t *testing.T) {
	none := withQueries(t, inputs(t))
	none.Databases = nil
	bare := withQueries(t, inputs(t))
	fewer := fstest.MapFS{}
	err := fs.WalkDir(bare.Templates, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || strings.Contains(name, "sqlite3") {
			return err
		}
		data, err := fs.ReadFile(bare.Templates, name)
		fewer[name] = &fstest.MapFile{Data: data}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	bare.Templates = fewer
	for name, in := range map[string]site.Inputs{"no database": none, "no engine": bare, "nothing": inputs(t)} {
		dir := build(t, in)
		mustCrawl(t, dir)
		page := readFile(t, dir, "query/index.html")
		if len(elements(t, page, atom.Form)) > 0 || slices.ContainsFunc(loaded(string(page)), func(name string) bool {
			return strings.HasPrefix(name, "../assets/query.") && strings.HasSuffix(name, ".js")
		}) {
			t.Errorf("%s: there is an editor that cannot work", name)
		}
		if got := len(elements(t, page, atom.Table)) == 1; got != (len(in.Queries) > 0) {
			t.Errorf("%s: an answer is there %t", name, got)
		}
	}

	in := withQueries(t, inputs(t))
	in.Databases[0].Packed = "gone.gz"
	if _, err := site.Build(t.Context(), t.TempDir(), in, nil); err == nil || !strings.Contains(err.Error(), "no file gone.gz") {
		t.Errorf("a database that is not in the dataset: error %v", err)
	}
}
