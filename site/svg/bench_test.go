package svg

import (
	"math"
	"testing"
	"time"
)

// BenchmarkFigures times each drawing of the contact sheet.
func BenchmarkFigures(b *testing.B) {
	for _, f := range figures() {
		b.Run(f.name, func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				n = len(f.draw.SVG())
			}
			b.ReportMetric(float64(n), "bytes")
		})
	}
}

// BenchmarkRow times what one row of the leaderboard draws.
func BenchmarkRow(b *testing.B) {
	b.ReportAllocs()
	speed := Axis{Scale: Log(9, 260), W: 180}
	wait := Axis{Scale: Log(130, 3400), W: 130, Format: Milliseconds}
	states := make([]State, 30)
	values := make([]float64, 28)
	for i := range states {
		states[i] = State(1 + i%3)
	}
	for i := range values {
		values[i] = 100 + 20*math.Sin(float64(i))
	}
	for b.Loop() {
		Range{Axis: speed, Hue: Speed, P50: 101, P10: 60, P90: 125, Lo: 92, Hi: 106}.SVG()
		Range{Axis: wait, Hue: Wait, P50: 420, P10: 300, P90: 900, Lo: 400, Hi: 440}.SVG()
		Strip{States: states}.SVG()
		Spark{Values: values}.SVG()
	}
}

// BenchmarkLine1440 draws three series of a point a minute for a day.
func BenchmarkLine1440(b *testing.B) {
	b.ReportAllocs()
	from := time.Date(2025, 11, 30, 0, 0, 0, 0, time.UTC)
	l := Line{Size: Wide(230), Label: "day", From: from, To: from.AddDate(0, 0, 1)}
	for i := range 3 {
		s := Series{Name: "series", Hue: Entity(i)}
		for k := range 1440 {
			y := 100 + 10*math.Sin(float64(k)/50+float64(i))
			s.Points = append(s.Points, Point{from.Add(time.Duration(k) * time.Minute), y, y - 5, y + 5})
		}
		l.Series = append(l.Series, s)
	}
	for b.Loop() {
		l.SVG()
	}
}
