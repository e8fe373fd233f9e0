package rollup

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// An IncidentKind is what is wrong.
type IncidentKind string

// The kinds of incident.
const (
	IncidentDown     IncidentKind = "down"     // answers no more
	IncidentDegraded IncidentKind = "degraded" // answers now and then
	IncidentSpeed    IncidentKind = "speed"    // answers, at a lastingly different speed
)

// A CloseReason says why an incident is over.
type CloseReason string

// The reasons.
const (
	CloseRecovered   CloseReason = "recovered"   // it works again, or has its speed back
	CloseSettled     CloseReason = "settled"     // a speed that has held for Policy.SpeedDays is the normal one
	CloseSuperseded  CloseReason = "superseded"  // the speed changed once more, in the same sense
	CloseUnseen      CloseReason = "unseen"      // no run has told anything for long
	CloseMaintenance CloseReason = "maintenance" // the window that it fell in is over; what goes on is a new incident
)

// An Incident is a time in which something was wrong with one series, or with a
// provider as a whole. It follows from the record alone, see [FindIncidents],
// and is the same whenever it is found.
type Incident struct {
	ID      string `json:"id"`      // made of what it is about and when it began; safe in HTML, URLs and headers
	Subject string `json:"subject"` // what it is about, in the same form; of one subject at most one is open

	Kind     IncidentKind `json:"kind"` // the present level; once it is closed, the worst that it reached
	Provider string       `json:"provider"`
	Series   bench.Series `json:"series,omitzero"` // zero if it is the provider's as a whole

	Began    time.Time   `json:"began"`             // the first failed run of those that opened it; of a speed, the day of its onset
	Opened   time.Time   `json:"opened"`            // the run, or the end of the day, that decided
	Worsened time.Time   `json:"worsened,omitzero"` // when it went down, after it had been opened as degraded
	Ended    time.Time   `json:"ended,omitzero"`    // the first good run after the last failed one; zero if none is known
	Closed   time.Time   `json:"closed,omitzero"`   // when it was over by the rules; zero while it is open
	Why      CloseReason `json:"reason,omitempty"`  // why it is closed

	// Maintenance names the window that kept it from being an alarm: it is
	// listed, and nobody is told.
	Maintenance string `json:"maintenance,omitempty"`

	Tally Tally      `json:"tally,omitzero"`
	Shift *Shift     `json:"shift,omitempty"` // of one series' speed
	Parts []Incident `json:"parts,omitempty"` // the incidents that a provider's joins, in order; they are listed nowhere else
}

// Open reports whether it still lasts.
func (i *Incident) Open() bool { return i.Closed.IsZero() }

// Alarm reports whether anybody is to be told.
func (i *Incident) Alarm() bool { return i.Maintenance == "" }

// A Tally counts the runs of an incident that told of the provider, from its
// beginning to its close.
type Tally struct {
	Runs   int            `json:"runs"`
	Failed int            `json:"failed"`
	Kinds  map[string]int `json:"kinds,omitempty"` // failed ones, by error kind
}

// FindIncidents finds the incidents that a record holds, in the order in which
// they were opened. It is pure: the order of histories and of their samples
// makes no difference, nor how often it was asked before.
//
// A run that failed by the provider's fault is bad, one that succeeded is good,
// and all others tell nothing: auth, quota and blocked requests, rate limits
// unless the policy counts them, answers without visible text, runs that our
// own machine disturbed, and failures at times when our own connection was at
// fault ([FindFaults]). A failure that our own network could have caused counts
// only if another provider answered us at about that time. A series that has
// never succeeded has no incidents: its set-up is wrong.
//
// Of each series, Policy.Down and Policy.Degraded say how many of the last runs
// open and close an incident. Incidents of several models of one provider at
// once are one of the provider's. Changes of speed are those of the events that
// [Detect] has found.
//
// A failed run that later ones can still exonerate is not looked at before
// FaultSpan has passed.
func FindIncidents(histories []History, events []Event, policy Policy, now time.Time) []Incident {
	now = now.UTC()
	witnesses, faults := testimony(histories, now)
	byProvider := make(map[string][]*watcher)
	for i := range histories {
		h := &histories[i]
		w := newWatcher(h, &policy)
		w.drops = dropsOf(events, h.Series)
		w.follow(runsToWatch(h, &policy, witnesses, faults, now), now)
		byProvider[h.Series.Provider] = append(byProvider[h.Series.Provider], w)
	}
	var found []Incident
	for provider, watches := range byProvider {
		found = append(found, foldProvider(provider, watches)...)
	}
	found = append(found, speedIncidents(events, &policy, now)...)
	slices.SortFunc(found, compareIncidents)
	return found
}

func compareIncidents(a, b Incident) int {
	return cmp.Or(a.Opened.Compare(b.Opened), strings.Compare(a.ID, b.ID))
}

// incidentID names an incident by its subject and beginning, without a letter of
// what a provider chose.
func incidentID(subject string, began time.Time) string {
	return opaque("incident", subject, began.UTC().Format(time.RFC3339Nano))
}

// opaque hashes words into 16 hexadecimal digits: chance makes two alike once in
// billions of incidents.
func opaque(words ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(words, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// availabilityOf is the subject of a series that fails.
func availabilityOf(s bench.Series) string { return opaque("availability", seriesKey(s)) }

// providerOutage is the subject of a provider that fails as a whole.
func providerOutage(provider string) string { return opaque("availability of all", provider) }

// speedOf is the subject of a series' speed.
func speedOf(s bench.Series, m Metric) string { return opaque("speed", seriesKey(s), string(m)) }

// A Quorum is so many of the last so many runs.
type Quorum struct{ N, M int }

// String returns "3 of 4".
func (q Quorum) String() string { return fmt.Sprintf("%d of %d", q.N, q.M) }

// MaxQuorum is the most runs that a quorum may look back at.
const MaxQuorum = 100

// A QuorumError is text that is no quorum.
type QuorumError struct{ Text string }

// Error says what a quorum looks like.
func (e *QuorumError) Error() string {
	return fmt.Sprintf("%q is not like \"3 of 4\", of at most %d runs", e.Text, MaxQuorum)
}

// ParseQuorum reads "3 of 4".
func ParseQuorum(text string) (Quorum, error) {
	var q Quorum
	n, err := fmt.Sscanf(text, "%d of %d", &q.N, &q.M)
	if err != nil || n != 2 || q.N < 1 || q.N > q.M || q.M > MaxQuorum || q.String() != text {
		return Quorum{}, &QuorumError{text}
	}
	return q, nil
}
