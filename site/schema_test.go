package site_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/streamgauge/streamgauge/site"
)

// answersOf returns the API's answers in a built site, by path.
func answersOf(t *testing.T, dir string) map[string]any {
	t.Helper()
	list := map[string]any{}
	for _, name := range paths(t, dir) {
		if strings.HasPrefix(name, "api/v1/") && !strings.HasPrefix(name, "api/v1/schema/") {
			v, err := jsonschema.UnmarshalJSON(bytes.NewReader(readFile(t, dir, name)))
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			list[name] = v
		}
	}
	return list
}

// schemasOf compiles the schemas that a site publishes. If closed, they let no
// property pass that they do not describe.
func schemasOf(t *testing.T, dir string, closed bool) map[string]*jsonschema.Schema {
	t.Helper()
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	c.UseLoader(jsonschema.SchemeURLLoader{}) // nothing is loaded from elsewhere
	var names []string
	for _, name := range paths(t, dir) {
		kind, ok := strings.CutPrefix(name, "api/v1/schema/")
		if !ok {
			continue
		}
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(readFile(t, dir, name)))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if closed {
			shut(v)
		}
		if err := c.AddResource("https://gauge.example/"+name, v); err != nil {
			t.Fatal(err)
		}
		names = append(names, strings.TrimSuffix(kind, ".json"))
	}
	compiled := map[string]*jsonschema.Schema{}
	for _, name := range names {
		s, err := c.Compile("https://gauge.example/api/v1/schema/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		compiled[name] = s
	}
	return compiled
}

// shut forbids properties that are not described.
func shut(v any) {
	switch v := v.(type) {
	case map[string]any:
		if _, ok := v["properties"]; ok && v["type"] == "object" {
			v["additionalProperties"] = false
		}
		for _, x := range v {
			shut(x)
		}
	case []any:
		for _, x := range v {
			shut(x)
		}
	}
}

// TestSchemas holds every answer of the API to its schema: of a full site, one
// where everything fails, and an empty one.
func TestSchemas(t *testing.T) {
	failing := inputs(t, past{"estuary", "aspen", "fails-hang", time.Hour, 8}, past{"estuary", "birch", "burst", time.Hour, 8}, past{"estuary", "cedar", "no-usage-80", time.Hour, 8})
	failing.Providers = nil // their files are gone
	failing.Revision = ""
	used := map[string]bool{}
	for name, in := range map[string]site.Inputs{"three": inputs(t, three()...), "failing": failing, "empty": inputs(t)} {
		t.Run(name, func(t *testing.T) {
			dir := build(t, in)
			open, closed := schemasOf(t, dir, false), schemasOf(t, dir, true)
			answers := answersOf(t, dir)
			if len(answers) == 0 {
				t.Fatal("the site has no API")
			}
			for name, v := range answers {
				kind, _ := strings.CutPrefix(fmt.Sprint(v.(map[string]any)["schema"]), "v1/")
				if open[kind] == nil {
					t.Errorf("%s follows %q, which is not published", name, kind)
					continue
				}
				used[kind] = true
				if err := open[kind].Validate(v); err != nil {
					t.Errorf("%s breaks its promise: %v", name, err)
				}
				if err := closed[kind].Validate(v); err != nil {
					t.Errorf("%s has what its schema does not describe: %v", name, err)
				}
			}
			index := answers["api/v1/index.json"].(map[string]any)
			for kind, at := range index["schemas"].(map[string]any) {
				readFile(t, dir, at.(string))
				if !used[kind] && name == "three" {
					t.Errorf("no answer follows the schema %s", kind)
				}
			}
		})
	}
}

// TestSchemasRefuse breaks answers one at a time: a schema that lets everything
// pass would hold nothing.
func TestSchemasRefuse(t *testing.T) {
	dir := build(t, inputs(t, three()...))
	list := schemasOf(t, dir, false)
	for _, tt := range []struct {
		file  string
		where string // path to what is replaced
		with  any    // nil: it is removed
	}{
		{"api/v1/pair/estuary/aspen.json", "windows/7d/success_rate/value", json.Number("1.2")},
		{"api/v1/pair/estuary/aspen.json", "windows/7d/level/decode_tps/value", "84"},
		{"api/v1/pair/estuary/aspen.json", "windows/7d/runs", json.Number("-1")},
		{"api/v1/pair/estuary/aspen.json", "windows/7d/ok", nil},
		{"api/v1/pair/estuary/aspen.json", "windows/30d", nil},
		{"api/v1/pair/estuary/aspen.json", "schema", "v1/pairs"},
		{"api/v1/pair/estuary/aspen.json", "generated_at", "yesterday"},
		{"api/v1/leaderboard/7d/ttft_ms.json", "rank_confidence", json.Number("95")},
		{"api/v1/leaderboard/7d/ttft_ms.json", "window", "8d"},
		{"api/v1/index.json", "stability", nil},
		{"api/v1/pairs.json", "pairs", "none"},
		{"api/v1/providers.json", "simulated", "no"},
		{"api/v1/events.json", "events", nil},
		{"api/v1/incidents.json", "incidents", nil},
	} {
		t.Run(path.Base(tt.file)+" "+tt.where, func(t *testing.T) {
			root := answersOf(t, dir)[tt.file].(map[string]any)
			kind := strings.TrimPrefix(root["schema"].(string), "v1/")
			at := root
			steps := strings.Split(tt.where, "/")
			for _, step := range steps[:len(steps)-1] {
				at = at[step].(map[string]any)
			}
			last := steps[len(steps)-1]
			if _, ok := at[last]; !ok {
				t.Fatalf("%s has no %s", tt.file, tt.where)
			}
			if tt.with == nil {
				delete(at, last)
			} else {
				at[last] = tt.with
			}
			if err := list[kind].Validate(root); err == nil {
				t.Error("the schema accepts it")
			}
		})
	}
}
