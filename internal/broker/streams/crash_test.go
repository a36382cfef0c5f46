package streams

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// groupRun is a small life of a stream with a group: what was promised, and what may or may not
// have happened when the crash came.
type groupRun struct {
	added, acked, deleted map[stream.ID]bool
	given                 map[stream.ID]uint64 // how often at least
	maybe                 map[stream.ID]bool   // concerned by the command without an answer
}

// live runs until a promise fails, which is the crash.
func (r *groupRun) live(t *testing.T, b *broker.Broker) {
	c := enginetest.NewClient(t, b)
	if c.Do(&GroupSet{OnGroup: onGroup("s", "g"), Create: true}) != nil {
		return
	}
	for i := range uint64(30) {
		id := stream.ID{Ms: i + 1}
		r.maybe = map[stream.ID]bool{id: true}
		add := newAdd("s", id.Ms, fmt.Sprint(id.Ms))
		if c.Do(add) != nil || add.Err != nil {
			return
		}
		r.added[id] = true
		read := &GroupRead{OnGroup: onGroup("s", "g"), Consumer: "c", Max: 1}
		if c.Do(read) != nil || len(read.Entries) != 1 {
			return
		}
		r.given[id]++
		r.maybe = map[stream.ID]bool{}
		before := []stream.ID{{Ms: i}, {Ms: i - 1}}
		for _, id := range before {
			r.maybe[id] = true
		}
		switch i % 4 {
		case 1:
			if c.Do(&GroupAck{OnGroup: onGroup("s", "g"), IDs: before}) != nil {
				return
			}
			r.acked[before[0]], r.acked[before[1]] = true, true
		case 2:
			if c.Do(&Delete{OnStream: onStream("s"), IDs: before[:1]}) != nil {
				return
			}
			r.deleted[before[0]] = true
		case 3:
			claim := &GroupClaim{OnGroup: onGroup("s", "g"), Consumer: "d", IDs: []stream.ID{{Ms: i + 1}}, Time: -1, Count: -1}
			r.maybe[id] = true
			if c.Do(claim) != nil || len(claim.Entries) != 1 {
				return
			}
			r.given[id]++
		}
		if i%9 == 8 {
			b.Checkpoint()
		}
	}
}

// check compares what is there after the crash with what was promised.
func (r *groupRun) check(t *testing.T, b *broker.Broker) {
	t.Helper()
	c := enginetest.NewClient(t, b)
	defer c.Close()
	all := &Range{OnStream: onStream("s"), To: stream.MaxID}
	pending := &GroupPending{OnGroup: onGroup("s", "g"), List: true, To: stream.MaxID, Max: 1000}
	enginetest.Must(t, c.Do(all, pending))
	there, counts := map[stream.ID]bool{}, map[stream.ID]uint64{}
	for _, e := range all.Entries {
		there[e.ID] = true
		if string(e.Env.Body()) != fmt.Sprint(e.ID.Ms) {
			t.Errorf("%v holds %q", e.ID, e.Env.Body())
		}
	}
	for _, p := range pending.Entries {
		counts[p.ID] = p.Count
	}
	for id := range r.added {
		if want := !r.deleted[id]; there[id] != want && !r.maybe[id] {
			t.Errorf("%v: there %v, want %v", id, there[id], want)
		}
		switch n := counts[id]; {
		case r.maybe[id]:
		case r.acked[id] && n > 0:
			t.Errorf("%v was acknowledged and is pending", id)
		case !r.acked[id] && n != r.given[id]:
			t.Errorf("%v was given %d times, and counts %d", id, r.given[id], n)
		}
	}
	add := &Add{OnStream: onStream("s"), Create: true, Properties: bareProps}
	c.MustDo(add)
	if _, ok := there[add.Added]; ok {
		t.Errorf("%v was given twice", add.Added)
	}
}

// require fails a life that no crash has ended and that has not shown what it is for.
func (r *groupRun) require(t *testing.T) {
	if len(r.acked) == 0 || len(r.deleted) == 0 {
		t.Fatal("the life has no acknowledgements or no deletions")
	}
}

func TestStreamCrashAtEveryOperation(t *testing.T) {
	crashAtEveryOperation(t, func() life {
		return &groupRun{added: map[stream.ID]bool{}, acked: map[stream.ID]bool{}, deleted: map[stream.ID]bool{}, given: map[stream.ID]uint64{}}
	})
}

// life is what goes on up to a crash, and what must be so after it.
type life interface {
	live(t *testing.T, b *broker.Broker)
	check(t *testing.T, b *broker.Broker)
	require(t *testing.T)
}

// crashAtEveryOperation makes each operation on the disk in turn the last one of a life, and
// reopens what a power cut may leave.
func crashAtEveryOperation(t *testing.T, begin func() life) {
	t.Helper()
	options := func(o *broker.Options) { o.SegmentBytes, o.CheckpointBytes, o.Shards = 4<<10, 1<<10, 1 }
	for k := 1; ; k++ {
		mem := vfs.NewMem()
		fs := vfs.NewErrors(mem)
		fs.CrashAt(k)
		r := begin()
		b, err := enginetest.TryOpen(fs, options)
		if err == nil {
			r.live(t, b)
			b.Close() // fails after the crash; the goroutines must end all the same
		}
		for seed := range uint64(2) {
			again, err := enginetest.TryOpen(mem.CrashClone(rand.New(rand.NewPCG(uint64(k), seed))), options)
			if err != nil {
				t.Fatalf("crash at operation %d, disk %d: cannot open: %v", k, seed, err)
			}
			r.check(t, again)
			enginetest.Close(t, again)
			if t.Failed() {
				t.Fatalf("crash at operation %d, disk %d", k, seed)
			}
		}
		if !fs.Crashed() {
			r.require(t)
			return
		}
	}
}
