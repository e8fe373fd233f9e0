package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"
)

// The states of a step of the set-up.
const (
	stepDone  = "ok"
	stepSkip  = "skip"  // left out on purpose, as far as one can tell
	stepTodo  = "TODO"  // missing, and nothing works until it is done
	stepFault = "FAULT" // there, and wrong
)

// A checklist prints the steps of the set-up, one a line, and counts faults.
type checklist struct {
	table  *tabwriter.Writer
	out    io.Writer
	ci     bool // also as annotations of the hosted job
	notes  []string
	faults int
}

func newChecklist(out io.Writer, ci bool) *checklist {
	return &checklist{table: tabwriter.NewWriter(out, 0, 0, 2, ' ', 0), out: out, ci: ci}
}

// add adds a step: its state, what it is, and what to do or to know about it.
func (c *checklist) add(state, what, advice string) {
	fmt.Fprintf(c.table, "%s\t%s\t%s\n", state, what, advice)
	switch state {
	case stepFault:
		c.faults++
		c.note("error", what, advice)
	case stepTodo:
		c.note("warning", what, advice)
	}
}

// freshness adds how old the newest sample is. It is a fault if that is more
// than limit, unless that is 0.
func (c *checklist) freshness(newest time.Time, any bool, now time.Time, limit time.Duration) {
	state, text := stepDone, "none yet"
	if any {
		text = fmt.Sprintf("the newest is from %s, %s ago", newest.UTC().Format("2006-01-02 15:04 UTC"), now.Sub(newest).Round(time.Minute))
	}
	if limit > 0 && (!any || now.Sub(newest) > limit) {
		state = stepFault
		text += fmt.Sprintf("; more than %s: does the schedule run, and do its runs end well? See the Actions tab", limit)
	}
	c.add(state, "samples", text)
}

func (c *checklist) note(level, what, advice string) {
	c.notes = append(c.notes, fmt.Sprintf("::%s title=streamgauge doctor::%s\n", level, escapeCommand(what+": "+advice)))
}

// print prints the steps.
func (c *checklist) print() error {
	if err := c.table.Flush(); err != nil {
		return err
	}
	if c.ci {
		if _, err := io.WriteString(c.out, strings.Join(c.notes, "")); err != nil {
			return err
		}
	}
	return nil
}

// escapeCommand escapes the text of a workflow command, which would otherwise
// end at the first line feed and let what follows be a command of its own. See
// escapeData in @actions/core.
func escapeCommand(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}
