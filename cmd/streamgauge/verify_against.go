package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/streamgauge/streamgauge/content"
	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site"
	"github.com/streamgauge/streamgauge/templates"
)

const (
	verifyWorkers = 4          // files fetched and derived at a time
	datasetFolder = "dataset/" // of the site
)

// An audit holds a published site against what is derived again.
type audit struct {
	*comparison
	published *publication
	work      string // a folder for downloads and what is derived of them

	manifest data.Manifest
	policy   rollup.Policy // of incidents
	whole    string        // the published streamgauge.sqlite, on disk
	truth    string        // the assembled file that all is derived from
	closed   time.Time
}

// verifyAgainst derives a published site's numbers again, from store or, if that
// is nil, from the file that the site offers.
func (a *app) verifyAgainst(c *verifyCmd, store *data.Store) error {
	published, err := openPublication(c.Against)
	if err != nil {
		return err
	}
	defer published.close()
	work, err := os.MkdirTemp("", "streamgauge-verify-")
	if err != nil {
		return fmt.Errorf("make room for the downloads: %w", err)
	}
	defer os.RemoveAll(work)
	config, err := loadConfig(c.Config)
	if err != nil {
		return err
	}
	_, policy, err := loadIncidents(c.Config)
	if err != nil {
		return err
	}
	v := &audit{comparison: &comparison{}, published: published, work: work, policy: policy}
	if err := v.run(a.ctx, store, config); err != nil {
		return fmt.Errorf("verify %s: %w", c.Against, err)
	}
	return v.print(a, c)
}

// print prints what was found.
func (v *audit) print(a *app, c *verifyCmd) error {
	found := v.sorted()
	if c.JSON {
		out := json.NewEncoder(a.stdout)
		out.SetIndent("", " ")
		err := out.Encode(struct {
			Against     string       `json:"against"`
			Files       int          `json:"files"`
			Numbers     int          `json:"numbers"`
			Differences []difference `json:"differences"`
			More        int          `json:"more_differences"`
		}{c.Against, v.files, v.numbers, append([]difference{}, found...), v.more})
		if err != nil {
			return err
		}
	} else {
		for _, d := range found {
			fmt.Fprintln(a.stdout, d)
		}
		if v.more > 0 {
			fmt.Fprintf(a.stdout, "and %d more\n", v.more)
		}
	}
	if n := len(found) + v.more; n > 0 {
		return fmt.Errorf("%d values of %s are not what the record says", n, c.Against)
	}
	if !c.JSON {
		fmt.Fprintf(a.stdout, "site agrees with %s: %s: %d numbers in %d files checked\n", cmp.Or(c.Data, "its own "+wholeFile), c.Against, v.numbers, v.files)
	}
	return nil
}

// run compares all there is.
func (v *audit) run(ctx context.Context, store *data.Store, config site.Config) error {
	in, err := site.PublishedInputs(func(name string) ([]byte, error) { return v.published.read(ctx, name) })
	if err != nil {
		return err
	}
	if err := v.downloads(ctx); err != nil {
		return err
	}
	derived, err := v.derive(ctx, store, &in)
	if err != nil {
		return err
	}
	defer derived.Close()
	if err := v.rows(ctx, store, in.Generated); err != nil {
		return err
	}
	in.Config.RankBy = config.RankBy
	return v.sitesNumbers(ctx, store, derived, in)
}

// derive makes the file that all is derived from, and opens it.
func (v *audit) derive(ctx context.Context, store *data.Store, in *site.Inputs) (*data.Assembled, error) {
	own, err := data.OpenAssembled(ctx, v.whole)
	if err != nil {
		return nil, fmt.Errorf("the site's %w", err)
	}
	v.closed = own.Closed
	if store == nil {
		v.truth = v.whole
		return own, v.rollups(ctx, own)
	}
	defer own.Close()
	newest, ok, err := own.Newest(ctx)
	if err != nil {
		return nil, err
	}
	// What came later is no fault of the site's.
	until := in.Generated
	if ok && newest.After(until) {
		until = newest
	}
	inventory, err := store.Inventory(ctx)
	if err != nil {
		return nil, err
	}
	if inventory.Floor.After(own.RawFrom()) {
		return nil, fmt.Errorf("the record has dropped the samples before %s, which the site was made of: verify it without --data",
			inventory.Floor.Format(time.DateOnly))
	}
	what := data.Whole(in.Generated)
	what.Raw.To = until.Add(time.Millisecond)
	v.truth = filepath.Join(v.work, "derived-"+wholeFile)
	if err := store.Assemble(ctx, v.truth, what); err != nil {
		return nil, err
	}
	derived, err := data.OpenAssembled(ctx, v.truth)
	if err != nil {
		return nil, err
	}
	if derived.Closed.After(v.closed) {
		derived.Closed = v.closed
	}
	return derived, nil
}

// rollups computes the buckets of the site's own file again.
func (v *audit) rollups(ctx context.Context, own *data.Assembled) error {
	differ, compared, err := own.Verify(ctx, maxDifferences)
	if err != nil {
		return err
	}
	for i := range differ {
		fields, err := differ[i].Fields()
		if err != nil {
			return err
		}
		for _, f := range fields {
			d := &differ[i]
			v.differ(datasetFolder+wholeFile, fmt.Sprintf("rollup %s %s %s %s", d.Series.Pair, d.Width, d.Start.Format(time.RFC3339), f.Column), f.Stored, f.Wanted)
		}
	}
	v.count(0, compared)
	return nil
}

// sitesNumbers derives the API and the tables of the pages again.
func (v *audit) sitesNumbers(ctx context.Context, store *data.Store, derived *data.Assembled, in site.Inputs) error {
	var err error
	if in.Histories, err = histories(ctx, derived, nil, in.Generated); err != nil {
		return err
	}
	for i := range in.Histories {
		h := &in.Histories[i]
		h.Every = everyOf(in.Providers, h.Series.Provider, h.Series.Model)
	}
	listed, err := v.listedEvents(ctx)
	if err != nil {
		return err
	}
	if store != nil {
		if in.Events, err = v.events(store, listed); err != nil {
			return err
		}
		listed = nil
	}
	in.Incidents = rollup.FindIncidents(in.Histories, in.Events, v.policy, in.Generated)
	in.RawRetention, in.Templates, in.Content = data.RawRetention, templates.Files(), content.FS
	files, err := site.NumberFiles(ctx, in)
	if err != nil {
		return err
	}
	if len(files) == 0 {
		return errors.New("there is nothing to derive")
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	next := make(chan site.NumberFile)
	var workers sync.WaitGroup
	for range verifyWorkers {
		workers.Go(func() {
			for f := range next {
				if err := v.numberFile(ctx, f, listed); err != nil {
					cancel(err)
				}
			}
		})
	}
	for _, f := range files {
		if ctx.Err() != nil {
			break
		}
		next <- f
	}
	close(next)
	workers.Wait()
	return context.Cause(ctx)
}

// everyOf returns the cadence that was published of a model.
func everyOf(list []site.Provider, provider, model string) time.Duration {
	for i := range list {
		for j := range list[i].Models {
			if list[i].Name == provider && list[i].Models[j].Name == model {
				return list[i].Models[j].Every
			}
		}
	}
	return 0
}

// listedEvents reads the events that the API lists, by their ids.
func (v *audit) listedEvents(ctx context.Context) (map[string]any, error) {
	text, err := v.published.read(ctx, site.EventsPath)
	if err != nil {
		return nil, err
	}
	var api any
	if err := decodeJSON(text, &api); err != nil {
		return nil, fmt.Errorf("read %s: %w", site.EventsPath, err)
	}
	listed := map[string]any{}
	for _, e := range eventsOf(api) {
		listed[spelled(e["id"])] = e
	}
	return listed, nil
}

// eventsOf returns the events in an answer of the API.
func eventsOf(answer any) (events []map[string]any) {
	object, _ := answer.(map[string]any)
	list, _ := object["events"].([]any)
	for _, e := range list {
		if event, ok := e.(map[string]any); ok {
			events = append(events, event)
		}
	}
	return events
}

// events returns the record's events, without those that it found later.
func (v *audit) events(store *data.Store, listed map[string]any) ([]rollup.Event, error) {
	events, err := store.Events()
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(events, func(e rollup.Event) bool {
		_, shown := listed[spelled(e.ID)]
		return !shown && !e.Found.Before(v.closed)
	}), nil
}

// sameEvents holds the events in an answer about one series against the list of
// all, where there is no record to derive either from.
func (v *audit) sameEvents(file string, answer []byte, listed map[string]any) {
	var api any
	if err := decodeJSON(answer, &api); err != nil {
		return // told already
	}
	numbers := 0
	for _, e := range eventsOf(api) {
		id := spelled(e["id"])
		numbers += v.values(file, "events "+id, e, listed[id], nil)
	}
	v.count(0, numbers)
}

// numberFile fetches one file and compares it with what is derived. listed is
// nil if events are derived too.
func (v *audit) numberFile(ctx context.Context, f site.NumberFile, listed map[string]any) error {
	derived, err := f.Bytes()
	if err != nil {
		return fmt.Errorf("derive %s: %w", f.Path, err)
	}
	published, err := v.published.read(ctx, f.Path)
	if errors.Is(err, errNotPublished) {
		v.differ(f.Path, "the file", absent, fmt.Sprintf("%d bytes", len(derived)))
		return nil
	}
	if err != nil {
		return err
	}
	if path.Ext(f.Path) == ".csv" {
		return v.tables(f.Path, bytes.NewReader(published), bytes.NewReader(derived), nil)
	}
	ignored := []string{"color"} // a fork's badges have colours of its own
	if listed != nil {
		ignored = append(ignored, "events")
		v.sameEvents(f.Path, published, listed)
	}
	v.json(f.Path, published, derived, ignored...)
	return nil
}
