package rollup

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// TestReconcile spells incidents and tellings as ID:subject, closed with a !.
func TestReconcile(t *testing.T) {
	incident := func(text string) Incident {
		id, subject, _ := strings.Cut(strings.TrimSuffix(text, "!"), ":")
		i := Incident{ID: id, Subject: subject, Opened: today}
		if strings.HasSuffix(text, "!") {
			i.Closed = today.Add(time.Hour)
		}
		return i
	}
	wide := incident("W:wide")
	wide.Parts = []Incident{incident("A:a"), incident("B:b!")}
	planned := incident("P:p")
	planned.Maintenance = "Sun 02:00-04:00 UTC"
	tests := []struct {
		name  string
		told  string
		found []Incident
		want  string
	}{
		{"nothing", "", nil, ""},
		{"new", "", []Incident{incident("A:a")}, "open A"},
		{"over before anybody knew", "", []Incident{incident("A:a!")}, ""},
		{"goes on", "A:a", []Incident{incident("A:a")}, "update 0 A"},
		{"over", "A:a", []Incident{incident("A:a!")}, "close 0 A"},
		{"over, and another has begun", "A:a", []Incident{incident("A:a!"), incident("A2:a")}, "close 0 A, open A2"},
		{"its beginning has moved", "A:a", []Incident{incident("A2:a")}, "update 0 A2"},
		{"its beginning has moved, and it is over", "A:a", []Incident{incident("A2:a!")}, "close 0 A2"},
		{"not shown any more", "A:a", nil, "withdraw 0"},
		{"closed by somebody", "A:a!", []Incident{incident("A:a")}, ""},
		{"closed, and another has begun", "A:a!", []Incident{incident("A:a!"), incident("A2:a")}, "open A2"},
		{"told twice", "A:a A:a", []Incident{incident("A:a")}, "duplicate 1 A, update 0 A"},
		{"told twice, its beginning has moved", "A:a A2:a", []Incident{incident("A2:a")}, "duplicate 0 A2, update 1 A2"},
		{"part of a wider one", "A:a", []Incident{wide}, "fold 0 W, open W"},
		{"a part that is over", "B:b W:wide", []Incident{wide}, "fold 0 W, update 1 W"},
		{"a part whose beginning has moved", "A9:a", []Incident{wide}, "fold 0 W, open W"},
		{"in maintenance", "", []Incident{planned}, ""},
		{"in maintenance, as a changed configuration says", "P:p", []Incident{planned}, "withdraw 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var told []Told
			for _, text := range strings.Fields(tt.told) {
				i := incident(text)
				told = append(told, Told{i.ID, i.Subject, today.Add(30 * time.Minute), !i.Open()})
			}
			var got []string
			for _, s := range Reconcile(told, tt.found) {
				text := string(s.Action)
				if s.Told >= 0 {
					text += fmt.Sprint(" ", s.Told)
				}
				if s.Incident != nil {
					text += " " + s.Incident.ID
				}
				got = append(got, text)
			}
			if text := strings.Join(got, ", "); text != tt.want {
				t.Errorf("%q; want %q", text, tt.want)
			}
		})
	}
}
