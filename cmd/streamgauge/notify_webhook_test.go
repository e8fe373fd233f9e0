package main

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

const testSecret = "whsec_c3RyZWFtZ2F1Z2UtY2FuYXJ5LXNlY3JldC0wMDAwMDE="

// TestSignature holds the signature against the example of the specification's
// repository, whose secret, id, instant and body give this one. The same was
// worked out with openssl: printf 'ID.TIME.BODY' | openssl dgst -sha256 -mac HMAC
// -macopt hexkey:KEY -binary | base64.
func TestSignature(t *testing.T) {
	secret, err := readSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")
	if err != nil {
		t.Fatal(err)
	}
	got := signature(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", time.Unix(1614265330, 0), []byte(`{"test": 2432232314}`))
	if want := "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="; got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// A receiver is a webhook's other end: it believes nothing that is not signed.
type receiver struct {
	t      *testing.T
	mu     sync.Mutex
	got    []payload
	ids    []string
	answer func(n int) int // status of the n-th request, from 1
	n      int
	schema *jsonschema.Schema
	raw    [][]byte
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.n++
	body, _ := io.ReadAll(req.Body)
	id, at := req.Header.Get("webhook-id"), req.Header.Get("webhook-timestamp")
	key, _ := base64.StdEncoding.DecodeString(strings.TrimPrefix(testSecret, "whsec_"))
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + at + "." + string(body)))
	if want := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil)); req.Header.Get("webhook-signature") != want {
		r.t.Errorf("signature %q; want %q", req.Header.Get("webhook-signature"), want)
	}
	if r.answer != nil {
		if status := r.answer(r.n); status != 200 {
			if status/100 == 3 {
				w.Header().Set("Location", "/stolen")
			}
			w.WriteHeader(status)
			return
		}
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err == nil {
		err = r.schema.Validate(value)
	}
	if err != nil {
		r.t.Errorf("a message breaks its schema: %v\n%s", err, body)
	}
	var p payload
	if err := json.Unmarshal(body, &p); err != nil {
		r.t.Error(err)
	}
	r.got, r.ids, r.raw = append(r.got, p), append(r.ids, id), append(r.raw, body)
}

func messageSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(payloadSchema))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("message.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("message.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// startReceiver serves it on loopback; the webhook waits for nothing.
func startReceiver(t *testing.T) (*webhook, *receiver) {
	t.Helper()
	r := &receiver{t: t, schema: messageSchema(t)}
	server := httptest.NewServer(r)
	t.Cleanup(server.Close)
	hook, err := newWebhook(server.URL+"/hook", testSecret)
	if err != nil {
		t.Fatal(err)
	}
	hook.client.Backoff = func(time.Duration, time.Duration, int, *http.Response) time.Duration { return 0 }
	return hook, r
}

// tellOnce delivers what is due at an instant, by a file of deliveries.
func tellOnce(t *testing.T, hook *webhook, file string, now time.Time, found ...rollup.Incident) error {
	t.Helper()
	past, err := readDelivered(file)
	if err != nil {
		t.Fatal(err)
	}
	l, err := openLedger(file)
	if err != nil {
		t.Fatal(err)
	}
	defer l.file.Close()
	return hook.deliver(t.Context(), dueMessages(now, found, past, "https://gauge.example/"), l.add, func(message) {})
}

// told returns what the receiver was told since it was asked last, in short.
func (r *receiver) told() string {
	var list []string
	for _, p := range r.got {
		text := strings.TrimPrefix(p.Type, "incident.") + " " + p.Data.Incident[:4] + " " + p.Data.Kind
		if p.Data.Reason != nil {
			text += " " + *p.Data.Reason
		}
		list = append(list, text)
	}
	r.got = nil
	return strings.Join(list, "; ")
}

// TestWebhookLifeCycle tells each thing once, whatever happens in between.
func TestWebhookLifeCycle(t *testing.T) {
	hook, r := startReceiver(t)
	file := filepath.Join(t.TempDir(), "delivered.ndjson")
	now := time.Now().UTC()
	step := func(what, want string, found ...rollup.Incident) {
		t.Helper()
		for range 2 {
			if err := tellOnce(t, hook, file, now, found...); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			if got := r.told(); got != want {
				t.Errorf("%s: %q; want %q", what, got, want)
			}
			want = ""
		}
	}
	alder, birch := outage("alder"), outage("birch")
	a, b := alder.ID[:4], birch.ID[:4]
	alder.Kind = rollup.IncidentDegraded
	step("degraded", "opened "+a+" degraded", alder)
	alder.Tally.Runs++
	step("goes on", "", alder)
	alder.Kind, alder.Worsened = rollup.IncidentDown, alder.Opened.Add(10*time.Minute)
	step("down", "worsened "+a+" down", alder)
	moved := alder
	moved.ID, moved.Began = hex16("moved"), alder.Began.Add(time.Hour)
	step("its beginning has moved", "", moved)
	step("over", "closed "+a+" down recovered", over(moved))
	step("over by its first name too", "", over(alder))
	step("one that came and went", "opened "+b+" down; closed "+b+" down recovered", over(alder), over(birch))

	cedar, fir := outage("cedar"), outage("fir")
	step("two more", "opened "+cedar.ID[:4]+" down; opened "+fir.ID[:4]+" down", cedar, fir)
	wide := rollup.Incident{ID: hex16("wide"), Subject: hex16("wides"), Kind: rollup.IncidentDown, Provider: "estuary", Began: cedar.Began, Opened: cedar.Opened, Parts: []rollup.Incident{cedar}}
	step("one is part of a wider one, one is shown no more",
		"opened "+wide.ID[:4]+" down; closed "+cedar.ID[:4]+" down folded; closed "+fir.ID[:4]+" down withdrawn", wide)

	old := over(outage("old"))
	old.Closed = now.Add(-tellWithin - time.Minute)
	step("long over, never told", "", old, wide)
	planned := outage("planned")
	planned.Maintenance = "Sun 02:00-04:00 UTC"
	step("in maintenance", "", planned, wide)

	// Without the file of deliveries everything comes again, under the same ids.
	seen := map[string]bool{}
	for _, id := range r.ids {
		if seen[id] {
			t.Errorf("id %s came twice", id)
		}
		seen[id] = true
	}
	if err := tellOnce(t, hook, file+".new", now, over(birch), wide); err != nil {
		t.Fatal(err)
	}
	for _, id := range r.ids[len(r.ids)-3:] {
		if !seen[id] {
			t.Errorf("id %s is new; want the one of before", id)
		}
	}
}

// TestWebhookTrouble: what fails is neither lost nor told twice, and of one
// incident nothing is told out of order.
func TestWebhookTrouble(t *testing.T) {
	now := time.Now().UTC()
	alder := outage("alder")
	closed := over(alder)
	tests := []struct {
		name   string
		answer func(n int) int
		err    string // of the first try
		first  string
		then   string
	}{
		{"a bad gateway once", func(n int) int { return map[bool]int{true: 502, false: 200}[n == 1] }, "", "opened; closed", ""},
		{"busy once", func(n int) int { return map[bool]int{true: 429, false: 200}[n == 1] }, "", "opened; closed", ""},
		{"always down at first", func(n int) int { return map[bool]int{true: 503, false: 200}[n <= notifyRetries+1] }, "status 503", "", "opened; closed"},
		{"refused at first", func(n int) int { return map[bool]int{true: 400, false: 200}[n == 1] }, "status 400", "", "opened; closed"},
		{"a redirect is not followed", func(n int) int { return map[bool]int{true: 307, false: 200}[n == 1] }, "redirect", "", "opened; closed"},
		{"fails in the middle", func(n int) int { return map[bool]int{true: 400, false: 200}[n == 2] }, "status 400", "opened", "closed"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			hook, r := startReceiver(t)
			r.answer = tt.answer
			file := filepath.Join(t.TempDir(), "delivered.ndjson")
			types := func() string {
				var list []string
				for _, p := range r.got {
					list = append(list, strings.TrimPrefix(p.Type, "incident."))
				}
				r.got = nil
				return strings.Join(list, "; ")
			}
			err := tellOnce(t, hook, file, now, closed)
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v; want %q", err, tt.err)
			}
			if err != nil && strings.Contains(err.Error(), "127.0.0.1") {
				t.Errorf("the error shows the address: %v", err)
			}
			if got := types(); got != tt.first {
				t.Errorf("first %q; want %q", got, tt.first)
			}
			if err := tellOnce(t, hook, file, now, closed); err != nil {
				t.Error(err)
			}
			if got := types(); got != tt.then {
				t.Errorf("then %q; want %q", got, tt.then)
			}
		})
	}
}

// TestDeliveredCutShort: a line that a crash cut short is sent again, and spoils
// no other.
func TestDeliveredCutShort(t *testing.T) {
	hook, r := startReceiver(t)
	file := filepath.Join(t.TempDir(), "delivered.ndjson")
	now := time.Now().UTC()
	if err := tellOnce(t, hook, file, now, outage("alder"), outage("birch")); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text[:len(text)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	r.got = nil
	if err := tellOnce(t, hook, file, now, outage("alder"), outage("birch")); err != nil {
		t.Fatal(err)
	}
	if len(r.got) != 1 || r.ids[1] != r.ids[2] {
		t.Errorf("%d messages again, ids %q; want the last one again", len(r.got), r.ids)
	}
	if again, err := os.ReadFile(file); err != nil || strings.Count(string(again), "\n") != 2 {
		t.Errorf("the file has %d lines, %v", strings.Count(string(again), "\n"), err)
	}
}

// TestDueInAnyOrder: however the runs of a history of incidents fall, each thing
// is told once, and nothing before what precedes it.
func TestDueInAnyOrder(t *testing.T) {
	base := time.Date(2026, 7, 15, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 2))
		var past []delivered
		sent := map[string]int{}
		for hour := 0; hour < 48; hour += 1 + r.IntN(6) {
			now := base.Add(time.Duration(hour) * time.Hour)
			var found []rollup.Incident
			for k := range 4 { // incident k lasts from hour 3k to hour 3k+9
				i := outage(string(rune('a' + k)))
				i.Began, i.Opened = base.Add(time.Duration(3*k)*time.Hour), base.Add(time.Duration(3*k+1)*time.Hour)
				if end := base.Add(time.Duration(3*k+9) * time.Hour); !end.After(now) {
					i.Closed, i.Why = end, rollup.CloseRecovered
				}
				if !i.Opened.After(now) {
					found = append(found, i)
				}
			}
			r.Shuffle(len(found), func(a, b int) { found[a], found[b] = found[b], found[a] })
			for _, m := range dueMessages(now, found, past, "") {
				if r.IntN(4) == 0 {
					break // the rest does not arrive
				}
				sent[m.payload.Data.Incident+m.payload.Type]++
				if m.payload.Type == typeClosed && sent[m.payload.Data.Incident+typeOpened] == 0 {
					t.Fatalf("seed %d: closed before it was opened", seed)
				}
				past = append(past, delivered{m.id, now, m.subject, m.payload})
			}
		}
		for what, n := range sent {
			if n != 1 {
				t.Errorf("seed %d: %s was told %d times", seed, what, n)
			}
		}
		if len(sent) != 8 {
			t.Errorf("seed %d: %d things were told; want 8", seed, len(sent))
		}
	}
}

func TestNewWebhook(t *testing.T) {
	for _, tt := range []struct{ url, secret, want string }{
		{"https://example.com/hook", testSecret, ""},
		{"http://127.0.0.1:1/hook", testSecret, ""},
		{"http://localhost:1/hook", testSecret, ""},
		{"http://example.com/canary", testSecret, "https"},
		{"http://127.0.0.1.example.com/canary", testSecret, "https"},
		{"https://canary:canary@example.com/", testSecret, "user or a password"},
		{"ftp://canary", testSecret, "https"},
		{"canary", testSecret, "absolute"},
		{"", testSecret, "absolute"},
		{"https://example.com/canary", "", "whsec_"},
		{"https://example.com/canary", "canary-canary-canary-canary", "whsec_"},
		{"https://example.com/canary", "whsec_Y2FuYXJ5", "24 to 64 bytes"},
	} {
		_, err := newWebhook(tt.url, tt.secret)
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, %s: %v; want %q", tt.url, tt.secret, err, tt.want)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("the error repeats what it was given: %v", err)
		}
	}
}

// TestGuardedMessage: a message that would hold a provider's key is not sent.
func TestGuardedMessage(t *testing.T) {
	hook, r := startReceiver(t)
	hook.guard = bench.NewRedactor("sk-canary-0123456789")
	err := tellOnce(t, hook, filepath.Join(t.TempDir(), "d"), time.Now().UTC(), outage("sk-canary-0123456789"))
	if !errors.Is(err, errHoldsSecret) || r.n != 0 {
		t.Errorf("%v after %d requests; want it refused", err, r.n)
	}
	g := &fakeGitHub{}
	tr, _ := startGitHub(t, g)
	tr.guard = hook.guard
	if _, err := sync1(t, tr, outage("sk-canary-0123456789")); !errors.Is(err, errHoldsSecret) || len(g.issues) != 0 {
		t.Errorf("%v with %d issues; want it refused", err, len(g.issues))
	}
}

// TestGuideExample checks the message and the verification that the guide shows.
func TestNotifyGuide(t *testing.T) {
	text, err := os.ReadFile("../../content/guide-fork.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(text), "```json\n")
	example, _, closed := strings.Cut(rest, "```")
	if !ok || !closed {
		t.Fatal("the guide shows no message")
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(example))
	if err == nil {
		err = messageSchema(t).Validate(value)
	}
	if err != nil {
		t.Errorf("the guide's message breaks the schema: %v", err)
	}
	_, rest, ok = strings.Cut(string(text), "{#incidents}")
	_, rest, also := strings.Cut(rest, "```yaml\n")
	config, _, closed := strings.Cut(rest, "```")
	if !ok || !also || !closed {
		t.Fatal("the guide shows no configuration")
	}
	file := filepath.Join(t.TempDir(), "streamgauge.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c, policy, err := loadIncidents(file)
	if err != nil {
		t.Fatal(err)
	}
	// What the guide calls the defaults are them.
	want := rollup.DefaultPolicy()
	want.Maintenance = policy.Maintenance
	if diff := cmp.Diff(want, policy); diff != "" || len(policy.Maintenance) != 2 || c.GitHub == "" {
		t.Errorf("the guide's configuration (-default +guide), %d windows:\n%s", len(policy.Maintenance), diff)
	}
}
