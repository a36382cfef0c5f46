package broker

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// insisting makes a queue dead-letter at least once.
func insisting(exchange, key string) func(*QueueSpec) {
	return func(s *QueueSpec) {
		s.Policy.DeadLetter, s.Policy.AtLeastOnce, s.Policy.DeadLetterExchange = true, true, exchange
		if key != "" {
			s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, key
		}
	}
}

// full makes a queue refuse more than n messages.
func full(n int64) func(*QueueSpec) {
	return func(s *QueueSpec) { s.Policy.MaxLength, s.Policy.Overflow = n, RejectPublish }
}

// rejectAll rejects all ready messages.
func (c *client) rejectAll(q string) (n int) {
	c.t.Helper()
	for ; ; n++ {
		d, _, ok, err := c.Get(q, false)
		must(c.t, err)
		if !ok {
			c.Flush()
			return n
		}
		c.Reject(d.Queue, nil, d.Handle, 1)
	}
}

// counts returns the numbers of ready and unacked messages of a queue.
func counts(t *testing.T, c *client, name string) (ready, unacked int) {
	t.Helper()
	q, ok := c.vhost.Queue(name)
	if !ok {
		t.Fatalf("no queue %s", name)
	}
	must(t, q.Home().Call(func() {
		ready, unacked = shard.ContextOf(q).Deliveries().Ready(), shard.ContextOf(q).Deliveries().Unacked()
	}))
	return ready, unacked
}

func wantCounts(t *testing.T, c *client, name string, ready, unacked int) {
	t.Helper()
	if r, u := counts(t, c, name); r != ready || u != unacked {
		t.Errorf("%s: %d ready and %d unacked, want %d and %d", name, r, u, ready, unacked)
	}
}

// A dead message without a route waits, also across restarts, and is sent once there is a route.
func TestInsistsUntilThereIsAWay(t *testing.T) {
	for name, restart := range map[string]int{"running": 0, "stopped": 1, "crashed": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := vfs.NewMem()
				b := openBroker(t, fs, nil)
				c := newClient(t, b)
				c.queue("src", func(s *QueueSpec) { insisting("x", "")(s); s.Policy.MessageTTL = 5_000 })
				c.queue("dead", nil)
				c.put("", "src", "rejected", nil)
				c.rejectAll("src")
				c.put("", "src", "expired", nil)
				time.Sleep(10 * time.Second)
				c.put("", "src", "alive", func(p *shard.Publish) { p.TTL = 60_000 })
				wantCounts(t, c, "src", 1, 2)
				b, c, fs = again(t, b, c, fs, restart)
				wantCounts(t, c, "src", 1, 2)
				must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout", Durable: true}))
				synctest.Wait()
				wantCounts(t, c, "src", 1, 2)
				b, c, fs = again(t, b, c, fs, restart)
				before := time.Now()
				must(t, c.Bind(BindSpec{Source: "x", Destination: "dead"}))
				k := c.consume("dead", nil)
				got := c.take(2)
				if waited := time.Since(before); waited > 50*time.Millisecond {
					t.Errorf("it took %v", waited)
				}
				sameStrings(t, bodies(got), "rejected", "expired")
				for i, want := range []string{"rejected", "expired"} {
					_, _, raw, _ := got[i].Env.Split()
					props, err := message.DecodeProperties(raw)
					must(t, err)
					if reason, _ := props.Headers.Get("x-first-death-reason"); reason != want {
						t.Errorf("reason %v, want %s", reason, want)
					}
				}
				c.Ack(k.Queue, k, got[0].Handle, 2)
				c.Flush()
				synctest.Wait()
				wantCounts(t, c, "src", 1, 0)
				d, _, ok, err := c.Get("src", true)
				if err != nil || !ok || restart == 1 && d.Redelivered {
					t.Errorf("got %v, %v, redelivered %v", ok, err, d.Redelivered)
				}
				b, c, _ = again(t, b, c, fs, restart)
				wantCounts(t, c, "src", 0, 0)
				wantCounts(t, c, "dead", 0, 0)
				c.Close()
				mustClose(t, b)
			})
		})
	}
}

// A full queue gets dead letters later: they are retried after 1 s, 2 s, 4 s … 30 s, in order where
// possible.
func TestInsistsUntilThereIsRoom(t *testing.T) {
	for _, shards := range []int{1, 2} { // target on the same shard, and on another
		for _, count := range []int{5, 3000} {
			synctest.Test(t, func(t *testing.T) {
				b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = shards })
				c := newClient(t, b)
				c.queue("src", insisting("", "dead"))
				c.queue("dead", full(1))
				c.put("", "dead", "blocks", nil)
				var want []string
				for i := range count {
					want = append(want, fmt.Sprint(i))
					c.post("", "src", want[i], nil)
				}
				c.rejectAll("src")
				synctest.Wait()
				wantCounts(t, c, "src", 0, count)
				time.Sleep(6500 * time.Millisecond) // attempts at 1 s and 3 s; the next at 7 s
				sameStrings(t, c.drain("dead"), "blocks")
				synctest.Wait()
				wantCounts(t, c, "dead", 0, 0)
				time.Sleep(time.Second)
				wantCounts(t, c, "dead", 1, 0)
				var got []string
				k := c.consume("dead", func(s *shard.ConsumerSpec) { s.Prefetch = 500 })
				for len(got) < count {
					for _, d := range c.take(1) {
						got = append(got, string(d.Env.Body()))
						c.Ack(k.Queue, k, d.Handle, 1)
						c.Flush()
					}
				}
				if shards == 1 { // several are in transit to another shard at a time
					sameStrings(t, got, want...)
				}
				slices.Sort(got)
				slices.Sort(want)
				sameStrings(t, got, want...)
				synctest.Wait()
				wantCounts(t, c, "src", 0, 0)
				for _, sh := range b.set.All {
					if bytes, queues := shard.DebugOf(sh).UnderWay(0); bytes != 0 || queues != 0 {
						t.Errorf("shard %d: %d bytes under way, %d queues", sh.ID, bytes, queues)
					}
				}
				c.Close()
				mustClose(t, b)
			})
		}
	}
}

// Targets that have accepted a dead letter do not get it again.
func TestInsistsOnEachTarget(t *testing.T) {
	for _, shards := range []int{1, 3} {
		synctest.Test(t, func(t *testing.T) {
			b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = shards })
			c := newClient(t, b)
			c.queue("src", insisting("x", ""))
			c.queue("free", nil)
			c.queue("full", full(0))
			must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout"}))
			for _, q := range []string{"free", "full"} {
				must(t, c.Bind(BindSpec{Source: "x", Destination: q}))
			}
			c.put("", "src", "m", nil)
			c.rejectAll("src")
			time.Sleep(time.Hour)
			sameStrings(t, c.drain("free"), "m")
			wantCounts(t, c, "src", 0, 1)
			must(t, err2(c.DeleteQueue("full", false, false)))
			time.Sleep(time.Second)
			wantCounts(t, c, "src", 0, 0)
			wantCounts(t, c, "free", 0, 0)
			c.Close()
			mustClose(t, b)
		})
	}
}

// Dead letters with one routing key do not delay those with another.
func TestInsistsByKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		c := newClient(t, b)
		must(t, c.DeclareExchange(ExchangeSpec{Name: "in", Type: "fanout"}))
		must(t, c.DeclareExchange(ExchangeSpec{Name: "x", Type: "direct"}))
		c.queue("src", insisting("x", ""))
		c.queue("dead", nil)
		must(t, c.Bind(BindSpec{Source: "in", Destination: "src"}))
		must(t, c.Bind(BindSpec{Source: "x", Destination: "dead", Key: "known"}))
		for _, key := range []string{"unknown", "known", "unknown", "known"} {
			c.put("in", key, key, nil)
		}
		c.rejectAll("src")
		synctest.Wait()
		sameStrings(t, c.drain("dead"), "known", "known")
		wantCounts(t, c, "src", 0, 2)
		must(t, err2(c.DeleteQueue("src", false, false)))
		time.Sleep(time.Hour)
		c.Close()
		mustClose(t, b)
	})
}

// Where nothing can be promised nothing waits: with drop-head overflow, and in a cycle.
func TestDoesNotInsist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, vfs.NewMem(), nil)
		c := newClient(t, b)
		c.queue("drops", func(s *QueueSpec) { insisting("nowhere", "")(s); s.Policy.MaxLength = 1 })
		c.put("", "drops", "1", nil)
		c.put("", "drops", "2", nil)
		c.rejectAll("drops")
		synctest.Wait()
		wantCounts(t, c, "drops", 0, 0)
		c.queue("round", func(s *QueueSpec) { insisting("", "round")(s); s.Policy.MessageTTL = 1000 })
		c.put("", "round", "m", nil)
		time.Sleep(2 * time.Second)
		wantCounts(t, c, "round", 0, 0)
		c.Close()
		mustClose(t, b)
	})
}

// TestInsistsThroughCrashes crashes at each disk operation in turn: a confirmed message is always
// in the source or in one of its targets.
func TestInsistsThroughCrashes(t *testing.T) {
	crashEverywhere(t, 1, func() life {
		var confirmed []string
		return life{
			options: smallLog,
			live:    func(b *Broker) { confirmed = insistUntilCrash(t, b) },
			check: func(b *Broker) {
				c := newClient(t, b)
				defer c.Close()
				there := map[string]bool{}
				for _, name := range []string{"src", "dead", "other"} {
					for _, body := range contents(t, c, name) {
						there[body] = true
					}
				}
				for _, body := range confirmed {
					if !there[body] {
						t.Errorf("%s is lost", body)
					}
				}
			},
		}
	})
}

// insistUntilCrash publishes and rejects messages until a promise fails.
func insistUntilCrash(t *testing.T, b *Broker) (confirmed []string) {
	c := newClient(t, b)
	for name, change := range map[string]func(*QueueSpec){"src": insisting("x", ""), "dead": full(3), "other": full(100)} {
		spec := QueueSpec{Name: name, Durable: true, Policy: DefaultQueuePolicy()}
		change(&spec)
		if _, err := c.DeclareQueue(spec); err != nil {
			return nil
		}
	}
	if c.DeclareExchange(ExchangeSpec{Name: "x", Type: "fanout", Durable: true}) != nil {
		return nil
	}
	for i := range 20 {
		body := fmt.Sprintf("m%02d", i)
		seq := c.post("", "src", body, nil)
		c.Flush()
		c.until(func() bool { return c.acks[seq]+c.nacks[seq] > 0 })
		if c.nacks[seq] > 0 {
			return confirmed
		}
		confirmed = append(confirmed, body)
		if i%2 == 1 {
			c.rejectAll("src")
		}
		if name := map[int]string{6: "dead", 9: "other"}[i]; name != "" && c.Bind(BindSpec{Source: "x", Destination: name}) != nil {
			return confirmed
		}
		if i%5 == 4 {
			b.checkpointDue(false)
		}
	}
	return confirmed
}

// contents returns the bodies of all messages of a queue, in any state.
func contents(t *testing.T, c *client, name string) (bodies []string) {
	q, ok := c.vhost.Queue(name)
	if !ok {
		return nil
	}
	must(t, q.Home().Call(func() {
		var handles []queue.Handle
		shard.ContextOf(q).Deliveries().Each(0, func(it *queue.Item, _ queue.Status) bool {
			handles = append(handles, it.Handle)
			return true
		})
		for _, h := range handles {
			it, _ := shard.ContextOf(q).Deliveries().Get(h)
			env, err := shard.ContextOf(q).Load(it)
			must(t, err)
			bodies = append(bodies, string(env.Body()))
		}
	}))
	return bodies
}

// Even if many messages are found dead at once, the entries that record this have about EntryBytes.
func TestInsistsInEntriesOfBoundedSize(t *testing.T) {
	const count = 100_000
	fs := vfs.NewMem()
	synctest.Test(t, func(t *testing.T) {
		b := openBroker(t, fs, func(o *Options) { o.Shards = 1 })
		c := newClient(t, b)
		c.queue("src", func(s *QueueSpec) { insisting("nowhere", "")(s); s.Policy.MessageTTL = 60_000 })
		for range count - 1 {
			c.post("", "src", "", nil)
		}
		c.put("", "src", "", nil)
		time.Sleep(2 * time.Minute)
		wantCounts(t, c, "src", 0, count)
		c.Close()
		mustClose(t, b)
	})
	for index, n := range entryLengths(t, fs, 1) {
		if n > shardlog.EntryBytes+64<<10 {
			t.Errorf("entry %d has %d bytes", index, n)
		}
	}
}
