package bench

import (
	"encoding/csv"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// A recorded is a body that a real provider sent, and what is known of it. See
// wire/testdata/README.md.
type recorded struct {
	file     string
	protocol wire.Protocol
	status   int
	body     string
	column   map[string]string
}

func recordedStreams(t testing.TB) (all []recorded) {
	t.Helper()
	const dir = "wire/testdata/streams"
	f, err := os.Open(filepath.Join(dir, "index.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.Comma, r.LazyQuotes = '\t', true
	rows, err := r.ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		rec := recorded{column: make(map[string]string)}
		for i, name := range rows[0] {
			rec.column[name] = row[i]
		}
		rec.file = rec.column["file"]
		var ok bool
		if rec.protocol, ok = wire.ByName(rec.column["protocol"]); !ok {
			t.Fatalf("%s: no protocol %q", rec.file, rec.column["protocol"])
		}
		if rec.status, err = strconv.Atoi(rec.column["http_status"]); err != nil {
			t.Fatalf("%s: %v", rec.file, err)
		}
		body, err := os.ReadFile(filepath.Join(dir, rec.file))
		if err != nil {
			t.Fatal(err)
		}
		rec.body = string(body)
		all = append(all, rec)
	}
	if len(all) == 0 {
		t.Fatal("no recorded streams")
	}
	return all
}

// A cut says where to end the next write of a body.
type cut struct {
	name string
	next func(rest string) int
}

// cuts are places to cut a body at: hostile ones among them.
func cuts() []cut {
	rng := rand.New(rand.NewPCG(1, 2))
	before := func(sep string) func(string) int {
		return func(rest string) int {
			if i := strings.Index(rest[1:], sep); i >= 0 {
				return i + 1
			}
			return len(rest)
		}
	}
	return []cut{
		{"whole", func(rest string) int { return len(rest) }},
		{"before every line end", before("\n")},
		{"between CR and LF, or after every line", func(rest string) int {
			if i := strings.IndexAny(rest, "\r\n"); i >= 0 {
				return i + 1
			}
			return len(rest)
		}},
		{"inside every key", before("\":")},
		{"inside every character that has an inside", func(rest string) int {
			for i, r := range rest {
				if utf8.RuneLen(r) > 1 {
					return i + 1
				}
			}
			return len(rest)
		}},
		{"at random", func(string) int { return 1 + rng.IntN(90) }},
	}
}

// TestRecordedStreams serves every recorded body over real HTTP, plain and over
// TLS, cut at hostile places, and checks what the sample says of it against the
// index, and that its recording gives the same sample again.
func TestRecordedStreams(t *testing.T) {
	type order struct {
		recorded
		cut
	}
	orders := make(chan order, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		current := <-orders
		io.Copy(io.Discard, r.Body)
		w.WriteHeader(current.status)
		out := http.NewResponseController(w)
		for rest := current.body; rest != ""; {
			n := min(current.next(rest), len(rest))
			io.WriteString(w, rest[:n])
			out.Flush()
			rest = rest[n:]
		}
	}
	plain := serve(t, handler)
	secure, trusting := serveTLS(t, handler)
	all := recordedStreams(t)
	for i, c := range cuts() {
		t.Run(c.name, func(t *testing.T) {
			for j, rec := range all {
				orders <- order{rec, c}
				meter, srv := &Meter{}, plain
				if (i+j)%2 == 1 {
					meter, srv = trusting, secure
				}
				checkRecorded(t, meter, srv.URL, rec)
			}
		})
	}
}

func checkRecorded(t *testing.T, m *Meter, url string, rec recorded) {
	t.Helper()
	run := chatRun(url)
	run.Protocol = rec.protocol
	var kept Recording
	s := m.Measure(t.Context(), run, Observer{Recording: func(r Recording) { kept = r }})

	got := map[string]string{"expected_error": s.Kind.String()}
	if rec.status == http.StatusOK {
		got["n_visible_events"] = strconv.Itoa(s.Chunks)
		got["n_reasoning_events"] = strconv.Itoa(s.ReasonChunks)
		got["visible_chars"] = strconv.Itoa(s.Chars)
		if len(rec.column["finish_reason"]) <= maxFinish {
			got["finish_reason"] = s.Finish
		}
	}
	for name, value := range got {
		if want := rec.column[name]; value != want {
			t.Errorf("%s: %s = %q; want %q (%s)", rec.file, name, value, want, s.Detail)
		}
	}
	if string(kept.Body) != rec.body {
		t.Errorf("%s: %d bytes of body; want %d, the same", rec.file, len(kept.Body), len(rec.body))
	}
	again, err := Replay(kept, nil)
	if err != nil {
		t.Errorf("%s: %v", rec.file, err)
	}
	if diff := cmp.Diff(s, again); diff != "" {
		t.Errorf("%s: replayed, the sample differs (-want +got):\n%s", rec.file, diff)
	}
	checkInvariants(t, rec.file, &s)
}

// checkInvariants checks what holds for every sample.
func checkInvariants(t *testing.T, name string, s *Sample) {
	t.Helper()
	for i := 1; i < len(s.Trace); i++ {
		a, b := s.Trace[i-1], s.Trace[i]
		if b.At < a.At || b.Offset < a.Offset || b.Read < a.Read {
			t.Errorf("%s: event %d goes backwards: %+v, %+v", name, i, a, b)
		}
		if b.Offset > s.Bytes {
			t.Errorf("%s: event %d ends past the body", name, i)
		}
	}
	if s.Chunks > 0 && (s.FirstText <= 0 || s.LastText < s.FirstText || s.FirstReadChars > s.Chars) {
		t.Errorf("%s: text from %v to %v, %d of %d characters first", name, s.FirstText, s.LastText, s.FirstReadChars, s.Chars)
	}
	if s.OK() != (s.Kind == wire.KindNone && s.Detail == "" && s.FailedIn == "") {
		t.Errorf("%s: half a failure: %v %q %q", name, s.Kind, s.Detail, s.FailedIn)
	}
	if s.OK() && (s.Chunks == 0 || s.HTTPStatus/100 != 2) {
		t.Errorf("%s: a success without text, status %d", name, s.HTTPStatus)
	}
	noText(t, *s)
	r := s.Report()
	for field, v := range asJSON(t, r) {
		// Text may come before reasoning, and bursts score below zero.
		if f, ok := v.(float64); ok && f < 0 && field != "burstiness" && field != "think_ms" {
			t.Errorf("%s: %s = %v", name, field, f)
		}
		_, told := r.Reasons[field]
		switch field {
		case "error_kind", "error_detail", "failed_in", "http_status", "inner_code", "retry_after_s", "decode_invalid",
			"estimated_tokens", "finish_reason", "served_by", "backend":
			continue // null is their word for "no"
		case "partial_tps":
			if s.OK() {
				continue
			}
		}
		if (v == nil) != told {
			t.Errorf("%s: %s is %v and its reason %q", name, field, v, r.Reasons[field])
		}
	}
}
