package site

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// An EvaluatePage says how to evaluate an endpoint in ten minutes, and what the
// record says of each already.
type EvaluatePage struct {
	Page
	Facts    Facts
	Window   string
	Command  string // to evaluate an endpoint of the reader's own
	Example  *Evaluation
	Rows     []EvaluateRow
	Without  []Link // endpoints that were measured and have no pace
	Commands []NamedCommand
	Hours    *Table // refusals by UTC hour, nil if there are none
	Refused  string // what is said in place of it
}

// A NamedCommand is a command with the endpoint that it evaluates.
type NamedCommand struct{ Text, Command string }

// An EvaluateRow is what the record says of one endpoint.
type EvaluateRow struct {
	Link
	Words    string // the verdict
	Start    Number // ms, with the unit
	PerToken Number // ms
	Times    []made // to answers of evaluateLengths
	Seen     string // lengths of answer that it rests on
	Query    string // link to the days that it is made of
	Throttle Number // %
}

// evaluateLengths are the lengths of answer that the page works out.
func evaluateLengths() []int { return []int{100, 500, 2000} }

func (e *edition) evaluateFiles() ([]file, error) {
	example, err := e.exampleEvaluation()
	if err != nil {
		return nil, err
	}
	files := []file{e.html(evaluatePath+"index.html", "evaluate", func() (any, error) { return e.evaluatePage(example), nil })}
	if example != nil {
		files = append(files, file{evaluatePath + exampleFile, func() ([]byte, error) { return fs.ReadFile(e.in.Content, exampleSource) }})
	}
	return files, nil
}

func (e *edition) evaluatePage(example *Evaluation) EvaluatePage {
	p := EvaluatePage{Example: example, Facts: e.facts, Window: windowWords(listWindow), Command: "streamgauge evaluate --url http://127.0.0.1:11434/v1 --model llama3.2"}
	p.Page = e.page(evaluatePath, evaluatePath, "Evaluate", "What ten minutes can tell of an endpoint: time against the length of prompt and answer, and throttling. A command for your own, and what the record says of each.", "copy.js", "evaluate.js")
	e.wear(&p.Page, "evaluate.css")
	board := e.boards[listWindow][rollup.DecodeTPS]
	span := listWindow.Span(e.now)
	hours := &Table{Caption: "Refused for the rate, of runs that began in the hour, UTC", Head: []Head{{"Endpoint", false}}}
	for hour := range 24 {
		hours.Head = append(hours.Head, Head{fmt.Sprintf("%02d", hour), true})
	}
	for i := range board.Rows {
		of := e.bySeries[board.Rows[i].Series]
		s := of.summary[listWindow]
		if s.Runs == 0 {
			continue
		}
		fit := of.track.Length(s.Span)
		throttle := s.Reliability.Throttle
		row := EvaluateRow{
			Link: Link{of.title(), p.Root + of.path}, Throttle: shareNumber(throttle), Words: evaluateWords(fit, s),
			Start: estimate(fit.Start, latency), PerToken: estimate(fit.PerToken, func(v float64) string { return significant(v, 3) }),
			Query: e.link(p.Root, e.lengthQuery(of, listWindow)),
		}
		if text := evaluateCommand(of.model.Repeat); text != "" {
			p.Commands = append(p.Commands, NamedCommand{of.title(), text})
		}
		if fit.OK() {
			for _, n := range evaluateLengths() {
				ms, i := fit.TTLTMS(n)
				at := made{Number: number(latency(ms), ms), Href: row.Query, Label: count(n) + " tokens"}
				if fit.Why.OK() {
					at.Range = latency(i.Lo) + " – " + latency(i.Hi)
				}
				row.Times = append(row.Times, at)
			}
			if row.Seen = count(fit.Least); fit.Most != fit.Least {
				row.Seen += "–" + count(fit.Most)
			}
			p.Rows = append(p.Rows, row)
		} else {
			p.Without = append(p.Without, row.Link)
		}
		if s.Reliability.Counts.RateLimit > 0 {
			cells := []string{of.title()}
			for _, h := range of.track.RefusedByHour(span) {
				text := ""
				if h.Runs > 0 {
					text = count(h.Refused) + "/" + count(h.Runs)
				}
				cells = append(cells, text)
			}
			hours.Rows = append(hours.Rows, cells)
			hours.Doors = append(hours.Doors, doors(e.link(p.Root, e.refusedQuery(of, listWindow)), len(hours.Head)))
		}
	}
	if len(hours.Rows) > 0 {
		p.Hours = hours
	} else if len(p.Rows)+len(p.Without) > 0 {
		p.Refused = "No request of the last " + p.Window + " was refused for the rate."
	}
	return p
}

// evaluateWords puts what the record says of an endpoint in words.
func evaluateWords(f rollup.LengthFit, s *rollup.Summary) string {
	if !f.OK() {
		return ""
	}
	ms, i := f.TTLTMS(500)
	text := fmt.Sprintf("An answer of 500 tokens is done after %s", latency(ms))
	if f.Why.OK() {
		text += fmt.Sprintf(" (%s to %s)", latency(i.Lo), latency(i.Hi))
	} else {
		text += ", without an interval yet: " + because(f.Why)
	}
	switch start := f.Start.Value / ms; {
	case start > 0.5:
		text += ", most of it before it begins"
	case start < 0.1:
		text += ", nearly all of it writing"
	}
	if f.Most < 500 {
		text += fmt.Sprintf("; no answer beyond about %s tokens was seen", count(f.Most))
	}
	text += "."
	if t := s.Reliability.Throttle; t.OK() && s.Reliability.Counts.RateLimit > 0 {
		text += fmt.Sprintf(" Refused for the rate: %s %% (%s–%s).", percent(t.Value), percent(t.Interval.Lo), percent(t.Interval.Hi))
	}
	return text
}

// evaluateCommand makes the command that evaluates of the one that measures.
func evaluateCommand(repeat string) string {
	rest, ok := strings.CutPrefix(command(repeat), "streamgauge probe ")
	if !ok {
		return ""
	}
	return "streamgauge evaluate " + rest
}

// lengthQuery asks for the days that a fit of time against length is made of.
func (e *edition) lengthQuery(p *endpoint, w rollup.Window) question {
	s := spanOf(p, w)
	return question{whole: !s.short(), sql: fmt.Sprintf("SELECT date(started_at) AS day, count(*) AS runs, avg(ttft_ms) AS start_ms,\n  sum(ttlt_ms - ttft_ms) / sum(visible_tokens - 1) AS per_token_ms\n%s\n  AND %s AND visible_tokens > 1\nGROUP BY 1 ORDER BY 1",
		fromRuns(p, s), counted(rollup.DecodeTPS))}
}

// refusedQuery asks for refusals by UTC hour.
func (e *edition) refusedQuery(p *endpoint, w rollup.Window) question {
	s := spanOf(p, w)
	return question{whole: !s.short(), sql: "SELECT substr(started_at, 12, 2) AS utc, sum(error_kind IS 'rate_limit') AS refused, count(*) AS runs\n" +
		fromRuns(p, s) + "\n  AND coalesce(error_kind, '') NOT IN ('auth', 'quota')\nGROUP BY 1 ORDER BY 1"}
}

// A made number is a number with what it is a door to.
type made struct {
	Number
	Href  string
	Range string // its interval, may be empty
	Label string // on a phone
}

// Made makes a number of the row a door to the days that the row is made of.
func (r EvaluateRow) Made(n Number, label string) made {
	return made{Number: n, Href: r.Query, Label: label}
}

// An EvaluationFacts is the plan of an evaluation in words.
type EvaluationFacts struct {
	Requests, InputTokens, OutputTokens string
	Inputs, Outputs, Repeats            string
}

func evaluationFacts(p bench.EvaluationPlan) EvaluationFacts {
	trials, err := p.Trials(1)
	if err != nil {
		panic("site: the default plan of an evaluation is refused: " + err.Error())
	}
	in, out := 0, 0
	for _, t := range trials {
		in, out = in+t.Input, out+t.Output
	}
	return EvaluationFacts{count(len(trials)), count(in), count(out), listWords(p.Inputs), listWords(p.Outputs), words(p.Repeats)}
}

// listWords writes numbers as a sentence lists them.
func listWords(list []int) string {
	var text []string
	for _, n := range list {
		text = append(text, count(n))
	}
	last := len(text) - 1
	return strings.Join(text[:last], ", ") + " and " + text[last]
}
