package main

import (
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench"
)

func TestShards(t *testing.T) {
	file := func(text string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte("base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nevery: 10m\n" + text)}
	}
	list, err := bench.LoadProviders(fstest.MapFS{
		"a.yaml":    file("models: [x, y]\nkey_env: A_KEY\n"),
		"b.yaml":    file("models: [x]\nkey_env: B_KEY\n"),
		"own.yaml":  file("models: [x]\nkey_env: A_KEY\nlanes: per-provider\n"),
		"list.yaml": file("discover: {include: [\"*\"]}\nlanes: per-provider\n"),
		"off.yaml":  file("models: [x]\nkey_env: OFF_KEY\nlanes: per-provider\n"),
	})
	if err != nil {
		t.Fatal(err)
	}
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"A_KEY": "a", "B_KEY": "b"}[name]
		return v, ok
	}
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	a := &app{env: env}
	plan := bench.Due(now, list, nil, (&measureFlags{}).options(a, list))
	got := map[string]shard{}
	for _, s := range shardsOf(&plan, list, env) {
		got[s.Name] = s
	}
	want := map[string]shard{
		"shared": {Name: "shared", Providers: []string{"a", "b"}, Due: 3, Seconds: 60, Secrets: []string{"A_KEY", "B_KEY"}},
		"own":    {Name: "own", Providers: []string{"own"}, Due: 1, Seconds: 20, Secrets: []string{"A_KEY"}},
		"list":   {Name: "list", Providers: []string{"list"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("shards (-want +got):\n%s", diff)
	}
	// The job of a shard measures that shard alone, and every pair has one.
	measured := 0
	for _, s := range []string{"shared", "own", "list"} {
		flags := measureFlags{Lane: s, Only: []string{""}}
		part := bench.Due(now, list, nil, flags.options(a, list))
		for _, d := range part.Due {
			if d.Lane != s {
				t.Errorf("shard %s measures %s", s, d.Pair)
			}
		}
		measured += len(part.Due)
	}
	if measured != len(plan.Due) {
		t.Errorf("the shards measure %d pairs, %d are due", measured, len(plan.Due))
	}
}
