package shard

import (
	"fiveways.dev/fiveways/internal/broker/shardlog"
	"fiveways.dev/fiveways/internal/core/dispatch"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/core/queue"
)

// OpKind is the kind of an Op.
type OpKind uint8

const (
	opPublish       OpKind = iota
	opPublishFront         // before all other messages of the queue; Context.PublishFront checks whether there is room
	OpServerPublish        // opPublish of the server itself, which may fail
	OpAck
	OpRequeue // by a consumer
	OpReturn  // not by a consumer: it has left, or its time was over
	OpReject
	OpKick    // a session's window opened: try its queues again
	opGrant   // a shared limit allows a share n more deliveries
	opSettle  // a message that was handed over is safe elsewhere: settle its source
	OpCall    // run a function on the shard's goroutine
	OpRun     // a Runner: commands, or the part of a transaction
	OpRelease // the end of a loan
)

// Op is one operation of a shard. It is one flat struct, copied in slices, so that the hot path
// allocates nothing per message.
type Op struct {
	Kind       OpKind
	persistent bool
	must       bool // opPublish in a transaction: its queues must exist
	direct     bool // opPublish: Publish.Direct
	priority   uint8
	flags      queue.Flags  // of opPublish: Redelivered, for a message that may have been delivered before a crash
	N          uint32       // of the settling kinds: contiguous handles; of opGrant
	Handle     queue.Handle // as N, and of opSettle

	Queue    *Queue   // the first target, or the queue of handle
	More     []*Queue // further targets on this shard
	Consumer *Consumer
	Env      message.Envelope
	ttl      int64 // ms, -1 none
	due      int64 // unix ms, 0 now; of OpRequeue: 0 is what the queue says
	deadline int64 // unix ms from which it is not delivered, 0 none; the earlier of it and ttl counts

	order *dispatch.Place // opPublish: nil, or the place that the sender gave it

	Confirm shardlog.Confirmer // nil: no confirm is asked for
	Seq     uint64

	// Extra is, for opPublish, nil, or the message whose source is settled in the same entry
	// (forwarded), or the *Loan that the message replaces; for opSettle forwarded, OpKick *Client,
	// opGrant *dispatch.Share, OpCall func(), OpRun Runner.
	Extra any
}

// Runner is work for a shard that is more than one op.
type Runner interface {
	// Run does the work on the shard's goroutine.
	Run(sh *Shard)
}
