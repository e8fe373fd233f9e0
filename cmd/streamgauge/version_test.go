package main

import (
	"encoding/json"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/templates"
)

// TestMaterials works the bill of a made-up build out by hand.
func TestMaterials(t *testing.T) {
	info := &debug.BuildInfo{
		GoVersion: "go1.26.4 X:loopvar",
		Main:      debug.Module{Path: "github.com/streamgauge/streamgauge", Version: "v1.2.3"},
		Deps: []*debug.Module{
			{Path: "github.com/mattn/go-sqlite3", Version: "v1.14.53", Sum: "h1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "GOARCH", Value: "arm64"}, {Key: "vcs.time", Value: "2026-11-30T18:00:00Z"}},
	}
	b, err := materials(info)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := b.Metadata.Component.PURL, "pkg:golang/github.com/streamgauge/streamgauge@v1.2.3?type=module&goos=linux&goarch=arm64"; got != want {
		t.Errorf("the program is %s, want %s", got, want)
	}
	if b.Metadata.Timestamp != "2026-11-30T18:00:00Z" {
		t.Errorf("made at %s, not when its commit was", b.Metadata.Timestamp)
	}
	byName := map[string]material{}
	refs := map[string]bool{b.Metadata.Component.Ref: true}
	for _, m := range b.Components {
		byName[m.Name] = m
		if refs[m.Ref] {
			t.Errorf("two materials are %s", m.Ref)
		}
		refs[m.Ref] = true
		if m.Version == "" || !strings.HasPrefix(m.PURL, "pkg:") {
			t.Errorf("no version or address: %+v", m)
		}
	}
	driver := byName["github.com/mattn/go-sqlite3"]
	if want := "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"; len(driver.Hashes) != 1 || driver.Hashes[0].Content != want {
		t.Errorf("the sum of the driver is %+v, want %s", driver.Hashes, want)
	}
	if std := byName["std"]; std.PURL != "pkg:golang/std@1.26.4" {
		t.Errorf("Go's library is %+v", std)
	}
	for _, name := range []string{"sqlite", "echarts", "zrender", "@sqlite.org/sqlite-wasm"} {
		if _, ok := byName[name]; !ok {
			t.Errorf("the bill lacks %s", name)
		}
	}
	for _, d := range b.Dependencies {
		for _, ref := range append(d.On, d.Ref) {
			if !refs[ref] {
				t.Errorf("%s is made of %s, which is not in the bill", d.Ref, ref)
			}
		}
	}
	if diff := cmp.Diff([]string{"pkg:generic/sqlite@" + byName["sqlite"].Version}, b.Dependencies[1].On); diff != "" {
		t.Errorf("what the driver is made of (-want +got):\n%s", diff)
	}
}

// TestBundled checks that every script of others says what it is.
func TestBundled(t *testing.T) {
	list, err := bundled(templates.Files())
	if err != nil || len(list) < 4 {
		t.Errorf("bundled: %v, %v", list, err)
	}
}

// TestVersion prints both forms of this test's own build.
func TestVersion(t *testing.T) {
	out, _, err := runWith(t, "version")
	if err != nil || !strings.Contains(out, "with SQLite 3.") {
		t.Errorf("version: %v\n%s", err, out)
	}
	out, _, err = runWith(t, "version", "--sbom")
	var b bill
	if err != nil || json.Unmarshal([]byte(out), &b) != nil || len(b.Components) < 20 {
		t.Errorf("the bill has %d components: %v", len(b.Components), err)
	}
}
