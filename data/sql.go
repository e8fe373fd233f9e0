package data

import (
	"context"
	"database/sql"
	_ "embed"
	"errors"
	"fmt"
	"strings"

	"github.com/mattn/go-sqlite3"
)

// A Result is the answer to a query.
type Result struct {
	Columns []string
	Rows    [][]any // int64, float64, string, []byte, or nil for NULL
	More    bool    // there are more rows than were asked for
}

// Query asks one file of the record, or an assembled one, and returns at most
// limit rows. It reads only, whatever the query says: SQLite opens the file so,
// and refuses to prepare what does more than select, such as ATTACH or VACUUM
// INTO, which would write another file. Canceling ctx stops a query that takes
// too long.
//
// It returns a [*FileError] if the file is at fault, and SQLite's own words if
// the query is.
func Query(ctx context.Context, database, query string, limit int) (Result, error) {
	if limit <= 0 {
		return Result{}, fmt.Errorf("query: a limit of %d rows", limit)
	}
	db := sql.OpenDB(readingConnector(database))
	defer db.Close()
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return Result{}, fmt.Errorf("query: %w", recognized(database, err))
	}
	defer rows.Close()
	var r Result
	if r.Columns, err = rows.Columns(); err != nil {
		return Result{}, fmt.Errorf("query: %w", err)
	}
	if len(r.Columns) == 0 {
		return Result{}, errors.New("query: it asks nothing")
	}
	for rows.Next() {
		if len(r.Rows) == limit {
			r.More = true
			break
		}
		row, fields := make([]any, len(r.Columns)), make([]any, len(r.Columns))
		for i := range row {
			fields[i] = &row[i]
		}
		if err := rows.Scan(fields...); err != nil {
			return Result{}, fmt.Errorf("query: %w", err)
		}
		r.Rows = append(r.Rows, row)
	}
	if err := rows.Err(); err != nil {
		return Result{}, fmt.Errorf("query: %w", recognized(database, err))
	}
	return r, nil
}

// sqliteRecursive is SQLITE_RECURSIVE of sqlite3.h, which the driver leaves out.
const sqliteRecursive = 33

// readingConnector opens a file for statements that select, and for no others.
func readingConnector(path string) connector {
	c := newConnector(path, true)
	prepare := c.driver.ConnectHook
	c.driver.ConnectHook = func(conn *sqlite3.SQLiteConn) error {
		if err := prepare(conn); err != nil {
			return err
		}
		conn.RegisterAuthorizer(func(action int, _, _, _ string) int {
			switch action {
			case sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqliteRecursive:
				return sqlite3.SQLITE_OK
			}
			return sqlite3.SQLITE_DENY
		})
		return nil
	}
	return c
}

// A Question is a query worth asking of any record, in words and in SQL.
type Question struct {
	Title string // the question
	Note  string // what to know before reading the answer
	SQL   string // one statement, without the semicolon
}

// questionsText holds the questions. Each is a line "-- title", a line "-- note",
// and a statement that ends with a semicolon; an empty line parts them.
//
//go:embed queries.sql
var questionsText string

// Questions returns queries worth asking of an assembled file. Their answers are
// in a fixed order, so that equal files give equal answers.
func Questions() []Question {
	var list []Question
	for block := range strings.SplitSeq(strings.TrimSpace(questionsText), "\n\n") {
		title, rest, _ := strings.Cut(strings.TrimPrefix(block, "-- "), "\n")
		note, query, _ := strings.Cut(strings.TrimPrefix(rest, "-- "), "\n")
		list = append(list, Question{title, note, strings.TrimSuffix(query, ";")})
	}
	return list
}
