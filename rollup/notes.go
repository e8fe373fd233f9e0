package rollup

import (
	"strconv"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// notes returns the known changes of conditions in the detector's window that
// ends with day, by condition and time. A condition that the provider varies from run
// to run, as a router does, is noted only when the new value has Settled, and
// not at all if it settles anew more than MaxChanges times in the window.
func (t *Track) notes(day time.Time) []Event {
	span := Span{From: day.Add(Day).AddDate(0, 0, -detectorDays()), To: day.Add(Day)}
	days := t.conditionsByDay(span)
	var notes []Event
	for _, kind := range []NoteKind{NoteMethod, NotePrompt, NoteProtocol, NoteServed, NoteRoute} {
		var changes []Event
		held := ""
		for _, d := range days {
			value, ok := t.settled(d.runs, kind)
			if !ok {
				continue
			}
			if held != "" && held != value {
				changes = append(changes, Event{
					ID:   eventID(EventNote, seriesKey(t.Series), string(kind)+" "+value, d.day),
					Kind: EventNote, Onset: d.day, Provider: t.Series.Provider, Series: t.Series,
					Note: &Note{What: kind, From: held, To: value},
				})
			}
			held = value
		}
		if len(changes) <= MaxChanges {
			notes = append(notes, changes...)
		}
	}
	return notes
}

// dayConditions counts a day's runs by their conditions; the index is run.cond.
type dayConditions struct {
	day  time.Time
	runs []int
}

func (t *Track) conditionsByDay(span Span) []dayConditions {
	var days []dayConditions
	runs := t.in(span)
	for i := range runs {
		if day := dayStart(dayOf(runs[i].at)); len(days) == 0 || !days[len(days)-1].day.Equal(day) {
			days = append(days, dayConditions{day: day, runs: make([]int, len(t.conds))})
		}
		days[len(days)-1].runs[runs[i].cond]++
	}
	return days
}

// settled returns the value of a condition that holds for at least Settled of
// the runs that tell it.
func (t *Track) settled(runs []int, kind NoteKind) (value string, ok bool) {
	counts := make(map[string]int)
	told := 0
	for i, n := range runs {
		if v := t.conds[i].value(kind); v != "" && n > 0 {
			counts[v] += n
			told += n
		}
	}
	for v, n := range counts {
		if float64(n) >= Settled*float64(told) {
			return v, true
		}
	}
	return "", false
}

// value returns a condition as a note spells it.
func (c Conditions) value(kind NoteKind) string {
	switch kind {
	case NoteMethod:
		return strconv.Itoa(c.Method)
	case NotePrompt:
		return strconv.Itoa(c.Prompt)
	case NoteProtocol:
		return c.Protocol
	case NoteServed:
		return c.ServedBy
	case NoteRoute:
		return c.Backend
	}
	return ""
}

// RenamedEvent notes that a series has had its name since a day, and which pair
// it was before.
func RenamedEvent(series bench.Series, from bench.Pair, day time.Time) Event {
	day = day.UTC().Truncate(Day)
	return Event{
		ID:   eventID(EventNote, seriesKey(series), string(NoteName)+" "+from.String(), day),
		Kind: EventNote, Found: day, Onset: day, Provider: series.Provider, Series: series,
		Note: &Note{What: NoteName, From: from.String(), To: series.Pair.String()},
	}
}
