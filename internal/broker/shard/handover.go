package shard

import (
	"sync/atomic"

	"fiveways.dev/fiveways/internal/core/queue"
)

// handover is a message in transit from one queue to others: it is dead, or its time in an exchange
// buffer is over. It stays in its queue, unacked but lent to no consumer, until its settle is
// recorded with the publish or after it. A crash in between can duplicate the message but never
// lose it.
type handover struct {
	source  *Queue
	handle  queue.Handle
	size    int64
	waiting atomic.Int32 // other shards that have not yet confirmed
}

// handOver publishes base to targets, which must not be empty, and then settles the source. d is
// nil if there is no source to settle. Targets of this shard get the message at the next doLocal.
// If there are no others, the settle is in the same entry.
func (sh *Shard) handOver(base Op, targets Targets, d *handover) {
	if targets.parts == 1 && targets.queues[0].shard == sh {
		if d != nil {
			base.Extra = d
		}
		base.Queue, base.More = targets.queues[0], targets.queues[1:]
		sh.local = append(sh.local, base)
		return
	}
	if d != nil {
		d.waiting.Store(targets.parts)
		sh.deadBytes += d.size + 1
		base.Confirm = d
	}
	targets.Each(base, func(to *Shard, o Op) {
		sh.pass(to, o)
	})
}

// onward returns the kind of publish that moves a message of a queue to other queues. While a
// persistent message of the server in the queue is not durable, consumers elsewhere must not get it
// either. Messages after it keep their order.
func (sh *Shard) onward(q *Queue) OpKind {
	if (Context{sh, q}).IsEarly() {
		return OpServerPublish
	}
	return opPublish
}

// pass hands the publish of such a message to its shard. If that is this one, it is executed next.
func (sh *Shard) pass(to *Shard, o Op) {
	switch {
	case to == sh:
		sh.local = append(sh.local, o)
	case o.Kind == OpServerPublish: // the numbers of another shard's entries do not apply here
		sh.log.WhenDurable(sh.log.LastRecorded(), func(err error) {
			if err == nil {
				to.Send(o)
			}
		})
	default:
		to.Send(o)
	}
}

// Confirmed counts the shards that have answered. After the last one the source is settled. A
// refusal counts, too, because it is final, as in RabbitMQ's at-most-once dead-lettering.
func (d *handover) Confirmed(from, to uint64, ok bool) {
	if d.waiting.Add(-1) == 0 {
		d.source.shard.Send(Op{Kind: opSettle, Extra: d})
	}
}

// forwarded is a message in transit to other queues. Its methods run on the source's shard.
type forwarded interface {
	arrived(sh *Shard, ok bool) // its publish on the source's shard is in the current entry, or was refused
	finish(sh *Shard)           // the other shards have answered
}

// arrived settles the source; a refusal counts, as in Confirmed.
func (d *handover) arrived(sh *Shard, _ bool) { d.settle(sh) }

// finish settles the source.
func (d *handover) finish(sh *Shard) {
	sh.deadBytes -= d.size + 1
	d.settle(sh)
}

// settle settles the source.
func (d *handover) settle(sh *Shard) {
	if !d.source.gone {
		sh.settle(d.source, d.handle, 1)
	}
}
