package stream

import (
	"math"
	"testing"

	"fiveways.dev/fiveways/internal/core/queue"
)

// TestExcess checks what is kept of entries of 10 bytes with the times 1000, 2000 … 5000.
func TestExcess(t *testing.T) {
	var messages queue.State
	var s Stream
	if before := s.Excess(&messages.Deliveries, 0, 1, math.MaxInt64); before != 0 || s.NextPast(1) != math.MaxInt64 {
		t.Errorf("of nothing %d goes", before)
	}
	var handles []queue.Handle
	for i := range uint64(5) {
		h := messages.Publish(&queue.Item{Size: 10, Index: 1, Sub: uint32(i)})
		s.Add(ID{Ms: 1000 * (i + 1)}, h)
		handles = append(handles, h)
	}
	for _, c := range []struct {
		bytes, age, now int64
		gone            int // number of removed entries
	}{
		{-1, 0, math.MaxInt64, 0},
		{50, 0, 0, 0}, {49, 0, 0, 1}, {30, 0, 0, 2}, {10, 0, 0, 4}, {0, 0, 0, 4},
		{-1, 1000, 2000, 0}, {-1, 1000, 2001, 1}, {-1, 1000, 4500, 3}, {-1, 1000, 9000, 5}, {-1, 1000, 500, 0},
		{30, 1000, 2001, 2}, {30, 1000, 4500, 3}, {0, 1000, 9000, 5},
	} {
		want := queue.Handle(0)
		if c.gone > 0 {
			want = handles[c.gone-1] + 1
		}
		if before := s.Excess(&messages.Deliveries, c.bytes, c.age, c.now); before != want {
			t.Errorf("%+v: entries before %d go, want %d", c, before, want)
		}
	}
	if at := s.NextPast(500); at != 1501 || s.NextPast(0) != math.MaxInt64 {
		t.Errorf("the first is past at %d", at)
	}
	s.Add(MaxID, 99)
	s.Trim(99)
	if at := s.NextPast(500); at != math.MaxInt64 || s.Excess(&messages.Deliveries, -1, 1, math.MaxInt64) != 0 {
		t.Errorf("the last id is past at %d", at)
	}
}
