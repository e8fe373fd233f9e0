package rollup

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// A Rule is how a level of availability begins and ends.
type Rule struct {
	Open  Quorum // so many of the last runs failed, the newest among them
	Close Quorum // so many of the last runs succeeded, the newest among them
}

// A SpeedPolicy says which lasting changes of speed are incidents.
type SpeedPolicy string

// The policies.
const (
	SpeedWorse SpeedPolicy = "worse"
	SpeedAny   SpeedPolicy = "any"
	SpeedOff   SpeedPolicy = "off"
)

// A Policy says what is an incident.
type Policy struct {
	Down        Rule
	Degraded    Rule
	Throttling  bool // rate limits count as failed: right where the plan promises more than is asked of it
	Speed       SpeedPolicy
	SpeedDays   int // a change of speed is over after so many days: it is the normal one then
	Maintenance []Maintenance
}

// DefaultPolicy returns the policy that holds unless a configuration says
// otherwise. Three of four keeps one lost run, and two that shared a cause, from
// waking anybody; four of twelve is a failure rate that a reader of hourly runs
// notices within half a day.
func DefaultPolicy() Policy {
	return Policy{
		Down:      Rule{Open: Quorum{3, 4}, Close: Quorum{3, 4}},
		Degraded:  Rule{Open: Quorum{4, 12}, Close: Quorum{11, 12}},
		Speed:     SpeedWorse,
		SpeedDays: 14,
	}
}

// Limits of the rules that no configuration changes.
const (
	UnseenAfter   = 72 * time.Hour // an incident about which nothing is heard for so long, and for UnseenRuns cadences, is closed
	UnseenRuns    = 6
	ForgetAfter   = 24 * time.Hour // runs before a silence of so long, and of UnseenRuns cadences, are no part of a quorum
	WideModels    = 2              // so many models of a provider failing at once,
	WideShare     = 0.5            // and at least this share of those measured, are one incident
	WideMeasured  = 24 * time.Hour // a model counts as measured so long after a run, or two cadences
	Intermittent  = 0.25           // an outage in which this share of the runs succeeded ends as degraded first
	WitnessWithin = FaultSpan      // another provider's answer so close to a failure clears our own network
)

// A Maintenance is a time in which failures of a provider, or of one model, are
// expected. From and To bound it once; Weekly repeats.
type Maintenance struct {
	Provider string // as published
	Model    string // "" is all of the provider's
	From, To time.Time
	Weekly   Weekly
}

// A Weekly is a span of each week, in UTC. One that ends before it begins goes
// on past midnight. The zero value is never.
type Weekly struct {
	Day      time.Weekday
	From, To time.Duration // since midnight
}

// weekdays are the names that a configuration may use.
var weekdays = [...]string{"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"}

// errWeekly is what a weekly window must look like.
var errWeekly = errors.New(`a weekly window looks like "Sun 02:00-04:00", in UTC`)

// ParseWeekly reads "Sun 02:00-04:00".
func ParseWeekly(text string) (Weekly, error) {
	name, span, _ := strings.Cut(text, " ")
	from, to, ok := strings.Cut(span, "-")
	var w Weekly
	known := false
	for day, short := range weekdays {
		if name == short {
			w.Day, known = time.Weekday(day), true
		}
	}
	begin, err1 := time.Parse("15:04", from)
	end, err2 := time.Parse("15:04", to)
	if !known || !ok || err1 != nil || err2 != nil || begin.Equal(end) {
		return Weekly{}, errWeekly
	}
	w.From = begin.Sub(begin.Truncate(Day))
	w.To = end.Sub(end.Truncate(Day))
	return w, nil
}

// String returns "Sun 02:00-04:00 UTC".
func (w Weekly) String() string {
	clock := func(d time.Duration) string { return fmt.Sprintf("%02d:%02d", d/time.Hour, d%time.Hour/time.Minute) }
	return fmt.Sprintf("%s %s-%s UTC", weekdays[w.Day], clock(w.From), clock(w.To))
}

// end returns when the span that holds t ends; ok is false if t lies in none.
// The first instant is in, the last is not.
func (w Weekly) end(t time.Time) (end time.Time, ok bool) {
	if w == (Weekly{}) {
		return time.Time{}, false
	}
	length := w.To - w.From
	if length <= 0 {
		length += Day
	}
	// The begin on or before t: this week's, or last week's.
	midnight := t.UTC().Truncate(Day)
	back := (int(midnight.Weekday()) - int(w.Day) + 7) % 7
	begin := midnight.AddDate(0, 0, -back).Add(w.From)
	if begin.After(t) {
		begin = begin.AddDate(0, 0, -7)
	}
	end = begin.Add(length)
	return end, t.Before(end)
}

// covers returns until when the window holds for a pair at a time.
func (m *Maintenance) covers(p bench.Pair, t time.Time) (until time.Time, ok bool) {
	if m.Provider != p.Provider || m.Model != "" && m.Model != p.Model {
		return time.Time{}, false
	}
	if !m.From.IsZero() && !t.Before(m.From) && t.Before(m.To) {
		return m.To, true
	}
	return m.Weekly.end(t)
}

// String says when the window is.
func (m *Maintenance) String() string {
	if m.Weekly != (Weekly{}) {
		return m.Weekly.String()
	}
	const minute = "2006-01-02 15:04"
	return m.From.UTC().Format(minute) + " to " + m.To.UTC().Format(minute) + " UTC"
}

// maintenance returns the window that a pair is in and when it ends; of several
// the one that lasts longest, and nil if there is none.
func (p *Policy) maintenance(pair bench.Pair, t time.Time) (window *Maintenance, until time.Time) {
	for i := range p.Maintenance {
		m := &p.Maintenance[i]
		if end, ok := m.covers(pair, t); ok && end.After(until) {
			window, until = m, end
		}
	}
	return window, until
}
