package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// pieces reads body in pieces that end at the cuts, in ascending order.
type pieces struct {
	body []byte
	cuts []int
	at   int
}

func (p *pieces) Read(b []byte) (int, error) {
	for len(p.cuts) > 0 && p.cuts[0] <= p.at {
		p.cuts = p.cuts[1:]
	}
	if p.at == len(p.body) {
		return 0, io.EOF
	}
	end := len(p.body)
	if len(p.cuts) > 0 {
		end = min(end, p.cuts[0])
	}
	n := copy(b, p.body[p.at:end])
	p.at += n
	return n, nil
}

// A kept is an event in a form that stays and compares.
type kept struct {
	index              int
	end                int64
	visible, reasoning string
	finish             string
	fail               Failure
	flags              [6]bool
	usage              Usage
	names              [2]string
	server             ServerTiming
	err                string
}

func keep(ev Event, err error) kept {
	k := kept{
		index: ev.Index, end: ev.End, visible: string(ev.Visible), reasoning: string(ev.Reasoning), finish: ev.Finish,
		flags: [6]bool{ev.Refused, ev.Tool, ev.Hidden, ev.Broken, ev.Last, ev.Complete},
		usage: ev.Usage, names: [2]string{ev.Model, ev.Backend}, server: ev.Server,
	}
	if ev.Fail != nil {
		k.fail = *ev.Fail
	}
	if err != nil {
		k.err = err.Error()
	}
	return k
}

// transcript keeps everything that decoding a body yields.
func transcript(p Protocol, body io.Reader) (out []kept) {
	for ev, err := range p.Decode(body) {
		out = append(out, keep(ev, err))
	}
	return out
}

// diff fails the test at the first difference.
func diff[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Fatalf("%s: number %d\n got %+v\nwant %+v", what, i, got[i], want[i])
		}
	}
	if len(got) != len(want) {
		t.Fatalf("%s: %d, want %d\n got %+v\nwant %+v", what, len(got), len(want), got, want)
	}
}

// TestRecordedSplit reads every recorded stream in hostile pieces: cut in two at
// every byte if it is short, at 1,000 random places if it is long, and one byte
// at a time. Nothing may change.
func TestRecordedSplit(t *testing.T) {
	const short = 4 << 10
	for _, rec := range recordings(t) {
		if rec.status != 200 {
			continue
		}
		t.Run(rec.file, func(t *testing.T) {
			t.Parallel()
			p := protocolOf(t, rec.protocol)
			want := transcript(p, bytes.NewReader(rec.body))
			if len(want) == 0 {
				t.Fatal("no events")
			}
			diff(t, "byte by byte", transcript(p, iotest.OneByteReader(bytes.NewReader(rec.body))), want)
			diff(t, "data with EOF", transcript(p, iotest.DataErrReader(bytes.NewReader(rec.body))), want)
			if len(rec.body) <= short {
				for cut := 1; cut < len(rec.body); cut++ {
					got := transcript(p, &pieces{body: rec.body, cuts: []int{cut}})
					diff(t, fmt.Sprintf("cut at %d", cut), got, want)
				}
				return
			}
			rng := rand.New(rand.NewPCG(1, uint64(len(rec.body))))
			cuts := make([]int, 1000)
			for i := range cuts {
				cuts[i] = 1 + rng.IntN(len(rec.body)-1)
			}
			slices.Sort(cuts)
			diff(t, "1,000 random cuts", transcript(p, &pieces{body: rec.body, cuts: cuts}), want)
		})
	}
}

// TestRecordedLineEnds reads every recorded stream with LF, CRLF and lone CR.
// Nothing may change but the offsets, and those only by the bytes added.
func TestRecordedLineEnds(t *testing.T) {
	for _, rec := range recordings(t) {
		if rec.status != 200 {
			continue
		}
		t.Run(rec.file, func(t *testing.T) {
			t.Parallel()
			p := protocolOf(t, rec.protocol)
			lf := bytes.ReplaceAll(rec.body, []byte("\r\n"), []byte("\n"))
			var want, wantCRLF []kept
			for ev, err := range p.Decode(bytes.NewReader(lf)) {
				if err != nil {
					t.Fatal(err)
				}
				want = append(want, keep(ev, nil))
				ev.End += int64(bytes.Count(lf[:ev.End], []byte("\n")))
				wantCRLF = append(wantCRLF, keep(ev, nil))
			}
			crlf := bytes.ReplaceAll(lf, []byte("\n"), []byte("\r\n"))
			diff(t, "CRLF", transcript(p, bytes.NewReader(crlf)), wantCRLF)
			diff(t, "CRLF byte by byte", transcript(p, iotest.OneByteReader(bytes.NewReader(crlf))), wantCRLF)
			cr := bytes.ReplaceAll(lf, []byte("\n"), []byte("\r"))
			diff(t, "CR", transcript(p, bytes.NewReader(cr)), want)
			diff(t, "CR byte by byte", transcript(p, iotest.OneByteReader(bytes.NewReader(cr))), want)
		})
	}
}

// TestRecordedCut ends every recorded stream at each of its line ends and in
// the middle of lines: never a panic, never more than the whole stream has, and
// never complete before the frame that completes it.
func TestRecordedCut(t *testing.T) {
	for _, rec := range recordings(t) {
		if rec.status != 200 {
			continue
		}
		t.Run(rec.file, func(t *testing.T) {
			t.Parallel()
			p := protocolOf(t, rec.protocol)
			whole, _ := read(p, bytes.NewReader(rec.body))
			for cut := 0; cut < len(rec.body); cut += 1 + len(rec.body)/200 {
				r, err := read(p, bytes.NewReader(rec.body[:cut]))
				if err != nil {
					t.Fatalf("cut at %d: %v", cut, err)
				}
				if r.Visible.Chars > whole.Visible.Chars || r.DataEvents > whole.DataEvents {
					t.Fatalf("cut at %d: %d characters in %d events, the whole has %d in %d", cut,
						r.Visible.Chars, r.DataEvents, whole.Visible.Chars, whole.DataEvents)
				}
				v := r.Verdict(nil)
				if !r.Complete() && v.OK() {
					t.Fatalf("cut at %d: not complete, yet no failure", cut)
				}
				if r.Finish == "" && v.OK() && !strings.Contains(rec.file, "no-finish") {
					t.Fatalf("cut at %d: no finish reason, yet no failure", cut)
				}
			}
		})
	}
}

// TestReadError checks that the reader's own error comes out unchanged, after
// every whole event before it.
func TestReadError(t *testing.T) {
	broken := errors.New("connection reset by peer")
	body := "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"b\"}}]}\n\ndata: {\"cho"
	r, err := read(OpenAIChat{}, io.MultiReader(strings.NewReader(body), iotest.ErrReader(broken)))
	if err != broken {
		t.Errorf("error = %v, want %v", err, broken)
	}
	if r.VisibleEvents != 2 || r.BrokenEvents != 0 {
		t.Errorf("%d visible events, %d broken, want 2 and 0", r.VisibleEvents, r.BrokenEvents)
	}
	if got := r.Verdict(err); got != (Failure{Kind: KindNetwork, Detail: DetailRead}) {
		t.Errorf("verdict = %+v", got)
	}
	// Once the answer is complete, how the connection ends no longer matters.
	body += "\n\ndata: [DONE]\n\n"
	body = strings.Replace(body, "data: {\"cho\n\n", "", 1)
	r, err = read(OpenAIChat{}, io.MultiReader(strings.NewReader(body), iotest.ErrReader(broken)))
	if got := r.Verdict(err); !got.OK() || err != broken {
		t.Errorf("verdict = %+v, error %v", got, err)
	}
}
