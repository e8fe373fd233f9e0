package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

func TestSameCatalog(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	kept := bench.Catalog{ETag: "1", Models: map[string]bench.Offered{"m": {FirstSeen: at, LastSeen: at, Price: &bench.Price{Input: 1, Output: 2}}}}
	with := func(change func(*bench.Offered)) bench.Catalog {
		m := kept.Models["m"]
		m.Price = &bench.Price{Input: 1, Output: 2}
		change(&m)
		return bench.Catalog{ETag: "2", Models: map[string]bench.Offered{"m": m}}
	}
	for _, tt := range []struct {
		name string
		read bench.Catalog
		want bool
	}{
		{"seen an hour later", with(func(m *bench.Offered) { m.LastSeen = at.Add(time.Hour) }), true},
		{"seen two days later", with(func(m *bench.Offered) { m.LastSeen = at.AddDate(0, 0, 2) }), false},
		{"retired", with(func(m *bench.Offered) { m.Retired = true }), false},
		{"dearer", with(func(m *bench.Offered) { m.Price.Output = 3 }), false},
		{"gone", bench.Catalog{}, false},
	} {
		if got := sameCatalog(kept, tt.read); got != tt.want {
			t.Errorf("%s: same = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestReadLists reads the folder of a measuring job, which may hold anything.
func TestReadLists(t *testing.T) {
	list, err := bench.LoadProviders(fstest.MapFS{
		"lists.yaml":  {Data: []byte("base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\ndiscover: {include: [\"*\"]}\n")},
		"static.yaml": {Data: []byte("base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nmodels: [m]\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	write := func(dir, name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	write(dir, "lists.json", `{"models":{"m":{"first_seen":"2026-05-01T12:00:00Z","last_seen":"2026-05-01T12:00:00Z"}}}`)
	write(dir, "static.json", `{"models":{}}`)
	write(dir, "stranger.json", `{"models":{}}`)
	got, err := readLists(list, []string{dir, filepath.Join(dir, "missing")})
	if err != nil || len(got) != 1 || got["lists.json"] == nil {
		t.Errorf("read %v, %v; want the list of the provider that discovers", got, err)
	}
	for _, bad := range []string{"{", `{"models":{},"else":1}`, strings.Repeat(" ", maxList) + `{"models":{}}`} {
		write(dir, "lists.json", bad)
		if _, err := readLists(list, []string{dir}); err == nil {
			t.Errorf("a list of %.20q was taken", bad)
		}
	}
}
