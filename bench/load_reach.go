package bench

import (
	"errors"
	"io/fs"
	"path"
	"strings"

	"github.com/goccy/go-yaml/ast"
)

// reach adds the fields that say how the provider is reached.
func (l *providerFile) reach(known fields, r *Reach) {
	known["ca_file"] = l.at(&l.caAt, l.pem(&r.CA, "ca_file", func(text []byte) error {
		_, err := certificates(text)
		return err
	}))
	known["client_cert"] = l.at(&l.certAt, l.pem(&r.Cert, "client_cert", func(text []byte) error {
		_, err := certificates(text)
		return err
	}))
	known["client_key"] = l.at(&l.clientKeyAt, l.pem(&r.Key, "client_key", checkKey))
	known["proxy"] = l.at(&l.proxyAt, func(n ast.Node) {
		l.ref(&r.Proxy, "proxy")(n)
		if r.Proxy == "" || r.Proxy == ProxyEnvironment || len(variables(r.Proxy)) > 0 {
			return
		}
		u, err := parseProxy(r.Proxy)
		switch {
		case err != nil:
			l.errorf(n, "%v; or name a variable, as in ${%s_PROXY}, or write %s", err, variablePrefix(l.p.Name), ProxyEnvironment)
		case u.User != nil:
			l.errorf(n, "a proxy's user and password must not stand in a file; name a variable, as in ${%s_PROXY}", variablePrefix(l.p.Name))
		}
	})
}

// pem returns a reader of a place that certificates or a key come from: ${VAR},
// or a file at or below the folder of the provider file, which is read at once.
func (l *providerFile) pem(dst *PEM, what string, check func([]byte) error) func(ast.Node) {
	return func(n ast.Node) {
		var s string
		l.setText(&s, what, func(s string) error {
			switch names := variables(s); {
			case len(names) == 1 && s == "${"+names[0]+"}":
				*dst = VariablePEM(names[0])
				l.refs = append(l.refs, reference{n, s})
				return nil
			case strings.Contains(s, "-----BEGIN"):
				return errors.New("name a file or a variable; the text itself stays out of this file")
			case strings.ContainsAny(s, "${}\\") || !fs.ValidPath(s):
				return errors.New("use the path of a file beside this one or below, as in certs/house.pem, or a variable that holds the text, as in ${HOUSE_PEM}")
			}
			file := path.Join(path.Dir(l.name), s)
			text, err := fs.ReadFile(l.fsys, file)
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return errors.New("there is no such file beside this one; only certs/ is built into the program")
			case err != nil:
				return errors.New("the file cannot be read")
			case len(text) > maxConfigBytes:
				return errors.New("the file is too large")
			}
			if err := check(text); err != nil {
				return err
			}
			*dst = FilePEM(s, text)
			return nil
		})(n)
	}
}

// checkReach looks at what involves more than one field.
func (l *providerFile) checkReach() {
	r := &l.p.Reach
	switch {
	case !r.Cert.IsZero() && l.clientKeyAt == nil:
		l.errorf(l.certAt, "client_cert needs client_key")
	case !r.Key.IsZero() && l.certAt == nil:
		l.errorf(l.clientKeyAt, "client_key needs client_cert")
	}
	// .gitignore names *.key beside the provider files, and certs/, which is
	// built into the program, is no place for one.
	if key := r.Key.name; r.Key.text != "" && (path.Ext(key) != ".key" || strings.Contains(key, "/")) {
		l.errorf(l.clientKeyAt, "client_key: name the file NAME.key and keep it beside this one, where git ignores it; or name a variable")
	}
	if strings.HasPrefix(l.p.BaseURL, "http://") {
		for _, f := range []struct {
			at   ast.Node
			name string
		}{{l.caAt, "ca_file"}, {l.certAt, "client_cert"}} {
			if f.at != nil {
				l.errorf(f.at, "%s means nothing over http; use https", f.name)
			}
		}
	}
}

func (l *providerFile) readVantages(n ast.Node) {
	l.list(n, "vantages", func(item ast.Node) {
		var name string
		l.setText(&name, "a vantage", checkSlug)(item)
		l.p.Vantages = append(l.p.Vantages, name)
	})
}
