package wire

import (
	"net/http"
	"strconv"
	"strings"
)

// A Retry is when a provider asks to be tried again; zero if it does not say.
type Retry struct {
	DelayMS  int64 // from now, milliseconds
	AtUnixMS int64 // at an instant (Retry-After as a date), Unix milliseconds
}

// maxDelayMS bounds a delay: what is longer than a year is a mistake.
const maxDelayMS = 366 * 24 * 3600 * 1000

// retry finds out when to come again: Retry-After (RFC 9110, 10.2.3) and its
// finer sibling retry-after-ms, else the body, else after a 429 the reset of the
// limit that is used up.
func (r report) retry(status int, h http.Header) Retry {
	var out Retry
	if s := strings.TrimSpace(h.Get("Retry-After")); s != "" {
		if ms, ok := parseDelay(s); ok {
			out.DelayMS = ms
		} else if t, err := http.ParseTime(s); err == nil {
			out.AtUnixMS = t.UnixMilli()
		}
	}
	if f, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && f > 0 {
		out.DelayMS = max(out.DelayMS, clampMS(f))
	}
	if out != (Retry{}) {
		return out
	}
	if r.delayMS > 0 {
		return Retry{DelayMS: r.delayMS}
	}
	if r.resetMS > 0 {
		return Retry{AtUnixMS: r.resetMS}
	}
	if status != http.StatusTooManyRequests {
		return out
	}
	for name, values := range h {
		what, ok := cutResetName(name)
		if !ok || len(values) == 0 || !usedUp(h, name, what) {
			continue
		}
		got := parseReset(values[0])
		out.DelayMS = max(out.DelayMS, got.DelayMS)
		out.AtUnixMS = max(out.AtUnixMS, got.AtUnixMS)
	}
	if out.DelayMS > 0 {
		out.AtUnixMS = 0 // one of the two; delays need no agreement on the time
	}
	return out
}

// cutResetName returns what the limit of a reset header is on: "-Tokens" for
// X-Ratelimit-Reset-Tokens and Anthropic-Ratelimit-Tokens-Reset.
func cutResetName(name string) (what string, ok bool) {
	if what, ok = strings.CutPrefix(name, "X-Ratelimit-Reset"); ok {
		return what, true
	}
	if what, ok = strings.CutPrefix(name, "Anthropic-Ratelimit"); ok {
		return strings.CutSuffix(what, "-Reset")
	}
	return "", false
}

// usedUp reports whether the limit of a reset header is the one that was hit:
// nothing of it remains, or no header says how much does.
func usedUp(h http.Header, name, what string) bool {
	sibling := "X-Ratelimit-Remaining" + what
	if strings.HasPrefix(name, "Anthropic") {
		sibling = "Anthropic-Ratelimit" + what + "-Remaining"
	}
	left := h.Get(sibling)
	return left == "" || left == "0"
}

// parseReset reads the value of a rate limit's reset header: a duration as
// OpenAI writes it ("1m30s"), plain seconds, seconds or milliseconds since 1970
// (GitHub, OpenRouter), or an instant as in RFC 3339 (Anthropic).
func parseReset(s string) Retry {
	s = strings.TrimSpace(s)
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		switch {
		case f > 1e11:
			return Retry{AtUnixMS: clampMS64(f)}
		case f > 1e9:
			return Retry{AtUnixMS: clampMS64(f * 1000)}
		}
	}
	if ms, ok := parseDelay(s); ok {
		return Retry{DelayMS: ms}
	}
	// time.Time's own parser, reached through a value that net/http hands out:
	// this package imports no clock.
	t := http.Cookie{}.Expires
	if len(s) < 64 && t.UnmarshalText([]byte(s)) == nil {
		return Retry{AtUnixMS: t.UnixMilli()}
	}
	return Retry{}
}

// parseDelay reads a delay in milliseconds: plain seconds or units ("6ms",
// "1m30s", "2d", "48.9s"). It reports false for what is none, or negative.
func parseDelay(s string) (ms int64, ok bool) {
	s = strings.TrimSpace(s)
	if len(s) == 0 || len(s) > 32 {
		return 0, false
	}
	total := 0.0
	for s != "" {
		n := 0
		for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
			n++
		}
		f, err := strconv.ParseFloat(s[:n], 64)
		if err != nil {
			return 0, false
		}
		s = s[n:]
		n = 0
		for n < len(s) && !(s[n] >= '0' && s[n] <= '9' || s[n] == '.') {
			n++
		}
		scale, ok := map[string]float64{
			"": 1e3, "d": 86400e3, "h": 3600e3, "m": 60e3, "s": 1e3, "ms": 1, "us": 1e-3, "µs": 1e-3, "ns": 1e-6,
		}[s[:n]]
		if !ok {
			return 0, false
		}
		s = s[n:]
		total += f * scale
	}
	return clampMS(total), true
}

// clampMS rounds a delay up to whole milliseconds, within bounds.
func clampMS(ms float64) int64 { return int64(min(max(ms, 0), maxDelayMS) + 0.999) }

// clampMS64 is an instant in milliseconds that fits.
func clampMS64(ms float64) int64 { return int64(min(max(ms, 0), 1e15)) }
