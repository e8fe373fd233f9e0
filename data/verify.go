package data

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"os"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// An Assembled is an assembled file, opened to derive from it what was published
// beside it. It answers as the record it was made of would.
type Assembled struct {
	// Closed is the midnight before which buckets are read. From it on they are
	// computed from the samples. It is the record's own, unless it is set to an
	// earlier one.
	Closed time.Time

	floor time.Time // days before it have no samples
	path  string
	db    *sql.DB
	names names
}

// OpenAssembled opens a file that [Store.Assemble] wrote. The file may come from
// a stranger: it refuses, with a [*FileError], what is not a sound file of this
// schema.
func OpenAssembled(ctx context.Context, path string) (*Assembled, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("open assembled file: %w", fileError(path, err))
	}
	if info.Size() == 0 {
		return nil, fmt.Errorf("open assembled file: %w", &FileError{Path: path, Problem: ErrEmpty})
	}
	db := sql.OpenDB(newConnector(path, true))
	db.SetMaxOpenConns(1)
	d := &Assembled{path: path, db: db}
	err = identify(ctx, db, path, fileName{kind: kindDownload})
	if err == nil {
		if unsound := quickCheck(ctx, db, "main"); unsound != nil {
			err = &FileError{Path: path, Problem: ErrCorrupt, Err: unsound}
		}
	}
	if err == nil {
		d.names, err = readNames(ctx, db, "main")
	}
	if err == nil {
		d.Closed, err = readStamp(ctx, db, "closed_before")
	}
	if err == nil {
		d.floor, err = readStamp(ctx, db, "raw_from")
	}
	if err != nil {
		db.Close()
		return nil, fmt.Errorf("open assembled file: %w", fileError(path, err))
	}
	return d, nil
}

// readStamp reads a time that describe wrote; the zero time if there is none.
func readStamp(ctx context.Context, q querier, key string) (time.Time, error) {
	var text string
	err := q.QueryRowContext(ctx, `SELECT value FROM main.meta WHERE key = ?`, key).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}, fmt.Errorf("%s: %w", key, err)
	}
	return at, nil
}

// Close closes the file.
func (d *Assembled) Close() error { return d.db.Close() }

// RawFrom returns the midnight before which samples have been dropped; the zero
// time if none have.
func (d *Assembled) RawFrom() time.Time { return d.floor }

// Newest returns when the newest sample began; false without samples.
func (d *Assembled) Newest(ctx context.Context) (newest time.Time, ok bool, err error) {
	var id sql.NullInt64
	if err := d.db.QueryRowContext(ctx, `SELECT max(id) FROM raw_samples`).Scan(&id); err != nil {
		return time.Time{}, false, fmt.Errorf("read newest sample: %w", fileError(d.path, err))
	}
	return time.UnixMilli(id.Int64 >> seriesBits).UTC(), id.Valid, nil
}

// Samples yields the samples that began in [from, to), in order of time, and
// stops at its first error.
func (d *Assembled) Samples(ctx context.Context, from, to time.Time) iter.Seq2[bench.Sample, error] {
	return func(yield func(bench.Sample, error) bool) {
		for sample, err := range readRows(ctx, d.db, "main", &d.names, from, to) {
			if err != nil {
				err = fmt.Errorf("read samples: %w", fileError(d.path, err))
			}
			if !yield(sample, err) || err != nil {
				return
			}
		}
	}
}

// Daily yields the daily buckets that begin in [from, to), in order of time.
// Those of days from d.Closed on are computed from the samples.
func (d *Assembled) Daily(ctx context.Context, from, to time.Time) iter.Seq2[rollup.Bucket, error] {
	return func(yield func(rollup.Bucket, error) bool) {
		stored, err := readBuckets(ctx, d.db, rollup.Day, from, earlier(to, d.Closed))
		if err != nil {
			yield(rollup.Bucket{}, fmt.Errorf("read buckets: %w", fileError(d.path, err)))
			return
		}
		for _, b := range stored {
			if !yield(b.bucket, nil) {
				return
			}
		}
		newest, ok, err := d.Newest(ctx)
		if err != nil {
			yield(rollup.Bucket{}, err)
			return
		}
		for start := later(midnight(from), d.Closed); ok && start.Before(to) && !start.After(newest); start = start.Add(day) {
			live, err := d.derive(ctx, start, rollup.Day)
			if err != nil {
				yield(rollup.Bucket{}, err)
				return
			}
			for _, b := range live {
				if !b.Start.Before(from) && !yield(b, nil) {
					return
				}
			}
		}
	}
}

// derive computes the buckets of one day from its samples.
func (d *Assembled) derive(ctx context.Context, start time.Time, width time.Duration) ([]rollup.Bucket, error) {
	var samples []bench.Sample
	for sample, err := range d.Samples(ctx, start, start.Add(day)) {
		if err != nil {
			return nil, err
		}
		samples = append(samples, sample)
	}
	return roundedBuckets(start, samples, width, &d.names)
}

// Verify computes the buckets of every closed day that has its samples again. It
// returns those that differ from the stored ones, at most limit, and how many
// were compared.
func (d *Assembled) Verify(ctx context.Context, limit int) (differ []Difference, compared int, err error) {
	first := d.floor
	if first.IsZero() {
		var id sql.NullInt64
		if err := d.db.QueryRowContext(ctx, `SELECT min(id) FROM raw_samples`).Scan(&id); err != nil {
			return nil, 0, fmt.Errorf("verify: %w", fileError(d.path, err))
		}
		if !id.Valid {
			return nil, 0, nil
		}
		first = midnight(time.UnixMilli(id.Int64 >> seriesBits))
	}
	// Hours older than some months are in files of their own.
	var oldest sql.NullInt64
	if err := d.db.QueryRowContext(ctx, `SELECT min(id) FROM raw_hourly`).Scan(&oldest); err != nil {
		return nil, 0, fmt.Errorf("verify: %w", fileError(d.path, err))
	}
	hoursFrom := time.Unix((oldest.Int64>>seriesBits)*int64(rollup.Hour/time.Second), 0).UTC()
	for start := first; start.Before(d.Closed); start = start.Add(day) {
		for _, width := range []time.Duration{rollup.Hour, rollup.Day} {
			if width == rollup.Hour && (!oldest.Valid || start.Before(midnight(hoursFrom))) {
				continue
			}
			wanted, err := d.derive(ctx, start, width)
			if err != nil {
				return nil, 0, fmt.Errorf("verify: %w", err)
			}
			rows, err := readBuckets(ctx, d.db, width, start, start.Add(day))
			if err != nil {
				return nil, 0, fmt.Errorf("verify: %w", fileError(d.path, err))
			}
			stored := make([]rollup.Bucket, len(rows))
			for i := range rows {
				stored[i] = rows[i].bucket
			}
			compared += len(stored)
			more, err := compareBuckets(width, stored, wanted)
			if err != nil {
				return nil, 0, fmt.Errorf("verify: %w", err)
			}
			if differ = append(differ, more...); len(differ) >= limit {
				return differ[:limit], compared, nil
			}
		}
	}
	return differ, compared, nil
}

// A FieldDifference is a column of a bucket that is not what its samples say,
// as the record stores it: rates in hundredths, histograms as bytes in
// hexadecimal; "absent" for a bucket that is not there.
type FieldDifference struct{ Column, Stored, Wanted string }

// Fields returns the columns that differ, in the order of the table.
func (d *Difference) Fields() ([]FieldDifference, error) {
	_, columns := bucketTable(d.Width)
	names := strings.Split(strings.Join(strings.Fields(columns), " "), ", ")
	values := func(b *rollup.Bucket) ([]any, error) {
		if b == nil {
			return nil, nil
		}
		r, err := encodeBucket(b, 0)
		return r.values(d.Width), err
	}
	stored, err := values(d.Stored)
	if err != nil {
		return nil, err
	}
	wanted, err := values(d.Wanted)
	if err != nil {
		return nil, err
	}
	spell := func(row []any, i int) string {
		if row == nil {
			return "absent"
		}
		switch v := row[i].(type) {
		case []byte:
			return fmt.Sprintf("%x", v)
		case sql.NullInt64:
			if v.Valid {
				return fmt.Sprint(v.Int64)
			}
			return "null"
		case sql.NullString:
			if v.Valid {
				return v.String
			}
			return "null"
		case nil:
			return "null"
		default:
			return fmt.Sprint(v)
		}
	}
	var fields []FieldDifference
	for i, name := range names {
		if a, b := spell(stored, i), spell(wanted, i); a != b {
			fields = append(fields, FieldDifference{name, a, b})
		}
	}
	return fields, nil
}
