package site

import (
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io/fs"
	"math"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site/svg"
)

const (
	exampleSource = "evaluation.json" // of the content
	exampleFile   = "example.json"    // beside the page
)

// A sitting is an evaluation as the command prints it.
type sitting struct {
	Provider string    `json:"provider"`
	Model    string    `json:"model"`
	At       time.Time `json:"at"`
	Seconds  float64   `json:"seconds"`
	rollup.Evaluation
	Verdict []string `json:"verdict"`
	Trials  []struct {
		bench.Trial
		Report bench.Report `json:"report"`
	} `json:"trials"`
}

// An Evaluation is an evaluation with its drawings. A script draws a reader's own
// in the shape of it.
type Evaluation struct {
	Name, When, Asked string
	Verdict           []string
	Figures           [2]*Figure // time to first output by prompt, to last token by answer
	Brief             int        // tokens of answer: a trial with this cap is one of prompts
	Source            string     // link to its JSON
}

// exampleEvaluation returns the evaluation that the page shows, nil if the
// content has none.
func (e *edition) exampleEvaluation() (*Evaluation, error) {
	text, err := fs.ReadFile(e.in.Content, exampleSource)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the example of an evaluation: %w", err)
	}
	var s sitting
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("read %s: %w", exampleSource, err)
	}
	x := &Evaluation{
		Name: display(s.Provider) + "/" + display(s.Model), When: instant(s.At), Verdict: s.Verdict, Brief: bench.BriefAnswer, Source: exampleFile,
		Asked: fmt.Sprintf("%s of %s answered in %s", count(s.OK), plural(s.Requests, "request"), latency(s.Seconds*1000)),
	}
	prompt, answer := s.places()
	x.Figures[0] = fitFigure("by-prompt", "First output against prompt", "Each dot is one request. The line is that of Theil and Sen.", "tokens of prompt", svg.Wait, prompt, s.Prompt.StartMS, s.Prompt.PerToken, s.Prompt.Sizes)
	slope := s.Answer.Slope()
	x.Figures[1] = fitFigure("by-answer", "Last token against answer", "Each dot is one request. The line is start + (tokens − 1) × the pace at which the answers streamed.", "tokens of answer", svg.Speed, answer, s.Answer.StartMS-slope.MS, slope, s.Answer.Lengths)
	return x, nil
}

// places are the requests that the two lines were fitted to, as
// [rollup.Evaluate] chooses them.
func (s *sitting) places() (prompt, answer []svg.Place) {
	for _, t := range s.Trials {
		r := &t.Report
		if r.Outcome != "ok" || r.Noise.Noisy {
			continue
		}
		if t.Output == bench.BriefAnswer {
			tokens := int64(t.Input)
			if !s.Prompt.Aimed {
				if r.InputTokens == nil || r.CachedTokens != nil && *r.CachedTokens > 0 {
					continue
				}
				tokens = *r.InputTokens
			}
			if r.TTFOMS != nil {
				prompt = append(prompt, svg.Place{X: float64(tokens), Y: *r.TTFOMS})
			}
		} else if r.TTFTMS != nil && r.TTLTMS != nil && r.VisibleTokens != nil && *r.VisibleTokens > 0 {
			answer = append(answer, svg.Place{X: float64(*r.VisibleTokens), Y: *r.TTLTMS})
		}
	}
	return prompt, answer
}

// fitFigure draws times against tokens.
func fitFigure(id, title, text, tokens string, hue svg.Hue, places []svg.Place, start float64, slope rollup.Slope, sizes []rollup.Size) *Figure {
	fig := &Figure{
		ID: id, Title: title, Text: text, Label: title + ": " + plural(len(places), "request"),
		Table: &Table{Caption: "Milliseconds by size", Head: []Head{{capital(tokens), false}, {"Requests", true}, {"Median", true}, {"Least", true}, {"Greatest", true}}},
	}
	chart := svg.Fit{Label: fig.Label, Hue: hue, Points: places, Start: start, Slope: slope.MS, FormatY: svg.Milliseconds, TitleX: tokens, TitleY: "ms"}
	if !slope.OK() {
		chart.Slope = math.NaN()
	}
	for _, z := range sizes {
		fig.Table.Rows = append(fig.Table.Rows, []string{significant(z.Tokens, 4), count(z.N), significant(z.MS, 4), significant(z.MinMS, 4), significant(z.MaxMS, 4)})
	}
	fig.Table.lead(exampleFile)
	fig.Wide, fig.Phone = drawing(func(size svg.Size) template.HTML {
		chart.Size = size
		return chart.SVG()
	}, svg.Half(240), svg.Phone(220))
	return fig
}
