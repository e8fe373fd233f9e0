package bench

import (
	"math"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// A Shape is how an answer was delivered.
type Shape string

// The delivery shapes.
const (
	ShapeNone   Shape = ""       // no visible text
	ShapeSmooth Shape = "smooth" // about a token at a time
	ShapeChunky Shape = "chunky" // several tokens a read: batches, speculation, a flushing proxy
	ShapeBurst  Shape = "burst"  // the answer, or most of it, at once: no decode rate exists
)

// Shape classifies the delivery. Burst is whatever [Sample.DecodeTPS] refuses
// as Buffered or HeadBurst; chunky is ChunkyTokens or more tokens per read.
func (s *Sample) Shape() Shape {
	span := s.LastText - s.FirstText
	switch {
	case s.Chunks == 0:
		return ShapeNone
	case s.Chunks < 2 || span < MinDecodeSpan || 2*s.FirstReadChars > s.Chars:
		return ShapeBurst
	}
	tokens := float64(s.Chars) / CharsPerToken
	if n, why := s.VisibleTokens(); why.OK() && n > 0 {
		tokens = float64(n)
	}
	parts := s.Deliveries
	if parts == 0 {
		parts = s.Chunks // nobody counted
	}
	if tokens/float64(parts) >= ChunkyTokens {
		return ShapeChunky
	}
	return ShapeSmooth
}

// A delivery is the visible text that one read brought, or several that came as
// one.
type delivery struct {
	Arrival // of its first chunk, with the characters and tokens of all
	chunks  int
	counted bool // the stream counts the tokens of each
}

// deliveries returns the trace's visible text by delivery. A large first part
// comes in several reads, though the server sent it at once. Counting only the
// first of them as made before the clock started would make tokens out of the
// network's speed, so reads that follow it within HeadGap belong to it. That is
// about reads of a socket: in a trace without offsets, which was read from none,
// each chunk came as it is told.
func (s *Sample) deliveries() []delivery {
	var parts []delivery
	for _, a := range s.Trace {
		if a.Mark != MarkVisible {
			continue
		}
		if k := len(parts) - 1; k >= 0 && parts[k].Read == a.Read {
			parts[k].join(delivery{a, 1, a.Tokens > 0})
			continue
		}
		parts = append(parts, delivery{a, 1, a.Tokens > 0})
	}
	if len(parts) < 2 || parts[0].Offset == 0 {
		return parts
	}
	mean := (parts[len(parts)-1].At - parts[0].At) / time.Duration(len(parts)-1)
	limit := min(HeadGap, mean/HeadFactor)
	head := 1
	for head < len(parts) {
		gap := parts[head].At - parts[head-1].At
		if gap >= limit {
			break
		}
		parts[0].join(parts[head])
		head++
	}
	return append(parts[:1], parts[head:]...)
}

// join takes q into p.
func (p *delivery) join(q delivery) {
	p.Chars += q.Chars
	p.Tokens += q.Tokens
	p.chunks += q.chunks
	p.counted = p.counted && q.counted
}

// Digest fills what is derived from the trace and kept without it: counts of
// chunks, deliveries and characters, first and last instants, and the gaps. The
// token counts must be there; words and the instants of completion are not its
// business.
func (s *Sample) Digest() {
	var at []time.Duration
	s.Chunks, s.ReasonChunks, s.Chars = 0, 0, 0
	s.FirstText, s.LastText, s.FirstReason = 0, 0, 0
	for _, a := range s.Trace {
		switch a.Mark {
		case MarkReasoning:
			s.ReasonChunks++
			if s.FirstReason == 0 {
				s.FirstReason = a.At
			}
		case MarkVisible:
			if s.Chunks == 0 {
				s.FirstText = a.At
			}
			s.Chunks++
			s.Chars += a.Chars
			s.LastText = a.At
			at = append(at, a.At)
		}
	}
	s.Gaps = digestGaps(at)
	s.Deliveries, s.FirstReadChars, s.FirstReadTokens = 0, 0, wire.Count{}
	if parts := s.deliveries(); len(parts) > 0 {
		first := parts[0]
		s.Deliveries = len(parts)
		s.FirstReadChars = first.Chars
		switch {
		case first.counted:
			s.FirstReadTokens = wire.Known(int64(first.Tokens))
		case first.chunks > 1 && s.oneEach():
			s.FirstReadTokens = wire.Known(int64(first.chunks))
		}
	}
}

// digestGaps digests the gaps between neighbouring arrivals.
func digestGaps(at []time.Duration) Gaps {
	if len(at) < 2 {
		return Gaps{}
	}
	gaps := make([]time.Duration, len(at)-1)
	var sum float64
	for i := range gaps {
		gaps[i] = at[i+1] - at[i]
		sum += float64(gaps[i])
	}
	mean := sum / float64(len(gaps))
	var squares float64
	for _, g := range gaps {
		squares += (float64(g) - mean) * (float64(g) - mean)
	}
	sorted := slices.Clone(gaps)
	slices.Sort(sorted)
	d := Gaps{P50: Quantile(sorted, 0.50), P95: Quantile(sorted, 0.95), Max: sorted[len(sorted)-1]}
	if sd := math.Sqrt(squares / float64(len(gaps))); len(gaps) >= 2 && sd+mean > 0 {
		d.Burstiness, d.HasBurstiness = (sd-mean)/(sd+mean), true
	}
	if len(at) >= StallMinChunks {
		limit := max(StallFloor, StallFactor*d.P50)
		for _, g := range gaps {
			if g > limit {
				d.Stall += g - d.P50
				d.Stalls++
			}
		}
	}
	return d
}

// Quantile returns the R-7 quantile of times in ascending order, of which there
// is at least one, to the nanosecond. q is 0..1.
func Quantile(sorted []time.Duration, q float64) time.Duration {
	h := q * float64(len(sorted)-1)
	i := int(h)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + time.Duration(math.Round((h-float64(i))*float64(sorted[i+1]-sorted[i])))
}
