package main

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/site"
)

// The assembled files as a browser loads them. They are compressed here rather
// than by the server: which types a host compresses is its own affair, and a
// reader is told the megabytes before the click.
const (
	wholePacked = wholeFile + ".gz"
	litePacked  = liteFile + ".gz"
)

// databases are what the query page offers to open, the smaller one first.
func databases() []site.Database {
	return []site.Database{
		{Name: liteFile, Packed: litePacked, Title: "Lite: samples of 7 days, hours of 90 days, all days"},
		{Name: wholeFile, Packed: wholePacked, Title: "Whole: samples of 60 days, hours of 90 days, all days"},
	}
}

// pack compresses a file beside itself. Equal content makes equal bytes.
func pack(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return fmt.Errorf("compress: %w", err)
	}
	z, err := gzip.NewWriterLevel(out, gzip.BestCompression) // no name, no time
	if err == nil {
		_, err = io.Copy(z, in)
		err = errors.Join(err, z.Close())
	}
	if err := errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("compress %s: %w", filepath.Base(from), err)
	}
	return nil
}

const (
	answerRows = 25               // a page shows so many rows of an answer
	answerTime = 30 * time.Second // a question of a large record may take its time
)

// answers asks an assembled file the questions of the query page.
func answers(ctx context.Context, file string) ([]site.Query, error) {
	var list []site.Query
	for _, q := range data.Questions() {
		ctx, cancel := context.WithTimeout(ctx, answerTime)
		r, err := data.Query(ctx, file, q.SQL, answerRows)
		cancel()
		if err != nil {
			return nil, fmt.Errorf("ask %q: %w", q.Title, err)
		}
		list = append(list, site.Query{Title: q.Title, Note: q.Note, SQL: q.SQL, Columns: r.Columns, Rows: r.Rows, More: r.More})
	}
	return list, nil
}

// described is what the site says of the columns of views and of the tables a
// reader needs. The others are the stored form.
func described() []site.Column {
	var out []site.Column
	for _, relation := range append(data.Views(), "dictionary", "meta") {
		for _, c := range data.Dictionary() {
			if c.Relation == relation {
				out = append(out, site.Column{Name: relation + "." + c.Name, Unit: c.Unit, Meaning: c.Meaning})
			}
		}
	}
	return out
}
