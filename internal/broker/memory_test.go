package broker

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// Many queues with a little data each release their memory once their bodies are on disk, even if
// the queues are idle.
func TestManySmallQueuesStayBelowTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const queues, each, limit = 60, 32, 1 << 20
		body := strings.Repeat("x", 1024)
		b := openBroker(t, vfs.NewMem(), func(o *Options) { o.MemoryLimit, o.Shards = limit, 1 })
		c := newClient(t, b)
		for i := range queues {
			name := fmt.Sprint("q", i)
			c.queue(name, nil)
			for range each {
				c.post("", name, body, nil)
			}
			c.Flush()
		}
		c.until(func() bool { return len(c.acks) == queues*each })
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if used := b.Stats().Memory; used > limit/2 || b.Alarm() != nil {
			t.Errorf("idle: %d bytes of %d, alarm %v", used, limit, b.Alarm())
		}
		for _, name := range []string{"q0", fmt.Sprint("q", queues-1)} {
			if got := c.drain(name); len(got) != each || got[0] != body {
				t.Errorf("%s gave %d messages, want %d", name, len(got), each)
			}
		}
		c.Close()
		mustClose(t, b)
	})
}

// The disk space of spilled bodies is freed once they are no longer needed, whatever their end.
func TestScratchIsGivenBack(t *testing.T) {
	const count = 200
	body := strings.Repeat("x", 8<<10)
	for name, end := range map[string]func(*client){
		"drained": func(c *client) {
			if got := c.drain("q"); len(got) != count || got[0] != body || got[count-1] != body {
				c.t.Errorf("%d messages came back, want %d", len(got), count)
			}
		},
		"purged": func(c *client) {
			_, err := c.PurgeQueue("q")
			must(c.t, err)
		},
		"deleted": func(c *client) {
			_, err := c.DeleteQueue("q", false, false)
			must(c.t, err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b := openBroker(t, vfs.NewMem(), func(o *Options) { o.MemoryLimit, o.SegmentBytes, o.Shards = 256<<10, 64<<10, 1 })
				c := newClient(t, b)
				c.queue("q", func(s *QueueSpec) { s.Durable = false })
				for range count {
					c.put("", "q", body, func(p *shard.Publish) { p.Persistent = false })
				}
				time.Sleep(2 * time.Second)
				if n := b.set.Scratch.Stats().Segments; n < 5 {
					t.Fatalf("%d scratch segments: too little was spilled", n)
				}
				end(c)
				time.Sleep(2 * checkpointRound)
				synctest.Wait()
				if s := b.set.Scratch.Stats(); s.Segments != 1 || s.Live != 0 {
					t.Errorf("%d scratch segments, %d live bodies", s.Segments, s.Live)
				}
				c.Close()
				mustClose(t, b)
			})
		})
	}
}
