package broker

import (
	"errors"
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// An at-least-once dead letter is in transit while its target is deleted: it is kept, because it
// did not arrive.
func TestInsistsWhileTheTargetIsDeleted(t *testing.T) {
	for name, shards := range map[string]int{"same shard": 1, "another": 2} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = shards })
				defer mustClose(t, b)
				c := newClient(t, b)
				defer c.Close()
				c.queue("src", insisting("", "dead"))
				c.queue("dead", nil)
				c.put("", "src", "m", nil)
				q, _ := c.vhost.Queue("dead")
				must(t, q.At(func(shard.Context) { q.Home().DropNow(q) })) // the first half of a deletion
				c.rejectAll("src")
				synctest.Wait()
				wantCounts(t, c, "src", 0, 1)
				b.deleteQueue(q) // the second half
				c.queue("dead", nil)
				synctest.Wait()
				sameStrings(t, c.drain("dead"), "m")
				wantCounts(t, c, "src", 0, 0)
			})
		})
	}
}

// A message that replaces another one is not lost if its queue is deleted before the transaction
// commits: the original stays.
func TestMoveToADeletedQueue(t *testing.T) {
	for name, shards := range map[string]int{"one shard": 1, "several": 8} {
		t.Run(name, func(t *testing.T) {
			b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = shards })
			defer mustClose(t, b)
			c := newClient(t, b)
			defer c.Close()
			c.queue("src", nil)
			c.queue("to", nil)
			c.put("", "src", "m", nil)
			d, _, _, err := c.Get("src", false)
			must(t, err)
			to, err := c.Into("to")
			must(t, err)
			tx := c.NewTx()
			tx.Publish(&shard.Publish{Targets: to, Env: d.Env, Persistent: true, TTL: -1, MustArrive: true})
			tx.Ack(d.Queue, nil, d.Handle, 1)
			_, err = c.DeleteQueue("to", false, false)
			must(t, err)
			if err := tx.Commit(); !errors.Is(err, ErrRejected) {
				t.Errorf("committed: %v", err)
			}
			c.Release(d.Queue, d.Handle, 1)
			sameStrings(t, c.drain("src"), "m")
		})
	}
}

// Redis's EXEC and etcd's transactions find their queues before their commands run together. If a
// queue is deleted in between, no successful command is lost: it creates the queue again if it
// creates queues, and fails otherwise.
func TestTogetherWithADeletedQueue(t *testing.T) {
	for name, k := range map[string]struct {
		change  func(c *Post)
		err     error // of DoAll
		own     error // of the command
		q, rest []string
	}{
		"makes its queue":                  {func(p *Post) {}, nil, nil, []string{"m"}, []string{"r"}},
		"must be done":                     {func(p *Post) { p.Create = false }, ErrQueueNotFound, ErrQueueNotFound, nil, nil},
		"is left out, and says that it is": {func(p *Post) { p.Create, p.Must = false, false }, nil, ErrQueueNotFound, nil, []string{"r"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, c := inBubble(t)
				c.queue("q", nil)
				c.queue("rest", nil)
				gate := make(chan struct{})
				for _, sh := range b.set.All {
					sh.Post(func() { <-gate })
				}
				go func() { _, _ = newClient(t, b).DeleteQueue("q", false, false) }()
				synctest.Wait() // the deletion is at the shard, and the queue can still be found
				m, r := post("q", "m"), post("rest", "r")
				k.change(m)
				done := make(chan error, 1)
				go func() { done <- c.DoAll(m, r) }()
				synctest.Wait()
				close(gate)
				if err := <-done; !errors.Is(err, k.err) {
					t.Errorf("DoAll: %v", err)
				}
				if !errors.Is(m.Err, k.own) {
					t.Errorf("the post: %v", m.Err)
				}
				synctest.Wait()
				if _, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true}); (err == nil) != (k.q != nil) {
					t.Errorf("the queue that was deleted: %v", err)
				} else if err == nil {
					sameStrings(t, c.drain("q"), k.q...)
				}
				sameStrings(t, c.drain("rest"), k.rest...)
			})
		})
	}
}
