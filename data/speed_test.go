//go:build unix

package data

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// The benchmarks of this file are of whole jobs, each against a yardstick of the
// same run, so that the ratio means the same on any machine, however busy:
//
//	go test ./data -run '^$' -bench 'Million|Year|Windows' -benchtime 1x -timeout 1h
//
// Times are those of the processor, the child processes' own included.

// cpu returns the processor time that this process has used.
func cpu(t testing.TB) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

const (
	millionDays   = 50
	millionPerDay = 20_000 // of 120 series
)

// millionDay is one of the fifty days that make a million samples.
func millionDay(d int) []bench.Sample {
	rnd := rand.New(rand.NewPCG(uint64(d), 1_000_000))
	samples := make([]bench.Sample, millionPerDay)
	step := day / millionPerDay
	for i := range samples {
		at := t0.Add(time.Duration(d)*day + time.Duration(i)*step).Truncate(ms)
		samples[i] = random(rnd, "model-"+strconv.Itoa(i%120), at)
	}
	return samples
}

// BenchmarkMillion ingests a million samples and rolls them up, and lets the
// sqlite3 shell do the inserts and the aggregates alone: one file, one
// transaction, statements of 500 rows, the rates from the view, no histograms.
// It reports the ratio of processor times, for samples in memory and for
// samples in journals, which must be decoded first.
func BenchmarkMillion(b *testing.B) {
	shell, err := exec.LookPath("sqlite3")
	if err != nil {
		b.Skip("no sqlite3 shell to compare with")
	}
	for b.Loop() {
		s := newRecord(b)
		ours, fromJournals := millionOfOurs(b, s)
		theirs, rows := millionOfShell(b, shell, s)
		inventory, err := s.Inventory(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if inventory.Samples != millionDays*millionPerDay || rows != inventory.Hourly+inventory.Daily {
			b.Fatalf("%d samples, %d hourly and %d daily buckets; the shell made %d", inventory.Samples, inventory.Hourly, inventory.Daily, rows)
		}
		b.ReportMetric(ours.Seconds()/theirs.Seconds(), "×shell")
		b.ReportMetric(fromJournals.Seconds()/theirs.Seconds(), "×shell-from-journals")
		b.ReportMetric(theirs.Seconds(), "shell-cpu-s")
	}
}

// millionOfOurs ingests and rolls up, and returns the processor time of both,
// and what it would be if the samples came from journals.
func millionOfOurs(b *testing.B, s *Store) (direct, fromJournals time.Duration) {
	b.Helper()
	var decoding time.Duration
	for d := range millionDays {
		samples := millionDay(d)
		runtime.GC() // the garbage of making samples is not ours
		before := cpu(b)
		ingest(b, s, samples...)
		direct += cpu(b) - before
		if d%10 == 0 { // a tenth of them stands for all
			decoding += 10 * decodingTime(b, samples)
		}
	}
	before := cpu(b)
	r, err := s.Rollup(b.Context(), t0.Add(millionDays*day+time.Hour))
	if err != nil || len(r.Closed) == 0 {
		b.Fatalf("closed %d days: %v", len(r.Closed), err)
	}
	// The day that follows the last sample is not over by the record's clock.
	direct += cpu(b) - before
	return direct, direct + decoding
}

// decodingTime returns the processor time of reading samples from a journal.
func decodingTime(b *testing.B, samples []bench.Sample) time.Duration {
	b.Helper()
	var journal bytes.Buffer
	out := json.NewEncoder(&journal)
	for _, s := range samples {
		if err := out.Encode(s); err != nil {
			b.Fatal(err)
		}
	}
	before := cpu(b)
	n := 0
	for _, err := range ReadJournal("journal", &journal, nil) {
		if err != nil {
			b.Fatal(err)
		}
		n++
	}
	if n != len(samples) {
		b.Fatalf("read %d samples of %d", n, len(samples))
	}
	return cpu(b) - before
}

// millionOfShell has the shell insert the same rows and aggregate them, and
// returns its processor time and how many buckets it made.
func millionOfShell(b *testing.B, shell string, s *Store) (used time.Duration, buckets int64) {
	b.Helper()
	dir := b.TempDir()
	script := filepath.Join(dir, "million.sql")
	writeScript(b, script, s)
	in, err := os.Open(script)
	if err != nil {
		b.Fatal(err)
	}
	defer in.Close()
	cmd := exec.CommandContext(b.Context(), shell, "-bail", filepath.Join(dir, "million.sqlite"))
	cmd.Stdin = in
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		b.Fatalf("sqlite3: %v\n%s", err, &complaint)
	}
	if buckets, err = strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64); err != nil {
		b.Fatal(err)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), buckets
}

// aggregates are the counts, averages, extremes and R-7 percentiles of every
// hour and day and series. The last statement prints how many buckets they are.
const aggregates = `
BEGIN;
CREATE TEMP TABLE m AS SELECT id >> 12 AS ms, id & 4095 AS series, outcome, error_kind, client_noisy, decode_tps, tps_hybrid, ttft_ms FROM samples;
CREATE TABLE counted AS
  SELECT 3600000 AS width, ms / 3600000 AS bucket, series, count(*) AS samples, sum(outcome = 'ok') AS ok, sum(client_noisy) AS noisy FROM m GROUP BY 2, 3;
INSERT INTO counted
  SELECT 86400000, ms / 86400000, series, count(*), sum(outcome = 'ok'), sum(client_noisy) FROM m GROUP BY 2, 3;
CREATE TABLE spread(width, bucket, series, metric, n, avg, min, max, p50, p95);
$spreads
COMMIT;
SELECT count(*) FROM counted;
`

const spreadStatement = `
INSERT INTO spread
  WITH v AS (SELECT ms / $width AS bucket, series, $metric AS v FROM m WHERE $metric IS NOT NULL AND outcome = 'ok' AND NOT client_noisy),
  r AS (SELECT bucket, series, v, row_number() OVER (PARTITION BY bucket, series ORDER BY v) - 1 AS k,
    count(*) OVER (PARTITION BY bucket, series) - 1 AS last FROM v)
  SELECT $width, bucket, series, '$metric', count(*), avg(v), min(v), max(v),
    sum(v * max(0, 1 - abs(k - last * 0.50))), sum(v * max(0, 1 - abs(k - last * 0.95))) FROM r GROUP BY bucket, series;`

// writeScript writes what the shell is to do: the schema, every row of the
// record, and the aggregates.
func writeScript(b *testing.B, path string, s *Store) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprintf(w, "%s\n", schema)
	files, err := s.list(kindRaw, time.Unix(0, 0), farFuture())
	if err != nil {
		b.Fatal(err)
	}
	writeRows(b, w, s.path(fileName{kind: kindCatalog}), "series", "*")
	writeRows(b, w, s.path(fileName{kind: kindCatalog}), "envs", "*")
	for _, name := range files {
		writeRows(b, w, s.path(name), "replies", "*")
		writeRows(b, w, s.path(name), "failures", "*")
		writeRows(b, w, s.path(name), "raw_samples", keptColumns) // the pad is ours to pay for
	}
	fmt.Fprintln(w, "COMMIT;")
	var spreads strings.Builder
	for _, width := range []string{"3600000", "86400000"} {
		for _, metric := range []string{"decode_tps", "tps_hybrid", "ttft_ms"} {
			spreads.WriteString(strings.NewReplacer("$width", width, "$metric", metric).Replace(spreadStatement))
		}
	}
	io.WriteString(w, strings.Replace(aggregates, "$spreads", spreads.String(), 1)) // told by Flush
	if err := errors.Join(w.Flush(), f.Close()); err != nil {
		b.Fatal(err)
	}
}

// writeRows writes the rows of a table as INSERT statements of 500 rows.
func writeRows(b *testing.B, w *bufio.Writer, path, table, columns string) {
	b.Helper()
	const perStatement = 500
	r, err := Query(b.Context(), path, `SELECT `+columns+` FROM `+table, 10_000_000)
	if err != nil {
		b.Fatal(err)
	}
	verb := "INSERT OR IGNORE INTO "
	if table == "raw_samples" {
		verb = "INSERT INTO "
	}
	for i, row := range r.Rows {
		if i%perStatement == 0 {
			fmt.Fprintf(w, "%s%s(%s) VALUES", verb, table, strings.Join(r.Columns, ","))
		}
		for j, v := range row {
			sep := byte(',')
			if j == 0 {
				sep = '('
			}
			w.WriteByte(sep)
			switch v := v.(type) {
			case nil:
				w.WriteString("NULL")
			case int64:
				w.WriteString(strconv.FormatInt(v, 10))
			case string:
				w.WriteString("'" + strings.ReplaceAll(v, "'", "''") + "'")
			default:
				b.Fatalf("%s holds a %T", table, v)
			}
		}
		w.WriteByte(')')
		if (i+1)%perStatement == 0 || i == len(r.Rows)-1 {
			w.WriteString(";\n")
		} else {
			w.WriteByte(',')
		}
	}
}

// yearVariable tells a copy of the test binary to assemble a record and say how
// much memory that took: the record's directory and the file to write.
const yearVariable = "STREAMGAUGE_TEST_ASSEMBLE"

// TestAssembler is no test of its own: it is the process whose memory
// [BenchmarkYear] measures.
func TestAssembler(t *testing.T) {
	dir, file, ordered := strings.Cut(os.Getenv(yearVariable), "\n")
	if !ordered {
		t.Skip("started by BenchmarkYear")
	}
	s := openRecord(t, dir, Options{ReadOnly: true})
	if err := s.Assemble(t.Context(), file, Whole(t0.Add(yearDays*day))); err != nil {
		t.Fatal(err)
	}
}

const yearDays = 365

// BenchmarkYear assembles the main download of a year of the big workload in a
// process of its own, and reports its processor time and its peak of memory.
func BenchmarkYear(b *testing.B) {
	s := newRecord(b)
	// Pruning takes two days a rollup, so a year is lived through.
	for d := range yearDays {
		ingest(b, s, bigDay(d)...)
		if _, err := s.Rollup(b.Context(), t0.Add(time.Duration(d)*day+23*time.Hour+59*time.Minute)); err != nil {
			b.Fatal(err)
		}
	}
	file := filepath.Join(b.TempDir(), "streamgauge.sqlite")
	for b.Loop() {
		cmd := exec.CommandContext(b.Context(), os.Args[0], "-test.run=^TestAssembler$", "-test.count=1")
		cmd.Env = append(os.Environ(), yearVariable+"="+s.Dir()+"\n"+file)
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
		b.ReportMetric((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), "cpu-s")
		b.ReportMetric(float64(peakMemory(b, cmd.ProcessState))/1e6, "peak-MB")
	}
	info, err := os.Stat(file)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(info.Size())/1e6, "file-MB")
}

// peakMemory returns the most memory that a process had, in bytes.
func peakMemory(t testing.TB, state *os.ProcessState) int64 {
	t.Helper()
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("no account of the process")
	}
	if runtime.GOOS == "darwin" {
		return usage.Maxrss
	}
	return usage.Maxrss << 10
}

// BenchmarkWindows opens each window of 120 pairs as a page of a pair does: its
// own samples of the last days, from the assembled file.
func BenchmarkWindows(b *testing.B) {
	s := bigRecord(b, 30)
	file := filepath.Join(b.TempDir(), "streamgauge.sqlite")
	if err := s.Assemble(b.Context(), file, Download{}); err != nil {
		b.Fatal(err)
	}
	all, err := s.Series(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	if len(all) != 120 {
		b.Fatalf("%d pairs, want 120", len(all))
	}
	end := t0.Add(30 * day)
	for b.Loop() {
		for _, series := range all {
			for _, days := range []int{1, 7, 30} {
				if n := countWindow(b.Context(), b, file, series, end.AddDate(0, 0, -days), end); n == 0 {
					b.Fatalf("no sample of %v in %d days", series, days)
				}
			}
		}
	}
	b.ReportMetric(b.Elapsed().Seconds()*1e3/float64(b.N*len(all)*3), "ms/window")
}

func countWindow(ctx context.Context, t testing.TB, file string, series bench.Series, from, to time.Time) int64 {
	t.Helper()
	r, err := Query(ctx, file, windowQuery(series, from, to), 1)
	if err != nil {
		t.Fatal(err)
	}
	return r.Rows[0][0].(int64)
}

// windowQuery asks for a window of one pair, as a reader would.
func windowQuery(series bench.Series, from, to time.Time) string {
	return fmt.Sprintf(`SELECT count(*), avg(decode_tps), avg(ttft_ms) FROM samples
		WHERE provider = '%s' AND model = '%s' AND id >= %d AND id < %d`, series.Provider, series.Model, firstID(from), firstID(to))
}

// TestWindowsDoNotScan asks SQLite how it opens the windows of 120 pairs: those
// of a page's query from the assembled file, and those of a build from the
// files of the record. No step may read a whole table.
func TestWindowsDoNotScan(t *testing.T) {
	t.Parallel()
	s := newRecord(t)
	ingest(t, s, bigDay(0)...)
	ingest(t, s, bigDay(1)[:120]...)
	end := t0.Add(2 * day)
	if r, err := s.Rollup(t.Context(), end); err != nil || len(r.Closed) != 1 {
		t.Fatalf("closed %v: %v", r.Closed, err)
	}
	pairs, err := s.Series(t.Context())
	if err != nil || len(pairs) != 120 {
		t.Fatalf("%d pairs, %v; want 120", len(pairs), err)
	}
	download := openDownload(t, assemble(t, s, Download{}))
	for _, series := range pairs {
		for _, days := range []int{1, 7, 30, 365} {
			from := end.AddDate(0, 0, -days)
			doesNotScan(t, download, windowQuery(series, from, end))
			for _, view := range []string{"hourly", "daily"} {
				doesNotScan(t, download, `SELECT * FROM `+view+` WHERE provider = ? AND model = ? AND id >= ? ORDER BY id`,
					series.Provider, series.Model, firstBucketID(from, map[string]time.Duration{"hourly": time.Hour, "daily": day}[view]))
			}
		}
	}
	for name, query := range map[fileName]string{rawFile(t0): rowsQuery("main"), rollupFile(t0): bucketsQuery(day), {kind: kindCatalog}: bucketsQuery(time.Hour)} {
		db, err := s.open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		doesNotScan(t, db, query, 1, 2)
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// doesNotScan fails if a step of a query's plan reads a whole table, but for the
// few rows of series, conditions and failures, which the views call p, e and f.
func doesNotScan(t *testing.T, q querier, query string, args ...any) {
	t.Helper()
	rows, err := q.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	steps := 0
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps++
		table, scans := strings.CutPrefix(step, "SCAN ")
		if scans && table != "p" && table != "e" && table != "f" {
			t.Errorf("%s: %s", query, step)
		}
	}
	if err := rows.Err(); err != nil || steps == 0 {
		t.Errorf("%s: %d steps, %v", query, steps, err)
	}
}
