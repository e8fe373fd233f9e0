package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/content"
	"github.com/streamgauge/streamgauge/rollup"
)

var updateExample = flag.Bool("example", false, "write the evaluation that the site shows anew")

// exampleSitting lets a simulated provider answer the default plan. No network
// is in it: each instant is the simulation's own, so the example is what it is on
// any machine. The provider reads 5,000 tokens a second and writes 50.
func exampleSitting(t *testing.T) []rollup.Tried {
	t.Helper()
	shape := simulate.Shape{
		Prefill: 300 * time.Millisecond, PerInput: 200 * time.Microsecond, PrefillJitter: 0.05,
		PerToken: 20 * time.Millisecond, Jitter: 0.5, Tokens: 5000,
	}
	trials, err := bench.DefaultEvaluation().Trials(1)
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	var tried []rollup.Tried
	for i, trial := range trials {
		line := shape.After(trial.Input).Timeline(trial.Output, rand.New(rand.NewPCG(9, uint64(i))))
		s := bench.Sample{Pair: bench.Pair{Provider: "simulated", Model: "reads-5000-writes-50"}, StartedAt: at, Env: bench.Env{Method: bench.MethodVersion, Nonce: true, Lanes: 1}}
		s.FirstText, _ = line.TTFT()
		s.LastText, _ = line.Last()
		s.Done = line.End()
		s.Chunks, s.Chars, s.FirstReadChars, s.FirstReadTokens = line.Visible, 4*line.Visible, 4, wire.Known(1)
		s.Usage = bench.Usage{Input: wire.Known(int64(trial.Input)), Output: wire.Known(int64(line.Output())), Visible: wire.Known(int64(line.Visible))}
		tried = append(tried, rollup.Tried{Trial: trial, Sample: s})
		at = at.Add(s.Done)
	}
	return tried
}

// TestEvaluationExample holds the evaluation that the site shows against what the
// command prints of such a sitting, byte for byte, and against the truth.
func TestEvaluationExample(t *testing.T) {
	const file = "../../content/evaluation.json"
	tried := exampleSitting(t)
	first, last := tried[0].Sample, tried[len(tried)-1].Sample
	e := evaluation{
		Format: evaluationFormat, Provider: first.Provider, Model: first.Model, At: first.StartedAt,
		Seconds: last.StartedAt.Add(last.Done).Sub(first.StartedAt).Seconds(), Method: bench.MethodVersion, Prompts: bench.FillerVersion,
		Planned: (&evaluateCmd{For: 10 * time.Minute, PriceIn: 0.15, PriceOut: 0.60}).planned(trialsOf(tried)), Evaluation: rollup.Evaluate(tried),
	}
	e.Verdict = verdictWords(&e.Evaluation)
	for i := range tried {
		e.Trials = append(e.Trials, triedRequest{tried[i].Trial, tried[i].Report()})
	}
	want, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	want = append(want, '\n')
	if *updateExample {
		if err := os.WriteFile(file, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := content.FS.ReadFile("evaluation.json")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("content/evaluation.json is not what the command prints; -example writes it anew")
	}
	for what, x := range map[string]struct {
		of   rollup.Slope
		want float64
	}{
		"a token of prompt": {e.Prompt.PerToken, 0.2}, "a token of answer": {e.Answer.Streamed, 20}, "a token of a longer answer": {e.Answer.ByLength, 20},
	} {
		if !x.of.Clear() || x.of.Interval.Lo > x.want || x.of.Interval.Hi < x.want {
			t.Errorf("%s costs %.4g ms (%.4g to %.4g); the simulated provider took %v", what, x.of.MS, x.of.Interval.Lo, x.of.Interval.Hi, x.want)
		}
	}
}

func trialsOf(tried []rollup.Tried) (list []bench.Trial) {
	for _, t := range tried {
		list = append(list, t.Trial)
	}
	return list
}
