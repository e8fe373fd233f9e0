package data

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/mattn/go-sqlite3"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

const kindDownload kind = "download"

// An Extent is a stretch of time, [From, To). A zero end is no end.
type Extent struct{ From, To time.Time }

// Nothing is an extent without anything in it.
func Nothing() Extent { return Extent{From: farFuture(), To: farFuture()} }

func (e Extent) ends() (from, to time.Time) {
	if e.To.IsZero() {
		e.To = farFuture()
	}
	return later(e.From, time.Unix(0, 0)), e.To
}

// A Download says what goes into an assembled file. Its zero value is
// everything.
type Download struct {
	Raw    Extent
	Hourly Extent
	Daily  Extent

	GeneratedAt time.Time // stated in meta; zero is not stated
	Commit      string    // of the record, stated in meta
	License     string    // stated in meta
}

// Whole returns the main download as of a time: all raw samples, hourly buckets
// of the last 90 days, all daily ones. With the older hours, which [HourlyOf]
// offers by year, the file of 120 models would be half as large again.
func Whole(now time.Time) Download {
	return Download{Hourly: Extent{From: midnight(now).Add(-90 * day)}, GeneratedAt: now}
}

// Lite returns the small download as of a time: seven days of raw samples, 90
// days of hourly buckets, all daily ones.
func Lite(now time.Time) Download {
	return Download{
		Raw: Extent{From: midnight(now).Add(-7 * day)}, Hourly: Extent{From: midnight(now).Add(-90 * day)}, GeneratedAt: now,
	}
}

// HourlyOf returns the download that holds the hourly buckets of one year.
func HourlyOf(year int, now time.Time) Download {
	from := time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)
	return Download{Raw: Nothing(), Hourly: Extent{from, from.AddDate(1, 0, 0)}, Daily: Nothing(), GeneratedAt: now}
}

// Years returns the years of which the record holds hourly buckets, in order.
func (s *Store) Years() ([]int, error) {
	months, err := s.list(kindRollup, time.Unix(0, 0), farFuture())
	if err != nil {
		return nil, fmt.Errorf("list years: %w", err)
	}
	var years []int
	for _, name := range months {
		years = append(years, name.start.Year())
	}
	return slices.Compact(years), nil
}

// jsonBuckets is how far back from the newest daily bucket the histograms are
// also given as JSON, for SQL to merge: the longest window on the site, and room.
const jsonBuckets = 400 * day

// Assemble writes one file that holds the record, or what opts asks of it: the
// same tables and views, with indexes, a dictionary, and the histograms of
// recent days as JSON. The file appears under its name only when it is whole.
//
// Ids are given out in order of names and contents, and the file is rewritten
// by VACUUM INTO, so equal content makes equal bytes, by whatever history the
// record came to it. Samples and buckets of days not closed are raw samples
// only.
func (s *Store) Assemble(ctx context.Context, dst string, opts Download) (err error) {
	dst, err = filepath.Abs(dst)
	if err != nil {
		return fmt.Errorf("assemble: %w", err)
	}
	work, err := os.MkdirTemp(filepath.Dir(dst), ".assemble-")
	if err != nil {
		return fmt.Errorf("assemble: %w", fileError(filepath.Dir(dst), err))
	}
	defer os.RemoveAll(work)
	a := &assembly{store: s, opts: opts}
	loose, whole := filepath.Join(work, "loose.sqlite"), filepath.Join(work, "whole.sqlite")
	if err := a.build(ctx, loose, whole); err != nil {
		return fmt.Errorf("assemble %s: %w", dst, fileError(loose, err))
	}
	if err := os.Chmod(whole, 0o644); err != nil {
		return fmt.Errorf("assemble: %w", fileError(whole, err))
	}
	if err := os.Rename(whole, dst); err != nil {
		return fmt.Errorf("assemble: %w", fileError(dst, err))
	}
	return nil
}

// An assembly is a download being made.
type assembly struct {
	store *Store
	opts  Download
	*sql.Conn
	raw, months []fileName
	series      map[int64]int64 // new ids of series, by those they had
}

// build makes the file at loose, and its vacuumed twin at whole.
func (a *assembly) build(ctx context.Context, loose, whole string) error {
	f, err := os.OpenFile(loose, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := a.store.make(ctx, loose, fileName{kind: kindDownload}, fillDictionary); err != nil {
		return err
	}
	db := sql.OpenDB(assembleConnector(loose))
	defer db.Close()
	db.SetMaxOpenConns(1)
	if a.Conn, err = db.Conn(ctx); err != nil {
		return err
	}
	defer a.Conn.Close()
	// Until it is renamed the file may be lost, so nothing need be synced.
	if _, err := a.ExecContext(ctx, `PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA foreign_keys = OFF; PRAGMA temp_store = MEMORY`); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{a.survey, a.copySeries, a.copyNames, a.copyRaw, a.copyRollups, a.describe} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	_, err = a.ExecContext(ctx, `VACUUM INTO ?`, whole)
	return err
}

// assembleConnector adds the functions that the copying statements use.
func assembleConnector(path string) connector {
	c := newConnector(path, false)
	c.driver = &sqlite3.SQLiteDriver{ConnectHook: func(conn *sqlite3.SQLiteConn) error {
		return conn.RegisterFunc("histogram_json", histogramJSON, true)
	}}
	return c
}

// histogramJSON returns a stored histogram as [[bucket,n],...].
func histogramJSON(data []byte) (string, error) {
	var h stats.Histogram
	if err := h.UnmarshalBinary(data); err != nil {
		return "", err
	}
	text, err := h.MarshalJSON()
	return string(text), err
}

// survey lists the files that have something for the download.
func (a *assembly) survey(ctx context.Context) (err error) {
	from, to := a.opts.Raw.ends()
	if a.raw, err = a.store.rawFiles(ctx, from, to); err != nil {
		return err
	}
	from, to = a.opts.Hourly.ends()
	dailyFrom, dailyTo := a.opts.Daily.ends()
	a.months, err = a.store.list(kindRollup, earlier(from, dailyFrom), later(to, dailyTo))
	return err
}

// from attaches a file of the record as src for the time of work.
func (a *assembly) from(ctx context.Context, name fileName, work func(names *names) error) (err error) {
	db, err := a.store.open(ctx, name)
	if err != nil {
		return err
	}
	if err := db.Close(); err != nil {
		return err
	}
	u := url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(a.store.path(name)), RawQuery: "mode=ro"}
	if _, err := a.ExecContext(ctx, `ATTACH ? AS src`, u.String()); err != nil {
		return fileError(a.store.path(name), err)
	}
	defer func() {
		_, detachErr := a.ExecContext(context.WithoutCancel(ctx), `DETACH src`)
		err = errors.Join(err, detachErr)
	}()
	n, err := readNames(ctx, a.Conn, "src")
	if err != nil {
		return err
	}
	if err := work(&n); err != nil {
		return fileError(a.store.path(name), err)
	}
	return nil
}

// copySeries gives every series its id, in order of name, and remembers which
// one it had.
func (a *assembly) copySeries(ctx context.Context) error {
	if _, err := a.ExecContext(ctx, `CREATE TEMP TABLE map(kind TEXT, old INTEGER, new INTEGER NOT NULL, PRIMARY KEY(kind, old)) WITHOUT ROWID`); err != nil {
		return err
	}
	catalog, err := readNames(ctx, a.store.db, "main")
	if err != nil {
		return err
	}
	a.series = map[int64]int64{}
	for i, series := range slices.SortedFunc(maps.Keys(catalog.series.ids), compareSeries) {
		_, err := a.ExecContext(ctx, `INSERT INTO main.series VALUES(?, ?, ?, ?, ?, ?)`, i+1, series.Provider, series.Model, series.Vantage, series.Nonce, series.Short)
		if err != nil {
			return err
		}
		a.series[catalog.series.ids[series]] = int64(i + 1)
		if err := a.remap(ctx, "series", catalog.series.ids[series], int64(i+1)); err != nil {
			return err
		}
	}
	return nil
}

func (a *assembly) remap(ctx context.Context, kind string, from, to int64) error {
	_, err := a.ExecContext(ctx, `INSERT OR REPLACE INTO temp.map VALUES(?, ?, ?)`, kind, from, to)
	return err
}

// copyNames writes the conditions, replies and failures that samples of the
// download have, in order of their contents.
func (a *assembly) copyNames(ctx context.Context) error {
	envs, replies, failures := map[env]bool{}, map[reply]bool{}, map[failure]bool{}
	for _, name := range a.raw {
		err := a.from(ctx, name, func(n *names) error {
			rows, err := a.QueryContext(ctx, `SELECT DISTINCT env_id, series_id, reply_id, failure_id FROM src.raw_samples WHERE id >= ? AND id < ?`, a.rawIDs()...)
			if err != nil {
				return err
			}
			defer rows.Close()
			for rows.Next() {
				var r row
				var series int64
				if err := rows.Scan(&r.env, &series, &r.reply, &r.failure); err != nil {
					return err
				}
				envs[n.envs.rows[r.env]] = true
				if r.reply.Valid {
					p := n.replies.rows[replyKey(series, r.reply.Int64)]
					p.series = a.series[series]
					replies[p] = true
				}
				if r.failure.Valid {
					failures[n.failures.rows[r.failure.Int64]] = true
				}
			}
			return rows.Err()
		})
		if err != nil {
			return err
		}
	}
	for i, e := range slices.SortedFunc(maps.Keys(envs), compareEnvs) {
		_, err := a.ExecContext(ctx, `INSERT INTO main.envs VALUES(?, ?, ?, ?, ?, ?, ?)`, i+1, e.method, e.prompt, e.protocol, e.region, e.lanes, e.clock)
		if err != nil {
			return err
		}
	}
	ids := map[int64]int64{} // the last one given out, by series
	for _, r := range slices.SortedFunc(maps.Keys(replies), compareReplies) {
		ids[r.series]++
		_, err := a.ExecContext(ctx, `INSERT INTO main.replies VALUES(?, ?, ?, ?, ?, ?, ?)`, r.series, ids[r.series], r.status, r.proto, r.servedBy, r.backend, r.finish)
		if err != nil {
			return err
		}
	}
	for i, f := range slices.SortedFunc(maps.Keys(failures), compareFailures) {
		_, err := a.ExecContext(ctx, `INSERT INTO main.failures VALUES(?, ?, ?, ?, ?)`, i+1, f.kind, f.detail, f.phase, f.inner)
		if err != nil {
			return err
		}
	}
	return nil
}

func compareEnvs(a, b env) int {
	return cmp.Or(cmp.Compare(a.method, b.method), cmp.Compare(a.prompt, b.prompt), cmp.Compare(a.protocol, b.protocol),
		cmp.Compare(a.region, b.region), cmp.Compare(a.lanes, b.lanes), cmp.Compare(a.clock, b.clock))
}

func compareReplies(a, b reply) int {
	return cmp.Or(cmp.Compare(a.series, b.series), cmp.Compare(a.status, b.status), cmp.Compare(a.proto, b.proto), cmp.Compare(a.servedBy, b.servedBy),
		cmp.Compare(a.backend, b.backend), cmp.Compare(a.finish, b.finish))
}

func compareFailures(a, b failure) int {
	return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.detail, b.detail), cmp.Compare(a.phase, b.phase), cmp.Compare(a.inner, b.inner))
}

func (a *assembly) rawIDs() []any {
	from, to := a.opts.Raw.ends()
	return []any{firstID(from), firstID(to)}
}

// copyRaw copies the samples, day by day, in order of their new ids.
func (a *assembly) copyRaw(ctx context.Context) error {
	own, err := readNames(ctx, a.Conn, "main")
	if err != nil {
		return err
	}
	_, rest, _ := strings.Cut(keptColumns, "reply_id, ")
	query := `INSERT INTO main.raw_samples(` + keptColumns + `)
		SELECT (s.id & ~4095) | m.new AS id, e.new, f.new, r.new, ` + rest + `
		FROM src.raw_samples s
		JOIN temp.map m ON m.kind = 'series' AND m.old = s.series_id
		JOIN temp.map e ON e.kind = 'env' AND e.old = s.env_id
		LEFT JOIN temp.map f ON f.kind = 'failure' AND f.old = s.failure_id
		LEFT JOIN temp.map r ON r.kind = 'reply' AND r.old = s.reply_id << 12 | s.series_id
		WHERE s.id >= ? AND s.id < ? ORDER BY 1`
	for _, name := range a.raw {
		err := a.from(ctx, name, func(n *names) error {
			if err := errors.Join(
				remapAll(ctx, a, "env", n.envs, own.envs),
				a.remapReplies(ctx, n.replies, own.replies),
				remapAll(ctx, a, "failure", n.failures, own.failures),
			); err != nil {
				return err
			}
			_, err := a.ExecContext(ctx, query, a.rawIDs()...)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// remapAll remembers the new ids of a file's names.
func remapAll[R comparable](ctx context.Context, a *assembly, kind string, old, own table[R]) error {
	for id, r := range old.rows {
		if to, ok := own.ids[r]; ok {
			if err := a.remap(ctx, kind, id, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// remapReplies remembers the new ids of a file's replies.
func (a *assembly) remapReplies(ctx context.Context, old, own table[reply]) error {
	for key, r := range old.rows {
		r.series = a.series[r.series]
		if to, ok := own.ids[r]; ok {
			if err := a.remap(ctx, "reply", key, to>>seriesBits); err != nil {
				return err
			}
		}
	}
	return nil
}

// copyRollups copies the buckets, month by month.
func (a *assembly) copyRollups(ctx context.Context) error {
	hourFrom, hourTo := a.opts.Hourly.ends()
	dayFrom, dayTo := a.opts.Daily.ends()
	jsonFrom := time.Time{}
	if n := len(a.months); n > 0 {
		jsonFrom = a.months[n-1].end().Add(-jsonBuckets)
	}
	copyBuckets := func(width time.Duration, from, to time.Time) error {
		table, columns := keptBucketTable(width)
		rest := strings.TrimPrefix(columns, "id, ")
		_, err := a.ExecContext(ctx, `INSERT INTO main.`+table+`(`+columns+`)
			SELECT (b.id & ~4095) | m.new, `+rest+` FROM src.`+table+` b JOIN temp.map m ON m.kind = 'series' AND m.old = b.series_id
			WHERE b.id >= ? AND b.id < ? ORDER BY 1`, firstBucketID(from, width), firstBucketID(to, width))
		return err
	}
	for _, name := range a.months {
		err := a.from(ctx, name, func(*names) error {
			return errors.Join(copyBuckets(rollup.Hour, hourFrom, hourTo), copyBuckets(rollup.Day, dayFrom, dayTo))
		})
		if err != nil {
			return err
		}
	}
	_, err := a.ExecContext(ctx, `UPDATE main.raw_daily SET decode_buckets = histogram_json(coalesce(decode_hist, x'')), ttft_buckets = histogram_json(coalesce(ttft_hist, x'')) WHERE id >= ?`,
		firstBucketID(later(jsonFrom, time.Unix(0, 0)), rollup.Day))
	return err
}

// describe adds the indexes, and says in meta what the file is.
func (a *assembly) describe(ctx context.Context) error {
	_, err := a.ExecContext(ctx, `
		CREATE INDEX samples_by_series ON raw_samples(series_id);
		CREATE INDEX hourly_by_series ON raw_hourly(series_id);
		CREATE INDEX daily_by_series ON raw_daily(series_id);
		ANALYZE;`)
	if err != nil {
		return fmt.Errorf("index: %w", err)
	}
	var methods, prompts sql.NullString
	err = a.QueryRowContext(ctx, `SELECT
		(SELECT group_concat(v, ' ') FROM (SELECT DISTINCT method_version AS v FROM envs ORDER BY 1)),
		(SELECT group_concat(v, ' ') FROM (SELECT DISTINCT prompt_version AS v FROM envs ORDER BY 1))`).Scan(&methods, &prompts)
	if err != nil {
		return err
	}
	st, err := readState(ctx, a.store.db)
	if err != nil {
		return err
	}
	entries := []struct {
		key   string
		value any
	}{
		{"name", "Streamgauge"},
		{"license", a.opts.License},
		{"commit", a.opts.Commit},
		{"generated_at", stamp(a.opts.GeneratedAt)},
		{"closed_before", stamp(st.closed)},
		{"raw_from", stamp(st.floor)},
		{"method_versions", methods.String},
		{"prompt_versions", prompts.String},
		{"histogram_gamma", stats.Gamma},
	}
	for _, e := range entries {
		if e.value == "" {
			continue
		}
		if _, err := a.ExecContext(ctx, `INSERT INTO meta VALUES(?, ?)`, e.key, e.value); err != nil {
			return fmt.Errorf("describe: %w", err)
		}
	}
	return nil
}

// stamp returns a time as the dataset spells it; "" for the zero time.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
