package main

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/data"
)

// The site of a gauge that has measured nothing yet: a demo.
const (
	undonePast   = 14 * 24 * time.Hour // made up
	undoneBudget = 20 * time.Second    // of requests to the simulated provider
	undoneSpeed  = 1                   // as the models' names say
)

// undone reports whether nothing was ever measured into a record, as in a
// repository that was just made from the template or forked.
func (a *app) undone(store *data.Store) (bool, error) {
	inventory, err := store.Inventory(a.ctx)
	if err != nil {
		return false, fmt.Errorf("look whether anything was measured: %w", err)
	}
	return inventory.Series == 0, nil
}

// buildUndone builds the site of a gauge that has measured nothing yet from the
// simulated provider alone. Nothing of it enters the record: its samples would
// stay in the rollups for ever.
//
// The record decides, not the environment: the job that renders has no keys,
// and a gauge that has lost its keys still shows what it measured.
func (a *app) buildUndone(f *siteFlags) error {
	a.log.Warn("DEMO: nothing has been measured yet; the site shows the simulated provider, and says so on every page", "next", "streamgauge doctor")
	dir, err := os.MkdirTemp("", "streamgauge-demo-")
	if err != nil {
		return fmt.Errorf("make room for the demo: %w", err)
	}
	defer os.RemoveAll(dir)
	base, stop, err := a.simulate(simulate.Options{Seed: 1, Speed: undoneSpeed})
	if err != nil {
		return err
	}
	defer stop()
	folder := filepath.Join(dir, "providers")
	if err := writeDemoProvider(folder, base); err != nil {
		return err
	}
	list, err := bench.LoadProviders(os.DirFS(folder))
	if err != nil {
		return fmt.Errorf("read the demo's provider file: %w", err)
	}
	store, err := data.Open(a.ctx, filepath.Join(dir, "data"), data.Options{Create: true})
	if err != nil {
		return err
	}
	defer store.Close()
	now := time.Now()
	if err := a.backfill(store, list, 1, now.Add(-undonePast), now); err != nil {
		return err
	}
	flags := measureFlags{Vantage: bench.VantageSimulated, Force: true, Offline: true, Budget: undoneBudget}
	if err := a.tick(store, list, &flags, now); err != nil {
		return err
	}
	if err := a.ingestJournals(store, time.Now()); err != nil {
		return err
	}
	if err := a.closeBooks(store, list, time.Now()); err != nil {
		return err
	}
	return a.buildSite(store, list, f)
}
