package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

// A chatServer answers chat requests as handle says, and counts them.
type chatServer struct {
	*httptest.Server
	mu     sync.Mutex
	bodies []map[string]any
}

func newChatServer(t *testing.T, handle func(w http.ResponseWriter, r *http.Request, body map[string]any)) *chatServer {
	t.Helper()
	s := &chatServer{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body map[string]any
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			t.Errorf("request body: %v", err)
		}
		s.mu.Lock()
		s.bodies = append(s.bodies, body)
		s.mu.Unlock()
		handle(w, r, body)
	}))
	t.Cleanup(s.Close)
	return s
}

// stream writes a short answer in the chat format.
func stream(w io.Writer, words ...string) {
	for _, word := range words {
		fmt.Fprintf(w, "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", word)
	}
	fmt.Fprint(w, "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
}

// writeProvider writes a provider file into a folder of its own.
func writeProvider(t *testing.T, name, text string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, name+".yaml"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestRejectedStreamOptions checks that a server that rejects stream_options is
// asked once more without, as a sample of its own, and that later runs leave
// them out at once.
func TestRejectedStreamOptions(t *testing.T) {
	server := newChatServer(t, func(w http.ResponseWriter, _ *http.Request, body map[string]any) {
		if body["stream_options"] != nil {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":"Unrecognized request argument supplied: stream_options","type":"invalid_request_error"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		stream(w, "some", " words")
	})
	dir := writeProvider(t, "old", "base_url: "+server.URL+"/v1\nprotocol: openai_chat\nevery: 10m\nmodels: [m]\n")
	record := t.TempDir()
	for range 2 {
		if _, stderr, err := runWith(t, "bench", "--providers", dir, "--data", filepath.Join(record, "r"), "--force", "--offline"); err != nil {
			t.Fatalf("bench: %v\n%s", err, stderr)
		}
		if _, stderr, err := runWith(t, "ingest", "--data", filepath.Join(record, "r")); err != nil {
			t.Fatalf("ingest: %v\n%s", err, stderr)
		}
	}
	var asked []bool
	for _, body := range server.bodies {
		asked = append(asked, body["stream_options"] != nil)
	}
	if got, want := fmt.Sprint(asked), "[true false false]"; got != want {
		t.Errorf("requests with stream_options: %s; want %s", got, want)
	}
}

// TestBufferProbe lets a pair with a past of two days be due. Its request has a
// probe of 16 tokens beside it, which ends up in the record as one, and a second
// tick has none.
func TestBufferProbe(t *testing.T) {
	server := newChatServer(t, func(w http.ResponseWriter, _ *http.Request, _ map[string]any) {
		w.Header().Set("Content-Type", "text/event-stream")
		stream(w, "some", " words")
	})
	const text = "protocol: openai_chat\nevery: 10m\nmodels: [m]\n"
	dir := writeProvider(t, "acme", "base_url: "+server.URL+"/v1\n"+text)
	record := filepath.Join(t.TempDir(), "r")
	store, err := data.Open(t.Context(), record, data.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	var past []bench.Sample
	for _, ago := range []time.Duration{60 * time.Hour, 30 * time.Hour, time.Hour} {
		past = append(past, bench.Sample{
			Pair: bench.Pair{Provider: "acme", Model: "m"}, StartedAt: now.Add(-ago).UTC().Truncate(time.Millisecond),
			Env:       bench.Env{Method: 1, Prompt: 1, Protocol: "openai_chat", Vantage: "local"},
			FirstText: time.Second, LastText: 3 * time.Second, Done: 3 * time.Second, Chunks: 9, Deliveries: 9, Chars: 900, FirstReadChars: 100,
		})
	}
	if _, err := store.Ingest(t.Context(), now, past); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	plan, stderr, err := runWith(t, "plan", "--providers", dir, "--data", record)
	if err != nil || !strings.Contains(plan, "the day's buffering probe ") {
		t.Fatalf("plan: %v\n%s%s", err, plan, stderr)
	}
	for range 2 {
		if _, stderr, err := runWith(t, "bench", "--providers", dir, "--data", record, "--force", "--offline"); err != nil {
			t.Fatalf("bench: %v\n%s", err, stderr)
		}
		if _, stderr, err := runWith(t, "ingest", "--data", record); err != nil {
			t.Fatalf("ingest: %v\n%s", err, stderr)
		}
	}
	caps := map[string]int{}
	for _, body := range server.bodies {
		caps[fmt.Sprint(body["max_completion_tokens"], body["max_tokens"])]++
	}
	if got, want := fmt.Sprint(caps), "map[<nil> 16:1 <nil> 300:2]"; got != want {
		t.Errorf("caps asked for: %s; want %s", got, want)
	}
	if store, err = data.Open(t.Context(), record, data.Options{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	list, err := histories(t.Context(), store, nil, now.Add(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	if len(list) != 1 || len(list[0].Samples) != 5 || len(list[0].Probes) != 1 || !list[0].Probes[0].Env.Short {
		t.Errorf("%d series; of the first %d samples and %d probes; want 1, 5 and 1", len(list), len(list[0].Samples), len(list[0].Probes))
	}
}

// TestSecretsGoNowhere puts a canary key into every place a provider can echo
// it, and looks for it, plain and encoded, in all that is left behind.
func TestSecretsGoNowhere(t *testing.T) {
	const canary = "canary-4f8a1c77d2e94b6f"
	echo := func(w http.ResponseWriter, r *http.Request) string {
		key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		if key != canary {
			t.Errorf("the server got the key %q", key)
		}
		w.Header().Set("X-Request-Id", key)
		w.Header().Set("Retry-After", key)
		return key
	}
	server := newChatServer(t, func(w http.ResponseWriter, r *http.Request, body map[string]any) {
		key := echo(w, r)
		switch body["model"] {
		case "refuses":
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprintf(w, `{"error":{"message":"Incorrect API key provided: %s","type":%q,"code":%q}}`, key, key, key)
		case "redirects":
			http.Redirect(w, r, "http://localhost:1/"+key, http.StatusTemporaryRedirect)
		case "in-band":
			fmt.Fprintf(w, "data: {\"error\":{\"message\":%q,\"code\":%q}}\n\n", key, key)
		default:
			fmt.Fprintf(w, ": %s\n\nevent: %s\ndata: {\"id\":%q,\"model\":%q,\"provider\":%q,\"system_fingerprint\":%q,\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", key, key, key, key, key, key, key)
			fmt.Fprintf(w, "data: {\"model\":%q,\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":%q}]}\n\ndata: [DONE]\n\n", key, key)
		}
	})
	dir := writeProvider(t, "gateway", "base_url: "+server.URL+"/v1\nprotocol: openai_chat\nkey_env: GATEWAY_KEY\nevery: 10m\n"+
		"models: [refuses, redirects, in-band, echoes]\n")
	out := t.TempDir()
	env := func(name string) (string, bool) {
		if name == "GATEWAY_KEY" {
			return canary, true
		}
		return "", false
	}
	var stdout, stderr bytes.Buffer
	args := []string{"-v", "run", "--providers", dir, "--data", filepath.Join(out, "record"), "--site", filepath.Join(out, "site"), "--offline"}
	if err := run(t.Context(), args, env, strings.NewReader(""), &stdout, &stderr); err != nil {
		// A sample that holds the key is refused as a whole: an error, with
		// what else was measured kept.
		fmt.Fprintln(&stderr, err)
	}
	if n := len(server.bodies); n != 4 {
		t.Errorf("%d requests were sent; want 4", n)
	}
	look := func(where string, text []byte) {
		for _, form := range []string{canary, "Y2FuYXJ5LTRmOGExYzc3ZDJlOTRiNm", "63616e6172792d3466386131633737643265393462"} {
			if bytes.Contains(text, []byte(form)) {
				t.Errorf("%s holds the key (as %s)", where, form)
			}
		}
	}
	look("standard output", stdout.Bytes())
	look("the log", stderr.Bytes())
	files := 0
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		files++
		look(path, text)
		return err
	})
	if err != nil || files == 0 {
		t.Fatalf("looked at %d files: %v", files, err)
	}
}

// TestProbeRejectedStreamOptions checks that a probe of a server that rejects
// stream_options says so and asks again without.
func TestProbeRejectedStreamOptions(t *testing.T) {
	server := newChatServer(t, func(w http.ResponseWriter, _ *http.Request, body map[string]any) {
		if body["stream_options"] != nil {
			w.WriteHeader(http.StatusUnprocessableEntity)
			fmt.Fprint(w, `{"detail":[{"type":"extra_forbidden","loc":["body","stream_options"],"msg":"Extra inputs are not permitted"}]}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		stream(w, "some", " words")
	})
	kept := filepath.Join(t.TempDir(), "stream.json")
	out, stderr, err := runWith(t, "probe", "--url", server.URL+"/v1", "--model", "m", "--record", kept, "--yes")
	if err != nil || strings.Contains(out, "Failed") || !strings.Contains(stderr, "rejects stream_options") {
		t.Errorf("probe: %v\n%s\n%s", err, out, stderr)
	}
	if len(server.bodies) != 2 {
		t.Errorf("%d requests; want 2", len(server.bodies))
	}
	if text, err := os.ReadFile(kept); err != nil || !strings.Contains(string(text), `"http_status": 200`) {
		t.Errorf("the recording is not of the second answer: %v\n%.300s", err, text)
	}
}

// TestOnlyNothing checks that a run which a slip of the keyboard restricts to
// nothing says so.
func TestOnlyNothing(t *testing.T) {
	dir := writeProvider(t, "acme", "base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nevery: 10m\nmodels: [m]\n")
	record := filepath.Join(t.TempDir(), "r")
	_, stderr, err := runWith(t, "bench", "--providers", dir, "--data", record, "--offline", "--only", "acme/n", "--lane", "share")
	if err != nil || !strings.Contains(stderr, "only=acme/n") || !strings.Contains(stderr, "lane=share") {
		t.Errorf("bench: %v\n%s", err, stderr)
	}
	for _, only := range []string{"acme", "acme/m"} {
		_, stderr, err := runWith(t, "bench", "--providers", dir, "--data", record, "--offline", "--no-calibrate", "--only", only, "--lane", "shared")
		if err != nil || strings.Contains(stderr, "names n") {
			t.Errorf("--only %s: %v\n%s", only, err, stderr)
		}
	}
}

// TestWrongVariable sets a variable of one provider to what makes no request. The
// others are measured all the same and the site is built, though the run ends as
// a failure of ours; doctor names the fault without the value.
func TestWrongVariable(t *testing.T) {
	server := newChatServer(t, func(w http.ResponseWriter, _ *http.Request, _ map[string]any) {
		w.Header().Set("Content-Type", "text/event-stream")
		stream(w, "some", " words")
	})
	dir := writeProvider(t, "acme", "base_url: "+server.URL+"/v1\nprotocol: openai_chat\nevery: 10m\nmodels: [m]\n")
	wrong := "base_url: ${HOUSE_URL}\nprotocol: openai_chat\nevery: 10m\nmodels: [m, n]\n"
	if err := os.WriteFile(filepath.Join(dir, "house.yaml"), []byte(wrong), 0o644); err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) {
		return "https://user:hunter2@house.example/v1", name == "HOUSE_URL"
	}
	record, site := filepath.Join(t.TempDir(), "r"), t.TempDir()
	for _, tt := range []struct {
		args []string
		exit int
		says string
	}{
		{[]string{"run", "--providers", dir, "--data", record, "--offline", "--no-calibrate", "--site", site, "--config", filepath.Join(site, "none.yaml")}, exitFailed, "ok=1 failed=0"},
		{[]string{"doctor", "--providers", dir, "--data", record}, exitCheck, "FAULT"},
	} {
		var out bytes.Buffer
		err := run(t.Context(), tt.args, env, strings.NewReader(""), &out, &out)
		if got := exitCode(err, &out); got != tt.exit || !strings.Contains(out.String(), tt.says) ||
			!strings.Contains(out.String(), "must not hold a user or password") || strings.Contains(out.String(), "hunter2") {
			t.Errorf("%s exits with %d:\n%s\nwant %d and %q", tt.args[0], got, &out, tt.exit, tt.says)
		}
	}
	if _, err := os.Stat(filepath.Join(site, "index.html")); err != nil {
		t.Errorf("the site was not built: %v", err)
	}
}
