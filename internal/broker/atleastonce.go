package broker

import (
	"slices"
	"sync"

	"fiveways/internal/core/message"
	"fiveways/internal/core/queue"
)

// insists tells that a dead message stays in the queue until all queues it is
// routed to have taken it. A queue that drops its head to stay within its
// length cannot: what it drops would not leave it.
func (p *QueuePolicy) insists() bool {
	return p.AtLeastOnce && p.DeadLetter && !(p.Overflow == DropHead && p.limited())
}

// sureLetter is a dead letter under way that must arrive.
type sureLetter struct {
	source *Queue
	wait   deadWait
	key    string
	row    bool // it comes from a row of the backlog, which counts it
	size   int64
	inline bool // its one target is on the source's shard: the source is settled in the same entry

	mu      sync.Mutex // of the shards and the committer that answer
	targets []*Queue   // each is one publish, numbered by its place
	open    int
	taken   []uint64
}

// sendSure sends a dead message to all queues it is routed to, or keeps it for
// later. row tells that the backlog gave it out.
func (sh *shard) sendSure(q *Queue, w deadWait, env message.Envelope, row bool) {
	letter, err := newDeadMessage(q, env, w.reason, sh.now)
	if err != nil {
		sh.b.log.Error("a dead message cannot be rewritten", "vhost", q.vhost.Name, "queue", q.Name, "err", err)
		sh.keepDead(q, string(letter.key), w)
		return
	}
	key := string(letter.key)
	if r := q.backlogRow(key); r != nil && len(r.waiting) > 0 && !row {
		sh.holdDead(q, &w)
		q.dead.add(key, w) // behind those that wait
		return
	}
	routed := q.vhost.route(q.Policy().DeadLetterExchange, &letter)
	targets := letter.withoutCycles(routed).queues
	if len(targets) == 0 && !routed.Empty() {
		sh.settleDead(q, w.handle) // it would go round for ever
		return
	}
	targets = slices.DeleteFunc(slices.Clone(targets), func(to *Queue) bool { return slices.Contains(w.taken, to.ID) })
	if len(targets) == 0 {
		if len(w.taken) > 0 {
			sh.settleDead(q, w.handle)
		} else {
			sh.keepDead(q, key, w)
		}
		return
	}
	sh.dispatchSure(&sureLetter{source: q, wait: w, key: key, row: row, size: int64(len(env)), targets: targets}, &letter)
}

// dispatchSure hands the letter to the shards of its targets.
func (sh *shard) dispatchSure(d *sureLetter, letter *deadMessage) {
	base := op{kind: opPublish, persistent: letter.persistent, priority: letter.priority, env: letter.env, ttl: -1}
	if d.row {
		d.source.dead.rows[d.key].out++
	}
	sh.deadBytes += d.size + 1
	if len(d.targets) == 1 && d.targets[0].shard == sh {
		d.inline = true
		base.queue, base.extra = d.targets[0], d
		sh.local = append(sh.local, base)
		return
	}
	d.open = len(d.targets)
	base.confirm = d
	for i, to := range d.targets {
		o := base
		o.queue, o.seq = to, uint64(i)
		if to.shard == sh {
			sh.local = append(sh.local, o)
		} else {
			to.shard.inbox.push([]op{o}, false)
		}
	}
}

// mustArrive tells that the publish is a letter which a queue that was deleted meanwhile has not taken.
func (o *op) mustArrive() bool {
	_, inline := o.extra.(*sureLetter)
	_, sent := o.confirm.(*sureLetter)
	return inline || sent
}

// Confirmed counts the queues that have answered, and tells the source when all
// have.
func (d *sureLetter) Confirmed(from, to uint64, ok bool) {
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
		d.source.shard.inbox.push([]op{{kind: opSettle, extra: d}}, false)
	}
}

// arrived ends a letter to a queue of the same shard, in the entry of its
// publish.
func (d *sureLetter) arrived(sh *shard, ok bool) {
	if ok {
		d.taken = append(d.taken, d.targets[0].ID)
	}
	d.finish(sh)
}

// finish settles the source, or keeps the letter for those who refused it.
func (d *sureLetter) finish(sh *shard) {
	q := d.source
	sh.deadBytes -= d.size + 1
	if q.gone {
		return
	}
	if d.row {
		q.dead.rows[d.key].out--
	}
	if len(d.taken) == len(d.targets) {
		sh.b.counters.deadLettered.Add(1)
		sh.settleDead(q, d.wait.handle)
		if r := q.backlogRow(d.key); r != nil {
			r.backoff = 0
		}
	} else {
		d.wait.taken = append(d.wait.taken, d.taken...)
		sh.keepDead(q, d.key, d.wait)
	}
	if q.dead != nil && !d.inline {
		q.dead.tidyRow(d.key) // not all rows for each letter: there may be one for each
		sh.endBacklog(q)
	}
	sh.mark(q)
}

func (q *Queue) backlogRow(key string) *deadRow {
	if q.dead == nil {
		return nil
	}
	return q.dead.rows[key]
}

// holdDead records, once, that a message is dead.
func (sh *shard) holdDead(q *Queue, w *deadWait) {
	if q.dead == nil {
		q.dead = &deadBacklog{rows: map[string]*deadRow{}, at: noTime}
		sh.insisting[q] = struct{}{}
		sh.deadQueues.Add(1)
	}
	it, _ := q.state.Get(w.handle)
	if _, ok := reasonOf(it.Due); !ok {
		sh.putBack(q, w.handle, 1, dueOf(w.reason))
		q.state.Hold(w.handle)
		q.dead.held++
	}
}

// keepDead keeps a dead letter for a later attempt.
func (sh *shard) keepDead(q *Queue, key string, w deadWait) {
	sh.holdDead(q, &w)
	r := q.dead.add(key, w)
	r.failed(sh.now)
	q.dead.at = min(q.dead.at, r.at)
	sh.mark(q)
}

// settleDead ends a dead message that has arrived.
func (sh *shard) settleDead(q *Queue, h queue.Handle) {
	it, status := q.state.Get(h)
	if status == queue.Gone {
		return
	}
	if _, ok := reasonOf(it.Due); ok && q.dead != nil {
		q.dead.held--
	}
	sh.settle(q, h, 1)
}

// retryDead makes the attempts that are due.
func (sh *shard) retryDead(q *Queue) {
	if sh.b.resting.Load() {
		return
	}
	d := q.dead
	n := 0
	for ; n < deadStep && len(d.recovered) > 0 && sh.deadBytes < maxDeadBytes; n++ {
		w := d.recovered[0]
		d.recovered = d.recovered[1:]
		sh.resend(q, w, false)
	}
	for _, r := range d.rows {
		for n < deadStep && sh.deadBytes < maxDeadBytes {
			w, ok := d.take(r, sh.now)
			if !ok {
				break
			}
			n++
			sh.resend(q, w, true)
		}
	}
	sh.tidyDead(q)
}

// tidyDead finds out when to look at the backlog again, and drops one that is
// empty.
func (sh *shard) tidyDead(q *Queue) {
	q.dead.tidy()
	sh.endBacklog(q)
}

// endBacklog drops the backlog when it is empty.
func (sh *shard) endBacklog(q *Queue) {
	d := q.dead
	if len(d.rows) == 0 && len(d.recovered) == 0 && d.held == 0 {
		q.dead = nil
		delete(sh.insisting, q)
		sh.deadQueues.Add(-1)
	}
}

// resend makes another attempt with a letter of the backlog.
func (sh *shard) resend(q *Queue, w deadWait, row bool) {
	it, status := q.state.Get(w.handle)
	if status != queue.Unacked {
		return
	}
	env, err := sh.load(q, it)
	if err != nil {
		sh.setAside(q, it, err)
		return
	}
	switch p := q.Policy(); {
	case p.insists():
		sh.sendSure(q, w, env, row)
	case !p.DeadLetter: // a policy took its way from it
		sh.settleDead(q, w.handle)
	default: // a job that had failed when the broker ended, or another policy counts now
		q.dead.held--
		sh.sendDead(q, env, w.reason, &handover{source: q, handle: w.handle, size: int64(len(env))})
	}
	sh.doLocal()
}

// hastenDead makes all attempts at once: the ways to go may have changed.
func (sh *shard) hastenDead() {
	sh.hastening.Store(false)
	for q := range sh.insisting {
		q.dead.hasten()
		sh.timers.set(q, sh.now)
	}
}

// tableChanged has dead letters that found no way look again. It may run while
// the definitions are locked.
func (b *Broker) tableChanged() {
	for _, sh := range b.shards {
		if sh.deadQueues.Load() > 0 && !sh.hastening.Swap(true) {
			sh.post(sh.hastenDead)
		}
	}
}

// recoverDead finds the messages of a queue that were dead when the broker
// ended.
func (sh *shard) recoverDead(q *Queue) {
	var found []deadWait
	q.state.Each(0, func(it *queue.Item, _ queue.Status) bool {
		if reason, ok := reasonOf(it.Due); ok {
			found = append(found, deadWait{handle: it.Handle, reason: reason})
		}
		return true
	})
	if len(found) == 0 {
		return
	}
	for _, w := range found {
		q.state.Hold(w.handle)
	}
	q.dead = &deadBacklog{rows: map[string]*deadRow{}, recovered: found, held: len(found)}
	sh.insisting[q] = struct{}{}
	sh.deadQueues.Add(1)
}

// heldDead is how many messages of the queue are unacked because they are dead.
func (sh *shard) heldDead(id uint64) int {
	if q := sh.queues[id]; q != nil && q.dead != nil {
		return q.dead.held
	}
	return 0
}
