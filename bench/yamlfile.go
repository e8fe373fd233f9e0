package bench

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Bounds of a provider file. The parser's time grows with the square of how deep
// brackets are nested; files need three or four.
const (
	maxConfigBytes = 256 << 10
	maxNesting     = 100
)

// A FileError is one problem of one file, with the place and the line.
type FileError struct {
	File    string
	Line    int // from 1; 0 if the file as a whole is meant
	Column  int // from 1, in characters
	Message string
	Excerpt string // the line, and a caret under the place
}

// Error is "file:line:column: message" and the excerpt below it.
func (e *FileError) Error() string {
	if e.Line == 0 {
		return e.File + ": " + e.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s\n%s", e.File, e.Line, e.Column, e.Message, e.Excerpt)
}

// FileErrors are all the problems found, in the order of files and lines.
type FileErrors []*FileError

// Error has a paragraph for each problem.
func (e FileErrors) Error() string {
	text := make([]string, len(e))
	for i, one := range e {
		text[i] = one.Error()
	}
	return strings.Join(text, "\n")
}

// Unwrap returns the problems one by one.
func (e FileErrors) Unwrap() []error {
	errs := make([]error, len(e))
	for i, one := range e {
		errs[i] = one
	}
	return errs
}

// A yamlFile reads one YAML document strictly and keeps every problem, so that
// a user sees all of them at once.
//
// Note: decoding into tagged structs stops at the first problem and forgets
// where a value stood, which a later check across fields or files needs. Here
// a table names the known keys, and each value is checked where it stands.
type yamlFile struct {
	name  string
	lines []string
	mask  bool // leave values out of excerpts: the file describes a private provider
	errs  FileErrors
}

// fields says what to do with the value of each known key.
type fields map[string]func(ast.Node)

// openYAML parses a document. It returns nil as the root if there is none to
// read, with the reason among the errors.
func openYAML(name string, text []byte) (*yamlFile, ast.Node) {
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	f := &yamlFile{name: name, lines: strings.Split(string(text), "\n")}
	// Settled before anything is read, as the first problem already shows a line.
	f.mask = bytes.Contains(text, []byte("private"))
	if len(text) > maxConfigBytes {
		f.fail(0, 0, fmt.Sprintf("the file is larger than %d KiB", maxConfigBytes>>10))
		return f, nil
	}
	if !utf8.Valid(text) || bytes.ContainsAny(text, "\r\x00") {
		f.fail(0, 0, "the file is not plain UTF-8 text with line ends LF or CRLF")
		return f, nil
	}
	if nesting(text) > maxNesting {
		f.fail(0, 0, fmt.Sprintf("brackets are nested more than %d deep", maxNesting))
		return f, nil
	}
	file, err := parser.ParseBytes(text, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		var syntax yaml.Error
		switch ok := errors.As(err, &syntax) && syntax.GetToken() != nil; {
		case ok && f.mask: // the message may quote the file
			f.fail(syntax.GetToken().Position.Line, syntax.GetToken().Position.Column, "not YAML")
		case ok:
			f.fail(syntax.GetToken().Position.Line, syntax.GetToken().Position.Column, "not YAML: "+syntax.GetMessage())
		default:
			f.fail(0, 0, "not YAML")
		}
		return f, nil
	}
	var root ast.Node
	for _, doc := range file.Docs {
		if doc.Body == nil || doc.Body.Type() == ast.CommentType {
			continue
		}
		if root != nil {
			f.errorf(doc.Body, "a second document; a file describes one provider")
			break
		}
		root = doc.Body
	}
	if root == nil {
		f.fail(0, 0, "the file is empty")
	}
	return f, root
}

// nesting returns by how many brackets a text is open where that is most.
// Brackets inside quotes count too, which does no harm.
func nesting(text []byte) int {
	depth, deepest := 0, 0
	for _, c := range text {
		switch c {
		case '[', '{':
			depth++
			deepest = max(deepest, depth)
		case ']', '}':
			depth = max(depth-1, 0)
		}
	}
	return deepest
}

// errorf notes a problem at a node.
func (f *yamlFile) errorf(n ast.Node, format string, args ...any) {
	line, column := position(n)
	f.fail(line, column, fmt.Sprintf(format, args...))
}

func (f *yamlFile) fail(line, column int, message string) {
	if KeyShape([]byte(message)) != "" { // some messages repeat a word of the file
		message = "this holds what looks like a key; keys stay out of files"
	}
	e := &FileError{File: f.name, Line: line, Column: column, Message: message}
	if line >= 1 && line <= len(f.lines) {
		e.Excerpt = f.excerpt(line, column)
	}
	f.errs = append(f.errs, e)
}

// excerpt shows a line with a caret. Values that may be secret stay out.
func (f *yamlFile) excerpt(line, column int) string {
	text := f.lines[line-1]
	if f.mask {
		key, _, _ := strings.Cut(text, ":")
		text = key + ": ..."
		if !strings.Contains(f.lines[line-1], ":") {
			text = "..."
		}
	}
	text = withoutSecrets(text)
	const width = 120
	if runes := []rune(text); len(runes) > width {
		text = string(runes[:width]) + "..."
	}
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || r == 0x7f {
			return ' ' // a tab would move the caret, an escape the terminal
		}
		return r
	}, text)
	number := strconv.Itoa(line)
	caret := strings.Repeat(" ", min(max(column-1, 0), width)) + "^"
	return fmt.Sprintf("  %s | %s\n  %s | %s", number, text, strings.Repeat(" ", len(number)), caret)
}

// entryPattern is a key and the beginning of its value, in block or flow style.
var entryPattern = regexp.MustCompile(`([A-Za-z0-9_-]+)["']?\s*:\s*["']?([^\s"',{}\[\]]+)`)

// withoutSecrets cuts a line where it may hold a secret: the value of a key
// that is named like one, where a key was pasted in place of a variable's name,
// a password in an address, or what has the shape of a key wherever it stands.
func withoutSecrets(line string) string {
	for _, at := range entryPattern.FindAllStringSubmatchIndex(line, -1) {
		key, value := line[at[2]:at[3]], line[at[4]:at[5]]
		if namesSecret(key) && !isVariableName(value) {
			return line[:at[4]] + "..."
		}
	}
	if before, after, ok := strings.Cut(line, "://"); ok && strings.Contains(after, "@") {
		line = before + "://..."
	}
	if KeyShape([]byte(line)) != "" {
		return "..."
	}
	return line
}

// namesSecret reports whether a field or header of that name holds a secret.
func namesSecret(name string) bool {
	name = strings.ToLower(name)
	for _, word := range []string{"key", "authorization", "secret", "password", "cookie"} {
		if strings.Contains(name, word) {
			return true
		}
	}
	return strings.HasSuffix(name, "token")
}

func isVariableName(s string) bool { return variablePattern.FindString("${"+s+"}") == "${"+s+"}" }

// position returns where a node begins. A mapping's own token is its first
// colon, which is not where it begins.
func position(n ast.Node) (line, column int) {
	switch v := n.(type) {
	case *ast.MappingNode:
		if len(v.Values) > 0 && !v.IsFlowStyle {
			return position(v.Values[0].Key)
		}
	case *ast.MappingValueNode:
		return position(v.Key)
	}
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return 0, 0
	}
	at := n.GetToken().Position
	return at.Line, at.Column
}

// object reads a mapping by a table of its keys. Required keys that are absent
// are reported at its beginning. It reports whether n is a mapping at all.
func (f *yamlFile) object(n ast.Node, what string, known fields, required ...string) (ok bool) {
	seen := map[string]bool{}
	ok = f.each(n, what, func(key string, k, v ast.Node) {
		seen[key] = true
		if read := known[key]; read != nil {
			read(v)
			return
		}
		f.errorf(k, "unknown field %q in %s%s", key, what, didYouMean(key, slices.Sorted(maps.Keys(known))))
	})
	for _, key := range required {
		if ok && !seen[key] {
			f.errorf(n, "%s needs the field %q", what, key)
		}
	}
	return ok
}

// each calls do for each entry of a mapping; keys appear once.
func (f *yamlFile) each(n ast.Node, what string, do func(key string, k, v ast.Node)) bool {
	var entries []*ast.MappingValueNode
	switch m := n.(type) {
	case *ast.MappingNode:
		entries = m.Values
	case *ast.MappingValueNode:
		entries = []*ast.MappingValueNode{m}
	default:
		f.errorf(n, "%s must be a mapping of keys to values, not %s", what, kindOf(n))
		return false
	}
	seen := map[string]bool{}
	for _, e := range entries {
		k, ok := e.Key.(*ast.StringNode)
		if !ok {
			f.errorf(e.Key, "a key must be plain text, not %s", kindOf(e.Key))
			continue
		}
		if seen[k.Value] {
			f.errorf(k, "field %q appears twice", k.Value)
			continue
		}
		seen[k.Value] = true
		do(k.Value, k, e.Value)
	}
	return true
}

// list calls do for each item of a sequence.
func (f *yamlFile) list(n ast.Node, what string, do func(ast.Node)) {
	s, ok := n.(*ast.SequenceNode)
	if !ok {
		f.errorf(n, "%s must be a list, not %s", what, kindOf(n))
		return
	}
	for _, item := range s.Values {
		do(item)
	}
}

// text returns a string value without control characters.
func (f *yamlFile) text(n ast.Node, what string) (string, bool) {
	var s string
	switch v := n.(type) {
	case *ast.StringNode:
		s = v.Value
	case *ast.LiteralNode:
		s = strings.TrimRight(v.Value.Value, "\n")
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		f.errorf(n, "%s must be text, not %s; put it in quotes if it is meant so", what, kindOf(n))
		return "", false
	default:
		f.errorf(n, "%s must be text, not %s", what, kindOf(n))
		return "", false
	}
	if s == "" || strings.TrimSpace(s) != s {
		f.errorf(n, "%s must not be empty or begin or end with a space", what)
		return "", false
	}
	if strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 || r == 0x7f || r == utf8.RuneError }) {
		f.errorf(n, "%s must not hold control characters", what)
		return "", false
	}
	return s, true
}

// setText returns a reader that stores text which check accepts.
func (f *yamlFile) setText(dst *string, what string, check ...func(string) error) func(ast.Node) {
	return func(n ast.Node) {
		s, ok := f.text(n, what)
		if !ok {
			return
		}
		for _, c := range check {
			if err := c(s); err != nil {
				f.errorf(n, "%s: %v", what, err)
				return
			}
		}
		*dst = s
	}
}

// setBool returns a reader that stores true or false.
func (f *yamlFile) setBool(dst *bool, what string) func(ast.Node) {
	return func(n ast.Node) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			f.errorf(n, "%s must be true or false, not %s", what, kindOf(n))
			return
		}
		*dst = b.Value
	}
}

// setBoolPtr is setBool for what may be left unknown.
func (f *yamlFile) setBoolPtr(dst **bool, what string) func(ast.Node) {
	return func(n ast.Node) {
		b, ok := n.(*ast.BoolNode)
		if !ok {
			f.errorf(n, "%s must be true or false, not %s", what, kindOf(n))
			return
		}
		*dst = &b.Value
	}
}

// setNumber returns a reader that stores a number from low to high.
func (f *yamlFile) setNumber(dst *float64, what string, low, high float64) func(ast.Node) {
	return func(n ast.Node) {
		v, ok := number(n)
		if !ok {
			f.errorf(n, "%s must be a number, not %s", what, kindOf(n))
			return
		}
		if !(v >= low && v <= high) { // also refuses NaN
			f.errorf(n, "%s must be from %g to %g", what, low, high)
			return
		}
		*dst = v
	}
}

// setInt returns a reader that stores a whole number from 1 to high.
func setInt[T int | int64](f *yamlFile, dst *T, what string, high int64) func(ast.Node) {
	return func(n ast.Node) {
		v, whole := number(n)
		if _, ok := n.(*ast.IntegerNode); !ok || !whole || v < 1 || v > float64(high) {
			f.errorf(n, "%s must be a whole number from 1 to %d", what, high)
			return
		}
		*dst = T(v)
	}
}

func number(n ast.Node) (float64, bool) {
	switch v := n.(type) {
	case *ast.FloatNode:
		return v.Value, true
	case *ast.IntegerNode:
		switch i := v.Value.(type) {
		case int64:
			return float64(i), true
		case uint64:
			return float64(i), true
		}
	}
	return 0, false
}

// value returns a node as the value encoding/json would give for the same
// text, for what is passed on to a provider.
func (f *yamlFile) value(n ast.Node, what string) any {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value
	case *ast.BoolNode:
		return v.Value
	case *ast.NullNode:
		return nil
	case *ast.IntegerNode:
		if x, ok := number(n); ok {
			return x
		}
	case *ast.FloatNode:
		return v.Value
	case *ast.MappingNode, *ast.MappingValueNode:
		m := map[string]any{}
		f.each(n, what, func(key string, _, v ast.Node) { m[key] = f.value(v, what+"."+key) })
		return m
	case *ast.SequenceNode:
		list := []any{}
		f.list(n, what, func(item ast.Node) { list = append(list, f.value(item, what)) })
		return list
	}
	f.errorf(n, "%s cannot be %s", what, kindOf(n))
	return nil
}

// kindOf says in a user's words what a node is.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode:
		return "nothing"
	case *ast.StringNode, *ast.LiteralNode:
		return "text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	case *ast.SequenceNode:
		return "a list"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "a mapping"
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return "an anchor or alias" // a few of them can stand for gigabytes
	case *ast.TagNode:
		return "a tag"
	}
	return "something else"
}

// didYouMean suggests the known word nearest to a misspelt one.
func didYouMean(got string, known []string) string {
	best, distance := "", 3
	for _, word := range known {
		if d := editDistance(got, word); d < distance {
			best, distance = word, d
		}
	}
	if best == "" {
		return ""
	}
	return fmt.Sprintf("; did you mean %q?", best)
}

// editDistance is Levenshtein's: insertions, deletions and substitutions.
func editDistance(a, b string) int {
	if len(a) > 40 {
		return len(a) // no misspelling of ours
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost = 1 + min(diagonal, row[j], row[j+1])
			}
			diagonal, row[j+1] = row[j+1], cost
		}
	}
	return row[len(b)]
}
