package site

import (
	"math"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/site/svg"
)

func TestThin(t *testing.T) {
	nan := math.NaN()
	at := func(i int) time.Time { return time.Unix(int64(i)*60, 0).UTC() }
	var single, banded []svg.Point
	for i := range 1000 {
		y := 100 + 5*math.Sin(float64(i))
		single = append(single, svg.Point{At: at(i), Y: y, Lo: nan, Hi: nan})
		banded = append(banded, svg.Point{At: at(i), Y: y, Lo: y - 1, Hi: y + 1})
	}
	single[500].Y, single[700].Y = 900, 1 // spikes
	single[300].Y = nan                   // a gap
	banded[500].Hi, banded[700].Lo = 900, 1

	got := thin(single, 300)
	if len(got) > 302 || len(got) < 200 {
		t.Errorf("kept %d of 1000 points; want about 300", len(got))
	}
	var gaps, high, low int
	for i, p := range got {
		if i > 0 && !p.At.After(got[i-1].At) {
			t.Fatalf("point %d is out of order", i)
		}
		switch {
		case math.IsNaN(p.Y):
			gaps++
		case p.Y == 900:
			high++
		case p.Y == 1:
			low++
		}
	}
	if gaps != 1 || high != 1 || low != 1 {
		t.Errorf("kept %d gaps, %d and %d spikes; want one each", gaps, high, low)
	}

	hi, lo := 0.0, math.Inf(1)
	for _, p := range thin(banded, 300) {
		if p.Lo > p.Y || p.Y > p.Hi {
			t.Errorf("value %v outside its band %v to %v", p.Y, p.Lo, p.Hi)
		}
		hi, lo = max(hi, p.Hi), min(lo, p.Lo)
	}
	if hi != 900 || lo != 1 {
		t.Errorf("the band reaches from %v to %v; want 1 to 900", lo, hi)
	}
	if few := thin(single[:200], 300); len(few) != 200 {
		t.Errorf("thinned 200 points to %d; want all", len(few))
	}
}
