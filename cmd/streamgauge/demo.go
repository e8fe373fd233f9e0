package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/data"
)

// demoCmd runs the whole pipeline on the embedded simulated provider.
type demoCmd struct {
	Out     string  `placeholder:"DIR" type:"path" help:"Keep everything here: DIR/data the record, DIR/site the site. A temporary folder if not given."`
	Once    bool    `help:"Build and exit, without serving."`
	History string  `default:"60d" placeholder:"SPAN" help:"Back-fill a synthetic past of this length, e.g. 60d or 36h; 0 for none."`
	Addr    string  `default:"127.0.0.1:8080" help:"Address to serve on; port 0 picks a free one."`
	Seed    uint64  `default:"1" help:"Seed of everything that is random in the simulation."`
	Speed   float64 `default:"1" help:"Stream so many times as fast as the models' names say, to be done sooner."`
}

// Help is printed under the usage line.
func (demoCmd) Help() string {
	return `Starts a simulated provider on loopback, measures its models over real HTTP with the code that measures real providers,
puts the samples into a record, rolls up, builds the site and serves it. Every page says that it is simulated.

Examples:
  streamgauge demo
  streamgauge demo --once --out out --history 60d
  streamgauge serve --site out/site`
}

// Demo models of the past are measured hourly.
const demoCadence = time.Hour

// Run runs the demo.
func (c *demoCmd) Run(a *app) error {
	past, err := parseSpan(c.History)
	if err != nil {
		return usageError{fmt.Errorf("--history: %w", err)}
	}
	if !(c.Speed > 0 && c.Speed <= 1000) {
		return usageError{fmt.Errorf("--speed %v is not between 0 and 1000", c.Speed)}
	}
	var listener net.Listener
	if !c.Once { // now: to learn in the end that the port is taken would cost all of it
		if listener, err = a.listen(c.Addr); err != nil {
			return err
		}
		defer listener.Close()
	}
	out := c.Out
	if out == "" {
		if out, err = os.MkdirTemp("", "streamgauge-demo-"); err != nil {
			return fmt.Errorf("make a temporary folder: %w", err)
		}
		defer os.RemoveAll(out)
	}
	base, stop, err := a.simulate(simulate.Options{Seed: c.Seed, Speed: c.Speed})
	if err != nil {
		return err
	}
	defer stop()
	folder := filepath.Join(out, "providers")
	if err := writeDemoProvider(folder, base); err != nil {
		return err
	}
	list, err := bench.LoadProviders(os.DirFS(folder))
	if err != nil {
		return fmt.Errorf("read the demo's provider file: %w", err)
	}
	store, err := data.Open(a.ctx, filepath.Join(out, "data"), data.Options{Create: true})
	if err != nil {
		return err
	}
	defer store.Close()

	now := time.Now()
	if past > 0 {
		if err := a.backfill(store, list, c.Seed, now.Add(-past), now); err != nil {
			return err
		}
	}
	flags := measureFlags{Vantage: bench.VantageSimulated, Force: true, Offline: true, Calibrate: true}
	if err := a.tick(store, list, &flags, time.Now()); err != nil {
		return errors.Join(err, a.uncancelled().ingestJournals(store, time.Now()))
	}
	if err := a.ingestJournals(store, time.Now()); err != nil {
		return err
	}
	if err := a.closeBooks(store, list, time.Now()); err != nil {
		return err
	}
	siteDir := filepath.Join(out, "site")
	if err := a.buildSite(store, list, &siteFlags{Site: siteDir, Config: filepath.Join(out, "streamgauge.yaml")}); err != nil {
		return err
	}
	if c.Once {
		fmt.Fprintf(a.stdout, "Record: %s\nSite:   %s\n", store.Dir(), siteDir)
		return nil
	}
	return a.serveOn(siteDir, listener)
}

// simulate starts the simulated provider on a free port of loopback and returns
// its base address.
func (a *app) simulate(options simulate.Options) (base string, stop func(), err error) {
	handler, err := simulate.New(options)
	if err != nil {
		return "", nil, fmt.Errorf("set up the simulated provider: %w", err)
	}
	listener, err := (&net.ListenConfig{}).Listen(a.ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("start the simulated provider: %w", err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with Close, which stop calls
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}

// writeDemoProvider writes the provider file that describes the simulated
// provider, as a fork would write one for its own.
func writeDemoProvider(folder, base string) error {
	var b strings.Builder
	fmt.Fprintf(&b, `# The simulated provider. Written by the demo; a file like this is all that a real one needs.
name: simulated
title: Simulated
demo: true
base_url: %s/v1
protocol: openai_chat
every: 60m
timeouts: {run: 5s} # a model that hangs would hold the demo for the published 120 s
models:
`, base)
	for _, m := range simulate.Models() {
		fmt.Fprintf(&b, "  - {id: %s}\n", m.Name)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("make the demo's folder of providers: %w", err)
	}
	if err := os.WriteFile(filepath.Join(folder, "simulated.yaml"), []byte(b.String()), 0o644); err != nil {
		return fmt.Errorf("write the demo's provider file: %w", err)
	}
	return nil
}

// backfill writes the models' synthetic pasts through a journal into the
// record: the path that measured samples take.
func (a *app) backfill(store *data.Store, list []bench.Provider, seed uint64, from, to time.Time) error {
	journal, err := newJournal(store.Dir(), from, a.guard)
	if err != nil {
		return err
	}
	models := simulate.Models()
	bar := a.progress("back-filling", len(models))
	defer bar.close()
	n := 0
	for i, m := range models {
		env := bench.Env{
			Method: bench.MethodVersion, Prompt: bench.PromptVersion, Protocol: "openai_chat",
			Vantage: bench.VantageSimulated, Lanes: 1, Clock: bench.ClockUser,
		}
		pair := bench.Pair{Provider: list[0].PublicName(), Model: m.Name}
		// One second apart, as requests are made one at a time.
		offset := time.Duration(i) * 3 * time.Second
		begin, end := from.Truncate(demoCadence).Add(offset), to.Add(-demoCadence)
		for s := range joined(synthetic(seed, m, pair, env, begin, end, demoCadence), syntheticProbes(seed, m, pair, env, begin, end)) {
			if err := a.ctx.Err(); err != nil {
				return context.Cause(a.ctx)
			}
			if err := journal.Append(s); err != nil {
				return fmt.Errorf("keep a synthetic sample: %w", err)
			}
			n++
		}
		bar.at(i+1, len(models))
	}
	if err := journal.Close(); err != nil {
		return fmt.Errorf("close the journal: %w", err)
	}
	a.log.Info("back-filled a synthetic past", "samples", n, "from", from.UTC().Format(time.DateOnly))
	return a.ingestJournals(store, to)
}

// parseSpan reads a span of time: days, or what [time.ParseDuration] takes.
func parseSpan(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.Atoi(days)
		if err != nil || n < 0 || n > 3660 {
			return 0, fmt.Errorf("%q is not a span such as 60d or 36h", s)
		}
		return time.Duration(n) * 24 * time.Hour, nil
	}
	if s == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not a span such as 60d or 36h", s)
	}
	return d, nil
}

// uncancelled returns the app with a context that an interrupt does not end,
// for what must be put away all the same.
func (a *app) uncancelled() *app {
	b := *a
	b.ctx = context.WithoutCancel(a.ctx)
	return &b
}
