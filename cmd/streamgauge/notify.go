package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/rollup"
)

// Variables that say where a webhook is, and what signs its messages.
const (
	webhookURLEnv    = "BENCH_WEBHOOK_URL"
	webhookSecretEnv = "BENCH_WEBHOOK_SECRET"
)

// notifyCmd tells of incidents.
type notifyCmd struct {
	recordFlags
	Config  string `default:"streamgauge.yaml" type:"path" help:"The configuration, whose part 'incidents' says what one is and who is told; may be missing."`
	GitHub  bool   `name:"github" help:"Open, update and close issues in the repository that the configuration names, if it is the job's own."`
	Webhook bool   `help:"Send signed messages to the address in BENCH_WEBHOOK_URL."`
	DryRun  bool   `help:"Only say what would be done. Issues are read, nothing is written or sent."`
	State   string `type:"path" placeholder:"FILE" help:"What the webhook was told already; DATA.delivered.ndjson if not given, beside the record."`
	Login   string `default:"github-actions[bot]" help:"Whose issues are ours: the login that the token acts as."`
	JSON    bool   `name:"json" help:"Print the incidents as JSON."`
	Schema  bool   `help:"Print the JSON Schema of a webhook's messages, and do nothing else."`
	All     bool   `help:"Print all incidents that the record holds, not only open ones and those of the last week."`
}

// Help is printed under the usage line.
func (notifyCmd) Help() string {
	return `Finds the incidents in the record - down, degraded, lastingly slower - and brings issues and a webhook up to
date with them. It may be run at any time and as often as you like: what was told once is not told again. Nobody is
told anything unless the configuration (issues) or the environment (webhook) says so.

The token for issues is GITHUB_TOKEN, the repository GITHUB_REPOSITORY, the API GITHUB_API_URL. Messages are signed
with BENCH_WEBHOOK_SECRET, as Standard Webhooks describes.

Examples:
  streamgauge notify --data record                     what is wrong now?
  streamgauge notify --data record --github --dry-run  what would be done to the issues?
  streamgauge notify --data record --webhook
  streamgauge notify --schema`
}

// Run notifies.
func (c *notifyCmd) Run(a *app) error {
	if c.Schema {
		_, err := a.stdout.Write(payloadSchema)
		return err
	}
	list, err := c.load(a)
	if err != nil {
		return err
	}
	guard := bench.NewRedactor(bench.GuardedOf(list, a.env)...)
	secrets := bench.SecretsOf(list, a.env)
	for _, name := range []string{"GITHUB_TOKEN", webhookURLEnv, webhookSecretEnv} {
		if v, _ := a.env(name); v != "" {
			secrets = append(secrets, v, strings.TrimPrefix(v, secretPrefix))
		}
	}
	a.mask(secrets)
	config, policy, err := loadIncidents(c.Config)
	if err != nil {
		return err
	}
	siteConfig, err := loadConfig(c.Config)
	if err != nil {
		return err
	}
	for _, n := range strangers(policy.Maintenance, list) {
		a.log.Warn("a maintenance window names no pair that is configured", "window", n)
	}
	siteURL := siteConfig.BaseURL
	if siteURL != "" {
		siteURL = strings.TrimSuffix(siteURL, "/") + "/"
	}
	now := time.Now().UTC()
	found, err := a.incidents(c.Data, list, policy, now)
	if err != nil {
		return err
	}
	if err := c.print(a, found, now); err != nil {
		return err
	}
	var failures []error
	if c.GitHub {
		failures = append(failures, c.github(a, guard, &config, &policy, list, found, siteURL))
	}
	if c.Webhook {
		failures = append(failures, c.webhook(a, guard, found, siteURL, now))
	}
	return errors.Join(failures...)
}

// incidents finds the incidents that a record holds.
func (a *app) incidents(dir string, list []bench.Provider, policy rollup.Policy, now time.Time) ([]rollup.Incident, error) {
	store, err := data.Open(a.ctx, dir, data.Options{ReadOnly: true})
	if err != nil {
		return nil, err
	}
	defer store.Close()
	all, err := histories(a.ctx, store, list, now)
	if err != nil {
		return nil, err
	}
	events, err := store.Events()
	if err != nil {
		return nil, err
	}
	return rollup.FindIncidents(all, events, policy, now), nil
}

// recently is how long an incident that is over is printed.
const recently = 7 * 24 * time.Hour

// print prints open incidents and those of the last days.
func (c *notifyCmd) print(a *app, found []rollup.Incident, now time.Time) error {
	shown := slices.Clone(found)
	if !c.All {
		shown = slices.DeleteFunc(shown, func(i rollup.Incident) bool { return !i.Open() && now.Sub(i.Closed) > recently })
	}
	if c.JSON {
		if shown == nil {
			shown = []rollup.Incident{}
		}
		out := json.NewEncoder(a.stdout)
		out.SetIndent("", "  ")
		return out.Encode(shown)
	}
	if len(shown) == 0 {
		fmt.Fprintln(a.stdout, "No incident is open, and none was in the last week.")
		return nil
	}
	table := tabwriter.NewWriter(a.stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "STATE\tBEGAN\tWHAT\tRUNS FAILED\tNOTE")
	for k := range shown {
		i := &shown[k]
		note := ""
		switch {
		case !i.Alarm():
			note = "in maintenance (" + i.Maintenance + "): nobody is told"
		case len(i.Parts) > 0:
			note = fmt.Sprintf("%d series", len(i.Parts))
		}
		runs := "-"
		if i.Tally.Runs > 0 {
			runs = fmt.Sprintf("%d of %d", i.Tally.Failed, i.Tally.Runs)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", stateOf(i), i.Began.Format("2006-01-02 15:04"), headline(i), runs, note)
	}
	return table.Flush()
}

// github brings issues up to date.
func (c *notifyCmd) github(a *app, guard *bench.Redactor, config *incidentConfig, policy *rollup.Policy, list []bench.Provider, found []rollup.Incident, siteURL string) error {
	value := func(name string) string { v, _ := a.env(name); return v }
	repo, token := value("GITHUB_REPOSITORY"), value("GITHUB_TOKEN")
	switch {
	case config.GitHub == "":
		fmt.Fprintln(a.stdout, "Issues are off: incidents.github in the configuration names no repository.")
		return nil
	case !strings.EqualFold(repo, config.GitHub):
		fmt.Fprintln(a.stdout, "Issues are off: incidents.github in the configuration names another repository than this one.")
		return nil
	case token == "":
		return fmt.Errorf("issues: GITHUB_TOKEN is not set; in a workflow: env: GITHUB_TOKEN: ${{ github.token }}")
	}
	api := cmp.Or(value("GITHUB_API_URL"), "https://api.github.com")
	if err := checkAddress(api); err != nil {
		return fmt.Errorf("issues: GITHUB_API_URL: %w", err)
	}
	t := newTracker(api, repo, token, c.Login)
	t.guard = guard
	public, err := t.public(a.ctx)
	if err != nil {
		return fmt.Errorf("issues: %w", err)
	}
	found = slices.DeleteFunc(slices.Clone(found), func(i rollup.Incident) bool {
		return simulated(&i) || public && !config.PrivateInPublic && !openly(list, i.Provider)
	})
	write := func(i *rollup.Incident) draft { return newDraft(i, policy, siteURL) }
	deeds := 0
	err = t.sync(a.ctx, found, write, c.DryRun, func(d deed) {
		deeds++
		fmt.Fprintln(a.stdout, c.would()+d.String())
	})
	switch {
	case errors.Is(err, errLater):
		a.log.Warn("issues", "error", err)
	case err != nil:
		return fmt.Errorf("issues: %w", err)
	case deeds == 0:
		fmt.Fprintln(a.stdout, "Issues: nothing to do.")
	}
	return nil
}

// openly reports whether a provider is known to be no private one.
func openly(list []bench.Provider, name string) bool {
	return slices.ContainsFunc(list, func(p bench.Provider) bool { return p.PublicName() == name && !p.Private })
}

// would is put before what is not done in a dry run.
func (c *notifyCmd) would() string {
	if c.DryRun {
		return "would "
	}
	return ""
}

// webhook sends what was not sent yet.
func (c *notifyCmd) webhook(a *app, guard *bench.Redactor, found []rollup.Incident, siteURL string, now time.Time) error {
	value := func(name string) string { v, _ := a.env(name); return v }
	address, secret := value(webhookURLEnv), value(webhookSecretEnv)
	if address == "" && secret == "" {
		fmt.Fprintf(a.stdout, "The webhook is off: %s and %s are not set.\n", webhookURLEnv, webhookSecretEnv)
		return nil
	}
	hook, err := newWebhook(address, secret)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	hook.guard = guard
	state := cmp.Or(c.State, c.Data+".delivered.ndjson") // beside the record, as a working copy is cleared now and then
	if c.DryRun {
		past, err := readDelivered(state)
		if err != nil {
			return fmt.Errorf("webhook: %w", err)
		}
		for _, m := range dueMessages(now, found, past, siteURL) {
			fmt.Fprintf(a.stdout, "would send %s %s: %s\n", m.id, m.payload.Type, m.payload.Data.Headline)
		}
		return nil
	}
	lock, err := data.AcquireLock(state + ".lock")
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	defer lock.Release()
	past, err := readDelivered(state)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	due := dueMessages(now, found, past, siteURL)
	if len(due) == 0 {
		fmt.Fprintln(a.stdout, "Webhook: nothing to send.")
		return nil
	}
	notes, err := openLedger(state)
	if err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	err = hook.deliver(a.ctx, due, notes.add, func(m message) {
		fmt.Fprintf(a.stdout, "sent %s %s: %s\n", m.id, m.payload.Type, m.payload.Data.Headline)
	})
	if err := errors.Join(err, notes.file.Close()); err != nil {
		return fmt.Errorf("webhook: %w", err)
	}
	return nil
}
