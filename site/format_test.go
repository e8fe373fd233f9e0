package site

import (
	"math"
	"testing"
	"time"
)

func TestSignificant(t *testing.T) {
	check := func(v float64, want string) {
		t.Helper()
		if got := significant(v, 3); got != want {
			t.Errorf("significant(%v, 3) = %q; want %q", v, got, want)
		}
	}
	check(211.4, "211")
	check(84.26, "84.3")
	check(9.066, "9.07")
	check(9.996, "10.0") // rounding up a decade loses a decimal, not a digit
	check(99.96, "100")
	check(0.04, "0.0400")
	check(0, "0")
	check(1234.5, "1,230")
	check(-1234567, "−1,230,000")
	check(math.NaN(), "—")
	check(math.Inf(1), "—")
}

func TestLatency(t *testing.T) {
	for _, tt := range []struct {
		ms   float64
		want string
	}{{165.2, "165 ms"}, {9.4, "9 ms"}, {999.4, "999 ms"}, {999.6, "1.00 s"}, {1180, "1.18 s"}, {12340, "12.3 s"}} {
		if got := latency(tt.ms); got != tt.want {
			t.Errorf("latency(%v) = %q; want %q", tt.ms, got, tt.want)
		}
	}
}

func TestPercentNeverClaimsPerfection(t *testing.T) {
	for _, tt := range []struct {
		share float64
		want  string
	}{{1, "100"}, {0.9999, "99.9"}, {0.995, "99.5"}, {0.00001, "0.1"}, {0, "0"}, {0.5, "50.0"}, {0.99, "99.0"}} {
		if got := percent(tt.share); got != tt.want {
			t.Errorf("percent(%v) = %q; want %q", tt.share, got, tt.want)
		}
	}
}

func TestAge(t *testing.T) {
	for _, tt := range []struct {
		d    time.Duration
		want string
	}{{30 * time.Second, "now"}, {4 * time.Minute, "4 min"}, {47 * time.Hour, "47 h"}, {50 * time.Hour, "2 d"}} {
		if got := age(tt.d); got != tt.want {
			t.Errorf("age(%v) = %q; want %q", tt.d, got, tt.want)
		}
	}
}
