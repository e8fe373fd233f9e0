package bench

import (
	"time"
)

// WindowWidth is the width of the windows of [Report.WindowTPS].
const WindowWidth = 500 * time.Millisecond

// A Report is every number of one sample under its published name, for people
// and programs outside. An absent number is null, and Reasons says why.
type Report struct {
	Provider  string    `json:"provider"`
	Model     string    `json:"model"`
	StartedAt time.Time `json:"started_at"`
	Env       Env       `json:"env"`

	Outcome     string   `json:"outcome"` // ok; partial: failed with visible text; failed
	ErrorKind   *string  `json:"error_kind"`
	ErrorDetail *string  `json:"error_detail"`
	FailedIn    *Phase   `json:"failed_in"`
	HTTPStatus  *int     `json:"http_status"`
	InnerCode   *int     `json:"inner_code"`
	RetryAfterS *float64 `json:"retry_after_s"`
	Complete    bool     `json:"complete"` // the answer has an end

	TTFTMS     *float64 `json:"ttft_ms"`
	TTFTColdMS *float64 `json:"ttft_cold_ms"`
	TTFRMS     *float64 `json:"ttfr_ms"`
	TTFOMS     *float64 `json:"ttfo_ms"`
	ThinkMS    *float64 `json:"think_ms"`
	TTLTMS     *float64 `json:"ttlt_ms"`
	E2EMS      *float64 `json:"e2e_ms"`
	TailMS     *float64 `json:"tail_ms"`

	DecodeTPS          *float64   `json:"decode_tps"`
	DecodeInvalid      *Reason    `json:"decode_invalid"` // why decode_tps is null
	DecodeTPSStallFree *float64   `json:"decode_tps_stall_free"`
	DecodeTPSTrimmed   *float64   `json:"decode_tps_trimmed"` // diagnostic for timer proxies
	PartialTPS         *float64   `json:"partial_tps"`        // of a failed run only
	TPSHybrid          *float64   `json:"tps_hybrid"`
	TPSHybridPath      HybridPath `json:"tps_hybrid_path"`
	TPSWall            *float64   `json:"tps_wall"`
	E2ETPSVisible      *float64   `json:"e2e_tps_visible"`
	E2ETPSBilled       *float64   `json:"e2e_tps_billed"`
	TPOTMS             *float64   `json:"tpot_ms"`
	WindowTPS          []float64  `json:"window_tps"`
	CharsPerS          *float64   `json:"chars_per_s"`
	WordsPerS          *float64   `json:"words_per_s"`

	Shape      *Shape   `json:"shape"`
	Chunks     int      `json:"chunks"`
	ChunkRate  *float64 `json:"chunk_rate_per_s"`
	MeanGapMS  *float64 `json:"mean_gap_ms"`
	ICLP50MS   *float64 `json:"icl_ms_p50"`
	ICLMaxMS   *float64 `json:"icl_ms_max"`
	Burstiness *float64 `json:"burstiness"`
	StallCount *int     `json:"stall_count"`
	StallMS    *float64 `json:"stall_ms"`
	StallRatio *float64 `json:"stall_ratio"`

	Chars            int      `json:"chars"`
	Words            int      `json:"words"`
	FirstChunkTokens *float64 `json:"first_chunk_tokens"`
	VisibleTokens    *int64   `json:"visible_tokens"`
	OutputTokens     *int64   `json:"output_tokens"` // null where it is only estimated
	ReasoningTokens  *int64   `json:"reasoning_tokens"`
	InputTokens      *int64   `json:"input_tokens"`
	CachedTokens     *int64   `json:"cached_tokens"`
	EstimatedTokens  *int64   `json:"estimated_tokens"` // our guess at the output, where nobody counted

	FinishReason *string `json:"finish_reason"`
	ServedBy     *string `json:"served_by"`
	Backend      *string `json:"backend"`

	Phases  map[string]float64 `json:"phases_ms"` // only those that happened
	Reads   int                `json:"reads"`
	Bytes   int64              `json:"bytes"`
	Noise   Noise              `json:"noise"`
	Reasons map[string]Reason  `json:"reasons"` // by field name, why it is null
}

// Report returns the sample's numbers under their published names.
func (s *Sample) Report() Report {
	r := Report{
		Provider: s.Provider, Model: s.Model, StartedAt: s.StartedAt, Env: s.Env,
		Outcome: s.outcome(), Chunks: s.Chunks, Chars: s.Chars, Words: s.Words,
		Reads: s.Reads, Bytes: s.Bytes, Noise: s.Noise,
		Phases: s.Phases.inMS(), Reasons: make(map[string]Reason),
	}
	if !s.OK() {
		r.ErrorKind = told(s.Kind.String())
		r.ErrorDetail = told(string(s.Detail))
		r.FailedIn = told(s.FailedIn)
		r.InnerCode = told(s.InnerCode)
		r.PartialTPS = r.number("partial_tps")(s.PartialTPS())
	}
	if s.RetryAfter > 0 {
		r.RetryAfterS = ptr(s.RetryAfter.Seconds())
	}
	r.HTTPStatus = told(s.HTTPStatus)
	_, end := s.End()
	r.Complete = end.OK()

	r.TTFTMS = r.span("ttft_ms")(s.TTFT())
	r.TTFTColdMS = r.span("ttft_cold_ms")(s.TTFTCold())
	r.TTFRMS = r.span("ttfr_ms")(s.TTFR())
	r.TTFOMS = r.span("ttfo_ms")(s.TTFO())
	r.ThinkMS = r.span("think_ms")(s.Think())
	r.TTLTMS = r.span("ttlt_ms")(s.TTLT())
	r.E2EMS = r.span("e2e_ms")(s.E2E())
	r.TailMS = r.span("tail_ms")(s.Tail())

	r.DecodeTPS = r.number("decode_tps")(s.DecodeTPS())
	r.DecodeInvalid = told(r.Reasons["decode_tps"])
	r.DecodeTPSStallFree = r.number("decode_tps_stall_free")(s.StallFreeTPS())
	r.DecodeTPSTrimmed = r.number("decode_tps_trimmed")(s.TrimmedTPS())
	r.hybrid(s)
	r.TPSWall = r.number("tps_wall")(s.WallTPS())
	r.E2ETPSVisible = r.number("e2e_tps_visible")(s.EndToEndTPS())
	r.E2ETPSBilled = r.number("e2e_tps_billed")(s.BilledTPS())
	r.TPOTMS = r.number("tpot_ms")(s.TPOTMS())
	r.CharsPerS = r.number("chars_per_s")(s.CharsPerSecond())
	r.WordsPerS = r.number("words_per_s")(s.WordsPerSecond())
	if rates, why := s.WindowTPS(WindowWidth); why.OK() {
		r.WindowTPS = rates
	} else {
		r.Reasons["window_tps"] = why
	}

	r.Shape = told(s.Shape())
	if r.Shape == nil {
		r.Reasons["shape"] = NoContent
	}
	r.ChunkRate = r.number("chunk_rate_per_s")(s.ChunkRate())
	r.MeanGapMS = r.number("mean_gap_ms")(s.MeanGapMS())
	r.gaps(s)
	r.tokens(s)
	r.FinishReason, r.ServedBy, r.Backend = told(s.Finish), told(s.ServedBy), told(s.Backend)
	return r
}

// outcome returns the sample's fate in one word.
func (s *Sample) outcome() string {
	switch {
	case s.OK():
		return "ok"
	case s.Partial():
		return "partial"
	}
	return "failed"
}

// hybrid fills in the published rule and the path it took.
func (r *Report) hybrid(s *Sample) {
	tps, path := s.HybridTPS()
	r.TPSHybridPath = path
	if path != PathMalformed {
		r.TPSHybrid = &tps
		return
	}
	why := NoElapsedTime
	if s.Chunks == 0 {
		why = NoContent
	} else if n, counted := s.VisibleTokens(); !counted.OK() || n <= 0 {
		why = NoTokenCount
	} else if _, end := s.End(); !end.OK() {
		why = end
	}
	r.Reasons["tps_hybrid"] = why
}

// gaps fills in the digest of the chunk gaps.
func (r *Report) gaps(s *Sample) {
	if s.Chunks >= 2 {
		r.ICLP50MS, r.ICLMaxMS = ptr(ms(s.Gaps.P50)), ptr(ms(s.Gaps.Max))
	} else {
		r.Reasons["icl_ms_p50"], r.Reasons["icl_ms_max"] = TooFewChunks, TooFewChunks
	}
	r.Burstiness = r.number("burstiness")(s.Burstiness())
	lost, stalls, why := s.Stall()
	if why.OK() {
		r.StallCount, r.StallMS = &stalls, ptr(ms(lost))
	} else {
		r.Reasons["stall_count"], r.Reasons["stall_ms"] = why, why
	}
	r.StallRatio = r.number("stall_ratio")(s.StallRatio())
}

// tokens fills in the token counts.
func (r *Report) tokens(s *Sample) {
	r.FirstChunkTokens = r.number("first_chunk_tokens")(s.FirstChunkTokens())
	if n, why := s.VisibleTokens(); why.OK() {
		r.VisibleTokens = ptr(int64(n))
	} else {
		r.Reasons["visible_tokens"] = why
	}
	u := s.Usage
	if u.Estimated {
		r.EstimatedTokens = &u.Output.N
		u.Output.Known = false
	}
	for _, c := range []struct {
		name  string
		known bool
		n     int64
		field **int64
	}{
		{"output_tokens", u.Output.Known, u.Output.N, &r.OutputTokens},
		{"reasoning_tokens", u.Reasoning.Known, u.Reasoning.N, &r.ReasoningTokens},
		{"input_tokens", u.Input.Known, u.Input.N, &r.InputTokens},
		{"cached_tokens", u.Cached.Known, u.Cached.N, &r.CachedTokens},
	} {
		if c.known {
			*c.field = &c.n
		} else {
			r.Reasons[c.name] = NoTokenCount
		}
	}
}

// number returns what takes in a number under a name: the number, or why not.
func (r *Report) number(name string) func(float64, Reason) *float64 {
	return func(v float64, why Reason) *float64 {
		if !why.OK() {
			r.Reasons[name] = why
			return nil
		}
		return &v
	}
}

// span returns what takes in a time under a name, in milliseconds.
func (r *Report) span(name string) func(time.Duration, Reason) *float64 {
	return func(d time.Duration, why Reason) *float64 { return r.number(name)(ms(d), why) }
}

// inMS returns the phases that happened, in milliseconds.
func (p *Phases) inMS() map[string]float64 {
	named := make(map[string]float64)
	for _, phase := range []struct {
		name string
		d    time.Duration
	}{
		{"dns", p.DNS}, {"connect", p.Connect}, {"tls", p.TLS}, {"setup", p.Setup},
		{"wrote_headers", p.WroteHeaders}, {"wrote_request", p.WroteRequest},
		{"first_byte", p.FirstByte}, {"headers", p.Headers},
	} {
		if phase.d != 0 {
			named[phase.name] = ms(phase.d)
		}
	}
	return named
}

// told returns nil for a zero v, which stands for what was not told.
func told[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

func ptr[T any](v T) *T { return &v }
