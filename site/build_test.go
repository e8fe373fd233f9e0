package site_test

import (
	"os"
	"testing"
	"time"

	"github.com/streamgauge/streamgauge/site"
)

// TestShow keeps a built site for a look at it.
func TestShow(t *testing.T) {
	dir := os.Getenv("STREAMGAUGE_SHOW")
	if dir == "" {
		t.Skip("STREAMGAUGE_SHOW names no folder")
	}
	start := time.Now()
	in := inputs(t, many(24, time.Hour, 70)...)
	t.Logf("inputs after %v", time.Since(start))
	start = time.Now()
	report, err := site.Build(t.Context(), dir, in, nil)
	t.Logf("built %+v in %v, %v", report, time.Since(start), err)
	if err != nil {
		t.Fatal(err)
	}
}
