package broker

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// dueIn is the time until the deadlines in the table.
const dueIn = 10 * time.Millisecond

const dueMs = int64(dueIn / time.Millisecond)

// dueCase is one kind of deadline: begin sets one that is dueIn away and returns a function that
// reports whether it has passed.
type dueCase struct {
	begin  func(c *client) (due func() bool)
	timed  bool          // only a timer acts on it, not an access to the queue
	beyond time.Duration // how much later than dueIn it is
}

// absent reports whether a list is empty.
func absent[T any](list []T) bool { return len(list) == 0 }

// expiring publishes a message that expires to a queue that change may configure.
func (c *client) expiring(change func(*QueueSpec)) {
	c.queue("q", change)
	c.put("", "q", "m", ttl(dueIn))
}

// later publishes a scheduled message.
func (c *client) later() {
	c.queue("q", nil)
	c.put("", "q", "m", func(p *shard.Publish) { p.NotBefore = c.b.set.NowMillis() + dueMs })
}

// isGone reports whether a queue does not exist.
func (c *client) isGone(name string) bool {
	_, err := c.DeclareQueue(QueueSpec{Name: name, Passive: true})
	return errors.Is(err, ErrQueueNotFound)
}

func inGroups(s *QueueSpec) { s.Policy.GroupHeader = "group" }

func withDead(s *QueueSpec) {
	s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, "dead"
}

var dueCases = map[string]dueCase{
	"message, got": {begin: func(c *client) func() bool {
		c.expiring(nil)
		return func() bool { return absent(c.drain("q")) }
	}},
	"message by the queue's TTL, got": {begin: func(c *client) func() bool {
		c.queue("q", func(s *QueueSpec) { s.Policy.MessageTTL = dueMs })
		c.put("", "q", "m", nil)
		return func() bool { return absent(c.drain("q")) }
	}},
	"message of a queue with groups, got": {begin: func(c *client) func() bool {
		c.expiring(inGroups)
		return func() bool { return absent(c.drain("q")) }
	}},
	"parked message, got when its group is free": {begin: func(c *client) func() bool {
		c.queue("q", inGroups)
		a := header("group", "a")
		c.postProps("", "q", "first", a, nil)
		c.postProps("", "q", "m", a, ttl(dueIn))
		d, _, _, err := c.Get("q", false)
		must(c.t, err)
		if _, _, ok, _ := c.Get("q", false); ok {
			c.t.Error("a second message of a group")
		}
		return func() bool {
			c.Ack(d.Queue, nil, d.Handle, 1)
			return absent(c.drain("q"))
		}
	}},
	"message, counted": {begin: func(c *client) func() bool {
		c.expiring(nil)
		return func() bool {
			info, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true})
			must(c.t, err)
			return info.Ready == 0
		}
	}},
	"message, for a consumer that comes": {begin: func(c *client) func() bool {
		c.expiring(nil)
		return func() bool {
			c.consume("q", nil)
			syncAll(c.t, c.b)
			return absent(c.received())
		}
	}},
	"message, for a consumer that comes to groups": {begin: func(c *client) func() bool {
		c.expiring(inGroups)
		return func() bool {
			c.consume("q", nil)
			syncAll(c.t, c.b)
			return absent(c.received())
		}
	}},
	"message that comes back": {begin: func(c *client) func() bool {
		c.expiring(nil)
		d, _, _, err := c.Get("q", false)
		must(c.t, err)
		return func() bool {
			c.Requeue(d.Queue, nil, d.Handle, 1)
			return absent(c.drain("q"))
		}
	}},
	"message, dead-lettered": {timed: true, begin: func(c *client) func() bool {
		c.queue("dead", nil)
		c.expiring(withDead)
		return func() bool { return !absent(c.drain("dead")) }
	}},
	"scheduled message, got": {begin: func(c *client) func() bool {
		c.later()
		return func() bool { return !absent(c.drain("q")) }
	}},
	"scheduled message, fetched": {begin: func(c *client) func() bool {
		c.later()
		return func() bool { return !absent(c.gets("q", 1)) }
	}},
	"scheduled message, counted": {begin: func(c *client) func() bool {
		c.later()
		return func() bool {
			info, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true})
			must(c.t, err)
			return info.Ready == 1
		}
	}},
	"scheduled message, for a consumer that waits": {timed: true, begin: func(c *client) func() bool {
		c.later()
		c.consume("q", nil)
		return func() bool { return !absent(c.received()) }
	}},
	"message that waits after a reject": {begin: func(c *client) func() bool {
		c.queue("q", func(s *QueueSpec) { s.Policy.RetryType, s.Policy.RetryMin = RetryAll, dueMs })
		c.put("", "q", "m", nil)
		d, _, _, err := c.Get("q", false)
		must(c.t, err)
		c.Requeue(d.Queue, nil, d.Handle, 1)
		c.Flush()
		return func() bool { return !absent(c.drain("q")) }
	}},
	// A delay starts within a millisecond and must not be too short, so it ends one millisecond
	// later.
	"message of a delayed exchange": {timed: true, beyond: time.Millisecond, begin: func(c *client) func() bool {
		c.delayed("x", "fanout", nil)
		c.queue("q", nil)
		c.bind("x", "q", "")
		c.send("x", "", "m", delayOf64(dueMs))
		return func() bool { return !absent(c.drain("q")) }
	}},
	"unused queue": {timed: true, begin: func(c *client) func() bool {
		c.queue("q", func(s *QueueSpec) { s.Policy.Expires = dueMs })
		return func() bool { return c.isGone("q") }
	}},
	"queue without its consumer": {timed: true, begin: func(c *client) func() bool {
		c.queue("q", func(s *QueueSpec) { s.Policy.Expires = dueMs })
		c.Cancel(c.consume("q", nil))
		return func() bool { return c.isGone("q") }
	}},
	"key of duplicates": {begin: func(c *client) func() bool {
		c.queue("q", once(10, dueMs))
		c.send("", "q", "m", key("k"))
		return func() bool {
			c.send("", "q", "m", key("k"))
			return len(c.drain("q")) == 2
		}
	}},
	"transient key of duplicates": {begin: func(c *client) func() bool {
		c.queue("q", once(10, dueMs))
		k := key("k")
		k.DeliveryMode = 1
		c.send("", "q", "m", k)
		return func() bool {
			c.send("", "q", "m", k)
			return len(c.drain("q")) == 2
		}
	}},
}

// A deadline passes at the start of its millisecond and not before, whether the timer or an access
// to the queue comes first.
func TestDue(t *testing.T) {
	for name, k := range dueCases {
		for _, late := range []bool{false, true} {
			after := dueIn + k.beyond
			if !late {
				after -= time.Millisecond
			}
			look := func(t *testing.T, change func(*Options), wait func()) {
				b := openBroker(t, vfs.NewMem(), change)
				c := newClient(t, b)
				due := k.begin(c)
				syncAll(t, b)
				wait()
				if got := due(); got != late {
					t.Errorf("after %v it is due: %v", after, got)
				}
				c.Close()
				mustClose(t, b)
			}
			t.Run(name+", "+after.String()+", the timer first", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					look(t, nil, func() {
						time.Sleep(after)
						synctest.Wait()
					})
				})
			})
			if k.timed {
				continue
			}
			t.Run(name+", "+after.String()+", who looks first", func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					clock := newClock(1_000_000)
					look(t, func(o *Options) { o.Now = clock.Now }, func() { clock.ms.Add(after.Milliseconds()) })
				})
			})
		}
	}
}
