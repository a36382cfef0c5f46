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

	var ids []stream.ID
	pending := &GroupPending{OnGroup: onGroup("s", "g"), List: true, To: stream.MaxID, Max: 10}
	c.MustDo(&GroupRead{OnGroup: onGroup("s", "g"), Consumer: "c"}, pending)
	for _, p := range pending.Entries {
		ids = append(ids, p.ID)
	}
	if len(ids) != 4 {
		t.Fatalf("%d are pending", len(ids))
	}
	history := &GroupRead{OnGroup: onGroup("s", "g"), Consumer: "c", History: true}
	claim := &GroupClaim{OnGroup: onGroup("s", "g"), Consumer: "d", IDs: ids, Time: -1, Count: -1}
	sweep := &GroupSweep{OnGroup: onGroup("s", "g"), Consumer: "e", Max: 100}
	names := &GroupSweep{OnGroup: onGroup("s", "g"), Consumer: "e", Max: 100, JustIDs: true}
	full, head := &Info{OnStream: onStream("s")}, &Info{OnStream: onStream("s"), Entries: -1}
	enginetest.Must(t, c.Do(history, claim, sweep, names, full, head))
	if len(history.Entries) != 3 || len(claim.Entries) != 3 || len(sweep.Entries) != 3 || sweep.Next != ids[3] || len(names.Entries) != 4 {
		t.Errorf("history %d, claim %d, sweep %d and then from %v, without bodies %d",
			len(history.Entries), len(claim.Entries), len(sweep.Entries), sweep.Next, len(names.Entries))
	}
	if !errors.Is(full.Err, failure.ErrTooLarge) || head.Err != nil || len(head.Shown) != 2 {
		t.Errorf("info in full: %v, else: %v with %d entries", full.Err, head.Err, len(head.Shown))
	}
	c.MustDo(pending)
	if pending.Entries[3].Count != 1 { // what had no room for it is no delivery
		t.Errorf("the last entry was delivered %d times", pending.Entries[3].Count)
	}
}
