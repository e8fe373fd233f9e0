package site

import (
	"fmt"
	"html/template"
	"io/fs"
	"path"
	"strings"
	texttemplate "text/template"

	"github.com/goccy/go-yaml"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// A Prose is one page of content/, rendered.
type Prose struct {
	Name     string // file name without .md
	Title    string
	Summary  string
	Body     template.HTML // goldmark's output; raw HTML in the source is dropped
	Contents []Heading     // second-level headings, for the table of contents
}

// A Heading is an entry of a table of contents.
type Heading struct{ ID, Text string }

// frontMatter is what a content file says of itself between two lines "---".
type frontMatter struct {
	Title   string `yaml:"title"`
	Summary string `yaml:"summary"`
}

// renderProse renders content/name.md. The file is a text template first, so
// that every constant it prints comes from facts; a name that facts does not
// have is an error. Links to other .md files become links to their pages, as
// link gives them.
func renderProse(content fs.FS, name string, facts any, link func(name string) (string, bool)) (Prose, error) {
	file := name + ".md"
	source, err := fs.ReadFile(content, file)
	if err != nil {
		return Prose{}, fmt.Errorf("read %s: %w", file, err)
	}
	meta, body, err := cutFrontMatter(string(source))
	if err != nil {
		return Prose{}, fmt.Errorf("%s: %w", file, err)
	}
	// Parsed whole, so that a template error names the line in the file.
	tmpl, err := texttemplate.New(file).Option("missingkey=error").Parse(body)
	if err != nil {
		return Prose{}, fmt.Errorf("parse %s: %w", file, err)
	}
	var filled strings.Builder
	if err := tmpl.Execute(&filled, facts); err != nil {
		return Prose{}, fmt.Errorf("fill %s: %w", file, err)
	}
	prose := Prose{Name: name, Title: meta.Title, Summary: meta.Summary}
	markdown := goldmark.New(
		goldmark.WithExtensions(
			extension.NewTable(extension.WithTableCellAlignMethod(extension.TableCellAlignAttribute)),
			extension.Typographer,
		),
		goldmark.WithParserOptions(
			parser.WithAutoHeadingID(),
			parser.WithHeadingAttribute(),
			parser.WithASTTransformers(util.Prioritized(transformer{&prose, file, link}, 100)),
		),
	)
	var html strings.Builder
	parsed := markdown.Parser().Parse(text.NewReader([]byte(filled.String())))
	if bad := brokenLink(parsed); bad != "" {
		return Prose{}, fmt.Errorf("%s links to %s, which is no page", file, bad)
	}
	if err := markdown.Renderer().Render(&html, []byte(filled.String()), parsed); err != nil {
		return Prose{}, fmt.Errorf("render %s: %w", file, err)
	}
	prose.Body = template.HTML(scrollable(html.String()))
	return prose, nil
}

// scrollable puts each table into a box that scrolls where the screen is narrow,
// and that the keyboard can reach. No text of a content file can look like a
// table's tag: goldmark drops raw HTML and escapes code. An empty corner heads
// nothing, so it becomes a cell.
func scrollable(html string) string {
	var b strings.Builder
	for n := 1; ; n++ {
		before, after, ok := strings.Cut(html, "<table>")
		b.WriteString(before)
		if !ok {
			return b.String()
		}
		table, rest, _ := strings.Cut(after, "</table>")
		table = strings.ReplaceAll(table, `<th scope="col"></th>`, "<td></td>")
		fmt.Fprintf(&b, `<div class="scroll" tabindex="0" role="group" aria-label="Table %d"><table>%s</table></div>`, n, table)
		html = rest
	}
}

// cutFrontMatter splits a content file. The body keeps the front matter's
// lines as blanks, so that line numbers in later errors still fit the file.
func cutFrontMatter(source string) (frontMatter, string, error) {
	var meta frontMatter
	rest, ok := strings.CutPrefix(source, "---\n")
	if !ok {
		return meta, "", fmt.Errorf("line 1: want front matter between two lines of ---")
	}
	head, body, ok := strings.Cut(rest, "\n---\n")
	if !ok {
		return meta, "", fmt.Errorf("line 1: the front matter is not closed by ---")
	}
	if err := yaml.UnmarshalWithOptions([]byte(head), &meta, yaml.Strict()); err != nil {
		return meta, "", fmt.Errorf("front matter: %w", err)
	}
	if meta.Title == "" {
		return meta, "", fmt.Errorf("front matter: title is missing")
	}
	return meta, strings.Repeat("\n", strings.Count(head, "\n")+3) + body, nil
}

// brokenMark is where the transformer leaves a link it could not resolve.
const brokenMark = "broken:"

// A transformer adapts the parsed document to the site: links between content
// files, scope on table headers, the table of contents.
type transformer struct {
	prose *Prose
	file  string
	link  func(string) (string, bool)
}

// Transform implements [parser.ASTTransformer].
func (t transformer) Transform(doc *ast.Document, reader text.Reader, _ parser.Context) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Link:
			n.Destination = []byte(t.resolve(string(n.Destination)))
		case *ast.Heading:
			if id, ok := n.AttributeString("id"); ok && n.Level == 2 {
				t.prose.Contents = append(t.prose.Contents, Heading{
					ID:   string(id.([]byte)),
					Text: plainText(n, reader.Source()),
				})
			}
		case *east.TableHeader:
			for cell := n.FirstChild(); cell != nil; cell = cell.NextSibling() {
				cell.SetAttributeString("scope", []byte("col"))
			}
		}
		return ast.WalkContinue, nil
	})
}

// resolve turns a link to a content file into a link to its page; others stay.
func (t transformer) resolve(to string) string {
	target, fragment, hasFragment := strings.Cut(to, "#")
	if path.Ext(target) != ".md" || strings.Contains(target, "://") {
		return to
	}
	page, ok := t.link(strings.TrimSuffix(target, ".md"))
	if !ok {
		return brokenMark + to
	}
	if hasFragment {
		page += "#" + fragment
	}
	return page
}

// brokenLink returns the first link that could not be resolved, or "".
func brokenLink(doc ast.Node) (broken string) {
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if link, ok := n.(*ast.Link); ok && entering {
			if to, bad := strings.CutPrefix(string(link.Destination), brokenMark); bad {
				broken = to
				return ast.WalkStop, nil
			}
		}
		return ast.WalkContinue, nil
	})
	return broken
}

// plainText returns the text of a node without its mark-up.
func plainText(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(n.Segment.Value(source))
			case *ast.String:
				b.WriteString(typographic.Replace(string(n.Value)))
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// typographic undoes the entities the typographer writes, as a heading's text
// is escaped again where it is printed.
var typographic = strings.NewReplacer("&rsquo;", "’", "&lsquo;", "‘", "&ldquo;", "“", "&rdquo;", "”", "&ndash;", "–", "&mdash;", "—", "&hellip;", "…")
