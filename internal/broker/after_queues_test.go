package broker

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// ask publishes a message that waits for others. Its body is also its id.
func (c *client) ask(q, id string, after any, change func(*shard.Publish)) {
	c.t.Helper()
	props := withHeaders("consume_after", after)
	props.Flags |= message.HasMessageID
	props.MessageID, _, _ = strings.Cut(id, "#")
	c.postProps("", q, id, props, change)
	c.settled(q)
}

// orderedQueues declares q1, q2 and q3; rejected messages of q1 go to q3.
func (c *client) orderedQueues() {
	c.queue("q1", func(s *QueueSpec) {
		ordered(s)
		s.Policy.MaxPriority = 5
		s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, "q3"
	})
	c.queue("q2", func(s *QueueSpec) { ordered(s); s.Policy.MaxPriority = 5 })
	c.queue("q3", ordered)
}

func (c *client) takeID(q, id string) shard.Delivery {
	c.t.Helper()
	d, ok := c.lendID(q, id)
	if !ok {
		c.t.Fatal(id)
	}
	return d
}

func TestOrderAcrossQueues(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, func(o *Options) { o.Shards = 3 })
	c := newClient(t, b)
	c.orderedQueues()
	c.ask("q1", "create", nil, nil)
	c.ask("q2", "limit", "create", nil)
	c.ask("q3", "remove", "{create,limit}", nil)
	c.ask("q3", "free", "elsewhere", nil)
	sameStrings(t, c.browse("q2"), "limit blocked 0")
	sameStrings(t, c.browse("q3"), "remove blocked 0", "free ready 0")
	if !c.Alive("limit") || c.Alive("elsewhere") {
		t.Error("alive")
	}

	// A dead letter counts as the original message, also after a restart, and does not wait itself.
	c.Reject(c.takeID("q1", "create").Queue, nil, 1, 1)
	c.settled("q1")
	sameStrings(t, c.browse("q2"), "limit blocked 0")
	sameStrings(t, c.browse("q3"), "remove blocked 0", "free ready 0", "create ready 0")
	syncAll(t, b)
	b = openBroker(t, fs.CrashClone(rand.New(rand.NewPCG(1, 1))), func(o *Options) { o.Shards = 3 })
	defer mustClose(t, b)
	c = newClient(t, b)
	sameStrings(t, c.browse("q2"), "limit blocked 0")
	d := c.takeID("q3", "create")
	c.ack(d)
	c.settled("q3")
	sameStrings(t, c.browse("q2"), "limit ready 0")

	// After a move in a transaction, it still counts as that message.
	d = c.takeID("q2", "limit")
	tx := c.NewTx()
	q1, _ := c.vhost.Queue("q1")
	tx.Publish(&shard.Publish{Targets: shard.NewTargets([]*shard.Queue{q1}), Env: d.Env, Persistent: true, TTL: -1, CopyOf: &shard.Loan{Queue: d.Queue, Handle: d.Handle}})
	tx.Ack(d.Queue, nil, d.Handle, 1)
	must(t, tx.Commit())
	sameStrings(t, c.browse("q3"), "remove blocked 0", "free ready 0")
	sameStrings(t, c.drain("q1"), "limit")
	sameStrings(t, c.drain("q3"), "remove", "free")

	// Messages that waited for those of a deleted queue are unblocked.
	c.ask("q2", "a", nil, nil)
	c.ask("q1", "b", "a", nil)
	must(t, err2(c.DeleteQueue("q2", false, false)))
	sameStrings(t, c.drain("q1"), "b")
}

// Two steps that wait for each other do not wait forever, although the first one moves behind the
// second.
func TestOrderIsNoCircle(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.orderedQueues()
	c.ask("q1", "a", "b", nil)
	c.ask("q2", "b", "a", nil)
	c.Reject(c.takeID("q1", "a").Queue, nil, 1, 1)
	c.settled("q1")
	sameStrings(t, c.browse("q2"), "b blocked 0")
	sameStrings(t, c.drain("q3"), "a")
	sameStrings(t, c.drain("q2"), "b")
}

// Messages that wait for an id wait for each message with that id in turn. None is delivered before
// the messages it waits for, in whatever order these are settled.
func TestOrderOfManyWithOneID(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	c := newClient(t, b)
	c.orderedQueues()
	c.ask("q1", "x#1", nil, nil)
	c.ask("q2", "x#2", nil, nil)
	c.ask("q3", "w1", "x", nil)
	c.ask("q2", "x#3", nil, func(p *shard.Publish) { p.Priority = 5 })
	c.ask("q3", "w2", "x", nil)
	if n, err := c.PurgeQueue("q2"); n != 2 || err != nil { // x#3 is delivered first
		t.Fatal(n, err)
	}
	c.Reject(c.takeID("q1", "x").Queue, nil, 1, 1)
	c.settled("q1")
	sameStrings(t, c.browse("q3"), "w1 blocked 0", "w2 blocked 0", "x#1 ready 0")
	syncAll(t, b)
	b = openBroker(t, fs.CrashClone(rand.New(rand.NewPCG(1, 1))), nil)
	defer mustClose(t, b)
	c = newClient(t, b)
	sameStrings(t, c.browse("q3"), "w1 blocked 0", "w2 blocked 0", "x#1 ready 0")
	sameStrings(t, c.drain("q3"), "x#1", "w1", "w2")
}

// The messages of one transaction arrive in its order.
func TestOrderWithinTransaction(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.orderedQueues()
	tx := c.NewTx()
	for i, q := range []string{"q3", "q1", "q2"} {
		props := withHeaders("consume_after", message.Array{fmt.Sprint(i - 1), fmt.Sprint(i + 1)})
		props.Flags |= message.HasMessageID
		props.MessageID = fmt.Sprint(i)
		c.postProps("", q, fmt.Sprint(i), props, func(p *shard.Publish) { tx.Publish(p); p.Targets = shard.Targets{} })
	}
	must(t, tx.Commit())
	sameStrings(t, append(append(c.browse("q3"), c.browse("q1")...), c.browse("q2")...), "0 ready 0", "1 blocked 0", "2 blocked 0")
	for i, q := range []string{"q3", "q1", "q2"} {
		sameStrings(t, c.drain(q), fmt.Sprint(i))
	}
}

// All ordered queues of a virtual host are on one shard; those of several virtual hosts are on
// several. A queue declared before this rule stays on its shard, and new ones join it.
func TestOrderedQueuesAreTogether(t *testing.T) {
	fs := vfs.NewMem()
	change := func(o *Options) { o.Shards = 4 }
	b := openBroker(t, fs, change)
	seen := map[*shard.Shard]bool{}
	for i := range 20 {
		name := fmt.Sprint("v", i)
		created, err := b.PutVHost(VHostSpec{Name: name})
		if err != nil || !created {
			t.Fatal(created, err)
		}
		s, err := b.Operate(name)
		must(t, err)
		c := &client{t: t, Session: s}
		for _, q := range []string{"a", "plain", "b", "c"} {
			c.queue(q, func(s *QueueSpec) { s.Policy.ConsumeAfter = q != "plain" })
		}
		on := func(q string) *shard.Shard { have, _ := c.vhost.Queue(q); return have.Home() }
		if on("a") != on("b") || on("b") != on("c") {
			t.Error("they are apart")
		}
		seen[on("a")] = true
	}
	if len(seen) < 3 {
		t.Errorf("%d shards for 20 virtual hosts", len(seen))
	}
	c := newClient(t, b)
	c.queue("old", ordered)
	q, _ := c.vhost.Queue("old")
	other := b.set.All[int(q.Home().ID)%4]
	mustClose(t, b)

	b = openBroker(t, fs, func(o *Options) { o.Shards = 4 })
	defer mustClose(t, b)
	c = newClient(t, b)
	moved := shard.NewDebugQueue(1<<40, c.vhost, b.set.All[other.ID-1])
	c.queue("new", ordered)
	q, _ = c.vhost.Queue("new")
	if q.Home() != moved.Home() {
		t.Error("the new one is not where the newest was")
	}
}

// A message also waits for a later one, whatever happened to it before, even when a consumer
// returns it.
func TestOrderOfWhatComesLater(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	c := newClient(t, b)
	c.orderedQueues()
	c.ask("q1", "third", "second", nil)
	c.ask("q1", "second", "first", nil)
	c.ask("q2", "out", "first", nil)
	out := c.takeID("q2", "out")
	c.ask("q3", "first", nil, nil)
	sameStrings(t, c.browse("q1"), "third blocked 0", "second blocked 0")
	sameStrings(t, c.browse("q2"), "out unacked 0")
	c.Requeue(out.Queue, nil, out.Handle, 1)
	c.settled("q2")
	sameStrings(t, c.browse("q2"), "out blocked 1")
	mustClose(t, b)
	b = openBroker(t, fs, nil)
	defer mustClose(t, b)
	c = newClient(t, b)
	sameStrings(t, c.browse("q1"), "third blocked 0", "second blocked 0")
	sameStrings(t, c.drain("q3"), "first")
	sameStrings(t, c.drain("q1"), "second", "third")
	sameStrings(t, c.drain("q2"), "out")
}

// A message that did not wait because of a cycle waits once the cycle is gone.
func TestOrderOfBrokenCircle(t *testing.T) {
	fs := vfs.NewMem()
	b := openBroker(t, fs, nil)
	c := newClient(t, b)
	c.orderedQueues()
	c.ask("q1", "a", "b", nil)
	c.ask("q1", "b", "c", nil)
	c.ask("q2", "c", "a", nil)
	c.ask("q2", "d", "c", nil) // leads into the cycle, and waits for it
	c.ask("q3", "a2", "b", nil)
	sameStrings(t, c.browse("q1"), "a ready 0", "b ready 0")
	sameStrings(t, c.browse("q2"), "c blocked 0", "d blocked 0")
	sameStrings(t, c.browse("q3"), "a2 blocked 0")
	c.ack(c.takeID("q1", "a"))
	for range 2 {
		sameStrings(t, c.browse("q1"), "b blocked 0")
		sameStrings(t, c.browse("q2"), "c ready 0", "d blocked 0")
		mustClose(t, b)
		b = openBroker(t, fs, nil)
		c = newClient(t, b)
	}
	defer mustClose(t, b)
	sameStrings(t, c.drain("q2"), "c", "d")
	sameStrings(t, c.drain("q1"), "b")
	sameStrings(t, c.drain("q3"), "a2")
}

// The search for cycles is bounded. A message that would need a longer search is waited for only by
// later messages.
func TestOrderOfTooMany(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.orderedQueues()
	const wide = 300
	var fronts, backs, absent message.Array
	for i := range wide {
		fronts, backs, absent = append(fronts, fmt.Sprint("front", i)), append(backs, fmt.Sprint("back", i)), append(absent, fmt.Sprint("absent", i))
	}
	for i := range wide {
		c.ask("q1", fmt.Sprint("end", i), backs, nil)
		c.ask("q1", fmt.Sprint("back", i), "middle", nil)
		c.ask("q2", fmt.Sprint("front", i), absent, nil)
	}
	c.ask("q1", "absent0", "end0", nil)
	c.ask("q3", "middle", fronts, nil)
	c.ask("q3", "later", "middle", nil)
	sameStrings(t, c.browse("q3"), "middle blocked 0", "later blocked 0")
	for _, want := range []int{2*wide + 1, wide, 2} { // absent0 waits for end0, which waits for all messages that do not wait
		q := map[int]string{2*wide + 1: "q1", wide: "q2", 2: "q3"}[want]
		if got := c.drain(q); len(got) != want {
			t.Errorf("%s: %d could be had, want %d", q, len(got), want)
		}
	}
}
