package broker

import (
	"errors"
	"strings"
	"testing"

	"fiveways/internal/core/stream"
	"fiveways/internal/storage/vfs"
)

// TestLooksAreBounded: what a command shows or takes at once fits into the memory, however much is on disk.
func TestLooksAreBounded(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	b.lookBytes = 1000
	c := newClient(t, b)
	body := []byte(strings.Repeat("x", 400))
	must(t, c.Do(&Push{OnQueue: on("list"), Create: true, Bodies: [][]byte{body, body, body, body, make([]byte, 5000)}}))
	for range 4 {
		add := &StreamAdd{Create: true, Properties: bareProps, Body: body}
		add.Queue = "stream"
		must(t, c.Do(add))
		must(t, add.Err)
	}
	for _, tc := range []struct {
		first, last, want int // -1: too large
	}{{0, 1, 2}, {0, 2, -1}, {0, -1, -1}, {-1, -1, 1}, {1, 2, 2}} {
		r := &Range{OnQueue: on("list"), First: tc.first, Last: tc.last}
		must(t, c.Do(r))
		if tc.want < 0 && !errors.Is(r.Err, ErrTooLarge) || tc.want >= 0 && (r.Err != nil || len(r.Bodies) != tc.want) {
			t.Errorf("%+v: %d, %v", tc, len(r.Bodies), r.Err)
		}
	}

	all, two, behind := &StreamRange{To: stream.MaxID}, &StreamRange{To: stream.MaxID, Max: 2, Back: true}, &StreamRead{}
	group, fresh, again := &GroupSet{Read: stream.Unknown}, &GroupRead{Consumer: "c"}, &GroupRead{Consumer: "c", History: true}
	for _, o := range []*OnStream{&all.OnStream, &two.OnStream, &behind.OnStream, &group.OnStream, &fresh.OnStream, &again.OnStream} {
		o.Queue = "stream"
	}
	group.Group, fresh.Group, again.Group = "g", "g", "g"
	must(t, c.Do(all, two, behind, group, fresh, again))
	if !errors.Is(all.Err, ErrTooLarge) || len(two.Entries) != 2 || len(behind.Entries) != 2 {
		t.Errorf("range %v, %d, read %d", all.Err, len(two.Entries), len(behind.Entries))
	}
	if len(fresh.Entries) != 3 || len(again.Entries) != 3 || again.Entries[2].Env == nil {
		t.Errorf("a group gives %d, again %d", len(fresh.Entries), len(again.Entries))
	}

	for _, want := range []int{3, 2} { // the last one of a row may be larger
		p := &Pop{OnQueue: on("list"), Max: 100}
		must(t, c.Do(p))
		if len(p.Bodies) != want || p.Err != nil {
			t.Errorf("%d at once, %v", len(p.Bodies), p.Err)
		}
	}
}
