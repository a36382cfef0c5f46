package shard

import (
	"slices"
	"sync"

	"fiveways.dev/fiveways/internal/core/deadletter"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// deadStep is the maximum number of attempts in one round.
const deadStep = 1024

// atLeastOnce is a dead letter in transit that must arrive (QueuePolicy.AtLeastOnce). Until all its
// targets have accepted it, the message stays in its queue, unacked and without a consumer.
type atLeastOnce struct {
	source *Queue
	wait   deadletter.Waiting
	key    string
	row    bool // it comes from the backlog, which counts it under this key
	size   int64
	inline bool // its only target is on the source's shard: the source is settled in the same entry

	mu      sync.Mutex // shards and the committer answer on their own goroutines
	targets []*Queue   // one publish each, numbered by its index
	open    int        // targets that have not answered
	taken   []uint64   // ids of the queues that have the message
}

// sendAtLeastOnce sends a dead message to all queues it is routed to, or keeps it for a later
// attempt. row means that the message comes from the backlog.
func (sh *Shard) sendAtLeastOnce(q *Queue, w deadletter.Waiting, env message.Envelope, row bool) {
	m, err := deadletter.Rewrite(env, q.deadLettersFrom(), w.Reason, sh.now)
	if err != nil {
		sh.set.Logger.Error("a dead message cannot be rewritten", "vhost", q.vhost.Name, "queue", q.Name, "err", err)
		sh.keepDead(q, "", w)
		return
	}
	key := string(m.Env.Key())
	if !row && q.dead != nil && q.dead.Waits(key) {
		sh.holdDead(q, &w)
		q.dead.Add(key, w)
		return
	}
	routed := q.vhost.route(&m)
	targets := withoutCycles(routed, &m).queues
	if len(targets) == 0 && !routed.Empty() {
		sh.settleDead(q, w.Handle) // otherwise it would return in a cycle
		return
	}
	targets = slices.DeleteFunc(slices.Clone(targets), func(to *Queue) bool { return slices.Contains(w.Taken, to.ID) })
	if len(targets) == 0 {
		if len(w.Taken) > 0 {
			sh.settleDead(q, w.Handle)
		} else {
			sh.keepDead(q, key, w)
		}
		return
	}
	sh.forwardAtLeastOnce(&atLeastOnce{source: q, wait: w, key: key, row: row, size: int64(len(env)), targets: targets}, &m)
}

// forwardAtLeastOnce hands the dead letter to the shards of its targets.
func (sh *Shard) forwardAtLeastOnce(d *atLeastOnce, m *deadletter.Message) {
	base := deadLetterOp(m, sh.onward(d.source))
	if d.row {
		d.source.dead.Sent(d.key)
	}
	sh.deadBytes += d.size + 1
	if len(d.targets) == 1 && d.targets[0].shard == sh {
		d.inline = true
		base.Queue, base.Extra = d.targets[0], d
		sh.local = append(sh.local, base)
		return
	}
	d.open = len(d.targets)
	base.Confirm = d
	for i, to := range d.targets {
		o := base
		o.Queue, o.Seq = to, uint64(i)
		sh.pass(to.shard, o)
	}
}

// mustArrive reports whether the publish is a dead letter that counts as refused if its queue was
// deleted meanwhile.
func (o *Op) mustArrive() bool {
	_, inline := o.Extra.(*atLeastOnce)
	_, sent := o.Confirm.(*atLeastOnce)
	return inline || sent
}

// Confirmed implements shardlog.Confirmer. Once all targets have answered, it reports to the
// source's shard.
func (d *atLeastOnce) Confirmed(from, to uint64, ok bool) {
	d.mu.Lock()
	for i := from; i <= to; i++ {
		d.open--
		if ok {
			d.taken = append(d.taken, d.targets[i].ID)
		}
	}
	last := d.open == 0
	d.mu.Unlock()
	if last {
		d.source.shard.Send(Op{Kind: opSettle, Extra: d})
	}
}

// arrived completes a dead letter to a queue of the same shard, in the entry of its publish.
func (d *atLeastOnce) arrived(sh *Shard, ok bool) {
	if ok {
		d.taken = append(d.taken, d.targets[0].ID)
	}
	d.finish(sh)
}

// finish settles the source, or keeps it for another attempt with the targets that refused it.
func (d *atLeastOnce) finish(sh *Shard) {
	q := d.source
	sh.deadBytes -= d.size + 1
	if q.gone {
		return
	}
	if d.row {
		q.dead.Answered(d.key)
	}
	if len(d.taken) == len(d.targets) {
		sh.set.Counters.DeadLettered.Add(1)
		sh.settleDead(q, d.wait.Handle)
		if q.dead != nil {
			q.dead.Arrived(d.key)
		}
	} else {
		d.wait.Taken = append(d.wait.Taken, d.taken...)
		sh.keepDead(q, d.key, d.wait)
	}
	if q.dead != nil && !d.inline {
		q.dead.TidyRow(d.key) // only this key: there may be as many keys as messages
		sh.endBacklog(q)
	}
	sh.mark(q)
}

// holdDead records that a message is dead, unless that is already recorded.
func (sh *Shard) holdDead(q *Queue, w *deadletter.Waiting) {
	if q.dead == nil {
		sh.beginBacklog(q, nil)
	}
	it, _ := q.state.Get(w.Handle)
	if _, ok := deadletter.ReasonOf(it.Due); !ok {
		sh.putBack(q, w.Handle, 1, w.Reason.Due())
		q.state.Hold(w.Handle)
		q.dead.Hold()
	}
}

// keepDead keeps a dead letter for a later attempt.
func (sh *Shard) keepDead(q *Queue, key string, w deadletter.Waiting) {
	sh.holdDead(q, &w)
	q.dead.Failed(key, w, sh.now)
	sh.mark(q)
}

// settleDead settles a dead message that has arrived.
func (sh *Shard) settleDead(q *Queue, h queue.Handle) {
	it, status := q.state.Get(h)
	if status == queue.Gone {
		return
	}
	if _, ok := deadletter.ReasonOf(it.Due); ok && q.dead != nil {
		q.dead.Unhold()
	}
	sh.settle(q, h, 1)
}

// retryDead makes the attempts that are due.
func (sh *Shard) retryDead(q *Queue) {
	if sh.set.Resting.Load() {
		return
	}
	n := 0
	more := func() bool { return n < deadStep && sh.deadBytes < MaxDeadBytes }
	for w, row := range q.dead.Due(sh.now, more) {
		n++
		sh.resend(q, w, row)
	}
	sh.tidyDead(q)
}

// tidyDead computes when the next attempt is due, and drops an empty backlog.
func (sh *Shard) tidyDead(q *Queue) {
	q.dead.Tidy()
	sh.endBacklog(q)
}

// endBacklog drops the backlog if it is empty.
func (sh *Shard) endBacklog(q *Queue) {
	if q.dead.Empty() {
		q.dead = nil
		delete(sh.insisting, q)
		sh.deadQueues.Add(-1)
	}
}

// resend makes another attempt with a message of the backlog.
func (sh *Shard) resend(q *Queue, w deadletter.Waiting, row bool) {
	it, status := q.state.Get(w.Handle)
	if status != queue.Unacked {
		return
	}
	env, err := sh.bodies.Load(&q.reader, it)
	if err != nil {
		sh.setAside(q, it, err)
		return
	}
	switch p := q.Policy(); {
	case p.Insists():
		sh.sendAtLeastOnce(q, w, env, row)
	case !p.DeadLetter: // a policy removed the dead-letter exchange
		sh.settleDead(q, w.Handle)
	default: // a job that had failed when the broker stopped, or a queue whose policy has changed
		q.dead.Unhold()
		sh.sendDead(q, sh.onward(q), env, w.Reason, &handover{source: q, handle: w.Handle, size: int64(len(env))})
	}
	sh.doLocal()
}

// hastenDead makes all attempts due now, because routes may have changed.
func (sh *Shard) hastenDead() {
	sh.hastening.Store(false)
	for q := range sh.insisting {
		q.dead.Hasten()
		sh.timers.set(q, sh.now)
	}
}

// recoverDead finds the messages of a queue that were dead when the broker stopped.
func (sh *Shard) recoverDead(q *Queue) {
	var found []deadletter.Waiting
	q.state.Each(0, func(it *queue.Item, _ queue.Status) bool {
		if reason, ok := deadletter.ReasonOf(it.Due); ok {
			found = append(found, deadletter.Waiting{Handle: it.Handle, Reason: reason})
		}
		return true
	})
	if len(found) == 0 {
		return
	}
	for _, w := range found {
		q.state.Hold(w.Handle)
	}
	sh.beginBacklog(q, found)
}

// beginBacklog gives the queue a backlog with the dead messages that recovery found.
func (sh *Shard) beginBacklog(q *Queue, recovered []deadletter.Waiting) {
	q.dead = deadletter.NewBacklog(recovered)
	sh.insisting[q] = struct{}{}
	sh.deadQueues.Add(1)
}

// heldDead returns how many messages of the queue are unacked because they are dead.
func (sh *Shard) heldDead(id uint64) int {
	if q := sh.queues[id]; q != nil && q.dead != nil {
		return q.dead.Held()
	}
	return 0
}
