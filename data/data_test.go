package data

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
)

func TestRoundTripExact(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	s := newRecord(t)
	var want []bench.Sample
	for i := range 2000 {
		want = append(want, random(rnd, "m", t0.Add(time.Duration(i)*time.Minute)))
	}
	if r := ingest(t, s, want...); r.New != len(want) {
		t.Fatalf("ingest: %+v", r)
	}
	for i := range want { // what the record leaves out
		want[i].Reads, want[i].Bytes = 0, 0
	}
	if diff := cmp.Diff(want, all(t, s)); diff != "" {
		t.Errorf("samples changed (-written +read):\n%s", diff)
	}
	n, err := s.Rollup(t.Context(), t0.Add(48*time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", n)
	inv, err := s.Inventory(t.Context())
	t.Logf("%+v %v", inv, err)
}
