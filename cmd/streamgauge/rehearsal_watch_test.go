package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeGH is a gh that logs what it is asked, and knows whether there is a data
// branch, an open issue and a disabled workflow by files beside it.
const fakeGH = `#!/bin/sh
here=$(dirname "$0")
echo "$*" >>"$here/calls"
case "$*" in
*branches/data*) [ -e "$here/branch" ] ;;
*actions/workflows*) cat "$here/disabled" 2>/dev/null || true ;;
"issue list"*) cat "$here/open" 2>/dev/null || true ;;
"issue create"*|"issue edit"*) cat "$RUNNER_TEMP/body" >"$here/body" ;;
*pages*) exit 1 ;;
esac
`

// TestRehearsalWatchdog runs watchdog.yml in the states that it must tell apart.
func TestRehearsalWatchdog(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	tests := []struct {
		name  string
		files map[string]string // what gh knows
		call  string            // about the issue; "" is none
		body  string
	}{
		{"a repository that never ran", nil, "", ""},
		{"no samples", map[string]string{"branch": ""}, "issue create --title Watchdog: samples have stopped arriving", "samples  none yet"},
		{"still no samples", map[string]string{"branch": "", "open": "17"}, "issue edit 17", "samples  none yet"},
		{"a disabled schedule", map[string]string{"disabled": ".github/workflows/bench.yml is disabled_inactivity"}, "issue create", "disabled_inactivity"},
		{"all is well again", map[string]string{"open": "17"}, "issue close 17", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := newRehearsal(t, "")
			for name, text := range tt.files {
				if err := os.WriteFile(filepath.Join(r.bin, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.WriteFile(filepath.Join(r.bin, "gh"), []byte(fakeGH), 0o755); err != nil {
				t.Fatal(err)
			}
			r.job("watchdog.yml", "watch", "")
			calls, err := os.ReadFile(filepath.Join(r.bin, "calls"))
			if err != nil {
				t.Fatal(err)
			}
			var changes []string
			for line := range strings.Lines(string(calls)) {
				if strings.HasPrefix(line, "issue ") && !strings.HasPrefix(line, "issue list") {
					changes = append(changes, line)
				}
			}
			switch {
			case tt.call == "" && len(changes) > 0:
				t.Errorf("changed %q; want nothing changed", changes)
			case tt.call != "" && (len(changes) != 1 || !strings.HasPrefix(changes[0], tt.call)):
				t.Errorf("changed %q; want %q", changes, tt.call)
			}
			if tt.body != "" {
				if body, err := os.ReadFile(filepath.Join(r.bin, "body")); err != nil || !strings.Contains(strings.Join(strings.Fields(string(body)), " "), strings.Join(strings.Fields(tt.body), " ")) {
					t.Errorf("the issue says %q, %v; want %q in it", body, err, tt.body)
				}
			}
		})
	}
}

// TestRehearsalSetup runs setup.yml in a repository where nothing is set up: it
// must not fail, and tick what the template brings.
func TestRehearsalSetup(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	t.Parallel()
	r := newRehearsal(t, "")
	r.job("setup.yml", "steps", "")
	got := r.summary()
	for _, want := range []string{"- [x] 1.", "- [x] 2.", "- [ ] 3.", "- [ ] 4.", "- [ ] 5.", "OPENAI_API_KEY"} {
		if !strings.Contains(got, want) {
			t.Errorf("the summary lacks %q:\n%s", want, got)
		}
	}
}
