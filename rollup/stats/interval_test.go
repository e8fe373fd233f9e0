package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat"
)

// binomialCDF returns P(B <= k) for B ~ Bin(n, num/den) and every k from 0 to n,
// in exact fractions.
func binomialCDF(n int, num, den int64) []*big.Rat {
	p, q := big.NewInt(num), big.NewInt(den-num)
	power := func(x *big.Int, n int) *big.Int {
		return new(big.Int).Exp(x, big.NewInt(int64(n)), nil)
	}
	whole := power(big.NewInt(den), n)
	sum := new(big.Int)
	cdf := make([]*big.Rat, n+1)
	for k := range cdf {
		term := new(big.Int).Binomial(int64(n), int64(k))
		term.Mul(term, power(p, k))
		sum.Add(sum, term.Mul(term, power(q, n-k)))
		cdf[k] = new(big.Rat).SetFrac(sum, whole)
	}
	return cdf
}

// TestOrderIntervalExact finds the ranks by their definition, in fractions.
func TestOrderIntervalExact(t *testing.T) {
	for _, q := range []struct{ num, den int64 }{{1, 2}, {1, 10}, {9, 10}, {19, 20}} {
		for n := 1; n <= 100; n++ {
			cdf := binomialCDF(n, q.num, q.den)
			lo, hi := 0, 0
			coverage := big.NewRat(1, 1)
			for rank := 1; rank <= n; rank++ {
				if cdf[rank-1].Cmp(big.NewRat(25, 1000)) <= 0 {
					lo = rank
				} else if hi == 0 && cdf[rank-1].Cmp(big.NewRat(975, 1000)) >= 0 {
					hi = rank
				}
			}
			if hi > 0 {
				coverage.Set(cdf[hi-1])
			}
			if lo > 0 {
				coverage.Sub(coverage, cdf[lo-1])
			}
			want, _ := coverage.Float64()
			got, ok := NewOrderInterval(n, float64(q.num)/float64(q.den), 0.95)
			if !ok || got.LoRank != lo || got.HiRank != hi || !near(got.Coverage, want, 1e-12) {
				t.Errorf("n %d, q %d/%d: got %+v, %v; want ranks %d..%d, coverage %v", n, q.num, q.den, got, ok, lo, hi, want)
			}
		}
	}
}

func TestOrderIntervalEnds(t *testing.T) {
	sorted := []float64{10, 20, 30, 40, 50, 60}
	o, _ := NewOrderInterval(6, 0.5, 0.95)
	lo, ok1 := o.Lo(sorted)
	hi, ok2 := o.Hi(sorted)
	if lo != 10 || hi != 60 || !ok1 || !ok2 {
		t.Errorf("ends = %v, %v, %v, %v; want 10, 60", lo, ok1, hi, ok2)
	}
	o, _ = NewOrderInterval(5, 0.5, 0.95)
	if _, ok := o.Lo(sorted[:5]); ok {
		t.Error("five values bound their median from below")
	}
	if _, ok := o.Hi(sorted[:5]); ok {
		t.Error("five values bound their median from above")
	}
	for _, bad := range []struct {
		n             int
		q, confidence float64
	}{{0, 0.5, 0.95}, {5, 0, 0.95}, {5, 1, 0.95}, {5, 0.5, 1}, {5, 0.5, 0}, {5, math.NaN(), 0.95}} {
		if o, ok := NewOrderInterval(bad.n, bad.q, bad.confidence); ok {
			t.Errorf("NewOrderInterval%v = %+v", bad, o)
		}
	}
}

// TestWilsonPublished takes its values from Newcombe, "Two-sided confidence
// intervals for the single proportion", Statistics in Medicine 17, 1998, table I.
func TestWilsonPublished(t *testing.T) {
	tests := []struct{ k, n, lo, hi float64 }{
		{81, 263, 0.2553, 0.3662}, {15, 148, 0.0624, 0.1605}, {0, 20, 0, 0.1611}, {1, 29, 0.0061, 0.1718},
	}
	for _, tt := range tests {
		got, ok := Wilson(tt.k, tt.n, Z95)
		if !ok || math.Abs(got.Lo-tt.lo) > 5e-5 || math.Abs(got.Hi-tt.hi) > 5e-5 {
			t.Errorf("Wilson(%v, %v) = %v, %v; want %v..%v", tt.k, tt.n, got, ok, tt.lo, tt.hi)
		}
	}
	for _, bad := range [][2]float64{{0, 0}, {-1, 5}, {6, 5}, {math.NaN(), 5}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if got, ok := Wilson(bad[0], bad[1], Z95); ok {
			t.Errorf("Wilson%v = %v", bad, got)
		}
	}
}

func TestWilsonMirrors(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		n := 0.5 + 500*rng.Float64()
		k := n * rng.Float64()
		a, _ := Wilson(k, n, Z95)
		b, _ := Wilson(n-k, n, Z95)
		if !(a.Lo <= k/n && k/n <= a.Hi) || !near(a.Lo, 1-b.Hi, 1e-9) || !near(a.Hi, 1-b.Lo, 1e-9) {
			t.Fatalf("Wilson(%v, %v) = %v, of the failures %v", k, n, a, b)
		}
	}
}

func TestHourBucket(t *testing.T) {
	ones := make([]float64, 24)
	for i := range ones {
		ones[i] = 1
	}
	b, ok := NewHourBucket(ones, 144, Z95)
	if raw, _ := Wilson(144, 144, Z95); !ok || b.NEff != 144 || b.Lag1 != nil || b.Interval != raw {
		t.Errorf("without failures: %+v, %v; want Wilson's of all runs and no autocorrelation", b, ok)
	}

	// Six bad hours in one outage tell less than six scattered ones.
	outage, scattered := append([]float64(nil), ones...), append([]float64(nil), ones...)
	for i := range 6 {
		outage[9+i] = 0
		scattered[4*i] = 0
	}
	one, _ := NewHourBucket(outage, 144, Z95)
	six, _ := NewHourBucket(scattered, 144, Z95)
	if !(one.NEff < six.NEff) || !(six.NEff <= 144) || one.Rate != six.Rate {
		t.Errorf("n_eff in one outage %v, scattered %v", one.NEff, six.NEff)
	}
	if !(*one.Lag1 > 0.5) || !(*six.Lag1 < 0) {
		t.Errorf("lag-1 autocorrelation in one outage %v, scattered %v", *one.Lag1, *six.Lag1)
	}

	// Worked by hand: rates 1, 0 have s² 1/2, r -1/2, so var 1/4 and n_eff 1.
	b, ok = NewHourBucket([]float64{1, 0}, 12, Z95)
	if !ok || b.NEff != 1 || *b.Lag1 != -0.5 || b.Rate != 0.5 {
		t.Errorf("NewHourBucket(1, 0) = %+v, %v", b, ok)
	}
	for _, bad := range [][]float64{nil, {1}, {1, 1.5}, {1, math.NaN()}} {
		if b, ok := NewHourBucket(bad, 10, Z95); ok {
			t.Errorf("NewHourBucket(%v) = %+v", bad, b)
		}
	}
	if _, ok := NewHourBucket(ones, 0, Z95); ok {
		t.Error("NewHourBucket of no runs = true")
	}
}

// TestScore uses printed t tables (two-sided 95 and 99 %) and gonum's moments.
func TestScore(t *testing.T) {
	tables := []struct {
		days       int
		confidence float64
		t          float64
	}{{5, 0.95, 2.776445}, {7, 0.95, 2.446912}, {7, 0.99, 3.707428}, {28, 0.99, 2.770683}}
	rng := rand.New(rand.NewPCG(7, 8))
	var student Student
	for _, table := range tables {
		medians := draw(rng, table.days)
		var logs []float64
		for _, m := range medians {
			logs = append(logs, math.Log(m))
		}
		mu, sd := stat.MeanStdDev(logs, nil)
		half := table.t * sd / math.Sqrt(float64(table.days))
		got, ok := NewScore(medians, table.confidence)
		if !ok || got.Days != table.days || !near(got.Value, math.Exp(mu), 1e-12) ||
			!near(got.Interval.Lo, math.Exp(mu-half), 1e-5) || !near(got.Interval.Hi, math.Exp(mu+half), 1e-5) {
			t.Errorf("NewScore of %d days = %+v, %v; want %v, %v..%v", table.days, got, ok, math.Exp(mu), math.Exp(mu-half), math.Exp(mu+half))
		}
		if other, _ := NewScore(shuffled(rng, medians), table.confidence); other != got {
			t.Errorf("NewScore in another order = %+v; want %+v", other, got)
		}
		for range 2 { // which is when it remembers
			if again, ok := student.Score(medians, table.confidence); !ok || again != got {
				t.Errorf("Student.Score = %+v, %v; want %+v", again, ok, got)
			}
		}
	}
}

func TestScoreUndefined(t *testing.T) {
	for _, medians := range [][]float64{
		nil, {60, 61, 62, 63}, {60, 61, 62, 63, 0}, {60, 61, 62, 63, -1}, {60, 61, 62, 63, math.NaN()}, {60, 61, 62, 63, math.Inf(1)},
	} {
		if got, ok := NewScore(medians, 0.95); ok {
			t.Errorf("NewScore(%v) = %+v", medians, got)
		}
	}
	if _, ok := NewScore([]float64{1, 2, 3, 4, 5}, 1); ok {
		t.Error("NewScore at certainty = true")
	}
}

func TestBelow(t *testing.T) {
	if (Interval{1, 2}).Below(Interval{2, 3}) {
		t.Error("touching intervals separate")
	}
	if !(Interval{1, 2}).Below(Interval{2.1, 3}) {
		t.Error("separate intervals do not separate")
	}
}
