package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/streamgauge/streamgauge/bench"
)

// reachFlags say how a server is reached where that is not the usual way.
type reachFlags struct {
	CAFile     string `name:"ca-file" placeholder:"FILE|env:NAME" help:"Authorities to trust instead of the system's, in PEM: a file, or a variable that holds the text."`
	ClientCert string `placeholder:"FILE|env:NAME" help:"Certificate to show to a server that asks who we are, in PEM."`
	ClientKey  string `placeholder:"FILE|env:NAME" help:"Its private key, in PEM."`
	Proxy      string `placeholder:"URL|env:NAME|environment" help:"Proxy to go through (http, https or socks5): its address, a variable that holds it, or those that HTTPS_PROXY and NO_PROXY name."`
}

// setting returns a flag as a provider file has it.
func setting(flag string) string {
	if name, ok := strings.CutPrefix(flag, "env:"); ok {
		return "${" + name + "}"
	}
	return flag
}

// fields returns the flags as fields of a provider file.
func (f *reachFlags) fields() yaml.MapSlice {
	var doc yaml.MapSlice
	for _, field := range []struct{ key, flag string }{
		{"ca_file", f.CAFile}, {"client_cert", f.ClientCert}, {"client_key", f.ClientKey}, {"proxy", f.Proxy},
	} {
		if field.flag != "" {
			doc = append(doc, yaml.MapItem{Key: field.key, Value: setting(field.flag)})
		}
	}
	return doc
}

// files returns the files that the flags name.
func (f *reachFlags) files() []string {
	return slices.DeleteFunc([]string{f.CAFile, f.ClientCert, f.ClientKey}, func(s string) bool {
		return s == "" || strings.HasPrefix(s, "env:")
	})
}

// reach reads what the flags name.
func (f *reachFlags) reach() (bench.Reach, error) {
	reach := bench.Reach{Proxy: setting(f.Proxy)}
	if (f.ClientCert == "") != (f.ClientKey == "") {
		return reach, usageError{fmt.Errorf("--client-cert and --client-key go together")}
	}
	for _, p := range []struct {
		dst  *bench.PEM
		flag string
	}{{&reach.CA, f.CAFile}, {&reach.Cert, f.ClientCert}, {&reach.Key, f.ClientKey}} {
		name, isVariable := strings.CutPrefix(p.flag, "env:")
		switch {
		case p.flag == "":
		case isVariable:
			*p.dst = bench.VariablePEM(name)
		default:
			text, err := os.ReadFile(p.flag)
			if err != nil {
				return reach, fmt.Errorf("read the certificates: %w", err)
			}
			*p.dst = bench.FilePEM(p.flag, text)
		}
	}
	return reach, nil
}

// presence is what a variable holds in a job that is told only whether it is set.
const presence = "set"

// expiresSoon is how long before its end a certificate is spoken of.
const expiresSoon = 21 * 24 * time.Hour

// checkReach says what is wrong with how a provider is reached, or with what its
// variables hold, and when its client certificate ends.
func checkReach(found *checklist, p *bench.Provider, env bench.Lookup, now time.Time) {
	for _, name := range p.Missing(func(string) (string, bool) { return "", false }) {
		if v, _ := env(name); v == presence {
			return
		}
	}
	for i := range p.Models {
		m := &p.Models[i]
		if len(p.MissingFor(m, env)) > 0 {
			continue
		}
		if _, _, err := p.Target(m, env, ""); err != nil {
			found.add(stepFault, p.PublicName(), err.Error())
			break // it is the same for the others
		}
	}
	route, err := p.Reach.Route(env)
	switch {
	case err != nil:
		found.add(stepFault, p.PublicName(), err.Error())
	case route.Certificate == nil || route.Certificate.Leaf == nil:
	case now.After(route.Certificate.Leaf.NotAfter):
		found.add(stepFault, p.PublicName(), "the client certificate ended on "+route.Certificate.Leaf.NotAfter.UTC().Format(time.DateOnly))
	case now.Add(expiresSoon).After(route.Certificate.Leaf.NotAfter):
		found.add(stepTodo, p.PublicName(), "the client certificate ends on "+route.Certificate.Leaf.NotAfter.UTC().Format(time.DateOnly))
	}
}
