package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/data/providers"
)

// recordFlags say which record and which providers a command works on.
type recordFlags struct {
	Data      string `default:"data" type:"path" help:"Directory of the record."`
	Providers string `placeholder:"DIR" type:"path" help:"Directory of provider files; data/providers if it is here, else the ones built in."`
}

// ownProviders is where a checkout has its provider files, and where init puts
// a new one.
const ownProviders = "data/providers"

// providerDir returns the folder that the provider files are read from; "" for
// those inside the program.
func (f *recordFlags) providerDir() string {
	if f.Providers != "" {
		return f.Providers
	}
	if files, err := filepath.Glob(ownProviders + "/*.yaml"); err == nil && len(files) > 0 {
		return ownProviders
	}
	return ""
}

// load reads the provider files. From here on nothing that the app prints shows
// a secret of theirs.
func (f *recordFlags) load(a *app) ([]bench.Provider, error) {
	var files fs.FS = providers.Files
	if dir := f.providerDir(); dir != "" {
		if _, err := os.Stat(dir); err != nil {
			return nil, fmt.Errorf("read provider files: %w", err)
		}
		files = os.DirFS(dir)
	}
	list, err := bench.LoadProviders(files)
	a.mask(secretsOf(list, a.env))
	a.guard = bench.NewRedactor(append(bench.GuardedOf(list, a.env), ownSecrets(a.env)...)...)
	return list, err
}

// journals is the folder of a record that measured samples go to first.
func journals(dir string) string { return filepath.Join(dir, "journals") }

// lockMeasuring keeps other ticks from measuring for the record in dir until
// release is called. It does nothing on Windows, where the lock of a run that
// was killed would stop all later ones.
func lockMeasuring(dir string) (release func() error, err error) {
	if runtime.GOOS == "windows" {
		return func() error { return nil }, nil
	}
	if err := os.MkdirAll(journals(dir), 0o755); err != nil {
		return nil, fmt.Errorf("make room for journals: %w", err)
	}
	lock, err := data.AcquireLock(filepath.Join(journals(dir), ".lock"))
	if err != nil {
		return nil, fmt.Errorf("another run is measuring for this record; let it finish: %w", err)
	}
	return lock.Release, nil
}

// newJournal opens a journal of its own for this run, which refuses every line
// that holds a secret.
func newJournal(dir string, now time.Time, secrets *bench.Redactor) (*data.Journal, error) {
	name := fmt.Sprintf("%s-%d.ndjson", now.UTC().Format("20060102T150405.000"), os.Getpid())
	return data.CreateJournal(filepath.Join(journals(dir), name), secrets)
}

// historyDays is how far back the scheduler looks: budgets are monthly.
const historyDays = 31

// history returns what the scheduler knows of the past from one vantage point,
// and of the simulated provider's: the record, and journals that wait for it.
func (a *app) history(store *data.Store, now time.Time, vantage string) (bench.History, error) {
	history := bench.History{}
	counts := func(s *bench.Sample) bool {
		return s.Env.Vantage == vantage || s.Env.Vantage == bench.VantageSimulated
	}
	for s, err := range store.Samples(a.ctx, now.AddDate(0, 0, -historyDays), now.Add(data.MaxAhead)) {
		if err != nil {
			return nil, fmt.Errorf("read the history: %w", err)
		}
		if counts(&s) {
			history[s.Pair] = append(history[s.Pair], bench.AttemptOf(&s))
		}
	}
	return history, addPending(history, journals(store.Dir()), counts)
}

// A measuring is the measuring of one tick.
type measuring struct {
	app      *app
	meter    *bench.Meter
	journal  *data.Journal // nil before the first request
	store    *data.Store   // where the newest traces go; nil keeps none
	env      bench.Lookup
	history  bench.History // is told of each attempt; may be nil
	vantage  string
	region   string
	deadline time.Time // zero is none
}

// begin opens the journal before the first request, and warms the meter up.
func (m *measuring) begin(ctx context.Context, now time.Time, secrets *bench.Redactor) (err error) {
	if m.journal != nil {
		return nil
	}
	if m.journal, err = newJournal(m.store.Dir(), now, secrets); err != nil {
		return err
	}
	if err := m.meter.Warm(ctx); err != nil {
		m.app.log.Warn("warm-up; the first sample may be slower", "error", err)
	}
	return nil
}

// measure sends the due requests one at a time, appends each sample to the
// journal as soon as it is known, and says what came of it. It stops between
// two requests when ctx ends, or at the deadline.
func (m *measuring) measure(ctx context.Context, due []bench.DueRun) (ok, failed int, err error) {
	bar := m.app.progress("measuring", len(due))
	defer bar.close()
	for i := range due {
		if ctx.Err() != nil {
			return ok, failed, context.Cause(ctx)
		}
		if !m.deadline.IsZero() && time.Now().Add(due[i].Takes).After(m.deadline) {
			m.app.log.Info("time budget used up", "left", len(due)-i)
			return ok, failed, nil
		}
		bar.say(due[i].Pair.String())
		if due[i].Beside == bench.ProbeBefore {
			throttled, err := m.probe(ctx, &due[i])
			if err != nil {
				return ok, failed, err
			}
			if throttled { // the ordinary request keeps its slot, and waits as was asked
				bar.step(due[i].Pair.String() + ": told to wait")
				continue
			}
		}
		run, err := due[i].Run(m.env, rand.Reader)
		if err != nil {
			return ok, failed, fmt.Errorf("prepare %s: %w", due[i].Pair, err)
		}
		p := m.place(&run, &due[i])
		sample, err := m.one(ctx, p, run)
		if err == nil && sample.Detail == wire.DetailStreamOptions && !run.Target.NoStreamOptions {
			// Asked again without what was rejected: a request and a sample of
			// its own. The next month of runs leaves the options out at once.
			m.app.log.Info("asking again without stream_options", "pair", run.Pair)
			failed++
			run.Target.NoStreamOptions = true
			sample, err = m.one(ctx, p, run)
		}
		if err != nil {
			return ok, failed, err
		}
		if sample.OK() {
			ok++
		} else {
			failed++
		}
		if due[i].Beside == bench.ProbeAfter && sample.OK() {
			if _, err := m.probe(ctx, &due[i]); err != nil {
				return ok, failed, err
			}
		}
		bar.step(describe(&sample))
	}
	return ok, failed, nil
}

// place says in a run where it is measured from, and whether its server is known
// to reject stream_options. It returns the run's provider.
func (m *measuring) place(run *bench.Run, due *bench.DueRun) *bench.Provider {
	p, _ := due.Source()
	run.Env.Vantage, run.Env.Region = m.vantage, m.region
	if p.Demo {
		run.Env.Vantage = bench.VantageSimulated
	}
	run.Target.NoStreamOptions = run.Target.NoStreamOptions || m.rejects(run.Pair)
	return p
}

// probe sends the buffering probe that goes with a request, and reports whether
// the provider asked to wait. The probe is a sample of another series, so it is
// not counted among the request's.
func (m *measuring) probe(ctx context.Context, due *bench.DueRun) (throttled bool, err error) {
	run, err := due.ProbeRun(m.env, rand.Reader)
	if err != nil {
		return false, fmt.Errorf("prepare the buffering probe of %s: %w", due.Pair, err)
	}
	sample, err := m.one(ctx, m.place(&run, due), run)
	return sample.Kind == wire.KindRateLimit, err
}

// rejects reports whether the history knows that a pair's server rejects
// stream_options.
func (m *measuring) rejects(pair bench.Pair) bool {
	return slices.ContainsFunc(m.history[pair], func(a bench.Attempt) bool { return a.NoOptions })
}

// one sends one request and keeps what came of it.
func (m *measuring) one(ctx context.Context, p *bench.Provider, run bench.Run) (bench.Sample, error) {
	sample := m.meter.Measure(ctx, run, bench.Observer{})
	if sample.Detail == bench.DetailAborted {
		return sample, context.Canceled // tells nothing of the provider
	}
	// The only texts of a provider's that a sample keeps. One that echoes its
	// key must not cost the sample: the journal would refuse it.
	secrets := bench.NewRedactor(p.Secrets(m.env)...)
	for _, label := range []*string{&sample.ServedBy, &sample.Backend, &sample.Finish} {
		*label = secrets.String(*label)
	}
	if p.Private { // it may answer with a name of the model that is not the file's
		sample.ServedBy, sample.Backend = "", ""
	}
	if err := m.journal.Append(sample); err != nil {
		return sample, fmt.Errorf("keep the sample of %s: %w", run.Pair, err)
	}
	if m.history != nil {
		m.history[sample.Pair] = append(m.history[sample.Pair], bench.AttemptOf(&sample))
	}
	if sample.OK() && m.store != nil {
		if _, err := m.store.PutTrace(sample); err != nil {
			m.app.log.Warn("the trace is not kept; the sample is", "pair", run.Pair, "error", err)
		}
	}
	return sample, nil
}

// describe says in one line what came of a request.
func describe(s *bench.Sample) string {
	if !s.OK() {
		text := fmt.Sprintf("%s: %s", s.Pair, s.Kind)
		if s.Detail != "" {
			text += " (" + string(s.Detail) + ")"
		}
		if s.Kind == wire.KindAuth || s.Detail == wire.DetailBadRequest || s.Detail == wire.DetailModelNotFound {
			text += " — look into it: this one is likely ours"
		}
		return text
	}
	text := s.Pair.String()
	if ttft, why := s.TTFT(); why.OK() {
		text += fmt.Sprintf(": first text %.0f ms", msOf(ttft))
	}
	if tps, why := s.DecodeTPS(); why.OK() {
		text += fmt.Sprintf(", %.1f tokens/s", tps)
	} else {
		text += fmt.Sprintf(", no decode rate (%s)", why)
	}
	return text
}

// ingestJournals puts every journal of the record's folder, those of killed
// runs too, into the record, and removes each once all of it is there.
func (a *app) ingestJournals(store *data.Store, now time.Time) error {
	files, err := filepath.Glob(filepath.Join(journals(store.Dir()), "*.ndjson"))
	if err != nil {
		return fmt.Errorf("look for journals: %w", err)
	}
	if files, err = a.atRest(files); err != nil {
		return err
	}
	return a.ingestFiles(store, now, files, true)
}

// atRest returns the journals that nobody is writing. Those of a run that is
// still measuring wait for its end: it puts them away itself.
func (a *app) atRest(files []string) ([]string, error) {
	var rest []string
	for _, file := range files {
		used, err := data.JournalInUse(file)
		if err != nil {
			return nil, err
		}
		if used {
			a.log.Info("left to the run that is writing it", "journal", filepath.Base(file))
			continue
		}
		rest = append(rest, file)
	}
	return rest, nil
}

// ingestFiles puts journals into the record.
func (a *app) ingestFiles(store *data.Store, now time.Time, files []string, remove bool) error {
	for _, file := range files {
		report, err := ingestFile(a.ctx, store, now, file, a.guard)
		if err != nil {
			return err
		}
		for _, line := range report.FirstLines {
			a.log.Warn("journal line skipped", "at", fmt.Sprintf("%s:%d", filepath.Base(line.Journal), line.Line), "why", line.Err)
		}
		for reason, n := range report.Aside {
			a.log.Warn("samples put aside", "why", reason, "samples", n, "in", filepath.Join(store.Dir(), "quarantine"))
		}
		a.log.Info("ingested", "journal", filepath.Base(file), "new", report.New, "known", report.Known)
		if remove && report.BadLines == 0 {
			if err := os.Remove(file); err != nil {
				return fmt.Errorf("remove an ingested journal: %w", err)
			}
		}
	}
	return nil
}

// ingestFile puts one journal into the record.
func ingestFile(ctx context.Context, store *data.Store, now time.Time, file string, secrets *bench.Redactor) (data.Report, error) {
	f, err := os.Open(file)
	if err != nil {
		return data.Report{}, fmt.Errorf("open journal: %w", err)
	}
	defer f.Close()
	report, err := store.IngestJournals(ctx, now, data.ReadJournal(file, f, secrets))
	if err != nil {
		return report, fmt.Errorf("ingest %s: %w", filepath.Base(file), err)
	}
	return report, nil
}

// closeBooks rolls up all that is due, looks for events in the days it closed,
// and checks the record.
func (a *app) closeBooks(store *data.Store, list []bench.Provider, now time.Time) error {
	report, err := store.Rollup(a.ctx, now)
	if err != nil {
		return fmt.Errorf("roll up: %w", err)
	}
	a.log.Info("rolled up", "closed", len(report.Closed), "pruned", len(report.Pruned))
	if len(report.Closed) > 0 {
		if err := a.findEvents(store, list, report.Closed, now); err != nil {
			return err
		}
	}
	return a.check(store)
}

// check judges the record. Warnings are logged; anything else is an error.
func (a *app) check(store *data.Store) error {
	findings, err := store.Check(a.ctx)
	if err != nil {
		return fmt.Errorf("check the record: %w", err)
	}
	var bad []string
	for _, f := range findings {
		if f.Warning {
			a.log.Warn("record", "finding", f)
			continue
		}
		bad = append(bad, f.String())
	}
	if len(bad) > 0 {
		return fmt.Errorf("%w: the record has %d faults:\n  %s", errCheck, len(bad), strings.Join(bad, "\n  "))
	}
	return nil
}

// region says what the environment tells of where this runs, bounded.
func region(env bench.Lookup) string {
	for _, name := range []string{"STREAMGAUGE_REGION", "RUNNER_NAME"} {
		if v, ok := env(name); ok && v != "" {
			return strings.ToValidUTF8(v[:min(len(v), 64)], "")
		}
	}
	return ""
}
