package data

import (
	"encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/streamgauge/streamgauge/bench"
	"github.com/streamgauge/streamgauge/bench/wire"
)

// TestReadOwnKnowsEveryField fills every field of a sample with a value of its
// own: a field that readOwn does not know would send every line that has it the
// long way.
func TestReadOwnKnowsEveryField(t *testing.T) {
	t.Parallel()
	var want bench.Sample
	n := int64(0)
	fill(reflect.ValueOf(&want).Elem(), &n)
	line, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	got, ok := readOwn(append(line, '\n'))
	if diff := cmp.Diff(want, got); !ok || diff != "" || n < 60 {
		t.Errorf("known: %v, of %d fields; (-want +got):\n%s", ok, n, diff)
	}
}

// fill gives every field of a struct another value.
func fill(v reflect.Value, n *int64) {
	if at, is := v.Addr().Interface().(*time.Time); is {
		*n++
		*at = t0.Add(time.Duration(*n) * 1_001 * ms)
		return
	}
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.String:
		v.SetString(strings.Repeat("x", int(*n)))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.25)
	case reflect.Uint8:
		v.SetUint(uint64(*n))
	default:
		v.SetInt(-*n)
	}
}

// FuzzReadOwn holds readOwn against encoding/json: whatever it takes, that takes
// for the same.
func FuzzReadOwn(f *testing.F) {
	rnd := rand.New(rand.NewPCG(30, 11))
	for range 20 {
		s := random(rnd, "m", t0)
		s.Server.QueueMS, s.Trace = 1.5, []bench.Arrival{{At: ms, Mark: bench.MarkVisible, Chars: 3}, {At: 2 * ms, Mark: bench.MarkDone}}
		line, err := json.Marshal(s)
		if err != nil {
			f.Fatal(err)
		}
		if _, ok := readOwn(line); !ok {
			f.Fatalf("our own line is strange: %s", line)
		}
		f.Add(line)
	}
	for _, line := range []string{
		`{}`, `{`, `{}x`, `{},`, ` {}`, `{"chars":01}`, `{"chars":-0}`, `{"chars":1e2}`, `{"chars":1.0}`, `{"chars":999999999999999999999}`, `{"chars":}`,
		`{"chars":1,}`, `{,"chars":1}`, `{"chars":null}`, `{"CHARS":1}`, `{"chars":1,"chars":2}`, `{"error_kind":300}`, `{"error_kind":-1}`,
		`{"model":"\u0041"}`, `{"model":"ä"}`, "{\"model\":\"\xff\"}", "{\"model\":\"\x01\"}", `{"model":"a`, `{"gaps":{"burstiness":-0.5,"p50_ns":1},"gaps":{"p95_ns":2}}`,
		`{"gaps":{"burstiness":.5}}`, `{"gaps":{"burstiness":1.}}`, `{"gaps":{"burstiness":-}}`, `{"gaps":{"burstiness":00.5}}`, `{"noise":{"client_noisy":tru}}`,
		`{"noise":{"client_noisy":true},"noise":{"client_noisy":false}}`, `{"trace":[]}`, `{"trace":[{}],"trace":[{}]}`, `{"trace":[{},]}`, `{"trace":null}`,
		`{"started_at":"2026-02-30T00:00:00Z"}`, `{"started_at":"2026-01-30T00:00:00+01:00"}`, `{"scheduled":"2026-01-30 00:00:00Z"}`, `{"env":{}}`, `{"env":[]}`,
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, ok := readOwn(line)
		if !ok {
			return
		}
		want, err := parseAnyLine(line)
		if err != nil {
			t.Fatalf("readOwn takes what encoding/json refuses: %v\n%s", err, line)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-encoding/json +readOwn):\n%s", diff)
		}
	})
}

// TestReadOwnLeavesTheRest names lines that are for encoding/json to judge.
func TestReadOwnLeavesTheRest(t *testing.T) {
	t.Parallel()
	whole, err := json.Marshal(success("m", t0))
	if err != nil {
		t.Fatal(err)
	}
	line := string(whole)
	for _, tt := range []struct {
		name, line string
		taken      bool // by encoding/json
	}{
		{"white space", strings.Replace(line, ":", ": ", 1), true},
		{"an escape", strings.Replace(line, `"acme"`, `"\u0061cme"`, 1), true},
		{"a letter beyond ASCII", strings.Replace(line, `"acme"`, `"äcme"`, 1), true},
		{"another case of a name", strings.Replace(line, `"chars"`, `"Chars"`, 1), true},
		{"a field of another version", strings.Replace(line, `{`, `{"colour":1,`, 1), false},
		{"cut short", line[:len(line)-1], false},
		{"two values", line + line, false},
	} {
		if _, ok := readOwn([]byte(tt.line)); ok {
			t.Errorf("%s: readOwn takes it", tt.name)
		}
		s, err := parseLine([]byte(tt.line))
		if tt.taken != (err == nil) || tt.taken && (s.Chars != 1400 || s.Usage.Output != wire.Known(301)) {
			t.Errorf("%s: %v, %d characters", tt.name, err, s.Chars)
		}
	}
}
