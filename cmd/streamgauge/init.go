package main

import (
	"bufio"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/streamgauge/streamgauge/bench"
)

// initCmd writes a provider file.
type initCmd struct {
	Providers string   `default:"data/providers" placeholder:"DIR" type:"path" help:"Directory the file is written into."`
	Name      string   `placeholder:"NAME" help:"Name of the provider: lower case, digits, hyphens. From the address if not given."`
	URL       string   `name:"url" placeholder:"BASE" help:"Base URL, with the version: https://llm.example.com/v1."`
	Protocol  string   `aliases:"provider" default:"openai_chat" enum:"openai_chat,openai_responses,anthropic,gemini,ollama,openai-compatible" help:"Wire format, also as --provider: ${enum}; the last is another name for the first."`
	Model     []string `placeholder:"ID" help:"Model id on the wire; may be given more than once. Without, the models are those of the server's own list, at most ten."`
	Alias     []string `placeholder:"NAME" help:"Public name of each model, in the same order; needed for a private provider."`
	KeyEnv    string   `placeholder:"VARIABLE" help:"Environment variable that holds the key; empty if the server wants none."`
	Every     string   `default:"60m" help:"How often each model is measured."`
	Private   bool     `help:"Keep name, base URL and model ids out of everything published."`
	Public    string   `placeholder:"NAME" help:"Public name of a private provider."`
	Force     bool     `help:"Overwrite a file that exists."`
	reachFlags
}

// Help is printed under the usage line.
func (initCmd) Help() string {
	return `Asks for what the flags leave open, writes the file, reads it back as the job will, and measures the first model once if its key is set.

Examples:
  streamgauge init
  streamgauge init --url https://llm.example.com/v1 --model m1 --key-env BENCH_KEY_1
  streamgauge init --provider openai-compatible --url http://127.0.0.1:8000/v1
  streamgauge init --name house --url https://10.0.0.7/v1 --model id-7 --alias house-model --key-env HOUSE_KEY --private --public inhouse
  streamgauge init --url https://llm.corp.example/v1 --model m1 --ca-file certs/corp.pem --client-cert certs/client.pem --client-key env:LLM_CLIENT_KEY --proxy env:LLM_PROXY

Files are named as the provider file will: by their path from the folder of providers.`
}

// Run writes the file and tries it.
func (c *initCmd) Run(a *app) error {
	if err := c.ask(a); err != nil {
		return err
	}
	file := filepath.Join(c.Providers, c.Name+".yaml")
	if _, err := os.Stat(file); err == nil && !c.Force {
		return fmt.Errorf("%s exists; --force overwrites it", file)
	}
	text, err := c.file()
	if err != nil {
		return err
	}
	list, err := tryProviderWith(c.Name, text, c.Providers, c.files())
	if err != nil {
		return fmt.Errorf("what was said makes no good provider file; nothing is written: %w", err)
	}
	if err := os.MkdirAll(c.Providers, 0o755); err != nil {
		return fmt.Errorf("make the folder of providers: %w", err)
	}
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return fmt.Errorf("write the provider file: %w", err)
	}
	fmt.Fprintf(a.stdout, "Wrote %s\n", file)
	p := &list[0]
	if err := c.sayHandedOn(a); err != nil {
		return err
	}
	if missing := p.Missing(a.env); len(missing) > 0 {
		fmt.Fprintf(a.stdout, "Next: export %s=… with the key (on GitHub: add it as a secret), then 'streamgauge doctor', which names the rest.\n", strings.Join(missing, ", "))
		return nil
	}
	a.mask(p.Secrets(a.env))
	if p.Discover != nil {
		listing, err := bench.NewLister(nil).List(a.ctx, p, a.env, bench.Listing{})
		if err != nil {
			return fmt.Errorf("the file is written, but the server's list of models cannot be read; name them with --model: %w", err)
		}
		offered := p.Offering(listing.Models, nil)
		if len(offered.Models) == 0 {
			return errors.New("the file is written, but the server lists no model; name them with --model")
		}
		p = &offered
		var names []string
		for i := range p.Models {
			names = append(names, p.Models[i].Name)
		}
		fmt.Fprintf(a.stdout, "The server lists %d models that will be measured: %s\n", len(names), strings.Join(names, ", "))
	}
	run, err := p.Run(&p.Models[0], a.env, rand.Reader)
	if err != nil {
		return err
	}
	run.Env.Vantage = "here"
	fmt.Fprintf(a.stdout, "Measuring %s once…\n\n", run.Pair)
	var meter bench.Meter
	sample := meter.Measure(a.ctx, run, bench.Observer{})
	if err := a.ctx.Err(); err != nil {
		return err
	}
	if err := printProbe(a.stdout, &sample); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, "\nNext: 'streamgauge plan' says when it is measured, 'streamgauge run' measures what is due and builds the site.")
	return err
}

// sayHandedOn warns of a key that the workflows here do not hand on.
func (c *initCmd) sayHandedOn(a *app) error {
	handed, err := handedOn(".github/workflows")
	if err != nil || handed == nil || c.KeyEnv == "" || slices.Contains(handed, c.KeyEnv) {
		return err
	}
	_, err = fmt.Fprintf(a.stdout, "Note: %s.\n", notHandedOn(c.KeyEnv))
	return err
}

// ask fills in what the flags left open: from a terminal by questions, else as
// a usage error that names the flags.
func (c *initCmd) ask(a *app) error {
	var missing []string
	lines := bufio.NewReader(io.LimitReader(a.stdin, 64<<10))
	question := func(value *string, flag, text string) error {
		if *value != "" {
			return nil
		}
		if !isTerminal(a.stdin) {
			missing = append(missing, flag)
			return nil
		}
		fmt.Fprintf(a.stderr, "%s: ", text)
		answer, err := lines.ReadString('\n')
		if err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		if *value = strings.TrimSpace(answer); *value == "" && flag != "" {
			missing = append(missing, flag)
		}
		return nil
	}
	if err := question(&c.URL, "--url", "Base URL, e.g. https://llm.example.com/v1"); err != nil {
		return err
	}
	model := strings.Join(c.Model, ",")
	var err error
	switch {
	case c.Private:
		err = question(&model, "--model", "Model id")
	case isTerminal(a.stdin):
		err = question(&model, "", "Model id (none: those that the server lists)")
	}
	if err != nil {
		return err
	}
	if len(c.Model) == 0 && model != "" {
		c.Model = []string{model}
	}
	if len(missing) > 0 {
		return usageError{fmt.Errorf("init needs %s", strings.Join(missing, " and "))}
	}
	if c.Private && (len(c.Alias) != len(c.Model) || c.Public == "") {
		return usageError{errors.New("a private provider needs --public, and an --alias for each --model")}
	}
	if c.Name == "" {
		base, err := url.Parse(c.URL)
		if err != nil || base.Hostname() == "" {
			return usageError{fmt.Errorf("--url %q is no address", c.URL)}
		}
		c.Name = strings.Trim(notSlug.ReplaceAllString(strings.ToLower(base.Hostname()), "-"), "-")
	}
	if filepath.Base(c.Name) != c.Name { // it names a file, here and in a temporary folder
		return usageError{fmt.Errorf("--name %q must be a name, not a path", c.Name)}
	}
	return nil
}

var notSlug = regexp.MustCompile(`[^a-z0-9]+`)

// file returns the provider file.
func (c *initCmd) file() ([]byte, error) {
	if c.Protocol == "openai-compatible" {
		c.Protocol = "openai_chat"
	}
	doc := yaml.MapSlice{{Key: "base_url", Value: c.URL}, {Key: "protocol", Value: c.Protocol}}
	if c.KeyEnv != "" {
		doc = append(doc, yaml.MapItem{Key: "key_env", Value: c.KeyEnv})
	}
	doc = append(doc, c.fields()...)
	if c.Private {
		doc = append(doc, yaml.MapItem{Key: "visibility", Value: "private"}, yaml.MapItem{Key: "alias", Value: c.Public})
	}
	doc = append(doc, yaml.MapItem{Key: "every", Value: c.Every})
	if len(c.Model) == 0 {
		doc = append(doc, yaml.MapItem{Key: "discover", Value: yaml.MapSlice{{Key: "include", Value: []string{"*"}}, {Key: "limit", Value: maxInitModels}}})
	} else {
		doc = append(doc, yaml.MapItem{Key: "models", Value: c.models()})
	}
	text, err := yaml.Marshal(doc)
	if err != nil {
		return nil, fmt.Errorf("write the provider file: %w", err)
	}
	return text, nil
}

// maxInitModels is how many models of a server's own list a new file measures:
// enough for most gateways, and no surprise on the bill.
const maxInitModels = 10

// models returns the models of the file.
func (c *initCmd) models() []yaml.MapSlice {
	models := make([]yaml.MapSlice, len(c.Model))
	for i, id := range c.Model {
		models[i] = yaml.MapSlice{{Key: "id", Value: id}}
		if i < len(c.Alias) {
			models[i] = append(models[i], yaml.MapItem{Key: "name", Value: c.Alias[i]})
		}
	}
	return models
}

// tryProvider reads a provider file as the job will.
func tryProvider(name string, text []byte) ([]bench.Provider, error) {
	return tryProviderWith(name, text, "", nil)
}

// tryProviderWith is tryProvider for one that names files of a folder.
func tryProviderWith(name string, text []byte, folder string, files []string) ([]bench.Provider, error) {
	dir, err := os.MkdirTemp("", "streamgauge-init-")
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, name+".yaml"), text, 0o600); err != nil {
		return nil, fmt.Errorf("try the provider file: %w", err)
	}
	for _, file := range files {
		if !filepath.IsLocal(file) {
			continue // refused by name below
		}
		content, err := os.ReadFile(filepath.Join(folder, file))
		if err == nil {
			err = os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700)
		}
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), content, 0o600)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("try the provider file: %w", err)
		}
	}
	return bench.LoadProviders(os.DirFS(dir))
}
