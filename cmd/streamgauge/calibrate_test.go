package main

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/calibrate"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// TestFloods checks that each flood is an answer in its format, short enough to
// be read whole, of as many events as it says.
func TestFloods(t *testing.T) {
	if testing.Short() {
		t.Skip("renders 120 MB")
	}
	for _, f := range floods() {
		t.Run(f.protocol.Name(), func(t *testing.T) {
			req, err := f.protocol.Request(context.Background(), wire.Target{BaseURL: "http://x" + f.base, Model: "flood"}, bench.Prompt(""))
			if err != nil || req.URL.Path != f.path {
				t.Fatalf("served at %s; its protocol asks for %v, %v", f.path, req.URL.Path, err)
			}
			w := httptest.NewRecorder()
			f.ServeHTTP(w, req)
			body := w.Body.Bytes()
			if len(body) > wire.MaxBody {
				t.Fatalf("%d bytes; no more than %d are read", len(body), wire.MaxBody)
			}
			var reply wire.Reply
			for ev, err := range f.protocol.Decode(bytes.NewReader(body)) {
				if err != nil {
					t.Fatal(err)
				}
				reply.Add(ev)
			}
			if v := reply.Verdict(nil); v.Kind != wire.KindNone {
				t.Errorf("a failure: %v %s", v.Kind, v.Detail)
			}
			if n := reply.Tokens().Output.N; reply.VisibleEvents != f.events || n != int64(f.events) || reply.Visible.Words != int64(f.events) {
				t.Errorf("%d events, %d tokens, %d words; want %d of each", reply.VisibleEvents, n, reply.Visible.Words, f.events)
			}
		})
	}
}

// TestKeepCalibration checks that the newest calibration replaces the one before
// and reads back as it was.
func TestKeepCalibration(t *testing.T) {
	dir := t.TempDir()
	average := 0.25
	old := calibrate.Calibration{Format: calibrate.Format, Quick: true}
	want := calibrate.Calibration{
		Format: calibrate.Format, At: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC),
		Stamps: []calibrate.StampFigure{{Transport: calibrate.PlainHTTP, Gap: wideGap, Load: bench.Load{Average: &average}}},
	}
	want.Judge()
	for _, c := range []calibrate.Calibration{old, want} {
		if err := keepCalibration(dir, c); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, calibrationFile))
	if err != nil {
		t.Fatal(err)
	}
	var got calibrate.Calibration
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("read back (-want +got):\n%s", diff)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 1 {
		t.Errorf("%v lie there; want the calibration alone", left)
	}
}
