package data

import (
	"context"
	"database/sql"
	_ "embed"
	"fmt"
	"strings"
)

// dictionaryText explains every column of every table and view: tab-separated,
// with a header line.
//
//go:embed dictionary.tsv
var dictionaryText string

// A Column is an entry of the dictionary.
type Column struct {
	Relation string // table or view
	Name     string
	Unit     string // "0/1" is no or yes, "count" a plain number
	Meaning  string
	Source   string // measured, provider, configured, derived or record; the dictionary explains them
}

// A ColumnType is what the values of a view's column are, in the words of
// Frictionless Table Schema.
type ColumnType string

// The types.
const (
	TypeText    ColumnType = "string"
	TypeInteger ColumnType = "integer"
	TypeNumber  ColumnType = "number"
	TypeBoolean ColumnType = "boolean" // 0 or 1
	TypeTime    ColumnType = "datetime"
	TypeDate    ColumnType = "date"
)

// Type returns the type of a column of a view. It follows from the unit: what is
// counted is an integer, unless it was shared out.
func (c Column) Type() ColumnType {
	switch c.Unit {
	case "text", "JSON":
		return TypeText
	case "id", "count", "code", "code points", "s":
		return TypeInteger
	case "0/1":
		return TypeBoolean
	case "ISO 8601":
		if c.Name == "day" {
			return TypeDate
		}
		return TypeTime
	case "tokens":
		if c.Source != "derived" {
			return TypeInteger
		}
	}
	return TypeNumber
}

// Dictionary returns what every column of every table and view means, in the
// order of the schema.
func Dictionary() []Column {
	var columns []Column
	for i, line := range strings.Split(strings.TrimSuffix(dictionaryText, "\n"), "\n") {
		if f := strings.Split(line, "\t"); i > 0 && len(f) == 5 {
			columns = append(columns, Column{f[0], f[1], f[2], f[3], f[4]})
		}
	}
	return columns
}

// fillDictionary fills the table that explains every column. The catalog and
// the download have it; the other files are spared its bytes.
func fillDictionary(ctx context.Context, db *sql.DB) error {
	for _, c := range Dictionary() {
		if _, err := db.ExecContext(ctx, `INSERT INTO dictionary VALUES(?, ?, ?, ?, ?)`, c.Relation, c.Name, c.Unit, c.Meaning, c.Source); err != nil {
			return fmt.Errorf("fill dictionary: %s.%s: %w", c.Relation, c.Name, err)
		}
	}
	return nil
}
