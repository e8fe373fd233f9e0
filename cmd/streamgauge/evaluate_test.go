package main

import (
	"encoding/json"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// TestEvaluateCommand evaluates simulated providers over loopback. What times
// say is tested where no machine can disturb them, in package rollup; here is
// what is counted and said.
func TestEvaluateCommand(t *testing.T) {
	shape := simulate.Shape{Prefill: time.Millisecond, PerInput: 2 * time.Microsecond, PerToken: 200 * time.Microsecond, Tokens: 2000}
	limited := shape
	limited.Fault = simulate.Fault{Kind: simulate.FaultRateLimit, Every: 4}
	server, err := simulate.New(simulate.Options{Models: []simulate.Model{{Name: "steady", Shape: shape}, {Name: "limited", Shape: limited},
		{Name: "refuses", Shape: simulate.Shape{Fault: simulate.Fault{Kind: simulate.FaultAuth}}}}})
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(server)
	t.Cleanup(web.Close)
	ask := func(args ...string) (e evaluation, log string) {
		t.Helper()
		out, log, err := runWith(t, append([]string{"evaluate", "--url", web.URL + "/v1", "--json", "--repeats", "3", "--inputs", "100,400,1600", "--outputs", "50,200"}, args...)...)
		if err != nil {
			t.Fatalf("%v: %v\n%s", args, err, log)
		}
		if err := json.Unmarshal([]byte(out), &e); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		return e, log
	}

	e, log := ask("--model", "steady", "--price-in", "1", "--price-out", "2")
	// 3 × (100 + 400 + 1600 + 2 × 100) = 6,900 in; 3 × (3 × 32 + 250) = 1,038 out.
	if !strings.Contains(log, "15 requests, one at a time: about 6900 tokens of prompt, at most 1038 of answers; at most 0.01 USD") {
		t.Errorf("before it began it said %q", log)
	}
	if e.Format != evaluationFormat || e.Requests != 15 || e.OK != 15 || len(e.Trials) != 15 || len(e.Verdict) != verdicts(e) || e.Throttle.Refused != 0 {
		t.Errorf("%+v", e.Evaluation)
	}
	if len(e.Prompt.Sizes) < 3 && e.Noisy < 3 {
		t.Errorf("%d sizes of prompt, and %d answers while this machine was busy", len(e.Prompt.Sizes), e.Noisy)
	}
	for _, s := range e.Prompt.Sizes { // those with a quiet answer at least
		// The simulated provider counts a token for four characters, and 8.
		if want := float64(s.Aimed); !slices.Contains([]int{100, 400, 1600}, s.Aimed) || s.N+e.Noisy < 3 || s.Tokens < want || s.Tokens > want+20 {
			t.Errorf("%+v, %d noisy", s, e.Noisy)
		}
	}
	if strings.Contains(strings.Join(e.Verdict, " "), "NaN") {
		t.Errorf("%q", e.Verdict)
	}

	if e, _ := ask("--model", "limited"); e.Throttle.Refused != 3 || e.OK != 12 || !strings.Contains(e.Verdict[len(e.Verdict)-1], "3 of 15 requests were refused for the rate") {
		t.Errorf("%+v %q", e.Throttle, e.Verdict)
	}
	if e, log := ask("--model", "refuses"); e.Requests != maxFailures || len(e.Verdict) != 1 || !strings.Contains(log, "too many failures") {
		t.Errorf("%d requests, %q, %s", e.Requests, e.Verdict, log)
	}

	// The defaults are those that the site tells of.
	out, _, err := runWith(t, "evaluate", "--plan", "--json")
	var plan planned
	if err != nil || json.Unmarshal([]byte(out), &plan) != nil {
		t.Fatalf("%q, %v", out, err)
	}
	trials, err := bench.DefaultEvaluation().Trials(1)
	if want := (&evaluateCmd{For: 10 * time.Minute}).planned(trials); err != nil || plan != want {
		t.Errorf("the plan is %+v, the site says %+v", plan, want)
	}
	for _, bad := range [][]string{{}, {"--url", "ftp://x", "--model", "m"}, {"--plan", "--outputs", "3"}, {"--plan", "--repeats", "99"}, {"--plan", "--for", "-1s"}} {
		if _, _, err := runWith(t, append([]string{"evaluate"}, bad...)...); exitCode(err, discard{}) != exitUsage {
			t.Errorf("evaluate %v: %v; want a usage error", bad, err)
		}
	}
	if out, _, err := runWith(t, "evaluate", "--url", web.URL+"/v1", "--model", "steady", "--repeats", "1", "--inputs", "50", "--outputs", "40"); err != nil || !strings.Contains(out, "not known") && !strings.Contains(out, "too busy") {
		t.Errorf("for people: %q, %v", out, err)
	}
}

// verdicts is how many sentences an evaluation has, where an answer came.
func verdicts(e evaluation) int {
	if 2*e.Noisy > e.OK {
		return 2
	}
	return 4
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

// TestHonestyTakesEvidence: how long answers took in all agrees with every pace
// if it tells none, which is no praise of the stream.
func TestHonestyTakesEvidence(t *testing.T) {
	c := rollup.AnswerCost{
		Streamed: rollup.Slope{MS: 20, Interval: stats.Interval{Lo: 19, Hi: 21}, N: 16},
		ByLength: rollup.Slope{MS: 15, Interval: stats.Interval{Lo: -30, Hi: 60}, N: 16},
		Lengths:  []rollup.Size{{Aimed: 50, Tokens: 50, N: 8}, {Aimed: 800, Tokens: 800, N: 8}},
	}
	if got := honestyWords(&c); !strings.Contains(got, "not known") {
		t.Errorf("a slope of -30 to 60 ms: %q", got)
	}
	c.ByLength.Interval = stats.Interval{Lo: 18, Hi: 22}
	if got := honestyWords(&c); strings.Contains(got, "not known") {
		t.Errorf("a slope of 18 to 22 ms: %q", got)
	}
}
