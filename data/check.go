package data

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// The size guard. GitHub refuses files over 100 MB and warns from 50 MB.
const (
	WarnBytes   = 40_000_000
	RefuseBytes = 80_000_000
)

// A Finding is something wrong with the record.
type Finding struct {
	File    string `json:"file"` // below the record's directory
	Rule    string `json:"rule"` // e.g. "quick_check"
	Text    string `json:"text"`
	Warning bool   `json:"warning,omitempty"` // no reason to refuse the record
}

// String returns "file: rule: text".
func (f Finding) String() string { return f.File + ": " + f.Rule + ": " + f.Text }

// Check judges the record before it is committed: files at rest and of allowed
// size, sound for SQLite, with ids that mean the same everywhere, rows that lie
// in their period and add up, and buckets that count every sample they are of.
// Its cost grows with the size of the record, a second for some hundred
// megabytes. An error means that the record could not be judged.
func (s *Store) Check(ctx context.Context) ([]Finding, error) {
	files, err := s.survey()
	if err != nil {
		return asFinding(s, err)
	}
	st, err := readState(ctx, s.db)
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	catalog, err := readNames(ctx, s.db, "main")
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	tables, err := schemaOf(ctx)
	if err != nil {
		return nil, fmt.Errorf("check: %w", err)
	}
	c := &checker{store: s, tables: tables, state: st, catalog: catalog, daily: map[int64]int64{}, seen: map[time.Time]bool{}}
	// Half months before days, as a day is held against its half month.
	slices.SortStableFunc(files, func(a, b fileName) int {
		return map[bool]int{true: 1}[a.kind == kindRaw] - map[bool]int{true: 1}[b.kind == kindRaw]
	})
	for _, name := range files {
		if name.kind == kindRaw && st.frozen(name.start) {
			c.find(name, "pruned", "left behind by a crash; the next rollup removes it").Warning = true
			continue
		}
		if err := c.file(ctx, name); err != nil {
			more, err := asFinding(s, err)
			if err != nil {
				return nil, fmt.Errorf("check: %w", err)
			}
			c.findings = append(c.findings, more...)
		}
	}
	c.vanished(files)
	return c.findings, nil
}

// vanished finds days that have buckets and should have their samples, but have
// no file.
func (c *checker) vanished(files []fileName) {
	has := map[time.Time]bool{}
	for _, name := range files {
		has[name.start] = has[name.start] || name.kind == kindRaw
	}
	told := map[time.Time]bool{}
	for _, id := range slices.Sorted(maps.Keys(c.daily)) {
		samples, start := c.daily[id], time.Unix((id>>seriesBits)*int64(day/time.Second), 0).UTC()
		if samples > 0 && !c.state.frozen(start) && !has[start] && !told[start] {
			told[start] = true
			c.find(rawFile(start), "vanished", "it is missing, though the summaries of its day count samples")
		}
	}
}

// asFinding turns what is wrong with a file into a finding; other errors stay.
func asFinding(s *Store, err error) ([]Finding, error) {
	var f *FileError
	if !errors.As(err, &f) || errors.Is(err, ErrLocked) {
		return nil, err
	}
	text := f.Problem.Error()
	if f.Err != nil {
		text += ": " + f.Err.Error()
	}
	return []Finding{{File: s.relative(f.Path), Rule: "open", Text: text}}, nil
}

// A checker collects findings.
type checker struct {
	store    *Store
	state    state
	catalog  names
	tables   map[string]string // the statements that make them
	findings []Finding
	daily    map[int64]int64    // samples by daily bucket id
	seen     map[time.Time]bool // half months that have a file
}

func (c *checker) find(name fileName, rule, format string, args ...any) *Finding {
	c.findings = append(c.findings, Finding{File: name.relative(), Rule: rule, Text: fmt.Sprintf(format, args...)})
	return &c.findings[len(c.findings)-1]
}

// file judges one file. Its error is about reading it.
func (c *checker) file(ctx context.Context, name fileName) error {
	path := c.store.path(name)
	db, err := c.store.open(ctx, name)
	if err != nil {
		return err
	}
	defer db.Close()
	if _, err := os.Lstat(path + "-journal"); err == nil {
		c.find(name, "journal", "its journal is there: somebody is writing, or was killed")
	}
	info, err := os.Stat(path)
	if err != nil {
		return fileError(path, err)
	}
	switch {
	case info.Size() > RefuseBytes:
		c.find(name, "size", "%d bytes, more than %d", info.Size(), int64(RefuseBytes))
	case info.Size() > WarnBytes:
		c.find(name, "size", "%d bytes, more than %d", info.Size(), int64(WarnBytes)).Warning = true
	}
	if err := quickCheck(ctx, db, "main"); err != nil {
		c.find(name, "quick_check", "%v", err)
		return nil // its rows mean nothing
	}
	if lacking, err := lacksSchema(ctx, db, c.tables); err != nil {
		return fileError(path, err)
	} else if lacking != "" {
		c.find(name, "schema", "%s is not as it should be", lacking)
		return nil
	}
	broken := 0
	if err := db.QueryRowContext(ctx, `SELECT count(*) FROM pragma_foreign_key_check`).Scan(&broken); err != nil {
		return fileError(path, err)
	}
	if broken > 0 {
		c.find(name, "foreign_keys", "%d rows refer to nothing", broken)
	}
	own, err := readNames(ctx, db, "main")
	if err != nil {
		return fileError(path, err)
	}
	c.names(name, &own)
	switch name.kind {
	case kindRaw:
		return fileError(path, c.raw(ctx, name, db))
	case kindRollup:
		c.seen[name.start] = true
		return fileError(path, errors.Join(
			c.buckets(ctx, name, db, rollup.Hour), c.buckets(ctx, name, db, rollup.Day), c.hoursOfDays(ctx, name, db), c.readDaily(ctx, db)))
	}
	return nil
}

// schemaOf returns the statements that make the tables.
func schemaOf(ctx context.Context) (map[string]string, error) {
	db, err := sql.Open("sqlite3", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, err
	}
	return tablesOf(ctx, db)
}

func tablesOf(ctx context.Context, q querier) (map[string]string, error) {
	rows, err := q.QueryContext(ctx, `SELECT name, sql FROM sqlite_schema WHERE type = 'table'`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	tables := map[string]string{}
	for rows.Next() {
		var name, statement string
		if err := rows.Scan(&name, &statement); err != nil {
			return nil, err
		}
		tables[name] = statement
	}
	return tables, rows.Err()
}

// lacksSchema returns the name of a table or view that a file lacks, or has
// otherwise. Views may be those of another version, but must work.
func lacksSchema(ctx context.Context, db *sql.DB, want map[string]string) (string, error) {
	got, err := tablesOf(ctx, db)
	if err != nil {
		return "", err
	}
	for _, name := range slices.Sorted(maps.Keys(want)) {
		if got[name] != want[name] {
			return name, nil
		}
	}
	for _, view := range append(Views(), probesView) {
		rows, err := db.QueryContext(ctx, `SELECT * FROM `+view+` LIMIT 0`)
		if err != nil {
			return view, nil
		}
		if err := rows.Close(); err != nil {
			return "", err
		}
	}
	return "", nil
}

// names checks that the file's ids mean what they mean in the catalog.
func (c *checker) names(name fileName, own *names) {
	for id, series := range own.series.rows {
		if c.catalog.series.rows[id] != series {
			c.find(name, "names", "series %d is %v here, %v in the catalog", id, series, c.catalog.series.rows[id])
		}
	}
	for id, e := range own.envs.rows {
		if c.catalog.envs.rows[id] != e {
			c.find(name, "names", "conditions %d are %v here, %v in the catalog", id, e, c.catalog.envs.rows[id])
		}
	}
}

// violations counts rows of a table for which a condition holds that must not.
func (c *checker) violations(ctx context.Context, name fileName, db *sql.DB, rule, table, condition string, args ...any) error {
	var n, example sql.NullInt64
	if err := db.QueryRowContext(ctx, `SELECT count(*), min(id) FROM `+table+` WHERE `+condition, args...).Scan(&n, &example); err != nil {
		return err
	}
	if n.Int64 > 0 {
		c.find(name, rule, "%d rows of %s, the first with id %d", n.Int64, table, example.Int64)
	}
	return nil
}

// raw judges the samples of a day, and holds its buckets against them.
func (c *checker) raw(ctx context.Context, name fileName, db *sql.DB) error {
	err := errors.Join(
		c.violations(ctx, name, db, "period", "raw_samples", `id < ? OR id >= ?`, firstID(name.start), firstID(name.end())),
		c.violations(ctx, name, db, "names", "raw_samples", `series_id NOT IN (SELECT series_id FROM series)`),
		c.violations(ctx, name, db, "counts", "raw_samples", `min(chunks, merged_chunks, reasoning_chunks, chars, words, first_chars, stalls, stall_us100) < 0
			OR merged_chunks > chunks OR first_chars > chars OR (chunks > 0) <> (ttft_rest_ms IS NOT NULL) OR (ttft_rest_ms IS NULL) <> (span_us100 IS NULL)`),
	)
	if err != nil || !name.start.Before(c.state.closed) {
		return err
	}
	if !c.seen[rollupFile(name.start).start] {
		c.find(name, "counts", "the day is closed, but its half month has no file")
		return nil
	}
	rows, err := db.QueryContext(ctx, `SELECT series_id, count(*) FROM raw_samples JOIN series USING(series_id) WHERE NOT short GROUP BY 1`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var series, n int64
		if err := rows.Scan(&series, &n); err != nil {
			return err
		}
		id := bucketID(name.start, rollup.Day, series)
		if got := c.daily[id]; got != n {
			c.find(name, "counts", "%d samples of %v, but its daily bucket counts %d", n, c.catalog.series.rows[series].Pair, got)
		}
		delete(c.daily, id)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for _, series := range slices.Sorted(maps.Keys(c.catalog.series.rows)) {
		if n := c.daily[bucketID(name.start, rollup.Day, series)]; n > 0 {
			c.find(name, "counts", "no sample of %v, but its daily bucket counts %d", c.catalog.series.rows[series].Pair, n)
		}
	}
	return nil
}

// buckets judges the buckets of one width in a half month.
func (c *checker) buckets(ctx context.Context, name fileName, db *sql.DB, width time.Duration) error {
	table, _ := bucketTable(width)
	errs := []error{
		c.violations(ctx, name, db, "period", table, `id < ? OR id >= ?`, bucketID(name.start, width, 0), bucketID(name.end(), width, 0)),
		c.violations(ctx, name, db, "names", table, `series_id NOT IN (SELECT series_id FROM series)`),
		c.violations(ctx, name, db, "counts", table, `samples < 1 OR ok < 0 OR noisy < 0 OR noisy > ok
			OR samples <> ok + CASE WHEN errors IS NULL THEN 0 ELSE (SELECT sum(value) FROM json_each(errors)) END`),
	}
	for _, metric := range []string{"decode", "hybrid", "ttft"} {
		in := func(condition string) string { return strings.ReplaceAll(condition, "$", metric+"_") }
		errs = append(errs,
			c.violations(ctx, name, db, "counts", table, in(`$n < 0 OR $n > ok - noisy
				OR (coalesce($n, ok - noisy) > 0) <> ($avg IS NOT NULL) OR (coalesce($n, ok - noisy) > 1) <> ($p50 IS NOT NULL)`)),
			c.violations(ctx, name, db, "order", table, in(`$min < 0 OR $min > $p50 OR $p50 > $p95 OR $p95 > $max OR $avg < $min OR $avg > $max`)))
	}
	return errors.Join(errs...)
}

// hoursOfDays checks that the hours of each day add up to it.
func (c *checker) hoursOfDays(ctx context.Context, name fileName, db *sql.DB) error {
	const hours = `SELECT (id >> 12) / 24, series_id, sum(samples), sum(ok), sum(noisy) FROM raw_hourly GROUP BY 1, 2`
	const days = `SELECT id >> 12, series_id, samples, ok, noisy FROM raw_daily`
	var differ int
	err := db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM (`+hours+` EXCEPT `+days+`)) + (SELECT count(*) FROM (`+days+` EXCEPT `+hours+`))`).Scan(&differ)
	if err == nil && differ > 0 {
		c.find(name, "counts", "the hours of %d days and series do not add up to the day", differ)
	}
	return err
}

// readDaily remembers how many samples each daily bucket counts, and checks
// that its histograms can be read and count what they should.
func (c *checker) readDaily(ctx context.Context, db *sql.DB) error {
	buckets, err := readBuckets(ctx, db, rollup.Day, time.Unix(0, 0), farFuture())
	if err != nil {
		return err
	}
	for _, b := range buckets {
		c.daily[bucketID(b.bucket.Start, rollup.Day, b.series)] = int64(b.bucket.Samples)
		for _, h := range []struct {
			metric string
			n      uint64
			spread rollup.Spread
		}{{"decode rates", b.bucket.DecodeHist.N(), b.bucket.Decode}, {"TTFTs", b.bucket.TTFTHist.N(), b.bucket.TTFT}} {
			if h.n != uint64(h.spread.N) {
				c.find(rollupFile(b.bucket.Start), "histogram", "%s of %v on %s: %d in the histogram, %d counted",
					h.metric, b.bucket.Series.Pair, b.bucket.Start.Format(time.DateOnly), h.n, h.spread.N)
			}
		}
	}
	return nil
}

// A Difference is a bucket that is not what its samples say.
type Difference struct {
	Series bench.Series  `json:"series"`
	Start  time.Time     `json:"start"`
	Width  time.Duration `json:"width_ns"`
	Stored *rollup.Bucket
	Wanted *rollup.Bucket // nil if no sample asks for the bucket
}

// Verify computes the buckets of every closed day that still has its samples
// again, and returns those that differ from the stored ones, at most limit.
func (s *Store) Verify(ctx context.Context, limit int) ([]Difference, error) {
	st, err := readState(ctx, s.db)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	files, err := s.rawFiles(ctx, st.floor, st.closed)
	if err != nil {
		return nil, fmt.Errorf("verify: %w", err)
	}
	var differ []Difference
	for _, name := range files {
		for _, width := range []time.Duration{rollup.Hour, rollup.Day} {
			more, err := s.verifyDay(ctx, name, width)
			if err != nil {
				return nil, fmt.Errorf("verify: %w", err)
			}
			if differ = append(differ, more...); len(differ) >= limit {
				return differ[:limit], nil
			}
		}
	}
	return differ, nil
}

func (s *Store) verifyDay(ctx context.Context, name fileName, width time.Duration) ([]Difference, error) {
	wanted, err := s.liveBuckets(ctx, name, width)
	if err != nil {
		return nil, err
	}
	var stored []rollup.Bucket
	for b, err := range s.buckets(ctx, width, name.start, name.end()) {
		if err != nil {
			return nil, err
		}
		stored = append(stored, b)
	}
	return compareBuckets(width, stored, wanted)
}

// compareBuckets returns how stored buckets differ from those that their samples
// ask for.
func compareBuckets(width time.Duration, stored, wanted []rollup.Bucket) ([]Difference, error) {
	type key struct {
		series bench.Series
		start  time.Time
	}
	have := map[key]*rollup.Bucket{}
	for i := range stored {
		have[key{stored[i].Series, stored[i].Start}] = &stored[i]
	}
	var differ []Difference
	for i := range wanted {
		want := &wanted[i]
		k := key{want.Series, want.Start}
		got := have[k]
		delete(have, k)
		same := false
		if got != nil {
			var err error
			if same, err = sameBucket(got, want); err != nil {
				return nil, err
			}
		}
		if !same {
			differ = append(differ, Difference{want.Series, want.Start, width, got, want})
		}
	}
	for i := range stored {
		if got := have[key{stored[i].Series, stored[i].Start}]; got != nil {
			differ = append(differ, Difference{got.Series, got.Start, width, got, nil})
		}
	}
	return differ, nil
}

// sameBucket compares buckets as rows, in which they are kept.
func sameBucket(a, b *rollup.Bucket) (bool, error) {
	ra, errA := encodeBucket(a, 0)
	rb, errB := encodeBucket(b, 0)
	return ra == rb, errors.Join(errA, errB)
}

// Shrunk returns what a record has lost since an earlier inventory of it, other
// than raw days that were pruned.
func Shrunk(before, after Inventory) []Finding {
	now := map[string]File{}
	for _, f := range after.Files {
		now[f.Path] = f
	}
	var lost []Finding
	for _, was := range before.Files {
		is, ok := now[was.Path]
		floor := rawFile(after.Floor).period()
		switch {
		case !ok && was.Kind == string(kindRaw) && was.Period < floor:
		case !ok:
			lost = append(lost, Finding{File: was.Path, Rule: "shrunk", Text: "it is gone"})
		case is.Rows < was.Rows:
			lost = append(lost, Finding{File: was.Path, Rule: "shrunk", Text: fmt.Sprintf("%d rows, it had %d", is.Rows, was.Rows)})
		}
	}
	return lost
}
