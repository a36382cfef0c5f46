package shard

import "fiveways.dev/fiveways/internal/core/list"

// Waiting is a call that waits at a queue until it gets something. Its methods run on the goroutine
// of the queue's shard.
type Waiting interface {
	// Serve tries again, and reports whether the call no longer waits at this queue.
	Serve(sh *Shard) (over bool)
	// Dismiss reports that the queue is gone.
	Dismiss()
}

// Turn is the position of a call in the waiting line of a queue. It belongs to the queue's shard.
type Turn struct {
	Of    Waiting
	links list.Links[Turn]
}

// Links implements the element of a list.
func (t *Turn) Links() *list.Links[Turn] { return &t.links }

// Waits reports whether the call waits at the queue.
func (t *Turn) Waits() bool { return t.links.In() }

// Wait adds a call at the end of the line.
func (q *Queue) Wait(t *Turn) { q.waiting.Add(t) }

// LeaveRow takes a turn out of its line. If the queue is now unused, its time until deletion
// begins.
func (sh *Shard) LeaveRow(q *Queue, t *Turn) {
	q.waiting.Remove(t)
	if q.Policy().Expires > 0 && !q.gone {
		q.used(sh.now)
		sh.mark(q)
	}
}

// serveAll serves the waiting calls of the queues that have changed, before any other change to
// these.
func (sh *Shard) serveAll() {
	for i := 0; i < len(sh.waking); i++ {
		sh.ServeWaiting(sh.waking[i])
	}
	clear(sh.waking)
	sh.waking = sh.waking[:0]
}

// ServeWaiting serves the calls that wait at a queue, as long as it has something for them.
func (sh *Shard) ServeWaiting(q *Queue) {
	for t := q.waiting.First(); t != nil && (q.wakeAll || q.state.Ready() > 0); {
		next := q.waiting.Next(t)
		if t.Of.Serve(sh) {
			q.waiting.Remove(t)
		}
		t = next
	}
	q.waking, q.wakeAll = false, false
}

// dismissWaiting empties the line of a deleted queue: the calls of Await start over.
func (q *Queue) dismissWaiting() {
	for t := q.waiting.First(); t != nil; t = q.waiting.First() {
		q.waiting.Remove(t)
		t.Of.Dismiss()
	}
}
