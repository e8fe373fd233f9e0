package bench

import "time"

// Limits of the per-sample formulas. Those of the published method are the
// first two; the others are ours, and the methodology page prints them all.
const (
	HybridMinChunks = 8                      // inter-token path of tps_hybrid: at least so many chunks
	HybridMinGap    = 50 * time.Millisecond  // and a mean gap strictly above this
	MinDecodeSpan   = 100 * time.Millisecond // a shorter span between first and last text is one delivery
	MinDecodeTokens = 16                     // fewer tokens after the first read make no rate
	StallFloor      = 500 * time.Millisecond // a gap is a stall above this
	StallFactor     = 5                      // and above so many median gaps
	StallMinChunks  = 8                      // with fewer chunks, no gap can be called unusual
	ChunkyTokens    = 2.0                    // tokens per read from which delivery counts as chunky
	CharsPerToken   = 4.0                    // the estimate where no count is known; never ranked
	HeadGap         = time.Millisecond       // reads closer than this, and than the mean read gap by HeadFactor,
	HeadFactor      = 20                     // are one delivery, if they follow the first visible read
)

// A Reason says why a number is absent. The empty Reason means it is present.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	Present       Reason = ""
	Incomplete    Reason = "incomplete"     // no completion and no clean end of stream
	NoContent     Reason = "no_content"     // no visible text
	NoReasoning   Reason = "no_reasoning"   // no readable reasoning text
	NoTokenCount  Reason = "no_token_count" // the provider did not say how many tokens are visible
	Buffered      Reason = "buffered"       // one chunk, or all within MinDecodeSpan
	HeadBurst     Reason = "head_burst"     // over half the tokens came with the first read
	TooFewTokens  Reason = "too_few_tokens" // under MinDecodeTokens after the first read
	TooFewChunks  Reason = "too_few_chunks" // the formula needs more chunks
	NoElapsedTime Reason = "no_elapsed_time"
	NotReached    Reason = "not_reached" // the run failed before that instant
)

// OK reports whether the number is present.
func (r Reason) OK() bool { return r == Present }

// TTFT returns the time to first token by the published definition: dispatch
// on the established connection to the first non-empty visible text. White
// space counts, role chunks and empty strings do not. AIPerf calls this TTFO
// where a model reasons aloud; its TTFT is our [Sample.TTFO].
func (s *Sample) TTFT() (time.Duration, Reason) {
	if s.FirstText == 0 {
		return 0, NoContent
	}
	return s.FirstText, Present
}

// TTFTCold returns TTFT with the set-up of the fresh connection before it:
// DNS, connect and TLS.
func (s *Sample) TTFTCold() (time.Duration, Reason) {
	ttft, why := s.TTFT()
	return ttft + s.Phases.Setup, why
}

// TTFR returns the time to first readable reasoning text.
func (s *Sample) TTFR() (time.Duration, Reason) {
	if s.FirstReason == 0 {
		return 0, NoReasoning
	}
	return s.FirstReason, Present
}

// TTFO returns the time to first output of either kind, reasoning or visible.
// AIPerf and vLLM call this TTFT.
func (s *Sample) TTFO() (time.Duration, Reason) {
	switch {
	case s.FirstReason == 0 && s.FirstText == 0:
		return 0, NoContent
	case s.FirstReason == 0:
		return s.FirstText, Present
	case s.FirstText == 0:
		return s.FirstReason, Present
	}
	return min(s.FirstReason, s.FirstText), Present
}

// Think returns the time from the first reasoning to the first visible text.
func (s *Sample) Think() (time.Duration, Reason) {
	switch {
	case s.FirstReason == 0:
		return 0, NoReasoning
	case s.FirstText == 0:
		return 0, NoContent
	}
	return s.FirstText - s.FirstReason, Present
}

// TTLT returns the time to last token: dispatch to the last visible text.
// Azure's TTLT is our [Sample.E2E].
func (s *Sample) TTLT() (time.Duration, Reason) {
	if s.LastText == 0 {
		return 0, NoContent
	}
	return s.LastText, Present
}

// End returns the end of the answer: semantic completion, else clean EOF.
func (s *Sample) End() (time.Duration, Reason) {
	switch {
	case s.Done != 0:
		return s.Done, Present
	case s.EOF != 0:
		return s.EOF, Present
	}
	return 0, Incomplete
}

// E2E returns the end-to-end time: dispatch to [Sample.End].
func (s *Sample) E2E() (time.Duration, Reason) { return s.End() }

// Tail returns the time from the last visible text to the end.
func (s *Sample) Tail() (time.Duration, Reason) {
	end, why := s.End()
	if !why.OK() {
		return 0, why
	}
	if s.LastText == 0 {
		return 0, NoContent
	}
	return end - s.LastText, Present
}

// Span returns the time from the first to the last visible text, the divisor
// of every decode rate.
func (s *Sample) Span() (time.Duration, Reason) {
	if s.FirstText == 0 {
		return 0, NoContent
	}
	return s.LastText - s.FirstText, Present
}

// VisibleTokens returns the tokens of the visible answer by the provider's own
// count, reasoning left out. An estimate is no count.
func (s *Sample) VisibleTokens() (int, Reason) {
	if !s.Usage.Visible.Known || s.Usage.Estimated {
		return 0, NoTokenCount
	}
	return int(s.Usage.Visible.N), Present
}

// FirstChunkTokens returns the tokens that came with the first delivery: they
// were made before the decode clock started. They are the stream's own count
// where it has one, else the answer's tokens shared out by characters.
func (s *Sample) FirstChunkTokens() (float64, Reason) {
	if s.Chunks == 0 {
		return 0, NoContent
	}
	n, why := s.VisibleTokens()
	if !why.OK() {
		return 0, why
	}
	if s.FirstReadTokens.Known {
		return float64(s.FirstReadTokens.N), Present
	}
	return float64(n) * float64(s.FirstReadChars) / float64(s.Chars), Present
}

// DecodeTPS returns the decode rate in tokens per second, the number Streamgauge
// ranks on: visible tokens after the first read ÷ time from the first to the
// last visible text. It stays within 1 % of the truth for any number of tokens
// per chunk, and is absent where no formula could be right: the first of
// Incomplete, NoContent, NoTokenCount, Buffered, HeadBurst, TooFewTokens.
func (s *Sample) DecodeTPS() (float64, Reason) {
	if _, why := s.End(); !why.OK() {
		return 0, why
	}
	return s.decodeTPS()
}

// PartialTPS returns the decode rate up to where an interrupted run broke off.
// It is shown, flagged, and enters no statistic.
func (s *Sample) PartialTPS() (float64, Reason) { return s.decodeTPS() }

func (s *Sample) decodeTPS() (float64, Reason) {
	if s.Chunks == 0 {
		return 0, NoContent
	}
	n, why := s.VisibleTokens()
	if !why.OK() || n <= 0 {
		return 0, NoTokenCount
	}
	span := s.LastText - s.FirstText
	if s.Chunks < 2 || span < MinDecodeSpan {
		return 0, Buffered
	}
	first, _ := s.FirstChunkTokens()
	after := float64(n) - first
	if first > float64(n)/2 {
		return 0, HeadBurst
	}
	if after < MinDecodeTokens {
		return 0, TooFewTokens
	}
	return after / span.Seconds(), Present
}

// A HybridPath is which of its two formulas [Sample.HybridTPS] took.
type HybridPath string

// The paths of the published hybrid rule.
const (
	PathInterToken HybridPath = "inter_token"
	PathWallClock  HybridPath = "wall_clock"
	PathMalformed  HybridPath = "malformed" // neither is defined
)

// HybridTPS returns tokens per second by the published hybrid rule: with at
// least HybridMinChunks chunks and a mean gap strictly above HybridMinGap,
// (n−1) ÷ (last − first text); else n ÷ (end − first text). The gap is read
// per token (TokenDyno's text, NVIDIA's ITL). It diverges on bursts; see
// [Sample.DecodeTPS].
func (s *Sample) HybridTPS() (float64, HybridPath) {
	n, why := s.VisibleTokens()
	if !why.OK() || n <= 0 || s.Chunks == 0 {
		return 0, PathMalformed
	}
	if span := s.LastText - s.FirstText; s.Chunks >= HybridMinChunks &&
		span.Microseconds() > int64(s.Chunks-1)*HybridMinGap.Microseconds() {
		return float64(n-1) / span.Seconds(), PathInterToken
	}
	if wall, why := s.WallTPS(); why.OK() {
		return wall, PathWallClock
	}
	return 0, PathMalformed
}

// WallTPS returns visible tokens ÷ (end − first text), in tokens per second.
// It counts tokens made before its clock starts, and time after they ended.
func (s *Sample) WallTPS() (float64, Reason) {
	if s.Chunks == 0 {
		return 0, NoContent
	}
	n, why := s.VisibleTokens()
	if !why.OK() || n <= 0 {
		return 0, NoTokenCount
	}
	end, why := s.End()
	if !why.OK() {
		return 0, why
	}
	if end <= s.FirstText {
		return 0, NoElapsedTime
	}
	return float64(n) / (end - s.FirstText).Seconds(), Present
}

// EndToEndTPS returns visible tokens ÷ end-to-end time, in tokens per second:
// OpenRouter's throughput. It depends on the answer's length.
func (s *Sample) EndToEndTPS() (float64, Reason) {
	n, why := s.VisibleTokens()
	if !why.OK() {
		return 0, why
	}
	if n <= 0 || s.Chunks == 0 {
		return 0, NoContent
	}
	return s.perEnd(int64(n))
}

// BilledTPS returns all output tokens, reasoning included, ÷ end-to-end time.
func (s *Sample) BilledTPS() (float64, Reason) {
	if !s.Usage.Output.Known || s.Usage.Estimated || s.Usage.Output.N <= 0 {
		return 0, NoTokenCount
	}
	return s.perEnd(s.Usage.Output.N)
}

func (s *Sample) perEnd(n int64) (float64, Reason) {
	end, why := s.End()
	if !why.OK() {
		return 0, why
	}
	if end <= 0 {
		return 0, NoElapsedTime
	}
	return float64(n) / end.Seconds(), Present
}

// TPOTMS returns the time per output token after the first, in milliseconds:
// (last − first text) ÷ (n − 1). NVIDIA and AIPerf call this ITL, Azure TBT;
// guidellm's TPOT counts the first token in.
func (s *Sample) TPOTMS() (float64, Reason) {
	n, why := s.VisibleTokens()
	if !why.OK() {
		return 0, why
	}
	if s.Chunks < 2 || n < 2 {
		return 0, TooFewChunks
	}
	span := s.LastText - s.FirstText
	if span <= 0 {
		return 0, Buffered
	}
	return ms(span) / float64(n-1), Present
}

// MeanGapMS returns the mean chunk gap in milliseconds.
func (s *Sample) MeanGapMS() (float64, Reason) {
	if s.Chunks < 2 {
		return 0, TooFewChunks
	}
	return ms(s.LastText-s.FirstText) / float64(s.Chunks-1), Present
}

// ChunkRate returns chunks per second after the first. A chunk is not a token,
// so this is a diagnostic and never called a token rate.
func (s *Sample) ChunkRate() (float64, Reason) {
	if s.Chunks < 2 {
		return 0, TooFewChunks
	}
	span := s.LastText - s.FirstText
	if span <= 0 {
		return 0, Buffered
	}
	return float64(s.Chunks-1) / span.Seconds(), Present
}

// Burstiness returns (σ − μ)/(σ + μ) of the chunk gaps, with the population σ:
// −1 is clockwork, 0 Poisson, towards 1 bursts. It needs two gaps.
// Source: Goh and Barabási, "Burstiness and memory in complex systems", 2008.
func (s *Sample) Burstiness() (float64, Reason) {
	if !s.Gaps.HasBurstiness {
		return 0, TooFewChunks
	}
	return s.Gaps.Burstiness, Present
}

// Stall returns the time lost in stalls and their number. A gap is a stall if
// it exceeds both StallFloor and StallFactor median gaps; what it exceeds the
// median by is lost. It needs StallMinChunks chunks.
func (s *Sample) Stall() (lost time.Duration, stalls int, why Reason) {
	if s.Chunks < StallMinChunks {
		return 0, 0, TooFewChunks
	}
	return s.Gaps.Stall, s.Gaps.Stalls, Present
}

// StallRatio returns the share of the decode span that was lost in stalls.
func (s *Sample) StallRatio() (float64, Reason) {
	lost, _, why := s.Stall()
	if !why.OK() {
		return 0, why
	}
	span := s.LastText - s.FirstText
	if span <= 0 {
		return 0, Buffered
	}
	return float64(lost) / float64(span), Present
}

// StallFreeTPS returns the decode rate with the time lost in stalls left out.
func (s *Sample) StallFreeTPS() (float64, Reason) {
	if _, why := s.DecodeTPS(); !why.OK() {
		return 0, why
	}
	lost, _, why := s.Stall()
	if !why.OK() {
		return 0, why
	}
	n, _ := s.VisibleTokens()
	first, _ := s.FirstChunkTokens()
	rest := s.LastText - s.FirstText - lost
	if rest <= 0 {
		return 0, Buffered
	}
	return (float64(n) - first) / rest.Seconds(), Present
}

// TrimmedTPS returns the decode rate between the first delivery and the last but
// one. A proxy that passes on what it has at each tick of a timer sends its last
// part early or late by up to a tick, which biases [Sample.DecodeTPS] by as much
// as a tenth; leaving that part out removes the bias. A diagnostic, never
// ranked. It needs the trace and three deliveries.
func (s *Sample) TrimmedTPS() (float64, Reason) {
	if _, why := s.DecodeTPS(); !why.OK() {
		return 0, why
	}
	n, _ := s.VisibleTokens()
	parts := s.deliveries()
	if len(parts) < 3 {
		return 0, TooFewChunks
	}
	var tokens float64
	for _, p := range parts[1 : len(parts)-1] {
		if s.oneEach() {
			tokens += float64(p.chunks)
		} else {
			tokens += s.tokensOf(p.Arrival, n)
		}
	}
	if tokens < MinDecodeTokens {
		return 0, TooFewTokens
	}
	span := parts[len(parts)-2].At - parts[0].At
	if span < MinDecodeSpan {
		return 0, Buffered
	}
	return tokens / span.Seconds(), Present
}

// tokensOf returns the tokens of a chunk of an answer of n: the stream's own
// count where it has one, else the chunk's share of the characters.
func (s *Sample) tokensOf(a Arrival, n int) float64 {
	if a.Tokens > 0 {
		return float64(a.Tokens)
	}
	return float64(n) * float64(a.Chars) / float64(s.Chars)
}

// oneEach reports whether an answer of so many chunks has a token in each: as
// many as there are, or one more, as some providers count the end token.
func (s *Sample) oneEach() bool {
	n := s.Usage.Visible
	return n.Known && !s.Usage.Estimated && (n.N == int64(s.Chunks) || n.N == int64(s.Chunks)+1)
}

// CharsPerSecond returns visible code points after the first read per second:
// comparable across tokenizers.
func (s *Sample) CharsPerSecond() (float64, Reason) {
	if s.Chunks == 0 {
		return 0, NoContent
	}
	if s.Chunks < 2 {
		return 0, TooFewChunks
	}
	span := s.LastText - s.FirstText
	if span <= 0 {
		return 0, Buffered
	}
	return float64(s.Chars-s.FirstReadChars) / span.Seconds(), Present
}

// WordsPerSecond returns words per second: the answer's words less the first
// read's share of them by characters, over the decode span.
func (s *Sample) WordsPerSecond() (float64, Reason) {
	chars, why := s.CharsPerSecond()
	if !why.OK() {
		return 0, why
	}
	return chars * float64(s.Words) / float64(s.Chars), Present
}

// TimeTo returns the expected time to m visible tokens, TTFT + (m−1)/DecodeTPS.
// A fast start wins short answers, a fast stream long ones.
func (s *Sample) TimeTo(m int) (time.Duration, Reason) {
	ttft, why := s.TTFT()
	if !why.OK() {
		return 0, why
	}
	tps, why := s.DecodeTPS()
	if !why.OK() {
		return 0, why
	}
	return ttft + time.Duration(float64(m-1)/tps*float64(time.Second)), Present
}

// WindowTPS returns the token rate in each whole window of width w after the
// first visible text: tokens arriving in (t₁+jw, t₁+(j+1)w] ÷ w, the first
// chunk left out. Chunks carry tokens by their share of characters. It needs
// the trace; for debugging, never ranked.
func (s *Sample) WindowTPS(w time.Duration) ([]float64, Reason) {
	n, why := s.VisibleTokens()
	if !why.OK() {
		return nil, why
	}
	if s.Chunks < 2 || len(s.Trace) == 0 {
		return nil, TooFewChunks
	}
	rates := make([]float64, int((s.LastText-s.FirstText)/w))
	first := true
	for _, a := range s.Trace {
		if a.Mark != MarkVisible {
			continue
		}
		if first {
			first = false
			continue
		}
		// The window is open on the left, so an arrival at t₁+w is in the first.
		j := int((a.At - s.FirstText - 1) / w)
		if a.At > s.FirstText && j < len(rates) {
			rates[j] += s.tokensOf(a, n) / w.Seconds()
		}
	}
	return rates, Present
}

// ms returns d in milliseconds.
func ms(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
