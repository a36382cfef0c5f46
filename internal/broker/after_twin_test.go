package broker

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// TestOrderTwin compares three queues of one virtual host with a naive model after each of many
// random operations: the messages of each queue in order, and whether they are ready, unacked or
// blocked. The first queue has priorities and dead-letters to the third. The second dead-letters to
// the first and may have groups. Few ids produce many cycles, more ids produce chains.
func TestOrderTwin(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			tw := &orderTwin{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 5)), mem: vfs.NewMem(), now: newClock(1_000_000)}
			tw.ids = []int{5, 20, 20, 100}[seed/4%4]
			tw.open()
			for _, q := range twinQueues {
				tw.declare(q)
			}
			for tw.step = range 700 {
				tw.random()
				tw.compare()
			}
			tw.empty()
			mustClose(t, tw.b)
		})
	}
}

var twinQueues = []string{"q1", "q2", "q3"}

// orderMessage is a message in one queue.
type orderMessage struct {
	q, id, body string
	priority    uint8
	asked       uint8 // priority
	volatile    bool
	expires     int64
	names       []string // ids that it waits for
	age         int      // greater for newer messages
	out         bool
	d           shard.Delivery
}

type orderTwin struct {
	t    *testing.T
	seed uint64
	rng  *rand.Rand
	mem  *vfs.Mem
	now  *steppedClock
	b    *Broker
	c    *client
	step int
	ids  int
	last int64 // the latest expiry that was set
	ages int
	live []*orderMessage
}

func (tw *orderTwin) options(o *Options) {
	o.Shards, o.SegmentBytes, o.CheckpointBytes = 2, 16<<10, 4<<10
	o.Now = tw.now.Now
}

func (tw *orderTwin) open() {
	tw.b = openBroker(tw.t, tw.mem, tw.options)
	tw.c = newClient(tw.t, tw.b)
}

func (tw *orderTwin) declare(name string) {
	tw.c.queue(name, func(s *QueueSpec) {
		ordered(s)
		switch name {
		case "q1":
			s.Policy.MaxPriority = uint8(tw.seed % 3)
			s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, "q3"
			s.Policy.AtLeastOnce = tw.seed%4 == 3
			s.Policy.Overflow = RejectPublish
		case "q2":
			s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, "q1"
			if tw.seed%2 == 0 {
				grouped(s)
			}
		}
	})
}

func (tw *orderTwin) blocked(m *orderMessage) bool { return len(tw.blockers(m)) > 0 }

// blockers returns the ids that a message waits for: those of existing messages. For an id that
// leads back to the message itself, only older messages and those that wait for no id count.
func (tw *orderTwin) blockers(m *orderMessage) (ids []string) {
	for _, id := range m.names {
		back := m.id != "" && tw.leads(id, m.id)
		if slices.ContainsFunc(tw.live, func(o *orderMessage) bool {
			return o.id == id && (!back || len(o.names) == 0 || o.age < m.age)
		}) {
			ids = append(ids, id)
		}
	}
	return ids
}

// leads reports whether messages with an id wait for another one, directly or through others.
func (tw *orderTwin) leads(from, to string) bool {
	seen := []string{from}
	for i := 0; i < len(seen); i++ {
		for _, m := range tw.live {
			if m.id != seen[i] {
				continue
			}
			for _, id := range m.names {
				if id == to {
					return true
				}
				if !slices.Contains(seen, id) {
					seen = append(seen, id)
				}
			}
		}
	}
	return false
}

func (tw *orderTwin) of(q string) (list []*orderMessage) {
	for _, m := range tw.live {
		if m.q == q {
			list = append(list, m)
		}
	}
	slices.SortStableFunc(list, func(a, b *orderMessage) int { return cmp.Compare(b.priority, a.priority) })
	return list
}

func (tw *orderTwin) first(q string) *orderMessage {
	list := tw.of(q)
	if i := slices.IndexFunc(list, func(m *orderMessage) bool { return !m.out && !tw.blocked(m) }); i >= 0 {
		return list[i]
	}
	return nil
}

func (tw *orderTwin) remove(m *orderMessage) {
	tw.live = slices.DeleteFunc(tw.live, func(o *orderMessage) bool { return o == m })
}

// die removes a message that was rejected or has expired, after it has added a copy to the
// dead-letter queue.
func (tw *orderTwin) die(m *orderMessage) {
	if to := map[string]string{"q1": "q3", "q2": "q1"}[m.q]; to != "" {
		c := &orderMessage{q: to, id: m.id, body: m.body, asked: m.asked, volatile: m.volatile}
		if to == "q1" && tw.seed%3 > 0 {
			c.priority = min(m.asked, uint8(tw.seed%3))
		}
		tw.live = append(tw.live, c)
	}
	tw.remove(m)
}

// publish publishes a random message, in the transaction if there is one.
func (tw *orderTwin) publish(tx *Tx) {
	rng := tw.rng
	m := orderMessage{body: fmt.Sprint(tw.step), volatile: rng.IntN(8) == 0}
	if tx != nil {
		m.body += fmt.Sprint("-", len(tw.live))
	}
	props := message.Properties{Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2}
	if m.volatile {
		props.DeliveryMode = 1
	}
	if rng.IntN(10) > 0 {
		m.id = fmt.Sprint(rng.IntN(tw.ids))
		props.Flags |= message.HasMessageID
		props.MessageID = m.id
	}
	var after message.Array
	for range rng.IntN(4) {
		id := fmt.Sprint(rng.IntN(tw.ids))
		after = append(after, id)
		if id != m.id && !slices.Contains(m.names, id) {
			m.names = append(m.names, id)
		}
	}
	tw.ages++
	m.age = tw.ages
	props.Headers = message.Table{{Name: "consume_after", Value: after}}
	priority := uint8(rng.IntN(3))
	m.asked = priority
	if priority > 0 {
		props.Flags |= message.HasPriority
		props.Priority = priority
	}
	ttl := int64(-1)
	if rng.IntN(6) == 0 {
		tw.last = max(tw.last, tw.now.ms.Load()) + 10
		m.expires = tw.last
		ttl = tw.last - tw.now.ms.Load()
	}
	to := twinQueues[rng.IntN(3)]
	targets := []string{to}
	if rng.IntN(6) == 0 {
		targets = twinQueues
	}
	var queues []*shard.Queue
	for _, q := range targets {
		one := m
		one.q = q
		if q == "q1" && tw.seed%3 > 0 {
			one.priority = min(priority, uint8(tw.seed%3))
		}
		tw.live = append(tw.live, &one)
		have, _ := tw.c.vhost.Queue(q)
		queues = append(queues, have)
	}
	raw := props.Append(nil)
	p := &shard.Publish{
		Targets: shard.NewTargets(queues), Env: append(message.AppendEnvelopeHeader(nil, "", to, raw), m.body...),
		Persistent: !m.volatile, Priority: priority, TTL: ttl,
	}
	if tx != nil {
		tx.Publish(p)
	} else {
		tw.c.Publish(p)
	}
}

// move moves a taken message to another queue, in a transaction.
func (tw *orderTwin) move(m *orderMessage) {
	to := twinQueues[tw.rng.IntN(3)]
	have, _ := tw.c.vhost.Queue(to)
	tx := tw.c.NewTx()
	env := append(message.AppendEnvelopeHeader(nil, "", to, m.d.Env.Properties()), m.body...)
	tx.Publish(&shard.Publish{
		Targets: shard.NewTargets([]*shard.Queue{have}), Env: env, Persistent: !m.volatile, TTL: -1, CopyOf: &shard.Loan{Queue: m.d.Queue, Handle: m.d.Handle},
	})
	tx.Ack(m.d.Queue, nil, m.d.Handle, 1)
	must(tw.t, tx.Commit())
	tw.live = append(tw.live, &orderMessage{q: to, id: m.id, body: m.body, asked: m.asked, volatile: m.volatile})
	tw.remove(m)
}

func (tw *orderTwin) random() {
	rng, c := tw.rng, tw.c
	q := twinQueues[rng.IntN(3)]
	var out []*orderMessage
	for _, m := range tw.live {
		if m.out {
			out = append(out, m)
		}
	}
	switch op := rng.IntN(100); {
	case op < 38:
		tw.publish(nil)
	case op < 42:
		tx := c.NewTx()
		for range 1 + rng.IntN(4) {
			tw.publish(tx)
		}
		must(tw.t, tx.Commit())
	case op < 58:
		d, _, ok, err := c.Get(q, false)
		must(tw.t, err)
		tw.took(tw.first(q), d, ok)
	case op < 64:
		tw.lendByID(q, fmt.Sprint(rng.IntN(tw.ids)))
	case op < 66:
		tw.lendUnblocked(q)
	case op < 88 && len(out) > 0:
		m := out[rng.IntN(len(out))]
		switch n := rng.IntN(9); {
		case n == 8:
			tw.move(m)
		case n < 2:
			c.Requeue(m.d.Queue, nil, m.d.Handle, 1)
			m.out = false
		case n == 2:
			c.Release(m.d.Queue, m.d.Handle, 1)
			m.out = false
		case n < 5:
			c.Reject(m.d.Queue, nil, m.d.Handle, 1)
			tw.die(m)
		default:
			c.Ack(m.d.Queue, nil, m.d.Handle, 1)
			tw.remove(m)
		}
	case op == 90:
		must(tw.t, err2(c.PurgeQueue(q)))
		var gone []*orderMessage
		for _, m := range tw.of(q) {
			if !m.out && !tw.blocked(m) {
				gone = append(gone, m)
			}
		}
		for _, m := range gone {
			tw.remove(m)
		}
	case op == 91 && rng.IntN(3) == 0:
		_, err := c.DeleteQueue(q, false, false)
		must(tw.t, err)
		for _, m := range tw.of(q) {
			tw.remove(m)
		}
		tw.declare(q)
	case op < 94:
		tw.expire()
	case op == 94:
		c.Flush()
		tw.b.checkpointDue(false)
	case op == 95 && rng.IntN(2) == 0:
		tw.restart()
	}
}

// took compares a taken message with the expected one.
func (tw *orderTwin) took(want *orderMessage, d shard.Delivery, ok bool) {
	tw.t.Helper()
	if ok != (want != nil) || ok && string(d.Env.Body()) != want.body {
		tw.t.Fatalf("step %d: got %v %q, want %+v", tw.step, ok, d.Env, want)
	}
	if ok {
		want.out, want.d = true, d
	}
}

// lendByID lends a message, which may be blocked.
func (tw *orderTwin) lendByID(q, id string) {
	list := tw.of(q)
	i := slices.IndexFunc(list, func(m *orderMessage) bool { return m.id == id })
	var m *orderMessage
	if i >= 0 {
		m = list[i]
	}
	all, err := shownIn(tw.c.Session, q)
	must(tw.t, err)
	j := slices.IndexFunc(all, func(s shown) bool { return s.id == id })
	if j >= 0 != (m != nil) || j >= 0 && all[j].body != m.body {
		tw.t.Fatalf("step %d: found %d of %+v, want %+v", tw.step, j, all, m)
	}
	if want := slices.ContainsFunc(tw.live, func(m *orderMessage) bool { return m.id == id }); tw.c.Alive(id) != want {
		tw.t.Fatalf("step %d: alive %v, want %v", tw.step, !want, want)
	}
	if m != nil && m.out {
		return // the call would wait
	}
	d, ok := tw.c.lendID(q, id)
	tw.took(m, d, ok)
}

// lendUnblocked lends messages that are blocked only by lent ones.
func (tw *orderTwin) lendUnblocked(q string) {
	var out []shard.Loan
	for _, m := range tw.live {
		if m.out {
			out = append(out, shard.Loan{Queue: m.d.Queue, Handle: m.d.Handle})
		}
	}
	got := tw.c.lend(q, func(at shard.Context) []queue.Handle {
		free := at.Dependencies().FreedBy(at.PlacesOf(out), at.Now())
		return free[:min(len(free), 2)]
	})
	var want []*orderMessage
	for _, m := range tw.of(q) {
		held := !slices.ContainsFunc(tw.live, func(o *orderMessage) bool { return !o.out && slices.Contains(tw.blockers(m), o.id) })
		if !m.out && tw.blocked(m) && held && len(want) < 2 {
			want = append(want, m)
		}
	}
	if len(got) != len(want) {
		tw.t.Fatalf("step %d: %d were lent, want %d", tw.step, len(got), len(want))
	}
	for i, m := range want {
		tw.took(m, got[i], true)
	}
}

// expire advances the clock to each expiry time in turn.
func (tw *orderTwin) expire() {
	for range 3 {
		var next int64
		for _, m := range tw.live {
			if m.expires > 0 && (next == 0 || m.expires < next) {
				next = m.expires
			}
		}
		if next == 0 || slices.ContainsFunc(tw.live, func(m *orderMessage) bool { return m.expires == next && m.out }) {
			return
		}
		tw.now.ms.Store(next)
		for _, q := range twinQueues {
			tw.c.settled(q)
		}
		var dead []*orderMessage
		for _, m := range tw.live {
			if m.expires == next {
				dead = append(dead, m)
			}
		}
		for _, m := range dead {
			tw.die(m)
		}
	}
}

func (tw *orderTwin) restart() {
	t := tw.t
	for _, q := range twinQueues {
		tw.c.settled(q)
	}
	volatile := slices.ContainsFunc(tw.live, func(m *orderMessage) bool { return m.volatile })
	want, err := tw.b.Hash()
	must(t, err)
	if tw.rng.IntN(3) == 0 {
		must(t, tw.b.Close())
	} else {
		syncAll(t, tw.b)
		tw.mem = tw.mem.CrashClone(tw.rng)
	}
	tw.open()
	if got, err := tw.b.Hash(); err != nil || got != want && !volatile {
		t.Fatalf("step %d: hash %x after a restart, want %x, %v", tw.step, got, want, err)
	}
	tw.live = slices.DeleteFunc(tw.live, func(m *orderMessage) bool { return m.volatile })
	for _, m := range tw.live {
		m.out = false
	}
}

// compare compares all queues with the model.
func (tw *orderTwin) compare() {
	for _, q := range twinQueues {
		tw.c.settled(q)
		var want, got []string
		for _, m := range tw.of(q) {
			status := queue.Ready
			switch {
			case m.out:
				status = queue.Unacked
			case tw.blocked(m):
				status = queue.Blocked
			}
			want = append(want, m.body+" "+status.String())
		}
		all, err := shownIn(tw.c.Session, q)
		must(tw.t, err)
		for _, m := range all {
			got = append(got, m.body+" "+m.status.String())
		}
		if !slices.Equal(got, want) {
			tw.t.Fatalf("step %d, %s:\n%q, want\n%q", tw.step, q, got, want)
		}
	}
}

// empty settles all messages: none waits forever, and none is left.
func (tw *orderTwin) empty() {
	for _, m := range slices.Clone(tw.live) {
		if m.out {
			tw.c.Ack(m.d.Queue, nil, m.d.Handle, 1)
			tw.remove(m)
		}
	}
	for len(tw.live) > 0 {
		before := len(tw.live)
		for _, q := range twinQueues {
			for want := tw.first(q); want != nil; want = tw.first(q) {
				d, _, ok, err := tw.c.Get(q, true)
				must(tw.t, err)
				tw.took(want, d, ok)
				tw.remove(want)
			}
		}
		if len(tw.live) == before {
			tw.t.Fatalf("%d wait for ever", before)
		}
	}
}
