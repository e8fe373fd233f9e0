package stats

import (
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"testing"
)

var vectorsPath = flag.String("vectors", "testdata/vectors.json", "read acceptance vectors from `PATH`")

// A vector is one worked example. Nil in Expect means that the number must be
// absent.
type vector struct {
	ID     string          `json:"id"`
	Kind   string          `json:"kind"`
	Note   string          `json:"note"`
	Input  json.RawMessage `json:"input"`
	Expect map[string]any  `json:"expect"`
	RelTol float64         `json:"rel_tol"`
}

// othersKinds are checked by packages bench and rollup.
var othersKinds = []string{"timeline", "summary", "rollup"}

// solvers compute what a vector of their kind expects, as decoded JSON. They
// are told which keys are expected, as percentiles are named by them.
var solvers = map[string]func(in input, keys []string) map[string]any{
	"percentile_r7":       solvePercentiles,
	"percentile_censored": solveCensored,
	"quantile_ci_orders":  solveOrders,
	"wilson":              solveWilson,
	"hour_bucket_wilson":  solveHourBucket,
	"reliability":         solveReliability,
	"time_weighted":       solveTimeWeighted,
	"score_daily_t":       solveScore,
	"rank":                solveRank,
	"mann_whitney":        solveMannWhitney,
	"histogram_merge":     solveHistogram,
	"edivisive_daily":     solveShifts,
	"decompose":           solveDecompose,
	"ttlt_formula":        solveTTLT,
	"tpm":                 solveTPM,
	"tpm_ptu":             solvePTU,
	"time_to_n":           solveTimeTo,
	"segments":            solveSegments,
	"freshness":           solveFreshness,
}

func TestVectors(t *testing.T) {
	data, err := os.ReadFile(*vectorsPath)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []vector `json:"vectors"`
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatalf("decode %s: %v", *vectorsPath, err)
	}
	if len(file.Vectors) == 0 {
		t.Fatalf("found no vectors in %s", *vectorsPath)
	}
	for _, v := range file.Vectors {
		if slices.Contains(othersKinds, v.Kind) {
			continue
		}
		t.Run(v.ID, func(t *testing.T) {
			solve, ok := solvers[v.Kind]
			if !ok {
				t.Fatalf("no package knows kind %q", v.Kind)
			}
			if len(v.Expect) == 0 {
				t.Fatal("expects nothing")
			}
			var keys []string
			for key := range v.Expect {
				keys = append(keys, key)
			}
			got := normalize(t, solve(input{t, v.Input}, keys))
			for key, want := range v.Expect {
				value, ok := got[key]
				if !ok {
					t.Errorf("%s: not computed", key)
				}
				for _, difference := range differences(key, value, want, v.RelTol) {
					t.Error(difference)
				}
			}
		})
	}
}

// normalize turns computed values into what decoding their JSON would give, in
// which a NaN cannot be written.
func normalize(t *testing.T, got map[string]any) map[string]any {
	data, err := json.Marshal(got)
	if err != nil {
		t.Fatalf("got %v: %v", got, err)
	}
	var decoded map[string]any
	if err := json.Unmarshal(data, &decoded); err != nil {
		t.Fatal(err)
	}
	return decoded
}

// differences compares decoded JSON, numbers with relative tolerance, and with
// 1e-12 near 0.
func differences(path string, got, want any, relTol float64) []string {
	differ := []string{fmt.Sprintf("%s = %v; want %v", path, got, want)}
	switch want := want.(type) {
	case float64:
		got, ok := got.(float64)
		if !ok || !(math.Abs(got-want) <= max(1e-12, relTol*math.Abs(want))) {
			return differ
		}
	case []any:
		got, ok := got.([]any)
		if !ok || len(got) != len(want) {
			return differ
		}
		var all []string
		for i := range want {
			all = append(all, differences(fmt.Sprintf("%s[%d]", path, i), got[i], want[i], relTol)...)
		}
		return all
	case map[string]any:
		got, ok := got.(map[string]any)
		if !ok || len(got) != len(want) {
			return differ
		}
		var all []string
		for key := range want {
			all = append(all, differences(path+"."+key, got[key], want[key], relTol)...)
		}
		return all
	default: // null, string, bool
		if got != want {
			return differ
		}
	}
	return nil
}

// TestDifferences makes sure that a wrong answer cannot pass for a right one.
func TestDifferences(t *testing.T) {
	equal := [][2]any{{1.0, 1.0 + 1e-10}, {0.0, 1e-13}, {nil, nil}, {"a", "a"}, {[]any{nil, 1.0}, []any{nil, 1.0}}}
	for _, c := range equal {
		if d := differences("x", c[0], c[1], 1e-9); d != nil {
			t.Errorf("differences(%v, %v) = %v; want none", c[0], c[1], d)
		}
	}
	unequal := [][2]any{
		{1.0, 1.0 + 1e-8}, {0.0, 1e-11}, {nil, 0.0}, {0.0, nil}, {"a", "b"}, {[]any{1.0}, []any{1.0, 2.0}}, {[]any{}, nil},
		{map[string]any{"a": 1.0}, map[string]any{"a": 2.0}}, {map[string]any{}, map[string]any{"a": nil}},
	}
	for _, c := range unequal {
		if d := differences("x", c[0], c[1], 1e-9); d == nil {
			t.Errorf("differences(%v, %v) = none; want one", c[0], c[1])
		}
	}
}
