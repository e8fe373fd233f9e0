package main

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

const (
	maxJournal = 64 << 20            // bytes of a journal that is taken; a tick leaves some hundred kilobytes
	maxJob     = 2 * time.Hour       // how long before its upload a job can have measured; jobs end after 40 minutes
	takenAge   = 15 * 24 * time.Hour // how far back a journal is known to be taken; artifacts are kept 14 days
)

// A delivery is what a publication brings into the record, from journals that
// may have come a long way and are trusted with nothing.
type delivery struct {
	app    *app
	store  *data.Store
	list   []bench.Provider
	now    time.Time
	maxAge time.Duration // of samples; 0 is any
	left   *archive      // where other jobs left journals; nil looks nowhere
	spool  string        // folder for them

	report  data.Report
	tallies map[string]*tally // by provider
	done    []string          // journals that were taken wholly
	refused []string          // journals with lines that were not taken
}

// A tally counts a provider's samples of this delivery.
type tally struct {
	ok, failed int
	late       []time.Duration // scheduled to started
}

// ingest takes journals into the record, and notes which artifacts they were of:
// it spares the next job from fetching them again. Taking them twice would change
// nothing.
func (d *delivery) ingest(files []string) error {
	d.tallies = map[string]*tally{}
	taken, err := d.store.Taken(d.app.ctx, d.now.Add(-takenAge))
	if err != nil {
		return err
	}
	if d.left != nil {
		// What cannot be fetched now comes with the next publication.
		more, err := d.left.fetch(d.app.ctx, d.now, taken, d.spool)
		if err != nil {
			d.app.log.Error("journals that other jobs left cannot be fetched", "error", err)
		}
		files = append(slices.Clone(files), more...)
	}
	var names []string
	for _, file := range files {
		if err := d.ingestFile(file); err != nil {
			return err
		}
		if name := artifactOf(file); name != "" {
			names = append(names, name)
		}
	}
	return d.store.NoteTaken(d.app.ctx, d.now, names)
}

func (d *delivery) ingestFile(file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return fmt.Errorf("open journal: %w", err)
	}
	if info.Size() > maxJournal {
		d.app.log.Error("journal refused", "journal", filepath.Base(file), "bytes", info.Size(), "most", maxJournal)
		d.refused = append(d.refused, file)
		return nil
	}
	report, err := d.store.IngestJournals(d.app.ctx, d.now, d.screen(file, data.ReadJournal(filepath.Base(file), f, d.app.guard)))
	if err != nil {
		return fmt.Errorf("ingest %s: %w", filepath.Base(file), err)
	}
	for _, line := range report.FirstLines {
		d.app.log.Warn("journal line refused", "at", fmt.Sprintf("%s:%d", line.Journal, line.Line), "why", line.Err)
	}
	d.report.Samples += report.Samples
	d.report.New += report.New
	d.report.Known += report.Known
	d.report.BadLines += report.BadLines
	for reason, n := range report.Aside {
		if d.report.Aside == nil {
			d.report.Aside = map[data.Reason]int{}
		}
		d.report.Aside[reason] += n
	}
	if report.BadLines > 0 {
		d.refused = append(d.refused, file)
	} else {
		d.done = append(d.done, file)
	}
	return nil
}

// What is wrong with a sample of a journal.
var (
	errStranger = errors.New("the provider is not configured here")
	errShard    = errors.New("the provider does not belong to the shard that measured it")
	errTooOld   = errors.New("older than --max-age")
	errWindow   = errors.New("not from the time of the job that left it")
)

// screen yields the samples that may enter the record, keeps their traces and
// counts them. Others become a [*data.LineError].
func (d *delivery) screen(file string, samples iter.Seq2[bench.Sample, error]) iter.Seq2[bench.Sample, error] {
	shard := shardOf(file)
	providers := map[string]*bench.Provider{}
	for i := range d.list {
		providers[d.list[i].PublicName()] = &d.list[i]
	}
	return func(yield func(bench.Sample, error) bool) {
		n := 0
		for sample, err := range samples {
			n++
			if err == nil {
				p := providers[sample.Provider]
				switch {
				case p == nil:
					err = errStranger
				case shard != "" && shard != laneOf(p):
					err = errShard
				case d.maxAge > 0 && d.now.Sub(sample.StartedAt) > d.maxAge:
					err = errTooOld
				case !d.within(file, sample.StartedAt):
					err = errWindow
				}
				if err != nil {
					err = &data.LineError{Journal: filepath.Base(file), Line: n, Err: err}
				}
			}
			if err == nil {
				d.count(&sample)
				if _, err := d.store.PutTrace(sample); err != nil {
					d.app.log.Warn("the trace is not kept; the sample is", "pair", sample.Pair, "error", err)
				}
			}
			if !yield(sample, err) {
				return
			}
		}
	}
}

// within reports whether a job that left a journal as an artifact can have
// measured at an instant. Of other journals it is not known when they were made.
func (d *delivery) within(file string, at time.Time) bool {
	if d.left == nil {
		return true
	}
	uploaded, known := d.left.uploaded[artifactOf(file)]
	return !known || at.After(uploaded.Add(-maxJob)) && at.Before(uploaded.Add(data.MaxAhead))
}

func (d *delivery) count(s *bench.Sample) {
	t := d.tallies[s.Provider]
	if t == nil {
		t = &tally{}
		d.tallies[s.Provider] = t
	}
	if s.OK() {
		t.ok++
	} else {
		t.failed++
	}
	if !s.Scheduled.IsZero() {
		t.late = append(t.late, s.StartedAt.Sub(s.Scheduled))
	}
}

// message says what the delivery brought, as the job's summary tells it, and the
// commit in its first line.
func (d *delivery) message() (string, error) {
	inventory, err := d.store.Inventory(d.app.ctx)
	if err != nil {
		return "", err
	}
	ok, failed := 0, 0
	var lines strings.Builder
	for _, name := range slices.Sorted(maps.Keys(d.tallies)) {
		t := d.tallies[name]
		ok, failed = ok+t.ok, failed+t.failed
		fmt.Fprintf(&lines, "%s: %d ok, %d failed", name, t.ok, t.failed)
		if n := len(t.late); n > 0 {
			slices.Sort(t.late)
			fmt.Fprintf(&lines, ", %s late in the median, %s at worst", t.late[n/2].Round(time.Second), t.late[n-1].Round(time.Second))
		}
		lines.WriteByte('\n')
	}
	var text strings.Builder
	fmt.Fprintf(&text, "Record %s: %d ok, %d failed\n\n%s", d.now.UTC().Format("2006-01-02T15:04Z"), ok, failed, lines.String())
	fmt.Fprintf(&text, "Samples: %d new, %d known; lines refused: %d\n", d.report.New, d.report.Known, d.report.BadLines)
	for _, reason := range slices.Sorted(maps.Keys(d.report.Aside)) {
		fmt.Fprintf(&text, "Put aside as %s: %d\n", reason, d.report.Aside[reason])
	}
	var largest data.File
	for _, f := range inventory.Files {
		if f.Bytes > largest.Bytes {
			largest = f
		}
	}
	fmt.Fprintf(&text, "Record: %d files, %.2f MB, the largest %s with %.2f MB; %d samples of %d series\n",
		len(inventory.Files), float64(inventory.Bytes)/1e6, largest.Path, float64(largest.Bytes)/1e6, inventory.Samples, inventory.Series)
	return text.String(), nil
}

// dispose removes the journals that were taken and puts the others out of the
// way of the next publication.
func (d *delivery) dispose() error {
	for _, file := range d.done {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove a published journal: %w", err)
		}
	}
	for _, file := range d.refused {
		if strings.HasPrefix(file, d.spool) {
			continue // the artifact is where it was
		}
		d.app.log.Warn("journal kept for a look", "at", file+".refused")
		if err := os.Rename(file, file+".refused"); err != nil {
			return fmt.Errorf("put a refused journal aside: %w", err)
		}
	}
	return nil
}

// artifact is the name of the folder that a job's journals are handed over in:
// run, attempt and shard.
var artifact = regexp.MustCompile(`^journal-\d+-\d+-([a-z0-9][a-z0-9._-]*)$`)

// artifactOf returns the name of the artifact that a journal came in; "" if it
// came in none.
func artifactOf(file string) string {
	for dir := filepath.Dir(file); ; dir = filepath.Dir(dir) {
		if name := filepath.Base(dir); artifact.MatchString(name) {
			return name
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// shardOf returns the shard that a journal is of; "" if it is of none, or of
// one that may measure every provider.
func shardOf(file string) string {
	if m := artifact.FindStringSubmatch(artifactOf(file)); m != nil && m[1] != bench.AllShards {
		return m[1]
	}
	return ""
}
