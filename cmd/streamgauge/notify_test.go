package main

import (
	"bytes"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/data"
)

const publicProvider = `
base_url: https://llm.example.com/v1
protocol: openai_chat
every: 10m
models: [alder]
`

const privateProvider = `
base_url: https://canary-private.example.com/v1
protocol: openai_chat
key_env: CANARY_KEY
every: 10m
visibility: private
alias: gateway
models: [{id: canary-real-model, name: house-model}]
`

// recordOfOutages makes a record in which a public and a private provider have
// failed for the last runs, at different times, and returns its flags.
func recordOfOutages(t *testing.T) (dir string, flags []string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range map[string]string{"estuary.yaml": publicProvider, "secretive.yaml": privateProvider} {
		if err := os.MkdirAll(filepath.Join(dir, "providers"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "providers", name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	store, err := data.Open(t.Context(), filepath.Join(dir, "record"), data.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	now := time.Now().UTC().Truncate(time.Second)
	var samples []bench.Sample
	for i := range 12 {
		for k, pair := range []bench.Pair{{Provider: "estuary", Model: "alder"}, {Provider: "gateway", Model: "house-model"}} {
			s := bench.Sample{
				Pair: pair, StartedAt: now.Add(time.Duration(i-13)*10*time.Minute + time.Duration(k)*time.Minute), HTTPStatus: 200, Proto: "HTTP/1.1",
				Env:       bench.Env{Method: bench.MethodVersion, Prompt: bench.PromptVersion, Protocol: "openai_chat", Vantage: "github", Lanes: 1, Clock: bench.ClockUser},
				FirstText: 400 * time.Millisecond, LastText: 4 * time.Second, Done: 4 * time.Second, Reads: 50, Bytes: 5000, Chunks: 50, Deliveries: 50, Chars: 1000, Words: 200,
			}
			if i >= 8 {
				s = bench.Sample{Pair: pair, StartedAt: s.StartedAt, Env: s.Env, HTTPStatus: 503, Kind: wire.KindServer, Detail: wire.DetailOverloaded, FailedIn: bench.PhaseHeaders}
			}
			samples = append(samples, s)
		}
	}
	if _, err := store.Ingest(t.Context(), now, samples); err != nil {
		t.Fatal(err)
	}
	return dir, []string{"--data", filepath.Join(dir, "record"), "--providers", filepath.Join(dir, "providers"), "--config", filepath.Join(dir, "streamgauge.yaml")}
}

// TestNotifyCommand runs the command against a GitHub and a receiver of our own,
// with keys and private names that must not come out anywhere.
func TestNotifyCommand(t *testing.T) {
	dir, flags := recordOfOutages(t)
	config := filepath.Join(dir, "streamgauge.yaml")
	configure := func(text string) {
		if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := &fakeGitHub{}
	github := httptest.NewServer(g)
	defer github.Close()
	r := &receiver{t: t, schema: messageSchema(t)}
	hook := httptest.NewServer(r)
	defer hook.Close()
	env := map[string]string{
		"GITHUB_TOKEN": "ghs_canarytoken123", "GITHUB_REPOSITORY": fakeRepo, "GITHUB_API_URL": github.URL,
		webhookURLEnv: hook.URL + "/canary-path", webhookSecretEnv: testSecret, "CANARY_KEY": "sk-canary-key-99",
	}
	var all bytes.Buffer // whatever was printed
	notify := func(args ...string) string {
		t.Helper()
		var out, log bytes.Buffer
		lookup := func(name string) (string, bool) { v, ok := env[name]; return v, ok }
		err := run(t.Context(), append(append([]string{"notify"}, flags...), args...), lookup, strings.NewReader(""), &out, &log)
		if err != nil {
			t.Fatalf("notify %q: %v\n%s", args, err, &log)
		}
		all.Write(out.Bytes())
		all.Write(log.Bytes())
		return out.String()
	}
	expect := func(got string, want ...string) {
		t.Helper()
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("lacks %q:\n%s", w, got)
			}
		}
	}

	expect(notify("--github"), "estuary/alder is down", "gateway/house-model is down", "Issues are off")
	configure("incidents: {github: somebody/else}\n") // as a fork finds it
	expect(notify("--github"), "names another repository")
	if len(g.log) != 0 {
		t.Fatalf("GitHub was asked though it is off: %q", g.log)
	}

	configure("base_url: https://gauge.example/x\nincidents: {github: Owner/Name}\n")
	expect(notify("--github", "--dry-run"), "would open: estuary/alder is down")
	if g.writes != 0 {
		t.Fatal("a dry run has written")
	}
	expect(notify("--github"), "open #1: estuary/alder is down")
	expect(notify("--github"), "Issues: nothing to do.")
	if len(g.issues) != 1 {
		t.Fatalf("%d issues in a public repository; want that of the public provider", len(g.issues))
	}
	configure("base_url: https://gauge.example/x\nincidents: {github: owner/name, private_in_public: true}\n")
	expect(notify("--github"), "open #2: gateway/house-model is down")
	configure("base_url: https://gauge.example/x\nincidents: {github: owner/name}\n")
	g.private = true
	expect(notify("--github"), "Issues: nothing to do.")

	expect(notify("--webhook", "--dry-run"), "would send msg_", "incident.opened: estuary/alder is down")
	if r.n != 0 {
		t.Fatal("a dry run has sent")
	}
	expect(notify("--webhook"), "sent msg_", "gateway/house-model is down")
	expect(notify("--webhook"), "Webhook: nothing to send.")
	if len(r.got) != 2 || r.got[0].Data.URL == nil || !strings.HasPrefix(*r.got[0].Data.URL, "https://gauge.example/x/changes/#i-") {
		t.Errorf("the receiver was told %d things: %s", len(r.got), r.raw)
	}
	expect(notify("--json"), `"kind": "down"`)
	expect(notify("--schema"), "json-schema.org")

	var kept bytes.Buffer
	state, err := os.ReadFile(filepath.Join(dir, "record.delivered.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	kept.Write(state)
	for _, is := range g.issues {
		for _, field := range []string{"title", "body"} {
			kept.WriteString(is[field].(string))
		}
	}
	for _, body := range r.raw {
		kept.Write(body)
	}
	for _, canary := range []string{
		"ghs_canarytoken123", "sk-canary-key-99", "canary-private", "canary-real-model", "canary-path", "secretive",
		strings.TrimPrefix(testSecret, "whsec_"), "canary-secret",
	} {
		if strings.Contains(all.String(), canary) || strings.Contains(kept.String(), canary) {
			t.Errorf("%s came out", canary)
		}
	}

	delete(env, "GITHUB_TOKEN")
	var out, log bytes.Buffer
	err = run(t.Context(), append([]string{"notify", "--github"}, flags...), func(name string) (string, bool) { v, ok := env[name]; return v, ok }, strings.NewReader(""), &out, &log)
	if exitCode(err, &log) != exitFailed || !strings.Contains(log.String(), "GITHUB_TOKEN is not set") {
		t.Errorf("without a token: %v", err)
	}
}

// TestIncidentConfig reads what may be configured, and what may not.
func TestIncidentConfig(t *testing.T) {
	load := func(text string) error {
		file := filepath.Join(t.TempDir(), "streamgauge.yaml")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := loadIncidents(file)
		return err
	}
	for _, tt := range []struct{ text, want string }{
		{"name: x", ""},
		{"incidents: {down: {open: 2 of 2, close: 1 of 1}, degraded: {open: 3 of 10, close: 9 of 10}, throttling: true, speed: any, speed_days: 3}", ""},
		{"incidents: {down: {open: most}}", `down.open: "most"`},
		{"incidents: {degraded: {close: 13 of 12}}", "degraded.close"},
		{"incidents: {speed: fast}", "worse, any, off"},
		{"incidents: {speed_days: 1000}", "speed_days"},
		{"incidents: {github: true}", "OWNER/NAME"},
		{"incidents: {github: a/b/c}", "OWNER/NAME"},
		{"incidents: {gihub: a/b}", "unknown field"},
		{"incidents: {maintenance: [{provider: p, from: 2026-12-01T02:00Z, to: 2026-12-01T04:00:00+01:00}]}", ""},
		{"incidents: {maintenance: [{provider: p, from: 2026-12-01T02:00Z, to: 2026-12-01T01:00Z}]}", "window 1: it ends before it begins"},
		{"incidents: {maintenance: [{provider: p, weekly: 'Sun 02:00-04:00'}]}", ""},
		{"incidents: {maintenance: [{provider: p, weekly: sometimes}]}", "Sun 02:00-04:00"},
		{"incidents: {maintenance: [{provider: p}]}", "either from and to, or weekly"},
		{"incidents: {maintenance: [{weekly: 'Sun 02:00-04:00'}]}", "names no provider"},
		{"incidents: {maintenance: [{provider: canary-name, from: noon, to: night}]}", "not like 2026"},
	} {
		err := load(tt.text)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: %v; want %q", tt.text, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("the error repeats a name: %v", err)
		}
	}
}

// TestDoctorNamesThePermission: a job that opens issues and may not is a fault.
func TestDoctorNamesThePermission(t *testing.T) {
	workflow := func(permissions string) string {
		dir := t.TempDir()
		text := "jobs:\n  notify:\n" + permissions + "    steps:\n      - run: '\"$RUNNER_TEMP/streamgauge\" notify --data x --github'\n"
		if err := os.WriteFile(filepath.Join(dir, "bench.yml"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	for _, tt := range []struct {
		dir       string
		jobs, bad string
	}{
		{workflow("    permissions: {contents: read, issues: write}\n"), "bench.yml/notify", ""},
		{workflow("    permissions: {contents: read}\n"), "bench.yml/notify", "bench.yml/notify"},
		{workflow("    permissions: {issues: read}\n"), "bench.yml/notify", "bench.yml/notify"},
		{workflow(""), "bench.yml/notify", "bench.yml/notify"},
		{t.TempDir(), "", ""},
		{"../../.github/workflows", "bench-lite.yml/notify bench.yml/notify", ""},
	} {
		jobs, bad, err := notifyingJobs(tt.dir)
		if err != nil || strings.Join(jobs, " ") != tt.jobs || strings.Join(bad, " ") != tt.bad {
			t.Errorf("%q, %q, %v; want %q, %q", jobs, bad, err, tt.jobs, tt.bad)
		}
	}
}
