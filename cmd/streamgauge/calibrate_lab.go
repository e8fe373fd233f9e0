package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/calibrate"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// A lab is a simulated provider in a process of its own, and a meter for it.
type lab struct {
	app      *app
	where    announcement
	line     []byte // where, as the provider announced it
	meter    *bench.Meter
	provider *exec.Cmd
	input    io.Closer // closing it ends the provider
}

// errNoSharedClock says that a calibration cannot be had on this system.
var errNoSharedClock = errors.New("calibration needs a clock that processes share, which this program knows on Linux only")

// openLab starts the provider and warms the meter as a run does.
func (a *app) openLab() (*lab, error) {
	if _, ok := bench.MonotonicOffset(); !ok {
		return nil, errNoSharedClock
	}
	cmd, err := a.self("simulate", "--models", "calibration", "--addr", "127.0.0.1:0", "--tls-addr", "127.0.0.1:0", "--precise", "--json", "--stdin")
	if err != nil {
		return nil, err
	}
	input, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start the simulated provider: %w", err)
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the simulated provider: %w", err)
	}
	cmd.Stderr = a.stderr
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the simulated provider: %w", err)
	}
	l := &lab{app: a, provider: cmd, input: input}
	var line json.RawMessage
	if err := json.NewDecoder(io.LimitReader(output, 1<<16)).Decode(&line); err != nil {
		l.close()
		return nil, fmt.Errorf("start the simulated provider: read where it is: %w", err)
	}
	l.line = line
	if l.where, l.meter, err = atProvider(line); err != nil {
		l.close()
		return nil, err
	}
	if err := l.meter.Warm(a.ctx); err != nil {
		l.close()
		return nil, err
	}
	for _, transport := range []string{calibrate.PlainHTTP, calibrate.OverTLS} { // the provider's turn to warm up
		if _, err := l.stream(transport, firstModel); err != nil {
			l.close()
			return nil, err
		}
	}
	return l, nil
}

// close ends the provider and waits for it.
func (l *lab) close() {
	_ = l.input.Close()
	_ = l.provider.Wait() // it was told to end; how it does is of no interest
}

// self returns this program as a command to start.
func (a *app) self(args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program's own file: %w", err)
	}
	return exec.CommandContext(a.ctx, program, args...), nil
}

// atProvider reads an announcement and returns a meter that trusts it.
func atProvider(line []byte) (announcement, *bench.Meter, error) {
	var where announcement
	if err := json.Unmarshal(line, &where); err != nil {
		return where, nil, fmt.Errorf("read where the simulated provider is: %w", err)
	}
	cert, err := x509.ParseCertificate(where.Certificate)
	if err != nil {
		return where, nil, fmt.Errorf("read the simulated provider's certificate: %w", err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return where, &bench.Meter{Roots: pool}, nil
}

// run returns a run against one of the provider's models.
func (w *announcement) run(transport, base, model string, p wire.Protocol) bench.Run {
	host := w.HTTP
	if transport == calibrate.OverTLS {
		host = w.HTTPS
	}
	return bench.Run{
		Pair:     bench.Pair{Provider: "simulated", Model: model},
		Protocol: p,
		Target:   wire.Target{BaseURL: host + base, Model: model},
		Prompt:   bench.Prompt(""),
	}
}

// wallSlack is how far two readings of wall − monotonic may lie apart without
// the wall clock having been set.
const wallSlack = 20 * time.Microsecond

// stream measures one stream of a model and joins it with the provider's log.
func (l *lab) stream(transport, model string) (calibrate.Stream, error) {
	protocol := wire.OpenAIChat{}
	before, _ := bench.MonotonicOffset()
	rec := l.meter.Capture(l.app.ctx, l.where.run(transport, "/v1", model, protocol))
	if l.app.ctx.Err() != nil {
		return calibrate.Stream{}, context.Canceled
	}
	after, _ := bench.MonotonicOffset()
	if moved := (after - before).Abs(); moved > wallSlack {
		return calibrate.Stream{}, fmt.Errorf("the wall clock was set by %v during a stream", moved)
	}
	log, err := l.log()
	if err != nil {
		return calibrate.Stream{}, err
	}
	return calibrate.Join(rec, protocol, before+(after-before)/2, log)
}

// log fetches the provider's log of its last answer.
func (l *lab) log() ([]calibrate.Departure, error) {
	req, err := http.NewRequestWithContext(l.app.ctx, http.MethodGet, l.where.HTTP+"/__log/latest", nil)
	if err != nil {
		return nil, fmt.Errorf("ask for the provider's log: %w", err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, fmt.Errorf("ask for the provider's log: %w", err)
	}
	defer resp.Body.Close()
	var rec simulate.Record
	if err := json.NewDecoder(resp.Body).Decode(&rec); err != nil {
		return nil, fmt.Errorf("read the provider's log: %w", err)
	}
	if rec.Clock != "CLOCK_MONOTONIC" {
		return nil, errNoSharedClock
	}
	left := make([]calibrate.Departure, len(rec.Writes))
	for i, w := range rec.Writes {
		left[i] = calibrate.Departure{End: w.End, Before: time.Duration(w.BeforeNS), After: time.Duration(w.AfterNS), Text: w.Visible > 0}
	}
	return left, nil
}

// streams measures n streams of a model.
func (l *lab) streams(n int, transport, model string) ([]calibrate.Stream, error) {
	all := make([]calibrate.Stream, n)
	for i := range all {
		var err error
		if all[i], err = l.stream(transport, model); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// firstTokens is how many first tokens a TTFT error is the median of.
const firstTokens = 5

// stamps takes the figures of stamps and of time to first token.
func (l *lab) stamps(report *calibrate.Calibration, rounds int) error {
	for _, transport := range []string{calibrate.PlainHTTP, calibrate.OverTLS} {
		for _, gap := range []time.Duration{wideGap, narrowGap} {
			watch := bench.WatchLoad()
			streams, err := l.streams(rounds, transport, gapModel(gap))
			if err != nil {
				return err
			}
			report.Stamps = append(report.Stamps, calibrate.StampFigures(transport, gap, streams, watch.Load())...)
		}
		watch := bench.WatchLoad()
		streams, err := l.streams(firstTokens, transport, firstModel)
		if err != nil {
			return err
		}
		report.TTFT = append(report.TTFT, calibrate.TTFTFigures(transport, calibrationPrefill, streams, watch.Load())...)
	}
	return nil
}

// collector measures the same streams with the garbage collector off, as it is,
// and working all the time.
func (l *lab) collector(report *calibrate.Calibration, rounds int) error {
	trial := func(name string) error {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		watch := bench.WatchLoad()
		streams, err := l.streams(rounds, calibrate.PlainHTTP, gapModel(narrowGap))
		if err != nil {
			return err
		}
		runtime.ReadMemStats(&after)
		report.Collector = append(report.Collector, calibrate.NewCollectorTrial(name, int(after.NumGC-before.NumGC), streams, watch.Load()))
		return nil
	}
	if err := trial(calibrate.CollectorOn); err != nil {
		return err
	}
	percent := debug.SetGCPercent(-1)
	err := trial(calibrate.CollectorOff)
	debug.SetGCPercent(percent)
	if err != nil {
		return err
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	err = trial(calibrate.CollectorBusy)
	close(stop)
	<-stopped
	return err
}

// stress measures streams beside processes that use all the CPU time they get,
// two for each CPU.
func (l *lab) stress(report *calibrate.Calibration, rounds int) error {
	n := 2 * runtime.GOMAXPROCS(0)
	for range n {
		cmd, err := l.app.self("use-cpu")
		if err != nil {
			return err
		}
		input, err := cmd.StdinPipe()
		if err != nil {
			return fmt.Errorf("start a process that uses CPU time: %w", err)
		}
		if err := cmd.Start(); err != nil {
			return fmt.Errorf("start a process that uses CPU time: %w", err)
		}
		defer func() {
			_ = input.Close()
			_ = cmd.Wait() // it was told to end
		}()
	}
	watch := bench.WatchLoad()
	streams, err := l.streams(rounds, calibrate.PlainHTTP, gapModel(wideGap))
	if err != nil {
		return err
	}
	stress := calibrate.NewStressFigure(n, streams, watch.Load())
	report.Stress = &stress
	return nil
}

// useCPUCmd uses one CPU until standard input ends.
type useCPUCmd struct{}

// Run uses CPU time.
func (useCPUCmd) Run(a *app) error {
	var ended atomic.Bool
	go func() {
		_, _ = io.Copy(io.Discard, a.stdin) // however it ends, it is over
		ended.Store(true)
	}()
	for !ended.Load() && a.ctx.Err() == nil {
		// Using CPU time is all this is for.
	}
	return nil
}

// capacity takes in floods.
func (l *lab) capacity(report *calibrate.Calibration, passes int) error {
	for _, f := range floods() {
		run := l.where.run(calibrate.PlainHTTP, f.base, "flood", f.protocol)
		watch := bench.WatchLoad()
		var hot, decode passing
		intact := true
		for range passes {
			var rec bench.Recording
			hot.time(func() { rec = l.meter.Capture(l.app.ctx, run) })
			if l.app.ctx.Err() != nil {
				return context.Canceled
			}
			var sample bench.Sample
			var err error
			decode.time(func() { sample, err = bench.Replay(rec, f.protocol) })
			if err != nil {
				return err
			}
			intact = intact && sample.OK() && sample.Chunks == f.events && sample.Chars == f.events*len(floodWord) &&
				sample.Usage.Output.N == int64(f.events)
		}
		report.Capacity = append(report.Capacity, calibrate.CapacityFigure{
			Protocol: f.protocol.Name(), Events: f.events, EventBytes: len(f.event), Intact: intact,
			Hot: hot.throughput(f.events), Decode: decode.throughput(f.events), Load: watch.Load(),
		})
	}
	return nil
}

// A passing is what passes over the same events took.
type passing struct{ took, cpu []time.Duration }

func (p *passing) time(do func()) {
	used, _ := bench.CPUTime()
	start := time.Now()
	do()
	p.took = append(p.took, time.Since(start))
	now, _ := bench.CPUTime()
	p.cpu = append(p.cpu, now-used)
}

func (p *passing) throughput(n int) calibrate.Throughput {
	return calibrate.ThroughputOf(n, p.took, p.cpu)
}

// coldProcesses is how many fresh processes the cold start is the median of.
const coldProcesses = 16

// coldStart starts fresh processes, each of which measures three streams.
func (l *lab) coldStart(report *calibrate.Calibration) error {
	watch := bench.WatchLoad()
	var all []calibrate.FirstThree
	for range coldProcesses {
		cmd, err := l.app.self("measure-three")
		if err != nil {
			return err
		}
		cmd.Stdin, cmd.Stderr = bytes.NewReader(l.line), l.app.stderr
		text, err := cmd.Output()
		if err != nil {
			return fmt.Errorf("measure in a fresh process: %w", err)
		}
		var three calibrate.FirstThree
		if err := json.Unmarshal(text, &three); err != nil {
			return fmt.Errorf("measure in a fresh process: %w", err)
		}
		all = append(all, three)
	}
	cold := calibrate.ColdFigureOf(all, watch.Load())
	report.ColdStart = &cold
	return nil
}

// threeCmd is a fresh process of a calibration: it reads where the provider is
// from standard input, warms up as a run does, measures three streams over TLS
// and prints the first and the third.
type threeCmd struct{}

// Run measures and prints.
func (threeCmd) Run(a *app) error {
	line, err := io.ReadAll(io.LimitReader(a.stdin, 1<<16))
	if err != nil {
		return fmt.Errorf("read where the simulated provider is: %w", err)
	}
	where, meter, err := atProvider(line)
	if err != nil {
		return err
	}
	if err := meter.Warm(a.ctx); err != nil {
		return err
	}
	var ttft, cold [3]time.Duration
	for i := range ttft {
		s := meter.Measure(a.ctx, where.run(calibrate.OverTLS, "/v1", firstModel, wire.OpenAIChat{}), bench.Observer{})
		if !s.OK() {
			return fmt.Errorf("a stream failed: %s, %s", s.Kind, s.Detail)
		}
		ttft[i], _ = s.TTFT()
		cold[i], _ = s.TTFTCold()
	}
	return json.NewEncoder(a.stdout).Encode(calibrate.FirstThree{
		First: ttft[0], Third: ttft[2], FirstCold: cold[0], ThirdCold: cold[2],
	})
}
