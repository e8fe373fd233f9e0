package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/site"
)

// exportCmd writes the dataset as files to download.
type exportCmd struct {
	Data   string `default:"data" type:"path" help:"Directory of the record."`
	Out    string `required:"" placeholder:"DIR" type:"path" help:"Directory the files are written into."`
	Format string `enum:"download,parquet" default:"download" help:"download: all that a site offers; parquet: each view in partitions by year and month."`
}

// Help is printed under the usage line.
func (exportCmd) Help() string {
	return `Writes streamgauge.sqlite (everything), a lite version, CSV and NDJSON of each view, the hours of each year,
datapackage.json with their columns, and manifest.json with sizes and SHA-256.
With --format parquet it writes samples/year=2026/month=03/samples.parquet and the like, which DuckDB, ClickHouse, Spark and BigQuery
read as one table: SELECT * FROM read_parquet('download/samples/*/*/*.parquet', hive_partitioning = true)
Example: streamgauge export --data out/data --out download`
}

// Run exports.
func (c *exportCmd) Run(a *app) error {
	store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := os.MkdirAll(c.Out, 0o755); err != nil {
		return fmt.Errorf("make the folder: %w", err)
	}
	// Everything is made aside first: a full disk leaves the files of an earlier
	// export as they are.
	work, err := os.MkdirTemp(c.Out, ".export-")
	if err != nil {
		return fmt.Errorf("export: %w", err)
	}
	defer os.RemoveAll(work)
	if c.Format == "parquet" {
		return c.parquet(a, store, work)
	}
	files, err := download(a.ctx, store, work, time.Now().UTC().Truncate(time.Second), "")
	if err != nil {
		return err
	}
	for _, f := range files {
		if err := moveInto(c.Out, work, f.Name); err != nil {
			return err
		}
	}
	for _, f := range files {
		fmt.Fprintf(a.stdout, "%12d  %s  %s\n", f.Bytes, f.SHA256, f.Name)
	}
	return nil
}

// moveInto moves a file, named by slashes, from one folder to the same place in
// another.
func moveInto(out, work, name string) error {
	name = filepath.FromSlash(name)
	if err := os.MkdirAll(filepath.Dir(filepath.Join(out, name)), 0o755); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	if err := os.Rename(filepath.Join(work, name), filepath.Join(out, name)); err != nil {
		return fmt.Errorf("export: %w", err)
	}
	return nil
}

// parquet writes all that the record holds as Parquet, by way of a folder to
// work in.
func (c *exportCmd) parquet(a *app, store *data.Store, work string) error {
	whole := filepath.Join(work, wholeFile)
	if err := store.Assemble(a.ctx, whole, data.Download{}); err != nil {
		return err
	}
	names, err := data.ExportParquet(a.ctx, whole, work)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := moveInto(c.Out, work, name); err != nil {
			return err
		}
		fmt.Fprintln(a.stdout, name)
	}
	return nil
}

// The names of the assembled files.
const (
	packageFile  = "datapackage.json"
	wholeFile    = "streamgauge.sqlite"
	liteFile     = "streamgauge-lite.sqlite"
	manifestFile = "manifest.json"
)

// download writes every file of the download into dir and describes them.
func download(ctx context.Context, store *data.Store, dir string, now time.Time, licence string) ([]site.File, error) {
	whole, lite := data.Whole(now), data.Lite(now)
	whole.License, lite.License = licence, licence
	notes := map[string]string{
		wholeFile: "Everything: raw samples, hourly and daily rollups, views and a dictionary.",
		liteFile:  "The last 7 days of raw samples, 90 days of hourly rollups, all daily rollups.",
	}
	names := []string{wholeFile, liteFile}
	if err := store.Assemble(ctx, filepath.Join(dir, wholeFile), whole); err != nil {
		return nil, fmt.Errorf("assemble the download: %w", err)
	}
	if err := store.Assemble(ctx, filepath.Join(dir, liteFile), lite); err != nil {
		return nil, fmt.Errorf("assemble the lite download: %w", err)
	}
	for _, name := range []string{wholeFile, liteFile} {
		packed := name + ".gz"
		if err := pack(filepath.Join(dir, name), filepath.Join(dir, packed)); err != nil {
			return nil, err
		}
		names, notes[packed] = append(names, packed), "The same, compressed."
	}
	for _, format := range []data.Format{data.CSV, data.NDJSON} {
		made, err := data.ExportGzip(ctx, filepath.Join(dir, wholeFile), dir, format)
		if err != nil {
			return nil, fmt.Errorf("export: %w", err)
		}
		for i, name := range made {
			notes[name] = fmt.Sprintf("The view %s as %s, compressed.", data.Views()[i], format)
		}
		names = append(names, made...)
	}
	years, err := store.Years()
	if err != nil {
		return nil, err
	}
	for _, year := range years {
		name := fmt.Sprintf("hourly-%d.sqlite", year)
		if err := hoursOf(ctx, store, dir, name, year, now, licence); err != nil {
			return nil, err
		}
		names, notes[name+".gz"] = append(names, name+".gz"), fmt.Sprintf("The hourly rollups of %d, compressed.", year)
	}
	manifest, err := data.NewManifest(dir, names, whole)
	if err != nil {
		return nil, err
	}
	if err := writeJSON(filepath.Join(dir, packageFile), data.NewDataPackage(manifest)); err != nil {
		return nil, err
	}
	described, err := data.NewManifest(dir, []string{packageFile}, whole)
	if err != nil {
		return nil, err
	}
	manifest.Files = append(manifest.Files, described.Files...)
	notes[packageFile] = "The files and their columns, for programs: a Frictionless Data Package."
	if err := writeJSON(filepath.Join(dir, manifestFile), manifest); err != nil {
		return nil, err
	}
	itself, err := data.NewManifest(dir, []string{manifestFile}, whole)
	if err != nil {
		return nil, err
	}
	notes[manifestFile] = "Size and SHA-256 of each of these files, for programs."
	var files []site.File
	for _, f := range append(manifest.Files, itself.Files...) {
		files = append(files, site.File{Name: f.Name, Note: notes[f.Name], Bytes: f.Bytes, SHA256: f.SHA256, Source: filepath.Join(dir, f.Name)})
	}
	return files, nil
}

// hoursOf writes the hourly rollups of one year, compressed.
func hoursOf(ctx context.Context, store *data.Store, dir, name string, year int, now time.Time, licence string) error {
	hours := data.HourlyOf(year, now)
	hours.License = licence
	path := filepath.Join(dir, name)
	if err := store.Assemble(ctx, path, hours); err != nil {
		return fmt.Errorf("assemble the hours of %d: %w", year, err)
	}
	if err := pack(path, path+".gz"); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return fmt.Errorf("assemble the hours of %d: %w", year, err)
	}
	return nil
}
