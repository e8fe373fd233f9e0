package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// printProbe prints one sample for people: the verdict, the timeline, the
// numbers with their reasons.
func printProbe(w io.Writer, s *bench.Sample) error {
	clock := "none: nothing came"
	if s.Env.Clock != "" {
		clock = s.Env.Clock
	}
	fmt.Fprintf(w, "%s  (%s, method %d, clock: %s)\n\n", s.Pair, s.Env.Protocol, s.Env.Method, clock)
	fmt.Fprintln(w, verdict(s))
	if line := timeline(s, 64); line != "" {
		fmt.Fprintf(w, "\n%s\n", line)
	}
	if s.Chunks == 0 && s.FirstReason == 0 {
		return nil // nothing arrived that a number could be about
	}
	fmt.Fprintln(w)
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range probeRows(s) {
		fmt.Fprintf(table, "  %s\t%s\t%s\n", row.name, row.value, row.note)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if s.Noise.Noisy {
		fmt.Fprintf(w, "\nThis machine was busy: the longest wait of a read for the program was %s, and tasks waited for a processor %.0f %% of the time. Measure again on an idle one.\n",
			s.Noise.DelayMax.Round(time.Microsecond), s.Noise.CPUPressure*100)
	}
	return nil
}

// verdict says in words what happened and what the delivery's shape means.
func verdict(s *bench.Sample) string {
	if !s.OK() {
		text := fmt.Sprintf("Failed: %s", s.Kind)
		if s.Detail != "" {
			text += fmt.Sprintf(" (%s)", s.Detail)
		}
		if s.HTTPStatus != 0 {
			text += fmt.Sprintf(", HTTP %d", s.HTTPStatus)
		}
		if s.FailedIn != "" {
			text += fmt.Sprintf(", in phase %s", s.FailedIn)
		}
		if s.RetryAfter > 0 {
			text += fmt.Sprintf("; the provider asks to wait %s", s.RetryAfter)
		}
		if s.Partial() {
			text += fmt.Sprintf(". %d characters had arrived; they are kept as a partial answer", s.Chars)
		}
		return text + "."
	}
	var text string
	switch s.Shape() {
	case bench.ShapeSmooth:
		text = "Smooth: about a token at a time. The decode rate is the model's writing speed as a reader sees it."
	case bench.ShapeChunky:
		text = "Chunky: several tokens a read (batches, speculation, or a proxy that flushes). The decode rate holds; chunks are not tokens."
	case bench.ShapeBurst:
		text = "Burst: most of the answer came at once. No decode rate exists; only end-to-end numbers mean something."
	default:
		text = "No visible text."
	}
	if lost, stalls, why := s.Stall(); why.OK() && stalls > 0 {
		text += fmt.Sprintf(" %d stalls took %s in all.", stalls, lost.Round(time.Millisecond))
	}
	return text
}

// timeline draws the run as one line: what arrived when, from dispatch to end.
func timeline(s *bench.Sample, width int) string {
	if len(s.Trace) == 0 {
		return ""
	}
	end := s.Trace[len(s.Trace)-1].At
	if end <= 0 {
		return ""
	}
	chars := make([]int, width)
	reasoning := make([]bool, width)
	most := 1
	for _, a := range s.Trace {
		col := min(int(int64(a.At)*int64(width)/int64(end)), width-1)
		switch a.Mark {
		case bench.MarkVisible:
			chars[col] += a.Chars
			most = max(most, chars[col])
		case bench.MarkReasoning:
			reasoning[col] = true
		}
	}
	levels := []rune("▁▂▃▄▅▆▇█")
	var b strings.Builder
	for col := range width {
		switch {
		case chars[col] > 0:
			b.WriteRune(levels[chars[col]*(len(levels)-1)/most])
		case reasoning[col]:
			b.WriteRune('~')
		default:
			b.WriteRune('·')
		}
	}
	legend := "characters over time"
	if s.FirstReason != 0 {
		legend += ", ~ reasoning"
	}
	return fmt.Sprintf("  0 s %s %.2f s   (%s)", b.String(), end.Seconds(), legend)
}

// A probeRow is one printed number.
type probeRow struct{ name, value, note string }

func probeRows(s *bench.Sample) []probeRow {
	var rows []probeRow
	add := func(name, value, note string) { rows = append(rows, probeRow{name, value, note}) }
	duration := func(name string, f func() (time.Duration, bench.Reason), note string) {
		d, why := f()
		if why.OK() {
			add(name, fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond)), note)
			return
		}
		add(name, "—", string(why))
	}
	number := func(name, unit string, f func() (float64, bench.Reason), note string) {
		v, why := f()
		if why.OK() {
			add(name, fmt.Sprintf("%.2f %s", v, unit), note)
			return
		}
		add(name, "—", string(why))
	}
	duration("ttft_ms", s.TTFT, "dispatch to first visible text")
	duration("ttft_cold_ms", s.TTFTCold, fmt.Sprintf("with DNS %.1f, connect %.1f, TLS %.1f ms", msOf(s.Phases.DNS), msOf(s.Phases.Connect), msOf(s.Phases.TLS)))
	if s.FirstReason != 0 {
		duration("ttfr_ms", s.TTFR, "first readable reasoning")
		duration("think_ms", s.Think, "from there to the first visible text")
	}
	duration("ttlt_ms", s.TTLT, "dispatch to last visible text")
	duration("e2e_ms", s.E2E, "dispatch to completion")
	number("decode_tps", "tokens/s", s.DecodeTPS, "tokens after the first read ÷ time after it; the ranked number")
	hybrid, path := s.HybridTPS()
	if path == bench.PathMalformed {
		add("tps_hybrid", "—", string(path))
	} else {
		add("tps_hybrid", fmt.Sprintf("%.2f tokens/s", hybrid), "the published rule, path "+string(path))
	}
	number("e2e_tps_visible", "tokens/s", s.EndToEndTPS, "over the whole request")
	number("tpot_ms", "ms", s.TPOTMS, "time per output token after the first")
	number("chunk_rate_per_s", "chunks/s", s.ChunkRate, "chunks are not tokens")
	number("chars_per_s", "characters/s", s.CharsPerSecond, "comparable across tokenizers")
	number("burstiness", "", s.Burstiness, "−1 clockwork, 0 random, 1 bursts")
	add("chunks", fmt.Sprint(s.Chunks), fmt.Sprintf("in %d reads of the socket", s.Reads))
	add("chars, words", fmt.Sprintf("%d, %d", s.Chars, s.Words), "visible")
	add("tokens", tokens(s), "input (cached), output (reasoning)")
	if s.Finish != "" {
		add("finish", s.Finish, "")
	}
	if s.ServedBy != "" {
		add("served by", s.ServedBy, s.Backend)
	}
	return rows
}

// tokens says what the provider counted.
func tokens(s *bench.Sample) string {
	of := func(n int64, known bool) string {
		if !known {
			return "?"
		}
		return fmt.Sprint(n)
	}
	u := s.Usage
	text := fmt.Sprintf("%s (%s), %s (%s)", of(u.Input.N, u.Input.Known), of(u.Cached.N, u.Cached.Known), of(u.Output.N, u.Output.Known), of(u.Reasoning.N, u.Reasoning.Known))
	if u.Estimated {
		text += ", estimated"
	}
	return text
}

func msOf(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
