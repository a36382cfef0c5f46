package broker

import (
	"maps"
	"slices"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// Feature is what a package above this one keeps beside the messages of one queue. A queue has one
// at most; most have none, and pay the look at a pointer for it.
//
// Its methods run on the goroutine of the queue's shard, in the middle of what they tell of: they
// may use the Context, but not publish. None is called of a queue that is gone.
type Feature interface {
	// OnPublish tells that the queue has taken a message, which is ready at due (unix ms, 0 now).
	// Of a stream nothing is told.
	OnPublish(at Context, h queue.Handle, env message.Envelope, due int64)
	// OnSettle tells that n contiguous messages, or some of them, have gone.
	OnSettle(at Context, h queue.Handle, n int)
	// OnRest is called when the queue comes to rest after something has happened to it.
	OnRest(at Context)
	// Hidden is how many of the scheduled messages nobody is shown: those of HeldBack.
	Hidden(at Context) int
}

// HeldBack is the time (unix ms) of a message that a Feature holds back: it does not come, and is
// before those of dead letters. Nobody is shown such a message.
const HeldBack = int64(1) << 61

// attached is the feature of a queue.
type attached struct{ Feature }

// Feature is that of the queue, nil when it has none or is gone. Any goroutine may call it.
func (q *Queue) Feature() Feature {
	if a := q.feature.Load(); a != nil {
		return a.Feature
	}
	return nil
}

// Attach gives the queue its feature. What came before is the feature's to find.
func (at Context) Attach(f Feature) { at.q.feature.Store(&attached{f}) }

// hidden is how many scheduled messages nobody is shown.
func (q *Queue) hidden() int {
	if f := q.Feature(); f != nil {
		return f.Hidden(Context{q.shard, q})
	}
	return 0
}

// settled tells the feature of the queue that messages have gone.
func (sh *shard) settled(q *Queue, h queue.Handle, n int) {
	if f := q.feature.Load(); f != nil {
		f.OnSettle(Context{sh, q}, h, n)
	}
}

// EachQueue runs fn for each queue, by its ID, at its shard. Errors: ErrClosed.
func (b *Broker) EachQueue(fn func(Context)) error {
	for _, sh := range b.shards {
		err := sh.call(func() {
			for _, id := range slices.Sorted(maps.Keys(sh.queues)) {
				fn(Context{sh, sh.queues[id]})
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// At runs fn at the shard of a queue, which may be gone, and returns when that is done. Errors:
// ErrClosed.
func (b *Broker) At(q *Queue, fn func(Context)) error {
	return q.shard.call(func() { fn(Context{q.shard, q}) })
}

// Go runs fn on a goroutine for which Close waits, after it has closed stop.
func (b *Broker) Go(fn func(stop <-chan struct{})) {
	b.housekeeper.Go(func() { fn(b.stop) })
}
