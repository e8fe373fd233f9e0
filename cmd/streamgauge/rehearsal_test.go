package main

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/data"
)

// TestRehearsal runs the scripts of bench.yml and site.yml, job after job, each
// with a disk of its own, against a bare repository and a simulated provider:
// from a repository without a data branch to a checked site.
func TestRehearsal(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	server, err := simulate.New(simulate.Options{Models: simulate.Models()[:3], Speed: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(server)
	defer provider.Close()
	r := newRehearsal(t, provider.URL)

	r.job("bench.yml", "plan", "")
	if !strings.Contains(r.outputs["plan.shards"], `"name":"shared"`) {
		t.Fatalf("shards: %s", r.outputs["plan.shards"])
	}
	r.job("bench.yml", "measure", "shared")
	if entries, err := os.ReadDir(filepath.Join(r.artifacts, "journal-7-1-shared", "journals")); err != nil || len(entries) != 1 {
		t.Fatalf("journals handed over: %v, %v", entries, err)
	}
	r.job("bench.yml", "write", "")
	// Each of three pairs once, and once more if one of its slots began meanwhile.
	for _, want := range []string{"ollama-local: [3-6] ok, 0 failed", "Pushed as ", "verified"} {
		if !regexp.MustCompile(want).MatchString(r.summary()) {
			t.Errorf("the summary lacks %q:\n%s", want, r.summary())
		}
	}
	r.job("site.yml", "render", "")
	for _, name := range []string{"index.html", "404.html"} {
		if _, err := os.Stat(filepath.Join(r.artifacts, "github-pages", name)); err != nil {
			t.Errorf("the site lacks %s", name)
		}
	}
	if r.outputs["pages.on"] != "" {
		t.Error("Pages is off here, and was not found so")
	}

	clone := filepath.Join(t.TempDir(), "clone")
	if out, err := exec.Command("git", "clone", "--quiet", "--branch=data", r.remote, clone).CombinedOutput(); err != nil {
		t.Fatalf("clone: %v\n%s", err, out)
	}
	const instance = "github:42 owner/name\n"
	if text, err := os.ReadFile(filepath.Join(clone, "instance")); err != nil || string(text) != instance {
		t.Errorf("instance holds %q, %v; want %q", text, err, instance)
	}
	if _, err := os.Stat(filepath.Join(clone, "models", "ollama-local.json")); err != nil {
		t.Errorf("the list of models is not kept: %v", err)
	}
	store, err := data.Open(t.Context(), clone, data.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if findings, err := store.Check(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("check: %v, %v", findings, err)
	}
	taken, err := store.Taken(t.Context(), time.Now().AddDate(0, 0, -2))
	if _, ok := taken["journal-7-1-shared"]; err != nil || !ok {
		t.Errorf("taken: %v, %v; want journal-7-1-shared in it", taken, err)
	}

	// The next tick finds the record, and nothing that was just measured due.
	r.job("bench.yml", "plan", "")
	if strings.Contains(strings.ToLower(r.said), "a new record begins") {
		t.Error("the second tick begins a new record")
	}
}

// TestRehearsalLite runs bench-lite.yml twice.
func TestRehearsalLite(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	server, err := simulate.New(simulate.Options{Models: simulate.Models()[:2], Speed: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(server)
	defer provider.Close()
	r := newRehearsal(t, provider.URL)
	r.job("bench-lite.yml", "tick", "")
	if !strings.Contains(r.summary(), "ollama-local: 2 ok, 0 failed") {
		t.Errorf("the summary says:\n%s", r.summary())
	}
	if _, err := os.Stat(filepath.Join(r.artifacts, "site", "index.html")); err != nil {
		t.Error("there is no site")
	}
	r.job("bench-lite.yml", "tick", "")
	if !strings.Contains(r.summary(), "Nothing new: the branch stays at") {
		t.Errorf("a tick with nothing due says:\n%s", r.summary())
	}
}

// building is how the workflows build the program.
var building = regexp.MustCompile(`go build -o "([^"]+)" \./cmd/streamgauge`)

// A rehearsal is a repository host with runners, as far as scripts can tell.
type rehearsal struct {
	*testing.T
	remote, root, artifacts, bin string
	env                          []string
	outputs                      map[string]string // STEP.NAME
	summaries                    []string
	said                         string // by the last job
}

func newRehearsal(t *testing.T, provider string) *rehearsal {
	t.Helper()
	for _, tool := range []string{"git", "jq", "bash"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("needs %s", tool)
		}
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	host := t.TempDir()
	r := &rehearsal{
		T: t, remote: filepath.Join(host, "owner", "name"), root: root, artifacts: t.TempDir(), bin: t.TempDir(),
		outputs: map[string]string{},
	}
	if out, err := exec.Command("git", "init", "--quiet", "--bare", "--initial-branch=main", r.remote).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	// Pages is off, as the host says by an error.
	if err := os.WriteFile(filepath.Join(r.bin, "gh"), []byte("#!/bin/sh\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.env = append(os.Environ(),
		"PATH="+r.bin+":"+os.Getenv("PATH"), "GIT_CONFIG_GLOBAL=/dev/null",
		"GITHUB_SERVER_URL=file://"+host, "GITHUB_REPOSITORY=owner/name", "GITHUB_REPOSITORY_ID=42", "GITHUB_REF_NAME=main", "GITHUB_RUN_ID=7",
		"GITHUB_WORKSPACE="+root, "RUNNER_NAME=runner-1", "OLLAMA_HOST="+provider)
	return r
}

// value evaluates the expressions that the workflows use.
func (r *rehearsal) value(text, temp, shard string) string {
	text = strings.NewReplacer(
		"${{ runner.temp }}", temp, "${{ github.token }}", "token", "${{ matrix.shard.name }}", shard,
		"${{ github.run_id }}", "7", "${{ github.run_attempt }}", "1",
		"${{ github.repository }}", "owner/name", "${{ steps.look.outputs.found }}", r.outputs["look.found"],
		"${{ needs.snapshot.outputs.tag }}", r.outputs["look.tag"], "${{ inputs.reroot }}", "data",
		"${{ inputs.only }}", "", "${{ inputs.force || false }}", "false",
		"${{ vars.STREAMGAUGE_VANTAGE || 'github' }}", "github",
	).Replace(text)
	if strings.HasPrefix(text, "${{ secrets.") && strings.Count(text, "${{") == 1 {
		return "" // no secret is set
	}
	if strings.Contains(text, "${{") {
		r.Fatalf("the rehearsal does not know the expression %s", text)
	}
	return text
}

// job runs the steps of a job on an empty disk.
func (r *rehearsal) job(file, name, shard string) {
	r.Helper()
	text, err := os.ReadFile(filepath.Join(r.root, ".github", "workflows", file))
	if err != nil {
		r.Fatal(err)
	}
	var w struct {
		Env  map[string]string `yaml:"env"`
		Jobs map[string]struct {
			Env   map[string]string `yaml:"env"`
			Steps []struct {
				ID, Uses, Run string
				With          map[string]any    `yaml:"with"`
				Env           map[string]string `yaml:"env"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(text, &w); err != nil {
		r.Fatal(err)
	}
	job, ok := w.Jobs[name]
	if !ok {
		r.Fatalf("%s has no job %s", file, name)
	}
	temp := r.TempDir()
	r.said = ""
	for i, step := range job.Steps {
		with := func(key string) string { s, _ := step.With[key].(string); return r.value(s, temp, shard) }
		action, _, _ := strings.Cut(step.Uses, "@")
		switch action {
		case "":
			env := map[string]string{}
			for _, level := range []map[string]string{w.Env, job.Env, step.Env} {
				maps.Copy(env, level)
			}
			for k, v := range env {
				env[k] = r.value(v, temp, shard)
			}
			r.run(fmt.Sprintf("%s, job %s, step %d", file, name, i+1), step.ID, step.Run, temp, env)
		case "actions/upload-artifact":
			r.upload(with("name"), strings.Fields(with("path")))
		case "actions/upload-pages-artifact":
			r.upload("github-pages", []string{with("path")})
		case "actions/download-artifact":
			r.download(with("name"), with("pattern"), with("path"))
		case "actions/checkout", "actions/setup-go", "actions/cache", "actions/cache/restore", "actions/attest":
		default:
			r.Fatalf("the rehearsal does not know the action %s", action)
		}
	}
}

// run runs a script as the runner does.
func (r *rehearsal) run(where, id, script, temp string, env map[string]string) {
	r.Helper()
	// What is due may fall due again within the budget: there is no time for
	// that, nor for building what runs already.
	script = strings.Replace(script, "--budget 25m", "--budget 70s", 1)
	// Nor is there a history of 700 MB.
	script = strings.Replace(script, "--re-root=", "--limit-mb 0 --re-root=", 1)
	script = building.ReplaceAllString(script, `cp "$$(command -v streamgauge)" "$1"`)
	outputs, summary := filepath.Join(temp, "outputs"), filepath.Join(temp, "summary")
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-euo", "pipefail", "-c", script)
	cmd.Dir = r.root
	cmd.Env = append(slices.Clone(r.env), "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+outputs, "GITHUB_STEP_SUMMARY="+summary)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	r.said += out.String()
	if err != nil {
		r.Fatalf("%s: %v\n%s\n%s", where, err, script, out.String())
	}
	if text, err := os.ReadFile(outputs); err == nil {
		for line := range strings.Lines(string(text)) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			r.outputs[id+"."+key] = value
		}
		os.Remove(outputs)
	}
	if text, err := os.ReadFile(summary); err == nil {
		r.summaries = append(r.summaries, string(text))
		os.Remove(summary)
	}
}

func (r *rehearsal) summary() string { return strings.Join(r.summaries, "\n") }

// upload keeps folders as an artifact. Its root is the folder, or what several
// have in common; hidden files are left out.
func (r *rehearsal) upload(name string, folders []string) {
	r.Helper()
	root := filepath.Clean(folders[0])
	for len(folders) > 1 && !strings.HasPrefix(filepath.Clean(folders[1]), root+"/") {
		root = filepath.Dir(root)
	}
	for _, folder := range folders {
		r.copy(folder, root, filepath.Join(r.artifacts, name))
	}
}

func (r *rehearsal) copy(from, root, to string) {
	r.Helper()
	err := filepath.WalkDir(from, func(path string, e fs.DirEntry, err error) error {
		if os.IsNotExist(err) && path == from {
			return nil
		}
		if err != nil {
			return err
		}
		if path != from && strings.HasPrefix(e.Name(), ".") {
			if e.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if e.IsDir() {
			return os.MkdirAll(filepath.Join(to, rel), 0o755)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(to, rel), text, 0o644) // artifacts lose modes
	})
	if err != nil {
		r.Fatal(err)
	}
}

// download unpacks one artifact into a folder, or each of several into a folder
// of its name below.
func (r *rehearsal) download(name, pattern, to string) {
	r.Helper()
	if name != "" {
		from := filepath.Join(r.artifacts, name)
		if _, err := os.Stat(from); err != nil {
			r.Fatalf("no artifact %s", name)
		}
		r.copy(from, from, to)
		return
	}
	found, err := filepath.Glob(filepath.Join(r.artifacts, pattern))
	if err != nil {
		r.Fatal(err)
	}
	for _, from := range found {
		r.copy(from, from, filepath.Join(to, filepath.Base(from)))
	}
}
