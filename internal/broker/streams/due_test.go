package streams

import (
	"testing"

	"fiveways.dev/fiveways/internal/broker/enginetest"
	"fiveways.dev/fiveways/internal/core/stream"
)

// pending has an entry pending for a consumer.
func pending(c *enginetest.Client) {
	r := &GroupRead{OnGroup: onGroup("s", "g"), Consumer: "one", Max: 1}
	c.MustDo(newAdd("s", 5, "a"), &GroupSet{OnGroup: onGroup("s", "g"), Create: true}, r)
	if len(r.Entries) != 1 {
		c.T.Fatalf("read %v", r.Entries)
	}
}

func TestDue(t *testing.T) {
	enginetest.Deadlines(t, map[string]enginetest.Deadline{
		"idle entry, claimed": func(c *enginetest.Client) func() bool {
			pending(c)
			return func() bool {
				k := &GroupClaim{
					OnGroup: onGroup("s", "g"), Consumer: "two", IDs: []stream.ID{{Ms: 5}}, MinIdle: enginetest.DueMS, Time: -1, Count: -1,
				}
				c.MustDo(k)
				return len(k.Entries) > 0
			}
		},
		"idle entry, swept": func(c *enginetest.Client) func() bool {
			pending(c)
			return func() bool {
				k := &GroupSweep{OnGroup: onGroup("s", "g"), Consumer: "two", MinIdle: enginetest.DueMS, Max: 1}
				c.MustDo(k)
				return len(k.Entries) > 0
			}
		},
		"idle entry, listed": func(c *enginetest.Client) func() bool {
			pending(c)
			return func() bool {
				k := &GroupPending{OnGroup: onGroup("s", "g"), List: true, To: stream.MaxID, Max: 1, MinIdle: enginetest.DueMS}
				c.MustDo(k)
				return len(k.Entries) > 0
			}
		},
	})
}
