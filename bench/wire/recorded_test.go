package wire

import (
	"bufio"
	"encoding/csv"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const streamsDir = "testdata/streams"

// A recording is one row of index.tsv and the body it is about.
type recording struct {
	file     string
	protocol string
	status   int
	column   map[string]string
	body     []byte
}

// recordings loads every file that index.tsv lists, and fails if that is not
// every file there is.
func recordings(tb testing.TB) []recording {
	tb.Helper()
	f, err := os.Open(filepath.Join(streamsDir, "index.tsv"))
	if err != nil {
		tb.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(bufio.NewReader(f))
	r.Comma = '\t'
	rows, err := r.ReadAll()
	if err != nil {
		tb.Fatal(err)
	}
	var recs []recording
	for _, row := range rows[1:] {
		rec := recording{column: map[string]string{}}
		for i, name := range rows[0] {
			rec.column[name] = row[i]
		}
		rec.file, rec.protocol = rec.column["file"], rec.column["protocol"]
		if rec.status, err = strconv.Atoi(rec.column["http_status"]); err != nil {
			tb.Fatalf("%s: http_status: %v", rec.file, err)
		}
		if rec.body, err = os.ReadFile(filepath.Join(streamsDir, rec.file)); err != nil {
			tb.Fatal(err)
		}
		recs = append(recs, rec)
	}
	files, err := filepath.Glob(filepath.Join(streamsDir, "*_*", "*")) // openai_*
	for _, dir := range []string{"anthropic", "gemini", "ollama"} {
		more, _ := filepath.Glob(filepath.Join(streamsDir, dir, "*"))
		files = append(files, more...)
	}
	if err != nil || len(files) == 0 || len(files) != len(recs) {
		tb.Fatalf("%d recordings on disk, %d in index.tsv (%v)", len(files), len(recs), err)
	}
	return recs
}

func protocolOf(tb testing.TB, name string) Protocol {
	tb.Helper()
	p, ok := ByName(name)
	if !ok {
		tb.Fatalf("no protocol %q", name)
	}
	return p
}

// read folds a whole body.
func read(p Protocol, body io.Reader) (*Reply, error) {
	r := new(Reply)
	for ev, err := range p.Decode(body) {
		if err != nil {
			return r, err
		}
		r.Add(ev)
	}
	return r, nil
}

// columns renders what was read as index.tsv does.
func columns(r *Reply, err error) map[string]string {
	count := func(c Count) string {
		if !c.Known {
			return ""
		}
		return strconv.FormatInt(c.N, 10)
	}
	first := ""
	if i, ok := r.FirstVisible(); ok {
		first = strconv.Itoa(i)
	}
	complete := "n"
	if r.Complete() {
		complete = "y"
	}
	return map[string]string{
		"first_visible_event": first,
		"n_visible_events":    strconv.Itoa(r.VisibleEvents),
		"n_reasoning_events":  strconv.Itoa(r.ReasoningEvents),
		"visible_chars":       strconv.FormatInt(r.Visible.Chars, 10),
		"usage_input":         count(r.Usage.Input),
		"usage_cached":        count(r.Usage.Cached),
		"usage_output":        count(r.Usage.Output),
		"usage_reasoning":     count(r.Usage.Reasoning),
		"finish_reason":       r.Finish,
		"complete":            complete,
		"expected_error":      r.Verdict(err).Kind.String(),
		"n_data_events":       strconv.Itoa(r.DataEvents),
	}
}

// TestRecorded reads every recorded response and compares every column of
// index.tsv.
func TestRecorded(t *testing.T) {
	for _, rec := range recordings(t) {
		t.Run(strings.TrimSuffix(rec.file, filepath.Ext(rec.file)), func(t *testing.T) {
			if rec.status != 200 {
				f := Classify(rec.status, nil, rec.body)
				if got, want := f.Kind.String(), rec.column["expected_error"]; got != want {
					t.Errorf("kind = %q (%s), want %q", got, f.Detail, want)
				}
				if f.Status != rec.status || f.Detail == "" {
					t.Errorf("failure %+v lacks its status or detail", f)
				}
				return
			}
			r, err := read(protocolOf(t, rec.protocol), strings.NewReader(string(rec.body)))
			for name, got := range columns(r, err) {
				if want := rec.column[name]; got != want {
					t.Errorf("%s = %q, want %q", name, got, want)
				}
			}
			if t.Failed() {
				t.Logf("verdict %+v, error %v, notes: %s", r.Verdict(err), err, rec.column["notes"])
			}
		})
	}
}
