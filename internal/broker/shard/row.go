package shard

// Waiting is a call that waits at a queue until there is something for it. The methods run on the
// goroutine of the queue's shard.
type Waiting interface {
	// Serve tries again, and reports whether the call waits at this queue no more.
	Serve(sh *Shard) (over bool)
	// Dismiss tells that the queue is gone.
	Dismiss()
}

// Turn is the place of a call in the row of a queue. It belongs to the queue's shard.
type Turn struct {
	Of         Waiting
	prev, next *Turn
	inRow      bool
}

// row is the turns at a queue, in order of arrival.
type row struct{ first, last *Turn }

// Waits reports whether the call waits at the queue.
func (t *Turn) Waits() bool { return t.inRow }

// Wait puts a call at the end of the row.
func (q *Queue) Wait(t *Turn) { q.waiting.add(t) }

func (r *row) add(t *Turn) {
	t.inRow, t.prev, t.next = true, r.last, nil
	if r.last != nil {
		r.last.next = t
	} else {
		r.first = t
	}
	r.last = t
}

func (r *row) remove(t *Turn) {
	if !t.inRow {
		return
	}
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		r.first = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		r.last = t.prev
	}
	t.inRow, t.prev, t.next = false, nil, nil
}

// LeaveRow takes a turn out of its row. The time after which the unused queue is deleted begins.
func (sh *Shard) LeaveRow(q *Queue, t *Turn) {
	q.waiting.remove(t)
	if q.Policy().Expires > 0 && !q.gone {
		q.used(sh.now)
		sh.mark(q)
	}
}

// serveAll serves the rows of the queues where something has happened, before anything else happens
// there.
func (sh *Shard) serveAll() {
	for i := 0; i < len(sh.waking); i++ {
		sh.ServeWaiting(sh.waking[i])
	}
	clear(sh.waking)
	sh.waking = sh.waking[:0]
}

// ServeWaiting serves the calls in the row of a queue, as far as there is something for them.
func (sh *Shard) ServeWaiting(q *Queue) {
	for t := q.waiting.first; t != nil && (q.wakeAll || q.state.Ready() > 0); {
		next := t.next
		if t.Of.Serve(sh) {
			q.waiting.remove(t)
		}
		t = next
	}
	q.waking, q.wakeAll = false, false
}

// dismissWaiting empties the row of a queue that is gone: the calls of Await begin again.
func (q *Queue) dismissWaiting() {
	for t := q.waiting.first; t != nil; t = q.waiting.first {
		q.waiting.remove(t)
		t.Of.Dismiss()
	}
}
