package site

import (
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// Facts are the constants and worked numbers that prose may print. Each comes
// from the code that uses it, so that a page cannot disagree with the program.
type Facts struct {
	Site Config

	Method, Prompt  int // versions
	PromptText      string
	MaxOutputTokens int
	TimeoutS        int
	NoisyDelayMS    int64

	HybridMinChunks    int
	HybridMinGapMS     int64
	HybridMaxChunkRate int // chunks a second: from here on the inter-token path is out of reach
	MinDecodeSpanMS    int64
	MinDecodeTokens    int
	StallFloorMS       int64
	StallFactor        int
	StallMinChunks     int

	BreakerFailures, BreakerProbeMin int
	BackoffMin                       int

	HistGamma            float64
	MinP50, MinP90       int
	MinP95               int
	RawDays              int
	MinRunsPerDay        int
	ScoreDays            int
	ScoreMinDays         int
	WideBoardRows        int // up to so many rows are ranked by 95 % intervals
	MinRunsRanked        int
	MinAvailability      int // %
	ChangeP0             float64
	ChangeMinTPS         int // %
	ChangeMinTTFT        int // %
	FailedAvailability   int // %
	DegradedAvailability int // %
	SlowDay              int // %
	HourOfWeekDays       int

	Example Example
}

// An Example is the worked numbers of the methodology page, computed by the
// code that computes the published ones.
type Example struct {
	WallTPS, EndToEndTPS float64 // 640 tokens, first text after 1.5 s, end after 9.5 s
	CrossoverTokens      float64 // of 0.4 s and 20 tokens/s against 2.0 s and 80 tokens/s

	// Mean TTFT 500 → 550 ms, tokens 301 → 421, TTLT 6,500 → 9,790 ms.
	ChangeMS, StartMS, VolumeMS, SpeedMS float64
	VolumeShare                          float64 // %
}

func newFacts(in Inputs) Facts {
	return Facts{
		Site:               in.Config,
		Method:             bench.MethodVersion,
		Prompt:             bench.PromptVersion,
		PromptText:         bench.Prompt("").Text,
		MaxOutputTokens:    bench.MaxOutputTokens,
		TimeoutS:           int(bench.RunTimeout / time.Second),
		NoisyDelayMS:       bench.NoisyDelayMax.Milliseconds(),
		HybridMinChunks:    bench.HybridMinChunks,
		HybridMinGapMS:     bench.HybridMinGap.Milliseconds(),
		HybridMaxChunkRate: int(time.Second / bench.HybridMinGap),
		MinDecodeSpanMS:    bench.MinDecodeSpan.Milliseconds(),
		MinDecodeTokens:    bench.MinDecodeTokens,
		StallFloorMS:       bench.StallFloor.Milliseconds(),
		StallFactor:        bench.StallFactor,
		StallMinChunks:     bench.StallMinChunks,

		BreakerFailures: bench.BreakerFailures,
		BreakerProbeMin: int(bench.BreakerInterval / time.Minute),
		BackoffMin:      int(bench.RateLimitPause / time.Minute),

		HistGamma:            stats.Gamma,
		MinP50:               leastRuns(0.50),
		MinP90:               leastRuns(0.90),
		MinP95:               leastRuns(0.95),
		RawDays:              int(in.RawRetention / rollup.Day),
		MinRunsPerDay:        stats.MinDayRuns,
		ScoreDays:            rollup.Window7d.Days(),
		ScoreMinDays:         stats.MinScoreDays,
		WideBoardRows:        wideBoardRows(),
		MinRunsRanked:        stats.MinRankRuns,
		MinAvailability:      whole(stats.MinAvailability),
		ChangeP0:             stats.NewDetector(stats.MinRateShift).P0,
		ChangeMinTPS:         whole(stats.MinRateShift),
		ChangeMinTTFT:        whole(stats.MinTTFTShift),
		FailedAvailability:   whole(rollup.FailedAvailability),
		DegradedAvailability: whole(rollup.OKAvailability),
		SlowDay:              whole(rollup.SlowDay),
		HourOfWeekDays:       rollup.HourOfWeekDays,

		Example: workedExample(),
	}
}

// leastRuns returns the least n at which a quantile is printed.
func leastRuns(q float64) int {
	n, _ := stats.MinPrint(q)
	return n
}

// wideBoardRows returns the most rows that are ranked by 95 % intervals.
func wideBoardRows() int {
	rows := 1
	for stats.RankConfidence(rows+1) == stats.RankConfidence(1) {
		rows++
	}
	return rows
}

// whole returns a share as a percentage; ours are whole ones.
func whole(share float64) int { return int(share*100 + 0.5) }

func workedExample() Example {
	answer := bench.Sample{
		FirstText: 1500 * time.Millisecond, LastText: 9500 * time.Millisecond, Done: 9500 * time.Millisecond,
		Chunks: 640, Usage: bench.Usage{Visible: wire.Known(640)},
	}
	var x Example
	x.WallTPS, _ = answer.WallTPS()
	x.EndToEndTPS, _ = answer.EndToEndTPS()
	x.CrossoverTokens, _ = stats.Crossover(
		stats.Speed{TTFTSeconds: 0.4, TokensPerSecond: 20}, stats.Speed{TTFTSeconds: 2.0, TokensPerSecond: 80})
	before, _ := stats.NewPace([]stats.Answer{{TTFTMs: 500, TTLTMs: 6500, Tokens: 301}})
	after, _ := stats.NewPace([]stats.Answer{{TTFTMs: 550, TTLTMs: 9790, Tokens: 421}})
	change := stats.Decompose(before, after)
	x.ChangeMS, x.StartMS, x.VolumeMS, x.SpeedMS = change.TotalMs, change.StartMs, change.VolumeMs, change.SpeedMs
	x.VolumeShare = change.VolumeMs / change.TotalMs * 100
	return x
}
