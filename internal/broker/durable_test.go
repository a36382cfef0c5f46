package broker

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"testing"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// lateRun records what a late consumer and a reader with AwaitDurable saw before the crash.
type lateRun struct {
	told  map[queue.Handle]string
	acked map[queue.Handle]bool
	top   queue.Handle
}

func (r *lateRun) tell(h queue.Handle, body string) {
	r.told[h] = body
	r.top = max(r.top, h)
}

func (r *lateRun) live(t *testing.T, b *Broker) {
	c := newClient(t, b)
	if _, err := c.DeclareQueue(QueueSpec{Name: "q", Durable: true, Policy: DefaultQueuePolicy()}); err != nil {
		return
	}
	sink := newSink(t)
	s, err := b.OperateLate("/", sink)
	if err != nil {
		t.Fatal(err)
	}
	k, err := s.Consume(shard.ConsumerSpec{Queue: "q", Tag: "late", Prefetch: 3})
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for i := range 12 {
		c.post("", "q", fmt.Sprint("m", i), nil) // no caller waits for it
		c.Flush()
		if i%2 == 1 {
			if r.browse(s) != nil {
				break
			}
		}
		sink.mu.Lock()
		got := sink.got[seen:]
		seen = len(sink.got)
		sink.mu.Unlock()
		for _, d := range got {
			r.tell(d.Handle, string(d.Env.Body()))
			if i%3 != 0 {
				r.acked[d.Handle] = true
				s.Ack(d.Queue, k, d.Handle, 1)
				s.Flush()
			}
		}
		if i%5 == 4 {
			b.checkpointDue(false)
		}
	}
	sink.mu.Lock()
	defer sink.mu.Unlock()
	for _, d := range sink.got {
		r.tell(d.Handle, string(d.Env.Body()))
	}
}

// browse browses the queue, and counts what it saw once all of that is durable.
func (r *lateRun) browse(s *Session) error {
	seen, err := shownIn(s, "q")
	if err != nil {
		return err
	}
	q, err := s.usableQueue("q")
	if err != nil {
		return err
	}
	if err := q.AwaitDurable(); err != nil {
		return err
	}
	for _, m := range seen {
		r.tell(m.handle, m.body)
	}
	return nil
}

func (r *lateRun) check(t *testing.T, b *Broker) {
	if len(r.told) == 0 {
		return
	}
	c := newClient(t, b)
	all, err := shownIn(c.Session, "q")
	if err != nil {
		t.Fatalf("%d messages were told, and the queue: %v", len(r.told), err)
	}
	there := map[queue.Handle]string{}
	for _, m := range all {
		there[m.handle] = m.body
	}
	for h, body := range r.told {
		if have, ok := there[h]; ok && have != body || !ok && !r.acked[h] {
			t.Fatalf("%s was told at %d, and now %q is there (%v)", body, h, have, ok)
		}
	}
	c.put("", "q", "new", nil)
	if d := c.find("new"); d <= r.top {
		t.Fatalf("a new message is at %d, and one was told of at %d", d, r.top)
	}
}

// find returns the position of a message of q.
func (c *client) find(body string) queue.Handle {
	c.t.Helper()
	all, err := shownIn(c.Session, "q")
	must(c.t, err)
	for _, m := range all {
		if m.body == body {
			return m.handle
		}
	}
	c.t.Fatalf("%s is not there", body)
	return 0
}

// TestWrittenIsNotDurable: an entry without a promise is written, and synced a little later. A
// caller or a sink that must have it durable waits for the sync.
func TestWrittenIsNotDurable(t *testing.T) {
	for name, tell := range map[string]func(t *testing.T, b *Broker, q *shard.Queue){
		"AwaitDurable": func(t *testing.T, _ *Broker, q *shard.Queue) {
			if err := q.AwaitDurable(); err != nil {
				t.Fatal(err)
			}
		},
		"a late consumer": func(t *testing.T, b *Broker, _ *shard.Queue) {
			sink := newSink(t)
			s, err := b.OperateLate("/", sink)
			if err != nil {
				t.Fatal(err)
			}
			sink.Session = s
			if _, err := s.Consume(shard.ConsumerSpec{Queue: "q", Tag: "late"}); err != nil {
				t.Fatal(err)
			}
			sink.take(1)
		},
	} {
		t.Run(name, func(t *testing.T) {
			for round := range uint64(10) {
				mem := vfs.NewMem()
				b := openBroker(t, mem, nil)
				c := newClient(t, b)
				c.queue("q", nil)
				c.post("", "q", "m", func(p *shard.Publish) { p.Confirm = nil })
				c.Flush()
				q, err := c.usableQueue("q")
				if err != nil {
					t.Fatal(err)
				}
				if err := q.Home().Call(func() {}); err != nil { // the round with the message is over
					t.Fatal(err)
				}
				for b.set.Log.Pending() > 0 {
					runtime.Gosched() // until it is written
				}
				tell(t, b, q)
				again := openBroker(t, mem.CrashClone(rand.New(rand.NewPCG(round, 0))), nil)
				if got := newClient(t, again).drain("q"); len(got) != 1 {
					t.Fatalf("round %d: %q after a power failure", round, got)
				}
				mustClose(t, again)
				mustClose(t, b)
			}
		})
	}
}

// TestToldIsDurable crashes at each disk operation in turn. Each message that a late consumer got,
// or that was seen before AwaitDurable returned, exists afterwards at its position, which no other
// message has.
func TestToldIsDurable(t *testing.T) {
	var r *lateRun
	most := 0
	crashEverywhere(t, 2, func() life {
		r = &lateRun{told: map[queue.Handle]string{}, acked: map[queue.Handle]bool{}}
		return life{
			options: smallLog,
			live: func(b *Broker) {
				r.live(t, b)
				most = max(most, len(r.told))
			},
			check: func(b *Broker) {
				one := lateRun{maps.Clone(r.told), maps.Clone(r.acked), r.top}
				one.check(t, b)
			},
		}
	})
	if most < 12 {
		t.Errorf("%d messages were told", most)
	}
}
