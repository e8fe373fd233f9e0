// Command streamgauge measures how fast hosted language models stream, keeps
// the samples in SQLite files, and renders them as a static site.
//
// Try it with no configuration at all:
//
//	streamgauge demo
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strconv"
	"sync"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
)

// Exit codes. Providers failing is data, not failure.
const (
	exitOK     = 0
	exitFailed = 1 // we failed
	exitUsage  = 2 // the command line is wrong
	exitCheck  = 3 // a check found something
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.LookupEnv, os.Stdin, os.Stdout, os.Stderr)
	os.Exit(exitCode(err, os.Stderr))
}

// An app is what every command may use of the world outside.
type app struct {
	ctx    context.Context
	env    func(string) (string, bool)
	stdin  io.Reader
	stdout io.Writer
	stderr io.Writer
	log    *slog.Logger

	level       slog.Level
	interactive bool            // stderr is a terminal
	secrets     *bench.Redactor // what of the providers' must be printed nowhere
	masked      []string
	guard       *bench.Redactor // what must be neither stored nor published; see bench.GuardedOf
}

// A usageError says that the command line is wrong.
type usageError struct{ err error }

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// errCheck is wrapped by the error of a check that found something.
var errCheck = errors.New("check failed")

// exitCode prints err, if any, and returns the code to exit with.
func exitCode(err error, stderr io.Writer) int {
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "streamgauge: interrupted") // what a run has kept, it has logged
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "streamgauge: %v\nTry 'streamgauge --help'.\n", err)
		return exitUsage
	case errors.Is(err, errCheck):
		fmt.Fprintf(stderr, "streamgauge: %v\n", err)
		return exitCheck
	}
	fmt.Fprintf(stderr, "streamgauge: %v\n", err)
	return exitFailed
}

// cli is the command line; each command is in the file of its name.
type cli struct {
	Verbose bool `short:"v" help:"Log every step, not only what matters."`

	Demo      demoCmd      `cmd:"" help:"Measure a simulated provider, build its site and serve it. The place to start."`
	Run       runCmd       `cmd:"" help:"One tick of the job: measure what is due, ingest, roll up, check, build."`
	Plan      planCmd      `cmd:"" help:"Say what is due, why, and how busy the schedule is."`
	Bench     benchCmd     `cmd:"" help:"Measure what is due into a journal, and nothing else."`
	Ingest    ingestCmd    `cmd:"" help:"Put journals into the dataset."`
	Rollup    rollupCmd    `cmd:"" help:"Close hours and days, prune raw samples past their time."`
	Fetch     fetchCmd     `cmd:"" help:"Fetch the record from its branch of a git repository."`
	Publish   publishCmd   `cmd:"" help:"Put journals into the record and push it to its branch."`
	Maintain  maintainCmd  `cmd:"" help:"Check and weigh the record's branch, make a snapshot, begin a heavy history anew."`
	Notify    notifyCmd    `cmd:"" help:"Tell of incidents: issues on GitHub, a signed webhook."`
	Build     buildCmd     `cmd:"" help:"Build the site from the dataset."`
	Serve     serveCmd     `cmd:"" help:"Serve a built site for a look at it."`
	Probe     probeCmd     `cmd:"" help:"Measure any endpoint now, without configuration."`
	Evaluate  evaluateCmd  `cmd:"" help:"Say in ten minutes what a token of prompt and of answer costs, and whether an endpoint throttles."`
	Decode    decodeCmd    `cmd:"" help:"Print what a decoder makes of a recorded response body."`
	Init      initCmd      `cmd:"" help:"Write a provider file from a few questions or flags, and try it."`
	Doctor    doctorCmd    `cmd:"" help:"Check the set-up and name each missing step."`
	Models    modelsCmd    `cmd:"" help:"List the models a provider serves now."`
	Estimate  estimateCmd  `cmd:"" help:"Say what a load needs and how long its answers would take."`
	Merge     mergeCmd     `cmd:"" help:"Merge copies of a record that went different ways."`
	Rename    renameCmd    `cmd:"" help:"Give a pair, or a provider, another name and keep its history."`
	Export    exportCmd    `cmd:"" help:"Write the dataset as one SQLite file, CSV or NDJSON."`
	Calibrate calibrateCmd `cmd:"" help:"Measure the error of this program's own clock, on loopback."`
	Simulate  simulateCmd  `cmd:"" help:"Serve the simulated provider."`
	Three     threeCmd     `cmd:"" name:"measure-three" hidden:""`
	UseCPU    useCPUCmd    `cmd:"" name:"use-cpu" hidden:""`
	Verify    verifyCmd    `cmd:"" help:"Check the dataset and derive its rollups again."`
	Version   versionCmd   `cmd:"" help:"Say what this program is and is made of."`
}

const description = `Streamgauge measures how fast hosted language models really stream.

Examples:
  streamgauge demo                         try everything on a simulated provider
  streamgauge probe --url http://127.0.0.1:11434/v1 --model llama3.2
  streamgauge doctor                       what is missing before the first run?
  streamgauge run                          measure what is due, then build the site`

// exited unwinds the stack when kong asks to exit, after --help.
type exited int

// run parses args and runs the command they name.
func run(ctx context.Context, args []string, env func(string) (string, bool), stdin io.Reader, stdout, stderr io.Writer) (err error) {
	defer func() {
		if r := recover(); r != nil {
			code, ok := r.(exited)
			if !ok {
				panic(r)
			}
			if code != 0 {
				err = usageError{fmt.Errorf("exit %d", code)}
			}
		}
	}()
	var c cli
	parser, err := kong.New(&c,
		kong.Name("streamgauge"),
		kong.Description(description),
		kong.Writers(stdout, stderr),
		kong.Vars{"heavy_mb": strconv.Itoa(data.HeavyBytes / 1e6)},
		kong.Exit(func(code int) { panic(exited(code)) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
	)
	if err != nil {
		return fmt.Errorf("build the command line: %w", err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	parsed, err := parser.Parse(args)
	if err != nil {
		return usageError{err}
	}
	level := slog.LevelInfo
	if c.Verbose {
		level = slog.LevelDebug
	}
	out := &resultWriter{out: stdout}
	a := &app{ctx: ctx, env: env, stdin: stdin, stdout: out, stderr: stderr, level: level, interactive: isTerminal(stderr)}
	a.mask(nil)
	a.guard = bench.NewRedactor(ownSecrets(env)...)
	err = parsed.Run(a)
	if err == nil && out.err != nil {
		err = fmt.Errorf("write the results: %w", out.err)
	}
	if err != nil {
		return maskedError{err, a.secrets.String(err.Error())}
	}
	return nil
}

// A resultWriter remembers its first error, so that results which nobody got
// are a failure, whichever command printed them.
type resultWriter struct {
	mu  sync.Mutex
	out io.Writer
	err error
}

func (w *resultWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	n, err := w.out.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// mask keeps secrets out of all that the app prints from here on.
func (a *app) mask(secrets []string) {
	if len(secrets) > 0 {
		a.masked = append(a.masked, secrets...)
		a.secrets = bench.NewRedactor(a.masked...)
		a.stdout, a.stderr = a.secrets.Writer(a.stdout), a.secrets.Writer(a.stderr)
	}
	a.log = slog.New(slog.NewTextHandler(a.stderr, &slog.HandlerOptions{Level: a.level, ReplaceAttr: dropTime}))
}

// A maskedError is an error whose text shows no secret.
type maskedError struct {
	err  error
	text string
}

func (e maskedError) Error() string { return e.text }
func (e maskedError) Unwrap() error { return e.err }

// dropTime leaves the time out of log lines: whoever reads them live knows it,
// and whatever keeps them stamps them.
func dropTime(groups []string, attr slog.Attr) slog.Attr {
	if attr.Key == slog.TimeKey && len(groups) == 0 {
		return slog.Attr{}
	}
	return attr
}
