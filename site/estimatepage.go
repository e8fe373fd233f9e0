package site

import "github.com/streamgauge/streamgauge/rollup/stats"

func (e *edition) estimateFiles() ([]file, error) { return nil, nil }

// A PTUTable says what provisioned throughput units carry. Such figures age.
type PTUTable struct {
	AsOf   string // day it was read
	Source string // in words
	Models []PTUModel
}

// A PTUModel is one model of the table.
type PTUModel struct {
	Name string
	stats.PTUModel
}
