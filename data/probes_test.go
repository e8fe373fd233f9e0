package data

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup"
)

// probe is a buffering probe: 16 tokens 90 ms apart, the first after 240 ms.
func probe(model string, at time.Time) bench.Sample {
	s := success(model, at)
	s.Env.Short = true
	s.FirstText, s.LastText, s.Done = 240*ms, 1590*ms, 1600*ms
	s.Usage.Output, s.Usage.Visible = wire.Known(16), wire.Known(16)
	return s
}

// TestProbesStandApart puts a buffering probe beside each day's samples. They
// come back as they were, and nothing that sums up an endpoint knows of them.
func TestProbesStandApart(t *testing.T) {
	t.Parallel()
	with, without := newRecord(t), newRecord(t)
	var probes, ordinary []bench.Sample
	days := []int{0, 1, 60, 61, 62} // the first two are older than raw samples are kept
	for i, d := range days {
		at := t0.AddDate(0, 0, d)
		ordinary = append(ordinary, success("m1", at.Add(time.Hour)))
		p := probe("m1", at.Add(time.Hour+5*time.Second))
		if i == 3 { // one that spent its 16 tokens on reasoning
			p = failed("m1", p.StartedAt, wire.KindMalformed)
			p.Env.Short, p.Detail, p.FailedIn = true, wire.DetailNoVisibleOutput, bench.PhaseEnd
			p.FirstReason, p.Done = 230*ms, 1500*ms
		}
		probes = append(probes, p)
	}
	ordinary = append(ordinary, failed("m1", t0.Add(9*time.Hour), wire.KindServer))
	ingest(t, without, ordinary...)
	ingest(t, with, append(probes, ordinary...)...)
	pruned := 0
	for _, s := range []*Store{with, without} {
		done, err := s.Rollup(t.Context(), t0.AddDate(0, 0, 63).Add(time.Hour))
		if pruned = len(done.Pruned); err != nil || pruned == 0 {
			t.Fatalf("rollup: %v, dropped %v", err, done.Pruned)
		}
		findings, err := s.Check(t.Context())
		if err != nil || len(findings) > 0 {
			t.Fatalf("check: %v, %v", findings, err)
		}
		if differ, err := s.Verify(t.Context(), 10); err != nil || len(differ) > 0 {
			t.Fatalf("verify: %v, %v", differ, err)
		}
	}

	var got []bench.Sample
	for _, s := range all(t, with) {
		if s.Env.Short {
			got = append(got, s)
		}
	}
	if diff := cmp.Diff(probes[pruned:], got); diff != "" {
		t.Errorf("probes (-written +read):\n%s", diff)
	}
	for _, width := range []time.Duration{rollup.Hour, rollup.Day} {
		buckets := func(s *Store) (list []rollup.Bucket) {
			for b, err := range s.buckets(t.Context(), width, t0, farFuture()) {
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, b)
			}
			return list
		}
		if diff := cmp.Diff(buckets(without), buckets(with), cmp.AllowUnexported(rollup.Bucket{}.DecodeHist)); diff != "" {
			t.Errorf("buckets of %v (-without +with probes):\n%s", width, diff)
		}
	}

	end := t0.AddDate(0, 0, 63)
	a, b := openDownload(t, assemble(t, with, Whole(end))), openDownload(t, assemble(t, without, Whole(end)))
	for _, query := range []string{
		`SELECT count(*), sum(ttft_ms), sum(decode_tps), sum(tps_hybrid), sum(outcome = 'ok') FROM samples`,
		`SELECT count(*), sum(samples), sum(ok), sum(ttft_ms_n) FROM hourly`,
		`SELECT count(*), sum(samples), sum(ok), sum(ttft_ms_n) FROM daily`,
	} {
		if diff := cmp.Diff(resultText(t, b, query), resultText(t, a, query)); diff != "" {
			t.Errorf("%s (-without +with probes):\n%s", query, diff)
		}
	}
	const shown = `SELECT count(*) > 1 AS n, ttfo_ms, ttft_ms, e2e_ms, output_tokens, error_detail FROM buffer_probes GROUP BY 2, 3, 4, 5, 6 ORDER BY 2 DESC`
	want := "n  ttfo_ms  ttft_ms  e2e_ms  output_tokens  error_detail\n" +
		"1  240      240      1600    16             NULL\n" +
		"0  230      NULL     1500    NULL           no_visible_output\n"
	if diff := cmp.Diff(want, resultText(t, a, shown)); diff != "" {
		t.Errorf("buffer_probes (-want +got):\n%s", diff)
	}
	if kept, err := with.PutTrace(bench.Sample{Pair: probes[0].Pair, StartedAt: t0, Env: bench.Env{Short: true}, Trace: []bench.Arrival{{}}}); kept || err != nil {
		t.Errorf("the trace of a probe: kept %v, %v", kept, err)
	}
}
