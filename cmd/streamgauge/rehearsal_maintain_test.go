package main

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/streamgauge/streamgauge/bench/simulate"
)

// releasingGH is a gh that logs what it is asked, and says of a release what
// the file beside it says; nothing if there is none.
const releasingGH = `#!/bin/sh
here=$(dirname "$0")
echo "$*" >>"$here/calls"
case "$*" in
"release view"*) cat "$here/release" 2>/dev/null ;;
esac
`

// TestRehearsalMaintain takes a snapshot of a record, keeps it as a release, and
// begins the history anew. A release that is there is left, and the draft of a
// job that was killed made again.
func TestRehearsalMaintain(t *testing.T) {
	if testing.Short() {
		t.Skip("measures for some seconds")
	}
	server, err := simulate.New(simulate.Options{Models: simulate.Models()[:1], Speed: 20, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	provider := httptest.NewServer(server)
	defer provider.Close()
	r := newRehearsal(t, provider.URL)
	r.job("bench-lite.yml", "tick", "")
	r.git("commit-tree", "-p", "data", "-m", "one more", "data^{tree}")
	r.git("update-ref", "refs/heads/data", r.said)

	if err := os.WriteFile(filepath.Join(r.bin, "gh"), []byte(releasingGH), 0o755); err != nil {
		t.Fatal(err)
	}
	r.job("maintain.yml", "snapshot", "")
	if tag := r.outputs["look.tag"]; !regexp.MustCompile(`^snapshot-\d{4}-\d\d-\d\d$`).MatchString(tag) {
		t.Fatalf("tag %q", tag)
	}
	for _, tt := range []struct{ release, want, not string }{
		{"", "release create " + r.outputs["look.tag"] + " --draft", "release delete"},
		{"true\n", "release delete " + r.outputs["look.tag"], "there already"},
		{"false\n", "release view", "release create"},
	} {
		os.Remove(filepath.Join(r.bin, "calls"))
		if err := os.WriteFile(filepath.Join(r.bin, "release"), []byte(tt.release), 0o644); err != nil {
			t.Fatal(err)
		}
		r.job("maintain.yml", "keep", "")
		calls, err := os.ReadFile(filepath.Join(r.bin, "calls"))
		if err != nil || !strings.Contains(string(calls), tt.want) || strings.Contains(string(calls), tt.not) {
			t.Errorf("with the release %q, gh was asked: %v\n%s", tt.release, err, calls)
		}
		if tt.release != "false\n" && !regexp.MustCompile(`SHA256SUMS .*streamgauge.sqlite `).Match(calls) {
			t.Errorf("files are left out:\n%s", calls)
		}
	}
	before := r.git("rev-parse", "data^{tree}")
	r.job("maintain.yml", "reroot", "")
	if n := r.git("rev-list", "--count", "data"); n != "1" || r.git("rev-parse", "data^{tree}") != before {
		t.Errorf("%s commits, or other files:\n%s", n, r.said)
	}
	r.job("bench-lite.yml", "tick", "")
	if !strings.Contains(r.summary(), "Nothing new: the branch stays at") {
		t.Errorf("a tick after it says:\n%s", r.summary())
	}
}

// git asks the remote, and keeps the answer as said.
func (r *rehearsal) git(args ...string) string {
	r.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = r.remote
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com",
		"GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	if err != nil {
		r.Fatalf("git %v: %v\n%s", args, err, out)
	}
	r.said = strings.TrimSpace(string(out))
	return r.said
}
