package shard

import (
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/store"
)

// Transactions and command groups that need several shards stop each of them, change the state, and
// take what each has recorded as one entry of an atomic group of the log.

// MaxTxBytes is the most bytes that a transaction may publish, and dead-letter on one shard: it is
// written as one group.
const MaxTxBytes = 512 << 20

// BeginPart ends the current entry: what follows is an entry of its own. The shards of still stand
// still with this one; nil: none does.
func (sh *Shard) BeginPart(still []*Shard) {
	sh.log.Propose()
	sh.inTx, sh.still = true, still
}

// EndPart completes the entry that BeginPart began, which the caller appends to the log in a group.
// done is to be called with the outcome; it is nil when nothing was recorded.
func (sh *Shard) EndPart() (e store.Entry, done func(error)) {
	sh.inTx, sh.still = false, nil
	return sh.log.SealAlone()
}

// Apply does ops of a transaction, all into the current entry.
func (sh *Shard) Apply(ops []Op) {
	sh.inTx = true
	for i := range ops {
		sh.do(&ops[i])
		sh.doLocal()
	}
	sh.inTx = false
}

// SettleDown does what follows from a change: dead letters, and the calls that wait at the queues.
func (sh *Shard) SettleDown() {
	sh.doLocal()
	sh.serveAll()
}

// SettleLater is SettleDown for a shard that stands still: it appends the queues with calls that
// wait to queues, for their shards to serve them.
func (sh *Shard) SettleLater(queues []*Queue) []*Queue {
	sh.doLocal()
	queues = append(queues, sh.waking...)
	clear(sh.waking)
	sh.waking = sh.waking[:0]
	return queues
}

// ServeLater serves the calls that wait at a queue when the shard goes on.
func (sh *Shard) ServeLater(q *Queue) { sh.waking = append(sh.waking, q) }

// Admits reports whether no full queue would reject one of the messages that ops publish, those
// before it included, the queues of messages that must arrive are there, and what may be
// dead-lettered has at most so many bytes.
func Admits(ops []Op, most int) bool {
	var all Room
	dead := int64(0)
	for i := range ops {
		o := &ops[i]
		if o.mayKill() && !o.Queue.gone && o.Queue.Policy().DeadLetter {
			for k := range int(o.N) {
				if it, status := o.Queue.state.Get(o.Handle + queue.Handle(k)); status != queue.Gone {
					dead += int64(it.Size)
				}
			}
			if dead > int64(most) {
				return false
			}
		}
		if o.Kind != opPublish {
			continue
		}
		first, more := o.Queue, o.More
		if first.buffer != nil {
			if t, ok := first.shard.lookThrough(o); ok && !t.Empty() {
				first, more = t.queues[0], t.queues[1:]
			}
		}
		for j := -1; j < len(more); j++ {
			q := first
			if j >= 0 {
				q = more[j]
			}
			if o.must && q.gone || !all.Fits(q, len(o.Env.Body())) {
				return false
			}
		}
	}
	return true
}

// mayKill reports whether the op may make dead letters.
func (o *Op) mayKill() bool {
	return o.Kind == OpReject || (o.Kind == OpRequeue || o.Kind == OpReturn) && o.Queue.Policy().DeliveryLimit >= 0
}

// Room counts what commands of one group publish to queues, to find out whether all of it is
// accepted.
type Room map[*Queue]struct{ n, bytes int64 }

// Fits reports whether a queue accepts one more message with a body of this many bytes, beside
// those of the calls before.
func (l *Room) Fits(q *Queue, bytes int) bool {
	if q.gone || !q.Policy().Limited() || q.Policy().Overflow == catalog.DropHead {
		return true
	}
	if *l == nil {
		*l = Room{}
	}
	have := (*l)[q]
	have.n++
	have.bytes += int64(bytes)
	(*l)[q] = have
	p := q.Policy()
	return !(p.MaxLength >= 0 && int64(q.state.Ready())+have.n > p.MaxLength ||
		p.MaxLengthBytes >= 0 && q.state.ReadyBytes()+have.bytes > p.MaxLengthBytes)
}
