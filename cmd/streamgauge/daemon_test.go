package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/robfig/cron/v3"
)

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// TestKeepTicking runs ticks every ten minutes from five past midnight, one of
// which takes 25 minutes and one of which fails.
func TestKeepTicking(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock stands at midnight
		schedule, err := parseSchedule("*/10 * * * *")
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Minute)
		midnight := time.Now().Truncate(24 * time.Hour)
		var at []string
		ctx, stop := context.WithCancel(t.Context())
		err = keepTicking(ctx, schedule, quiet(), func(ctx context.Context) error {
			at = append(at, time.Since(midnight).String())
			switch len(at) {
			case 2:
				time.Sleep(25 * time.Minute)
			case 3:
				return errors.New("the repository is away")
			case 5:
				time.AfterFunc(time.Minute, stop)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if got, want := strings.Join(at, " "), "5m0s 10m0s 40m0s 50m0s 1h0m0s"; got != want {
			t.Errorf("ticks at %s; want %s", got, want)
		}
		if left := time.Since(midnight); left != 61*time.Minute {
			t.Errorf("stopped after %v, want 61m: at once", left)
		}
	})
}

func TestScheduleErrors(t *testing.T) {
	for _, spec := range []string{"often", "* * *", "61 * * * *"} {
		_, _, err := runWith(t, "serve", "--schedule", spec)
		if exitCode(err, io.Discard) != exitUsage {
			t.Errorf("--schedule %q: %v; want a usage error", spec, err)
		}
	}
	if err := keepTicking(t.Context(), mustSchedule(t, "0 0 30 2 *"), quiet(), func(context.Context) error { return nil }); err == nil {
		t.Error("the 30th of February came round")
	}
}

func mustSchedule(t *testing.T, spec string) cron.Schedule {
	t.Helper()
	s, err := parseSchedule(spec)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDaemon starts the program as a daemon on a branch, tries to start a
// second one, and stops the first as a service manager does.
func TestDaemon(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("providers/nowhere.yaml", "base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nevery: 10m\nmodels: [m]\n")
	if out, err := exec.Command("git", "init", "--quiet", "--bare", filepath.Join(dir, "archive.git")).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	start := func() (*exec.Cmd, io.Reader) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "streamgauge", "serve", "--schedule", "0 0 1 1 *", "--addr", "", "--offline",
			"--repo", "archive.git", "--data", "record", "--providers", "providers", "--site", "public", "--instance", "home")
		cmd.Dir, cmd.Env = dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		return cmd, stderr
	}
	first, log := start()
	said := readUntil(t, log, "next tick")
	if !strings.Contains(said, "nowhere/m: network") || !strings.Contains(said, "built the site") {
		t.Errorf("the daemon said:\n%s", said)
	}
	second, log2 := start()
	refusal := readUntil(t, log2, "another process is at work here")
	if err := second.Wait(); err == nil || refusal == "" {
		t.Errorf("a second daemon on the same record: %v", err)
	}
	if err := first.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(log)
	if err := first.Wait(); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, rest)
	}
	out, err := exec.Command("git", "--git-dir", filepath.Join(dir, "archive.git"), "log", "--format=%B", "data").CombinedOutput()
	if err != nil || !strings.Contains(string(out), ": 0 ok, 1 failed") {
		t.Errorf("git log: %v\n%s", err, out)
	}
	if _, err := os.Stat(filepath.Join(dir, "public", "index.html")); err != nil {
		t.Error(err)
	}
}

// readUntil reads lines until one holds a text, and returns them.
func readUntil(t *testing.T, r io.Reader, text string) string {
	t.Helper()
	var all strings.Builder
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		all.Write(buf[:n])
		if strings.Contains(all.String(), text) {
			return all.String()
		}
		if err != nil {
			t.Fatalf("%v before %q:\n%s", err, text, all.String())
		}
	}
}
