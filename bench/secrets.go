package bench

import (
	"net/url"
	"slices"
	"strings"
)

// Secrets returns every string of the provider's that must not be printed: the
// values of all variables it refers to and, if it is private, its literal base
// URL, host, paths and model ids.
func (p *Provider) Secrets(env Lookup) []string {
	return sorted(p.keys(env), p.place(env), p.ids(env))
}

// SecretsOf returns the secrets of all providers; give them to [NewRedactor].
func SecretsOf(list []Provider, env Lookup) []string {
	var secrets []string
	for i := range list {
		secrets = append(secrets, list[i].Secrets(env)...)
	}
	return sorted(secrets)
}

// GuardedOf returns those secrets of all providers that what is stored and
// published is searched for, and refused with: keys, other variables' values
// and private hosts, if they are distinctive. One that is an ordinary word
// stands in innocent text too, and so may a private model's id in the name of a
// public one.
func GuardedOf(list []Provider, env Lookup) []string {
	var secrets []string
	for i := range list {
		p := &list[i]
		for _, s := range append(p.keys(env), p.place(env)...) {
			if distinctive(s) {
				secrets = append(secrets, s)
			}
		}
	}
	return sorted(secrets)
}

// distinctive reports whether text is not met by chance.
func distinctive(s string) bool {
	return len(s) >= 8 && (len(s) >= 20 || strings.ContainsAny(s, "0123456789.:/@"))
}

func sorted(lists ...[]string) []string {
	all := slices.Concat(lists...)
	slices.Sort(all)
	return slices.Compact(all)
}

// keys returns the values of the variables the provider refers to, and what of
// them is secret by itself.
func (p *Provider) keys(env Lookup) []string {
	var secrets []string
	for _, name := range p.variables() {
		// The address of a machine of one's own is no secret by itself, and
		// masking it would black out every "localhost" in the logs.
		if v, _ := env(name); strings.TrimSpace(v) != "" && !(name != p.KeyEnv && !p.Private && isLocal(v)) {
			secrets = append(secrets, strings.TrimSpace(v))
		}
	}
	return append(secrets, p.Reach.secrets(env, p.Private)...)
}

// place returns where a private provider is.
func (p *Provider) place(env Lookup) []string {
	if !p.Private {
		return nil
	}
	x := expander{env: env}
	base := x.baseURL(p.BaseURL)
	secrets := []string{base}
	if u, err := url.Parse(base); err == nil && u.Hostname() != "" {
		secrets = append(secrets, u.Host, u.Hostname())
	}
	return secrets
}

// ids returns the ids of models that are not public, and the deployments that a
// private provider's paths name.
func (p *Provider) ids(env Lookup) []string {
	x := expander{env: env}
	var secrets []string
	for i := range p.Models {
		m := &p.Models[i]
		id := x.expand(m.ID)
		if p.Private && id != m.Name || len(variables(m.ID)) > 0 && id != "" {
			secrets = append(secrets, id)
		}
		if p.Private {
			secrets = append(secrets, deployments(p.DialectOf(m).Path)...)
		}
	}
	if u, err := url.Parse(x.baseURL(p.BaseURL)); p.Private && err == nil {
		secrets = append(secrets, deployments(u.Path)...)
	}
	return secrets
}

// deployments returns the parts of a path that no vendor's paths have.
func deployments(path string) []string {
	const short = 6 // v1, chat and the like
	usual := []string{"openai", "deployments", "completions", "responses", "messages", "models", "inference", "generate"}
	return slices.DeleteFunc(strings.Split(path, "/"), func(part string) bool {
		return len(part) < short || strings.Contains(part, "{") || slices.Contains(usual, part)
	})
}
