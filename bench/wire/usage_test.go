package wire

import "testing"

// TestNormal works the table of who counts what by hand.
func TestNormal(t *testing.T) {
	k := Known
	text := Evidence{Output: true, Visible: true}
	thought := Evidence{Output: true, Visible: true, Reasoning: true}
	hidden := Evidence{Output: true, Visible: true, Hidden: true}
	tests := []struct {
		name string
		raw  Usage
		seen Evidence
		want Tokens
	}{
		{"nothing told", Usage{}, text, Tokens{Missing: true}},
		{"OpenAI", Usage{Input: k(20), Cached: k(5), Output: k(76), Reasoning: k(64), Total: k(96)}, text,
			Tokens{Input: k(20), Cached: k(5), Output: k(76), Visible: k(12), Reasoning: k(64)}},
		{"no reasoning told or seen", Usage{Input: k(20), Output: k(15)}, text, Tokens{Input: k(20), Output: k(15), Visible: k(15)}},
		{"xAI: total shows that the output leaves reasoning out", Usage{Input: k(165), Cached: k(164), Output: k(2), Reasoning: k(129), Total: k(296)}, text,
			Tokens{Input: k(165), Cached: k(164), Output: k(131), Visible: k(2), Reasoning: k(129)}},
		{"Anthropic: cached input apart", Usage{Input: k(11), Cached: k(1031), CacheNew: k(7), Output: k(100), CachedApart: true}, text,
			Tokens{Input: k(1049), Cached: k(1031), Output: k(100), Visible: k(100)}},
		{"Anthropic: thinking inside", Usage{Input: k(61), Cached: k(0), Output: k(1025), Reasoning: k(25), CachedApart: true}, thought,
			Tokens{Input: k(61), Cached: k(0), Output: k(1025), Visible: k(1000), Reasoning: k(25)}},
		{"Gemini: thoughts apart", Usage{Input: k(8), Output: k(388), Reasoning: k(2193), Total: k(2589), ReasoningApart: true}, text,
			Tokens{Input: k(8), Output: k(2581), Visible: k(388), Reasoning: k(2193)}},
		{"Gemini: no thoughts", Usage{Input: k(8), Output: k(388), ReasoningApart: true}, text, Tokens{Input: k(8), Output: k(388), Visible: k(388)}},
		{"Gemini: all thoughts, output left out", Usage{Input: k(8), Reasoning: k(297), ReasoningApart: true}, Evidence{Output: true},
			Tokens{Input: k(8), Output: k(297), Visible: k(0), Reasoning: k(297)}},
		{"Gemini: output left out though text came", Usage{Input: k(8), Reasoning: k(297), ReasoningApart: true}, text,
			Tokens{Input: k(8), Missing: true}},
		{"Ollama: thinking inside and not split", Usage{Input: k(67), Output: k(65)}, thought, Tokens{Input: k(67), Output: k(65)}},
		{"reasoning streamed and counted as zero", Usage{Input: k(45), Output: k(73), Reasoning: k(0)}, thought, Tokens{Input: k(45), Output: k(73)}},
		{"hidden reasoning counted as zero", Usage{Input: k(45), Output: k(73), Reasoning: k(0)}, hidden, Tokens{Input: k(45), Output: k(73), Visible: k(73), Reasoning: k(0)}},
		{"hidden reasoning not counted", Usage{Input: k(45), Output: k(73)}, hidden, Tokens{Input: k(45), Output: k(73)}},
		{"all zero, as OpenAI's response.incomplete", Usage{Input: k(0), Cached: k(0), Output: k(0), Reasoning: k(0), Total: k(0)}, text, Tokens{Missing: true}},
		{"zero output though text came", Usage{Input: k(16), Cached: k(0), Output: k(0), Reasoning: k(0)}, text, Tokens{Input: k(16), Cached: k(0), Missing: true}},
		{"zero output and nothing came", Usage{Input: k(16), Output: k(0), Reasoning: k(0)}, Evidence{}, Tokens{Input: k(16), Output: k(0), Visible: k(0), Reasoning: k(0)}},
		{"reasoning over output", Usage{Input: k(9), Output: k(10), Reasoning: k(11)}, thought, Tokens{Input: k(9), Output: k(10), Visible: k(0), Reasoning: k(10), Clamped: true}},
		{"cached over input", Usage{Input: k(7), Cached: k(161), Output: k(8)}, text, Tokens{Input: k(7), Cached: k(7), Output: k(8), Visible: k(8), Clamped: true}},
		{"input unknown, prompt cached (Ollama)", Usage{Output: k(58)}, text, Tokens{Output: k(58), Visible: k(58)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.raw.Normal(tt.seen); got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}

// TestNormalRecorded checks of every recorded stream what must hold of any.
func TestNormalRecorded(t *testing.T) {
	missing := 0
	for _, rec := range recordings(t) {
		if rec.status != 200 {
			continue
		}
		_, r := tell(t, protocolOf(t, rec.protocol), string(rec.body))
		n := r.Tokens()
		if n.Missing {
			missing++
		}
		if n.Visible.Known && n.Visible.N > n.Output.N || n.Reasoning.Known && n.Reasoning.N > n.Output.N || n.Cached.N > n.Input.N {
			t.Errorf("%s: a part exceeds its whole: %+v", rec.file, n)
		}
		if n.Visible.Known && n.Reasoning.Known && n.Visible.N+n.Reasoning.N != n.Output.N {
			t.Errorf("%s: visible and reasoning do not make the output: %+v", rec.file, n)
		}
		if r.Visible.Chars > 0 && n.Visible.Known && n.Visible.N == 0 && !n.Clamped {
			t.Errorf("%s: %d characters of no token: %+v", rec.file, r.Visible.Chars, n)
		}
	}
	if missing == 0 {
		t.Error("no recording lacks its usage; some do")
	}
}

func TestMerge(t *testing.T) {
	k := Known
	zero := Usage{Input: k(0), Output: k(0), Total: k(0)}
	tests := []struct {
		name        string
		first, then Usage
		want        Usage
	}{
		{"zero alone is kept as sent", Usage{}, zero, zero},
		{"zero gives way", zero, Usage{Input: k(3), Output: k(4)}, Usage{Input: k(3), Output: k(4), Total: k(0)}},
		{"zero replaces nothing", Usage{Input: k(3), Output: k(4)}, zero, Usage{Input: k(3), Output: k(4)}},
		{"last wins, field by field", Usage{Input: k(3), Cached: k(1), Output: k(4)}, Usage{Output: k(9)}, Usage{Input: k(3), Cached: k(1), Output: k(9)}},
		{"a zero output alone is a value", Usage{Input: k(3), Output: k(1)}, Usage{Output: k(0)}, Usage{Input: k(3), Output: k(0)}},
		{"nothing changes nothing", Usage{Input: k(3)}, Usage{}, Usage{Input: k(3)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.first.Merge(tt.then); got != tt.want {
				t.Errorf("\n got %+v\nwant %+v", got, tt.want)
			}
		})
	}
}
