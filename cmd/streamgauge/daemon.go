package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/streamgauge/streamgauge/data"
)

// daemonFlags say when the daemon works, and where it keeps the record.
type daemonFlags struct {
	Schedule string `placeholder:"CRON" help:"Run a tick now and at these times, in UTC: five fields, as in \"*/10 * * * *\"."`
	branchFlags
}

// parseSchedule reads a cron expression of five fields.
func parseSchedule(spec string) (cron.Schedule, error) {
	schedule, err := cron.ParseStandard(spec)
	if err != nil {
		return nil, usageError{fmt.Errorf("--schedule: %w", err)}
	}
	return schedule, nil
}

// keepTicking runs a tick at once, and then at each time of the schedule, one
// after the other: times that pass during a tick are left out, as the next one
// works through all that is overdue. A tick that fails is logged, and the next
// one runs. It returns nil when ctx ends.
func keepTicking(ctx context.Context, schedule cron.Schedule, log *slog.Logger, tick func(context.Context) error) error {
	for {
		if err := tick(ctx); err != nil && ctx.Err() == nil {
			log.Error("the tick failed", "error", err)
		}
		if ctx.Err() != nil {
			return nil
		}
		next := schedule.Next(time.Now().UTC())
		if next.IsZero() {
			return errors.New("the schedule never comes round again")
		}
		log.Info("next tick", "at", next.Format("2006-01-02 15:04 UTC"))
		if sleepUntil(ctx, next) != nil {
			return nil
		}
	}
}

// daemon serves the site and keeps ticking until it is asked to stop. What was
// measured until then is kept.
func (a *app) daemon(c *serveCmd) error {
	schedule, err := parseSchedule(c.Schedule)
	if err != nil {
		return err
	}
	if err := c.measureFlags.check(); err != nil {
		return err
	}
	// Beside the directory, as a working copy is cleared now and then.
	lock, err := data.AcquireLock(c.Data + ".lock")
	if err != nil {
		return fmt.Errorf("a daemon works on %s already: %w", c.Data, err)
	}
	defer lock.Release()
	ctx, stop := context.WithCancel(a.ctx)
	defer stop()
	served := make(chan error, 1)
	if c.Addr == "" {
		served <- nil
	} else {
		b := *a
		b.ctx = ctx
		go func() {
			defer stop() // no daemon without its server
			served <- b.serveSite(c.Site, c.Addr)
		}()
	}
	ticked := keepTicking(ctx, schedule, a.log, func(ctx context.Context) error {
		b := *a
		b.ctx = ctx
		return b.daemonTick(c)
	})
	stop()
	return errors.Join(ticked, <-served)
}

// daemonTick is one tick: of a record in a directory alone, or of one on a branch.
func (a *app) daemonTick(c *serveCmd) error {
	if c.Repo == "" {
		return (&runCmd{c.recordFlags, c.measureFlags, c.siteFlags}).Run(a)
	}
	list, err := c.load(a)
	if err != nil {
		return err
	}
	branch, err := c.branch(a, c.Data)
	if err != nil {
		return err
	}
	tip, err := branch.Fetch(a.ctx)
	switch {
	case err == nil:
		a.sayFresh(tip)
	case errors.Is(err, data.ErrUnsound), !a.readable(c.Data):
		return err
	default:
		// The repository is out of reach: measuring goes on by the record as it
		// was, and the journals wait.
		a.log.Error("the record is not up to date", "error", err)
	}
	measured := (&benchCmd{c.recordFlags, c.measureFlags}).Run(a)
	if err := a.uncancelled().publishRecord(branch, list, &publishFlags{}); err != nil {
		return errors.Join(measured, err)
	}
	if measured != nil && !errors.Is(measured, errSettings) {
		return measured
	}
	if err := (&buildCmd{c.recordFlags, c.siteFlags}).Run(a); err != nil {
		return err
	}
	if measured == nil {
		a.ping()
	}
	return measured
}

// readable reports whether a directory holds a record that can be built on.
func (a *app) readable(dir string) bool {
	store, err := data.Open(a.ctx, dir, data.Options{ReadOnly: true})
	if err != nil {
		return false
	}
	defer store.Close()
	findings, err := store.Check(a.ctx)
	return err == nil && !slices.ContainsFunc(findings, func(f data.Finding) bool { return !f.Warning })
}
