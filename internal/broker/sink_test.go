package broker

import (
	"fmt"
	"testing"
	"testing/synctest"

	stored "fiveways.dev/fiveways/internal/broker/bodies"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Deliveries of a deleted queue count towards a shared limit until they are settled, and no longer.
func TestLimitOfDeletedQueue(t *testing.T) {
	for name, settle := range map[string]func(*client, shard.Delivery){
		"ack":     func(c *client, d shard.Delivery) { c.Ack(d.Queue, d.Consumer, d.Handle, 1) },
		"requeue": func(c *client, d shard.Delivery) { c.Requeue(d.Queue, d.Consumer, d.Handle, 1) },
		"reject":  func(c *client, d shard.Delivery) { c.Reject(d.Queue, d.Consumer, d.Handle, 1) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, c := inBubble(t)
				c.queue("a", nil)
				c.queue("b", nil)
				limited := func(limit *shard.Limit) func(*shard.ConsumerSpec) {
					return func(s *shard.ConsumerSpec) { s.Limit = limit }
				}
				limit := shard.NewLimit(1)
				c.put("", "a", "1", nil)
				c.consume("a", limited(limit))
				out := c.take(1)
				c.consume("b", limited(limit))
				c.put("", "b", "2", nil)
				if _, err := c.DeleteQueue("a", false, false); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if len(c.got) != 0 {
					t.Fatalf("%q came although the only place is taken", bodies(c.got))
				}
				settle(c, out[0])
				c.Flush()
				synctest.Wait()
				sameStrings(t, bodies(c.got), "2")
			})
		})
	}
}

// Only some queues of a shard keep a read-ahead buffer. Without one, reading continues where it
// stopped.
func TestReadAheadIsBounded(t *testing.T) {
	fs := vfs.NewMem()
	one := func(o *Options) { o.Shards = 1 }
	b := openBroker(t, fs, one)
	c := newClient(t, b)
	names := make([]string, stored.MaxReaders+8)
	for i := range names {
		names[i] = string(rune('A' + i))
		c.queue(names[i], nil)
		for _, body := range []string{"1", "2", "3"} {
			c.post("", names[i], body, nil)
		}
	}
	c.Flush()
	c.until(func() bool { return len(c.acks) == 3*len(names) })
	c.Close()
	mustClose(t, b)
	b = openBroker(t, fs, one)
	c = newClient(t, b)
	for _, want := range []string{"1", "2"} {
		for _, name := range names {
			d, _, ok, err := c.Get(name, true)
			if err != nil || !ok || string(d.Env.Body()) != want {
				t.Fatalf("queue %s: %q, %v, want %s", name, d.Env.Body(), err, want)
			}
		}
	}
	sh := b.set.All[0]
	must(t, sh.Call(func() {
		if open, listed := shard.DebugOf(sh).Readers(); open != stored.MaxReaders || listed != stored.MaxReaders {
			t.Errorf("%d queues with a buffer, %d in the list, want %d", open, listed, stored.MaxReaders)
		}
	}))
	for _, name := range names {
		sameStrings(t, c.drain(name), "3")
	}
	c.Close()
	mustClose(t, b)
}

// Consumers of one session may share a protocol channel, which guarantees the queue's order across
// all of them.
func TestOrderOverConsumersOfASession(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", nil)
	for _, tag := range []string{"a", "b", "c"} {
		c.consume("q", func(s *shard.ConsumerSpec) { s.Tag = tag })
	}
	for i := range 6 {
		c.post("", "q", fmt.Sprint(i), nil)
	}
	c.Flush()
	ds := c.take(6)
	sameStrings(t, bodies(ds), "0", "1", "2", "3", "4", "5")
	if ds[0].Consumer == ds[1].Consumer || ds[1].Consumer == ds[2].Consumer {
		t.Error("the consumers do not take turns")
	}
}
