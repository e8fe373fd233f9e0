package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/streamgauge/streamgauge/bench/calibrate"
	"github.com/streamgauge/streamgauge/rollup/stats"
	"github.com/streamgauge/streamgauge/site"
)

// readPTU reads a table of provisioned throughput units; its models come in the
// order of their names.
func readPTU(text []byte) (site.PTUTable, error) {
	var table struct {
		AsOf   string `json:"as_of"`
		Source string `json:"source"`
		Models map[string]struct {
			InputTPM     float64 `json:"input_tpm_per_ptu"`
			OutputWeight float64 `json:"output_weight"`
			Min          int     `json:"min"`
			Step         int     `json:"step"`
		} `json:"models"`
	}
	if err := json.Unmarshal(text, &table); err != nil {
		return site.PTUTable{}, err
	}
	out := site.PTUTable{AsOf: table.AsOf, Source: table.Source}
	for _, name := range slices.Sorted(maps.Keys(table.Models)) {
		m := table.Models[name]
		out.Models = append(out.Models, site.PTUModel{
			Name:     name,
			PTUModel: stats.PTUModel{InputTPM: m.InputTPM, OutputWeight: m.OutputWeight, Min: m.Min, Step: m.Step},
		})
	}
	return out, nil
}

// maxCalibration is how many bytes of a kept calibration are read.
const maxCalibration = 1 << 20

// keptCalibration reads the record's calibration; nil if it keeps none. One of
// another format is as good as none.
func keptCalibration(record string) (*calibrate.Calibration, error) {
	f, err := os.Open(filepath.Join(record, calibrationFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the calibration: %w", err)
	}
	defer f.Close()
	var c calibrate.Calibration
	if err := json.NewDecoder(io.LimitReader(f, maxCalibration)).Decode(&c); err != nil {
		return nil, fmt.Errorf("read the calibration: %w", err)
	}
	if c.Format != calibrate.Format {
		return nil, nil
	}
	return &c, nil
}
