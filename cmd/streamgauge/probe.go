package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/term"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// endpointFlags name an endpoint that no configuration knows.
type endpointFlags struct {
	URL      string `name:"url" placeholder:"BASE" help:"Base URL as in a provider file, e.g. http://127.0.0.1:11434/v1."`
	Model    string `placeholder:"ID" help:"Model id on the wire."`
	Protocol string `default:"openai_chat" enum:"openai_chat,openai_responses,anthropic,gemini,ollama" help:"Wire format: ${enum}."`
	KeyEnv   string `placeholder:"VARIABLE" help:"Environment variable that holds the key; none is sent without it."`
	CapField string `placeholder:"NAME" help:"Body field of the output cap, where the server knows another than the protocol's own."`
	Effort   string `placeholder:"LEVEL" help:"Reasoning effort, passed on as it is."`
	reachFlags
}

// probeCmd measures any endpoint now.
type probeCmd struct {
	endpointFlags
	Nonce  bool   `help:"Put a random word first, so that no prompt cache can answer."`
	JSON   bool   `name:"json" help:"Print all metrics as JSON; an absent one is null, with its reason."`
	Record string `placeholder:"FILE" type:"path" help:"Keep the raw stream with the instant of each read."`
	Yes    bool   `help:"Do not ask before --record writes."`
	Replay string `placeholder:"FILE" type:"existingfile" help:"Derive everything again from a recording, without a network."`
}

// Help is printed under the usage line.
func (probeCmd) Help() string {
	return `Examples:
  streamgauge probe --url http://127.0.0.1:11434/v1 --model llama3.2
  streamgauge probe --url http://127.0.0.1:11434 --protocol ollama --model llama3.2
  streamgauge probe --url https://api.openai.com/v1 --key-env OPENAI_API_KEY --model gpt-4o-mini --json
  streamgauge probe --replay stream.json`
}

// Run measures or replays, and prints. A failed measurement is a result, and
// exits 0.
func (c *probeCmd) Run(a *app) error {
	var sample bench.Sample
	var err error
	switch {
	case c.Replay != "":
		sample, err = c.replay()
	case c.URL == "" || c.Model == "":
		return usageError{errors.New("probe needs --url and --model (or --replay FILE)")}
	default:
		sample, err = c.measure(a)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(sample.Report())
	}
	return printProbe(a.stdout, &sample)
}

// run returns the request to the endpoint, which has no prompt yet. From here on
// its key is masked in all that is printed.
func (c *endpointFlags) run(a *app) (bench.Run, error) {
	base, err := url.Parse(c.URL)
	if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
		return bench.Run{}, usageError{errors.New("--url is not an http or https address with a host, such as http://127.0.0.1:11434/v1")}
	}
	if base.User != nil {
		return bench.Run{}, usageError{errors.New("--url must hold no user or password, which are not sent; --key-env names the variable that holds a key")}
	}
	protocol, _ := wire.ByName(c.Protocol)
	target := wire.Target{
		BaseURL: strings.TrimRight(c.URL, "/"), Model: c.Model,
		CapField: c.CapField, ReasoningEffort: c.Effort,
	}
	reach, err := c.reach()
	if err != nil {
		return bench.Run{}, err
	}
	a.mask((&bench.Provider{Reach: reach}).Secrets(a.env))
	route, err := reach.Route(a.env)
	if err != nil {
		return bench.Run{}, err
	}
	if c.KeyEnv != "" {
		key, ok := a.env(c.KeyEnv)
		if !ok || key == "" {
			return bench.Run{}, fmt.Errorf("the variable %s is not set; export it, or leave --key-env out if the server wants no key", c.KeyEnv)
		}
		target.Key = key
		a.mask([]string{key})
	}
	return bench.Run{
		Pair:     bench.Pair{Provider: base.Hostname(), Model: c.Model},
		Protocol: protocol, Target: target, Route: route,
		Env: bench.Env{Vantage: "here", Lanes: 1},
	}, nil
}

func (c *probeCmd) measure(a *app) (bench.Sample, error) {
	run, err := c.run(a)
	if err != nil {
		return bench.Sample{}, err
	}
	var nonce string
	if c.Nonce {
		nonce = rand.Text()[:8]
	}
	run.Prompt, run.Env.Nonce = bench.Prompt(nonce), c.Nonce
	var meter bench.Meter
	if err := meter.Warm(a.ctx); err != nil {
		a.log.Debug("warm-up", "error", err)
	}
	var rec bench.Recording
	send := func() bench.Sample {
		live := newLiveLine(a.stderr, a.interactive)
		defer live.clear()
		return meter.Measure(a.ctx, run, bench.Observer{Event: live.event, Recording: func(r bench.Recording) { rec = r }})
	}
	sample := send()
	if sample.Detail == wire.DetailStreamOptions {
		a.log.Info("the server rejects stream_options; asking again without, so it may not tell its token counts")
		run.Target.NoStreamOptions = true
		sample = send()
	}
	switch {
	case a.ctx.Err() != nil:
		return sample, context.Canceled
	case c.Record != "":
		return sample, c.keep(a, rec)
	}
	return sample, nil
}

// keep writes the recording, after saying what it holds.
func (c *probeCmd) keep(a *app, rec bench.Recording) error {
	fmt.Fprintf(a.stderr, "%s will hold the model's name, the host %q, the answer's full text (%d bytes of body), some response headers and %d read instants. "+
		"It will not hold the key, the address or the request.\n", c.Record, rec.Pair.Provider, len(rec.Body), len(rec.Reads))
	if !c.Yes && isTerminal(a.stdin) {
		fmt.Fprint(a.stderr, "Write it? [y/N] ")
		var answer string
		if _, err := fmt.Fscanln(a.stdin, &answer); err != nil || !strings.HasPrefix(strings.ToLower(answer), "y") {
			fmt.Fprintln(a.stderr, "Not written.")
			return nil
		}
	}
	text, err := json.MarshalIndent(rec, "", " ")
	if err != nil {
		return fmt.Errorf("encode the recording: %w", err)
	}
	if err := os.WriteFile(c.Record, append(text, '\n'), 0o600); err != nil {
		return fmt.Errorf("write the recording: %w", err)
	}
	return nil
}

// maxRecording bounds the file that --replay reads: the longest body as base64,
// and its reads.
const maxRecording = 2 * wire.MaxBody

func (c *probeCmd) replay() (bench.Sample, error) {
	f, err := os.Open(c.Replay)
	if err != nil {
		return bench.Sample{}, fmt.Errorf("open the recording: %w", err)
	}
	defer f.Close()
	var rec bench.Recording
	if err := json.NewDecoder(io.LimitReader(f, maxRecording)).Decode(&rec); err != nil {
		return bench.Sample{}, fmt.Errorf("read the recording %s: %w", c.Replay, err)
	}
	return bench.Replay(rec, nil)
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// A liveLine shows on a terminal how an answer is coming in; elsewhere nothing.
type liveLine struct {
	out     io.Writer
	on      bool
	chunks  int
	chars   int
	printed time.Duration
}

func newLiveLine(out io.Writer, on bool) *liveLine { return &liveLine{out: out, on: on} }

// liveEvery is how often the live line changes; more often than the eye follows
// would only take processor time from the measurement.
const liveEvery = 100 * time.Millisecond

func (l *liveLine) event(arrived bench.Arrival, _ wire.Event) {
	if arrived.Mark == bench.MarkVisible {
		l.chunks++
		l.chars += arrived.Chars
	}
	if !l.on || arrived.At-l.printed < liveEvery {
		return
	}
	l.printed = arrived.At
	fmt.Fprintf(l.out, "\r\033[K%6.2f s  %-9s %5d chunks %6d characters", arrived.At.Seconds(), arrived.Mark, l.chunks, l.chars)
}

func (l *liveLine) clear() {
	if l.on {
		fmt.Fprint(l.out, "\r\033[K")
	}
}
