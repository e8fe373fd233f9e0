package wire

// A Count is a number of tokens that may be unknown. Unknown is never zero.
type Count struct {
	N     int64
	Known bool
}

// Known returns the known count n.
func Known(n int64) Count { return Count{N: n, Known: true} }

// or returns c, or d if c is unknown.
func (c Count) or(d Count) Count {
	if c.Known {
		return c
	}
	return d
}

// Usage is a provider's token accounting for one request, as it was sent.
// [Usage.Normal] gives the comparable numbers.
type Usage struct {
	Input     Count // raw input field
	Cached    Count // raw cached-input field
	CacheNew  Count // raw cache-creation field (Anthropic)
	Output    Count // raw output field
	Reasoning Count // raw reasoning field
	Total     Count // raw total field

	CachedApart    bool // Input leaves the cached and cache-creation tokens out (Anthropic)
	ReasoningApart bool // Output leaves the reasoning out (Gemini)
}

// IsZero reports whether u tells nothing.
func (u Usage) IsZero() bool { return u == Usage{} }

// allZero reports whether u claims that neither input nor output had a token.
// No request is like that: such usage is a placeholder, or a known fault
// (OpenAI Responses, in response.incomplete).
func (u Usage) allZero() bool {
	zero := func(c Count) bool { return c.N == 0 }
	return u.Input.Known && u.Output.Known && zero(u.Input) && zero(u.Output) &&
		zero(u.Cached) && zero(u.CacheNew) && zero(u.Reasoning) && zero(u.Total)
}

// Merge returns u brought up to date with later usage of the same request:
// field by field the last known value, as providers report cumulative counts,
// some of them in parts. Nothing is ever summed, and usage that is all zeros
// does not replace any other.
func (u Usage) Merge(later Usage) Usage {
	if later.IsZero() || later.allZero() && !u.IsZero() {
		return u
	}
	return Usage{
		Input:          later.Input.or(u.Input),
		Cached:         later.Cached.or(u.Cached),
		CacheNew:       later.CacheNew.or(u.CacheNew),
		Output:         later.Output.or(u.Output),
		Reasoning:      later.Reasoning.or(u.Reasoning),
		Total:          later.Total.or(u.Total),
		CachedApart:    u.CachedApart || later.CachedApart,
		ReasoningApart: u.ReasoningApart || later.ReasoningApart,
	}
}

// Evidence is what was seen of an answer, against which usage is held.
type Evidence struct {
	Output    bool // text, reasoning or a tool call arrived, or the answer stopped at its cap
	Reasoning bool // readable reasoning arrived
	Hidden    bool // reasoning arrived that cannot be read
	Visible   bool // visible text arrived
}

// Tokens is the accounting of one request in comparable terms: everything the
// provider generated is output, everything it read is input.
type Tokens struct {
	Input     Count // cached input included
	Cached    Count // the part of Input that was read from a cache
	Output    Count // visible and reasoning
	Visible   Count // the part of Output outside the reasoning
	Reasoning Count

	Missing bool // the output is not told, or told as a false zero
	Clamped bool // a part was told to exceed its whole, and was cut down to it
}

// Normal returns the comparable numbers.
//
//   - Output: most providers count reasoning into it. Gemini's and xAI's fields
//     leave it out, so it is added; xAI is known by its total, which is the sum
//     of input, output and reasoning.
//   - Input: Anthropic's field leaves cached tokens out, so they are added.
//   - Visible is output less reasoning. It is unknown if reasoning was seen and
//     not counted (Ollama, Groq, Mistral), or counted as zero.
//   - Zero output while output was seen is missing.
//
// Sources: the API references of the providers named.
func (u Usage) Normal(seen Evidence) Tokens {
	t := Tokens{Input: u.Input, Cached: u.Cached, Reasoning: u.Reasoning, Output: u.Output}
	if u.allZero() {
		t = Tokens{}
	}
	if seen.Reasoning && t.Reasoning.N == 0 {
		t.Reasoning = Count{}
	}

	if u.CachedApart && t.Input.Known {
		t.Input.N += u.Cached.N + u.CacheNew.N
	}
	if t.Cached.Known && t.Input.Known && t.Cached.N > t.Input.N {
		t.Cached.N, t.Clamped = t.Input.N, true
	}

	if u.reasoningApart() {
		if !t.Output.Known && t.Reasoning.Known && !seen.Visible {
			t.Output = Known(0) // Gemini leaves out what is zero
		}
		if t.Output.Known {
			t.Output.N += t.Reasoning.N
		}
	}
	if t.Output.N == 0 && (seen.Output || !t.Output.Known) {
		t.Output, t.Visible, t.Reasoning = Count{}, Count{}, Count{}
		t.Missing = true
		return t
	}

	switch {
	case t.Reasoning.Known && t.Reasoning.N > t.Output.N:
		t.Reasoning.N, t.Visible, t.Clamped = t.Output.N, Known(0), true
	case t.Reasoning.Known:
		t.Visible = Known(t.Output.N - t.Reasoning.N)
	case !seen.Reasoning && !seen.Hidden:
		t.Visible = t.Output
	}
	return t
}

// reasoningApart reports whether Output leaves the reasoning out.
func (u Usage) reasoningApart() bool {
	if u.ReasoningApart {
		return true
	}
	return u.Total.Known && u.Input.Known && u.Output.Known && u.Reasoning.N > 0 &&
		u.Total.N == u.Input.N+u.Output.N+u.Reasoning.N
}
