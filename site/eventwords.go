package site

import (
	"fmt"
	"math"
	"strings"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
	"github.com/streamgauge/streamgauge/site/svg"
)

// shiftWords puts a shift in a few words: "14 % slower (11–17 %)".
func shiftWords(s *rollup.Shift) string {
	return fmt.Sprintf("%s (%s)", shiftSize(s), shiftInterval(s))
}

// shiftSize says how large a shift is and in which sense.
func shiftSize(s *rollup.Shift) string {
	sense := "slower"
	if !s.Worse() {
		sense = "faster"
	}
	if s.Metric.Better() == stats.LowerIsBetter {
		if sense = "later"; !s.Worse() {
			sense = "sooner"
		}
	}
	return significant(math.Abs(s.Change)*100, 2) + " % " + sense
}

// shiftInterval formats the interval of a shift's size, in the same sense.
func shiftInterval(s *rollup.Shift) string {
	lo, hi := s.Interval.Lo*100, s.Interval.Hi*100
	if s.Change < 0 {
		lo, hi = -hi, -lo
	}
	return significant(lo, 2) + "–" + significant(hi, 2) + " %"
}

// shiftHead says what changed since when: "Slower since 19 November 2025".
func shiftHead(ev *rollup.Event) string {
	size := strings.Fields(shiftSize(ev.Shift))
	sense := size[len(size)-1]
	if ev.Shift.Metric == rollup.TTFT {
		sense += " to start"
	}
	return capital(sense) + " since " + day(ev.Onset)
}

// noteShort names a known change in a word or two, for a chart.
func noteShort(n *rollup.Note) string {
	switch n.What {
	case rollup.NoteMethod, rollup.NotePrompt:
		return string(n.What) + " " + display(n.To)
	case rollup.NoteProtocol:
		return "wire format"
	case rollup.NoteServed:
		return "model revision"
	case rollup.NoteName:
		return "name"
	}
	return "route"
}

// noteWords says what changed in a sentence.
func noteWords(n *rollup.Note) string {
	from, to := display(n.From), display(n.To)
	switch n.What {
	case rollup.NoteMethod:
		return fmt.Sprintf("measured by method version %s, before by %s", to, from)
	case rollup.NotePrompt:
		return fmt.Sprintf("measured with prompt version %s, before with %s", to, from)
	case rollup.NoteProtocol:
		return fmt.Sprintf("asked over %s, before over %s", to, from)
	case rollup.NoteServed:
		return fmt.Sprintf("the provider says it serves %s, before %s", to, from)
	case rollup.NoteName:
		return fmt.Sprintf("called %s, before %s", to, from)
	}
	return fmt.Sprintf("served by %s, before by %s", to, from)
}

// A Change is what became of the time to the last token, in words and parts.
type Change struct {
	Head, Text string
	Figure     *Figure
}

// splitChange says where a change of the mean time to the last token came from.
// What rounds to nothing is not said: it would read as a claim of nought.
func splitChange(head, lead string, d stats.Decomposition) *Change {
	c := &Change{Head: head, Text: "A mean answer takes just as long"}
	if !roundsToNothing(d.TotalMs) {
		c.Text = fmt.Sprintf("A mean answer takes %s %s", seconds(math.Abs(d.TotalMs)), pick(d.TotalMs, "longer", "less"))
	}
	all := []svg.Part{
		{Name: pick(d.StartMs, "later start", "earlier start"), Value: d.StartMs, Hue: svg.Wait},
		{Name: pick(d.VolumeMs, "longer answers", "shorter answers"), Value: d.VolumeMs, Hue: svg.Neutral},
		{Name: pick(d.SpeedMs, "slower writing", "faster writing"), Value: d.SpeedMs, Hue: svg.Speed},
	}
	from := [...]string{pick(d.StartMs, "a ", "an "), "", ""}
	var parts svg.Parts
	var said []string
	for i, part := range all {
		if roundsToNothing(part.Value) {
			continue
		}
		part.Text = signedSeconds(part.Value)
		said = append(said, part.Text+" from "+from[i]+part.Name)
		parts.Parts = append(parts.Parts, part)
	}
	if len(said) > 0 {
		c.Text += ": " + strings.Join(said, ", ")
	}
	switch {
	case strings.HasSuffix(lead, "."):
		c.Text = lead + " " + c.Text
	case lead != "":
		c.Text = lead + " " + lowerFirst(c.Text)
	}
	c.Text += "."
	if len(said) == 0 {
		return c
	}
	parts.Label = c.Text
	c.Figure = &Figure{Label: c.Text}
	parts.Size = svg.Wide(0)
	c.Figure.Wide = parts.SVG()
	parts.Size = svg.Phone(0)
	c.Figure.Phone = parts.SVG()
	return c
}

// pick returns a word by the sign of a change.
func pick(change float64, positive, negative string) string {
	if change < 0 {
		return negative
	}
	return positive
}

// seconds formats milliseconds as seconds with two decimals, as parts of a sum
// must add up to the eye.
func seconds(ms float64) string { return fmt.Sprintf("%.2f s", ms/1000) }

// roundsToNothing reports whether [seconds] has nothing to show of milliseconds.
func roundsToNothing(ms float64) bool { return math.Round(ms/10) == 0 }

// signedSeconds formats milliseconds that do not round to nothing.
func signedSeconds(ms float64) string {
	if ms < 0 {
		return "−" + seconds(-ms)
	}
	return "+" + seconds(ms)
}
