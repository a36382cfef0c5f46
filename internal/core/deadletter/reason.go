package deadletter

import (
	"slices"

	"fiveways.dev/fiveways/internal/core/queue"
)

// Reason is why a message died, in the terms of x-death.
type Reason string

const (
	Rejected      Reason = "rejected"
	Expired       Reason = "expired"
	MaxLength     Reason = "maxlen"
	DeliveryLimit Reason = "delivery_limit"
)

// dead is the first of the due times that represent reasons. They are beyond all real times.
const dead = int64(1) << 62

// reasons are in the log by their index; never change it.
var reasons = [...]Reason{Rejected, Expired, MaxLength, DeliveryLimit}

// Due returns the time that represents a reason. A dead message that waits in its queue is recorded
// with this due time.
func (r Reason) Due() int64 { return dead + int64(slices.Index(reasons[:], r)) }

// ReasonOf is the inverse of Due; ok is false for a real due time.
func ReasonOf(due int64) (r Reason, ok bool) {
	i := due - dead
	if i < 0 || i >= int64(len(reasons)) {
		return "", false
	}
	return reasons[i], true
}

// Count counts a message that died for this reason.
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
