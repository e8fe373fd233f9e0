package site

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/rollup"
)

// The API is JSON files under api/v1/. Within v1, names keep their meaning and
// their unit, which the name ends in; fields are only ever added. A number that
// is absent is null and has a reason beside it.
const apiPath = "api/v1/"

func apiBoardPath(w rollup.Window, m rollup.Metric) string {
	return apiPath + "leaderboard/" + string(w) + "/" + string(m) + ".json"
}

func apiPairPath(p *endpoint) string {
	return apiPath + p.path[:len(p.path)-1] + ".json"
}

// An apiHead begins every answer.
type apiHead struct {
	Schema      string    `json:"schema"`
	GeneratedAt time.Time `json:"generated_at"`
	Simulated   bool      `json:"simulated"`
	Revision    string    `json:"revision,omitempty"`
	Licence     string    `json:"licence"`
}

func (e *edition) apiHead(schema string) apiHead {
	return apiHead{"v1/" + schema, e.now, e.in.Simulated, e.in.Revision, e.in.Config.DataLicence}
}

// An apiPair names a series and says where more of it is. Paths are relative to
// the site's root.
type apiPair struct {
	Provider string `json:"provider"`
	Model    string `json:"model"`
	Vantage  string `json:"vantage"`
	Nonce    bool   `json:"nonce"`
	Page     string `json:"page"`
	Detail   string `json:"detail"`
}

func pairOf(p *endpoint) apiPair {
	return apiPair{p.series.Provider, p.series.Model, p.series.Vantage, p.series.Nonce, p.path, apiPairPath(p)}
}

// An apiLevel is a metric as a leaderboard shows it.
type apiLevel struct {
	Statistic  *string          `json:"statistic"` // "score" over days, or "median_of_runs"
	Value      *float64         `json:"value"`
	Lo         *float64         `json:"lo"`
	Hi         *float64         `json:"hi"`
	Confidence *float64         `json:"confidence"` // of lo and hi
	N          int              `json:"n"`
	Runs       *apiDistribution `json:"runs,omitempty"`
	Reason     bench.Reason     `json:"reason,omitempty"`
}

// An apiDistribution is the distribution of a metric over single runs.
type apiDistribution struct {
	N           int  `json:"n"`
	Approximate bool `json:"approximate,omitempty"`
	apiQuantiles
	Mean         *float64      `json:"mean"`
	Min          *float64      `json:"min"`
	Max          *float64      `json:"max"`
	Timeouts     int           `json:"timeouts"`
	Late         int           `json:"late,omitempty"`          // cut off after they had it
	WithTimeouts *apiQuantiles `json:"with_timeouts,omitempty"` // of N, Late and Timeouts, which rank last
}

// apiQuantiles are percentiles, each with the reason why it is null, or "above"
// where it is a lower bound.
type apiQuantiles struct {
	P10     *float64                `json:"p10"`
	P50     *float64                `json:"p50"`
	P90     *float64                `json:"p90"`
	P95     *float64                `json:"p95"`
	Reasons map[string]bench.Reason `json:"reasons,omitempty"`

	// Intervals at 95 %: of one day's successful runs, where they are bounded.
	Intervals map[string][2]float64 `json:"intervals,omitempty"`
}

// An apiShare is a proportion, 0 to 1, with its 95 % interval.
type apiShare struct {
	Value  *float64     `json:"value"`
	Lo     *float64     `json:"lo"`
	Hi     *float64     `json:"hi"`
	Reason bench.Reason `json:"reason,omitempty"`
}

// known returns a pointer to a number, nil for one that JSON does not have.
func known(v float64) *float64 {
	if sortKey(v) == "" {
		return nil
	}
	return &v
}

func apiLevelOf(r *rollup.Row, l level) apiLevel {
	x := apiLevel{Value: known(l.value), Lo: known(l.lo), Hi: known(l.hi), N: l.n}
	if name := l.statistic(); name != "" {
		x.Statistic = &name
	} else {
		x.Reason = r.Typical.Why
	}
	if x.Lo != nil {
		x.Confidence = known(l.confidence)
	}
	if l.distribution.Metric != "" {
		x.Runs = apiDistributionOf(l.distribution)
	}
	return x
}

func apiDistributionOf(d rollup.Distribution) *apiDistribution {
	x := &apiDistribution{N: d.N, Approximate: d.Approximate, Timeouts: d.Timeouts, Late: d.Late, apiQuantiles: apiQuantilesOf(d.Quantiles)}
	if d.N > 0 {
		x.Mean, x.Min, x.Max = known(d.Avg), known(d.Min), known(d.Max)
	}
	if d.Timeouts+d.Late > 0 {
		q := apiQuantilesOf(d.WithTimeouts)
		x.WithTimeouts = &q
	}
	return x
}

func apiQuantilesOf(q rollup.Quantiles) apiQuantiles {
	var x apiQuantiles
	for _, part := range []struct {
		name string
		from rollup.Estimate
		to   **float64
	}{{"p10", q.P10, &x.P10}, {"p50", q.P50, &x.P50}, {"p90", q.P90, &x.P90}, {"p95", q.P95, &x.P95}} {
		if part.from.HasInterval {
			if x.Intervals == nil {
				x.Intervals = map[string][2]float64{}
			}
			x.Intervals[part.name] = [2]float64{part.from.Interval.Lo, part.from.Interval.Hi}
		}
		why := part.from.Why
		if part.from.OK() {
			*part.to = known(part.from.Value)
			if !part.from.Above {
				continue
			}
			why = "above"
		}
		if x.Reasons == nil {
			x.Reasons = map[string]bench.Reason{}
		}
		x.Reasons[part.name] = why
	}
	return x
}

func apiShareOf(s rollup.Share) apiShare {
	if !s.OK() {
		return apiShare{Reason: s.Why}
	}
	return apiShare{Value: known(s.Value), Lo: known(s.Interval.Lo), Hi: known(s.Interval.Hi)}
}

// An apiBoard is a leaderboard.
type apiBoard struct {
	apiHead
	Window     rollup.Window `json:"window"`
	From       time.Time     `json:"from"`
	To         time.Time     `json:"to"`
	RankedBy   rollup.Metric `json:"ranked_by"`
	Confidence float64       `json:"rank_confidence"`
	Ranked     int           `json:"ranked"`
	Rows       []apiRow      `json:"rows"`
}

// An apiRow is one endpoint on a leaderboard.
type apiRow struct {
	apiPair
	RankBest     *int                       `json:"rank_best"`
	RankWorst    *int                       `json:"rank_worst"`
	Unranked     bench.Reason               `json:"unranked_reason,omitempty"`
	Metrics      map[rollup.Metric]apiLevel `json:"metrics"`
	SuccessRate  apiShare                   `json:"success_rate"`
	Availability apiShare                   `json:"availability"`
	Runs         int                        `json:"runs"`
	LastSuccess  *time.Time                 `json:"last_success_at"`
	PriceIn      *float64                   `json:"usd_per_million_input_tokens"`
	PriceOut     *float64                   `json:"usd_per_million_output_tokens"`
}

func (e *edition) apiBoard(w rollup.Window, m rollup.Metric) apiBoard {
	b := e.boards[w][m]
	span := w.Span(e.now)
	x := apiBoard{apiHead: e.apiHead("leaderboard"), Window: w, From: span.From, To: span.To, RankedBy: m, Confidence: b.Confidence, Ranked: b.Ranked, Rows: []apiRow{}}
	for i := range b.Rows {
		r := &b.Rows[i]
		of := e.bySeries[r.Series]
		row := apiRow{
			apiPair: pairOf(of), Unranked: r.Why, Metrics: map[rollup.Metric]apiLevel{},
			SuccessRate: apiShareOf(r.Summary.Reliability.SuccessRate), Availability: apiShareOf(r.Summary.Reliability.Availability),
			Runs: r.Summary.Runs, LastSuccess: instantOrNil(r.Summary.LastSuccess), PriceIn: of.model.PriceIn, PriceOut: of.model.PriceOut,
		}
		if r.Ranked {
			row.RankBest, row.RankWorst = &r.Best, &r.Worst
		}
		for _, shown := range []rollup.Metric{m, companion(m), rollup.HybridTPS} {
			row.Metrics[shown] = apiLevelOf(e.rowOf(of, w, shown), e.level(of, w, shown))
		}
		x.Rows = append(x.Rows, row)
	}
	return x
}

func instantOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

// An apiDetail is all that is published of one series.
type apiDetail struct {
	apiHead
	apiPair
	Title       string                      `json:"title"`
	OpenWeights bool                        `json:"open_weights"`
	SizeClass   string                      `json:"size_class,omitempty"`
	PriceIn     *float64                    `json:"usd_per_million_input_tokens"`
	PriceOut    *float64                    `json:"usd_per_million_output_tokens"`
	EverySec    float64                     `json:"every_s"` // 0: no longer measured
	Buffered    bool                        `json:"buffered"`
	Buffering   apiBuffering                `json:"buffering"`
	Windows     map[rollup.Window]apiWindow `json:"windows"`
	Events      []apiEvent                  `json:"events"`
}

// An apiWindow is one series over one window.
type apiWindow struct {
	From         time.Time                          `json:"from"`
	To           time.Time                          `json:"to"`
	Runs         int                                `json:"runs"`
	OK           int                                `json:"ok"`
	Noisy        int                                `json:"client_noisy"`
	Days         int                                `json:"days"`
	Provisional  bool                               `json:"provisional,omitempty"`
	RankBest     *int                               `json:"rank_best"`
	RankWorst    *int                               `json:"rank_worst"`
	RankOf       int                                `json:"rank_of"`
	Unranked     bench.Reason                       `json:"unranked_reason,omitempty"`
	Score        map[rollup.Metric]apiLevel         `json:"level"`
	Distribution map[rollup.Metric]*apiDistribution `json:"runs_by_metric"`
	SuccessRate  apiShare                           `json:"success_rate"`
	Availability apiShare                           `json:"availability"`
	ThrottleRate apiShare                           `json:"throttle_rate"`
	Outages      int                                `json:"outages"`
	OutagesSince *time.Time                         `json:"outages_since,omitempty"` // nil: From
	Errors       map[string]int                     `json:"errors"`
	Observer     int                                `json:"observer_faults"`
	Methods      []int                              `json:"methods"`
	Prompts      []int                              `json:"prompts"`
	Shapes       map[bench.Shape]int                `json:"shapes"`
	HybridPaths  map[bench.HybridPath]int           `json:"tps_hybrid_paths"`
}

func (e *edition) apiDetail(p *endpoint) apiDetail {
	x := apiDetail{
		apiHead: e.apiHead("pair"), apiPair: pairOf(p), Title: p.model.label(), OpenWeights: p.model.OpenWeights, SizeClass: p.model.SizeClass,
		PriceIn: p.model.PriceIn, PriceOut: p.model.PriceOut, EverySec: p.model.Every.Seconds(), Buffered: p.track.Buffered(), Buffering: apiBufferingOf(p.track.Buffering),
		Windows: map[rollup.Window]apiWindow{}, Events: []apiEvent{},
	}
	for _, w := range rollup.Windows() {
		x.Windows[w] = e.apiWindow(p, w)
	}
	for i := range p.events {
		x.Events = append(x.Events, apiEventOf(&p.events[i]))
	}
	return x
}

func (e *edition) apiWindow(p *endpoint, w rollup.Window) apiWindow {
	s := p.summary[w]
	r := e.rowOf(p, w, rollup.DecodeTPS)
	c := s.Reliability.Counts
	x := apiWindow{
		From: s.Span.From, To: s.Span.To, Runs: s.Runs, OK: s.OK, Noisy: s.Noisy, Days: s.Days, Provisional: s.Provisional,
		RankOf: e.boards[w][rollup.DecodeTPS].Ranked, Unranked: r.Why,
		Score: map[rollup.Metric]apiLevel{}, Distribution: map[rollup.Metric]*apiDistribution{},
		SuccessRate: apiShareOf(s.Reliability.SuccessRate), Availability: apiShareOf(s.Reliability.Availability), ThrottleRate: apiShareOf(s.Reliability.Throttle),
		Outages: len(s.Reliability.Outages), OutagesSince: instantOrNil(s.Reliability.OutagesSince), Observer: s.Reliability.Observer,
		Errors: map[string]int{
			"auth": c.Auth, "quota": c.Quota, "rate_limit": c.RateLimit, "server": c.Server,
			"timeout": c.Timeout, "network": c.Network, "malformed": c.Malformed,
		},
		Methods: s.Mixed.Methods, Prompts: s.Mixed.Prompts,
		Shapes: map[bench.Shape]int{bench.ShapeSmooth: s.Delivery.Smooth, bench.ShapeChunky: s.Delivery.Chunky, bench.ShapeBurst: s.Delivery.Burst},
		HybridPaths: map[bench.HybridPath]int{
			bench.PathInterToken: s.Delivery.InterToken, bench.PathWallClock: s.Delivery.WallClock, bench.PathMalformed: s.Delivery.Malformed,
		},
	}
	if r.Ranked {
		x.RankBest, x.RankWorst = &r.Best, &r.Worst
	}
	for _, m := range rollup.BoardMetrics() {
		l := apiLevelOf(e.rowOf(p, w, m), e.level(p, w, m))
		l.Runs = nil // below, with those that have no board
		x.Score[m] = l
	}
	for _, d := range []rollup.Distribution{s.Decode, s.Hybrid, s.StallFree, s.EndToEnd, s.TTFT, s.TTFO, s.TTFTCold, s.E2E} {
		if d.Metric != "" {
			x.Distribution[d.Metric] = apiDistributionOf(d)
		}
	}
	return x
}

// An apiEvent is something that happened.
type apiEvent struct {
	ID         string           `json:"id"`
	Kind       rollup.EventKind `json:"kind"`
	Found      string           `json:"found"` // UTC day
	Onset      string           `json:"onset"` // UTC day
	Provider   string           `json:"provider"`
	Model      string           `json:"model,omitempty"`
	Metric     rollup.Metric    `json:"metric,omitempty"`
	Before     *float64         `json:"before,omitempty"`
	After      *float64         `json:"after,omitempty"`
	Change     *float64         `json:"change,omitempty"` // share of the level before
	ChangeLo   *float64         `json:"change_lo,omitempty"`
	ChangeHi   *float64         `json:"change_hi,omitempty"`
	P          *float64         `json:"p,omitempty"`
	What       rollup.NoteKind  `json:"what,omitempty"`
	From       string           `json:"from,omitempty"`
	To         string           `json:"to,omitempty"`
	Members    []string         `json:"members,omitempty"`
	DaysBefore int              `json:"days_before,omitempty"`
	DaysAfter  int              `json:"days_after,omitempty"`
}

func apiEventOf(ev *rollup.Event) apiEvent {
	const date = "2006-01-02"
	x := apiEvent{ID: ev.ID, Kind: ev.Kind, Found: ev.Found.Format(date), Onset: ev.Onset.Format(date), Provider: ev.Provider, Model: ev.Series.Model, Members: ev.Members}
	switch {
	case ev.Shift != nil:
		s := ev.Shift
		x.Metric, x.Before, x.After, x.Change, x.P = s.Metric, known(s.Before), known(s.After), known(s.Change), known(s.P)
		x.ChangeLo, x.ChangeHi, x.DaysBefore, x.DaysAfter = known(s.Interval.Lo), known(s.Interval.Hi), s.DaysBefore, s.DaysAfter
	case ev.Drop != nil:
		x.Before, x.After = known(ev.Drop.Before.Value), known(ev.Drop.After.Value)
	case ev.Note != nil:
		x.What, x.From, x.To = ev.Note.What, ev.Note.From, ev.Note.To
	}
	return x
}

// An apiProvider is one provider.
type apiProvider struct {
	Name     string    `json:"name"`
	Title    string    `json:"title"`
	Homepage string    `json:"homepage,omitempty"`
	Page     string    `json:"page"`
	Private  bool      `json:"private"`
	Pairs    []apiPair `json:"pairs"`
}

// An apiIndex says what there is.
type apiIndex struct {
	apiHead
	Stability    string                              `json:"stability"`
	Leaderboards map[rollup.Window]map[string]string `json:"leaderboards"`
	Pairs        string                              `json:"pairs"`
	Providers    string                              `json:"providers"`
	Events       string                              `json:"events"`
	Incidents    string                              `json:"incidents"`
	Schemas      map[string]string                   `json:"schemas"`
}

// apiStability is the promise, as the index and the dataset's page print it.
const apiStability = "Within v1 a field keeps its name, meaning and unit. Fields may be added. A field that must go stays, null, until v2."

func (e *edition) apiFiles() ([]file, error) {
	files := []file{
		e.json(apiPath+"index.json", func() any { return e.apiIndex() }),
		e.json(apiPath+"pairs.json", func() any {
			pairs := []apiPair{}
			for _, p := range e.endpoints {
				pairs = append(pairs, pairOf(p))
			}
			return struct {
				apiHead
				Pairs []apiPair `json:"pairs"`
			}{e.apiHead("pairs"), pairs}
		}),
		e.json(apiPath+"providers.json", func() any {
			providers := []apiProvider{}
			for _, p := range e.providers {
				x := apiProvider{Name: p.Name, Title: p.Title, Homepage: webAddress(p.Homepage), Page: p.path, Private: p.Private, Pairs: []apiPair{}}
				for _, q := range p.endpoints {
					x.Pairs = append(x.Pairs, pairOf(q))
				}
				providers = append(providers, x)
			}
			return struct {
				apiHead
				Providers []apiProvider `json:"providers"`
			}{e.apiHead("providers"), providers}
		}),
		e.json(EventsPath, func() any {
			events := []apiEvent{}
			for i := range e.events {
				events = append(events, apiEventOf(&e.events[i]))
			}
			return struct {
				apiHead
				Events []apiEvent `json:"events"`
			}{e.apiHead("events"), events}
		}),
		e.json(incidentsPath, e.apiIncidents),
	}
	for _, w := range rollup.Windows() {
		for _, m := range rollup.BoardMetrics() {
			files = append(files, e.json(apiBoardPath(w, m), func() any { return e.apiBoard(w, m) }))
		}
	}
	for _, p := range e.endpoints {
		files = append(files, e.json(apiPairPath(p), func() any { return e.apiDetail(p) }))
	}
	return files, nil
}

func (e *edition) apiIndex() apiIndex {
	x := apiIndex{
		apiHead: e.apiHead("index"), Stability: apiStability, Leaderboards: map[rollup.Window]map[string]string{},
		Pairs: apiPath + "pairs.json", Providers: apiPath + "providers.json", Events: EventsPath, Incidents: incidentsPath,
		Schemas: schemaPaths(),
	}
	for _, w := range rollup.Windows() {
		x.Leaderboards[w] = map[string]string{}
		for _, m := range rollup.BoardMetrics() {
			x.Leaderboards[w][string(m)] = apiBoardPath(w, m)
		}
	}
	return x
}

// json returns the file of a value as JSON, escaped so that it may stand in HTML.
func (e *edition) json(path string, value func() any) file {
	return file{path, func() ([]byte, error) {
		data, err := json.Marshal(value())
		if err != nil {
			return nil, fmt.Errorf("encode %s: %w", path, err)
		}
		return append(data, '\n'), nil
	}}
}
