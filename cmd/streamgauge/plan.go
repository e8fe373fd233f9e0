package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

// planCmd says what is due, why, and how busy the schedule is.
type planCmd struct {
	recordFlags
	measureFlags
	JSON    bool          `name:"json" help:"Print the whole plan as JSON."`
	Horizon time.Duration `help:"With --json, also split into shards what falls due so soon."`
}

// Help is printed under the usage line.
func (planCmd) Help() string { return "Nothing is sent. Example: streamgauge plan --json" }

// Run prints the plan.
func (c *planCmd) Run(a *app) error {
	list, err := c.load(a)
	if err != nil {
		return err
	}
	now := time.Now()
	history := bench.History{}
	demo := !slices.ContainsFunc(list, func(p bench.Provider) bool { return p.Configured(a.env) })
	store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
	switch {
	case errors.Is(err, data.ErrNoRecord):
		a.log.Info("no record yet; everything configured is due", "data", c.Data)
	case err != nil:
		return err
	default:
		defer store.Close()
		if history, err = a.history(store, now, c.Vantage); err != nil {
			return err
		}
		undone, err := a.undone(store)
		if err != nil {
			return err
		}
		demo = demo && undone
	}
	if list, err = a.discover(c.Data, list, now, true); err != nil {
		return err
	}
	plan := bench.Due(now, list, history, c.options(a, list))
	if c.JSON {
		soon := plan
		if c.Horizon > 0 {
			soon = bench.Due(now.Add(c.Horizon), list, history, c.options(a, list))
		}
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(struct {
			bench.Plan
			Shards []shard `json:"shards"` // for a matrix of jobs; empty if nothing is due
			Demo   bool    `json:"demo"`   // nothing is configured and nothing was ever measured
		}{plan, shardsOf(&soon, list, a.env), demo})
	}
	return printPlan(a.stdout, &plan)
}

func printPlan(w io.Writer, plan *bench.Plan) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "Due now: %d\n", len(plan.Due))
	for _, d := range plan.Due {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", d.Pair, d.Lane, d.Why)
	}
	fmt.Fprintf(table, "Not now: %d\n", len(plan.Skipped))
	for i, s := range plan.Skipped {
		name := s.Pair.String()
		if s.Model == "" || s.Code == bench.SkipNotConfigured {
			name = s.Provider // one line will do for all of its models
			if i > 0 && plan.Skipped[i-1].Provider == s.Provider && plan.Skipped[i-1].Code == s.Code {
				continue
			}
		}
		fmt.Fprintf(table, "  %s\t%s\t%s\n", name, s.Code, s.Why)
	}
	for _, lane := range plan.Lanes {
		fmt.Fprintf(table, "Lane %s\t%d pairs\tbusy %.0f %% of the time, %s due now\n", lane.Name, lane.Pairs, lane.Utilisation*100, lane.Due.Round(time.Second))
	}
	for _, b := range plan.Budgets {
		fmt.Fprintf(table, "Budget %s\t%d requests today\t$%.2f and %d tokens in 30 days\n", b.Provider, b.Requests, b.USD, b.Tokens)
	}
	if plan.Cost.USD != nil {
		fmt.Fprintf(table, "Cost\tabout $%.2f a month\tat list prices for %d pairs; %d have no known price\n", *plan.Cost.USD, plan.Cost.Priced, plan.Cost.Unpriced)
	}
	if !plan.Next.IsZero() {
		fmt.Fprintf(table, "Look again\t%s\t\n", plan.Next.UTC().Format("2006-01-02 15:04 UTC"))
	}
	for _, warning := range plan.Warnings {
		fmt.Fprintf(table, "Warning: %s\n", warning)
	}
	return table.Flush()
}
