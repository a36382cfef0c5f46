package lists

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
)

// expiring puts a message that expires.
func expiring(c *enginetest.Client) {
	c.Queue("q", nil)
	c.Put("q", "m", func(p *shard.Publish) { p.TTL = enginetest.DueMS })
}

// scheduled schedules a message.
func scheduled(c *enginetest.Client) {
	c.Queue("q", nil)
	now := int64(0)
	c.At("q", func(at shard.Context) { now = at.Now() })
	c.Put("q", "m", func(p *shard.Publish) { p.NotBefore = now + enginetest.DueMS })
}

// popsBack reports whether the back of the queue has a message.
func popsBack(c *enginetest.Client) bool {
	p := &Pop{OnQueue: enginetest.On("q"), Back: true, Max: 1}
	c.MustDo(p)
	return p.Got()
}

// lists reports whether the queue shows a message.
func lists(c *enginetest.Client) bool {
	r := &Range{OnQueue: enginetest.On("q"), First: 0, Last: -1}
	c.MustDo(r)
	return len(r.Bodies) > 0
}

func TestDue(t *testing.T) {
	enginetest.Deadlines(t, map[string]enginetest.Deadline{
		"message, taken from the back": func(c *enginetest.Client) func() bool {
			expiring(c)
			return func() bool { return !popsBack(c) }
		},
		"message, listed": func(c *enginetest.Client) func() bool {
			expiring(c)
			return func() bool { return !lists(c) }
		},
		"scheduled message, taken from the back": func(c *enginetest.Client) func() bool {
			scheduled(c)
			return func() bool { return popsBack(c) }
		},
		"scheduled message, listed": func(c *enginetest.Client) func() bool {
			scheduled(c)
			return func() bool { return lists(c) }
		},
	})
}
