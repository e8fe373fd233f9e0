package simulate

import "time"

// A Model is a named shape and its synthetic past.
type Model struct {
	Name  string // as on the wire; it says what is simulated
	About string // one line for people
	Shape Shape
	Past  Past
}

// Fails returns the published error kind of this model's failing requests, ""
// if none fail. A model that spends its whole budget on reasoning, or is cut
// short by a proxy, fails as malformed though it has no Fault.
func (m Model) Fails() string {
	if m.Shape.Fault.Kind != FaultNone {
		return m.Shape.Fault.Kind.ErrorKind()
	}
	if m.Shape.Tokens == 0 {
		return "malformed"
	}
	return ""
}

// AlwaysFails reports whether no request to this model can succeed.
func (m Model) AlwaysFails() bool { return m.Fails() != "" && m.Shape.Fault.Every <= 1 }

const ms = time.Millisecond

// Models returns the table of simulated models: delivery shapes first, then
// models that fail now and then, then one for each way to fail always. Apart
// from "fails-hang", which never answers, none takes longer than two and a half
// seconds under a cap of 300 tokens.
//
// The rates named are the true ones: [Shape.DecodeTPS] of the model, and
// [Timeline.DeliveredTPS] of its timeline without jitter, are exact.
func Models() []Model {
	return []Model{
		{Name: "smooth-60", About: "One token a chunk at 60 tokens per second, evenly spaced.",
			Shape: Shape{Prefill: 300 * ms, PerToken: perSecond(60), Tokens: 120},
			Past:  Past{Day: .04, Cycle: .06, Drift: .03, Noise: .03, Rare: .002}},
		{Name: "smooth-20", About: "One token a chunk at 20 tokens per second: slow enough to read along.",
			Shape: Shape{Prefill: 250 * ms, PerToken: 50 * ms, Tokens: 40},
			Past:  Past{Day: .05, Cycle: .10, Noise: .04, Outages: []Outage{{At: .35, For: 5 * time.Hour, Kind: FaultServer}, {At: .80, For: 90 * time.Minute, Kind: FaultReset}}}},
		{Name: "fast-500", About: "One token a chunk at 500 tokens per second.",
			Shape: Shape{Prefill: 120 * ms, PerToken: 2 * ms, Tokens: 300},
			Past:  Past{Day: .06, Cycle: .12, Drift: -.05, Noise: .06, Rare: .006}},
		{Name: "jittery-80", About: "80 tokens per second on average, unevenly spaced.",
			Shape: Shape{Prefill: 300 * ms, PerToken: perSecond(80), Tokens: 150, Jitter: .8, PrefillJitter: .3},
			Past:  Past{Day: .08, Cycle: .15, Noise: .10, Rare: .01}},
		{Name: "step-down-50", About: "50 tokens per second; its synthetic past has one lasting drop of 20 percent.",
			Shape: Shape{Prefill: 350 * ms, PerToken: perSecond(50), Tokens: 100, Jitter: .1},
			Past:  Past{Day: .03, Cycle: .05, Noise: .03, StepAt: .70, Step: -.20}},
		{Name: "role-first-60", About: "60 tokens per second; an empty opening frame leaves at once, long before any text.",
			Shape: Shape{Prefill: 500 * ms, PerToken: perSecond(60), Tokens: 100, OpenAtOnce: true},
			Past:  Past{Day: .04, Cycle: .05, Noise: .03}},
		{Name: "keep-alive-100", About: "Comments every 250 ms during a long wait, then 100 tokens per second.",
			Shape: Shape{Prefill: 1300 * ms, PerToken: 10 * ms, Tokens: 100, OpenAtOnce: true, KeepAlive: 250 * ms},
			Past:  Past{Day: .05, Cycle: .20, Noise: .05}},
		{Name: "slow-usage-100", About: "100 tokens per second; usage and the end marker come 700 ms after the last text.",
			Shape: Shape{Prefill: 200 * ms, PerToken: 10 * ms, Tokens: 120, Tail: 700 * ms},
			Past:  Past{Day: .04, Cycle: .05, Noise: .03}},
		{Name: "no-usage-80", About: "80 tokens per second; the token counts are never reported.",
			Shape: Shape{Prefill: 250 * ms, PerToken: perSecond(80), Tokens: 120, NoUsage: true},
			Past:  Past{Day: .04, Cycle: .05, Noise: .03}},
		{Name: "chunks-of-4", About: "100 tokens per second, four tokens in a chunk.",
			Shape: Shape{Prefill: 300 * ms, PerToken: 10 * ms, PerChunk: 4, Tokens: 200},
			Past:  Past{Day: .05, Cycle: .08, Noise: .04}},
		{Name: "chunks-of-32", About: "120 tokens per second, 32 tokens in a chunk.",
			Shape: Shape{Prefill: 400 * ms, PerToken: perSecond(120), PerChunk: 32, Tokens: 224},
			Past:  Past{Day: .05, Cycle: .08, Drift: .06, Noise: .04}},
		{Name: "split-writes-60", About: "60 tokens per second; each frame is cut inside a multi-byte character or a line.",
			Shape: Shape{Prefill: 250 * ms, PerToken: perSecond(60), Tokens: 100, Split: SplitRune},
			Past:  Past{Day: .04, Cycle: .05, Noise: .03}},
		{Name: "burst", About: "100 tokens per second, kept back and delivered whole at the end.",
			Shape: Shape{Prefill: 300 * ms, PerToken: 10 * ms, Tokens: 150, Bursts: 1},
			Past:  Past{Day: .05, Cycle: .08, Noise: .04}},
		{Name: "two-bursts", About: "100 tokens per second, delivered in two equal parts.",
			Shape: Shape{Prefill: 300 * ms, PerToken: 10 * ms, Tokens: 180, Bursts: 2},
			Past:  Past{Day: .05, Cycle: .08, Noise: .04}},
		{Name: "replayed-80", About: "80 tokens per second, made whole and only then sent, in ten parts 60 ms apart: it looks like a fast stream and is none.",
			Shape: Shape{Prefill: 300 * ms, PerToken: perSecond(80), Tokens: 120, Bursts: 10, Replay: 60 * ms},
			Past:  Past{Day: .05, Cycle: .08, Noise: .04}},
		{Name: "buffered-400ms", About: "80 tokens per second behind a proxy that flushes every 400 ms.",
			Shape: Shape{Prefill: 400 * ms, PerToken: perSecond(80), Tokens: 129, FlushEvery: 400 * ms},
			Past:  Past{Day: .05, Cycle: .08, Noise: .04}},
		{Name: "stall", About: "100 tokens per second with one pause of 800 ms in the middle.",
			Shape: Shape{Prefill: 250 * ms, PerToken: 10 * ms, Tokens: 130, StallAt: 65, StallFor: 800 * ms},
			Past:  Past{Day: .05, Cycle: .08, Noise: .04}},
		{Name: "thinks-hidden", About: "150 hidden reasoning tokens in 900 ms, then 120 tokens per second; no reasoning is shown.",
			Shape: Shape{Prefill: 200 * ms, HiddenTokens: 150, HiddenTime: 900 * ms, PerToken: perSecond(120), Tokens: 140},
			Past:  Past{Day: .06, Cycle: .10, Noise: .05, Outages: []Outage{{At: .52, For: 3 * time.Hour, Kind: FaultOverloaded}}}},
		{Name: "thinks-aloud", About: "80 reasoning tokens in plain sight, then the answer, all at 100 tokens per second.",
			Shape: Shape{Prefill: 200 * ms, ReasoningTokens: 80, PerToken: 10 * ms, Tokens: 120},
			Past:  Past{Day: .06, Cycle: .10, Noise: .05}},

		{Name: "flaky-1-in-6", About: "90 tokens per second; one request in six gets an internal error.",
			Shape: Shape{Prefill: 250 * ms, PerToken: perSecond(90), Tokens: 140, Fault: Fault{Kind: FaultServer, Every: 6, Delay: 80 * ms}},
			Past:  Past{Day: .08, Cycle: .12, Noise: .08}},
		{Name: "limited-1-in-4", About: "70 tokens per second; one request in four is told to come back later.",
			Shape: Shape{Prefill: 250 * ms, PerToken: perSecond(70), Tokens: 120, Fault: Fault{Kind: FaultRateLimit, Every: 4, Delay: 20 * ms, RetryAfter: 7 * time.Minute}},
			Past:  Past{Day: .06, Cycle: .20, Noise: .05}},
		{Name: "resets-1-in-5", About: "80 tokens per second; one answer in five is cut off by a connection reset.",
			Shape: Shape{Prefill: 250 * ms, PerToken: perSecond(80), Tokens: 120, Fault: Fault{Kind: FaultResetMid, Every: 5, After: 60}},
			Past:  Past{Day: .06, Cycle: .10, Noise: .06}},

		{Name: "fails-auth", About: "Always refuses the key.",
			Shape: fails(Fault{Kind: FaultAuth, Delay: 30 * ms})},
		{Name: "fails-quota", About: "Always says that the account has no credit.",
			Shape: fails(Fault{Kind: FaultQuota, Delay: 30 * ms})},
		{Name: "fails-rate-limit", About: "Always says that there were too many requests.",
			Shape: fails(Fault{Kind: FaultRateLimit, Delay: 20 * ms, RetryAfter: 90 * time.Second})},
		{Name: "fails-server", About: "Always has an internal error.",
			Shape: fails(Fault{Kind: FaultServer, Delay: 120 * ms})},
		{Name: "fails-overloaded", About: "Always says that it is overloaded.",
			Shape: fails(Fault{Kind: FaultOverloaded, Delay: 60 * ms})},
		{Name: "fails-in-band", About: "Starts to answer with status 200, then reports an error inside the stream.",
			Shape: fails(Fault{Kind: FaultInBand, After: 30})},
		{Name: "fails-hang", About: "Accepts the request and never answers.",
			Shape: fails(Fault{Kind: FaultHang})},
		{Name: "fails-reset", About: "Resets the connection instead of answering.",
			Shape: fails(Fault{Kind: FaultReset, Delay: 100 * ms})},
		{Name: "fails-close", About: "Closes the connection instead of answering.",
			Shape: fails(Fault{Kind: FaultClose, Delay: 100 * ms})},
		{Name: "fails-reset-mid", About: "Resets the connection in the middle of every answer.",
			Shape: fails(Fault{Kind: FaultResetMid, After: 40})},
		{Name: "fails-truncated", About: "Ends every answer early, without a finish reason or end marker.",
			Shape: fails(Fault{Kind: FaultTruncate, After: 40})},
		{Name: "fails-html", About: "Answers with status 200 and a web page.",
			Shape: fails(Fault{Kind: FaultHTML, Delay: 50 * ms})},
		{Name: "fails-empty", About: "Answers with status 200 and nothing else.",
			Shape: fails(Fault{Kind: FaultEmpty, Delay: 50 * ms})},
		{Name: "fails-no-text", About: "Spends its whole budget on hidden reasoning and ends without a word.",
			Shape: Shape{Prefill: 200 * ms, HiddenTokens: 4000, HiddenTime: 20 * time.Second}},
	}
}

// Hostile returns models that try to harm whoever measures them. They are for
// tests and take long or send much, so they are not among [Models].
func Hostile() []Model {
	return []Model{
		{Name: "hostile-hang-mid", About: "Falls silent in the middle of an answer.",
			Shape: fails(Fault{Kind: FaultHangMid, After: 40})},
		{Name: "hostile-garbage", About: "Sends a frame that is not JSON.",
			Shape: fails(Fault{Kind: FaultGarbage, After: 10})},
		{Name: "hostile-long-line", About: "Sends a line of 10 MiB.",
			Shape: fails(Fault{Kind: FaultLongLine, After: 10})},
		{Name: "hostile-endless", About: "Never stops answering.",
			Shape: fails(Fault{Kind: FaultEndless, After: 10})},
		{Name: "hostile-trickle", About: "Sends only comments, for an hour.",
			Shape: Shape{Prefill: time.Hour, PerToken: 10 * ms, Tokens: 100, KeepAlive: 200 * ms}},
	}
}

// fails returns the shape of a model that is plain but for its fault.
func fails(f Fault) Shape {
	return Shape{Prefill: 200 * ms, PerToken: 10 * ms, Tokens: 120, Fault: f}
}

// perSecond returns the time between tokens at that rate, to the nanosecond.
func perSecond(tps int) time.Duration { return time.Second / time.Duration(tps) }
