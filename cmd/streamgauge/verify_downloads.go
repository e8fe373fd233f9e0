package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/data"
)

const maxUnpacked = 1 << 30 // bytes of a download once it is unpacked

// downloads fetches what the manifest lists, and holds it against the manifest.
func (v *audit) downloads(ctx context.Context) error {
	name := datasetFolder + manifestFile
	text, err := v.published.read(ctx, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, &v.manifest); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	if n := len(v.manifest.Files); n > maxDownloads {
		return fmt.Errorf("read %s: %d files, more than %d", name, n, maxDownloads)
	}
	page, err := v.published.read(ctx, datasetFolder+"index.html")
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, f := range v.manifest.Files {
		if !fs.ValidPath(f.Name) || path.Base(f.Name) != f.Name || strings.HasPrefix(f.Name, ".") || strings.ContainsAny(f.Name, `\:`) {
			return fmt.Errorf("read %s: %q is no file name", name, f.Name)
		}
		if seen[f.Name] {
			v.differ(name, fmt.Sprintf("files[%d].name", i), f.Name, "each name once")
			continue
		}
		seen[f.Name] = true
		if err := v.download(ctx, name, i, page); err != nil {
			return err
		}
	}
	for _, want := range append([]string{wholeFile, liteFile, packageFile}, textFiles()...) {
		if !seen[want] {
			v.differ(name, "files", absent, want)
		}
	}
	if !seen[wholeFile] {
		return fmt.Errorf("read %s: it does not list %s, which all is derived from", name, wholeFile)
	}
	v.whole = filepath.Join(v.work, wholeFile)
	v.count(1, len(v.manifest.Files))
	return nil
}

// textFiles are the views as text.
func textFiles() (names []string) {
	for _, format := range []data.Format{data.CSV, data.NDJSON} {
		for _, view := range data.Views() {
			names = append(names, textFile(view, format))
		}
	}
	return names
}

func textFile(view string, format data.Format) string { return view + "." + string(format) + ".gz" }

// download fetches the ith file of the manifest. The page of the dataset prints
// its checksum too.
func (v *audit) download(ctx context.Context, manifest string, i int, page []byte) error {
	f := v.manifest.Files[i]
	field := func(name string) string { return fmt.Sprintf("files[%d] %s %s", i, f.Name, name) }
	out, err := os.Create(filepath.Join(v.work, f.Name))
	if err != nil {
		return fmt.Errorf("keep %s: %w", f.Name, err)
	}
	sum := sha256.New()
	n, err := v.published.save(ctx, datasetFolder+f.Name, io.MultiWriter(out, sum))
	if shut := out.Close(); err == nil && shut != nil {
		err = fmt.Errorf("keep %s: %w", f.Name, shut)
	}
	if errors.Is(err, errNotPublished) && f.Name != wholeFile {
		v.differ(manifest, field("name"), f.Name, absent)
		return nil
	}
	if err != nil {
		return err
	}
	got := hex.EncodeToString(sum.Sum(nil))
	if n != f.Bytes {
		v.differ(manifest, field("bytes"), strconv.FormatInt(f.Bytes, 10), strconv.FormatInt(n, 10))
	}
	if got != f.SHA256 {
		v.differ(manifest, field("sha256"), f.SHA256, got)
	}
	if !bytes.Contains(page, []byte(got)) {
		v.differ(datasetFolder+"index.html", f.Name+" SHA-256", "another one", got)
	}
	return nil
}

// rows compares every file of the download with the one that is derived from.
func (v *audit) rows(ctx context.Context, store *data.Store, generated time.Time) error {
	for _, f := range v.manifest.Files {
		if _, err := os.Stat(filepath.Join(v.work, f.Name)); err != nil {
			continue // it is not published, which was told
		}
		var err error
		if view, ok := strings.CutSuffix(f.Name, ".csv.gz"); ok && slices.Contains(data.Views(), view) {
			err = v.text(ctx, f.Name, view, data.CSV)
		} else if view, ok := strings.CutSuffix(f.Name, ".ndjson.gz"); ok && slices.Contains(data.Views(), view) {
			err = v.text(ctx, f.Name, view, data.NDJSON)
		} else if strings.HasSuffix(f.Name, ".sqlite") || strings.HasSuffix(f.Name, ".sqlite.gz") {
			err = v.database(ctx, store, f.Name, generated)
		} else if f.Name == packageFile {
			err = v.dataPackage(f.Name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// dataPackage compares the description of the files with the manifest.
func (v *audit) dataPackage(name string) error {
	text, err := os.ReadFile(filepath.Join(v.work, name))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	described := v.manifest
	described.Files = slices.DeleteFunc(slices.Clone(described.Files), func(f data.ManifestFile) bool { return f.Name == name })
	want, err := json.Marshal(data.NewDataPackage(described))
	if err != nil {
		return fmt.Errorf("derive %s: %w", name, err)
	}
	v.json(datasetFolder+name, text, want)
	return nil
}

// text compares a view as text.
func (v *audit) text(ctx context.Context, name, view string, format data.Format) error {
	in, err := os.Open(filepath.Join(v.work, name))
	if err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	defer in.Close()
	published := unpacked(in)
	derived := exported(ctx, v.truth, view, format)
	defer derived.Close()
	if format == data.CSV {
		return v.tables(datasetFolder+name, published, derived, v.wanted(view, ends{}))
	}
	return v.lines(datasetFolder+name, published, derived)
}

// ends bound the rows that a file is to have: midnights, zero for none.
type ends struct{ raw, hourly time.Time }

// wanted says which rows of a view a published file is to have. Days that were
// closed since have no row in it yet.
func (v *audit) wanted(view string, from ends) keepRow {
	column, first, last := "started_at", from.raw, time.Time{}
	switch view {
	case "hourly":
		column, first, last = "hour", from.hourly, v.closed
	case "daily":
		column, first, last = "day", time.Time{}, v.closed
	}
	lo, hi := "", ""
	if !first.IsZero() {
		lo = first.UTC().Format(time.DateOnly)
	}
	if !last.IsZero() {
		hi = last.UTC().Format(time.DateOnly)
	}
	at := -1
	return func(header, row []string) bool {
		if at < 0 {
			if at = slices.Index(header, column); at < 0 {
				return true
			}
		}
		// Times are spelled so that their order is that of their text.
		return row[at] >= lo && (hi == "" || row[at] < hi)
	}
}

var hoursFile = regexp.MustCompile(`^hourly-([0-9]{4})\.sqlite\.gz$`)

// database compares a published database view by view.
func (v *audit) database(ctx context.Context, store *data.Store, name string, generated time.Time) error {
	file, truth, from := filepath.Join(v.work, name), v.truth, ends{}
	views := data.Views()
	if m := hoursFile.FindStringSubmatch(name); m != nil {
		if store == nil {
			return nil // older hours are in no other file; the checksum was held against the manifest
		}
		year, err := strconv.Atoi(m[1])
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
		truth = filepath.Join(v.work, fmt.Sprintf("derived-hourly-%d.sqlite", year))
		if err := store.Assemble(ctx, truth, data.HourlyOf(year, generated)); err != nil {
			return err
		}
		views = []string{"hourly"}
	} else if strings.HasPrefix(name, strings.TrimSuffix(liteFile, ".sqlite")) {
		lite := data.Lite(generated)
		from = ends{lite.Raw.From, lite.Hourly.From}
	}
	if strings.HasSuffix(name, ".gz") {
		var err error
		if file, err = v.unpack(name); err != nil {
			v.differ(datasetFolder+name, "the file", err.Error(), "gzip")
			return nil
		}
	}
	if file == truth {
		return nil
	}
	opened, err := data.OpenAssembled(ctx, file)
	if err != nil {
		v.differ(datasetFolder+name, "the file", err.Error(), "a sound database")
		return nil
	}
	if err := opened.Close(); err != nil {
		return fmt.Errorf("read %s: %w", name, err)
	}
	for _, view := range views {
		published, derived := exported(ctx, file, view, data.CSV), exported(ctx, truth, view, data.CSV)
		err := v.tables(datasetFolder+name+" "+view, published, derived, v.wanted(view, from))
		if err := errors.Join(err, published.Close(), derived.Close()); err != nil {
			return err
		}
	}
	return nil
}

// unpack unpacks a download beside it.
func (v *audit) unpack(name string) (file string, err error) {
	in, err := os.Open(filepath.Join(v.work, name))
	if err != nil {
		return "", err
	}
	defer in.Close()
	file = filepath.Join(v.work, "unpacked-"+strings.TrimSuffix(name, ".gz"))
	out, err := os.Create(file)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, unpacked(in))
	return file, errors.Join(err, out.Close())
}

// unpacked reads a gzip stream, to a limit.
func unpacked(in io.Reader) io.Reader {
	z, err := gzip.NewReader(in)
	if err != nil {
		return failing{err}
	}
	return &bounded{in: z, left: maxUnpacked}
}

// A failing reader fails.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// A bounded reader fails once it has read more than it may.
type bounded struct {
	in   io.Reader
	left int64
}

func (b *bounded) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return 0, fmt.Errorf("it unpacks to over %d bytes", int64(maxUnpacked))
	}
	return n, err
}

// exported reads a view as text.
func exported(ctx context.Context, database, view string, format data.Format) *io.PipeReader {
	r, w := io.Pipe()
	go func() { w.CloseWithError(data.ExportView(ctx, database, view, format, w)) }()
	return r
}
