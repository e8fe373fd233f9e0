package bench

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// A Provider is one provider file: an endpoint, how it wants to be spoken to,
// how often, and the models measured there. [LoadProviders] reads them.
//
// It holds no secret. Strings marked "may hold ${VAR}" name environment
// variables; they are filled in by [Provider.Target], for one request, and a
// provider with an unset variable is not configured: it is skipped, which is
// neither a sample nor an incident.
type Provider struct {
	Name    string // lower case, digits, hyphens; the file's stem unless said
	Alias   string // public name of a private provider, else ""
	Title   string // for people, e.g. "OpenCode Zen"
	URL     string // homepage
	Private bool   // base URL, name and model ids stay out of everything published
	Demo    bool   // simulated: every page made from it says so

	BaseURL string // may hold ${VAR}; no trailing slash
	KeyEnv  string // variable that holds the key; "" if none is needed
	Dialect        // of all its models, unless a wires rule or the model says otherwise

	Headers map[string]string // extra; values may hold ${VAR} and {session}
	Query   map[string]string // extra; values may hold ${VAR} and {session}
	Nonce   bool              // put a random word first in the prompt
	// BufferProbe adds one short request a day to each model measured every six
	// hours or more often; see [BufferProbeTokens]. A file that does not say has it.
	BufferProbe bool
	Limits      Limits // of a run; zero is the published one
	Reach       Reach  // authorities, client certificate, proxy

	Every        Cadence
	EveryByPrice []PriceCadence // most expensive first
	Breaker      Breaker
	OwnLane      bool // runs beside other providers' requests, still one at a time itself
	Budget       Budget
	Vantages     []string // measured from these alone, as one that only a runner inside can reach; empty is any

	Catalog  string    // provider id in models.dev's api.json, for prices and wires
	Discover *Discover // nil: only the models listed
	Wires    []WireRule
	Models   []Model
}

// A Model is one model of a provider.
type Model struct {
	ID    string // on the wire; may hold ${VAR}
	Name  string // in public; the id unless said
	Title string
	Every Cadence // zero: by price, else the provider's
	Dialect

	OpenWeights *bool  // nil: unknown
	SizeClass   string // small, medium, large; "": unknown
	Price       *Price // nil: unknown
	Unsaid      bool   // the price serves the schedule and the budget, and is published nowhere
	Discovered  bool   // found in the provider's list, not in its file

	// CatalogProtocol is the wire format by models.dev. It counts if neither
	// the model nor a wires rule names one.
	CatalogProtocol string
}

// A Dialect is how an endpoint wants to be spoken to. What it leaves empty is
// decided by the next wider scope: model, wires rule, provider, protocol.
type Dialect struct {
	Protocol        string // a name [wire.ByName] knows
	Path            string // overrides the protocol's path; {model} is replaced
	Auth            wire.Auth
	CapField        string // name of the output cap field
	StreamOptions   *bool  // false leaves stream_options out
	ReasoningEffort string
	Body            map[string]any // extra top-level fields of the request body
}

// over returns the dialect with what it leaves empty taken from wider.
func (d Dialect) over(wider Dialect) Dialect {
	if d.Protocol == "" {
		d.Protocol = wider.Protocol
	} else if d.Protocol != wider.Protocol {
		// What was said for another protocol does not fit this one.
		wider = Dialect{}
	}
	if d.Path == "" {
		d.Path = wider.Path
	}
	if d.Auth == "" {
		d.Auth = wider.Auth
	}
	if d.CapField == "" {
		d.CapField = wider.CapField
	}
	if d.StreamOptions == nil {
		d.StreamOptions = wider.StreamOptions
	}
	if d.ReasoningEffort == "" {
		d.ReasoningEffort = wider.ReasoningEffort
	}
	if len(wider.Body) > 0 {
		body := maps.Clone(wider.Body)
		maps.Copy(body, d.Body)
		d.Body = body
	}
	return d
}

// A WireRule gives a dialect to the models whose id matches a glob. The first
// rule that matches counts.
type WireRule struct {
	Match string // * is any run of characters, also empty, also with slashes
	Dialect
}

// A Price is what a million tokens cost, in USD, by the public list.
type Price struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// A PriceCadence applies to models whose output price is at least AtLeast.
type PriceCadence struct {
	AtLeast float64 // USD per million output tokens
	Every   Cadence
}

// A Budget bounds what a provider may cost. A bound of 0 is none.
type Budget struct {
	RequestsPerDay int     // in any 24 hours
	USDPerMonth    float64 // in any 30 days
	TokensPerMonth int64   // input and output, in any 30 days
}

// A Breaker is how a pair is probed after [BreakerFailures] failures in a row.
type Breaker string

// The breakers.
const (
	// BreakerPublished probes every 30 minutes, the published method. It
	// probes an hourly pair more often while it is down than while it is up,
	// which pulls its ok/total down, and a ten-minute pair less often.
	BreakerPublished Breaker = ""
	// BreakerAtCadence probes every 30 minutes or at the cadence, whichever is
	// the longer.
	BreakerAtCadence Breaker = "at_cadence"
)

// A Discover says where a provider lists its models and which of them to take.
type Discover struct {
	URL     string // may hold ${VAR}; "": the format's usual place under the base URL
	Format  ListFormat
	Include []string // globs on the id
	Exclude []string
	Limit   int // at most so many models are taken
}

// Matches reports whether the include and exclude globs let an id through.
func (d *Discover) Matches(id string) bool {
	match := func(glob string) bool { return globMatch(glob, id) }
	return slices.ContainsFunc(d.Include, match) && !slices.ContainsFunc(d.Exclude, match)
}

// A Lookup returns the value of an environment variable, as os.LookupEnv does.
type Lookup func(name string) (value string, ok bool)

// PublicName is the name everything published knows the provider by.
func (p *Provider) PublicName() string {
	if p.Private {
		return p.Alias
	}
	return p.Name
}

// Pair returns the public pair of the provider and one of its models.
func (p *Provider) Pair(m *Model) Pair { return Pair{Provider: p.PublicName(), Model: m.Name} }

// Missing returns the names of the environment variables that the provider
// needs and that are unset or empty: an unset secret of a hosted job is an
// empty string there, not an absent one. Variables that only one model needs
// are [Provider.MissingFor]'s.
func (p *Provider) Missing(env Lookup) []string { return missing(p.variables(), env) }

// MissingFor is Missing for one model and the provider together.
func (p *Provider) MissingFor(m *Model, env Lookup) []string {
	return missing(append(p.variables(), variables(m.ID)...), env)
}

// Configured reports whether every variable the provider needs is set.
func (p *Provider) Configured(env Lookup) bool { return len(p.Missing(env)) == 0 }

func missing(names []string, env Lookup) []string {
	var unset []string
	for _, name := range names {
		if v, _ := env(name); strings.TrimSpace(v) == "" && !slices.Contains(unset, name) {
			unset = append(unset, name)
		}
	}
	return unset
}

// variables returns the names of all variables the provider refers to, the key
// first.
func (p *Provider) variables() []string {
	var names []string
	if p.KeyEnv != "" {
		names = append(names, p.KeyEnv)
	}
	names = append(names, variables(p.BaseURL)...)
	for _, m := range []map[string]string{p.Headers, p.Query} {
		for _, k := range slices.Sorted(maps.Keys(m)) {
			names = append(names, variables(m[k])...)
		}
	}
	return append(names, p.Reach.variables()...)
}

// DialectOf returns how a model is spoken to: its own dialect over the first
// wires rule that matches over the catalogue's over the provider's.
func (p *Provider) DialectOf(m *Model) Dialect {
	wider := Dialect{Protocol: m.CatalogProtocol}.over(p.Dialect)
	for _, rule := range p.Wires {
		if globMatch(rule.Match, m.ID) {
			wider = rule.Dialect.over(wider)
			break
		}
	}
	return m.Dialect.over(wider)
}

// CadenceOf returns how often a model is measured: as it says itself, else by
// its price, else as the provider says.
func (p *Provider) CadenceOf(m *Model) Cadence {
	if !m.Every.IsZero() {
		return m.Every
	}
	if m.Price != nil {
		for _, c := range p.EveryByPrice {
			if m.Price.Output >= c.AtLeast {
				return c.Every
			}
		}
	}
	if p.Every.IsZero() {
		return Every(DefaultCadence)
	}
	return p.Every
}

// Target returns how one request to a model is sent. The session replaces
// {session} in headers and query; it is fresh for each run.
//
// The Target holds the key. Errors name variables and files, never values.
func (p *Provider) Target(m *Model, env Lookup, session string) (wire.Protocol, wire.Target, error) {
	if unset := p.MissingFor(m, env); len(unset) > 0 {
		return nil, wire.Target{}, &NotConfiguredError{Provider: p.PublicName(), Variables: unset}
	}
	d := p.DialectOf(m)
	protocol, ok := wire.ByName(d.Protocol)
	if !ok {
		return nil, wire.Target{}, fmt.Errorf("%s: unknown protocol %q", p.Pair(m), d.Protocol)
	}
	x := expander{env: env, session: session}
	t := wire.Target{
		BaseURL:         x.baseURL(p.BaseURL),
		Path:            d.Path,
		Model:           x.expand(m.ID),
		Auth:            d.Auth,
		CapField:        d.CapField,
		NoStreamOptions: d.StreamOptions != nil && !*d.StreamOptions,
		ReasoningEffort: d.ReasoningEffort,
		Headers:         x.expandMap(p.Headers),
		Query:           x.expandMap(p.Query),
		Body:            d.Body,
	}
	if p.KeyEnv != "" {
		t.Key = x.expand("${" + p.KeyEnv + "}")
	} else {
		t.Auth = wire.AuthNone
	}
	if x.err == nil {
		x.err = checkBaseURL(t.BaseURL, t.Key != "")
	}
	if x.err != nil {
		return nil, wire.Target{}, fmt.Errorf("prepare a request to %s: %w", p.Pair(m), x.err)
	}
	return protocol, t, nil
}

// Run returns what a [Meter] measures: one request to a model, with a session
// and, if the provider wants one, a nonce drawn from random (crypto/rand.Reader;
// tests pass their own). Vantage, region, lanes and slot are the caller's to add.
func (p *Provider) Run(m *Model, env Lookup, random io.Reader) (Run, error) {
	session, err := newWord(random)
	if err != nil {
		return Run{}, err
	}
	var nonce string
	if p.Nonce {
		if nonce, err = newWord(random); err != nil {
			return Run{}, err
		}
	}
	protocol, target, err := p.Target(m, env, session)
	if err != nil {
		return Run{}, err
	}
	route, err := p.Reach.Route(env)
	if err != nil {
		return Run{}, fmt.Errorf("find the way to %s: %w", p.Pair(m), err)
	}
	return Run{
		Pair:     p.Pair(m),
		Protocol: protocol,
		Target:   target,
		Prompt:   Prompt(nonce),
		Env:      Env{Nonce: p.Nonce},
		Limits:   p.Limits,
		Route:    route,
	}, nil
}

// A NotConfiguredError tells which environment variables a provider lacks.
type NotConfiguredError struct {
	Provider  string
	Variables []string
}

// Error names the variables, as in "not configured: OPENAI_API_KEY is not set".
func (e *NotConfiguredError) Error() string { return notConfigured(e.Variables) }

func notConfigured(names []string) string {
	verb := " is not set"
	if len(names) > 1 {
		verb = " are not set"
	}
	return "not configured: " + strings.Join(names, ", ") + verb
}
