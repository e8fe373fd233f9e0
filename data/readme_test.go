package data

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the results of README.md's queries, and its columns")

// TestReadme runs the queries of README.md on a made-up record, and holds their
// results and the tables of columns against what the page shows.
func TestReadme(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	s, _ := fortnight(t, false)
	db := openDownload(t, assemble(t, s, Whole(t0.AddDate(0, 0, 14))))
	queries := 0
	want := regexp.MustCompile("(?s)```sql\n(.*?)```\n```text\n.*?```").ReplaceAllStringFunc(string(text), func(block string) string {
		queries++
		query := strings.TrimPrefix(block[:strings.Index(block, "```\n```text")], "```sql\n")
		return "```sql\n" + query + "```\n```text\n" + resultText(t, db, query) + "```"
	})
	if queries != 10 {
		t.Errorf("%d queries with results, want 10", queries)
	}
	for _, view := range Views() {
		// Up to the next mark, or the sentence after the last one.
		place := regexp.MustCompile("(?s)<!-- " + view + " -->\n.*?\n?(<!-- |The table )")
		if !place.MatchString(want) {
			t.Fatalf("no place for the columns of %s", view)
		}
		want = place.ReplaceAllString(want, "<!-- "+view+" -->\n"+strings.ReplaceAll(columnsText(view), "$", "$$")+"$1")
	}
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(want, string(text)); diff != "" && !*update {
		t.Errorf("README.md is out of date; run with -update (-want +got):\n%s", diff)
	}
}

// columnsText is the dictionary of a view in Markdown.
func columnsText(view string) string {
	out := fmt.Sprintf("### View `%s`\n\n| column | unit | meaning | source |\n|---|---|---|---|\n", view)
	for _, c := range Dictionary() {
		if c.Relation == view {
			out += fmt.Sprintf("| `%s` | %s | %s | %s |\n", c.Name, c.Unit, strings.ReplaceAll(c.Meaning, "|", `\|`), c.Source)
		}
	}
	return out + "\n"
}

// resultText is the result of a query in aligned columns.
func resultText(t *testing.T, db *sql.DB, query string) string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatalf("%v in\n%s", err, query)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	table := [][]string{columns}
	for rows.Next() {
		values, fields := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range values {
			fields[i] = &values[i]
		}
		if err := rows.Scan(fields...); err != nil {
			t.Fatal(err)
		}
		line := make([]string, len(columns))
		for i, v := range values {
			line[i] = v.String
			if !v.Valid {
				line[i] = "NULL"
			}
		}
		table = append(table, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(table) == 1 {
		t.Errorf("no result of\n%s", query)
	}
	widths := make([]int, len(columns))
	for _, line := range table {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	out := ""
	for _, line := range table {
		padded := ""
		for i, cell := range line {
			padded += cell + strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)+2)
		}
		out += strings.TrimRight(padded, " ") + "\n"
	}
	return out
}
