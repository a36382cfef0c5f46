package broker

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
)

// A returned message is delivered again until it expires, and is then dead-lettered: with a TTL of
// 0 at once, however it is returned.
func TestWhatComesBackDue(t *testing.T) {
	ways := map[string]func(*client, shard.Delivery){
		"requeue": func(c *client, d shard.Delivery) { c.Requeue(d.Queue, d.Consumer, d.Handle, 1) },
		"return":  func(c *client, d shard.Delivery) { c.Return(d.Queue, d.Consumer, d.Handle, 1) },
		"transaction": func(c *client, d shard.Delivery) {
			tx := c.NewTx()
			tx.Requeue(d.Queue, d.Consumer, d.Handle, 1)
			must(c.t, tx.Commit())
		},
	}
	for name, back := range ways {
		for _, ofQueue := range []bool{true, false} {
			for _, k := range []struct {
				ttl  int64
				wait time.Duration // before the return
				dead bool
			}{{0, 0, true}, {5, 0, false}, {5, 5 * time.Millisecond, true}, {5, 3 * time.Millisecond, false}} {
				t.Run(fmt.Sprint(name, " ", ofQueue, " ", k.ttl, " ", k.wait), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						_, c := inBubble(t)
						c.queue("dead", nil)
						c.queue("q", func(s *QueueSpec) {
							s.Policy.DeadLetter, s.Policy.HasDeadLetterKey, s.Policy.DeadLetterKey = true, true, "dead"
							if ofQueue {
								s.Policy.MessageTTL = k.ttl
							}
						})
						c.consume("q", func(s *shard.ConsumerSpec) { s.Prefetch = 1 })
						c.post("", "q", "x", func(p *shard.Publish) {
							if !ofQueue {
								p.TTL = k.ttl
							}
						})
						c.Flush()
						d := c.take(1)[0]
						time.Sleep(k.wait)
						back(c, d)
						c.Flush()
						synctest.Wait()
						again := len(c.received())
						if dead := c.drain("dead"); k.dead != (len(dead) == 1) || k.dead != (again == 0) {
							t.Errorf("delivered again %d times, dead %v", again, dead)
						}
					})
				})
			}
		}
	}
}
