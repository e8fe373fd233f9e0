package site_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/simulate"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/content"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
	"github.com/streamgauge/streamgauge/site"
	"github.com/streamgauge/streamgauge/templates"
)

// built is when test sites are built: early in a UTC day, so that today is
// young and the whole days before it are what counts.
var built = time.Date(2026, 3, 14, 9, 26, 0, 0, time.UTC)

// A past is a series to simulate.
type past struct {
	provider, model string
	like            string // name of the simulated model it behaves like
	every           time.Duration
	days            int
}

// inputs simulates the pasts of series, as a record of them would hold them.
func inputs(t testing.TB, pasts ...past) site.Inputs {
	t.Helper()
	in := site.Inputs{
		Config:    site.Config{BaseURL: "https://gauge.example/x/y/", Repository: "https://code.example/gauge", Owner: "The testers"},
		Generated: built, Simulated: true, Revision: "4f2c91a",
		RawRetention: 60 * rollup.Day,
		Templates:    templates.Files(), Content: content.FS,
		Traces: map[bench.Series]bench.Sample{},
		Schema: []site.Column{
			{Name: "sample.ttft_ms", Unit: "ms", Meaning: "Dispatch to first visible text."},
			{Name: "sample.decode_tps", Unit: "tokens/s", Meaning: "Decode rate; NULL where there is none."},
		},
		PTU: site.PTUTable{AsOf: "2025-06-01", Source: "a vendor's page", Models: []site.PTUModel{
			{Name: "small", PTUModel: stats.PTUModel{InputTPM: 37000, OutputWeight: 3, Min: 15, Step: 5}},
		}},
	}
	models := simulate.Models()
	byProvider := map[string]*site.Provider{}
	for i, p := range pasts {
		at := slices.IndexFunc(models, func(m simulate.Model) bool { return m.Name == p.like })
		if at < 0 {
			t.Fatalf("no simulated model is named %s", p.like)
		}
		pair := bench.Pair{Provider: p.provider, Model: p.model}
		env := bench.Env{Method: bench.MethodVersion, Prompt: bench.PromptVersion, Protocol: "openai_chat", Vantage: "lab", Lanes: 1, Clock: bench.ClockKernel}
		h := rollup.History{Series: bench.Series{Pair: pair, Vantage: "lab"}, Every: p.every}
		from := built.Add(-time.Duration(p.days) * rollup.Day)
		n := 0
		for slot := range simulate.History(uint64(i)+7, models[at], from, built, p.every) {
			s := sampleOf(slot, pair, env)
			if s.OK() {
				in.Traces[h.Series] = s
			}
			s.Trace = nil
			h.Samples = append(h.Samples, s)
			n++
		}
		h.Days, h.Samples = aged(h)
		in.Histories = append(in.Histories, h)

		pr := byProvider[p.provider]
		if pr == nil {
			pr = &site.Provider{Name: p.provider, Title: strings.ToUpper(p.provider[:1]) + p.provider[1:], Note: "Simulated."}
			byProvider[p.provider] = pr
		}
		in, out := .1*float64(i%7), .4*float64(i%7)
		pr.Models = append(pr.Models, site.Model{
			Name: p.model, Every: p.every, OpenWeights: i%2 == 0, SizeClass: []string{"small", "large"}[i%2],
			PriceIn: &in, PriceOut: &out, Repeat: fmt.Sprintf("streamgauge probe --url https://api.example/v1 --model %q", p.model),
		})
	}
	for _, p := range pasts {
		if pr := byProvider[p.provider]; pr != nil {
			in.Providers = append(in.Providers, *pr)
			delete(byProvider, p.provider)
		}
	}
	in.Events = events(in.Histories)
	return in
}

// aged rolls days up and drops raw samples older than the retention.
func aged(h rollup.History) (days []rollup.Bucket, raw []bench.Sample) {
	byDay := map[time.Time][]bench.Sample{}
	for _, s := range h.Samples {
		day := s.StartedAt.Truncate(rollup.Day)
		byDay[day] = append(byDay[day], s)
		if s.StartedAt.After(built.Truncate(rollup.Day).Add(-60 * rollup.Day)) {
			raw = append(raw, s)
		}
	}
	for day, samples := range byDay {
		if day.Before(built.Truncate(rollup.Day)) {
			days = append(days, rollup.Summarize(h.Series, day, rollup.Day, samples))
		}
	}
	return days, raw
}

// events runs the detector over the newest days.
func events(histories []rollup.History) []rollup.Event {
	var tracks []*rollup.Track
	for _, h := range histories {
		tracks = append(tracks, rollup.NewTrack(h, rollup.Faults{}))
	}
	var found []rollup.Event
	for day := built.Truncate(rollup.Day).AddDate(0, 0, -30); day.Before(built.Truncate(rollup.Day)); day = day.Add(rollup.Day) {
		found = append(found, rollup.Detect(found, tracks, day)...)
	}
	return found
}

// sampleOf returns the sample that measuring a slot would give.
func sampleOf(slot simulate.Slot, pair bench.Pair, env bench.Env) bench.Sample {
	tl := slot.Timeline(bench.MaxOutputTokens)
	s := bench.Sample{
		Pair: pair, StartedAt: slot.At.UTC(), Scheduled: slot.At.UTC().Add(-time.Minute), Env: env, HTTPStatus: 200,
		Phases: bench.Phases{Setup: 24 * time.Millisecond},
	}
	visible := 0
	for read, step := range tl.Steps {
		a := bench.Arrival{At: step.Due, Read: read, Mark: bench.MarkMeta}
		switch step.Kind {
		case simulate.StepReasoning:
			a.Mark, a.Chars = bench.MarkReasoning, utf8.RuneCountInString(step.Text)
		case simulate.StepVisible:
			a.Mark, a.Chars = bench.MarkVisible, utf8.RuneCountInString(step.Text)
			visible += step.Tokens
		case simulate.StepEnd:
			a.Mark = bench.MarkDone
			s.Done, s.EOF = step.Due, step.Due
		case simulate.StepBreak:
			continue
		}
		s.Trace = append(s.Trace, a)
	}
	s.Digest()
	switch slot.Shape.Fault.Kind.ErrorKind() {
	case "":
		s.Usage.Visible, s.Usage.Output = wire.Known(int64(visible)), wire.Known(int64(tl.Output()))
		if s.Chunks == 0 {
			s.Kind, s.Detail = wire.KindMalformed, wire.DetailNoVisibleOutput
		}
	case "auth":
		s.Kind, s.FailedIn = wire.KindAuth, bench.PhaseHeaders
	case "quota":
		s.Kind, s.FailedIn = wire.KindQuota, bench.PhaseHeaders
	case "rate_limit":
		s.Kind, s.FailedIn = wire.KindRateLimit, bench.PhaseHeaders
	case "server":
		s.Kind, s.FailedIn = wire.KindServer, bench.PhaseHeaders
	case "timeout":
		s.Kind, s.FailedIn = wire.KindTimeout, bench.PhaseHeaders
	case "network":
		s.Kind, s.FailedIn = wire.KindNetwork, bench.PhaseStream
	case "malformed":
		s.Kind, s.Detail, s.FailedIn = wire.KindMalformed, wire.DetailTruncated, bench.PhaseEnd
	}
	return s
}

// three is a small site of three series with a long past.
func three() []past {
	return []past{
		{"estuary", "aspen", "step-down-50", time.Hour, 40},
		{"estuary", "birch", "jittery-80", time.Hour, 40},
		{"northwind", "aspen", "smooth-60", time.Hour, 40},
	}
}

// many is a site of n series of all shapes.
func many(n int, every time.Duration, days int) []past {
	names := []string{"aspen-mini", "birch", "cedar-32b", "dogwood-mini", "elm-32b", "fir-120b-a5b", "ginkgo", "hazel-120b-a5b", "ironwood", "juniper", "kapok-8b", "larch"}
	models := simulate.Models()
	var pasts []past
	for i := range n {
		pasts = append(pasts, past{
			provider: []string{"northwind", "estuary-free", "estuary-pro", "riverbed", "local"}[i%5],
			model:    fmt.Sprint(names[i%len(names)], []string{"", "-v2", "-v3", "-v4", "-v5"}[i/len(names)%5]),
			like:     models[i%21].Name, every: every, days: days,
		})
	}
	return pasts
}
