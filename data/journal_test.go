package data

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
)

func TestJournal(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "journals", "1.ndjson")
	j, err := CreateJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []bench.Sample{success("m", t0), success("<m>&\u2028", t0.Add(time.Nanosecond))}
	want[0].Trace = []bench.Arrival{{At: 250 * ms, Offset: 100, Read: 1, Mark: bench.MarkVisible, Chars: 14}}
	for i, s := range want {
		if err := j.Append(s); err != nil {
			t.Fatal(err)
		}
		// A line is there before the next sample is.
		if got, _ := readAll(t, path); len(got) != i+1 {
			t.Errorf("%d samples in the journal, want %d", len(got), i+1)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	got, bad := readAll(t, path)
	if diff := cmp.Diff(want, got); diff != "" || len(bad) > 0 {
		t.Errorf("samples (-written +read), bad lines %v:\n%s", bad, diff)
	}
	if _, err := CreateJournal(path, nil); !errors.Is(err, os.ErrExist) {
		t.Errorf("create a journal that exists: %v; want ErrExist", err)
	}
}

// TestJournalInUse checks that a journal is seen to be in use while it is open,
// by this process as by another.
func TestJournalInUse(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("an open file cannot be removed there")
	}
	path := filepath.Join(t.TempDir(), "1.ndjson")
	j, err := CreateJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []bool{true, false} {
		if used, err := JournalInUse(path); err != nil || used != want {
			t.Errorf("in use: %v, %v; want %v", used, err, want)
		}
		j.Close()
	}
}

func readAll(t *testing.T, path string) ([]bench.Sample, []string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return collect(t, ReadJournal("j", f, nil))
}

func collect(t *testing.T, samples iter.Seq2[bench.Sample, error]) (good []bench.Sample, bad []string) {
	t.Helper()
	for s, err := range samples {
		var line *LineError
		switch {
		case err == nil:
			good = append(good, s)
		case errors.As(err, &line):
			bad = append(bad, fmt.Sprintf("%s:%d", line.Journal, line.Line))
		default:
			t.Fatal(err)
		}
	}
	return good, bad
}

func TestJournalKeepsSecretsOut(t *testing.T) {
	const secret = "sk-Ab/9+zQ&7 \"x\"ü~"
	j, err := CreateJournal(filepath.Join(t.TempDir(), "j"), bench.NewRedactor(secret))
	if err != nil {
		t.Fatal(err)
	}
	leaks := map[string]string{
		"plain":          secret,
		"in a text":      "key " + secret + " was refused",
		"url, query":     url.QueryEscape(secret),
		"url, path":      url.PathEscape(secret),
		"hex":            hex.EncodeToString([]byte(secret)),
		"HEX":            strings.ToUpper(hex.EncodeToString([]byte(secret))),
		"base64":         base64.StdEncoding.EncodeToString([]byte(secret)),
		"base64url":      base64.URLEncoding.EncodeToString([]byte(secret)),
		"basic auth":     base64.StdEncoding.EncodeToString([]byte("u:" + secret)),
		"basic auth 2":   base64.StdEncoding.EncodeToString([]byte("me:" + secret + ":")),
		"basic auth 3":   base64.RawURLEncoding.EncodeToString([]byte("you:" + secret + "!!")),
		"JSON in a text": `{"key":"sk-Ab/9+zQ&7 \"x\"ü~"}`,
	}
	for name, text := range leaks {
		t.Run(name, func(t *testing.T) {
			s := success("m", t0)
			s.Finish = text
			err := j.Append(s)
			if !errors.Is(err, ErrSecret) {
				t.Errorf("append: %v; want ErrSecret", err)
			}
			if strings.Contains(fmt.Sprint(err), secret[:6]) {
				t.Errorf("the error tells: %v", err)
			}
		})
	}
	for _, text := range []string{"short", "sk-Ab", "length"} {
		s := success("m", t0)
		s.Finish = text
		if err := j.Append(s); err != nil {
			t.Errorf("append %q: %v", text, err)
		}
	}
	if got, _ := readAll(t, j.file.Name()); len(got) != 3 {
		t.Errorf("%d samples in the journal, want 3", len(got))
	}
}

// TestJournalLinesWithKeys checks that neither our own journal takes a line with
// what looks like a key, nor is such a line of somebody else's taken for a
// sample, and that the error says of what shape and not what.
func TestJournalLinesWithKeys(t *testing.T) {
	t.Parallel()
	token := "gh" + "p_" + strings.Repeat("0aB1cD2e", 5)
	j, err := CreateJournal(filepath.Join(t.TempDir(), "j"), nil)
	if err != nil {
		t.Fatal(err)
	}
	s := success("m", t0)
	s.Backend = token
	if err := j.Append(s); !errors.Is(err, ErrSecret) || !strings.Contains(err.Error(), "the shape of a GitHub token") || strings.Contains(err.Error(), token[:12]) {
		t.Errorf("append: %v", err)
	}
	good := success("m", t0)
	good.Finish = "stop"
	if err := j.Append(good); err != nil {
		t.Fatal(err)
	}
	line, err := os.ReadFile(j.file.Name())
	if err != nil {
		t.Fatal(err)
	}
	with := func(text string) string {
		return strings.Replace(string(line), `"finish":"stop"`, `"finish":"`+text+`"`, 1)
	}
	if with("x") == string(line) {
		t.Fatal("the line has no finish reason to replace")
	}
	journal := string(line) + with(token) + with("canary-4f8a1c77") + with("Y2FuYXJ5LTRmOGExYzc3") + "{\"" + token + "\":1}\n"
	var seen []string
	for _, err := range ReadJournal("j", strings.NewReader(journal), bench.NewRedactor("canary-4f8a1c77")) {
		seen = append(seen, fmt.Sprint(errors.Is(err, ErrSecret)))
		if err != nil && (strings.Contains(err.Error(), token[:12]) || strings.Contains(err.Error(), "canary")) {
			t.Errorf("the error tells: %v", err)
		}
	}
	if got, want := strings.Join(seen, " "), "false true true true true"; got != want {
		t.Errorf("refused: %s; want %s", got, want)
	}
}

func TestReadJournalPassesOverGarbage(t *testing.T) {
	t.Parallel()
	good := func() string {
		path := filepath.Join(t.TempDir(), "j")
		j, err := CreateJournal(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := j.Append(success("m", t0)); err != nil {
			t.Fatal(err)
		}
		line, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(line)
	}()
	tests := []struct {
		name, content string
		good          int
		bad           []string
	}{
		{"empty", "", 0, nil},
		{"blank lines", "\n \n\r\n" + good, 1, nil},
		{"no line feed at the end", strings.TrimSuffix(good, "\n"), 1, nil},
		{"cut short by a crash", good + good[:40], 1, []string{"j:2"}},
		{"garbage between", good + "<html>\n" + good, 2, []string{"j:2"}},
		{"NUL bytes", "\x00\x00\x00\n" + good, 1, []string{"j:1"}},
		{"an array", "[]\n", 0, []string{"j:1"}},
		{"two on a line", strings.TrimSuffix(good, "\n") + good, 0, []string{"j:1"}},
		{"a field of a later version", `{"provider":"p","colour":1}` + "\n" + good, 1, []string{"j:1"}},
		{"a line of 5 MB", strings.Repeat("x", 5<<20) + "\n" + good, 1, []string{"j:1"}},
		{"a last line of 5 MB", good + strings.Repeat("x", 5<<20), 1, []string{"j:2"}},
		{"deep nesting", strings.Repeat("[", 1<<20) + "\n" + good, 1, []string{"j:1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			for _, r := range []io.Reader{strings.NewReader(tt.content), iotest.HalfReader(strings.NewReader(tt.content))} {
				got, bad := collect(t, ReadJournal("j", r, nil))
				if len(got) != tt.good {
					t.Errorf("%d samples, want %d", len(got), tt.good)
				}
				if diff := cmp.Diff(tt.bad, bad); diff != "" {
					t.Errorf("bad lines (-want +got):\n%s", diff)
				}
			}
		})
	}
	broken := errors.New("broken")
	var last error
	for _, err := range ReadJournal("j", io.MultiReader(strings.NewReader(good), iotest.ErrReader(broken)), nil) {
		last = err
	}
	if !errors.Is(last, broken) {
		t.Errorf("the read error is %v, want %v", last, broken)
	}
}

func TestIngestJournals(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, err := CreateJournal(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if err := j.Append(success("m", t0.Add(time.Duration(i)*time.Minute))); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := newRecord(t)
	report, err := s.IngestJournals(t.Context(), t0.Add(time.Hour), ReadJournal("j", strings.NewReader(string(content)+"{\n"+string(content)+"oops"), nil))
	if err != nil {
		t.Fatal(err)
	}
	if report.Samples != 20 || report.New != 10 || report.Known != 10 || report.BadLines != 2 || len(report.FirstLines) != 2 {
		t.Errorf("report: %+v", report)
	}
}

// FuzzReadJournal expects that reading ends without a panic, and that every
// sample it yields can be judged.
func FuzzReadJournal(f *testing.F) {
	f.Add([]byte(`{"provider":"p","model":"m","started_at":"2026-03-30T00:00:00Z"}` + "\n{}\n[\n"))
	f.Add([]byte("\n\n\x00"))
	f.Fuzz(func(t *testing.T, content []byte) {
		lines := 0
		for s, err := range ReadJournal("j", strings.NewReader(string(content)), nil) {
			lines++
			var line *LineError
			if err != nil && !errors.As(err, &line) {
				t.Fatalf("error of another kind: %v", err)
			}
			if err == nil && validate(&s) == nil {
				r := encodeSample(&s)
				r.id = sampleID(s.StartedAt, 1)
				if r.id < 0 || r.id >= 1<<53 {
					t.Errorf("id %d", r.id)
				}
			}
		}
		if most := strings.Count(string(content), "\n") + 1; lines > most {
			t.Errorf("%d results of %d lines", lines, most)
		}
	})
}

func TestTraces(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	trace := []bench.Arrival{{At: 250 * ms, Offset: 100, Read: 1, Mark: bench.MarkVisible, Chars: 14}}
	with := func(sample bench.Sample) bench.Sample {
		sample.Trace = trace
		return sample
	}
	nonce := with(success("m", t0))
	nonce.Env.Nonce = true
	for _, tt := range []struct {
		name   string
		sample bench.Sample
		kept   bool
	}{
		{"the first", with(success("m", t0.Add(time.Hour))), true},
		{"an older one", with(success("m", t0)), false},
		{"a newer one", with(success("m", t0.Add(2*time.Hour))), true},
		{"without a trace", success("m", t0.Add(3*time.Hour)), false},
		{"a failure", with(failed("m", t0.Add(3*time.Hour), 4)), false},
		{"a name that differs in case", with(success("M", t0)), true},
		{"a name like a path", with(success("../m", t0)), true},
		{"another series", nonce, true},
	} {
		if kept, err := s.PutTrace(tt.sample); kept != tt.kept || err != nil {
			t.Errorf("%s: kept %t, %v; want %t", tt.name, kept, err, tt.kept)
		}
	}
	var got []string
	for sample, err := range s.Traces() {
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(trace, sample.Trace); diff != "" {
			t.Errorf("trace of %v:\n%s", sample.Pair, diff)
		}
		got = append(got, fmt.Sprint(sample.Model, " ", sample.Env.Nonce, " ", sample.StartedAt.Format(time.TimeOnly)))
	}
	if len(got) != 4 {
		t.Errorf("traces: %q, want four", got)
	}
	files, err := filepath.Glob(filepath.Join(s.Dir(), "traces", "*"))
	if err != nil || len(files) != 4 {
		t.Errorf("files: %v, %v", files, err)
	}
}
