package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/content"
	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/data/providers"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site"
	"github.com/streamgauge/streamgauge/templates"
)

// siteFlags say what site is built, and where.
type siteFlags struct {
	Site      string `default:"public" type:"path" help:"Directory the site is built into."`
	Config    string `default:"streamgauge.yaml" type:"path" help:"What the site says of itself; may be missing."`
	Templates string `placeholder:"DIR" type:"path" help:"Use these templates instead of the ones built in."`
	Content   string `placeholder:"DIR" type:"path" help:"Use this prose instead of the one built in."`
	Revision  string `placeholder:"COMMIT" help:"Commit of the record, for the pages to name."`
}

// buildCmd builds the site from the dataset.
type buildCmd struct {
	recordFlags
	siteFlags
}

// Help is printed under the usage line.
func (buildCmd) Help() string {
	return "Example: streamgauge build --data record --site public --content my-content"
}

// Run builds.
func (c *buildCmd) Run(a *app) error {
	list, err := c.load(a)
	if err != nil {
		return err
	}
	store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	return a.buildSite(store, list, &c.siteFlags)
}

// siteConfig is the configuration file of a site.
type siteConfig struct {
	Name        string `yaml:"name"`
	BaseURL     string `yaml:"base_url"`
	Repository  string `yaml:"repository"`
	Owner       string `yaml:"owner"`
	Funding     string `yaml:"funding"`
	Sponsorship string `yaml:"sponsorship"`
	DataLicence string `yaml:"data_licence"`
	RankBy      string `yaml:"rank_by"`
	NoIndex     bool   `yaml:"noindex"`

	Look      lookConfig     `yaml:",inline"`
	Incidents incidentConfig `yaml:"incidents"`
}

// projectURL is where the program's source is, unless a fork says otherwise.
const projectURL = "https://github.com/streamgauge/streamgauge"

// readConfig reads a configuration file; a missing one is empty.
func readConfig(file string) (c siteConfig, err error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, fmt.Errorf("read the site's configuration: %w", err)
	}
	if err := yaml.UnmarshalWithOptions(text, &c, yaml.Strict()); err != nil {
		return c, fmt.Errorf("%s: %s", filepath.Base(file), configProblem(err))
	}
	return c, nil
}

// configProblem says what is wrong with a configuration. The lines around the
// place are shown unless they may hold a secret, such as the webhook's: it was
// meant for a variable.
func configProblem(err error) string {
	text := err.Error()
	lower := strings.ToLower(text)
	named := func(word string) bool { return strings.Contains(lower, word) }
	if slices.ContainsFunc([]string{"secret", "token", "password", "key", "webhook"}, named) || bench.KeyShape([]byte(text)) != "" {
		return yaml.FormatError(err, false, false)
	}
	return text
}

// loadConfig reads the site's configuration; a missing file is the default.
func loadConfig(file string) (site.Config, error) {
	c, err := readConfig(file)
	if err != nil {
		return site.Config{}, err
	}
	config := site.Config{
		Name: c.Name, BaseURL: c.BaseURL, Repository: cmp.Or(c.Repository, projectURL), Owner: c.Owner, Funding: c.Funding, Sponsorship: c.Sponsorship,
		DataLicence: c.DataLicence, RankBy: rollup.Metric(c.RankBy), NoIndex: c.NoIndex,
	}
	err = c.Look.into(&config, filepath.Dir(file))
	return config, err
}

// folderOr returns a folder as a file system, or what is built in.
func folderOr(dir string, builtIn fs.FS) fs.FS {
	if dir == "" {
		return builtIn
	}
	return os.DirFS(dir)
}

// buildSite assembles the download, gathers what the site needs and builds it.
// Of an empty record it builds a demo.
func (a *app) buildSite(store *data.Store, list []bench.Provider, f *siteFlags) error {
	if undone, err := a.undone(store); err != nil {
		return err
	} else if undone {
		return a.buildUndone(f)
	}
	now := time.Now().UTC().Truncate(time.Second)
	config, err := loadConfig(f.Config)
	if err != nil {
		return err
	}
	downloads, err := os.MkdirTemp("", "streamgauge-download-")
	if err != nil {
		return fmt.Errorf("make room for the download: %w", err)
	}
	defer os.RemoveAll(downloads)
	inputs := site.Inputs{
		Config: config, Generated: now, Revision: f.Revision,
		Templates: folderOr(f.Templates, templates.Files()),
		Content:   folderOr(f.Content, content.FS),
		Providers: publish(list), RawRetention: data.RawRetention, Check: a.refuse,
	}
	if inputs.Dataset, err = download(a.ctx, store, downloads, now, config.DataLicence); err != nil {
		return err
	}
	inputs.Databases, inputs.Schema = databases(), described()
	if inputs.Queries, err = answers(a.ctx, filepath.Join(downloads, liteFile)); err != nil {
		return err
	}
	if err := gather(a.ctx, store, list, now, &inputs); err != nil {
		return err
	}
	_, policy, err := loadIncidents(f.Config)
	if err != nil {
		return err
	}
	inputs.Incidents = rollup.FindIncidents(inputs.Histories, inputs.Events, policy, now)
	bar := a.progress("building the site", 0)
	defer bar.close()
	report, err := a.render(f.Site, inputs, bar.at)
	if err != nil {
		return fmt.Errorf("build the site: %w", err)
	}
	a.log.Info("built the site", "at", f.Site, "pages", report.Pages, "files", report.Files, "changed", report.Changed, "bytes", report.Bytes)
	return nil
}

// buildGCPercent is how far the heap may grow over what lives in it while a site
// is built, in percent. Twice the usual: what a build allocates is short-lived,
// and what lives, the record, is looked through again each time.
const buildGCPercent = 200

// render builds a site of what was gathered.
func (a *app) render(dir string, inputs site.Inputs, progress func(done, total int)) (site.Report, error) {
	defer debug.SetGCPercent(debug.SetGCPercent(buildGCPercent))
	return site.Build(a.ctx, dir, inputs, progress)
}

// gather reads from the record what the site is made of.
func gather(ctx context.Context, store *data.Store, list []bench.Provider, now time.Time, in *site.Inputs) error {
	var err error
	if in.Histories, err = histories(ctx, store, list, now); err != nil {
		return err
	}
	in.Simulated = slices.ContainsFunc(in.Histories, func(h rollup.History) bool { return h.Series.Vantage == bench.VantageSimulated })
	if in.Events, err = store.Events(); err != nil {
		return err
	}
	if in.PTU, err = readPTU(providers.PTU); err != nil {
		return fmt.Errorf("read the table of provisioned throughput: %w", err)
	}
	if in.Calibration, err = keptCalibration(store.Dir()); err != nil {
		return err
	}
	in.Traces = map[bench.Series]bench.Sample{}
	for sample, err := range store.Traces() {
		if err != nil {
			return fmt.Errorf("read traces: %w", err)
		}
		in.Traces[sample.Series()] = sample
	}
	return nil
}

// publish returns what may be said of the providers.
func publish(list []bench.Provider) []site.Provider {
	var out []site.Provider
	for i := range list {
		p := &list[i]
		entry := site.Provider{Name: p.PublicName(), Title: p.Title, Private: p.Private}
		if !p.Private {
			entry.Homepage = p.URL
		}
		for j := range p.Models {
			m := &p.Models[j]
			model := site.Model{Name: m.Name, Title: m.Title, SizeClass: m.SizeClass, Every: p.CadenceOf(m).Interval(), Cadence: p.CadenceOf(m)}
			model.OpenWeights = m.OpenWeights != nil && *m.OpenWeights
			if m.Price != nil && !m.Unsaid {
				model.PriceIn, model.PriceOut = &m.Price.Input, &m.Price.Output
			}
			if !p.Private {
				model.Repeat = repeatCommand(p, m)
			}
			entry.Models = append(entry.Models, model)
		}
		out = append(out, entry)
	}
	return out
}

// repeatCommand returns the command that measures a public pair once.
func repeatCommand(p *bench.Provider, m *bench.Model) string {
	// The address is ours and may name a variable, which the shell fills in.
	text := fmt.Sprintf("streamgauge probe --url \"%s\" --protocol %s --model %s", p.BaseURL, p.DialectOf(m).Protocol, shellQuote(m.ID))
	if p.KeyEnv != "" {
		text += " --key-env " + p.KeyEnv
	}
	return text
}

// shellQuote returns s as one word of a POSIX shell, whatever it holds: a model
// id comes from a provider, and readers copy the command.
func shellQuote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:@%+=,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
