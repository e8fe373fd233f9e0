package data

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	s, samples := fortnight(t, false)
	file := assemble(t, s, Whole(t0.AddDate(0, 0, 14)))
	tests := []struct {
		name, query string
		limit       int
		want        Result
	}{
		{"types", `SELECT 1 AS i, 0.5 AS f, 'x' AS t, x'00ff' AS b, NULL AS n`, 5,
			Result{Columns: []string{"i", "f", "t", "b", "n"}, Rows: [][]any{{int64(1), 0.5, "x", []byte{0, 255}, nil}}}},
		{"no rows", `SELECT id FROM samples WHERE 0`, 5, Result{Columns: []string{"id"}}},
		{"as many as asked for", `VALUES(1), (2)`, 2, Result{Columns: []string{"column1"}, Rows: [][]any{{int64(1)}, {int64(2)}}}},
		{"more", `VALUES(1), (2), (3)`, 2, Result{Columns: []string{"column1"}, Rows: [][]any{{int64(1)}, {int64(2)}}, More: true}},
		{"view", `SELECT count(*) AS n FROM samples`, 1, Result{Columns: []string{"n"}, Rows: [][]any{{int64(len(samples))}}}},
		{"recursive", `WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT i FROM n`, 1,
			Result{Columns: []string{"i"}, Rows: [][]any{{int64(1)}}, More: true}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Query(t.Context(), file, tt.query, tt.limit)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestQueryReadsOnly tries to write into the file, and beside it.
func TestQueryReadsOnly(t *testing.T) {
	t.Parallel()
	s, _ := fortnight(t, false)
	file := assemble(t, s, Whole(t0.AddDate(0, 0, 14)))
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	other := filepath.Join(filepath.Dir(file), "other.sqlite")
	for _, query := range []string{
		`DELETE FROM raw_samples`,
		`DELETE FROM raw_samples RETURNING id`,
		`INSERT INTO meta VALUES('x', 1)`,
		`CREATE TABLE t(x)`,
		`CREATE TEMP TABLE t(x)`,
		`DROP VIEW samples`,
		`PRAGMA user_version = 9`,
		`VACUUM`,
		fmt.Sprintf(`VACUUM INTO '%s'`, other),
		fmt.Sprintf(`ATTACH '%s' AS other`, other),
		fmt.Sprintf(`SELECT 1; VACUUM INTO '%s'`, other),
		`BEGIN IMMEDIATE`,
	} {
		if _, err := Query(t.Context(), file, query, 1); err == nil {
			t.Errorf("%s: no error", query)
		}
	}
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(before) != string(after) {
		t.Error("the file has changed")
	}
	entries, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the file there are %v, %v", entries, err)
	}
}

func TestQueryErrors(t *testing.T) {
	t.Parallel()
	file := assemble(t, newRecord(t), Download{})
	for _, tt := range []struct {
		query string
		limit int
		want  string
	}{
		{`SELECT`, 1, "incomplete input"},
		{`SELECT x FROM samples`, 1, "no such column: x"},
		{``, 1, "asks nothing"},
		{`-- nothing`, 1, "asks nothing"},
		{`SELECT 1`, 0, "limit"},
		{`SELECT abs(-9223372036854775808)`, 1, "integer overflow"}, // found while stepping
	} {
		if _, err := Query(t.Context(), file, tt.query, tt.limit); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v; want one with %q", tt.query, err, tt.want)
		}
	}
	foreign := filepath.Join(t.TempDir(), "x.sqlite")
	if err := os.WriteFile(foreign, []byte(strings.Repeat("no database ", 1000)), 0o644); err != nil {
		t.Fatal(err)
	}
	var f *FileError
	if _, err := Query(t.Context(), foreign, `SELECT * FROM meta`, 1); !errors.As(err, &f) || !errors.Is(err, ErrForeign) {
		t.Errorf("a foreign file: error %v; want %v", err, ErrForeign)
	}
	if _, err := Query(t.Context(), filepath.Join(t.TempDir(), "gone.sqlite"), `SELECT 1`, 1); err == nil {
		t.Error("a missing file answered")
	}
}

// TestQueryStops ends a query that would never end.
func TestQueryStops(t *testing.T) {
	t.Parallel()
	file := assemble(t, newRecord(t), Download{})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err := Query(ctx, file, `WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n`, 1)
	if err == nil {
		t.Error("an endless query ended")
	}
}

// TestQuestions asks every question of a whole and of a lite file: each has an
// answer, the same each time, and is in words.
func TestQuestions(t *testing.T) {
	t.Parallel()
	questions := Questions()
	if len(questions) < 8 {
		t.Fatalf("%d questions, want at least 8", len(questions))
	}
	s, _ := fortnight(t, false)
	if _, err := s.Rollup(t.Context(), t0.AddDate(0, 0, 14)); err != nil {
		t.Fatal(err)
	}
	shuffled, _ := fortnight(t, true)
	if _, err := shuffled.Rollup(t.Context(), t0.AddDate(0, 0, 14)); err != nil {
		t.Fatal(err)
	}
	now := t0.AddDate(0, 0, 14)
	files := map[string][2]string{
		"whole": {assemble(t, s, Whole(now)), assemble(t, shuffled, Whole(now))},
		"lite":  {assemble(t, s, Lite(now)), assemble(t, shuffled, Lite(now))},
	}
	empty := assemble(t, newRecord(t), Download{})
	seen := map[string]bool{}
	for _, q := range questions {
		if !strings.HasSuffix(q.Title, "?") || !strings.HasSuffix(q.Note, ".") || strings.HasSuffix(q.SQL, ";") || seen[q.Title] {
			t.Errorf("%+v is no question, or asked twice", q)
		}
		seen[q.Title] = true
		for name, pair := range files {
			first, err := Query(t.Context(), pair[0], q.SQL, 25)
			if err != nil {
				t.Errorf("%s, %s: %v", q.Title, name, err)
				continue
			}
			if len(first.Rows) == 0 || first.More {
				t.Errorf("%s, %s: %d rows, more %t; want 1 to 25", q.Title, name, len(first.Rows), first.More)
			}
			second, err := Query(t.Context(), pair[1], q.SQL, 25)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(first, second); diff != "" {
				t.Errorf("%s, %s: another answer from equal samples:\n%s", q.Title, name, diff)
			}
		}
		if _, err := Query(t.Context(), empty, q.SQL, 25); err != nil {
			t.Errorf("%s, of an empty record: %v", q.Title, err)
		}
	}
}

// TestQuestionAnswers holds answers against what the samples say.
func TestQuestionAnswers(t *testing.T) {
	t.Parallel()
	s, samples := fortnight(t, false)
	file := assemble(t, s, Whole(t0.AddDate(0, 0, 14)))
	ok, failed := 0, 0
	slowest := time.Duration(0)
	for _, sample := range samples {
		if sample.OK() {
			ok++
			if v, why := sample.TTFT(); why.OK() {
				slowest = max(slowest, v)
			}
		} else {
			failed++
		}
	}
	sum := func(r Result, column string) (total int64) {
		for i, name := range r.Columns {
			for _, row := range r.Rows {
				if name == column {
					total += row[i].(int64)
				}
			}
		}
		return total
	}
	checked := 0
	for _, q := range Questions() {
		r, err := Query(t.Context(), file, q.SQL, 100)
		if err != nil {
			t.Fatal(err)
		}
		switch q.Title {
		case "What is in this file?":
			if got := sum(r, "samples"); got != int64(len(samples)) {
				t.Errorf("%s: %d samples, want %d", q.Title, got, len(samples))
			}
		case "Why is there no rate?":
			if got := sum(r, "samples"); got != int64(ok) {
				t.Errorf("%s: %d samples, want %d", q.Title, got, ok)
			}
		case "How do runs fail, and where?":
			if got := sum(r, "samples"); got != int64(failed) {
				t.Errorf("%s: %d samples, want %d", q.Title, got, failed)
			}
		case "What did the slowest starts look like?":
			if got := r.Rows[0][3]; got != slowest.Seconds()*1000 {
				t.Errorf("%s: %v ms, want %v", q.Title, got, slowest.Seconds()*1000)
			}
		default:
			continue
		}
		checked++
	}
	if checked != 4 {
		t.Errorf("checked %d answers, want 4", checked)
	}
}
