package main

import (
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

// ownSecrets returns the job's own secrets in an environment, which no provider
// has to do with.
func ownSecrets(env bench.Lookup) []string {
	var secrets []string
	for _, name := range []string{
		"GITHUB_TOKEN", "GH_TOKEN", "GIT_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_ID_TOKEN_REQUEST_TOKEN",
		"BENCH_PING_URL", "BENCH_WEBHOOK_URL", "BENCH_WEBHOOK_SECRET",
	} {
		if v, _ := env(name); len(v) >= 20 { // no token is shorter
			secrets = append(secrets, v)
		}
	}
	return secrets
}

// secretsOf returns what must be printed nowhere.
func secretsOf(list []bench.Provider, env bench.Lookup) []string {
	return append(bench.SecretsOf(list, env), ownSecrets(env)...)
}

// refuse returns an error that wraps [data.ErrSecret] if a file, by its text or
// its name, holds a secret or what looks like a key. It names the file and the
// shape, and nothing of the text.
func (a *app) refuse(name string, text []byte) error {
	if leak := a.guard.Leak([]byte(name)); leak != "" {
		return fmt.Errorf("%w: the name of a file has %s", data.ErrSecret, leak)
	}
	if leak := a.guard.Leak(text); leak != "" {
		return fmt.Errorf("%w: %s has %s", data.ErrSecret, name, leak)
	}
	return nil
}

// unpublished are the folders of a record that stay where they are.
var unpublished = []string{".git", "journals", "traces"}

// scan looks at every file below a folder that would be published.
func (a *app) scan(dir string) error {
	root := os.DirFS(dir)
	return fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("look for secrets: %w", err)
		}
		if d.IsDir() {
			if slices.Contains(unpublished, name) {
				return fs.SkipDir
			}
			return nil
		}
		if !d.Type().IsRegular() {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return fmt.Errorf("look for secrets: %w", err)
		}
		return a.refuse(name, text)
	})
}
