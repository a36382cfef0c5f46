package broker

import (
	"errors"
	"strings"
	"testing"

	"fiveways/internal/storage/vfs"
)

// TestLooksAreBounded: what a command shows or takes at once fits into the memory, however much is
// on disk.
func TestLooksAreBounded(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	b.lookBytes = 1000
	c := newClient(t, b)
	body := []byte(strings.Repeat("x", 400))
	must(t, c.Do(&Push{OnQueue: on("list"), Create: true, Bodies: [][]byte{body, body, body, body, make([]byte, 5000)}}))
	for _, tc := range []struct {
		first, last, want int // -1: too large
	}{{0, 1, 2}, {0, 2, -1}, {0, -1, -1}, {-1, -1, 1}, {1, 2, 2}} {
		r := &Range{OnQueue: on("list"), First: tc.first, Last: tc.last}
		must(t, c.Do(r))
		if tc.want < 0 && !errors.Is(r.Err, ErrTooLarge) || tc.want >= 0 && (r.Err != nil || len(r.Bodies) != tc.want) {
			t.Errorf("%+v: %d, %v", tc, len(r.Bodies), r.Err)
		}
	}

	for _, want := range []int{3, 2} { // the last one of a row may be larger
		p := &Pop{OnQueue: on("list"), Max: 100}
		must(t, c.Do(p))
		if len(p.Bodies) != want || p.Err != nil {
			t.Errorf("%d at once, %v", len(p.Bodies), p.Err)
		}
	}
}
