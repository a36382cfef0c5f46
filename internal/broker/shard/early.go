package shard

import (
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/queue"
)

// goEarly gives a message the position that it requests (Config.Order), unless the queue has groups
// or selectors.
func (sh *Shard) goEarly(q *Queue, h queue.Handle, at dispatch.Place) {
	if q.after == nil || q.selective != nil || sh.set.Order == nil {
		return
	}
	if q.early == nil {
		q.early = dispatch.NewEarly(q.state)
	}
	q.early.Add(h, at)
}

// setEarly sets aside those of n contiguous messages that have such a position and are ready.
func (q *Queue) setEarly(h queue.Handle, n int) {
	if q.early != nil {
		q.early.Park(h, n)
	}
}

// endEarly returns all messages to their order of arrival.
func (q *Queue) endEarly() {
	if q.early != nil {
		q.early = nil
		q.state.UnparkAll()
	}
}

// nextEarly is nextReady for messages with a requested position. It returns nil if another one is
// first.
func (sh *Shard) nextEarly(q *Queue, until int64) *queue.Item {
	h, ok := q.early.Next(sh.now, until, func(it *queue.Item) (dispatch.Place, bool) {
		env, err := sh.bodies.Load(&q.reader, it)
		if err != nil {
			return dispatch.FirstPlace, true // the delivery reports the error
		}
		return sh.set.Order(env)
	})
	if q.early.Empty() {
		q.early = nil
	}
	if !ok {
		return nil
	}
	return sh.takeAside(q, h, until)
}
