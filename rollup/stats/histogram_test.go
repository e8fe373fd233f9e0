package stats

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/DataDog/sketches-go/ddsketch"
	"github.com/DataDog/sketches-go/ddsketch/mapping"
	"github.com/DataDog/sketches-go/ddsketch/store"
)

func histogramOf(values ...float64) *Histogram {
	h := new(Histogram)
	for _, v := range values {
		h.Add(v)
	}
	return h
}

func encoded(t *testing.T, h *Histogram) []byte {
	t.Helper()
	data, err := h.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestHistogramAdd(t *testing.T) {
	tests := []struct {
		x     float64
		index int
		ok    bool
	}{
		{1, 0, true},
		{1.02, 1, true},
		{1.0201, 2, true},
		{100, 233, true}, // ln 100 / ln 1.02 = 232.55
		{0.5, -35, true}, // -35.003
		{0, 0, false}, {-1, 0, false}, {math.NaN(), 0, false}, {math.Inf(1), 0, false},
		{1e36, 0, false}, {1e-36, 0, false}, {math.SmallestNonzeroFloat64, 0, false},
	}
	for _, tt := range tests {
		var h Histogram
		ok := h.Add(tt.x)
		switch buckets := h.Buckets(); {
		case ok != tt.ok, !ok && h.N() != 0:
			t.Errorf("Add(%v) = %v with %d counted; want %v", tt.x, ok, h.N(), tt.ok)
		case ok && !slices.Equal(buckets, []Bucket{{tt.index, 1}}):
			t.Errorf("Add(%v) gives %v; want bucket %d", tt.x, buckets, tt.index)
		}
	}
	var empty Histogram
	for _, q := range []float64{0.5, -1, 2, math.NaN()} {
		if v, ok := empty.Quantile(q); ok {
			t.Errorf("empty Quantile(%v) = %v", q, v)
		}
		if v, ok := histogramOf(5).Quantile(q); ok != (q == 0.5) {
			t.Errorf("Quantile(%v) = %v, %v", q, v, ok)
		}
	}
}

// TestHistogramQuantile compares with the exact order statistic, which must be
// within 1 %, and with DDSketch, which must agree to rounding. Its buckets are
// closed on the other side, which matters to no value drawn here.
func TestHistogramQuantile(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	for range 200 {
		var values []float64
		for range 1 + rng.IntN(400) {
			values = append(values, math.Exp(3*rng.NormFloat64()))
		}
		gammas, err := mapping.NewLogarithmicMappingWithGamma(Gamma, 0)
		if err != nil {
			t.Fatal(err)
		}
		sketch := ddsketch.NewDDSketch(gammas, store.NewSparseStore(), store.NewSparseStore())
		for _, v := range values {
			if err := sketch.Add(v); err != nil {
				t.Fatal(err)
			}
		}
		h := histogramOf(values...)
		slices.Sort(values)
		for _, q := range []float64{0, 0.01, 0.1, 0.5, 0.9, 0.95, 0.99, 1} {
			got, ok := h.Quantile(q)
			exact := values[int(q*float64(len(values)-1))]
			if !ok || math.Abs(got-exact) > 0.01*exact {
				t.Fatalf("Quantile(%v) of %d = %v, %v; want %v within 1 %%", q, len(values), got, ok, exact)
			}
			want, err := sketch.GetValueAtQuantile(q)
			if err != nil || !near(got, want, 1e-9) {
				t.Fatalf("Quantile(%v) of %d = %v; DDSketch says %v, %v", q, len(values), got, want, err)
			}
		}
	}
}

// TestHistogramMerge checks that the way a window is put together leaves no
// trace: (a+b)+c = a+(b+c) = c+b+a = all at once, byte for byte.
func TestHistogramMerge(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	merge := func(hs ...*Histogram) *Histogram {
		sum := new(Histogram)
		for _, h := range hs {
			sum.Merge(h)
		}
		return sum
	}
	for range 200 {
		a, b, c := draw(rng, rng.IntN(40)), draw(rng, rng.IntN(40)), draw(rng, rng.IntN(40))
		ha, hb, hc := histogramOf(a...), histogramOf(b...), histogramOf(c...)
		want := encoded(t, histogramOf(shuffled(rng, slices.Concat(a, b, c))...))
		for _, sum := range []*Histogram{merge(merge(ha, hb), hc), merge(ha, merge(hb, hc)), merge(hc, hb, ha)} {
			if got := encoded(t, sum); !bytes.Equal(got, want) {
				t.Fatalf("merged histogram is %x; want %x", got, want)
			}
		}
		if !bytes.Equal(encoded(t, ha), encoded(t, histogramOf(a...))) {
			t.Fatal("Merge changed its argument")
		}
	}
}

func TestHistogramEncoding(t *testing.T) {
	tests := []struct {
		name string
		h    Histogram
		data []byte
		json string
	}{
		{"empty", Histogram{}, nil, "[]"},
		{"one value", Histogram{[]Bucket{{5, 1}}, 1}, []byte{5 << 1}, "[[5,1]]"},
		{"many of one", Histogram{[]Bucket{{5, 2}}, 2}, []byte{5<<1 | 1, 0}, "[[5,2]]"},
		{"two bytes", Histogram{[]Bucket{{194, 1}, {198, 131}}, 132}, []byte{0x84, 0x03, 4<<1 | 1, 0x81, 0x01}, "[[194,1],[198,131]]"},
		{"below 1", Histogram{[]Bucket{{-1, 1}, {0, 3}}, 4}, []byte{0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 1<<1 | 1, 1}, "[[-1,1],[0,3]]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := encoded(t, &tt.h); !bytes.Equal(got, tt.data) {
				t.Errorf("MarshalBinary = %x; want %x", got, tt.data)
			}
			var back Histogram
			if err := back.UnmarshalBinary(tt.data); err != nil || !slices.Equal(back.buckets, tt.h.buckets) || back.n != tt.h.n {
				t.Errorf("UnmarshalBinary(%x) = %v, %v; want %v", tt.data, back, err, tt.h)
			}
			if got, err := json.Marshal(&tt.h); err != nil || string(got) != tt.json {
				t.Errorf("MarshalJSON = %s, %v; want %s", got, err, tt.json)
			}
		})
	}
}

// malformed histograms, each breaking one rule of the encoding.
var malformed = map[string][]byte{
	"cut short in a bucket":   {0x84},
	"count is missing":        {5<<1 | 1},
	"cut short in a count":    {5<<1 | 1, 0x80},
	"padded bucket":           {0x8a, 0x00},
	"padded count":            {5<<1 | 1, 0x80, 0x00},
	"varint above 64 bits":    {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
	"bucket twice":            {5 << 1, 0},
	"bucket goes back":        {5 << 1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
	"bucket out of range":     {0x80, 0x40},                                                       // 4096
	"sum out of range":        {0xfe, 0x3f, 2},                                                    // 4095, then 1 more
	"bucket far below":        {0x80, 0x80, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},       // -16384
	"count above 2^40":        {1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},    // 2^64-1
	"counts sum above 2^40":   {1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x1f, 2},                         // 2^40, then 1 more
	"count would wrap around": {1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 2}, // 2^64-2
}

func TestHistogramMalformed(t *testing.T) {
	for name, data := range malformed {
		h := *histogramOf(7)
		if err := h.UnmarshalBinary(data); !errors.Is(err, ErrBadHistogram) {
			t.Errorf("%s: UnmarshalBinary(%x) = %v; want ErrBadHistogram", name, data, err)
		}
		if !slices.Equal(h.buckets, histogramOf(7).buckets) {
			t.Errorf("%s: histogram changed to %v", name, h)
		}
	}
	most := []byte{1, 0xfe, 0xff, 0xff, 0xff, 0xff, 0x1f}
	var h Histogram
	if err := h.UnmarshalBinary(most); err != nil || h.N() != 1<<40 {
		t.Fatalf("UnmarshalBinary of 2^40 values = %d, %v", h.N(), err)
	}
	if h.Add(1) {
		t.Error("Add to a full histogram = true")
	}
}

// FuzzHistogram feeds anything to the decoder. What it accepts it must write
// back byte for byte, and be sound: ascending, counted, within range.
func FuzzHistogram(f *testing.F) {
	for _, data := range malformed {
		f.Add(data)
	}
	rng := rand.New(rand.NewPCG(13, 14))
	for n := range 20 {
		data, err := histogramOf(draw(rng, n*n)...).MarshalBinary()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var h Histogram
		if err := h.UnmarshalBinary(data); err != nil {
			if !errors.Is(err, ErrBadHistogram) {
				t.Fatalf("error %v does not wrap ErrBadHistogram", err)
			}
			return
		}
		if got := encoded(t, &h); !bytes.Equal(got, data) {
			t.Fatalf("decoded %x, encoded %x", data, got)
		}
		var n uint64
		for i, b := range h.buckets {
			n += b.N
			if b.N == 0 || b.Index < -maxBucket || b.Index > maxBucket || i > 0 && b.Index <= h.buckets[i-1].Index {
				t.Fatalf("unsound bucket %d of %v", i, h.buckets)
			}
		}
		if n != h.n {
			t.Fatalf("n = %d; want %d", h.n, n)
		}
		for _, q := range []float64{0, 0.5, 1} {
			if v, ok := h.Quantile(q); ok != (n > 0) || ok && !(v > 0 && v < 1e36) {
				t.Fatalf("Quantile(%v) = %v, %v", q, v, ok)
			}
		}
	})
}
