package bench

import (
	"fmt"
	"strings"
	"time"
)

// why says in words why the pair is due.
func (s *pairView) why(now time.Time) string {
	if !s.ran {
		return "never measured: " + s.every()
	}
	overdue := now.Sub(s.ready)
	ago := "last ran " + words(now.Sub(s.last.StartedAt)) + " ago"
	text := words(overdue) + " overdue: "
	if overdue < time.Second {
		text = "due: "
	}
	if s.probe {
		return fmt.Sprintf("%sprobe after %d failures in a row, every %s until a success, %s",
			text, s.failures, words(s.probeInterval()), ago)
	}
	text += s.every() + ", " + ago
	switch {
	case s.missed == 1:
		text += ", 1 slot missed"
	case s.missed > 1:
		text += fmt.Sprintf(", %d slots missed", s.missed)
	}
	return text
}

func (s *pairView) every() string {
	if s.cadence.cron != nil {
		return "at " + s.cadence.String()
	}
	if s.cadence.every != s.asked.every {
		return fmt.Sprintf("every %s (%s, stretched by the budget)", words(s.cadence.every), words(s.asked.every))
	}
	return "every " + words(s.cadence.every)
}

// words writes a span for people, in at most two units: 45 s, 12 min, 3 h 5 min.
func words(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%d s", max(d, 0)/time.Second)
	}
	units := []struct {
		size time.Duration
		name string
	}{{day, "d"}, {time.Hour, "h"}, {time.Minute, "min"}}
	var parts []string
	for _, u := range units {
		if n := d / u.size; n > 0 && len(parts) < 2 {
			parts = append(parts, fmt.Sprintf("%d %s", n, u.name))
			d -= n * u.size
		} else if len(parts) > 0 {
			break
		}
	}
	return strings.Join(parts, " ")
}

// clockTime writes an instant for people, with its date unless that is now's.
func clockTime(t, now time.Time) string {
	if t, now := t.UTC(), now.UTC(); t.YearDay() == now.YearDay() && t.Year() == now.Year() {
		return t.Format("15:04 UTC")
	}
	return t.UTC().Format("2006-01-02 15:04 UTC")
}
