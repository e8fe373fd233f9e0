package main

import (
	"slices"

	"github.com/streamgauge/streamgauge/bench"
)

// allShards is the shard that measures everything in one job.
const allShards = "all"

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

// shardsOf splits what is due into shards, by lane.
func shardsOf(plan *bench.Plan, list []bench.Provider) []shard {
	shards := []shard{}
	for i := range plan.Due {
		d := &plan.Due[i]
		n := slices.IndexFunc(shards, func(s shard) bool { return s.Name == d.Lane })
		if n < 0 {
			n = len(shards)
			shards = append(shards, shard{Name: d.Lane})
		}
		s := &shards[n]
		s.Due++
		s.Seconds += d.Takes.Seconds()
		if !slices.Contains(s.Providers, d.Provider) {
			s.Providers = append(s.Providers, d.Provider)
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
