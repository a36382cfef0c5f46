package histogram

import (
	"math"
	"math/bits"
	"sync/atomic"
)

// Buckets is the number of buckets: one for 0, and one for each bit length of a value.
const Buckets = 65

// Histogram counts values. The zero value is empty.
type Histogram struct {
	counts [Buckets]atomic.Uint64
	sum    atomic.Uint64
}

// Observe counts n values equal to v.
func (h *Histogram) Observe(v uint64, n uint64) {
	h.counts[bits.Len64(v)].Add(n)
	h.sum.Add(v * n)
}

// Snapshot holds the counts of a histogram at one moment. Snapshots may be added.
type Snapshot struct {
	Counts [Buckets]uint64 // by bit length: bucket i has the values below 1<<i that are not in an earlier bucket
	Sum    uint64          // of all values
}

// Read returns the counts. Values observed meanwhile may be in Counts but not yet in Sum.
func (h *Histogram) Read() (s Snapshot) {
	for i := range h.counts {
		s.Counts[i] = h.counts[i].Load()
	}
	s.Sum = h.sum.Load()
	return s
}

// Add adds the counts of another histogram.
func (s *Snapshot) Add(o *Snapshot) {
	for i := range s.Counts {
		s.Counts[i] += o.Counts[i]
	}
	s.Sum += o.Sum
}

// Count returns the number of values.
func (s *Snapshot) Count() (n uint64) {
	for _, c := range s.Counts {
		n += c
	}
	return n
}

// UpTo returns the number of values below 1<<length.
func (s *Snapshot) UpTo(length int) (n uint64) {
	for _, c := range s.Counts[:min(length+1, Buckets)] {
		n += c
	}
	return n
}

// Since returns what was counted after an earlier Read of the same histogram.
func (s *Snapshot) Since(before *Snapshot) (d Snapshot) {
	for i := range s.Counts {
		d.Counts[i] = s.Counts[i] - before.Counts[i]
	}
	d.Sum = s.Sum - before.Sum
	return d
}

// Quantile returns a value that the given share (0 to 1) of all values does not exceed, assuming
// that the values of a bucket are spread evenly over it. It is 0 if nothing was counted.
func (s *Snapshot) Quantile(share float64) float64 {
	want := share * float64(s.Count())
	var below float64
	for i, c := range s.Counts {
		n := float64(c)
		if n == 0 || below+n < want {
			below += n
			continue
		}
		if i == 0 {
			return 0
		}
		low := math.Ldexp(1, i-1)
		return low + low*(want-below)/n
	}
	return 0
}
