package rollup

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// Why a row has no rank, beside the reasons of [stats.Ineligibility], which are
// spelled alike here.
const (
	Buffered                     = bench.Buffered // the stream is held back and released late: no rate of it means anything
	Estimated       bench.Reason = bench.Reason(stats.IneligibleEstimated)
	Stale           bench.Reason = bench.Reason(stats.IneligibleStale)
	TooFewDays      bench.Reason = bench.Reason(stats.IneligibleDays)
	LowAvailability bench.Reason = bench.Reason(stats.IneligibleDown)
	NoAvailability  bench.Reason = bench.Reason(stats.IneligibleUnknown)

	WithinDay    bench.Reason = "within_day"    // one day has no error between days: the spread within it is no interval
	LongDrift    bench.Reason = "long_drift"    // over a year models change: its days are no repeats of one experiment
	OtherMethod  bench.Reason = "other_method"  // measured by another method or prompt version than the board's
	OtherVantage bench.Reason = "other_vantage" // measured from another place than the board's
)

// An Entry is a track with its summary of the board's window.
type Entry struct {
	Track   *Track
	Summary Summary
}

// Entries summarises the tracks over one window, for boards of any metric.
func Entries(tracks []*Track, w Window, now time.Time) []Entry {
	entries := make([]Entry, len(tracks))
	for i, t := range tracks {
		entries[i] = Entry{Track: t, Summary: t.Summarize(w, now)}
	}
	return entries
}

// A Board is the rows of one window, ordered by one metric.
type Board struct {
	Metric Metric
	Window Window

	// Like is what ranked rows have in common: the newest method and prompt, and
	// the vantage point that most series share. Other rows are listed unranked.
	Like Like

	// Confidence is that of the intervals which ranks go by, 95 %, or 99 % where
	// more than 20 rows are ranked. A filtered board keeps it.
	Confidence float64
	Ranked     int   // rows with a rank
	Rows       []Row // by rank, then score, then name; unranked rows last
	Filtered   bool  // rows were taken out, and ranks are among those left
}

// Like is what makes two rows comparable.
type Like struct {
	Method, Prompt int
	Vantage        string
}

// A Row is one series on a board. Everything it shows comes from one set of
// runs: those of Summary.Span.
type Row struct {
	Series  bench.Series
	Summary *Summary
	Score   Score
	Typical Estimate // median of the window's runs, of successes; for a row without a score
	N       int      // runs that have the metric
	Min     float64  // their range, meaningless with N = 0
	Max     float64
	Spread  Distribution // of those runs, whatever the metric; a summary has only some metrics'

	Ranked      bool
	Why         bench.Reason   // why not; empty if it is
	Best, Worst int            // the ranks it may hold; meaningless if not Ranked
	Rule        stats.Interval // the score's interval at the board's confidence, which ranks go by
}

// NewBoard ranks entries of one window by a metric. Rows whose intervals touch
// share ranks: they are tied, which does not say they are equal. A row that may
// not be ranked is listed with the reason. A young dataset, of under 5 days, has
// no ranked rows, and Typical, the range and N are what can be said.
func NewBoard(entries []Entry, m Metric) Board {
	b := Board{Metric: m, Like: likeOf(entries)}
	for i := range entries {
		e := &entries[i]
		b.Window = e.Summary.Window
		b.Rows = append(b.Rows, b.row(e))
	}
	eligible := 0
	for _, r := range b.Rows {
		if r.Why.OK() {
			eligible++
		}
	}
	b.Confidence = stats.RankConfidence(eligible)
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Why.OK() {
			r.Rule, _ = r.Score.at(b.Confidence, entries[i].Track.student)
		}
	}
	b.rank()
	return b
}

// row returns the row of an entry, not yet ranked.
func (b *Board) row(e *Entry) Row {
	s := &e.Summary
	r := Row{Series: e.Track.Series, Summary: s}
	d, ok := s.Distribution(b.Metric)
	if !ok {
		d = distributionOf(b.Metric, e.Track.in(s.Span), s.Span.To.Sub(s.Span.From) <= Day)
	}
	r.Typical, r.N, r.Min, r.Max, r.Spread = d.P50, d.N, d.Min, d.Max, d
	if s.Window.Days() > 0 && !s.Provisional {
		r.Score = e.Track.Score(b.Metric, s.Span)
	} else {
		r.Score = Score{Metric: b.Metric, Why: TooFewDays}
	}
	if e.Track.Buffered() && b.Metric.needsStream() {
		r.Typical = absent(Buffered)
	}
	r.Why = b.ineligible(e, r.Score)
	return r
}

// ineligible returns why a row may not be ranked, if it may not.
func (b *Board) ineligible(e *Entry, score Score) bench.Reason {
	s := &e.Summary
	method, prompt := e.Track.newest(e.Track.in(s.Span))
	switch {
	case s.Window == Window24h:
		return WithinDay
	case s.Window == Window1y:
		return LongDrift
	case score.Why == NoRuns && s.Runs == 0:
		return NoRuns
	case e.Track.Series.Vantage != b.Like.Vantage:
		return OtherVantage
	case s.Runs > 0 && (method != b.Like.Method || prompt != b.Like.Prompt):
		return OtherMethod
	}
	evidence := stats.Evidence{
		Days: len(score.Days), Runs: score.Runs, Freshness: s.Freshness,
		Buffered:  e.Track.Buffered() || 2*(s.Delivery.Buffered+s.Delivery.HeadBurst) > s.Delivery.N,
		Estimated: b.Metric.needsTokens() && 2*s.Delivery.Estimated > s.Delivery.N,
	}
	if s.Reliability.Availability.OK() {
		evidence.Availability = &s.Reliability.Availability.Value
	}
	return bench.Reason(evidence.Ineligible())
}

// likeOf returns what most entries have in common.
func likeOf(entries []Entry) Like {
	var like Like
	vantages := make(map[string]int)
	for i := range entries {
		e := &entries[i]
		vantages[e.Track.Series.Vantage]++
		method, prompt := e.Track.newest(e.Track.in(e.Summary.Span))
		if cmp.Or(cmp.Compare(method, like.Method), cmp.Compare(prompt, like.Prompt)) > 0 {
			like.Method, like.Prompt = method, prompt
		}
	}
	for vantage, n := range vantages {
		best := vantages[like.Vantage]
		if n > best || n == best && vantage < like.Vantage {
			like.Vantage = vantage
		}
	}
	return like
}

// rank puts the rows in order and gives them their ranks.
func (b *Board) rank() {
	better := b.Metric.Better()
	rows := make([]stats.Row, len(b.Rows))
	for i, r := range b.Rows {
		rows[i] = stats.Row{Name: r.name(), Score: r.sortKey(better), Interval: r.Rule, Eligible: r.Why.OK()}
	}
	byName := make(map[string]Row, len(b.Rows))
	for _, r := range b.Rows {
		byName[r.name()] = r
	}
	b.Rows, b.Ranked = b.Rows[:0:0], 0
	for _, s := range stats.Rank(rows, better) {
		r := byName[s.Name]
		r.Ranked, r.Best, r.Worst = s.Ranked, s.Best, s.Worst
		if s.Ranked {
			b.Ranked++
		}
		b.Rows = append(b.Rows, r)
	}
}

// name tells rows apart and orders ties.
func (r *Row) name() string { return seriesKey(r.Series) }

// seriesKey names a series in one string, the pair first.
func seriesKey(s bench.Series) string {
	key := s.Pair.String() + "\x00" + s.Vantage
	if s.Nonce {
		key += "\x00nonce"
	}
	if s.Short {
		key += "\x00short"
	}
	return key
}

// sortKey is what the row is ordered by within its rank: its score, else its
// median, else the end of the list.
func (r *Row) sortKey(better stats.Direction) float64 {
	switch {
	case r.Score.OK():
		return r.Score.Value
	case r.Typical.OK():
		return r.Typical.Value
	case r.N > 0:
		return math.Sqrt(r.Min * r.Max)
	case better == stats.HigherIsBetter:
		return math.Inf(-1)
	}
	return math.Inf(1)
}

// Filter returns the board with only the rows that keep accepts. No number of a
// row changes; ranks are counted anew among the rows that are left, by the same
// intervals.
func (b Board) Filter(keep func(Row) bool) Board {
	f := b
	f.Filtered = true
	f.Rows = nil
	for _, r := range b.Rows {
		if keep(r) {
			f.Rows = append(f.Rows, r)
		}
	}
	f.rank()
	return f
}

// First returns the rows that may hold rank 1: one is the winner, more are tied
// for first. It is empty if no row is ranked.
func (b Board) First() []Row {
	n := 0
	for n < len(b.Rows) && b.Rows[n].Ranked && b.Rows[n].Best == 1 {
		n++
	}
	return b.Rows[:n:n]
}

// Tied returns the rows whose intervals touch that of row i, i among them: those
// it cannot be told apart from. It is empty if row i is not ranked.
func (b Board) Tied(i int) []Row {
	var tied []Row
	if !b.Rows[i].Ranked {
		return nil
	}
	rule := b.Rows[i].Rule
	for _, r := range b.Rows {
		if r.Ranked && !r.Rule.Below(rule) && !rule.Below(r.Rule) {
			tied = append(tied, r)
		}
	}
	return tied
}

// A ReasonCount is how many rows lack a rank for one reason.
type ReasonCount struct {
	Why bench.Reason
	N   int
}

// Unranked counts the rows without a rank by reason, the commonest first.
func (b Board) Unranked() []ReasonCount {
	counts := make(map[bench.Reason]int)
	for _, r := range b.Rows {
		if !r.Ranked {
			counts[r.Why]++
		}
	}
	var list []ReasonCount
	for why, n := range counts {
		list = append(list, ReasonCount{why, n})
	}
	slices.SortFunc(list, func(a, b ReasonCount) int { return cmp.Or(b.N-a.N, cmp.Compare(a.Why, b.Why)) })
	return list
}

// DaysMissing returns how many more days the row nearest to a rank needs before
// a young board can have ranks; 0 if it has some or lacks them for another
// reason than days.
func (b Board) DaysMissing() int {
	if b.Ranked > 0 {
		return 0
	}
	missing := 0
	for _, r := range b.Rows {
		if need := stats.MinScoreDays - len(r.Score.Days); r.Why == TooFewDays && (missing == 0 || need < missing) {
			missing = need
		}
	}
	return missing
}
