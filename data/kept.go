package data

import (
	"database/sql"
	"math/bits"
)

// keptColumns are those of raw_samples that a sample is kept in. The others follow
// from them.
const keptColumns = `id, env_id, failure_id, reply_id, flags, kept_late, retry_after_s, first_tokens, visible_tokens,
	stalls, stall_us100, kept_setup_rest, kept_delay_max, cached_tokens, input_tokens, output_tokens, kept_chunks,
	kept_wait, connect_ms, kept_tls, burstiness_pct, first_chars, kept_words, kept_chars, kept_tail, kept_icl_p50,
	icl_max_us100, kept_ttfb, kept_merged_chunks, kept_icl_p95, kept_ttft_rest, kept_span, kept_ttfr_rest,
	kept_reasoning_chunks, kept_reasoning_tokens`

// paddedColumns are the columns that a day file is written with, in the order of
// row.kept.
const paddedColumns = keptColumns + `, pad`

// paddedBytes is how many bytes the values of a row have in a day file. An
// ordinary success has 25 to 31 of its own; the rest is room for ids and round
// trips above those of a small record. Longer rows are kept as they are.
const paddedBytes = 34

// kept returns the values of paddedColumns without a pad, each less what is
// expected of it. The virtual columns of schema.sql are its inverse, and say why.
// Quotients are cut off there and here.
func (r *row) kept() []any {
	slotAge := (r.id>>seriesBits%600_000 + 500) / 1000 // s since the last multiple of ten minutes
	visible := r.visible.Int64
	if !r.visible.Valid && r.output.Valid {
		visible = r.output.Int64 - r.reason.Int64
	}
	var gap int64 // mean
	if r.span.Valid && r.chunks != 1 {
		gap = r.span.Int64 / (r.chunks - 1)
	}
	wait, setupRest, delayMax := r.waits()
	return []any{
		r.id, r.env, r.failure, r.reply, r.flags, less(r.late, slotAge), r.retryAfter, r.firstTokens, r.visible,
		r.stalls, r.stall, setupRest, delayMax, r.cached, r.input, r.output, r.chunks - visible + 100,
		wait - 128, r.connect, less(r.tls, r.connect.Int64+64), r.burstiness, r.firstChars,
		r.words - r.chars/6 + 64, r.chars - visible*9/2 - 64, less(r.tail, 128), less(r.iclP50, gap-64),
		r.iclMax, less(r.ttfb, -128), r.merged - 64, less(r.iclP95, 2*gap-64), less(r.ttft, 128), less(r.span, 32768),
		less(r.ttfr, 128), knownIf(r.reasonChunks != 0, r.reasonChunks-64), less(r.reason, r.reasonChunks),
		nil,
	}
}

// padded returns the values of paddedColumns, with as many zeros as the others
// lack of paddedBytes.
func (r *row) padded() []any {
	values := r.kept()
	lacking := paddedBytes
	for _, v := range values[1:] { // the id is the row's key
		lacking -= storedBytes(v)
	}
	if lacking > 0 {
		values[len(values)-1] = make([]byte, lacking)
	}
	return values
}

// storedBytes returns how many bytes SQLite keeps of an integer beside its type:
// none of NULL, 0 and 1. See https://sqlite.org/fileformat2.html, section 2.1.
func storedBytes(v any) int {
	var n int64
	switch v := v.(type) {
	case int64:
		n = v
	case sql.NullInt64:
		n = v.Int64 // 0 for NULL
	}
	if n == 0 || n == 1 {
		return 0
	}
	if n < 0 {
		n = ^n
	}
	width := bits.Len64(uint64(n))/8 + 1 // with the sign
	switch {
	case width <= 4:
		return width
	case width <= 6:
		return 6
	}
	return 8
}

// less returns how much more n is than expected; NULL for NULL.
func less(n sql.NullInt64, expected int64) sql.NullInt64 { return knownIf(n.Valid, n.Int64-expected) }

// waits returns three small waits in one number: dns_ms + 1 in units of 32,
// setup_rest_ms + 2 in units of 4, and delay_max_ms + 1. The last two come back
// by themselves if they do not fit.
func (r *row) waits() (wait int64, setupRest, delayMax sql.NullInt64) {
	if r.dns.Valid {
		wait = (r.dns.Int64 + 1) << 5
	}
	setupRest, delayMax = r.setupRest, r.delayMax
	if n := setupRest.Int64 + 2; setupRest.Valid && 1 <= n && n <= 7 {
		wait |= n << 2
		setupRest = sql.NullInt64{}
	}
	if n := delayMax.Int64 + 1; delayMax.Valid && 1 <= n && n <= 3 {
		wait |= n
		delayMax = sql.NullInt64{}
	}
	return wait, setupRest, delayMax
}
