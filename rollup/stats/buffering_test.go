package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Contrasts worked out by hand: 300 tokens against 16 at 50 tokens/s, prefill
// 400 ms. Made in 6 s and 320 ms, the answers differ by 5,680 ms.
var (
	streamed = LengthContrast{LongFirst: 400, LongEnd: 6400, ShortFirst: 400, ShortEnd: 720}
	whole    = LengthContrast{LongFirst: 6400, LongEnd: 6400, ShortFirst: 720, ShortEnd: 720}
	replayed = LengthContrast{LongFirst: 6400, LongEnd: 6940, ShortFirst: 720, ShortEnd: 720} // ten pieces, 60 ms apart
)

func TestHeldShare(t *testing.T) {
	for _, c := range []struct {
		name string
		LengthContrast
		want float64
		ok   bool
	}{
		{"streamed", streamed, 0, true},
		{"sent whole", whole, 1, true},
		{"made whole, then sent in pieces", replayed, 5680. / 6220, true},
		{"half of it held back", LengthContrast{3240, 6400, 400, 720}, .5, true},
		{"just long enough", LengthContrast{100, 200, 50, 100}, .5, true},
		{"no longer than noise", LengthContrast{100, 199.9, 50, 100}, 0, false},
		{"the short one took longer", LengthContrast{400, 700, 9000, 9300}, 0, false},
		{"not a number", LengthContrast{400, math.NaN(), 400, 700}, 0, false},
	} {
		if g, ok := c.HeldShare(); math.Abs(g-c.want) > 1e-12 || ok != c.ok {
			t.Errorf("%s: share %v, %v; want %v, %v", c.name, g, ok, c.want, c.ok)
		}
	}
}

func TestJudgeBuffering(t *testing.T) {
	mix := func(held, streams int) (list []LengthContrast) {
		for range held {
			list = append(list, replayed)
		}
		for range streams {
			list = append(list, streamed)
		}
		return list
	}
	none := LengthContrast{400, 700, 9000, 9300}
	for _, c := range []struct {
		name      string
		contrasts []LengthContrast
		want      BufferVerdict
		n, held   int
		p         float64
	}{
		{"none", nil, BufferUnknown, 0, 0, 1},
		{"six of six are too few", mix(6, 0), BufferUnknown, 6, 6, 1},
		{"seven of seven", mix(7, 0), BufferBuffered, 7, 7, 1. / 128},
		{"seven of eight", mix(7, 1), BufferUnknown, 8, 7, 1},
		{"eleven of fourteen", mix(11, 3), BufferUnknown, 14, 11, 1},
		{"twelve of fourteen", mix(12, 2), BufferBuffered, 14, 12, 106. / 16384}, // (91 + 14 + 1) / 2^14
		{"two of fourteen", mix(2, 12), BufferStreams, 14, 2, 106. / 16384},
		{"none of seven", mix(0, 7), BufferStreams, 7, 0, 1. / 128},
		{"only the newest fourteen count", mix(20, 12), BufferStreams, 14, 2, 106. / 16384},
		{"without a share it does not speak for it", append(mix(6, 0), none), BufferUnknown, 7, 6, 1},
		{"nor against it", append(mix(0, 6), none), BufferUnknown, 7, 0, 1},
		{"answers all of one length tell nothing", []LengthContrast{none, none, none, none, none, none, none}, BufferUnknown, 7, 0, 1},
	} {
		got := JudgeBuffering(c.contrasts)
		if got.Verdict != c.want || got.N != c.n || got.Held != c.held || math.Abs(got.P-c.p) > 1e-15 {
			t.Errorf("%s: %+v; want %v, %d of %d, p %v", c.name, got, c.want, c.held, c.n, c.p)
		}
	}
	if b := JudgeBuffering(mix(3, 0)); !b.HasShare || math.Abs(b.Share-5680./6220) > 1e-12 {
		t.Errorf("median share %v, %v", b.Share, b.HasShare)
	}
}

// TestBufferingErrors counts false verdicts where either outcome of a comparison
// is as likely as the other, the worst case: looked at once the rate is below
// BufferAlpha; looked at on each of 180 days, some days must err.
func TestBufferingErrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 300))
	const pairs, days = 2000, 180
	once, looks, marks := 0, 0, 0
	for range pairs {
		var list []LengthContrast
		for d := range days {
			c := streamed
			if rng.IntN(2) == 0 {
				c = whole
			}
			list = append(list, c)
			held := JudgeBuffering(list).Verdict == BufferBuffered
			if d == BufferProbes-1 && held {
				once++
			}
			if looks++; held {
				marks++
			}
		}
	}
	if share := float64(once) / pairs; share > 1.5*BufferAlpha {
		t.Errorf("%.4f of pairs marked at one look, want about 0.0065", share)
	}
	if share := float64(marks) / float64(looks); share < .003 || share > BufferAlpha {
		t.Errorf("%.4f of days marked, want about 0.0065", share)
	}
}
