package jobs

import (
	"errors"
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/failure"
)

const dueMS = enginetest.DueMS

// withOne enqueues a job and returns c.
func (c jobClient) withOne(change func(*Enqueue)) jobClient {
	c.mustEnqueue("a", "m", change)
	return c
}

var deadlines = map[string]func(c jobClient) func() bool{
	"lease, taken again": func(c jobClient) func() bool {
		c.withOne(nil).takeOne(dueMS)
		return func() bool { return len(c.take(1, dueMS)) > 0 }
	},
	"lease, got": func(c jobClient) func() bool {
		c.withOne(nil).takeOne(dueMS)
		return func() bool { return len(c.Drain(c.q)) > 0 }
	},
	"lease, extended": func(c jobClient) func() bool {
		j := c.withOne(nil).takeOne(dueMS)
		return func() bool {
			e := &Extend{OnQueue: enginetest.On(c.q), ID: j.ID, Token: j.Token, Lock: dueMS}
			enginetest.Must(c.T, c.Do(e))
			return errors.Is(e.Err, failure.ErrStale)
		}
	},
	"lease, reported": func(c jobClient) func() bool {
		j := c.withOne(nil).takeOne(dueMS)
		return func() bool { return errors.Is(c.report(j, Done, 0), failure.ErrStale) }
	},
	"backoff": func(c jobClient) func() bool {
		c.withOne(func(e *Enqueue) { e.Backoff = dueMS })
		return func() bool { return len(c.take(1, 0)) > 0 }
	},
	"backoff of one to try again": func(c jobClient) func() bool {
		enginetest.Must(c.T, c.report(c.withOne(nil).takeOne(0), Retry, dueMS))
		return func() bool { return len(c.take(1, 0)) > 0 }
	},
	"backoff of one that is done": func(c jobClient) func() bool {
		enginetest.Must(c.T, c.report(c.withOne(nil).takeOne(0), Done, dueMS))
		return func() bool {
			_, err := c.enqueue("a", "again", nil)
			return err == nil
		}
	},
	"life": func(c jobClient) func() bool {
		c.withOne(func(e *Enqueue) { e.TTL = dueMS })
		return func() bool { return len(c.take(1, 0)) == 0 }
	},
}

func TestDue(t *testing.T) {
	all := map[string]enginetest.Deadline{}
	for name, begin := range deadlines {
		all[name] = func(c *enginetest.Client) func() bool { return begin(jobClient{c, "jobs"}) }
	}
	enginetest.Deadlines(t, all)
}
