package main

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/rollup"
)

// A source is what histories are read from: the record, or the file that was
// assembled of it.
type source interface {
	Samples(ctx context.Context, from, to time.Time) iter.Seq2[bench.Sample, error]
	Daily(ctx context.Context, from, to time.Time) iter.Seq2[rollup.Bucket, error]
}

// histories reads what the record holds of each series: all raw samples, the
// buffering probes beside them, and the daily buckets of a year. Series come in
// the order of their newest names.
func histories(ctx context.Context, store source, list []bench.Provider, now time.Time) ([]rollup.History, error) {
	cadence := map[bench.Pair]time.Duration{}
	for i := range list {
		for j := range list[i].Models {
			m := &list[i].Models[j]
			cadence[list[i].Pair(m)] = list[i].CadenceOf(m).Interval()
		}
	}
	var out []rollup.History
	at := map[bench.Series]int{}
	of := func(s bench.Series) *rollup.History {
		i, ok := at[s]
		if !ok {
			i = len(out)
			at[s] = i
			out = append(out, rollup.History{Series: s, Every: cadence[s.Pair]})
		}
		return &out[i]
	}
	probes := map[bench.Series][]bench.Sample{} // by the series they are beside
	for sample, err := range store.Samples(ctx, now.Add(-data.RawRetention-rollup.Day), now.Add(data.MaxAhead)) {
		if err != nil {
			return nil, fmt.Errorf("read samples: %w", err)
		}
		if series := sample.Series(); series.Short {
			series.Short = false
			probes[series] = append(probes[series], sample)
			continue
		}
		h := of(sample.Series())
		h.Samples = append(h.Samples, sample)
	}
	for bucket, err := range store.Daily(ctx, now.Truncate(rollup.Day).AddDate(-1, 0, -1), now.Add(rollup.Day)) {
		if err != nil {
			return nil, fmt.Errorf("read daily rollups: %w", err)
		}
		h := of(bucket.Series)
		h.Days = append(h.Days, bucket)
	}
	for i := range out {
		out[i].Probes = probes[out[i].Series]
	}
	return out, nil
}

// findEvents looks for events in days that have just been closed, in order, and
// adds what it finds to those published.
func (a *app) findEvents(store *data.Store, list []bench.Provider, days []time.Time, now time.Time) error {
	all, err := histories(a.ctx, store, list, now)
	if err != nil {
		return err
	}
	known, err := store.Events()
	if err != nil {
		return err
	}
	series := rollup.NewTracks(all)
	days = slices.SortedFunc(slices.Values(days), time.Time.Compare)
	before := len(known)
	for _, day := range days {
		if err := a.ctx.Err(); err != nil {
			return err
		}
		known = append(known, rollup.Detect(known, series, day)...)
	}
	added, err := store.AddEvents(known[before:])
	if err != nil {
		return err
	}
	if added > 0 {
		a.log.Info("events", "new", added)
	}
	return nil
}
