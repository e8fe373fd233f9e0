package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/calibrate"
	"github.com/streamgauge/streamgauge/bench/simulate"
)

// calibrateCmd measures the error of this program's own clock.
type calibrateCmd struct {
	JSON   bool `name:"json" help:"Print the calibration as JSON."`
	Quick  bool `help:"Stamps and time to first token only, one stream of each kind: under three seconds."`
	Rounds int  `default:"5" help:"Streams of each kind."`
	Check  bool `help:"Exit with 3 if a figure misses its limit. The limits are those of an idle machine."`
}

// Help is printed under the usage line.
func (calibrateCmd) Help() string {
	return `Starts the simulated provider in another process, measures it over loopback as any provider is measured, and holds the
stamps against the provider's own log of when each byte left. Nothing leaves the machine. It takes under a minute;
other work on the machine makes every figure worse, so the load stands beside each.

Examples:
  streamgauge calibrate
  streamgauge calibrate --quick --json`
}

// Run calibrates and prints.
func (c *calibrateCmd) Run(a *app) error {
	if c.Rounds < 1 {
		return usageError{errors.New("--rounds must be at least 1")}
	}
	var report calibrate.Calibration
	var err error
	if c.Quick {
		report, err = a.calibrateQuick()
	} else {
		report, err = a.calibrate(c.Rounds)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		err = enc.Encode(report)
	} else {
		err = printCalibration(a.stdout, &report)
	}
	if err == nil && c.Check && !report.Passed() {
		err = fmt.Errorf("%w: the clock misses a limit", errCheck)
	}
	return err
}

// Shapes of the streams that a calibration measures.
const (
	calibrationPrefill = 50 * time.Millisecond
	wideGap            = 5 * time.Millisecond
	narrowGap          = time.Millisecond
)

// calibrationModels returns the models of a calibration. Their names say the
// gaps between writes.
func calibrationModels() []simulate.Model {
	model := func(gap time.Duration, tokens int) simulate.Model {
		return simulate.Model{
			Name: gapModel(gap), About: "One token every " + gap.String() + ".",
			Shape: simulate.Shape{Prefill: calibrationPrefill, PerToken: gap, Tokens: tokens},
		}
	}
	first := model(narrowGap, 4)
	first.Name, first.About = firstModel, "A first token after "+calibrationPrefill.String()+", and little more."
	return []simulate.Model{model(wideGap, 100), model(narrowGap, 250), first}
}

const firstModel = "first-token"

func gapModel(gap time.Duration) string { return "gap-" + gap.String() }

// calibrate takes every figure.
func (a *app) calibrate(rounds int) (calibrate.Calibration, error) {
	report := newCalibration(false)
	lab, err := a.openLab()
	if err != nil {
		return report, err
	}
	defer lab.close()
	bar := a.progress("calibrating", 5)
	defer bar.close()
	for _, step := range []struct {
		name string
		take func() error
	}{
		{"stamps and first token", func() error { return lab.stamps(&report, rounds) }},
		{"garbage collector", func() error { return lab.collector(&report, rounds) }},
		{"busy machine", func() error { return lab.stress(&report, rounds) }},
		{"capacity", func() error { return lab.capacity(&report, rounds) }},
		{"cold start", func() error { return lab.coldStart(&report) }},
	} {
		bar.say(step.name)
		if err := step.take(); err != nil {
			return report, fmt.Errorf("calibrate, %s: %w", step.name, err)
		}
		bar.step(step.name)
	}
	report.Judge()
	return report, nil
}

// calibrateQuick takes the figures that tell whether this machine's stamps can
// be trusted now, in under three seconds on an idle one.
func (a *app) calibrateQuick() (calibrate.Calibration, error) {
	report := newCalibration(true)
	lab, err := a.openLab()
	if err != nil {
		return report, err
	}
	defer lab.close()
	if err := lab.stamps(&report, 1); err != nil {
		return report, fmt.Errorf("calibrate: %w", err)
	}
	report.Judge()
	return report, nil
}

func newCalibration(quick bool) calibrate.Calibration {
	return calibrate.Calibration{
		Format: calibrate.Format, Method: bench.MethodVersion, At: time.Now().UTC(), Quick: quick,
		Machine: calibrate.Machine{OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.GOMAXPROCS(0), Go: runtime.Version()},
	}
}

// calibrationFile is where a record keeps its newest calibration.
const calibrationFile = "calibration.json"

// keepCalibration puts a calibration into the folder of a record, in place of
// the one before. A reader sees the old one or the new one, whole.
func keepCalibration(dir string, c calibrate.Calibration) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return fmt.Errorf("encode the calibration: %w", err)
	}
	path := filepath.Join(dir, calibrationFile)
	fresh := path + ".new"
	if err := os.WriteFile(fresh, append(text, '\n'), 0o644); err != nil {
		return fmt.Errorf("write the calibration: %w", err)
	}
	if err := os.Rename(fresh, path); err != nil {
		return fmt.Errorf("write the calibration: %w", err)
	}
	return nil
}
