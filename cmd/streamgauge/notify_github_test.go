package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// A fakeGitHub keeps issues as GitHub does, as far as package main can tell.
type fakeGitHub struct {
	mu     sync.Mutex
	issues []map[string]any
	writes int
	log    []string // method and path of each request
	// trouble may answer a request itself, before it is carried out; lose
	// carries it out and breaks the connection.
	trouble func(w http.ResponseWriter, r *http.Request, n int) bool
	lose    func(r *http.Request, n int) bool
	private bool
	label   bool   // the label is there
	drop    bool   // issues are opened without labels, as by who may not set any
	token   string // that came last
}

const fakeRepo = "owner/name"

func (g *fakeGitHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.log = append(g.log, r.Method+" "+r.URL.Path)
	g.token = r.Header.Get("Authorization")
	n := len(g.log)
	if g.trouble != nil && g.trouble(w, r, n) {
		return
	}
	path, ok := strings.CutPrefix(r.URL.Path, "/repos/"+fakeRepo)
	if !ok {
		http.NotFound(w, r)
		return
	}
	var answer any
	status := http.StatusOK
	switch {
	case r.Method == http.MethodGet && path == "":
		answer = map[string]any{"private": g.private}
	case r.Method == http.MethodGet && path == "/issues":
		answer = g.list(r)
	case r.Method == http.MethodGet && path == "/labels/"+issueLabel && g.label:
		answer = map[string]any{"name": issueLabel}
	case r.Method == http.MethodPost && path == "/labels":
		g.label, status = true, http.StatusCreated
	case r.Method == http.MethodPost && strings.HasSuffix(path, "/labels"):
		number, _ := strconv.Atoi(strings.Split(path, "/")[2])
		g.issues[number-1]["labels"] = labelled(issueLabel)
	case r.Method == http.MethodPost && path == "/issues":
		is := map[string]any{
			"number": len(g.issues) + 1, "state": "open", "user": map[string]any{"login": "github-actions[bot]"},
			"updated_at": time.Now(), "created_at": time.Now(),
		}
		decodeInto(r, is)
		is["labels"] = labelled(fmt.Sprint(is["labels"].([]any)[0]))
		if g.drop {
			is["labels"] = labelled()
		}
		g.issues = append(g.issues, is)
		g.writes++
		answer, status = is, http.StatusCreated
	case r.Method == http.MethodPatch:
		number, err := strconv.Atoi(strings.TrimPrefix(path, "/issues/"))
		if err != nil || number < 1 || number > len(g.issues) {
			http.NotFound(w, r)
			return
		}
		decodeInto(r, g.issues[number-1])
		g.writes++
		answer = g.issues[number-1]
	default:
		http.NotFound(w, r)
		return
	}
	if g.lose != nil && g.lose(r, n) {
		panic(http.ErrAbortHandler)
	}
	w.Header().Set("X-RateLimit-Remaining", "900")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(answer)
}

// labelled returns labels as GitHub answers with them.
func labelled(names ...string) []map[string]any {
	list := []map[string]any{}
	for _, name := range names {
		list = append(list, map[string]any{"name": name})
	}
	return list
}

func decodeInto(r *http.Request, into map[string]any) { _ = json.NewDecoder(r.Body).Decode(&into) }

// list returns a page of the issues of a label and a state.
func (g *fakeGitHub) list(r *http.Request) []map[string]any {
	q := r.URL.Query()
	var all []map[string]any
	for _, is := range g.issues {
		labels := fmt.Sprint(is["labels"])
		if is["state"] == q.Get("state") && strings.Contains(labels, q.Get("labels")) {
			all = append(all, is)
		}
	}
	per, _ := strconv.Atoi(q.Get("per_page"))
	page, _ := strconv.Atoi(q.Get("page"))
	from := min(len(all), per*(page-1))
	page2 := all[from:min(len(all), from+per)]
	if page2 == nil {
		page2 = []map[string]any{}
	}
	return page2
}

// startGitHub serves it on loopback; the tracker waits for nothing, and writes
// down for how long it was to wait.
func startGitHub(t *testing.T, g *fakeGitHub) (*tracker, *[]time.Duration) {
	t.Helper()
	server := httptest.NewServer(g)
	t.Cleanup(server.Close)
	tr := newTracker(server.URL, fakeRepo, "ghs_canarytoken", "github-actions[bot]")
	waits := &[]time.Duration{}
	backoff := tr.client.Backoff
	tr.client.Backoff = func(low, high time.Duration, attempt int, resp *http.Response) time.Duration {
		*waits = append(*waits, backoff(low, high, attempt, resp))
		return 0
	}
	tr.pause = func(ctx context.Context) error { return ctx.Err() }
	return tr, waits
}

// sync1 syncs once and returns the deeds.
func sync1(t *testing.T, tr *tracker, found ...rollup.Incident) (deeds []string, err error) {
	t.Helper()
	policy := rollup.DefaultPolicy()
	err = tr.sync(t.Context(), found, func(i *rollup.Incident) draft { return newDraft(i, &policy, "https://gauge.example/") }, false,
		func(d deed) { deeds = append(deeds, d.String()) })
	return deeds, err
}

// outage returns an open incident, as [rollup.FindIncidents] would.
func outage(model string) rollup.Incident {
	began := time.Now().UTC().Truncate(time.Hour).Add(-2 * time.Hour)
	return rollup.Incident{
		ID: hex16("id", model), Subject: hex16("subject", model), Kind: rollup.IncidentDown, Provider: "estuary",
		Series: bench.Series{Pair: bench.Pair{Provider: "estuary", Model: model}, Vantage: "github"},
		Began:  began, Opened: began.Add(time.Hour), Tally: rollup.Tally{Runs: 4, Failed: 3, Kinds: map[string]int{"server": 2, "timeout": 1}},
	}
}

func hex16(words ...string) string {
	var sum uint64 = 14695981039346656037
	for _, b := range []byte(strings.Join(words, "\x00")) {
		sum = (sum ^ uint64(b)) * 1099511628211
	}
	return fmt.Sprintf("%016x", sum)
}

func over(i rollup.Incident) rollup.Incident {
	i.Ended, i.Closed, i.Why = i.Opened.Add(10*time.Minute), i.Opened.Add(30*time.Minute), rollup.CloseRecovered
	return i
}

// TestIssueLifeCycle opens, updates and closes an issue, and each time once.
func TestIssueLifeCycle(t *testing.T) {
	g := &fakeGitHub{}
	tr, _ := startGitHub(t, g)
	alder := outage("alder")
	step := func(want string, found ...rollup.Incident) {
		t.Helper()
		for range 2 { // the second time there is nothing to do
			got, err := sync1(t, tr, found...)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, "; ") != want {
				t.Errorf("deeds %q; want %q", got, want)
			}
			want = ""
		}
	}
	step("open #1: estuary/alder is down", alder)
	alder.Tally.Runs, alder.Tally.Failed = 6, 5
	step("update #1: estuary/alder is down", alder)
	step("open #2: estuary/birch is down", alder, outage("birch"))
	step("close #1: estuary/alder was down, recovered", over(alder), outage("birch"))
	step("withdraw #2: estuary/birch is down", over(alder))
	if got := []any{g.issues[0]["state"], g.issues[0]["state_reason"], g.issues[1]["state"], g.issues[1]["state_reason"], g.writes}; !cmp.Equal(got, []any{"closed", "completed", "closed", "not_planned", 5}) {
		t.Errorf("states and writes: %v", got)
	}
	body := fmt.Sprint(g.issues[0]["body"])
	for _, want := range []string{"`estuary/alder` was down", "failed: 5 (server 2, timeout 1)", "https://gauge.example/changes/#i-" + alder.ID, "1 h 10 min after"} {
		if !strings.Contains(body, want) {
			t.Errorf("the body lacks %q:\n%s", want, body)
		}
	}
	if g.token != "Bearer ghs_canarytoken" {
		t.Errorf("token %q", g.token)
	}
}

// TestIssueFoldsAndDuplicates: what becomes part of a wider incident is closed
// with a word, and of two issues for one incident the younger goes.
func TestIssueFoldsAndDuplicates(t *testing.T) {
	g := &fakeGitHub{}
	tr, _ := startGitHub(t, g)
	alder, birch := outage("alder"), outage("birch")
	if _, err := sync1(t, tr, alder); err != nil {
		t.Fatal(err)
	}
	twin := map[string]any{}
	for k, v := range g.issues[0] {
		twin[k] = v
	}
	twin["number"] = 2
	g.issues = append(g.issues, twin) // as of two runs at once
	got, err := sync1(t, tr, alder)
	if err != nil || strings.Join(got, "; ") != "duplicate #2: estuary/alder is down" || !strings.Contains(fmt.Sprint(g.issues[1]["body"]), "an issue already: #1.") {
		t.Errorf("a duplicate: %q, %v", got, err)
	}
	wide := rollup.Incident{ID: hex16("wide"), Subject: hex16("wides"), Kind: rollup.IncidentDown, Provider: "estuary", Began: alder.Began, Opened: birch.Opened, Parts: []rollup.Incident{alder, birch}}
	got, err = sync1(t, tr, wide)
	if err != nil || strings.Join(got, "; ") != "fold #1: estuary/alder is down; open #3: estuary is down" {
		t.Errorf("a wider one: %q, %v", got, err)
	}
	if body := fmt.Sprint(g.issues[0]["body"]); !strings.Contains(body, "part of a wider incident: `estuary is down`") || !strings.Contains(body, "`estuary/alder` is down") {
		t.Errorf("the folded issue says:\n%s", body)
	}
	if body := fmt.Sprint(g.issues[2]["body"]); !strings.Contains(body, "- `alder` from `github`: down since") {
		t.Errorf("the wide issue says:\n%s", body)
	}
}

// TestIssueClosedByAPerson is left closed while its incident lasts.
func TestIssueClosedByAPerson(t *testing.T) {
	g := &fakeGitHub{}
	tr, _ := startGitHub(t, g)
	alder := outage("alder")
	if _, err := sync1(t, tr, alder); err != nil {
		t.Fatal(err)
	}
	g.issues[0]["state"] = "closed"
	alder.Tally.Runs++
	for _, found := range []rollup.Incident{alder, over(alder)} {
		if got, err := sync1(t, tr, found); err != nil || len(got) > 0 {
			t.Errorf("%q, %v; want nothing to do", got, err)
		}
	}
}

// TestForeignIssues: a marker that somebody else wrote is not believed.
func TestForeignIssues(t *testing.T) {
	g := &fakeGitHub{}
	tr, _ := startGitHub(t, g)
	if _, err := sync1(t, tr, outage("alder")); err != nil {
		t.Fatal(err)
	}
	g.issues[0]["user"] = map[string]any{"login": "stranger"}
	got, err := sync1(t, tr, outage("alder"))
	if err != nil || strings.Join(got, "; ") != "open #2: estuary/alder is down" {
		t.Errorf("%q, %v; want an issue of our own", got, err)
	}
	// Nor is the stranger's closed.
	if got, err := sync1(t, tr); err != nil || strings.Join(got, "; ") != "withdraw #2: estuary/alder is down" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestGitHubTrouble: what passes is waited for, and an issue whose creation was
// answered by nothing is not opened twice.
func TestGitHubTrouble(t *testing.T) {
	once := func(g *fakeGitHub, method string, answer func(http.ResponseWriter)) {
		done := false
		g.trouble = func(w http.ResponseWriter, r *http.Request, _ int) bool {
			if done || r.Method != method {
				return false
			}
			done = true
			answer(w)
			return true
		}
	}
	secondary := func(w http.ResponseWriter) {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"message":"You have exceeded a secondary rate limit."}`)
	}
	after := func(seconds string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", seconds)
			w.WriteHeader(http.StatusForbidden)
		}
	}
	fail := func(w http.ResponseWriter) { w.WriteHeader(http.StatusBadGateway) }
	tests := []struct {
		name   string
		set    func(*fakeGitHub)
		waits  []time.Duration
		issues int
		err    string
	}{
		{"a secondary limit", func(g *fakeGitHub) { once(g, "POST", secondary) }, []time.Duration{time.Minute}, 1, ""},
		{"asked to wait", func(g *fakeGitHub) { once(g, "POST", after("17")) }, []time.Duration{17 * time.Second}, 1, ""},
		{"asked to wait for long", func(g *fakeGitHub) { once(g, "GET", after("3600")) }, nil, 0, "left to the next run"},
		{"a bad gateway on reading", func(g *fakeGitHub) { once(g, "GET", fail) }, []time.Duration{time.Second}, 1, ""},
		{"a bad gateway on opening", func(g *fakeGitHub) { once(g, "POST", fail) }, nil, 1, ""},
		{"opened, but the answer is lost", func(g *fakeGitHub) {
			lost := false
			g.lose = func(r *http.Request, _ int) bool {
				first := r.Method == "POST" && !lost
				lost = lost || first
				return first
			}
		}, nil, 1, ""},
		{"always down", func(g *fakeGitHub) {
			g.trouble = func(w http.ResponseWriter, _ *http.Request, _ int) bool { fail(w); return true }
		}, []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second}, 0, "status 502"},
		{"no permission", func(g *fakeGitHub) {
			once(g, "POST", func(w http.ResponseWriter) {
				w.WriteHeader(http.StatusForbidden)
				fmt.Fprint(w, `{"message":"Resource not accessible by integration"}`)
			})
		}, nil, 0, "issues: write"},
		{"issues switched off", func(g *fakeGitHub) { once(g, "GET", func(w http.ResponseWriter) { w.WriteHeader(http.StatusGone) }) }, nil, 0, "Settings → General"},
		{"hardly any calls left", func(g *fakeGitHub) {
			once(g, "GET", func(w http.ResponseWriter) {
				w.Header().Set("X-RateLimit-Remaining", "3")
				fmt.Fprint(w, "[]")
			})
			// The list of closed issues comes after, and says the same.
			inner := g.trouble
			g.trouble = func(w http.ResponseWriter, r *http.Request, n int) bool {
				if r.URL.Query().Get("state") == "closed" {
					w.Header().Set("X-RateLimit-Remaining", "2")
					fmt.Fprint(w, "[]")
					return true
				}
				return inner(w, r, n)
			}
		}, nil, 0, "2 more calls"},
		{"a redirect", func(g *fakeGitHub) {
			once(g, "GET", func(w http.ResponseWriter) {
				w.Header().Set("Location", "/elsewhere")
				w.WriteHeader(http.StatusMovedPermanently)
			})
		}, nil, 0, "status 301"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &fakeGitHub{label: true}
			tr, waits := startGitHub(t, g)
			tt.set(g)
			_, err := sync1(t, tr, outage("alder"))
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v; want %q", err, tt.err)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error shows the token: %v", err)
			}
			if diff := cmp.Diff(tt.waits, *waits, cmp.Comparer(func(a, b []time.Duration) bool {
				return len(a) == 0 && len(b) == 0 || cmp.Equal([]time.Duration(a), []time.Duration(b))
			})); diff != "" && len(tt.waits)+len(*waits) > 0 {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			if len(g.issues) != tt.issues {
				t.Errorf("%d issues; want %d", len(g.issues), tt.issues)
			}
			if tt.err != "" {
				return
			}
			if got, err := sync1(t, tr, outage("alder")); err != nil || len(got) > 0 || len(g.issues) != 1 {
				t.Errorf("again: %q, %v, %d issues", got, err, len(g.issues))
			}
		})
	}
}

// TestManyIncidents opens some, and the rest the next time.
func TestManyIncidents(t *testing.T) {
	g := &fakeGitHub{}
	tr, _ := startGitHub(t, g)
	var found []rollup.Incident
	for i := range maxNewIssues + 3 {
		found = append(found, outage(fmt.Sprint("model", i)))
	}
	if got, err := sync1(t, tr, found...); len(got) != maxNewIssues || !errors.Is(err, errLater) {
		t.Errorf("first: %d deeds, %v", len(got), err)
	}
	if got, err := sync1(t, tr, found...); len(got) != 3 || err != nil {
		t.Errorf("then: %d deeds, %v", len(got), err)
	}
}

// TestIssuePages reads more than a page.
func TestIssuePages(t *testing.T) {
	g := &fakeGitHub{}
	tr, _ := startGitHub(t, g)
	for i := range 250 {
		g.issues = append(g.issues, map[string]any{
			"number": i + 1, "state": "open", "labels": labelled(issueLabel), "title": "t",
			"user": map[string]any{"login": "github-actions[bot]"},
			"body": marker{hex16("x", fmt.Sprint(i)), hex16("y"), "open", hex16("z")}.String(),
		})
	}
	list, err := tr.issues(t.Context(), nil)
	if err != nil || len(list) != 250 {
		t.Errorf("%d issues, %v; want 250", len(list), err)
	}
}

// TestHostileNames: nothing that a provider chose is alive in an issue.
func TestHostileNames(t *testing.T) {
	policy := rollup.DefaultPolicy()
	for _, name := range []string{
		"@everyone", "--><script>alert(1)</script>", "`x` @octocat", "``` \n# heading", "[x](javascript:alert(1))", "![x](https://evil.example/p.png)",
		"a\nb\r\n::error::x", "\u202egnp.exe", "x\x00y", "#1 fixes #2", strings.Repeat("wide ", 2000), "", "`", "<!-- streamgauge incident=0123456789abcdef",
	} {
		i := outage(name)
		i.Parts = []rollup.Incident{outage(name), outage("alder")}
		d := newDraft(&i, &policy, "https://gauge.example/")
		m := d.mark(i.ID, i.Subject)
		if got, ok := readMarker(d.body); !ok || got != m {
			t.Errorf("%q: the marker reads as %v, %v", name, got, ok)
		}
		if strings.ContainsAny(d.title, "\n\r`\x00\u202e") || len([]rune(d.title)) > maxTitle {
			t.Errorf("%q: title %q", name, d.title)
		}
		rest := withoutCode(t, strings.SplitN(d.body, "\n", 2)[1])
		for _, bad := range []string{"@", "script", "javascript", "evil", "::error", "#1", "\u202e", "\x00", "<!--", "# heading"} {
			if strings.Contains(strings.ReplaceAll(rest, "changes/#i-", ""), bad) {
				t.Errorf("%q: %q is alive in\n%s", name, bad, rest)
			}
		}
		if len(d.body) > maxBody+200 {
			t.Errorf("%.20q: a body of %d bytes", name, len(d.body))
		}
	}
}

// withoutCode cuts code spans out, by CommonMark's rule: a run of backticks ends
// at the next run of the same length.
func withoutCode(t *testing.T, text string) string {
	t.Helper()
	var b strings.Builder
	for i := 0; i < len(text); {
		if text[i] != '`' {
			b.WriteByte(text[i])
			i++
			continue
		}
		n := 0
		for i+n < len(text) && text[i+n] == '`' {
			n++
		}
		end := -1
		for j := i + n; j < len(text); {
			k := 0
			for j+k < len(text) && text[j+k] == '`' {
				k++
			}
			if k == n {
				end = j + k
				break
			}
			j += max(k, 1)
		}
		if end < 0 {
			t.Fatalf("a code span does not end: %q", text[i:min(len(text), i+80)])
		}
		i = end
	}
	return b.String()
}

// TestIssueLabel: the label is made before the first issue, and one that GitHub
// dropped is set, as an issue without it would be opened again and again.
func TestIssueLabel(t *testing.T) {
	g := &fakeGitHub{drop: true}
	tr, _ := startGitHub(t, g)
	if _, err := sync1(t, tr, outage("alder"), outage("birch")); err != nil {
		t.Fatal(err)
	}
	if !g.label || len(g.issues) != 2 {
		t.Errorf("label made: %v, %d issues", g.label, len(g.issues))
	}
	if got, err := sync1(t, tr, outage("alder"), outage("birch")); err != nil || len(got) > 0 {
		t.Errorf("again: %q, %v; want nothing to do", got, err)
	}
	g.trouble = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		refuse := r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/labels")
		if refuse {
			w.WriteHeader(http.StatusForbidden)
		}
		return refuse
	}
	if _, err := sync1(t, tr, outage("alder"), outage("birch"), outage("cedar")); err == nil || !strings.Contains(err.Error(), "issues: write") || g.issues[2]["state"] != "closed" {
		t.Errorf("without the right to label: %v, issue %v; want an error and the issue closed", err, g.issues[2]["state"])
	}
}
