package main

import (
	"fmt"
	"os"
	"time"

	"github.com/streamgauge/streamgauge/data"
)

// doctorCmd checks the set-up and names each missing step.
type doctorCmd struct {
	recordFlags
	Config string        `default:"streamgauge.yaml" type:"path" help:"The site's configuration."`
	CI     bool          `name:"ci" help:"Also annotate the hosted job with what is missing or wrong."`
	Stale  time.Duration `placeholder:"DURATION" help:"It is a fault if the newest sample is older than this."`
}

// Help is printed under the usage line.
func (doctorCmd) Help() string {
	return "Names each missing step and what to do about it. Sends nothing. Exits with 3 if the set-up has a fault."
}

// Run checks.
func (c *doctorCmd) Run(a *app) error {
	steps := newChecklist(a.stdout, c.CI)
	list, err := c.load(a)
	if err != nil {
		steps.add(stepFault, "provider files", "see below")
		if err := steps.print(); err != nil {
			return err
		}
		fmt.Fprintln(a.stdout, err)
		return fmt.Errorf("%w: the provider files cannot be used", errCheck)
	}
	steps.add(stepDone, "provider files", fmt.Sprintf("%d read", len(list)))
	configured := 0
	for i := range list {
		p := &list[i]
		missing := p.Missing(a.env)
		if len(missing) == 0 {
			configured++
			steps.add(stepDone, p.PublicName(), fmt.Sprintf("configured, %d models listed", len(p.Models)))
			continue
		}
		steps.add(stepSkip, p.PublicName(), fmt.Sprintf("not configured: set %v (locally: export; on GitHub: Settings → Secrets and variables → Actions)", missing))
	}
	if configured == 0 {
		steps.add(stepTodo, "providers", "none is configured, so nothing will be measured; 'streamgauge demo' needs none")
	}
	switch _, err := os.Stat(c.Data); {
	case os.IsNotExist(err):
		steps.add(stepTodo, "record", fmt.Sprintf("%s does not exist yet; the first run makes it", c.Data))
	default:
		store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
		if err == nil {
			defer store.Close()
			err = a.check(store)
		}
		if err != nil {
			steps.add(stepFault, "record", err.Error())
			break
		}
		steps.add(stepDone, "record", c.Data)
		newest, ok, err := store.Newest(a.ctx)
		if err != nil {
			return err
		}
		steps.freshness(newest, ok, time.Now(), c.Stale)
	}
	switch _, err := os.Stat(c.Config); {
	case os.IsNotExist(err):
		steps.add(stepTodo, "site", fmt.Sprintf("no %s: the site will not say who runs it (name, owner, base_url, repository)", c.Config))
	default:
		if _, err := loadConfig(c.Config); err != nil {
			steps.add(stepFault, "site", err.Error())
		} else {
			steps.add(stepDone, "site", c.Config)
		}
	}
	if configured > 0 {
		pass := hourlyPass(time.Now(), list, a.env)
		lite, full := billedMinutes(pass)
		steps.add(stepDone, "minutes", fmt.Sprintf(
			"a public repository pays nothing; a private one about %d a month with bench-lite.yml every hour, %d with bench.yml", lite, full))
	}
	if err := steps.print(); err != nil {
		return err
	}
	if steps.faults > 0 {
		return fmt.Errorf("%w: %d in the set-up", errCheck, steps.faults)
	}
	return nil
}
