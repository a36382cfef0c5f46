// Package latency records durations in a histogram and computes percentiles, for the benchmark
// clients.
package latency

import (
	"math/bits"
	"time"
)

// subBits fixes the precision: within a power of two there are 2^subBits buckets, so a percentile
// is at most 1/128 (0.8 %) too high.
const subBits = 7

// Histogram counts durations in buckets of constant relative width, from 1 ns to over 9 years, in
// constant memory. The zero value is empty. It is not safe for concurrent use: every connection has
// its own, merged at the end.
type Histogram struct {
	counts [(64 - subBits) << subBits]uint64
	total  uint64
	max    time.Duration
}

// Record counts d. A negative d, which a clock step could cause, counts as zero.
func (h *Histogram) Record(d time.Duration) {
	d = max(d, 0)
	h.counts[bucket(uint64(d))]++
	h.total++
	h.max = max(h.max, d)
}

// Merge adds the counts of other.
func (h *Histogram) Merge(other *Histogram) {
	for i, n := range other.counts {
		h.counts[i] += n
	}
	h.total += other.total
	h.max = max(h.max, other.max)
}

// Count returns the number of recorded durations.
func (h *Histogram) Count() uint64 { return h.total }

// Max returns the exact maximum of the recorded durations.
func (h *Histogram) Max() time.Duration { return h.max }

// Quantile returns a duration that at least the fraction q (0 to 1) of the records does not exceed,
// or 0 if there are no records.
func (h *Histogram) Quantile(q float64) time.Duration {
	rank := uint64(q*float64(h.total) + 0.5)
	rank = min(max(rank, 1), h.total)
	seen := uint64(0)
	for i, n := range h.counts {
		seen += n
		if n > 0 && seen >= rank {
			return min(time.Duration(upper(i)), h.max)
		}
	}
	return 0
}

// Micros returns the quantile q in microseconds.
func (h *Histogram) Micros(q float64) float64 {
	return float64(h.Quantile(q)) / float64(time.Microsecond)
}

// Millis returns the quantile q in milliseconds.
func (h *Histogram) Millis(q float64) float64 {
	return float64(h.Quantile(q)) / float64(time.Millisecond)
}

// bucket maps small values to themselves, and larger ones to their exponent and the subBits bits
// after the leading one.
func bucket(v uint64) int {
	if v < 1<<subBits {
		return int(v)
	}
	shift := bits.Len64(v) - subBits - 1
	return shift<<subBits + int(v>>shift)
}

// upper returns the largest value of bucket i.
func upper(i int) uint64 {
	if i < 2<<subBits {
		return uint64(i)
	}
	shift := i>>subBits - 1
	return uint64(i-shift<<subBits+1)<<shift - 1
}
