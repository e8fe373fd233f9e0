package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/streamgauge/streamgauge/bench/calibrate"
	"github.com/streamgauge/streamgauge/data/providers"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// TestPTU reads the built-in table, with which the vendor's own worked row of
// 15 units comes out.
func TestPTU(t *testing.T) {
	table, err := readPTU(providers.PTU)
	if err != nil || table.AsOf == "" || table.Source == "" || len(table.Models) == 0 {
		t.Fatalf("got %+v, %v; want models, a date and a source", table, err)
	}
	raw, units, ok := table.Models[0].PTU(stats.TokenLoad{InputTPM: 37000, OutputTPM: 100})
	if !ok || units != 15 || raw <= 1 || raw >= 1.1 {
		t.Errorf("%s: got %v raw, %d units, %v; want a little over 1, and 15", table.Models[0].Name, raw, units, ok)
	}
	if _, err := readPTU([]byte("{")); err == nil {
		t.Error("half a table was read")
	}
}

// TestKeptCalibration reads what is kept, and takes what it cannot know for none.
func TestKeptCalibration(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		cpus       int // 0: none
		fails      bool
	}{
		{"none", "", 0, false},
		{"kept", `{"format": 1, "machine": {"cpus": 2}}`, 2, false},
		{"of the future", `{"format": 99, "machine": {"cpus": 2}}`, 0, false},
		{"half", `{"format": 1,`, 0, true},
	} {
		dir := t.TempDir()
		if tt.text != "" {
			if err := os.WriteFile(filepath.Join(dir, calibrationFile), []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		c, err := keptCalibration(dir)
		if (err != nil) != tt.fails || (c != nil) != (tt.cpus > 0) || c != nil && c.Machine.CPUs != tt.cpus {
			t.Errorf("%s: got %+v, %v", tt.name, c, err)
		}
	}
	if calibrate.Format != 1 {
		t.Error("the cases above are of format 1")
	}
}
