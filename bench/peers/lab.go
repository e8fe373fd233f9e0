package peers

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/calibrate"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// Streams of a lab. Each has its first text 50 ms after the request.
const (
	WideGaps   = "gap-5ms" // a token every 5 ms
	NarrowGaps = "gap-1ms" // a token every millisecond
	Flood      = "flood"   // FloodTokens tokens, as fast as the socket takes them
)

// FloodTokens is how many tokens, one to an event, a flood has.
const FloodTokens = 60_000

func models() []simulate.Model {
	const ms = time.Millisecond
	return []simulate.Model{
		{Name: WideGaps, Shape: simulate.Shape{Prefill: 50 * ms, PerToken: 5 * ms, Tokens: 60}},
		{Name: NarrowGaps, Shape: simulate.Shape{Prefill: 50 * ms, PerToken: ms, Tokens: 200}},
		{Name: Flood, Shape: simulate.Shape{Prefill: 50 * ms, Tokens: FloodTokens}},
	}
}

// A Lab is a simulated provider in another process.
type Lab struct {
	base  string
	cmd   *exec.Cmd
	input io.Closer
	boot  machineClock
}

// serveVariable, in the environment of a test binary, makes it the provider.
const serveVariable = "STREAMGAUGE_PEERS_SERVE"

// ServeIfAsked serves the provider until standard input ends, if [OpenLab]
// started this process. A TestMain calls it first, and returns if it served.
func ServeIfAsked() (served bool, err error) {
	if os.Getenv(serveVariable) == "" {
		return false, nil
	}
	provider, err := simulate.New(simulate.Options{Models: models(), Seed: 1, Precise: true})
	if err != nil {
		return true, fmt.Errorf("set up the simulated provider: %w", err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return true, fmt.Errorf("start the simulated provider: %w", err)
	}
	server := &http.Server{Handler: provider, ReadHeaderTimeout: 10 * time.Second}
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		_ = server.Close()
	}()
	fmt.Printf("%q\n", "http://"+listener.Addr().String())
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return true, fmt.Errorf("serve the simulated provider: %w", err)
	}
	return true, nil
}

// ErrNoSharedClock says that this system has no clock that processes share.
var ErrNoSharedClock = errors.New("no clock that processes share is known here")

// OpenLab starts this test binary again as the provider.
func OpenLab(ctx context.Context) (*Lab, error) {
	boot, ok := newMachineClock()
	if !ok {
		return nil, ErrNoSharedClock
	}
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file: %w", err)
	}
	l := &Lab{cmd: exec.CommandContext(ctx, program), boot: boot}
	l.cmd.Env = append(os.Environ(), serveVariable+"=1")
	l.cmd.Stderr = os.Stderr
	if l.input, err = l.cmd.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start the simulated provider: %w", err)
	}
	output, err := l.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the simulated provider: %w", err)
	}
	if err := l.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the simulated provider: %w", err)
	}
	if err := json.NewDecoder(output).Decode(&l.base); err != nil {
		l.Close()
		return nil, fmt.Errorf("start the simulated provider: read where it is: %w", err)
	}
	return l, nil
}

// Close ends the provider.
func (l *Lab) Close() {
	_ = l.input.Close()
	_ = l.cmd.Wait()
}

// A machineClock reads the monotonic clock as every process sees it.
type machineClock struct {
	at    time.Time
	since time.Duration
}

func newMachineClock() (machineClock, bool) {
	offset, ok := bench.MonotonicOffset()
	at := time.Now()
	return machineClock{at, time.Duration(at.UnixNano()) - offset}, ok
}

func (c machineClock) now() time.Duration { return c.since + time.Since(c.at) }

// A Client is someone who can measure a stream.
type Client struct {
	Name string

	// Stream asks the provider at base for a model's stream of at most so many
	// tokens, and returns what it made of it and when it began, by now.
	Stream func(ctx context.Context, base, model string, tokens int, now func() time.Duration) (Outcome, time.Duration, error)
}

// Client returns a client that reads by the policy over net/http.
func (p Policy) Client() Client {
	return Client{p.Name, func(ctx context.Context, base, model string, tokens int, now func() time.Duration) (Outcome, time.Duration, error) {
		req, err := wire.OpenAIChat{}.Request(ctx, wire.Target{BaseURL: base + "/v1", Model: model}, wire.Prompt{Text: "Write.", MaxOutputTokens: tokens})
		if err != nil {
			return Outcome{}, 0, err
		}
		client := http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
		dispatch := now()
		resp, err := client.Do(req)
		if err != nil {
			return Outcome{}, 0, err
		}
		defer resp.Body.Close()
		return p.Read(resp.Body, func() time.Duration { return now() - dispatch }), dispatch, nil
	}}
}

// Names of our own client, by the clock it goes by.
const (
	OursKernel = "streamgauge-kernel"
	OursUser   = "streamgauge-user"
)

// Ours returns our client, by the kernel's stamps or by its own.
func Ours(name string) Client {
	meter := &bench.Meter{UserStamps: name == OursUser}
	return Client{name, func(ctx context.Context, base, model string, tokens int, now func() time.Duration) (Outcome, time.Duration, error) {
		run := bench.Run{
			Pair: bench.Pair{Provider: "simulated", Model: model}, Protocol: wire.OpenAIChat{},
			Target: wire.Target{BaseURL: base + "/v1", Model: model}, Prompt: wire.Prompt{Text: "Write.", MaxOutputTokens: tokens},
		}
		before, _ := bench.CPUTime()
		rec := meter.Capture(ctx, run)
		after, _ := bench.CPUTime()
		s, err := bench.Replay(rec, run.Protocol)
		if err != nil {
			return Outcome{}, 0, err
		}
		if !s.OK() {
			return Outcome{}, 0, fmt.Errorf("%v %s", s.Kind, s.Detail)
		}
		offset, _ := bench.MonotonicOffset()
		out := outcomeOf(&s)
		out.HotCPU = after - before
		return out, time.Duration(s.StartedAt.UnixNano()) - offset + s.Phases.Setup, nil
	}}
}

// outcomeOf returns our sample as the outcome of a client.
func outcomeOf(s *bench.Sample) Outcome {
	var out Outcome
	var why bench.Reason
	out.TTFT, why = s.TTFT()
	out.Began = why.OK()
	out.TPS, _ = s.DecodeTPS()
	for _, a := range s.Trace {
		if a.Mark == bench.MarkVisible {
			out.Stamps = append(out.Stamps, Stamp{End: a.Offset, At: a.At})
		}
	}
	return out
}

// A Result is one client's measurement of one stream.
type Result struct {
	Stamp time.Duration // median stamp error: after the instant just before the server's write
	TTFT  time.Duration // error of the time to first token
	CPU   time.Duration // CPU time of this process, for each chunk with text
	Hot   time.Duration // the part of it while the stream came
	Rate  float64       // chunks with text a second, from the first to the last
	Lost  int           // chunks with text that the client did not see
}

// errForeignLog says that the provider's log is not of the stream measured.
var errForeignLog = errors.New("the provider's log is of another stream")

// Measure has a client measure a stream, and holds it against the provider's log.
func (l *Lab) Measure(ctx context.Context, c Client, model string) (Result, error) {
	used, _ := bench.CPUTime()
	out, dispatch, err := c.Stream(ctx, l.base, model, FloodTokens, l.boot.now)
	if err != nil {
		return Result{}, fmt.Errorf("%s: %w", c.Name, err)
	}
	total, _ := bench.CPUTime()
	rec, err := l.log(ctx)
	if err != nil {
		return Result{}, err
	}
	if rec.Model != model {
		return Result{}, errForeignLog
	}
	r := Result{Lost: rec.Visible - len(out.Stamps), CPU: (total - used) / time.Duration(max(1, rec.Visible))}
	r.Hot = r.CPU
	if out.HotCPU > 0 {
		r.Hot = out.HotCPU / time.Duration(max(1, rec.Visible))
	}
	var errs []time.Duration
	seen, next := 0, 0 // chunks with text in the writes before next; each has one token
	for _, s := range out.Stamps {
		i, _ := slices.BinarySearchFunc(rec.Writes, s.End, func(w simulate.Write, end int64) int { return cmp.Compare(w.End, end) })
		if s.Ordinal > 0 {
			for next < len(rec.Writes) && seen+rec.Writes[next].Visible < s.Ordinal {
				seen += rec.Writes[next].Visible
				next++
			}
			i = next
		}
		if i == len(rec.Writes) {
			return Result{}, errForeignLog
		}
		errs = append(errs, dispatch+s.At-time.Duration(rec.Writes[i].BeforeNS))
	}
	r.Stamp = calibrate.SpreadOf(errs).P50
	for _, w := range rec.Writes {
		if w.Visible > 0 {
			r.TTFT = dispatch + out.TTFT - time.Duration(w.BeforeNS)
			break
		}
	}
	if n := len(out.Stamps); n > 1 {
		r.Rate = float64(n-1) / (out.Stamps[n-1].At - out.Stamps[0].At).Seconds()
	}
	return r, nil
}

func (l *Lab) log(ctx context.Context) (rec simulate.Record, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, l.base+"/__log/latest", nil)
	if err != nil {
		return rec, fmt.Errorf("ask for the provider's log: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return rec, fmt.Errorf("ask for the provider's log: %w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&rec); err != nil {
		return rec, fmt.Errorf("read the provider's log: %w", err)
	}
	return rec, nil
}

// A Figure is the median of a client's results on one stream.
type Figure struct {
	Client      string
	Stamp, TTFT time.Duration
	CPU, Hot    time.Duration
	Rate        float64
	Lost        int // the most of any round
}

// Round has every client measure the stream once, beginning with another client
// each round, so that what else the machine does meets all of them alike.
func (l *Lab) Round(ctx context.Context, clients []Client, model string, round int, results [][]Result) error {
	for i := range clients {
		k := (i + round) % len(clients)
		r, err := l.Measure(ctx, clients[k], model)
		if err != nil {
			return err
		}
		results[k] = append(results[k], r)
	}
	return nil
}

// Figures returns the medians of each client's results.
func Figures(clients []Client, results [][]Result) []Figure {
	var figures []Figure
	for k, c := range clients {
		median := func(of func(Result) time.Duration) time.Duration {
			var all []time.Duration
			for _, r := range results[k] {
				all = append(all, of(r))
			}
			return calibrate.SpreadOf(all).P50
		}
		f := Figure{
			Client: c.Name,
			Stamp:  median(func(r Result) time.Duration { return r.Stamp }),
			TTFT:   median(func(r Result) time.Duration { return r.TTFT }),
			CPU:    median(func(r Result) time.Duration { return r.CPU }),
			Hot:    median(func(r Result) time.Duration { return r.Hot }),
		}
		var rates []float64
		for _, r := range results[k] {
			rates, f.Lost = append(rates, r.Rate), max(f.Lost, r.Lost)
		}
		slices.Sort(rates)
		if len(rates) > 0 {
			f.Rate = rates[len(rates)/2]
		}
		figures = append(figures, f)
	}
	return figures
}
