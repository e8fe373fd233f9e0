package main

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/streamgauge/streamgauge/bench"
)

// TestAnnotations checks that no text, as that of a stranger's provider file in
// a pull request, can smuggle a command of its own into the job's log.
func TestAnnotations(t *testing.T) {
	var out strings.Builder
	c := newChecklist(&out, true)
	c.add(stepDone, "fine", "nothing")
	c.add(stepTodo, "key", "set it")
	c.add(stepFault, "file", "bad 100%\r\n::set-output name=x::y")
	if err := c.print(); err != nil {
		t.Fatal(err)
	}
	if c.faults != 1 {
		t.Errorf("%d faults, want 1", c.faults)
	}
	for _, want := range []string{
		"::warning title=streamgauge doctor::key: set it\n",
		"::error title=streamgauge doctor::file: bad 100%25%0D%0A::set-output name=x::y\n",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("output lacks %q:\n%s", want, out.String())
		}
	}
	var quietly strings.Builder
	plain := newChecklist(&quietly, false)
	plain.add(stepFault, "file", "bad")
	if err := plain.print(); err != nil || strings.Contains(quietly.String(), "::") {
		t.Errorf("annotated without being asked to: %v\n%s", err, quietly.String())
	}
}

// TestBilledMinutes works the estimate out for two pairs every ten minutes and
// six every six hours, at the 20 seconds that an unknown pair is taken for:
// 2 × 20 s + 6 × 20 s / 6 = 60 s, which with 2 minutes is 3 minutes an hour.
func TestBilledMinutes(t *testing.T) {
	list, err := bench.LoadProviders(fstest.MapFS{
		"often.yaml":  {Data: []byte("base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nevery: 10m\nmodels: [a, b]\n")},
		"seldom.yaml": {Data: []byte("base_url: http://127.0.0.1:9/v1\nprotocol: openai_chat\nevery: 6h\nmodels: [a, b, c, d, e, f]\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	env := func(string) (string, bool) { return "", false }
	now := time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)
	pass := hourlyPass(now, list, env).Round(time.Second)
	if pass != time.Minute {
		t.Errorf("a pass takes %v, want a minute", pass)
	}
	if lite, full := billedMinutes(now, list, env); lite != 3*720 || full != 33*1440 {
		t.Errorf("%d and %d minutes, want %d and %d", lite, full, 3*720, 33*1440)
	}
}
