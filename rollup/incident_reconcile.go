package rollup

import "time"

// A Told is an incident that somebody was told of before, as by an open issue.
type Told struct {
	ID      string
	Subject string
	Since   time.Time // when they were told
	Closed  bool      // they were told that it is over, or said themselves that they know
}

// An Action is what brings what somebody was told up to date.
type Action string

// The actions.
const (
	ActionOpen      Action = "open"
	ActionUpdate    Action = "update"    // it lasts; there may be nothing new
	ActionClose     Action = "close"     // it is over
	ActionFold      Action = "fold"      // it is part of a wider one now
	ActionDuplicate Action = "duplicate" // the same was told before
	ActionWithdraw  Action = "withdraw"  // the record does not show it any more, as when late samples cleared the provider
)

// A Step is one action.
type Step struct {
	Action   Action
	Told     int       // which of the told it is about; -1 for ActionOpen
	Incident *Incident // what it is or belongs to; nil for ActionWithdraw
}

// Reconcile returns what is to be done so that what was told, oldest first,
// agrees with the incidents of the record: first what ends, then what goes on,
// then what is new, each in order. Doing it and asking again leaves updates only.
//
// An incident is known by its ID. One whose beginning has moved, as when raw
// samples of its first days are pruned or earlier ones arrive late, is known by
// its subject, of which one is open at a time, or closed after they were told.
// Incidents that are no alarm count as absent.
func Reconcile(told []Told, incidents []Incident) []Step {
	byID, partOf := make(map[string]*Incident), make(map[string]*Incident)
	bySubject := make(map[string]*Incident) // of open ones, parts by what they are a part of
	for i := range incidents {
		in := &incidents[i]
		if !in.Alarm() {
			continue
		}
		byID[in.ID] = in
		if in.Open() {
			bySubject[in.Subject] = in
		}
		for j := range in.Parts {
			partOf[in.Parts[j].ID] = in
			if in.Parts[j].Open() {
				bySubject[in.Parts[j].Subject] = in
			}
		}
	}
	known := make(map[*Incident]bool)
	steps := make([]Step, len(told))
	for i, t := range told { // by ID first: what is known so is not to be adopted
		in := byID[t.ID]
		if in == nil || known[in] && t.Closed {
			continue
		}
		steps[i] = Step{ActionUpdate, i, in}
		switch {
		case known[in]:
			steps[i].Action = ActionDuplicate
		case !in.Open():
			steps[i].Action = ActionClose
		}
		known[in] = true
	}
	for i, t := range told {
		if steps[i].Incident != nil || t.Closed {
			continue
		}
		in := partOf[t.ID]
		if in == nil {
			in = bySubject[t.Subject]
		}
		if in == nil {
			in = closedSince(incidents, t)
		}
		switch {
		case in == nil:
			steps[i] = Step{ActionWithdraw, i, nil}
		case in.Subject != t.Subject:
			steps[i] = Step{ActionFold, i, in}
		case known[in]:
			steps[i] = Step{ActionDuplicate, i, in}
		default:
			steps[i] = Step{ActionUpdate, i, in}
			if !in.Open() {
				steps[i].Action = ActionClose
			}
			known[in] = true
		}
	}
	var ends, goOn, begin []Step
	for i, s := range steps {
		switch {
		case s.Action == "" || told[i].Closed: // nothing more to say
		case s.Action == ActionUpdate:
			goOn = append(goOn, s)
		default:
			ends = append(ends, s)
		}
	}
	for i := range incidents {
		if in := &incidents[i]; in.Alarm() && in.Open() && !known[in] {
			begin = append(begin, Step{ActionOpen, -1, in})
		}
	}
	return append(append(ends, goOn...), begin...)
}

// closedSince returns the last incident of what was told that closed after that;
// nil if there is none.
func closedSince(incidents []Incident, t Told) *Incident {
	var last *Incident
	for i := range incidents {
		in := &incidents[i]
		if in.Subject == t.Subject && in.Alarm() && in.Closed.After(t.Since) && (last == nil || in.Closed.After(last.Closed)) {
			last = in
		}
	}
	return last
}
