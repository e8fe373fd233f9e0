package main

import (
	"slices"

	"github.com/streamgauge/streamgauge/bench"
)

// A shard is what one job of a matrix measures: one lane, so that sharding
// changes nothing about what runs beside what. Providers without a lane of
// their own share one, as the published method sends one request at a time.
type shard struct {
	Name      string   `json:"name"` // of the lane
	Providers []string `json:"providers"`
	Due       int      `json:"due"`     // requests
	Seconds   float64  `json:"seconds"` // that they are expected to take
	Secrets   []string `json:"secrets"` // names of the variables that it needs
}

// laneOf returns the lane that a provider is measured in.
func laneOf(p *bench.Provider) string {
	if p.OwnLane {
		return p.PublicName()
	}
	return bench.SharedLane
}

// shardsOf splits what is due into shards, by lane. A provider whose models
// have still to be discovered has a shard too, as only the job that has its key
// can do that.
func shardsOf(plan *bench.Plan, list []bench.Provider, env bench.Lookup) []shard {
	shards := []shard{}
	of := func(lane, provider string) *shard {
		n := slices.IndexFunc(shards, func(s shard) bool { return s.Name == lane })
		if n < 0 {
			n = len(shards)
			shards = append(shards, shard{Name: lane})
		}
		if !slices.Contains(shards[n].Providers, provider) {
			shards[n].Providers = append(shards[n].Providers, provider)
		}
		return &shards[n]
	}
	for i := range plan.Due {
		d := &plan.Due[i]
		s := of(d.Lane, d.Provider)
		s.Due++
		s.Seconds += d.Takes.Seconds()
	}
	for i := range list {
		if p := &list[i]; p.Discover != nil && len(p.Models) == 0 && p.Configured(env) {
			of(laneOf(p), p.PublicName())
		}
	}
	none := func(string) (string, bool) { return "", false }
	for i := range shards {
		s := &shards[i]
		slices.Sort(s.Providers)
		for j := range list {
			if slices.Contains(s.Providers, list[j].PublicName()) {
				s.Secrets = append(s.Secrets, list[j].Missing(none)...)
			}
		}
		slices.Sort(s.Secrets)
		s.Secrets = slices.Compact(s.Secrets)
	}
	return shards
}
