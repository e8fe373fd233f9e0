package stats

import "slices"

// What the buffering probe goes by. The methodology page prints these.
const (
	BufferProbes   = 14   // newest comparisons that a verdict rests on
	BufferAlpha    = 0.01 // of the sign test, on either side; so 7 comparisons are the least that can decide
	HeldShare      = 0.5  // of the extra time, that must pass before the first output
	MinHeldExtraMs = 100  // extra time below it is noise
)

// A LengthContrast is two answers of one endpoint, made within minutes of each
// other: an ordinary one and one whose request allowed a few tokens only. All
// times count from the dispatch, in milliseconds.
type LengthContrast struct {
	LongFirst, LongEnd   float64 // first output and end of the ordinary answer
	ShortFirst, ShortEnd float64 // and of the short one
}

// HeldShare returns which share of the extra time that the longer answer took
// passed before its first output,
//
//	g = (LongFirst - ShortFirst) / (LongEnd - ShortEnd)
//
// It is about 0 where text is sent as it is made, as the first output does not
// wait for the rest, and about 1 where the whole answer is made before any of it
// is sent, however evenly it is sent then. It reports false if the longer answer
// did not take [MinHeldExtraMs] more.
func (c LengthContrast) HeldShare() (g float64, ok bool) {
	extra := c.LongEnd - c.ShortEnd
	if !(extra >= MinHeldExtraMs) {
		return 0, false
	}
	return (c.LongFirst - c.ShortFirst) / extra, true
}

// A BufferVerdict is what comparisons of lengths say of a stream.
type BufferVerdict uint8

// The verdicts. The zero value is that of an endpoint without probes.
const (
	BufferUnknown  BufferVerdict = iota // too few comparisons, or they do not agree
	BufferStreams                       // text is sent as it is made
	BufferBuffered                      // text is held back until most of the answer is made
)

// String returns the published name of the verdict.
func (v BufferVerdict) String() string {
	switch v {
	case BufferStreams:
		return "streams"
	case BufferBuffered:
		return "buffered"
	}
	return "unknown"
}

// A Buffering is the outcome of [JudgeBuffering].
type Buffering struct {
	N       int // comparisons looked at, at most BufferProbes
	Held    int // of them, held back by more than HeldShare
	Verdict BufferVerdict

	// P is the chance of a split at least as far to the verdict's side if either
	// outcome of a comparison were as likely as the other. It is 1 for
	// BufferUnknown.
	P float64

	// Share is the median of [LengthContrast.HeldShare] over the comparisons
	// that have it.
	Share    float64
	HasShare bool
}

// JudgeBuffering says whether an endpoint holds its answers back, from
// comparisons in order of time, of which it takes the newest [BufferProbes].
//
// A comparison speaks for buffering if its share is above [HeldShare], against
// it if it is not, and for neither where it has none: it is counted in n all the
// same. The verdict is a sign test: with k of n for it,
//
//	p = P(B >= k), B ~ Bin(n, 1/2)
//
// must be [BufferAlpha] or less, and likewise for the other side. Nothing is
// assumed about the noise but that it favours neither request, for which the two
// take turns at going first. Fewer than 7 comparisons never decide, as 2^-6 is
// above BufferAlpha; of 14 it takes 12.
//
// Source of the test: Conover, "Practical Nonparametric Statistics", 3rd ed.,
// section 3.4.
func JudgeBuffering(contrasts []LengthContrast) Buffering {
	newest := contrasts[max(0, len(contrasts)-BufferProbes):]
	b := Buffering{N: len(newest), P: 1}
	var shares []float64
	for _, c := range newest {
		g, ok := c.HeldShare()
		if !ok {
			continue
		}
		shares = append(shares, g)
		if g > HeldShare {
			b.Held++
		}
	}
	slices.Sort(shares)
	b.Share, b.HasShare = QuantileSorted(shares, 0.5)
	if p := coinTail(b.N, b.Held); p <= BufferAlpha {
		b.Verdict, b.P = BufferBuffered, p
	} else if p := coinTail(b.N, len(shares)-b.Held); p <= BufferAlpha {
		b.Verdict, b.P = BufferStreams, p
	}
	return b
}

// coinTail returns the chance of k heads or more in n tosses of a fair coin.
func coinTail(n, k int) float64 {
	ways, sum := 1.0, 0.0 // n over i, for i from 0
	for i := 0; i <= n; i++ {
		if i >= k {
			sum += ways
		}
		ways = ways * float64(n-i) / float64(i+1)
	}
	for range n {
		sum /= 2
	}
	return sum
}
