package bench

import (
	"testing"
	"time"
)

func TestNoise(t *testing.T) {
	const ms, us = time.Millisecond, time.Microsecond
	delayed := func(delays ...time.Duration) (reads []Read) {
		for i, d := range delays {
			at := time.Duration(i+1) * time.Second
			reads = append(reads, Read{Kernel: at, User: at + d})
		}
		return reads
	}
	quiet := delayed(30*us, 40*us, 50*us)
	tests := []struct {
		name  string
		load  Noise
		reads []Read
		p50   time.Duration
		max   time.Duration
		noisy bool
	}{
		{"quiet", Noise{}, quiet, 40 * us, 50 * us, false},
		{"no kernel stamps", Noise{}, []Read{{User: 5}}, 0, 0, false},
		{"one late read", Noise{}, delayed(30*us, 40*us, 49*ms), 40 * us, 49 * ms, false},
		{"one very late read", Noise{}, delayed(30*us, 40*us, 51*ms), 40 * us, 51 * ms, true},
		{"all a little late", Noise{}, delayed(1*ms, 2*ms, 3*ms), 2 * ms, 3 * ms, true},
		{"some pressure", Noise{CPUPressure: 0.5}, quiet, 40 * us, 50 * us, false},
		{"much pressure", Noise{CPUPressure: 0.51}, quiet, 40 * us, 50 * us, true},
		{"switches alone", Noise{Involuntary: 1000}, quiet, 40 * us, 50 * us, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.load.judge(tt.reads)
			if got.DelayP50 != tt.p50 || got.DelayMax != tt.max || got.Noisy != tt.noisy {
				t.Errorf("%+v; want p50 %v, max %v, noisy %v", got, tt.p50, tt.max, tt.noisy)
			}
			if got.Involuntary != tt.load.Involuntary || got.CPUPressure != tt.load.CPUPressure {
				t.Errorf("%+v lost what the system told: %+v", got, tt.load)
			}
		})
	}
}

func TestLoadSince(t *testing.T) {
	before := load{involuntary: 10, waited: 2 * time.Second, hasWaited: true}
	tests := []struct {
		name  string
		after load
		d     time.Duration
		want  Noise
	}{
		{"usual", load{14, 3 * time.Second, true}, 4 * time.Second, Noise{Involuntary: 4, CPUPressure: 0.25}},
		{"more than all", load{14, 30 * time.Second, true}, 4 * time.Second, Noise{Involuntary: 4, CPUPressure: 1}},
		{"not told", load{14, 0, false}, 4 * time.Second, Noise{Involuntary: 4}},
		{"no time", load{10, 3 * time.Second, true}, 0, Noise{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.after.since(before, tt.d); got != tt.want {
				t.Errorf("%+v; want %+v", got, tt.want)
			}
		})
	}
}
