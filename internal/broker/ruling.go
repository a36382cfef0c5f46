package broker

import (
	"sync"

	"fiveways/internal/core/catalog"
	"fiveways/internal/core/deadletter"
)

// Policy is what counts for the queue now. Any goroutine may ask.
func (q *Queue) Policy() *QueuePolicy {
	if r := q.ruling.Load(); r != nil {
		return &r.QueuePolicy
	}
	return &q.Declared
}

// Ruling is Policy with all that policies say.
func (q *Queue) Ruling() Ruling {
	if r := q.ruling.Load(); r != nil {
		return *r
	}
	return Ruling{QueuePolicy: q.Declared}
}

// enforce makes changed policies of a virtual host count. The journal is locked, and the change is
// appended to the log: what follows from it comes later there. What it returns is done when the
// shards of its queues have heard of it.
func (b *Broker) enforce(v *catalog.VHost) *sync.WaitGroup {
	v.Compile()
	type governed struct {
		q *Queue
		r *Ruling
	}
	rulings := map[*shard][]governed{}
	for _, id := range v.Table().Queues() {
		if q, ok := b.queueByID(uint64(id)); ok {
			rulings[q.shard] = append(rulings[q.shard], governed{q, q.Ruled()})
		}
	}
	var heard sync.WaitGroup
	for sh, rulings := range rulings {
		heard.Add(1)
		sent := sh.inbox.push([]op{{kind: opCall, extra: func() {
			defer heard.Done()
			for _, g := range rulings {
				sh.govern(g.q, g.r)
			}
		}}}, false)
		if !sent { // the broker is closed
			heard.Done()
		}
	}
	return &heard
}

// govern makes a ruling count for a queue, or with nil its declaration: from now on, and for the
// length of what it holds. Messages keep the time to live that they got when they came.
func (sh *shard) govern(q *Queue, r *Ruling) {
	before := q.Ruling()
	q.rule(r)
	after := q.Ruling()
	if q.gone || before == after {
		return
	}
	q.promise = syncWait(after.Sync, sh.b.opts.Sync)
	if after.Expires != before.Expires {
		q.used(sh.now) // its time begins now
	}
	if q.dead != nil {
		q.dead.Hasten() // there may be another way to go
	}
	sh.dispatch(q) // what a waiting consumer can take goes out first
	sh.shrink(q)
	sh.mark(q)
}

// shrinkStep is how many messages a shard drops before it looks at its other queues.
const shrinkStep = 4096

// shrink drops what is more than a limit that came later, a part at a time: the rest follows when
// the queue is next looked at.
func (sh *shard) shrink(q *Queue) {
	p := q.Policy()
	q.shrinking = false
	if p.Overflow != DropHead {
		return
	}
	for n := 0; p.ExceededBy(q.state.Ready(), q.state.ReadyBytes()); n++ {
		if n == shrinkStep || sh.deadBytes >= maxDeadBytes || sh.b.resting.Load() {
			q.shrinking = true
			return
		}
		it := sh.oldest(q)
		if it == nil {
			return
		}
		sh.deadLetter(q, it.Handle, deadletter.MaxLength)
		sh.doLocal()
		if sh.facts.Len() >= entryBytes {
			sh.propose()
		}
	}
}
