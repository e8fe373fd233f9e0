package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/data"
	"github.com/streamgauge/streamgauge/data/providers"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// estimateCmd says what a load needs and how long its answers would take.
type estimateCmd struct {
	recordFlags
	Input   float64  `default:"800" help:"Mean input tokens of a request."`
	Output  float64  `default:"300" help:"Mean output tokens of an answer."`
	RPM     float64  `name:"rpm" default:"10" help:"Requests a minute."`
	Window  string   `default:"7d" enum:"24h,7d,30d,1y" help:"How far back to look at the record: ${enum}."`
	Compare []string `placeholder:"PROVIDER/MODEL" help:"Two pairs, to see from which length one overtakes the other."`
	PTU     string   `name:"ptu" placeholder:"FILE" type:"existingfile" help:"Table of provisioned throughput units; the built-in one is dated."`
	JSON    bool     `name:"json" help:"Print as JSON."`
}

// Help is printed under the usage line.
func (estimateCmd) Help() string {
	return `Tokens a minute follow from the load alone. Times come from the record: the median time to first token and decode rate of each pair.
Concurrency is Little's law. Nothing is sent.

Examples:
  streamgauge estimate --rpm 30 --input 800 --output 150
  streamgauge estimate --output 500 --compare openai/gpt-4o-mini --compare ollama-pro/gpt-oss:20b`
}

// An estimate is the printed form.
type estimate struct {
	InputTPM  float64        `json:"input_tpm"`
	OutputTPM float64        `json:"output_tpm"`
	TotalTPM  float64        `json:"total_tpm"`
	PTU       []ptuEstimate  `json:"ptu"`
	Pairs     []pairEstimate `json:"pairs"`
	Crossover *crossover     `json:"crossover,omitempty"`
}

type ptuEstimate struct {
	Model string  `json:"model"`
	Raw   float64 `json:"raw"`
	Units int     `json:"units"`
	AsOf  string  `json:"as_of"`
}

// A pairEstimate is what one pair would do with the load, in seconds.
type pairEstimate struct {
	Pair        bench.Pair `json:"pair"`
	TTFTSeconds float64    `json:"ttft_s"`
	DecodeTPS   float64    `json:"decode_tps"`
	TTLTSeconds float64    `json:"ttlt_s"`      // of an answer of the mean length
	Concurrency float64    `json:"concurrency"` // requests in flight on average
}

// A crossover is the answer length at which two pairs take equally long.
type crossover struct {
	A      bench.Pair `json:"a"`
	B      bench.Pair `json:"b"`
	Tokens *float64   `json:"tokens"` // null if one is ahead at every length
	Short  bench.Pair `json:"ahead_below"`
	Long   bench.Pair `json:"ahead_above"`
}

// Run estimates.
func (c *estimateCmd) Run(a *app) error {
	if !(c.Input >= 0 && c.Output >= 1 && c.RPM >= 0) {
		return usageError{errors.New("--input and --rpm must not be negative, --output at least 1")}
	}
	if n := len(c.Compare); n != 0 && n != 2 {
		return usageError{fmt.Errorf("--compare takes two pairs, not %d", n)}
	}
	load := stats.NewTokenLoad(c.Input, c.Output, c.RPM)
	out := estimate{InputTPM: load.InputTPM, OutputTPM: load.OutputTPM, TotalTPM: load.TotalTPM()}
	var err error
	if out.PTU, err = c.ptu(load); err != nil {
		return err
	}
	speeds, err := c.speeds(a)
	if err != nil {
		return err
	}
	for _, p := range speeds {
		if seconds, ok := p.speed.TimeTo(c.Output); ok {
			busy, _ := stats.Concurrency(c.RPM, seconds)
			out.Pairs = append(out.Pairs, pairEstimate{
				Pair: p.pair, TTFTSeconds: p.speed.TTFTSeconds, DecodeTPS: p.speed.TokensPerSecond,
				TTLTSeconds: seconds, Concurrency: busy,
			})
		}
	}
	slices.SortFunc(out.Pairs, func(a, b pairEstimate) int {
		return cmp.Or(cmp.Compare(a.TTLTSeconds, b.TTLTSeconds), cmp.Compare(a.Pair.String(), b.Pair.String()))
	})
	if len(c.Compare) == 2 {
		if out.Crossover, err = compareSpeeds(speeds, c.Compare); err != nil {
			return err
		}
	}
	if c.JSON {
		enc := json.NewEncoder(a.stdout)
		enc.SetIndent("", "  ")
		return enc.Encode(out)
	}
	return out.print(a.stdout, c)
}

func (c *estimateCmd) ptu(load stats.TokenLoad) ([]ptuEstimate, error) {
	text := providers.PTU
	if c.PTU != "" {
		var err error
		if text, err = os.ReadFile(c.PTU); err != nil {
			return nil, fmt.Errorf("read the table of provisioned throughput: %w", err)
		}
	}
	table, err := readPTU(text)
	if err != nil {
		return nil, fmt.Errorf("read the table of provisioned throughput %s: %w", c.PTU, err)
	}
	var out []ptuEstimate
	for _, m := range table.Models {
		if raw, units, ok := m.PTU(load); ok {
			out = append(out, ptuEstimate{Model: m.Name, Raw: raw, Units: units, AsOf: table.AsOf})
		}
	}
	return out, nil
}

// A pairSpeed is a pair's typical start and rate.
type pairSpeed struct {
	pair  bench.Pair
	speed stats.Speed
}

// speeds returns the median start and rate of each pair that has both in the
// window; none if there is no record.
func (c *estimateCmd) speeds(a *app) ([]pairSpeed, error) {
	store, err := data.Open(a.ctx, c.Data, data.Options{ReadOnly: true})
	if errors.Is(err, data.ErrNoRecord) {
		a.log.Info("no record, so no times", "data", c.Data)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer store.Close()
	list, err := c.load(a)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	all, err := histories(a.ctx, store, list, now)
	if err != nil {
		return nil, err
	}
	var out []pairSpeed
	for _, t := range rollup.NewTracks(all) {
		s := t.Summarize(rollup.Window(c.Window), now)
		if s.TTFT.P50.OK() && s.Decode.P50.OK() {
			out = append(out, pairSpeed{t.Series.Pair, stats.Speed{TTFTSeconds: s.TTFT.P50.Value / 1000, TokensPerSecond: s.Decode.P50.Value}})
		}
	}
	return out, nil
}

func compareSpeeds(speeds []pairSpeed, names []string) (*crossover, error) {
	find := func(name string) (pairSpeed, error) {
		for _, s := range speeds {
			if s.pair.String() == name {
				return s, nil
			}
		}
		return pairSpeed{}, fmt.Errorf("the record has no start and rate of %s in this window", name)
	}
	a, err := find(names[0])
	if err != nil {
		return nil, err
	}
	b, err := find(names[1])
	if err != nil {
		return nil, err
	}
	out := &crossover{A: a.pair, B: b.pair, Short: a.pair, Long: a.pair}
	if a.speed.TTFTSeconds > b.speed.TTFTSeconds {
		out.Short = b.pair
	}
	if a.speed.TokensPerSecond < b.speed.TokensPerSecond {
		out.Long = b.pair
	}
	if tokens, ok := stats.Crossover(a.speed, b.speed); ok && out.Short != out.Long {
		out.Tokens = &tokens
	}
	return out, nil
}

func (e *estimate) print(w io.Writer, c *estimateCmd) error {
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(table, "Load\t%.0f requests a minute of %.0f tokens in, %.0f out\n", c.RPM, c.Input, c.Output)
	fmt.Fprintf(table, "TPM\t%.0f input + %.0f output = %.0f\n", e.InputTPM, e.OutputTPM, e.TotalTPM)
	for _, p := range e.PTU {
		fmt.Fprintf(table, "PTU\t%d units for %s (%.2f before minimum and step; table of %s)\n", p.Units, p.Model, p.Raw, p.AsOf)
	}
	if len(e.Pairs) > 0 {
		fmt.Fprintf(table, "\nPAIR\tFIRST TOKEN\tRATE\tWHOLE ANSWER\tIN FLIGHT\n")
	}
	for _, p := range e.Pairs {
		fmt.Fprintf(table, "%s\t%.2f s\t%.1f tok/s\t%.2f s\t%.1f\n", p.Pair, p.TTFTSeconds, p.DecodeTPS, p.TTLTSeconds, p.Concurrency)
	}
	if x := e.Crossover; x != nil {
		if x.Tokens != nil {
			fmt.Fprintf(table, "\n%s is done first up to %.1f tokens, %s from there on.\n", x.Short, *x.Tokens, x.Long)
		} else {
			fmt.Fprintf(table, "\n%s is done first at every length.\n", x.Short)
		}
	}
	return table.Flush()
}
