package data

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// exported is a made-up record of some days about the turn of a month, and its
// assembled file.
func exported(t *testing.T) (database string) {
	t.Helper()
	s := newRecord(t)
	rnd := rand.New(rand.NewPCG(16, 23))
	for i := range 120 {
		ingest(t, s, random(rnd, fmt.Sprint("m", i%3), t0.Add(time.Duration(i)*40*time.Minute)))
	}
	if _, err := s.Rollup(t.Context(), t0.Add(4*day)); err != nil {
		t.Fatal(err)
	}
	return assemble(t, s, Download{})
}

// TestExportParquet reads Parquet files back with the library's reader of plain
// rows, and compares each cell with the view's.
func TestExportParquet(t *testing.T) {
	t.Parallel()
	database, dir, again := exported(t), t.TempDir(), t.TempDir()
	names, err := ExportParquet(t.Context(), database, dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"samples/year=2026/month=03/samples.parquet", "samples/year=2026/month=04/samples.parquet",
		"hourly/year=2026/month=03/hourly.parquet", "hourly/year=2026/month=04/hourly.parquet",
		"daily/year=2026/month=03/daily.parquet", "daily/year=2026/month=04/daily.parquet",
	}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Fatal(diff)
	}
	got := map[string][]string{}
	for _, name := range names {
		view, _, _ := strings.Cut(name, "/")
		got[view] = append(got[view], parquetRows(t, filepath.Join(dir, name), view)...)
	}
	for _, view := range Views() {
		if diff := cmp.Diff(viewRows(t, database, view), got[view]); diff != "" {
			t.Errorf("%s (-view +parquet):\n%s", view, diff)
		}
	}
	if _, err := ExportParquet(t.Context(), database, again); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if !sameFile(t, filepath.Join(dir, name), filepath.Join(again, name)) {
			t.Errorf("%s has other bytes the second time", name)
		}
	}
}

// parquetRows reads a file, and describes each row in the order of the view.
func parquetRows(t *testing.T, path, view string) (lines []string) {
	t.Helper()
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := parquet.OpenFile(bytes.NewReader(content), int64(len(content)))
	if err != nil {
		t.Fatal(err)
	}
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		for {
			batch := make([]parquet.Row, 7)
			n, err := rows.ReadRows(batch)
			for _, row := range batch[:n] {
				var line strings.Builder
				for _, c := range Dictionary() {
					if c.Relation != view {
						continue
					}
					leaf, ok := f.Schema().Lookup(c.Name)
					if !ok {
						t.Fatalf("no column %s", c.Name)
					}
					v, text := row[leaf.ColumnIndex], ""
					switch kind := leaf.Node.Type(); {
					case v.IsNull():
						text = "NULL"
					case c.Name == "day":
						text = time.Unix(int64(v.Int32())*86400, 0).UTC().Format(time.DateOnly)
					case strings.HasPrefix(kind.String(), "TIMESTAMP"):
						text = time.UnixMilli(v.Int64()).UTC().Format("2006-01-02T15:04:05.000Z")
					case kind.Kind() == parquet.Boolean:
						text = map[bool]string{true: "1", false: "0"}[v.Boolean()]
					case kind.Kind() == parquet.Double:
						text = fmt.Sprint(v.Double())
					case kind.Kind() == parquet.Int64:
						text = fmt.Sprint(v.Int64())
					default:
						text = string(v.ByteArray())
					}
					fmt.Fprintf(&line, "%s=%s ", c.Name, text)
				}
				lines = append(lines, line.String())
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	return lines
}

// viewRows describes the rows of a view likewise.
func viewRows(t *testing.T, database, view string) (lines []string) {
	t.Helper()
	r, err := Query(t.Context(), database, "SELECT * FROM "+view+" ORDER BY id", 10_000)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) < 3 {
		t.Fatalf("%d rows in %s", len(r.Rows), view)
	}
	for _, row := range r.Rows {
		var line strings.Builder
		for i, c := range r.Columns {
			text := fmt.Sprint(row[i])
			switch {
			case row[i] == nil:
				text = "NULL"
			case c == "hour":
				text = strings.Replace(text, "Z", ".000Z", 1)
			}
			fmt.Fprintf(&line, "%s=%s ", c, text)
		}
		lines = append(lines, line.String())
	}
	return lines
}

// TestDataPackage checks that every text file is described to its last column,
// and that what the standard requires is there.
func TestDataPackage(t *testing.T) {
	t.Parallel()
	database, dir := exported(t), t.TempDir()
	names, err := ExportGzip(t.Context(), database, dir, CSV)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := NewManifest(dir, names, Download{GeneratedAt: t0, License: "CC-BY-4.0"})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(NewDataPackage(manifest))
	if err != nil {
		t.Fatal(err)
	}
	var p struct {
		Name      string
		Licenses  []struct{ Name string }
		Resources []struct {
			Name, Path, Hash, Compression string
			Bytes                         int64
			Schema                        struct {
				Fields []struct{ Name, Type string }
			}
		}
	}
	if err := json.Unmarshal(text, &p); err != nil {
		t.Fatal(err)
	}
	if p.Name != "streamgauge" || len(p.Licenses) != 1 || p.Licenses[0].Name != "CC-BY-4.0" || len(p.Resources) != len(names) {
		t.Fatalf("package is %s", text)
	}
	types := map[ColumnType]func(any) bool{
		TypeText: is[string], TypeTime: is[string], TypeDate: is[string], TypeInteger: is[int64], TypeBoolean: is[int64],
		TypeNumber: func(v any) bool { return is[float64](v) || is[int64](v) },
	}
	for i, r := range p.Resources {
		if r.Path != names[i] || r.Hash != "sha256:"+manifest.Files[i].SHA256 || r.Bytes != manifest.Files[i].Bytes || r.Compression != "gz" {
			t.Errorf("%s: %+v", names[i], r)
		}
		view, _, _ := strings.Cut(names[i], ".")
		result, err := Query(t.Context(), database, "SELECT * FROM "+view, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		var columns []string
		for j, f := range r.Schema.Fields {
			columns = append(columns, f.Name)
			if holds := types[ColumnType(f.Type)]; holds == nil || slices.ContainsFunc(result.Rows, func(row []any) bool {
				return row[j] != nil && !holds(row[j])
			}) {
				t.Errorf("%s.%s is no %s", view, f.Name, f.Type)
			}
		}
		if diff := cmp.Diff(result.Columns, columns); diff != "" {
			t.Errorf("%s: %s", view, diff)
		}
	}
}

func is[T any](v any) bool { _, ok := v.(T); return ok }
