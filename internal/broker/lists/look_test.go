package lists

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestLooksAreBounded: what a command shows or takes at once fits into the memory, however much is
// on disk.
func TestLooksAreBounded(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.MemoryLimit = 1 << 20 })
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	body := make([]byte, 400<<10) // of these two fit
	enginetest.Must(t, c.Do(&Push{OnQueue: enginetest.On("list"), Create: true, Bodies: [][]byte{body, body, body, body, make([]byte, 5<<20)}}))
	for _, tc := range []struct {
		first, last, want int // -1: too large
	}{{0, 1, 2}, {0, 2, -1}, {0, -1, -1}, {-1, -1, 1}, {1, 2, 2}} {
		r := &Range{OnQueue: enginetest.On("list"), First: tc.first, Last: tc.last}
		enginetest.Must(t, c.Do(r))
		if tc.want < 0 && !errors.Is(r.Err, failure.ErrTooLarge) || tc.want >= 0 && (r.Err != nil || len(r.Bodies) != tc.want) {
			t.Errorf("%+v: %d, %v", tc, len(r.Bodies), r.Err)
		}
	}
	for _, want := range []int{3, 2} { // the last message of a Pop may be larger
		p := &Pop{OnQueue: enginetest.On("list"), Max: 100}
		enginetest.Must(t, c.Do(p))
		if len(p.Bodies) != want || p.Err != nil {
			t.Errorf("%d at once, %v", len(p.Bodies), p.Err)
		}
	}
}
