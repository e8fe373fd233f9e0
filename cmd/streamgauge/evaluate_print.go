package main

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/streamgauge/streamgauge/rollup"
)

// verdictWords puts an evaluation in words, one sentence or two to a finding.
func verdictWords(e *rollup.Evaluation) []string {
	if e.OK == 0 {
		return []string{fmt.Sprintf("No request of %d was answered, so nothing can be said of its speed.", e.Requests)}
	}
	if 2*e.Noisy > e.OK {
		return []string{
			fmt.Sprintf("This machine was too busy: %d of %d answers were disturbed, so nothing is said of times. Evaluate again on an idle one.", e.Noisy, e.OK),
			throttleWords(e),
		}
	}
	return []string{promptWords(e), answerWords(&e.Answer), honestyWords(&e.Answer), throttleWords(e)}
}

// promptWords says what a longer prompt costs.
func promptWords(e *rollup.Evaluation) string {
	c := &e.Prompt
	if !c.PerToken.OK() || sizesAlike(c.Sizes) {
		text := "What a longer prompt costs is not known: too few answers to prompts of different size."
		if e.Cached > 0 {
			text += fmt.Sprintf(" %d prompts came from a cache in part.", e.Cached)
		}
		return text
	}
	counted := "tokens as the provider counts them"
	if c.Aimed {
		counted = "tokens as aimed at, since the provider counts none"
	}
	rate, i, clear := c.PerToken.PerSecond()
	span := fmt.Sprintf("between %.0f and %.0f %s", c.Sizes[0].Tokens, c.Sizes[len(c.Sizes)-1].Tokens, counted)
	if !clear {
		if c.PerToken.Interval.Hi <= 0 {
			return fmt.Sprintf("A longer prompt does not delay the first output, %s.", span)
		}
		return fmt.Sprintf("No delay by a longer prompt can be told from nought, %s: it reads at least %s tokens a second.", span, digits(i.Lo))
	}
	return fmt.Sprintf("1,000 tokens more of prompt delay the first output by %s (95 %% interval %s to %s), %s: it reads about %s tokens a second (%s to %s).",
		spell(c.PerToken.MS*1000), spell(c.PerToken.Interval.Lo*1000), spell(c.PerToken.Interval.Hi*1000), span, digits(rate), digits(i.Lo), digits(i.Hi))
}

// answerWords says what a longer answer costs.
func answerWords(c *rollup.AnswerCost) string {
	s := c.Slope()
	ms, i, ok := c.TTLTMS(500)
	if !ok || s.MS <= 0 {
		return "What a longer answer costs is not known: too few answers with a token count."
	}
	rate, r, clear := s.PerSecond()
	text := fmt.Sprintf("A token of answer costs %.3g ms, which is %s tokens a second", s.MS, digits(rate))
	if clear {
		text += fmt.Sprintf(" (%s to %s)", digits(r.Lo), digits(r.Hi))
	}
	return text + fmt.Sprintf(". An answer of 500 tokens is done after %s (%s to %s): %s until it begins, the rest at that pace.",
		spell(ms), spell(i.Lo), spell(i.Hi), spell(c.StartMS))
}

// honestyWords holds the two ways of measuring the pace against each other.
func honestyWords(c *rollup.AnswerCost) string {
	switch {
	case !c.ByLength.Clear() || sizesAlike(c.Lengths): // an interval that holds nought agrees with any pace
		return "Whether the stream is honest is not known: too few answers of different length."
	case !c.Streamed.OK():
		return "The answers did not stream, or without a token count: the pace is that by which longer answers took longer."
	case c.ByLength.Interval.Below(c.Streamed.Interval) || c.Streamed.Interval.Below(c.ByLength.Interval):
		return fmt.Sprintf("Beware: the stream says %.3g ms a token, longer answers took %.3g ms more for each (%.3g to %.3g). Text is held back, or the pace depends on the length.",
			c.Streamed.MS, c.ByLength.MS, c.ByLength.Interval.Lo, c.ByLength.Interval.Hi)
	}
	return fmt.Sprintf("Nothing speaks against the stream: longer answers took %.3g ms more for each token (%.3g to %.3g), which agrees. Half of the answers lie within %.2g %% of the line.",
		c.ByLength.MS, c.ByLength.Interval.Lo, c.ByLength.Interval.Hi, c.Misfit*100)
}

// throttleWords says whether the endpoint throttled.
func throttleWords(e *rollup.Evaluation) string {
	t := &e.Throttle
	text := fmt.Sprintf("None of %d requests was refused for the rate (95 %% interval 0 to %.0f %%)", e.Requests, t.Share.Hi*100)
	if t.Refused > 0 {
		text = fmt.Sprintf("%d of %d requests were refused for the rate (95 %% interval %.0f to %.0f %%)", t.Refused, e.Requests, t.Share.Lo*100, t.Share.Hi*100)
		if t.RetryAfter > 0 {
			text += fmt.Sprintf(", with a pause of up to %s asked for", t.RetryAfter.Round(time.Second))
		}
	}
	if t.Other > 0 {
		text += fmt.Sprintf("; %d failed otherwise", t.Other)
	}
	switch {
	case t.Judged == 0:
		return text + "."
	case t.Slowed():
		return text + fmt.Sprintf(". It grew slower meanwhile: a token of the later answers took %.0f %% more time (p = %.2g).", (t.Slower-1)*100, t.P)
	}
	return text + fmt.Sprintf(". It did not clearly grow slower over %d answers.", t.Judged)
}

// printEvaluation prints an evaluation for people: the verdict, then the numbers.
func printEvaluation(w io.Writer, e *evaluation) error {
	fmt.Fprintf(w, "%s/%s, %s, %d of %d requests answered in %s\n\n", e.Provider, e.Model, e.At.Format("2 January 2006 15:04 MST"),
		e.OK, e.Requests, time.Duration(e.Seconds*float64(time.Second)).Round(time.Second))
	for _, line := range e.Verdict {
		fmt.Fprintf(w, "- %s\n", line)
	}
	for _, part := range []struct {
		head  string
		sizes []rollup.Size
	}{{"PROMPT\tTOKENS\tN\tFIRST OUTPUT, MS\tLEAST\tGREATEST", e.Prompt.Sizes}, {"ANSWER\tTOKENS\tN\tLAST TOKEN, MS\tLEAST\tGREATEST", e.Answer.Lengths}} {
		if len(part.sizes) == 0 {
			continue
		}
		fmt.Fprintln(w)
		table := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
		fmt.Fprintf(table, "%s\t\n", part.head)
		for _, s := range part.sizes {
			fmt.Fprintf(table, "%d\t%.0f\t%d\t%.0f\t%.0f\t%.0f\t\n", s.Aimed, s.Tokens, s.N, s.MS, s.MinMS, s.MaxMS)
		}
		if err := table.Flush(); err != nil {
			return err
		}
	}
	if e.Noisy > 0 {
		fmt.Fprintf(w, "\n%d answers are left out, as this machine was busy.\n", e.Noisy)
	}
	_, err := fmt.Fprintln(w, "\nOne sitting is one hour in one place; the record says what is typical. Intervals are at 95 %.")
	return err
}

// spell writes milliseconds for people.
func spell(ms float64) string {
	if ms < 1000 {
		return fmt.Sprintf("%.0f ms", ms)
	}
	return digits(ms/1000) + " s"
}

// digits writes a number with three significant digits.
func digits(v float64) string {
	switch {
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}
