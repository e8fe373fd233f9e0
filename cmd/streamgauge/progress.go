package main

import (
	"fmt"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// A progress shows how far long work has come: a bar on a terminal, a plain
// line for each step elsewhere.
type progress struct {
	out   io.Writer
	bar   *progressbar.ProgressBar // nil off a terminal
	what  string
	total int
	done  int
	since time.Time // of the last plain line
}

// plainEvery is how often long work says how far it is, off a terminal.
const plainEvery = 5 * time.Second

// progress begins to show work of total steps; 0 is not known yet.
func (a *app) progress(what string, total int) *progress {
	out := a.stderr
	p := &progress{out: out, what: what, total: total, since: time.Now()}
	if a.interactive {
		p.bar = progressbar.NewOptions(total,
			progressbar.OptionSetWriter(out),
			progressbar.OptionSetDescription(what),
			progressbar.OptionSetWidth(24),
			progressbar.OptionShowCount(),
			progressbar.OptionClearOnFinish(),
		)
	}
	return p
}

// say names what is being worked on.
func (p *progress) say(what string) {
	if p.bar != nil {
		p.bar.Describe(what)
	}
}

// step says that one more is done, and what came of it.
func (p *progress) step(result string) {
	p.done++
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	fmt.Fprintf(p.out, "%*d/%d  %s\n", len(fmt.Sprint(p.total)), p.done, p.total, result)
	if p.bar != nil {
		_ = p.bar.Add(1)
	}
}

// at moves a bar to done of total; off a terminal it prints a line now and then.
func (p *progress) at(done, total int) {
	if p.bar != nil {
		p.bar.ChangeMax(total)
		_ = p.bar.Set(done)
		return
	}
	if now := time.Now(); now.Sub(p.since) >= plainEvery {
		fmt.Fprintf(p.out, "%s: %d of %d\n", p.what, done, total)
		p.since = now
	}
}

func (p *progress) close() {
	if p.bar != nil {
		_ = p.bar.Finish()
	}
}
