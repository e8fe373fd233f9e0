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
	var middle, lo, hi timeline
	for _, pt := range line.Points {
		at := pt.At.Add(line.Width / 2).UnixMilli()
		if pt.Gap && len(middle) > 0 {
			gap := timed{at - 1, math.NaN()}
			middle, lo, hi = append(middle, gap), append(lo, gap), append(hi, gap)
		}
		if pt.N == 0 {
			continue
		}
		middle, lo, hi = append(middle, timed{at, pt.Value}), append(lo, timed{at, pt.Lo}), append(hi, timed{at, pt.Hi})
	}
	plainLine := []charts.SeriesOpts{charts.WithLineChartOpts(opts.LineChart{ShowSymbol: opts.Bool(false), ConnectNulls: opts.Bool(false)})}
	add := func(name string, points timeline) {
		chart.AddSeries(name, nil, plainLine...)
		chart.MultiSeries[len(chart.MultiSeries)-1].Data = points
	}
	name := faceOf(m).name
	if line.Band != rollup.BandNone {
		name = "median"
	}
	add(name, middle)
	switch line.Band {
	case rollup.BandMinMax:
		add("least", lo)
		add("greatest", hi)
	case rollup.BandP10toP90:
		add("p10", lo)
		add("p90", hi)
	}
	chart.Validate()
	data, err := json.Marshal(chart.JSON())
	if err != nil {
		return nil, fmt.Errorf("encode the chart of %s of %s: %w", m, p.series, err)
	}
	return data, nil
}

// A timeline is the data of a series: milliseconds since 1970 and a value each.
//
// Note: go-echarts has a type for a point, with twenty fields that are left out.
// To find that out of each point took longer than to write it.
type timeline []timed

type timed struct {
	at int64
	v  float64
}

// MarshalJSON writes the points as go-echarts would.
func (t timeline) MarshalJSON() ([]byte, error) {
	if t == nil {
		return []byte("null"), nil
	}
	data := append(make([]byte, 0, 40*len(t)), '[')
	for i, p := range t {
		if i > 0 {
			data = append(data, ',')
		}
		data = append(strconv.AppendInt(append(data, `{"value":[`...), p.at, 10), ',')
		data = append(appendRounded(data, p.v), "]}"...)
	}
	return append(data, ']'), nil
}

// appendRounded adds a number of four significant digits, which is more than a
// screen shows. What is no number becomes ECharts' mark for a gap.
func appendRounded(data []byte, v float64) []byte {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return append(data, `"-"`...)
	}
	var room [24]byte
	short, _ := strconv.ParseFloat(string(strconv.AppendFloat(room[:0], v, 'g', 4, 64)), 64)
	return strconv.AppendFloat(data, short, 'f', -1, 64)
}
