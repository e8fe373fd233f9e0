package site

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"

	"github.com/go-echarts/go-echarts/v2/charts"
	"github.com/go-echarts/go-echarts/v2/opts"

	"github.com/streamgauge/streamgauge/rollup"
	"github.com/streamgauge/streamgauge/site/svg"
)

// The explorer replaces a drawing by an ECharts one when a reader asks. Its
// options are made by go-echarts and published as JSON.
//
// Note: go-echarts' own HTML and JavaScript are not used. They escape nothing:
// a series named "</script>…" or "__f__(…)__f__" would run as code. JSON made
// by encoding/json is data only, and the loader reads it as such.

// exploreFormat names how the explorer writes a metric's values.
func exploreFormat(m rollup.Metric) string {
	switch m.Unit() {
	case "ms":
		return "ms"
	case "s":
		return "plain"
	}
	return "tps"
}

// exploreLine returns the ECharts option of a metric's line.
func (e *edition) exploreLine(p *endpoint, w rollup.Window, m rollup.Metric) ([]byte, error) {
	line, ok := p.track.Line(m, w, e.now)
	if !ok {
		return nil, fmt.Errorf("explore %s of %s: no such line", m, p.series)
	}
	chart := charts.NewLine()
	chart.ChartID = "line" // a random one would change every build
	axis := "value"
	if hueOf(m) == svg.Wait {
		axis = "log"
	}
	scale := opts.Bool(true)
	chart.SetGlobalOptions(
		charts.WithXAxisOpts(opts.XAxis{Type: "time", Min: line.Span.From.UnixMilli(), Max: line.Span.To.UnixMilli()}),
		charts.WithYAxisOpts(opts.YAxis{Type: axis, Name: m.Unit(), Scale: scale}),
		charts.WithGridOpts(opts.Grid{Left: "56", Right: "16", Top: "34", Bottom: "28"}),
		charts.WithLegendOpts(opts.Legend{Show: opts.Bool(line.Band != rollup.BandNone)}),
	)
	var middle, lo, hi []opts.LineData
	for _, pt := range line.Points {
		at := pt.At.Add(line.Width / 2).UnixMilli()
		if pt.Gap && len(middle) > 0 {
			gap := opts.LineData{Value: []any{at - 1, "-"}}
			middle, lo, hi = append(middle, gap), append(lo, gap), append(hi, gap)
		}
		if pt.N == 0 {
			continue
		}
		middle = append(middle, opts.LineData{Value: []any{at, rounded(pt.Value)}})
		lo = append(lo, opts.LineData{Value: []any{at, rounded(pt.Lo)}})
		hi = append(hi, opts.LineData{Value: []any{at, rounded(pt.Hi)}})
	}
	plainLine := []charts.SeriesOpts{charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false), ConnectNulls: opts.Bool(false)})}
	name := faceOf(m).name
	if line.Band != rollup.BandNone {
		name = "median"
	}
	chart.AddSeries(name, middle, plainLine...)
	switch line.Band {
	case rollup.BandMinMax:
		chart.AddSeries("least", lo, plainLine...)
		chart.AddSeries("greatest", hi, plainLine...)
	case rollup.BandP10toP90:
		chart.AddSeries("p10", lo, plainLine...)
		chart.AddSeries("p90", hi, plainLine...)
	}
	chart.Validate()
	data, err := json.Marshal(chart.JSON())
	if err != nil {
		return nil, fmt.Errorf("encode the chart of %s of %s: %w", m, p.series, err)
	}
	return data, nil
}

// rounded keeps four significant digits, which is more than a screen shows, and
// turns what is no number into ECharts' mark for a gap.
func rounded(v float64) any {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return "-"
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(v, 'g', 4, 64), 64)
	return short
}
