package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/robfig/cron/v3"

	"github.com/streamgauge/streamgauge/content"
)

// fence is a block of code in a page: its language and its text.
var fence = regexp.MustCompile("(?ms)^```([a-z]+)\n(.*?)^```$")

// TestHostingGuide reads every example of the guide with a parser of its
// language, and looks every command and flag up.
func TestHostingGuide(t *testing.T) {
	text, err := content.FS.ReadFile("guide-hosting.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, m := range fence.FindAllStringSubmatch(string(text), -1) {
		language, body := m[1], m[2]
		seen[language]++
		title, _, _ := strings.Cut(body, "\n")
		t.Run(language+" "+title, func(t *testing.T) {
			switch language {
			case "sh":
				checkShell(t, body)
			case "yaml":
				checkYAML(t, body)
			case "ini":
				checkUnit(t, body)
			case "crontab":
				checkCrontab(t, body)
			case "dockerfile":
				checkDockerfile(t, body)
			default:
				t.Errorf("no parser for %s", language)
			}
		})
	}
	for _, language := range []string{"sh", "yaml", "ini", "crontab", "dockerfile"} {
		if seen[language] == 0 {
			t.Errorf("the guide has no %s", language)
		}
	}
}

// checkCalls looks up every call of the program in a text.
func checkCalls(t *testing.T, text string) (calls int) {
	t.Helper()
	call := regexp.MustCompile(`streamgauge ([a-z]+)((?: +(?:--?[a-z-]+|"[^"]*"|[^\s&|;"]+))*)`)
	for _, m := range call.FindAllStringSubmatch(text, -1) {
		checkCall(t, m[1], m[2])
		calls++
	}
	return calls
}

// checkCall looks up a command and its flags.
func checkCall(t *testing.T, command, args string) {
	t.Helper()
	help, _, err := runWith(t, command, "--help")
	if err != nil {
		t.Errorf("streamgauge %s: %v", command, err)
	}
	for _, flag := range regexp.MustCompile(`--[a-z-]+`).FindAllString(args, -1) {
		if !strings.Contains(help, flag) {
			t.Errorf("streamgauge %s has no flag %s", command, flag)
		}
	}
}

func checkShell(t *testing.T, body string) {
	t.Helper()
	cmd := exec.Command("sh", "-n")
	cmd.Stdin = strings.NewReader(body)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("sh -n: %v\n%s", err, out)
	}
	checkCalls(t, body)
}

func checkYAML(t *testing.T, body string) {
	t.Helper()
	var doc map[string]any
	if err := yaml.UnmarshalWithOptions([]byte(body), &doc, yaml.Strict()); err != nil {
		t.Fatal(err)
	}
	switch {
	case doc["kind"] == "CronJob":
		var job struct {
			Spec struct {
				Schedule    string `yaml:"schedule"`
				JobTemplate struct {
					Spec struct {
						Template struct {
							Spec struct {
								Containers []struct {
									Args         []string `yaml:"args"`
									VolumeMounts []struct {
										Name string `yaml:"name"`
									} `yaml:"volumeMounts"`
								} `yaml:"containers"`
								Volumes []struct {
									Name string `yaml:"name"`
								} `yaml:"volumes"`
							} `yaml:"spec"`
						} `yaml:"template"`
					} `yaml:"spec"`
				} `yaml:"jobTemplate"`
			} `yaml:"spec"`
		}
		if err := yaml.Unmarshal([]byte(body), &job); err != nil {
			t.Fatal(err)
		}
		if _, err := cron.ParseStandard(job.Spec.Schedule); err != nil {
			t.Error(err)
		}
		pod := job.Spec.JobTemplate.Spec.Template.Spec
		if len(pod.Containers) != 1 || len(pod.Volumes) != 1 || len(pod.Containers[0].VolumeMounts) != 1 ||
			pod.Containers[0].VolumeMounts[0].Name != pod.Volumes[0].Name {
			t.Fatalf("containers and volumes do not fit: %+v", pod)
		}
		args := pod.Containers[0].Args
		checkCall(t, args[0], strings.Join(args[1:], " "))
	case doc["pages"] != nil: // GitLab
		script, _ := doc["pages"].(map[string]any)["script"].([]any)
		var lines []string
		for _, line := range script {
			s, ok := line.(string)
			if !ok {
				t.Fatalf("a line of the script is %T, not text: quote it", line)
			}
			lines = append(lines, s)
		}
		checkShell(t, strings.Join(lines, "\n"))
		if n := checkCalls(t, strings.Join(lines, "\n")); n != 4 {
			t.Errorf("%d calls, want fetch, bench, publish and build", n)
		}
	case doc["services"] != nil: // compose
		volumes, _ := doc["volumes"].(map[string]any)
		if _, ok := volumes["record"]; !ok {
			t.Error("the volume is not declared")
		}
	default:
		t.Error("neither a CronJob, nor a compose file, nor a pipeline")
	}
}

// unitKeys are the settings of systemd that the guide may use, by section. See
// systemd.unit(5), systemd.service(5), systemd.exec(5) and systemd.timer(5).
var unitKeys = map[string][]string{
	"[Unit]": {"Description", "Wants", "After"},
	"[Service]": {"Type", "ExecStart", "EnvironmentFile", "WorkingDirectory", "StateDirectory", "DynamicUser", "TimeoutStartSec",
		"ProtectSystem", "ProtectHome", "NoNewPrivileges", "PrivateTmp"},
	"[Timer]":   {"OnCalendar", "RandomizedDelaySec", "Persistent"},
	"[Install]": {"WantedBy"},
}

func checkUnit(t *testing.T, body string) {
	t.Helper()
	section := ""
	for line := range strings.Lines(body) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", strings.HasPrefix(line, "#"):
		case strings.HasPrefix(line, "["):
			if section = line; unitKeys[section] == nil {
				t.Errorf("unknown section %s", line)
			}
		default:
			key, value, ok := strings.Cut(line, "=")
			if !ok || value == "" || !slices.Contains(unitKeys[section], key) {
				t.Errorf("%s: %s", section, line)
			}
		}
	}
	if checkCalls(t, body) == 0 && !strings.Contains(body, "[Timer]") {
		t.Error("the unit starts nothing of ours")
	}
}

func checkCrontab(t *testing.T, body string) {
	t.Helper()
	for line := range strings.Lines(body) {
		fields := strings.SplitN(strings.TrimSpace(line), " ", 6)
		if len(fields) != 6 {
			t.Fatalf("not five fields and a command: %s", line)
		}
		if _, err := cron.ParseStandard(strings.Join(fields[:5], " ")); err != nil {
			t.Error(err)
		}
		if strings.Contains(fields[5], "%") {
			t.Error("cron takes a percent sign for a line feed")
		}
		checkShell(t, fields[5])
	}
}

func checkDockerfile(t *testing.T, body string) {
	t.Helper()
	if text, err := os.ReadFile("../../Dockerfile"); err != nil || string(text) != body {
		t.Errorf("it is not the one at the root: %v", err)
	}
	known := []string{"FROM", "WORKDIR", "COPY", "RUN", "USER", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"}
	for line := range strings.Lines(strings.ReplaceAll(body, "\\\n", " ")) {
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case word == "":
		case !slices.Contains(known, word):
			t.Errorf("unknown instruction %s", word)
		case word == "RUN":
			checkShell(t, rest)
		case word == "CMD", word == "ENTRYPOINT":
			var args []string
			if err := json.Unmarshal([]byte(rest), &args); err != nil {
				t.Fatalf("%s is not in exec form, and would not get signals: %v", word, err)
			}
			if word == "CMD" {
				checkCall(t, args[0], strings.Join(args[1:], " "))
			}
		}
	}
}
