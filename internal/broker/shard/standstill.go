package shard

import (
	"fiveways.dev/fiveways/internal/core/catalog"
	"fiveways.dev/fiveways/internal/core/queue"
	"fiveways.dev/fiveways/internal/storage/store"
)

// A transaction or command group that needs several shards stops all of them, changes their state,
// and makes their recorded facts one atomic group of entries in the log.

// MaxTxBytes bounds the bytes that a transaction may publish, and dead-letter on one shard: it is
// written as one group.
const MaxTxBytes = 512 << 20

// BeginPart ends the current entry, so that later facts get a separate one. The shards in still
// have stopped together with this one; nil means none.
func (sh *Shard) BeginPart(still []*Shard) {
	sh.log.Propose()
	sh.inTx, sh.still = true, still
}

// EndPart completes the entry that BeginPart began. The caller appends it to the log in a group,
// and then calls done with the outcome. done is nil if nothing was recorded.
func (sh *Shard) EndPart() (e store.Entry, done func(error)) {
	sh.inTx, sh.still = false, nil
	return sh.log.SealAlone()
}

// Apply executes the ops of a transaction, all in the current entry.
func (sh *Shard) Apply(ops []Op) {
	sh.inTx = true
	for i := range ops {
		sh.do(&ops[i])
		sh.doLocal()
	}
	sh.inTx = false
}

// SettleDown handles the consequences of a change: dead letters, and calls that wait at the queues.
func (sh *Shard) SettleDown() {
	sh.doLocal()
	sh.serveAll()
}

// SettleLater is SettleDown for a stopped shard: it appends the queues with waiting calls to
// queues, and their shards serve them later.
func (sh *Shard) SettleLater(queues []*Queue) []*Queue {
	sh.doLocal()
	queues = append(queues, sh.waking...)
	clear(sh.waking)
	sh.waking = sh.waking[:0]
	return queues
}

// ServeLater serves the calls that wait at a queue once the shard continues.
func (sh *Shard) ServeLater(q *Queue) { sh.waking = append(sh.waking, q) }

// Admits reports whether all of this holds: no full queue would reject one of the messages that ops
// publish, counting those before it; the queues of messages with MustArrive exist; at most most
// bytes may be dead-lettered.
func Admits(ops []Op, most int) bool {
	var all Room
	dead := int64(0)
	for i := range ops {
		o := &ops[i]
		if o.mayKill() && !o.Queue.gone && o.Queue.Policy().DeadLetter {
			for k := range int(o.N) {
				if it, status := o.Queue.state.Get(o.Handle + queue.Handle(k)); status != queue.Gone && o.kills(it) {
					dead += int64(max(int(it.Size), len(it.Env))) + deathBytes
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

// deathBytes is roughly what the history of a dead letter takes.
const deathBytes = 512

// mayKill reports whether the op may cause dead letters.
func (o *Op) mayKill() bool { return o.Kind == OpReject || o.Kind == OpRequeue || o.Kind == OpReturn }

// kills reports whether the op may make a message a dead letter.
func (o *Op) kills(it *queue.Item) bool {
	return o.Kind == OpReject || o.Queue.Policy().DeliveryLimit >= 0 || it.Expires != 0
}

// Room counts what the commands of one group publish to queues, to check that all of it fits.
type Room map[*Queue]struct{ n, bytes int64 }

// Fits reports whether a queue accepts one more message with a body of this many bytes, in addition
// to those of earlier calls.
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
