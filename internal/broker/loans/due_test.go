package loans

import (
	"context"
	"testing"

	"fiveways/internal/broker"
	"fiveways/internal/broker/enginetest"
)

func TestDue(t *testing.T) {
	enginetest.Deadlines(t, map[string]enginetest.Deadline{
		"message, lent by its id": func(ec *enginetest.Client) func() bool {
			c := client{ec}
			c.Queue("q", nil)
			c.named("q", "m", func(p *broker.Publish) { p.TTL = enginetest.DueMS })
			return func() bool {
				_, ok, err := AcquireByID(context.Background(), c.Session, "q", "m", nil)
				enginetest.Must(c.T, err)
				return !ok
			}
		},
	})
}
