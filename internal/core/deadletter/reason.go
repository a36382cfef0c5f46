package deadletter

import (
	"slices"

	"fiveways.dev/fiveways/internal/core/queue"
)

// Reason is why a message died, as x-death says it.
type Reason string

const (
	Rejected      Reason = "rejected"
	Expired       Reason = "expired"
	MaxLength     Reason = "maxlen"
	DeliveryLimit Reason = "delivery_limit"
)

// dead is the first of the times that stand for reasons: the end of time, by reason of death.
const dead = int64(1) << 62

// reasons are in the log by their place; never change it.
var reasons = [...]Reason{Rejected, Expired, MaxLength, DeliveryLimit}

// Due is the time that stands for a reason. A message that is dead and waits in its queue is
// recorded as one that is not delivered before this time.
func (r Reason) Due() int64 { return dead + int64(slices.Index(reasons[:], r)) }

// ReasonOf is the inverse of Due; ok is false for a time of the living.
func ReasonOf(due int64) (r Reason, ok bool) {
	i := due - dead
	if i < 0 || i >= int64(len(reasons)) {
		return "", false
	}
	return reasons[i], true
}

// Count counts a message that died of it.
func (r Reason) Count(c *queue.Counts) {
	switch r {
	case Expired:
		c.Expired++
	case Rejected:
		c.Rejected++
	case MaxLength:
		c.PushedOut++
	case DeliveryLimit:
		c.TooOften++
	}
}
