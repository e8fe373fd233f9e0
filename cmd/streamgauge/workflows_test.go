package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data/providers"
)

// A workflow is what the tests look at in a workflow file.
type workflow struct {
	On          any               `yaml:"on"`
	Permissions map[string]string `yaml:"permissions"`
	Concurrency struct {
		Group  string `yaml:"group"`
		Cancel any    `yaml:"cancel-in-progress"`
	} `yaml:"concurrency"`
	Defaults struct {
		Run struct {
			Shell string `yaml:"shell"`
		} `yaml:"run"`
	} `yaml:"defaults"`
	Env  map[string]string `yaml:"env"`
	Jobs map[string]job    `yaml:"jobs"`
}

type job struct {
	Uses        string            `yaml:"uses"`
	Secrets     any               `yaml:"secrets"`
	Permissions map[string]string `yaml:"permissions"`
	Timeout     int               `yaml:"timeout-minutes"`
	Env         map[string]string `yaml:"env"`
	Steps       []struct {
		Uses string            `yaml:"uses"`
		Run  string            `yaml:"run"`
		With map[string]any    `yaml:"with"`
		Env  map[string]string `yaml:"env"`
	} `yaml:"steps"`
}

var (
	// pinned is an action of GitHub's own at a full commit, with its version.
	pinned = regexp.MustCompile(`uses: (actions/[a-z-]+)(?:/[a-z-]+)?@([0-9a-f]{40}) # (v\d+\.\d+\.\d+)$`)
	// local is a workflow of this repository, at the same commit.
	local = regexp.MustCompile(`uses: \./\.github/workflows/[a-z-]+\.yml$`)
	// granted is a line that grants something, and why.
	granted = regexp.MustCompile(`^\s+(contents|actions|issues|pages|id-token|attestations): (read|write)( # .+)?$`)

	anySecret  = regexp.MustCompile(`\bsecrets\b[^\s}]*`)
	named      = regexp.MustCompile(`^secrets\.[A-Z][A-Z0-9_]*$`)
	wholeValue = regexp.MustCompile(`^\$\{\{ secrets\.([A-Z][A-Z0-9_]*) \}\}$`)
)

// faultsOf returns what in a workflow could let a key or the record leave, or
// somebody else's code in.
func faultsOf(text []byte) []string {
	var faults []string
	find := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	var w workflow
	if err := yaml.Unmarshal(text, &w); err != nil {
		return []string{err.Error()}
	}
	if !strings.Contains(string(text), "\npermissions: {}\n") {
		find("the top level must grant nothing: permissions: {}")
	}
	if w.Concurrency.Group == "" || w.Concurrency.Cancel == nil {
		find("no concurrency group, or not said whether it cancels")
	}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.Contains(line, "uses:") && !pinned.MatchString(line) && !local.MatchString(line) {
			find("not an actions/* action pinned by commit with its version: %s", strings.TrimSpace(line))
		}
		if m := granted.FindStringSubmatch(line); m != nil && m[3] == "" {
			find("a permission without its reason: %s", strings.TrimSpace(line))
		}
		for _, secret := range anySecret.FindAllString(line[:len(line)-len(comment(line))], -1) {
			if !named.MatchString(secret) {
				find("a secret that is not named: %s", strings.TrimSpace(line))
			}
		}
	}
	pulls := strings.Contains(fmt.Sprint(w.On), "pull_request")
	if strings.Contains(fmt.Sprint(w.On), "pull_request_target") || strings.Contains(fmt.Sprint(w.On), "workflow_run") {
		find("runs with the repository's rights for what others propose")
	}
	if pulls && anySecret.Match(text) {
		find("secrets in a workflow that runs what others propose")
	}
	for _, name := range slices.Sorted(maps.Keys(w.Jobs)) {
		j := w.Jobs[name]
		if j.Permissions == nil {
			find("job %s does not say what it is granted", name)
		}
		if j.Secrets != nil {
			find("job %s hands secrets to another workflow", name)
		}
		if j.Uses != "" {
			continue
		}
		if j.Timeout == 0 {
			find("job %s has no timeout-minutes", name)
		}
		if len(keysIn(j.Env))+len(keysIn(w.Env)) > 0 {
			find("job %s: a key in the environment of every step", name)
		}
		for what, grant := range j.Permissions {
			if pulls && grant != "read" {
				find("job %s may write %s for what others propose", name, what)
			}
		}
		for i, step := range j.Steps {
			if step.Run != "" && w.Defaults.Run.Shell != "bash -euo pipefail {0}" {
				find("job %s: the shell goes on after an error", name)
			}
			if strings.Contains(step.Run, "${{") {
				find("job %s: an expression inside run: can be injected into; pass it by env", name)
			}
			if strings.HasPrefix(step.Uses, "actions/checkout@") && step.With["persist-credentials"] != false {
				find("job %s: checkout keeps the token on disk; set persist-credentials: false", name)
			}
			keys := keysIn(step.Env)
			if len(keys) > 0 && (step.Env["GITHUB_TOKEN"] != "" || step.Env["GH_TOKEN"] != "") {
				find("job %s, step %d: a key and the token in one step", name, i+1)
			}
			if len(keys) > 0 && step.Uses != "" {
				find("job %s, step %d: a key for an action", name, i+1)
			}
		}
	}
	return faults
}

// comment returns the comment at the end of a line, # included.
func comment(line string) string {
	if i := strings.Index(line, " #"); i >= 0 {
		return line[i:]
	}
	if strings.HasPrefix(strings.TrimSpace(line), "#") {
		return line
	}
	return ""
}

// keysIn returns the secrets whose values an environment holds.
func keysIn(env map[string]string) []string {
	var keys []string
	for _, v := range env {
		if m := wholeValue.FindStringSubmatch(v); m != nil {
			keys = append(keys, m[1])
		}
	}
	return keys
}

// TestWorkflowsGrantLittle holds every workflow against the rules.
func TestWorkflowsGrantLittle(t *testing.T) {
	for name, text := range workflowFiles(t) {
		t.Run(name, func(t *testing.T) {
			for _, fault := range faultsOf(text) {
				t.Error(fault)
			}
		})
	}
}

// TestWorkflowRules breaks each rule once.
func TestWorkflowRules(t *testing.T) {
	const good = `name: good
on: {push: {}}
permissions: {}
concurrency: {group: g, cancel-in-progress: false}
defaults: {run: {shell: "bash -euo pipefail {0}"}}
jobs:
  j:
    runs-on: ubuntu-24.04
    timeout-minutes: 5
    permissions:
      contents: read # why
    steps:
      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1
        with: {persist-credentials: false}
      - run: echo "$KEY"
        env: {KEY: "${{ secrets.KEY }}"}
`
	if faults := faultsOf([]byte(good)); len(faults) > 0 {
		t.Fatalf("faults in a good workflow: %q", faults)
	}
	for _, tt := range []struct{ old, new, want string }{
		{"permissions: {}\n", "", "top level"},
		{"cancel-in-progress: false", "", "concurrency"},
		{"3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1", "v7", "pinned"},
		{"actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1", "someone/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1", "pinned"},
		{" # why", "", "reason"},
		{"{persist-credentials: false}", "{}", "persist-credentials"},
		{"    timeout-minutes: 5\n", "", "timeout"},
		{"    permissions:\n      contents: read # why\n", "", "does not say"},
		{`echo "$KEY"`, `echo "${{ github.event.issue.title }}"`, "injected"},
		{"${{ secrets.KEY }}", "${{ toJSON(secrets) }}", "not named"},
		{"${{ secrets.KEY }}", "${{ secrets[matrix.key] }}", "not named"},
		{"{push: {}}", "{pull_request_target: {}}", "others propose"},
		{"{push: {}}", "{pull_request: {}}", "others propose"},
		{"    steps:", "    secrets: inherit\n    steps:", "hands secrets"},
		{"    steps:", "    env: {KEY: \"${{ secrets.KEY }}\"}\n    steps:", "every step"},
		{`{KEY: "${{ secrets.KEY }}"}`, `{KEY: "${{ secrets.KEY }}", GH_TOKEN: "${{ github.token }}"}`, "one step"},
		{"bash -euo pipefail {0}", "bash {0}", "goes on"},
	} {
		bad := strings.Replace(good, tt.old, tt.new, 1)
		if faults := faultsOf([]byte(bad)); !slices.ContainsFunc(faults, func(f string) bool { return strings.Contains(f, tt.want) }) {
			t.Errorf("%q for %q: faults %q; want one about %q", tt.new, tt.old, faults, tt.want)
		}
	}
}

// TestWhoMayWrite lists every job that may change something. A change here is
// a change of what an attacker gains.
func TestWhoMayWrite(t *testing.T) {
	want := map[string][]string{
		"bench.yml/write":       {"contents"},
		"bench.yml/site":        {"id-token", "pages"},
		"bench.yml/notify":      {"issues"},
		"bench-lite.yml/tick":   {"contents"},
		"bench-lite.yml/notify": {"issues"},
		"pages.yml/site":        {"id-token", "pages"},
		"site.yml/deploy":       {"id-token", "pages"},
		"watchdog.yml/watch":    {"issues"},
		"release.yml/draft":     {"attestations", "contents", "id-token"},
		"maintain.yml/keep":     {"attestations", "contents", "id-token"},
		"maintain.yml/reroot":   {"contents"},
		"bench.yml with keys":   {"measure"},
		"bench-lite with keys":  {"tick"},
		"measure-remote w/keys": {"measure"},
	}
	got := map[string][]string{}
	keyed := map[string]string{"bench.yml": "bench.yml with keys", "bench-lite.yml": "bench-lite with keys", "measure-remote.yml": "measure-remote w/keys"}
	for name, text := range workflowFiles(t) {
		var w workflow
		if err := yaml.Unmarshal(text, &w); err != nil {
			t.Fatal(err)
		}
		for id, j := range w.Jobs {
			for what, grant := range j.Permissions {
				if grant == "write" {
					got[name+"/"+id] = append(got[name+"/"+id], what)
				}
			}
			slices.Sort(got[name+"/"+id])
			keys := 0
			for _, step := range j.Steps {
				for _, key := range keysIn(step.Env) {
					switch key {
					case "BENCH_PING_URL", webhookURLEnv, webhookSecretEnv: // the reader's own, of no provider
					default:
						keys++
					}
				}
			}
			if keys > 0 {
				label := keyed[name]
				got[label] = append(got[label], id)
			}
		}
	}
	maps.DeleteFunc(got, func(_ string, v []string) bool { return len(v) == 0 })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("jobs that may write (-want +got):\n%s", diff)
	}
}

// TestOneWriter checks that the two workflows that write the record never run
// at once, and that none is killed with samples that were paid for.
func TestOneWriter(t *testing.T) {
	for _, name := range []string{"bench.yml", "bench-lite.yml"} {
		var w workflow
		if err := yaml.Unmarshal(workflowFiles(t)[name], &w); err != nil {
			t.Fatal(err)
		}
		if w.Concurrency.Group != "bench-writer" || w.Concurrency.Cancel != false {
			t.Errorf("%s: concurrency %+v", name, w.Concurrency)
		}
	}
}

// TestPinsAgree checks that an action has one commit and one version everywhere.
func TestPinsAgree(t *testing.T) {
	pins := map[string]string{}
	for name, text := range workflowFiles(t) {
		for _, line := range strings.Split(string(text), "\n") {
			m := pinned.FindStringSubmatch(line)
			if m == nil {
				continue
			}
			pin := m[2] + " " + m[3]
			if before, ok := pins[m[1]]; ok && before != pin {
				t.Errorf("%s: %s is at %s here, at %s elsewhere", name, m[1], pin, before)
			}
			pins[m[1]] = pin
		}
	}
	if len(pins) == 0 {
		t.Fatal("no action is used")
	}
}

// TestWorkflowsNameEveryKey checks that the jobs that measure are handed every
// variable that a shipped provider asks for, and those that plan are told
// whether it is set: one that is not passed on would look like a provider that
// is not configured.
func TestWorkflowsNameEveryKey(t *testing.T) {
	list, err := bench.LoadProviders(providers.Files)
	if err != nil {
		t.Fatal(err)
	}
	none := func(string) (string, bool) { return "", false }
	var names []string
	for i := range list {
		names = append(names, list[i].Missing(none)...)
	}
	names = slices.DeleteFunc(names, func(n string) bool { return n == "OLLAMA_HOST" }) // a server on the reader's own machine
	if len(names) == 0 {
		t.Fatal("no shipped provider asks for a variable")
	}
	slices.Sort(names)
	const value, presence = "${{ secrets.NAME }}", "${{ secrets.NAME != '' && 'set' || '' }}"
	files := workflowFiles(t)
	for _, tt := range []struct{ file, form string }{
		{"bench.yml", value}, {"bench.yml", presence}, {"bench-lite.yml", value}, {"measure-remote.yml", value}, {"setup.yml", presence},
	} {
		for _, name := range slices.Compact(names) {
			if line := name + ": " + strings.ReplaceAll(tt.form, "NAME", name); !strings.Contains(string(files[tt.file]), line+"\n") {
				t.Errorf("%s lacks %s", tt.file, line)
			}
		}
	}
}

// TestWorkflowsCallUs runs the help of every command that a workflow calls, and
// looks for every flag that it gives.
func TestWorkflowsCallUs(t *testing.T) {
	call := regexp.MustCompile(`streamgauge"? ([a-z]+) ([^\n|&;}]*)`)
	flag := regexp.MustCompile(`--[a-z-]+`)
	calls := 0
	for name, text := range workflowFiles(t) {
		joined := strings.ReplaceAll(string(text), "\\\n", " ")
		for _, m := range call.FindAllStringSubmatch(joined, -1) {
			if m[1] == "to" || strings.Contains(m[0], "go build") {
				continue
			}
			help, _, err := runWith(t, m[1], "--help")
			if err != nil {
				t.Errorf("%s calls %q: %v", name, m[0], err)
				continue
			}
			calls++
			for _, f := range flag.FindAllString(m[2], -1) {
				if !strings.Contains(help, f) {
					t.Errorf("%s: %s has no flag %s", name, m[1], f)
				}
			}
		}
	}
	if calls < 10 {
		t.Errorf("found %d calls: the pattern is wrong", calls)
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

// TestGuideForkExample loads the provider file that the guide shows.
func TestGuideForkExample(t *testing.T) {
	text, err := os.ReadFile("../../content/guide-fork.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```yaml\n")
	example, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the guide shows no YAML")
	}
	lines := strings.Split(example, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "   ") // it stands in a list
	}
	list, err := tryProvider("my-gateway", []byte(strings.Join(lines, "\n")))
	if err != nil {
		t.Fatal(err)
	}
	if p := list[0]; !p.Private || p.PublicName() == "my-gateway" {
		t.Errorf("the example is no private provider: %+v", p)
	}
}
