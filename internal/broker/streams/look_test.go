package streams

import (
	"bytes"
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestLooksAreBounded: what a command gives out at once fits into the memory, however much is on
// disk. Of these entries two fit.
func TestLooksAreBounded(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), func(o *broker.Options) { o.MemoryLimit = 1 << 20 })
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	body := bytes.Repeat([]byte("x"), 400<<10)
	for range 4 {
		c.MustDo(&Add{OnStream: onStream("s"), Create: true, Properties: bareProps, Body: body})
	}
	all, two, behind := &Range{To: stream.MaxID}, &Range{To: stream.MaxID, Max: 2, Back: true}, &Read{}
	group, fresh, again := &GroupSet{Read: stream.Unknown}, &GroupRead{Consumer: "c"}, &GroupRead{Consumer: "c", History: true}
	for _, o := range []*OnStream{&all.OnStream, &two.OnStream, &behind.OnStream, &group.OnStream, &fresh.OnStream, &again.OnStream} {
		o.Queue = "s"
	}
	group.Group, fresh.Group, again.Group = "g", "g", "g"
	enginetest.Must(t, c.Do(all, two, behind, group, fresh, again))
	if !errors.Is(all.Err, failure.ErrTooLarge) || len(two.Entries) != 2 || len(behind.Entries) != 2 {
		t.Errorf("range %v, %d, read %d", all.Err, len(two.Entries), len(behind.Entries))
	}
	if len(fresh.Entries) != 3 || len(again.Entries) != 3 || again.Entries[2].Env == nil {
		t.Errorf("a group gives %d, again %d", len(fresh.Entries), len(again.Entries))
	}
}
