package data

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
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

// A Reason says why samples are kept aside, in DIR/quarantine/REASON.ndjson,
// one JSON sample a line, from where they can be ingested again.
type Reason string

// The reasons.
const (
	Future   Reason = "future"   // more than MaxAhead ahead of the clock
	Jumped   Reason = "jumped"   // more than MaxJump after every sample before it
	TooOld   Reason = "too_old"  // the buckets of its day are frozen
	Conflict Reason = "conflict" // another sample of its series began in the same millisecond
	Invalid  Reason = "invalid"  // its numbers contradict each other, or its names are no names
)

// A Report says what became of the samples given to [Store.Ingest].
type Report struct {
	Samples  int            // all that were given
	New      int            // written
	Known    int            // already in the record
	Aside    map[Reason]int // quarantined
	Reopened int            // new ones in closed days, whose buckets were computed again

	BadLines   int          // garbage in journals
	FirstLines []*LineError // the first few of them
}

// add adds up two reports.
func (r *Report) add(other Report) {
	r.Samples += other.Samples
	r.New += other.New
	r.Known += other.Known
	r.Reopened += other.Reopened
	for reason, n := range other.Aside {
		r.aside(reason, n)
	}
}

func (r *Report) aside(reason Reason, n int) {
	if r.Aside == nil {
		r.Aside = map[Reason]int{}
	}
	r.Aside[reason] += n
}

const (
	ingestBatch   = 20_000 // samples of a journal in memory at once
	daysPerUpdate = 4      // days in one transaction: with their half months, fewer than maxAttached files
	maxFirstLines = 20
)

// Append ingests one sample.
func (s *Store) Append(ctx context.Context, now time.Time, sample bench.Sample) (Report, error) {
	return s.Ingest(ctx, now, []bench.Sample{sample})
}

// IngestJournals ingests samples as [ReadJournal] yields them. Garbage lines
// are counted and passed over; any other error stops it.
func (s *Store) IngestJournals(ctx context.Context, now time.Time, samples iter.Seq2[bench.Sample, error]) (Report, error) {
	var report Report
	var batch []bench.Sample
	flush := func() error {
		r, err := s.Ingest(ctx, now, batch)
		report.add(r)
		batch = batch[:0]
		return err
	}
	for sample, err := range samples {
		var line *LineError
		switch {
		case errors.As(err, &line):
			report.BadLines++
			if len(report.FirstLines) < maxFirstLines {
				report.FirstLines = append(report.FirstLines, line)
			}
			continue
		case err != nil:
			return report, err
		}
		sample.Trace = nil
		if batch = append(batch, sample); len(batch) == ingestBatch {
			if err := flush(); err != nil {
				return report, err
			}
		}
	}
	return report, flush()
}

// Ingest writes samples into their day files. Samples that the record has
// already change nothing, whatever their order. Late samples reopen their day:
// its buckets are computed again in the same transaction. What cannot be taken
// is put aside, under a [Reason], and counted.
//
// Samples of up to four days, which is any ordinary run, are written in one
// transaction; an error leaves the files as they were.
func (s *Store) Ingest(ctx context.Context, now time.Time, samples []bench.Sample) (Report, error) {
	if s.opts.ReadOnly {
		return Report{}, fmt.Errorf("ingest: %w", &FileError{Path: s.dir, Problem: ErrReadOnly})
	}
	newest, _, err := s.Newest(ctx)
	if err != nil {
		return Report{}, fmt.Errorf("ingest: %w", err)
	}
	return s.take(ctx, intake{now: now, newest: newest, allowJump: s.opts.AllowJump}, samples)
}

// take writes what an intake lets pass.
func (s *Store) take(ctx context.Context, in intake, samples []bench.Sample) (Report, error) {
	report := Report{Samples: len(samples)}
	days := in.sort(samples)
	for batch := range slices.Chunk(days, daysPerUpdate) {
		var part intakeResult
		err := s.update(ctx, func(ctx context.Context, t *tx) (err error) {
			part, err = t.ingest(ctx, batch)
			return err
		})
		if err != nil {
			return report, fmt.Errorf("ingest: %w", err)
		}
		report.New += part.new
		report.Known += part.known
		report.Reopened += part.reopened
		in.aside = append(in.aside, part.aside...)
	}
	if err := s.quarantine(in.aside); err != nil {
		return report, fmt.Errorf("ingest: %w", err)
	}
	for _, a := range in.aside {
		report.aside(a.reason, 1)
	}
	return report, nil
}

// An asideSample is a sample that was not taken.
type asideSample struct {
	sample *bench.Sample
	reason Reason
}

// A dayIntake is what one day is to receive, in order of time.
type dayIntake struct {
	day     time.Time
	samples []*bench.Sample
}

// An intake judges samples before the record is asked.
type intake struct {
	now       time.Time
	newest    time.Time // of all samples so far
	allowJump bool
	aside     []asideSample
}

// sort judges samples and groups the good ones by day, in order of time.
func (in *intake) sort(samples []bench.Sample) []dayIntake {
	good := make([]*bench.Sample, 0, len(samples))
	for i := range samples {
		if err := validate(&samples[i]); err != nil {
			in.aside = append(in.aside, asideSample{&samples[i], Invalid})
			continue
		}
		good = append(good, &samples[i])
	}
	slices.SortStableFunc(good, func(a, b *bench.Sample) int {
		return cmp.Or(a.StartedAt.Compare(b.StartedAt), compareSeries(a.Series(), b.Series()))
	})
	var days []dayIntake
	for _, s := range good {
		switch {
		case s.StartedAt.Sub(in.now) > MaxAhead:
			in.aside = append(in.aside, asideSample{s, Future})
			continue
		case !in.allowJump && !in.newest.IsZero() && s.StartedAt.Sub(in.newest) > MaxJump:
			in.aside = append(in.aside, asideSample{s, Jumped})
			continue
		}
		if s.StartedAt.After(in.newest) {
			in.newest = s.StartedAt
		}
		d := midnight(s.StartedAt)
		if n := len(days); n == 0 || !days[n-1].day.Equal(d) {
			days = append(days, dayIntake{day: d})
		}
		last := &days[len(days)-1]
		last.samples = append(last.samples, s)
	}
	return days
}

func compareSeries(a, b bench.Series) int {
	order := func(is bool) int {
		if is {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(a.Provider, b.Provider), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Vantage, b.Vantage),
		cmp.Compare(order(a.Nonce), order(b.Nonce)), cmp.Compare(order(a.Short), order(b.Short)))
}

// An intakeResult is what became of a batch of days.
type intakeResult struct {
	new, known, reopened int
	aside                []asideSample
}

// ingest writes a batch of days.
func (t *tx) ingest(ctx context.Context, days []dayIntake) (intakeResult, error) {
	var result intakeResult
	taken := make([]dayIntake, 0, len(days))
	for _, d := range days {
		if t.state.frozen(d.day) {
			for _, s := range d.samples {
				result.aside = append(result.aside, asideSample{s, TooOld})
			}
			continue
		}
		if err := t.notVanished(ctx, d.day); err != nil {
			return result, err
		}
		if _, err := t.attach(ctx, rawFile(d.day)); err != nil {
			return result, err
		}
		for _, s := range d.samples {
			if _, err := t.seriesID(ctx, s.Series()); err != nil {
				return result, err
			}
			if _, err := t.envID(ctx, envOf(s)); err != nil {
				return result, err
			}
		}
		taken = append(taken, d)
	}
	if err := t.spreadNames(ctx); err != nil {
		return result, err
	}
	for _, d := range taken {
		if err := t.ingestDay(ctx, d, &result); err != nil {
			return result, fmt.Errorf("day %s: %w", d.day.Format(time.DateOnly), err)
		}
	}
	return result, nil
}

// notVanished refuses a closed day whose file is missing though it had samples.
// A new file in its place would hold the late ones only, and the summaries of
// the day would be computed from those.
func (t *tx) notVanished(ctx context.Context, start time.Time) error {
	path := t.store.path(rawFile(start))
	if _, err := os.Lstat(path); err == nil || !errors.Is(err, fs.ErrNotExist) || !start.Before(t.state.closed) {
		return fileError(path, ignoreMissing(err))
	}
	month := rollupFile(start)
	if _, err := os.Lstat(t.store.path(month)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	schema, err := t.attach(ctx, month)
	if err != nil {
		return err
	}
	var samples int64
	err = t.QueryRowContext(ctx, `SELECT coalesce(sum(samples), 0) FROM `+schema+`.raw_daily WHERE id >= ? AND id < ?`,
		bucketID(start, rollup.Day, 0), bucketID(start.Add(day), rollup.Day, 0)).Scan(&samples)
	if err != nil {
		return err
	}
	if samples > 0 {
		return &FileError{Path: path, Problem: ErrVanished, Err: fmt.Errorf("%d of them", samples)}
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// ingestDay writes the samples of one day, and computes the buckets again that
// they change if the day is closed.
func (t *tx) ingestDay(ctx context.Context, d dayIntake, result *intakeResult) error {
	schema, err := t.attach(ctx, rawFile(d.day))
	if err != nil {
		return err
	}
	names, err := readNames(ctx, t.Conn, schema)
	if err != nil {
		return err
	}
	insert, err := t.PrepareContext(ctx, `INSERT INTO `+schema+`.raw_samples(`+paddedColumns+`) VALUES(`+placeholders(paddedColumns)+`) ON CONFLICT(id) DO NOTHING`)
	if err != nil {
		return err
	}
	defer insert.Close()
	dirty := map[int64]bool{}
	added := 0
	for _, s := range d.samples {
		r := encodeSample(s)
		series, err := t.seriesID(ctx, s.Series())
		if err != nil {
			return err
		}
		r.id = sampleID(s.StartedAt, series)
		if r.env, err = t.envID(ctx, envOf(s)); err != nil {
			return err
		}
		if r.reply, err = t.replyID(ctx, schema, &names, replyOf(s, series)); err != nil {
			return err
		}
		if r.failure, err = t.failureID(ctx, schema, &names, failureOf(s)); err != nil {
			return err
		}
		done, err := insert.ExecContext(ctx, r.padded()...)
		if err != nil {
			return fileError(t.store.path(rawFile(d.day)), err)
		}
		n, err := done.RowsAffected()
		if err != nil {
			return err
		}
		if n == 0 {
			other, replaced, err := t.settle(ctx, schema, &names, s, &r)
			if err != nil {
				return err
			}
			if other == nil {
				result.known++
				continue
			}
			result.aside = append(result.aside, asideSample{other, Conflict})
			if !replaced {
				continue
			}
		} else {
			added++
		}
		dirty[series] = true
	}
	result.new += added
	if d.day.Before(t.state.closed) && len(dirty) > 0 {
		result.reopened += added
		return t.closeDay(ctx, d.day, dirty)
	}
	return nil
}

// settle decides between a sample and the one that has its id already. Equal
// samples are one. Of two different ones the record keeps the one whose JSON is
// less, which one it met first being no matter; the other one is returned.
func (t *tx) settle(ctx context.Context, schema string, n *names, s *bench.Sample, r *row) (other *bench.Sample, replaced bool, err error) {
	var old row
	err = t.QueryRowContext(ctx, `SELECT `+rowColumns+` FROM `+schema+`.raw_samples WHERE id = ?`, r.id).Scan(old.fields()...)
	if err != nil {
		return nil, false, fmt.Errorf("read sample of the same id: %w", err)
	}
	if old == *r {
		return nil, false, nil
	}
	kept, err := decodeSample(&old, n)
	if err != nil {
		return nil, false, err
	}
	came, err := decodeSample(r, n)
	if err != nil {
		return nil, false, err
	}
	keptJSON, err := json.Marshal(kept)
	if err != nil {
		return nil, false, err
	}
	cameJSON, err := json.Marshal(came)
	if err != nil {
		return nil, false, err
	}
	if bytes.Compare(keptJSON, cameJSON) < 0 {
		return s, false, nil
	}
	_, err = t.ExecContext(ctx, `REPLACE INTO `+schema+`.raw_samples(`+paddedColumns+`) VALUES(`+placeholders(paddedColumns)+`)`, r.padded()...)
	return &kept, true, err
}

// placeholders returns as many question marks as columns are listed.
func placeholders(columns string) string {
	n := 1
	for _, c := range columns {
		if c == ',' {
			n++
		}
	}
	return string(bytes.TrimSuffix(bytes.Repeat([]byte("?,"), n), []byte(",")))
}
