package broker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/selector"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// wants is a selector for messages whose header "color" is one of the letters.
func wants(letters string) *selector.Selector {
	s, err := selector.Compile("color IN ('" + strings.Join(strings.Split(letters, ""), "', '") + "')")
	if err != nil {
		panic(err)
	}
	return s
}

// withHeaders returns the properties of a persistent message with headers. It omits nil values.
func withHeaders(pairs ...any) message.Properties {
	p := message.Properties{Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: message.Table{}}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != nil {
			p.Headers = append(p.Headers, message.Field{Name: pairs[i].(string), Value: pairs[i+1]})
		}
	}
	return p
}

func grouped(s *QueueSpec) { s.Policy.GroupHeader = "key" }

func (c *client) postKey(q string, key any, body string) {
	c.t.Helper()
	c.postProps("", q, body, withHeaders("key", key), nil)
}

// settled waits until the shard of q has done everything flushed, and has no more work of its own.
func (c *client) settled(q string) {
	c.t.Helper()
	c.Flush()
	queue, _ := c.vhost.Queue(q)
	for again := true; again; {
		must(c.t, queue.Home().Call(func() {}))
		must(c.t, queue.Home().Call(func() { again = shard.DebugOf(queue.Home()).LooksAgain(queue) }))
	}
}

// of takes the deliveries of one consumer so far.
func (c *client) of(k *shard.Consumer) (ds []shard.Delivery) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got = slices.DeleteFunc(c.got, func(d shard.Delivery) bool {
		if d.Consumer == k {
			ds = append(ds, d)
		}
		return d.Consumer == k
	})
	return ds
}

func (c *client) ack(ds ...shard.Delivery) {
	for _, d := range ds {
		c.Ack(d.Queue, d.Consumer, d.Handle, 1)
	}
}

func prefetch(n int) func(*shard.ConsumerSpec) { return func(s *shard.ConsumerSpec) { s.Prefetch = n } }

func TestGroupGoesToOneConsumerAtATime(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", grouped)
	k1, k2 := c.consume("q", prefetch(2)), c.consume("q", prefetch(2))
	for i, key := range []any{"a", "a", "a", "b", int32(7), "7", nil} {
		c.postKey("q", key, fmt.Sprintf("%v-%d", key, i))
	}
	c.settled("q")
	one, two := c.of(k1), c.of(k2)
	sameStrings(t, bodies(one), "a-0", "a-1")
	sameStrings(t, bodies(two), "b-3", "7-4") // the next consumer in turn gets the key; 7 and "7" are one group
	c.ack(two[0])
	c.settled("q")
	sameStrings(t, bodies(c.of(k2)), "7-5")
	c.ack(one[1])
	c.settled("q")
	one = append(one[:1], c.of(k1)...)
	sameStrings(t, bodies(one), "a-0", "a-2") // still its group
	c.ack(one...)
	c.settled("q")
	sameStrings(t, bodies(c.of(k1)), "<nil>-6")
}

func TestGroupNamedByBytes(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", grouped)
	k1, k2 := c.consume("q", prefetch(1)), c.consume("q", prefetch(1))
	c.postKey("q", message.Bytes("a"), "1") // as pika sends bytes
	c.postKey("q", "a", "2")
	c.settled("q")
	sameStrings(t, bodies(append(c.of(k1), c.of(k2)...)), "1")
}

func TestGroupOfADeadConsumerComesBackInOrder(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", grouped)
	k1, k2 := c.consume("q", prefetch(3)), c.consume("q", prefetch(3))
	for i := range 6 {
		c.postKey("q", "a", fmt.Sprint(i))
	}
	c.postKey("q", "b", "b")
	c.settled("q")
	one := c.of(k1)
	sameStrings(t, bodies(one), "0", "1", "2")
	sameStrings(t, bodies(c.of(k2)), "b")
	c.Cancel(k1)
	c.settled("q")
	sameStrings(t, bodies(c.of(k2))) // its deliveries are not settled
	c.Requeue(one[1].Queue, k1, one[1].Handle, 2)
	c.settled("q")
	sameStrings(t, bodies(c.of(k2)))
	c.Requeue(one[0].Queue, k1, one[0].Handle, 1)
	c.settled("q")
	sameStrings(t, bodies(c.of(k2)), "0", "1")
}

func TestGetHoldsTheGroup(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", grouped)
	for i, key := range []string{"a", "a", "b", "a", "b"} {
		c.postKey("q", key, key+fmt.Sprint(i))
	}
	c.Flush()
	get := func(want string) shard.Delivery {
		t.Helper()
		d, left, ok, err := c.Get("q", false)
		must(t, err)
		got := ""
		if ok {
			got = fmt.Sprint(string(d.Env.Body()), " ", left)
		}
		if got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
		return d
	}
	a := get("a0 4")
	bb := get("b2 3")
	get("")
	k := c.consume("q", nil)
	c.settled("q")
	sameStrings(t, bodies(c.of(k)))
	c.ack(bb)
	c.settled("q")
	sameStrings(t, bodies(c.of(k)), "b4")
	c.Reject(a.Queue, nil, a.Handle, 1)
	c.settled("q")
	sameStrings(t, bodies(c.of(k)), "a1", "a3")
}

// TestRejectFreesTheGroup rejects a message whose dead letter goes to another shard: its group is
// freed without waiting for that.
func TestRejectFreesTheGroup(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) {
		grouped(s)
		s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, "dead"
	})
	c.queue("dead", nil)
	k, other := c.consume("q", prefetch(1)), c.consume("q", prefetch(1))
	for i := range 2 {
		c.postKey("q", "a", fmt.Sprint(i))
	}
	c.settled("q")
	dead, _ := c.vhost.Queue("dead")
	q, _ := c.vhost.Queue("q")
	if dead.Home() == q.Home() {
		t.Fatal("both queues are on one shard")
	}
	hold, held := make(chan struct{}), make(chan struct{})
	defer close(hold)
	dead.Home().Post(func() { close(held); <-hold })
	<-held
	d := c.take(1)[0]
	c.Reject(d.Queue, k, d.Handle, 1)
	c.settled("q")
	sameStrings(t, bodies(c.of(other)), "1") // it is the other one's turn
}

// TestGroupsWithASingleActiveConsumer: the waiting consumer gets nothing, even if a group is free.
func TestGroupsWithASingleActiveConsumer(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { grouped(s); s.Policy.SingleActive = true })
	one := c.consume("q", func(s *shard.ConsumerSpec) { s.Prefetch, s.Selector = 2, wants("r") })
	two := c.consume("q", prefetch(2))
	for i, key := range []string{"a", "b", "a"} {
		c.postProps("", "q", fmt.Sprint(i), withHeaders("key", key, "color", []string{"r", "g"}[i/2]), nil)
	}
	c.settled("q")
	ds := c.of(one)
	sameStrings(t, bodies(ds), "0", "1")
	sameStrings(t, bodies(c.of(two)))
	c.Cancel(one)
	c.settled("q")
	sameStrings(t, bodies(c.of(two))) // a is held
	c.ack(ds...)
	c.settled("q")
	sameStrings(t, bodies(c.of(two)), "2")
}

func TestSelectorsOfConsumers(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", nil)
	red := c.consume("q", func(s *shard.ConsumerSpec) { s.Selector, s.Prefetch = wants("r"), 1 })
	for i, color := range []string{"r", "g", "r", "b", "g"} {
		c.postProps("", "q", color+fmt.Sprint(i), withHeaders("color", color), nil)
	}
	c.settled("q")
	got := c.of(red)
	sameStrings(t, bodies(got), "r0")
	if info, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true}); err != nil || info.Ready != 4 {
		t.Fatalf("%+v, %v", info, err)
	}
	both := c.consume("q", func(s *shard.ConsumerSpec) { s.Selector, s.Prefetch = wants("rg"), 2 })
	c.settled("q")
	sameStrings(t, bodies(c.of(both)), "g1", "r2")
	c.ack(got...)
	c.settled("q")
	sameStrings(t, bodies(c.of(red))) // no red one is left
	c.Cancel(red)
	c.Cancel(both)
	sameStrings(t, c.drain("q"), "b3", "g4")
	q, _ := c.vhost.Queue("q")
	must(t, q.Home().Call(func() {
		if shard.DebugOf(q.Home()).Selective(q) {
			t.Error("still selective without selectors")
		}
	}))
}

// TestParkedAreReady: limits, purge and expiry treat messages set aside as ready.
func TestParkedAreReady(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", func(s *QueueSpec) { grouped(s); s.Policy.MaxLength = 3 })
	k1, k2 := c.consume("q", prefetch(1)), c.consume("q", prefetch(1))
	for i := range 6 {
		c.postKey("q", "a", fmt.Sprint(i))
	}
	c.settled("q")
	one := c.of(k1)
	sameStrings(t, bodies(one), "0")
	c.ack(one...)
	c.settled("q")
	sameStrings(t, bodies(append(c.of(k1), c.of(k2)...)), "3") // 1 and 2 were dropped
	n, err := c.PurgeQueue("q")
	if err != nil || n != 2 {
		t.Fatal(n, err)
	}
	c.postKey("q", "a", "last")
	c.settled("q")
	c.Cancel(k1)
	c.Cancel(k2)
}

// pickyTwin models a queue with selective dispatch by looking at all messages for each delivery.
type pickyTwin struct {
	msgs      []*pickyMessage // in order
	consumers []*pickyConsumer
	grouped   bool
}

type pickyMessage struct {
	body, key, color string
	priority         uint8
	held             *pickyConsumer // nil: ready
}

type pickyConsumer struct {
	k        *shard.Consumer
	wants    string
	priority int
	prefetch int
	noAck    bool
	unacked  int
	got      []string
}

var getter = &pickyConsumer{}

func (q *pickyTwin) publish(m *pickyMessage) {
	at := len(q.msgs)
	for at > 0 && q.msgs[at-1].priority < m.priority {
		at--
	}
	q.msgs = slices.Insert(q.msgs, at, m)
}

func (q *pickyTwin) holder(m *pickyMessage) *pickyConsumer {
	for _, o := range q.msgs {
		if q.grouped && m.key != "" && o.key == m.key && o.held != nil {
			return o.held
		}
	}
	return nil
}

func (q *pickyTwin) taker(m *pickyMessage) *pickyConsumer {
	holder := q.holder(m)
	for i, c := range q.consumers {
		if holder != nil && c != holder || c.wants != "" && !strings.Contains(c.wants, m.color) || c.prefetch > 0 && c.unacked >= c.prefetch {
			continue
		}
		if holder == nil {
			q.moveBack(i)
		}
		return c
	}
	return nil
}

// moveBack moves a consumer behind those of equal priority.
func (q *pickyTwin) moveBack(i int) {
	c, end := q.consumers[i], i+1
	for end < len(q.consumers) && q.consumers[end].priority == c.priority {
		end++
	}
	copy(q.consumers[i:end-1], q.consumers[i+1:end])
	q.consumers[end-1] = c
}

// roomFor records that a consumer has one delivery less. One that was at its limit moves behind
// those of equal priority.
func (q *pickyTwin) roomFor(c *pickyConsumer) {
	if i := slices.Index(q.consumers, c); i >= 0 && c.unacked == c.prefetch {
		q.moveBack(i)
	}
	c.unacked--
}

func (q *pickyTwin) dispatch() {
	for i := 0; i < len(q.msgs); i++ {
		m := q.msgs[i]
		if m.held != nil {
			continue
		}
		c := q.taker(m)
		if c == nil {
			continue
		}
		c.got = append(c.got, m.body)
		if c.noAck {
			q.msgs = slices.Delete(q.msgs, i, i+1)
		} else {
			m.held = c
			c.unacked++
		}
		i = -1
	}
}

func (q *pickyTwin) find(body string) (int, *pickyMessage) {
	i := slices.IndexFunc(q.msgs, func(m *pickyMessage) bool { return m.body == body })
	return i, q.msgs[i]
}

// TestPickyTwin compares every delivery with the twin's, over random keys, colors, priorities,
// consumers and settlements.
func TestPickyTwin(t *testing.T) {
	for seed := range uint64(24) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runPickyTwin(t, seed, 800) })
	}
}

func runPickyTwin(t *testing.T, seed uint64, steps int) {
	rng := rand.New(rand.NewPCG(seed, 3))
	mem := vfs.NewMem()
	options := func(o *Options) {
		o.Shards, o.SegmentBytes, o.MemoryLimit = 1, 16<<10, []int64{48 << 10, 1 << 30}[seed%2]
	}
	b := openBroker(t, mem, options)
	c := newClient(t, b)
	q := &pickyTwin{grouped: seed%3 != 0}
	selective := seed%3 != 1
	c.queue("q", func(s *QueueSpec) {
		if q.grouped {
			grouped(s)
		}
		s.Policy.MaxPriority = uint8(seed % 4)
	})
	var out []shard.Delivery
	owner := func(d shard.Delivery) *pickyConsumer {
		_, m := q.find(string(d.Env.Body()))
		return m.held
	}
	compare := func(step int) {
		t.Helper()
		q.dispatch()
		c.settled("q")
		for _, tc := range q.consumers {
			ds := c.of(tc.k)
			if got := bodies(ds); !slices.Equal(got, tc.got) {
				t.Fatalf("step %d: consumer for %q got %q, want %q", step, tc.wants, got, tc.got)
			}
			tc.got = nil
			if !tc.noAck {
				out = append(out, ds...)
			}
		}
	}
	settle := func(d shard.Delivery, requeue bool) {
		i, m := q.find(string(d.Env.Body()))
		q.roomFor(m.held)
		if requeue {
			c.Requeue(d.Queue, d.Consumer, d.Handle, 1)
			m.held = nil
			return
		}
		if rng.IntN(5) == 0 {
			c.Reject(d.Queue, d.Consumer, d.Handle, 1)
		} else {
			c.Ack(d.Queue, d.Consumer, d.Handle, 1)
		}
		q.msgs = slices.Delete(q.msgs, i, i+1)
	}
	leave := func(i int) {
		tc := q.consumers[i]
		q.consumers = slices.Delete(q.consumers, i, i+1)
		c.Cancel(tc.k)
		if rng.IntN(3) == 0 {
			return // its deliveries are settled one by one
		}
		out = slices.DeleteFunc(out, func(d shard.Delivery) bool {
			if owner(d) == tc {
				settle(d, true)
				return true
			}
			return false
		})
	}
	for step := range steps {
		switch op := rng.IntN(100); {
		case op < 40:
			for range 1 + rng.IntN(12) {
				m := &pickyMessage{body: fmt.Sprint(step, "-", rng.Uint32()), key: fmt.Sprint(rng.IntN(6)), color: string("rgbx"[rng.IntN(4)])}
				var key any = m.key
				if m.key == "5" {
					m.key, key = "", nil
				}
				m.priority = uint8(rng.IntN(1 + int(seed%4)))
				c.postProps("", "q", m.body, withHeaders("key", key, "color", m.color), func(p *shard.Publish) { p.Priority = m.priority })
				q.publish(m)
			}
		case op < 75 && len(out) > 0:
			for range min(len(out), 1+rng.IntN(6)) {
				i := rng.IntN(len(out))
				d := out[i]
				out = slices.Delete(out, i, i+1)
				settle(d, rng.IntN(3) == 0)
			}
		case op < 83 && len(q.consumers) < 6:
			tc := &pickyConsumer{priority: rng.IntN(2), prefetch: rng.IntN(4), noAck: rng.IntN(6) == 0}
			if tc.noAck {
				tc.prefetch = 0
			}
			spec := shard.ConsumerSpec{Queue: "q", Priority: tc.priority, Prefetch: tc.prefetch, NoAck: tc.noAck}
			if selective && rng.IntN(3) > 0 {
				tc.wants = []string{"r", "rg", "b", "gb", "rgbx"}[rng.IntN(5)]
				spec.Selector = wants(tc.wants)
			}
			k, err := c.Consume(spec)
			must(t, err)
			tc.k = k
			at := len(q.consumers)
			for at > 0 && q.consumers[at-1].priority < tc.priority {
				at--
			}
			q.consumers = slices.Insert(q.consumers, at, tc)
		case op < 90 && len(q.consumers) > 0:
			leave(rng.IntN(len(q.consumers)))
		case op < 94:
			d, _, ok, err := c.Get("q", false)
			must(t, err)
			i := slices.IndexFunc(q.msgs, func(m *pickyMessage) bool { return m.held == nil && q.holder(m) == nil })
			if ok != (i >= 0) || ok && string(d.Env.Body()) != q.msgs[i].body {
				t.Fatalf("step %d: got %v %q, want %d", step, ok, d.Env, i)
			}
			if ok {
				q.msgs[i].held = getter
				out = append(out, d)
			}
		case op == 94 && rng.IntN(2) == 0:
			must(t, err2(c.PurgeQueue("q")))
			q.msgs = slices.DeleteFunc(q.msgs, func(m *pickyMessage) bool { return m.held == nil })
		case op == 95:
			want, err := b.Hash()
			must(t, err)
			syncAll(t, b)
			mem = mem.CrashClone(rng)
			b = openBroker(t, mem, options)
			c = newClient(t, b)
			if got, err := b.Hash(); err != nil || got != want {
				t.Fatalf("hash %x after a crash, want %x, %v", got, want, err)
			}
			out, q.consumers = nil, nil
			for _, m := range q.msgs {
				m.held = nil
			}
		}
		compare(step)
	}
	for len(q.consumers) > 0 {
		leave(0)
		compare(-1)
	}
	for _, d := range out {
		settle(d, true)
	}
	compare(-2)
	var want []string
	for _, m := range q.msgs {
		want = append(want, m.body)
	}
	sameStrings(t, c.drain("q"), want...)
	mustClose(t, b)
}
