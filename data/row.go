package data

import (
	"database/sql"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

const (
	seriesBits = 12
	seriesMask = 1<<seriesBits - 1

	tick = 100 * time.Microsecond // unit of the *_us100 columns
)

// The bits of raw_samples.flags.
const (
	flagEstimated = 1 << iota
	flagClamped
	flagNoVisible
	flagNotDone
	flagNoisy
)

// rowColumns are the columns of raw_samples, in the order of row.fields.
const rowColumns = `id, env_id, failure_id, reply_id, flags, late_s, dns_ms, connect_ms, tls_ms, setup_rest_ms, ttfb_ms,
	ttfr_rest_ms, ttft_rest_ms, span_us100, tail_us100, chunks, merged_chunks, reasoning_chunks, chars, words, first_chars,
	first_tokens, icl_p50_us100, icl_p95_us100, icl_max_us100, stalls, stall_us100, burstiness_pct, input_tokens,
	cached_tokens, output_tokens, reasoning_tokens, visible_tokens, delay_max_ms, retry_after_s`

// A row is a row of raw_samples.
type row struct {
	id, env                                int64
	failure, reply                         sql.NullInt64
	flags                                  int64
	late                                   sql.NullInt64
	dns, connect, tls, setupRest           sql.NullInt64
	ttfb, ttfr, ttft, span, tail           sql.NullInt64
	chunks, merged, reasonChunks           int64
	chars, words, firstChars               int64
	firstTokens                            sql.NullInt64
	iclP50, iclP95, iclMax                 sql.NullInt64
	stalls, stall                          int64
	burstiness                             sql.NullInt64
	input, cached, output, reason, visible sql.NullInt64
	delayMax, retryAfter                   sql.NullInt64
}

// fields returns pointers to the columns in order, to read them.
func (r *row) fields() []any {
	return []any{
		&r.id, &r.env, &r.failure, &r.reply, &r.flags, &r.late, &r.dns, &r.connect, &r.tls, &r.setupRest, &r.ttfb,
		&r.ttfr, &r.ttft, &r.span, &r.tail, &r.chunks, &r.merged, &r.reasonChunks, &r.chars, &r.words, &r.firstChars,
		&r.firstTokens, &r.iclP50, &r.iclP95, &r.iclMax, &r.stalls, &r.stall, &r.burstiness, &r.input,
		&r.cached, &r.output, &r.reason, &r.visible, &r.delayMax, &r.retryAfter,
	}
}

func (r *row) series() int64      { return r.id & seriesMask }
func (r *row) started() time.Time { return time.UnixMilli(r.id >> seriesBits).UTC() }

// sampleID returns the id of a sample: when it began, and its series.
func sampleID(started time.Time, series int64) int64 { return started.UnixMilli()<<seriesBits | series }

// firstID returns the least id of a sample that began at t or later.
func firstID(t time.Time) int64 {
	ms := t.UnixMilli()
	if t.After(time.UnixMilli(ms)) {
		ms++
	}
	return ms << seriesBits
}

func known(n int64) sql.NullInt64 { return sql.NullInt64{Int64: n, Valid: true} }

// knownIf returns n, or NULL, whose number is 0, so that rows can be compared.
func knownIf(ok bool, n int64) sql.NullInt64 {
	if !ok {
		return sql.NullInt64{}
	}
	return known(n)
}

// round returns d in units, halves away from zero.
func round(d, unit time.Duration) int64 { return int64(d.Round(unit) / unit) }

// instant returns d in units, or NULL if it did not happen.
func instant(d, unit time.Duration) sql.NullInt64 { return knownIf(d != 0, round(d, unit)) }

// span is the inverse of instant. Something that took less than half a unit
// still happened, and comes back as a nanosecond.
func span(n sql.NullInt64, unit time.Duration) time.Duration {
	switch {
	case !n.Valid:
		return 0
	case n.Int64 == 0:
		return time.Nanosecond
	}
	return time.Duration(n.Int64) * unit
}

// encodeSample returns a sample's row, but for the ids of its names. Instants
// and spans are rounded to 1 ms, and to 0.1 ms where a rate is divided by them.
// What no metric needs is left out: reads, bytes, the end of stream after a
// completion, the provider's own timing, CPU pressure, the trace.
func encodeSample(s *bench.Sample) row {
	p, u, g := &s.Phases, &s.Usage, &s.Gaps
	r := row{
		late: knownIf(!s.Scheduled.IsZero(), round(s.StartedAt.Sub(s.Scheduled), time.Second)),
		dns:  instant(p.DNS, time.Millisecond), connect: instant(p.Connect, time.Millisecond), tls: instant(p.TLS, time.Millisecond),
		ttfb:   instant(p.FirstByte, time.Millisecond),
		chunks: int64(s.Chunks), reasonChunks: int64(s.ReasonChunks),
		chars: int64(s.Chars), words: int64(s.Words), firstChars: int64(s.FirstReadChars),
		firstTokens: count(s.FirstReadTokens),
		stalls:      int64(g.Stalls), stall: round(g.Stall, tick),
		burstiness: knownIf(g.HasBurstiness, int64(math.Round(g.Burstiness*100))),
		input:      count(u.Input), cached: count(u.Cached), output: count(u.Output), reason: count(u.Reasoning),
		delayMax:   instant(s.Noise.DelayMax, time.Millisecond),
		retryAfter: knownIf(s.RetryAfter > 0, int64((s.RetryAfter+time.Second-1)/time.Second)),
	}
	if p.Setup != 0 {
		// The parts and the rest add up to the rounded whole.
		r.setupRest = known(round(p.Setup, time.Millisecond) - r.dns.Int64 - r.connect.Int64 - r.tls.Int64)
	}
	if s.Deliveries > 0 {
		r.merged = int64(s.Chunks - s.Deliveries)
	}
	if s.Chunks >= 2 {
		r.iclP50, r.iclP95, r.iclMax = known(round(g.P50, tick)), known(round(g.P95, tick)), known(round(g.Max, tick))
	}
	before := r.ttfb.Int64
	if s.FirstReason != 0 {
		r.ttfr = known(round(s.FirstReason, time.Millisecond) - before)
		before += r.ttfr.Int64
	}
	if s.FirstText != 0 {
		r.ttft = known(round(s.FirstText, time.Millisecond) - before)
		r.span = known(spanTicks(s.LastText-s.FirstText, s.Chunks))
	}
	end := s.Done
	if end == 0 {
		end = s.EOF
	}
	if end != 0 {
		r.tail = known(round(end-s.LastText, tick))
		if end > s.FirstText && r.span.Int64+r.tail.Int64 <= 0 {
			r.tail.Int64 = 1 - r.span.Int64 // some time did pass
		}
	}
	flag := func(set bool, bit int64) {
		if set {
			r.flags |= bit
		}
	}
	flag(u.Estimated, flagEstimated)
	flag(u.Clamped, flagClamped)
	flag(!u.Visible.Known, flagNoVisible)
	flag(s.Done == 0 && s.EOF != 0, flagNotDone)
	flag(s.Noise.Noisy, flagNoisy)
	if u.Visible.Known && !(u.Output.Known && u.Visible.N == u.Output.N-r.reason.Int64) {
		r.visible = known(u.Visible.N)
	}
	return r
}

// spanTicks returns the time from first to last text in tenths of a
// millisecond, cut off, so that a span too short for a rate stays too short.
// The hybrid rule asks for a mean gap strictly above its limit; a span that is
// above it stays above it.
func spanTicks(span time.Duration, chunks int) int64 {
	ticks := int64(span / tick)
	limit := time.Duration(chunks-1) * bench.HybridMinGap
	if chunks >= bench.HybridMinChunks && span.Microseconds() > limit.Microseconds() && time.Duration(ticks)*tick <= limit {
		ticks++
	}
	return ticks
}

// decodeSample is the inverse of encodeSample, but for rounding.
func decodeSample(r *row, n *names) (bench.Sample, error) {
	started := r.started()
	s := bench.Sample{
		StartedAt: started,
		Phases: bench.Phases{
			DNS: span(r.dns, time.Millisecond), Connect: span(r.connect, time.Millisecond), TLS: span(r.tls, time.Millisecond),
			FirstByte: span(r.ttfb, time.Millisecond),
		},
		Chunks: int(r.chunks), Deliveries: int(r.chunks - r.merged), ReasonChunks: int(r.reasonChunks),
		Chars: int(r.chars), Words: int(r.words), FirstReadChars: int(r.firstChars), FirstReadTokens: countOf(r.firstTokens),
		Gaps: bench.Gaps{
			P50: ticks(r.iclP50.Int64), P95: ticks(r.iclP95.Int64), Max: ticks(r.iclMax.Int64),
			Stall: ticks(r.stall), Stalls: int(r.stalls),
			Burstiness: float64(r.burstiness.Int64) / 100, HasBurstiness: r.burstiness.Valid,
		},
		Usage: bench.Usage{
			Input: countOf(r.input), Cached: countOf(r.cached), Output: countOf(r.output), Reasoning: countOf(r.reason),
			Estimated: r.flags&flagEstimated != 0, Clamped: r.flags&flagClamped != 0,
		},
		RetryAfter: time.Duration(r.retryAfter.Int64) * time.Second,
		Noise:      bench.Noise{DelayMax: span(r.delayMax, time.Millisecond), Noisy: r.flags&flagNoisy != 0},
	}
	if r.late.Valid {
		s.Scheduled = started.Add(-time.Duration(r.late.Int64) * time.Second)
	}
	if r.setupRest.Valid {
		s.Phases.Setup = span(known(r.setupRest.Int64+r.dns.Int64+r.connect.Int64+r.tls.Int64), time.Millisecond)
	}
	before := r.ttfb.Int64
	if r.ttfr.Valid {
		before += r.ttfr.Int64
		s.FirstReason = span(known(before), time.Millisecond)
	}
	if r.ttft.Valid {
		s.FirstText = span(known(before+r.ttft.Int64), time.Millisecond)
		s.LastText = s.FirstText + ticks(r.span.Int64)
	}
	if r.tail.Valid {
		end := max(s.LastText+ticks(r.tail.Int64), time.Nanosecond)
		if r.flags&flagNotDone == 0 {
			s.Done = end
		} else {
			s.EOF = end
		}
	}
	switch {
	case r.visible.Valid:
		s.Usage.Visible = wire.Known(r.visible.Int64)
	case r.flags&flagNoVisible == 0:
		s.Usage.Visible = wire.Known(r.output.Int64 - r.reason.Int64)
	}
	return s, n.apply(&s, r)
}

func ticks(n int64) time.Duration { return time.Duration(n) * tick }

func count(c wire.Count) sql.NullInt64 { return knownIf(c.Known, c.N) }

func countOf(n sql.NullInt64) wire.Count { return wire.Count{N: n.Int64, Known: n.Valid} }

// The bounds of what a row may hold. Nothing measured comes near them.
const (
	maxCountable = 1 << 40
	maxSpan      = 24 * time.Hour // a year for Retry-After
)

// validate returns why a sample cannot be in the record, or nil.
func validate(s *bench.Sample) error {
	switch {
	case s.Provider == "" || s.Model == "":
		return errors.New("no provider or no model")
	case !validName(s.Provider) || !validName(s.Model) || !validName(s.Env.Vantage) || !validName(s.Env.Region):
		return fmt.Errorf("a name is over %d bytes, or no plain text", maxName)
	case !validName(s.Env.Protocol) || !validName(s.Env.Clock):
		return errors.New("protocol or clock is no plain text")
	case s.StartedAt.Year() < 2020 || s.StartedAt.Year() > 2038:
		return fmt.Errorf("started in the year %d", s.StartedAt.Year())
	case s.Kind > wire.KindMalformed:
		return fmt.Errorf("error kind %d", s.Kind)
	case s.Gaps.HasBurstiness && !(s.Gaps.Burstiness >= -1 && s.Gaps.Burstiness <= 1):
		return fmt.Errorf("burstiness %v", s.Gaps.Burstiness)
	case s.Chunks > 0 && (s.FirstText <= 0 || s.LastText < s.FirstText || s.Chars < s.FirstReadChars):
		return errors.New("visible text without first and last instant, or less text than its first read")
	case s.Chunks == 0 && (s.FirstText != 0 || s.LastText != 0 || s.Chars != 0 || s.FirstReadChars != 0):
		return errors.New("instants or characters of visible text, but no chunk of it")
	case s.Chunks > 0 && s.Chars == 0:
		return errors.New("chunks of visible text without characters")
	case s.Deliveries < 0 || s.Deliveries > s.Chunks:
		return fmt.Errorf("%d deliveries of %d chunks", s.Deliveries, s.Chunks)
	}
	p, u, g := &s.Phases, &s.Usage, &s.Gaps
	for _, d := range []time.Duration{
		p.DNS, p.Connect, p.TLS, p.Setup, p.FirstByte, s.FirstReason, s.FirstText, s.LastText, s.Done, s.EOF,
		g.P50, g.P95, g.Max, g.Stall, s.Noise.DelayMax, s.RetryAfter / 365,
	} {
		if d < 0 || d > maxSpan {
			return fmt.Errorf("a span of %v", d)
		}
	}
	for _, n := range []int64{
		int64(s.Chunks), int64(s.ReasonChunks), int64(s.Chars), int64(s.Words), int64(s.FirstReadChars), int64(g.Stalls),
		int64(s.HTTPStatus), int64(s.InnerCode), int64(s.Env.Method), int64(s.Env.Prompt), int64(s.Env.Lanes),
		s.FirstReadTokens.N, u.Input.N, u.Cached.N, u.Output.N, u.Reasoning.N, u.Visible.N,
	} {
		if n < 0 || n > maxCountable {
			return fmt.Errorf("a count of %d", n)
		}
	}
	return nil
}
