package peers

import (
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// Bench measures a model's stream through every client, once an iteration, and
// reports the medians under names CLIENT:FIGURE, and the load of the machine.
func Bench(b *testing.B, lab *Lab, clients []Client, model string) {
	warm := make([][]Result, len(clients))
	if err := lab.Round(b.Context(), clients, model, 0, warm); err != nil {
		b.Fatal(err)
	}
	results := make([][]Result, len(clients))
	watch := bench.WatchLoad()
	round := 0
	for b.Loop() {
		if err := lab.Round(b.Context(), clients, model, round, results); err != nil {
			b.Fatal(err)
		}
		round++
	}
	load := watch.Load()
	if load.Average != nil {
		b.ReportMetric(*load.Average, "load")
	}
	if load.Pressure != nil {
		b.ReportMetric(*load.Pressure, "pressure")
	}
	for _, f := range Figures(clients, results) {
		report := func(figure string, v float64) { b.ReportMetric(v, f.Client+":"+figure) }
		us := func(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
		if model == Flood {
			report("cpu-us/event", us(f.CPU))
			report("hot-us/event", us(f.Hot))
			report("events/s", f.Rate)
			report("lost", float64(f.Lost))
			continue
		}
		report("stamp-us", us(f.Stamp))
		report("ttft-us", us(f.TTFT))
	}
}
