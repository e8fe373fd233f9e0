package main

import (
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/site"
)

// The names of the files of a snapshot beside those of the download.
const (
	eventsFile   = "events.ndjson"
	citationFile = "CITATION.cff"
	sumsFile     = "SHA256SUMS"
)

// dataLicence is the licence of the data unless the site's configuration says
// otherwise.
const dataLicence = "CC BY 4.0"

// A snapshot is a state of the record in files that never change again: the
// download, the events found, how to cite them, and the checksums of all. It is
// as of the newest sample, so one state makes one snapshot, byte by byte,
// whenever it is made.
type snapshot struct {
	Dir    string    `json:"dir"`
	Commit string    `json:"commit"` // of the record
	AsOf   time.Time `json:"as_of"`  // its newest sample
	Files  int       `json:"files"`
	Bytes  int64     `json:"bytes"`
	Made   bool      `json:"made"` // false if it was there before
}

// makeSnapshot writes the snapshot of a record at a commit into a folder, which
// appears under its name only when all of it was read back and found right. A
// snapshot that is there already is checked and returned, whatever its commit.
func makeSnapshot(ctx context.Context, store *data.Store, commit, dir string, config site.Config) (snapshot, error) {
	if made, err := readSnapshot(dir); !errors.Is(err, fs.ErrNotExist) {
		return made, err
	}
	asOf, ok, err := store.Newest(ctx)
	if err != nil {
		return snapshot{}, err
	}
	if !ok {
		return snapshot{}, errors.New("make snapshot: the record has no sample yet")
	}
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return snapshot{}, fmt.Errorf("make snapshot: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dir), ".snapshot-")
	if err != nil {
		return snapshot{}, fmt.Errorf("make snapshot: %w", err)
	}
	defer os.RemoveAll(work)
	if err := os.Chmod(work, 0o755); err != nil {
		return snapshot{}, fmt.Errorf("make snapshot: %w", err)
	}
	if err := fillSnapshot(ctx, store, commit, work, asOf.UTC().Truncate(time.Second), config); err != nil {
		return snapshot{}, fmt.Errorf("make snapshot: %w", err)
	}
	if err := proveSnapshot(ctx, store, work); err != nil {
		return snapshot{}, fmt.Errorf("check snapshot: %w", err)
	}
	if err := os.Rename(work, dir); err != nil {
		return snapshot{}, fmt.Errorf("make snapshot: %w", err)
	}
	made, err := readSnapshot(dir)
	made.Made = true
	return made, err
}

// fillSnapshot writes the files of a snapshot, checksums last.
func fillSnapshot(ctx context.Context, store *data.Store, commit, dir string, asOf time.Time, config site.Config) error {
	licence := cmp.Or(config.DataLicence, dataLicence)
	if _, err := download(ctx, store, dir, asOf, licence); err != nil {
		return err
	}
	var manifest data.Manifest
	if err := readJSON(filepath.Join(dir, manifestFile), &manifest); err != nil {
		return err
	}
	var more []string
	switch text, err := os.ReadFile(filepath.Join(store.Dir(), eventsFile)); {
	case err == nil:
		if err := os.WriteFile(filepath.Join(dir, eventsFile), text, 0o644); err != nil {
			return err
		}
		more = append(more, eventsFile)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	text, err := citation(&manifest, commit, asOf, licence, config)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, citationFile), text, 0o644); err != nil {
		return err
	}
	described, err := data.NewManifest(dir, append(more, citationFile), data.Download{})
	if err != nil {
		return err
	}
	manifest.Commit, manifest.Files = commit, append(manifest.Files, described.Files...)
	if err := writeJSON(filepath.Join(dir, manifestFile), manifest); err != nil {
		return err
	}
	itself, err := data.NewManifest(dir, []string{manifestFile}, data.Download{})
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, f := range append(manifest.Files, itself.Files...) {
		fmt.Fprintf(&sums, "%s  %s\n", f.SHA256, f.Name) // as sha256sum --check reads it
	}
	return os.WriteFile(filepath.Join(dir, sumsFile), []byte(sums.String()), 0o644)
}

// citation describes a snapshot in the Citation File Format, version 1.2.0,
// https://citation-file-format.github.io, which has all that a DOI asks for:
// creator, title, publisher's address, date, version, kind and licence.
func citation(m *data.Manifest, commit string, asOf time.Time, licence string, config site.Config) ([]byte, error) {
	name := cmp.Or(config.Name, "Streamgauge")
	doc := yaml.MapSlice{
		{Key: "cff-version", Value: "1.2.0"},
		{Key: "type", Value: "dataset"},
		{Key: "message", Value: "Cite the dataset as it was when you used it."},
		{Key: "title", Value: name + ": measured streaming performance of hosted language models"},
		{Key: "authors", Value: []yaml.MapSlice{{{Key: "name", Value: cmp.Or(config.Owner, name)}}}},
		{Key: "version", Value: asOf.Format(time.DateOnly)},
		{Key: "date-released", Value: asOf.Format(time.DateOnly)},
		{Key: "license", Value: strings.ReplaceAll(licence, " ", "-")}, // as SPDX writes "CC BY 4.0"
		{Key: "repository-code", Value: config.Repository},
		{Key: "commit", Value: commit},
	}
	if config.BaseURL != "" {
		doc = append(doc, yaml.MapItem{Key: "url", Value: config.BaseURL})
	}
	for _, f := range m.Files {
		if f.Name == wholeFile {
			doc = append(doc, yaml.MapItem{Key: "identifiers", Value: []yaml.MapSlice{{
				{Key: "type", Value: "other"}, {Key: "value", Value: "sha256:" + f.SHA256}, {Key: "description", Value: "SHA-256 of " + wholeFile},
			}}})
		}
	}
	text, err := yaml.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", citationFile, err)
	}
	return text, nil
}

// proveSnapshot counts the rows of a snapshot and compares them with those of
// the record: every sample, every day, and every hour of every year.
func proveSnapshot(ctx context.Context, store *data.Store, dir string) error {
	inventory, err := store.Inventory(ctx)
	if err != nil {
		return err
	}
	years, err := store.Years()
	if err != nil {
		return err
	}
	samples, err := countRows(ctx, filepath.Join(dir, wholeFile), "raw_samples")
	if err != nil {
		return err
	}
	daily, err := countRows(ctx, filepath.Join(dir, wholeFile), "raw_daily")
	if err != nil {
		return err
	}
	var hourly int64
	for _, year := range years {
		packed := filepath.Join(dir, fmt.Sprintf("hourly-%d.sqlite.gz", year))
		n, err := countPacked(ctx, packed, "raw_hourly")
		if err != nil {
			return err
		}
		hourly += n
	}
	if samples != inventory.Samples || daily != inventory.Daily || hourly != inventory.Hourly {
		return fmt.Errorf("%d samples, %d hours and %d days, but the record has %d, %d and %d",
			samples, hourly, daily, inventory.Samples, inventory.Hourly, inventory.Daily)
	}
	return nil
}

// countRows counts the rows of a table of a database.
func countRows(ctx context.Context, database, table string) (int64, error) {
	result, err := data.Query(ctx, database, "SELECT count(*) FROM "+table, 1)
	if err != nil {
		return 0, err
	}
	n, ok := result.Rows[0][0].(int64)
	if !ok {
		return 0, fmt.Errorf("count %s: %v", table, result.Rows[0][0])
	}
	return n, nil
}

// countPacked counts the rows of a table of a compressed database.
func countPacked(ctx context.Context, packed, table string) (n int64, err error) {
	in, err := os.Open(packed)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	z, err := gzip.NewReader(in)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Base(packed), err)
	}
	out, err := os.CreateTemp("", "streamgauge-*.sqlite")
	if err != nil {
		return 0, err
	}
	defer os.Remove(out.Name())
	_, err = io.Copy(out, z) // our own file, written a moment ago
	if err := errors.Join(err, out.Close()); err != nil {
		return 0, fmt.Errorf("%s: %w", filepath.Base(packed), err)
	}
	return countRows(ctx, out.Name(), table)
}

// readSnapshot reads a snapshot back and compares every byte with its
// checksums. A folder that is missing or empty is [fs.ErrNotExist].
func readSnapshot(dir string) (snapshot, error) {
	s := snapshot{Dir: dir}
	entries, err := os.ReadDir(dir)
	if err == nil && len(entries) == 0 {
		// Rename replaces an empty folder.
		return s, fmt.Errorf("read snapshot: %s is empty: %w", dir, fs.ErrNotExist)
	}
	if err != nil {
		return s, fmt.Errorf("read snapshot: %w", err)
	}
	sums, err := os.ReadFile(filepath.Join(dir, sumsFile))
	if errors.Is(err, fs.ErrNotExist) {
		return s, fmt.Errorf("read snapshot: %s is no snapshot: it has no %s", dir, sumsFile)
	}
	if err != nil {
		return s, fmt.Errorf("read snapshot: %w", err)
	}
	for line := range strings.Lines(string(sums)) {
		sum, name, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if !ok || !fs.ValidPath(name) || strings.Contains(name, "/") {
			return s, fmt.Errorf("read snapshot: %s: not a line of it: %q", sumsFile, line)
		}
		is, err := data.NewManifest(dir, []string{name}, data.Download{})
		if err != nil {
			return s, fmt.Errorf("read snapshot: %w", err)
		}
		if is.Files[0].SHA256 != sum {
			return s, fmt.Errorf("read snapshot: %s is not what %s says", name, sumsFile)
		}
		s.Files, s.Bytes = s.Files+1, s.Bytes+is.Files[0].Bytes
	}
	var manifest data.Manifest
	if err := readJSON(filepath.Join(dir, manifestFile), &manifest); err != nil {
		return s, fmt.Errorf("read snapshot: %w", err)
	}
	s.Commit, s.AsOf = manifest.Commit, manifest.GeneratedAt
	return s, nil
}
