package broker

import (
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/storage/faultlog"
	"fiveways.dev/fiveways/internal/storage/store"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// heldServerPublish calls fn while the log holds back the group of a message "e" of the server to
// the queues q0 and q1, from which c consumes. fn releases the log.
func heldServerPublish(t *testing.T, fn func(c *client, log *faultlog.Log)) {
	synctest.Test(t, func(t *testing.T) {
		var log *faultlog.Log
		b := openBroker(t, vfs.NewMem(), func(o *Options) {
			withMachine(newTally())(o)
			o.WrapLog = func(st *store.Store) shardlog.Log { log = faultlog.New(st); return log }
		})
		defer mustClose(t, b)
		c := newClient(t, b)
		defer c.Close()
		c.bound("events", "#", "#")
		log.Hold()
		done := make(chan error, 1)
		go func() {
			s, err := b.Operate("/")
			if err == nil {
				err = s.DoAll(emit("events", "k", "e"), note("e"))
			}
			done <- err
		}()
		synctest.Wait()
		fn(c, log)
		must(t, <-done)
	})
}

// delivered returns the bodies that the client has got so far.
func (c *client) delivered() []string {
	synctest.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	return bodies(c.got)
}

// A consumer gets a message of the server once it is durable, and messages behind it in the queue
// not before.
func TestServerPublishWaits(t *testing.T) {
	heldServerPublish(t, func(c *client, log *faultlog.Log) {
		c.consume("q0", nil)
		other := newClient(t, c.b)
		defer other.Close()
		other.post("", "q0", "behind", nil)
		other.Flush()
		if got := c.delivered(); len(got) > 0 {
			t.Errorf("%q before they are durable", got)
		}
		log.Release()
		sameStrings(t, c.delivered(), "e", "behind")
		other.put("", "q0", "later", nil)
		sameStrings(t, c.delivered(), "e", "behind", "later")
	})
}

// Get waits, too.
func TestServerPublishWaitsForGet(t *testing.T) {
	heldServerPublish(t, func(c *client, log *faultlog.Log) {
		got := make(chan string, 1)
		go func() {
			d, _, _, err := c.Get("q0", true)
			if err != nil || d.Env == nil {
				t.Errorf("got nothing: %v", err)
				close(got)
				return
			}
			got <- string(d.Env.Body())
		}()
		synctest.Wait()
		select {
		case body := <-got:
			t.Errorf("%q before it is durable", body)
			got <- body
		default:
		}
		log.Release()
		sameStrings(t, []string{<-got}, "e")
	})
}

// A consumer that leaves has received its deliveries when Cancel returns, and can return them.
func TestServerPublishAndCancel(t *testing.T) {
	heldServerPublish(t, func(c *client, log *faultlog.Log) {
		k := c.consume("q0", nil)
		left := make(chan struct{})
		go func() {
			c.Cancel(k)
			close(left)
		}()
		synctest.Wait()
		log.Release()
		<-left
		ds := c.take(1)
		sameStrings(t, bodies(ds), "e")
		c.Return(ds[0].Queue, ds[0].Consumer, ds[0].Handle, 1)
		sameStrings(t, c.drain("q0"), "e")
	})
}

// A message is not delivered if its queue is deleted before the message is durable, and no longer
// counts towards a limit of the channel.
func TestServerPublishAndDelete(t *testing.T) {
	heldServerPublish(t, func(c *client, log *faultlog.Log) {
		limit := shard.NewLimit(2)
		for _, q := range []string{"q0", "q1"} {
			c.consume(q, func(s *shard.ConsumerSpec) { s.Limit, s.Tag = limit, q })
		}
		deleted := make(chan error, 1)
		go func() {
			other, err := c.b.Operate("/")
			if err == nil {
				_, err = other.DeleteQueue("q0", false, false)
			}
			deleted <- err
		}()
		synctest.Wait()
		log.Release()
		must(t, <-deleted)
		sameStrings(t, c.delivered(), "e")
		other := newClient(t, c.b)
		defer other.Close()
		other.put("", "q1", "second", nil)
		sameStrings(t, c.delivered(), "e", "second")
	})
}

// A command executed by Run, for example one that lends messages to SQL clients, is answered once
// the messages of the server that it may have seen are durable.
func TestServerPublishIsNotSeenEarly(t *testing.T) {
	heldServerPublish(t, func(c *client, log *faultlog.Log) {
		seen := make(chan error, 1)
		count := &Count{OnQueue: OnQueue{Queue: "q0"}}
		go func() { seen <- c.Run(count) }()
		synctest.Wait()
		select {
		case <-seen:
			t.Fatal("answered before the message of the server is durable")
		default:
		}
		log.Release()
		must(t, <-seen)
		if count.Ready != 1 {
			t.Errorf("%d messages", count.Ready)
		}
	})
}
