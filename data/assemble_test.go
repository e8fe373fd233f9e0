package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// fortnight is a record of two weeks: three models, two vantage points.
func fortnight(t testing.TB, shuffle bool) (*Store, []bench.Sample) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(9, 10))
	var samples []bench.Sample
	for i := range 500 {
		s := random(rnd, fmt.Sprint("m", i%3), t0.Add(time.Duration(i)*40*time.Minute))
		s.Env.Nonce = i%7 == 0
		if i%5 == 0 {
			s.Env.Vantage, s.Env.Region = "away", "us"
		}
		samples = append(samples, s)
	}
	s := newRecord(t)
	now := t0.Add(14 * 24 * time.Hour)
	given := slices.Clone(samples)
	if shuffle {
		rnd.Shuffle(len(given), func(i, j int) { given[i], given[j] = given[j], given[i] })
	}
	for part := range slices.Chunk(given, 100) {
		if _, err := s.Ingest(t.Context(), now, part); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Rollup(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	return s, samples
}

func assemble(t testing.TB, s *Store, opts Download) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "streamgauge.sqlite")
	if err := s.Assemble(t.Context(), path, opts); err != nil {
		t.Fatal(err)
	}
	return path
}

func openDownload(t testing.TB, path string) *sql.DB {
	t.Helper()
	db := sql.OpenDB(newConnector(path, true))
	t.Cleanup(func() { db.Close() })
	return db
}

func TestAssembleIsCanonical(t *testing.T) {
	t.Parallel()
	opts := Download{GeneratedAt: t0.AddDate(0, 0, 14), Commit: "0123abc", License: "CC-BY-4.0"}
	var sums [2][sha256.Size]byte
	for i, shuffle := range []bool{false, true} {
		s, _ := fortnight(t, shuffle)
		content, err := os.ReadFile(assemble(t, s, opts))
		if err != nil {
			t.Fatal(err)
		}
		sums[i] = sha256.Sum256(content)
	}
	if sums[0] != sums[1] {
		t.Error("two histories of the same samples make different downloads")
	}
}

func TestAssembleHoldsTheRecord(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, samples := fortnight(t, true)
	db := openDownload(t, assemble(t, s, Download{GeneratedAt: t0}))
	if err := quickCheck(ctx, db, "main"); err != nil {
		t.Error(err)
	}
	names, err := readNames(ctx, db, "main")
	if err != nil {
		t.Fatal(err)
	}
	var got []bench.Sample
	for sample, err := range readRows(ctx, db, "main", &names, time.Unix(0, 0), farFuture()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, sample)
	}
	if diff := cmp.Diff(sampleLines(samples), sampleLines(got)); diff != "" {
		t.Errorf("samples (-want +got):\n%s", diff)
	}
	for _, width := range []time.Duration{rollup.Hour, rollup.Day} {
		read, err := readBuckets(ctx, db, width, time.Unix(0, 0), farFuture())
		if err != nil {
			t.Fatal(err)
		}
		var buckets []rollup.Bucket
		for _, b := range read {
			buckets = append(buckets, b.bucket)
		}
		closed := t0.Add(13 * 24 * time.Hour) // the last day is not over for as long as nothing follows
		if diff := cmp.Diff(newOracle(samples).lines(width, t0, closed), bucketLines(t, buckets)); diff != "" {
			t.Errorf("buckets of %v (-want +got):\n%s", width, diff)
		}
	}
	checkHistograms(t, ctx, db)
}

// checkHistograms merges the JSON histograms of one series in SQL, as a reader
// would, and expects the sum of the binary ones.
func checkHistograms(t *testing.T, ctx context.Context, db *sql.DB) {
	t.Helper()
	rows, err := db.QueryContext(ctx, `SELECT json_extract(j.value, '$[0]'), sum(json_extract(j.value, '$[1]'))
		FROM daily d, json_each(d.decode_tps_buckets) j WHERE d.model = 'm1' AND d.vantage = 'home' AND d.nonce = 0 GROUP BY 1 ORDER BY 1`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var got [][2]uint64
	for rows.Next() {
		var pair [2]uint64
		if err := rows.Scan(&pair[0], &pair[1]); err != nil {
			t.Fatal(err)
		}
		got = append(got, pair)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	read, err := readBuckets(ctx, db, rollup.Day, time.Unix(0, 0), farFuture())
	if err != nil {
		t.Fatal(err)
	}
	var total rollup.Total
	for _, b := range read {
		if b.bucket.Series == (bench.Series{Pair: bench.Pair{Provider: "acme", Model: "m1"}, Vantage: "home"}) {
			total.Add(b.bucket)
		}
	}
	var want [][2]uint64
	for _, b := range total.DecodeHist.Buckets() {
		want = append(want, [2]uint64{uint64(b.Index), b.N})
	}
	if diff := cmp.Diff(want, got); diff != "" || len(want) == 0 {
		t.Errorf("merged histogram (-binary +json):\n%s", diff)
	}
}

func TestAssembleExtents(t *testing.T) {
	t.Parallel()
	s, _ := fortnight(t, false)
	now := t0.AddDate(0, 0, 14)
	tests := []struct {
		name               string
		opts               Download
		raw, hourly, daily string // earliest and latest
	}{
		{"whole", Whole(now), "2026-03-30 2026-04-12", "2026-03-30 2026-04-11", "2026-03-30 2026-04-11"},
		{"lite", Lite(now), "2026-04-06 2026-04-12", "2026-03-30 2026-04-11", "2026-03-30 2026-04-11"},
		{"lite later", Lite(now.AddDate(0, 0, 82)), " ", "2026-04-05 2026-04-11", "2026-03-30 2026-04-11"},
		{"hours of a year", HourlyOf(2026, now), " ", "2026-03-30 2026-04-11", " "},
		{"hours of another year", HourlyOf(2025, now), " ", " ", " "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			db := openDownload(t, assemble(t, s, tt.opts))
			for _, part := range []struct{ query, want string }{
				{`SELECT coalesce(min(date(started_at)), '') || ' ' || coalesce(max(date(started_at)), '') FROM samples`, tt.raw},
				{`SELECT coalesce(min(date(hour)), '') || ' ' || coalesce(max(date(hour)), '') FROM hourly`, tt.hourly},
				{`SELECT coalesce(min(day), '') || ' ' || coalesce(max(day), '') FROM daily`, tt.daily},
			} {
				var got string
				if err := db.QueryRowContext(t.Context(), part.query).Scan(&got); err != nil {
					t.Fatal(err)
				}
				if got != part.want {
					t.Errorf("%s: %s; want %s", part.query, got, part.want)
				}
			}
		})
	}
}

// TestViewGivesTheMetrics holds every number of the view samples against the
// method of Sample that defines it.
func TestViewGivesTheMetrics(t *testing.T) {
	t.Parallel()
	s, _ := fortnight(t, false)
	db := openDownload(t, assemble(t, s, Download{}))
	rows, err := db.QueryContext(t.Context(), `SELECT * FROM samples ORDER BY started_at, id`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, sample := range all(t, s) {
		if !rows.Next() {
			t.Fatalf("the view ends after %d samples", n)
		}
		n++
		values := make([]any, len(columns))
		fields := make([]any, len(columns))
		for i := range values {
			fields[i] = &values[i]
		}
		if err := rows.Scan(fields...); err != nil {
			t.Fatal(err)
		}
		row := map[string]any{}
		for i, c := range columns {
			row[c] = values[i]
		}
		compareMetrics(t, &sample, row)
	}
	if rows.Next() || n == 0 {
		t.Errorf("the view goes on after %d samples", n)
	}
}

func compareMetrics(t *testing.T, s *bench.Sample, row map[string]any) {
	t.Helper()
	duration := func(d time.Duration, why bench.Reason) (float64, bench.Reason) { return d.Seconds() * 1000, why }
	lost, stalls, whyStall := s.Stall()
	_, whyDecode := s.DecodeTPS()
	hybrid, path := s.HybridTPS()
	first, whyFirst := s.FirstChunkTokens()
	var whyHybrid bench.Reason
	if path == bench.PathMalformed {
		whyHybrid = bench.NoTokenCount
	}
	metric := func(name string, want float64, why bench.Reason) {
		t.Helper()
		switch got := row[name].(type) {
		case nil:
			if why.OK() {
				t.Errorf("%v %s = NULL; want %v", s.StartedAt, name, want)
			}
		case int64:
			if !why.OK() || float64(got) != want {
				t.Errorf("%v %s = %d; want %v %s", s.StartedAt, name, got, want, why)
			}
		case float64:
			if !why.OK() || math.Abs(got-want) > 0.0006+1e-9*math.Abs(want) {
				t.Errorf("%v %s = %v; want %v %s", s.StartedAt, name, got, want, why)
			}
		default:
			t.Errorf("%s is a %T", name, got)
		}
	}
	count := func(name string, want int64, ok bool) {
		t.Helper()
		why := bench.Present
		if !ok {
			why = bench.NoTokenCount
		}
		metric(name, float64(want), why)
	}
	call := func(name string, f func() (float64, bench.Reason)) {
		t.Helper()
		want, why := f()
		metric(name, want, why)
	}
	text := func(name, want string) {
		t.Helper()
		got, _ := row[name].(string)
		if got != want {
			t.Errorf("%v %s = %q; want %q", s.StartedAt, name, got, want)
		}
	}
	call("ttft_ms", func() (float64, bench.Reason) { return duration(s.TTFT()) })
	call("ttft_cold_ms", func() (float64, bench.Reason) { return duration(s.TTFTCold()) })
	call("ttfr_ms", func() (float64, bench.Reason) { return duration(s.TTFR()) })
	call("ttfo_ms", func() (float64, bench.Reason) { return duration(s.TTFO()) })
	call("think_ms", func() (float64, bench.Reason) { return duration(s.Think()) })
	call("ttlt_ms", func() (float64, bench.Reason) { return duration(s.TTLT()) })
	call("e2e_ms", func() (float64, bench.Reason) { return duration(s.E2E()) })
	call("tail_ms", func() (float64, bench.Reason) { return duration(s.Tail()) })
	call("span_ms", func() (float64, bench.Reason) { return duration(s.Span()) })
	call("decode_tps", s.DecodeTPS)
	text("decode_invalid", string(whyDecode))
	metric("tps_hybrid", hybrid, whyHybrid)
	text("tps_hybrid_path", string(path))
	call("tps_wall", s.WallTPS)
	call("e2e_tps_visible", s.EndToEndTPS)
	call("e2e_tps_billed", s.BilledTPS)
	call("tpot_ms", s.TPOTMS)
	call("decode_tps_stall_free", s.StallFreeTPS)
	metric("stall_ms", lost.Seconds()*1000, whyStall)
	metric("stall_count", float64(stalls), whyStall)
	call("stall_ratio", s.StallRatio)
	call("burstiness", s.Burstiness)
	call("chunk_rate_per_s", s.ChunkRate)
	call("mean_gap_ms", s.MeanGapMS)
	call("chars_per_s", s.CharsPerSecond)
	call("words_per_s", s.WordsPerSecond)
	metric("first_chunk_tokens", first, whyFirst)
	text("shape", string(s.Shape()))
	count("chunks", int64(s.Chunks), true)
	count("deliveries", int64(s.Deliveries), true)
	count("chars", int64(s.Chars), true)
	count("words", int64(s.Words), true)
	count("input_tokens", s.Usage.Input.N, s.Usage.Input.Known)
	count("cached_tokens", s.Usage.Cached.N, s.Usage.Cached.Known)
	count("output_tokens", s.Usage.Output.N, s.Usage.Output.Known)
	count("reasoning_tokens", s.Usage.Reasoning.N, s.Usage.Reasoning.Known)
	count("visible_tokens", s.Usage.Visible.N, s.Usage.Visible.Known)
	text("error_kind", s.Kind.String())
	text("error_detail", string(s.Detail))
	text("failed_in", string(s.FailedIn))
	text("finish", s.Finish)
	text("served_by", s.ServedBy)
	text("provider", s.Provider)
	text("model", s.Model)
	text("vantage", s.Env.Vantage)
	text("region", s.Env.Region)
	text("protocol", s.Env.Protocol)
	text("clock", s.Env.Clock)
	text("started_at", s.StartedAt.Format("2006-01-02T15:04:05.000Z"))
	count("late_s", int64(s.StartedAt.Sub(s.Scheduled)/time.Second), !s.Scheduled.IsZero())
	count("setup_ms", s.Phases.Setup.Milliseconds(), s.Phases.Setup != 0)
	count("ttfb_ms", s.Phases.FirstByte.Milliseconds(), s.Phases.FirstByte != 0)
	count("http_status", int64(s.HTTPStatus), s.HTTPStatus != 0)
}

// TestNoFullScans asks SQLite how it would answer the queries that a page makes.
func TestNoFullScans(t *testing.T) {
	t.Parallel()
	s, _ := fortnight(t, false)
	db := openDownload(t, assemble(t, s, Download{}))
	for _, query := range []string{
		`SELECT * FROM raw_samples WHERE id >= 1 AND id < 2`,
		`SELECT * FROM samples WHERE id >= 1 AND id < 2`,
		`SELECT * FROM hourly WHERE id >= 1 AND id < 2`,
		`SELECT * FROM daily WHERE id >= 1 AND id < 2`,
		`SELECT * FROM samples WHERE provider = 'acme' AND model = 'm1'`,
		`SELECT * FROM hourly WHERE provider = 'acme' AND model = 'm1'`,
		`SELECT * FROM daily WHERE provider = 'acme' AND model = 'm1' AND vantage = 'home' AND nonce = 0`,
	} {
		rows, err := db.QueryContext(t.Context(), `EXPLAIN QUERY PLAN `+query)
		if err != nil {
			t.Fatal(err)
		}
		steps := 0
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			steps++
			if strings.HasPrefix(step, "SCAN") {
				t.Errorf("%s: %s", query, step)
			}
		}
		if err := rows.Close(); err != nil || steps == 0 {
			t.Errorf("%s: %d steps, %v", query, steps, err)
		}
	}
}

func TestExportText(t *testing.T) {
	t.Parallel()
	s, samples := fortnight(t, false)
	db := assemble(t, s, Download{})
	dir := t.TempDir()
	for _, format := range []Format{CSV, NDJSON} {
		names, err := ExportGzip(t.Context(), db, dir, format)
		if err != nil {
			t.Fatal(err)
		}
		want := []string{"samples." + string(format) + ".gz", "hourly." + string(format) + ".gz", "daily." + string(format) + ".gz"}
		if diff := cmp.Diff(want, names); diff != "" {
			t.Errorf("files (-want +got):\n%s", diff)
		}
	}
	read := func(name string) []byte {
		t.Helper()
		f, err := os.Open(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	records, err := csv.NewReader(bytes.NewReader(read("samples.csv.gz"))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(read("samples.ndjson.gz"))), "\n")
	if len(records) != len(samples)+1 || len(lines) != len(samples) {
		t.Fatalf("%d records, %d lines; want %d and a header", len(records), len(lines), len(samples))
	}
	// Both formats say the same of every field.
	for i, line := range lines {
		var object map[string]any
		dec := json.NewDecoder(strings.NewReader(line))
		dec.UseNumber()
		if err := dec.Decode(&object); err != nil {
			t.Fatal(err)
		}
		for j, column := range records[0] {
			text := ""
			if v, ok := object[column]; !ok {
				t.Fatalf("line %d lacks %s", i+1, column)
			} else if v != nil {
				text = fmt.Sprint(v)
			}
			if text != records[i+1][j] {
				t.Fatalf("line %d: %s is %q in NDJSON, %q in CSV", i+1, column, text, records[i+1][j])
			}
		}
	}
	m, err := NewManifest(dir, []string{"samples.csv.gz"}, Download{GeneratedAt: t0, License: "CC-BY-4.0"})
	if err != nil {
		t.Fatal(err)
	}
	content, err := os.ReadFile(filepath.Join(dir, "samples.csv.gz"))
	if err != nil {
		t.Fatal(err)
	}
	want := Manifest{GeneratedAt: t0, License: "CC-BY-4.0", Files: []ManifestFile{
		{Name: "samples.csv.gz", Bytes: int64(len(content)), SHA256: fmt.Sprintf("%x", sha256.Sum256(content))},
	}}
	if diff := cmp.Diff(want, m); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
}
