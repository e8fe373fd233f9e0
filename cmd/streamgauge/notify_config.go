package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// incidentConfig is the part of a site's configuration that says what an
// incident is, and who is told.
type incidentConfig struct {
	// GitHub is the repository, OWNER/NAME, in which issues are opened. It is
	// named, and not only switched on, as a fork or a template takes the file
	// along: there it is off until the name is changed.
	GitHub          string `yaml:"github"`
	PrivateInPublic bool   `yaml:"private_in_public"` // private providers too, by their aliases, in a public repository

	Down        ruleConfig          `yaml:"down"`
	Degraded    ruleConfig          `yaml:"degraded"`
	Throttling  bool                `yaml:"throttling"`
	Speed       string              `yaml:"speed"`
	SpeedDays   int                 `yaml:"speed_days"`
	Maintenance []maintenanceConfig `yaml:"maintenance"`
}

type ruleConfig struct {
	Open  string `yaml:"open"`
	Close string `yaml:"close"`
}

type maintenanceConfig struct {
	Provider string `yaml:"provider"`
	Model    string `yaml:"model"`
	From     string `yaml:"from"`
	To       string `yaml:"to"`
	Weekly   string `yaml:"weekly"`
}

// loadIncidents reads what a configuration file says of incidents; a missing
// file is the default policy, and nobody is told.
func loadIncidents(file string) (incidentConfig, rollup.Policy, error) {
	c, err := readConfig(file)
	if err != nil {
		return incidentConfig{}, rollup.Policy{}, err
	}
	policy, err := c.Incidents.policy()
	if err != nil {
		return incidentConfig{}, rollup.Policy{}, fmt.Errorf("%s: incidents: %w", filepath.Base(file), err)
	}
	return c.Incidents, policy, nil
}

// policy returns what is an incident: the default, but for what is said.
func (c *incidentConfig) policy() (rollup.Policy, error) {
	p := rollup.DefaultPolicy()
	p.Throttling = c.Throttling
	for _, q := range []struct {
		name, text string
		quorum     *rollup.Quorum
	}{
		{"down.open", c.Down.Open, &p.Down.Open}, {"down.close", c.Down.Close, &p.Down.Close},
		{"degraded.open", c.Degraded.Open, &p.Degraded.Open}, {"degraded.close", c.Degraded.Close, &p.Degraded.Close},
	} {
		if q.text == "" {
			continue
		}
		var err error
		if *q.quorum, err = rollup.ParseQuorum(q.text); err != nil {
			return p, fmt.Errorf("%s: %w", q.name, err)
		}
	}
	switch s := rollup.SpeedPolicy(c.Speed); s {
	case "":
	case rollup.SpeedWorse, rollup.SpeedAny, rollup.SpeedOff:
		p.Speed = s
	default:
		return p, fmt.Errorf("speed: %q is none of worse, any, off", c.Speed)
	}
	switch {
	case c.SpeedDays < 0 || c.SpeedDays > 365:
		return p, fmt.Errorf("speed_days: %d is not from 1 to 365", c.SpeedDays)
	case c.SpeedDays > 0:
		p.SpeedDays = c.SpeedDays
	}
	if name, rest, ok := strings.Cut(c.GitHub, "/"); c.GitHub != "" && (!ok || name == "" || rest == "" || strings.Contains(rest, "/")) {
		return p, fmt.Errorf("github: %q is no OWNER/NAME", c.GitHub)
	}
	for i := range c.Maintenance {
		m, err := c.Maintenance[i].window()
		if err != nil {
			return p, fmt.Errorf("maintenance window %d: %w", i+1, err)
		}
		p.Maintenance = append(p.Maintenance, m)
	}
	return p, nil
}

// window reads a maintenance window. Errors repeat no name: it may be that of a
// private provider, written here by mistake.
func (c *maintenanceConfig) window() (rollup.Maintenance, error) {
	m := rollup.Maintenance{Provider: c.Provider, Model: c.Model}
	once, weekly := c.From != "" || c.To != "", c.Weekly != ""
	var err error
	switch {
	case c.Provider == "":
		return m, fmt.Errorf("it names no provider")
	case once == weekly:
		return m, fmt.Errorf("say either from and to, or weekly")
	case weekly:
		m.Weekly, err = rollup.ParseWeekly(c.Weekly)
		return m, err
	}
	if m.From, err = parseMinute(c.From); err != nil {
		return m, fmt.Errorf("from: %w", err)
	}
	if m.To, err = parseMinute(c.To); err != nil {
		return m, fmt.Errorf("to: %w", err)
	}
	if !m.From.Before(m.To) {
		return m, fmt.Errorf("it ends before it begins")
	}
	return m, nil
}

// parseMinute reads an instant of RFC 3339, the seconds of which may be left out.
func parseMinute(text string) (time.Time, error) {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04Z07:00"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is not like 2026-12-01T02:00Z", text)
}

// strangers returns which maintenance windows, from 1, name no pair of a
// configured provider by its public name, and so never hold.
func strangers(windows []rollup.Maintenance, list []bench.Provider) []int {
	models := map[string]map[string]bool{}
	discovers := map[string]bool{}
	for i := range list {
		p := &list[i]
		name := p.PublicName()
		discovers[name] = p.Discover != nil
		models[name] = map[string]bool{}
		for j := range p.Models {
			models[name][p.Models[j].Name] = true
		}
	}
	var found []int
	for i, w := range windows {
		of, known := models[w.Provider]
		if !known || w.Model != "" && !of[w.Model] && !discovers[w.Provider] {
			found = append(found, i+1)
		}
	}
	return found
}
