package main

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/streamgauge/streamgauge/rollup"
)

// Bounds of an issue. GitHub takes 256 characters of title and 65,536 of body.
const (
	maxTitle     = 200   // characters
	maxBody      = 30000 // bytes
	maxNameShown = 80    // characters of a name
	maxAffected  = 60    // parts of an incident that are listed
)

// instantLayout is how instants are written to people.
const instantLayout = "2 January 2006, 15:04 UTC"

// plainName makes a name that came from outside harmless to look at: white space
// and characters that print nothing or reorder their neighbours are replaced,
// and what is long is cut.
func plainName(name string) string {
	var b strings.Builder
	n := 0
	for _, r := range name {
		if n == maxNameShown {
			b.WriteString("…")
			break
		}
		if !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) {
			r = utf8.RuneError
		}
		b.WriteRune(r)
		n++
	}
	if n == 0 {
		return "(no name)"
	}
	return b.String()
}

// codeSpan returns text as Markdown that shows it as it is: in a fence longer
// than any within, so that no mention, link, image or HTML of it is alive. See
// CommonMark 0.31, section 6.1.
func codeSpan(text string) string {
	longest, run := 0, 0
	for _, r := range text {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(text, "`") || strings.HasSuffix(text, "`") {
		text = " " + text + " "
	}
	return fence + text + fence
}

// headline says in a line what an incident is. A title is no Markdown but for
// code between backticks.
func headline(i *rollup.Incident) string {
	name := strings.ReplaceAll(plainName(i.Provider), "`", "'")
	if model := i.Series.Model; model != "" {
		name += "/" + strings.ReplaceAll(plainName(model), "`", "'")
	}
	text := name + " " + condition(i)
	if i.Shift != nil {
		text = fmt.Sprintf("%s: %s", name, shiftText(i.Shift))
	}
	if !i.Open() {
		text += ", " + closeWords(i)
	}
	return text
}

// condition says what is wrong, after the name.
func condition(i *rollup.Incident) string {
	verb := "is"
	if !i.Open() {
		verb = "was"
	}
	switch i.Kind {
	case rollup.IncidentSpeed:
		return "answers at another speed"
	case rollup.IncidentDegraded:
		return verb + " degraded"
	}
	return verb + " down"
}

// closeWords says why an incident is over, in a few words.
func closeWords(i *rollup.Incident) string {
	switch i.Why {
	case rollup.CloseRecovered:
		return "recovered"
	case rollup.CloseSettled:
		return "the normal speed by now"
	case rollup.CloseSuperseded:
		return "changed once more"
	case rollup.CloseUnseen:
		return "not heard of since"
	}
	return "over"
}

// shiftText says how large a change of speed is and in which sense.
func shiftText(s *rollup.Shift) string {
	words := map[bool]string{true: "slower", false: "faster"}
	if s.Metric == rollup.TTFT {
		words = map[bool]string{true: "later to the first token", false: "sooner to the first token"}
	}
	return fmt.Sprintf("%.0f %% %s", 100*max(s.Change, -s.Change), words[s.Worse()])
}

// issueBody is the text of an issue, by the record alone: the same incident has
// the same text whenever it is written. Names come from providers and stand in
// code spans.
func issueBody(i *rollup.Incident, policy *rollup.Policy, siteURL string) string {
	var b strings.Builder
	name := codeSpan(plainName(i.Provider))
	if model := i.Series.Model; model != "" {
		name = codeSpan(plainName(i.Provider) + "/" + plainName(model))
	}
	fmt.Fprintf(&b, "%s %s.\n\n", name, condition(i))
	day := i.Kind == rollup.IncidentSpeed
	if day {
		fmt.Fprintf(&b, "- Since: %s\n", i.Began.Format("2 January 2006"))
	} else {
		fmt.Fprintf(&b, "- First failed run: %s\n", i.Began.Format(instantLayout))
	}
	if i.Series.Vantage != "" {
		fmt.Fprintf(&b, "- Measured from: %s\n", codeSpan(plainName(i.Series.Vantage)))
	}
	if s := i.Shift; s != nil {
		writeShift(&b, s)
	} else if i.Tally.Runs > 0 {
		fmt.Fprintf(&b, "- Runs since then that told of the provider: %d, failed: %d%s\n", i.Tally.Runs, i.Tally.Failed, kindsText(i.Tally.Kinds))
	}
	if day {
		fmt.Fprintf(&b, "- Known since: the end of %s\n", i.Opened.Add(-time.Second).Format("2 January 2006"))
	} else {
		fmt.Fprintf(&b, "- Opened by: the run of %s (down at %s failed, degraded at %s)\n", i.Opened.Format(instantLayout), policy.Down.Open, policy.Degraded.Open)
	}
	if !i.Worsened.IsZero() {
		fmt.Fprintf(&b, "- Down since: %s\n", i.Worsened.Format(instantLayout))
	}
	if !i.Ended.IsZero() && !day {
		fmt.Fprintf(&b, "- First good run after the last failed one: %s (%s after the first failed one)\n", i.Ended.Format(instantLayout), roughly(i.Ended.Sub(i.Began)))
	}
	if !i.Open() {
		fmt.Fprintf(&b, "- Over: %s, %s\n", i.Closed.Format(instantLayout), closeWords(i))
	}
	writeParts(&b, i)
	if siteURL != "" {
		fmt.Fprintf(&b, "\nEvidence: <%s>\n", evidenceURL(i, siteURL))
	}
	b.WriteString("\n---\nThis issue follows the record of measurements: it is updated and closed by the job that opened it. " +
		"Close it yourself to hear no more of this incident.\n")
	text := b.String()
	if len(text) > maxBody {
		text = strings.ToValidUTF8(text[:maxBody], "")
	}
	return text
}

// evidenceURL is where the site tells of an incident. One of speed is among the
// changes there, under the name of its change.
func evidenceURL(i *rollup.Incident, siteURL string) string {
	if i.Kind == rollup.IncidentSpeed {
		return siteURL + "changes/"
	}
	return siteURL + "changes/#i-" + i.ID
}

func writeShift(b *strings.Builder, s *rollup.Shift) {
	fmt.Fprintf(b, "- %s: from %s to %s %s\n", capitalised(shiftText(s)), threeDigits(s.Before), threeDigits(s.After), s.Metric.Unit())
	fmt.Fprintf(b, "- 95 %% interval of the change: %+.0f to %+.0f %%; p = %.2g; %d days before, %d after\n",
		100*s.Interval.Lo, 100*s.Interval.Hi, s.P, s.DaysBefore, s.DaysAfter)
}

// threeDigits formats a number with three significant digits, and all of those
// before its point.
func threeDigits(v float64) string {
	if math.Abs(v) >= 100 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.3g", v)
}

// writeParts lists what a provider's incident joins.
func writeParts(b *strings.Builder, i *rollup.Incident) {
	if len(i.Parts) == 0 {
		return
	}
	b.WriteString("\nAffected:\n\n")
	for k := range i.Parts[:min(len(i.Parts), maxAffected)] {
		p := &i.Parts[k]
		fmt.Fprintf(b, "- %s from %s: ", codeSpan(plainName(p.Series.Model)), codeSpan(plainName(p.Series.Vantage)))
		switch {
		case p.Shift != nil:
			b.WriteString(shiftText(p.Shift))
		case p.Open():
			fmt.Fprintf(b, "%s since %s", p.Kind, p.Began.Format(instantLayout))
		default:
			fmt.Fprintf(b, "%s from %s, %s", p.Kind, p.Began.Format(instantLayout), closeWords(p))
		}
		b.WriteByte('\n')
	}
	if more := len(i.Parts) - maxAffected; more > 0 {
		fmt.Fprintf(b, "- and %d more\n", more)
	}
}

// kindsText counts failures by kind, the most frequent first: " (server 5, timeout 1)".
func kindsText(kinds map[string]int) string {
	names := slices.SortedFunc(maps.Keys(kinds), func(a, b string) int {
		return cmp.Or(cmp.Compare(kinds[b], kinds[a]), cmp.Compare(a, b))
	})
	var parts []string
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%s %d", name, kinds[name]))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}

// roughly formats a span in minutes: "1 h 20 min".
func roughly(d time.Duration) string {
	minutes := int(d.Round(time.Minute) / time.Minute)
	switch h, m := minutes/60, minutes%60; {
	case h == 0:
		return fmt.Sprintf("%d min", m)
	case m == 0 || h >= 48:
		return fmt.Sprintf("%d h", h)
	default:
		return fmt.Sprintf("%d h %d min", h, m)
	}
}

func capitalised(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(r)) + text[size:]
}
