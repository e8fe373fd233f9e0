package data

import (
	"bufio"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// Views lists the views that are exported as text, in order.
func Views() []string { return []string{"samples", "hourly", "daily"} }

// probesView shows the buffering probes, which are in no other view and are not
// exported: they say nothing of an endpoint's speed.
const probesView = "buffer_probes"

// A Format is a text format of [ExportView].
type Format string

// The formats, which are also the ends of file names. Both are UTF-8.
const (
	CSV    Format = "csv"    // RFC 4180 with a header line; unknown is an empty field
	NDJSON Format = "ndjson" // an object a line; unknown is null
)

// ExportView writes a view of an assembled file as text, in order of its ids.
// Equal content makes equal bytes.
func ExportView(ctx context.Context, database, view string, format Format, w io.Writer) error {
	if !slices.Contains(Views(), view) {
		return fmt.Errorf("export: no view %q", view)
	}
	db := sql.OpenDB(newConnector(database, true))
	defer db.Close()
	rows, err := db.QueryContext(ctx, `SELECT * FROM `+view+` ORDER BY id`)
	if err != nil {
		return fmt.Errorf("export %s: %w", view, fileError(database, err))
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return fmt.Errorf("export %s: %w", view, err)
	}
	out := bufio.NewWriterSize(w, 64<<10)
	write := writeNDJSON(out, columns)
	if format == CSV {
		write = writeCSV(out, columns)
	} else if format != NDJSON {
		return fmt.Errorf("export: no format %q", format)
	}
	values := make([]any, len(columns))
	fields := make([]any, len(columns))
	for i := range values {
		fields[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(fields...); err != nil {
			return fmt.Errorf("export %s: %w", view, err)
		}
		if err := write(values); err != nil {
			return fmt.Errorf("export %s: %w", view, err)
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("export %s: %w", view, fileError(database, err))
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("export %s: %w", view, err)
	}
	return nil
}

func writeCSV(w io.Writer, columns []string) func([]any) error {
	out := csv.NewWriter(w)
	first := true
	record := make([]string, len(columns))
	return func(values []any) error {
		if first {
			first = false
			if err := out.Write(columns); err != nil {
				return err
			}
		}
		for i, v := range values {
			switch v := v.(type) {
			case nil:
				record[i] = ""
			case int64:
				record[i] = strconv.FormatInt(v, 10)
			case float64:
				record[i] = strconv.FormatFloat(v, 'f', -1, 64)
			case string:
				record[i] = v
			default:
				return fmt.Errorf("column %s holds a %T", columns[i], v)
			}
		}
		if err := out.Write(record); err != nil {
			return err
		}
		out.Flush()
		return out.Error()
	}
}

func writeNDJSON(w io.Writer, columns []string) func([]any) error {
	names := make([][]byte, len(columns))
	for i, c := range columns {
		names[i], _ = json.Marshal(c) // a string always marshals
	}
	var line []byte
	return func(values []any) error {
		line = append(line[:0], '{')
		for i, v := range values {
			if i > 0 {
				line = append(line, ',')
			}
			line = append(append(line, names[i]...), ':')
			text, err := json.Marshal(v)
			if err != nil {
				return fmt.Errorf("column %s: %w", columns[i], err)
			}
			line = append(line, text...)
		}
		_, err := w.Write(append(line, '}', '\n'))
		return err
	}
}

// ExportGzip exports every view of an assembled file into dir, as
// VIEW.FORMAT.gz, and returns the names of the files.
func ExportGzip(ctx context.Context, database, dir string, format Format) ([]string, error) {
	var names []string
	for _, view := range Views() {
		name := view + "." + string(format) + ".gz"
		if err := exportGzip(ctx, database, filepath.Join(dir, name), view, format); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

func exportGzip(ctx context.Context, database, path, view string, format Format) error {
	f, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("export %s: %w", view, fileError(path, err))
	}
	defer f.Close()
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression) // no name, no time: equal content, equal bytes
	if err != nil {
		return fmt.Errorf("export %s: %w", view, err)
	}
	if err := ExportView(ctx, database, view, format, z); err != nil {
		return err
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		return fmt.Errorf("export %s: %w", view, fileError(path, err))
	}
	return nil
}

// A Manifest lists the files offered for download.
type Manifest struct {
	GeneratedAt time.Time      `json:"generated_at"`
	License     string         `json:"license,omitempty"`
	Commit      string         `json:"commit,omitempty"` // of the record
	Files       []ManifestFile `json:"files"`
}

// A ManifestFile is a file offered for download.
type ManifestFile struct {
	Name   string `json:"name"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"` // hexadecimal
}

// NewManifest describes files in dir, in the order of names.
func NewManifest(dir string, names []string, opts Download) (Manifest, error) {
	m := Manifest{GeneratedAt: opts.GeneratedAt.UTC(), License: opts.License, Commit: opts.Commit}
	for _, name := range names {
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			return Manifest{}, fmt.Errorf("make manifest: %w", err)
		}
		sum := sha256.New()
		n, err := io.Copy(sum, f)
		if err := errors.Join(err, f.Close()); err != nil {
			return Manifest{}, fmt.Errorf("make manifest: %s: %w", name, err)
		}
		m.Files = append(m.Files, ManifestFile{Name: name, Bytes: n, SHA256: hex.EncodeToString(sum.Sum(nil))})
	}
	return m, nil
}
