package shard

import (
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Feature is the additional state that a higher package keeps for one queue. A queue has at most
// one. Most have none, which costs them a nil check.
//
// The methods run on the goroutine of the queue's shard, during the change that they report. They
// may use the Context, but not publish. They are not called for a deleted queue.
type Feature interface {
	// OnPublish reports that the queue has accepted a message, which is ready at due (unix ms, 0:
	// now). It is not called for streams.
	OnPublish(at Context, h queue.Handle, env message.Envelope, due int64)
	// OnSettle reports that n contiguous messages, or some of them, are gone.
	OnSettle(at Context, h queue.Handle, n int)
	// OnRest is called when the shard has finished its work on a queue that changed. If it returns
	// true, it is called again soon.
	OnRest(at Context) (more bool)
	// Hidden returns the number of scheduled messages that are not shown: those of HeldBack.
	Hidden(at Context) int
}

// HeldBack is the due time (unix ms) of messages that a Feature holds back, which are not shown. It
// is never reached, and precedes the due times of dead letters.
const HeldBack = int64(1) << 61

// attached is the feature of a queue.
type attached struct{ Feature }

// Feature returns the queue's feature, nil if it has none or is deleted. Any goroutine may call it.
func (q *Queue) Feature() Feature {
	if a := q.feature.Load(); a != nil {
		return a.Feature
	}
	return nil
}

// Attach gives the queue its feature, which must find existing messages itself.
func (at Context) Attach(f Feature) { at.q.feature.Store(&attached{f}) }

// hidden returns the number of scheduled messages that are not shown.
func (q *Queue) hidden() int {
	if f := q.Feature(); f != nil {
		return f.Hidden(Context{q.shard, q})
	}
	return 0
}

// settled reports to the feature of the queue that messages are gone.
func (sh *Shard) settled(q *Queue, h queue.Handle, n int) {
	if f := q.feature.Load(); f != nil {
		f.OnSettle(Context{sh, q}, h, n)
	}
}
