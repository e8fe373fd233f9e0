package site

import (
	"strings"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup"
)

// because says in words why a number is absent or a row not ranked.
func because(why bench.Reason) string {
	switch why {
	case bench.Present:
		return ""
	case bench.Incomplete:
		return "the answer broke off"
	case bench.NoContent:
		return "no visible text"
	case bench.NoReasoning:
		return "no readable reasoning"
	case bench.NoTokenCount:
		return "the provider gives no token count"
	case bench.Buffered:
		return "buffered: no rate"
	case bench.HeadBurst:
		return "over half of it came at once"
	case bench.TooFewTokens:
		return "too few tokens"
	case bench.TooFewChunks:
		return "too few chunks"
	case bench.NoElapsedTime:
		return "no time passed"
	case bench.NotReached:
		return "failed before that point"
	case rollup.NoRuns:
		return "no run has it"
	case rollup.TooFewRuns:
		return "too few runs"
	case rollup.TimedOut:
		return "it falls among runs that timed out"
	case rollup.NotKept:
		return "not kept beyond the raw samples"
	case rollup.Throttled:
		return "every run was refused for the rate"
	case rollup.OwnFault:
		return "every run failed on our side"
	case rollup.Estimated:
		return "token counts are estimates"
	case rollup.Stale:
		return "no recent success"
	case rollup.TooFewDays:
		return "too few days"
	case rollup.LowAvailability:
		return "often unavailable"
	case rollup.NoAvailability:
		return "availability unknown"
	case rollup.WithinDay:
		return "one day has no spread between days"
	case rollup.LongDrift:
		return "models change within a year"
	case rollup.OtherMethod:
		return "measured by another method version"
	case rollup.OtherVantage:
		return "measured from another place"
	}
	return strings.ReplaceAll(display(string(why)), "_", " ")
}

// kindWords says what a kind of failure is.
func kindWords(k wire.ErrorKind) string {
	switch k {
	case wire.KindAuth:
		return "key refused"
	case wire.KindQuota:
		return "out of credit"
	case wire.KindRateLimit:
		return "rate limit"
	case wire.KindServer:
		return "server error"
	case wire.KindTimeout:
		return "timeout"
	case wire.KindNetwork:
		return "connection failed"
	case wire.KindMalformed:
		return "unusable answer"
	}
	return k.String()
}

// kindOwner says whose fault a kind of failure is.
func kindOwner(k wire.ErrorKind) string {
	switch k {
	case wire.KindAuth, wire.KindQuota:
		return "ours"
	case wire.KindRateLimit:
		return "the plan's"
	}
	return "theirs"
}
