package site

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// queryPath is the folder of the query page.
const queryPath = "query/"

// A Query is a question to the dataset with its answer, for the query page. The
// answer is computed before the site is built, as there is no database here.
type Query struct {
	Title, Note string // the question, and what to know before reading the answer
	SQL         string
	Columns     []string
	Rows        [][]any // as SQLite has them: int64, float64, string, []byte, or nil for NULL
	More        bool    // there are more rows
}

// A Database is a SQLite file of the dataset that the query page can open.
type Database struct {
	Name   string // of the file in [Inputs].Dataset
	Packed string // of the same file compressed by gzip, in [Inputs].Dataset: what a browser loads
	Title  string // what it holds, in a few words
}

// A QueryPage shows questions to the dataset with their answers, and lets the
// reader ask others.
type QueryPage struct {
	Page
	Console *Console // nil if there is nothing to open
	Queries []AskedQuery
	Schema  []SchemaTable
}

// A Console is what the page's script needs to open a database. Everything is
// loaded when the reader asks for it, and not before.
type Console struct {
	Worker, Engine, Wasm string // relative addresses
	WasmBytes            int
	EngineSize           string // for people
	Files                []ConsoleFile
	First                string // what the editor holds to begin with
}

// A ConsoleFile is a database to choose.
type ConsoleFile struct {
	Title, Name   string
	Href          string // of the compressed file
	Packed, Bytes int64
	SHA256        string // of the database itself
	Size          string // of the compressed file, for people
	Unpacked      string // of the database, for people
	Load          string // at most so much is loaded to open it, the engine included; for people
}

// An AskedQuery is a question as the page shows it.
type AskedQuery struct {
	ID, Title, Note, SQL string
	Href                 string // puts it into the editor
	Columns              []AnswerColumn
	Rows                 [][]AnswerCell
	More                 bool
}

// An AnswerColumn is the head of a column of an answer.
type AnswerColumn struct {
	Name   string
	Number bool // every value is a number or NULL
}

// An AnswerCell is a value of an answer.
type AnswerCell struct {
	Text         string
	Number, Null bool
}

// queryAssets are what the console is made of. Templates of a fork that lack one
// have no console.
var queryAssets = [...]string{"query.css", "query.js", "query-worker.js", "sqlite3.min.js", "sqlite3.wasm"}

func (e *edition) queryFiles() ([]file, error) {
	files, err := e.consoleFiles()
	if err != nil {
		return nil, err
	}
	return []file{e.html(queryPath+"index.html", "query", func() (any, error) {
		p := QueryPage{Schema: schemaTables(e.in.Schema)}
		var scripts []string
		if len(files) > 0 {
			p.Console = e.console(files)
			scripts = []string{"query.js"}
		}
		p.Page = e.page(queryPath, queryPath, "Ask the data", "Ask the dataset in SQL, in your own browser, or read the answers to questions that others had.", scripts...)
		e.wear(&p.Page, "query.css")
		for i := range e.in.Queries {
			p.Queries = append(p.Queries, asked(i, &e.in.Queries[i]))
		}
		return p, nil
	})}, nil
}

// consoleFiles describes the databases that can be opened: none if the
// templates do not have what it takes.
func (e *edition) consoleFiles() ([]ConsoleFile, error) {
	engine := int64(0)
	for _, name := range queryAssets {
		published, ok := e.assets.names[name]
		if !ok {
			return nil, nil
		}
		if strings.HasPrefix(name, "sqlite3.") {
			engine += int64(len(e.assets.data[published]))
		}
	}
	find := func(name string) (File, error) {
		i := slices.IndexFunc(e.in.Dataset, func(f File) bool { return f.Name == name })
		if i < 0 {
			return File{}, fmt.Errorf("query page: the dataset has no file %s", name)
		}
		return e.in.Dataset[i], nil
	}
	var files []ConsoleFile
	for _, d := range e.in.Databases {
		plain, err := find(d.Name)
		if err != nil {
			return nil, err
		}
		packed, err := find(d.Packed)
		if err != nil {
			return nil, err
		}
		files = append(files, ConsoleFile{
			Title: d.Title, Name: d.Name,
			// The sum makes the address change with the content, so that no
			// cache answers with yesterday's file. Servers ignore it.
			Href:   "../" + datasetPath + url.PathEscape(d.Packed) + "?v=" + plain.SHA256[:min(8, len(plain.SHA256))],
			Packed: packed.Bytes, Bytes: plain.Bytes, SHA256: plain.SHA256,
			Size: size(packed.Bytes), Unpacked: size(plain.Bytes), Load: size(packed.Bytes + engine),
		})
	}
	return files, nil
}

// console returns the console for databases.
func (e *edition) console(files []ConsoleFile) *Console {
	asset := func(name string) string { return "../" + e.assets.names[name] }
	wasm := e.assets.data[e.assets.names["sqlite3.wasm"]]
	c := &Console{
		Worker: asset("query-worker.js"), Engine: asset("sqlite3.min.js"), Wasm: asset("sqlite3.wasm"), WasmBytes: len(wasm),
		EngineSize: size(int64(len(wasm) + len(e.assets.data[e.assets.names["sqlite3.min.js"]]))),
		Files:      files, First: "SELECT * FROM daily ORDER BY day DESC LIMIT 20",
	}
	if len(e.in.Queries) > 0 {
		c.First = e.in.Queries[0].SQL
	}
	return c
}

// asked lays an answer out.
func asked(at int, q *Query) AskedQuery {
	out := AskedQuery{ID: "q" + strconv.Itoa(at+1), Title: q.Title, Note: q.Note, SQL: q.SQL, Href: strings.TrimPrefix(queryLink("", q.SQL), queryPath), More: q.More}
	for i, name := range q.Columns {
		number := len(q.Rows) > 0
		for _, row := range q.Rows {
			number = number && answerCell(row[i]).rightward()
		}
		out.Columns = append(out.Columns, AnswerColumn{name, number})
	}
	for _, row := range q.Rows {
		cells := make([]AnswerCell, len(row))
		for i, v := range row {
			cells[i] = answerCell(v)
			cells[i].Number = out.Columns[i].Number
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

// rightward reports whether a cell goes well with a column of numbers.
func (c AnswerCell) rightward() bool { return c.Number || c.Null }

// maxAnswerText is how many characters of a text are shown.
const maxAnswerText = 400

// answerCell writes a value as the page's script would: all digits, no unit. It
// is the answer itself and no published number.
func answerCell(v any) AnswerCell {
	switch v := v.(type) {
	case nil:
		return AnswerCell{Text: "NULL", Null: true}
	case int64:
		return AnswerCell{Text: strconv.FormatInt(v, 10), Number: true}
	case float64:
		text, err := json.Marshal(v) // which writes numbers as JavaScript does
		if err != nil {              // the infinities
			text = strconv.AppendFloat(nil, v, 'f', -1, 64)
		}
		return AnswerCell{Text: string(text), Number: true}
	case string:
		return AnswerCell{Text: legible(v, maxAnswerText)}
	case []byte:
		return AnswerCell{Text: legible("x'"+hex.EncodeToString(v)+"'", maxAnswerText)}
	}
	return AnswerCell{Text: fmt.Sprintf("(%T)", v)}
}

// maxQueryLink is the longest query that goes into a link.
const maxQueryLink = 1500

// queryLink returns the address at which a query stands in the editor of the
// query page, ready to be run by the reader, as seen from a page whose root is
// at root. It is empty for a query that is too long or that an address, the
// editor or SQLite would change: no link is better than one to another question.
func queryLink(root, query string) string {
	if len(query) > maxQueryLink || !utf8.ValidString(query) || strings.ContainsAny(query, "\x00\r") {
		return ""
	}
	return root + queryPath + "?sql=" + url.QueryEscape(query) + "#console"
}

// literal returns text as a string literal of SQL.
func literal(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }
