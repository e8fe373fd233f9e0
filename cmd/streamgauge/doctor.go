package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

// doctorCmd checks the set-up and names each missing step.
type doctorCmd struct {
	recordFlags
	Config    string        `default:"streamgauge.yaml" type:"path" help:"The site's configuration."`
	CI        bool          `name:"ci" help:"Only what was found, and annotate the hosted job with what is missing or wrong."`
	Stale     time.Duration `placeholder:"DURATION" help:"It is a fault if the newest sample is older than this."`
	Markdown  bool          `help:"Print the steps as a list with links, for the summary of a job."`
	Pages     string        `enum:"on,off,unknown" default:"unknown" help:"Whether Pages is on, from a job that could ask: on, off or unknown."`
	Workflows string        `default:".github/workflows" placeholder:"DIR" type:"path" help:"The workflows, to see which keys they hand on."`
}

// Help is printed under the usage line.
func (doctorCmd) Help() string {
	return `Names each missing step and what to do about it: the place to click, or the command to run. Sends nothing. Exits with 3
if the set-up has a fault.

Examples:
  streamgauge doctor
  streamgauge doctor --data record --stale 6h`
}

// Run checks.
func (c *doctorCmd) Run(a *app) error {
	found := newChecklist(a.stdout, c.CI)
	list, loadErr := c.load(a)
	from := "this program"
	if dir := c.providerDir(); dir != "" {
		from = shortPath(dir)
	}
	s := setup{repository: a.repositoryURL(), files: len(list), from: from, pages: c.Pages, loaded: loadErr == nil}
	if loadErr != nil {
		found.add(stepFault, "provider files", "see below")
	} else {
		found.add(stepDone, "provider files", fmt.Sprintf("%d read from %s", len(list), from))
		c.checkProviders(a, found, &s, list)
	}
	if err := c.checkRecord(a, found, &s); err != nil {
		return err
	}
	switch _, err := os.Stat(c.Config); {
	case os.IsNotExist(err):
		found.add(stepSkip, "site", fmt.Sprintf("no %s: optional, but without it the site will not say who runs it (name, owner, base_url, repository)", shortPath(c.Config)))
	default:
		if _, err := loadConfig(c.Config); err != nil {
			found.add(stepFault, "site", err.Error())
		} else {
			found.add(stepDone, "site", shortPath(c.Config))
		}
	}
	c.checkNotify(a, found, list)
	if len(s.configured) > 0 {
		lite, full := billedMinutes(time.Now(), list, a.env)
		found.add(stepDone, "minutes", fmt.Sprintf(
			"a public repository pays nothing; a private one about %d a month with bench-lite.yml every hour, %d with bench.yml", lite, full))
	}
	if !c.CI {
		if err := s.print(a.stdout, c.Markdown); err != nil {
			return err
		}
	}
	if c.Markdown {
		fmt.Fprint(a.stdout, "\n```text\n")
	}
	if err := found.print(); err != nil {
		return err
	}
	if loadErr != nil {
		fmt.Fprintln(a.stdout, loadErr)
	}
	if c.Markdown {
		fmt.Fprint(a.stdout, "```\n")
	}
	switch {
	case loadErr != nil:
		return fmt.Errorf("%w: the provider files cannot be used", errCheck)
	case found.faults > 0:
		return fmt.Errorf("%w: %d in the set-up", errCheck, found.faults)
	}
	return nil
}

// checkProviders says which providers are configured, and whether the hosted
// job is handed their keys.
func (c *doctorCmd) checkProviders(a *app, found *checklist, s *setup, list []bench.Provider) {
	handed, err := handedOn(c.Workflows)
	if err != nil {
		found.add(stepFault, "workflows", err.Error())
	}
	none := func(string) (string, bool) { return "", false }
	for i := range list {
		p := &list[i]
		missing := p.Missing(a.env)
		if len(missing) == 0 {
			s.configured = append(s.configured, p.PublicName())
			found.add(stepDone, p.PublicName(), fmt.Sprintf("configured, %s", listed(p)))
			checkReach(found, p, a.env, time.Now())
		} else {
			s.missing = append(s.missing, strings.Join(missing, " and "))
			found.add(stepSkip, p.PublicName(), "not configured: set "+strings.Join(missing, " and "))
		}
		if p.KeyEnv == "" || handed == nil {
			continue // a server without a key is one of the reader's own network
		}
		for _, name := range p.Missing(none) {
			if !slices.Contains(handed, name) {
				found.add(stepTodo, p.PublicName(), notHandedOn(name))
			}
		}
	}
	if len(s.configured) == 0 {
		found.add(stepTodo, "providers", "none is configured, so nothing will be measured, and until something was the site is a DEMO of the simulated provider")
	}
}

// listed says how many models a provider file lists.
func listed(p *bench.Provider) string {
	if p.Discover != nil && len(p.Models) == 0 {
		return "models as its own list has them"
	}
	return fmt.Sprintf("%d models listed", len(p.Models))
}

// checkRecord says whether there is a record, whether it is sound, and how old
// its newest sample is.
func (c *doctorCmd) checkRecord(a *app, found *checklist, s *setup) error {
	store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
	if errors.Is(err, data.ErrNoRecord) {
		found.add(stepTodo, "record", fmt.Sprintf("none in %s yet; the first run makes it", shortPath(c.Data)))
		return nil
	}
	if err == nil {
		defer store.Close()
		err = a.check(store)
	}
	if err != nil {
		found.add(stepFault, "record", err.Error())
		return nil
	}
	found.add(stepDone, "record", shortPath(c.Data))
	newest, ok, err := store.Newest(a.ctx)
	if err != nil {
		return err
	}
	s.newest = newest
	found.freshness(newest, ok, time.Now(), c.Stale)
	return nil
}
