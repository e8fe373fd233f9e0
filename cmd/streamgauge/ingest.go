package main

import (
	"time"

	"github.com/streamgauge/streamgauge/data"
)

// ingestCmd puts journals into the dataset.
type ingestCmd struct {
	Data  string   `default:"data" type:"path" help:"Directory of the record."`
	Files []string `arg:"" optional:"" type:"existingfile" help:"Journals; those in DATA/journals if none is named."`
}

// Help is printed under the usage line.
func (ingestCmd) Help() string {
	return "Ingesting twice, or in another order, changes nothing. Example: streamgauge ingest journal.ndjson"
}

// Run ingests.
func (c *ingestCmd) Run(a *app) error {
	store, err := data.Open(a.ctx, c.Data, data.Options{Create: true})
	if err != nil {
		return err
	}
	defer store.Close()
	if len(c.Files) == 0 {
		return a.ingestJournals(store, time.Now())
	}
	return a.ingestFiles(store, time.Now(), c.Files, false)
}

// rollupCmd closes hours and days and prunes raw samples past their time.
type rollupCmd struct {
	recordFlags
}

// Help is printed under the usage line.
func (rollupCmd) Help() string {
	return "Doing it again changes nothing. Exits with 3 if the record has a fault. Example: streamgauge rollup --data record"
}

// Run rolls up and checks.
func (c *rollupCmd) Run(a *app) error {
	list, err := c.load(a)
	if err != nil {
		return err
	}
	store, err := data.Open(a.ctx, c.Data, data.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	return a.closeBooks(store, list, time.Now())
}
