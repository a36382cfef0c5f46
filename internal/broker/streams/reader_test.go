package streams

import (
	"errors"
	"fmt"
	"testing"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// declare declares a stream; change may be nil.
func declare(c *enginetest.Client, name string, change func(*catalog.QueuePolicy)) {
	c.T.Helper()
	c.Queue(name, func(s *catalog.QueueSpec) {
		s.Policy.Stream = true
		if change != nil {
			change(&s.Policy)
		}
	})
}

// readsFrom registers a reader with room for some entries.
func readsFrom(c *enginetest.Client, name string, from Start, room int) *shard.Consumer {
	c.T.Helper()
	k, err := Consume(c.Session, shard.ConsumerSpec{Queue: name, Tag: "t", Prefetch: room}, from, nil)
	enginetest.Must(c.T, err)
	return k
}

// offsets are offset and body of deliveries.
func offsets(ds []shard.Delivery) (out []string) {
	for _, d := range ds {
		out = append(out, fmt.Sprintf("%d %s", OffsetOf(d.Handle), d.Env.Body()))
		if d.Redelivered {
			out = append(out, "redelivered")
		}
	}
	return out
}

// Each reader has its own place, where it begins is its own choice, and acknowledging makes room
// but takes nothing. Offsets stay over a restart, and when entries go.
func TestReaders(t *testing.T) {
	mem := vfs.NewMem()
	clock := enginetest.NewClock(1000)
	options := func(o *broker.Options) { o.Now = clock.Now }
	b := enginetest.Open(t, mem, options)
	c := enginetest.NewClient(t, b)
	declare(c, "s", nil)
	waiting := readsFrom(c, "s", Start{}, 9)
	for _, body := range []string{"a", "b", "c", "d"} {
		c.Put("s", body, nil)
		clock.MS.Add(1000)
	}
	sameStrings(t, offsets(c.Deliveries(4)), "0 a", "1 b", "2 c", "3 d")
	c.Cancel(waiting)
	for _, k := range []struct {
		from Start
		want []string
	}{
		{Start{From: First}, []string{"0 a", "1 b", "2 c", "3 d"}},
		{Start{From: Last}, []string{"3 d"}},
		{Start{From: AtOffset, N: 1}, []string{"1 b", "2 c", "3 d"}},
		{Start{From: AtTime, N: 2001}, []string{"2 c", "3 d"}},
		{Start{From: AtTime, N: -1}, []string{"0 a", "1 b", "2 c", "3 d"}},
	} {
		r := readsFrom(c, "s", k.from, 9)
		sameStrings(t, offsets(c.Deliveries(len(k.want))), k.want...)
		c.Cancel(r)
	}
	slow := readsFrom(c, "s", Start{From: First}, 1)
	first := c.Deliveries(1)[0]
	beyond := readsFrom(c, "s", Start{From: AtOffset, N: 5}, 9)
	c.MustDo(newAdd("s", 9000, "e")) // over Redis
	c.Put("s", "f", func(p *shard.Publish) { p.TTL = 0 })
	sameStrings(t, offsets(c.Deliveries(1)), "5 f")
	c.Cancel(beyond)
	c.Ack(first.Queue, first.Consumer, first.Handle, 1)
	c.Flush()
	sameStrings(t, offsets(c.Deliveries(1)), "1 b")
	c.Cancel(slow)
	if _, _, _, err := c.Get("s", true); !errors.Is(err, failure.ErrWrongKind) {
		t.Errorf("a get from a stream: %v", err)
	}
	if _, err := c.PurgeQueue("s"); !errors.Is(err, failure.ErrWrongKind) {
		t.Errorf("a purge of a stream: %v", err)
	}
	c.MustDo(&Delete{OnStream: onStream("s"), IDs: []stream.ID{{Ms: 2000}}})
	c.Close()
	enginetest.Close(t, b)

	b = enginetest.Open(t, mem, options)
	defer enginetest.Close(t, b)
	c = enginetest.NewClient(t, b)
	defer c.Close()
	r := readsFrom(c, "s", Start{From: First}, 9)
	sameStrings(t, offsets(c.Deliveries(5)), "0 a", "2 c", "3 d", "4 e", "5 f")
	c.Cancel(r)
	clear := &broker.Clear{OnQueue: enginetest.On("s")}
	c.MustDo(clear)
	c.Put("s", "g", nil)
	readsFrom(c, "s", Start{From: First}, 9)
	sameStrings(t, offsets(c.Deliveries(1)), "6 g")
	if clear.Removed != 5 {
		t.Errorf("%d entries were removed", clear.Removed)
	}
}

// A reader passes over what it does not want, however much that is, and holds nobody up meanwhile.
func TestReaderPassesOver(t *testing.T) {
	b := enginetest.Open(t, vfs.NewMem(), nil)
	defer enginetest.Close(t, b)
	c := enginetest.NewClient(t, b)
	defer c.Close()
	declare(c, "s", nil)
	const n = 3 * shard.PageLooks
	for range n {
		c.Post("", "s", "no", message.Properties{}, nil)
	}
	c.Put("s", "yes", nil)
	wanted := func(env message.Envelope) bool { return string(env.Body()) == "yes" }
	_, err := Consume(c.Session, shard.ConsumerSpec{Queue: "s", Tag: "t", Prefetch: 1}, Start{From: First}, wanted)
	enginetest.Must(t, err)
	sameStrings(t, offsets(c.Deliveries(1)), fmt.Sprint(n, " yes"))
}

// What a stream is to keep is kept, by bytes and by age; what goes is gone for Redis, too.
func TestRetention(t *testing.T) {
	mem := vfs.NewMem()
	clock := enginetest.NewClock(1000)
	options := func(o *broker.Options) { o.Now = clock.Now }
	b := enginetest.Open(t, mem, options)
	c := enginetest.NewClient(t, b)
	declare(c, "bytes", func(p *catalog.QueuePolicy) { p.MaxLengthBytes = 10 })
	declare(c, "age", func(p *catalog.QueuePolicy) { p.MaxAge = 5000 })
	reader := readsFrom(c, "bytes", Start{}, 9)
	for _, body := range []string{"aaaa", "bbbb", "cc", "d", "a body of more than ten bytes"} {
		c.Put("bytes", body, nil)
		sameStrings(t, bodiesOf(c.Deliveries(1)), body)
		if body == "d" {
			sameStrings(t, entries(c, "bytes"), "1000-1 bbbb", "1000-2 cc", "1000-3 d")
		}
	}
	c.Cancel(reader)
	sameStrings(t, entries(c, "bytes"), "1000-4 a body of more than ten bytes")
	c.Put("age", "a", nil)
	clock.MS.Add(3000)
	c.Put("age", "b", nil)
	clock.MS.Add(2000)
	enginetest.Sync(t, b)
	sameStrings(t, entries(c, "age"), "1000-0 a", "4000-0 b")
	clock.MS.Add(1)
	enginetest.Sync(t, b) // no message comes: the time alone ends it
	sameStrings(t, entries(c, "age"), "4000-0 b")
	c.Close()
	enginetest.Close(t, b)

	clock.MS.Add(3600_000)
	b = enginetest.Open(t, mem, options)
	defer enginetest.Close(t, b)
	c = enginetest.NewClient(t, b)
	defer c.Close()
	enginetest.Sync(t, b)
	sameStrings(t, entries(c, "age"))
	c.Put("age", "c", nil)
	readsFrom(c, "age", Start{From: First}, 9)
	sameStrings(t, offsets(c.Deliveries(1)), "2 c")
}

// An empty stream is one from its declaration on, for Redis too; and no list.
func TestEmptyStreamIsOne(t *testing.T) {
	mem := vfs.NewMem()
	b := enginetest.Open(t, mem, nil)
	c := enginetest.NewClient(t, b)
	declare(c, "s", nil)
	group := &GroupSet{OnGroup: onGroup("s", "g")}
	c.MustDo(group)
	if group.Missing {
		t.Error("there is no stream")
	}
	c.Close()
	enginetest.Close(t, b)
	b = enginetest.Open(t, mem, nil)
	defer enginetest.Close(t, b)
	c = enginetest.NewClient(t, b)
	defer c.Close()
	c.At("s", func(at shard.Context) {
		if s := at.Content().Stream; s == nil || s.Group("g") == nil {
			t.Error("the group is not there after a restart")
		}
	})
}

// readerRun is a small life of a stream with a reader, up to a crash.
type readerRun struct {
	confirmed map[string]bool  // bodies
	read      map[int64]string // bodies by offset
}

// live runs until a promise fails, which is the crash.
func (r *readerRun) live(t *testing.T, b *broker.Broker) {
	c := enginetest.NewClient(t, b)
	spec := catalog.QueueSpec{Name: "s", Durable: true, Policy: catalog.DefaultQueuePolicy()}
	spec.Policy.Stream, spec.Policy.MaxLengthBytes = true, 40
	if _, err := c.DeclareQueue(spec); err != nil {
		return
	}
	if _, err := Consume(c.Session, shard.ConsumerSpec{Queue: "s", Tag: "t", Prefetch: 100}, Start{}, nil); err != nil {
		return
	}
	for i := range 30 {
		add := newAdd("s", uint64(i+1), fmt.Sprint("body ", i))
		if c.Do(add) != nil || add.Err != nil {
			break
		}
		r.confirmed[fmt.Sprint("body ", i)] = true
		if i%9 == 8 {
			b.Checkpoint()
		}
	}
	for _, d := range c.Received() {
		r.read[OffsetOf(d.Handle)] = string(d.Env.Body())
	}
}

// check compares what is there after the crash with what was promised: the last entries that were
// confirmed, and at each offset what a reader was given there.
func (r *readerRun) check(t *testing.T, b *broker.Broker) {
	t.Helper()
	c := enginetest.NewClient(t, b)
	defer c.Close()
	if len(r.confirmed) == 0 {
		return
	}
	all := &Range{OnStream: onStream("s"), To: stream.MaxID}
	c.MustDo(all)
	if len(all.Entries) == 0 {
		t.Error("no entry is there")
		return
	}
	readsFrom(c, "s", Start{From: First}, 100)
	seen := map[string]bool{}
	last := int64(-1)
	for _, d := range c.Deliveries(len(all.Entries)) {
		body := string(d.Env.Body())
		seen[body] = true
		last = OffsetOf(d.Handle)
		if was, ok := r.read[last]; ok && was != body {
			t.Errorf("offset %d was %q and is %q", last, was, body)
		}
	}
	for offset := range r.read {
		if offset > last {
			t.Errorf("offset %d was given and is not there", offset)
		}
	}
	if newest := fmt.Sprint("body ", len(r.confirmed)-1); !seen[newest] {
		t.Errorf("%s was confirmed and is not there", newest)
	}
}

// require fails a life that no crash has ended and that has not shown what it is for.
func (r *readerRun) require(t *testing.T) {
	if len(r.confirmed) != 30 || len(r.read) == 0 {
		t.Fatalf("%d entries were confirmed, %d read", len(r.confirmed), len(r.read))
	}
}

func TestReaderCrashAtEveryOperation(t *testing.T) {
	crashAtEveryOperation(t, func() life { return &readerRun{confirmed: map[string]bool{}, read: map[int64]string{}} })
}
