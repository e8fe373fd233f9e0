package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestDecodeRecordings holds what decode prints of every recorded response
// against the index of the recordings, column by column.
func TestDecodeRecordings(t *testing.T) {
	const dir = "../../bench/wire/testdata/streams"
	f, err := os.Open(filepath.Join(dir, "index.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	table := csv.NewReader(f)
	table.Comma, table.LazyQuotes = '\t', true
	rows, err := table.ReadAll()
	if err != nil || len(rows) < 100 {
		t.Fatalf("%d recordings: %v", len(rows), err)
	}
	columns := []string{
		"protocol", "http_status", "first_visible_event", "n_visible_events", "n_reasoning_events", "visible_chars",
		"usage_input", "usage_cached", "usage_output", "usage_reasoning", "finish_reason", "complete", "expected_error", "n_data_events",
	}
	for _, row := range rows[1:] {
		want := map[string]string{}
		for i, name := range rows[0] {
			want[name] = row[i]
		}
		t.Run(want["file"], func(t *testing.T) {
			out, _, err := runWith(t, "decode", "--protocol", want["protocol"], "--status", want["http_status"], filepath.Join(dir, want["file"]))
			if err != nil {
				t.Fatal(err)
			}
			var got map[string]any
			if err := json.Unmarshal([]byte(out), &got); err != nil {
				t.Fatal(err)
			}
			for _, name := range columns {
				text := fmt.Sprint(got[name])
				switch v := got[name].(type) {
				case nil:
					text = ""
				case bool:
					text = map[bool]string{true: "y", false: "n"}[v]
				}
				if text != want[name] {
					t.Errorf("%s = %q; want %q", name, text, want[name])
				}
			}
		})
	}
}
