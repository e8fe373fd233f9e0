package main

import (
	"errors"
	"fmt"

	"github.com/streamgauge/streamgauge/data"
)

// mergeCmd merges records.
type mergeCmd struct {
	Records []string `arg:"" type:"existingdir" help:"Directories of the records; they are only read."`
	Out     string   `required:"" placeholder:"DIR" type:"path" help:"Directory of the record they are merged into; made if missing."`
}

// Help is printed under the usage line.
func (mergeCmd) Help() string {
	return `Series are matched by name: copies of one record that went different ways, a fork's, or another vantage's.
The order is no matter, and merging again changes nothing.
Example: streamgauge merge home/data away/data --out both`
}

// Run merges.
func (c *mergeCmd) Run(a *app) error {
	out, err := data.Open(a.ctx, c.Out, data.Options{Create: true})
	if err != nil {
		return err
	}
	for _, dir := range c.Records {
		if err := a.merge(out, dir); err != nil {
			return errors.Join(err, out.Close())
		}
	}
	return errors.Join(a.check(out), out.Close())
}

// merge takes one record over, and says what came of it.
func (a *app) merge(out *data.Store, dir string) error {
	from, err := data.Open(a.ctx, dir, data.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer from.Close()
	m, err := out.Merge(a.ctx, from)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.stdout, "%s: %d samples new, %d known, %d put aside; %d frozen days of a series, %d events taken over\n",
		dir, m.New, m.Known, asideOf(m.Report), m.Frozen, m.Events)
	return nil
}

// asideOf counts the samples that were put aside.
func asideOf(r data.Report) (n int) {
	for _, of := range r.Aside {
		n += of
	}
	return n
}
