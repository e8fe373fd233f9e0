package main

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

// measureFlags say how a tick measures.
type measureFlags struct {
	Vantage   string        `default:"local" help:"Name of the place measured from. It is part of each series, so keep it."`
	Region    string        `placeholder:"TEXT" help:"What is known of where this runs; the runner's name if not given."`
	Budget    time.Duration `default:"20m" help:"Stop between two requests once this time is used up."`
	Until     bool          `name:"until-budget" help:"Go on with what falls due until the budget is used up, sleeping in between."`
	Force     bool          `help:"Measure every configured pair now, due or not."`
	Calibrate bool          `default:"true" negatable:"" help:"After measuring, measure the error of our own clock too, on loopback; the record keeps the newest."`
	Offline   bool          `help:"Do not read the providers' model lists and prices; the last ones read count."`
	Only      []string      `placeholder:"PROVIDER[/MODEL]" help:"Measure only these."`
	Lane      string        `placeholder:"NAME" help:"Measure only this lane, a shard of 'plan --json'; all is every lane."`
}

// maxPlace is how many bytes the record takes of the name of a place.
const maxPlace = 200

// check returns what is wrong with the flags together, before anything is sent:
// what the record refuses afterwards was paid for.
func (f *measureFlags) check() error {
	if f.Vantage == bench.VantageSimulated {
		return usageError{fmt.Errorf("--vantage %s is kept for the simulated provider", f.Vantage)}
	}
	if f.Vantage == "" {
		return usageError{errors.New("--vantage is empty: name the place measured from")}
	}
	for flag, name := range map[string]string{"--vantage": f.Vantage, "--region": f.Region} {
		if len(name) > maxPlace || !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl) {
			return usageError{fmt.Errorf("%s is no plain text of at most %d bytes; the record would refuse what is measured", flag, maxPlace)}
		}
	}
	if f.Until && f.Budget <= 0 {
		return usageError{errors.New("--until-budget needs a --budget")}
	}
	return nil
}

// options returns what a plan depends on.
func (f *measureFlags) options(a *app, list []bench.Provider) bench.Options {
	o := bench.Options{Env: a.env, Force: f.Force, Time: f.Budget}
	only := slices.DeleteFunc(slices.Clone(f.Only), func(s string) bool { return s == "" }) // as of an input left empty
	lane := f.Lane
	if lane == bench.AllShards {
		lane = ""
	}
	lanes, elsewhere := map[string]string{}, map[string]bool{}
	known := map[string]bool{}
	for i := range list {
		p := &list[i]
		known[p.PublicName()] = true
		for j := range p.Models {
			known[p.Pair(&p.Models[j]).String()] = true
		}
		lanes[p.PublicName()] = laneOf(p)
		elsewhere[p.PublicName()] = len(p.Vantages) > 0 && !slices.Contains(p.Vantages, f.Vantage)
	}
	for _, s := range only {
		if !known[s] {
			a.log.Warn("--only names nothing that is there", "only", s)
		}
	}
	if lane != "" && !slices.Contains(slices.Collect(maps.Values(lanes)), lane) {
		a.log.Warn("--lane names no lane that is there; 'plan --json' lists them", "lane", lane)
	}
	o.Only = func(p bench.Pair) bool {
		return !elsewhere[p.Provider] && (lane == "" || lanes[p.Provider] == lane) &&
			(len(only) == 0 || slices.Contains(only, p.Provider) || slices.Contains(only, p.String()))
	}
	return o
}

// runCmd is one tick of the job.
type runCmd struct {
	recordFlags
	measureFlags
	siteFlags
}

// Help is printed under the usage line.
func (runCmd) Help() string {
	return `Plans from the record, measures what is due one request at a time, ingests, rolls up, checks, and builds the site.
Providers failing is data: the exit code is 0. Ctrl-C keeps what was measured.

Examples:
  streamgauge run
  streamgauge run --providers my-providers --data record --site public --vantage office
  streamgauge run --only ollama-local --force`
}

// Run runs the tick.
func (c *runCmd) Run(a *app) error {
	start := time.Now()
	if data.IsWorkingCopy(c.Data) {
		return fmt.Errorf("%s is the working copy of a branch, which keeps only what is in a journal: use 'bench', 'publish' and 'build' on it", c.Data)
	}
	if err := c.measureFlags.check(); err != nil {
		return err
	}
	list, err := c.load(a)
	if err != nil {
		return err
	}
	store, err := data.Open(a.ctx, c.Data, data.Options{Create: true})
	if err != nil {
		return err
	}
	defer store.Close()
	// A killed run's journal first: its samples are part of the history.
	if err := a.ingestJournals(store, start); err != nil {
		return err
	}
	if list, err = a.discover(store.Dir(), list, start, c.Offline); err != nil {
		return err
	}
	measured := a.tick(store, list, &c.measureFlags, start)
	// Whatever stopped the measuring, what was measured is put away.
	keep := a.uncancelled()
	if err := keep.ingestJournals(store, time.Now()); err != nil {
		return err
	}
	if measured != nil && !errors.Is(measured, errSettings) {
		return measured
	}
	if err := a.closeBooks(store, list, time.Now()); err != nil {
		return err
	}
	if err := a.buildSite(store, list, &c.siteFlags); err != nil {
		return err
	}
	if measured == nil {
		a.ping()
	}
	return measured
}

// tick plans and measures into a journal of its own.
//
// Two ticks at once would send two requests at once to a provider. Lanes are
// apart by design: who names one may run others beside it.
func (a *app) tick(store *data.Store, list []bench.Provider, f *measureFlags, start time.Time) (err error) {
	if f.Lane == "" || f.Lane == bench.AllShards {
		release, err := lockMeasuring(store.Dir())
		if err != nil {
			return err
		}
		defer release()
	}
	list, all := a.sendable(list)
	defer func() {
		if err == nil && !all {
			err = errSettings
		}
	}()
	history, err := a.history(store, start, f.Vantage)
	if err != nil {
		return err
	}
	m := measuring{app: a, meter: &bench.Meter{}, store: store, env: a.env, history: history, vantage: f.Vantage, region: f.Region}
	if m.region == "" {
		m.region = region(a.env)
	}
	if f.Budget > 0 {
		m.deadline = start.Add(f.Budget)
	}
	options := f.options(a, list)
	ok, failed := 0, 0
	err = passes(a.ctx, m.deadline, f.Until,
		func(now time.Time, left time.Duration) bench.Plan {
			options.Time = left
			plan := bench.Due(now, list, history, options)
			options.Force = false // once
			a.logPlan(&plan)
			return plan
		},
		func(plan bench.Plan) (int, error) {
			if len(plan.Due) == 0 {
				return 0, nil
			}
			if err := m.begin(a.ctx, start, a.guard); err != nil {
				return 0, err
			}
			good, bad, err := m.measure(a.ctx, plan.Due)
			ok, failed = ok+good, failed+bad
			return good + bad, err
		})
	if m.journal == nil {
		return err
	}
	a.log.Info("measured", "ok", ok, "failed", failed)
	if f.Calibrate && err == nil && ok+failed > 0 {
		a.calibrateRun(store.Dir())
	}
	if closeErr := m.journal.Close(); err == nil && closeErr != nil {
		return fmt.Errorf("close the journal: %w", closeErr)
	}
	return err
}

// errSettings is what a tick ends with that had to leave models out. All else of
// it went well, so what follows a tick still does.
var errSettings = errors.New("some models were not measured, as their settings make no request; see above, or 'streamgauge doctor'")

// sendable returns the providers without the models that no request can be made
// to, as a variable holds what it should not, and whether those are all. One
// that is set wrong must not keep the others from being measured.
func (a *app) sendable(list []bench.Provider) (can []bench.Provider, all bool) {
	list, all = slices.Clone(list), true
	for i := range list {
		p := &list[i]
		if !p.Configured(a.env) {
			continue
		}
		_, reachErr := p.Reach.Route(a.env)
		p.Models = slices.DeleteFunc(slices.Clone(p.Models), func(m bench.Model) bool {
			if len(p.MissingFor(&m, a.env)) > 0 {
				return false // the plan says so
			}
			_, _, err := p.Target(&m, a.env, "")
			if err = cmp.Or(reachErr, err); err != nil {
				all = false
				a.log.Error("not measured, as its settings make no request", "pair", p.Pair(&m), "error", err)
			}
			return err != nil
		})
	}
	return list, all
}

// calibrateRun keeps how exact the clock was in this run. Not to know it is no
// reason to lose the run.
func (a *app) calibrateRun(dir string) {
	calibration, err := a.calibrateQuick()
	if err == nil {
		err = keepCalibration(dir, calibration)
	}
	if err != nil {
		a.log.Warn("the clock was not calibrated", "error", err)
	}
}

// logPlan logs what a plan comes to.
func (a *app) logPlan(plan *bench.Plan) {
	for _, w := range plan.Warnings {
		a.log.Warn(w)
	}
	unconfigured := 0
	for _, skip := range plan.Skipped {
		if skip.Code == bench.SkipNotConfigured {
			unconfigured++
		}
		a.log.Debug("skipped", "pair", skip.Pair, "why", skip.Why)
	}
	a.log.Info("planned", "due", len(plan.Due), "not_due", len(plan.Skipped)-unconfigured, "not_configured", unconfigured, "seed", plan.Seed)
	if len(plan.Due) == 0 && unconfigured > 0 && unconfigured == len(plan.Skipped) {
		a.log.Warn("no provider is configured; 'streamgauge doctor' says which variables to set")
	}
}

// benchCmd measures what is due into a journal, and nothing else.
type benchCmd struct {
	recordFlags
	measureFlags
}

// Help is printed under the usage line.
func (benchCmd) Help() string {
	return `The journal lands in DATA/journals; 'streamgauge ingest' or the next run puts it into the record.

Examples:
  streamgauge bench --data record --vantage office
  streamgauge bench --only ollama-local --force --no-calibrate`
}

// Run measures.
func (c *benchCmd) Run(a *app) error {
	start := time.Now()
	if err := c.measureFlags.check(); err != nil {
		return err
	}
	list, err := c.load(a)
	if err != nil {
		return err
	}
	store, err := data.Open(a.ctx, c.Data, data.Options{Create: true})
	if err != nil {
		return err
	}
	defer store.Close()
	if list, err = a.discover(store.Dir(), list, start, c.Offline); err != nil {
		return err
	}
	return a.tick(store, list, &c.measureFlags, start)
}
