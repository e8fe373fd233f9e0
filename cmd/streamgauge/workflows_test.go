package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data/providers"
)

// A workflow is what the tests look at in a workflow file.
type workflow struct {
	Permissions map[string]string `yaml:"permissions"`
	Concurrency any               `yaml:"concurrency"`
	Jobs        map[string]struct {
		Permissions map[string]string `yaml:"permissions"`
		Timeout     int               `yaml:"timeout-minutes"`
		Steps       []struct {
			Uses string            `yaml:"uses"`
			Run  string            `yaml:"run"`
			With map[string]any    `yaml:"with"`
			Env  map[string]string `yaml:"env"`
		} `yaml:"steps"`
	} `yaml:"jobs"`
}

// pinned is an action of GitHub's own at a full commit, with its version.
var pinned = regexp.MustCompile(`uses: actions/[a-z-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// TestWorkflowsGrantLittle holds every workflow against what keeps a key or the
// record from leaving through it.
func TestWorkflowsGrantLittle(t *testing.T) {
	for name, text := range workflowFiles(t) {
		t.Run(name, func(t *testing.T) {
			var w workflow
			if err := yaml.Unmarshal(text, &w); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(text), "\npermissions: {}\n") {
				t.Error("the top level must grant nothing: permissions: {}")
			}
			if w.Concurrency == nil {
				t.Error("no concurrency group")
			}
			for _, line := range strings.Split(string(text), "\n") {
				if strings.Contains(line, "uses:") && !pinned.MatchString(line) {
					t.Errorf("not an actions/* action pinned by commit with its version: %s", strings.TrimSpace(line))
				}
			}
			for job, j := range w.Jobs {
				if j.Timeout == 0 {
					t.Errorf("job %s has no timeout-minutes", job)
				}
				for _, step := range j.Steps {
					if strings.Contains(step.Run, "${{") {
						t.Errorf("job %s: an expression inside run: can be injected into; pass it by env", job)
					}
					if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
						t.Errorf("job %s: checkout keeps the token on disk; set persist-credentials: false", job)
					}
				}
			}
			if strings.Contains(string(text), "toJSON(secrets)") {
				t.Error("passes all secrets")
			}
		})
	}
}

// TestBenchWorkflowNamesEveryKey checks that the scheduled job hands over every
// variable that a shipped provider asks for: a secret that is set and not
// passed on would look like a provider that is not configured.
func TestBenchWorkflowNamesEveryKey(t *testing.T) {
	text := string(workflowFiles(t)["bench.yml"])
	list, err := bench.LoadProviders(providers.Files)
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }
	var names []string
	for i := range list {
		names = append(names, list[i].Missing(none)...)
	}
	if len(names) == 0 {
		t.Fatal("no shipped provider asks for a variable")
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name == "OLLAMA_HOST" {
			continue // a server on the reader's own machine
		}
		if !strings.Contains(text, name+": ${{ secrets."+name+" }}") {
			t.Errorf("bench.yml does not pass %s on", name)
		}
	}
}

func workflowFiles(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob("../../.github/workflows/*.yml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("found no workflows: %v", err)
	}
	files := map[string][]byte{}
	for _, p := range paths {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		files[filepath.Base(p)] = text
	}
	return files
}
