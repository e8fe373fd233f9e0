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

	BufferProbeTokens, BufferProbes, BufferMinProbes int
	BufferAlpha                                      float64
	BufferAlphaPercent                               int
	HeldShare                                        int // %
	MinHeldExtraMS                                   int
	BufferSlowestH                                   int

	IntervalP50, IntervalP90, IntervalP95    int // least n of an order-statistic interval
	FaultShare, FaultProviders, FaultSpanMin int // share in %
	SparseRuns, ChangeMinSparse              int // %
	IncidentModels, DropDays                 int
	FDRSeries, FDRLevel                      int // level in %

	Evaluation EvaluationFacts
	Example    Example
}

// An Example is the worked numbers of the methodology page, computed by the
// code that computes the published ones.
type Example struct {
	WallTPS, EndToEndTPS float64 // 640 tokens, first text after 1.5 s, end after 9.5 s
	CrossoverTokens      float64 // of 0.4 s and 20 tokens/s against 2.0 s and 80 tokens/s
	PerfectLow           float64 // %, the least that 28 successes of 28 are compatible with

	// Mean TTFT 500 → 550 ms, tokens 301 → 421, TTLT 6,500 → 9,790 ms.
	ChangeMS, StartMS, VolumeMS, SpeedMS float64
	VolumeShare                          float64 // %

	ReadS       float64 // a prompt of 3,000 tokens at 5,000 tokens/s
	AnswerS     float64 // 300 tokens, first text after 0.4 s, 50 tokens/s
	AnswerTPS   float64 // the same end to end, tokens/s
	SharedS     float64 // 300 tokens, first text after 0.9 s, 30 tokens/s
	SharedTPS   float64 // 20 such streams at once, tokens/s together, while they stream
	InFlight    float64 // 120 requests a minute of AnswerS each
	LoadTPM     float64 // 120 requests a minute of 800 tokens in and 300 out
	LateTPS     float64 // 300 tokens after 0.4 s at 50 tokens/s, by a clock that starts 0.3 s late
	AnswerCents float64 // US cents: 800 tokens in at 0.50 and 300 out at 2.00 dollars a million
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

		BufferProbeTokens:  bench.BufferProbeTokens,
		BufferProbes:       stats.BufferProbes,
		BufferMinProbes:    leastProbes(),
		BufferAlpha:        stats.BufferAlpha,
		BufferAlphaPercent: whole(stats.BufferAlpha),
		HeldShare:          whole(stats.HeldShare),
		MinHeldExtraMS:     stats.MinHeldExtraMs,
		BufferSlowestH:     int(bench.BufferProbeSlowest / time.Hour),

		IntervalP50:     leastForInterval(0.50),
		IntervalP90:     leastForInterval(0.90),
		IntervalP95:     leastForInterval(0.95),
		FaultShare:      whole(rollup.FaultShare),
		FaultProviders:  rollup.FaultProviders,
		FaultSpanMin:    int(rollup.FaultSpan / time.Minute),
		SparseRuns:      rollup.SparseRuns,
		ChangeMinSparse: whole(stats.MinSparseShift),
		IncidentModels:  rollup.IncidentModels,
		DropDays:        rollup.DropDays,
		FDRSeries:       rollup.FDRSeries,
		FDRLevel:        whole(rollup.FDRLevel),

		Evaluation: evaluationFacts(bench.DefaultEvaluation()),
		Example:    workedExample(),
	}
}

// leastRuns returns the least n at which a quantile is printed.
func leastRuns(q float64) int {
	n, _ := stats.MinPrint(q)
	return n
}

// leastForInterval returns the least n at which a quantile has an interval.
func leastForInterval(q float64) int {
	n, _ := stats.MinInterval(q, 0.95)
	return n
}

// leastProbes returns the least number of comparisons that can mark a stream.
func leastProbes() int {
	var held []stats.LengthContrast
	for stats.JudgeBuffering(held).Verdict != stats.BufferBuffered {
		held = append(held, stats.LengthContrast{LongFirst: 6000, LongEnd: 6000, ShortFirst: 600, ShortEnd: 600})
	}
	return len(held)
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
	perfect, _ := stats.Wilson(28, 28, stats.Z95)
	x.PerfectLow = perfect.Lo * 100
	before, _ := stats.NewPace([]stats.Answer{{TTFTMs: 500, TTLTMs: 6500, Tokens: 301}})
	after, _ := stats.NewPace([]stats.Answer{{TTFTMs: 550, TTLTMs: 9790, Tokens: 421}})
	change := stats.Decompose(before, after)
	x.ChangeMS, x.StartMS, x.VolumeMS, x.SpeedMS = change.TotalMs, change.StartMs, change.VolumeMs, change.SpeedMs
	x.VolumeShare = change.VolumeMs / change.TotalMs * 100
	// The guides' endpoints: one alone, and one that shares its machine.
	alone, shared := stats.Speed{TTFTSeconds: 0.4, TokensPerSecond: 50}, stats.Speed{TTFTSeconds: 0.9, TokensPerSecond: 30}
	x.ReadS = 3000.0 / 5000
	x.AnswerS, _ = alone.TimeTo(300)
	x.AnswerTPS = 300 / x.AnswerS
	x.SharedS, _ = shared.TimeTo(300)
	x.SharedTPS = 20 * shared.TokensPerSecond
	x.InFlight, _ = stats.Concurrency(120, x.AnswerS)
	x.LoadTPM = stats.NewTokenLoad(800, 300, 120).TotalTPM()
	x.LateTPS = 299 / (x.AnswerS - alone.TTFTSeconds - 0.3)
	x.AnswerCents = (800*0.50 + 300*2.00) / 1e6 * 100
	return x
}
