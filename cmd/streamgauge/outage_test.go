package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/streamgauge/streamgauge/data"
)

// TestOutage takes the repository away from a daemon for one tick, which must
// go on measuring, keep what it measured, and publish it when the repository is
// back.
func TestOutage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if out, err := exec.Command("git", "init", "--quiet", "--bare", in("archive.git")).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	if err := os.Mkdir(in("providers"), 0o755); err != nil {
		t.Fatal(err)
	}
	file := "base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nevery: 10m\nmodels: [m]\n"
	if err := os.WriteFile(in("providers/nowhere.yaml"), []byte(file), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	env := func(name string) (string, bool) {
		v, ok := map[string]string{"PATH": os.Getenv("PATH"), "HOME": dir}[name]
		return v, ok
	}
	a := &app{ctx: t.Context(), env: env, stdin: strings.NewReader(""), stdout: &out, stderr: &out, log: quiet()}
	c := &serveCmd{
		daemonFlags:  daemonFlags{branchFlags: branchFlags{Repo: in("archive.git"), Branch: "data", Instance: "home"}},
		recordFlags:  recordFlags{Data: in("record"), Providers: in("providers")},
		measureFlags: measureFlags{Vantage: "home", Force: true, Offline: true},
		siteFlags:    siteFlags{Site: in("public"), Config: in("streamgauge.yaml")},
	}
	published := func() int64 {
		t.Helper()
		store, err := data.Open(t.Context(), in("record"), data.Options{ReadOnly: true})
		if err != nil {
			t.Fatal(err)
		}
		defer store.Close()
		inventory, err := store.Inventory(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return inventory.Samples
	}
	if err := a.daemonTick(c); err != nil || published() != 1 {
		t.Fatalf("first tick: %v, %d samples", err, published())
	}
	if err := os.Rename(in("archive.git"), in("away.git")); err != nil {
		t.Fatal(err)
	}
	if err := a.daemonTick(c); err == nil {
		t.Error("a tick that could not publish is no success")
	}
	if waiting, _ := filepath.Glob(in("record/journals/*.ndjson")); len(waiting) != 1 {
		t.Fatalf("journals that wait: %v", waiting)
	}
	if err := os.Rename(in("away.git"), in("archive.git")); err != nil {
		t.Fatal(err)
	}
	if err := a.daemonTick(c); err != nil || published() != 3 {
		t.Errorf("third tick: %v, %d samples; want 3\n%s", err, published(), out.String())
	}
	if waiting, _ := filepath.Glob(in("record/journals/*.ndjson")); len(waiting) != 0 {
		t.Errorf("journals that still wait: %v", waiting)
	}
}
