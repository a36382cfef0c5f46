package broker

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// onceOnly declares an exchange that passes only one message per key.
func (c *client) onceOnly(name string) {
	c.t.Helper()
	spec := ExchangeSpec{Name: name, Type: "fanout", Durable: true, Buffer: DefaultQueuePolicy()}
	spec.Buffer.Deduplicate = true
	must(c.t, c.DeclareExchange(spec))
}

// Exchanges that hold messages may be bound in a cycle, as others may: each queue gets a message
// once.
func TestBuffersInACircle(t *testing.T) {
	declare := map[string]func(*client, string){
		"delays":     func(c *client, x string) { c.delayed(x, "fanout", nil) },
		"duplicates": (*client).onceOnly,
		"both": func(c *client, x string) {
			c.delayed(x, "fanout", func(s *ExchangeSpec) { s.Buffer = DefaultQueuePolicy(); s.Buffer.Deduplicate = true })
		},
	}
	messages := map[string]message.Properties{
		"plain": header("other", "x"), "delay": delayOf64(1000), "key": header("x-deduplication-header", "k"),
	}
	for name, one := range declare {
		for kind, props := range messages {
			for shards := 1; shards <= 3; shards += 2 {
				t.Run(fmt.Sprint(name, " ", kind, " ", shards), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = shards })
						defer mustClose(t, b)
						c := newClient(t, b)
						defer c.Close()
						one(c, "a")
						one(c, "b")
						for _, bind := range []BindSpec{{Source: "a", Destination: "b"}, {Source: "b", Destination: "a"}} {
							bind.ToExchange = true
							must(t, c.Bind(bind))
						}
						c.queue("qa", nil)
						c.queue("qb", nil)
						c.bind("a", "qa", "")
						c.bind("b", "qb", "")
						c.send("a", "", "m", props)
						time.Sleep(10 * time.Second)
						synctest.Wait()
						sameStrings(t, c.drain("qa"), "m")
						sameStrings(t, c.drain("qb"), "m")
						for _, x := range []string{"a", "b"} {
							look(t, c.bufferOn(x), func(s *queue.Deliveries) {
								if s.Ready()+s.Unacked()+s.Scheduled() != 0 {
									t.Errorf("the buffer of %s is not empty", x)
								}
							})
						}
					})
				})
			}
		}
	}
}

// A dead letter without a delay does not cycle through a delayed exchange, just as with other
// exchanges.
func TestDeadLettersThroughBuffersInACircle(t *testing.T) {
	for name, one := range map[string]func(*client, string){
		"delays": func(c *client, x string) { c.delayed(x, "fanout", nil) }, "duplicates": (*client).onceOnly,
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := openBroker(t, vfs.NewMem(), func(o *Options) { o.Shards = 1 })
				defer mustClose(t, b)
				c := newClient(t, b)
				defer c.Close()
				one(c, "x")
				c.queue("short", func(s *QueueSpec) {
					s.Policy.MaxLength, s.Policy.DeadLetter, s.Policy.DeadLetterExchange = 1, true, "x"
				})
				c.bind("x", "short", "")
				c.put("", "short", "first", nil)
				c.put("", "short", "second", nil)
				synctest.Wait()
				sameStrings(t, c.drain("short"), "second")
			})
		})
	}
}
