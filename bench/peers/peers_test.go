package peers

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func TestMain(m *testing.M) {
	served, err := ServeIfAsked()
	switch {
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	case !served:
		os.Exit(m.Run())
	}
}

// clients are ours and one for each policy that differs on a real machine.
func clients() []Client {
	all := []Client{Ours(OursKernel), Ours(OursUser)}
	for _, p := range Policies() {
		switch p.Name {
		case "stamp-at-line", "stamp-after-parse", "consumer-hop", "role-is-first", "read-is-event":
			all = append(all, p.Client())
		}
	}
	return all
}

// BenchmarkPeers measures the same streams through every client. One iteration
// is one stream through each: run it with -benchtime 5x or more. The metrics are
// medians over the iterations, named CLIENT:FIGURE.
func BenchmarkPeers(b *testing.B) {
	lab, err := OpenLab(b.Context())
	if err != nil {
		b.Skip(err)
	}
	defer lab.Close()
	for _, model := range []string{WideGaps, NarrowGaps, Flood} {
		b.Run(model, func(b *testing.B) { Bench(b, lab, clients(), model) })
	}
}

// TestLab checks that a lab works and what of its results no machine can change:
// nobody stamps a chunk before it left, and nothing is lost.
func TestLab(t *testing.T) {
	lab, err := OpenLab(t.Context())
	if err != nil {
		t.Skip(err)
	}
	defer lab.Close()
	for _, c := range clients() {
		r, err := lab.Measure(t.Context(), c, NarrowGaps)
		if err != nil {
			t.Fatal(err)
		}
		if r.Stamp <= -50*time.Microsecond || c.Name != "read-is-event" && r.Lost != 0 {
			t.Errorf("%s: stamps %v after the write, %d chunks lost", c.Name, r.Stamp, r.Lost)
		}
	}
}
