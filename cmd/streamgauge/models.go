package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data/providers"
)

// modelsCmd lists the models a provider serves now.
type modelsCmd struct {
	recordFlags
	Provider string `arg:"" help:"Name of a configured provider."`
	JSON     bool   `name:"json" help:"Print as JSON."`
}

// Help is printed under the usage line.
func (modelsCmd) Help() string {
	return "Reads the provider's own list. Nothing is measured. Example: streamgauge models openrouter"
}

// Run lists.
func (c *modelsCmd) Run(a *app) error {
	list, err := c.load(a)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(list, func(p bench.Provider) bool { return p.PublicName() == c.Provider })
	if i < 0 {
		return usageError{fmt.Errorf("no provider file is named %q", c.Provider)}
	}
	p := list[i]
	var listing bench.Listing
	if p.Discover != nil {
		if listing, err = bench.NewLister(nil).List(a.ctx, &p, a.env, bench.Listing{}); err != nil {
			return err
		}
	}
	facts, err := vendoredFacts(list)
	if err != nil {
		return err
	}
	offered := p.Offering(listing.Models, facts)
	if c.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(offered.Models)
	}
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "MODEL\tPROTOCOL\tEVERY\tUSD/M IN\tUSD/M OUT\t")
	for i := range offered.Models {
		m := &offered.Models[i]
		in, out := "?", "?"
		if m.Price != nil {
			in, out = fmt.Sprintf("%.2f", m.Price.Input), fmt.Sprintf("%.2f", m.Price.Output)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t\n", m.Name, offered.DialectOf(m).Protocol, offered.CadenceOf(m), in, out)
	}
	return table.Flush()
}

// vendoredFacts returns prices and wire formats as they were when the program
// was built.
func vendoredFacts(list []bench.Provider) (bench.Facts, error) {
	facts, err := bench.ParseModelsDev(providers.ModelsDev, catalogs(list))
	if err != nil {
		return nil, fmt.Errorf("read the built-in prices: %w", err)
	}
	return facts, nil
}

// catalogs returns the models.dev ids that the providers name.
func catalogs(list []bench.Provider) []string {
	var ids []string
	for i := range list {
		if list[i].Catalog != "" && !slices.Contains(ids, list[i].Catalog) {
			ids = append(ids, list[i].Catalog)
		}
	}
	return ids
}

// discoverTimeout bounds all discovery of one tick.
const discoverTimeout = time.Minute

// discover returns the providers with the models that they list now. What is
// read is kept below dir, with first and last sight of each model. A list that
// cannot be read is no reason to stop: the last one read counts, and the log
// says so. If offline, nothing is read at all.
func (a *app) discover(dir string, list []bench.Provider, now time.Time, offline bool) ([]bench.Provider, error) {
	facts, err := vendoredFacts(list)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(a.ctx, discoverTimeout)
	defer cancel()
	lister := bench.NewLister(nil)
	folder := filepath.Join(dir, "models")
	if !offline && slices.ContainsFunc(list, func(p bench.Provider) bool { return p.Catalog != "" && p.Configured(a.env) }) {
		facts = a.freshFacts(ctx, lister, folder, list, facts)
	}
	out := make([]bench.Provider, len(list))
	for i := range list {
		p := &list[i]
		var catalog bench.Catalog
		file := filepath.Join(folder, p.PublicName()+".json")
		if p.Discover != nil && !p.Private {
			if err := readJSON(file, &catalog); err != nil {
				return nil, err
			}
			if !offline && p.Configured(a.env) {
				if catalog, err = a.relist(ctx, lister, p, catalog, file, now); err != nil {
					return nil, err
				}
			}
			if offline && catalog.Listing().Models == nil && p.Configured(a.env) {
				a.log.Info("more models are found when a run first reads the provider's list", "provider", p.PublicName())
			}
		}
		out[i] = p.Offering(catalog.Listing().Models, facts)
	}
	return out, nil
}

// relist reads a provider's list again and keeps what came of it.
func (a *app) relist(ctx context.Context, lister *bench.Lister, p *bench.Provider, catalog bench.Catalog, file string, now time.Time) (bench.Catalog, error) {
	listing, err := lister.List(ctx, p, a.env, catalog.LastRead())
	if err != nil {
		a.log.Warn("the provider's list cannot be read; the last one counts", "provider", p.PublicName(), "error", err)
		return catalog, nil
	}
	next, events := catalog.Update(listing, now)
	for _, e := range events {
		a.log.Info("catalogue", "provider", p.PublicName(), "model", e.Model, "is", e.Kind)
	}
	return next, writeJSON(file, next)
}

// freshFacts returns models.dev's facts, or the given ones if they cannot be read.
func (a *app) freshFacts(ctx context.Context, lister *bench.Lister, folder string, list []bench.Provider, fallback bench.Facts) bench.Facts {
	file := filepath.Join(folder, "models.dev.json")
	var sheet bench.FactSheet
	if err := readJSON(file, &sheet); err != nil {
		a.log.Warn("the kept prices cannot be read", "error", err)
	}
	fresh, err := lister.Facts(ctx, catalogs(list), sheet)
	if err != nil {
		a.log.Warn("the price catalogue cannot be read; the built-in one counts", "error", err)
		return fallback
	}
	if err := writeJSON(file, fresh); err != nil {
		a.log.Warn("the prices cannot be kept", "error", err)
	}
	return fresh.Facts
}

// readJSON reads a file of ours; a missing one leaves v as it is.
func readJSON(file string, v any) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(file), err)
	}
	if err := json.Unmarshal(text, v); err != nil {
		return fmt.Errorf("read %s (remove it to start afresh): %w", file, err)
	}
	return nil
}

// writeJSON replaces a file of ours whole.
func writeJSON(file string, v any) error {
	text, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", filepath.Base(file), err)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(file), err)
	}
	if err := os.WriteFile(file+".new", append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(file), err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("write %s: %w", filepath.Base(file), err)
	}
	return nil
}
