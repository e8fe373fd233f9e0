package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/streamgauge/streamgauge/bench/calibrate"
)

// printCalibration prints a calibration for people.
func printCalibration(w io.Writer, c *calibrate.Calibration) error {
	fmt.Fprintf(w, "Clock of method %d on %s/%s, %d CPUs, %s\n", c.Method, c.Machine.OS, c.Machine.Arch, c.Machine.CPUs, c.Machine.Go)
	for _, t := range c.Tables() {
		fmt.Fprintf(w, "\n%s\n", t.Title)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
		fmt.Fprintf(table, "  %s\n", strings.Join(t.Head, "\t"))
		for _, row := range t.Rows {
			fmt.Fprintf(table, "  %s\n", strings.Join(row, "\t"))
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(w, "\nload: average over one minute; pressure: share of the time in which some task of the machine waited for a processor.")
	return err
}
