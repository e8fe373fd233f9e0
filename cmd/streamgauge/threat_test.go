package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/data"
)

// TestThreatModel reads the table of the threat model and looks for every test
// that it names. A row without a test promises what nobody checks.
func TestThreatModel(t *testing.T) {
	text, err := os.ReadFile("../../content/threat-model.md")
	if err != nil {
		t.Fatal(err)
	}
	exists := map[string]bool{}
	function := regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(\w+ \*testing\.[TF]\)`)
	err = filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		source, err := os.ReadFile(path)
		for _, m := range function.FindAllSubmatch(source, -1) {
			exists[string(m[1])] = true
		}
		return err
	})
	if err != nil || len(exists) < 100 {
		t.Fatalf("found %d tests: %v", len(exists), err)
	}
	name := regexp.MustCompile("`((?:Test|Fuzz)[A-Z]\\w*)`")
	rows := 0
	for number, line := range strings.Split(string(text), "\n") {
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| attempt ") {
			continue
		}
		rows++
		cells := strings.Split(strings.Trim(line, "| "), " | ")
		if len(cells) != 3 {
			t.Errorf("line %d has %d cells; want attempt, what stops it, tests", number+1, len(cells))
			continue
		}
		names := name.FindAllStringSubmatch(cells[2], -1)
		if len(names) == 0 {
			t.Errorf("line %d names no test: %s", number+1, cells[0])
		}
		for _, m := range names {
			if !exists[m[1]] {
				t.Errorf("line %d: there is no test %s", number+1, m[1])
			}
		}
	}
	if rows < 40 {
		t.Errorf("%d rows; the table was not found", rows)
	}
}

// TestForkOwnsItsRecord checks that a job pushes to its own repository and under
// its own instance, whatever it was forked from.
func TestForkOwnsItsRecord(t *testing.T) {
	at := func(repository, id string) *data.Branch {
		t.Helper()
		a := &app{env: func(name string) (string, bool) {
			v := map[string]string{"GITHUB_SERVER_URL": "https://github.com", "GITHUB_REPOSITORY": repository, "GITHUB_REPOSITORY_ID": id}[name]
			return v, v != ""
		}}
		b, err := (&branchFlags{Branch: "data"}).branch(a, t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	upstream, fork, renamed := at("streamgauge/streamgauge", "1"), at("somebody/streamgauge", "2"), at("somebody/gauge", "2")
	if upstream.Remote != "https://github.com/streamgauge/streamgauge" || fork.Remote != "https://github.com/somebody/streamgauge" {
		t.Errorf("upstream pushes to %s, the fork to %s", upstream.Remote, fork.Remote)
	}
	word := func(s string) string { first, _, _ := strings.Cut(s, " "); return first }
	if word(upstream.Instance) == word(fork.Instance) || word(fork.Instance) != word(renamed.Instance) || word(fork.Instance) == "" {
		t.Errorf("instances: upstream %q, fork %q, renamed %q", upstream.Instance, fork.Instance, renamed.Instance)
	}
}

// TestOwnRunners checks that what runs on a runner of one's own is started by a
// schedule or by hand, never by what others propose.
func TestOwnRunners(t *testing.T) {
	runsOn := regexp.MustCompile(`(?m)^\s+runs-on: (.+)$`)
	hosted := regexp.MustCompile(`^(ubuntu|macos|windows)-[0-9a-z.-]+$`)
	inMatrix := regexp.MustCompile(`\brunner: \[(.+)\]`)
	trigger := regexp.MustCompile(`(?ms)^on:\n(.*?)^\w`)
	own := 0
	for name, text := range workflowFiles(t) {
		for _, m := range runsOn.FindAllSubmatch(text, -1) {
			if hosted.Match(m[1]) {
				continue
			}
			if matrix := inMatrix.FindSubmatch(text); string(m[1]) == "${{ matrix.runner }}" && matrix != nil {
				for runner := range strings.SplitSeq(string(matrix[1]), ", ") {
					if !hosted.MatchString(runner) {
						t.Errorf("%s runs on %s", name, runner)
					}
				}
				continue
			}
			own++
			if string(m[1]) != "${{ vars.STREAMGAUGE_REMOTE }}" {
				t.Errorf("%s runs on %s", name, m[1])
			}
			on := trigger.FindSubmatch(text)
			if on == nil {
				t.Fatalf("%s: no triggers found", name)
			}
			for line := range strings.Lines(string(on[1])) {
				if strings.HasPrefix(line, "  ") && !strings.HasPrefix(line, "   ") && !slices.Contains([]string{"schedule:", "workflow_dispatch:"}, strings.TrimSpace(line)) {
					t.Errorf("%s, on a runner of one's own, starts on %s", name, strings.TrimSpace(line))
				}
			}
		}
	}
	if own == 0 {
		t.Error("no workflow runs on a runner of one's own")
	}
}

// oneSample returns a sample of a provider, as a simulated model gave it.
func oneSample(t *testing.T, provider string, at time.Time) bench.Sample {
	t.Helper()
	env := bench.Env{Method: bench.MethodVersion, Prompt: bench.PromptVersion, Protocol: "openai_chat", Vantage: "office", Lanes: 1, Clock: bench.ClockUser}
	pair := bench.Pair{Provider: provider, Model: "m"}
	for s := range synthetic(1, simulate.Models()[0], pair, env, at, at.Add(time.Hour), time.Hour) {
		s.StartedAt, s.Scheduled = at.UTC(), at.UTC()
		return s
	}
	t.Fatal("no sample")
	return bench.Sample{}
}

// TestDeliveryScreens hands over journals with what does not belong there, and
// looks at what enters the record.
func TestDeliveryScreens(t *testing.T) {
	now := time.Now().Truncate(time.Second)
	list := []bench.Provider{{Name: "ours"}, {Name: "apart", OwnLane: true}}
	token := "gh" + "p_" + strings.Repeat("0aB1cD2e", 5)
	stranger, wrongShard := oneSample(t, "nobody", now.Add(-time.Minute)), oneSample(t, "apart", now.Add(-2*time.Minute))
	echo := oneSample(t, "ours", now.Add(-3*time.Minute))
	echo.Backend = token
	line := func(s bench.Sample) string {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(text) + "\n"
	}
	at := func(d time.Duration) string { return line(oneSample(t, "ours", now.Add(d))) }
	for _, tt := range []struct {
		name, artifact, text string
		uploaded             time.Time // zero: it did not come as another job's artifact
		taken                int
		why                  string
	}{
		{"a good one", "journal-7-1-shared", at(-4 * time.Minute), time.Time{}, 1, ""},
		{"a provider that is not configured", "journal-8-1-shared", line(stranger), time.Time{}, 0, "not configured"},
		{"of another shard", "journal-9-1-shared", line(wrongShard), time.Time{}, 0, "shard"},
		{"of any shard", "journal-10-1-all", line(wrongShard), time.Time{}, 1, ""},
		{"with a key", "journal-11-1-all", line(echo), time.Time{}, 0, "GitHub token"},
		{"too old", "journal-12-1-all", at(-100 * time.Hour), time.Time{}, 0, "max-age"},
		{"from the time of the job", "journal-13-1-all", at(-5 * time.Minute), now, 1, ""},
		{"from before the job", "journal-14-1-all", at(-3 * time.Hour), now, 0, "time of the job"},
		{"from after the job", "journal-15-1-all", at(-6 * time.Minute), now.Add(-time.Hour), 0, "time of the job"},
		{"no sample", "journal-16-1-all", "{\"provider\":\"ours\",\"colour\":1}\n[]\n", time.Time{}, 0, "colour"},
		{"huge", "journal-17-1-all", strings.Repeat(" ", maxJournal) + at(-7*time.Minute), time.Time{}, 0, "refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "in", tt.artifact, "a.ndjson")
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			store, err := data.Open(t.Context(), filepath.Join(dir, "record"), data.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			defer store.Close()
			var log bytes.Buffer
			a := &app{ctx: t.Context(), env: func(string) (string, bool) { return "", false }, stdout: &log, stderr: &log}
			a.mask(nil)
			d := &delivery{app: a, store: store, list: list, now: now, maxAge: 48 * time.Hour, tallies: map[string]*tally{}}
			if !tt.uploaded.IsZero() {
				d.left = &archive{uploaded: map[string]time.Time{tt.artifact: tt.uploaded}}
			}
			if err := d.ingestFile(file); err != nil {
				t.Fatal(err)
			}
			if d.report.New != tt.taken {
				t.Errorf("%d samples were taken; want %d\n%s", d.report.New, tt.taken, log.String())
			}
			if !strings.Contains(log.String(), tt.why) || tt.why == "" && log.Len() > 0 {
				t.Errorf("it says %q; want it to say %q", log.String(), tt.why)
			}
			if strings.Contains(log.String(), token[:12]) {
				t.Errorf("the log repeats the key: %s", log.String())
			}
		})
	}
}

// TestScan puts a key into each place of a record or a site, by value and by
// shape, and checks that the file is named and nothing of the key.
func TestScan(t *testing.T) {
	token := "gh" + "p_" + strings.Repeat("0aB1cD2e", 5)
	const secret = "canary-4f8a1c77d2e9"
	a := &app{guard: bench.NewRedactor(secret)}
	for _, tt := range []struct{ name, text, want string }{
		{"index.html", "<p>innocent sk-... Bearer KEY</p>", ""},
		{"traces/x.json", token, ""}, // stays where it is
		{"models/acme.json", `{"id":"` + token + `"}`, "models/acme.json has the shape of a GitHub token"},
		{"raw/2026-03-30.sqlite", "SQLite format 3\x00\x00" + secret + "\x00", "raw/2026-03-30.sqlite has the value of a secret"},
		{"api/x.json", "Y2FuYXJ5LTRmOGExYzc3ZDJlOQ==", "api/x.json has the value of a secret"},
		{"pair/" + token + "/index.html", "", "the name of a file has the shape of a GitHub token"},
	} {
		dir := t.TempDir()
		file := filepath.Join(dir, filepath.FromSlash(tt.name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		err := a.scan(dir)
		if tt.want == "" && err == nil {
			continue
		}
		if !errors.Is(err, data.ErrSecret) || tt.want == "" || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.20s: %v; want %q", tt.name, err, tt.want)
		}
		if strings.Contains(fmt.Sprint(err), token[:12]) || strings.Contains(fmt.Sprint(err), "canary") {
			t.Errorf("%.20s: the error tells: %v", tt.name, err)
		}
	}
}

// TestUndoneShowsDemo runs a tick as in a fresh fork: with the shipped providers
// and no key at all. The site says DEMO on every page, and nothing simulated is
// in the record, which the first real sample begins.
func TestUndoneShowsDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	out := t.TempDir()
	record, site := filepath.Join(out, "record"), filepath.Join(out, "site")
	_, log, err := runWith(t, "run", "--data", record, "--site", site, "--config", filepath.Join(out, "none.yaml"))
	if err != nil {
		t.Fatalf("run: %v\n%s", err, log)
	}
	for _, want := range []string{"DEMO: nothing has been measured yet", "no provider is configured"} {
		if !strings.Contains(log, want) {
			t.Errorf("the log does not say %q:\n%s", want, log)
		}
	}
	says := func(want bool) {
		t.Helper()
		pages := 0
		err := filepath.WalkDir(site, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".html" {
				return err
			}
			pages++
			text, err := os.ReadFile(path)
			if bytes.Contains(text, []byte("<strong>DEMO</strong>")) != want {
				t.Errorf("%s says DEMO: %t; want %t", path, !want, want)
			}
			return err
		})
		if err != nil || pages < 20 {
			t.Errorf("looked at %d pages: %v", pages, err)
		}
	}
	says(true)
	store, err := data.Open(t.Context(), record, data.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	inventory, err := store.Inventory(t.Context())
	if err := errors.Join(err, store.Close()); err != nil || inventory.Series != 0 || inventory.Samples != 0 {
		t.Errorf("the record holds %d series and %d samples: %v", inventory.Series, inventory.Samples, err)
	}
	plan, _, err := runWith(t, "plan", "--json", "--data", record)
	var said struct {
		Demo   bool    `json:"demo"`
		Shards []shard `json:"shards"`
	}
	if err := errors.Join(err, json.Unmarshal([]byte(plan), &said)); err != nil || !said.Demo || len(said.Shards) > 0 {
		t.Errorf("plan says %+v, %v; want a demo and no shards", said, err)
	}

	// One failed request of a real provider is a beginning.
	dir := writeProvider(t, "nowhere", "base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nmodels: [m]\n")
	if _, log, err := runWith(t, "run", "--providers", dir, "--data", record, "--site", site, "--offline", "--no-calibrate", "--config", filepath.Join(out, "none.yaml")); err != nil {
		t.Fatalf("run: %v\n%s", err, log)
	}
	says(false)
}
