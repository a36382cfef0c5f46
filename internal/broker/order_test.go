package broker

import (
	"testing"
	"testing/synctest"

	"fiveways.dev/fiveways/internal/broker/shard"
)

// A message published before another op of the same round reaches the consumers that were waiting
// at that time.
func TestConsumersBeforeLaterOps(t *testing.T) {
	for name, later := range map[string]func(c *client, k *shard.Consumer){
		"cancel": func(c *client, k *shard.Consumer) { c.Cancel(k) },
		"get": func(c *client, _ *shard.Consumer) {
			if d, _, ok, err := c.Get("q", true); ok || err != nil {
				c.t.Errorf("got %s, %v", d.Env.Body(), err)
			}
		},
		"get several": func(c *client, _ *shard.Consumer) { sameStrings(c.t, bodies(c.gets("q", 1))) },
		"consumer with a higher priority": func(c *client, _ *shard.Consumer) {
			c.consume("q", func(s *shard.ConsumerSpec) { s.Priority, s.Tag = 1, "high" })
		},
		"delete": func(c *client, _ *shard.Consumer) {
			if n, err := c.DeleteQueue("q", false, false); n != 0 || err != nil {
				c.t.Errorf("%d messages, %v", n, err)
			}
		},
		"purge": func(c *client, _ *shard.Consumer) {
			if n, err := c.PurgeQueue("q"); n != 0 || err != nil {
				c.t.Errorf("%d messages, %v", n, err)
			}
		},
		"count": func(c *client, _ *shard.Consumer) {
			if info, err := c.DeclareQueue(QueueSpec{Name: "q", Passive: true}); info.Ready != 0 || err != nil {
				c.t.Errorf("%d messages, %v", info.Ready, err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, c := inBubble(t)
				c.queue("q", nil)
				k := c.consume("q", func(s *shard.ConsumerSpec) { s.Tag = "first" })
				synctest.Wait()
				gate := make(chan struct{})
				for _, sh := range b.set.All {
					sh.Post(func() { <-gate })
				}
				synctest.Wait()
				c.post("", "q", "m", nil)
				c.Flush()
				go later(c, k)
				synctest.Wait()
				close(gate)
				synctest.Wait()
				got := c.received()
				sameStrings(t, bodies(got), "m")
				if len(got) == 1 && got[0].Consumer.Tag != "first" {
					t.Errorf("it went to %s", got[0].Consumer.Tag)
				}
			})
		})
	}
}
