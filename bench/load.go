package bench

import (
	"cmp"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml/ast"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// Bounds of what a provider file may ask for.
const (
	maxProviderFiles = 200
	maxModels        = 500
	defaultDiscover  = 40 // models taken from a list unless the file says otherwise
)

// LoadProviders reads every *.yaml file at the root of fsys, in the order of
// their names, strictly: an unknown field, a wrong type, a bad URL, glob, name
// or cadence is an error with file, line, column and a caret. All problems of
// all files are reported together, as [FileErrors]; the providers returned
// beside them are those whose files had none.
func LoadProviders(fsys fs.FS) ([]Provider, error) {
	names, err := fs.Glob(fsys, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("list provider files: %w", err)
	}
	if len(names) > maxProviderFiles {
		return nil, fmt.Errorf("list provider files: %d of them, at most %d are read", len(names), maxProviderFiles)
	}
	var (
		loaded []*providerFile
		errs   FileErrors
	)
	for _, name := range names {
		text, err := fs.ReadFile(fsys, name)
		if err != nil {
			return nil, fmt.Errorf("read provider file: %w", err)
		}
		loaded = append(loaded, readProvider(fsys, name, text))
	}
	checkTogether(loaded)
	var providers []Provider
	for _, l := range loaded {
		if len(l.errs) == 0 {
			providers = append(providers, l.p)
		}
		slices.SortStableFunc(l.errs, func(a, b *FileError) int {
			return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
		})
		errs = append(errs, l.errs...)
	}
	if len(errs) > 0 {
		return providers, errs
	}
	return providers, nil
}

// A providerFile is a file while it is read: the provider, the problems, and
// where the values stand that are checked against others later.
type providerFile struct {
	*yamlFile
	fsys fs.FS
	p    Provider

	root                                  ast.Node
	nameAt, aliasAt, keyAt, baseAt, disAt ast.Node
	modelsAt                              ast.Node
	caAt, certAt, clientKeyAt, proxyAt    ast.Node
	modelAt                               []ast.Node // of each model
	refs                                  []reference
}

// A reference is a place that may hold ${VAR}.
type reference struct {
	at   ast.Node
	text string
}

func readProvider(fsys fs.FS, name string, text []byte) *providerFile {
	file, root := openYAML(name, text)
	l := &providerFile{yamlFile: file, fsys: fsys, root: root}
	if root == nil {
		return l
	}
	l.p.Name = strings.TrimSuffix(path.Base(name), ".yaml")
	if l.read() {
		l.check()
	}
	return l
}

// read reads the fields one by one. It reports whether there are any.
func (l *providerFile) read() bool {
	p := &l.p
	p.BufferProbe = true
	var breaker string
	known := fields{
		"name":           l.at(&l.nameAt, l.setText(&p.Name, "name", checkProviderName)),
		"alias":          l.at(&l.aliasAt, l.setText(&p.Alias, "alias", checkProviderName)),
		"title":          l.setText(&p.Title, "title"),
		"url":            l.setText(&p.URL, "url", checkLink),
		"visibility":     l.readVisibility,
		"demo":           l.setBool(&p.Demo, "demo"),
		"base_url":       l.at(&l.baseAt, l.ref(&p.BaseURL, "base_url")),
		"key_env":        l.at(&l.keyAt, l.setText(&p.KeyEnv, "key_env", checkKeyEnv)),
		"headers":        l.readHeaders,
		"query":          l.readQuery,
		"nonce":          l.setBool(&p.Nonce, "nonce"),
		"buffer_probe":   l.setBool(&p.BufferProbe, "buffer_probe"),
		"timeouts":       l.readTimeouts,
		"every":          l.setCadence(&p.Every, "every"),
		"every_by_price": l.readPriceCadences,
		"breaker":        l.setText(&breaker, "breaker", oneOf("published", string(BreakerAtCadence))),
		"lanes":          l.readLanes,
		"vantages":       l.readVantages,
		"budget":         l.readBudget,
		"catalog":        l.setText(&p.Catalog, "catalog", checkSlug),
		"discover":       l.at(&l.disAt, l.readDiscover),
		"wires": func(n ast.Node) {
			l.list(n, "wires", l.readWire)
		},
		"models": l.at(&l.modelsAt, func(n ast.Node) {
			l.list(n, "models", l.readModel)
		}),
	}
	l.dialect(known, &p.Dialect)
	l.reach(known, &p.Reach)
	ok := l.object(l.root, "a provider", known, "base_url", "protocol")
	if breaker == string(BreakerAtCadence) {
		p.Breaker = BreakerAtCadence
	}
	return ok
}

// dialect adds the fields of a dialect to a table.
func (l *providerFile) dialect(known fields, d *Dialect) {
	known["protocol"] = l.setText(&d.Protocol, "protocol", oneOf(wire.Names()...))
	known["path"] = l.setText(&d.Path, "path", checkPath)
	known["auth"] = l.setText((*string)(&d.Auth), "auth", oneOf(
		string(wire.AuthBearer), string(wire.AuthAPIKey), string(wire.AuthXAPIKey), string(wire.AuthGoogle), string(wire.AuthNone)))
	known["cap_field"] = l.setText(&d.CapField, "cap_field", checkIdentifier)
	known["stream_options"] = l.setBoolPtr(&d.StreamOptions, "stream_options")
	known["reasoning_effort"] = l.setText(&d.ReasoningEffort, "reasoning_effort",
		oneOf("none", "minimal", "low", "medium", "high", "xhigh", "max", "on", "off", "dynamic"))
	known["body"] = func(n ast.Node) {
		d.Body = map[string]any{}
		l.each(n, "body", func(key string, k, v ast.Node) {
			value := l.value(v, "body."+key)
			if slices.Contains(ownBodyFields(), key) || setsCap(key, value) {
				l.errorf(k, "body must not set %q: it is part of the method", key)
				return
			}
			d.Body[key] = value
		})
	}
}

// ownBodyFields are the request fields that the method fixes.
func ownBodyFields() []string {
	return []string{"model", "messages", "input", "contents", "prompt", "system", "stream", "n", "tools"}
}

// setsCap reports whether a field is an output cap, or holds one somewhere:
// Ollama and Gemini keep theirs inside other fields.
func setsCap(key string, value any) bool {
	switch key {
	case "max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens", "num_predict":
		return true
	}
	if inner, ok := value.(map[string]any); ok {
		for k, v := range inner {
			if setsCap(k, v) {
				return true
			}
		}
	}
	return false
}

func (l *providerFile) readModel(n ast.Node) {
	var m Model
	switch n.(type) {
	case *ast.StringNode: // the short form: the id alone
		l.ref(&m.ID, "a model's id")(n)
	default:
		var price Price
		known := fields{
			"id":           l.ref(&m.ID, "id"),
			"name":         l.setText(&m.Name, "name", checkModelName),
			"title":        l.setText(&m.Title, "title"),
			"every":        l.setCadence(&m.Every, "every"),
			"open_weights": l.setBoolPtr(&m.OpenWeights, "open_weights"),
			"size_class":   l.setText(&m.SizeClass, "size_class", oneOf("small", "medium", "large")),
			"price": func(n ast.Node) {
				const most = 10_000 // USD per million tokens
				l.object(n, "price", fields{
					"input":  l.setNumber(&price.Input, "input", 0, most),
					"output": l.setNumber(&price.Output, "output", 0, most),
				}, "input", "output")
				m.Price = &price
			},
		}
		l.dialect(known, &m.Dialect)
		l.object(n, "a model", known, "id")
	}
	if m.Name == "" {
		m.Name = m.ID
		if m.ID != "" && len(variables(m.ID)) == 0 && checkModelName(m.ID) != nil {
			l.errorf(n, "the id cannot serve as public name; add the field %q", "name")
		}
	}
	if len(l.p.Models) == maxModels {
		l.errorf(n, "more than %d models", maxModels)
	}
	if len(l.p.Models) < maxModels {
		l.p.Models = append(l.p.Models, m)
		l.modelAt = append(l.modelAt, n)
	}
}

func (l *providerFile) readWire(n ast.Node) {
	var w WireRule
	known := fields{"match": l.setText(&w.Match, "match", checkGlob)}
	l.dialect(known, &w.Dialect)
	l.object(n, "a wires rule", known, "match")
	l.p.Wires = append(l.p.Wires, w)
}

func (l *providerFile) readDiscover(n ast.Node) {
	d := &Discover{Limit: defaultDiscover}
	globs := func(dst *[]string, what string) func(ast.Node) {
		return func(n ast.Node) {
			l.list(n, what, func(item ast.Node) {
				var glob string
				l.setText(&glob, "a glob of "+what, checkGlob)(item)
				*dst = append(*dst, glob)
			})
		}
	}
	l.object(n, "discover", fields{
		"list_url": l.ref(&d.URL, "list_url"),
		"format":   l.setText((*string)(&d.Format), "format", oneOf(listFormats()...)),
		"include":  globs(&d.Include, "include"),
		"exclude":  globs(&d.Exclude, "exclude"),
		"limit":    setInt(l.yamlFile, &d.Limit, "limit", maxModels),
	}, "include") // a list may hold hundreds of models: say which are wanted
	l.p.Discover = d
}

func (l *providerFile) readBudget(n ast.Node) {
	b := &l.p.Budget
	l.object(n, "budget", fields{
		"requests_per_day": setInt(l.yamlFile, &b.RequestsPerDay, "requests_per_day", 1_000_000),
		"usd_per_month":    l.setNumber(&b.USDPerMonth, "usd_per_month", 0.01, 1_000_000),
		"tokens_per_month": setInt(l.yamlFile, &b.TokensPerMonth, "tokens_per_month", 1e15),
	})
}

// readTimeouts reads limits of a run that are shorter than the published ones.
func (l *providerFile) readTimeouts(n ast.Node) {
	limit := func(dst *time.Duration, what string, published time.Duration) func(ast.Node) {
		return func(n ast.Node) {
			var s string
			l.setText(&s, what, func(s string) error {
				d, err := time.ParseDuration(s)
				if err != nil || d < time.Second || d > published {
					return fmt.Errorf("use a duration from 1s to %s, the published limit", formatCadence(published))
				}
				*dst = d
				return nil
			})(n)
		}
	}
	t := &l.p.Limits
	l.object(n, "timeouts", fields{
		"run":    limit(&t.Run, "run", RunTimeout),
		"dial":   limit(&t.Dial, "dial", DialTimeout),
		"header": limit(&t.Header, "header", HeaderTimeout),
		"idle":   limit(&t.Idle, "idle", IdleTimeout),
	})
}

func (l *providerFile) readPriceCadences(n ast.Node) {
	l.list(n, "every_by_price", func(item ast.Node) {
		var c PriceCadence
		l.object(item, "a price class", fields{
			"output_at_least": l.setNumber(&c.AtLeast, "output_at_least", 0, 10_000),
			"every":           l.setCadence(&c.Every, "every"),
		}, "output_at_least", "every")
		l.p.EveryByPrice = append(l.p.EveryByPrice, c)
	})
	slices.SortStableFunc(l.p.EveryByPrice, func(a, b PriceCadence) int { return cmp.Compare(b.AtLeast, a.AtLeast) })
}

func (l *providerFile) readVisibility(n ast.Node) {
	var v string
	l.setText(&v, "visibility", oneOf("public", "private"))(n)
	l.p.Private = v == "private"
}

// readLanes reads "lanes: 1", the published method, or "lanes: per-provider".
func (l *providerFile) readLanes(n ast.Node) {
	if v, ok := number(n); ok && v == 1 {
		return
	}
	if s, ok := n.(*ast.StringNode); ok && s.Value == "per-provider" {
		l.p.OwnLane = true
		return
	}
	l.errorf(n, "lanes must be 1 (one request at a time over all providers, the published method) or per-provider")
}

func (l *providerFile) readHeaders(n ast.Node) {
	l.p.Headers = map[string]string{}
	l.each(n, "headers", func(key string, k, v ast.Node) {
		if err := checkHeaderName(key); err != nil {
			l.errorf(k, "header %q: %v", key, err)
			return
		}
		var value string
		l.ref(&value, "header "+key)(v)
		if namesSecret(key) && value != "" && len(variables(value)) == 0 && !strings.Contains(value, "{session}") {
			l.errorf(v, "a secret must not stand in a file; name a variable, as in ${%s_TOKEN}", variablePrefix(l.p.Name))
		}
		l.p.Headers[http.CanonicalHeaderKey(key)] = value
	})
}

func (l *providerFile) readQuery(n ast.Node) {
	l.p.Query = map[string]string{}
	l.each(n, "query", func(key string, _, v ast.Node) {
		var value string
		l.ref(&value, "query parameter "+key)(v)
		l.p.Query[key] = value
	})
}

// at remembers where a value stands.
func (l *providerFile) at(dst *ast.Node, read func(ast.Node)) func(ast.Node) {
	return func(n ast.Node) {
		*dst = n
		read(n)
	}
}

// ref returns a reader of text that may hold ${VAR} or {session}. Which
// variables are allowed is checked once the name and key are known.
func (l *providerFile) ref(dst *string, what string) func(ast.Node) {
	return func(n ast.Node) {
		l.setText(dst, what)(n)
		l.refs = append(l.refs, reference{n, *dst})
	}
}

func (l *providerFile) setCadence(dst *Cadence, what string) func(ast.Node) {
	return func(n ast.Node) {
		var s string
		if v, ok := number(n); ok {
			l.errorf(n, "%s needs a unit, as in %gm", what, v)
			return
		}
		l.setText(&s, what, func(s string) error {
			c, err := ParseCadence(s)
			*dst = c
			return err
		})(n)
	}
}

// check looks at what involves more than one value of the file.
func (l *providerFile) check() {
	p := &l.p
	if l.nameAt == nil {
		if err := checkProviderName(p.Name); err != nil {
			l.errorf(l.root, "the file's name serves as the provider's: %v; rename it or add the field \"name\"", err)
		}
	}
	if p.Title == "" {
		p.Title = p.PublicName()
	}
	l.checkPrivacy()
	l.checkReach()
	for _, r := range l.refs {
		l.checkReference(r)
	}
	if l.baseAt != nil && p.BaseURL != "" {
		// A variable can stand for any part; only what is written is checked.
		sample := variablePattern.ReplaceAllString(p.BaseURL, "x")
		if sample != "x" {
			if err := checkBaseURL(sample, p.KeyEnv != ""); err != nil {
				l.errorf(l.baseAt, "%v", err)
			}
		}
		p.BaseURL = strings.TrimRight(p.BaseURL, "/")
	}
	if l.modelsAt == nil && p.Discover == nil {
		l.errorf(l.root, "nothing to measure: give models, or discover")
	}
	names := map[string]bool{}
	for i, m := range p.Models {
		if m.Name != "" && names[m.Name] {
			l.errorf(l.modelAt[i], "two models of that name; set different names to measure one model in two ways")
		}
		names[m.Name] = true
	}
	if d := p.Discover; d != nil && d.Format == "" {
		d.Format = defaultListFormat(p.Protocol)
	}
}

func (l *providerFile) checkPrivacy() {
	p := &l.p
	if p.Private && p.Alias == "" {
		l.errorf(l.root, "a private provider needs an alias, its name in public")
	}
	if !p.Private && p.Alias != "" {
		l.errorf(l.aliasAt, "an alias is for private providers; set visibility: private, or name and title")
	}
	if p.Private && p.Discover != nil {
		l.errorf(l.disAt, "a private provider cannot discover models, as their ids would become public; list them with names")
	}
	for i, m := range p.Models {
		if m.Name == m.ID && (p.Private || len(variables(m.ID)) > 0) {
			l.errorf(l.modelAt[i], "this model needs a name, as its id is not public")
		}
	}
}

// checkReference allows a value to refer to the file's own key and to
// variables that share its first word or are the job's numbered slots. Any
// other variable belongs to somebody else, and a file must not carry it to its
// own server.
func (l *providerFile) checkReference(r reference) {
	rest := variablePattern.ReplaceAllString(r.text, "")
	rest = strings.ReplaceAll(rest, "{session}", "")
	if strings.Contains(rest, "$") || strings.ContainsAny(rest, "{}") {
		l.errorf(r.at, "only ${UPPER_CASE} variables and {session} are replaced here")
		return
	}
	for _, name := range variables(r.text) {
		prefix := variablePrefix(l.p.Name)
		if name == l.p.KeyEnv || strings.HasPrefix(name, "BENCH_") || strings.HasPrefix(name, prefix+"_") {
			continue
		}
		l.errorf(r.at, "${%s} is not this provider's to read; it may read key_env, %s_* and BENCH_*", name, prefix)
	}
}

// variablePrefix is the first word of a provider's name in capitals:
// azure-openai reads AZURE_*.
func variablePrefix(name string) string {
	word, _, _ := strings.Cut(name, "-")
	return strings.ToUpper(word)
}

// checkTogether looks at what involves more than one file: names are unique,
// and a key goes to one host only.
func checkTogether(files []*providerFile) {
	names := map[string]string{}
	hosts := map[string]*providerFile{}
	for _, l := range files {
		if l.root == nil {
			continue
		}
		name := l.p.PublicName()
		if first, ok := names[name]; ok && name != "" {
			l.errorf(cmp.Or(l.nameAt, l.aliasAt, l.root), "provider %q is already defined in %s", name, first)
		} else {
			names[name] = l.name
		}
		if l.p.KeyEnv == "" {
			continue
		}
		if first, ok := hosts[l.p.KeyEnv]; !ok {
			hosts[l.p.KeyEnv] = l
		} else if host(first.p.BaseURL) != host(l.p.BaseURL) {
			l.errorf(cmp.Or(l.keyAt, l.root), "%s already goes to the host of %s; a key belongs to one host", l.p.KeyEnv, first.name)
		}
	}
}

func host(base string) string {
	u, err := url.Parse(base)
	if err != nil || u.Host == "" {
		return base
	}
	return u.Host
}
