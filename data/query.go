package data

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// Samples yields the samples that began in [from, to), in order of time. It
// reads only the rows asked for, and stops at its first error. A day that is
// being read cannot be written, so do not ingest while ranging over it.
//
// A sample read back gives the same numbers as the one that was written, but
// for the rounding of instants to 1 ms, and to 0.1 ms where rates are divided
// by them; see [bench.Sample] for what it lacks without its trace.
func (s *Store) Samples(ctx context.Context, from, to time.Time) iter.Seq2[bench.Sample, error] {
	return func(yield func(bench.Sample, error) bool) {
		files, err := s.rawFiles(ctx, from, to)
		if err != nil {
			yield(bench.Sample{}, fmt.Errorf("read samples: %w", err))
			return
		}
		for _, name := range files {
			if !s.samplesOf(ctx, name, from, to, yield) {
				return
			}
		}
	}
}

// rawFiles lists the day files that meet [from, to), without those below the
// floor, which a crash may have left.
func (s *Store) rawFiles(ctx context.Context, from, to time.Time) ([]fileName, error) {
	st, err := readState(ctx, s.db)
	if err != nil {
		return nil, err
	}
	if st.frozen(from) {
		from = st.floor
	}
	return s.list(kindRaw, from, to)
}

// samplesOf yields the samples of one day file. It reports whether to go on.
func (s *Store) samplesOf(ctx context.Context, name fileName, from, to time.Time, yield func(bench.Sample, error) bool) bool {
	db, err := s.open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return true // pruned by another process since it was listed
	}
	if err != nil {
		return yield(bench.Sample{}, fmt.Errorf("read samples: %w", err)) && false
	}
	defer db.Close()
	names, err := readNames(ctx, db, "main")
	if err != nil {
		return yield(bench.Sample{}, fmt.Errorf("read samples: %s: %w", name.relative(), err)) && false
	}
	for sample, err := range readRows(ctx, db, "main", &names, from, to) {
		if err != nil {
			err = fmt.Errorf("read samples: %w", fileError(s.path(name), err))
		}
		if !yield(sample, err) || err != nil {
			return false
		}
	}
	return true
}

// rowsQuery asks for a range of samples, in order of their ids.
func rowsQuery(schema string) string {
	return `SELECT ` + rowColumns + ` FROM ` + schema + `.raw_samples WHERE id >= ? AND id < ? ORDER BY id`
}

// bucketsQuery asks for a range of buckets, in order of their ids.
func bucketsQuery(width time.Duration) string {
	table, columns := bucketTable(width)
	return `SELECT ` + columns + ` FROM ` + table + ` WHERE id >= ? AND id < ? ORDER BY id`
}

// readRows yields the samples of a schema that began in [from, to).
func readRows(ctx context.Context, q querier, schema string, n *names, from, to time.Time) iter.Seq2[bench.Sample, error] {
	return func(yield func(bench.Sample, error) bool) {
		rows, err := q.QueryContext(ctx, rowsQuery(schema), firstID(from), firstID(to))
		if err != nil {
			yield(bench.Sample{}, err)
			return
		}
		defer rows.Close()
		var r row
		fields := r.fields()
		for rows.Next() {
			if err := rows.Scan(fields...); err != nil {
				yield(bench.Sample{}, err)
				return
			}
			sample, err := decodeSample(&r, n)
			if !yield(sample, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(bench.Sample{}, err)
		}
	}
}

// Hourly yields the hourly buckets that begin in [from, to), in order of time.
// Those of days not closed yet are computed from the samples so far.
func (s *Store) Hourly(ctx context.Context, from, to time.Time) iter.Seq2[rollup.Bucket, error] {
	return s.buckets(ctx, rollup.Hour, from, to)
}

// Daily yields the daily buckets that begin in [from, to), in order of time.
// Those of days not closed yet are computed from the samples so far.
func (s *Store) Daily(ctx context.Context, from, to time.Time) iter.Seq2[rollup.Bucket, error] {
	return s.buckets(ctx, rollup.Day, from, to)
}

func (s *Store) buckets(ctx context.Context, width time.Duration, from, to time.Time) iter.Seq2[rollup.Bucket, error] {
	return func(yield func(rollup.Bucket, error) bool) {
		fail := func(err error) { yield(rollup.Bucket{}, fmt.Errorf("read buckets: %w", err)) }
		st, err := readState(ctx, s.db)
		if err != nil {
			fail(err)
			return
		}
		months, err := s.list(kindRollup, from, to)
		if err != nil {
			fail(err)
			return
		}
		for _, name := range months {
			db, err := s.open(ctx, name)
			if err != nil {
				fail(err)
				return
			}
			rows, err := readBuckets(ctx, db, width, from, to)
			if err := errors.Join(err, db.Close()); err != nil {
				fail(fileError(s.path(name), err))
				return
			}
			for _, b := range rows {
				if !yield(b.bucket, nil) {
					return
				}
			}
		}
		open := from
		if open.Before(st.closed) {
			open = st.closed
		}
		days, err := s.rawFiles(ctx, open, to)
		if err != nil {
			fail(err)
			return
		}
		for _, name := range days {
			live, err := s.liveBuckets(ctx, name, width)
			if err != nil {
				fail(err)
				return
			}
			for _, b := range live {
				if b.Start.Before(from) || !b.Start.Before(to) {
					continue
				}
				if !yield(b, nil) {
					return
				}
			}
		}
	}
}

// readBuckets reads the buckets of one file that begin in [from, to).
func readBuckets(ctx context.Context, q querier, width time.Duration, from, to time.Time) ([]bucketOf, error) {
	names, err := readNames(ctx, q, "main")
	if err != nil {
		return nil, err
	}
	rows, err := q.QueryContext(ctx, bucketsQuery(width), firstBucketID(from, width), firstBucketID(to, width))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var buckets []bucketOf
	for rows.Next() {
		var r bucketRow
		if err := r.scan(rows, width); err != nil {
			return nil, err
		}
		b, err := decodeBucket(&r, width, &names)
		if err != nil {
			return nil, err
		}
		buckets = append(buckets, bucketOf{r.id & seriesMask, b})
	}
	return buckets, rows.Err()
}

// liveBuckets computes the buckets of a day that is not closed, rounded as they
// will be once it is.
func (s *Store) liveBuckets(ctx context.Context, name fileName, width time.Duration) ([]rollup.Bucket, error) {
	var samples []bench.Sample
	var err error
	s.samplesOf(ctx, name, name.start, name.end(), func(sample bench.Sample, e error) bool {
		samples, err = append(samples, sample), e
		return e == nil
	})
	if err != nil {
		return nil, err
	}
	names, err := readNames(ctx, s.db, "main")
	if err != nil {
		return nil, err
	}
	return roundedBuckets(name.start, samples, width, &names)
}

// roundedBuckets computes the buckets of one day from its samples, rounded as
// they are stored, in order of time and series.
func roundedBuckets(start time.Time, samples []bench.Sample, width time.Duration, names *names) ([]rollup.Bucket, error) {
	hours, days := summarizeDay(start, samples, names.series.ids)
	chosen := hours
	if width == rollup.Day {
		chosen = days
	}
	slices.SortStableFunc(chosen, func(a, b bucketOf) int {
		return cmp.Or(a.bucket.Start.Compare(b.bucket.Start), cmp.Compare(a.series, b.series))
	})
	buckets := make([]rollup.Bucket, len(chosen))
	for i, b := range chosen {
		r, err := encodeBucket(&b.bucket, b.series)
		if err != nil {
			return nil, err
		}
		if buckets[i], err = decodeBucket(&r, width, names); err != nil {
			return nil, err
		}
	}
	return buckets, nil
}

// Series returns every series that the record has ever had a sample of, by
// provider, model, vantage and nonce.
func (s *Store) Series(ctx context.Context) ([]bench.Series, error) {
	n, err := readNames(ctx, s.db, "main")
	if err != nil {
		return nil, fileError(s.path(fileName{kind: kindCatalog}), err)
	}
	series := make([]bench.Series, 0, len(n.series.ids))
	for one := range n.series.ids {
		series = append(series, one)
	}
	slices.SortFunc(series, compareSeries)
	return series, nil
}

// Newest returns when the newest sample began. It reports false for a record
// without samples.
func (s *Store) Newest(ctx context.Context) (newest time.Time, ok bool, err error) {
	st, err := readState(ctx, s.db)
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read newest sample: %w", err)
	}
	files, err := s.list(kindRaw, st.floor, farFuture())
	if err != nil {
		return time.Time{}, false, fmt.Errorf("read newest sample: %w", err)
	}
	for _, name := range slices.Backward(files) {
		at, ok, err := s.newestOf(ctx, name)
		if err != nil {
			return time.Time{}, false, fmt.Errorf("read newest sample: %w", err)
		}
		if ok {
			return at, true, nil
		}
	}
	return st.newest, !st.newest.IsZero(), nil
}

func (s *Store) newestOf(ctx context.Context, name fileName) (newest time.Time, ok bool, err error) {
	db, err := s.open(ctx, name)
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, false, nil
	}
	if err != nil {
		return time.Time{}, false, err
	}
	defer db.Close()
	var id sql.NullInt64
	if err := db.QueryRowContext(ctx, `SELECT max(id) FROM raw_samples`).Scan(&id); err != nil {
		return time.Time{}, false, fileError(s.path(name), err)
	}
	return time.UnixMilli(id.Int64 >> seriesBits).UTC(), id.Valid, nil
}

// farFuture is after every sample a record can hold.
func farFuture() time.Time { return time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC) }

// A File is a file of the record.
type File struct {
	Path   string `json:"path"`   // below the record's directory, with slashes
	Kind   string `json:"kind"`   // catalog, raw or rollup
	Period string `json:"period"` // the first day it is of; "" for the catalog
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows"` // samples, or buckets
}

// An Inventory is what a record holds.
type Inventory struct {
	Files   []File    `json:"files"`
	Bytes   int64     `json:"bytes"`
	Series  int       `json:"series"` // without those of buffering probes
	Samples int64     `json:"samples"`
	Hourly  int64     `json:"hourly"`
	Daily   int64     `json:"daily"`
	Closed  time.Time `json:"closed"` // days before it have their buckets
	Floor   time.Time `json:"floor"`  // raw days before it are gone
}

// Inventory counts files, bytes and rows.
func (s *Store) Inventory(ctx context.Context) (Inventory, error) {
	var inv Inventory
	st, err := readState(ctx, s.db)
	if err != nil {
		return inv, fmt.Errorf("take inventory: %w", err)
	}
	inv.Closed, inv.Floor = st.closed, st.floor
	files, err := s.survey()
	if err != nil {
		return inv, fmt.Errorf("take inventory: %w", err)
	}
	for _, name := range files {
		if name.kind == kindRaw && st.frozen(name.start) {
			continue
		}
		if err := s.count(ctx, name, &inv); err != nil {
			return inv, fmt.Errorf("take inventory: %w", err)
		}
	}
	return inv, nil
}

// count adds one file to an inventory.
func (s *Store) count(ctx context.Context, name fileName, inv *Inventory) error {
	db, err := s.open(ctx, name)
	if err != nil {
		return err
	}
	defer db.Close()
	var samples, hourly, daily int64
	var series int
	err = db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM raw_samples), (SELECT count(*) FROM raw_hourly),
		(SELECT count(*) FROM raw_daily), (SELECT count(*) FROM series WHERE NOT short)`).Scan(&samples, &hourly, &daily, &series)
	if err != nil {
		return fileError(s.path(name), err)
	}
	info, err := os.Stat(s.path(name))
	if err != nil {
		return fileError(s.path(name), err)
	}
	inv.Files = append(inv.Files, File{
		Path: name.relative(), Kind: string(name.kind), Period: name.period(), Bytes: info.Size(), Rows: samples + hourly + daily,
	})
	inv.Bytes += info.Size()
	inv.Samples += samples
	inv.Hourly += hourly
	inv.Daily += daily
	inv.Series = max(inv.Series, series)
	return nil
}
