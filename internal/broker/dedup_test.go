package broker

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// once makes a queue accept one message per key.
func once(entries, ttl int64) func(*QueueSpec) {
	return func(s *QueueSpec) {
		s.Policy.Deduplicate, s.Policy.DedupEntries, s.Policy.DedupTTL = true, entries, ttl
	}
}

// sieve declares an exchange that passes one message per key.
func (c *client) sieve(name, kind string, args message.Table) {
	c.t.Helper()
	p := DefaultQueuePolicy()
	p.Deduplicate = true
	must(c.t, c.DeclareExchange(ExchangeSpec{Name: name, Type: kind, Durable: true, Args: args, Buffer: p}))
}

func key(v any) message.Properties { return header("x-deduplication-header", v) }

func TestQueueTakesEachKeyOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, c := inBubble(t)
		c.queue("q", once(3, -1))
		put := func(body string, props message.Properties) {
			if c.send("", "q", body, props) != 0 {
				t.Errorf("%s was refused", body)
			}
		}
		put("a", key("a"))
		put("a again", key("a"))
		put("no key", message.Properties{})
		put("no key", message.Properties{})
		put("seven", key(int32(7)))
		put("another seven", key(int64(7)))
		put("text seven", key("7"))
		sameStrings(t, c.drain("q"), "a", "no key", "no key", "seven")
		if n := b.Stats().Duplicates; n != 3 {
			t.Errorf("%d duplicates counted", n)
		}
		put("b", key("b"))
		put("c", key("c"))
		put("a has been forgotten", key("a"))
		sameStrings(t, c.drain("q"), "b", "c", "a has been forgotten")
	})
}

func TestKeysAreRememberedForTheirTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, c := inBubble(t)
		c.queue("q", once(100, 10_000))
		own := key("short")
		own.Headers.Set("x-cache-ttl", int32(1000))
		for range 12 {
			c.send("", "q", "short", own)
			c.send("", "q", "long", key("long"))
			time.Sleep(time.Second)
		}
		got := c.drain("q")
		if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return s == "long" })); n != 12 || len(got) != 14 {
			t.Errorf("in 12 s came %q", got)
		}
	})
}

func TestFullQueueRemembersNothing(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 1 })
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	c.sieve("sieve", "fanout", nil)
	c.queue("q", func(s *QueueSpec) {
		once(10, -1)(s)
		s.Policy.MaxLength, s.Policy.Overflow = 1, RejectPublish
	})
	c.bind("sieve", "q", "")
	for exchange, body := range map[string]string{"": "direct", "sieve": "sifted"} {
		c.send("", "q", "in the way", message.Properties{})
		if c.send(exchange, "q", body, key(body)) != 1 {
			t.Fatal("a full queue took a message")
		}
		c.drain("q")
		if c.send(exchange, "q", body, key(body)) != 0 {
			t.Fatal("a queue with room refused")
		}
		if c.send(exchange, "q", body, key(body)) != 0 {
			t.Error("a duplicate at a full queue was refused: its sender would try again for ever")
		}
		sameStrings(t, c.drain("q"), body)
		tx := c.NewTx()
		for _, id := range []string{"tx1", "tx2"} {
			c.postProps(exchange, "q", id, key(body+id), func(p *shard.Publish) { tx.Publish(p); p.Targets, p.Confirm = shard.Targets{}, nil })
		}
		if err := tx.Commit(); !errors.Is(err, ErrRejected) {
			t.Errorf("two messages for one place: %v", err)
		}
	}
}

func TestExchangePassesEachKeyOnce(t *testing.T) {
	for _, shards := range []int{1, 3} {
		t.Run(fmt.Sprint(shards, " shards"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := vfs.NewMem()
				options := func(o *Options) { o.Shards = shards }
				b := openBroker(t, fs, options)
				c := newClient(t, b)
				c.sieve("sieve", "direct", nil)
				c.sieve("later", "x-delayed-message", message.Table{{Name: "x-delayed-type", Value: "fanout"}})
				for i := range 3 {
					q := fmt.Sprint("q", i)
					c.queue(q, nil)
					c.bind("sieve", q, "k")
					c.bind("later", q, "")
				}
				c.send("sieve", "k", "one", key("1"))
				c.send("sieve", "k", "one again", key("1"))
				c.send("sieve", "elsewhere", "nowhere", key("2"))
				tx := c.NewTx()
				for _, body := range []string{"in a tx", "twice in a tx"} {
					c.postProps("sieve", "k", body, key("3"), func(p *shard.Publish) { tx.Publish(p); p.Targets, p.Confirm = shard.Targets{}, nil })
				}
				must(t, tx.Commit())
				delayed := key("4")
				delayed.Headers.Set("x-delay", int32(1000))
				c.send("later", "", "later", delayed)
				c.send("later", "", "later again", delayed)
				time.Sleep(1010 * time.Millisecond)
				synctest.Wait()
				for i := range 3 {
					sameStrings(t, c.drain(fmt.Sprint("q", i)), "one", "in a tx", "later")
				}
				look(t, c.bufferOn("sieve"), func(s *queue.Deliveries) {
					if n := s.NextSeq(0); shards == 1 && n != 1 {
						t.Errorf("%d messages went through the buffer of one shard", n-1)
					}
				})
				syncAll(t, b)
				before, _ := b.Hash()
				c.Close()
				mustClose(t, b)

				b = openBroker(t, fs, options)
				defer mustClose(t, b)
				if after, _ := b.Hash(); after != before {
					t.Errorf("the hash is %x, was %x", after, before)
				}
				c = newClient(t, b)
				defer c.Close()
				for i := range 5 {
					c.send("sieve", "k", fmt.Sprint("restarted ", i), key(fmt.Sprint(i)))
				}
				synctest.Wait()
				sameStrings(t, c.drain("q0"), "restarted 0", "restarted 4")
			})
		})
	}
}

func TestTransientKeysAreForgottenByARestart(t *testing.T) {
	fs := vfs.NewMem()
	for _, want := range [][]string{{"a", "p"}, {"a"}} {
		b := openBroker(t, fs, nil)
		c := newClient(t, b)
		c.queue("q", once(10, -1))
		transient := key("a")
		transient.DeliveryMode = 1
		for range 2 {
			c.send("", "q", "a", transient)
			c.send("", "q", "p", key("p"))
		}
		sameStrings(t, c.drain("q"), want...)
		must(t, b.journal.Checkpoint(b.set.Store))
		c.Close()
		mustClose(t, b)
	}
}

func TestHistoryCannotDeduplicate(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	defer c.Close()
	p := DefaultQueuePolicy()
	p.Deduplicate = true
	if err := c.DeclareExchange(ExchangeSpec{Name: "h", Type: "x-recent-history", Buffer: p}); !errors.Is(err, ErrInvalidBinding) {
		t.Errorf("declared: %v", err)
	}
}
