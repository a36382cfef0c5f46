package worker

import (
	"slices"
	"sync"
	"time"
)

// Summary describes the distribution of values. Count and Sum include all values, the other fields
// only the last 1,024.
type Summary[N int | time.Duration] struct {
	Count                         int64
	Sum                           N
	Min, Max, Mean, P50, P95, P99 N
}

const window = 1024

// samples collects values for a Summary.
type samples[N int | time.Duration] struct {
	mu    sync.Mutex
	count int64
	sum   N
	last  []N // a ring of window values: the next index is count % window
}

func (s *samples[N]) add(v N) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.last) < window {
		s.last = append(s.last, v)
	} else {
		s.last[s.count%window] = v
	}
	s.count++
	s.sum += v
}

func (s *samples[N]) summary() Summary[N] {
	s.mu.Lock()
	sum := Summary[N]{Count: s.count, Sum: s.sum}
	last := slices.Clone(s.last)
	s.mu.Unlock()
	if len(last) == 0 {
		return sum
	}
	slices.Sort(last)
	// The nearest rank: the smallest value that is not exceeded by at least this percentage of
	// values.
	at := func(percent int) N { return last[(len(last)*percent+99)/100-1] }
	var total float64
	for _, v := range last {
		total += float64(v)
	}
	sum.Min, sum.Max, sum.Mean = last[0], last[len(last)-1], N(total/float64(len(last)))
	sum.P50, sum.P95, sum.P99 = at(50), at(95), at(99)
	return sum
}
