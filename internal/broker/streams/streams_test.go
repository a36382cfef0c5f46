package streams

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/lists"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

func onStream(name string) OnStream { return OnStream{OnQueue: enginetest.On(name)} }

func onGroup(name, group string) OnGroup { return OnGroup{OnStream: onStream(name), Group: group} }

func newAdd(name string, ms uint64, body string) *Add {
	return &Add{OnStream: onStream(name), Create: true, How: NextIn, ID: stream.ID{Ms: ms}, Properties: bareProps, Body: []byte(body)}
}

// entries are the bodies of a stream by id.
func entries(c *enginetest.Client, name string) (out []string) {
	c.T.Helper()
	r := &Range{OnStream: onStream(name), To: stream.MaxID}
	c.MustDo(r)
	for _, e := range r.Entries {
		out = append(out, fmt.Sprintf("%d-%d %s", e.ID.Ms, e.ID.Seq, e.Env.Body()))
	}
	return out
}

// hash is that of the broker's state, with what has been done recorded.
func hash(t *testing.T, b *broker.Broker) uint64 {
	t.Helper()
	enginetest.Sync(t, b)
	sum, err := b.Hash()
	enginetest.Must(t, err)
	return sum
}

// bareProps are the properties of a persistent message.
var bareProps = (&message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 2}).Append(nil)

func values(texts ...string) (out [][]byte) {
	for _, s := range texts {
		out = append(out, []byte(s))
	}
	return out
}

func bodiesOf(ds []shard.Delivery) (out []string) {
	for _, d := range ds {
		out = append(out, string(d.Env.Body()))
	}
	return out
}

func sameStrings(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("got %q, want %q", got, want)
	}
}

// What other protocols do with a stream's queue: what they publish is an entry, also when it is
// transient, and what they acknowledge is deleted.
func TestStreamBesideQueues(t *testing.T) {
	mem := vfs.NewMem()
	clock := enginetest.NewClock(1000)
	b := enginetest.Open(t, mem, func(o *broker.Options) { o.Now = clock.Now })
	c := enginetest.NewClient(t, b)
	c.MustDo(newAdd("s", 5, "a"))
	c.Put("s", "b", nil)
	c.Post("", "s", "c", message.Properties{}, func(p *shard.Publish) { p.Persistent = false })
	c.Flush()
	sameStrings(t, entries(c, "s"), "5-0 a", "1000-0 b", "1000-1 c")
	c.Consumes("s", func(s *shard.ConsumerSpec) { s.Prefetch = 2 })
	got := c.Deliveries(2)
	sameStrings(t, bodiesOf(got), "a", "b")
	del := &Delete{OnStream: onStream("s"), IDs: []stream.ID{{Ms: 5}}}
	c.MustDo(del)
	c.Ack(got[0].Queue, got[0].Consumer, got[0].Handle, 2) // one is gone meanwhile, and counts for the prefetch
	c.Flush()
	sameStrings(t, bodiesOf(c.Deliveries(1)), "c")
	sameStrings(t, entries(c, "s"), "1000-1 c")
	info := &Info{OnStream: onStream("s"), Entries: -1}
	c.MustDo(info)
	if info.MaxDeleted != (stream.ID{Ms: 1000}) || info.Added != 3 || del.Deleted != 1 {
		t.Fatalf("%+v, %d deleted", info, del.Deleted)
	}
	push := &lists.Push{OnQueue: enginetest.On("s"), Bodies: values("x"), Create: true}
	enginetest.Must(t, c.Do(push, &lists.Pop{OnQueue: enginetest.On("s"), Max: 1}))
	if !errors.Is(push.Err, failure.ErrWrongKind) {
		t.Fatalf("a push into a stream: %v", push.Err)
	}
	c.Close()
	enginetest.Close(t, b)
	b = enginetest.Open(t, mem, func(o *broker.Options) { o.Now = clock.Now })
	defer enginetest.Close(t, b)
	c = enginetest.NewClient(t, b)
	defer c.Close()
	sameStrings(t, entries(c, "s"), "1000-1 c")
}

// A queue is a stream from its first entry until it is deleted, and then may be a list.
func TestStreamOrList(t *testing.T) {
	mem := vfs.NewMem()
	b := enginetest.Open(t, mem, nil)
	c := enginetest.NewClient(t, b)
	c.MustDo(&lists.Push{OnQueue: enginetest.On("k"), Bodies: values("x"), Create: true})
	add := newAdd("k", 1, "a")
	enginetest.Must(t, c.Do(add))
	if !errors.Is(add.Err, failure.ErrWrongKind) {
		t.Fatalf("an entry into a list: %v", add.Err)
	}
	wipe := &broker.Clear{OnQueue: enginetest.On("k")}
	c.MustDo(&lists.Pop{OnQueue: enginetest.On("k"), Max: 1}, newAdd("k", 1, "a"), newAdd("k", 1, "b"), &GroupSet{OnGroup: onGroup("k", "g")}, wipe,
		&lists.Push{OnQueue: enginetest.On("k"), Bodies: values("y")})
	sameStrings(t, c.Drain("k"), "y")
	c.MustDo(newAdd("k", 1, "c"))
	gone := &GroupDrop{OnGroup: onGroup("k", "g")}
	c.MustDo(gone)
	if !gone.NoGroup || !wipe.Existed {
		t.Fatalf("%+v %+v", gone, wipe)
	}
	c.Close()
	enginetest.Close(t, b)
	b = enginetest.Open(t, mem, nil)
	defer enginetest.Close(t, b)
	c = enginetest.NewClient(t, b)
	defer c.Close()
	sameStrings(t, entries(c, "k"), "1-0 c")
}

// A read of what is new, of a stream that is missing, gets what another client adds while the read
// declares its queue.
func TestReadLatestOfMissingStream(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	r := &Read{OnStream: onStream("s"), Latest: true, Create: true}
	if _, err := r.Find(c.Finder()); err != nil {
		t.Fatal(err)
	}
	c.MustDo(newAdd("s", 1, "a"), r)
	if len(r.Entries) != 1 {
		t.Fatalf("it got %d entries, want the one that was added after it had come", len(r.Entries))
	}
}

// Random lives of streams: replaying the log, from the beginning or a checkpoint, gives the state
// that was there, whatever the order of facts.
func TestStreamsReplay(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 9))
		mem := vfs.NewMem()
		clock := enginetest.NewClock(100)
		options := func(o *broker.Options) { o.SegmentBytes, o.CheckpointBytes, o.Now = 32<<10, 8<<10, clock.Now }
		b := enginetest.Open(t, mem, options)
		c := enginetest.NewClient(t, b)
		for _, name := range []string{"a", "b", "c"} {
			c.Queue(name, nil) // else it goes when it is cleared, at an unknown time
		}
		for range 300 {
			var batch []broker.Command
			for range 1 + rng.IntN(8) {
				batch = append(batch, randomStreamCommand(rng))
			}
			enginetest.Must(t, c.Do(batch...))
			clock.MS.Add(rng.Int64N(3))
			if rng.IntN(40) == 0 {
				b.Checkpoint()
			}
		}
		want := hash(t, b)
		clone := mem.CrashClone(rng)
		c.Close()
		enginetest.Close(t, b)
		for i, fs := range []vfs.FS{clone, mem} {
			again := enginetest.Open(t, fs, options)
			if got := hash(t, again); got != want {
				t.Fatalf("seed %d, disk %d: hashes %x, want %x", seed, i, got, want)
			}
			enginetest.Close(t, again)
		}
	}
}

func randomStreamCommand(rng *rand.Rand) broker.Command {
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
		return &Delete{OnStream: onStream(name), IDs: ids}
	case n < 85:
		return &GroupLeave{OnGroup: of, Consumer: who}
	case n < 88:
		return &Trim{OnStream: onStream(name), Trim: stream.Trim{MaxLen: rng.IntN(20)}}
	case n < 90:
		return &Set{OnStream: onStream(name), Last: stream.ID{Ms: 1 << 60, Seq: rng.Uint64N(9)}, Added: -1}
	case n < 91:
		return &GroupDrop{OnGroup: of}
	case n < 92:
		return &broker.Clear{OnQueue: enginetest.On(name)}
	case n < 94:
		return &lists.Pop{OnQueue: enginetest.On(name), Max: 1}
	case n < 97:
		return &lists.Push{OnQueue: enginetest.On(name), Bodies: values("x"), Create: true}
	}
	return &GroupJoin{OnGroup: of, Consumer: who}
}

// What was deleted before a trim counts as deleted after a start too, though both are in one entry
// of the log.
func TestStreamFactOrder(t *testing.T) {
	mem := vfs.NewMem()
	b := enginetest.Open(t, mem, nil)
	c := enginetest.NewClient(t, b)
	c.MustDo(newAdd("s", 1, "a"), newAdd("s", 2, "b"), &Delete{OnStream: onStream("s"), IDs: []stream.ID{{Ms: 1}}},
		&Trim{OnStream: onStream("s")}, newAdd("s", 3, "c"))
	want := hash(t, b)
	again := enginetest.Open(t, mem.CrashClone(rand.New(rand.NewPCG(1, 1))), nil)
	if got := hash(t, again); got != want {
		t.Fatalf("hashes %x, want %x", got, want)
	}
	enginetest.Close(t, again)
	c.Close()
	enginetest.Close(t, b)
}
