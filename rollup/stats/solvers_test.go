package stats

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"
	"time"
)

type input struct {
	t    *testing.T
	data json.RawMessage
}

func (in input) into(v any) {
	in.t.Helper()
	if err := json.Unmarshal(in.data, v); err != nil {
		in.t.Fatalf("decode input: %v", err)
	}
}

// percentile returns q of a key such as p95, or false for another key.
func percentile(key string) (float64, bool) {
	digits, ok := strings.CutPrefix(key, "p")
	p, err := strconv.ParseFloat(digits, 64)
	return p / 100, ok && err == nil
}

// orNull is v, or null if it is not known.
func orNull[T any](v T, ok bool) any {
	if !ok {
		return nil
	}
	return v
}

func pair(i Interval, ok bool) any {
	return orNull([]float64{i.Lo, i.Hi}, ok)
}

func solvePercentiles(in input, keys []string) map[string]any {
	var v struct{ Values []float64 }
	in.into(&v)
	got := make(map[string]any)
	for _, key := range keys {
		if q, ok := percentile(key); ok {
			got[key] = orNull(Quantile(v.Values, q))
		}
	}
	return got
}

func solveCensored(in input, keys []string) map[string]any {
	var v struct {
		Values   []float64 `json:"values_ms"`
		Timeouts int
		Cap      float64 `json:"cap_ms"`
	}
	in.into(&v)
	got := make(map[string]any)
	for _, key := range keys {
		q, ok := percentile(key)
		if !ok {
			continue
		}
		c, ok := CensoredQuantile(v.Values, v.Timeouts, v.Cap, q)
		bound := "equal"
		if c.Greater {
			bound = "greater"
		}
		got[key] = orNull(map[string]any{"value": c.Value, "bound": bound}, ok)
	}
	return got
}

func solveOrders(in input, _ []string) map[string]any {
	var v struct {
		Q, Confidence float64
		N             []int
	}
	in.into(&v)
	var lo, hi, coverage []any
	for _, n := range v.N {
		o, ok := NewOrderInterval(n, v.Q, v.Confidence)
		lo = append(lo, orNull(o.LoRank, ok && o.LoRank > 0))
		hi = append(hi, orNull(o.HiRank, ok && o.HiRank > 0))
		coverage = append(coverage, orNull(o.Coverage, ok))
	}
	return map[string]any{"lo_rank": lo, "hi_rank": hi, "coverage": coverage}
}

func solveWilson(in input, _ []string) map[string]any {
	var v struct {
		Z     float64
		Cases []struct{ K, N float64 }
	}
	in.into(&v)
	var intervals []any
	for _, c := range v.Cases {
		intervals = append(intervals, pair(Wilson(c.K, c.N, v.Z)))
	}
	return map[string]any{"intervals": intervals}
}

func solveHourBucket(in input, _ []string) map[string]any {
	var v struct {
		Rates []float64 `json:"hourly_rate"`
		N     float64
		Z     float64
	}
	v.Z = Z95
	in.into(&v)
	b, ok := NewHourBucket(v.Rates, v.N, v.Z)
	return map[string]any{
		"rate": orNull(b.Rate, ok), "lag1": b.Lag1, "n_eff": orNull(b.NEff, ok), "interval": pair(b.Interval, ok),
	}
}

func solveReliability(in input, _ []string) map[string]any {
	var v struct {
		OK, Auth, Quota, Server, Timeout, Network, Malformed int
		RateLimit                                            int `json:"rate_limit"`
	}
	in.into(&v)
	c := Counts{OK: v.OK, Auth: v.Auth, Quota: v.Quota, RateLimit: v.RateLimit, Server: v.Server, Timeout: v.Timeout, Network: v.Network, Malformed: v.Malformed}
	return map[string]any{
		"total":                  c.Total(),
		"success_rate_tokendyno": orNull(c.SuccessRate()),
		"availability":           orNull(c.Availability()),
		"availability_wilson":    pair(c.AvailabilityInterval(Z95)),
		"throttle_rate":          orNull(c.ThrottleRate()),
		"own_fault_rate":         orNull(c.OwnFaultRate()),
	}
}

func solveTimeWeighted(in input, _ []string) map[string]any {
	var v struct {
		T   []float64 `json:"t_min"`
		OK  []int
		Cap float64 `json:"cap_min"`
	}
	in.into(&v)
	if len(v.T) != len(v.OK) {
		in.t.Fatalf("%d times, %d outcomes", len(v.T), len(v.OK))
	}
	minutes := func(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }
	var c Counts
	var attempts []Attempt
	for i, at := range v.T {
		if v.OK[i] == 1 {
			c.OK++
		} else {
			c.Server++
		}
		attempts = append(attempts, Attempt{At: minutes(at), OK: v.OK[i] == 1})
	}
	return map[string]any{
		"sample_weighted": orNull(c.Availability()),
		"time_weighted":   orNull(TimeWeighted(attempts, minutes(v.Cap))),
	}
}

func solveScore(in input, _ []string) map[string]any {
	var v struct {
		Medians    []float64 `json:"daily_medians"`
		Confidence float64
	}
	v.Confidence = 0.95
	in.into(&v)
	s, ok := NewScore(v.Medians, v.Confidence)
	return map[string]any{"score": orNull(s.Value, ok), "lo": orNull(s.Interval.Lo, ok), "hi": orNull(s.Interval.Hi, ok)}
}

func solveRank(in input, _ []string) map[string]any {
	type row struct {
		Name          string
		Score, Lo, Hi *float64
		Eligible      *bool
	}
	var v struct {
		HigherIsBetter bool `json:"higher_is_better"`
		Rows           []row
	}
	in.into(&v)
	number := func(p *float64) float64 {
		if p == nil {
			return math.NaN()
		}
		return *p
	}
	var rows []Row
	for _, r := range v.Rows {
		rows = append(rows, Row{
			Name: r.Name, Score: number(r.Score), Interval: Interval{number(r.Lo), number(r.Hi)},
			Eligible: r.Eligible == nil || *r.Eligible,
		})
	}
	standings := Rank(rows, Direction(v.HigherIsBetter))
	var order []string
	byName := make(map[string]Standing)
	for _, s := range standings {
		order = append(order, s.Name)
		byName[s.Name] = s
	}
	var ranks []any // in the order of the input
	for _, r := range rows {
		s := byName[r.Name]
		ranks = append(ranks, map[string]any{
			"name": s.Name, "rank": orNull(s.Best, s.Ranked), "rank_worst": orNull(s.Worst, s.Ranked),
		})
	}
	return map[string]any{"ranks": ranks, "order": order}
}

func solveMannWhitney(in input, _ []string) map[string]any {
	var v struct{ X, Y []float64 }
	in.into(&v)
	u, p, ok := MannWhitney(v.X, v.Y)
	return map[string]any{"u": orNull(u, ok), "p_exact": orNull(p, ok)}
}

func solveHistogram(in input, keys []string) map[string]any {
	var v struct {
		Gamma float64
		Hours [][]float64
	}
	in.into(&v)
	if v.Gamma != Gamma {
		in.t.Fatalf("gamma %v is not that of the dataset's format", v.Gamma)
	}
	var merged Histogram
	var hourly []float64
	for _, hour := range v.Hours {
		var h Histogram
		for _, x := range hour {
			if !h.Add(x) {
				in.t.Fatalf("Add(%v) = false", x)
			}
		}
		merged.Merge(&h)
		if p95, ok := Quantile(hour, 0.95); ok {
			hourly = append(hourly, p95)
		}
	}
	got := map[string]any{"buckets": &merged, "n": merged.N()}
	if len(hourly) > 0 {
		got["wrong_mean_of_hourly_p95"] = mean(hourly)
	}
	for _, key := range keys {
		if q, ok := percentile(key); ok {
			got[key] = orNull(merged.Quantile(q))
		}
	}
	return got
}

func solveShifts(in input, _ []string) map[string]any {
	var v struct {
		Values    []float64
		P0        float64
		MinChange float64 `json:"min_change"`
		Window    int
	}
	in.into(&v)
	logs, ok := Logs(v.Values)
	if !ok {
		in.t.Fatal("values are not positive")
	}
	index, p, change := []int{}, []float64{}, []float64{}
	for _, s := range (Detector{P0: v.P0, MinChange: v.MinChange, Window: v.Window}).Shifts(logs) {
		index, p, change = append(index, s.Index), append(p, s.P), append(change, s.Change)
	}
	return map[string]any{"index": index, "p": p, "change": change}
}

func solveDecompose(in input, _ []string) map[string]any {
	type answer struct {
		TTFT   float64 `json:"ttft_ms"`
		Tokens int     `json:"tokens"`
		TTLT   float64 `json:"ttlt_ms"`
	}
	var v struct{ Before, After []answer }
	in.into(&v)
	pace := func(answers []answer) (Pace, bool) {
		var converted []Answer
		for _, a := range answers {
			converted = append(converted, Answer{TTFTMs: a.TTFT, TTLTMs: a.TTLT, Tokens: a.Tokens})
		}
		return NewPace(converted)
	}
	before, ok1 := pace(v.Before)
	after, ok2 := pace(v.After)
	d := Decompose(before, after)
	ok := ok1 && ok2
	return map[string]any{
		"d_ttlt_ms": orNull(d.TotalMs, ok), "start_ms": orNull(d.StartMs, ok),
		"volume_ms": orNull(d.VolumeMs, ok), "speed_ms": orNull(d.SpeedMs, ok),
		"tbt1_ms": orNull(before.TBTMs, ok1), "tbt2_ms": orNull(after.TBTMs, ok2),
	}
}

func solveTTLT(in input, _ []string) map[string]any {
	var v struct {
		TTFT   float64 `json:"ttft_ms"`
		TBT    float64 `json:"tbt_ms"`
		Tokens float64
	}
	in.into(&v)
	return map[string]any{
		"ttlt_ms":          orNull(ExpectedTTLT(v.TTFT, v.TBT, v.Tokens)),
		"azure_formula_ms": orNull(AzureTTLT(v.TTFT, v.TBT, v.Tokens)),
	}
}

func solveTPM(in input, _ []string) map[string]any {
	var v struct {
		Prompt     float64 `json:"prompt_tokens"`
		Completion float64 `json:"completion_tokens"`
		RPM        float64
	}
	in.into(&v)
	return load(NewTokenLoad(v.Prompt, v.Completion, v.RPM))
}

func load(l TokenLoad) map[string]any {
	return map[string]any{"input_tpm": l.InputTPM, "output_tpm": l.OutputTPM, "total_tpm": l.TotalTPM()}
}

func solvePTU(in input, _ []string) map[string]any {
	var v struct {
		Prompt   float64 `json:"prompt_tokens"`
		Output   float64 `json:"output_tokens"`
		RPM      float64
		InputTPM float64 `json:"input_tpm_per_ptu"`
		Weight   float64 `json:"output_weight"`
		Min      int     `json:"min_ptu"`
		Step     int
	}
	in.into(&v)
	l := NewTokenLoad(v.Prompt, v.Output, v.RPM)
	_, units, ok := PTUModel{InputTPM: v.InputTPM, OutputWeight: v.Weight, Min: v.Min, Step: v.Step}.PTU(l)
	got := load(l)
	got["ptu"] = orNull(units, ok)
	return got
}

func solveTimeTo(in input, _ []string) map[string]any {
	type speed struct {
		TTFT float64 `json:"ttft_s"`
		TPS  float64
	}
	var v struct {
		A, B speed
		N    []float64
	}
	in.into(&v)
	a, b := Speed{v.A.TTFT, v.A.TPS}, Speed{v.B.TTFT, v.B.TPS}
	var as, bs []any
	for _, n := range v.N {
		as = append(as, orNull(a.TimeTo(n)))
		bs = append(bs, orNull(b.TimeTo(n)))
	}
	return map[string]any{"a_s": as, "b_s": bs, "crossover_tokens": orNull(Crossover(a, b))}
}

func solveSegments(in input, _ []string) map[string]any {
	var v struct {
		Segments []struct {
			Active float64 `json:"active_s"`
			Tool   float64 `json:"tool_s"`
			Tokens float64
		}
	}
	in.into(&v)
	var segments []Segment
	for _, s := range v.Segments {
		segments = append(segments, Segment{s.Active, s.Tool, s.Tokens})
	}
	r, ok := NewTaskRate(segments)
	return map[string]any{
		"tps_active": orNull(r.TokensPerActive, ok), "tps_task": orNull(r.TokensPerTask, ok),
		"active_s": orNull(r.ActiveSeconds, ok), "task_s": orNull(r.TaskSeconds, ok),
	}
}

func solveFreshness(in input, _ []string) map[string]any {
	var v struct {
		Cases []struct {
			Age      float64 `json:"age_s"`
			Interval float64 `json:"interval_s"`
		}
	}
	in.into(&v)
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	var states []string
	for _, c := range v.Cases {
		states = append(states, FreshnessOf(seconds(c.Age), seconds(c.Interval)).String())
	}
	return map[string]any{"state": states}
}
