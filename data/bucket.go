package data

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// The columns of the two tables: those that are read, and those that are kept,
// of which the others follow.
const (
	hourlyColumns = `id, samples, ok, noisy, errors,
	decode_n, decode_avg, decode_min, decode_max, decode_p50, decode_p95,
	hybrid_n, hybrid_avg, hybrid_min, hybrid_max, hybrid_p50, hybrid_p95,
	ttft_n, ttft_avg, ttft_min, ttft_max, ttft_p50, ttft_p95`
	dailyColumns = hourlyColumns + histColumns

	keptHourlyColumns = `id, samples, ok, noisy, errors,
	decode_n, decode_avg, kept_decode_min, kept_decode_max, kept_decode_p50, kept_decode_p95,
	hybrid_n, kept_hybrid_avg, kept_hybrid_min, kept_hybrid_max, kept_hybrid_p50, kept_hybrid_p95,
	ttft_n, ttft_avg, kept_ttft_min, kept_ttft_max, kept_ttft_p50, kept_ttft_p95`
	keptDailyColumns = keptHourlyColumns + histColumns

	histColumns = `, decode_hist, ttft_hist`

	rateUnit = 0.01 // tokens/s, of the rates in a bucket's row
	ttftUnit = 1    // ms
)

// A bucketRow is a row of raw_hourly or raw_daily.
type bucketRow struct {
	id, samples, ok, noisy int64
	errors                 sql.NullString // {"timeout":2}
	decode, hybrid, ttft   spreadRow
	decodeHist, ttftHist   string // bytes; strings so that rows can be compared
}

// A spreadRow is what a row keeps of a [rollup.Spread].
type spreadRow struct {
	n, avg, min, max, p50, p95 sql.NullInt64
}

// bucketTable returns the table for buckets of a width, and the columns to read.
func bucketTable(width time.Duration) (table, columns string) {
	if width == rollup.Day {
		return "raw_daily", dailyColumns
	}
	return "raw_hourly", hourlyColumns
}

// keptBucketTable returns the table for buckets of a width, and the columns to
// write.
func keptBucketTable(width time.Duration) (table, columns string) {
	if width == rollup.Day {
		return "raw_daily", keptDailyColumns
	}
	return "raw_hourly", keptHourlyColumns
}

// bucketID returns the id of a bucket. Both widths begin at multiples of Unix time.
func bucketID(start time.Time, width time.Duration, series int64) int64 {
	return start.Unix()/int64(width/time.Second)<<seriesBits | series
}

// firstBucketID returns the least id of a bucket that begins at t or later.
func firstBucketID(t time.Time, width time.Duration) int64 {
	up := t.Truncate(width)
	if up.Before(t) {
		up = up.Add(width)
	}
	return bucketID(up, width, 0)
}

// values returns the values of the columns that are read.
func (r *bucketRow) values(width time.Duration) []any {
	values := []any{r.id, r.samples, r.ok, r.noisy, r.errors}
	for _, s := range []spreadRow{r.decode, r.hybrid, r.ttft} {
		values = append(values, s.n, s.avg, s.min, s.max, s.p50, s.p95)
	}
	if width == rollup.Day {
		values = append(values, blob(r.decodeHist), blob(r.ttftHist))
	}
	return values
}

// kept returns the values of the columns that are kept: of the hybrid rule what
// it is more than the decode rate.
func (r *bucketRow) kept(width time.Duration) []any {
	k, d, h := *r, &r.decode, &r.hybrid
	k.decode, k.ttft = d.aroundAverage(), r.ttft.aroundAverage()
	k.hybrid = spreadRow{
		h.n, less(h.avg, d.avg.Int64), less(h.min, d.min.Int64), less(h.max, d.max.Int64),
		less(h.p50, d.p50.Int64), less(h.p95, d.p95.Int64),
	}
	return k.values(width)
}

// aroundAverage returns a spread with what its parts are more than its average,
// or for the 95th percentile, than its maximum.
func (s *spreadRow) aroundAverage() spreadRow {
	avg := s.avg.Int64
	return spreadRow{s.n, s.avg, less(s.min, avg), less(s.max, avg), less(s.p50, avg), less(s.p95, s.max.Int64)}
}

// blob returns the bytes of a histogram; NULL for an empty one.
func blob(hist string) any {
	if hist == "" {
		return nil
	}
	return []byte(hist)
}

// scan reads the row that rows stand at.
func (r *bucketRow) scan(rows *sql.Rows, width time.Duration) error {
	var decodeHist, ttftHist []byte
	fields := []any{&r.id, &r.samples, &r.ok, &r.noisy, &r.errors}
	for _, s := range []*spreadRow{&r.decode, &r.hybrid, &r.ttft} {
		fields = append(fields, &s.n, &s.avg, &s.min, &s.max, &s.p50, &s.p95)
	}
	if width == rollup.Day {
		fields = append(fields, &decodeHist, &ttftHist)
	}
	err := rows.Scan(fields...)
	r.decodeHist, r.ttftHist = string(decodeHist), string(ttftHist)
	return err
}

// encodeBucket returns a bucket's row.
func encodeBucket(b *rollup.Bucket, series int64) (bucketRow, error) {
	r := bucketRow{
		id: bucketID(b.Start, b.Width, series), samples: int64(b.Samples), ok: int64(b.OK), noisy: int64(b.Noisy),
		errors: encodeErrors(b.Errors),
	}
	usual := b.OK - b.Noisy
	r.decode = encodeSpread(b.Decode, usual, rateUnit)
	r.hybrid = encodeSpread(b.Hybrid, usual, rateUnit)
	r.ttft = encodeSpread(b.TTFT, usual, ttftUnit)
	if b.Width == rollup.Day {
		for _, h := range []struct {
			from *stats.Histogram
			to   *string
		}{{&b.DecodeHist, &r.decodeHist}, {&b.TTFTHist, &r.ttftHist}} {
			data, err := h.from.MarshalBinary()
			if err != nil {
				return bucketRow{}, fmt.Errorf("bucket of %s: %w", b.Series.Pair, err)
			}
			*h.to = string(data)
		}
	}
	return r, nil
}

// encodeSpread returns a spread's columns. The number of values is left out if
// it is the usual one, and all but the average if there is one value.
func encodeSpread(s rollup.Spread, usual int, unit float64) spreadRow {
	r := spreadRow{n: knownIf(s.N != usual, int64(s.N))}
	if s.N == 0 {
		return r
	}
	in := func(x float64) sql.NullInt64 { return known(int64(math.Round(x / unit))) }
	r.avg = in(s.Avg)
	if s.N > 1 {
		r.min, r.max, r.p50, r.p95 = in(s.Min), in(s.Max), in(s.P50), in(s.P95)
	}
	return r
}

func decodeSpread(r spreadRow, usual int64, unit float64) rollup.Spread {
	n := usual
	if r.n.Valid {
		n = r.n.Int64
	}
	if n == 0 || !r.avg.Valid {
		return rollup.Spread{}
	}
	out := func(x sql.NullInt64) float64 {
		if !x.Valid {
			x = r.avg
		}
		if unit < 1 {
			return float64(x.Int64) / math.Round(1/unit) // exact to the last bit, as SQL's division is
		}
		return float64(x.Int64) * unit
	}
	return rollup.Spread{N: int(n), Avg: out(r.avg), Min: out(r.min), Max: out(r.max), P50: out(r.p50), P95: out(r.p95)}
}

// decodeBucket is the inverse of encodeBucket, but for rounding.
func decodeBucket(r *bucketRow, width time.Duration, n *names) (rollup.Bucket, error) {
	series, ok := n.series.rows[r.id&seriesMask]
	if !ok {
		return rollup.Bucket{}, fmt.Errorf("bucket %d: its series has no name", r.id)
	}
	b := rollup.Bucket{
		Series: series, Width: width, Start: time.Unix((r.id>>seriesBits)*int64(width/time.Second), 0).UTC(),
		Samples: int(r.samples), OK: int(r.ok), Noisy: int(r.noisy),
	}
	usual := r.ok - r.noisy
	b.Decode = decodeSpread(r.decode, usual, rateUnit)
	b.Hybrid = decodeSpread(r.hybrid, usual, rateUnit)
	b.TTFT = decodeSpread(r.ttft, usual, ttftUnit)
	var err error
	if b.Errors, err = decodeErrors(r.errors); err != nil {
		return rollup.Bucket{}, fmt.Errorf("bucket of %s at %s: %w", series.Pair, b.Start.Format(time.RFC3339), err)
	}
	if err := b.DecodeHist.UnmarshalBinary([]byte(r.decodeHist)); err != nil {
		return rollup.Bucket{}, fmt.Errorf("decode rates of %s on %s: %w", series.Pair, b.Start.Format(time.DateOnly), err)
	}
	if err := b.TTFTHist.UnmarshalBinary([]byte(r.ttftHist)); err != nil {
		return rollup.Bucket{}, fmt.Errorf("TTFTs of %s on %s: %w", series.Pair, b.Start.Format(time.DateOnly), err)
	}
	return b, nil
}

// encodeErrors returns {"kind":n,...} in the order of the kinds, or NULL.
func encodeErrors(e rollup.Errors) sql.NullString {
	var parts []string
	for kind, n := range e {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%q:%d", wire.ErrorKind(kind), n))
		}
	}
	return sql.NullString{String: "{" + strings.Join(parts, ",") + "}", Valid: len(parts) > 0}
}

func decodeErrors(text sql.NullString) (rollup.Errors, error) {
	var e rollup.Errors
	if !text.Valid {
		return e, nil
	}
	var counts map[string]int
	if err := json.Unmarshal([]byte(text.String), &counts); err != nil {
		return e, fmt.Errorf("error counts: %w", err)
	}
	for name, n := range counts {
		kind, ok := kindByName(name)
		if !ok || n < 0 {
			return e, fmt.Errorf("error counts: %q: %d", name, n)
		}
		e[kind] = n
	}
	return e, nil
}

// summarizeDay computes the buckets of one day, those of each series together,
// from its samples in order of time. Only series that have an id are computed,
// and short ones are not: what buffering probes tell is no summary of a day.
func summarizeDay(start time.Time, samples []bench.Sample, ids map[bench.Series]int64) (hours, days []bucketOf) {
	bySeries := map[bench.Series][]bench.Sample{}
	var order []bench.Series
	for _, s := range samples {
		series := s.Series()
		if _, ok := ids[series]; !ok || series.Short {
			continue
		}
		if bySeries[series] == nil {
			order = append(order, series)
		}
		bySeries[series] = append(bySeries[series], s)
	}
	for _, series := range order {
		own := bySeries[series]
		days = append(days, bucketOf{ids[series], rollup.Summarize(series, start, rollup.Day, own)})
		for len(own) > 0 {
			hour := own[0].StartedAt.Truncate(rollup.Hour)
			n := 0
			for n < len(own) && own[n].StartedAt.Before(hour.Add(rollup.Hour)) {
				n++
			}
			hours = append(hours, bucketOf{ids[series], rollup.Summarize(series, hour, rollup.Hour, own[:n])})
			own = own[n:]
		}
	}
	return hours, days
}

// A bucketOf is a bucket and the id of its series.
type bucketOf struct {
	series int64
	bucket rollup.Bucket
}

// inOrder sorts buckets by id: written in order, they fill one page after another.
func inOrder(buckets []bucketOf) {
	slices.SortFunc(buckets, func(a, b bucketOf) int {
		return cmp.Or(a.bucket.Start.Compare(b.bucket.Start), cmp.Compare(a.series, b.series))
	})
}

// closeDay computes the buckets of a day from its raw samples and writes those
// that differ. With only set, it does so for those series alone.
func (t *tx) closeDay(ctx context.Context, start time.Time, only map[int64]bool) error {
	raw, err := t.attach(ctx, rawFile(start))
	if err != nil {
		return err
	}
	month, err := t.attach(ctx, rollupFile(start))
	if err != nil {
		return err
	}
	names, err := readNames(ctx, t.Conn, raw)
	if err != nil {
		return err
	}
	var samples []bench.Sample
	for s, err := range readRows(ctx, t.Conn, raw, &names, start, start.Add(day)) {
		if err != nil {
			return fmt.Errorf("close %s: %w", start.Format(time.DateOnly), err)
		}
		samples = append(samples, s)
	}
	ids := names.series.ids
	if only != nil {
		ids = map[bench.Series]int64{}
		for id := range only {
			ids[names.series.rows[id]] = id
		}
	}
	hours, days := summarizeDay(start, samples, ids)
	inOrder(hours)
	inOrder(days)
	if err := t.upsert(ctx, month, rollup.Hour, hours); err != nil {
		return err
	}
	return t.upsert(ctx, month, rollup.Day, days)
}

// upsert writes buckets. Rows that are there and equal are not touched, so that
// a file whose content stays keeps its bytes.
func (t *tx) upsert(ctx context.Context, schema string, width time.Duration, buckets []bucketOf) error {
	table, columns := keptBucketTable(width)
	set := strings.TrimPrefix(columns, "id, ")
	excluded := "excluded." + strings.ReplaceAll(strings.Join(strings.Fields(set), " "), ", ", ", excluded.")
	write, err := t.PrepareContext(ctx, fmt.Sprintf(
		`INSERT INTO %s.%s(%s) VALUES(%s) ON CONFLICT(id) DO UPDATE SET (%s) = (%s) WHERE (%s) IS NOT (%s)`,
		schema, table, columns, placeholders(columns), set, excluded, set, excluded))
	if err != nil {
		return err
	}
	defer write.Close()
	for _, b := range buckets {
		r, err := encodeBucket(&b.bucket, b.series)
		if err != nil {
			return err
		}
		if _, err := write.ExecContext(ctx, r.kept(width)...); err != nil {
			return fileError(t.store.path(rollupFile(b.bucket.Start)), err)
		}
	}
	return nil
}
