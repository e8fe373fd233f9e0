package main

import (
	"fmt"
	"os"
	"time"

	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/site"
)

// verifyCmd checks the dataset and, if asked, a built site.
type verifyCmd struct {
	Data string `default:"data" type:"path" help:"Directory of the record."`
	Site string `placeholder:"DIR" type:"existingdir" help:"Check the links, ids and policy of this built site too."`
}

// Help is printed under the usage line.
func (verifyCmd) Help() string {
	return "Exits with 3 if anything is found. Example: streamgauge verify --data out/data --site out/site"
}

// maxDifferences bounds how many differing rollups are listed.
const maxDifferences = 100

// Run checks.
func (c *verifyCmd) Run(a *app) error {
	store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
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
	if c.Site == "" {
		return nil
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
	fmt.Fprintf(a.stdout, "site ok: %s\n", c.Site)
	return nil
}

// derive computes the rollups again, as far as their samples are still there,
// and compares them with those that are kept.
func (a *app) derive(store *data.Store) error {
	differ, err := store.Verify(a.ctx, maxDifferences)
	if err != nil {
		return fmt.Errorf("derive the rollups again: %w", err)
	}
	for _, d := range differ {
		fmt.Fprintf(a.stdout, "rollup differs: %s, %s from %s: stored %+v, derived %+v\n", d.Series.Pair, d.Width, d.Start.Format(time.RFC3339), d.Stored, d.Wanted)
	}
	if len(differ) > 0 {
		return fmt.Errorf("%w: %d rollups are not what their samples say", errCheck, len(differ))
	}
	return nil
}
