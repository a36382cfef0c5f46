package loans

import (
	"context"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/broker/shard"
	"fiveways.dev/fiveways/internal/core/message"
)

func TestDue(t *testing.T) {
	fetched := func(keep func(message.Envelope) bool) enginetest.Deadline {
		return func(ec *enginetest.Client) func() bool {
			c := client{ec}
			c.Queue("q", nil)
			c.Put("q", "m", func(p *shard.Publish) { p.TTL = enginetest.DueMS })
			return func() bool { return len(c.fetch("q", 1, keep)) == 0 }
		}
	}
	enginetest.Deadlines(t, map[string]enginetest.Deadline{
		"message, fetched": fetched(nil),
		"message, chosen":  fetched(func(message.Envelope) bool { return true }),
		"message, lent by its id": func(ec *enginetest.Client) func() bool {
			c := client{ec}
			c.Queue("q", nil)
			c.named("q", "m", func(p *shard.Publish) { p.TTL = enginetest.DueMS })
			return func() bool {
				_, ok, err := AcquireByID(context.Background(), c.Session, "q", "m", nil)
				enginetest.Must(c.T, err)
				return !ok
			}
		},
	})
}
