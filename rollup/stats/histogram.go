package stats

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Gamma is the ratio of neighbouring bucket bounds of a [Histogram]. It is part
// of the dataset's format.
const Gamma = 1.02

const (
	maxBucket = 4095    // 1.02^4095 is about 1.6e35, far beyond any rate or time
	maxCount  = 1 << 40 // far beyond any window, and no merging of such overflows
)

// ErrBadHistogram is wrapped by every error of [Histogram.UnmarshalBinary].
var ErrBadHistogram = errors.New("bad histogram")

// A Histogram counts positive values in buckets of constant relative width.
// Bucket i holds gamma^(i-1) < x <= gamma^i, that is i = ceil(ln x/ln gamma),
// and stands for 2 gamma^i/(gamma+1), which is within (gamma-1)/(gamma+1), or
// 0.99 %, of every x in it. Histograms of hours or days add up to the histogram
// of the window, which percentiles of percentiles do not.
//
// The zero value is empty and ready for use. Do not copy one that is still
// being added to.
//
// Source: Masson, Rim and Lee, "DDSketch: A Fast and Fully-Mergeable Quantile
// Sketch with Relative-Error Guarantees", PVLDB 12(12), 2019; same buckets and
// rank rule.
type Histogram struct {
	buckets []Bucket // ascending
	n       uint64
}

// A Bucket is one bucket of a [Histogram] that is not empty.
type Bucket struct {
	Index int
	N     uint64 // how many values it holds, at least 1
}

// Value returns the value that stands for all in the bucket, in their unit.
func (b Bucket) Value() float64 {
	return 2 * math.Pow(Gamma, float64(b.Index)) / (Gamma + 1)
}

// Add counts x. It reports false, and counts nothing, if x is not positive and
// finite, or outside 1e-35..1e35, which no rate or time is.
func (h *Histogram) Add(x float64) bool {
	if !(x > 0) || math.IsInf(x, 0) {
		return false
	}
	index := int(math.Ceil(math.Log(x) / math.Log(Gamma)))
	if index < -maxBucket || index > maxBucket || h.n >= maxCount {
		return false
	}
	at, found := slices.BinarySearchFunc(h.buckets, index, func(b Bucket, index int) int {
		return cmp.Compare(b.Index, index)
	})
	if !found {
		h.buckets = slices.Insert(h.buckets, at, Bucket{Index: index})
	}
	h.buckets[at].N++
	h.n++
	return true
}

// Merge adds the counts of other, which stays as it is. The order in which
// histograms are merged does not matter.
func (h *Histogram) Merge(other *Histogram) {
	if h.holds(other.buckets) { // as after some weeks of a year most do
		at := 0
		for _, b := range other.buckets {
			for h.buckets[at].Index < b.Index {
				at++
			}
			h.buckets[at].N += b.N
		}
		h.n += other.n
		return
	}
	merged := make([]Bucket, 0, len(h.buckets)+len(other.buckets))
	a, b := h.buckets, other.buckets
	for len(a) > 0 && len(b) > 0 {
		switch {
		case a[0].Index < b[0].Index:
			merged, a = append(merged, a[0]), a[1:]
		case a[0].Index > b[0].Index:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged = append(merged, Bucket{a[0].Index, a[0].N + b[0].N})
			a, b = a[1:], b[1:]
		}
	}
	h.buckets = append(append(merged, a...), b...)
	h.n += other.n
}

// holds reports whether h has each of buckets already.
func (h *Histogram) holds(buckets []Bucket) bool {
	rest := h.buckets
	for _, b := range buckets {
		for len(rest) > 0 && rest[0].Index < b.Index {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].Index != b.Index {
			return false
		}
	}
	return true
}

// N returns how many values were counted.
func (h *Histogram) N() uint64 { return h.n }

// Buckets returns the buckets that are not empty, in ascending order.
func (h *Histogram) Buckets() []Bucket { return slices.Clone(h.buckets) }

// Quantile returns the value of the bucket that holds the value of 0-based rank
// floor(q(n-1)): within 1 % of the lower neighbour that [Quantile] would
// interpolate from. It reports false for an empty histogram or q outside [0, 1].
func (h *Histogram) Quantile(q float64) (float64, bool) {
	if h.n == 0 || !(q >= 0 && q <= 1) {
		return 0, false
	}
	rank := uint64(q * float64(h.n-1))
	var seen uint64
	for _, b := range h.buckets {
		if seen += b.N; seen > rank {
			return b.Value(), true
		}
	}
	panic("histogram: n is not the sum of its buckets")
}

// MarshalBinary returns the dataset's form: for each bucket in ascending order
// the unsigned varint of gap<<1|many, and, if many is 1, the varint of n-2,
// where gap is the distance from the bucket before (from 0 for the first) and
// many says that n > 1. A first bucket below 0 is written in 64-bit two's
// complement. An empty histogram has no bytes. Equal histograms have equal
// bytes. It never fails; the error is encoding.BinaryMarshaler's.
func (h *Histogram) MarshalBinary() ([]byte, error) {
	var data []byte
	previous := 0
	for _, b := range h.buckets {
		key := uint64(int64(b.Index-previous)) << 1
		if b.N == 1 {
			data = binary.AppendUvarint(data, key)
		} else {
			data = binary.AppendUvarint(data, key|1)
			data = binary.AppendUvarint(data, b.N-2)
		}
		previous = b.Index
	}
	return data, nil
}

// UnmarshalBinary replaces h by the histogram that data is the
// [Histogram.MarshalBinary] of. It accepts only that form: buckets ascend and
// lie in the range of [Histogram.Add], varints are no longer than needed, and
// nothing follows. Its memory is bounded by 16 times the length of data. On an
// error, which wraps [ErrBadHistogram], h is left as it was.
func (h *Histogram) UnmarshalBinary(data []byte) error {
	var decoded Histogram
	previous := 0
	for offset := 0; offset < len(data); {
		key, size, err := uvarint(data[offset:])
		if err != nil {
			return fmt.Errorf("%w: bucket at byte %d: %w", ErrBadHistogram, offset, err)
		}
		gap := int64(key) >> 1
		if gap < -maxBucket || gap > 2*maxBucket || (offset > 0 && gap < 1) {
			return fmt.Errorf("%w: gap of %d at byte %d", ErrBadHistogram, gap, offset)
		}
		bucket := Bucket{Index: previous + int(gap), N: 1}
		if bucket.Index > maxBucket {
			return fmt.Errorf("%w: bucket %d at byte %d", ErrBadHistogram, bucket.Index, offset)
		}
		offset += size
		if key&1 == 1 {
			more, size, err := uvarint(data[offset:])
			if err != nil {
				return fmt.Errorf("%w: count at byte %d: %w", ErrBadHistogram, offset, err)
			}
			if more > maxCount {
				return fmt.Errorf("%w: count at byte %d is above 2^40", ErrBadHistogram, offset)
			}
			bucket.N = more + 2
			offset += size
		}
		if decoded.n += bucket.N; decoded.n > maxCount {
			return fmt.Errorf("%w: more than 2^40 values", ErrBadHistogram)
		}
		decoded.buckets = append(decoded.buckets, bucket)
		previous = bucket.Index
	}
	*h = decoded
	return nil
}

var (
	errTruncated = errors.New("varint is cut short")
	errTooLong   = errors.New("varint is longer than its value needs")
)

// uvarint is [binary.Uvarint] that refuses padded forms, so that one histogram
// has one encoding.
func uvarint(data []byte) (value uint64, size int, err error) {
	value, size = binary.Uvarint(data)
	switch {
	case size == 0:
		return 0, 0, errTruncated
	case size < 0 || size > 1 && data[size-1] == 0:
		return 0, 0, errTooLong
	}
	return value, size, nil
}

// MarshalJSON returns the form of the published file, [[bucket,n],...], which
// SQLite's json_each can merge. It never fails; the error is json.Marshaler's.
func (h *Histogram) MarshalJSON() ([]byte, error) {
	data := []byte{'['}
	for i, b := range h.buckets {
		if i > 0 {
			data = append(data, ',')
		}
		data = strconv.AppendInt(append(data, '['), int64(b.Index), 10)
		data = strconv.AppendUint(append(data, ','), b.N, 10)
		data = append(data, ']')
	}
	return append(data, ']'), nil
}
