package latency

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestBucketHoldsItsValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := uint64(rapid.Int64Range(0, 1<<62).Draw(t, "v")) >> rapid.IntRange(0, 61).Draw(t, "shift")
		i := bucket(v)
		if upper(i) < v || i > 0 && upper(i-1) >= v {
			t.Fatalf("%d went to bucket %d, which ends at %d after %d", v, i, upper(i), upper(i-1))
		}
		if over := upper(i) - v; float64(over) > float64(v)/(1<<subBits) {
			t.Fatalf("bucket of %d ends at %d: too wide", v, upper(i))
		}
	})
}

func TestLargestDurationFits(t *testing.T) {
	var h Histogram
	h.Record(1<<63 - 1)
	if got := h.Quantile(1); got != 1<<63-1 {
		t.Fatalf("got %d", got)
	}
}

func TestQuantilesAgainstSorting(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	var a, b Histogram // merged below, like two connections
	var all []time.Duration
	for i := range 20_000 {
		d := time.Duration(rng.ExpFloat64() * float64(time.Millisecond))
		all = append(all, d)
		if i%3 == 0 {
			a.Record(d)
		} else {
			b.Record(d)
		}
	}
	a.Merge(&b)
	slices.Sort(all)
	for _, q := range []float64{0.5, 0.9, 0.99, 0.999, 1} {
		exact := all[int(q*float64(len(all))+0.5)-1]
		got := a.Quantile(q)
		if got < exact || got > exact+exact/(1<<subBits)+1 {
			t.Errorf("q=%v: got %v, exactly %v", q, got, exact)
		}
	}
	if a.Max() != all[len(all)-1] || a.Count() != uint64(len(all)) {
		t.Errorf("max %v, count %d", a.Max(), a.Count())
	}
}

func TestEmptyAndNegative(t *testing.T) {
	var h Histogram
	if h.Quantile(0.5) != 0 {
		t.Error("an empty histogram has a median")
	}
	h.Record(-time.Second)
	if h.Count() != 1 || h.Quantile(1) != 0 {
		t.Errorf("negative: count %d, max %v", h.Count(), h.Quantile(1))
	}
}

func BenchmarkRecord(b *testing.B) {
	var h Histogram
	for i := range b.N {
		h.Record(time.Duration(i))
	}
}
