package rollup

import (
	"cmp"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench/wire"
)

// When many runs fail at once, it is our own connection that failed.
const (
	FaultSpan      = 10 * time.Minute // runs this close together are looked at as one
	FaultShare     = 0.5              // at least this share of them failed as network or timeout
	FaultProviders = 2                // and the failures are of at least so many providers
)

// An Attempt is what [FindFaults] needs to know of a run.
type Attempt struct {
	At       time.Time
	Vantage  string
	Provider string
	Kind     wire.ErrorKind
}

// Faults are the times at which our own connection was at fault, by vantage
// point. The zero value has none.
type Faults struct {
	spans map[string][]Span // ascending, apart
}

// FindFaults finds them among the attempts of all series, in any order. Failures
// of kind network or timeout at such a time are tagged as the observer's and
// left out of every reliability number.
//
// A fault is FaultSpan in which FaultShare of the attempts, of FaultProviders
// providers or more, failed that way; it lasts from its first such failure to
// its last.
func FindFaults(attempts []Attempt) Faults {
	byVantage := make(map[string][]Attempt)
	for _, a := range attempts {
		byVantage[a.Vantage] = append(byVantage[a.Vantage], a)
	}
	f := Faults{spans: make(map[string][]Span)}
	for vantage, of := range byVantage {
		// Attempts of one instant too have an order, or the answer would not.
		slices.SortFunc(of, func(a, b Attempt) int {
			return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Provider, b.Provider), cmp.Compare(b.Kind, a.Kind))
		})
		if spans := faultsOf(of); len(spans) > 0 {
			f.spans[vantage] = spans
		}
	}
	return f
}

// faultsOf slides a window over the attempts of one vantage point.
func faultsOf(attempts []Attempt) []Span {
	var spans []Span
	failed := make(map[string]int) // failures in the window, by provider
	failures, end := 0, 0
	for begin, first := range attempts {
		for ; end < len(attempts) && attempts[end].At.Sub(first.At) < FaultSpan; end++ {
			if blamable(attempts[end].Kind) {
				failed[attempts[end].Provider]++
				failures++
			}
		}
		// Only windows that begin with a failure are looked at: one that begins
		// sooner holds no failure that these do not.
		if !blamable(first.Kind) {
			continue
		}
		if len(failed) >= FaultProviders && float64(failures) >= FaultShare*float64(end-begin) {
			last := end - 1
			for !blamable(attempts[last].Kind) {
				last--
			}
			spans = appendSpan(spans, Span{From: first.At, To: attempts[last].At})
		}
		failures--
		if failed[first.Provider]--; failed[first.Provider] == 0 {
			delete(failed, first.Provider)
		}
	}
	return spans
}

// appendSpan appends a span that does not begin before the last one, joining
// the two where they touch.
func appendSpan(spans []Span, s Span) []Span {
	if n := len(spans); n > 0 && !s.From.After(spans[n-1].To) {
		if s.To.After(spans[n-1].To) {
			spans[n-1].To = s.To
		}
		return spans
	}
	return append(spans, s)
}

// blamable reports whether a failure can be our own connection's.
func blamable(k wire.ErrorKind) bool { return k == wire.KindNetwork || k == wire.KindTimeout }

// Spans returns the faults of a vantage point in order of time; each holds its
// first and its last failure.
func (f Faults) Spans(vantage string) []Span { return slices.Clone(f.spans[vantage]) }

// Blame reports whether a run that started then and ended so failed by our own
// connection's fault.
func (f Faults) Blame(vantage string, at time.Time, kind wire.ErrorKind) bool {
	if !blamable(kind) {
		return false
	}
	spans := f.spans[vantage]
	i, found := slices.BinarySearchFunc(spans, at, func(s Span, at time.Time) int { return s.From.Compare(at) })
	if found {
		return true
	}
	return i > 0 && !at.After(spans[i-1].To)
}
