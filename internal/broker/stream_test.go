package broker

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways/internal/core/message"
	"fiveways/internal/core/stream"
	"fiveways/internal/storage/vfs"
)

func onStream(name string) OnStream { return OnStream{OnQueue: on(name)} }

func onGroup(name, group string) OnGroup { return OnGroup{OnStream: onStream(name), Group: group} }

func newAdd(name string, ms uint64, body string) *StreamAdd {
	return &StreamAdd{OnStream: onStream(name), Create: true, How: NextIn, ID: stream.ID{Ms: ms}, Properties: bareProps, Body: []byte(body)}
}

// entries are the bodies of a stream by id.
func (c *client) entries(name string) (out []string) {
	c.t.Helper()
	r := &StreamRange{OnStream: onStream(name), To: stream.MaxID}
	c.do(r)
	for _, e := range r.Entries {
		out = append(out, fmt.Sprintf("%d-%d %s", e.ID.Ms, e.ID.Seq, e.Env.Body()))
	}
	return out
}

// hashes are those of the shards, with what has been done recorded.
func hashes(t *testing.T, b *Broker) (all []uint64) {
	t.Helper()
	syncAll(t, b)
	for _, sh := range b.shards {
		must(t, sh.call(func() { all = append(all, sh.m.hash()) }))
	}
	return all
}

// What other protocols do with a stream's queue: what they publish is an entry, also when it is transient, and what they acknowledge is deleted.
func TestStreamBesideQueues(t *testing.T) {
	mem := vfs.NewMem()
	clock := newClock(1000)
	b := openBroker(t, mem, func(o *Options) { o.Now = clock.Now })
	c := newClient(t, b)
	c.do(newAdd("s", 5, "a"))
	c.put("", "s", "b", nil)
	c.postProps("", "s", "c", message.Properties{}, func(p *Publish) { p.Persistent = false })
	c.Flush()
	sameStrings(t, c.entries("s"), "5-0 a", "1000-0 b", "1000-1 c")
	c.consume("s", func(s *ConsumerSpec) { s.Prefetch = 2 })
	got := c.take(2)
	sameStrings(t, bodies(got), "a", "b")
	del := &StreamDelete{OnStream: onStream("s"), IDs: []stream.ID{{Ms: 5}}}
	c.do(del)
	c.Ack(got[0].Queue, got[0].Consumer, got[0].Handle, 2) // one is gone meanwhile, and counts for the prefetch
	c.Flush()
	sameStrings(t, bodies(c.take(1)), "c")
	sameStrings(t, c.entries("s"), "1000-1 c")
	info := &StreamInfo{OnStream: onStream("s"), Entries: -1}
	c.do(info)
	if info.MaxDeleted != (stream.ID{Ms: 1000}) || info.Added != 3 || del.Deleted != 1 {
		t.Fatalf("%+v, %d deleted", info, del.Deleted)
	}
	push := &Push{OnQueue: on("s"), Bodies: values("x"), Create: true}
	must(t, c.Do(push, &Pop{OnQueue: on("s"), Max: 1}))
	if !errors.Is(push.Err, ErrWrongKind) {
		t.Fatalf("a push into a stream: %v", push.Err)
	}
	c.Close()
	mustClose(t, b)
	b = openBroker(t, mem, func(o *Options) { o.Now = clock.Now })
	defer mustClose(t, b)
	c = newClient(t, b)
	defer c.Close()
	sameStrings(t, c.entries("s"), "1000-1 c")
}

// A queue is a stream from its first entry until it is deleted, and then may be a list.
func TestStreamOrList(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, nil)
	c := newClient(t, b)
	c.do(&Push{OnQueue: on("k"), Bodies: values("x"), Create: true})
	add := newAdd("k", 1, "a")
	must(t, c.Do(add))
	if !errors.Is(add.Err, ErrWrongKind) {
		t.Fatalf("an entry into a list: %v", add.Err)
	}
	wipe := &Clear{OnQueue: on("k")}
	c.do(&Pop{OnQueue: on("k"), Max: 1}, newAdd("k", 1, "a"), newAdd("k", 1, "b"), &GroupSet{OnGroup: onGroup("k", "g")}, wipe,
		&Push{OnQueue: on("k"), Bodies: values("y")})
	sameStrings(t, c.drain("k"), "y")
	c.do(newAdd("k", 1, "c"))
	gone := &GroupDrop{OnGroup: onGroup("k", "g")}
	c.do(gone)
	if !gone.NoGroup || !wipe.Existed {
		t.Fatalf("%+v %+v", gone, wipe)
	}
	c.Close()
	mustClose(t, b)
	b = openBroker(t, mem, nil)
	defer mustClose(t, b)
	c = newClient(t, b)
	defer c.Close()
	sameStrings(t, c.entries("k"), "1-0 c")
}

// Random lives of streams: replaying the log, from the beginning or a checkpoint, gives the state that was there, whatever the order of facts.
func TestStreamsReplay(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 9))
		mem := vfs.NewMem()
		clock := newClock(100)
		options := func(o *Options) { o.SegmentBytes, o.CheckpointBytes, o.Now = 32<<10, 8<<10, clock.Now }
		b := openBroker(t, mem, options)
		c := newClient(t, b)
		for range 300 {
			var batch []Command
			for range 1 + rng.IntN(8) {
				batch = append(batch, randomStreamCommand(rng))
			}
			must(t, c.Do(batch...))
			clock.ms.Add(rng.Int64N(3))
			if rng.IntN(40) == 0 {
				b.checkpointDue(false)
			}
		}
		want := hashes(t, b)
		clone := mem.CrashClone(rng)
		c.Close()
		mustClose(t, b)
		for i, fs := range []vfs.FS{clone, mem} {
			again := openBroker(t, fs, options)
			if got := hashes(t, again); !slices.Equal(got, want) {
				t.Fatalf("seed %d, disk %d: hashes %x, want %x", seed, i, got, want)
			}
			mustClose(t, again)
		}
	}
}

func randomStreamCommand(rng *rand.Rand) Command {
	name := []string{"a", "b", "c"}[rng.IntN(3)]
	group := []string{"g", "h"}[rng.IntN(2)]
	who := []string{"x", "y"}[rng.IntN(2)]
	id := stream.ID{Ms: rng.Uint64N(400), Seq: rng.Uint64N(3)}
	ids := []stream.ID{id, {Ms: id.Ms + 1}, {Ms: id.Ms, Seq: 1}}
	of := onGroup(name, group)
	switch n := rng.IntN(100); {
	case n < 40:
		a := newAdd(name, rng.Uint64N(4), "body")
		a.How = NextID
		if rng.IntN(4) == 0 {
			a.Trim = &stream.Trim{MaxLen: rng.IntN(30)}
		}
		return a
	case n < 43:
		return &GroupSet{OnGroup: of, Read: stream.Unknown, Create: true, Latest: n == 40}
	case n < 65:
		return &GroupRead{OnGroup: of, Consumer: who, Max: 1 + rng.IntN(5), NoAck: n == 43, History: n > 60}
	case n < 75:
		p := &GroupSweep{OnGroup: of, Consumer: who, Max: 1 + rng.IntN(3), JustIDs: n == 66}
		return p
	case n < 80:
		return &GroupClaim{OnGroup: of, Consumer: who, IDs: ids, Time: -1, Count: -1, Force: true}
	case n < 84:
		return &StreamDelete{OnStream: onStream(name), IDs: ids}
	case n < 85:
		return &GroupLeave{OnGroup: of, Consumer: who}
	case n < 88:
		return &StreamTrim{OnStream: onStream(name), Trim: stream.Trim{MaxLen: rng.IntN(20)}}
	case n < 90:
		return &StreamSet{OnStream: onStream(name), Last: stream.ID{Ms: 1 << 60, Seq: rng.Uint64N(9)}, Added: -1}
	case n < 91:
		return &GroupDrop{OnGroup: of}
	case n < 92:
		return &Clear{OnQueue: on(name)}
	case n < 94:
		return &Pop{OnQueue: on(name), Max: 1}
	case n < 97:
		return &Push{OnQueue: on(name), Bodies: values("x"), Create: true}
	}
	return &GroupJoin{OnGroup: of, Consumer: who}
}

// What was deleted before a trim counts as deleted after a start too, though both are in one entry of the log.
func TestStreamFactOrder(t *testing.T) {
	mem := vfs.NewMem()
	b := openBroker(t, mem, nil)
	c := newClient(t, b)
	c.do(newAdd("s", 1, "a"), newAdd("s", 2, "b"), &StreamDelete{OnStream: onStream("s"), IDs: []stream.ID{{Ms: 1}}},
		&StreamTrim{OnStream: onStream("s")}, newAdd("s", 3, "c"))
	want := hashes(t, b)
	again := openBroker(t, mem.CrashClone(rand.New(rand.NewPCG(1, 1))), nil)
	if got := hashes(t, again); !slices.Equal(got, want) {
		t.Fatalf("hashes %x, want %x", got, want)
	}
	mustClose(t, again)
	c.Close()
	mustClose(t, b)
}
