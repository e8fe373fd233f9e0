package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets the scripts run the program by its name. Where the program in
// this process starts itself, for a calibration, the test binary is it.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && slices.Contains([]string{"simulate", "measure-three", "use-cpu"}, os.Args[1]) {
		main()
		return
	}
	testscript.Main(m, map[string]func(){"streamgauge": main})
}

// TestScripts runs testdata/*.txtar: the program as a user runs it.
func TestScripts(t *testing.T) {
	if found, err := filepath.Glob("testdata/*.txtar"); err != nil || len(found) == 0 {
		t.Fatalf("found no scripts: %v", err)
	}
	testscript.Run(t, testscript.Params{Dir: "testdata"})
}

// runWith runs the program in this process, without an environment.
func runWith(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	var out, log bytes.Buffer
	none := func(string) (string, bool) { return "", false }
	err = run(t.Context(), args, none, strings.NewReader(""), &out, &log)
	return out.String(), log.String(), err
}

func TestExitCodes(t *testing.T) {
	wrap := func(err error) error { return errors.Join(errors.New("while doing it"), err) }
	tests := []struct {
		name string
		err  error
		want int
		says string
	}{
		{"done", nil, 0, ""},
		{"our failure", os.ErrPermission, 1, "permission denied"},
		{"usage", usageError{errors.New("unknown flag")}, 2, "--help"},
		{"check", wrap(errCheck), 3, "check failed"},
		{"interrupted", wrap(context.Canceled), 1, "streamgauge: interrupted\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var stderr bytes.Buffer
			if got := exitCode(tt.err, &stderr); got != tt.want || !strings.Contains(stderr.String(), tt.says) {
				t.Errorf("exitCode = %d, says %q; want %d, saying %q", got, stderr.String(), tt.want, tt.says)
			}
		})
	}
}

// TestHelp checks that every command explains itself, with an example that
// names it.
func TestHelp(t *testing.T) {
	top, _, err := runWith(t, "--help")
	if err != nil {
		t.Fatalf("--help: %v", err)
	}
	_, list, _ := strings.Cut(top, "\nCommands:\n")
	commands := regexp.MustCompile(`(?m)^  ([a-z]+) `).FindAllStringSubmatch(list, -1)
	if len(commands) < 20 {
		t.Fatalf("--help names %d commands: %q", len(commands), commands)
	}
	for _, m := range commands {
		command := m[1]
		out, _, err := runWith(t, command, "--help")
		if err != nil || !strings.Contains(out, "Usage: streamgauge "+command) {
			t.Errorf("%s --help: %v\n%s", command, err, out)
		}
		if _, example, _ := strings.Cut(out, "Example"); !strings.Contains(strings.Join(strings.Fields(example), " "), "streamgauge "+command) {
			t.Errorf("%s --help has no example of it:\n%s", command, out)
		}
	}
}

func TestUsageErrors(t *testing.T) {
	site := t.TempDir()
	if err := os.WriteFile(filepath.Join(site, "index.html"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"nonsense"},
		{"probe"},
		{"probe", "--url", "ftp://example.com", "--model", "m"},
		{"probe", "--url", "http://user:password@example.com/v1", "--model", "m"},
		{"decode", "--protocol", "smoke-signals", "x"},
		{"demo", "--history", "ages"},
		{"demo", "--addr", ""},
		{"init", "--providers", site, "--name", "../x", "--url", "http://127.0.0.1:9/v1", "--model", "m"},
		{"serve", "--addr", "", "--site", site},
		{"simulate", "--addr", ""},
		{"simulate", "--speed", "0"},
		{"run", "--vantage", ""},
		{"bench", "--vantage", "an\noffice"},
		{"bench", "--region", strings.Repeat("x", 201)},
	} {
		_, _, err := runWith(t, args...)
		if got := exitCode(err, io.Discard); got != exitUsage {
			t.Errorf("%q exits with %d (%v); want %d", args, got, err, exitUsage)
		}
	}
}

// A brokenWriter fails.
type brokenWriter struct{ err error }

func (w brokenWriter) Write([]byte) (int, error) { return 0, w.err }

// TestResultsNobodyGot checks that a command whose results could not be written
// fails, however it prints them.
func TestResultsNobodyGot(t *testing.T) {
	full := errors.New("no space left on device")
	none := func(string) (string, bool) { return "", false }
	for _, args := range [][]string{
		{"version"},
		{"probe", "--url", "http://127.0.0.1:9/v1", "--model", "m"},
		{"plan", "--data", t.TempDir() + "/none"},
	} {
		err := run(t.Context(), args, none, strings.NewReader(""), brokenWriter{full}, io.Discard)
		if !errors.Is(err, full) || exitCode(err, io.Discard) != exitFailed {
			t.Errorf("%q: %v; want a failure", args, err)
		}
	}
}

// TestConfigProblem checks that the lines of a configuration are shown with what
// is wrong, but no secret that was put into it.
func TestConfigProblem(t *testing.T) {
	for _, tt := range []struct{ text, says, hides string }{
		{"name: a\nnam: Pegel\n", "nam: Pegel", "nothing"},
		{"name: a\nwebhook_secret: whsec_0123456789abcdef\n", `unknown field "webhook_secret"`, "whsec_0123456789abcdef"},
	} {
		file := filepath.Join(t.TempDir(), "streamgauge.yaml")
		if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := readConfig(file)
		if got := fmt.Sprint(err); !strings.Contains(got, tt.says) || strings.Contains(got, tt.hides) {
			t.Errorf("%q: %s\nwant %q in it, and not %q", tt.text, got, tt.says, tt.hides)
		}
	}
}

// TestDemoPortTaken checks that a demo whose port is taken says so before it
// measures anything.
func TestDemoPortTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	out := t.TempDir()
	_, stderr, err := runWith(t, "demo", "--out", out, "--addr", taken.Addr().String())
	if err == nil || !strings.Contains(err.Error(), "choose another with --addr") {
		t.Errorf("demo: %v\n%s", err, stderr)
	}
	if files, _ := os.ReadDir(out); len(files) > 0 {
		t.Errorf("it had begun with %v", files)
	}
}

func TestParseSpan(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want string
		ok   bool
	}{{"60d", "1440h0m0s", true}, {"36h", "36h0m0s", true}, {"0", "0s", true}, {"-1d", "", false}, {"x", "", false}, {"99999d", "", false}} {
		got, err := parseSpan(tt.in)
		if (err == nil) != tt.ok || tt.ok && got.String() != tt.want {
			t.Errorf("parseSpan(%q) = %v, %v; want %v", tt.in, got, err, tt.want)
		}
	}
}

func TestShellQuote(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"gpt-oss:20b", "gpt-oss:20b"},
		{"a b", "'a b'"},
		{"$(touch x)", "'$(touch x)'"},
		{"it's; rm -rf ~", `'it'\''s; rm -rf ~'`},
		{"", "''"},
	} {
		if got := shellQuote(tt.in); got != tt.want {
			t.Errorf("shellQuote(%q) = %s; want %s", tt.in, got, tt.want)
		}
	}
}
