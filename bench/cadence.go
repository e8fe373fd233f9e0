package bench

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

// The cadences a provider file may ask for.
const (
	DefaultCadence = time.Hour           // of a provider that names none
	MinCadence     = time.Minute         // GitHub wakes a job every five minutes at best
	MaxCadence     = 31 * 24 * time.Hour // beyond it a window of 30 days could be empty
)

// A Cadence is how often a pair is measured: "10m", "6h", "1d", or a cron
// expression of five fields in UTC. The zero Cadence is "not said".
//
// A plain duration C divides time since the Unix epoch into slots of width C,
// and each pair has one instant in each slot. The instant moves over the whole
// width of the slot from one slot to the next, so that a pair measured every
// six hours does not always meet the same hours of the day: at a fixed phase
// its mean would be off by however much those hours differ from the others.
//
// Independent uniform instants would let neighbours lie up to 2C apart. The
// instant is instead a triangle wave over the slot number (uniform over the
// slot, as a triangle wave of a uniform phase is), with a phase, a pace and a
// wobble hashed from the pair. Neighbours are then 0.75C to 1.25C apart, and a
// pair sweeps the width about every five slots.
//
// A cron expression is taken at its word: no jitter, and the bias is its
// author's choice.
type Cadence struct {
	every time.Duration // the interval; of a cron expression its mean
	cron  cron.Schedule
	spec  string
}

// Every returns the cadence of one measurement per d.
func Every(d time.Duration) Cadence { return Cadence{every: d, spec: formatCadence(d)} }

// ParseCadence understands "10m", "1h30m", "1d" and five-field cron
// expressions such as "20 */6 * * *", whose times are UTC.
func ParseCadence(s string) (Cadence, error) {
	if strings.HasPrefix(s, "@") || strings.ContainsAny(s, " \t") {
		return parseCron(s)
	}
	d, err := parseDays(s)
	if err != nil {
		return Cadence{}, fmt.Errorf("%q is neither a duration such as 10m, 6h or 1d nor a cron expression of five fields", s)
	}
	if d < MinCadence || d > MaxCadence {
		return Cadence{}, fmt.Errorf("%s is outside the range of %s to %s", s, formatCadence(MinCadence), formatCadence(MaxCadence))
	}
	return Cadence{every: d, spec: formatCadence(d)}, nil
}

func parseCron(s string) (Cadence, error) {
	// cron/v3 would look TZ= up in a database that the runner may lack, and
	// @every counts from the start of the process: it has no slots.
	if strings.Contains(s, "TZ=") {
		return Cadence{}, errors.New("cron expressions are in UTC; leave TZ= out")
	}
	if strings.HasPrefix(s, "@every") {
		return Cadence{}, errors.New("write the duration alone, as in: every: 10m")
	}
	schedule, err := cron.ParseStandard(s)
	if err != nil {
		return Cadence{}, fmt.Errorf("cron expression %q: %w", s, err)
	}
	if schedule.Next(time.Unix(0, 0).UTC()).IsZero() {
		return Cadence{}, fmt.Errorf("cron expression %q never comes true", s)
	}
	return Cadence{every: meanInterval(schedule), cron: schedule, spec: s}, nil
}

// meanInterval is the mean time between a schedule's activations in the year
// 2024, a leap year, over at most a thousand of them.
func meanInterval(s cron.Schedule) time.Duration {
	start := time.Date(2023, 12, 31, 23, 59, 59, 0, time.UTC)
	const year = 366 * 24 * time.Hour
	first := s.Next(start)
	last, n := first, 0
	for n < 1000 {
		next := s.Next(last)
		if next.IsZero() || next.Sub(start) > year {
			break
		}
		last, n = next, n+1
	}
	if n == 0 {
		return year
	}
	return last.Sub(first) / time.Duration(n)
}

// parseDays is time.ParseDuration that also knows whole days.
func parseDays(s string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(s, "d"); ok {
		n, err := strconv.ParseUint(days, 10, 16)
		return time.Duration(n) * 24 * time.Hour, err
	}
	return time.ParseDuration(s)
}

// formatCadence prints a duration as people write it: 10m, 6h, 1h30m, 2d.
func formatCadence(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d >= day && d%day == 0:
		return strconv.Itoa(int(d/day)) + "d"
	case d >= time.Minute && d%time.Minute == 0:
		s := strings.TrimSuffix(d.String(), "0s")
		if h, ok := strings.CutSuffix(s, "h0m"); ok {
			return h + "h"
		}
		return s
	}
	return d.String()
}

// IsZero reports whether no cadence was said.
func (c Cadence) IsZero() bool { return c.every == 0 }

// String returns the cadence as a provider file spells it.
func (c Cadence) String() string { return c.spec }

// MarshalText returns the same as String.
func (c Cadence) MarshalText() ([]byte, error) { return []byte(c.spec), nil }

// Interval returns the mean time between two measurements, which is what a
// dataset's reader needs to tell a gap from a pause.
func (c Cadence) Interval() time.Duration { return c.every }

// Next returns the pair's first slot instant later than after, or the zero
// time if there is none.
func (c Cadence) Next(p Pair, after time.Time) time.Time {
	after = after.UTC()
	if c.cron != nil {
		return c.cron.Next(after)
	}
	if c.every <= 0 {
		return time.Time{}
	}
	k := floorDiv(after.UnixNano(), int64(c.every))
	for ; ; k++ {
		if at := c.slot(p, k); at.After(after) {
			return at
		}
	}
}

// Slots returns how many of the pair's slot instants lie in (from, to]. It
// counts to a thousand and no further.
func (c Cadence) Slots(p Pair, from, to time.Time) int {
	n := 0
	for at := c.Next(p, from); !at.IsZero() && !at.After(to) && n < 1000; at = c.Next(p, at) {
		n++
	}
	return n
}

// slower returns the cadence stretched by a factor of at least 1. A cron
// expression cannot be stretched.
func (c Cadence) slower(factor float64) Cadence {
	if c.cron != nil || factor <= 1 {
		return c
	}
	d := time.Duration(float64(c.every) * factor).Round(time.Second)
	return Every(min(d, MaxCadence))
}

// The triangle wave's pace per slot: a pair's share of a period, between
// minPace and minPace+paceSpread, and a wobble on top. Twice their sum bounds
// how far the instant moves within the slot from one slot to the next, 0.25.
const (
	minPace    = 0.08
	paceSpread = 0.03
	wobble     = 0.015
)

// slot returns the pair's instant in slot k, in [k*every, (k+1)*every).
func (c Cadence) slot(p Pair, k int64) time.Time {
	own := hash01(p, -1)
	phase := own + float64(k)*(minPace+paceSpread*hash01(p, -2)) + wobble*hash01(p, k)
	u := math.Abs(2*(phase-math.Floor(phase)) - 1)
	at := k*int64(c.every) + min(int64(u*float64(c.every)), int64(c.every)-1)
	return time.Unix(0, at).UTC()
}

// hash01 hashes a pair and a number to [0, 1): the first 53 bits of SHA-256,
// so that anybody can re-derive a published slot.
func hash01(p Pair, k int64) float64 {
	sum := sha256.Sum256([]byte(p.String() + "\x00" + strconv.FormatInt(k, 10)))
	return float64(binary.BigEndian.Uint64(sum[:8])>>11) / (1 << 53)
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}
