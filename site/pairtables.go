package site

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/rollup/stats"
)

// numbersTable lists every metric of a window with its percentiles, and within
// one day, where runs may be taken for independent, the medians' intervals.
func numbersTable(s *rollup.Summary) Table {
	all := []rollup.Distribution{s.Decode, s.Hybrid, s.StallFree, s.EndToEnd, s.TTFT, s.TTFO, s.TTFTCold, s.E2E}
	withInterval := slices.ContainsFunc(all, func(d rollup.Distribution) bool { return d.P50.HasInterval })
	head := []Head{{"Number", false}, {"p10", true}, {"p50", true}}
	if withInterval {
		head = append(head, Head{"95 % of p50", true})
	}
	t := Table{
		Caption: "Successful runs; and counting timeouts, as slower than everything else",
		Head:    append(head, Head{"p90", true}, Head{"p95", true}, Head{"mean", true}, Head{"least", true}, Head{"greatest", true}, Head{"n", true}),
	}
	row := func(name string, d rollup.Distribution, q rollup.Quantiles, n int) {
		format := func(v float64) string { return bare(d.Metric, v) }
		cells := []string{name + ", " + d.Metric.Unit(), estimate(q.P10, format).Text, estimate(q.P50, format).Text}
		switch {
		case withInterval && q.P50.HasInterval:
			cells = append(cells, format(q.P50.Interval.Lo)+"–"+format(q.P50.Interval.Hi))
		case withInterval:
			cells = append(cells, absent)
		}
		cells = append(cells, estimate(q.P90, format).Text, estimate(q.P95, format).Text)
		for _, v := range []float64{d.Avg, d.Min, d.Max} {
			if d.N == 0 {
				v = math.NaN()
			}
			text := absent
			if !math.IsNaN(v) {
				text = format(v)
			}
			cells = append(cells, text)
		}
		t.Rows = append(t.Rows, append(cells, count(n)))
		t.Doors = append(t.Doors, doors("#"+ofRuns(d.Metric), len(t.Head)))
	}
	for _, d := range all {
		name := distributionName(d.Metric)
		if d.N > 0 {
			row(name, d, d.Quantiles, d.N)
		}
		if cut := d.Timeouts + d.Late; cut > 0 && (d.N > 0 || d.Metric.Better() == stats.LowerIsBetter) {
			row(name+", counting timeouts", d, d.WithTimeouts, d.N+cut)
		}
	}
	return t
}

// fillReliability fills the three rates, the outages and the failures.
func fillReliability(page *PairPage, p *endpoint, s *rollup.Summary) {
	rel := &s.Reliability
	for _, x := range []struct {
		name, of string
		share    rollup.Share
	}{{"success rate", ofSuccess, rel.SuccessRate}, {"availability", ofAvail, rel.Availability}, {"throttle rate", ofThrottle, rel.Throttle}} {
		f := Fact{Name: x.name, Number: shareNumber(x.share), Unit: "%"}
		if x.share.OK() {
			f.Href = "#" + x.of
			f.Sub = fmt.Sprintf("95 %% interval %s–%s", percent(x.share.Interval.Lo), percent(x.share.Interval.Hi))
		} else {
			f.Unit, f.Sub = "", because(x.share.Why)
		}
		page.Reliability = append(page.Reliability, f)
	}
	const most = 5
	for i := len(rel.Outages) - 1; i >= 0 && len(page.Outages) < most; i-- {
		o := rel.Outages[i]
		text := fmt.Sprintf("%s: %s in a row", instant(o.From), plural(o.Runs, "failure"))
		if o.Open {
			text += ", no success since"
		} else {
			text += ", then a success " + age(o.To.Sub(o.From)) + " later"
		}
		page.Outages = append(page.Outages, text)
	}
	anatomy := p.track.Anatomy(s.Span)
	kinds := &Table{Caption: "Runs by outcome", Head: []Head{{"Outcome", false}, {"Whose", false}, {"Runs", true}, {"Share, %", true}}}
	c := rel.Counts
	total := c.Total()
	for _, x := range []struct {
		kind wire.ErrorKind
		n    int
	}{{wire.KindNone, c.OK}, {wire.KindAuth, c.Auth}, {wire.KindQuota, c.Quota}, {wire.KindRateLimit, c.RateLimit}, {wire.KindServer, c.Server}, {wire.KindTimeout, c.Timeout}, {wire.KindNetwork, c.Network}, {wire.KindMalformed, c.Malformed}} {
		if x.n == 0 {
			continue
		}
		name, whose := "success", ""
		if x.kind != wire.KindNone {
			name, whose = kindWords(x.kind), kindOwner(x.kind)
		}
		kinds.Rows = append(kinds.Rows, []string{name, whose, count(x.n), percent(float64(x.n) / float64(total))})
	}
	if rel.Observer > 0 {
		kinds.Rows = append(kinds.Rows, []string{"left out: our own connection failed", "ours", count(rel.Observer), ""})
	}
	if total > 0 {
		page.Kinds = kinds
		kinds.lead("#" + ofOutcomes)
	}
	if len(anatomy.Faults) > 0 {
		page.Faults = &Table{Caption: "What the failures were, of runs whose raw samples are kept", Head: []Head{{"Kind", false}, {"Detail", false}, {"Failed while", false}, {"Runs", true}}}
		for _, f := range anatomy.Faults {
			page.Faults.Rows = append(page.Faults.Rows, []string{kindWords(f.Kind), codeWords(string(f.Detail)), phaseWords(f.Phase), count(f.N)})
		}
		page.Faults.lead("#" + ofFailures)
	}
}

// codeWords makes words of a code of our own vocabulary.
func codeWords(code string) string {
	if code == "" {
		return absent
	}
	return strings.ReplaceAll(display(code), "_", " ")
}

// phaseWords says what the program was doing when a run failed.
func phaseWords(p bench.Phase) string {
	switch p {
	case bench.PhaseDNS:
		return "looking up the name"
	case bench.PhaseDial:
		return "connecting"
	case bench.PhaseTLS:
		return "setting up TLS"
	case bench.PhaseRequest:
		return "sending the request"
	case bench.PhaseHeaders:
		return "waiting for the response head"
	case bench.PhaseFirstToken:
		return "waiting for the first token"
	case bench.PhaseStream:
		return "reading the stream"
	case bench.PhaseEnd:
		return "looking for the end of the answer"
	}
	return codeWords(string(p))
}

// deliveryTable says how answers arrived.
func deliveryTable(d rollup.Delivery) *Table {
	if d.N == 0 {
		return nil
	}
	t := &Table{Caption: plural(d.N, "successful answer"), Head: []Head{{"Delivery", false}, {"Runs", true}, {"Share, %", true}}}
	add := func(name string, n int) {
		if n > 0 {
			t.Rows = append(t.Rows, []string{name, count(n), percent(float64(n) / float64(d.N))})
		}
	}
	add("smooth: about a token at a time", d.Smooth)
	add("chunky: several tokens a read", d.Chunky)
	add("burst: all or most of it at once", d.Burst)
	add("with a stall", d.Stalled)
	add("reasoning shown before the answer", d.Reasoned)
	add("hybrid rule by its inter-token path", d.InterToken)
	add("hybrid rule by its wall-clock path", d.WallClock)
	add("token count estimated, never ranked", d.Estimated)
	t.lead("#" + ofDelivery)
	if d.StallRatio.OK() {
		t.Rows = append(t.Rows, []string{"median share of the time that stood still, %", percent(d.StallRatio.Value), ""})
		t.Doors = append(t.Doors, []string{"", "#" + ofStalled})
	}
	if d.Burstiness.OK() {
		t.Rows = append(t.Rows, []string{"median burstiness, −1 clockwork to 1 bursts", burstinessText(d.Burstiness.Value), ""})
		t.Doors = append(t.Doors, []string{"", "#" + ofBurst})
	}
	return t
}

// fillHybrid says what the published hybrid rule gives here, and why.
func fillHybrid(page *PairPage, s *rollup.Summary) {
	if x := s.Hybrid.P50; x.OK() {
		page.Hybrid = full(rollup.HybridTPS, x.Value)
	}
	if x := s.Decode.P50; x.OK() {
		page.Decode = full(rollup.DecodeTPS, x.Value)
	}
	d := s.Delivery
	n := d.InterToken + d.WallClock
	switch {
	case n == 0:
		page.HybridWhy = "no run in this window has both a token count and a measurable time"
	case d.WallClock == n:
		page.HybridWhy = fmt.Sprintf("all %s took its wall-clock path, which counts tokens made before its clock started and time after the last token", plural(n, "run"))
	case d.InterToken == n:
		page.HybridWhy = fmt.Sprintf("all %s took its inter-token path, which agrees with the decode rate but for the first read", plural(n, "run"))
	default:
		page.HybridWhy = fmt.Sprintf("%s of %s took its inter-token path, the others its wall-clock path, which counts tokens made before its clock started and time after the last token", count(d.InterToken), plural(n, "run"))
	}
}

// burstinessText writes a burstiness, which may be negative.
func burstinessText(v float64) string { return strings.Replace(fmt.Sprintf("%.2f", v), "-", "−", 1) }
