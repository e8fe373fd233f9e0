package stats

import "math"

// An Answer is how long one successful run took and how much it said.
type Answer struct {
	TTFTMs float64 // dispatch to first visible text
	TTLTMs float64 // dispatch to last visible text
	Tokens int     // visible output tokens, at least 1
}

// Pace is the mean of a set of answers in three parts, so that
//
//	mean TTLT = TTFTMs + Gaps·TBTMs
//
// holds exactly, without a covariance term, since TBTMs weighs each answer by
// its tokens.
type Pace struct {
	TTFTMs float64 // mean time to first token, ms
	Gaps   float64 // mean number of gaps between tokens, tokens-1
	TBTMs  float64 // time between tokens: all decode time over all gaps, ms
}

// NewPace returns the pace of answers. It reports false if there are none, one
// has no token or a last token before its first, or no answer has two tokens.
func NewPace(answers []Answer) (Pace, bool) {
	var ttft, decode float64
	var gaps int
	for _, a := range answers {
		if a.Tokens < 1 || !(a.TTLTMs >= a.TTFTMs) || math.IsInf(a.TTLTMs, 0) || math.IsInf(a.TTFTMs, 0) {
			return Pace{}, false
		}
		ttft += a.TTFTMs
		decode += a.TTLTMs - a.TTFTMs
		gaps += a.Tokens - 1
	}
	if gaps == 0 {
		return Pace{}, false
	}
	n := float64(len(answers))
	return Pace{TTFTMs: ttft / n, Gaps: float64(gaps) / n, TBTMs: decode / float64(gaps)}, true
}

// TTLTMs returns the mean time to last token, ms.
func (p Pace) TTLTMs() float64 { return p.TTFTMs + p.Gaps*p.TBTMs }

// A Decomposition is a change of mean TTLT in parts that add up to it, ms.
type Decomposition struct {
	TotalMs  float64 // the whole change
	StartMs  float64 // because the first token came later
	VolumeMs float64 // because answers grew longer
	SpeedMs  float64 // because tokens followed more slowly
}

// Decompose splits the change of mean TTLT from one pace to another:
//
//	start  = T2 - T1
//	volume = (M2 - M1)(s1 + s2)/2
//	speed  = (s2 - s1)(M1 + M2)/2
//
// with T = TTFTMs, M = Gaps and s = TBTMs. The midpoints are the Shapley values
// of the product M·s, so neither part depends on which is changed first.
//
// Source: Shapley decomposition, e.g. Shorrocks, Journal of Economic Inequality
// 11(1), 2013; the question is Azure OpenAI's "latency" page's.
func Decompose(before, after Pace) Decomposition {
	return Decomposition{
		TotalMs:  after.TTLTMs() - before.TTLTMs(),
		StartMs:  after.TTFTMs - before.TTFTMs,
		VolumeMs: (after.Gaps - before.Gaps) * (before.TBTMs + after.TBTMs) / 2,
		SpeedMs:  (after.TBTMs - before.TBTMs) * (before.Gaps + after.Gaps) / 2,
	}
}

// ExpectedTTLT returns the time to last token of an answer of so many tokens:
// ttft + tbt·(tokens-1), in the unit of ttft and tbt, as n tokens have n-1 gaps
// between them. It reports false for less than one token, or negative or
// undefined times.
func ExpectedTTLT(ttft, tbt, tokens float64) (float64, bool) {
	if !(tokens >= 1 && ttft >= 0 && tbt >= 0) {
		return 0, false
	}
	return finite(ttft + tbt*(tokens-1))
}

// AzureTTLT returns Azure's form of [ExpectedTTLT], ttft + tbt·tokens, which
// counts one gap too many. It is kept to show the difference.
//
// Source: Microsoft Learn, "Azure OpenAI performance and latency".
func AzureTTLT(ttft, tbt, tokens float64) (float64, bool) {
	return ExpectedTTLT(ttft, tbt, tokens+1)
}

// A Speed is how soon and how fast an answer comes.
type Speed struct {
	TTFTSeconds     float64
	TokensPerSecond float64 // decode rate
}

func (s Speed) valid() bool {
	return s.TTFTSeconds >= 0 && s.TokensPerSecond > 0 &&
		!math.IsInf(s.TTFTSeconds, 0) && !math.IsInf(s.TokensPerSecond, 0)
}

// TimeTo returns the seconds until token number n, counted from 1:
// ttft + (n-1)/rate. It reports false for n < 1 or a speed without a
// non-negative TTFT and a positive rate.
func (s Speed) TimeTo(n float64) (seconds float64, ok bool) {
	if !(n >= 1) || !s.valid() {
		return 0, false
	}
	return finite(s.TTFTSeconds + (n-1)/s.TokensPerSecond)
}

// Crossover returns the length of answer, in tokens, at which a and b take the
// same time; below it the one that starts sooner is ahead, above it the one
// that streams faster:
//
//	n = 1 + (ttft_b - ttft_a)/(1/rate_a - 1/rate_b)
//
// It reports false if there is no such length from 1 up: one is ahead at every
// length, or both are the same.
func Crossover(a, b Speed) (tokens float64, ok bool) {
	slower := 1/a.TokensPerSecond - 1/b.TokensPerSecond
	if !a.valid() || !b.valid() || slower == 0 {
		return 0, false
	}
	tokens = 1 + (b.TTFTSeconds-a.TTFTSeconds)/slower
	if !(tokens >= 1) {
		return 0, false
	}
	return finite(tokens)
}

// A Segment is one stretch of a task of several rounds: the model works, or a
// tool does.
type Segment struct {
	ActiveSeconds float64 // the model generates
	ToolSeconds   float64 // the model waits for a tool
	Tokens        float64 // output tokens
}

// A TaskRate is the speed of a task of several rounds.
type TaskRate struct {
	ActiveSeconds   float64
	TaskSeconds     float64 // with tools
	TokensPerActive float64 // tokens per second of model time: the model's speed
	TokensPerTask   float64 // tokens per second of task time: what the user sees
}

// NewTaskRate returns sum of tokens over sum of time. It is not a mean of the
// rates of the segments, which would weigh a short one like a long one. It
// reports false if no model time was spent, or a number is negative.
func NewTaskRate(segments []Segment) (TaskRate, bool) {
	var r TaskRate
	var tokens float64
	for _, s := range segments {
		if !(s.ActiveSeconds >= 0 && s.ToolSeconds >= 0 && s.Tokens >= 0) {
			return TaskRate{}, false
		}
		r.ActiveSeconds += s.ActiveSeconds
		r.TaskSeconds += s.ActiveSeconds + s.ToolSeconds
		tokens += s.Tokens
	}
	if !(r.ActiveSeconds > 0) || math.IsInf(r.TaskSeconds, 0) || math.IsInf(tokens, 0) {
		return TaskRate{}, false
	}
	r.TokensPerActive = tokens / r.ActiveSeconds
	r.TokensPerTask = tokens / r.TaskSeconds
	return r, true
}

// A TokenLoad is a workload in tokens per minute, as quotas count it.
type TokenLoad struct{ InputTPM, OutputTPM float64 }

// NewTokenLoad returns the load of rpm requests a minute with these mean tokens
// of prompt and output: tokens·rpm each.
func NewTokenLoad(promptTokens, outputTokens, rpm float64) TokenLoad {
	return TokenLoad{InputTPM: promptTokens * rpm, OutputTPM: outputTokens * rpm}
}

// TotalTPM returns input and output together.
func (l TokenLoad) TotalTPM() float64 { return l.InputTPM + l.OutputTPM }

// A PTUModel says what one provisioned throughput unit of a model carries. Such
// figures age: keep them as dated data.
type PTUModel struct {
	InputTPM     float64 // input tokens a minute per unit
	OutputWeight float64 // input tokens that one output token costs
	Min, Step    int     // units are sold from Min, in multiples of Step
}

// PTU returns the units that load needs, as a fraction and as sold:
//
//	raw   = (input + weight·output)/TPM per unit
//	units = max(min, step·ceil(raw/step))
//
// It reports false for a model whose figures are not positive, or a negative
// load.
//
// Source: Microsoft Learn, "Provisioned throughput unit (PTU) costs".
func (m PTUModel) PTU(load TokenLoad) (raw float64, units int, ok bool) {
	if !(m.InputTPM > 0 && m.OutputWeight > 0 && m.Min > 0 && m.Step > 0 && load.InputTPM >= 0 && load.OutputTPM >= 0) {
		return 0, 0, false
	}
	raw = (load.InputTPM + m.OutputWeight*load.OutputTPM) / m.InputTPM
	steps := math.Ceil(raw / float64(m.Step))
	if !(steps < math.MaxInt32) {
		return 0, 0, false
	}
	return raw, max(m.Min, m.Step*int(steps)), true
}

// Concurrency returns the mean number of requests in flight: rpm/60 times their
// mean end-to-end seconds. It reports false for negative numbers.
//
// Source: Little, "A Proof for the Queuing Formula L = λW", Operations Research
// 9(3), 1961.
func Concurrency(rpm, e2eSeconds float64) (float64, bool) {
	if !(rpm >= 0 && e2eSeconds >= 0) {
		return 0, false
	}
	return finite(rpm / 60 * e2eSeconds)
}

// finite passes v on if it is a number.
func finite(v float64) (float64, bool) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	return v, true
}
