package main

import (
	"fmt"
	"os"
	"text/tabwriter"

	"github.com/streamgauge/streamgauge/data"
)

// doctorCmd checks the set-up and names each missing step.
type doctorCmd struct {
	recordFlags
	Config string `default:"streamgauge.yaml" type:"path" help:"The site's configuration."`
}

// Help is printed under the usage line.
func (doctorCmd) Help() string {
	return "Names each missing step and what to do about it. Sends nothing. Exits with 3 if the set-up has a fault."
}

// Run checks.
func (c *doctorCmd) Run(a *app) error {
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	faults := 0
	report := func(state, what, advice string) {
		if state == "FAULT" {
			faults++
		}
		fmt.Fprintf(table, "%s\t%s\t%s\n", state, what, advice)
	}
	list, err := c.load()
	if err != nil {
		report("FAULT", "provider files", "see below")
		_ = table.Flush()
		fmt.Fprintln(a.stdout, err)
		return fmt.Errorf("%w: the provider files cannot be used", errCheck)
	}
	report("ok", "provider files", fmt.Sprintf("%d read", len(list)))
	configured := 0
	for i := range list {
		p := &list[i]
		missing := p.Missing(a.env)
		if len(missing) == 0 {
			configured++
			report("ok", p.PublicName(), fmt.Sprintf("configured, %d models listed", len(p.Models)))
			continue
		}
		report("skip", p.PublicName(), fmt.Sprintf("not configured: set %v (locally: export; on GitHub: Settings → Secrets and variables → Actions)", missing))
	}
	if configured == 0 {
		report("TODO", "providers", "none is configured, so nothing will be measured; 'streamgauge demo' needs none")
	}
	switch _, err := os.Stat(c.Data); {
	case os.IsNotExist(err):
		report("TODO", "record", fmt.Sprintf("%s does not exist yet; the first run makes it", c.Data))
	default:
		store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
		if err == nil {
			defer store.Close()
			err = a.check(store)
		}
		if err != nil {
			report("FAULT", "record", err.Error())
		} else {
			report("ok", "record", c.Data)
		}
	}
	switch _, err := os.Stat(c.Config); {
	case os.IsNotExist(err):
		report("TODO", "site", fmt.Sprintf("no %s: the site will not say who runs it (name, owner, base_url, repository)", c.Config))
	default:
		if _, err := loadConfig(c.Config); err != nil {
			report("FAULT", "site", err.Error())
		} else {
			report("ok", "site", c.Config)
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if faults > 0 {
		return fmt.Errorf("%w: %d in the set-up", errCheck, faults)
	}
	return nil
}
