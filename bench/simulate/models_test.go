package simulate

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestModels(t *testing.T) {
	const limit = 300 // the cap of the published method
	names := make(map[string]bool)
	failing := make(map[string]bool)
	for _, m := range append(Models(), Hostile()...) {
		if names[m.Name] {
			t.Errorf("%s: there are two", m.Name)
		}
		names[m.Name] = true
		if err := m.Shape.Validate(); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
		if m.About == "" || !strings.HasSuffix(m.About, ".") || strings.Contains(m.About, "\n") {
			t.Errorf("%s: About is not one sentence: %q", m.Name, m.About)
		}
		if strings.HasPrefix(m.Name, "fails-") != m.AlwaysFails() && !strings.HasPrefix(m.Name, "hostile-") {
			t.Errorf("%s: always fails: %v", m.Name, m.AlwaysFails())
		}
		if m.AlwaysFails() && !strings.HasPrefix(m.Name, "hostile-") {
			failing[m.Fails()] = true
		}
		// A number of tokens per second in a name or description is the true one.
		for _, re := range []string{`^\D*-(\d+)$`, `(\d+) tokens per second`} {
			if f := regexp.MustCompile(re).FindStringSubmatch(map[bool]string{true: m.Name, false: m.About}[re[0] == '^']); f != nil && !strings.HasPrefix(m.Name, "chunks-of-") {
				want, _ := strconv.ParseFloat(f[1], 64)
				if got, ok := m.Shape.DecodeTPS(); !ok || math.Abs(got/want-1) > 1e-6 {
					t.Errorf("%s: makes %v tokens per second, says %v", m.Name, got, want)
				}
			}
		}
	}
	for _, kind := range []string{"auth", "quota", "rate_limit", "server", "timeout", "network", "malformed"} {
		if !failing[kind] {
			t.Errorf("no model always fails with %q", kind)
		}
	}

	for _, m := range Models() {
		s := m.Shape
		s.Fault = Fault{} // the longest its requests can take
		line := s.Timeline(limit, nil)
		if line.End() > 2500*ms {
			t.Errorf("%s takes %v", m.Name, line.End())
		}
		if m.Fails() != "" {
			continue
		}
		if line.Finish == FinishLength && m.Name != "fast-500" {
			t.Errorf("%s does not fit in %d tokens", m.Name, limit)
		}
		// Where nothing between model and client bends it, the delivered rate is the true one.
		want, _ := m.Shape.DecodeTPS()
		got, ok := line.DeliveredTPS()
		bent := map[string]bool{"burst": true, "replayed-80": true, "stall": true}[m.Name]
		if near := ok && math.Abs(got/want-1) < 1e-6; near == bent {
			t.Errorf("%s delivers %v, %v tokens per second; makes %v", m.Name, got, ok, want)
		}
	}
}

func TestAlwaysFails(t *testing.T) {
	for _, tt := range []struct {
		model  Model
		kind   string
		always bool
	}{
		{Model{Shape: Shape{Tokens: 5}}, "", false},
		{Model{Shape: Shape{Tokens: 5, Fault: Fault{Kind: FaultHang}}}, "timeout", true},
		{Model{Shape: Shape{Tokens: 5, Fault: Fault{Kind: FaultReset, Every: 2}}}, "network", false},
		{Model{Shape: Shape{HiddenTokens: 5}}, "malformed", true},
	} {
		if k, a := tt.model.Fails(), tt.model.AlwaysFails(); k != tt.kind || a != tt.always {
			t.Errorf("%+v: %q, %v; want %q, %v", tt.model.Shape, k, a, tt.kind, tt.always)
		}
	}
}

// TestLists walks every list to its end, page by page where there are pages.
func TestLists(t *testing.T) {
	var models []Model
	var want []string
	for i := range 107 {
		name := fmt.Sprintf("model-%d", i)
		models = append(models, Model{Name: name, About: "A model."})
		want = append(want, name)
	}
	ts := serve(t, Options{Models: models})
	get := func(path, version string, into any) {
		t.Helper()
		req := httptest.NewRequest("GET", ts.URL+path, nil)
		req.RequestURI = ""
		if version != "" {
			req.Header.Set("Anthropic-Version", version)
		}
		resp, err := ts.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
	}
	check := func(name string, got []string, pages, wantPages int) {
		t.Helper()
		if !slices.Equal(got, want) || pages != wantPages {
			t.Errorf("%s: %d models on %d pages, want %d on %d", name, len(got), pages, len(want), wantPages)
		}
	}

	for _, path := range []string{"/v1/models", "/openai/v1/models"} {
		var list struct{ Data []struct{ ID, Object string } }
		get(path, "", &list)
		var got []string
		for _, m := range list.Data {
			got = append(got, m.ID)
		}
		check(path, got, 1, 1)
	}

	var got []string
	pages := 0
	for after, more := "", true; more; pages++ {
		var list struct {
			Data    []struct{ ID string }
			HasMore bool   `json:"has_more"`
			LastID  string `json:"last_id"`
		}
		get("/v1/models?after_id="+after, "2023-06-01", &list)
		for _, m := range list.Data {
			got = append(got, m.ID)
		}
		after, more = list.LastID, list.HasMore
	}
	check("anthropic", got, pages, 6)

	got, pages = nil, 0
	for token, more := "", true; more; pages++ {
		var list struct {
			Models []struct {
				Name    string
				Methods []string `json:"supportedGenerationMethods"`
			}
			Next string `json:"nextPageToken"`
		}
		get("/v1beta/models?pageToken="+token, "", &list)
		for _, m := range list.Models {
			if !slices.Contains(m.Methods, "generateContent") {
				t.Errorf("%s cannot generate", m.Name)
			}
			got = append(got, strings.TrimPrefix(m.Name, "models/"))
		}
		token, more = list.Next, list.Next != ""
	}
	check("gemini", got, pages, 3)

	var tags struct {
		Models []struct {
			Name, Model, Digest string
			ModifiedAt          time.Time `json:"modified_at"`
		}
	}
	get("/api/tags", "", &tags)
	got = nil
	for _, m := range tags.Models {
		if m.Name != m.Model || len(m.Digest) != 64 || m.ModifiedAt.IsZero() {
			t.Errorf("tag %+v", m)
		}
		got = append(got, m.Name)
	}
	check("ollama", got, 1, 1)
}
