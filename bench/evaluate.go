package bench

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// A Trial is one request of an evaluation: a sitting that asks one endpoint for
// answers to prompts of several sizes and of several lengths. Its requests are
// not those of the published method, so its samples are none of the record's.
type Trial struct {
	Input  int `json:"input_tokens"`  // tokens of prompt aimed at; the provider's own count is what is reckoned with
	Output int `json:"output_tokens"` // cap of the answer
}

// Limits of an evaluation, so that a slip of the keyboard costs little.
const (
	MaxTrials      = 200
	MaxTrialInput  = 200_000 // tokens
	MaxTrialOutput = 8_000   // tokens

	// BriefAnswer caps answers of which only the start is measured: enough for
	// a first text and for a decode rate.
	BriefAnswer = 32
)

// An EvaluationPlan is what an evaluation asks for.
type EvaluationPlan struct {
	Inputs  []int // sizes of prompt, each answered in BriefAnswer tokens
	Outputs []int // lengths of answer, each to the least size of prompt
	Repeats int   // of each
}

// DefaultEvaluation is what is asked unless something else is wanted: up to ten
// minutes of an endpoint that writes 20 tokens a second.
func DefaultEvaluation() EvaluationPlan {
	return EvaluationPlan{Inputs: []int{200, 1000, 3000, 8000}, Outputs: []int{50, 150, 400, 800}, Repeats: 4}
}

// Trials returns the requests of a plan. Each round has every size and length
// once, in an order of its own, so that a provider that grows slower meanwhile
// is not mistaken for one that is slow on long prompts. Equal seeds give equal
// orders. It fails for a plan beyond the limits.
func (p EvaluationPlan) Trials(seed uint64) ([]Trial, error) {
	if len(p.Inputs) == 0 || len(p.Outputs) == 0 || p.Repeats < 1 {
		return nil, fmt.Errorf("an evaluation needs a size of prompt, a length of answer and a repeat")
	}
	least := p.Inputs[0]
	for _, n := range p.Inputs {
		if n < 1 || n > MaxTrialInput {
			return nil, fmt.Errorf("a prompt of %d tokens: want 1 to %d", n, MaxTrialInput)
		}
		least = min(least, n)
	}
	var round []Trial
	for _, n := range p.Inputs {
		round = append(round, Trial{Input: n, Output: BriefAnswer})
	}
	for _, n := range p.Outputs {
		if n <= BriefAnswer || n > MaxTrialOutput {
			return nil, fmt.Errorf("an answer of %d tokens: want %d to %d", n, BriefAnswer+1, MaxTrialOutput)
		}
		round = append(round, Trial{Input: least, Output: n})
	}
	if n := len(round) * p.Repeats; n > MaxTrials {
		return nil, fmt.Errorf("%d requests: want at most %d", n, MaxTrials)
	}
	rng := rand.New(rand.NewPCG(seed, uint64(p.Repeats)))
	var list []Trial
	for range p.Repeats {
		rng.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		list = append(list, round...)
	}
	return list, nil
}

// charsPerToken is how many characters of English common vocabularies spend a
// token on. The size of a prompt is aimed by it and never reckoned with.
const charsPerToken = 4

// FillerVersion names the text of a trial's prompt. It rises with every change of it.
const FillerVersion = 1

// filler is what prompts are lengthened with: plain words, so that a vocabulary
// spends on them what it spends on prose.
const filler = "The ferry left the harbour at noon with nine crates of apples, two letters and a clock that had stopped. "

// Prompt returns the prompt of a trial. The nonce comes first, so that no cache of
// prompts can answer for any part of it.
func (t Trial) Prompt(nonce string) wire.Prompt {
	// As many words as the cap has tokens: a word is more than a token, so that
	// the cap and not the model ends the answer.
	ask := fmt.Sprintf("Ignore the notes. Explain in %d words of plain prose, without headings, lists or code, how rain becomes a river.", max(t.Output, 60))
	var text strings.Builder
	fmt.Fprintf(&text, "%s. Notes: ", nonce)
	for want := t.Input*charsPerToken - len(ask); text.Len() < want; {
		text.WriteString(filler[:min(len(filler), want-text.Len())])
	}
	text.WriteString("\n\n")
	text.WriteString(ask)
	return wire.Prompt{Text: text.String(), MaxOutputTokens: t.Output}
}
