package main

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A mirror serves a built site over HTTP, with some files in place of its own.
type mirror struct {
	dir      string
	replaced map[string][]byte // nil: not there
}

func (m *mirror) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, "/gauge/")
	if other, ok := m.replaced[name]; ok {
		if other == nil {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(other) // a client that is gone is not our concern
		return
	}
	text, err := os.ReadFile(filepath.Join(m.dir, filepath.FromSlash(name)))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(text)
}

// altered returns a file of the site with the first match of a pattern replaced.
func altered(t *testing.T, text []byte, pattern, by string) []byte {
	t.Helper()
	at := regexp.MustCompile(pattern).FindSubmatchIndex(text)
	if at == nil {
		t.Fatalf("%q matches nothing", pattern)
	}
	return bytes.Join([][]byte{text[:at[2]], []byte(by), text[at[3]:]}, nil)
}

func gunzipped(t *testing.T, packed []byte) []byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func gzipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestVerifyAgainst holds a demo's site, served over HTTP, against itself and
// against its record: untouched, and with one number altered in each kind of
// file that it publishes.
func TestVerifyAgainst(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a demo's site")
	}
	t.Parallel()
	out := t.TempDir()
	if _, log, err := runWith(t, "demo", "--once", "--history", "1d", "--speed", "200", "--out", out); err != nil {
		t.Fatalf("demo: %v\n%s", err, log)
	}
	dir, record := filepath.Join(out, "site"), filepath.Join(out, "data")
	file := func(name string) []byte {
		text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	verify := func(t *testing.T, replaced map[string][]byte, args ...string) (string, error) {
		server := httptest.NewServer(&mirror{dir, replaced})
		defer server.Close()
		stdout, _, err := runWith(t, append([]string{"verify", "--against", server.URL + "/gauge"}, args...)...)
		return stdout, err
	}
	checked := regexp.MustCompile(`site agrees with .*: (\d+) numbers in (\d+) files checked\n$`)

	for name, args := range map[string][]string{"alone": nil, "record": {"--data", record}} {
		t.Run("untouched "+name, func(t *testing.T) {
			stdout, err := verify(t, nil, args...)
			m := checked.FindStringSubmatch(stdout)
			if err != nil || m == nil || len(m[1]) < 6 || len(m[2]) < 3 {
				t.Errorf("verify = %v\n%s", err, stdout)
			}
		})
	}
	t.Run("folder", func(t *testing.T) {
		stdout, _, err := runWith(t, "verify", "--against", dir, "--json")
		var report struct {
			Numbers     int
			Differences []difference
		}
		if err != nil || json.Unmarshal([]byte(stdout), &report) != nil || report.Numbers < 100_000 || report.Differences == nil || len(report.Differences) > 0 {
			t.Errorf("verify = %v\n%s", err, stdout)
		}
	})

	pair, points := "api/v1/pair/simulated/smooth-60.json", "pair/simulated/smooth-60/points.csv"
	samples := gunzipped(t, file("dataset/samples.csv.gz"))
	// Each run alters several files, and must find every one of them.
	type alteration struct {
		file string
		text []byte
		want []string // parts of the output
	}
	for name, list := range map[string][]alteration{
		"a number": {
			{pair, altered(t, file(pair), `"p50":([0-9.]+)`, "12345.5"), []string{pair + ": windows.", ".p50: published 12345.5, re-derived "}},
			{"api/v1/leaderboard/7d/decode_tps.json", altered(t, file("api/v1/leaderboard/7d/decode_tps.json"), `"runs":([0-9]+)`, "9"),
				[]string{"api/v1/leaderboard/7d/decode_tps.json: rows[0].runs: published 9, re-derived "}},
			{points, altered(t, file(points), `decode_tps,[^,]+,[0-9]+,[0-9]+,([0-9.]+)`, "1"), []string{points + ": row 1 value: published 1, re-derived "}},
			{"badge/simulated/smooth-60/success.json", altered(t, file("badge/simulated/smooth-60/success.json"), `"message":"([0-9.]+)`, "600"),
				[]string{"badge/simulated/smooth-60/success.json: message: published "}},
			{"dataset/samples.csv.gz", gzipped(t, altered(t, samples, `(?m),ok,,,,,200,,([0-9.]+),`, "7777")),
				[]string{"dataset/samples.csv.gz: id ", " ttft_ms: published 7777, re-derived ", "samples.csv.gz sha256: published "}},
			{"dataset/hourly.ndjson.gz", gzipped(t, altered(t, gunzipped(t, file("dataset/hourly.ndjson.gz")), `"ttft_ms_avg":([0-9]+)`, "1")),
				[]string{"dataset/hourly.ndjson.gz: id ", ".ttft_ms_avg: published 1, re-derived "}},
			{"dataset/manifest.json", altered(t, file("dataset/manifest.json"), `"bytes": ([0-9]+)`, "17"),
				[]string{"dataset/manifest.json: files[0] streamgauge.sqlite bytes: published 17, re-derived "}},
		},
		"more": {
			{"api/v1/pairs.json", altered(t, file("api/v1/pairs.json"), `"schema"()`, `:1,"x"`),
				[]string{"api/v1/pairs.json: x: published ", "api/v1/pairs.json: schema: published 1, re-derived "}},
			{"api/v1/index.json", nil, []string{"api/v1/index.json: the file: published absent"}},
			{"reliability/reliability.csv", []byte("a,b\n1,2\n"), []string{"reliability/reliability.csv: columns: published a,b"}},
			{"api/v1/leaderboard/1y/ttft_ms.json", []byte("<html>"), []string{"api/v1/leaderboard/1y/ttft_ms.json: the file: published "}},
			{"dataset/daily.csv.gz", gzipped(t, altered(t, gunzipped(t, file("dataset/daily.csv.gz")), `(?m)\n([^\n]*\n)`, "")),
				[]string{"dataset/daily.csv.gz: id ", "published absent, re-derived a row"}},
			{"dataset/hourly.ndjson.gz", gzipped(t, altered(t, gunzipped(t, file("dataset/hourly.ndjson.gz")), `(?m)^([^\n]*\n)`, "")),
				[]string{"dataset/hourly.ndjson.gz: line 1 id: published "}},
			{"dataset/manifest.json", altered(t, altered(t, file("dataset/manifest.json"), `"sha256": "([0-9a-f]{4})`, "0000"), `"name": "(daily\.ndjson\.gz)"`, "robots.txt"),
				[]string{"dataset/manifest.json: files[0] streamgauge.sqlite sha256: published 0000", "dataset/manifest.json: files: published absent, re-derived daily.ndjson.gz"}},
			{"dataset/index.html", []byte("<p>trust us"), []string{"dataset/index.html: streamgauge.sqlite SHA-256: "}},
			{"dataset/samples.csv.gz", file("dataset/samples.csv.gz")[:5000], []string{"samples.csv.gz bytes: published ", "dataset/samples.csv.gz: the file: "}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			replaced := map[string][]byte{}
			var want []string
			for _, a := range list {
				replaced[a.file] = a.text
				want = append(want, a.want...)
			}
			stdout, err := verify(t, replaced)
			expectDifferences(t, stdout, err, want)
		})
	}

	// One number of the database, as its owner would alter it.
	forged := filepath.Join(t.TempDir(), "forged.sqlite")
	if err := os.WriteFile(forged, file("dataset/streamgauge.sqlite"), 0o600); err != nil {
		t.Fatal(err)
	}
	forge(t, forged, `UPDATE raw_samples SET output_tokens = output_tokens + 100 WHERE id = (SELECT min(r.id) FROM raw_samples r
		JOIN samples s ON s.id = r.id WHERE s.decode_tps IS NOT NULL AND r.visible_tokens IS NULL AND NOT s.client_noisy)`)
	database, err := os.ReadFile(forged)
	if err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"alone": nil, "record": {"--data", record}} {
		t.Run("database "+name, func(t *testing.T) {
			want := []string{"manifest.json: files[0] streamgauge.sqlite sha256: ", " decode_tps: published "}
			if args == nil {
				want = append(want, "dataset/streamgauge.sqlite: rollup simulated/", " decode_avg: published ", "dataset/samples.csv.gz: id ", "api/v1/")
			} else {
				want = append(want, "dataset/streamgauge.sqlite samples: id ")
			}
			stdout, err := verify(t, map[string][]byte{"dataset/streamgauge.sqlite": database}, args...)
			expectDifferences(t, stdout, err, want)
		})
	}
	t.Run("no database", func(t *testing.T) {
		for _, text := range [][]byte{nil, {}, []byte("SQLite format 3\x00 and no more"), database[:8192]} {
			stdout, err := verify(t, map[string][]byte{"dataset/streamgauge.sqlite": text})
			if exitCode(err, io.Discard) != exitFailed || !strings.Contains(fmt.Sprint(err), "streamgauge.sqlite") {
				t.Errorf("verify = %v\n%s", err, stdout)
			}
		}
	})
}

// expectDifferences expects exit code 1 and all parts in the output.
func expectDifferences(t *testing.T, stdout string, err error, want []string) {
	t.Helper()
	if exitCode(err, io.Discard) != exitFailed || !strings.Contains(fmt.Sprint(err), "are not what the record says") {
		t.Errorf("verify = %v; want differences", err)
	}
	for _, part := range want {
		if !strings.Contains(stdout, part) {
			t.Errorf("the output lacks %q:\n%s", part, stdout)
		}
	}
}

// forge changes a database as a stranger may, behind the back of the package
// that keeps it, whose driver it borrows.
func forge(t *testing.T, file, statement string) {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	done, err := db.ExecContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	if n, err := done.RowsAffected(); err != nil || n != 1 {
		t.Fatalf("%d rows changed, %v", n, err)
	}
}

// TestVerifyFetchesLittle offers what a hostile site could.
func TestVerifyFetchesLittle(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another host was asked") }))
	defer elsewhere.Close()
	api := func(w http.ResponseWriter) {
		fmt.Fprint(w, `{"schema":"v1/providers","generated_at":"2026-05-01T00:00:00Z","providers":[]}`)
	}
	endless := func(w http.ResponseWriter) {
		for chunk := bytes.Repeat([]byte(" "), 1<<20); ; {
			if _, err := w.Write(chunk); err != nil {
				return
			}
		}
	}
	for name, tt := range map[string]struct {
		serve func(w http.ResponseWriter, r *http.Request)
		want  string
	}{
		"another host": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, elsewhere.URL+r.URL.Path, http.StatusFound)
		}, "redirected to"},
		"round and round": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, r.URL.Path+"x", http.StatusFound) }, "redirects"},
		"endless answer":  {func(w http.ResponseWriter, _ *http.Request) { endless(w) }, "it is over"},
		"not there":       {http.NotFound, "not published"},
		"in trouble":      {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "Bad Gateway"},
		"encoded": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Encoding", "gzip")
			api(w)
		}, "encoded"},
		"path outside": {func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprint(w, `{"generated_at":"2026-05-01T00:00:00Z","providers":[{"name":"x","pairs":[{"provider":"x","model":"y","detail":"api/v1/../../x"}]}]}`)
		}, "no path of the API"},
		"name outside": {func(w http.ResponseWriter, r *http.Request) {
			if strings.HasSuffix(r.URL.Path, "manifest.json") {
				fmt.Fprint(w, `{"files":[{"name":"../x","bytes":1,"sha256":""}]}`)
				return
			}
			api(w)
		}, "no file name"},
		"no time": {func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, `{}`) }, "when it was made"},
	} {
		t.Run(name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(tt.serve))
			defer server.Close()
			_, _, err := runWith(t, "verify", "--against", server.URL)
			if exitCode(err, io.Discard) != exitFailed || !strings.Contains(fmt.Sprint(err), tt.want) {
				t.Errorf("verify = %v; want %q", err, tt.want)
			}
		})
	}
	for _, where := range []string{"ftp://example.com/", "https://"} {
		if _, _, err := runWith(t, "verify", "--against", where); exitCode(err, io.Discard) != exitUsage {
			t.Errorf("verify --against %s = %v; want a usage error", where, err)
		}
	}
}

// TestVerifyQuotes gives a difference the text of a stranger.
func TestVerifyQuotes(t *testing.T) {
	var c comparison
	c.json("a.json", []byte(`{"x":"\u001b[2J`+strings.Repeat("x", 1000)+`"}`), []byte(`{"x":1}`))
	if len(c.found) != 1 || strings.ContainsRune(c.found[0].String(), 0x1b) || len(c.found[0].String()) > 300 {
		t.Errorf("%v", c.found)
	}
}
