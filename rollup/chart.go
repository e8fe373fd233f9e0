package rollup

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// GapFactor is how many cadences may pass between two points before the line
// between them is broken. Slots are jittered over their whole width, so
// neighbouring runs can lie two cadences apart without one missing.
const GapFactor = 2.5

// A Band says what Lo and Hi of a line's points are.
type Band string

// The bands.
const (
	BandNone     Band = ""           // single runs
	BandMinMax   Band = "min to max" // of an hour, which holds too few runs for percentiles
	BandP10toP90 Band = "p10 to p90" // of a day, within 1 %
)

// A Line is one metric of one series over a window, ready to be drawn: single
// runs for 24 h and 7 d, hours for 30 d, days for 1 y. Lines reach up to now,
// today included.
type Line struct {
	Metric Metric
	Span   Span
	Width  time.Duration // of a point; 0 for single runs
	Band   Band
	Points []Point // in order of time
}

// A Point is one run, or the runs of one hour or day.
type Point struct {
	At     time.Time // start of the run, or of the hour or day
	N      int       // runs that have the number
	Failed int       // runs that failed, for whatever reason
	Value  float64   // the run's, or the median; meaningless with N = 0
	Lo, Hi float64   // the band
	// Gap is set where no line may be drawn from the point before: it has no
	// number, or is more than GapFactor cadences away.
	Gap bool
}

// Line returns the points of a metric. Of hours and days there are only decode
// rate, hybrid rate and TTFT; for others it reports false beyond 7 days.
func (t *Track) Line(m Metric, w Window, now time.Time) (Line, bool) {
	l := Line{Metric: m, Span: Span{From: w.Span(now).From, To: now.UTC()}}
	switch {
	case w.Days() <= 7:
		l.Points = runPoints(m, t.in(l.Span))
	case !m.bucketed():
		return Line{}, false
	case w == Window1y:
		l.Width, l.Band = Day, BandP10toP90
		l.Points = bucketPoints(m, t.buckets(l.Span, Day, t.days))
	default:
		l.Width, l.Band = Hour, BandMinMax
		l.Points = bucketPoints(m, t.buckets(l.Span, Hour, t.hours))
	}
	l.markGaps(max(t.Every, l.Width))
	return l, true
}

// bucketed reports whether buckets keep the metric.
func (m Metric) bucketed() bool {
	_, ok := m.spread(&Bucket{})
	return ok
}

func runPoints(m Metric, runs []run) []Point {
	var points []Point
	for i := range runs {
		r := &runs[i]
		p := Point{At: r.time()}
		if v, ok := m.of(r); ok && r.counts() {
			p.N, p.Value, p.Lo, p.Hi = 1, v, v, v
		}
		if !r.ok() {
			p.Failed = 1
		}
		if p.N+p.Failed > 0 {
			points = append(points, p)
		}
	}
	return points
}

func bucketPoints(m Metric, buckets []*Bucket) []Point {
	points := make([]Point, 0, len(buckets))
	for _, b := range buckets {
		s, _ := m.spread(b)
		p := Point{At: b.Start, N: s.N, Failed: b.Errors.Total()}
		if s.N > 0 {
			p.Value, p.Lo, p.Hi = s.P50, s.Min, s.Max
		}
		if hist := m.hist(b); hist != nil && hist.N() > 0 {
			lo, _ := hist.Quantile(0.1)
			hi, _ := hist.Quantile(0.9)
			p.Lo, p.Hi = min(max(lo, s.Min), s.P50), max(min(hi, s.Max), s.P50)
		}
		if p.N+p.Failed > 0 {
			points = append(points, p)
		}
	}
	return points
}

// hist returns the histogram a daily bucket keeps of the metric, or nil.
func (m Metric) hist(b *Bucket) *stats.Histogram {
	switch m {
	case DecodeTPS:
		return &b.DecodeHist
	case TTFT:
		return &b.TTFTHist
	}
	return nil
}

// buckets returns the buckets of the span: those that are kept, and for times
// that have none, like today, one made of the raw samples. Kept is in order of
// time and the track's own, and so may the buckets be.
func (t *Track) buckets(span Span, width time.Duration, kept []Bucket) []*Bucket {
	kept = within(kept, span)
	list := make([]*Bucket, 0, len(kept)+1)
	have := make(map[int64]bool, len(kept))
	for i := range kept {
		if b := &kept[i]; b.Width == width {
			list = append(list, b)
			have[b.Start.UnixNano()/int64(width)] = true
		}
	}
	runs := t.in(span)
	for from := 0; from < len(runs); {
		slot := runs[from].at / int64(width)
		to := from + 1
		for to < len(runs) && runs[to].at/int64(width) == slot {
			to++
		}
		if !have[slot] {
			b := bucketOf(t.Series, time.Unix(0, slot*int64(width)).UTC(), width, runs[from:to])
			list = append(list, &b)
		}
		from = to
	}
	slices.SortFunc(list, func(a, b *Bucket) int { return a.Start.Compare(b.Start) })
	return list
}

// markGaps breaks the line where it would draw over a time without measurement.
func (l *Line) markGaps(cadence time.Duration) {
	limit := time.Duration(GapFactor * float64(cadence))
	var last time.Time
	for i := range l.Points {
		p := &l.Points[i]
		p.Gap = p.N == 0 || last.IsZero() || p.At.Sub(last) > limit
		if p.N > 0 {
			last = p.At
		}
	}
}

// A DayState is what a day of the reliability strip looks like.
type DayState string

// The states of a day. A day on which every run failed on our side, or none ran,
// says nothing of the provider.
const (
	DayOK       DayState = "ok"
	DayDegraded DayState = "degraded" // under OKAvailability, or slow
	DayFailed   DayState = "failed"   // under FailedAvailability
	DayNone     DayState = "none"
)

// The lines between the states of a day.
const (
	OKAvailability     = 0.95 // OpenRouter's line for a provider that is up
	FailedAvailability = 0.50 // most valid runs failed
	SlowDay            = 0.75 // a day is slow if its median decode rate is under this share of the strip's
)

// A StripDay is one cell of the reliability strip.
type StripDay struct {
	Day      time.Time
	State    DayState
	Counts   stats.Counts // observer faults left out
	Observer int
	Slow     bool
	Decode   Estimate // median decode rate, tokens/s
}

// Strip returns the last n whole UTC days and today, oldest first.
func (t *Track) Strip(n int, now time.Time) []StripDay {
	today := now.UTC().Truncate(Day)
	days := make([]StripDay, n+1)
	var known []float64
	for i := range days {
		start := today.AddDate(0, 0, i-n)
		days[i] = t.stripDay(Span{From: start, To: start.Add(Day)})
		if days[i].Decode.OK() {
			known = append(known, days[i].Decode.Value)
		}
	}
	typical, ok := stats.Median(known)
	for i := range days {
		d := &days[i]
		d.Slow = ok && d.Decode.OK() && d.Decode.Value < SlowDay*typical
		switch available, ok := d.Counts.Availability(); {
		case !ok:
			d.State = DayNone
		case available < FailedAvailability:
			d.State = DayFailed
		case available < OKAvailability || d.Slow:
			d.State = DayDegraded
		default:
			d.State = DayOK
		}
	}
	return days
}

func (t *Track) stripDay(span Span) StripDay {
	d := StripDay{Day: span.From, Decode: absent(NoRuns)}
	runs := t.in(span)
	if len(runs) == 0 {
		for _, b := range t.bucketed(span) {
			d.Counts = countsOf(b)
			if b.Decode.N > 0 {
				d.Decode = Estimate{Value: b.Decode.P50}
			}
		}
		return d
	}
	var rates []float64
	for i := range runs {
		r := &runs[i]
		if r.observer {
			d.Observer++
			continue
		}
		d.Counts = d.Counts.Plus(countOf(r.kind, 1))
		if r.counts() && r.decode != 0 {
			rates = append(rates, r.decode)
		}
	}
	if median, ok := stats.Median(rates); ok {
		d.Decode = Estimate{Value: median}
	}
	return d
}

// HourOfWeekDays is how far back the hour-of-week matrix looks.
const HourOfWeekDays = 28

// A Cell is one hour of the week. With N = 0 there is no value.
type Cell struct {
	N      int
	Median float64
}

// HourOfWeek returns the median of a metric by UTC hour of the week, over the
// last HourOfWeekDays whole days. The first index is the day, Monday being 0.
func (t *Track) HourOfWeek(m Metric, now time.Time) [7][24]Cell {
	today := now.UTC().Truncate(Day)
	var values [7][24][]float64
	runs := t.in(Span{From: today.AddDate(0, 0, -HourOfWeekDays), To: today})
	for i := range runs {
		r := &runs[i]
		if v, ok := m.of(r); ok && r.counts() {
			at := r.time()
			day := (int(at.Weekday()) + 6) % 7 // Weekday begins on Sunday
			values[day][at.Hour()] = append(values[day][at.Hour()], v)
		}
	}
	var week [7][24]Cell
	for day := range values {
		for hour, v := range values[day] {
			median, _ := stats.Median(v)
			week[day][hour] = Cell{N: len(v), Median: median}
		}
	}
	return week
}

// A Bin counts the values in (Lo, Hi], in the metric's unit.
type Bin struct {
	Lo, Hi float64
	N      int
}

// A Spectrum is the distribution of a metric over a window as bins of equal
// relative width, in ascending order and without holes, empty ones included.
type Spectrum struct {
	Metric   Metric
	Bins     []Bin
	Timeouts int // runs cut off before they had the number, which lie beyond every bin of a time
}

// Spectrum returns at most most bins of the window's values, most being 1 or
// more. Its bins are whole groups of the histogram's own, so that windows of
// raw samples and of daily buckets look alike. Days that are gone from the raw
// samples count where their buckets keep the metric's histogram.
func (t *Track) Spectrum(m Metric, w Window, most int, now time.Time) Spectrum {
	span := w.Span(now)
	var hist stats.Histogram
	s := Spectrum{Metric: m}
	old := t.bucketed(span)
	for i := range old {
		if kept := m.hist(&old[i]); kept != nil {
			hist.Merge(kept)
			s.Timeouts += old[i].Errors[wire.KindTimeout]
		}
	}
	runs := t.in(span)
	for i := range runs {
		r := &runs[i]
		v, ok := m.of(r)
		switch {
		case r.counts() && ok:
			hist.Add(v)
		case m.cutOff(r):
			s.Timeouts++
		}
	}
	buckets := hist.Buckets()
	if len(buckets) == 0 {
		return s
	}
	first := buckets[0].Index
	all := buckets[len(buckets)-1].Index - first + 1
	width := (all + most - 1) / most
	s.Bins = make([]Bin, (all+width-1)/width)
	for i := range s.Bins {
		s.Bins[i].Lo = math.Pow(stats.Gamma, float64(first-1+i*width))
		s.Bins[i].Hi = math.Pow(stats.Gamma, float64(first-1+(i+1)*width))
	}
	for _, b := range buckets {
		s.Bins[(b.Index-first)/width].N += int(b.N)
	}
	return s
}

// A Fault counts failures that are alike.
type Fault struct {
	Kind   wire.ErrorKind
	Detail wire.Detail
	Phase  bench.Phase
	N      int
}

// An Anatomy is the failures of a window, day by day and by what they were.
type Anatomy struct {
	Days   []AnatomyDay // every day of the window, oldest first
	Faults []Fault      // of raw samples, the commonest first; observer faults left out
}

// An AnatomyDay counts one UTC day. Errors holds observer faults too, as buckets
// cannot tell them; Observer says how many of them the raw samples know.
type AnatomyDay struct {
	Day      time.Time
	Runs     int
	Errors   Errors
	Observer int
}

// Anatomy returns the failures over a span of whole UTC days.
func (t *Track) Anatomy(span Span) Anatomy {
	var a Anatomy
	faults := make(map[Fault]int)
	old := t.bucketed(span)
	for start := span.From.UTC().Truncate(Day); start.Before(span.To); start = start.Add(Day) {
		d := AnatomyDay{Day: start}
		for ; len(old) > 0 && !old[0].Start.After(start); old = old[1:] {
			if b := &old[0]; b.Start.Equal(start) {
				d.Runs, d.Errors = b.Samples, b.Errors
			}
		}
		runs := t.in(Span{From: start, To: start.Add(Day)})
		for i := range runs {
			r := &runs[i]
			d.Runs++
			switch {
			case r.ok():
				continue
			case r.observer:
				d.Observer++
			default:
				o := t.outcomes[r.outcome]
				faults[Fault{Kind: r.kind, Detail: o.detail, Phase: o.phase}]++
			}
			d.Errors.count(r.kind)
		}
		a.Days = append(a.Days, d)
	}
	for f, n := range faults {
		f.N = n
		a.Faults = append(a.Faults, f)
	}
	slices.SortFunc(a.Faults, func(x, y Fault) int {
		return cmp.Or(y.N-x.N, cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Detail, y.Detail), cmp.Compare(x.Phase, y.Phase))
	})
	return a
}
