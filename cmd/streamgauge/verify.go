package main

import (
	"fmt"
	"os"
	"time"

	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/site"
)

// verifyCmd checks the dataset and, if asked, a built or a published site.
type verifyCmd struct {
	Data    string `placeholder:"DIR" type:"path" help:"Directory of the record. Default: data; with --against, the site's own streamgauge.sqlite."`
	Site    string `placeholder:"DIR" type:"existingdir" help:"Check the links, ids and policy of this built site too, and look for keys in it."`
	Against string `placeholder:"URL|DIR" help:"Derive every number that this published site offers to programs again, and print what differs."`
	Config  string `default:"streamgauge.yaml" type:"path" help:"With --against: the site's configuration, for which ranking comes first and what counts as an incident; may be missing."`
	JSON    bool   `name:"json" help:"With --against: print the differences as JSON."`
}

// Help is printed under the usage line.
func (verifyCmd) Help() string {
	return `Alone it judges the record and computes every rollup again from the samples that are still there.

With --against it fetches what a site publishes: the API (api/v1/), the tables and chart data beside its pages, manifest.json and the
downloads that it lists. Sizes and checksums are held against the manifest, each CSV, NDJSON and SQLite file row by row and each number of
the API against what the record says; without --data the record is the site's own streamgauge.sqlite, whose rollups are computed again
from its samples. What no record can say is taken as published: titles, prices, cadences and, without --data, events.

Each difference is a line: file, field, published, re-derived. Exits with 0 if there is none, 1 if the site differs, 3 if the record or the
built site itself is at fault.

Examples:
  streamgauge verify --data out/data --site out/site
  streamgauge verify --against https://example.org/gauge/
  streamgauge verify --against https://example.org/gauge/ --data record
  streamgauge verify --against public --json`
}

// maxDifferences bounds how many differences are listed.
const maxDifferences = 100

// defaultRecord is where the record is unless something else is said.
const defaultRecord = "data"

// Run checks.
func (c *verifyCmd) Run(a *app) error {
	if c.Against != "" && c.Data == "" {
		if err := c.site(a); err != nil {
			return err
		}
		return a.verifyAgainst(c, nil)
	}
	if c.Data == "" {
		c.Data = defaultRecord
	}
	store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := c.record(a, store); err != nil {
		return err
	}
	if err := c.site(a); err != nil {
		return err
	}
	if c.Against == "" {
		return nil
	}
	return a.verifyAgainst(c, store)
}

// record checks the record, and derives its rollups again.
func (c *verifyCmd) record(a *app, store *data.Store) error {
	if c.JSON { // stdout is for the one JSON value
		quiet := *a
		quiet.stdout = a.stderr
		a = &quiet
	}
	if err := a.check(store); err != nil {
		return err
	}
	if err := a.derive(store); err != nil {
		return err
	}
	inventory, err := store.Inventory(a.ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "record ok: %s: %d series, %d samples, %d hourly and %d daily rollups in %d files, %d bytes\n",
		c.Data, inventory.Series, inventory.Samples, inventory.Hourly, inventory.Daily, len(inventory.Files), inventory.Bytes)
	if err := a.scan(c.Data); err != nil {
		return fmt.Errorf("%w: the record: %w", errCheck, err)
	}
	return nil
}

// site checks a built site's links, ids and policy.
func (c *verifyCmd) site(a *app) error {
	if c.Site == "" {
		return nil
	}
	if err := a.scan(c.Site); err != nil {
		return fmt.Errorf("%w: the site: %w", errCheck, err)
	}
	problems, err := site.Crawl(os.DirFS(c.Site))
	if err != nil {
		return fmt.Errorf("crawl the site: %w", err)
	}
	for _, p := range problems {
		fmt.Fprintln(a.stdout, p)
	}
	if len(problems) > 0 {
		return fmt.Errorf("%w: %d problems in the site", errCheck, len(problems))
	}
	if !c.JSON {
		fmt.Fprintf(a.stdout, "site ok: %s\n", c.Site)
	}
	return nil
}

// derive computes the rollups again, as far as their samples are still there,
// and compares them with those that are kept.
func (a *app) derive(store *data.Store) error {
	differ, err := store.Verify(a.ctx, maxDifferences)
	if err != nil {
		return fmt.Errorf("derive the rollups again: %w", err)
	}
	for i := range differ {
		d := &differ[i]
		fields, err := d.Fields()
		if err != nil {
			return fmt.Errorf("derive the rollups again: %w", err)
		}
		for _, f := range fields {
			fmt.Fprintf(a.stdout, "rollup differs: %s, %s from %s: %s: stored %s, derived %s\n",
				d.Series.Pair, d.Width, d.Start.Format(time.RFC3339), f.Column, f.Stored, f.Wanted)
		}
	}
	if len(differ) > 0 {
		return fmt.Errorf("%w: %d rollups are not what their samples say", errCheck, len(differ))
	}
	return nil
}
