package shard

import (
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// Publish is one message to be published.
type Publish struct {
	Targets    Targets
	Env        message.Envelope // belongs to the engine from now on
	Persistent bool
	Priority   uint8
	TTL        int64 // ms, -1 none
	NotBefore  int64 // unix ms before which it is not delivered, 0 none
	Deadline   int64 // unix ms from which it is not delivered, 0 none; TTL may end sooner
	// CopyOf is the message with the same id that this one replaces, and that is settled later in
	// the same transaction, or nil. Messages that wait for the original (QueuePolicy.ConsumeAfter)
	// then wait for the copy, and the copy waits for none.
	CopyOf *Loan
	// Order is the requested position in its queues; nil means the end. It applies to queues with
	// QueuePolicy.ConsumeAfter and without groups or selectors, where Config.Order gives the
	// positions of other messages.
	Order *dispatch.Place
	// Told reports whether TapPublish has been called.
	Told bool
	// Reserved exempts it from rate limits: Reserve has counted it, or it is only moved.
	// Session.Publish resets it.
	Reserved bool
	// Direct makes the message count as published directly to its queue (Counts.Direct), because no
	// exchange has routed and counted it.
	Direct bool
	// MustArrive makes its transaction fail with ErrRejected if one of its queues has been deleted
	// since the Targets were determined. It has no effect outside of transactions.
	MustArrive bool
	Confirm    shardlog.Confirmer
	Seq        uint64
}

// Loan identifies a message that was lent to a session.
type Loan struct {
	Queue  *Queue
	Handle queue.Handle
}

// Op returns the op of a publish without its targets.
func (p *Publish) Op() Op {
	if p.Deadline < 0 {
		p.Deadline = 1 // before 1970
	}
	o := Op{
		Kind: opPublish, persistent: p.Persistent, must: p.MustArrive, direct: p.Direct, priority: p.Priority, Env: p.Env,
		ttl: p.TTL, due: p.NotBefore, deadline: p.Deadline, order: p.Order, Confirm: p.Confirm, Seq: p.Seq,
	}
	if p.CopyOf != nil {
		o.Extra = p.CopyOf
	}
	return o
}
