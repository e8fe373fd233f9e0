package svg

import (
	"fmt"
	"html/template"
	"math"
	"math/rand/v2"
	"time"
)

// hostile is a name as a malicious catalogue might give it.
const hostile = "</text><script>alert(1)</script>\"' onload=x\x00\u202e__f__" + "…"

var unknown = math.NaN()

// A drawing is a chart of any kind.
type drawing interface{ SVG() template.HTML }

// A figure is one golden file and one figure of the contact sheet.
type figure struct {
	name, title string
	draw        drawing
}

// figures is every kind of chart at every size it is meant for, from data that
// a fixed seed makes. To add one, add a row and run with -update.
func figures() []figure {
	r := rand.New(rand.NewPCG(7, 11))
	speed := Axis{Scale: Log(9, 260), W: 180}
	wait := Axis{Scale: Log(130, 3400), W: 130, Format: Milliseconds}
	change := Axis{Scale: Linear(-25, 25), W: 240, Format: Percent, Zero: true}
	out := []figure{
		{"axis", "axis of a column", speed},
		{"axis-ms", "axis in milliseconds", wait},
		{"axis-change", "axis of differences", change},
		{"range", "range", Range{Axis: speed, Hue: Speed, P50: 101, P10: 60, P90: 125, Lo: 92, Hi: 106}},
		{"range-point", "range, only the median known", Range{Axis: wait, Hue: Wait, P50: 420, P10: unknown, P90: unknown, Lo: unknown, Hi: unknown}},
		{"range-off", "range that leaves the scale", Range{Axis: speed, Hue: Speed, P50: 12, P10: 3, P90: 20, Lo: 10, Hi: 13}},
		{"range-change", "difference with interval", Range{Axis: change, Hue: Speed, P50: -14, P10: unknown, P90: unknown, Lo: -17, Hi: -11, Label: "14 % slower, 11 to 17"}},
		{"range-none", "range without a median", Range{Axis: speed, Hue: Speed, P50: unknown}},
		{"spark", "sparkline with a gap", Spark{Values: []float64{5, 6, 5.5, unknown, unknown, 7, 8, unknown, 6, unknown, 9, 8.5}}},
		{"spark-quiet", "sparkline of a quiet series", Spark{Values: []float64{100, 100.2, 99.9, 100.1, 100}}},
		{"strip", "strip", Strip{States: []State{OK, OK, Degraded, OK, Failed, NoSample, OK, OK, OK, Failed, Failed, OK}}},
	}

	from := time.Date(2025, 10, 31, 0, 0, 0, 0, time.UTC)
	to := from.AddDate(0, 0, 30)
	shift := from.AddDate(0, 0, 19)
	var points []Point
	for k := range 180 {
		at := from.Add(time.Duration(k) * 4 * time.Hour)
		if k > 50 && k < 56 {
			continue
		}
		y := 118 + 4*math.Sin(float64(k)) + 5*r.NormFloat64()
		if at.After(shift) {
			y -= 17
		}
		points = append(points, Point{At: at, Y: y, Lo: y - 6, Hi: y + 5})
	}
	line := Line{Label: "Decode speed over 30 days", From: from, To: to,
		Series: []Series{{Name: "p50 101", Hue: Speed, Points: points, MaxGap: 5 * time.Hour}},
		Events: []Event{{At: shift, Label: "19 Nov: 14 % slower (11–17 %)"}, {At: from.AddDate(0, 0, 4), Kind: Method, Label: "method 3"}}}
	several := Line{Label: "TTFT of four providers", From: to.Add(-36 * time.Hour), To: to, Log: true, Format: Milliseconds}
	for i, name := range []string{"Northwind", "Estuary Pro", "Riverbed", "a provider with a name too long to print"} {
		y, series := 300*math.Pow(1.6, float64(i)), Series{Name: name, Hue: Entity(i)}
		for k := range 36 {
			y *= math.Exp(.05 * r.NormFloat64())
			p := Point{At: several.From.Add(time.Duration(k) * time.Hour), Y: y, Lo: unknown, Hi: unknown}
			if i == 2 && k%9 == 4 {
				p.Y = unknown
			}
			series.Points = append(series.Points, p)
		}
		several.Series = append(several.Series, series)
	}

	heat := Heatmap{Label: "Speed by hour of week", Unit: "tok/s"}
	titles := new([7][24]string)
	for d := range 7 {
		for h := range 24 {
			heat.Values[d][h] = 112 + 6*r.Float64()
			if d < 5 && h > 12 && h < 19 {
				heat.Values[d][h] -= 26
			}
			titles[d][h] = fmt.Sprintf("day %d, %02d:00 UTC", d+1, h)
		}
	}
	heat.Values[2][3] = unknown
	flat := Heatmap{Label: "First text by hour of week: no pattern", Better: Lower, Unit: "ms", Titles: titles}
	for d := range 7 {
		for h := range 24 {
			flat.Values[d][h] = 420 + float64(d)
		}
	}

	price := Scatter{Label: "Price against speed", TitleX: "$ per million output tokens, lower is better ←",
		TitleY: "tok/s, higher is better ↑", BetterX: Lower, Pareto: true, Zero: "free"}
	for i := range 24 {
		m := Mark{X: .1 * math.Exp(4*r.Float64()), Y: 25 * math.Exp(2.2*r.Float64()), Name: fmt.Sprint("model-", i), Hue: Speed}
		if i%9 == 0 {
			m.X, m.Y = 0, 30+float64(i)
		}
		price.Marks = append(price.Marks, m)
	}

	hist := Histogram{Label: "First-token times", Hue: Wait, Log: true, Format: Milliseconds, Over: 3, OverLabel: "> 120 s",
		Marks: []Quantile{{420, "p50 420"}, {980, "p95 980"}}}
	for k := range 28 {
		lo := 200 * math.Pow(1.08, float64(k))
		z := math.Log(lo/420) / .35
		hist.Bins = append(hist.Bins, Bin{lo, lo * 1.08, int(120 * math.Exp(-z*z/2))})
	}
	dots := Dots{Label: "24 newest samples", Hue: Speed, Marks: []Quantile{{96, "p50 96"}}}
	for range 24 {
		dots.Values = append(dots.Values, 96+9*r.NormFloat64())
	}
	parts := Parts{Label: "0.28 s longer", Parts: []Part{
		{"earlier start", -.06, "−0.06 s", Wait}, {"answer length", unknown, "not known", Neutral}, {"slower writing", .34, "+0.34 s", Speed}}}

	arrival := Arrival{Label: "Cumulative tokens", First: Span{0, 420 * time.Millisecond, "first text 420 ms"}, Rug: true}
	at, n := 420*time.Millisecond, 0.0
	var reads []Read
	for n < 287 {
		n += 1 + float64(r.IntN(4))
		reads = append(reads, Read{at, n})
		pause := time.Duration(5+r.IntN(40)) * time.Millisecond
		if n > 140 && len(arrival.Stalls) == 0 {
			pause = 620 * time.Millisecond
			arrival.Stalls = []Span{{at, at + pause, "stall 0.62 s"}}
		}
		at += pause
	}
	arrival.Curves = []Curve{{"287 tokens", Speed, reads}}

	fit := Fit{Label: "Time to last token of 16 answers", Hue: Speed, Start: 300, Slope: 20, FormatY: Milliseconds, TitleX: "tokens of answer", TitleY: "ms"}
	for k := range 16 {
		n := []float64{50, 150, 400, 800}[k%4]
		fit.Points = append(fit.Points, Place{n, 300 + 20*n*(1+.03*math.Sin(float64(7*k)))})
	}

	sized := func(name, title string, at func(Size) drawing, wide, half, phone float64) {
		if wide > 0 {
			out = append(out, figure{name, title, at(Wide(wide))})
		}
		if half > 0 {
			out = append(out, figure{name + "-half", title + ", half width", at(Half(half))})
		}
		if phone > 0 {
			out = append(out, figure{name + "-phone", title + ", phone", at(Phone(phone))})
		}
	}
	sized("line", "line with band, gap and events", func(s Size) drawing { line.Size = s; return line }, 230, 0, 200)
	sized("lines", "lines on a log scale", func(s Size) drawing { several.Size = s; return several }, 0, 220, 200)
	sized("heat", "hour of week", func(s Size) drawing { heat.Size = s; return heat }, 0, 210, 210)
	sized("heat-flat", "hour of week without a pattern", func(s Size) drawing { flat.Size = s; return flat }, 0, 210, 0)
	sized("scatter", "price against speed", func(s Size) drawing { price.Size = s; return price }, 340, 0, 300)
	sized("hist", "histogram", func(s Size) drawing { hist.Size = s; return hist }, 0, 180, 170)
	sized("dots", "samples one by one", func(s Size) drawing { dots.Size = s; return dots }, 0, 110, 100)
	sized("parts", "parts of a change", func(s Size) drawing { parts.Size = s; return parts }, 0, 100, 100)
	sized("fit", "time against tokens with its line", func(s Size) drawing { fit.Size = s; return fit }, 0, 240, 220)
	sized("arrival", "how an answer arrived", func(s Size) drawing { arrival.Size = s; return arrival }, 220, 0, 200)
	return append(out,
		figure{"none-line", "a line without points", Line{Size: Half(120), From: from, To: to, Label: "nothing"}},
		figure{"none-strip", "a strip without slots", Strip{}})
}

// wild returns drawings of arbitrary inputs: numbers of every kind, windows of
// every length, hostile words.
func wild(r *rand.Rand) []drawing {
	number := func() float64 {
		switch r.IntN(12) {
		case 0:
			return math.NaN()
		case 1:
			return math.Inf(1 - 2*r.IntN(2))
		case 2:
			return 0
		case 3:
			return math.Float64frombits(r.Uint64())
		case 4:
			return -r.ExpFloat64()
		case 5:
			return 1e300 * r.Float64()
		}
		return 100 * r.ExpFloat64()
	}
	numbers := func(n int) []float64 {
		out := make([]float64, r.IntN(n))
		for i := range out {
			out[i] = number()
		}
		return out
	}
	instant := func() time.Time {
		if r.IntN(8) == 0 {
			return time.Unix(int64(r.Uint64()>>uint(r.IntN(64))), 0)
		}
		return time.Date(2025, 1, 1, 0, 0, r.IntN(1<<27), 0, time.UTC)
	}
	word := func() string {
		return []string{"", "p50", hostile, string(make([]byte, 9)), "\xff\xfe名前"}[r.IntN(5)]
	}
	size := func() Size {
		return []Size{{}, Wide(200), Phone(150), Half(100), {W: number(), H: number(), Text: number()}}[r.IntN(5)]
	}
	hue := func() Hue { return Hue(r.IntN(30)) }
	scale := func() Scale {
		return []Scale{{}, Log(number(), number()), Linear(number(), number()), LogOver(numbers(5)...), LinearOver(numbers(5)...)}[r.IntN(5)]
	}
	span := func() Span {
		return Span{time.Duration(r.IntN(1e10)), time.Duration(r.IntN(1e10)), word()}
	}

	axis := Axis{Scale: scale(), W: number(), H: number(), Text: number(), Zero: r.IntN(2) == 0}
	line := Line{Size: size(), Label: word(), From: instant(), To: instant(), Log: r.IntN(2) == 0, Scale: scale()}
	for range r.IntN(4) {
		s := Series{Name: word(), Hue: hue(), MaxGap: time.Duration(r.IntN(1e15))}
		for range r.IntN(20) {
			s.Points = append(s.Points, Point{instant(), number(), number(), number()})
		}
		line.Series = append(line.Series, s)
		line.Events = append(line.Events, Event{instant(), EventKind(r.IntN(3)), word()})
	}
	heat := Heatmap{Size: size(), Label: word(), Better: Direction(r.IntN(2)), Unit: word()}
	some := r.Float64()
	for d := range 7 {
		for h := range 24 {
			heat.Values[d][h] = math.NaN()
			if r.Float64() < some {
				heat.Values[d][h] = number()
			}
		}
	}
	scatter := Scatter{Size: size(), Label: word(), X: scale(), Y: scale(), TitleX: word(), TitleY: word(),
		BetterX: Direction(r.IntN(2)), BetterY: Direction(r.IntN(2)), Zero: word(), Pareto: true}
	hist := Histogram{Size: size(), Label: word(), Hue: hue(), Log: r.IntN(2) == 0, Over: r.IntN(3) - 1, OverLabel: word()}
	dots := Dots{Size: size(), Label: word(), Hue: hue(), Values: numbers(40), Log: r.IntN(2) == 0}
	parts := Parts{Size: size(), Label: word()}
	arrival := Arrival{Size: size(), Label: word(), First: span(), Stalls: []Span{span(), span()}, Rug: true}
	fit := Fit{Size: size(), Label: word(), Hue: hue(), Start: number(), Slope: number(), TitleX: word(), TitleY: word()}
	for range r.IntN(9) {
		fit.Points = append(fit.Points, Place{number(), number()})
		scatter.Marks = append(scatter.Marks, Mark{number(), number(), word(), hue()})
		hist.Bins = append(hist.Bins, Bin{number(), number(), r.IntN(9) - 1})
		hist.Marks = append(hist.Marks, Quantile{number(), word()})
		parts.Parts = append(parts.Parts, Part{word(), number(), word(), hue()})
		arrival.Curves = append(arrival.Curves, Curve{word(), hue(), []Read{{time.Duration(r.IntN(1e10)), number()}, {time.Duration(r.Int64()), number()}}})
	}
	dots.Marks = hist.Marks
	states := make([]State, r.IntN(95))
	for i := range states {
		states[i] = State(r.IntN(6))
	}
	return []drawing{axis,
		Range{Axis: axis, H: number(), Hue: hue(), P50: number(), P10: number(), P90: number(), Lo: number(), Hi: number(), Label: word()},
		Spark{Size: size(), Hue: hue(), Values: numbers(40), Label: word()},
		Strip{Size: size(), States: states, Label: word()},
		line, heat, scatter, hist, dots, parts, arrival, fit}
}
