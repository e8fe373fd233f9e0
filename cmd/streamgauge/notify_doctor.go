package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/streamgauge/streamgauge/bench"
)

// checkNotify says who is told of incidents, and whether the job that opens
// issues may.
func (c *doctorCmd) checkNotify(a *app, found *checklist, list []bench.Provider) {
	const what = "incidents"
	config, policy, err := loadIncidents(c.Config)
	if err != nil {
		found.add(stepFault, what, err.Error())
		return
	}
	for _, n := range strangers(policy.Maintenance, list) {
		found.add(stepTodo, what, fmt.Sprintf("maintenance window %d names no provider, or no model of it, that is configured: use the public names", n))
	}
	repo, _ := a.env("GITHUB_REPOSITORY")
	switch {
	case config.GitHub == "":
		found.add(stepSkip, what, "nobody is told: to have issues, set incidents.github in "+shortPath(c.Config)+" to OWNER/NAME of this repository")
		return
	case repo != "" && !strings.EqualFold(repo, config.GitHub):
		found.add(stepSkip, what, "nobody is told: incidents.github in "+shortPath(c.Config)+" names "+config.GitHub+", and this is "+repo)
		return
	}
	jobs, forbidden, err := notifyingJobs(c.Workflows)
	switch {
	case err != nil:
		found.add(stepFault, what, err.Error())
	case len(forbidden) > 0:
		found.add(stepFault, what, strings.Join(forbidden, " and ")+" opens issues without the permission to: add 'issues: write' to its permissions")
	case len(jobs) == 0:
		found.add(stepTodo, what, "no workflow in "+shortPath(c.Workflows)+" runs 'streamgauge notify --github'")
	default:
		found.add(stepDone, what, "issues in "+config.GitHub+", by "+strings.Join(jobs, " and "))
	}
}

// notifyingJobs returns the jobs of the workflows in a folder that open issues,
// as "bench.yml/notify", and which of them lack the permission. A folder that
// does not exist has none.
func notifyingJobs(dir string) (jobs, forbidden []string, err error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.yml"))
	if err != nil {
		return nil, nil, fmt.Errorf("look for workflows: %w", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("read a workflow: %w", err)
		}
		var w struct {
			Permissions any `yaml:"permissions"`
			Jobs        map[string]struct {
				Permissions any `yaml:"permissions"`
				Steps       []struct {
					Run string `yaml:"run"`
				} `yaml:"steps"`
			} `yaml:"jobs"`
		}
		if err := yaml.Unmarshal(text, &w); err != nil {
			return nil, nil, fmt.Errorf("%s is no workflow: %s", filepath.Base(file), strings.SplitN(err.Error(), "\n", 2)[0])
		}
		for id, j := range w.Jobs {
			opens := false
			for _, step := range j.Steps {
				_, after, calls := strings.Cut(step.Run, "streamgauge\" notify ")
				opens = opens || calls && strings.Contains(after, "--github")
			}
			if !opens {
				continue
			}
			granted := j.Permissions
			if granted == nil {
				granted = w.Permissions
			}
			name := filepath.Base(file) + "/" + id
			jobs = append(jobs, name)
			if !mayWriteIssues(granted) {
				forbidden = append(forbidden, name)
			}
		}
	}
	slices.Sort(jobs)
	slices.Sort(forbidden)
	return jobs, forbidden, nil
}

// mayWriteIssues reports whether the permissions of a job let it write issues.
func mayWriteIssues(granted any) bool {
	if all, ok := granted.(string); ok {
		return all == "write-all"
	}
	by, _ := granted.(map[string]any)
	return by["issues"] == "write"
}
