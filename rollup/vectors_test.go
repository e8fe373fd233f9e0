package rollup

import (
	"encoding/json"
	"flag"
	"math"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

var vectorsPath = flag.String("vectors", "stats/testdata/vectors.json", "read acceptance vectors from `PATH`")

// Kinds that other packages check. A kind in none of these lists fails.
var (
	benchKinds = []string{"timeline", "summary"}
	statsKinds = []string{
		"percentile_r7", "percentile_censored", "quantile_ci_orders", "wilson", "hour_bucket_wilson",
		"reliability", "time_weighted", "score_daily_t", "rank", "mann_whitney", "histogram_merge",
		"edivisive_daily", "decompose", "ttlt_formula", "tpm", "tpm_ptu", "time_to_n", "segments", "freshness",
	}
)

// TestVectors checks the acceptance vectors of kind rollup.
func TestVectors(t *testing.T) {
	data, err := os.ReadFile(*vectorsPath)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct {
			ID, Kind      string
			Input, Expect json.RawMessage
			RelTol        float64 `json:"rel_tol"`
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("decode %s: %v", *vectorsPath, err)
	}
	if len(file.Vectors) == 0 {
		t.Fatalf("found no vectors in %s", *vectorsPath)
	}
	for _, v := range file.Vectors {
		if slices.Contains(benchKinds, v.Kind) || slices.Contains(statsKinds, v.Kind) {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			if v.Kind != "rollup" {
				t.Fatalf("no package knows kind %q", v.Kind)
			}
			var expect map[string]*float64
			if err := json.Unmarshal(v.Expect, &expect); err != nil || len(expect) == 0 {
				t.Fatalf("decode expectation: %v", err)
			}
			got := solveRollup(t, v.Input)
			for name, want := range expect {
				value, ok := got[name]
				switch {
				case !ok:
					t.Errorf("%s: not computed", name)
				case want == nil || value == nil:
					if want != value {
						t.Errorf("%s = %v; want %v", name, value, want)
					}
				case !(math.Abs(*value-*want) <= max(1e-12, v.RelTol*math.Abs(*want))):
					t.Errorf("%s = %v; want %v", name, *value, *want)
				}
			}
		})
	}
}

// solveRollup makes samples of a vector's rates and times and summarises them as
// an hour. Nil is absent.
func solveRollup(t *testing.T, input json.RawMessage) map[string]*float64 {
	var in struct {
		TPS      []float64
		TTFTMS   []float64 `json:"ttft_ms"`
		Failures int
	}
	if err := json.Unmarshal(input, &in); err != nil {
		t.Fatal(err)
	}
	if len(in.TPS) != len(in.TTFTMS) {
		t.Fatalf("%d rates, %d times", len(in.TPS), len(in.TTFTMS))
	}
	var samples []bench.Sample
	for i, tps := range in.TPS {
		// So many tokens that the nanoseconds of its instants do not limit the rate.
		samples = append(samples, answer(alder, today.Add(time.Duration(i)*time.Second), tps, in.TTFTMS[i], 1_000_001))
	}
	for range in.Failures {
		samples = append(samples, failure(alder, today.Add(time.Minute), wire.KindServer))
	}
	b := Summarize(alder, today, Hour, samples)
	got := map[string]*float64{"n_ok": new(float64(b.OK)), "n_total": new(float64(b.Samples)), "success_rate": nil}
	if rate, ok := b.SuccessRate(); ok {
		got["success_rate"] = &rate
	}
	for prefix, s := range map[string]Spread{"": b.Decode, "hybrid_": b.Hybrid, "ttft_": b.TTFT} {
		for name, v := range map[string]float64{"avg": s.Avg, "min": s.Min, "max": s.Max, "p50": s.P50, "p95": s.P95} {
			got[prefix+name] = nil
			if s.N > 0 {
				got[prefix+name] = &v
			}
		}
	}
	return got
}
