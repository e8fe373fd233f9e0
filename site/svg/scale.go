package svg

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// Numbers beyond these are no measurements, and their quotients overflow.
const (
	most  = 1e300  // greatest magnitude that is drawn
	least = 1e-300 // least value on a logarithmic scale
)

// A Scale maps values to places on an axis. The zero Scale maps nothing.
type Scale struct {
	lo, hi float64
	log    bool

	logLo, logSpan float64 // of a logarithmic scale: ln lo, ln hi − ln lo
}

// Linear is the scale from lo to hi. Equal bounds are widened; unknown or
// reversed bounds give a scale on which nothing can be drawn.
func Linear(lo, hi float64) Scale {
	if !known(lo) || !known(hi) || lo > hi {
		return Scale{}
	}
	if hi-lo <= 1e-9*max(math.Abs(lo), math.Abs(hi)) {
		pad := max(math.Abs(lo)*.1, 1e-6)
		lo, hi = lo-pad, hi+pad
	}
	return Scale{lo: lo, hi: hi}
}

// Log is the logarithmic scale from lo to hi, which must be positive.
func Log(lo, hi float64) Scale {
	if !known(lo) || !known(hi) || lo > hi || lo < least {
		return Scale{}
	}
	if hi/lo <= 1+1e-9 {
		lo, hi = lo/1.1, hi*1.1
	}
	return Scale{lo: lo, hi: hi, log: true, logLo: math.Log(lo), logSpan: math.Log(hi) - math.Log(lo)}
}

// LogOver is the logarithmic scale that shows all known positive values, with
// a little room at both ends.
func LogOver(values ...float64) Scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if known(v) && v >= least {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	return Log(max(lo/1.15, least), min(hi*1.15, most))
}

// LinearOver is the linear scale that shows all known values, ending on ticks.
// A span under a fifth of the level is widened to that, so that a quiet series
// looks quiet.
func LinearOver(values ...float64) Scale {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if known(v) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if lo > hi {
		return Scale{}
	}
	if level := max(math.Abs(lo), math.Abs(hi)); hi-lo < level/5 {
		mid := lo + (hi-lo)/2
		floor := lo
		lo, hi = mid-level/10, mid+level/10
		if floor >= 0 {
			lo = max(lo, 0)
		}
	}
	if lo == hi { // all zero
		hi = 1
	}
	step := niceStep((hi - lo) / 5)
	return Linear(max(math.Floor(lo/step)*step, -most), min(math.Ceil(hi/step)*step, most))
}

func (s Scale) ok() bool { return s.hi > s.lo }

// can reports whether v has a place on the scale, inside or outside its ends.
func (s Scale) can(v float64) bool { return known(v) && (!s.log || v >= least) }

// frac is the place of v: 0 at the low end, 1 at the high end.
func (s Scale) frac(v float64) float64 {
	if s.log {
		// Quotients of far values would overflow; their logarithms do not.
		return (math.Log(v) - s.logLo) / s.logSpan
	}
	return (v - s.lo) / (s.hi - s.lo)
}

// in maps v to a place between from and to, held inside them.
func (s Scale) in(v, from, to float64) float64 {
	return from + min(max(s.frac(v), 0), 1)*(to-from)
}

// ticks returns at most limit values to label: 1-2-5 per decade on a log scale.
func (s Scale) ticks(limit int) []float64 {
	limit = max(limit, 2)
	if !s.ok() {
		return nil
	}
	if !s.log {
		return linearTicks(s.lo, s.hi, limit)
	}
	first, last := int(math.Floor(math.Log10(s.lo))), int(math.Floor(math.Log10(s.hi)))
	for _, mantissas := range [][]float64{{1, 2, 5}, {1, 3}, {1}} {
		var out []float64
		for e := first; e <= last; e++ {
			for _, m := range mantissas {
				if v := m * math.Pow10(e); v >= s.lo*(1-1e-9) && v <= s.hi*(1+1e-9) {
					out = append(out, v)
				}
			}
		}
		if len(out) < 2 {
			return linearTicks(s.lo, s.hi, limit)
		}
		if len(out) <= limit {
			return out
		}
		if len(mantissas) == 1 {
			stride := (len(out) + limit - 1) / limit
			var few []float64
			for i := 0; i < len(out); i += stride {
				few = append(few, out[i])
			}
			return few
		}
	}
	return nil
}

func linearTicks(lo, hi float64, limit int) []float64 {
	step := niceStep((hi - lo) / float64(limit))
	for {
		first, last := math.Ceil(lo/step-1e-9), math.Floor(hi/step+1e-9)
		if last-first >= float64(limit) {
			step = niceStep(step * 1.5)
			continue
		}
		var out []float64
		for i := first; i <= last; i++ {
			out = append(out, i*step+0) // + 0 turns -0 into 0
		}
		return out
	}
}

// niceStep is the smallest of 1, 2, 5 times a power of ten that is at least v.
func niceStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= v*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// Plain formats a tick: at most six digits, thousands grouped, a minus sign
// that is as wide as a plus.
func Plain(v float64) string {
	if v < 0 {
		return "−" + Plain(-v)
	}
	s := strconv.FormatFloat(v, 'g', 6, 64)
	if v < 1000 || v >= 1e9 {
		return s
	}
	if strings.Contains(s, "e") {
		s = strconv.FormatFloat(math.Round(v/1000)*1000, 'f', 0, 64)
	}
	whole, frac, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if frac != "" {
		whole += "." + frac
	}
	return whole
}

// Milliseconds formats a tick of an axis headed "ms": from 1,000 on it names
// seconds, as in 200, 500, 1 s, 2 s.
func Milliseconds(v float64) string {
	if math.Abs(v) >= 1000 {
		return Plain(v/1000) + " s"
	}
	return Plain(v)
}

// Seconds formats a tick given in seconds.
func Seconds(v float64) string { return Plain(v) + " s" }

// Percent formats a tick given in percent.
func Percent(v float64) string { return Plain(v) + " %" }

type timeTick struct {
	at    time.Time
	label string
}

// timeTicks returns at most limit ticks on round hours, days, Mondays, months
// or years of UTC.
func timeTicks(from, to time.Time, limit int) []timeTick {
	from, to = from.UTC(), to.UTC()
	limit = max(limit, 2)
	span := to.Sub(from)
	const day = 24 * time.Hour
	for _, step := range []time.Duration{
		time.Minute, 5 * time.Minute, 15 * time.Minute, 30 * time.Minute,
		time.Hour, 2 * time.Hour, 3 * time.Hour, 6 * time.Hour, 12 * time.Hour,
		day, 2 * day, 7 * day, 14 * day,
	} {
		if span/step >= time.Duration(limit) {
			continue
		}
		// Truncate counts from a Monday, so weeks begin on Mondays.
		var out []timeTick
		for t := from.Truncate(step); !t.After(to); t = t.Add(step) {
			if t.Before(from) {
				continue
			}
			label := t.Format("15:04")
			if t.Equal(t.Truncate(day)) {
				label = t.Format("2 Jan")
			}
			out = append(out, timeTick{t, label})
		}
		return out
	}
	for _, months := range []int{1, 2, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 2400} {
		if span/(30*day) >= time.Duration(limit*months) {
			continue
		}
		var out []timeTick
		first := from.Year()*12 + int(from.Month()) - 1
		for m := first - first%months; ; m += months {
			t := time.Date(m/12, time.Month(m%12+1), 1, 0, 0, 0, 0, time.UTC)
			if t.After(to) {
				return out
			}
			if t.Before(from) {
				continue
			}
			label := t.Format("Jan")
			if t.Month() == time.January || len(out) == 0 && months < 12 {
				label = t.Format("Jan 2006")
			}
			if months >= 12 {
				label = t.Format("2006")
			}
			out = append(out, timeTick{t, label})
		}
	}
	return nil
}

// timeSpan reports whether a time axis from from to to can be drawn.
func timeSpan(from, to time.Time) bool {
	return to.After(from) && to.Sub(from) < 280*365*24*time.Hour &&
		from.Year() > 0 && to.Year() < 10000
}
