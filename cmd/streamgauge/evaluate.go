package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// evaluateCmd measures in one sitting how an endpoint's times grow with the
// prompt and with the answer.
type evaluateCmd struct {
	endpointFlags
	Inputs   []int         `default:"200,1000,3000,8000" placeholder:"TOKENS" help:"Sizes of prompt, in tokens, about."`
	Outputs  []int         `default:"50,150,400,800" placeholder:"TOKENS" help:"Lengths of answer, in tokens."`
	Repeats  int           `default:"4" help:"Requests of each."`
	For      time.Duration `default:"10m" help:"No request is begun after so long."`
	Seed     uint64        `default:"1" help:"Of the order of the requests."`
	PriceIn  float64       `placeholder:"USD" help:"Price of a million input tokens, to say what it will cost."`
	PriceOut float64       `placeholder:"USD" help:"Price of a million output tokens."`
	Plan     bool          `help:"Say what would be asked and what it would cost, and ask nothing."`
	Yes      bool          `help:"Do not ask before the first request."`
	JSON     bool          `name:"json" help:"Print the evaluation as JSON."`
}

// Help is printed under the usage line.
func (evaluateCmd) Help() string {
	return `Asks one endpoint for answers to prompts of several sizes and of several lengths, one request at a time, in an order of
chance. Says in words what a token of prompt and a token of answer cost, and whether the endpoint throttled. Each
prompt begins with a random word, so that no cache answers. What it will ask and cost is said first; nothing is kept.

Examples:
  streamgauge evaluate --url http://127.0.0.1:11434/v1 --model llama3.2
  streamgauge evaluate --url https://api.openai.com/v1 --key-env OPENAI_API_KEY --model gpt-4o-mini --price-in 0.15 --price-out 0.60
  streamgauge evaluate --url http://127.0.0.1:11434/v1 --model llama3.2 --plan`
}

// evaluationFormat names the printed form; it rises with a change that breaks
// readers.
const evaluationFormat = "streamgauge-evaluation/1"

// An evaluation is the printed form.
type evaluation struct {
	Format   string    `json:"format"`
	Provider string    `json:"provider"` // host name
	Model    string    `json:"model"`
	At       time.Time `json:"at"`
	Seconds  float64   `json:"seconds"`
	Method   int       `json:"method"`
	Prompts  int       `json:"filler_version"` // of the text that prompts are lengthened with
	Planned  planned   `json:"planned"`
	rollup.Evaluation
	Verdict []string       `json:"verdict"` // in words
	Trials  []triedRequest `json:"trials"`
}

// A triedRequest is one request in the printed form.
type triedRequest struct {
	bench.Trial
	Report bench.Report `json:"report"`
}

// planned is what an evaluation may ask for at most.
type planned struct {
	Requests     int      `json:"requests"`
	InputTokens  int      `json:"input_tokens"`  // about
	OutputTokens int      `json:"output_tokens"` // at most
	USD          *float64 `json:"usd"`           // at most, null without prices
	MostSeconds  float64  `json:"most_seconds"`  // of beginning requests
}

func (c *evaluateCmd) planned(trials []bench.Trial) planned {
	p := planned{Requests: len(trials), MostSeconds: c.For.Seconds()}
	for _, t := range trials {
		p.InputTokens += t.Input
		p.OutputTokens += t.Output
	}
	if c.PriceIn > 0 || c.PriceOut > 0 {
		usd := (float64(p.InputTokens)*c.PriceIn + float64(p.OutputTokens)*c.PriceOut) / 1e6
		p.USD = &usd
	}
	return p
}

func (p planned) print(w io.Writer) {
	cost := "the price is not known: say --price-in and --price-out"
	if p.USD != nil {
		cost = fmt.Sprintf("at most %.2f USD", *p.USD)
	}
	fmt.Fprintf(w, "%d requests, one at a time: about %d tokens of prompt, at most %d of answers; %s. None is begun after %s.\n",
		p.Requests, p.InputTokens, p.OutputTokens, cost, time.Duration(p.MostSeconds*float64(time.Second)))
}

// Run evaluates and prints. An endpoint that fails is a result, and exits 0.
func (c *evaluateCmd) Run(a *app) error {
	if c.For <= 0 || c.PriceIn < 0 || c.PriceOut < 0 {
		return usageError{errors.New("--for must be positive and prices not negative")}
	}
	trials, err := bench.EvaluationPlan{Inputs: c.Inputs, Outputs: c.Outputs, Repeats: c.Repeats}.Trials(c.Seed)
	if err != nil {
		return usageError{err}
	}
	plan := c.planned(trials)
	if c.Plan {
		if c.JSON {
			return printJSON(a.stdout, plan)
		}
		plan.print(a.stdout)
		return nil
	}
	if c.URL == "" || c.Model == "" {
		return usageError{errors.New("evaluate needs --url and --model (or --plan)")}
	}
	run, err := c.run(a)
	if err != nil {
		return err
	}
	run.Env.Nonce = true
	plan.print(a.stderr)
	if !c.Yes && isTerminal(a.stdin) {
		fmt.Fprint(a.stderr, "Begin? [y/N] ")
		var answer string
		if _, err := fmt.Fscanln(a.stdin, &answer); err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
			fmt.Fprintln(a.stderr, "Nothing was asked.")
			return nil
		}
	}
	began := time.Now()
	tried, err := c.try(a, run, trials)
	if err != nil {
		return err
	}
	out := evaluation{
		Format: evaluationFormat, Provider: run.Pair.Provider, Model: run.Pair.Model, At: began.UTC().Truncate(time.Second),
		Seconds: time.Since(began).Seconds(), Method: bench.MethodVersion, Prompts: bench.FillerVersion, Planned: plan, Evaluation: rollup.Evaluate(tried),
	}
	out.Verdict = verdictWords(&out.Evaluation)
	if !c.JSON {
		return printEvaluation(a.stdout, &out)
	}
	for i := range tried {
		out.Trials = append(out.Trials, triedRequest{tried[i].Trial, tried[i].Report()})
	}
	return printJSON(a.stdout, out)
}

func printJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// maxFailures in a row end a sitting: what refuses so often would refuse on.
const maxFailures = 5

// maxPause is the longest pause that a refusal is obeyed for.
const maxPause = time.Minute

// try sends the requests, one after another.
func (c *evaluateCmd) try(a *app, run bench.Run, trials []bench.Trial) ([]rollup.Tried, error) {
	var meter bench.Meter
	if err := meter.Warm(a.ctx); err != nil {
		a.log.Debug("warm-up", "error", err)
	}
	ctx, cancel := context.WithCancel(a.ctx)
	defer cancel()
	end := time.Now().Add(c.For)
	bar := a.progress("evaluating", len(trials))
	defer bar.close()
	var tried []rollup.Tried
	failures := 0
	for i, t := range trials {
		if left := time.Until(end); left <= 0 {
			a.log.Warn("the time is up; the verdict is of what was asked so far", "requests", i, "planned", len(trials))
			break
		}
		bar.say(fmt.Sprintf("prompt of %d, answer of %d", t.Input, t.Output))
		run.Prompt = t.Prompt(rand.Text()[:8])
		sample := meter.Measure(ctx, run, bench.Observer{})
		if a.ctx.Err() != nil {
			return nil, context.Canceled
		}
		bar.step(fmt.Sprintf("prompt of %d, answer of %d", t.Input, t.Output))
		sample.Trace = nil
		tried = append(tried, rollup.Tried{Trial: t, Sample: sample})
		if sample.OK() {
			failures = 0
			continue
		}
		a.log.Info("a request failed", "kind", sample.Kind, "detail", sample.Detail, "status", sample.HTTPStatus)
		if failures++; failures == maxFailures {
			a.log.Warn("too many failures in a row; the verdict is of what was asked so far", "failures", failures)
			break
		}
		if pause := min(sample.RetryAfter, maxPause, time.Until(end)); pause > 0 {
			select {
			case <-time.After(pause):
			case <-a.ctx.Done():
				return nil, context.Canceled
			}
		}
	}
	return tried, nil
}

// sizesAlike reports whether a slope was asked for at one size only.
func sizesAlike(sizes []rollup.Size) bool {
	return len(sizes) < 2 || slices.Max(sizesOf(sizes)) < 2*slices.Min(sizesOf(sizes))
}

func sizesOf(sizes []rollup.Size) []float64 {
	var list []float64
	for _, s := range sizes {
		list = append(list, s.Tokens)
	}
	return list
}
