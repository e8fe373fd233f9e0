package main

import (
	_ "embed"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// payloadSchema describes what a webhook is sent, in JSON Schema, draft 2020-12.
//
//go:embed notify_payload.json
var payloadSchema []byte

// What a webhook is told of.
const (
	typeOpened   = "incident.opened"
	typeWorsened = "incident.worsened" // from degraded to down
	typeClosed   = "incident.closed"
)

// Reasons of closing that are not the record's; see [rollup.CloseReason].
const (
	closeFolded    = "folded"    // it is part of a wider incident now
	closeWithdrawn = "withdrawn" // the record does not show it any more
)

// A payload is the body of a webhook's message, in the form that Standard
// Webhooks recommends: a type, an instant, and data.
type payload struct {
	Type string      `json:"type"`
	At   time.Time   `json:"timestamp"` // when it happened, by the record
	Data payloadData `json:"data"`
}

type payloadData struct {
	Version   int            `json:"version"`
	Incident  string         `json:"incident"`
	Kind      string         `json:"kind"`
	State     string         `json:"state"`
	Reason    *string        `json:"reason"` // of closing
	Into      *string        `json:"into"`   // the wider incident, of reason folded
	Headline  string         `json:"headline"`
	Provider  string         `json:"provider"`
	Model     *string        `json:"model"` // nil: the provider as a whole
	Vantage   *string        `json:"vantage"`
	Simulated bool           `json:"simulated"`
	Began     time.Time      `json:"began"`
	Opened    time.Time      `json:"opened"`
	Ended     *time.Time     `json:"ended"`
	Closed    *time.Time     `json:"closed"`
	Runs      int            `json:"runs"`
	Failed    int            `json:"failed"`
	Kinds     map[string]int `json:"failed_by_kind"`
	Speed     *payloadSpeed  `json:"speed"`
	Affected  []payloadPart  `json:"affected"`
	URL       *string        `json:"url"`
}

type payloadSpeed struct {
	Metric     string  `json:"metric"`
	Unit       string  `json:"unit"`
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
	Change     float64 `json:"change"`
	ChangeLow  float64 `json:"change_low"`
	ChangeHigh float64 `json:"change_high"`
	P          float64 `json:"p"`
}

type payloadPart struct {
	Model   string `json:"model"`
	Vantage string `json:"vantage"`
	Kind    string `json:"kind"`
	State   string `json:"state"`
}

// newPayload returns what is told of an incident.
func newPayload(kind string, at time.Time, id string, i *rollup.Incident, siteURL string) payload {
	d := payloadData{
		Version: 1, Incident: id, Kind: string(i.Kind), State: stateOf(i), Headline: headline(i), Provider: i.Provider,
		Simulated: simulated(i), Began: i.Began.UTC(), Opened: i.Opened.UTC(), Ended: unlessZero(i.Ended), Closed: unlessZero(i.Closed),
		Runs: i.Tally.Runs, Failed: i.Tally.Failed, Kinds: i.Tally.Kinds, Affected: []payloadPart{},
	}
	if d.Kinds == nil {
		d.Kinds = map[string]int{}
	}
	if i.Why != "" {
		reason := string(i.Why)
		d.Reason = &reason
	}
	if s := i.Series; s != (bench.Series{}) {
		d.Model, d.Vantage = &s.Model, &s.Vantage
	}
	if s := i.Shift; s != nil {
		d.Speed = &payloadSpeed{
			Metric: string(s.Metric), Unit: s.Metric.Unit(), Before: s.Before, After: s.After,
			Change: s.Change, ChangeLow: s.Interval.Lo, ChangeHigh: s.Interval.Hi, P: s.P,
		}
	}
	for k := range i.Parts[:min(len(i.Parts), maxAffected)] {
		p := &i.Parts[k]
		d.Affected = append(d.Affected, payloadPart{p.Series.Model, p.Series.Vantage, string(p.Kind), stateOf(p)})
	}
	if siteURL != "" {
		page := evidenceURL(i, siteURL)
		d.URL = &page
	}
	return payload{Type: kind, At: at.UTC(), Data: d}
}

// stateOf returns "open" or "closed".
func stateOf(i *rollup.Incident) string {
	if i.Open() {
		return "open"
	}
	return "closed"
}

// simulated reports whether an incident is the simulated provider's.
func simulated(i *rollup.Incident) bool {
	if len(i.Parts) > 0 {
		return simulated(&i.Parts[0])
	}
	return i.Series.Vantage == bench.VantageSimulated
}

func unlessZero(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}
