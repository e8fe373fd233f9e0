package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/streamgauge/streamgauge/data"
)

// maintainCmd looks after the branch that holds the record.
type maintainCmd struct {
	branchFlags
	Data     string  `default:"data" type:"path" help:"Working copy of the branch: missing, empty, or made by fetch."`
	Config   string  `default:"streamgauge.yaml" type:"path" help:"The site's configuration: name, owner and licence of a snapshot."`
	Snapshot string  `placeholder:"DIR" type:"path" help:"Write a snapshot of the record into this folder, or check the one that is there."`
	ReRoot   string  `name:"re-root" placeholder:"BRANCH" help:"Begin the history of the branch anew if it is over the limit. Wants the name of the branch typed out, and --snapshot."`
	LimitMB  float64 `name:"limit-mb" default:"${heavy_mb}" help:"Weight of the history from which on it is begun anew."`
	DryRun   bool    `help:"Say what would be done, and do none of it."`
	JSON     bool    `name:"json" help:"Print what was found and done as JSON."`
}

// Help is printed under the usage line.
func (maintainCmd) Help() string {
	return `Fetches the record, checks it and derives its rollups again, weighs the history of its branch, and does what it is told to.

A snapshot is the download, the events, a citation and checksums, read back and counted; one state of the record makes one snapshot,
byte by byte. Re-rooting replaces the history by one commit with the same files: no row is lost, and clones shrink. Writers that
push meanwhile win, and those with the old history go on from the new one. Nobody's snapshot, no re-rooting.

Examples:
  streamgauge maintain --repo https://github.com/owner/name --data record --dry-run
  streamgauge maintain --repo ../archive.git --data record --snapshot snapshots/2026-11
  streamgauge maintain --repo ../archive.git --data record --snapshot snapshots/2026-11 --re-root data`
}

// A maintenance says what was found and done.
type maintenance struct {
	Record   data.Inventory  `json:"record"`
	Commit   string          `json:"commit"`
	History  data.Weight     `json:"history"`
	Limit    int64           `json:"limit"` // bytes
	Heavy    bool            `json:"heavy"`
	Snapshot *snapshot       `json:"snapshot,omitempty"`
	ReRoot   *data.ReRooting `json:"re_root,omitempty"`
}

// Run maintains.
func (c *maintainCmd) Run(a *app) error {
	if c.ReRoot != "" && c.ReRoot != c.Branch {
		return usageError{fmt.Errorf("--re-root %s: the branch is %s; type its name", c.ReRoot, c.Branch)}
	}
	if c.ReRoot != "" && c.Snapshot == "" {
		return usageError{errors.New("--re-root wants --snapshot DIR: what only the old history holds must be kept elsewhere")}
	}
	config, err := loadConfig(c.Config)
	if err != nil {
		return err
	}
	branch, err := c.branch(a, c.Data)
	if err != nil {
		return err
	}
	tip, err := branch.Fetch(a.ctx)
	if err != nil {
		return err
	}
	if tip.Fresh != "" {
		return fmt.Errorf("nothing to maintain: %s", tip.Fresh)
	}
	store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	m := maintenance{Commit: tip.Commit, Limit: int64(c.LimitMB * 1e6)}
	if err := a.derive(store); err != nil {
		return err
	}
	if m.Record, err = store.Inventory(a.ctx); err != nil {
		return err
	}
	if m.History, err = branch.Weigh(a.ctx); err != nil {
		return err
	}
	m.Heavy = m.History.Bytes > m.Limit
	if c.Snapshot != "" && !c.DryRun {
		made, err := makeSnapshot(a.ctx, store, tip.Commit, c.Snapshot, config)
		if err != nil {
			return err
		}
		switch {
		case made.Commit != tip.Commit && c.ReRoot == "":
			return fmt.Errorf("%s holds the snapshot of %s, and the record is at %s", c.Snapshot, made.Commit, tip.Commit)
		case made.AsOf.Before(m.Record.Floor):
			// Raw samples from between the two would be in neither.
			return fmt.Errorf("the snapshot is as of %s, and the record has raw samples from %s on only: make a new one",
				made.AsOf.Format(time.DateOnly), m.Record.Floor.Format(time.DateOnly))
		}
		m.Snapshot = &made
	}
	if c.ReRoot != "" && m.Heavy && !c.DryRun {
		done, err := branch.ReRoot(a.ctx, m.Snapshot.Commit)
		if err != nil {
			return err
		}
		m.ReRoot = &done
	}
	return c.print(a, &m)
}

// print says what was found and done.
func (c *maintainCmd) print(a *app, m *maintenance) error {
	if c.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(m)
	}
	mb := func(bytes int64) float64 { return float64(bytes) / 1e6 }
	var largest data.File
	for _, f := range m.Record.Files {
		if f.Bytes > largest.Bytes {
			largest = f
		}
	}
	say := func(what, format string, args ...any) {
		fmt.Fprintf(a.stdout, "%-9s %s\n", what, fmt.Sprintf(format, args...))
	}
	say("record", "%s: %d samples, %d hours and %d days of %d series; %d files, %.1f MB, the largest %s with %.2f MB",
		m.Commit, m.Record.Samples, m.Record.Hourly, m.Record.Daily, m.Record.Series, len(m.Record.Files), mb(m.Record.Bytes), largest.Path, mb(largest.Bytes))
	say("history", "%d commits, %.1f MB in a full clone, of which the newest takes %.1f MB; the limit is %.0f MB",
		m.History.Commits, mb(m.History.Bytes), mb(m.History.Newest), mb(m.Limit))
	switch s := m.Snapshot; {
	case s == nil && c.Snapshot != "":
		say("snapshot", "would be written into %s", c.Snapshot)
	case s == nil:
	case s.Made:
		say("snapshot", "%s: %d files, %.1f MB, as of %s; read back and counted", s.Dir, s.Files, mb(s.Bytes), s.AsOf.UTC().Format("2006-01-02 15:04 UTC"))
	default:
		say("snapshot", "%s was there already, of %s, and is sound", s.Dir, s.Commit)
	}
	switch {
	case !m.Heavy:
		say("re-root", "not needed")
	case m.ReRoot != nil && m.ReRoot.Changed:
		say("re-root", "done: %s follows %s, with the same files; tries: %d", m.ReRoot.Commit, m.ReRoot.From, m.ReRoot.Tries)
	case m.ReRoot != nil:
		say("re-root", "there is one commit only: the record itself is over the limit")
	case c.ReRoot != "":
		say("re-root", "would begin the history anew: %.1f MB instead of %.1f MB", mb(m.History.Newest), mb(m.History.Bytes))
	default:
		say("re-root", "ADVISED: the history is over the limit; --snapshot DIR --re-root %s begins it anew", c.Branch)
	}
	return nil
}
