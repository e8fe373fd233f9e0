package data

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/parquet-go/parquet-go"
)

// parquetBatch is how many rows are handed to the encoder at once.
const parquetBatch = 1024

// ExportParquet writes every view of an assembled file into dir as Parquet, in
// partitions as Hive lays them out, and returns their paths below dir, with
// slashes:
//
//	VIEW/year=2026/month=03/VIEW.parquet
//
// A row lies in the partition of its start, in UTC, and in order of its id. All
// columns are optional; times are timestamps in milliseconds, days are dates,
// and 0/1 are booleans. Equal content makes equal bytes.
func ExportParquet(ctx context.Context, database, dir string) ([]string, error) {
	db := sql.OpenDB(newConnector(database, true))
	defer db.Close()
	var names []string
	for _, view := range Views() {
		e := &parquetExport{db: db, dir: dir, view: view}
		if err := e.run(ctx); err != nil {
			return nil, fmt.Errorf("export %s: %w", view, recognized(database, err))
		}
		names = append(names, e.names...)
	}
	return names, nil
}

// A parquetExport is a view being exported.
type parquetExport struct {
	db        *sql.DB
	dir, view string
	columns   []Column // in the order of the view
	schema    *parquet.Schema
	place     []int // of each column in the schema, whose own order is by name
	names     []string

	month string // of the file being written, "2026-03"
	file  *os.File
	out   *parquet.GenericWriter[any]
	rows  []parquet.Row
}

func (e *parquetExport) run(ctx context.Context) (err error) {
	group := parquet.Group{}
	for _, c := range Dictionary() {
		if c.Relation == e.view {
			e.columns = append(e.columns, c)
			group[c.Name] = parquet.Optional(parquetNode(c.Type()))
		}
	}
	e.schema = parquet.NewSchema(e.view, group)
	for _, c := range e.columns {
		leaf, ok := e.schema.Lookup(c.Name)
		if !ok {
			return fmt.Errorf("column %s is not in the schema", c.Name)
		}
		e.place = append(e.place, leaf.ColumnIndex)
	}
	rows, err := e.db.QueryContext(ctx, `SELECT * FROM `+e.view+` ORDER BY id`)
	if err != nil {
		return err
	}
	defer rows.Close()
	defer func() { err = errors.Join(err, e.close()) }()
	values, fields := make([]any, len(e.columns)), make([]any, len(e.columns))
	for i := range values {
		fields[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return err
		}
		if err := e.add(values); err != nil {
			return err
		}
	}
	return rows.Err()
}

// add adds a row to the file of its month. Rows come in order of time.
func (e *parquetExport) add(values []any) error {
	start, ok := values[0].(string)
	if !ok || len(start) < len(time.DateOnly) {
		return fmt.Errorf("column %s holds %v, no time", e.columns[0].Name, values[0])
	}
	if month := start[:len("2006-01")]; month != e.month {
		if err := errors.Join(e.close(), e.open(month)); err != nil {
			return err
		}
	}
	row := make(parquet.Row, len(values))
	for i, v := range values {
		value, err := parquetValue(v, e.columns[i].Type())
		if err != nil {
			return fmt.Errorf("column %s: %w", e.columns[i].Name, err)
		}
		level := 1
		if value.IsNull() {
			level = 0
		}
		row[e.place[i]] = value.Level(0, level, e.place[i])
	}
	if e.rows = append(e.rows, row); len(e.rows) == parquetBatch {
		return e.flush()
	}
	return nil
}

func (e *parquetExport) open(month string) error {
	name := path.Join(e.view, "year="+month[:4], "month="+month[5:], e.view+".parquet")
	full := filepath.Join(e.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	f, err := os.Create(full)
	if err != nil {
		return err
	}
	e.month, e.file, e.names = month, f, append(e.names, name)
	e.out = parquet.NewGenericWriter[any](f, e.schema, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("streamgauge", "1.0.0", "0"))
	return nil
}

func (e *parquetExport) flush() error {
	_, err := e.out.WriteRows(e.rows)
	e.rows = e.rows[:0]
	return err
}

func (e *parquetExport) close() error {
	if e.file == nil {
		return nil
	}
	err := errors.Join(e.flush(), e.out.Close(), e.file.Close())
	e.file = nil
	return err
}

func parquetNode(t ColumnType) parquet.Node {
	switch t {
	case TypeInteger:
		return parquet.Int(64)
	case TypeNumber:
		return parquet.Leaf(parquet.DoubleType)
	case TypeBoolean:
		return parquet.Leaf(parquet.BooleanType)
	case TypeTime:
		return parquet.Timestamp(parquet.Millisecond)
	case TypeDate:
		return parquet.Date()
	}
	return parquet.String()
}

// parquetValue turns what SQLite holds into a column's type.
func parquetValue(v any, t ColumnType) (parquet.Value, error) {
	if v == nil {
		return parquet.NullValue(), nil
	}
	switch v := v.(type) {
	case int64:
		switch t {
		case TypeInteger:
			return parquet.Int64Value(v), nil
		case TypeNumber:
			return parquet.DoubleValue(float64(v)), nil
		case TypeBoolean:
			return parquet.BooleanValue(v != 0), nil
		}
	case float64:
		if t == TypeNumber {
			return parquet.DoubleValue(v), nil
		}
	case string:
		switch t {
		case TypeText:
			return parquet.ByteArrayValue([]byte(v)), nil
		case TypeTime:
			at, err := time.Parse(time.RFC3339, v)
			return parquet.Int64Value(at.UnixMilli()), err
		case TypeDate:
			at, err := time.Parse(time.DateOnly, v)
			return parquet.Int32Value(int32(at.Unix() / int64(day/time.Second))), err
		}
	}
	return parquet.Value{}, fmt.Errorf("a %T where a %s should be", v, t)
}
