package data

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDictionary holds the dictionary against the schema: every column of every
// table and view, in order, and nothing else.
func TestDictionary(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	for name, db := range map[string]interface{ querier }{
		"catalog": s.db, "download": openDownload(t, assemble(t, s, Download{})),
	} {
		rows, err := db.QueryContext(t.Context(), `SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_xinfo(m.name) c
			WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'sqlite_%' ORDER BY m.rowid, c.cid`)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		var want []string
		for rows.Next() {
			var column string
			if err := rows.Scan(&column); err != nil {
				t.Fatal(err)
			}
			want = append(want, column)
		}
		var got []string
		for _, c := range Dictionary() {
			got = append(got, c.Relation+"."+c.Name)
		}
		if diff := cmp.Diff(want, got); diff != "" || len(want) < 200 {
			t.Errorf("%s: columns (-schema +dictionary):\n%s", name, diff)
		}
		var n int
		if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM dictionary`).Scan(&n); err != nil || n != len(got) {
			t.Errorf("%s: %d entries in the table, want %d: %v", name, n, len(got), err)
		}
	}
	if lines := strings.Count(dictionaryText, "\n"); lines != len(Dictionary())+1 {
		t.Errorf("%d lines in dictionary.tsv, %d of them columns and a header", lines, len(Dictionary())+1)
	}
	sources := []string{"measured", "provider", "configured", "derived", "record"}
	for _, c := range Dictionary() {
		if c.Unit == "" || c.Meaning == "" || !slices.Contains(sources, c.Source) {
			t.Errorf("%s.%s: unit %q, meaning %q, source %q", c.Relation, c.Name, c.Unit, c.Meaning, c.Source)
		}
	}
}
