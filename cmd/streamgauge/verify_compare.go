package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A difference is a value that was published and is not what the record says.
type difference struct {
	Path      string `json:"path"`  // of the file
	Field     string `json:"field"` // where in it
	Published string `json:"published"`
	Derived   string `json:"rederived"`
}

// String returns "path: field: published …, re-derived …".
func (d difference) String() string {
	return fmt.Sprintf("%s: %s: published %s, re-derived %s", d.Path, d.Field, d.Published, d.Derived)
}

// A comparison counts what was compared, and collects what differs. It is safe
// for concurrent use.
type comparison struct {
	mu      sync.Mutex
	numbers int
	files   int
	found   []difference   // at most maxPerFile of a file, and maxFound of all
	of      map[string]int // how many of a file
	more    int
}

const (
	maxPerFile = 20   // one altered sample changes hundreds of numbers: each file is to be named
	maxFound   = 1000 // differences kept

	absent    = "absent"
	maxQuoted = 80 // bytes of a value in a difference
)

// differ notes a difference. What was published is a stranger's text: it is
// quoted, so that it moves no terminal, and cut.
func (c *comparison) differ(path, field, published, derived string) {
	shown := func(s string) string {
		if len(s) > maxQuoted {
			s = s[:maxQuoted] + "…"
		}
		if plain := strings.Trim(strconv.Quote(s), `"`); plain != s {
			return strconv.Quote(s)
		}
		return s
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.of == nil {
		c.of = map[string]int{}
	}
	if c.of[path] == maxPerFile || len(c.found) == maxFound {
		c.more++
		return
	}
	c.of[path]++
	c.found = append(c.found, difference{shown(path), shown(field), shown(published), shown(derived)})
}

// count adds what was compared.
func (c *comparison) count(files, numbers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.files += files
	c.numbers += numbers
}

// sorted returns the differences in order of files.
func (c *comparison) sorted() []difference {
	slices.SortStableFunc(c.found, func(a, b difference) int { return cmp.Compare(a.Path, b.Path) })
	return c.found
}

// json compares two JSON texts value by value. Fields named in ignored are no
// numbers of ours.
func (c *comparison) json(path string, published, derived []byte, ignored ...string) {
	var p, d any
	if err := decodeJSON(derived, &d); err != nil {
		c.differ(path, "the file", "?", err.Error())
		return
	}
	if err := decodeJSON(published, &p); err != nil {
		c.differ(path, "the file", err.Error(), "JSON")
		return
	}
	c.count(1, c.values(path, "", p, d, ignored))
}

// decodeJSON decodes one JSON value, and keeps its numbers as they are written.
func decodeJSON(text []byte, to *any) error {
	in := json.NewDecoder(bytes.NewReader(text))
	in.UseNumber()
	if err := in.Decode(to); err != nil {
		return err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return errors.New("more than one JSON value")
	}
	return nil
}

// values compares two JSON values, and returns how many numbers the derived one
// has.
func (c *comparison) values(path, field string, published, derived any, ignored []string) (numbers int) {
	switch d := derived.(type) {
	case map[string]any:
		p, ok := published.(map[string]any)
		if !ok {
			break
		}
		for _, key := range slices.Sorted(maps.Keys(d)) {
			if slices.Contains(ignored, key) {
				continue
			}
			in := strings.TrimPrefix(field+"."+key, ".")
			if other, ok := p[key]; ok {
				numbers += c.values(path, in, other, d[key], ignored)
			} else {
				c.differ(path, in, absent, spelled(d[key]))
			}
		}
		for _, key := range slices.Sorted(maps.Keys(p)) {
			if _, ok := d[key]; !ok && !slices.Contains(ignored, key) {
				c.differ(path, strings.TrimPrefix(field+"."+key, "."), spelled(p[key]), absent)
			}
		}
		return numbers
	case []any:
		p, ok := published.([]any)
		if !ok {
			break
		}
		if len(p) != len(d) {
			c.differ(path, field, fmt.Sprintf("%d values", len(p)), fmt.Sprintf("%d values", len(d)))
		}
		for i := range min(len(p), len(d)) {
			numbers += c.values(path, fmt.Sprintf("%s[%d]", field, i), p[i], d[i], ignored)
		}
		return numbers
	case json.Number:
		p, ok := published.(json.Number)
		if !ok || !sameNumber(string(p), string(d)) {
			break
		}
		return 1
	default:
		if published == derived {
			return 0
		}
	}
	c.differ(path, field, spelled(published), spelled(derived))
	return 1
}

// spelled returns a JSON value as text.
func spelled(v any) string {
	if n, ok := v.(json.Number); ok {
		return n.String()
	}
	text, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// closeEnough is how far two numbers may be apart, as a share: processors that
// fuse a multiplication and an addition differ in the last digits.
const closeEnough = 1e-9

// sameNumber compares two numbers as they are written.
func sameNumber(a, b string) bool {
	if a == b {
		return true
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && math.Abs(x-y) <= closeEnough*max(math.Abs(x), math.Abs(y))
}

// A span of rows is what one of two tables has; rows outside it are passed over.
type keepRow func(header, row []string) bool

// tables compares two CSV texts cell by cell. Rows are matched by their column
// id, which both must be in the order of; by their number if they have none.
// keep, which may be nil, says which of the derived rows the published table is
// to have.
func (c *comparison) tables(path string, published, derived io.Reader, keep keepRow) error {
	p, d := newTable(published, nil), newTable(derived, keep)
	if err := d.next(); err != nil {
		return fmt.Errorf("derive %s: %w", path, err)
	}
	if err := p.next(); err != nil {
		c.differ(path, "the file", err.Error(), "CSV")
		return nil
	}
	if !slices.Equal(p.header, d.header) {
		c.differ(path, "columns", strings.Join(p.header, ","), strings.Join(d.header, ","))
		return nil
	}
	numbers := 0
	for p.row != nil || d.row != nil {
		order := p.compare(d)
		switch {
		case order < 0:
			c.differ(path, p.name(), "a row", absent)
		case order > 0:
			c.differ(path, d.name(), absent, "a row")
		default:
			for i, cell := range d.row {
				_, err := strconv.ParseFloat(cell, 64)
				if err == nil {
					numbers++
				}
				if cell != p.row[i] && !sameNumber(cell, p.row[i]) {
					c.differ(path, d.name()+" "+d.header[i], cmp.Or(p.row[i], "nothing"), cmp.Or(cell, "nothing"))
				}
			}
		}
		if order >= 0 {
			if err := d.next(); err != nil {
				return fmt.Errorf("derive %s: %w", path, err)
			}
		}
		if order <= 0 {
			if err := p.next(); err != nil {
				c.differ(path, "the file", err.Error(), "CSV")
				return nil
			}
		}
	}
	c.count(1, numbers)
	return nil
}

// A table is a CSV text being read: its header, and the row it stands at, nil
// at the end.
type table struct {
	in     *csv.Reader
	keep   keepRow
	header []string
	row    []string
	number int
	idAt   int // which column is the id; -1 for none
}

func newTable(r io.Reader, keep keepRow) *table {
	in := csv.NewReader(r)
	in.ReuseRecord = true
	return &table{in: in, keep: keep, idAt: -1}
}

// next goes on to the next row. The first call reads the header too.
func (t *table) next() error {
	if t.header == nil {
		header, err := t.in.Read()
		if err != nil {
			return err
		}
		t.header = slices.Clone(header)
		t.idAt = slices.Index(t.header, "id")
	}
	for {
		row, err := t.in.Read()
		if errors.Is(err, io.EOF) {
			t.row = nil
			return nil
		}
		if err != nil {
			return err
		}
		t.row = row
		t.number++
		if t.keep == nil || t.keep(t.header, row) {
			return nil
		}
	}
}

// compare says which of two tables has the row that comes first.
func (t *table) compare(u *table) int {
	switch {
	case t.row == nil:
		return 1
	case u.row == nil:
		return -1
	case t.idAt < 0:
		return 0
	}
	a, errA := strconv.ParseInt(t.row[t.idAt], 10, 64)
	b, errB := strconv.ParseInt(u.row[u.idAt], 10, 64)
	if errA != nil || errB != nil {
		return 0 // the cells differ, and are told
	}
	return cmp.Compare(a, b)
}

// name names the row.
func (t *table) name() string {
	if t.idAt >= 0 {
		return "id " + t.row[t.idAt]
	}
	return fmt.Sprintf("row %d", t.number)
}

// lines compares two texts of one JSON object a line, in the same order.
func (c *comparison) lines(path string, published, derived io.Reader) error {
	p, d := bufio.NewReaderSize(published, 64<<10), bufio.NewReaderSize(derived, 64<<10)
	numbers := 0
	for n := 1; ; n++ {
		want, err := d.ReadSlice('\n')
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("derive %s: %w", path, err)
		}
		ended := len(want) == 0
		got, err := p.ReadSlice('\n') // a longer line than the buffer is none of ours
		if err != nil && !errors.Is(err, io.EOF) {
			c.differ(path, fmt.Sprintf("line %d", n), err.Error(), "a line")
			return nil
		}
		switch {
		case ended && len(got) == 0:
			c.count(1, numbers)
			return nil
		case ended || len(got) == 0:
			c.differ(path, fmt.Sprintf("line %d", n), lineOr(got), lineOr(want))
			return nil
		case bytes.Equal(got, want):
			numbers += numbersIn(want)
			continue
		}
		var a, b any
		if err := decodeJSON(want, &b); err != nil {
			return fmt.Errorf("derive %s: line %d: %w", path, n, err)
		}
		if err := decodeJSON(got, &a); err != nil {
			c.differ(path, fmt.Sprintf("line %d", n), err.Error(), "JSON")
			continue
		}
		was := spelled(idOf(b))
		if is := spelled(idOf(a)); is != was {
			c.differ(path, fmt.Sprintf("line %d id", n), is, was)
			return nil // every line after it would be off by one
		}
		numbers += c.values(path, "id "+was, a, b, nil)
	}
}

// idOf returns the member id of a JSON object.
func idOf(v any) any {
	object, _ := v.(map[string]any)
	return object["id"]
}

func lineOr(line []byte) string {
	if len(line) == 0 {
		return absent
	}
	return "a line"
}

// numbersIn counts the members of a flat JSON object that are numbers.
func numbersIn(line []byte) (n int) {
	for i := bytes.Index(line, []byte(`":`)); i >= 0; {
		if next := i + 2; next < len(line) && line[i-1] != '\\' && (line[next] == '-' || line[next] >= '0' && line[next] <= '9') {
			n++
		}
		more := bytes.Index(line[i+2:], []byte(`":`))
		if more < 0 {
			break
		}
		i += 2 + more
	}
	return n
}
