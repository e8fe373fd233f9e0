package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A setup is how far a gauge of one's own has come. Its steps are printed by
// doctor, and into the summary of setup.yml.
type setup struct {
	repository string // https://github.com/owner/name; "" if this is none of GitHub's
	loaded     bool   // the provider files could be read
	files      int    // provider files
	from       string // where they are
	configured []string
	missing    []string // what each of the others lacks
	pages      string   // on, off, unknown
	newest     time.Time
}

// A setupStep is one of the five, with its state of [checklist], or stateAsk.
type setupStep struct{ state, what, advice string }

// stateAsk is the state of a step that a program cannot see without asking the
// network.
const stateAsk = "look"

// steps returns the five steps in their order.
func (s *setup) steps() []setupStep {
	at := func(path string) string { return s.repository + path }
	var list []setupStep
	add := func(state, what, advice string) { list = append(list, setupStep{state, what, advice}) }

	const first = "A repository of your own"
	switch {
	case s.repository == "":
		add(stepSkip, first, "this is no repository of GitHub's; any machine will do: 'streamgauge run' from cron, or 'streamgauge serve --schedule'")
	case strings.EqualFold(s.repository, projectURL):
		add(stepTodo, first, "this is the project's own: make yours at "+at("/generate"))
	default:
		add(stepDone, first, at("")+"; if it is a fork, enable bench and watchdog under "+at("/actions"))
	}
	const second = "What to measure"
	switch {
	case !s.loaded:
		add(stepFault, second, "a provider file has a mistake, see below")
	case s.files == 0:
		add(stepTodo, second, "no provider file in "+s.from+": 'streamgauge init' writes one")
	default:
		add(stepDone, second, fmt.Sprintf("%d provider files in %s; 'streamgauge init' adds one", s.files, s.from))
	}
	const third = "A key"
	switch {
	case len(s.configured) > 0:
		add(stepDone, third, strings.Join(s.configured, ", "))
	case s.repository == "":
		add(stepTodo, third, "export "+s.example()+"=… with your key; one provider is enough")
	default:
		add(stepTodo, third, fmt.Sprintf("add a secret, say %s, at %s; one provider is enough. To try it here: export %s=…",
			s.example(), at("/settings/secrets/actions/new"), s.example()))
	}
	const fourth = "A place for the site"
	switch {
	case s.repository == "":
		add(stepSkip, fourth, "'streamgauge serve' shows it; the folder can be copied to any web server")
	case s.pages == "on":
		add(stepDone, fourth, "Pages is on")
	case s.pages == "off":
		add(stepTodo, fourth, "at "+at("/settings/pages")+" choose Source: GitHub Actions")
	default:
		add(stateAsk, fourth, "at "+at("/settings/pages")+" the Source must be GitHub Actions")
	}
	const fifth = "A first run"
	switch {
	case !s.newest.IsZero():
		add(stepDone, fifth, "the newest sample is from "+s.newest.UTC().Format("2006-01-02 15:04 UTC"))
	case s.repository == "":
		add(stepTodo, fifth, "streamgauge run --site public && streamgauge serve --site public")
	default:
		add(stepTodo, fifth, "press Run workflow at "+at("/actions/workflows/bench.yml")+"; or here: streamgauge run --site public")
	}
	return list
}

// example is a variable to set first: what the provider with the fewest
// variables lacks.
func (s *setup) example() string {
	for _, names := range s.missing {
		if !strings.Contains(names, " ") && strings.Contains(names, "KEY") {
			return names
		}
	}
	return "BENCH_KEY_1"
}

// print prints the steps, as text or as a Markdown list.
func (s *setup) print(w io.Writer, markdown bool) error {
	var text strings.Builder
	if markdown {
		text.WriteString("## A gauge of your own in five steps\n\n")
	} else {
		text.WriteString("A gauge of your own in five steps\n")
	}
	for i, step := range s.steps() {
		if !markdown {
			fmt.Fprintf(&text, "  %d  %-5s %s: %s\n", i+1, step.state, step.what, step.advice)
			continue
		}
		box := "[ ]"
		if step.state == stepDone || step.state == stepSkip {
			box = "[x]"
		}
		fmt.Fprintf(&text, "- %s %d. **%s.** %s\n", box, i+1, step.what, bareURL.ReplaceAllString(step.advice, "<$0>"))
	}
	if !markdown {
		text.WriteString("\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// bareURL is an address in a text, without the punctuation after it.
var bareURL = regexp.MustCompile(`https://[^\s;,]*[^\s;,.:]`)

// githubRemote is a remote of git's that lies on GitHub.
var githubRemote = regexp.MustCompile(`^(?:https://|ssh://git@|git@)github\.com[:/]([A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+?)(?:\.git)?/?$`)

// repositoryURL returns the address of the repository of GitHub's that this job
// or checkout is of; "" if it is of none.
func (a *app) repositoryURL() string {
	server, _ := a.env("GITHUB_SERVER_URL")
	name, _ := a.env("GITHUB_REPOSITORY")
	if server != "" && name != "" {
		return server + "/" + name
	}
	cmd := exec.CommandContext(a.ctx, "git", "config", "--get", "remote.origin.url")
	cmd.Env = gitEnv(a.env)
	remote, err := cmd.Output()
	if err != nil {
		return "" // no git, no checkout, or no origin
	}
	if m := githubRemote.FindStringSubmatch(strings.TrimSpace(string(remote))); m != nil {
		return "https://github.com/" + m[1]
	}
	return ""
}

// handing is a line of a workflow that hands a secret on under its own name.
var handing = regexp.MustCompile(`(?m)^\s+([A-Z][A-Z0-9_]*): \$\{\{ secrets\.([A-Z][A-Z0-9_]*) \}\}$`)

// handedOn returns the secrets that the workflow in a folder hands to the job
// that measures; nil if there is no such workflow.
func handedOn(folder string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(folder, "bench.yml"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the workflow: %w", err)
	}
	names := []string{}
	for _, m := range handing.FindAllStringSubmatch(string(text), -1) {
		if m[1] == m[2] && !slices.Contains(names, m[1]) {
			names = append(names, m[1])
		}
	}
	return names, nil
}

// notHandedOn says what to do about a key that the workflows do not name.
func notHandedOn(name string) string {
	return fmt.Sprintf("bench.yml does not hand %s on, so the hosted job will not have it: call it BENCH_KEY_1 (to BENCH_KEY_8) in the provider file, "+
		"or add it to the workflows beside OPENAI_API_KEY", name)
}

// shortPath is a path as a reader would write it: from here, if it is below.
func shortPath(path string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if below, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(below) {
		return below
	}
	return path
}
