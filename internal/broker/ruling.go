package broker

import (
	"sync"

	"fiveways/internal/core/catalog"
	"fiveways/internal/core/deadletter"
)

// Policy is what is in force for the queue now: its declaration, changed by policies. Any goroutine
// may call it.
func (q *Queue) Policy() *QueuePolicy {
	if r := q.ruling.Load(); r != nil {
		return &r.QueuePolicy
	}
	return &q.Declared
}

// Ruling is Policy with everything that policies add.
func (q *Queue) Ruling() Ruling {
	if r := q.ruling.Load(); r != nil {
		return *r
	}
	return Ruling{QueuePolicy: q.Declared}
}

// enforce applies changed policies of a virtual host to its queues. The journal is locked, and the
// change is appended to the log before anything that follows from it. The result is done when the
// shards of the queues have applied the change.
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
	var applied sync.WaitGroup
	for sh, rulings := range rulings {
		applied.Add(1)
		sent := sh.inbox.push([]op{{kind: opCall, extra: func() {
			defer applied.Done()
			for _, g := range rulings {
				sh.govern(g.q, g.r)
			}
		}}}, false)
		if !sent { // the broker is closed
			applied.Done()
		}
	}
	return &applied
}

// govern puts a ruling in force for a queue, or with nil its declaration. A limit of length counts
// for what the queue holds, too; messages keep the time to live that they got when they came.
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
		q.dead.Hasten() // the exchange may be another one
	}
	sh.dispatch(q) // what a waiting consumer can take goes out first
	sh.shrink(q)
	sh.mark(q)
}

// shrinkStep is how many messages a shard drops before it looks at its other queues.
const shrinkStep = 4096

// shrink drops what exceeds a limit that came later, at most shrinkStep messages at a time: the
// rest follows when the timer of the queue fires.
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
