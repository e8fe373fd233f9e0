package main

import (
	"fmt"
	"io/fs"
	"math"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// A built is a built site whose pages have been parsed.
type built struct {
	t     *testing.T
	dir   string
	pages map[string]*html.Node // by address from the root, without index.html
	asked map[string]data.Result
}

func readSite(t *testing.T, dir string) *built {
	t.Helper()
	b := &built{t: t, dir: dir, pages: map[string]*html.Node{}, asked: map[string]data.Result{}}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Base(name) != "index.html" {
			return err
		}
		f, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			return err
		}
		defer f.Close()
		b.pages[strings.TrimSuffix(name, "index.html")], err = html.Parse(f)
		return err
	})
	if err != nil || len(b.pages) == 0 {
		t.Fatalf("read the site: %v", err)
	}
	return b
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attr(n, "class")), class)
}

func allText(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	var s strings.Builder
	for d := range n.Descendants() {
		if d.Type == html.TextNode {
			s.WriteString(d.Data)
		}
	}
	return s.String()
}

// shownText is the number in a cell: the text of its door if it has one, as an
// interval may stand beside that.
func shownText(n *html.Node) string {
	for d := range n.Descendants() {
		if d.DataAtom == atom.A && hasBoard(n) {
			return allText(d)
		}
	}
	return allText(n)
}

func within(n *html.Node, is func(*html.Node) bool) bool {
	for ; n != nil; n = n.Parent {
		if n.Type == html.ElementNode && is(n) {
			return true
		}
	}
	return false
}

func linkIn(n *html.Node) string {
	for d := range n.Descendants() {
		if d.DataAtom == atom.A {
			return attr(d, "href")
		}
	}
	return ""
}

// find follows a link of a page to the element that it leads to.
func (b *built) find(from, href string) (page string, target *html.Node) {
	b.t.Helper()
	u, err := url.Parse(href)
	if err != nil {
		b.t.Fatalf("%s: link %q: %v", from, href, err)
	}
	base, _ := url.Parse("/" + from)
	at := base.ResolveReference(u)
	page = strings.TrimPrefix(at.Path, "/")
	doc, ok := b.pages[page]
	if !ok {
		return page, nil
	}
	for n := range doc.Descendants() {
		if n.Type == html.ElementNode && u.Fragment != "" && attr(n, "id") == u.Fragment {
			return page, n
		}
	}
	return page, nil
}

// ask runs the query that a link leads to, on the file that it names.
func (b *built) ask(href string) data.Result {
	b.t.Helper()
	if r, ok := b.asked[href]; ok {
		return r
	}
	u, err := url.Parse(href)
	if err != nil || !strings.HasSuffix(u.Path, "query/") || u.Query().Get("sql") == "" {
		b.t.Fatalf("%q is no link to a query", href)
	}
	file := u.Query().Get("file")
	if file == "" {
		file = liteFile
	}
	r, err := data.Query(b.t.Context(), filepath.Join(b.dir, "dataset", file), u.Query().Get("sql"), 100_000)
	if err != nil {
		b.t.Errorf("%v\n%s", err, u.Query().Get("sql"))
	}
	b.asked[href] = r
	return r
}

// An entry is what a page says of where a number comes from, and what its query
// gives.
type entry struct {
	id, value, taken, n string
	derived             map[string]float64 // by what it is of the runs
	approximate         bool               // within the width of a histogram's bucket
	wholeMS             bool               // of the table of days, whose times are in whole milliseconds
}

// withheld reports whether the query lists runs whose numbers are not published, as
// the endpoint was found to replay what it had kept back.
func (e entry) withheld() bool {
	return e.value == "—" && e.n == "0" && e.taken == "buffered: no rate"
}

// entryOf reads an entry, asks its query and derives what can be.
func (b *built) entryOf(tr *html.Node) entry {
	b.t.Helper()
	var cells []*html.Node
	for cell := range tr.ChildNodes() {
		if cell.Type == html.ElementNode {
			cells = append(cells, cell)
		}
	}
	e := entry{id: attr(tr, "id"), value: allText(cells[1]), taken: allText(cells[3]), n: allText(cells[4]), derived: map[string]float64{}}
	e.approximate = strings.Contains(e.taken, "histogram")
	if href := linkIn(cells[2]); !strings.Contains(href, "methodology/#") {
		b.t.Errorf("%s: its definition leads to %q", e.id, href)
	}
	href := linkIn(cells[5])
	if href == "" {
		if e.id != "of-price" {
			b.t.Errorf("%s has no query", e.id)
		}
		return e
	}
	r := b.ask(href)
	at := func(row int, name string) float64 {
		if i := slices.Index(r.Columns, name); i >= 0 && r.Rows[row][i] != nil {
			return realOf(r.Rows[row][i])
		}
		return math.NaN()
	}
	var sum float64
	switch {
	case slices.Contains(r.Columns, "percent"):
		e.derived["value"], e.derived["n"] = at(0, "percent"), at(0, "runs")
	case slices.Contains(r.Columns, "median"): // a row is a day
		for i := range r.Rows {
			sum += math.Log(at(i, "median"))
			e.derived["n"] += at(i, "runs")
		}
		e.derived["value"] = math.Exp(sum / float64(len(r.Rows)))
		e.wholeMS = e.id == "of-first-token"
	case slices.Equal(r.Columns, []string{"day", "a", "b"}):
		for i := range r.Rows {
			sum += math.Log(at(i, "a") / at(i, "b"))
		}
		e.derived["n"] = float64(len(r.Rows))
		e.derived["value"] = math.Exp(sum / float64(len(r.Rows)))
	case slices.Contains(r.Columns, "upto"): // a row is a bucket of a histogram
		bucket := func(q float64) float64 {
			rank := math.Floor(q * (at(len(r.Rows)-1, "upto") - 1))
			for i := range r.Rows {
				if at(i, "upto") > rank {
					return 2 * math.Pow(stats.Gamma, at(i, "bucket")) / (stats.Gamma + 1)
				}
			}
			return math.NaN()
		}
		e.derived["n"], e.derived["value"] = at(len(r.Rows)-1, "upto"), bucket(0.5)
		for name, q := range quantiles {
			e.derived[name] = bucket(q)
		}
	case len(r.Columns) == 2 && r.Columns[0] == "started_at": // a row is a run
		var values []float64
		for _, row := range r.Rows {
			values = append(values, realOf(row[1]))
			sum += realOf(row[1])
		}
		e.derived["n"] = float64(len(values))
		if n := len(values); n > 0 {
			e.derived["mean"], e.derived["least"], e.derived["greatest"] = sum/float64(n), values[0], values[n-1]
			for name, q := range quantiles {
				e.derived[name], _ = stats.QuantileSorted(values, q)
			}
			e.derived["value"] = e.derived["p50"]
		}
	case slices.Equal(r.Columns, []string{"started_at"}):
		e.derived["n"] = float64(len(r.Rows))
	case r.Columns[0] == "runs": // all kinds in one row
		e.derived["n"], e.derived["value"] = at(0, "runs"), at(0, "runs")
	default:
		for i := range r.Rows {
			e.derived["n"] += realOf(r.Rows[i][slices.IndexFunc(r.Columns, func(c string) bool { return c == "runs" || c == "answers" })])
		}
		e.derived["value"] = e.derived["n"]
	}
	return e
}

var quantiles = map[string]float64{"p10": 0.1, "p50": 0.5, "p90": 0.9, "p95": 0.95}

// printed reads a number as pages write it, in its metric's unit.
func printed(text string) (v float64, ok bool) {
	text, _, _ = strings.Cut(strings.TrimPrefix(strings.TrimSpace(text), "> "), " (")
	digits, unit, _ := strings.Cut(text, " ")
	v, err := strconv.ParseFloat(strings.Replace(strings.ReplaceAll(digits, ",", ""), "−", "-", 1), 64)
	if unit == "s" {
		v *= 1000
	}
	return v, err == nil
}

// agrees reports whether a printed number is what was derived, to its digits
// and those of the file. Histograms are within 1 %, and so is what they give.
func (e entry) agrees(text string, derived float64) bool {
	v, ok := printed(text)
	if strings.HasSuffix(strings.Split(text, " (")[0], " s") && derived < v/100 { // the metric's own unit is the second
		derived *= 1000
	}
	slack := 0.0051*math.Abs(v) + 0.00051
	switch { // milliseconds are printed whole, percents with one decimal
	case e.approximate:
		slack = 0.02 * math.Abs(v)
	case e.wholeMS:
		slack = max(slack, 1.01)
	case strings.Contains(text, "ms"):
		slack = max(slack, 0.51)
	case !strings.Contains(text, "tok"):
		slack = max(slack, 0.051)
	}
	return ok && math.Abs(v-derived) <= slack
}

// TestDoors follows the numbers of a demo's boards, endpoints and comparisons to
// their entries, asks the published files the entries' own queries, and makes
// each number again.
func TestDoors(t *testing.T) {
	if testing.Short() {
		t.Skip("a demo takes seconds")
	}
	out := t.TempDir()
	if _, log, err := runWith(t, "demo", "--once", "--history", "9d", "--speed", "50", "--out", out); err != nil {
		t.Fatalf("demo: %v\n%s", err, log)
	}
	checkDoors(t, filepath.Join(out, "site"))
}

func checkDoors(t *testing.T, dir string) {
	b := readSite(t, dir)
	cells, derived := map[string]int{}, map[string]int{}
	entries := map[*html.Node]entry{}
	for at, doc := range b.pages {
		kind, _, _ := strings.Cut(at, "/")
		short := !strings.HasSuffix(at, "/30d/") && !strings.HasSuffix(at, "/1y/") && at != "30d/" && at != "1y/"
		// Every page's doors are followed; what is behind them is asked for on a
		// part, as a query takes a while.
		sampled := short || len(at)%4 == 0
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode || !isNumber(n) {
				continue
			}
			text := shownText(n)
			href := linkIn(n)
			if href == "" {
				// A calibration is of the instrument, and no part of the record; a page
				// for frames has one link that leaves them.
				if !slices.Contains([]string{"status", "dataset", "query", "methodology", "guides", "embed"}, kind) {
					t.Errorf("%q: the number %q is no door", at, text)
				}
				continue
			}
			if strings.Contains(href, "query/?") {
				if r := b.ask(href); len(r.Rows) == 0 {
					t.Errorf("%q: the query for %q gives nothing", at, text)
				}
				cells["query"]++
				continue
			}
			page, target := b.find(at, href)
			if target == nil {
				t.Errorf("%q: the door of %q leads to %q, which does not exist", at, text, href)
				continue
			}
			id := attr(target, "id")
			if id == "of-rank" {
				cells[id]++
				continue
			}
			if target.DataAtom != atom.Tr {
				continue // another part of the page
			}
			cells[id]++
			if !sampled {
				continue
			}
			e, ok := entries[target]
			if !ok {
				e = b.entryOf(target)
				entries[target] = e
				if e.value != "—" && !math.IsNaN(e.derived["value"]) && e.derived["value"] != 0 && !e.agrees(e.value, e.derived["value"]) {
					t.Errorf("%s#%s says %s; its query gives %.6g", page, id, e.value, e.derived["value"])
				}
				if v, ok := printed(e.n); ok && v != e.derived["n"] && id != "of-price" && !e.withheld() {
					t.Errorf("%s#%s says n %s; its query gives %v", page, id, e.n, e.derived["n"])
				}
			}
			if what := shownAs(n); what != "" {
				want, ok := e.derived[what]
				if !ok || e.withheld() {
					continue // a mean of days is of no histogram
				}
				derived[id]++
				if !e.agrees(text+unitOf(n, text), want) {
					t.Errorf("%q: the door of %q (%s) leads to %s#%s, whose query gives %.6g", at, text, what, page, id, want)
				}
			} else if id == "of-age" {
				last := b.ask(linkIn(target.LastChild)).Rows[0][0].(string)
				began, err := time.Parse(time.RFC3339, last)
				stamp, err2 := time.Parse(time.RFC3339, attr(htmlOf(doc), "data-generated"))
				if err != nil || err2 != nil || !strings.HasPrefix(text, agePrefix(stamp.Sub(began))) {
					t.Errorf("%q: %q is the age of %s", at, text, last)
				}
				derived[id]++
			}
		}
	}
	t.Logf("doors by entry: %v\nmade again: %v", cells, derived)
	for _, id := range []string{"of-speed", "of-first-token", "of-hybrid", "of-20-tokens", "of-2000-tokens", "of-success", "of-available", "of-throttled", "of-decode_tps", "of-e2e_ms", "of-outcomes", "of-difference-speed"} {
		if cells[id] == 0 || derived[id] == 0 && id != "of-outcomes" && id != "of-difference-speed" {
			t.Errorf("no number led to %s, or none was made again", id)
		}
	}
}

func htmlOf(doc *html.Node) *html.Node {
	for n := range doc.ChildNodes() {
		if n.DataAtom == atom.Html {
			return n
		}
	}
	return nil
}

// agePrefix is how the age of a success begins.
func agePrefix(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	}
	return fmt.Sprintf("%d d", int(d.Hours()/24))
}

func hasBoard(n *html.Node) bool {
	return within(n, func(n *html.Node) bool { return n.DataAtom == atom.Table && hasClass(n, "board") })
}

// isNumber reports whether an element is a cell with a published number: of a
// board, of a table, or a headline. The entries themselves are none, and a table
// that is the samples of a chart leads to them in its caption.
func isNumber(n *html.Node) bool {
	switch n.DataAtom {
	case atom.Td:
		versus := within(n, func(n *html.Node) bool { return hasClass(n, "versus") }) && attr(n, "data-l") != ""
		if !hasClass(n, "num") && !(hasClass(n, "rank") && hasBoard(n)) && !versus {
			return false
		}
	case atom.Dd:
		if hasClass(n, "sub") || !within(n, func(n *html.Node) bool { return hasClass(n, "facts") }) {
			return false
		}
	default:
		return false
	}
	if !strings.ContainsAny(allText(n), "0123456789") || strings.Contains(allText(n), "(no ") {
		return false
	}
	return !within(n, func(n *html.Node) bool {
		if n.DataAtom == atom.Table {
			for c := range n.ChildNodes() {
				if c.DataAtom == atom.Caption && linkIn(c) != "" {
					return true
				}
			}
		}
		return hasClass(n, "origins") || hasClass(n, "asked") || attr(n, "id") == "schema" ||
			attr(n, "id") == "example" // no part of the record, and beside its own file
	})
}

// shownAs returns which of an entry's numbers a cell shows, "" if that cannot be
// told from its place.
func shownAs(n *html.Node) string {
	switch {
	case n.DataAtom == atom.Dd:
		return "value"
	case hasBoard(n):
		switch {
		case strings.Contains(shownText(n), "–"): // the range of single runs
			return ""
		case hasClass(n, "m1"), hasClass(n, "m2"), hasClass(n, "ok"):
			return "value"
		case hasClass(n, "count"):
			return "n"
		}
	case within(n, func(n *html.Node) bool { return attr(n, "id") == "numbers" }):
		if strings.Contains(allText(n.Parent.FirstChild), "timeouts") {
			return ""
		}
		return columnOf(n)
	}
	return ""
}

// columnOf returns what a cell of a table has as its heading.
func columnOf(cell *html.Node) string {
	at := 0
	for c := cell.PrevSibling; c != nil; c = c.PrevSibling {
		at++
	}
	table := cell
	for table.DataAtom != atom.Table {
		table = table.Parent
	}
	for th := range table.Descendants() {
		if th.DataAtom != atom.Th {
			continue
		}
		if at == 0 {
			return allText(th)
		}
		at--
	}
	return ""
}

// unitOf returns the unit that stands beside a number and not in it.
func unitOf(n *html.Node, text string) string {
	if strings.HasSuffix(text, " s") || strings.HasSuffix(text, "ms") {
		return ""
	}
	if unit := attr(n, "data-u"); unit == "ms" || n.DataAtom == atom.Td && strings.HasSuffix(allText(n.Parent.FirstChild), ", ms") {
		return " ms"
	}
	return ""
}

// realOf returns a number as SQLite has it.
func realOf(v any) float64 {
	if n, ok := v.(int64); ok {
		return float64(n)
	}
	return v.(float64)
}
