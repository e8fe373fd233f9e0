package bench

import (
	"strings"
	"testing"
)

// TestTrials checks that each round asks for each size and length once, that the
// order is of chance and repeatable, and that nothing beyond the limits is asked.
func TestTrials(t *testing.T) {
	plan := EvaluationPlan{Inputs: []int{800, 200}, Outputs: []int{50, 400, 100}, Repeats: 3}
	list, err := plan.Trials(1)
	if err != nil || len(list) != 15 {
		t.Fatalf("%d trials, %v; want 15", len(list), err)
	}
	orders := map[string]bool{}
	for round := range 3 {
		seen := map[Trial]int{}
		var order strings.Builder
		for _, x := range list[5*round : 5*round+5] {
			seen[x]++
			order.WriteString(string(rune('a' + x.Input/200 + x.Output%97)))
		}
		orders[order.String()] = true
		for _, want := range []Trial{{200, BriefAnswer}, {800, BriefAnswer}, {200, 50}, {200, 100}, {200, 400}} {
			if seen[want] != 1 {
				t.Errorf("round %d asks %d times for %+v", round, seen[want], want)
			}
		}
	}
	if len(orders) < 2 {
		t.Error("every round has the same order")
	}
	again, _ := plan.Trials(1)
	for i := range list {
		if list[i] != again[i] {
			t.Fatalf("trial %d is %+v, then %+v", i, list[i], again[i])
		}
	}
	for name, bad := range map[string]EvaluationPlan{
		"no sizes":   {Outputs: []int{50}, Repeats: 1},
		"no lengths": {Inputs: []int{200}, Repeats: 1},
		"no repeats": {Inputs: []int{200}, Outputs: []int{50}},
		"too brief":  {Inputs: []int{200}, Outputs: []int{BriefAnswer}, Repeats: 1},
		"too long":   {Inputs: []int{200}, Outputs: []int{MaxTrialOutput + 1}, Repeats: 1},
		"too large":  {Inputs: []int{MaxTrialInput + 1}, Outputs: []int{50}, Repeats: 1},
		"too many":   {Inputs: []int{200}, Outputs: []int{50}, Repeats: MaxTrials/2 + 1},
	} {
		if _, err := bad.Trials(1); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestTrialPrompt checks that a prompt begins with its nonce, ends with what is
// asked, and has the size aimed at.
func TestTrialPrompt(t *testing.T) {
	for _, tokens := range []int{1, 200, 8000} {
		p := Trial{Input: tokens, Output: 400}.Prompt("KZTQ7")
		if !strings.HasPrefix(p.Text, "KZTQ7. ") || !strings.HasSuffix(p.Text, "becomes a river.") || p.MaxOutputTokens != 400 {
			t.Errorf("%d tokens: %.40q … %q, cap %d", tokens, p.Text, p.Text[len(p.Text)-20:], p.MaxOutputTokens)
		}
		if got := len(p.Text) / charsPerToken; tokens > 100 && (got < tokens || got > tokens+10) {
			t.Errorf("%d tokens aimed at; %d characters", tokens, len(p.Text))
		}
	}
}
