package bench

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// lister returns a Lister that does not wait between its tries.
func lister() *Lister {
	l := NewLister(nil)
	l.client.RetryWaitMin, l.client.RetryWaitMax = 0, 0
	return l
}

// discovering returns a provider that lists its models at a loopback server.
func discovering(url string, format ListFormat) *Provider {
	return &Provider{
		Name: "acme", BaseURL: url, KeyEnv: "ACME_KEY", Dialect: Dialect{Protocol: "openai_chat"},
		Discover: &Discover{Format: format, Include: []string{"*"}, Limit: 10},
	}
}

func keyed(name string) (string, bool) { return "sk-canary-1234", true }

// TestListFormats reads a list in each format, in the words of the provider's
// documentation, and looks at how it was asked for.
func TestListFormats(t *testing.T) {
	tests := []struct {
		format ListFormat
		asked  string   // path and query of the requests, in order
		header string   // that carries the key
		pages  []string // answers, in order
		want   []ListedModel
	}{
		{
			ListOpenAI, "/models", "Authorization",
			[]string{`{"object":"list","data":[{"id":"gpt-b","object":"model","created":1,"owned_by":"x"},{"id":"gpt-a"}]}`},
			[]ListedModel{{ID: "gpt-a"}, {ID: "gpt-b"}},
		}, {
			ListOpenAI, "/models", "Authorization", // a bare array
			[]string{` [{"id":"meta/llama"},{"id":"meta/llama"}]`},
			[]ListedModel{{ID: "meta/llama"}},
		}, {
			ListOllama, "/api/tags", "Authorization",
			[]string{`{"models":[{"name":"gpt-oss:20b","model":"gpt-oss:20b","size":1},{"name":"tiny:latest"}]}`},
			[]ListedModel{{ID: "gpt-oss:20b"}, {ID: "tiny:latest"}},
		}, {
			ListGemini, "/models?pageSize=1000 /models?pageSize=1000&pageToken=p2", "X-Goog-Api-Key",
			[]string{
				`{"models":[{"name":"models/gemini-a","supportedGenerationMethods":["generateContent","countTokens"]},{"name":"models/embed","supportedGenerationMethods":["embedContent"]}],"nextPageToken":"p2"}`,
				`{"models":[{"name":"models/gemini-b","supportedGenerationMethods":["generateContent"]}]}`,
			},
			[]ListedModel{{ID: "gemini-a"}, {ID: "gemini-b"}},
		}, {
			ListAnthropic, "/models?limit=1000 /models?after_id=claude-b&limit=1000", "X-Api-Key",
			[]string{
				`{"data":[{"id":"claude-a","type":"model"},{"id":"claude-b"}],"has_more":true,"first_id":"claude-a","last_id":"claude-b"}`,
				`{"data":[{"id":"claude-c"}],"has_more":false,"last_id":"claude-c"}`,
			},
			[]ListedModel{{ID: "claude-a"}, {ID: "claude-b"}, {ID: "claude-c"}},
		}, {
			ListOpenRouter, "/models", "Authorization",
			[]string{`{"data":[
				{"id":"a/free:free","pricing":{"prompt":"0","completion":"0"}},
				{"id":"b/cheap","pricing":{"prompt":"0.0000006","completion":"0.0000024"}},
				{"id":"c/auto","pricing":{"prompt":"-1","completion":"-1"}},
				{"id":"d/odd","pricing":{"prompt":3,"completion":[]}},
				{"id":"e/none"},
				{"id":"f/nan","pricing":{"prompt":"NaN","completion":"1e400"}}]}`},
			[]ListedModel{
				{ID: "a/free:free", Price: &Price{}}, {ID: "b/cheap", Price: &Price{Input: 0.6, Output: 2.4}},
				{ID: "c/auto"}, {ID: "d/odd"}, {ID: "e/none"}, {ID: "f/nan"},
			},
		},
	}
	for _, tt := range tests {
		t.Run(string(tt.format), func(t *testing.T) {
			var asked []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked = append(asked, r.URL.RequestURI())
				if !strings.Contains(r.Header.Get(tt.header), "sk-canary-1234") {
					t.Errorf("no key in %s", tt.header)
				}
				io.WriteString(w, tt.pages[len(asked)-1])
			}))
			defer srv.Close()
			got, err := lister().List(t.Context(), discovering(srv.URL, tt.format), keyed, Listing{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got.Models); diff != "" {
				t.Errorf("models differ (-want +got):\n%s", diff)
			}
			if s := strings.Join(asked, " "); s != tt.asked {
				t.Errorf("asked %s; want %s", s, tt.asked)
			}
		})
	}
}

// TestListCache checks that an unchanged list is one empty answer.
func TestListCache(t *testing.T) {
	full := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == `"v1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		full++
		w.Header().Set("ETag", `"v1"`)
		io.WriteString(w, `{"data":[{"id":"a"}]}`)
	}))
	defer srv.Close()
	p := discovering(srv.URL, ListOpenAI)
	first, err := lister().List(t.Context(), p, keyed, Listing{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := lister().List(t.Context(), p, keyed, first)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(first, again); diff != "" || full != 1 {
		t.Errorf("%d full answers; the cached listing differs:\n%s", full, diff)
	}
	// A tag without the models it stood for is not used.
	if _, err := lister().List(t.Context(), p, keyed, Listing{ETag: `"v1"`}); err != nil || full != 2 {
		t.Errorf("with a tag and no models: %v, %d full answers; want 2", err, full)
	}
}

func TestListRetries(t *testing.T) {
	var n atomic.Int32
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if n.Add(1) < 3 {
			w.Header().Set("Retry-After", "86400") // a day: not waited for
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		io.WriteString(w, `{"data":[{"id":"a"}]}`)
	}))
	defer srv.Close()
	if _, err := lister().List(t.Context(), discovering(srv.URL, ListOpenAI), keyed, Listing{}); err != nil || n.Load() != 3 {
		t.Errorf("%v after %d tries; want a list after 3", err, n.Load())
	}
}

// TestListHostile serves what a list endpoint should not, and checks that
// memory and output stay bounded: an error, no key and no URL in it.
func TestListHostile(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Error("followed a redirect to another host")
	}))
	defer elsewhere.Close()
	tests := []struct {
		name  string
		serve http.HandlerFunc
		want  string
	}{
		{"endless", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, `{"data":[`)
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat(`{"id":"a"},`, 1000)); err != nil {
					return
				}
			}
		}, "larger than 16 MiB"},
		{"page", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "<html>sk-canary-1234</html>")
		}, "not a list of models"},
		{"empty", func(w http.ResponseWriter, r *http.Request) {}, "not a list of models"},
		{"null", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "null") }, "not a list of models"},
		{"no models", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, `{"data":[]}`) }, "no list of models"},
		{"nested", func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, strings.Repeat(`{"data":[`, 100_000))
		}, "not a list of models"},
		{"refused", func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "bad key "+r.Header.Get("Authorization"), http.StatusUnauthorized)
		}, "HTTP status 401"},
		{"away", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		}, "redirected to another host"},
		{"metadata service", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://169.254.169.254/latest/", http.StatusTemporaryRedirect)
		}, "redirected to another host"},
		{"in circles", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/models", http.StatusFound)
		}, "too many redirects"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			srv := httptest.NewServer(tt.serve)
			defer srv.Close()
			got, err := lister().List(t.Context(), discovering(srv.URL, ListOpenAI), keyed, Listing{})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("%+v, %v; want %q", got, err, tt.want)
			}
			for _, secret := range []string{"sk-canary", "127.0.0.1", "169.254"} {
				if strings.Contains(err.Error(), secret) {
					t.Errorf("the error holds %s: %v", secret, err)
				}
			}
		})
	}
	if _, err := lister().List(t.Context(), discovering("http://127.0.0.1:1", ListOpenAI), keyed, Listing{}); err == nil {
		t.Error("listed from a port that nobody serves")
	}
}

// TestListPagesAreBounded serves pages that never end.
func TestListPagesAreBounded(t *testing.T) {
	n := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n++
		fmt.Fprintf(w, `{"data":[{"id":"m%d"}],"has_more":true,"last_id":"m%d"}`, n, n)
	}))
	defer srv.Close()
	got, err := lister().List(t.Context(), discovering(srv.URL, ListAnthropic), keyed, Listing{})
	if err != nil || n != maxListPages || len(got.Models) != maxListPages {
		t.Errorf("%d pages, %d models, %v; want to stop at %d", n, len(got.Models), err, maxListPages)
	}
}

// TestListedNamesAreSafe lists ids that would do harm as a name: none is taken.
func TestListedNamesAreSafe(t *testing.T) {
	hostile := []string{
		`=cmd|'/c calc'!A1`, `+1`, `@SUM(A1)`, `-2`, "</script><script>", "a\\u001b[31m", "a\\u0000b", "../../etc/passwd", "a/../b",
		"a//b", "/a", "a/", "..", "", " a", strings.Repeat("a", 129), "a b", "mod\\u00e8le", "a\\u202eb", "a?b", "a#b", "a%2fb", "a\\\\b",
	}
	var entries []string
	for _, id := range hostile {
		entries = append(entries, `{"id":"`+id+`"}`)
	}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"data":[%s,{"id":"good/model-1.5:free@x_y"}]}`, strings.Join(entries, ","))
	}))
	defer srv.Close()
	got, err := lister().List(t.Context(), discovering(srv.URL, ListOpenAI), keyed, Listing{})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Models) != 1 || got.Models[0].ID != "good/model-1.5:free@x_y" || got.Dropped != len(hostile) {
		t.Errorf("took %+v, dropped %d; want the good one, and %d dropped", got.Models, got.Dropped, len(hostile))
	}
}

// TestListKeyStaysHome checks that a list on another host is asked for without
// the key.
func TestListKeyStaysHome(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, values := range r.Header {
			if strings.Contains(strings.Join(values, " "), "canary") {
				t.Errorf("the key went along in %s", name)
			}
		}
		io.WriteString(w, `{"data":[{"id":"a"}]}`)
	}))
	defer srv.Close()
	p := discovering("https://api.acme.example", ListOpenAI)
	p.Discover.URL = srv.URL + "/catalog"
	if _, err := lister().List(t.Context(), p, keyed, Listing{}); err != nil {
		t.Error(err)
	}
}

func TestListUnconfigured(t *testing.T) {
	_, err := lister().List(t.Context(), discovering("http://127.0.0.1:1", ListOpenAI), vars(nil), Listing{})
	if !errors.As(err, new(*NotConfiguredError)) {
		t.Errorf("%v; want a NotConfiguredError", err)
	}
	_, err = lister().List(t.Context(), &Provider{Name: "acme"}, vars(nil), Listing{})
	if !errors.Is(err, ErrNoList) {
		t.Errorf("%v; want ErrNoList", err)
	}
}

// modelsDev is a catalogue in models.dev's format with what can go wrong in it.
const modelsDev = `{
  "_note": "not a provider",
  "broken": 7,
  "acme": {"id": "acme", "npm": "@ai-sdk/openai-compatible", "models": {
    "plain":     {"name": "Plain", "open_weights": true, "cost": {"input": 1, "output": 5, "tiers": [{"input": 2, "output": 9}]}},
    "responses": {"provider": {"npm": "@ai-sdk/openai"}, "cost": {"input": 0, "output": 0}},
    "shape":     {"provider": {"npm": "@ai-sdk/openai", "shape": "completions"}},
    "messages":  {"provider": {"npm": "@ai-sdk/anthropic"}, "status": "deprecated"},
    "google":    {"provider": {"npm": "@ai-sdk/google"}},
    "unheard":   {"provider": {"npm": "@ai-sdk/unheard-of"}},
    "negative":  {"cost": {"input": -1, "output": 5}},
    "huge":      {"cost": {"input": 1, "output": 1e300}},
    "half":      {"cost": {"input": 1}},
    "odd":       {"cost": "free"},
    "escape":    {"name": "red\u001b[31m"}
  }},
  "other": {"models": {"m": {}}}
}`

func TestParseModelsDev(t *testing.T) {
	yes := true
	got, err := ParseModelsDev([]byte(modelsDev), []string{"acme", "broken", "absent"})
	if err != nil {
		t.Fatal(err)
	}
	want := Facts{"acme": {
		"plain":     {Title: "Plain", Price: &Price{Input: 1, Output: 5}, OpenWeights: &yes},
		"responses": {Price: &Price{}, Protocol: "openai_responses"},
		"shape":     {Protocol: "openai_chat"},
		"messages":  {Protocol: "anthropic", Retired: true},
		"google":    {Protocol: "gemini"},
		"unheard":   {}, "negative": {}, "huge": {}, "half": {}, "escape": {},
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("facts differ (-want +got):\n%s", diff)
	}
	if _, err := ParseModelsDev([]byte("<html>"), nil); err == nil {
		t.Error("a page was taken for a catalogue")
	}
}

func TestFactsCache(t *testing.T) {
	full := 0
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == "x" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		full++
		w.Header().Set("ETag", "x")
		io.WriteString(w, modelsDev)
	}))
	defer srv.Close()
	l := lister()
	l.modelsDev = srv.URL
	first, err := l.Facts(t.Context(), []string{"acme"}, FactSheet{})
	if err != nil {
		t.Fatal(err)
	}
	again, err := l.Facts(t.Context(), []string{"acme"}, first)
	if err != nil || full != 1 || !cmp.Equal(first, again) {
		t.Errorf("%v, %d full answers; want one, and the same facts", err, full)
	}
	wider, err := l.Facts(t.Context(), []string{"acme", "other"}, first)
	if err != nil || full != 2 || wider.Facts["other"] == nil {
		t.Errorf("%v, %d full answers; want a second one, as a provider was added", err, full)
	}
}

// TestCatalogEvents follows a list over days: models come, go for an hour, go
// for good and return.
func TestCatalogEvents(t *testing.T) {
	start := date("2026-11-01T00:00:00Z")
	list := func(ids ...string) Listing {
		var l Listing
		for _, id := range ids {
			l.Models = append(l.Models, ListedModel{ID: id})
		}
		return l
	}
	steps := []struct {
		hour int
		list Listing
		want string
	}{
		{0, list("a", "b"), ""}, // the first list is no news
		{1, list("a", "b", "c"), "c new at 1"},
		{2, list("a", "c"), ""},
		{3, list("a", "b", "c"), ""}, // back within a day: nothing happened
		{4, list("a", "c"), ""},
		{26, list("a", "c"), ""},
		{27, list("a", "c"), "b retired at 3"}, // as of when it was last seen
		{50, list("a", "c"), ""},
		{60, list("b", "c", "d"), "b returned at 60, d new at 60"},
		{84, list("b", "c", "d"), "a retired at 50"},
	}
	var c Catalog
	for _, step := range steps {
		var events []CatalogEvent
		c, events = c.Update(step.list, start.Add(time.Duration(step.hour)*time.Hour))
		var got []string
		for _, e := range events {
			got = append(got, fmt.Sprintf("%s %s at %g", e.Model, e.Kind, e.At.Sub(start).Hours()))
		}
		if s := strings.Join(got, ", "); s != step.want {
			t.Errorf("hour %d: %q; want %q", step.hour, s, step.want)
		}
	}
	if first := c.Models["a"].FirstSeen; !first.Equal(start) || !c.Models["a"].Retired {
		t.Errorf("a is %+v; want it kept, retired, first seen at the start", c.Models["a"])
	}
	if diff := cmp.Diff(list("b", "c", "d").Models, c.Listing().Models); diff != "" {
		t.Errorf("offered (-want +got):\n%s", diff)
	}
}

// TestUnchangedList checks that a list which is said not to have changed shows
// no model that it does not hold, so that one that went is retired in time.
func TestUnchangedList(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") == "second" {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("ETag", "second")
		io.WriteString(w, `{"data":[{"id":"a"}]}`)
	}))
	defer srv.Close()
	l, p := lister(), discovering(srv.URL, ListOpenAI)
	start := date("2026-11-01T00:00:00Z")
	c, _ := Catalog{}.Update(Listing{ETag: "first", Models: []ListedModel{{ID: "a"}, {ID: "b"}}}, start)
	var events []CatalogEvent
	for hour := 1; hour <= 24; hour++ {
		if want := 2; len(c.Listing().Models) != want {
			t.Fatalf("hour %d: %d models offered; want %d, as b is not gone for a day yet", hour, len(c.Listing().Models), want)
		}
		list, err := l.List(t.Context(), p, keyed, c.LastRead())
		if err != nil {
			t.Fatal(err)
		}
		c, events = c.Update(list, start.Add(time.Duration(hour)*time.Hour))
	}
	if want := []CatalogEvent{{start, "b", ModelRetired}}; !cmp.Equal(events, want) || len(c.Listing().Models) != 1 {
		t.Errorf("after a day: %v, %d models offered; want %v, 1", events, len(c.Listing().Models), want)
	}
}

// TestListReadInTheFuture checks that a list read while the clock was years
// ahead keeps no model that is gone.
func TestListReadInTheFuture(t *testing.T) {
	now := date("2026-11-01T00:00:00Z")
	c, _ := Catalog{}.Update(Listing{Models: []ListedModel{{ID: "a"}, {ID: "b"}}}, now.AddDate(4, 0, 0))
	c, _ = c.Update(Listing{Models: []ListedModel{{ID: "a"}}}, now)
	if got, want := c.LastRead().Models, []ListedModel{{ID: "a"}}; !cmp.Equal(got, want) {
		t.Errorf("last read %v; want %v", got, want)
	}
	_, events := c.Update(c.LastRead(), now.Add(RetiredAfter))
	if len(events) != 1 || events[0].Model != "b" || events[0].Kind != ModelRetired {
		t.Errorf("a day later: %v; want b retired", events)
	}
}

// TestOffering checks which models are taken from a list and what they get.
func TestOffering(t *testing.T) {
	p := *loadOne(t, `
base_url: https://acme.example/v1
protocol: openai_chat
catalog: acme
every_by_price: [{output_at_least: 5, every: 6h}]
discover: {include: ["*"], exclude: ["*-preview"], limit: 2}
wires: [{match: "google", protocol: openai_chat}]
models:
  - {id: messages, price: {input: 9, output: 9}}
  - {id: deployment, name: renamed}
`)
	facts, err := ParseModelsDev([]byte(modelsDev), []string{"acme"})
	if err != nil {
		t.Fatal(err)
	}
	q := p.Offering([]ListedModel{
		{ID: "deployment"}, {ID: "google"}, {ID: "messages"}, {ID: "new-preview"},
		{ID: "plain", Price: &Price{Input: 0.5, Output: 0.5}}, {ID: "too-many"},
	}, facts)
	want := []struct {
		name, protocol, every string
		price                 *Price
	}{
		{"messages", "anthropic", "6h", &Price{9, 9}},
		{"renamed", "openai_chat", "1h", nil},
		{"google", "openai_chat", "1h", nil},             // the file's rule over the catalogue
		{"plain", "openai_chat", "1h", &Price{0.5, 0.5}}, // the provider's own price over the catalogue
	}
	if len(q.Models) != len(want) {
		t.Fatalf("%d models: %+v; want %d", len(q.Models), q.Models, len(want))
	}
	for i, w := range want {
		m := &q.Models[i]
		if m.Name != w.name || q.DialectOf(m).Protocol != w.protocol || q.CadenceOf(m).String() != w.every || !cmp.Equal(m.Price, w.price) {
			t.Errorf("model %d is %s by %s every %s at %v; want %+v", i, m.Name, q.DialectOf(m).Protocol, q.CadenceOf(m), m.Price, w)
		}
	}
	if len(p.Models) != 2 || p.Models[0].CatalogProtocol != "" {
		t.Error("Offering changed the provider it was called on")
	}
}

// FuzzParseList feeds any bytes as a list: no panic, and what is taken is safe.
func FuzzParseList(f *testing.F) {
	for _, format := range listFormats() {
		f.Add(format, []byte(`{"data":[{"id":"a","pricing":{"prompt":"1","completion":"2"}}],"models":[{"name":"models/a","supportedGenerationMethods":["generateContent"]}],"has_more":true}`))
	}
	f.Add("openai", []byte(modelsDev))
	f.Fuzz(func(t *testing.T, format string, body []byte) {
		models, _, err := ListFormat(format).parse(body)
		if err != nil {
			return
		}
		var l Listing
		l.add(models)
		if len(l.Models)+l.Dropped != len(models) && len(models) <= maxListModels {
			t.Errorf("%d taken, %d dropped of %d", len(l.Models), l.Dropped, len(models))
		}
		for _, m := range l.Models {
			if strings.ContainsAny(m.ID, "<>&\"'\x1b\x00 ") || strings.Contains(m.ID, "..") && strings.Contains("/"+m.ID+"/", "/../") {
				t.Errorf("took %q", m.ID)
			}
			if m.Price != nil && !(m.Price.Output >= 0 && m.Price.Output <= 10_000) {
				t.Errorf("took the price %v", *m.Price)
			}
		}
	})
}
