package broker

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/statemachine"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// naive is the model: a queue as a slice in publish order.
type naive struct{ msgs []*naiveMessage }

type naiveMessage struct {
	body       string
	persistent bool
	priority   uint8
	out        bool
	count      uint32
}

func (n *naive) next() *naiveMessage {
	var best *naiveMessage
	for _, m := range n.msgs {
		if !m.out && (best == nil || m.priority > best.priority) {
			best = m
		}
	}
	return best
}

func (n *naive) remove(m *naiveMessage) {
	n.msgs = slices.DeleteFunc(n.msgs, func(x *naiveMessage) bool { return x == m })
}

// restart keeps what survives: the persistent messages, all ready.
func (n *naive) restart() {
	n.msgs = slices.DeleteFunc(n.msgs, func(m *naiveMessage) bool { return !m.persistent })
	for _, m := range n.msgs {
		m.out = false
	}
}

type lent struct {
	d shard.Delivery
	m *naiveMessage
}

// TestAgainstNaiveTwin runs random operations on the engine, with restarts, tiny segments, cleaning
// and memory pressure, and compares every answer with the model's.
func TestAgainstNaiveTwin(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) { runTwin(t, seed, 3000) })
	}
}

func runTwin(t *testing.T, seed uint64, steps int) {
	rng := rand.New(rand.NewPCG(seed, 7))
	mem := vfs.NewMem()
	options := func(o *Options) {
		o.SegmentBytes, o.CheckpointBytes, o.Shards = 16<<10, 4<<10, 1+int(seed%3)
		o.MemoryLimit = []int64{32 << 10, 1 << 30}[seed%2] // every other run spills all it can
		o.StateMachines = map[uint32]statemachine.Machine{statemachine.Keys: newTally()}
	}
	b := openBroker(t, mem, options)
	c := newClient(t, b)
	priorities := seed%4 == 3
	c.queue("q", func(s *QueueSpec) {
		s.Policy.DeadLetter, s.Policy.DeadLetterExchange, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, "", true, "dead"
		if priorities {
			s.Policy.MaxPriority = 3
		}
	})
	c.queue("dead", nil)
	q, dead := &naive{}, &naive{}
	var out []lent
	reopen := func(clean bool) {
		want, err := b.Hash()
		must(t, err)
		if clean {
			for _, l := range out {
				c.Requeue(l.d.Queue, nil, l.d.Handle, 1)
				l.m.count++
			}
			c.Flush()
			want, err = b.Hash()
			must(t, err)
			c.Close()
			mustClose(t, b)
		} else {
			syncAll(t, b)
			mem = mem.CrashClone(rng)
		}
		out = nil
		q.restart()
		dead.restart()
		b = openBroker(t, mem, options)
		c = newClient(t, b)
		if got, err := b.Hash(); err != nil || got != want {
			t.Fatalf("hash %x after a restart (clean %v), want %x, %v", got, clean, want, err)
		}
	}
	for step := range steps {
		switch op := rng.IntN(100); {
		case op < 45:
			m := &naiveMessage{body: fmt.Sprintf("%d-%0*d", step, rng.IntN(200), 0), persistent: rng.IntN(3) > 0}
			props := message.Properties{Flags: message.HasDeliveryMode, DeliveryMode: 1}
			if m.persistent {
				props.DeliveryMode = 2
			}
			if priorities {
				m.priority = uint8(rng.IntN(5))
			}
			c.postProps("", "q", m.body, props, func(p *shard.Publish) { p.Priority = m.priority })
			m.priority = min(m.priority, 3)
			q.msgs = append(q.msgs, m)
		case op < 65:
			d, _, ok, err := c.Get("q", false)
			must(t, err)
			want := q.next()
			if ok != (want != nil) || ok && string(d.Env.Body()) != want.body {
				t.Fatalf("step %d: got %v %.20q, want %+v", step, ok, d.Env, want)
			}
			if ok {
				want.out = true
				out = append(out, lent{d, want})
			}
		case op < 96 && len(out) > 0:
			i := rng.IntN(len(out))
			l := out[i]
			out = slices.Delete(out, i, i+1)
			switch rng.IntN(4) {
			case 0:
				c.Requeue(l.d.Queue, nil, l.d.Handle, 1)
				l.m.out = false
				l.m.count++
			case 1:
				c.Reject(l.d.Queue, nil, l.d.Handle, 1)
				c.Flush()
				if q.next(); len(b.set.All) > 1 {
					settleDead(t, c, b)
				}
				q.remove(l.m)
				dead.msgs = append(dead.msgs, &naiveMessage{body: l.m.body, persistent: l.m.persistent})
			default:
				c.Ack(l.d.Queue, nil, l.d.Handle, 1)
				q.remove(l.m)
			}
		case op == 96:
			must(t, err2(c.PurgeQueue("q")))
			q.msgs = slices.DeleteFunc(q.msgs, func(m *naiveMessage) bool { return !m.out })
		case op == 97:
			c.Flush()
			b.checkpointDue(false)
		case op == 99:
			entry := fmt.Sprint(rng.IntN(5), "/", step)
			if rng.IntN(2) == 0 {
				recordEntry(t, b, entry)
			} else {
				must(t, c.DoAll(note(entry), &Count{OnQueue: on("q")}))
			}
		case op == 98 && rng.IntN(3) == 0:
			c.Flush()
			reopen(rng.IntN(2) == 0)
		}
	}
	c.Flush()
	reopen(false)
	slices.SortStableFunc(q.msgs, func(a, b *naiveMessage) int { return int(b.priority) - int(a.priority) })
	sameStrings(t, c.drain("q"), bodiesOf(q)...)
	sameStrings(t, c.drain("dead"), bodiesOf(dead)...)
	mustClose(t, b)
}

// settleDead waits until no dead letter is in transit between shards.
func settleDead(t *testing.T, c *client, b *Broker) {
	for busy := true; busy; {
		busy = false
		for _, sh := range b.set.All {
			must(t, sh.Call(func() { busy = busy || sh.Moving() }))
		}
	}
}

func err2(_ int, err error) error { return err }

func bodiesOf(n *naive) (out []string) {
	for _, m := range n.msgs {
		out = append(out, m.body)
	}
	return out
}
