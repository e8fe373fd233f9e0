package data

import (
	"bytes"
	"iter"
	"strconv"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// readOwn reads a line as [Journal.Append] writes it, in a fraction of the time
// that encoding/json takes, which is most of what a journal costs. It reports
// false for whatever it does not know to the letter, such as white space, an
// escape in a text or a field of another version: encoding/json judges those.
func readOwn(line []byte) (s bench.Sample, ok bool) {
	r := lineReader{rest: bytes.TrimSuffix(line, []byte("\n"))}
	r.sample(&s)
	return s, !r.strange && len(r.rest) == 0
}

// A lineReader reads compact JSON with known names. Once it meets anything else
// it is strange, and what it has read means nothing.
type lineReader struct {
	rest    []byte
	strange bool
}

// next passes over c if it comes next.
func (r *lineReader) next(c byte) bool {
	if len(r.rest) == 0 || r.rest[0] != c {
		return false
	}
	r.rest = r.rest[1:]
	return true
}

// need passes over c, which must come next.
func (r *lineReader) need(c byte) {
	if !r.next(c) {
		r.strange = true
	}
}

// items passes over what stands around the items of an object or array, and
// yields where each begins.
func (r *lineReader) items(begin, end byte) iter.Seq[struct{}] {
	return func(yield func(struct{}) bool) {
		if r.need(begin); r.strange || r.next(end) {
			return
		}
		for yield(struct{}{}) && !r.strange {
			if !r.next(',') {
				r.need(end)
				return
			}
		}
	}
}

// fields yields the names of an object's fields. The value of each is to be read
// before the next one.
func (r *lineReader) fields() iter.Seq[string] {
	return func(yield func(string) bool) {
		for range r.items('{', '}') {
			name := r.quoted()
			if r.need(':'); r.strange || !yield(string(name)) {
				return
			}
		}
	}
}

// quoted reads a text of ASCII without escapes.
func (r *lineReader) quoted() []byte {
	r.need('"')
	for i, c := range r.rest {
		switch {
		case c == '"':
			text := r.rest[:i]
			r.rest = r.rest[i+1:]
			return text
		case c < ' ', c == '\\', c >= 0x80:
			r.strange = true
			return nil
		}
	}
	r.strange = true
	return nil
}

func text[T ~string](r *lineReader, to *T) { *to = T(r.quoted()) }

// integer reads a whole number of at most eighteen digits.
func integer[T ~int | ~int64 | ~uint8](r *lineReader, to *T) {
	negative := r.next('-')
	var n int64
	digits := r.digits()
	for _, c := range digits {
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	*to = T(n)
	r.strange = r.strange || int64(*to) != n || len(digits) > 18 || len(digits) > 1 && digits[0] == '0'
}

// digits reads one digit or more.
func (r *lineReader) digits() []byte {
	n := 0
	for n < len(r.rest) && '0' <= r.rest[n] && r.rest[n] <= '9' {
		n++
	}
	digits := r.rest[:n]
	r.rest = r.rest[n:]
	r.strange = r.strange || n == 0
	return digits
}

// decimal reads a number without exponent.
func (r *lineReader) decimal(to *float64) {
	whole := r.rest
	r.next('-')
	first := r.digits()
	if r.next('.') {
		r.digits()
	}
	n, err := strconv.ParseFloat(string(whole[:len(whole)-len(r.rest)]), 64)
	*to = n
	r.strange = r.strange || err != nil || len(first) > 1 && first[0] == '0'
}

func (r *lineReader) truth(to *bool) {
	switch rest, is := bytes.CutPrefix(r.rest, []byte("true")); {
	case is:
		*to, r.rest = true, rest
	default:
		*to = false
		r.rest, is = bytes.CutPrefix(r.rest, []byte("false"))
		r.strange = r.strange || !is
	}
}

func (r *lineReader) instant(to interface{ UnmarshalText([]byte) error }) {
	if err := to.UnmarshalText(r.quoted()); err != nil {
		r.strange = true
	}
}

func (r *lineReader) sample(s *bench.Sample) {
	for name := range r.fields() {
		switch name {
		case "provider":
			text(r, &s.Provider)
		case "model":
			text(r, &s.Model)
		case "started_at":
			r.instant(&s.StartedAt)
		case "scheduled":
			r.instant(&s.Scheduled)
		case "env":
			r.env(&s.Env)
		case "phases":
			r.phases(&s.Phases)
		case "first_reasoning_ns":
			integer(r, &s.FirstReason)
		case "first_visible_ns":
			integer(r, &s.FirstText)
		case "last_visible_ns":
			integer(r, &s.LastText)
		case "done_ns":
			integer(r, &s.Done)
		case "eof_ns":
			integer(r, &s.EOF)
		case "reads":
			integer(r, &s.Reads)
		case "bytes":
			integer(r, &s.Bytes)
		case "chunks":
			integer(r, &s.Chunks)
		case "deliveries":
			integer(r, &s.Deliveries)
		case "reasoning_chunks":
			integer(r, &s.ReasonChunks)
		case "chars":
			integer(r, &s.Chars)
		case "words":
			integer(r, &s.Words)
		case "first_read_chars":
			integer(r, &s.FirstReadChars)
		case "first_read_tokens":
			r.count(&s.FirstReadTokens)
		case "gaps":
			r.gaps(&s.Gaps)
		case "usage":
			r.usage(&s.Usage)
		case "finish":
			text(r, &s.Finish)
		case "served_by":
			text(r, &s.ServedBy)
		case "backend":
			text(r, &s.Backend)
		case "server":
			r.server(&s.Server)
		case "http_status":
			integer(r, &s.HTTPStatus)
		case "proto":
			text(r, &s.Proto)
		case "error_kind":
			integer(r, &s.Kind)
		case "error_detail":
			text(r, &s.Detail)
		case "inner_code":
			integer(r, &s.InnerCode)
		case "failed_in":
			text(r, &s.FailedIn)
		case "retry_after_ns":
			integer(r, &s.RetryAfter)
		case "noise":
			r.noise(&s.Noise)
		case "trace":
			r.trace(&s.Trace)
		default:
			r.strange = true
		}
	}
}

func (r *lineReader) env(e *bench.Env) {
	for name := range r.fields() {
		switch name {
		case "method":
			integer(r, &e.Method)
		case "prompt":
			integer(r, &e.Prompt)
		case "protocol":
			text(r, &e.Protocol)
		case "vantage":
			text(r, &e.Vantage)
		case "region":
			text(r, &e.Region)
		case "nonce":
			r.truth(&e.Nonce)
		case "short":
			r.truth(&e.Short)
		case "lanes":
			integer(r, &e.Lanes)
		case "clock":
			text(r, &e.Clock)
		default:
			r.strange = true
		}
	}
}

func (r *lineReader) phases(p *bench.Phases) {
	for name := range r.fields() {
		switch name {
		case "dns_ns":
			integer(r, &p.DNS)
		case "connect_ns":
			integer(r, &p.Connect)
		case "tls_ns":
			integer(r, &p.TLS)
		case "setup_ns":
			integer(r, &p.Setup)
		case "wrote_headers_ns":
			integer(r, &p.WroteHeaders)
		case "wrote_request_ns":
			integer(r, &p.WroteRequest)
		case "first_byte_ns":
			integer(r, &p.FirstByte)
		case "headers_ns":
			integer(r, &p.Headers)
		default:
			r.strange = true
		}
	}
}

func (r *lineReader) gaps(g *bench.Gaps) {
	for name := range r.fields() {
		switch name {
		case "p50_ns":
			integer(r, &g.P50)
		case "p95_ns":
			integer(r, &g.P95)
		case "max_ns":
			integer(r, &g.Max)
		case "stall_ns":
			integer(r, &g.Stall)
		case "stalls":
			integer(r, &g.Stalls)
		case "burstiness":
			r.decimal(&g.Burstiness)
		case "has_burstiness":
			r.truth(&g.HasBurstiness)
		default:
			r.strange = true
		}
	}
}

func (r *lineReader) usage(u *bench.Usage) {
	for name := range r.fields() {
		switch name {
		case "input_tokens":
			r.count(&u.Input)
		case "cached_tokens":
			r.count(&u.Cached)
		case "output_tokens":
			r.count(&u.Output)
		case "reasoning_tokens":
			r.count(&u.Reasoning)
		case "visible_tokens":
			r.count(&u.Visible)
		case "estimated":
			r.truth(&u.Estimated)
		case "clamped":
			r.truth(&u.Clamped)
		default:
			r.strange = true
		}
	}
}

func (r *lineReader) count(c *wire.Count) {
	for name := range r.fields() {
		switch name {
		case "N":
			integer(r, &c.N)
		case "Known":
			r.truth(&c.Known)
		default:
			r.strange = true
		}
	}
}

func (r *lineReader) server(t *wire.ServerTiming) {
	for name := range r.fields() {
		switch name {
		case "QueueMS":
			r.decimal(&t.QueueMS)
		case "PromptMS":
			r.decimal(&t.PromptMS)
		case "DecodeMS":
			r.decimal(&t.DecodeMS)
		case "TTFTMS":
			r.decimal(&t.TTFTMS)
		case "TotalMS":
			r.decimal(&t.TotalMS)
		case "DecodeTPS":
			r.decimal(&t.DecodeTPS)
		default:
			r.strange = true
		}
	}
}

func (r *lineReader) noise(n *bench.Noise) {
	for name := range r.fields() {
		switch name {
		case "delay_p50_ns":
			integer(r, &n.DelayP50)
		case "delay_max_ns":
			integer(r, &n.DelayMax)
		case "involuntary_switches":
			integer(r, &n.Involuntary)
		case "cpu_pressure":
			r.decimal(&n.CPUPressure)
		case "client_noisy":
			r.truth(&n.Noisy)
		default:
			r.strange = true
		}
	}
}

func (r *lineReader) trace(t *[]bench.Arrival) {
	r.strange = r.strange || *t != nil // encoding/json says what a second one does
	*t = []bench.Arrival{}
	for range r.items('[', ']') {
		var a bench.Arrival
		for name := range r.fields() {
			switch name {
			case "t_ns":
				integer(r, &a.At)
			case "end":
				integer(r, &a.Offset)
			case "read":
				integer(r, &a.Read)
			case "kind":
				text(r, &a.Mark)
			case "chars":
				integer(r, &a.Chars)
			case "tokens":
				integer(r, &a.Tokens)
			default:
				r.strange = true
			}
		}
		*t = append(*t, a)
	}
}
