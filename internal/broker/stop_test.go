package broker

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// A clean stop duplicates no message in transit between shards.
func TestStopWhileMessagesMove(t *testing.T) {
	const count = 3000
	for name, put := range map[string]func(*client, int){
		"due":  func(c *client, i int) { c.postProps("later", "", fmt.Sprint(i), delayOf64(1000), nil) },
		"dead": func(c *client, i int) { c.post("", "src", fmt.Sprint(i), nil) },
		"sure": func(c *client, i int) { c.post("", "sure", fmt.Sprint(i), nil) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				fs := vfs.NewMem()
				b := openBroker(t, fs, threeShards)
				c := newClient(t, b)
				for i := range 3 {
					c.queue(fmt.Sprint("spread", i), nil)
				}
				c.delayed("later", "fanout", nil)
				c.queue("src", func(s *QueueSpec) {
					s.Policy.DeadLetter, s.Policy.DeadLetterExchange, s.Policy.MessageTTL = true, "later", 1000
				})
				c.queue("sure", func(s *QueueSpec) { insisting("later", "")(s); s.Policy.MessageTTL = 1000 })
				for i := range 3 {
					c.bind("later", fmt.Sprint("spread", i), "")
				}
				for i := range count {
					put(c, i)
				}
				c.Flush()
				c.until(func() bool { return len(c.acks) == count })
				c.Close()
				time.Sleep(time.Second)
				mustClose(t, b)
				b = openBroker(t, fs, threeShards)
				defer mustClose(t, b)
				c = newClient(t, b)
				defer c.Close()
				time.Sleep(time.Minute)
				synctest.Wait()
				for i := range 3 {
					if got := len(c.drain(fmt.Sprint("spread", i))); got != count {
						t.Errorf("%d messages, want %d", got, count)
					}
				}
				look(t, c.bufferOn("later"), func(s *queue.Deliveries) {
					if n := s.Ready() + s.Unacked() + s.Scheduled(); n != 0 {
						t.Errorf("%d are left in the buffer", n)
					}
				})
			})
		})
	}
}
