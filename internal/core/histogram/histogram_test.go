package histogram

import (
	"math"
	"sync"
	"testing"
)

func TestSnapshot(t *testing.T) {
	var h Histogram
	for v, n := range map[uint64]uint64{0: 1, 1: 2, 3: 3, 1000: 4, math.MaxUint64: 0} {
		h.Observe(v, n)
	}
	s := h.Read()
	if s.Count() != 10 || s.Sum != 1*2+3*3+1000*4 {
		t.Errorf("count %d, sum %d", s.Count(), s.Sum)
	}
	for length, want := range map[int]uint64{0: 1, 1: 3, 2: 6, 9: 6, 10: 10, 64: 10, 99: 10} {
		if got := s.UpTo(length); got != want {
			t.Errorf("up to %d bits: %d, want %d", length, got, want)
		}
	}
	for share, want := range map[float64]float64{0: 0, 0.1: 0, 0.2: 1.5, 0.3: 2, 0.6: 4, 0.7: 640, 1: 1024} {
		if got := s.Quantile(share); math.Abs(got-want) > 1e-9*want {
			t.Errorf("quantile %v: %v, want %v", share, got, want)
		}
	}
	before := s
	h.Observe(5, 1)
	later := h.Read()
	if d := later.Since(&before); d.Count() != 1 || d.Sum != 5 || d.Quantile(1) != 8 {
		t.Errorf("since then %+v", d)
	}
	var sum, empty Snapshot
	sum.Add(&s)
	sum.Add(&s)
	if sum.Count() != 20 || sum.Sum != 2*s.Sum || empty.Quantile(0.5) != 0 {
		t.Errorf("added: %d, %d", sum.Count(), sum.Sum)
	}
}

func TestObserveFromSeveral(t *testing.T) {
	var h Histogram
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for v := range uint64(1000) {
				h.Observe(v, 2)
			}
		})
	}
	wg.Wait()
	if s := h.Read(); s.Count() != 8000 || s.Sum != 8*999*1000/2 {
		t.Errorf("%d, %d", s.Count(), s.Sum)
	}
}
