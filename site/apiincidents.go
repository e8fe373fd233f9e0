package site

import (
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

const incidentsPath = apiPath + "incidents.json"

// An apiIncident is one incident of availability, of an endpoint or of a provider
// as a whole. Lasting changes of speed are events.
type apiIncident struct {
	ID       string              `json:"id"`
	Kind     rollup.IncidentKind `json:"kind"`
	Provider string              `json:"provider"`
	Model    string              `json:"model,omitempty"`   // "" if it is the provider's as a whole
	Vantage  string              `json:"vantage,omitempty"` // likewise
	Nonce    *bool               `json:"nonce,omitempty"`   // likewise nil

	Began    time.Time  `json:"began"`
	Opened   time.Time  `json:"opened"`
	Worsened *time.Time `json:"worsened"`
	Ended    *time.Time `json:"ended"`
	Closed   *time.Time `json:"closed"`

	Reason      rollup.CloseReason `json:"reason,omitempty"`
	Maintenance string             `json:"maintenance,omitempty"`
	Runs        int                `json:"runs"`
	Failed      int                `json:"failed"`
	Kinds       map[string]int     `json:"error_kinds"`
	Parts       []apiIncident      `json:"parts,omitempty"`
}

func apiIncidentOf(in *rollup.Incident) apiIncident {
	x := apiIncident{
		ID: in.ID, Kind: in.Kind, Provider: in.Provider,
		Began: in.Began.UTC(), Opened: in.Opened.UTC(),
		Worsened: instantOrNil(in.Worsened), Ended: instantOrNil(in.Ended), Closed: instantOrNil(in.Closed),
		Reason: in.Why, Maintenance: in.Maintenance,
		Runs: in.Tally.Runs, Failed: in.Tally.Failed, Kinds: in.Tally.Kinds,
	}
	if x.Kinds == nil {
		x.Kinds = map[string]int{}
	}
	if in.Series != (bench.Series{}) {
		x.Model, x.Vantage, x.Nonce = in.Series.Model, in.Series.Vantage, &in.Series.Nonce
	}
	for i := range in.Parts {
		x.Parts = append(x.Parts, apiIncidentOf(&in.Parts[i]))
	}
	return x
}

// apiIncidents lists the incidents that the record holds, newest first.
func (e *edition) apiIncidents() any {
	list := []apiIncident{}
	for _, in := range e.incidents(nil) {
		list = append(list, apiIncidentOf(in))
	}
	return struct {
		apiHead
		Incidents []apiIncident `json:"incidents"`
	}{e.apiHead("incidents"), list}
}
