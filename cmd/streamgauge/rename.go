package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

// renameCmd gives pairs another name.
type renameCmd struct {
	branchFlags
	Data string `default:"data" type:"path" help:"Directory of the record; with --repo, working copy of its branch."`
	From string `arg:"" name:"old" help:"PROVIDER/MODEL, or PROVIDER for all of its models, as the record has it."`
	To   string `arg:"" name:"new" help:"The name from now on, of the same kind."`
	Join bool   `name:"merge" help:"Also if both were measured in the same hours: they are one thing under two names."`
}

// Help is printed under the usage line.
func (renameCmd) Help() string {
	return `A model or provider that is called otherwise now keeps its history: what was measured under both names becomes one series, and a
note says since when. Change the provider file too. What would lose anything is refused. Doing it again changes nothing.

Examples:
  streamgauge rename acme/gpt-large acme/gpt-large-2026 --data record
  streamgauge rename acme apex --repo https://github.com/owner/name --data record`
}

// Run renames.
func (c *renameCmd) Run(a *app) error {
	work := func(ctx context.Context, store *data.Store) (string, error) {
		b := *a
		b.ctx = ctx
		text, err := c.rename(&b, store)
		if err != nil {
			return "", err
		}
		return "Rename " + c.From + " to " + c.To + "\n\n" + text, nil
	}
	if c.Repo == "" {
		if data.IsWorkingCopy(c.Data) {
			return usageError{fmt.Errorf("%s is the working copy of a branch: say which with --repo", c.Data)}
		}
		store, err := data.Open(a.ctx, c.Data, data.Options{})
		if err != nil {
			return err
		}
		text, err := work(a.ctx, store)
		if err := errors.Join(err, store.Close()); err != nil {
			return err
		}
		_, err = fmt.Fprint(a.stdout, text)
		return err
	}
	branch, err := c.branch(a, c.Data)
	if err != nil {
		return err
	}
	branch.Joins = true
	var text string
	done, err := branch.Publish(a.ctx, func(ctx context.Context, store *data.Store) (string, error) {
		var err error
		text, err = work(ctx, store)
		return text, err
	})
	if err != nil {
		return err
	}
	if !done.Changed {
		text += "Nothing new: the branch stays at " + done.Commit + ".\n"
	} else {
		text += fmt.Sprintf("Pushed as %s, verified; tries: %d.\n", done.Commit, done.Tries)
	}
	_, err = fmt.Fprint(a.stdout, text)
	return err
}

// rename renames every pair that is meant, and says what came of each.
func (c *renameCmd) rename(a *app, store *data.Store) (string, error) {
	pairs, err := c.pairs(a, store)
	if err != nil {
		return "", err
	}
	var text strings.Builder
	for _, p := range pairs {
		done, err := store.Rename(a.ctx, p.from, p.to, c.Join, time.Now())
		if errors.Is(err, data.ErrOverlap) {
			return "", fmt.Errorf("%w; if they are one thing, say --merge", err)
		}
		if errors.Is(err, data.ErrUnknownPair) && len(pairs) > 1 {
			continue // it is only a name by now, as after an earlier renaming
		}
		if err != nil {
			return "", err
		}
		if done.Series == 0 {
			fmt.Fprintf(&text, "%s: renamed to %s before\n", p.from, p.to)
			continue
		}
		fmt.Fprintf(&text, "%s: now %s; %d samples, %d days of summaries, in %d series\n", p.from, p.to, done.Samples, done.Days, done.Series)
	}
	return text.String(), nil
}

// A pairName is a pair's name and the one it gets.
type pairName struct{ from, to bench.Pair }

// pairs returns the pairs that are renamed. A provider's name has no slash, a
// model's may.
func (c *renameCmd) pairs(a *app, store *data.Store) ([]pairName, error) {
	fromProvider, fromModel, one := strings.Cut(c.From, "/")
	toProvider, toModel, alsoOne := strings.Cut(c.To, "/")
	switch {
	case one != alsoOne:
		return nil, usageError{fmt.Errorf("%s and %s: name two pairs, or two providers", c.From, c.To)}
	case one:
		return []pairName{{bench.Pair{Provider: fromProvider, Model: fromModel}, bench.Pair{Provider: toProvider, Model: toModel}}}, nil
	}
	series, err := store.Series(a.ctx)
	if err != nil {
		return nil, err
	}
	var pairs []pairName
	for _, s := range series {
		p := pairName{s.Pair, bench.Pair{Provider: c.To, Model: s.Model}}
		if s.Provider == c.From && !slices.Contains(pairs, p) {
			pairs = append(pairs, p)
		}
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("rename %s: the record has no such provider", c.From)
	}
	return pairs, nil
}
